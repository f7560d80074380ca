# layered: segments, layers and prefix queries on the command line.
. "$SUPPORT/cases.sh"

_get() { # NAME: of the first file in the JSON of info
    python3 -c "import json; print(json.load(open('.stdout'))[0]$1)"
}

build_add_and_check_work() {
    all_new_urls 3000 >list
    head -n 2000 list >members
    succeeds deja build -k layered -n 3000 -p 1e-6 f.deja members
    expect_stderr_has "2,000 read, 2,000 new"
    succeeds deja check -q --count f.deja list
    expect_stdout 2000
    succeeds deja add -q f.deja list
    succeeds deja check -q --count f.deja list
    expect_stdout 3000
    succeeds deja verify -q f.deja
    succeeds deja rotate -q f.deja
    exits_with 1 deja check -q f.deja list
    succeeds deja add -q f.deja list
    succeeds deja check -q --count f.deja list
    expect_stdout 3000
}

dedup_keeps_a_state() {
    all_new_urls 2000 >list
    cat list list | deja dedup -q -k layered -n 2000 >out
    cmp list out || fail "not the lines"
    head -n 700 list >first
    succeeds deja dedup -q -k layered --layers 5 --state seen.deja first
    cmp .stdout first || fail "not the first"
    succeeds deja dedup -q --state seen.deja list
    tail -n +701 list | cmp - .stdout || fail "not the rest"
    succeeds deja dedup -q -k layered --layers 5 --state seen.deja list
    expect_stdout ''
    fails_with 2 "seen.deja was made with --layers 5, not 4" \
        deja dedup -k layered --layers 4 --state seen.deja list
    fails_with 2 "seen.deja was made without --layered paper" \
        deja dedup -k layered --layered paper --state seen.deja list
    fails_with 2 "seen.deja is of kind layered, not classic" \
        deja dedup -k classic --state seen.deja list
}

only_mode_paper_confuses_swapped_segments() {
    printf 'h/a/b\ng/b/x\ng/x/a\n' >list
    deja build -q -k layered -n 100 salted.deja list
    deja build -q -k layered --layered salted -n 100 same.deja list
    deja build -q -k layered --layered paper -n 100 paper.deja list
    echo h/b/a >swapped
    exits_with 1 deja check -q salted.deja swapped
    exits_with 1 deja check -q same.deja swapped
    succeeds deja check -q paper.deja swapped
    expect_stdout h/b/a
}

the_published_collision_occurs() {
    printf 'a/b\nb/x\nx/a\n' >list
    deja build -q -k layered --layered paper -n 100 paper.deja list
    echo b/a >swapped
    succeeds deja check -q paper.deja swapped
    expect_stdout b/a
}

plan_counts_the_layers() {
    for i in $(seq 300); do echo "http://h$i/a$i/b$i"; done >list
    deja build -q -k layered --layers 3 -n 300 -p 0.001 f.deja list
    deja plan -k layered --layers 3 -n 300 -p 0.001 --json >plan.json
    deja info --json f.deja >info.json
    python3 - <<'END' || fail "another size"
import json
plan, info = json.load(open("plan.json")), json.load(open("info.json"))
if isinstance(info, list):
    info = info[0]
layered, = [k for k in plan["kinds"] if k["kind"] == "layered"]
assert layered["bytes"] == info["bytes"], (layered, info["bytes"])
END
}

prefixes_can_be_queried() {
    printf '%s\n' http://h/a/b?x=1 http://g/c/ >list
    deja build -q -k layered -n 100 f.deja list
    printf '%s\n' http://h http://h/ http://h/a http://h/a/ http://h/a/b http://g/c http://k \
        http://h/ab http://h/a/c >asked
    succeeds deja check --prefix f.deja asked
    head -n 6 asked | expect_stdout
    expect_stderr_has "9 read, 6 in f.deja"
    succeeds deja check -q --prefix -v f.deja asked
    tail -n 3 asked | expect_stdout
    succeeds deja check -q --prefix --count f.deja asked
    expect_stdout 6
    succeeds deja check --prefix --json f.deja asked
    [ "$(json_get in .stderr)" -eq 6 ] || fail "in"
    tail -n 3 asked >none
    exits_with 1 deja check -q --prefix f.deja none
}

prefixes_are_canonicalized() {
    printf '%s\n' 'http://EXAMPLE.com:80/a/../b/c?utm_source=x&id=2' >list
    deja build -q -k layered --url=crawl -n 100 f.deja list
    printf '%s\n' HTTP://example.COM http://example.com/b/ 'http://example.com/./b?utm_source=y' \
        'no url' '' >asked
    succeeds deja check -q --url=crawl --prefix f.deja asked
    head -n 3 asked | expect_stdout
    deja build -q -k layered --url=gsb -n 100 g.deja list
    succeeds deja check --url=gsb --prefix g.deja asked
    head -n 3 asked | expect_stdout
    ! grep -q "multiplies the rate" .stderr || fail "a prefix is one question"
    succeeds deja check -q --prefix f.deja asked # the filter's profile
    head -n 3 asked | expect_stdout
    fails_with 2 "holds URLs of profile crawl, not safe" deja check --url --prefix f.deja asked
}

other_kinds_name_the_kind_that_can() {
    echo http://h/a >list
    deja build -q -n 10 --fixed b.deja list
    deja build -q -k layered --layered paper -n 10 p.deja list
    deja build -q -k layered --words , -n 10 w.deja list
    fails_with 2 "b.deja is of kind blocked, which cannot answer prefix queries; layered can" \
        deja check --prefix b.deja list
    fails_with 2 "p.deja was made with --layered paper and cannot answer prefix queries" \
        deja check --prefix p.deja list
    fails_with 2 "w.deja was made with --words and cannot answer prefix queries" \
        deja check --prefix w.deja list
    deja build -q -k layered -n 10 l.deja list
    fails_with 2 "l.deja is of kind layered, which cannot remove keys; spectral and paired can" \
        deja remove l.deja list
    fails_with 2 "l.deja is of kind layered, which cannot count keys; spectral can" \
        deja count l.deja list
    fails_with 2 "" deja fold l.deja
}

words_can_be_segments() {
    printf '%s\n' 'the cat saw the dog' 'a dog' >list
    deja build -q -k layered --words ' ' -n 100 w.deja list
    deja build -q -k layered --words ' ' --layered paper --layers 1 -n 100 p.deja list
    printf '%s\n' 'the cat saw the dog' 'the dog saw the cat' 'a dog' 'dog a' 'a  dog' >asked
    succeeds deja check -q w.deja asked
    printf '%s\n' 'the cat saw the dog' 'a dog' | expect_stdout
    succeeds deja check -q p.deja asked
    head -n 4 asked | expect_stdout
}

info_describes_the_layers() {
    all_new_urls 500 >list
    deja build -q -k layered --layers 4 -n 500 -p 1e-3 f.deja list
    succeeds deja info f.deja
    expect_stdout_has "layered, mode salted, 2 of at most 4 layers for segments of URLs"
    expect_stdout_has "of the keys had only known segments"
    expect_stdout_has "  XOR "
    succeeds deja info --json f.deja
    [ "$(_get '["mode"]')" = salted ] || fail "mode"
    [ "$(_get '["layers"][0]["segments"]')" -eq "$(_get '["keys"]')" ] || fail "XOR layer"
    [ "$(_get '["layers"][1]["segments"]')" -le 500 ] || fail "hosts"
    [ "$(_get '["layers"].__len__()')" -eq 3 ] || fail "layers"
    deja build -q -k layered --words , -n 500 w.deja list
    succeeds deja info w.deja
    expect_stdout_has "layers for words"
    succeeds deja info --json w.deja
    [ "$(_get '["delimiter"]')" = , ] || fail "delimiter"
}

contradicting_options_are_refused() {
    echo a >list
    fails_with 2 "--layers goes with kind layered, not blocked" deja build --layers 3 -n 9 f.deja list
    fails_with 2 "--layered paper goes with kind layered, not blocked" \
        deja build --layered paper -n 9 f.deja list
    fails_with 2 "--words goes with kind layered, not classic" \
        deja build -k classic --words , -n 9 f.deja list
    fails_with 2 "layers is 1: it must be from 2 to 10" \
        deja build -k layered --layers 1 -n 9 f.deja list
    fails_with 2 "--layers takes a number from 1 to 10, not 11" \
        deja build -k layered --layers 11 -n 9 f.deja list
    fails_with 2 "--layered takes salted or paper, not 'papers'; did you mean paper?" \
        deja build -k layered --layered papers -n 9 f.deja list
    fails_with 2 "layers of a layered filter grow with their segments" \
        deja build -k layered -m 1M f.deja list
    fails_with 2 "--filters goes with kinds classic, blocked and spectral, not layered" \
        deja build -k layered --filters 2 -n 9 f.deja list
    echo a | fails_with 2 "how many keys? give -n N: kinds layered, spectral, paired and window" \
        deja build -k layered f.deja -
    [ ! -e f.deja ] || fail "a file was made"
    succeeds deja build -q -k layered --layered paper -m 9k -n 99 p.deja list
}

cases "$@"
