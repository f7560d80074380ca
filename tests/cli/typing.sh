# A command that waits for lines from the terminal says so after a second.
. "$SUPPORT/cases.sh"
with_terminals

# _types WANTED WORD...: runs `deja WORD...` on a terminal.  WANTED is `hint`: waits for the hint,
# then types lines; or `none`: types the lines after more than a second, and expects no hint; or
# `pipe`: the same with lines from a pipe.  Standard output is in the file `printed`.
_types() {
    env -u CLICOLOR_FORCE NO_COLOR=1 TERM=xterm python3 - "$@" <<'PY'
import os
import pty
import subprocess
import sys
import time

import dejarun

HINT = b"deja %s: reading lines from the terminal; end with Ctrl-D" % sys.argv[2].encode()
wanted, command = sys.argv[1], sys.argv[2:]
keyboard, typed = pty.openpty()
screen, shown = pty.openpty()
process = dejarun.start(*command, stdin=subprocess.PIPE if wanted == "pipe" else typed,
                        stderr=shown)
os.close(shown)
lines = dejarun.Collector(process.stdout)
said = bytearray()
os.set_blocking(screen, False)


def listen():
    try:
        said.extend(os.read(screen, 65536))
    except OSError:  # nothing yet, or the other side is gone
        pass
    return HINT in said


if wanted == "hint":
    dejarun.eventually("the hint", listen)
else:
    time.sleep(1.5)
if wanted == "pipe":
    process.stdin.write(b"http://a/\nhttp://b/\nhttp://a/\n")
    process.stdin.close()
else:
    os.write(keyboard, b"http://a/\nhttp://b/\nhttp://a/\n\x04")
if dejarun.wait(process) != 0:
    dejarun.fail(f"exit {process.returncode}: {bytes(said)}")
lines.join()
listen()
if said.count(HINT) != (wanted == "hint"):
    dejarun.fail(f"{wanted}: {bytes(said)}")
open("printed", "wb").write(lines.data)
PY
}

a_command_says_that_it_waits_for_lines() {
    printf '%s\n' http://a/ http://b/ >new
    local threads
    for threads in 1 2; do
        _types hint dedup -j $threads
        expect_same new printed
        _types hint dedup -j $threads --state $threads.deja -
        expect_same new printed
        _types hint build -j $threads --force f.deja
        _types hint add -j $threads f.deja
        _types hint check -j $threads f.deja
        expect_lines 3 printed
    done
    _types hint url
    expect_lines 3 printed
}

quiet_says_nothing() {
    _types none dedup -q
    expect_lines 2 printed
    _types none url -q
    expect_lines 3 printed
}

a_pipe_may_take_its_time() {
    _types pipe dedup
    expect_lines 2 printed
    _types pipe url -
    expect_lines 3 printed
    printf '%s\n' http://a/ >file
    _types pipe dedup file -
    expect_lines 2 printed
}

# The message would be part of a log or report that the user does not see while typing.
only_a_terminal_gets_the_message() {
    python3 - <<'PY'
import os
import pty
import time

import dejarun

keyboard, typed = pty.openpty()
process = dejarun.start("dedup", "--json", stdin=typed)
time.sleep(1.5)
os.write(keyboard, b"a\n\x04")
out, err = process.communicate(timeout=dejarun.PATIENCE)
if process.returncode != 0 or not err.startswith(b"{"):
    dejarun.fail(f"exit {process.returncode}: {err}")
PY
}

cases "$@"
