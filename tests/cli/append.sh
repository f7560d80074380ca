# dedup --append FILE: new lines go to the output and into FILE, whose lines count as seen.
. "$SUPPORT/cases.sh"

# _anew FILE <lines: a model with exact sets.
_anew() {
    touch "$1"
    awk -v list="$1" 'BEGIN { while ((getline line < list) > 0) seen[line] = 1; close(list) }
        !seen[$0]++' >.new
    tee -a "$1" <.new
}

new_lines_go_to_both_places() {
    printf 'zero\none\ntwo\n' >things
    printf 'one\ntwo\nthree\nfour\nthree\n' >input
    succeeds deja dedup --append things input
    printf 'three\nfour\n' | expect_stdout
    printf 'zero\none\ntwo\nthree\nfour\n' | cmp - things || fail "wrong list"
    expect_stderr_has "5 read, 2 new, 3 seen before"
    succeeds deja dedup -q --append things input
    expect_stdout ''
    succeeds deja dedup --append things --json <input
    expect_stderr_has '"known": 5'
    expect_stderr_has '"appended": 0'
}

random_lists_match_a_model() {
    local i
    for i in 1 2 3; do
        some_urls $((i * 3000)) $((i * 900)) | tail -n 4000 >input
        _anew model <input >expected
        succeeds deja dedup -q --append list input
        expect_same expected .stdout
        expect_same model list
    done
    rm list model
    for i in 1 2 3; do # with a state, from a pipe, and to a file
        some_urls $((i * 3000)) $((i * 900)) | tail -n 4000 >input
        _anew model <input >expected
        succeeds deja dedup -q --state s.deja --append list -o out -j 1 <input
        expect_same expected out
        expect_same model list
    done
}

a_missing_file_is_created_and_a_last_line_is_ended() {
    printf 'a\nb\n' | deja dedup -q --append new >out
    expect_same out new
    printf 'x' >open
    printf 'x\n' | deja dedup -q --append open >out
    [ ! -s out ] || fail "x is known"
    printf x | cmp - open || fail "nothing was new, but the file has changed"
    printf 'x\ny\nz' | deja dedup -q --append open >out
    printf 'x\ny\nz\n' | cmp - open || fail "the last line was not ended"
    printf 'a\0' >zeros
    printf 'a\0b\0' | deja dedup -q -z --append zeros >out
    printf 'a\0b\0' | cmp - zeros || fail "wrong records"
}

lines_have_the_same_keys_in_both() {
    printf 'http://A.org/#x\n' >urls
    printf 'http://a.org/\nHTTP://a.org/b\nhttp://a.org/b#y\n' >input
    succeeds deja dedup -q --url --append urls input
    expect_stdout 'HTTP://a.org/b'
    succeeds deja dedup -q --url --state urls.deja --append other input
    printf 'http://a.org/c\n' >>other
    printf 'HTTP://A.org/c\nhttp://a.org/d\n' >more_urls
    succeeds deja dedup -q --state urls.deja --append other more_urls # the state has the profile
    expect_stdout 'http://a.org/d'
    succeeds deja dedup -q --url --canonical --append forms input
    printf 'http://a.org/\nhttp://a.org/b\n' | expect_stdout
    printf 'http://a.org/\nhttp://a.org/b\n' | cmp - forms || fail "wrong forms"
    printf 'A 1\n' >words
    printf 'a 2\nb 3\n' | deja dedup -q -i -f 1 --append words >out
    printf 'A 1\nb 3\n' | cmp - words || fail "wrong lines"
    printf 'a\n' >few
    printf 'a\na\na\n' | deja dedup -q --keep 3 --append few >out
    printf 'a\na\na\n' | cmp - few || fail "the first line was not counted"
}

a_csv_file_keeps_one_header() {
    printf 'id,url\n1,a\n2,b\n' >one.csv
    printf 'id,url\n3,b\n4,c\n' >two.csv
    succeeds deja dedup -q --csv url --append all.csv one.csv
    succeeds deja dedup -q --csv url --append all.csv two.csv
    printf 'id,url\n4,c\n' | expect_stdout
    printf 'id,url\n1,a\n2,b\n4,c\n' | cmp - all.csv || fail "wrong table"
    printf 'url,id\nd,5\n' >three.csv
    cp all.csv before
    fails_with 2 "has a different header" deja dedup -q --csv url --append all.csv three.csv
    expect_same before all.csv
}

a_count_appends_the_lines() {
    printf 'a\n' >list
    printf 'a\nb\nc\n' | deja dedup -q -c --append list >out
    [ "$(cat out)" = 2 ] || fail "wrong number"
    printf 'a\nb\nc\n' | cmp - list || fail "wrong list"
}

a_slow_pipe_is_appended_while_it_waits() {
    mkfifo pipe
    deja dedup -q --append list pipe >out &
    exec 3>pipe
    echo a >&3
    eventually grep -q a list
    grep -q a out || fail "appended before it was printed"
    echo b >&3
    exec 3>&-
    wait $!
    expect_same out list
}

nothing_is_appended_that_was_not_printed() {
    some_urls 200000 200000 >input
    deja dedup -q -k exact --append list input 2>.stderr | head -n 1 >out || true
    if [ -s list ]; then
        succeeds deja dedup -q -k exact --append list input # the rest comes out, and is complete
        sort -u input >expected
        sort list >got
        expect_same expected got
    fi
}

a_stopped_run_has_appended_what_it_printed() {
    mkfifo pipe
    "$DEJA" dedup --append list pipe >out 2>err &
    exec 3>pipe
    printf 'a\nb\n' >&3
    eventually grep -q b list
    printf 'c\n' >&3
    kill -TERM $!
    wait $! || true
    exec 3>&-
    grep -q "stopped: " err || fail "$(cat err)"
    expect_same out list
}

# A line is in the list only after it was printed, so the next run prints what a killed run did not.
killed_runs_lose_no_line() {
    local round
    some_urls 200000 200000 >input
    sort -u input >expected
    mkfifo pipe
    for round in 1 2 3; do
        "$DEJA" dedup -q -k exact --append list pipe >part 2>/dev/null &
        exec 3>pipe
        head -n $((round * 50000)) input >&3
        eventually test -s list
        kill -KILL $!
        wait $! || true
        exec 3>&-
        cat part >>printed
        echo >>printed # ends a line that was cut short
    done
    succeeds deja dedup -q -k exact --append list input
    sort -u printed .stdout | comm -23 expected - >missing
    expect_same /dev/null missing
}

one_process_at_a_time_appends() {
    mkfifo pipe
    deja dedup -q -k exact --append list pipe >out &
    exec 3>pipe
    echo a >&3
    eventually grep -q a list
    fails_with 2 "another process appends to list" deja dedup --append list </dev/null
    exec 3>&-
    wait $!
    succeeds deja dedup -q --append list </dev/null
}

misuse_is_refused_with_a_reason() {
    local option
    printf 'a\n' >list
    cp list before
    for option in -D '--again-after 1d --state s' --paragraphs '--jsonl-text t' '--ngrams 2' \
        '--redis localhost --state s'; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "--append and ${option%% *} cannot be combined" \
            deja dedup --append list $option list
    done
    fails_with 2 "needs a filter without dates" \
        deja dedup --append list -k exact --dates --state dated.deja /dev/null
    fails_with 2 "list is also an input" deja dedup --append list list
    # shellcheck disable=SC2094 # on purpose
    fails_with 2 "list is also an input" deja dedup --append list <list
    fails_with 2 "is also the output" deja dedup --append list -o list /dev/null
    fails_with 2 "not one" deja dedup --append /dev/null list
    fails_with 2 "cannot be opened" deja dedup --append no/such list
    gzip -c list >list.gz
    fails_with 2 "is compressed" deja dedup --append list.gz before
    succeeds deja build -q f.deja list
    fails_with 2 "filter with 1 key" deja dedup --append f.deja list
    fails_with 2 "missing" deja dedup --append new missing
    [ ! -e new ] || fail "an empty list was left behind"
    expect_same before list
}

cases "$@"
