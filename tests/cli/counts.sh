# dedup --counts and -u: how many times each line occurs.  awk, sort and uniq are the references.
. "$SUPPORT/cases.sh"

# _counts: what uniq -c would print if it kept the order of the first occurrences.
_counts() {
    awk '{ if (!n[$0]++) order[++m] = $0 } END { for (i = 1; i <= m; i++) printf "%7d %s\n", n[order[i]], order[i] }'
}

counts_match_uniq_in_the_order_of_the_input() {
    some_urls 30000 9000 >list
    _counts <list >expected
    succeeds deja dedup -q --counts list
    expect_same expected .stdout
    sort .stdout >got
    LC_ALL=C sort list | uniq -c | sort >sorted
    expect_same sorted got
    succeeds deja dedup -q --counts -j 1 list
    expect_same expected .stdout
    gzip -c list >list.gz
    succeeds deja dedup -q --counts list.gz
    expect_same expected .stdout
    head -n 20000 list >one
    tail -n +20001 list >two
    succeeds deja dedup -q --counts one two
    expect_same expected .stdout
}

a_pipe_is_counted_too() {
    some_urls 30000 9000 >list
    _counts <list >expected
    succeeds deja dedup -q --counts < <(cat list)
    expect_same expected .stdout
    gzip -c list | deja dedup -q --counts - >got
    expect_same expected got
    (head -n 1 >first && deja dedup -q --counts >got) <list # a file that was read in part
    tail -n +2 list >rest
    [ "$(wc -l <got)" -le "$(_counts <rest | wc -l)" ] || fail "too many lines"
    fails_with 2 "set TMPDIR to a directory" env TMPDIR=/nowhere "$DEJA" dedup --counts < <(cat list)
    expect_stdout ''
    mkdir tmp
    TMPDIR=$PWD/tmp deja dedup -q --counts < <(cat list) >got
    [ -z "$(ls -A tmp)" ] || fail "a copy was left behind"
}

unique_lines_occur_exactly_once() {
    some_urls 9000 9000 >list
    LC_ALL=C sort list | uniq -u >expected
    succeeds deja dedup -q -u list
    LC_ALL=C sort .stdout >got
    expect_same expected got
    succeeds deja dedup -q -u -c list
    expect_stdout "$(wc -l <expected)"
    awk 'NR == FNR { n[$0]++; next } n[$0] == 1' list list >expected # in order
    succeeds deja dedup -q --unique list
    expect_same expected .stdout
    succeeds deja dedup -q -u --counts list
    sed 's/^/      1 /' expected | expect_stdout
    succeeds deja dedup -q --counts -D list
    _counts <list | awk '$1 > 1' | expect_stdout
}

the_account_names_distinct_and_single_lines() {
    printf 'a\nb\na\n' >list
    succeeds deja dedup --counts list
    expect_stderr_has "3 read, 2 distinct, 1 once"
    succeeds deja dedup -u --verbose list
    expect_stderr_has "1 printed, table 49.2 kB"
    succeeds deja dedup --counts --json list
    cp .stderr report
    [ "$(json_get read report) $(json_get distinct report) $(json_get once report)" = "3 2 1" ] ||
        fail "wrong report"
    [ "$(json_get printed report) $(json_get saturated report)" = "2 0" ] || fail "wrong report"
    succeeds deja dedup --counts -n 5 -p 0.1 list
    expect_stderr_has "ignored: -n, -p"
    succeeds deja dedup -q --counts /dev/null
    expect_stdout ''
}

keys_are_counted_and_lines_printed() {
    printf 'x 1\ny 1\nz 2\nw\nw\n' >fields
    succeeds deja dedup --counts -f 2 fields
    printf '      2 x 1\n      1 z 2\n      1 w\n      1 w\n' | expect_stdout
    expect_stderr_has "2 lines without field 2, passed through"
    [ "$(grep -c without .stderr)" -eq 1 ] || fail "reported twice"
    succeeds deja dedup -q -u -f 2 fields
    printf 'z 2\nw\nw\n' | expect_stdout
    succeeds deja dedup -q --counts -D -f 2 fields
    expect_stdout '      2 x 1'
    printf 'id,url\n1,a\n2,"a"\n3,b\n' >list.csv
    succeeds deja dedup -q --counts --csv url list.csv
    printf '  count id,url\n      2 1,a\n      1 3,b\n' | expect_stdout
    succeeds deja dedup -q -u --csv url list.csv
    printf 'id,url\n3,b\n' | expect_stdout
    printf 'http://A.org\nhttp://a.org/\nhttp://a.org/#x\nno url\n' >urls
    succeeds deja dedup --url --counts urls
    printf '      3 http://A.org\n      1 no url\n' | expect_stdout
    expect_stderr_has '1 line is not a URL: urls:4 "no url"'
    succeeds deja dedup -q --url --canonical --counts urls
    printf '      3 http://a.org/\n      1 no url\n' | expect_stdout
    printf 'A\na\nb\n' >case
    succeeds deja dedup -q -i --counts case
    printf '      2 A\n      1 b\n' | expect_stdout
    printf '0.0.0.0 a b\na\nc\n' >hosts
    succeeds deja dedup -q --counts --format hosts hosts
    printf '      2 0.0.0.0 a b\n      1 c\n' | expect_stdout
    printf 'x\ny\n\nz\n\nx\ny\n' >text
    succeeds deja dedup -q --counts --paragraphs text
    printf '      2 x\ny\n\n      1 z\n\n' | cmp - .stdout || fail "wrong paragraphs"
    printf 'b\0a\0b\0' | deja dedup -q -z --counts >got
    printf '      2 b\0      1 a\0' | cmp - got || fail "wrong records"
}

a_file_that_changes_is_noticed() {
    mkfifo pipe
    some_urls 1000 1000 >list
    deja dedup -q --counts list pipe >out 2>err &
    exec 3>pipe # opens when list has been read
    echo more >>list
    exec 3>&-
    status=0
    wait $! || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    grep -q "the input changed between two readings (1,000 lines, then 1,001 lines)" err ||
        fail "$(cat err)"
}

a_stopped_count_prints_nothing() {
    mkfifo pipe
    "$DEJA" dedup --counts pipe >out 2>err &
    exec 3>pipe
    printf 'a\nb\n' >&3
    kill -TERM $!
    wait $! || true
    exec 3>&-
    grep -q "stopped: nothing is printed before all lines are counted" err || fail "$(cat err)"
    [ ! -s out ] || fail "something was printed"
}

a_closed_pipe_and_bad_input_end_it() {
    some_urls 200000 150000 >list
    deja dedup -q --counts list | head -n 1 >out || true
    expect_lines 1 out
    gzip list
    head -c 10000 list.gz >cut.gz
    exits_with 2 deja dedup -q --counts cut.gz
    expect_stdout ''
    fails_with 2 "missing" deja dedup --counts missing
}

misuse_is_refused_with_a_reason() {
    local mode option
    echo a >list
    for mode in --counts -u; do
        for option in '--state s' '--append f' '--keep 2' '--again-after 1d' '--mode 600' \
            '--jsonl-text t' '--ngrams 2' '--redis localhost --state s' '-k exact'; do
            # shellcheck disable=SC2086 # words
            fails_with 2 "$mode and ${option%% *} cannot be combined" \
                deja dedup $mode $option list
        done
    done
    fails_with 2 "--canonical needs --url" deja dedup --counts --canonical list
    fails_with 2 "-u and -D cannot be combined" deja dedup -u -D list
    fails_with 2 "--counts and -c cannot be combined" deja dedup --counts -c list
    [ ! -e s ] || fail "a state was created"
    [ ! -e f ] || fail "a list was created"
}

cases "$@"
