# deja info: the contents of a filter file, as text and as JSON; and its warnings.
. "$SUPPORT/cases.sh"

_holds() { # EXPRESSION...: true of every d in the JSON of .stdout
    python3 -c 'import json, sys
for d in json.load(open(".stdout")):
    for e in sys.argv[1:]:
        assert eval(e), (e, d)' "$@" || fail "the JSON is wrong"
}
_line() { # LABEL: the text after it in .stdout
    sed -n "s/^  $1  *//p" .stdout
}
_says() { # LABEL TEXT
    [ "$(_line "$1")" = "$2" ] || fail "$1: '$(_line "$1")' instead of '$2'"
}

# pollute FILE BYTES: set all bits of this many bytes of the body.
_pollute() {
    python3 -c 'import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(4096)
    f.write(b"\xff" * int(sys.argv[2]))' "$1" "$2"
}

# _unsynced FILE [LIST]: keys were added, and the writer was killed before it could sync.
_unsynced() {
    mkfifo pipe
    "$DEJA" add -q "$1" <pipe 2>/dev/null &
    local pid=$!
    exec 9>pipe
    if [ $# -gt 1 ]; then cat "$2" >&9; else deja gen -n 5000 --first 1M >&9; fi
    eventually _is_unsynced "$1"
    kill -KILL "$pid"
    { wait "$pid" || true; } 2>/dev/null
    exec 9>&-
    rm pipe
}
_is_unsynced() {
    ! deja verify -q "$1"
}

info_describes_a_filter() {
    deja gen -n 1000 >list
    cat list list >twice
    deja build -q --seed 1 -n 10k -p 0.001 --fixed f.deja twice
    succeeds deja info f.deja
    expect_stderr_empty
    [ "$(head -n 1 .stdout)" = f.deja ] || fail "it does not begin with the name"
    _says kind "blocked (one cache line per key)"
    _says hashing "xxh3, k = 9, from a seed: reproducible, no protection"
    _says URLs "bytes as given, no profile"
    _says memory "19.5 kB, 15.6 bits per key at capacity"
    _says capacity "10,000 keys, at a rate of at most 0.001"
    [[ $(_line keys) == "1,000 new of 2,000 offered; about "*" by the set bits" ]] ||
        fail "keys: $(_line keys)"
    _says used "[####....................................] 10.0% of the capacity is used"
    [[ $(_line fill) == "[##"*"] 5."*"% of the bits are set" ]] || fail "fill: $(_line fill)"
    [[ $(_line rate) == *"e-"*" now: one new key in "*" is mistaken for seen" ]] || fail "rate: $(_line rate)"
    _says lost "probably no key so far"
    [[ $(_line room) == "for about 9,"*" more keys until the rate passes 0.001" ]] ||
        fail "room: $(_line room)"
    _says visit 1
    _says state "1 sync; at rest"
    echo another | deja add -q f.deja
    succeeds deja info f.deja
    _says state "2 syncs; at rest"
    [ "$(awk '{ print length }' .stdout | sort -n | tail -n 1)" -le 90 ] || fail "wider than 90 columns"
}

info_describes_each_kind() {
    deja gen -n 5000 >list
    deja build -q -k classic -n 5000 -p 0.01 --hash sha1 f.deja list
    succeeds deja info f.deja
    _says kind "classic (k positions over the whole array)"
    _says hashing "sha1, k = 7, secret key in this file"
    deja build --force -q -k classic -n 5000 -p 0.01 --filters 3 f.deja list
    succeeds deja info f.deja
    _says kind "classic, 3 filters that must agree (k positions over the whole array)"
    deja build --force -q -k exact -n 10k --fixed f.deja list
    succeeds deja info f.deja
    _says kind "exact (64-bit fingerprints in a table)"
    _says keys "5,000 new of 5,000 offered"
    _says room "for 5,000 more keys as planned; it is full at 11,723 keys"
    [[ $(_line rate) == *" now: practically no new key is mistaken for seen" ]] || fail "$(_line rate)"
    [[ $(_line fill) == *"% of the slots are in use" ]] || fail "$(_line fill)"
    deja build --force -q -k scalable -n 1000 f.deja list
    succeeds deja info f.deja
    _says kind "scalable of 3 blocked parts (2 cache lines per key)"
    _says capacity "7,000 keys, then it grows; the rate stays below 1.0e-6"
    expect_stderr_empty
}

info_describes_an_empty_filter() {
    local kind
    for kind in classic blocked exact scalable spectral paired; do
        deja build -q -k $kind -n 100 f.deja /dev/null
        succeeds deja info f.deja
        expect_stderr_empty
        _says lost "probably no key so far"
        [[ $(_line used) == *"] 0.0% of the capacity is used" ]] || fail "$(_line used)"
        mv f.deja $kind.deja
    done
    succeeds deja info --json ./*.deja
    _holds "d['keys'] == 0 and d['fill'] == 0 and d['fp_now'] == 0 and not d['pollution']"
}

# 1e-6 was not requested: size and keys were given.
info_shows_the_rate_of_a_given_memory() {
    deja gen -n 10000 >list
    deja build -q -n 20k -m 20k f.deja list
    succeeds deja info f.deja
    [[ $(_line capacity) == "20,000 keys, at a rate of "*"0.02"* ]] || fail "$(_line capacity)"
    [[ $(_line room) == "for about 10,"*" more keys until the rate passes 0.02"* ]] || fail "$(_line room)"
}

a_separate_key_is_reported() {
    head -c 32 /dev/urandom >f.key
    chmod 600 f.key
    echo a | deja build -q --key f.key f.deja
    succeeds deja info --key f.key f.deja
    expect_stderr_empty
    [[ $(_line hashing) == *", secret key stored separately" ]] || fail "$(_line hashing)"
    fails_with 2 "f.deja does not contain its secret key: give the key (--key)" deja info f.deja
    expect_stdout ''
    head -c 32 /dev/urandom >other.key
    chmod 600 other.key
    fails_with 2 "f.deja was made with another secret key" deja info --key other.key f.deja
    succeeds deja info --key <(cat f.key) f.deja
    expect_stderr_empty
}

invalid_keys_are_refused() {
    umask 077
    echo a | deja build -q f.deja
    printf 'too short' >bad.key
    fails_with 2 "bad.key: not a key file (too short); a key is 32 bytes or 64 hexadecimal digits" \
        deja info --key bad.key f.deja
    : >bad.key
    fails_with 2 "bad.key: not a key file (empty)" deja info --key bad.key f.deja
    head -c 40 /dev/zero >bad.key
    fails_with 2 "bad.key: not a key file (longer than 32 bytes and shorter than 64 digits)" \
        deja info --key bad.key f.deja
    head -c 64 /dev/zero >bad.key
    fails_with 2 "bad.key: not a key file (not all of its 64 characters are hexadecimal digits)" \
        deja info --key bad.key f.deja
    head -c 1000 /dev/zero >bad.key
    fails_with 2 "bad.key: not a key file (too long)" deja info --key bad.key f.deja
    fails_with 2 "no.key: cannot open the key file: No such file" deja info --key no.key f.deja
    fails_with 2 "cannot read the key file: Is a directory" deja info --key . f.deja
    expect_stdout ''
}

json_has_all_fields() {
    deja gen -n 2000 >list
    local kind
    for kind in classic blocked exact scalable spectral paired; do
        if [ $kind = scalable ]; then set --; else set -- --fixed; fi
        deja build -q -k $kind -n 5000 "$@" $kind.deja list
    done
    succeeds deja info --json classic.deja blocked.deja exact.deja scalable.deja spectral.deja \
        paired.deja
    expect_stderr_empty
    python3 -m json.tool <.stdout >/dev/null || fail "no JSON"
    _holds "d['file'] == d['kind'] + '.deja' and d['hash'] == 'xxh3'" \
        "d['keys'] == d['offered'] == 2000 and d['capacity'] == 5000" \
        "abs(d['distinct'] - 2000) < 50 and 0 < d['fill'] < 1" \
        "0 < d['fp_now'] < d['fp_planned'] * 1.01 and d['fp_rate'] == 1e-6" \
        "d['keyed'] and not d['key_apart'] and not d['unclean'] and not d['over_capacity']" \
        "d['pollution'] is False and abs(d['surprise_sigma']) < 6" \
        "3000 <= d['room'] < 3100 and d['visit'] == d['syncs'] == 1 and d['profile'] is None and d['url_rules'] is None" \
        "d['bytes'] >= d['bits'] // 8 and d['bits_set'] <= d['bits']"
}

several_files_can_be_given() {
    echo a | deja build -q a.deja
    echo b | deja build -q b.deja
    succeeds deja info a.deja b.deja
    [ "$(grep -cx '[ab].deja' .stdout)" -eq 2 ] || fail "not both"
    succeeds deja info --json a.deja b.deja
    [ "$(python3 -c 'import json; print([f["file"] for f in json.load(open(".stdout"))])')" = \
        "['a.deja', 'b.deja']" ] || fail "not both"
    # A missing file does not hide the others.
    fails_with 2 "no.deja: cannot open: No such file" deja info no.deja b.deja
    expect_stdout_has b.deja
    fails_with 2 "no.deja" deja info --json no.deja b.deja
    python3 - <<'END' || fail "the JSON does not tell"
import json
no, b = json.load(open(".stdout"))
assert "No such file" in no["error"] and b["keys"] == 1, (no, b)
END
}

odd_file_names_are_printed_safely() {
    local name=$'odd \x01\xff"name.deja'
    echo a | deja build -q "$name"
    succeeds deja info "$name"
    ! grep -q $'\x01' .stdout || fail "a control byte reached the terminal"
    succeeds deja info --json "$name"
    _holds "d['keys'] == 1"
}

too_many_keys_cause_a_warning() {
    deja gen -n 3000 >list
    deja build -q -n 1000 -p 0.01 --fixed f.deja list 2>/dev/null
    succeeds deja info f.deja
    expect_stdout_has "it is PAST its capacity"
    grep -qE '^deja info: f.deja was sized for 1,000 keys and holds 2,[0-9]{3}; rebuild it' .stderr ||
        fail "no warning"
    _says room "none: the rate has passed 0.01"
    succeeds deja info --json f.deja
    _holds "d['over_capacity'] and d['room'] == 0 and not d['pollution']"
    # Enough keys to set every bit.
    deja gen -n 100k >list
    deja build --force -q -n 100 -p 0.01 --fixed f.deja list
    succeeds deja info f.deja
    _says rate "1 now: nearly every new key is mistaken for seen"
    [[ $(_line lost) == "more than "* ]] || fail "$(_line lost)"
    succeeds deja info --json f.deja
    _holds "not d['pollution']"
}

honest_filters_raise_no_alarm() {
    deja gen -n 40000 >list
    local p n kind
    for kind in classic blocked scalable; do
        for p in 0.5 0.1 0.01 1e-6; do
            for n in 1000 20000 40000; do
                deja build -q -k $kind -n $n -p $p --seed 1 $kind-$p-$n.deja list
            done
        done
    done
    succeeds deja info --json ./*.deja
    _holds "not d['pollution']"
}

pollution_raises_an_alarm() {
    deja gen -n 20000 >list
    local kind
    for kind in classic blocked; do
        deja build --force -q --seed 2 -k $kind -n 100k -p 0.01 f.deja list
        _pollute f.deja 5000
        succeeds deja info f.deja
        grep -qE '^deja info: f.deja looks POLLUTED: [0-9,]+ bits are set, but (20,000|19,99[0-9]) keys explain only [0-9,]+, [0-9.]+ standard deviations fewer' \
            .stderr || fail "no alarm"
        expect_stderr_has "rebuild it with another secret key"
        succeeds deja info -q f.deja
        expect_stderr_has POLLUTED # an alarm is more than a note
        succeeds deja info --json f.deja
        _holds "d['pollution'] is True and d['surprise_sigma'] > 6"
    done
}

info_reports_a_file_that_was_not_synced() {
    deja gen -n 1000 >list
    deja build -q --seed 2 -n 10k f.deja list
    _unsynced f.deja
    succeeds deja info f.deja
    expect_stderr_empty
    [[ $(_line keys) =~ ^about\ (9[5-9][0-9]|[1-6],[0-9]{3})$ ]] || fail "keys: $(_line keys)"
    [[ $(_line state) == "1 sync; keys were added after the last: "* ]] || fail "$(_line state)"
    expect_stdout_has "counts are estimates until the next"
    succeeds deja info --json f.deja
    _holds "d['unclean'] and not d['pollution'] and 950 <= d['keys'] <= 6100"
}

# The estimate from the bits differs slightly from the number of keys.
an_estimate_causes_no_warning() {
    deja gen -n 5000 >list
    tail -n 1 list >last
    for seed in 1 2 3 4 5 6 7 8; do
        head -n 4999 list | deja build --force -q --seed "$seed" -n 5000 --fixed f.deja
        _unsynced f.deja last
        succeeds deja info f.deja
        expect_stderr_empty
    done
    head -n 4999 list | deja build --force -q -n 4000 --fixed f.deja
    _unsynced f.deja last
    succeeds deja info f.deja
    expect_stderr_has "was sized for 4,000 keys and holds"
}

files_that_are_not_filters_are_refused() {
    echo "https://example.org/" >text
    fails_with 2 "text" deja info text
    : >empty
    fails_with 2 "empty: not a deja filter file (empty)" deja info empty
    fails_with 2 "is not a regular file" deja info .
    fails_with 2 "nowhere: cannot open" deja info nowhere
    echo a | deja build -q f.deja
    head -c 4100 f.deja >cut.deja
    fails_with 2 "cut.deja is truncated" deja info cut.deja
    flip_bit f.deja 100
    fails_with 2 "f.deja: " deja info f.deja
    expect_stdout ''
}

wrong_options_are_refused() {
    fails_with 2 "missing operand; usage: deja info [OPTION]... F.deja..." deja info
    fails_with 2 "unknown option -n" deja info -n 5 f.deja
    fails_with 2 "--key needs a value" deja info f.deja --key
    expect_stdout ''
}

cases "$@"
