# check: reports which lines are in a filter file.  Exit status: 0 some, 1 none, 2 error.
. "$SUPPORT/cases.sh"

_filter() { printf '%s\n' a b c | deja build -q --seed 7 -n 100 f.deja; }

check_prints_the_lines_that_are_in_the_filter() {
    _filter
    printf '%s\n' x c a y a >list
    succeeds deja check f.deja list
    printf '%s\n' c a a | expect_stdout
    expect_lines 1 .stderr
    expect_stderr_has "5 read, 3 in f.deja"
}

invert_prints_the_other_lines() {
    _filter
    printf '%s\n' x c a y a x >list
    succeeds deja check -v f.deja list
    printf '%s\n' x y x | expect_stdout
    expect_stderr_has "6 read, 3 not in f.deja"
    succeeds deja check --invert f.deja list
    printf '%s\n' x y x | expect_stdout
}

the_exit_status_says_whether_any_line_was_found() {
    _filter
    echo a >in
    echo x >out
    : >empty
    succeeds deja check f.deja in
    exits_with 1 deja check f.deja out
    expect_stdout ''
    exits_with 1 deja check -v f.deja in
    expect_stdout ''
    succeeds deja check -v f.deja out
    exits_with 1 deja check f.deja empty
    exits_with 1 deja check -v f.deja empty
    exits_with 2 deja check f.deja nowhere
    exits_with 2 deja check nowhere.deja in
}

count_prints_a_number() {
    _filter
    printf '%s\n' x c a y a >list
    succeeds deja check --count f.deja list
    expect_stdout 3
    succeeds deja check -c -v f.deja list
    expect_stdout 2
    echo x >none
    exits_with 1 deja check --count f.deja none
    expect_stdout 0
}

order_is_kept_over_several_files() {
    all_new_urls 50000 >list
    awk 'NR % 3 == 0' list >some
    deja build -q --seed 8 f.deja some
    split -n l/3 list part.
    succeeds deja check -q f.deja part.aa part.ab - <part.ac
    expect_same some .stdout
    expect_stderr_empty
    succeeds deja check -q -v f.deja part.aa part.ab part.ac
    awk 'NR % 3' list | expect_stdout
    deja check -q -j 1 f.deja list >one
    deja check -q -j 2 f.deja list >two
    expect_same one two
    expect_same some one
}

no_added_line_is_ever_missing() {
    all_new_urls 30000 >list
    local kind
    for kind in classic blocked exact scalable spectral paired; do
        deja build --force -q -k $kind -p 0.1 f.deja list
        exits_with 1 deja check -q -v f.deja list
        expect_stdout ''
    done
}

lines_are_printed_unchanged() {
    _filter
    printf 'a\r\nb\0\nc' >list
    succeeds deja check f.deja list
    printf 'a\r\nc\n' | expect_stdout
    printf 'a\0x\0b' >list
    succeeds deja check -z f.deja list
    printf 'a\0b\0' | expect_stdout
}

fields_and_columns_can_be_keys() {
    _filter
    printf '1\ta\n2\tx\n3\tb\n' >list
    succeeds deja check -f 2 f.deja list
    printf '1\ta\n3\tb\n' | expect_stdout
    printf '%s\n' 'n,url' '1,"a"' '2,x' '3,"c"' >list.csv
    succeeds deja check --csv url f.deja list.csv
    printf '%s\n' 'n,url' '1,"a"' '3,"c"' | expect_stdout
    succeeds deja check -v --csv url f.deja list.csv
    printf '%s\n' 'n,url' '2,x' | expect_stdout
    succeeds deja check --csv 2 f.deja list.csv
    printf '%s\n' '1,"a"' '3,"c"' | expect_stdout
    printf '%s\n' 'n,url' '2,x' >none.csv
    exits_with 1 deja check --csv url f.deja none.csv
}

lists_can_be_compressed() {
    _filter
    printf '%s\n' x c a | gzip >list.gz
    run deja check -q f.deja list.gz
    if grep -q 'was built without' .stderr; then return 0; fi
    printf '%s\n' c a | expect_stdout
}

output_goes_to_a_file() {
    _filter
    printf '%s\n' x c a >list
    succeeds deja check -o out f.deja list
    expect_stdout ''
    printf '%s\n' c a | cmp - out
    fails_with 2 "list is also the output" deja check -o list f.deja list
    expect_lines 3 list
}

# Writing over the filter while reading it would destroy it.
the_filter_is_refused_as_the_output() {
    _filter
    echo a >list
    cp f.deja copy
    exits_with 2 deja check -o f.deja f.deja list
    expect_same copy f.deja
    expect_stderr_has "f.deja"
}

damaged_and_foreign_files_are_refused() {
    _filter
    cp f.deja good.deja
    echo a >list
    local at
    for at in 0 16 100 3100; do
        cp good.deja f.deja
        flip_bit f.deja $at
        exits_with 2 deja check f.deja list
        expect_stdout ''
        expect_stderr_has "f.deja"
    done
    head -c 4100 good.deja >f.deja
    fails_with 2 "truncated" deja check f.deja list
    fails_with 2 "list: not a deja filter file" deja check list list
}

a_named_pipe_is_refused_as_a_filter() {
    echo a >list
    mkfifo pipe
    status=0
    timeout 600 "$DEJA" check pipe list >.stdout 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status for a named pipe (124: it waits for a writer)"
}

# The file is mapped: keys that another process adds are found at once, before any sync.
keys_of_another_writer_are_found_at_once() {
    _filter
    mkfifo in
    deja add -q f.deja in &
    exec 9>in
    local i
    for ((i = 0; i < 20; i++)); do
        echo "line $i" >&9
        echo "line $i" >>list
        echo "line $i" >probe
        eventually deja check -q f.deja probe
        succeeds deja check -q f.deja list
        expect_same list .stdout
    done
    exec 9>&-
    wait
    succeeds deja verify -q f.deja
}

check_works_while_another_process_grows_the_filter() {
    all_new_urls 40000 >list
    head -n 100 list >first
    deja build -q -k scalable -n 100 f.deja first
    split -n l/10 list part.
    local i part
    (for part in part.*; do "$DEJA" add -q f.deja "$part"; done) &
    for ((i = 0; i < 25; i++)); do
        succeeds deja check -q f.deja first
        expect_same first .stdout
    done
    wait $!
    succeeds deja check -q f.deja list
    expect_same list .stdout
}

cases "$@"
