# deja fold: makes a smaller filter with the same keys, in place or in a new file.
. "$SUPPORT/cases.sh"

_same_bodies() {
    tail -c +4097 "$1" >.one
    tail -c +4097 "$2" >.other
    expect_same .one .other
}
_filter() { # FILE SIZE [OPTION...]
    local file=$1 size=$2
    shift 2
    deja build --force -q --seed 1 -n 10k -m "$size" --hashes 5 "$@" "$file" list
}

the_result_equals_the_smaller_filter() {
    deja gen -n 4000 >list
    local options
    for options in '' '-k classic' '-k classic --filters 2' '-k classic --hash md5'; do
        # shellcheck disable=SC2086 # words
        _filter f.deja 64KiB $options
        # shellcheck disable=SC2086 # words
        _filter half.deja 32KiB $options
        # shellcheck disable=SC2086 # words
        _filter eighth.deja 8KiB $options
        succeeds deja fold f.deja
        expect_stdout ''
        expect_stderr_has "deja fold: 32.8 kB, was 65.5 kB; rate now "
        _same_bodies f.deja half.deja
        succeeds deja fold --times 2 f.deja
        _same_bodies f.deja eighth.deja
        succeeds deja verify -q f.deja
        succeeds deja check -q -c f.deja list
        expect_stdout 4000
        succeeds deja info f.deja
        expect_stdout_has "; folded 3 times"
        succeeds deja info --json f.deja
        expect_stdout_has '"folds": 3'
    done
}

a_copy_leaves_the_file() {
    deja gen -n 4000 >list
    _filter f.deja 64KiB
    _filter half.deja 32KiB
    cp f.deja before
    succeeds deja fold -o out.deja f.deja
    expect_same before f.deja
    _same_bodies out.deja half.deja
    succeeds deja verify -q out.deja
    succeeds deja info out.deja
    expect_stdout_has "; folded once"
    # Its own name works as well.
    succeeds deja fold -q -o f.deja f.deja
    expect_stderr_empty
    _same_bodies f.deja half.deja
    fails_with 2 "exists and is not a filter file" deja fold -o list f.deja
}

json_reports_the_same() {
    deja gen -n 4000 >list
    _filter f.deja 64KiB
    succeeds deja fold --json f.deja
    [ "$(json_get filter_bytes .stdout)" -eq 32768 ] || fail "bytes"
    [ "$(json_get filter_bytes_before .stdout)" -eq 65536 ] || fail "bytes before"
    [ "$(json_get folds .stdout)" -eq 1 ] || fail "folds"
}

a_refusal_keeps_the_file() {
    deja gen -n 4000 >list
    _filter f.deja 24KiB
    cp f.deja before
    fails_with 2 "f.deja: its 196608 bits can be halved 7 times, not 8" deja fold --times 8 f.deja
    expect_same before f.deja
    fails_with 2 "halved 7 times, not 8" deja fold --times 8 -o out.deja f.deja
    [ ! -e out.deja ] || fail "a file appeared"
    fails_with 2 "nowhere.deja: cannot open" deja fold nowhere.deja
    fails_with 2 "--times" deja fold --times 0 f.deja
    fails_with 2 "unexpected operand" deja fold f.deja f.deja
    deja build --force -q --seed 1 -n 10k -k exact other.deja list
    fails_with 2 "exact filters cannot be folded; classic and blocked filters can" deja fold other.deja
    deja build --force -q --seed 1 -n 10 other.deja list
    fails_with 2 "parts and cannot be folded: build one filter" deja fold other.deja
    fails_with 2 "list" deja fold list
}

a_separate_key_works() {
    (umask 077 && head -c 32 /dev/urandom >f.key)
    deja gen -n 4000 | deja build -q --key f.key -n 10k -m 64KiB f.deja
    fails_with 2 "does not contain its secret key" deja fold f.deja
    succeeds deja fold -q --key f.key f.deja
    deja gen -n 4000 >list
    succeeds deja check -q -c --key f.key f.deja list
    expect_stdout 4000
}

a_file_that_is_being_written_is_refused() {
    deja gen -n 4000 >list
    _filter f.deja 64KiB
    mkfifo pipe
    "$DEJA" add -q f.deja <pipe 2>/dev/null &
    exec 9>pipe
    echo added | tee added >&9
    eventually deja check -q f.deja added
    cp f.deja before
    fails_with 2 "f.deja is in use by another process" deja fold f.deja
    expect_same before f.deja
    exec 9>&-
    wait
    rm pipe
    succeeds deja verify -q f.deja
}

cases "$@"
