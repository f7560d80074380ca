# deja merge: a union equals a filter built from all lists; a rejection gives the reason.
. "$SUPPORT/cases.sh"

_lists() { # a.txt and b.txt have 1000 lines in common; all.txt has each line once
    deja gen -n 4000 >a.txt
    deja gen -n 4000 --first 3000 >b.txt
    deja gen -n 7000 >all.txt
}
_build() { # OPTION...: a.deja, b.deja, all.deja
    local name
    for name in a b all; do
        deja build --force -q "$@" $name.deja $name.txt
    done
}
# _same_bodies A B: the bodies are equal; the counts may differ
_same_bodies() {
    tail -c +4097 "$1" >.one
    tail -c +4097 "$2" >.other
    expect_same .one .other
}

a_union_equals_the_filter_of_all_lists() {
    _lists
    local options
    for options in '-k blocked' '-k classic' '-k classic --filters 3' '-k blocked --hash siphash' \
        '-k classic --hash murmur3'; do
        # shellcheck disable=SC2086 # words
        _build --seed 1 -n 10k -p 0.01 $options
        cp a.deja a.before
        succeeds deja merge --force -o out.deja a.deja b.deja
        expect_stdout ''
        expect_stderr_has "deja merge: 2 filters, about "
        expect_stderr_has " keys, "
        expect_same a.before a.deja
        _same_bodies out.deja all.deja
        succeeds deja verify -q out.deja
        succeeds deja check -q -c out.deja all.txt
        expect_stdout 7000
        succeeds deja info out.deja
        grep -qE '^  keys +about (6,9[0-9]{2}|7,0[0-9]{2}) by the set bits, in 2 merged filters that were offered 8,000$' \
            .stdout || fail "info does not tell the keys"
    done
}

tables_are_merged_into_the_largest() {
    _lists
    deja build -q --seed 1 -k exact -n 4k a.deja a.txt
    deja build -q --seed 1 -k exact -n 9k b.deja b.txt
    succeeds deja merge -o out.deja a.deja b.deja
    expect_stderr_has "2 filters, 7,000 keys"
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    # Too small: no file is created.
    deja build --force -q --seed 1 -k exact -n 4k --fixed a.deja a.txt
    deja build --force -q --seed 1 -k exact -n 4k --fixed b.deja b.txt
    fails_with 2 "the union has 3000 more keys, but there is room for " \
        deja merge -o full.deja a.deja b.deja
    [ ! -e full.deja ] || fail "a file appeared"
}

larger_filters_are_folded_to_the_smallest() {
    _lists
    deja build -q --seed 1 -n 10k -m 64KiB --hashes 5 a.deja a.txt
    deja build -q --seed 1 -n 10k -m 16KiB --hashes 5 b.deja b.txt
    deja build -q --seed 1 -n 10k -m 16KiB --hashes 5 all.deja all.txt
    succeeds deja merge -o out.deja a.deja b.deja
    _same_bodies out.deja all.deja
    succeeds deja merge --force -o out.deja b.deja a.deja
    _same_bodies out.deja all.deja
    deja build -q --seed 1 -n 10k -m 24KiB --hashes 5 odd.deja b.txt
    fails_with 2 "odd.deja and a.deja differ in size: 196608 and 524288 bits, and neither folds to" \
        deja merge -o no.deja a.deja odd.deja
    expect_stderr_has ": deja build --force --like odd.deja a.deja LIST"
    [ ! -e no.deja ] || fail "a file appeared"
}

many_files_or_one_can_be_merged() {
    local i files=()
    for i in {0..19}; do
        deja gen -n 500 --first $((i * 500)) | deja build -q --seed 1 -n 20k -p 1e-3 "$i.deja"
        files+=("$i.deja")
    done
    deja gen -n 10000 >list
    deja build -q --seed 1 -n 20k -p 1e-3 all.deja list
    succeeds deja merge -o out.deja "${files[@]}"
    expect_stderr_has "20 filters"
    _same_bodies out.deja all.deja
    succeeds deja merge -q -o copy.deja out.deja
    expect_stderr_empty
    _same_bodies copy.deja out.deja
    succeeds deja merge -q -o twice.deja out.deja out.deja
    _same_bodies twice.deja out.deja
}

the_output_may_be_an_input() {
    _lists
    _build --seed 1 -n 10k -p 0.01
    succeeds deja merge -q -o a.deja a.deja b.deja
    _same_bodies a.deja all.deja
    succeeds deja verify -q a.deja
    # With --force it replaces another filter, but nothing else.
    succeeds deja merge --force -q -o b.deja a.deja
    _same_bodies b.deja all.deja
    fails_with 2 "exists and is not a filter file" deja merge --force -o a.txt a.deja b.deja
    fails_with 2 "is a directory" deja merge -o . a.deja b.deja
}

the_error_names_the_difference() {
    _lists
    _build --seed 1 -n 10k -p 0.01
    local words
    while IFS='|' read -r words options; do
        # shellcheck disable=SC2086 # words
        deja build --force -q -n 10k -p 0.01 $options c.deja b.txt
        fails_with 2 "$words" deja merge -o out.deja a.deja c.deja
        expect_stderr_has "a.deja"
        expect_stderr_has "c.deja"
        fails_with 2 "$words" deja merge --common a.deja c.deja
        [ ! -e out.deja ] || fail "a file appeared"
    done <<'END'
differ in kind: |--seed 1 -k classic
differ in hash: |--seed 1 --hash siphash
differ in number of filters (F): |--seed 1 --filters 2
differ in URL profile of their keys: |--seed 1 --url
END
    fails_with 2 "differ in secret key: check values" deja merge --common a.deja "$SOURCE/tests/format/golden/v2/scalable.deja"
    deja build --force -q --seed 1 -n 1k c.deja b.txt
    fails_with 2 "so the shared keys cannot be estimated" deja merge --common c.deja c.deja
}

# Fixed filters must be alike.  Each difference has its line, and the last line is the command.
every_difference_has_its_line() {
    _lists
    deja build -q --fixed -n 10k a.deja a.txt
    deja build -q --fixed -n 10k -k classic --hash siphash --url b.deja b.txt
    exits_with 2 deja merge -o out.deja a.deja b.deja
    local n=0 words
    for words in "kind: classic and blocked" "hash: siphash and xxh3" "secret key: check values " \
        "URL profile of their keys: safe and none"; do
        expect_stderr_has "deja merge: b.deja and a.deja differ in $words"
        n=$((n + 1))
    done
    [ "$(grep -c " differ in " .stderr)" -eq $n ] || fail "not every difference has one line"
    tail -n 1 .stderr | grep -q "merge again: deja build --force --like b.deja a.deja LIST$" || fail "no command"
    succeeds deja build -q --force --like a.deja b.deja b.txt
    succeeds deja merge -q -o out.deja a.deja b.deja
    cmp -s <(wc -c <out.deja) <(wc -c <a.deja) || fail "the union is larger"
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    # A new filter begins with visit 1, so --like does not help.
    deja rotate -q -n 10k b.deja
    exits_with 2 deja merge --force -o out.deja a.deja b.deja
    expect_stderr_has "differ in visit: 1 and 2"
    expect_stderr_has "deja build --like a.deja OUT.deja LIST1 LIST2"
    deja build -q -k paired -n 10k c.deja a.txt
    deja build -q -k paired -n 10k d.deja b.txt
    fails_with 2 "paired filters cannot be merged: " deja merge --force -o out.deja c.deja d.deja
    expect_stderr_has "deja build --like c.deja OUT.deja LIST1 LIST2"
}

# The main job: every run has its own secret key, and nothing was planned.
default_states_can_be_merged() {
    _lists
    deja dedup -q --state a.deja a.txt >/dev/null
    deja dedup -q --state b.deja b.txt >/dev/null
    succeeds deja merge -o all.deja a.deja b.deja
    expect_stderr_has "deja merge: 2 filters, at most 8,000 keys, 8.6 MB"
    succeeds deja verify -q all.deja
    [ "$(stat -c %a all.deja)" = 600 ] || fail "others can read the keys"
    succeeds deja check -q -c all.deja all.txt
    expect_stdout 7000
    succeeds deja dedup --state all.deja all.txt
    expect_stdout ''
    succeeds deja info all.deja
    expect_stdout_has "scalable of 2 blocked parts, 1 from merged filters"
    expect_stdout_has "secret key in this file, and 1 of merged filters"
    expect_stdout_has "at most 8,000 in 2 merged filters that were offered 8,000"
    # The state continues, and the next merge finds the parts that it already has.
    deja gen -n 1000 --first 7000 | deja dedup -q --state a.deja >/dev/null
    succeeds deja merge -q --force -o all.deja all.deja a.deja b.deja
    deja gen -n 8000 >all.txt
    succeeds deja check -q -c all.deja all.txt
    expect_stdout 8000
    succeeds deja info --json all.deja
    expect_stdout_has '"parts": 2,'
    expect_stdout_has '"other_keys": 1,'
    deja gen -n 1000 --first 9000 >more.txt
    succeeds deja dedup -q --state all.deja more.txt
    [ "$(wc -l <.stdout)" -eq 1000 ] || fail "new lines were lost"
    succeeds deja rotate -q all.deja
    succeeds deja info --json all.deja
    expect_stdout_has '"other_keys": 0,'
}

states_of_other_sizes_kinds_and_formats_are_merged() {
    _lists
    deja build -q -n 100 a.deja a.txt # grows
    deja build -q -n 5000 --fixed b.deja b.txt
    succeeds deja merge -q -o out.deja b.deja a.deja
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    deja build -q --force -k exact -n 100 a.deja a.txt
    deja build -q --force -k exact -n 100 b.deja b.txt
    succeeds deja merge -q --force -o out.deja a.deja b.deja
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    # A filter from a seed may be readable by others, so it does not get the secret key.
    deja build -q --force --seed 1 a.deja a.txt
    deja build -q --force b.deja b.txt
    succeeds deja merge -q --force -o out.deja a.deja b.deja
    [ "$(stat -c %a out.deja)" = 600 ] || fail "others can read the key"
    # Eight keys are the most.
    local i
    for i in {1..9}; do
        deja gen -n 10 --seed "$i" | deja build -q "$i.deja"
    done
    succeeds deja merge -q -o eight.deja {1..8}.deja
    fails_with 2 "more than 8 secret keys" deja merge -o nine.deja {1..9}.deja
    expect_stderr_has "deja build --like "
    [ ! -e nine.deja ] || fail "a file appeared"
}

other_kinds_are_merged_if_they_are_alike() {
    _lists
    deja build -q -k spectral -n 10k a.deja a.txt
    deja build -q --like a.deja b.deja b.txt
    succeeds deja merge -q -o out.deja a.deja b.deja
    succeeds deja count -q out.deja all.txt
    [ "$(awk '$1 >= 2' .stdout | wc -l)" -ge 1000 ] || fail "counts were not added"
    succeeds deja remove -q out.deja a.txt
    succeeds deja check -q -c out.deja b.txt
    expect_stdout 4000
    deja build -q --force -k window -n 10k a.deja a.txt
    deja build -q --force --like a.deja b.deja b.txt
    succeeds deja merge -q --force -o out.deja a.deja b.deja
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    deja build -q --force -k layered -n 10k a.deja a.txt
    deja build -q --force --like a.deja b.deja b.txt
    succeeds deja merge -q --force -o out.deja a.deja b.deja
    succeeds deja check -q -c out.deja all.txt
    expect_stdout 7000
    head -n 1 all.txt | cut -d/ -f1-3 >site.txt
    succeeds deja check -q --prefix out.deja site.txt
}

# A filter that grew can be merged with another that grew in the same steps.
filters_that_have_grown_can_be_merged() {
    _lists
    local kind
    for kind in blocked classic exact; do
        rm -f ./*.deja
        _build --seed 1 -k $kind -n 1000 -p 1e-4
        succeeds deja merge -q -o same.deja a.deja a.deja
        expect_stderr_empty
        succeeds deja merge -o out.deja a.deja b.deja
        succeeds deja verify -q out.deja
        succeeds deja check -q -c out.deja all.txt
        expect_stdout "$(wc -l <all.txt)"
        succeeds deja info --json out.deja
        expect_stdout_has '"kind": "scalable"'
        if [ $kind = exact ]; then
            expect_stdout_has "\"keys\": $(wc -l <all.txt),"
            expect_stdout_has '"over_capacity": false'
        else # each part has the keys of two filters
            expect_stdout_has '"over_capacity": true'
            succeeds deja info out.deja
            expect_stderr_has "was merged from filters that were too full"
        fi
        deja gen -n 3000 --seed 77 >more.txt
        succeeds deja add -q out.deja more.txt
        succeeds deja check -q -c out.deja all.txt more.txt
        expect_stdout "$(cat all.txt more.txt | wc -l)"
    done
}

a_separate_key_works() {
    (umask 077 && head -c 32 /dev/urandom >f.key)
    _lists
    _build --key f.key -n 10k -p 0.01
    fails_with 2 "does not contain its secret key" deja merge -o out.deja a.deja b.deja
    succeeds deja merge -q --key f.key -o out.deja a.deja b.deja
    _same_bodies out.deja all.deja
    fails_with 2 "does not contain its secret key" deja info out.deja
    succeeds deja merge -q --common --key f.key a.deja b.deja
}

common_keys_are_estimated() {
    _lists
    _build --seed 1 -n 10k -p 0.01
    succeeds deja merge --common a.deja b.deja
    local n
    n=$(cat .stdout)
    if [ "$n" -lt 940 ] || [ "$n" -gt 1060 ]; then fail "$n is not about 1000"; fi
    expect_stderr_has "an estimate from the bits that are set, with a standard error of 1"
    succeeds deja merge -q --json --common a.deja b.deja
    [ "$(json_get sigma .stdout | cut -d. -f1)" -gt 5 ] || fail "no deviation"
    _build --seed 1 -k exact -n 10k
    succeeds deja merge --common a.deja b.deja
    expect_stdout 1000
    expect_stderr_empty
    fails_with 2 "--common needs two files, not 1" deja merge --common a.deja
    fails_with 2 "omit -o" deja merge --common -o out.deja a.deja b.deja
}

json_reports_the_same() {
    _lists
    _build --seed 1 -k exact -n 10k
    succeeds deja merge --json -o out.deja a.deja b.deja
    [ "$(json_get keys .stdout)" -eq 7000 ] || fail "keys"
    [ "$(json_get file .stdout)" = out.deja ] || fail "file"
    [ "$(json_get filters .stdout)" -eq 2 ] || fail "filters"
}

bad_input_is_refused() {
    _lists
    _build --seed 1 -n 10k -p 0.01
    fails_with 2 "no output file for the union; give -o OUT.deja" deja merge a.deja b.deja
    fails_with 2 "missing operand" deja merge -o out.deja
    fails_with 2 "nowhere.deja: cannot open" deja merge -o out.deja a.deja nowhere.deja
    fails_with 2 "a.txt" deja merge -o out.deja a.deja a.txt
    flip_bit b.deja 40
    fails_with 2 "header is damaged" deja merge -o out.deja a.deja b.deja
    fails_with 2 "cannot open its directory" deja merge -o no/where.deja a.deja all.deja
    [ ! -e out.deja ] || fail "a file appeared"
}

cases "$@"
