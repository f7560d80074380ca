# deja build --like: replaces a series of filters that has grown with one filter.
. "$SUPPORT/cases.sh"

size_and_rate_are_copied() {
    deja gen -n 5000 --seed 1 > list
    succeeds deja build -q -k scalable -n 100 -p 0.003 grown.deja list
    succeeds deja build -q --like grown.deja one.deja list
    deja info --json grown.deja one.deja > info.json
    python3 - <<'END' || fail "not alike"
import json
grown, one = json.load(open("info.json"))
assert grown["parts"] > 4 and one["parts"] == 1, (grown, one)
assert 5000 <= one["capacity"] <= 5100 and one["fp_rate"] == 0.003, one
assert one["bytes"] < grown["bytes"], (grown, one)
END
    deja check -q --count one.deja list > found
    [ "$(cat found)" -eq 5000 ] || fail "a key is missing"
}

given_options_take_precedence() {
    deja gen -n 100 --seed 1 > list
    succeeds deja build -q -n 1000 -p 0.01 a.deja list
    succeeds deja build -q --like a.deja -k classic -n 300 -p 0.1 b.deja list
    deja info --json b.deja > info.json
    grep -q '"capacity": 300' info.json || fail "another size"
    grep -q '"fp_rate": 0.1,' info.json || fail "another rate"
    succeeds deja build -q --like a.deja -m 4k c.deja list
}

kind_size_and_key_are_copied() {
    deja gen -n 500 --seed 1 > list
    deja gen -n 500 --seed 2 > other
    local options
    for options in '-n 1000' '-n 1000 --fixed' '-k classic -m 8k' '-k exact -n 2000 --fixed' '-k spectral -n 1000' \
        '-k window -n 2000' '-k classic -n 1000 --filters 2 --hash sha1' '--seed 3 -n 1000'; do
        # shellcheck disable=SC2086 # words
        succeeds deja build -q --force $options a.deja list
        succeeds deja build -q --force --like a.deja b.deja other
        [ "$(wc -c < a.deja)" -eq "$(wc -c < b.deja)" ] || fail "$options: another size"
        succeeds deja merge -q --force -o c.deja a.deja b.deja
        [ "$(wc -c < a.deja)" -eq "$(wc -c < c.deja)" ] || fail "$options: not merged bit by bit"
        succeeds deja check -q -c c.deja list other
        expect_stdout 1000
    done
    # Another key, if one is given.
    succeeds deja build -q --force --seed 9 --like a.deja b.deja other
    exits_with 2 deja merge --common a.deja b.deja
    expect_stderr_has "differ in secret key"
}

the_url_profile_is_copied() {
    printf 'http://A.example/?b=1&a=2\n' > list
    succeeds deja build -q --url=crawl a.deja list
    succeeds deja build -q --like a.deja b.deja list
    printf 'http://a.example/?a=2&b=1\n' | deja check -q --url=crawl b.deja > found
    [ -s found ] || fail "another form"
    exits_with 2 deja build --force -q --like a.deja --url=crawl --keep-params b.deja list
    expect_stderr_has "a.deja holds URLs of profile crawl with different rules"
}

the_format_is_copied() {
    printf 'x\ny\n' > list
    succeeds deja build -q --like "$SOURCE/tests/format/golden/v1/blocked.deja" old.deja list
    succeeds deja build -q -n 10 new.deja list
    deja info --json old.deja > info.json
    grep -q '"format": 1' info.json || fail "not the format of deja 0.1"
    deja info --json new.deja > info.json
    grep -q '"format": 2' info.json || fail "not the newest format"
}

filters_that_cannot_be_read_are_refused() {
    echo x > list
    exits_with 2 deja build --like none.deja b.deja list
    expect_stderr_has "none.deja: cannot open"
    exits_with 2 deja build --like list b.deja list
    [ ! -e b.deja ] || fail "it was made"
}

cases "$@"
