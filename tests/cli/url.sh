# url: prints the canonical form of each line, its layers and its expressions.
. "$SUPPORT/cases.sh"

_list() {
    printf '%s\n' 'HTTP://Example.com:80/a/../b#top' 'http://example.com/b' \
        'http://example.com/?utm_source=x&b=2&a=1' 'no url' '' >list
}

each_profile_has_its_form() {
    _list
    succeeds deja url list
    printf '%s\n' http://example.com/b http://example.com/b \
        'http://example.com/?utm_source=x&b=2&a=1' 'no url' '' | expect_stdout
    expect_stderr_has "2 lines are not URLs"
    expect_stderr_has "5 read, 1 changed"
    cp .stdout safe
    succeeds deja url --url=safe list
    expect_same safe .stdout
    succeeds deja url --url=crawl list
    printf '%s\n' http://example.com/b http://example.com/b 'http://example.com/?a=1&b=2' 'no url' '' |
        expect_stdout
    expect_stderr_has "5 read, 2 changed"
    succeeds deja url --url=gsb list
    printf '%s\n' http://example.com/b http://example.com/b \
        'http://example.com/?utm_source=x&b=2&a=1' 'http://no%20url/' '' | expect_stdout
    expect_stderr_has "1 line is not a URL"
    succeeds deja url --url=scrapy list
    printf '%s\n' http://example.com:80/a/../b http://example.com/b \
        'http://example.com/?a=1&b=2&utm_source=x' 'no%20url' '' | expect_stdout
}

input_can_be_standard_input_files_or_compressed() {
    _list
    deja url -q list >form
    expect_lines 5 form
    deja url -q <list | cmp - form
    deja url -q - <list | cmp - form
    gzip -c list >list.gz
    deja url -q list.gz | cmp - form
    succeeds deja url -q -o out list
    expect_stdout ''
    expect_stderr_empty
    expect_same form out
    fails_with 2 "list is also the output" deja url -o list list
    expect_lines 5 list
    tr '\n' '\0' <list >zero
    deja url -q -z zero | tr '\0' '\n' | cmp - form
}

changed_prints_only_changed_urls() {
    _list
    succeeds deja url --changed list
    expect_stdout http://example.com/b
    expect_stderr_has "5 read, 1 changed"
}

segments_are_layers() {
    printf '%s\n' http://a.example/b/c?d/e http://A.example 'no url' >list
    succeeds deja url --segments list
    printf '%s\n' $'http://a.example\t/b\t/c?d/e' $'http://a.example\t/' 'no url' | expect_stdout
    # More than the initial buffer holds.
    awk 'BEGIN { printf "http://a"; for (i = 0; i < 300; i++) printf "/%d", i; print "" }' >deep
    succeeds deja url --segments deep
    [ "$(awk -F '\t' '{ print NF }' .stdout)" -eq 301 ] || fail "not 301 layers"
    tr -d '\t' <.stdout | cmp - deep
}

# As published for the Safe Browsing API.
expressions_are_host_suffixes_and_path_prefixes() {
    printf '%s\n' 'http://a.b.com/1/2.html?param=1' http://1.2.3.4/1/ >list
    succeeds deja url --url=gsb --expressions list
    printf '%s\n' \
        $'a.b.com/1/2.html?param=1\ta.b.com/1/2.html\ta.b.com/1/\ta.b.com/\tb.com/1/2.html?param=1\tb.com/1/2.html\tb.com/1/\tb.com/' \
        $'1.2.3.4/1/\t1.2.3.4/' | expect_stdout
    fails_with 2 "--expressions needs --url=gsb, not safe" deja url --expressions list
    fails_with 2 "cannot be combined" deja url --url=gsb --expressions --segments list
}

json_is_one_object_per_line() {
    printf '%s\n' HTTP://a.example/b $'bad \xff' '' >list
    succeeds deja url --json --url=gsb --segments --expressions list
    python3 - <<'PY'
import json
a, b, c = [json.loads(line) for line in open('.stdout')]
assert a == {'url': 'HTTP://a.example/b', 'canonical': 'http://a.example/b', 'profile': 'gsb', 'is_url': True,
             'segments': ['http://a.example', '/b'], 'expressions': ['a.example/b', 'a.example/']}, a
assert b['canonical'] == 'http://bad%20%FF/' and b['url'] == 'bad \ufffd', b
assert c == {'url': '', 'canonical': None, 'profile': 'gsb', 'is_url': False}, c
PY
    succeeds deja url --json --changed list
    expect_stdout '{"url": "HTTP://a.example/b", "canonical": "http://a.example/b", "profile": "safe", "is_url": true}'
}

links_are_resolved_against_the_base() {
    printf '%s\n' /a ../b?c 'HTTP://other.example' '//c.example/d' '?q' 'http:e' 'mailto:me@a.example' >list
    succeeds deja url --base http://a.example/x/y list
    printf '%s\n' http://a.example/a http://a.example/b?c http://other.example/ http://c.example/d \
        http://a.example/x/y?q http://a.example/x/e mailto:me@a.example | expect_stdout
    # Absolute URLs are left to the profile.
    printf '%s\n' 'http://A.example/%7e' /%7e >list
    succeeds deja url -q --url=scrapy --base http://b.example list
    printf '%s\n' http://a.example/~ http://b.example/~ | expect_stdout
    cat >access.log <<'END'
192.0.2.1 - - [10/Oct/2024:13:55:36 +0200] "GET /a/../b?\x22 HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:41 +0200] "-" 408 0
END
    succeeds deja url --format log --base https://example.org access.log
    printf '%s\n' 'https://example.org/b?%22' '' | expect_stdout
    expect_stderr_has "1 line without a request target, printed empty"
    succeeds deja url --json --format log --base https://example.org access.log
    expect_stdout_has '{"url": null, "canonical": null,'
}

strict_names_file_and_line() {
    _list
    fails_with 2 "list: line 4: 'no url' is not a URL; without --strict" deja url --strict list
    # Lines before it were printed.
    expect_lines 3 .stdout
    exits_with 2 deja url --strict -o out list
    expect_lines 3 out
    printf 'http://a/\n\n' >list
    fails_with 2 "list: line 2 lacks a URL" deja url --strict list
    printf 'http://a/\nx\033[31m\n' | exits_with 2 deja url --strict
    expect_stderr_has "standard input: line 2: 'x\\x1b[31m' is not a URL"
    # Lines are counted as an editor does: CSV has line breaks in quotes.
    printf 'n,url\n"1\n1",http://a/\n2,b\n' >list.csv
    fails_with 2 "list.csv: line 4: 'b' is not a URL" deja url --strict --csv url list.csv
    # Lines of block lists that have no host are dropped.
    printf '# a\n\nb.example\n# c\nd.example\n' >hosts
    fails_with 2 "hosts: line 3: 'b.example' is not a URL" deja url --strict --format hosts hosts
    printf '1 http://a/\n2\n' >list
    fails_with 2 "list: line 2 lacks field 2" deja url --strict -f 2 list
    expect_stdout http://a/
}

parameters_can_be_dropped_and_kept() {
    echo 'http://a.example/?utm_source=1&ours=2&id=3&own_a=4' >list
    succeeds deja url --url=crawl list
    expect_stdout 'http://a.example/?id=3&ours=2&own_a=4'
    printf '# our own\n\n  ours \nown_*\t# all of them\r\n' >names
    succeeds deja url --url=crawl --drop-params names list
    expect_stdout 'http://a.example/?id=3'
    succeeds deja url --url=crawl --keep-params list
    expect_stdout 'http://a.example/?id=3&ours=2&own_a=4&utm_source=1'
    succeeds deja url --url=crawl --keep-params --drop-params names list
    expect_stdout 'http://a.example/?id=3&utm_source=1'
    succeeds deja url --url=crawl --keep-params=own_a,utm_source --drop-params names list
    expect_stdout 'http://a.example/?id=3&own_a=4&utm_source=1'
    fails_with 2 "--drop-params is for profile crawl: safe keeps all" deja url --drop-params names list
}

fields_columns_and_formats_can_be_chosen() {
    printf '1 HTTP://A/\n2\n' >list
    succeeds deja url -f 2 list
    printf '%s\n' http://a/ '' | expect_stdout
    printf 'n,url\n1,"HTTP://A/?x=1,2"\n' >list.csv
    succeeds deja url -q --csv url list.csv
    expect_stdout 'http://a/?x=1,2'
    printf '%s\n' '# x' '0.0.0.0 A.example b.example' '||c.example/path' >hosts
    succeeds deja url --url=gsb --format hosts hosts
    printf '%s\n' http://a.example/ http://b.example/ '' | expect_stdout
    expect_stderr_has "1 line without a host, printed empty"
}

url_ends_quietly_if_its_reader_goes_away() {
    all_new_urls 200000 >list
    deja url list 2>.stderr | head -n 1 >.stdout || fail "exit $?"
    expect_stdout https://host0.example/0
    expect_stderr_empty
}

# The canonical form of a canonical form is itself, as is a whole file of canonical URLs.
canonical_lists_stay_unchanged() {
    deja gen -q -n 20k >list
    local profile
    for profile in safe crawl gsb; do
        deja url -q --url=$profile list >form
        succeeds deja url --url=$profile form
        expect_same form .stdout
        expect_stderr_has "20,000 read, 0 changed"
    done
}

help_and_completion_list_the_options() {
    succeeds deja help url
    expect_stdout_has "--url[=PROFILE]"
    expect_stdout_has "crawl, gsb, scrapy or shape"
    succeeds deja help dedup
    expect_stdout_has "--url[=PROFILE]"
    succeeds deja help --completion bash
    expect_stdout_has 'url:--url) _deja_words "safe crawl gsb scrapy shape"'
    cp .stdout completion
    cat >try <<'END'
. ./completion
try() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
    _deja
    echo "${COMPREPLY[*]}"
}
try deja dedup --url = g
try deja dedup --url =
try deja dedup --url g
try deja url --url s
END
    succeeds bash try
    printf '%s\n' gsb 'safe crawl gsb scrapy shape' gsb 'safe scrapy shape' | expect_stdout
}

cases "$@"
