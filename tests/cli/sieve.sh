# dedup --sieve: no line is lost, in little memory.  awk and sort are the references.
. "$SUPPORT/cases.sh"

# With this memory, many passes are needed, and some lines come late.
tiny="-m 1M"

# _list N: N different lines, then the first third of them again.
_list() {
    all_new_urls "$1" >different
    { cat different && head -n $(($1 / 3)) different; } >list
    LC_ALL=C sort different >expected
}

# _complete FILE...: every line came out exactly once.
_complete() {
    LC_ALL=C sort "$@" | cmp -s - expected || fail "lines are missing or repeated: $*"
}

# _recovered FILE...: every line came out at least once.  A run that was killed may leave half a
# line.
_recovered() {
    LC_ALL=C sort -u "$@" | LC_ALL=C comm -13 - expected >missing
    [ ! -s missing ] || fail "$(wc -l <missing) lines are missing"
}

every_line_comes_out_once_and_some_come_late() {
    _list 200000
    # shellcheck disable=SC2086 # words
    deja dedup $tiny --sieve s --json list >out 2>report
    _complete out
    late=$(json_get late report)
    [ "$late" -gt 0 ] || fail "no line came late: the memory is too large for this test"
    [ "$(json_get read report) $(json_get kept report) $(json_get dropped report)" = \
        "266666 200000 66666" ] || fail "wrong counts"
    [ "$(json_get lost report) $(json_get keys report)" = "0 200000" ] || fail "wrong report"
    awk 'NR == FNR { at[$0] = FNR; next } { if (at[$0] < last) n++; else last = at[$0] } END { print n + 0 }' \
        different out >disorder
    # A late line is in order if no line went out while it waited.
    [ $((late * 9 / 10)) -le "$(cat disorder)" ] || fail "only $(cat disorder) of $late were late"
    [ "$(cat disorder)" -le "$late" ] ||
        fail "$(cat disorder) lines are out of order, $late came late"
    # shellcheck disable=SC2086
    succeeds deja dedup $tiny --sieve s list # the second run prints nothing
    expect_stdout ''
    all_new_urls 10 200000 >>list
    # shellcheck disable=SC2086
    deja dedup $tiny --sieve s -q list | LC_ALL=C sort >out # some of them come late
    all_new_urls 10 200000 | LC_ALL=C sort | cmp -s - out || fail "$(cat out)"
}

the_summary_fits_80_columns() {
    _list 200000
    # shellcheck disable=SC2086
    deja dedup $tiny --sieve s list 2>err | cat >out
    _complete out
    grep -qE '266,666 read, 200,000 new, 66,666 seen before' err || fail "$(cat err)"
    grep -qE '[0-9]+ came late \(a filter alone would have lost them\)' err || fail "$(cat err)"
    grep -qE '0 lost, certain to 1 in 10\^18' err || fail "$(cat err)"
    awk 'length($0) > 80' err | grep . && fail "a line is too long"
    # shellcheck disable=SC2086
    deja dedup $tiny --sieve s -v list 2>err
    grep -qE '^deja dedup: s: 200,000 keys in [0-9]+ runs?, ' err || fail "$(cat err)"
    echo a >one
    succeeds deja dedup --sieve other one
    expect_stderr_has "1 read, 1 new, 0 seen before, 0 lost, certain to 1 in 10^29"
}

repeats_and_numbers_can_be_printed_instead() {
    _list 150000
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve d -D list | LC_ALL=C sort >out
    head -n 50000 different | LC_ALL=C sort | cmp -s - out || fail "wrong repeats"
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve c -c list
    expect_stdout 150000
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve c -c -D list
    expect_stdout 200000
}

every_way_of_reading_gives_the_same_lines() {
    _list 150000
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve a -j 1 list >out
    _complete out
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve b -o out < <(cat list)
    _complete out
    gzip -c list >list.gz
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve c --late 2k list.gz | cat >out
    _complete out
    # shellcheck disable=SC2086
    tr '\n' '\0' <list | deja dedup -q $tiny --sieve d -z --late 50kB | tr '\0' '\n' >out
    _complete out
    sed 's/.*/&,1/; 1i url,n' list >list.csv
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve e --csv url list.csv >out
    [ "$(head -n 1 out)" = url,n ] || fail "the header is missing"
    sed '1d; s/,1$//' out >lines
    _complete lines
    sed 's/^https/HTTPS/' list >upper
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve f --url --canonical upper >out
    _complete out
}

keys_are_compared_as_with_a_state() {
    printf 'x 1\ny 1\nz 2\nw\nw\n' >fields
    succeeds deja dedup --sieve a -f 2 fields
    printf 'x 1\nz 2\nw\nw\n' | expect_stdout
    expect_stderr_has "2 lines without field 2, passed through"
    printf 'A\na\nb\n' >case
    succeeds deja dedup -q --sieve b -i case
    printf 'A\nb\n' | expect_stdout
    printf '0.0.0.0 a b\na\n0.0.0.0 b c\nc\n' >hosts
    succeeds deja dedup -q --sieve c --format hosts hosts
    printf '0.0.0.0 a b\n0.0.0.0 b c\n' | expect_stdout
    printf 'http://A.org\nhttp://a.org/\n' >urls
    succeeds deja dedup -q --sieve d --url urls
    expect_stdout http://A.org
    succeeds deja dedup -q --sieve d urls # the sieve knows the profile
    expect_stdout ''
    fails_with 2 "safe" deja dedup --sieve d --url=crawl urls
}

lines_with_several_keys_come_out_once() {
    # Each line has a new name and a name of an earlier line; then come lines without a new name.
    awk 'BEGIN { for (i = 0; i < 120000; i++) print "0.0.0.0 n" i ".org n" int(i / 2) ".org"
        for (i = 0; i < 40000; i++) print "0.0.0.0 n" i ".org n" i + 1 ".org" }' >list
    head -n 120000 list | LC_ALL=C sort >expected
    # shellcheck disable=SC2086
    deja dedup $tiny --sieve s --format hosts --json list >out 2>report
    _complete out
    [ "$(json_get kept report) $(json_get dropped report)" = "120000 40000" ] || fail "wrong counts"
    tail -n 40000 list | LC_ALL=C sort >expected
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve d --format hosts -D list >out
    _complete out
}

waiting_lines_come_out_in_time() {
    _list 200000
    mkfifo pipe
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s --late 1s pipe >out &
    exec 3>pipe
    cat list >&3
    # shellcheck disable=SC2317 # eventually calls it
    _complete_now() { LC_ALL=C sort out | cmp -s - expected; }
    eventually _complete_now # although the input has not ended
    exec 3>&-
    wait $!
    _complete out
}

ctrl_c_settles_and_a_second_one_leaves_the_rest() {
    _list 100000
    mkfifo pipe
    # shellcheck disable=SC2086
    "$DEJA" dedup $tiny --sieve s pipe >out 2>err &
    exec 3>pipe
    cat list >&3
    sleep 1
    kill -TERM $!
    wait $! || true
    exec 3>&-
    _complete out
    grep -q "stopped: " err || fail "$(cat err)"
    for i in 1 2 3 4 5 6; do
        # shellcheck disable=SC2086
        "$DEJA" dedup -q $tiny --sieve t list >"out.$i" &
        sleep "0.$i"
        kill -TERM $! 2>/dev/null || true
        sleep 0.05
        kill -TERM $! 2>/dev/null || true
        wait $! || true
    done
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve t list
    cp .stdout out.last
    _recovered out.*
}

a_closed_pipe_and_bad_input_lose_no_line() {
    _list 100000
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s list | head -n 5000 >out.1 || true
    gzip -c list >list.gz
    head -c 200000 list.gz >cut.gz
    # shellcheck disable=SC2086
    exits_with 2 deja dedup $tiny --sieve s cut.gz
    cp .stdout out.2
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s list >out.3
    # The lines that head did not take were delivered to the pipe and are recorded.
    LC_ALL=C sort -u out.2 out.3 | LC_ALL=C comm -13 - expected | wc -l >taken
    [ "$(cat taken)" -lt 50000 ] || fail "$(cat taken) lines went to a closed pipe"
}

misuse_is_refused_with_a_reason() {
    echo a >list
    fails_with 2 "--sieve and --state cannot be combined: a sieve is a state" \
        deja dedup --sieve s --state x list
    fails_with 2 "--sieve and -k cannot be combined" deja dedup --sieve s -k exact list
    fails_with 2 "--sieve and --keep cannot be combined" deja dedup --sieve s --keep 2 list
    fails_with 2 "--sieve and --counts cannot be combined" deja dedup --sieve s --counts list
    fails_with 2 "--sieve and -u cannot be combined" deja dedup --sieve s -u list
    fails_with 2 "--sieve and --audit cannot be combined" deja dedup --sieve s --audit 5 list
    fails_with 2 "--sieve and --append cannot be combined" deja dedup --sieve s --append x list
    fails_with 2 "--sieve and --redis cannot be combined" deja dedup --sieve s --redis localhost list
    fails_with 2 "--sieve and --paragraphs cannot be combined" deja dedup --sieve s --paragraphs list
    fails_with 2 "--late takes a time (30s, 15m), a number of lines (1M) or bytes" \
        deja dedup --sieve s --late soon list
    fails_with 2 "--late takes a time" deja dedup --sieve s --late 0 list
    fails_with 2 "give --sieve DIR" deja dedup --late 30s list
    [ ! -e s ] || fail "a directory was created"
    fails_with 2 "a sieve needs at least" deja dedup --sieve s -m 1k list
    fails_with 2 "missing" deja dedup --sieve s missing
    succeeds deja dedup --sieve s -n 5 -p 0.1 list
    expect_stderr_has "ignored: -n, -p"
    mkdir other
    echo text >other/file
    fails_with 2 "other" deja dedup --sieve other list
    expect_lines 1 other/file
}

two_writers_are_refused() {
    mkfifo pipe
    deja dedup -q --sieve s pipe >out &
    exec 3>pipe
    echo a >&3
    eventually test -s out
    echo b >list
    exits_with 2 deja dedup --sieve s list
    expect_stdout ''
    exec 3>&-
    wait $!
    succeeds deja dedup -q --sieve s list
    expect_stdout b
}

cases "$@"
