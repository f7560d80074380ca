# --url: dedup, build, check and add compare canonical forms and print lines unchanged.
. "$SUPPORT/cases.sh"

_list() {
    printf '%s\n' 'HTTP://Example.com:80/a/../b#top' 'http://example.com/b' \
        'http://example.com/?utm_source=x&b=2&a=1' 'http://example.com/?a=1&b=2' \
        'https://example.com/b' 'no url' 'no url' >list
}

# _keeps PROFILE LINE...: dedup keeps these lines of the list, from a file or a pipe, and check
# finds the whole list in a filter built from them.
_keeps() {
    local profile=$1
    shift
    for n in "$@"; do sed -n "${n}p" list; done >want
    succeeds deja dedup --seed 7 --url="$profile" list
    expect_same want .stdout
    cp .stderr said
    deja dedup -q -j 1 --url="$profile" <list | cmp - want
    gzip -c list | deja dedup -q --url="$profile" | cmp - want
    deja dedup -q --url="$profile" --state "$profile.state" list | cmp - want
    exits_with 0 deja dedup -q --url="$profile" --state "$profile.state" list
    expect_stdout ''
    deja dedup -q --url="$profile" --canonical list >forms
    deja url -q --url="$profile" want | cmp - forms
    deja build -q --url="$profile" "$profile.deja" want
    deja check -q --url="$profile" "$profile.deja" list >found
    cp said .stderr
}

each_profile_merges_its_spellings() {
    _list
    _keeps safe 1 3 4 5 6
    expect_stderr_has "2 lines are not URLs"
    expect_stderr_has "7 read, 5 new, 2 seen before"
    expect_same list found
    _keeps crawl 1 3 5 6
    expect_same list found
    _keeps scrapy 1 2 3 4 5 6
    expect_same list found
    # http and https are equal, as on a block list.
    sed -i 's/^no url$/mailto:me@a.example/' list
    _keeps gsb 1 3 4 6
    head -n 5 list | cmp - found # a line that is not a URL is on no list
}

# Without --url nothing has changed.
without_a_profile_keys_are_bytes() {
    _list
    succeeds deja dedup list
    once <list | expect_stdout
    if grep -q URLs .stderr; then fail "URLs?"; fi
}

canonical_forms_can_be_printed_instead_of_lines() {
    printf 'n,url\r\n1,HTTP://A/\r\n2,http://a\r\n3,"http://b/x, y"\r\n' >list.csv
    succeeds deja dedup -q --url --canonical --csv url list.csv
    printf '%s\n' http://a/ http://b/x,%20y | expect_stdout
    succeeds deja dedup -q --url --csv url list.csv
    sed -n '1p;2p;4p' list.csv | expect_stdout
    succeeds deja dedup -q --url --canonical -D --csv url list.csv
    expect_stdout http://a/
    deja build -q --url f.deja <<<http://A
    succeeds deja check -q --url --canonical --csv url f.deja list.csv
    printf '%s\n' http://a/ http://a/ | expect_stdout
    printf 'HTTP://A\0x y\0' >zero
    deja dedup -q -z --url --canonical zero >out
    printf 'http://a/\0x y\0' | cmp - out
    # With gsb as well, which has different keys.
    deja build -q --url=gsb g.deja <<<a
    succeeds deja check -q --url=gsb --canonical --csv url g.deja list.csv
    printf '%s\n' http://a/ http://a/ | expect_stdout
    succeeds deja check -q --url=gsb --canonical -v --csv url g.deja list.csv
    expect_stdout http://b/x,%20y
}

a_state_keeps_canonical_forms_across_runs() {
    printf '%s\n' http://A.example/ http://b.example/%7e >monday
    printf '%s\n' http://a.example http://b.example/~#x http://c.example/ >tuesday
    succeeds deja dedup --url --state seen.deja monday
    expect_same monday .stdout
    succeeds deja dedup --url --state seen.deja tuesday
    expect_stdout http://c.example/
    succeeds deja add --url seen.deja <<<HTTP://D.example
    succeeds deja dedup --url --state seen.deja <<<http://d.example/
    expect_stdout ''
}

# Files of deja 0.1 keep its forms: a snowman was not valid in a URL then, so its key is the line
# itself.
files_of_deja_0_1_keep_their_forms() {
    printf 'http://\xc3\xbc/\n' | deja url -q | grep -q xn-- || return 0 # built without libidn2
    local golden=$SOURCE/tests/format/golden/hosts profile
    for profile in safe crawl; do
        cp "$golden/$profile.deja" old.deja
        succeeds deja check -q --url=$profile old.deja "$golden/hosts.txt"
        expect_same "$golden/hosts.txt" .stdout
        deja dedup -q --url=$profile --state old.deja "$golden/hosts.txt" >again
        [ ! -s again ] || fail "seen before: $(cat again)"
        # Keys added to it are found by the same forms, even after it grows into another file.
        printf 'http://i\xe2\x99\xa5.example/\n' >others
        succeeds deja add -q --url=$profile old.deja others
        succeeds deja check -q --url=$profile old.deja others
        succeeds deja build --force -q --like old.deja like.deja "$golden/hosts.txt"
        [ "$(deja info --json old.deja | grep url_rules)" = "$(deja info --json like.deja | grep url_rules)" ] ||
            fail "--like has other rules"
        # A new file has the forms of browsers, and different rules.
        deja build --force -q --url=$profile new.deja "$golden/hosts.txt"
        echo http://xn--n3h.example/ >form
        succeeds deja check -q --url=$profile new.deja form
        exits_with 1 deja check -q --url=$profile old.deja form
    done
}

# Without --url, every command uses the profile and the rules of its filter.
the_profile_is_that_of_the_filter() {
    echo http://a.example/?x=1 >list
    printf '%s\n' 'HTTP://A.example/?x=1#y' 'http://b.example' >ask
    local profile
    for profile in safe crawl scrapy; do
        deja build -q --url=$profile -k spectral $profile.deja list
        succeeds deja check --json $profile.deja ask
        head -n 1 ask | expect_stdout
        [ "$(json_get profile .stderr)" = $profile ] || fail "check: profile"
        succeeds deja count -q $profile.deja ask
        printf '1\tHTTP://A.example/?x=1#y\n0\thttp://b.example\n' | expect_stdout
        succeeds deja add -q $profile.deja ask
        succeeds deja check -q --canonical $profile.deja ask
        printf '%s\n' 'http://a.example/?x=1' http://b.example/ >forms
        [ $profile = scrapy ] || expect_same forms .stdout
        succeeds deja dedup -q --state $profile.deja ask
        expect_stdout ''
        succeeds deja remove --json $profile.deja ask
        [ "$(json_get removed .stdout)" = 2 ] || fail "remove: not 2"
    done
    # A block list: each expression of a line is looked up, and keys have no scheme.
    deja build -q --url=gsb gsb.deja <<<a.example
    succeeds deja check --verbose gsb.deja ask
    head -n 1 ask | expect_stdout
    expect_stderr_has "lookups, up to 30 per line"
    succeeds deja add -q gsb.deja <<<http://b.example/
    succeeds deja check -q gsb.deja <<<https://b.example/any
    # The rules of an older version.
    cp "$SOURCE/tests/format/golden/hosts/safe.deja" old.deja
    succeeds deja check -q old.deja "$SOURCE/tests/format/golden/hosts/hosts.txt"
    expect_same "$SOURCE/tests/format/golden/hosts/hosts.txt" .stdout
    # Options that need --url work without it.
    printf '%s\n' '/?x=1' '/%zz' >paths
    succeeds deja check -q --base http://a.example safe.deja paths
    head -n 1 paths | expect_stdout
    fails_with 2 "line 1: 'no' is not a URL" deja check --strict safe.deja <<<no
    # A text is not a URL.
    fails_with 2 "safe.deja holds URLs of profile safe, which are not texts: omit --paragraphs" \
        deja check --paragraphs safe.deja list
    fails_with 2 "which are not texts: omit --ngrams" deja dedup --ngrams 3 --state safe.deja list
}

parameters_must_be_given_again() {
    echo 'http://a.example/?ours=1&id=2' >list
    echo ours >names
    deja build -q --url=crawl --drop-params names ours.deja list
    fails_with 2 "ours.deja holds URLs of profile crawl with different rules: give the --drop-params and \
--keep-params with which it was made" deja check ours.deja list
    fails_with 2 "give the --drop-params" deja check --keep-params ours.deja list
    succeeds deja check -q --drop-params names ours.deja <<<'http://a.example/?id=2'
    succeeds deja add -q --drop-params names ours.deja list
    fails_with 2 "give the --drop-params" deja build --like ours.deja f.deja list
}

another_profile_is_refused_with_both_names() {
    echo http://a.example/ >list
    deja build -q bytes.deja list
    local profile
    for profile in safe crawl gsb scrapy; do
        deja build -q --url=$profile $profile.deja list
        cp $profile.deja copy
        fails_with 2 "bytes.deja holds bytes as given, not URLs of profile $profile" \
            deja check --url=$profile bytes.deja list
        fails_with 2 "bytes.deja holds bytes as given, not URLs of profile $profile" \
            deja dedup --url=$profile --state bytes.deja list
        expect_same copy $profile.deja
    done
    fails_with 2 "crawl.deja holds URLs of profile crawl, not safe" deja check --url crawl.deja list
    fails_with 2 "gsb.deja holds URLs of profile gsb, not scrapy" deja add --url=scrapy gsb.deja list
    fails_with 2 "safe.deja holds URLs of profile safe, not crawl" \
        deja dedup --url=crawl --state safe.deja list
    # The parameters are part of the rules.
    echo ours >names
    deja build -q --url=crawl --drop-params names ours.deja list
    fails_with 2 "with different rules: another list of parameters" deja check --url=crawl ours.deja list
    fails_with 2 "with different rules" deja check --url=crawl --keep-params ours.deja list
    succeeds deja check -q --url=crawl --drop-params names ours.deja list
    expect_same list .stdout
    printf 'ours\nours\n# once more\n' >names
    succeeds deja check -q --url=crawl --drop-params names ours.deja list
}

info_names_the_profile() {
    deja build -q --url=gsb f.deja <<<a.example
    succeeds deja info f.deja
    expect_stdout_has "in the canonical form of profile gsb"
    deja info --json f.deja >info.json
    python3 - <<'PY'
import json
d, = json.load(open('info.json'))
assert d['profile'] == 'gsb' and len(d['url_rules']) == 16 and int(d['url_rules'], 16) > 0, d
PY
}

parameters_can_be_dropped_and_kept() {
    printf '%s\n' 'http://a/?ours=1&id=2' 'http://a/?id=2' 'http://a/?id=2&utm_source=3' >list
    echo ours >names
    succeeds deja dedup -c --url=crawl list
    expect_stdout 2
    succeeds deja dedup -c --url=crawl --drop-params names list
    expect_stdout 1
    succeeds deja dedup -c --url=crawl --drop-params names --keep-params=utm_source list
    expect_stdout 2
    succeeds deja dedup -c --url=crawl --keep-params list
    expect_stdout 3
}

paths_in_logs_are_resolved_against_the_base() {
    cat >access.log <<'END'
192.0.2.1 - - [10/Oct/2024:13:55:36 +0200] "GET /a/./b HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:37 +0200] "GET /a/b?#x HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:38 +0200] "GET http://other.example/a/b HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:39 +0200] "GET /%61/%62 HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:40 +0200] "-" 408 0
192.0.2.1 - - [10/Oct/2024:13:55:41 +0200] "-" 408 0
END
    succeeds deja dedup --url --format log --base https://example.org access.log
    sed -n '1,3p;5,6p' access.log | expect_stdout
    expect_stderr_has "2 lines without a URL, passed through"
    succeeds deja dedup -q --url=crawl --format log --base https://example.org access.log
    sed -n '1p;3p;5,6p' access.log | expect_stdout
    deja build -q --url f.deja <<<https://EXAMPLE.org/a/b
    succeeds deja check -q --url --format log --base https://example.org f.deja access.log
    sed -n '1p;4p' access.log | expect_stdout
    # Without a base, a path is not a URL.
    succeeds deja dedup --url --format log access.log
    expect_stderr_has "3 lines are not URLs"
    expect_stderr_has "2 lines without a URL, passed through"
}

strict_names_file_and_line() {
    printf '%s\n' http://a/ http://b/ http://A c d >list
    fails_with 2 "list: line 4: 'c' is not a URL; without --strict" deja dedup --url --strict list
    printf '%s\n' http://a/ http://b/ | expect_stdout
    fails_with 2 "list: line 4: 'c' is not a URL" deja dedup -j 1 --url --strict --state s.deja list
    printf '%s\n' http://a/ http://b/ | expect_stdout
    succeeds deja check -q --url s.deja list # written lines are recorded
    sed -n '1,3p' list | expect_stdout
    fails_with 2 "list: line 4: 'c' is not a URL" deja build --url --strict f.deja list
    [ ! -e f.deja ] || fail "a filter of half the list was made"
    fails_with 2 "list: line 4: 'c' is not a URL" deja check --url --strict s.deja list
    fails_with 2 "list: line 4: 'c' is not a URL" deja add --url --strict s.deja list
    # In a later block, of a second file.
    all_new_urls 60000 >many
    echo oops >>many
    head -n 3 list >few
    fails_with 2 "many: line 60001: 'oops' is not a URL" deja dedup --seed 1 --url --strict few many
    expect_lines 60002 .stdout
}

lines_that_are_not_urls_are_counted() {
    printf '%s\n' http://a/ b '' http://c/ >list
    succeeds deja dedup -o /dev/null --json --url list
    [ "$(json_get no_urls .stdout)" = 1 ] || fail "dedup: not 1"
    [ "$(json_get keyless .stdout)" = 1 ] || fail "dedup: not 1 without a URL"
    [ "$(json_get profile .stdout)" = safe ] || fail "dedup: profile"
    deja build -q --json --url f.deja list >report
    [ "$(json_get no_urls report)" = 1 ] || fail "build: not 1"
    [ "$(json_get keyless report)" = 1 ] || fail "build: not 1 without a URL"
    [ "$(json_get read report)" = 4 ] || fail "build: not 4 lines"
    [ "$(json_get added report)" = 3 ] || fail "build: an empty key was added"
    succeeds deja check -o /dev/null --json --url f.deja list
    [ "$(json_get no_urls .stdout)" = 1 ] || fail "check: not 1"
    [ "$(json_get keyless .stdout)" = 1 ] || fail "check: not 1 without a URL"
    [ "$(json_get in .stdout)" = 3 ] || fail "check: not 3 lines in it"
}

# An empty key would match in every log.
empty_keys_are_in_no_filter() {
    printf '%s\n' http://a/ '' - >list
    local profile
    for profile in safe crawl gsb scrapy; do
        succeeds deja build --force --url=$profile f.deja list
        expect_stderr_has "2 lines without a URL, skipped"
        expect_stderr_has "3 read, 1 new, 0 seen before"
        succeeds deja check --url=$profile f.deja list
        expect_stdout http://a/
        succeeds deja check -v --url=$profile f.deja list
        printf '%s\n' '' - | expect_stdout
        succeeds deja add --url=$profile f.deja list
        expect_stderr_has "2 lines without a URL, skipped"
        # dedup loses no line, and its state does not know them either.
        succeeds deja dedup -q --url=$profile --state $profile.state list
        expect_same list .stdout
        succeeds deja check -q --url=$profile $profile.state list
        expect_stdout http://a/
    done
    # Whole blocks of them.
    awk 'BEGIN { for (i = 0; i < 100000; i++) print "" }' >empty
    succeeds deja build --force --url f.deja empty
    expect_stderr_has "100,000 read, 0 new, 0 seen before"
    exits_with 1 deja check --url f.deja empty
    succeeds deja dedup -c --url empty # none of them repeats another
    expect_stdout 100000
}

long_lists_of_every_spelling_agree() {
    deja gen -q -n 30k >list
    sed -e 's|^http|HTTP|' -e 's|$|#x|' list >other
    deja url -q list >forms
    once <forms | wc -l >want
    succeeds deja dedup -c --seed 7 --url list other
    expect_same want .stdout
    deja build -q --seed 7 --url f.deja list
    exits_with 1 deja check -q -v --url f.deja other
    deja dedup -q --url -j 2 other >two
    deja dedup -q --url -j 1 other >one
    expect_same one two
}

cases "$@"
