#!/usr/bin/env python3
"""machines.py [KEYS] - filters on three machines: their memory, and the rate with 3, 2 and 1 of them.

Starts three servers with the module on loopback, adds KEYS (200,000) keys with `deja dedup
--redis A --redis B --redis C`, and looks up as many as ten times that number that were never added: with all
servers, then with one less each time.  The false positives are compared with the prediction (docs/math.md)
from the size alone.  DEJA and MODULE name other builds; the default is build/release."""

import json
import math
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DEJA = os.environ.get("DEJA", os.path.join(HERE, "build/release/deja"))
MODULE = os.environ.get("MODULE", os.path.join(HERE, "build/release/redis/deja.so"))
F = 3


def port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(number):
    for _ in range(100):
        try:
            socket.create_connection(("127.0.0.1", number), 1).close()
            return
        except OSError:
            time.sleep(0.1)
    sys.exit("machines.py: the server did not start")


def numbers(first, n):
    return "".join(f"http://example.com/{i}\n" for i in range(first, first + n)).encode()


def deja(*words, data):
    """Return the report, which is on standard error if the results are on standard output."""
    run = subprocess.run([DEJA, *words, "--json"], input=data, capture_output=True)
    if run.returncode == 2:
        sys.exit(run.stderr.decode())
    return json.loads(run.stderr[run.stderr.index(b"\n{") if not run.stderr.startswith(b"{") else 0:])


def rate_of(servers, words, keys, probes):
    """Look up keys that were never added; return the number that is found."""
    found = 0
    for first in range(keys, keys + probes, 1_000_000):
        n = min(1_000_000, keys + probes - first)
        report = deja("check", "-c", *words, "seen", data=numbers(first, n))
        found += report["in"]
        assert report["answered"][F - servers]["keys"] == n, report
    return found


def main():
    keys = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
    for program in (shutil.which("redis-server"), DEJA, MODULE):
        if not program or not os.path.exists(program):
            sys.exit("machines.py: it needs redis-server, and build/release (cmake --workflow --preset release)")
    print("| requested rate | bits per key, per machine | memory per machine | 3 of 3 | 2 of 3 | 1 of 3 |")
    print("|---|---:|---:|---|---|---|")
    for rate in 1e-2, 1e-3, 1e-4:
        row(rate, keys)


def row(rate, keys):
    with tempfile.TemporaryDirectory() as work:
        os.environ["XDG_STATE_HOME"] = work
        ports = [port() for _ in range(F)]
        servers = [subprocess.Popen(["redis-server", "--port", str(p), "--bind", "127.0.0.1", "--save", "", "--dir", work,
                                     "--loadmodule", MODULE], stdout=subprocess.DEVNULL) for p in ports]
        try:
            for p in ports:
                wait_for(p)
            words = [w for p in ports for w in ("--redis", f"127.0.0.1:{p}")]
            report = deja("dedup", "-c", *words, "--state", "seen", "-k", "classic", "-n", str(keys), "-p", str(rate),
                          data=numbers(0, keys))
            size = report["servers"][0]["filter_bytes"]
            print(f"| {rate:g} | {8 * size / keys:.1f} | {size / 1e6:.2f} MB |", end="")
            bits, probes = 8 * size, 10 * keys
            k = max(1, round(bits / keys * math.log(2)))
            one = (1 - math.exp(-k * keys / bits)) ** k
            for left in range(F, 0, -1):
                found = rate_of(left, words, keys, probes)
                print(f" {found / probes:.3g} (predicted {one ** left:.3g}) |", end="", flush=True)
                servers[left - 1].kill()
                servers[left - 1].wait()
            print()
        finally:
            for server in servers:
                server.kill()
                server.wait()


if __name__ == "__main__":
    main()
