# On a terminal a line tells how far the work is, and leaves no trace; elsewhere there is none.
. "$SUPPORT/cases.sh"

# _terminal WORD...: deja runs with a terminal as standard error, and gets lines until the progress
# line has come; what it showed is in the file shown.
_terminal() {
    python3 - "$@" <<'PY'
import os
import pty
import subprocess
import sys
import threading

import dejarun

ours, theirs = pty.openpty()
process = dejarun.start(*sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                        stderr=theirs)
os.close(theirs)
shown = bytearray()


def collect():
    while True:
        try:
            shown.extend(os.read(ours, 65536))
        except OSError:  # the other side is gone
            return


reader = threading.Thread(target=collect, daemon=True)
reader.start()
fed = 0


def feed():
    global fed
    if process.poll() is None:
        try:
            process.stdin.write(b"".join(b"http://h/%d\n" % (fed + i) for i in range(100)))
            process.stdin.flush()
        except BrokenPipeError:
            pass
        fed += 100
    return b"\033[K" in shown or process.poll() is not None


dejarun.eventually("a progress line", feed)
process.stdin.close()
if dejarun.wait(process) != 0:
    dejarun.fail(f"exit {process.returncode}: {bytes(shown)}")
reader.join()
open("shown", "wb").write(shown)
PY
}

_has() {
    grep -qF -- "$1" shown || fail "not on the terminal: $1: $(cat -v shown)"
}

# The last line of all is not the progress line, which was erased before it.
_leaves_no_trace() {
    [ "$(grep -c . shown)" -ge 1 ] || fail "no summary"
    tail -n 1 shown | sed 's/.*\x1b\[K//' >.last
    grep -qF "$1" .last || fail "not the last line: $1: $(cat -v shown)"
}

lines_speed_fill_and_losses() {
    _terminal dedup -n 1M
    _has " lines  "
    _has "/s"
    _has "  fill "
    _has "  lost "
    _leaves_no_trace " lines read, "
}

quiet_is_quiet() {
    deja gen -n 1000 >list
    python3 - <<'PY'
import os
import pty
import subprocess

import dejarun

ours, theirs = pty.openpty()
process = dejarun.start("dedup", "-q", "list", stdout=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
try:
    shown = os.read(ours, 65536)
except OSError:
    shown = b""
if dejarun.wait(process) != 0 or shown:
    dejarun.fail(f"not quiet: {shown}")
PY
}

the_lab_has_a_bar() {
    _terminal lab hashes --quick --out report
    _has "[#"
    _has "%"
    _has "left"
    _leaves_no_trace "index.html"
}

cases "$@"
