# -k window: what the command remembers and forgets, its options, and what it reports.
. "$SUPPORT/cases.sh"

_gen() { deja gen -n "$1" --first "${2:-0}" --seed 1; }

lines_that_are_older_than_the_window_are_printed_again() {
    _gen 3000 > list
    # At p = 1e-12, a false positive that would drop a line is out of the question.
    cat list list | deja dedup -q -k window -p 1e-12 -n 3000 > out
    cmp list out || fail "a line was printed again, or lost"
    cat list list | deja dedup -q -k window -p 1e-12 -n 1000 > out
    [ "$(wc -l < out)" -eq 6000 ] || fail "nothing was forgotten"
}

seeing_a_line_again_renews_it() {
    { echo always; for i in $(seq 1 20); do _gen 90 $((90 * i)); echo always; done; } > stream
    for state in "" "--state renewed.deja"; do
        # shellcheck disable=SC2086
        deja dedup -q -k window -n 100 $state stream > out
        [ "$(grep -c always out)" -eq 1 ] || fail "renewed lines are printed again ($state)"
    done
    echo always | deja dedup -q --state renewed.deja > out
    [ ! -s out ] || fail "forgotten between runs"
}

# A line that is not among the last N is printed again, however the command is called.  (Every
# turn of a state waits for the disk, so there are only a few of them.)
every_way_of_calling_it_prints_the_same_lines() {
    local window threads
    { seq 50; seq 50; seq 50; seq 45 50; seq 5; } > list
    deja dedup -q -k window -n 10 list | wc -l | grep -qx 155 || fail "not 150 lines and the last 5"
    for threads in 1 2; do
        window="-n 10"
        if [ $threads = 2 ]; then window="-n 20 --generations 2"; fi
        # shellcheck disable=SC2086
        set -- -q -k window $window -j $threads
        rm -f ./*.deja
        deja dedup "$@" list > want
        deja dedup "$@" -D list > repeats
        [ "$(sort want repeats)" = "$(sort list)" ] || fail "-D does not print the rest: $*"
        deja dedup "$@" --state a.deja list > out
        cmp out want || fail "a state: $*"
        # shellcheck disable=SC2002
        cat list | deja dedup "$@" --state b.deja | cat > out
        cmp out want || fail "a state, from pipe to pipe: $*"
        deja dedup "$@" --state c.deja -D list > out
        cmp out repeats || fail "-D with a state: $*"
        [ "$(deja dedup "$@" --state d.deja -c list)" -eq "$(wc -l < want)" ] || fail "-c with a state: $*"
        [ "$(deja dedup "$@" -c list)" -eq "$(wc -l < want)" ] || fail "-c: $*"
    done
}

# One run or many with a state: the window does not notice.
several_runs_with_a_state_are_one_stream() {
    for i in 1 2 3 4 5 6; do seq $((i % 7)) $((6 * i)); done > list
    deja dedup -q -k window -n 25 --generations 2 list > want
    split -l 30 list piece.
    for piece in piece.*; do deja dedup -q -k window -n 25 --generations 2 --state s.deja "$piece"; done > out
    cmp out want || fail "other lines in several runs"
}

a_state_continues_its_window() {
    _gen 500 > first
    _gen 500 500 > second
    deja dedup -q -k window -n 600 --state s.deja first > /dev/null
    deja dedup -q --state s.deja second | cmp - second || fail "lost"
    cat first second | deja check -q --count s.deja > found
    [ "$(cat found)" -ge 600 ] || fail "fewer than the window holds"
    succeeds deja verify s.deja
    succeeds deja info --json s.deja
    python3 - <<'END' || fail "another account"
import json
(s,) = json.load(open(".stdout"))
assert s["kind"] == "window" and s["generations"] == 1 and s["window_seconds"] == 0, s
assert s["generation_keys"] == [400, 600] and s["turns"] == 1 and s["window_keys"] == 1000, s
assert s["keys"] == 1000 and not s["over_capacity"] and s["crowded"] == 0, s
END
    succeeds deja info s.deja
    expect_stdout_has "window      the last 600 keys; 1,000 are in it now, 1 turn so far"
    grep -qE '^  generations 400 keys.*, filling$' .stdout || fail "no generations"
}

a_window_by_time_forgets() {
    _gen 100 > list
    deja dedup -q -k window --window-time 2s -n 1000 --state t.deja list > out
    cmp list out || fail "not all printed"
    succeeds deja info t.deja
    expect_stdout_has "window      the last 2.00 s"
    sleep 5
    deja check -q --count t.deja list > found || true # 1: none
    [ "$(cat found)" -eq 0 ] || fail "remembered for too long"
    deja dedup -q --state t.deja list | cmp - list || fail "not printed again"
}

# _set_starts FILE SECONDS: the window has begun this many seconds from now.
_set_starts() {
    python3 - "$1" "$2" <<'END'
import os, sys, time
sys.path.insert(0, os.environ["SOURCE"] + "/tests/format")
from reader import xxh3
data = bytearray(open(sys.argv[1], "rb").read())
for at in 3072, 3584:
    if data[at]:
        data[at + 368:at + 376] = (int(time.time()) + int(sys.argv[2])).to_bytes(8, "little")
        data[at + 504:at + 512] = xxh3(bytes(data[at:at + 504])).to_bytes(8, "little")
open(sys.argv[1], "wb").write(data)
END
}

a_window_from_the_future_is_reported_and_restarts() {
    _gen 100 > list
    deja dedup -q -k window --window-time 1h -n 1000 --state t.deja list > out
    _set_starts t.deja 10000000
    succeeds deja info t.deja
    expect_stderr_has "t.deja: the newest generation starts in"
    succeeds deja check -q --count t.deja list
    expect_stderr_has "newest generation starts in"
    expect_stdout 100
    _gen 100 100 | succeeds deja add -q t.deja # even with -q
    expect_stderr_has "The next add restarts the window from now"
    succeeds deja info t.deja
    expect_stderr_empty
    succeeds deja check -q --count t.deja list
    expect_stdout 100
    _set_starts t.deja 10000000
    _gen 150 | succeeds deja dedup --state t.deja # pending keys use the same clock
    expect_stderr_has "The next add restarts the window from now"
    expect_stdout ''
    _gen 10 1000 | succeeds deja dedup -q --state t.deja
    expect_lines 10 .stdout
    succeeds deja info t.deja
    expect_stderr_empty
}

more_keys_than_planned_are_reported() {
    _gen 5000 > list
    succeeds deja dedup -k window --window-time 1h -n 1000 -p 0.01 --state c.deja -c list
    expect_stderr_has "the filter was sized for 1,000 keys and holds"
    succeeds deja info c.deja
    expect_stderr_has "was sized for 1,000 keys per window, and more arrived"
}

options_are_checked() {
    _gen 10 > list
    exits_with 2 deja dedup -k window list
    expect_stderr_has "how many keys should the window remember? give -n N, or --window-time TIME"
    exits_with 2 deja dedup -k window --window-time 6x list
    expect_stderr_has "--window-time takes a duration of whole seconds such as 30s, 15m, 6h, 1.5d or 2w, not '6x'"
    exits_with 2 deja dedup -k window --window-time 0 list
    exits_with 2 deja dedup --generations 8 -k window -n 5 list
    exits_with 2 deja dedup --generations 2 -n 5 list
    expect_stderr_has "--generations goes with kind window, not blocked"
    exits_with 2 deja dedup -k window -n 5 --filters 2 list
    expect_stderr_has "--filters goes with kinds classic, blocked and spectral, not window"
    exits_with 2 deja dedup -k window -n 5 --hashes 4 --multiplier 2 list
    if echo x | deja dedup -q -k window --window-time 1h 2> err > /dev/null; then fail "sized from a pipe"; fi
    grep -q "how many keys? give -n N" err || fail "another reason"
    succeeds deja build -q -k window -n 100 --generations 2 w.deja list
    exits_with 2 deja dedup --state w.deja --generations 3 list
    expect_stderr_has "w.deja was made with --generations 2, not 3"
    exits_with 2 deja dedup --state w.deja --window-time 1m list
    expect_stderr_has "w.deja was made without --window-time"
    exits_with 2 deja remove w.deja list
    exits_with 2 deja count w.deja list
    exits_with 2 deja fold w.deja
    succeeds deja merge -q -o u.deja w.deja w.deja
}

plan_shows_what_the_window_remembers() {
    succeeds deja plan -k window -n 1M --generations 3 -p 0.01
    expect_stdout_has "A generation holds 333,334 keys. 3 full ones are kept while the next one fills:"
    expect_stdout_has "a key among the last 1,000,000 is found, a key older than the last 1,333,336 is forgotten."
    expect_stdout_has "4 adjacent lines"
    expect_stdout_has "deja dedup -k window -n 1M -p 0.01 --generations 3 --state"
    succeeds deja plan -k window -m 1M -p 0.01 --window-time 90m
    expect_stdout_has "--window-time 5400s"
    succeeds deja plan -k window -n 1M -m 1M
    exits_with 2 deja plan -k window -m 64
    expect_stderr_has "-m is 64: it must be at least 128 bytes"
}

rotate_keeps_the_window() {
    _gen 50 > list
    succeeds deja build -q -k window -n 100 --window-time 1d r.deja list
    succeeds deja rotate r.deja
    succeeds deja info --json r.deja
    grep -q '"window_seconds": 86400' .stdout || fail "another window"
    grep -q '"capacity": 100,' .stdout || fail "another size"
}

cases "$@"
