# add: adds lines to an existing filter file.
. "$SUPPORT/cases.sh"

_holds() { # FILTER LIST
    succeeds deja check -q "$1" "$2"
    expect_same "$2" .stdout
    succeeds deja verify -q "$1"
}

a_missing_file_is_an_error_that_says_how_to_make_one() {
    echo a >list
    fails_with 2 "nowhere.deja" deja add nowhere.deja list
    expect_stderr_has "deja build"
    [ ! -e nowhere.deja ] || fail "it was made"
}

new_and_known_lines_are_counted() {
    printf 'a\nb\n' >first
    printf 'b\nc\nc\nd\n' >second
    deja build -q -n 100 f.deja first
    succeeds deja add f.deja second
    expect_stdout ''
    expect_lines 1 .stderr
    expect_stderr_has "4 read, 2 new, 2 seen before"
    cat first second >list
    _holds f.deja list
    # The second time adds nothing.
    succeeds deja add f.deja second
    expect_stderr_has "4 read, 0 new, 4 seen before"
    succeeds deja add --json f.deja second
    [ "$(json_get added .stdout)" -eq 0 ] || fail "added"
    [ "$(json_get known .stdout)" -eq 4 ] || fail "known"
    [ "$(json_get keys .stdout)" -eq 4 ] || fail "keys"
    succeeds deja add -q f.deja second
    expect_stderr_empty
}

every_kind_accepts_lines() {
    all_new_urls 3000 >list
    echo first >first
    local options
    for options in '-k classic -n 3001' '-k blocked -n 3001' '-k exact -n 3001' \
        '-k spectral -n 3001' '-k paired -n 3001' '-k scalable -n 100' '-n 3001 --filters 3' '-k classic -n 3001 --hash mixed'; do
        # shellcheck disable=SC2086 # words
        deja build --force -q --seed 7 $options f.deja first
        succeeds deja add -q f.deja list
        cat first list >all
        _holds f.deja all
    done
}

several_files_and_standard_input_are_added() {
    echo a >one
    echo b >two
    deja build -q -n 100 f.deja one
    printf 'c\n' | deja add -q f.deja one - two
    printf 'a\nb\nc\n' >list
    _holds f.deja list
    echo d | deja add -q f.deja
    echo d >>list
    _holds f.deja list
}

no_lines_add_nothing() {
    echo a >list
    deja build -q -n 100 f.deja list
    succeeds deja add f.deja /dev/null
    expect_stderr_has "0 read, 0 new"
    _holds f.deja list
}

fields_and_columns_can_be_keys() {
    printf 'a\nb\nc\n' >list
    echo a | deja build -q -n 100 f.deja
    printf '1\tb\n' | deja add -q -f 2 f.deja
    printf 'n,url\n1,"c"\n' | deja add -q --csv url f.deja
    _holds f.deja list
    printf 'url\n1,"c"\n' >not
    exits_with 1 deja check -q f.deja not
}

a_fixed_filter_warns_beyond_its_capacity() {
    all_new_urls 2000 >list
    echo a | deja build -q --seed 1 -n 1000 -k blocked --fixed f.deja
    succeeds deja add f.deja list
    expect_stderr_has "sized for 1,000 keys"
    expect_stderr_has "larger -n"
    succeeds deja add -q f.deja list # known by now, and reported again
    expect_stderr_has "deja add: warning: f.deja was sized for 1,000 keys and now holds 2,001"
}

# Without --fixed the given size is only the initial one.
a_growing_filter_grows_beyond_its_capacity() {
    all_new_urls 2000 >list
    local kind
    for kind in blocked classic exact scalable; do
        echo a | deja build --force -q -n 1000 -k $kind f.deja
        succeeds deja add -q f.deja list
        expect_stderr_empty
        succeeds deja info --json f.deja
        expect_stdout_has '"kind": "scalable"'
        expect_stdout_has '"keys": 2001,'
        expect_stdout_has '"over_capacity": false'
    done
}

# Lines added before an error stay, and the file is sealed.
an_error_keeps_what_was_added() {
    echo first >first
    deja build -q -n 1000 f.deja first
    seq -f 'u%.0f' 1 500 >list
    { printf 'id,url\n' && sed 's/^/1,/' list && printf '9,"x'; } >bad.csv
    fails_with 2 "ends inside quotes" deja add --csv url f.deja bad.csv
    _holds f.deja list
    _holds f.deja first
}

a_full_exact_filter_is_an_error() {
    all_new_urls 5000 >list
    head -n 50 list >first
    deja build -q -k exact -n 100 --fixed f.deja first
    fails_with 2 "f.deja is full: make a new filter with a larger" deja add f.deja list
    _holds f.deja first
}

only_one_process_can_write() {
    echo a >list
    deja build -q -n 100 f.deja list
    mkfifo in
    deja add -q f.deja in &
    exec 9>in
    echo b >&9
    echo b >added
    eventually deja check -q f.deja added
    fails_with 2 "f.deja is in use by another process" deja add f.deja list
    exec 9>&-
    wait
    succeeds deja add -q f.deja list
}

damaged_and_foreign_files_are_refused() {
    all_new_urls 100 >list
    deja build -q -n 100 f.deja list
    flip_bit f.deja 16
    exits_with 2 deja add f.deja list
    expect_stderr_has "f.deja"
    cp list text
    fails_with 2 "text: not a deja filter file" deja add text list
    expect_same list text
}

cases "$@"
