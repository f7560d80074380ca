"""redisrun - real servers with the module for tests/redis/*.py, on free ports of 127.0.0.1.

with Server() as s: ... ; everything that was started is stopped again, whatever happens.  A
machine without redis-server or python3-redis skips the test (exit 77).  REDIS_SERVER names another
server."""

import atexit
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

MODULE = os.environ.get("MODULE", "")


def skip(text):
    print(f"skipped: {text}")
    sys.exit(77)


BINARY = next(filter(None, map(shutil.which, [os.environ.get("REDIS_SERVER", ""), "redis-server",
                                              "valkey-server"])), None)
if not BINARY:
    skip("redis-server is not here (Debian: redis-server)")
if not os.path.exists(MODULE):
    skip("the module is not built")
try:
    import redis
except ImportError:
    debian = "/usr/bin/python3"  # for which the package is, whatever comes first in the path
    if os.path.exists(debian) and os.path.realpath(sys.executable) != os.path.realpath(debian):
        os.execv(debian, [debian, *sys.argv])
    skip("the Python package redis is not here (Debian: python3-redis)")


def free_port():
    """A port that is free, as is the one 10000 above it, which a cluster node listens on."""
    while True:
        with socket.socket() as a, socket.socket() as b:
            a.bind(("127.0.0.1", 0))
            port = a.getsockname()[1]
            if port > 50000:
                continue
            try:
                b.bind(("127.0.0.1", port + 10000))
            except OSError:
                continue
            return port


def until(what, condition, seconds=600):
    """Waits until the condition is true."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(0.02)
    raise AssertionError(f"{what}: not within {seconds} s")


def environment():
    """A module built with the address sanitizer needs its runtime preloaded in the server."""
    env = dict(os.environ)
    if env.get("MODULE_PRELOAD"):
        env["LD_PRELOAD"] = env["MODULE_PRELOAD"]
        env["ASAN_OPTIONS"] = env.get("ASAN_OPTIONS", "") + ":detect_leaks=0:abort_on_error=1"
    return env


class Server:
    def __init__(self, *options, folder=None, port=None, module=MODULE, arguments=()):
        self.port = port or free_port()
        self.folder = folder or os.path.abspath(f"server-{self.port}")
        os.makedirs(self.folder, exist_ok=True)
        self.options = options
        self.module = module
        self.arguments = arguments  # of loadmodule
        self.process = None
        self.start()

    def start(self):
        self.log = os.path.join(self.folder, "log")
        command = [BINARY, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.folder,
                   "--save", "", "--enable-debug-command", "yes", "--repl-diskless-sync-delay",
                   "0", "--logfile", self.log, "--loadmodule", self.module, *self.arguments,
                   *self.options]
        self.errors = open(os.path.join(self.folder, "stderr"), "ab")
        self.process = subprocess.Popen(command, env=environment(), stdin=subprocess.DEVNULL,
                                        stdout=self.errors, stderr=self.errors)
        atexit.register(self.stop)  # whatever happens to the test
        until("server answers", self.answers)
        return self

    def answers(self):
        if self.process.poll() is not None:
            raise AssertionError(f"the server ended: {self.last_words()}")
        try:
            return self.client().ping()
        except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
            return False

    def last_words(self):
        words = ""
        for name in ("log", "stderr"):
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, errors="replace") as f:
                    words += "".join(f.readlines()[-60:])
        return words

    def client(self, **more):
        return redis.Redis("127.0.0.1", self.port, **more)

    def raw(self, protocol=2):
        return Raw(self.port, protocol)

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def restart(self):
        """After kill: starts the same server from the data on its disk."""
        return self.start()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(300)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.errors.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        crashed = self.process.poll() not in (None, 0, -signal.SIGKILL)
        if kind or crashed:
            print(self.last_words(), file=sys.stderr)
        self.stop()
        if crashed and not kind:
            raise AssertionError(f"the server ended with {self.process.returncode}")


class Error(str):
    """An error inside or instead of a reply."""


class Raw:
    """The wire protocol, version 2 or 3: types stay distinct."""

    def __init__(self, port, protocol=2):
        self.socket = socket.create_connection(("127.0.0.1", port), 60)
        self.file = self.socket.makefile("rb")
        if protocol == 3:
            self("HELLO", "3")

    def send(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.socket.sendall(b"*%d\r\n" % len(words) +
                            b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))

    def __call__(self, *words):
        self.send(*words)
        return self.read()

    def read(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("the server has gone")
        mark, rest = line[:1], line[1:-2]
        if mark == b"+":
            return rest.decode()
        if mark == b"-":
            return Error(rest.decode())
        if mark == b":":
            return int(rest)
        if mark == b"$":
            n = int(rest)
            return None if n < 0 else self.file.read(n + 2)[:-2]
        if mark == b"*":
            n = int(rest)
            return None if n < 0 else [self.read() for _ in range(n)]
        if mark == b"%":
            return {self.read(): self.read() for _ in range(int(rest))}
        if mark == b"#":
            return rest == b"t"
        if mark == b",":
            return float(rest)
        if mark == b"_":
            return None
        raise AssertionError(f"unknown reply {line!r}")


def expect(got, want, what=""):
    if got != want or type(got) is not type(want):
        raise AssertionError(f"{what}: {repr(got)[:300]} instead of {repr(want)[:300]}")


def run(scope):
    """Runs every function that is marked as a case."""
    cases = [f for f in scope.values() if getattr(f, "is_case", False)]
    assert cases
    for case in cases:
        case()
        print(f"ok {case.__name__}", flush=True)


def case(function):
    function.is_case = True
    return function
