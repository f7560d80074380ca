# A filter file is truncated or overwritten while a command uses it: exit status 2, a message with
# the remedy, no wrong output, and nothing written to the rest of the file.
. "$SUPPORT/cases.sh"

_remedy="was truncated or overwritten by another program while it was in use: restore it from a copy or rebuild it"

# _filter KIND FILE: 100,000 keys, a1 .. a100000.
_filter() {
    deja build --force -q -k "$1" --seed 1 -n 100k "$2" <lines
}

# _while CUT CMD...: run CMD with a pipe as its standard input: lines arrive, CUT is done to the
# file, more lines arrive.  The first ones are more than a pipe holds: when they are written, the
# command is reading them, and has opened its file.
_while() {
    local cut=$1
    shift
    mkfifo pipe
    status=0
    "$@" <pipe >.stdout 2>.stderr &
    local pid=$!
    exec 9>pipe
    head -n 50000 lines >&9
    eval "$cut"
    tail -n 50000 lines >&9 2>/dev/null || true # it may be gone already
    exec 9>&-
    wait "$pid" || status=$?
    rm pipe
}

_expect_lost() {
    [ "$status" -eq 2 ] || fail "exit $status instead of 2"
    expect_stderr_has "f.deja $_remedy"
}

_begin() {
    seq 100000 | sed 's/^/a/' >lines
}

check_reports_it() {
    _begin
    local kind
    for kind in blocked classic exact scalable static spectral; do
        _filter "$kind" f.deja
        _while 'truncate -s 4096 f.deja' deja check -v f.deja
        _expect_lost
        expect_stdout '' # with -v, nothing that was added is ever printed
        [ "$(stat -c %s f.deja)" -eq 4096 ] || fail "the file was written to"
    done
}

add_remove_and_count_report_it() {
    _begin
    local command
    for command in add remove count; do
        _filter spectral f.deja
        _while 'truncate -s 0 f.deja' deja "$command" f.deja
        _expect_lost
        [ "$(stat -c %s f.deja)" -eq 0 ] || fail "the file was written to"
        [ "$(grep -c "$_remedy" .stderr)" -eq 1 ] || fail "told more than once"
    done
}

dedup_stops_and_loses_no_line() {
    _begin
    head -n 1000 lines >seen
    deja dedup -q -n 100k --state f.deja seen >/dev/null
    cp f.deja copy.deja
    _while 'truncate -s 4096 f.deja' deja dedup --state f.deja
    _expect_lost
    cp .stdout first
    # With the copy restored, the lines that were not printed are printed now.
    mv copy.deja f.deja
    deja dedup -q --state f.deja lines >second
    sort -u first second >printed
    sed -n '1001,$p' lines | sort >expected
    expect_same printed expected
}

overwriting_the_file_is_reported_too() {
    _begin
    _filter blocked f.deja
    deja build -q --seed 2 -n 100k other.deja <lines
    _while 'cp other.deja f.deja' deja check -v f.deja
    _expect_lost
    expect_stdout ''
}

moving_another_file_over_it_is_fine() {
    _begin
    _filter blocked f.deja
    deja build -q --seed 2 -n 100k other.deja <lines
    _while 'mv other.deja f.deja' deja check -v f.deja
    [ "$status" -eq 1 ] || fail "exit $status instead of 1"
    expect_stdout ''
}

# Commands that do not wait for input are caught by cutting repeatedly.
_cut_and_mend() {
    while [ -e cutting ]; do
        truncate -s 4096 f.deja
        cat whole.deja >f.deja
    done
}

info_verify_fold_merge_survive_it() {
    _begin
    deja build -q -m 4M -n 100k --seed 1 f.deja <lines
    cp f.deja whole.deja
    cp f.deja other.deja
    touch cutting
    _cut_and_mend &
    local cutter=$!
    for _ in $(seq 8); do
        run deja info f.deja
        case $status in 0 | 2) ;; *) fail "info: exit $status" ;; esac
        run deja verify f.deja
        case $status in 0 | 1 | 2) ;; *) fail "verify: exit $status" ;; esac
        run deja merge -o out.deja f.deja other.deja
        case $status in 0 | 2) ;; *) fail "merge: exit $status" ;; esac
        run deja fold -o half.deja f.deja
        case $status in 0 | 2) ;; *) fail "fold: exit $status" ;; esac
    done
    rm cutting
    wait "$cutter"
    if [ -e out.deja ]; then succeeds deja verify out.deja; fi
    if [ -e half.deja ]; then
        succeeds deja verify half.deja
        exits_with 1 deja check -v half.deja lines
    fi
}

cases "$@"
