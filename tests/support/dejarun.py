"""Runs deja from Python if the shell is not enough: to kill it, signal it, pace its pipes.

Used by tests/cli/*.sh; the command under test is $DEJA.
"""

import fcntl
import os
import signal
import subprocess
import sys
import termios
import threading
import time

DEJA = os.environ["DEJA"]
PATIENCE = 600  # seconds; longer than this is a hang, however busy the machine is

# A shell ignores SIGINT for its background jobs, and children inherit that: deja then rightly
# ignores Ctrl-C as well.
for _signal in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(_signal, signal.SIG_DFL)


def fail(text):
    sys.exit("FAIL: " + text)


def compile_shim(name):
    """Compiles tests/fault/NAME.c for LD_PRELOAD into the current directory."""
    shim = os.path.abspath(name + ".so")
    source = os.path.join(os.environ["SOURCE"], "tests", "fault", name + ".c")
    subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", "-O1", "-D_GNU_SOURCE",
                    "-Wall", "-Wextra", "-Werror", "-o", shim, source], check=True)
    return shim


def start(*args, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more):
    return subprocess.Popen([DEJA, *args], stdin=stdin, stdout=stdout, stderr=stderr, bufsize=0,
                            env=dict(os.environ, **more))


def run(*args, data=b""):
    """Exit status, standard output and standard error of a run."""
    done = subprocess.run([DEJA, *args], input=data, capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def succeed(*args, data=b""):
    status, out, err = run(*args, data=data)
    if status != 0:
        fail(f"exit {status} of deja {' '.join(args)}: {err}")
    return out


def wait(process):
    """The exit status; a hang is a failure."""
    try:
        return process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        fail(f"still running after {PATIENCE} seconds: {' '.join(process.args[1:])}")


def eventually(what, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            fail(f"not within {PATIENCE} seconds: {what}")
        time.sleep(0.005)


def catches(process, sig):
    """Has the process installed a handler for this signal?"""
    with open(f"/proc/{process.pid}/status") as status:
        caught = next(line for line in status if line.startswith("SigCgt:"))
    return int(caught.split()[1], 16) >> (sig - 1) & 1


class Collector(threading.Thread):
    """Reads a pipe to its end, so that all written lines are there; slowly, if asked to."""

    def __init__(self, pipe, block=1 << 16, pause=0.0):
        super().__init__(daemon=True)
        self.pipe, self.block, self.pause = pipe, block, pause
        self.data = bytearray()
        self.start()

    def run(self):
        while piece := os.read(self.pipe.fileno(), self.block):
            self.data += piece
            if self.pause:
                time.sleep(self.pause)

    def finish(self):
        self.join(PATIENCE)
        if self.is_alive():
            fail("the output stays open")
        self.pipe.close()
        return bytes(self.data)


class Feeder(threading.Thread):
    """Writes data into a pipe in blocks with pauses; with hold it stays open after them."""

    def __init__(self, pipe, data, block, pause, hold=False):
        super().__init__(daemon=True)
        self.pipe, self.data, self.block, self.pause = pipe, data, block, pause
        self.written = 0
        self.release = threading.Event()
        if not hold:
            self.release.set()
        self.start()

    def run(self):
        try:
            for at in range(0, len(self.data), self.block):
                self.written += self.pipe.write(self.data[at : at + self.block])
                time.sleep(self.pause)
            self.release.wait()
        except BrokenPipeError:
            pass
        finally:
            self.pipe.close()

    def finish(self):
        self.release.set()
        self.join(PATIENCE)


def waiting(pipe):
    """How many bytes are in a pipe."""
    n = bytearray(4)
    fcntl.ioctl(pipe.fileno(), termios.FIONREAD, n)
    return int.from_bytes(n, sys.byteorder)


def drain(pipe):
    """The bytes in a pipe now, without waiting for more."""
    have = bytearray()
    while n := waiting(pipe):
        have += os.read(pipe.fileno(), n)
    return bytes(have)


def whole_lines(data):
    """The complete lines of an output; a last one torn by a kill does not count."""
    lines = data.split(b"\n")
    lines.pop()
    return lines


def unique_lines(n, first=0):
    return [b"http://h%d.example/%d" % (i % 7, i) for i in range(first, first + n)]
