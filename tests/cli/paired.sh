# paired: entries and deletions on the command line; this kind can forget keys, and deja says so.
. "$SUPPORT/cases.sh"

_info() { # KEY of f.deja
    deja info --json f.deja 2>/dev/null |
        python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1"
}

a_removed_key_is_never_found_again() {
    printf 'a\nb\na\nc\n' >list
    deja build -q -k paired -n 100 f.deja list
    printf 'a\nd\na\n' >away
    succeeds deja remove f.deja away
    expect_stdout ''
    expect_lines 1 .stderr
    expect_stderr_has "3 read, 1 removed, 2 refused" # removed at once, however often it was added
    succeeds deja check -q f.deja list
    expect_stdout "$(printf 'b\nc')"
    # It is added again, is new every time, and is never found.
    for _ in 1 2; do
        echo a >again
        succeeds deja add f.deja again
        expect_stderr_has "1 read, 1 new, 0 seen before"
        expect_stderr_has "added so far will NOT be found: the key was removed"
        exits_with 1 deja check -q f.deja again
    done
    [ "$(_info hidden)" -eq 2 ] || fail "hidden"
    [ "$(_info deletions)" -eq 1 ] || fail "deletions"
    [ "$(_info removed)" -eq 1 ] || fail "removed"
    [ "$(_info refused)" -eq 2 ] || fail "refused"
    [ "$(_info keys)" -eq 2 ] || fail "keys"
    succeeds deja add --json f.deja again
    [ "$(json_get hidden .stdout)" -eq 3 ] || fail "hidden of add"
    succeeds deja verify -q f.deja
}

commands_warn_that_the_kind_forgets() {
    deja gen -q -n 2000 >list
    deja build -q --seed 1 -k paired -n 2000 -p 0.05 f.deja list
    succeeds deja info f.deja
    expect_stdout_has "kind        paired (entries and deletions: it FORGETS, see below)"
    expect_stdout_has "FORGETS     no key until one is removed"
    head -n 1000 list | deja remove -q f.deja
    succeeds deja info f.deja
    expect_stdout_has "deletions   9"
    grep -qE '^  FORGETS     0\.[0-9]+ now: one key in [0-9]+ that was added and not removed is missed' .stdout ||
        fail "no rate of forgetting"
    tail -n 1000 list >stay
    run deja check -q -v f.deja stay # what is forgotten
    missed=$(wc -l <.stdout)
    if [ "$missed" -eq 0 ] || [ "$missed" -gt 30 ]; then fail "$missed of 1000 forgotten"; fi
    succeeds deja plan -k paired -n 1000 -p 0.01 --deletions 10
    expect_stdout_has "paired FORGETS: after 10 removals,"
    expect_stdout_has "2 cache lines"
    expect_stdout_has "deja build -k paired -n 1k -p 0.01 --deletions 10 list.deja urls.txt"
    succeeds deja plan --json -k paired -n 1000 -p 0.01
    python3 -c 'import json
d = json.load(open(".stdout"))["kinds"][0]
assert d["deletions"] == 1000 and 0 < d["fn_rate"] <= 0.01, d'
    deja check --help | grep "it FORGETS" >/dev/null || fail "check --help"
    deja remove --help | grep "FOR GOOD" >/dev/null || fail "remove --help"
}

more_removals_than_planned_are_reported() {
    deja gen -q -n 1000 >list
    deja build -q --seed 1 -k paired -n 1000 --deletions 100 -p 0.01 f.deja list
    head -n 300 list | deja remove -q f.deja
    run deja info f.deja
    expect_stderr_has "f.deja was sized for 100 removals and holds 2"
    expect_stderr_has "it FORGETS"
    deja build --force -q --seed 1 -k paired -n 100 f.deja list
    run deja info f.deja
    expect_stderr_has "f.deja was sized for 100 keys and holds"
}

wrong_sizes_are_refused_and_memory_is_split() {
    echo a >list
    succeeds deja build -q -k paired f.deja list # sized from the file
    fails_with 2 "kinds layered, spectral, paired and window" deja build --force -k paired f.deja </dev/null
    fails_with 2 "--deletions goes with kind paired, not blocked" \
        deja build --deletions 5 -n 9 g.deja list
    fails_with 2 "--deletions" deja build -k paired --deletions 0 -n 9 g.deja list
    fails_with 2 "--filters goes with kinds classic, blocked and spectral, not paired" \
        deja build -k paired --filters 2 -n 9 g.deja list
    fails_with 2 "at least 128 bytes, for two filters" deja build -k paired -m 100 g.deja list
    [ ! -e g.deja ] || fail "a file was left"
    deja build --force -q -k paired -n 1000 -m 64k --deletions 100 f.deja list
    bytes=$(_info bytes) # each part has a multiple of the lines of a key
    if [ "$bytes" -gt 65536 ] || [ "$bytes" -lt 65000 ]; then fail "bytes"; fi
    [ "$(_info deletions_capacity)" -eq 100 ] || fail "deletions"
}

unsupported_operations_are_refused() {
    echo a >list
    deja build -q -k paired -n 100 f.deja list
    cp f.deja before.deja
    fails_with 2 "cannot count keys; spectral can" deja count f.deja list
    fails_with 2 "has no right answer" deja merge -o g.deja f.deja before.deja
    fails_with 2 "would forget keys that are found now" deja fold f.deja
    fails_with 2 "-k paired cannot dedup" deja dedup -k paired list
    expect_stderr_has "use kind spectral to remove lines"
    fails_with 2 "f.deja cannot dedup" deja dedup --state f.deja list
    expect_stdout ''
    expect_same f.deja before.deja
}

a_visit_starts_empty() {
    deja gen -q -n 800 >list
    deja build -q --seed 1 -k paired -n 800 -p 1e-6 f.deja list
    head -n 160 list | deja remove -q f.deja
    succeeds deja rotate --verbose f.deja
    expect_stderr_has "visit 1 saw about 800"
    [ "$(_info deletions_capacity)" -eq 180 ] || fail "deletions"
    deja add -q f.deja list
    [ "$(deja check -q -c f.deja list)" -eq 800 ] || fail "removed lines are back in a new visit"
    succeeds deja rotate -q --deletions 77 f.deja
    [ "$(_info deletions_capacity)" -eq 77 ] || fail "given deletions"
    deja build -q -n 10 g.deja list
    fails_with 2 "--deletions goes with kind paired" deja rotate --deletions 5 g.deja
}

cases "$@"
