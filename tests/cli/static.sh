# static: a set is built from all its keys at once; it can be queried but not changed.
. "$SUPPORT/cases.sh"

_info() { # KEY FILE: what info says of it
    deja info --json "$2" | tr -d '\n' | sed -e 's/^\[//' -e 's/\]$//' >.info
    json_get "$1" .info
}

every_line_is_found_whatever_the_width() {
    some_urls 20000 8000 >list
    all_new_urls 20000 50000 >other
    local width
    for width in 8 16 32; do
        succeeds deja build --force -k static --fingerprint-bits $width f.deja list
        expect_stdout ''
        expect_stderr_has "20,000 read"
        expect_stderr_has "$(once <list | wc -l | sed 's/...$/,&/') new"
        succeeds deja check -q f.deja list
        expect_same list .stdout
        succeeds deja verify -q f.deja
        run deja check -q -c f.deja other
        # 78 of 20,000 with 8 bits, 0.3 with 16.
        awk -v w=$width '{ exit !(w == 8 ? $1 > 30 && $1 < 150 : w == 16 ? $1 < 8 : $1 == 0) }' \
            .stdout || fail "$width bits: $(cat .stdout) false positives"
    done
}

pipes_threads_and_compressed_input_make_the_same_file() {
    all_new_urls 5000 >list
    succeeds deja build -q --seed 3 -k static a.deja list
    local options
    for options in '-j 1' '-j 4' '-n 10' '-n 1M'; do
        # shellcheck disable=SC2086 # words
        succeeds deja build --force -q --seed 3 -k static $options b.deja - <list
        # All bytes except the sync record, which has the time.
        cmp <(head -c 3072 a.deja) <(head -c 3072 b.deja) || fail "$options: header"
        cmp <(tail -c +4097 a.deja) <(tail -c +4097 b.deja) || fail "$options: body"
    done
    gzip -k list
    succeeds deja build --force -q --seed 3 -k static b.deja list.gz
    cmp <(tail -c +4097 a.deja) <(tail -c +4097 b.deja) || fail "gzip"
    # shellcheck disable=SC2002 # a pipe is the point
    cat list list | deja build --force -q --seed 3 -k static b.deja
    cmp <(tail -c +4097 a.deja) <(tail -c +4097 b.deja) || fail "twice through a pipe"
}

no_line_and_one_line_work() {
    succeeds deja build -q -k static f.deja /dev/null
    succeeds deja verify -q f.deja
    exits_with 1 deja check -q f.deja - <<<anything
    succeeds deja info f.deja
    expect_stdout_has "0 different of 0 offered"
    succeeds deja build --force -q -k static f.deja - <<<one
    succeeds deja check -q f.deja - <<<one
    exits_with 1 deja check -q f.deja - <<<two
}

the_rate_and_the_memory_choose_the_fingerprints() {
    all_new_urls 10000 >list
    local want
    while read -r options want; do
        # shellcheck disable=SC2086 # words
        succeeds deja build --force -q -k static ${options//,/ } f.deja list
        [ "$(_info fp_now f.deja)" = "$want" ] || fail "$options: $(_info fp_now f.deja)"
    done <<'END'
-p,0.01 0.00390625
-p,0.001 1.52587890625e-05
-p,1e-6 2.3283118575495577e-10
-m,14k 0.00390625
-m,30k 1.52587890625e-05
-m,1M 2.3283118575495577e-10
END
    fails_with 2 "-m is 4096" deja build --force -k static -m 4k f.deja list
    fails_with 2 "exact" deja build --force -k static -p 1e-12 f.deja list
    fails_with 2 "8, 16 or 32" deja build --force -k static --fingerprint-bits 12 f.deja list
    fails_with 2 "kind static" deja build --force --fingerprint-bits 16 f.deja list
    fails_with 2 "--filters goes with kinds" deja build --force -k static --filters 2 f.deja list
}

info_describes_it() {
    all_new_urls 1000 >list
    succeeds deja build -q -k static -p 0.01 f.deja list list
    succeeds deja info f.deja
    expect_stdout_has "static (a binary fuse filter)"
    expect_stdout_has "1,000 different of 2,000 offered"
    expect_stdout_has "keys cannot be added"
    expect_stdout_has "one new key in 256"
    ! grep -qE '^  (lost|room|capacity|used)' .stdout || fail "a static filter has none of these"
    expect_stderr_empty
    [ "$(_info keys f.deja)" -eq 1000 ] || fail "keys"
    [ "$(_info lost f.deja)" -eq 0 ] || fail "lost"
    [ "$(_info room f.deja)" -eq 0 ] || fail "room"
}

changes_are_refused_with_a_remedy() {
    echo one >list
    succeeds deja build -q -k static f.deja list
    cp f.deja before
    fails_with 2 "f.deja is a static filter, which never changes: build a new one" \
        deja add f.deja - <<<two
    fails_with 2 'f.deja cannot dedup' deja dedup --state f.deja list
    fails_with 2 'cannot dedup' deja dedup -k static list
    fails_with 2 'cannot dedup' deja dedup -k static -n 100 --state new.deja list
    [ ! -e new.deja ] || fail "new.deja was made"
    expect_same f.deja before
    succeeds deja verify -q f.deja
}

an_invalid_name_is_reported_before_keys_are_read() {
    echo text >taken
    fails_with 2 "not a filter file" deja build -k static taken /dev/zero
    fails_with 2 "cannot open its directory" deja build -k static nowhere/f.deja /dev/zero
    [ "$(cat taken)" = text ] || fail "taken was changed"
    [ "$(find . -name '*.deja*' -o -name '.*.new' | wc -l)" -eq 0 ] || fail "something is left"
}

an_older_filter_is_replaced_once_the_new_one_is_complete() {
    echo old >list
    succeeds deja build -q f.deja list
    echo new >list
    fails_with 2 "missing" deja build --force -q -k static f.deja list missing
    succeeds deja check -q f.deja - <<<old
    succeeds deja build --force -q -k static f.deja list
    succeeds deja check -q f.deja - <<<new
}

block_lists_can_be_static() {
    printf '%s\n' evil.example http://shop.example/fake/ '# comment' >list
    succeeds deja build -q -k static --url=gsb bad.deja list
    printf '%s\n' https://www.evil.example/x http://shop.example/ http://shop.example/fake/y >log
    succeeds deja check -q --url=gsb bad.deja log
    expect_stdout "https://www.evil.example/x
http://shop.example/fake/y"
    fails_with 2 "bad.deja holds URLs of profile gsb, not safe" deja check --url bad.deja log
}

the_key_can_be_separate() {
    head -c 32 /dev/urandom >key
    chmod 600 key
    echo one >list
    succeeds deja build -q -k static --key key f.deja list
    succeeds deja check -q --key key f.deja list
    fails_with 2 "key" deja check -q f.deja list
}

plan_lists_it() {
    succeeds deja plan -n 1e6 -p 0.01
    grep -qE '^  static +1\.1 MB +9\.04 +3 +0\.00391 +- +3 cache lines$' .stdout || fail "row"
    expect_stdout_has "keys cannot be added later"
    succeeds deja plan -n 1e6 -m 2M
    grep -qE '^  static +1\.1 MB +9\.04 ' .stdout || fail "row for -m"
    succeeds deja plan -k static -n 1M --fingerprint-bits 16
    expect_stdout_has "deja build -k static -n 1M --fingerprint-bits 16 list.deja urls.txt"
    succeeds deja plan -k static -m 1M -p 0.01
    grep -qE '^  static +9[0-9]{2},' .stdout || fail "keys for 1 MiB"
    succeeds deja plan --json -k static -n 1M
    grep -q '"kind": "static"' .stdout || fail "json"
}

bench_measures_only_lookups() {
    succeeds deja bench --quick --kind static -n 10k
    grep -qE '^static +10k .* batch .*\) +- +- ' .stdout || fail "row"
}

cases "$@"
