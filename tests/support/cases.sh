# shellcheck shell=bash
# cases.sh - several named cases in one script of tests/cli, which begins with
#     . "$SUPPORT/cases.sh"
# has a function for each case, and ends with
#     cases "$@"
# Every function of the script is a case, in the order of the file, except those whose name
# begins with an underscore.  Each runs in a fresh folder and in its own shell, which ends the
# processes that the case started.  To run some of them: run-script SCRIPT NAME...
. "$SUPPORT/cli.sh"

# A hang is a failure.
deja() { timeout -k 5 "${DEJA_TIMEOUT:-600}" "$DEJA" "$@"; }

# Like cli.sh's, but names the case and every line of the script that led to the failure.
fail() {
    local i way=
    for ((i = ${#FUNCNAME[@]} - 2; i >= 0; i--)); do
        if [ "${BASH_SOURCE[i + 1]}" = "$0" ] && [ "${FUNCNAME[i + 1]}" != main ]; then
            way+="${way:+, }${BASH_LINENO[i]}"
        fi
    done
    echo "FAIL ${0##*/}: ${case_name-}: line $way: $*" >&2
    for stream in .stdout .stderr; do
        if [ -s "$stream" ]; then
            echo "--- ${stream#.} (first 20 lines)" >&2
            head -n 20 "$stream" | cut -c 1-400 >&2
        fi
    done
    exit 1
}

_case_names() {
    local name
    shopt -s extdebug # declare -F then prints line and file
    for name in $(compgen -A function); do
        declare -F "$name"
    done | awk -v script="$0" '$3 == script && $1 !~ /^_/ { print $2, $1 }' | sort -n | cut -d ' ' -f 2
    shopt -u extdebug
}

# Kill and unmount what the case started and mounted, however it ends.
_end_case() {
    local pids
    pids=$(jobs -p)
    # shellcheck disable=SC2086 # one word for each
    if [ -n "$pids" ]; then kill -KILL $pids 2>/dev/null || true; fi
    while read -r disk; do umount -l "$disk"; done < <(cat .small_disks 2>/dev/null)
}

cases() {
    local bad=0 top=$PWD names=("$@") rc began
    if [ $# -eq 0 ]; then mapfile -t names < <(_case_names); fi
    [ ${#names[@]} -gt 0 ] || fail "no cases"
    for case_name in "${names[@]}"; do
        mkdir -p "$top/$case_name"
        began=${EPOCHREALTIME/./}
        set +e
        (
            set -e
            cd "$top/$case_name"
            trap _end_case EXIT
            "$case_name"
        )
        rc=$?
        set -e
        [ $rc -eq 0 ] || echo "not ok $case_name (exit $rc)" >&2
        [ $rc -ne 0 ] || echo "ok $case_name ($(((${EPOCHREALTIME/./} - began) / 1000)) ms)"
        [ $rc -eq 0 ] || bad=$((bad + 1))
        rm -rf "${top:?}/$case_name"
    done
    [ $bad -eq 0 ] || exit 1
}

# ---- Shared by several scripts

# some_urls LINES DIFFERENT: LINES lines, of which about DIFFERENT are distinct; always the same,
# in no order.
some_urls() {
    awk -v n="$1" -v different="$2" 'BEGIN {
        x = 1
        for (i = 0; i < n; i++) {
            x = (x * 16807) % 2147483647
            v = x % different
            print "https://host" v % 1009 ".example.org/path/" v ".html"
        }
    }'
}

# all_new_urls N [FIRST]: N lines, no two the same.
all_new_urls() {
    awk -v n="$1" -v first="${2:-0}" 'BEGIN {
        for (i = first; i < first + n; i++) print "https://host" i % 97 ".example/" i
    }'
}

# once: the first occurrence of each line of standard input; again: all other occurrences.
once() { awk '!seen[$0]++'; }
again() { awk 'seen[$0]++'; }

# eventually CMD...: try until it succeeds, for at most ten minutes.
eventually() {
    local i
    for ((i = 0; i < 12000; i++)); do
        if "$@" >/dev/null 2>&1; then return 0; fi
        sleep 0.05
    done
    fail "did not come true within ten minutes: $*"
}

# flip_bit FILE OFFSET: flip one bit of the byte there.
flip_bit() {
    local byte
    byte=$(od -An -tu1 -j "$2" -N 1 "$1")
    # shellcheck disable=SC2059 # an escape sequence
    printf "\\$(printf %o $((byte ^ 16)))" |
        dd "of=$1" bs=1 "seek=$2" conv=notrunc status=none
}

# json_get KEY FILE: the value of a key in a JSON object; fails if it is not JSON.
json_get() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}

# with_terminals: skipped if there are no pseudo terminals, as in a chroot without /dev/pts.
with_terminals() {
    python3 -c 'import pty; pty.openpty()' 2>/dev/null || skip "no pseudo terminals here"
}

# with_small_disks "$@": continue in a mount namespace of this script alone, where small_disk can
# mount.  In a chroot the propagation of / cannot be changed; mounts then may be visible outside
# until the case unmounts them.  Skipped if the system does not allow mounts.
with_small_disks() {
    local how
    [ -z "${DEJA_TEST_MOUNTS-}" ] || return 0
    for how in "unshare --mount" "unshare --mount --map-root-user" \
        "unshare --mount --propagation unchanged"; do
        # shellcheck disable=SC2086 # words
        if $how sh -c 'mkdir -p try && mount -t tmpfs -o size=64k none try && umount try' 2>/dev/null; then
            export DEJA_TEST_MOUNTS=yes
            # shellcheck disable=SC2093 # on purpose the last command
            exec $how bash -eu "$0" "$@"
        fi
    done
    skip "this test mounts small file systems, which needs root or user namespaces"
}

# small_disk FOLDER SIZE: an empty file system of that size (2m); a folder is made for it.
small_disk() {
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2" none "$1"
    echo "$1" >>.small_disks
}
