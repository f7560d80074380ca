# A filter file is replaced or deleted while a command writes it: exit status 2, a message with the
# remedy, and any file that now has the name stays unchanged.
. "$SUPPORT/cases.sh"

# _while CHANGE CMD...: run CMD with a pipe as its standard input: lines arrive, CHANGE is done to
# the file, more lines arrive.  A pipe cannot hold all of the first lines, so when they are
# written, the command has opened its file.
_while() {
    local change=$1
    shift
    mkfifo pipe
    status=0
    "$@" <pipe >.stdout 2>.stderr &
    local pid=$!
    exec 9>pipe
    head -n 50000 lines >&9
    eval "$change"
    tail -n 50000 lines >&9 2>/dev/null || true # it may be gone already
    exec 9>&-
    wait "$pid" || status=$?
    rm pipe
}

_begin() {
    seq 100000 | sed 's/^/https:\/\/example.org\//' >lines
    rm -f f.deja
    seq 5001 | deja build -q --force other.deja
    cp other.deja same.deja
}

_expect_left_alone() {
    [ "$status" -eq 2 ] || fail "exit $status instead of 2"
    expect_stderr_has "f.deja was replaced by another file"
    expect_stderr_has "add them again"
    [ "$(grep -c 'replaced by another file' .stderr)" -eq 1 ] || fail "told more than once"
    cmp f.deja same.deja || fail "the file that was moved into place has changed"
    [ "$(find . -name '.f.deja*' | wc -l)" -eq 0 ] || fail "a temporary file is left"
}

add_leaves_the_other_file_alone() {
    local kind
    for kind in blocked exact layered window scalable; do
        _begin
        head -n 10 lines | deja build -q -k "$kind" -n 120k f.deja
        _while 'mv other.deja f.deja' deja add f.deja
        _expect_left_alone
    done
}

# The first part is full immediately, and every later part needs a new file.
growth_leaves_the_other_file_alone() {
    _begin
    head -n 10 lines | deja build -q -k scalable -n 100 f.deja
    _while 'mv other.deja f.deja' deja add f.deja
    _expect_left_alone
    seq 5001 | exits_with 1 deja check -v f.deja # all its keys
}

remove_leaves_the_other_file_alone() {
    local kind
    for kind in spectral paired; do
        _begin
        deja build -q -k "$kind" -n 100k f.deja lines
        _while 'mv other.deja f.deja' deja remove f.deja
        _expect_left_alone
    done
}

dedup_leaves_the_other_file_alone_and_loses_no_line() {
    _begin
    head -n 10 lines | deja dedup -q --state f.deja >/dev/null
    cp f.deja before.deja
    _while 'mv other.deja f.deja' deja dedup --state f.deja
    _expect_left_alone
    cp .stdout first
    mv before.deja f.deja
    deja dedup -q --state f.deja lines >second
    sort -u first second >printed
    sed 1,10d lines | sort >expected
    expect_same printed expected
}

# A new file does not replace one that appears under its name while it is written.
a_new_state_and_a_new_filter_leave_other_files_alone() {
    _begin
    _while 'mv other.deja f.deja' deja dedup --state f.deja
    [ "$status" -eq 2 ] || fail "dedup: exit $status instead of 2"
    expect_stderr_has "unchanged"
    cmp f.deja same.deja || fail "dedup has replaced it"
    rm f.deja
    cp same.deja other.deja
    _while 'mv other.deja f.deja' deja build f.deja
    [ "$status" -eq 2 ] || fail "build: exit $status instead of 2"
    cmp f.deja same.deja || fail "build has replaced it"
}

a_deleted_file_is_not_recreated() {
    local kind
    for kind in blocked scalable; do
        _begin
        head -n 10 lines | deja build -q -k "$kind" -n 100 f.deja
        _while 'rm f.deja' deja add f.deja
        [ "$status" -eq 2 ] || fail "exit $status instead of 2"
        expect_stderr_has "f.deja was deleted or moved while it was being written"
        [ ! -e f.deja ] || fail "it is there again"
    done
}

cases "$@"
