# Lines without the requested key match nothing, in every command and input format: dedup prints
# them, check never finds them, build, add and remove skip them, count prints 0.
. "$SUPPORT/cases.sh"

# _mixed: ten lines with the keys a b a c a b d a b c, each followed by a line without a key; these
# lines are all equal.
_mixed() {
    for key in a b a c a b d a b c; do
        printf '{"url": "%s"}\n{"link": "x"}\n' $key
    done
}
_kept='1p;2p;3p;4p;6p;7p;8p;10p;12p;13p;14p;16p;18p;20p' # the lines that dedup keeps

dedup_prints_lines_without_a_key() {
    _mixed >list
    sed -n "$_kept" list >kept
    grep url list | again >repeats
    local way
    for way in '' '-j 1' '-j 2' '-n 100' '-n 100 -k exact' '-n 100 -k classic --hash murmur2' \
        '-k layered -n 100' '-n 1000 -k window' '-n 100 -k spectral' '-k scalable'; do
        rm -f state.deja
        # shellcheck disable=SC2086 # words
        {
            succeeds deja dedup --seed 7 --json-key url $way list
            expect_same kept .stdout
            expect_stderr_has '10 lines without a string "url", passed through'
            expect_stderr_has "20 read, 14 new, 6 seen before"
            succeeds deja dedup --seed 7 --json-key url $way -c list
            expect_stdout 14
            succeeds deja dedup --seed 7 --json-key url $way -D list
            expect_same repeats .stdout
            succeeds deja dedup --seed 7 --json-key url $way -D -c list
            expect_stdout 6
            deja dedup -q --seed 7 --json-key url $way <list | cmp - kept
            succeeds deja dedup --seed 7 --json-key url $way --state state.deja list
            expect_same kept .stdout
            # Again: every key is known now, and only lines without a key are printed.
            succeeds deja dedup --seed 7 --json-key url $way --state state.deja list
            grep link list | expect_stdout
            deja dedup -q --seed 7 --json-key url $way --state state.deja <list | cmp - .stdout
        }
        case $way in *spectral* | *window* | *layered*) continue ;; esac
        [ "$(deja info --json state.deja | python3 -c 'import json, sys; print(json.load(sys.stdin)[0]["keys"])')" = 4 ] ||
            fail "the state holds more than the four keys"
    done
}

# Blocks of a megabyte, some without a single key; the keys cross them all.
blocks_without_any_key_work() {
    awk 'BEGIN { for (i = 0; i < 300000; i++)
        if (i >= 100000 && i < 180000 || i % 3) print i % 7; else print i % 7, "k" i % 1000 }' >list
    awk 'NF < 2 || !seen[$2]++' list >kept
    awk 'NF < 2' list >keyless
    succeeds deja dedup --seed 7 -f 2 list
    expect_same kept .stdout
    succeeds deja dedup --seed 7 -f 2 -j 1 --state s.deja list
    expect_same kept .stdout
    deja build -q --seed 7 -f 2 f.deja list
    succeeds deja check -v -f 2 f.deja list
    expect_same keyless .stdout
    [ "$(deja check -q -c -f 2 f.deja list)" = $((300000 - $(wc -l <keyless))) ] || fail "check -c"
}

check_never_finds_lines_without_a_key() {
    _mixed >list
    # If whole lines are keys, an empty line has an empty key, which matches no line without a key.
    printf '%s\n' a b '' >plain
    deja build -q f.deja plain
    succeeds deja check --json-key url f.deja list
    grep -E '"[ab]"' list | expect_stdout
    expect_stderr_has '10 lines without a string "url", not in the filter'
    expect_stderr_has "20 read, 7 in f.deja"
    succeeds deja check -v --json-key url f.deja list
    grep -vE '"[ab]"' list | expect_stdout
    succeeds deja check -c --json-key url f.deja list
    expect_stdout 7
    succeeds deja check -v -c --json-key url f.deja list
    expect_stdout 13
    succeeds deja check -o /dev/null --json --json-key url f.deja list
    [ "$(json_get keyless .stdout)" = 10 ] || fail "json: keyless"
    [ "$(json_get lookups .stdout)" = 10 ] || fail "json: lookups"
    succeeds deja check f.deja plain
    expect_same plain .stdout
}

a_blank_line_in_a_block_list_matches_nothing() {
    printf '%s\n' /bad '' >list
    deja build -q bad.deja list
    printf '%s\n' 'h - - [d] "GET /bad HTTP/1.1" 200 1' 'h - - [d] "-" 408 0' 'h - - [d] "GET /good HTTP/1.1" 200 1' >log
    succeeds deja check --format log bad.deja log
    head -n 1 log | expect_stdout
    succeeds deja check -v --format log bad.deja log
    tail -n 2 log | expect_stdout
}

build_and_add_skip_lines_without_a_key() {
    _mixed >list
    local kind
    for kind in '' '-k static' '-k exact' '-k spectral' '--format dcso -n 100'; do
        rm -f f.deja
        # shellcheck disable=SC2086 # words
        succeeds deja build --json-key url $kind f.deja list
        expect_stderr_has '10 lines without a string "url", skipped'
        expect_stderr_has "20 read, 4 new, 6 seen before"
        printf '%s\n' a b c d '' x >want
        succeeds deja check f.deja want
        head -n 4 want | expect_stdout
    done
    rm -f f.deja
    deja build -q --seed 7 -n 100 f.deja /dev/null
    succeeds deja add --json-key url f.deja list
    expect_stderr_has '10 lines without a string "url", skipped'
    expect_stderr_has "20 read, 4 new, 6 seen before"
    deja build -q --json --json-key url g.deja list >report
    [ "$(json_get keyless report) $(json_get known report) $(json_get read report)" = "10 6 20" ] ||
        fail "json: $(cat report)"
}

count_and_remove_skip_lines_without_a_key() {
    _mixed >list
    deja build -q -k spectral -n 100 --json-key url f.deja list
    succeeds deja count --json-key url f.deja list
    head -n 4 .stdout >first
    printf '%s\n' '4	{"url": "a"}' '0	{"link": "x"}' '3	{"url": "b"}' '0	{"link": "x"}' | cmp - first
    expect_stderr_has '10 lines without a string "url", not in the filter'
    succeeds deja remove --json-key url f.deja list
    expect_stderr_has '10 lines without a string "url", skipped'
    expect_stderr_has "20 read, 10 removed, 0 refused"
}

strict_names_the_line() {
    _mixed >list
    fails_with 2 'list: line 2 lacks a string "url"; without --strict such lines pass' \
        deja dedup --strict --json-key url --state s.deja list
    head -n 1 list | expect_stdout
    succeeds deja check -c --json-key url s.deja list # the line before it is recorded
    expect_stdout 4
    fails_with 2 "list: line 2 lacks" deja build --strict --json-key url f.deja list
    [ ! -e f.deja ] || fail "a filter of half the list was made"
    deja build -q -n 100 f.deja /dev/null
    fails_with 2 "list: line 2 lacks" deja add --strict --json-key url f.deja list
    fails_with 2 "list: line 2 lacks" deja check --strict --json-key url f.deja list
    # In a later file and block.
    all_new_urls 60000 | sed 's/^/x /' >many
    head -n 3 many >few
    echo alone >>many
    fails_with 2 "many: line 60001 lacks field 2" deja dedup --seed 1 -j 2 --strict -f 2 few many
    expect_lines 60000 .stdout
    printf '# c\n0.0.0.0 a\n\nhttp://x/\n' >hosts
    fails_with 2 "hosts: line 4 lacks a host" deja dedup --strict --format hosts hosts
    expect_stdout '0.0.0.0 a'
}

it_is_an_error_if_no_line_has_the_key() {
    printf '{"page": {"link": "a"}, "n": 1}\n{"page": {"link": "b"}, "n": 2}\n' >list
    deja dedup -q --json-key page.link --state s.deja list >/dev/null
    cp s.deja before.deja
    local way
    for way in '' '-j 1' '-j 2' '--state s.deja' '--url'; do
        # shellcheck disable=SC2086 # words
        fails_with 2 'no line has a string ".url"; the first lines of list have: "page.link", "n" (a number)' \
            deja dedup --json-key .url $way list
        expect_same list .stdout # nothing is lost
    done
    printf '%s\n' a b c >plain
    succeeds deja check s.deja plain
    printf '%s\n' a b | expect_stdout
    [ "$(deja info --json s.deja | grep '"keys"')" = "$(deja info --json before.deja | grep '"keys"')" ] ||
        fail "the state has changed"
    fails_with 2 'no line has a string "url"' deja build --json-key url f.deja list
    [ ! -e f.deja ] || fail "a filter of nothing was made"
    fails_with 2 'no line has a string "url"' deja build -k static --json-key url f.deja list
    [ ! -e f.deja ] || fail "a filter of nothing was made"
    fails_with 2 'no line has a string "url"' deja add --json-key url s.deja list
    fails_with 2 'no line has a string "url"' deja check --json-key url s.deja list
    fails_with 2 'no line has a string "url"' deja dedup -c --json-key url list
    expect_stdout ''
    printf '1,2,3\n4,5,6\n' >list.csv
    fails_with 2 'no line has column 9; the first line of list.csv has 3 columns: "1", "2", "3"' \
        deja dedup --csv 9 list.csv
    fails_with 2 'no line has field 2; the first line of list.csv has 1 field between blanks' \
        deja dedup -f 2 list.csv
    fails_with 2 'no line has a request target; is plain a Common or Combined log?' \
        deja dedup --format log plain
    # One line with the key is enough; none at all is fine too.
    echo '{"url": "a"}' >>list
    succeeds deja dedup --json-key .url list
    expect_same list .stdout
    : >empty
    succeeds deja dedup --json-key .url empty
    echo >blank
    succeeds deja dedup --json-key .url blank
}

names_can_be_written_as_in_jq_and_jsonpath() {
    cat >list <<'END'
{"a": {"b": "1"}, "a.b": "x", "url": "u"}
{"a": {"b": "1"}, "a.b": "y", "url": "u"}
END
    local name
    for name in url .url '$.url' '."url"' '.["url"]' "\$['url']" '."a"."b"' "\$['a']['b']"; do
        succeeds deja dedup -c --json-key "$name" list
        expect_stdout 1
    done
    for name in a.b .a.b '$.a.b' '."a.b"'; do
        succeeds deja dedup -c --json-key "$name" list
        expect_stdout 2
    done
    fails_with 2 "--json-key '.' is not the name of a key" deja dedup --json-key . list
}

# A line of several hosts has a key if one of them is valid.
a_line_can_have_several_keys() {
    printf '%s\n' '0.0.0.0 - a.example' '0.0.0.0 a.example' 'http://x/' '0.0.0.0 - a.example' 'http://x/' >hosts
    succeeds deja dedup --url=gsb --format hosts hosts
    sed -n '1p;3p;5p' hosts | expect_stdout
    expect_stderr_has "5 read, 3 new, 2 seen before"
    expect_stderr_has "2 lines without a URL, passed through"
}

cases "$@"
