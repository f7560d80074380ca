# On a terminal, a line shows the progress and is then erased; elsewhere, a line is printed every
# minute (unit.console).
. "$SUPPORT/cases.sh"
with_terminals

# _terminal TEXT WORD...: runs `deja WORD...` with a terminal as standard error and feeds it lines
# until TEXT appears there; then ends the input, or stops deja if the command reads none.  The
# terminal's output is in the file `shown`.
_terminal() {
    env -u CLICOLOR -u CLICOLOR_FORCE TERM=xterm python3 - "$@" <<'PY'
import os
import pty
import signal
import subprocess
import sys
import threading

import dejarun

text, command = sys.argv[1].encode(), sys.argv[2:]
reads = command[0] not in ("lab", "gen")
ours, theirs = pty.openpty()
process = dejarun.start(*command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
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
    if reads:
        process.stdin.write(b"".join(b"http://h/%d\n" % (fed + i) for i in range(100)))
        fed += 100
    return text in shown


dejarun.eventually("a progress line", feed)
process.stdin.close()
if not reads:
    process.send_signal(signal.SIGINT)
if dejarun.wait(process) != (0 if reads else -signal.SIGINT):
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

progress_shows_lines_speed_fill_and_losses() {
    NO_COLOR=1 _terminal "  lost " dedup -n 1M
    _has " lines  "
    ! grep -q '\[1;32m' shown || fail "colors: $(cat -v shown)"
    _has "/s"
    _has "  fill "
    _leaves_no_trace " read, "
}

progress_has_colors() {
    NO_COLOR='' _terminal "  lost " dedup -n 1M
    grep -qP '\r\x1b\[1;32m[0-9,]+ lines\x1b\[0m\x1b\[2m  .*/s.*\x1b\[0m\x1b\[K' shown ||
        fail "no colors: $(cat -v shown)"
    _leaves_no_trace " read, "
}

progress_shows_share_and_time_left() {
    NO_COLOR=1 _terminal " left" gen -n 1G
    grep -qP ' lines  \S+ \S+/s  [0-9.]+%  [0-9].* left' shown || fail "another line: $(cat -v shown)"
}

quiet_shows_no_progress() {
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

the_lab_shows_a_bar() {
    NO_COLOR=1 _terminal "[#" lab hashes --quick --runs 100 --output report
    _has "%"
    _has " left"
    _leaves_no_trace "stopped"
}

cases "$@"
