# DCSO bloom files: writing, reading and describing them.
. "$SUPPORT/cases.sh"

_json() { # KEY: of the array in .stdout
    python3 -c 'import json, sys; print(json.load(open(".stdout"))[0][sys.argv[1]])' "$1"
}

build_check_and_info_work_on_dcso_files() {
    deja gen -q -n 1000 >list
    deja gen -q -n 1000 --first 1000 >strangers
    succeeds deja build --verbose --format dcso -n 1000 -p 0.01 f.bloom list list
    expect_stdout ''
    expect_stderr_has "2,000 lines read, "
    expect_stderr_has "f.bloom: 1.2 kB, rate now 0.0"
    [ "$(wc -c <f.bloom)" -eq $((48 + 1200)) ] || fail "length" # ceil(9585 / 64) words
    [ "$(od -An -tu8 -N 8 f.bloom | tr -d ' ')" -eq 1 ] || fail "version"
    [ "$(deja check -q -c f.bloom list)" -eq 1000 ] || fail "members"
    [ "$(deja check -q -c --format dcso f.bloom list)" -eq 1000 ] || fail "members, by name"
    found=$(deja check -q -c f.bloom strangers)
    if [ "$found" -gt 30 ]; then fail "$found false positives"; fi
    exits_with 1 deja check -q -v f.bloom list
    succeeds deja info f.bloom
    expect_stdout_has "format      DCSO bloom file, version 1"
    expect_stdout_has "no secret: no protection against crafted keys"
    expect_stdout_has "capacity    1,000 keys, at a rate of 0.01"
    succeeds deja info --json --format dcso f.bloom
    [ "$(_json bits)" -eq 9585 ] || fail "bits"
    [ "$(_json hashes)" -eq 7 ] || fail "hashes"
    [ "$(_json format)" = dcso ] || fail "format"
    [ "$(_json keyed)" = False ] || fail "keyed"
    # Next to deja's own files.
    deja build -q g.deja list
    succeeds deja info g.deja f.bloom
    expect_stdout_has "kind        scalable of 1 blocked part"
    expect_stdout_has "DCSO bloom file"
    succeeds deja build --force --json --format dcso -n 1000 -p 0.01 f.bloom list
    [ "$(json_get read .stdout)" -eq 1000 ] || fail "read"
    # More lines than its capacity.
    succeeds deja build --force --format dcso -n 10 f.bloom list
    expect_stderr_has "was sized for 10 keys and holds"
}

gzip_is_written_by_name_and_read_by_content() {
    seq 100 >list
    run deja build -q --format dcso -n 100 -p 0.01 f.bloom.gz list
    if grep -q "cannot write gzip" .stderr; then return 0; fi
    [ "$(od -An -tx1 -N 2 f.bloom.gz | tr -d ' ')" = 1f8b ] || fail "no gzip"
    mv f.bloom.gz f
    [ "$(deja check -q -c f list)" -eq 100 ] || fail "members"
    succeeds deja info f
    expect_stdout_has "compressed with gzip"
    gzip -dc <f >plain
    deja build -q --format dcso -n 100 -p 0.01 same list
    expect_same plain same
}

# One --format is for the filter, the other for the lines.
dcso_combines_with_formats_of_lines() {
    printf '%s\n' 'http://a.example/' 'http://b.example/' >list
    deja build -q --format dcso -n 10 f.bloom list
    printf '%s\n' '{"url": "http://b.example/"}' '{"url": "http://c.example/"}' >lines.jsonl
    succeeds deja check -q --format jsonl --format dcso f.bloom lines.jsonl
    expect_stdout '{"url": "http://b.example/"}'
    succeeds deja check -q --format dcso --format jsonl f.bloom lines.jsonl
    expect_stdout '{"url": "http://b.example/"}'
    deja build -q --format jsonl --format dcso -n 10 g.bloom lines.jsonl
    [ "$(deja check -q -c g.bloom list)" -eq 1 ] || fail "lines of another format"
    printf '%s\n' 'HTTP://B.example:80/' >spelling
    succeeds deja check -q --url f.bloom spelling
    expect_stdout 'HTTP://B.example:80/'
    printf 'x;http://a.example/\n' >fields
    succeeds deja check -q -f 2 -d ';' f.bloom fields
}

options_without_a_place_in_the_file_are_refused() {
    seq 10 >list
    head -c 32 /dev/urandom >f.key
    chmod 600 f.key
    local options
    while read -r options; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "omit ${options%% *}: --format dcso" \
            deja build --format dcso -n 10 $options f.bloom list
    done <<'END'
-k blocked
-m 64k
--hashes 3
--filters 2
--hash siphash
--multiplier 2
--fingerprint-bits 8
--counter-bits 8
--minimal-increase
--deletions 5
--key f.key
--seed 3
END
    [ ! -e f.bloom ] || fail "a file was left"
    fails_with 2 "give -n N: such a file cannot grow" deja build --format dcso f.bloom </dev/null
    fails_with 2 "no bloom file holds" deja build --format dcso -n 9e15 -p 1e-9 f.bloom list
    fails_with 2 "is a directory" deja build --format dcso -n 10 . list
    fails_with 2 "cannot create" deja build --format dcso -n 10 no/where.bloom list
    deja build -q --format dcso f.bloom list # sized from the file
    fails_with 2 "a DCSO bloom file has no secret key; omit --key" deja check --key f.key f.bloom list
    fails_with 2 "--format" deja dedup --format dcso list
    fails_with 2 "--format" deja add --format dcso f.bloom list
    fails_with 2 "f.bloom: a DCSO bloom file, which only check and info read" deja add f.bloom list
    fails_with 2 "--format takes dcso" deja info --format squid f.bloom
}

_broken() { # TEXT: check and info reject f.bloom with this message
    fails_with 2 "$1" deja check f.bloom list
    expect_stdout ''
    fails_with 2 "$1" deja info --format dcso f.bloom
    run deja info --json --format dcso f.bloom
    python3 -m json.tool <.stdout >/dev/null || fail "no JSON"
}

_set() { # OFFSET VALUE-IN-OCTAL-ESCAPES
    cp good.bloom f.bloom
    # shellcheck disable=SC2059 # an escape sequence
    printf "$2" | dd of=f.bloom bs=1 seek="$1" conv=notrunc status=none
}

damaged_and_crafted_files_are_refused() {
    seq 10 >list
    deja build -q --format dcso -n 10 -p 0.01 good.bloom list
    head -c 63 good.bloom >f.bloom
    _broken "f.bloom is truncated: its bits end after 15 bytes of 16"
    head -c 40 good.bloom >f.bloom
    _broken "f.bloom is not a DCSO bloom file, or is truncated inside its header: it has 40 bytes of 48"
    _set 1 '\001'
    fails_with 2 "its flags are 0x101" deja check --format dcso f.bloom list
    fails_with 2 "f.bloom: not a deja filter file" deja check f.bloom list # the format was not given
    _set 23 '\177'
    _broken "f.bloom: its false-positive rate is"
    _set 24 '\000'
    _broken "f.bloom: its number of hash functions is 0, not 1 to 2048"
    _set 30 '\377'
    _broken "f.bloom: its number of hash functions is"
    _set 32 '\000'
    _broken "f.bloom: its number of bits is 0"
    _set 37 '\020'
    _broken "f.bloom is truncated: its bits end after 16 bytes of"
    _set 39 '\377'
    _broken "f.bloom: its number of bits is"
    fails_with 2 "nowhere.bloom" deja check --format dcso nowhere.bloom list
    fails_with 2 "nowhere.bloom" deja info --format dcso nowhere.bloom
    : >f.bloom
    fails_with 2 "f.bloom is not a DCSO bloom file" deja info --format dcso f.bloom
}

a_failed_write_keeps_the_old_file() {
    seq 10 >list
    deja build -q --format dcso -n 10 f.bloom list
    cp f.bloom before.bloom
    # shellcheck disable=SC2016 # for the inner shell
    fails_with 2 "f.bloom: cannot write: File too large" \
        bash -c 'ulimit -f 1; trap "" XFSZ; "$DEJA" build --force --format dcso -n 1M f.bloom list'
    expect_same f.bloom before.bloom
    [ "$(find . -name 'f.bloom.*' | wc -l)" -eq 0 ] || fail "something was left"
}

cases "$@"
