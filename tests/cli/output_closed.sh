# If the reader of the output exits, the run ends quietly and soon, whatever the input does, and the
# state contains the lines that were written before.
. "$SUPPORT/cases.sh"

# _first CMD...: its first line goes to `first`, then reading stops; status and .stderr are kept.
_first() {
    status=0
    {
        "$@" 2>.stderr || echo $? >.status
    } | head -n 1 >first || true
    if [ -e .status ]; then
        status=$(cat .status)
        rm .status
    fi
}

dedup_ends_quietly_after_head() {
    all_new_urls 300000 >list
    local j
    for j in 1 2; do
        _first deja dedup -j $j list
        [ "$status" -eq 0 ] || fail "exit $status"
        expect_stderr_empty
        head -n 1 list | cmp - first
    done
    _first deja dedup <list
    [ "$status" -eq 0 ] || fail "exit $status"
    expect_stderr_empty
}

check_ends_quietly_after_head() {
    all_new_urls 300000 >list
    deja build -q f.deja list
    _first deja check f.deja list
    [ "$status" -eq 0 ] || fail "exit $status"
    expect_stderr_empty
}

# The input is a pipe that is silent and stays open: nothing may wait for it.
it_ends_even_if_the_input_stays_open_and_silent() {
    all_new_urls 100000 >list
    mkfifo in
    local j
    for j in 1 2; do
        cat list >in &
        exec 9<>in # keeps it open
        _first deja dedup -j $j in
        exec 9>&-
        [ "$status" -eq 0 ] || fail "exit $status with -j $j"
        expect_stderr_empty
        wait
    done
}

# Everything that was handed over is collected: deja is stopped (SIGSTOP), the pipe is emptied and
# then closed.  So the next run must print exactly the rest.
the_next_run_prints_the_rest() {
    python3 - <<'PY'
import os, signal
import dejarun

lines = dejarun.unique_lines(120_000)
open("list", "wb").write(b"\n".join(lines) + b"\n")
for options in (
    ["-j", "1"],
    ["-j", "2"],
    ["-k", "scalable", "-n", "1000", "-p", "1e-12"],
    ["-k", "exact", "-n", "120k"],
):
    process = dejarun.start("dedup", "--seed", "7", "--state", "seen.deja", *options, "list")
    read = bytearray()
    while len(read) < 1_000_000:
        read += os.read(process.stdout.fileno(), 1 << 16)
    process.send_signal(signal.SIGSTOP)
    os.waitpid(process.pid, os.WUNTRACED)
    read += dejarun.drain(process.stdout)
    process.stdout.close()
    process.send_signal(signal.SIGCONT)
    status = dejarun.wait(process)
    errors = process.stderr.read()
    if status != 0 or errors:
        dejarun.fail(f"exit {status}, {errors}")
    first = dejarun.whole_lines(bytes(read))
    rest = dejarun.whole_lines(dejarun.succeed("dedup", "-q", "--state", "seen.deja", "list"))
    if set(first) | set(rest) != set(lines):
        dejarun.fail(f"{len(set(lines) - set(first) - set(rest))} lines lost, with {options}")
    if len(rest) == len(lines):
        dejarun.fail(f"nothing of what was handed over was recorded, with {options}")
    if dejarun.run("verify", "seen.deja")[0] != 0:
        dejarun.fail("the state is not intact")
    os.unlink("seen.deja")
PY
}

# The run that lost its reader has also sealed the state.
the_state_is_intact() {
    all_new_urls 300000 >list
    _first deja dedup --state seen.deja list
    [ "$status" -eq 0 ] || fail "exit $status"
    expect_stderr_empty
    succeeds deja verify seen.deja
}

cases "$@"
