# deja gen: prints the requested number of distinct URLs, the same on every machine.
. "$SUPPORT/cases.sh"

_refuses() { # TEXT ARG...
    local text=$1
    shift
    fails_with 2 "$text" deja gen "$@"
    expect_stdout ''
    expect_stderr_has "try: deja gen --help"
}

gen_prints_the_requested_number_of_distinct_lines() {
    succeeds deja gen -n 5000
    expect_lines 5000 .stdout
    expect_stderr_empty
    [ "$(sort -u .stdout | wc -l)" -eq 5000 ] || fail "a URL comes twice"
    succeeds deja gen -n 1
    expect_lines 1 .stdout
    succeeds deja gen -n 1.5k
    expect_lines 1500 .stdout
}

# README and the sample depend on these lists: a change would break them for every user.
lists_are_pinned() {
    [ "$(deja gen -n 10000 | md5sum)" = "bb55e4152d70341df8529565341e5c2d  -" ] || fail "another list"
    [ "$(deja gen -n 10000 --seed 2 --repeats 0.5 -q | md5sum)" = "abe7888f67c0c724728fcdb2cf18a8ed  -" ] ||
        fail "another list with repeats"
}

the_sample_can_be_regenerated() {
    deja gen -q -n 20k --repeats 0.3 --seed 5 >made
    expect_same made "$SOURCE/docs/examples/sample-urls.txt"
}

the_seed_determines_the_list() {
    deja gen -n 1000 >default
    deja gen -n 1000 --seed 1 >one
    deja gen -n 1000 --seed 2 >two
    deja gen -n 1000 --seed 18446744073709551615 >last
    deja gen -n 1000 --seed 0 >zero
    expect_same default one
    local a b
    for a in one two last zero; do
        for b in one two last zero; do
            [ "$a" = "$b" ] || [ "$(sort "$a" "$b" | uniq -d | wc -l)" -lt 3 ] || fail "$a is like $b"
        done
    done
}

a_list_can_be_generated_in_parts() {
    deja gen -n 3000 >whole
    deja gen -n 1000 >a
    deja gen -n 1500 --first 1000 >b
    deja gen -n 500 --first 2500 >c
    cat a b c >parts
    expect_same whole parts
    # Far out, across the numbers where codes become longer, and up to the last one.
    deja gen -n 2000 --first 4294966296 >border
    [ "$(sort -u border | wc -l)" -eq 2000 ] || fail "a URL comes twice"
    succeeds deja gen -n 10 --first 9007199254740982
    expect_lines 10 .stdout
}

the_share_of_repeats_is_exact() {
    local share want
    while read -r share want; do
        succeeds deja gen -n 10000 --repeats "$share"
        expect_lines 10000 .stdout
        [ "$(sort -u .stdout | wc -l)" -eq "$want" ] || fail "--repeats $share: not $want different"
    done <<'END'
0.3 7000
0.5 5000
0.0001 9999
0.00001 10000
0.99999 1
0.9999 1
END
    # Without the repeats, the list equals the one generated without repeats, in the same order.
    deja gen -q -n 10000 --repeats 0.3 | once >unique
    deja gen -n 7000 >plain
    expect_same plain unique
    succeeds deja gen -n 1 --repeats 0.9
    expect_lines 1 .stdout
}

repeats_are_reported_unless_quiet() {
    succeeds deja gen -n 20k --repeats 0.3
    expect_stderr_has "deja gen: 20,000 lines, 14,000 distinct, 6,000 repeats"
    succeeds deja gen -v -n 10
    expect_stderr_has "deja gen: 10 lines: 10 distinct URLs, 0 repeats; "
    succeeds deja gen -q -n 20k --repeats 0.3
    expect_stderr_empty
}

dedup_removes_the_repeats() {
    deja gen -q -n 20k --repeats 0.3 | deja dedup -q >unique
    deja gen -n 14k >expected
    expect_same expected unique
}

output_goes_to_a_file() {
    deja gen -n 100 >expected
    succeeds deja gen -n 100 -o out
    expect_stdout ''
    expect_same expected out
    succeeds deja gen -n 100 --output=out
    expect_same expected out
    succeeds deja gen -n 100 -o -
    expect_stdout <expected
    fails_with 2 "nowhere/out" deja gen -n 100 -o nowhere/out
}

records_end_with_a_zero_byte() {
    deja gen -n 100 | tr '\n' '\0' >expected
    succeeds deja gen -n 100 -z
    expect_same expected .stdout
}

gen_stops_if_its_reader_goes_away() {
    deja gen -n 1e15 | head -n 3 >few
    expect_lines 3 few
    set +o pipefail
    deja gen -n 1P 2>err | head -n 1 >/dev/null
    local status=${PIPESTATUS[0]}
    set -o pipefail
    [ "$status" -eq 0 ] || fail "exit $status"
    [ ! -s err ] || fail "it complains: $(cat err)"
}

a_full_disk_is_an_error() {
    [ -w /dev/full ] || skip "no /dev/full"
    fails_with 2 "No space left" deja gen -n 100k -o /dev/full
}

ctrl_c_stops_it() {
    # A background job of a script ignores SIGINT; TERM has the same effect.
    mkfifo lines
    "$DEJA" gen -n 1P --repeats 0.1 >lines 2>err &
    local pid=$! status=0
    exec 9<lines
    read -r _ <&9 # it is running
    kill -TERM "$pid"
    cat <&9 >/dev/null
    exec 9<&-
    wait "$pid" || status=$?
    [ "$status" -eq 143 ] || fail "exit $status"
    grep -qF "stopped: " err || fail "it does not say that it stopped"
}

memory_stays_small() {
    ! grep -q __asan_init "$DEJA" || return 0 # which wants terabytes of addresses
    (
        ulimit -v 60000
        succeeds deja gen -n 300k -o out
        expect_lines 300000 out
        succeeds deja gen -q -n 300k --repeats 0.9 -o out
        expect_lines 300000 out
    )
}

wrong_options_are_refused() {
    _refuses "give the number of URLs, -n N"
    _refuses "-n/--lines takes a number from 1 to 9007199254740992, not 0" -n 0
    _refuses "-n/--lines takes a number from 1 to 9007199254740992" -n 1e16
    _refuses "-n/--lines takes a whole number" -n many
    _refuses "--first plus -n exceeds that" -n 2 --first 9007199254740991
    _refuses "--first takes a number from 0 to 9007199254740991" -n 1 --first 9007199254740992
    local share
    for share in 0 1 1.5 -0.1 half ''; do
        _refuses "--repeats takes a rate between 0 and 1" -n 10 --repeats "$share"
    done
    _refuses "--seed takes" -n 10 --seed x
    _refuses "unexpected operand 'urls.txt'" -n 10 urls.txt
    _refuses "unknown option --repeat; did you mean --repeats?" -n 10 --repeat 0.5
}

cases "$@"
