# deja rotate: the next visit starts empty, with different hash functions and a size based on the
# last visit.
. "$SUPPORT/cases.sh"

the_next_visit_starts_empty() {
    deja gen -n 4000 >list
    local options
    for options in '-k blocked' '-k classic' '-k classic --filters 2' '-k scalable' '-k exact'; do
        # shellcheck disable=SC2086 # words
        deja build --force -q --seed 1 -n 10k -p 0.01 $options f.deja list
        succeeds deja rotate --verbose f.deja
        expect_stdout ''
        expect_stderr_has "f.deja: visit 2, "
        grep -qE ' for 4,(49|50)[0-9] keys; visit 1 saw about (3,99|4,00)[0-9] and lost ' .stderr ||
            fail "the message lacks the number of keys"
        succeeds deja verify -q f.deja
        exits_with 1 deja check -q -c f.deja list
        expect_stdout 0
        deja add -q f.deja list
        succeeds deja check -q -c f.deja list
        expect_stdout 4000
        succeeds deja info f.deja
        grep -qE '^  visit +2; the last one saw about (3,99|4,00)[0-9] keys and lost ' .stdout || fail "visit"
        grep -qE '^  missed +.*: the chance that every visit so far missed a given page$' .stdout ||
            fail "missed"
    done
}

# The thesis' filters: m = n k M, and only the salts change.
k_and_the_multiplier_stay() {
    deja gen -n 4000 >list
    local hash
    for hash in xxh3 jenkins; do
        deja build -q --force -k classic --hash $hash --hashes 3 --multiplier 2 -n 10k f.deja list
        succeeds deja rotate -q f.deja
        succeeds deja info --json f.deja
        python3 -c 'import json
d = json.load(open(".stdout"))[0]
assert d["hashes"] == 3 and 0 <= d["bits"] - d["capacity"] * 6 < 64, d' || fail "$hash: another k or M"
    done
    deja rotate -q -p 0.001 f.deja
    succeeds deja info --json f.deja
    expect_stdout_has '"fp_rate": 0.001,'
}

# _visit FILTER: a crawl in many runs; within one, dedup compares lines with those of this run.
_visit() {
    local piece
    for piece in piece.*; do
        deja dedup -q --state "$1" "$piece"
    done
}

# The second visit finds the pages that the first lost to false positives.
lost_pages_are_found() {
    deja gen -n 20k >list
    split -l 1000 list piece.
    deja build -q --seed 1 -k classic -n 20k -p 0.1 f.deja </dev/null
    _visit f.deja >first
    deja rotate -q f.deja
    _visit f.deja >second
    sort first >first.sorted
    sort list | comm -23 - first.sorted >lost
    sort second >second.sorted
    comm -12 lost second.sorted >again
    local lost found
    lost=$(wc -l <lost)
    found=$(wc -l <again)
    [ "$lost" -gt 200 ] || fail "only $lost were lost"
    # A visit loses about 3%, and never 20%.
    [ "$found" -gt $((lost * 8 / 10)) ] || fail "$found of $lost were found"
    succeeds deja info --json f.deja
    python3 -c 'import json, sys
d = json.load(open(".stdout"))[0]
assert d["visit"] == 2 and d["visits_before"] == 1, d
rates = d["last_lost"] / d["last_distinct"], d["lost"] / (d["lost"] + d["keys"])
assert abs(d["missed"] / (rates[0] * rates[1]) - 1) < 1e-3, d' || fail "the product is wrong"
}

sizes_of_the_next_visit_can_be_given() {
    deja gen -n 4000 >list
    deja build -q --seed 1 -n 10k -p 0.01 f.deja list
    succeeds deja rotate -n 20k f.deja
    expect_stderr_has "for 20,000 keys"
    succeeds deja rotate --json -p 1e-3 f.deja
    [ "$(json_get fp_rate .stdout)" = 0.001 ] || fail "rate"
    [ "$(json_get visit .stdout)" -eq 3 ] || fail "visit"
    [ "$(json_get capacity .stdout)" -eq 20000 ] || fail "capacity" # nothing was seen
    succeeds deja rotate --json -m 64KiB f.deja
    [ "$(json_get filter_bytes .stdout)" -eq 65536 ] || fail "memory"
    succeeds deja info --json f.deja
    expect_stdout_has '"kind": "blocked"' # a size in bytes does not grow
    fails_with 2 "give two; deja computes the third" deja rotate -n 1k -p 0.1 -m 1M f.deja
}

secrets_and_profiles_stay() {
    (umask 077 && head -c 32 /dev/urandom >f.key)
    deja gen -n 4000 >list
    deja build -q --key f.key --url=crawl -n 10k f.deja list
    fails_with 2 "does not contain its secret key" deja rotate f.deja
    succeeds deja rotate -q --key f.key f.deja
    expect_stderr_empty
    succeeds deja info --key f.key f.deja
    expect_stdout_has "secret key stored separately"
    expect_stdout_has "profile crawl"
    succeeds deja add -q --key f.key --url=crawl f.deja list
}

wrong_options_are_refused() {
    fails_with 2 "nowhere.deja: cannot open" deja rotate nowhere.deja
    fails_with 2 "missing operand" deja rotate
    echo text >text
    fails_with 2 text deja rotate text
    deja gen -n 100 | deja build -q -n 1k f.deja
    cp f.deja before
    fails_with 2 "f.deja: no scalable filter holds" deja rotate -n 4e15 f.deja
    fails_with 2 "--fp-rate" deja rotate -p 2 f.deja
    expect_same before f.deja
}

cases "$@"
