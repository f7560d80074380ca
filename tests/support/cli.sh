# shellcheck shell=bash
# cli.sh - helpers for tests/cli/*.sh, which begin with:  . "$SUPPORT/cli.sh"
# Each step prints nothing if it holds and ends the script with a message if it does not.
set -eu -o pipefail
: "${DEJA:?DEJA must name the command under test}"
: "${SOURCE:?}"
deja() { "$DEJA" "$@"; }

fail() {
    echo "FAIL ${BASH_SOURCE[-1]##*/}:${BASH_LINENO[-2]}: $*" >&2
    for stream in .stdout .stderr; do
        if [ -s "$stream" ]; then
            echo "--- ${stream#.} (first 20 lines)" >&2
            head -n 20 "$stream" >&2
        fi
    done
    exit 1
}

# skip TEXT...: this machine cannot run the test; reported as skipped, never as passed.
skip() {
    echo "skipped: $*"
    exit 77
}

# run CMD...: standard input goes through; stdout, stderr and exit status are kept in the files
# .stdout and .stderr and in $status, which the expect_ steps below check.
run() {
    status=0
    "$@" >.stdout 2>.stderr || status=$?
}

# succeeds CMD...: run it; it must exit 0.
succeeds() {
    run "$@"
    [ "$status" -eq 0 ] || fail "exit $status instead of 0: $*"
}

# exits_with STATUS CMD...: run it; it must exit with that status.
exits_with() {
    local want=$1
    shift
    run "$@"
    [ "$status" -eq "$want" ] || fail "exit $status instead of $want: $*"
}

# fails_with STATUS TEXT CMD...: run it; it must exit with that status and say TEXT on stderr.
fails_with() {
    local want=$1 text=$2
    shift 2
    exits_with "$want" "$@"
    expect_stderr_has "$text"
}

# expect_stdout [TEXT]: the last command printed exactly TEXT and a newline (nothing: no TEXT).
# Without an argument, the expected text comes from standard input: expect_stdout <file
expect_stdout() {
    if [ $# -gt 0 ]; then
        if [ -n "$1" ]; then printf '%s\n' "$1"; fi >.expected
    else
        cat >.expected
    fi
    diff -u .expected .stdout >.diff || fail "unexpected stdout:
$(head -n 40 .diff)"
}

# expect_stdout_has TEXT, expect_stderr_has TEXT: it occurs somewhere, literally.
expect_stdout_has() {
    grep -qF -e "$1" .stdout || fail "stdout lacks: $1"
}
expect_stderr_has() {
    grep -qF -e "$1" .stderr || fail "stderr lacks: $1"
}

# expect_stderr_empty: the last command was silent on stderr.
expect_stderr_empty() {
    [ ! -s .stderr ] || fail "stderr is not empty"
}

# expect_lines N FILE: the file has N lines.
expect_lines() {
    local have
    have=$(wc -l <"$2")
    [ "$have" -eq "$1" ] || fail "$2 has $have lines instead of $1"
}

# expect_same A B: two files hold the same bytes.
expect_same() {
    cmp -s "$1" "$2" || fail "$1 and $2 differ: $(cmp "$1" "$2" 2>&1 || true)"
}
