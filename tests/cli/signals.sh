# Ctrl-C and similar signals: the run soon ends with the signal; all written lines are recorded and
# the file is sealed.  The next run continues where this one stopped.
. "$SUPPORT/cases.sh"

# Runs the Python code on standard input after this prologue, which defines the lines, a file with
# them, and the functions that end a case.
_python() {
    cat - >rest.py
    cat >case.py <<'PY'
import os, random, signal, subprocess, sys, time
import dejarun

lines = dejarun.unique_lines(40_000)
data = b"\n".join(lines) + b"\n"
open("list", "wb").write(data)
STATE = ["--state", "seen.deja", "--seed", "7"]


def ended_by(process, sig):
    status = dejarun.wait(process)
    errors = process.stderr.read().decode()
    if status != -sig:
        dejarun.fail(f"exit {status} instead of signal {sig}: {errors}")
    return errors


def the_next_run_prints_the_rest(out, *options):
    if dejarun.run("verify", "seen.deja")[0] != 0:
        dejarun.fail("the state is not intact after the signal")
    rest = dejarun.succeed("dedup", "-q", "--state", "seen.deja", *options, "list")
    both = dejarun.whole_lines(out) + dejarun.whole_lines(rest)
    if len(both) != len(lines) or set(both) != set(lines):
        dejarun.fail("lines lost or repeated after the signal")


PY
    cat rest.py >>case.py
    python3 case.py
}

a_signal_stops_reading_a_pipe() {
    _python <<'PY'
for sig in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    for j in "1", "2":
        process = dejarun.start("dedup", *STATE, "-j", j, stdin=subprocess.PIPE)
        collector = dejarun.Collector(process.stdout)
        feeder = dejarun.Feeder(process.stdin, data[:600_000], 20_000, 0.003, hold=True)
        dejarun.eventually("first lines", lambda: len(collector.data) > 200_000)
        process.send_signal(sig)
        errors = ended_by(process, sig)
        if "stopped: " not in errors:
            dejarun.fail(f"the summary does not say that it was stopped: {errors}")
        feeder.finish()
        the_next_run_prints_the_rest(collector.finish())
        os.unlink("seen.deja")
PY
}

a_signal_stops_waiting_for_input() {
    _python <<'PY'
for j in "1", "2":
    process = dejarun.start("dedup", *STATE, "-j", j, stdin=subprocess.PIPE)
    collector = dejarun.Collector(process.stdout)
    process.stdin.write(data[:5000])
    dejarun.eventually("first lines", lambda: len(collector.data) > 4000)
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    errors = ended_by(process, signal.SIGINT)
    if "stopped: " not in errors:
        dejarun.fail(f"the summary does not say that it was stopped: {errors}")
    process.stdin.close()
    the_next_run_prints_the_rest(collector.finish())
    os.unlink("seen.deja")
PY
}

# No signal wakes the reader then: the command must abandon it.
a_failure_stops_waiting_for_input() {
    [ -w /dev/full ] || skip "no /dev/full"
    _python <<'PY'
for j in "1", "2":
    process = subprocess.Popen([os.environ["DEJA"], "dedup", "-j", j, "-n", "1000"],
                               stdin=subprocess.PIPE, stdout=open("/dev/full", "wb"),
                               stderr=subprocess.PIPE, bufsize=0)
    process.stdin.write(data[:5000])
    try:
        status = process.wait(dejarun.PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        dejarun.fail(f"-j {j}: waits for its input, and its output has failed")
    if status != 2 or b"No space left" not in process.stderr.read():
        dejarun.fail(f"-j {j}: exit {status}")
    process.stdin.close()
PY
}

a_signal_before_the_first_line_is_fine() {
    _python <<'PY'
for args in ["dedup"], ["dedup", *STATE], ["dedup", "-j", "1"], ["build", "f.deja"]:
    process = dejarun.start(*args, stdin=subprocess.PIPE)
    dejarun.eventually("it is ready", lambda: dejarun.catches(process, signal.SIGINT))
    if "--state" in args:
        dejarun.eventually("a state", lambda: os.path.exists("seen.deja"))
    process.send_signal(signal.SIGINT)
    ended_by(process, signal.SIGINT)
    process.stdin.close()
the_next_run_prints_the_rest(b"")
PY
}

a_signal_at_any_moment_loses_nothing() {
    _python <<'PY'
rng = random.Random(3)
lines = dejarun.unique_lines(300_000)
data = b"\n".join(lines) + b"\n"
open("list", "wb").write(data)
began = time.monotonic()
dejarun.succeed("dedup", "-q", "--state", "other.deja", "-n", "300k", "list")
duration = time.monotonic() - began
stopped = 0
for attempt in range(12):
    args = ["dedup", *STATE, "-p", "1e-9", "list"]
    args += ["-k", "scalable", "-n", "1000"] if attempt % 2 else ["-k", "blocked", "-n", "300k"]
    to_file = attempt % 4 > 1
    if to_file:
        args += ["-o", "out"]
    process = dejarun.start(*args)
    collector = dejarun.Collector(process.stdout)
    time.sleep(rng.uniform(0, duration))
    process.send_signal(signal.SIGINT)
    status = dejarun.wait(process)
    if status not in (0, -signal.SIGINT):
        dejarun.fail(f"exit {status}: {process.stderr.read().decode()}")
    stopped += status != 0
    printed = collector.finish()
    if to_file and os.path.exists("out"):
        printed = open("out", "rb").read()
        os.unlink("out")
    if os.path.exists("seen.deja"):
        the_next_run_prints_the_rest(printed)
        os.unlink("seen.deja")
    elif printed:
        dejarun.fail("lines without a state")
print(f"{stopped} of 12 runs were stopped")
PY
}

# A pager that has stopped reading: deja must not wait for it after a request to stop.
a_signal_stops_waiting_for_the_reader() {
    _python <<'PY'
for j in "1", "2":
    process = dejarun.start("dedup", *STATE, "-j", j, "list")
    dejarun.eventually("a full pipe", lambda: dejarun.waiting(process.stdout) >= 60_000)
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    status = dejarun.wait(process)  # fails if it hangs in its write
    if status != -signal.SIGINT:
        dejarun.fail(f"exit {status}")
    printed = dejarun.drain(process.stdout)
    rest = dejarun.succeed("dedup", "-q", *STATE, "list")
    if set(dejarun.whole_lines(printed)) | set(dejarun.whole_lines(rest)) != set(lines):
        dejarun.fail("lines lost")
    if dejarun.run("verify", "seen.deja")[0] != 0:
        dejarun.fail("the state is not intact")
    os.unlink("seen.deja")
PY
}

without_a_state_the_lines_so_far_are_printed() {
    _python <<'PY'
process = dejarun.start("dedup", "--seed", "7", stdin=subprocess.PIPE)
collector = dejarun.Collector(process.stdout)
feeder = dejarun.Feeder(process.stdin, data[:300_000], 20_000, 0.003, hold=True)
dejarun.eventually("first lines", lambda: len(collector.data) > 100_000)
process.send_signal(signal.SIGTERM)
ended_by(process, signal.SIGTERM)
feeder.finish()
printed = collector.finish()
if not printed.endswith(b"\n") or not data.startswith(printed):
    dejarun.fail("not the first lines, whole")
PY
}

# nohup and a shell's background jobs: a process that inherits an ignored signal ignores it.
ignored_signals_stay_ignored() {
    _python <<'PY'
signal.signal(signal.SIGHUP, signal.SIG_IGN)
signal.signal(signal.SIGINT, signal.SIG_IGN)
process = dejarun.start("dedup", *STATE, stdin=subprocess.PIPE)
collector = dejarun.Collector(process.stdout)
feeder = dejarun.Feeder(process.stdin, data, 50_000, 0.003)
dejarun.eventually("first lines", lambda: len(collector.data) > 100_000)
process.send_signal(signal.SIGHUP)
process.send_signal(signal.SIGINT)
if dejarun.wait(process) != 0:
    dejarun.fail("an ignored signal ended it")
if collector.finish() != data:
    dejarun.fail("lines lost or repeated")
PY
}

add_keeps_what_was_added() {
    _python <<'PY'
dejarun.succeed("build", "-q", "-n", "100k", "f.deja")
for j in "1", "2":
    process = dejarun.start("add", "-j", j, "f.deja", stdin=subprocess.PIPE)
    process.stdin.write(data[:30_000])
    some = b"\n".join(dejarun.whole_lines(data[:30_000])) + b"\n"

    def found():
        return dejarun.run("check", "-q", "f.deja", data=some)[1] == some

    dejarun.eventually("the added lines", found)
    process.send_signal(signal.SIGINT)
    ended_by(process, signal.SIGINT)
    process.stdin.close()
    if dejarun.run("verify", "f.deja")[0] != 0:
        dejarun.fail("the filter is not intact")
    if not found():
        dejarun.fail("what was added is gone")
PY
}

cases "$@"
