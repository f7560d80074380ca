#!/usr/bin/env python3
"""Measure adding many items per command on a Redis server, with deja's module and with others.

    python3 bench/madd.py [-n 1000000] [--turns 5] [--items 100] [--module NAME=FILE]

A server on loopback for each module, and one client that sends whole commands of 100 items without
waiting for replies.  The contenders take turns: BF.MADD and DEJA.ADD of deja's module, BF.MADD of each
other module, and SADD.  Every server also answers SMISMEMBER of a missing set, which only parses the
items and writes as many replies.  deja's library gets the same keys without a server.  The figures are
the median, and the least, of the server's CPU time in ns per item, so that the client and other work
on the machine count little.  Replies are checked.  DEJA_MODULE and DEJA_LIBRARY name the files to
measure; by default, those of the release build.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"
RATE = 0.01
FIRST_PORT = 7411
AT_ONCE = 64  # commands per write


def keys_of(n: int, directory: Path) -> list[bytes]:
    """Return 2n generated URLs, and leave the files that the library's program reads."""
    made = subprocess.run([RELEASE / "deja", "gen", "-q", "-n", str(2 * n)], check=True, stdout=subprocess.PIPE)
    keys = made.stdout.split()
    for name, part in (("members", keys[:n]), ("absent", keys[n:]), ("mixed", keys[n // 2:n // 2 + n])):
        (directory / name).write_bytes(b"\n".join(part) + b"\n")
    return keys


def encode(words: list[bytes]) -> bytes:
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%b\r\n" % (len(word), word) for word in words)


def commands(name: bytes, key: bytes, items: list[bytes], per_command: int) -> list[bytes]:
    """Return writes with a few commands each."""
    each = [encode([name, key, *items[at:at + per_command]]) for at in range(0, len(items), per_command)]
    return [b"".join(each[at:at + AT_ONCE]) for at in range(0, len(each), AT_ONCE)]


class Server:
    def __init__(self, port: int, module: str, directory: Path) -> None:
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", directory,
             "--logfile", directory / f"log-{port}", *(["--loadmodule", module] if module else [])])
        for _ in range(100):
            try:
                self.socket = socket.create_connection(("127.0.0.1", port))
                return
            except OSError:
                time.sleep(0.1)
        raise SystemExit(f"madd.py: the server with {module} does not start: {(directory / f'log-{port}').read_text()}")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait()

    def send(self, writes: list[bytes]) -> bytes:
        """Send everything, and return all replies."""
        end, replies = b"$3\r\nend\r\n", []
        sender = threading.Thread(target=lambda: [self.socket.sendall(part) for part in [*writes, encode([b"ECHO", b"end"])]])
        sender.start()
        tail = b""
        while not tail.endswith(end):
            part = self.socket.recv(1 << 20)
            if not part:
                raise SystemExit("madd.py: the server closed the connection")
            replies.append(part)
            tail = (tail + part)[-len(end):]
        sender.join()
        return b"".join(replies)[:-len(end)]

    def ask(self, *words: str) -> str:
        reply = self.send([encode([word.encode() for word in words])]).decode()
        if reply.startswith("-"):
            raise SystemExit(f"madd.py: {words[0]}: {reply}")
        return reply

    def cpu(self) -> float:
        lines = dict(line.split(":", 1) for line in self.ask("INFO", "cpu").split("\r\n") if ":" in line)
        return float(lines["used_cpu_user_main_thread"]) + float(lines["used_cpu_sys_main_thread"])

    def timed(self, writes: list[bytes], items: int) -> tuple[float, int]:
        """Return ns per item, and the sum of all numbers in the replies."""
        begin = self.cpu()
        replies = self.send(writes)
        taken = (self.cpu() - begin) / items * 1e9
        return taken, sum(int(line[1:]) for line in replies.split(b"\r\n") if line.startswith(b":"))


def contend(server: Server, name: str, keys: list[bytes], per_command: int) -> dict[str, float]:
    """Return ns per item of one contender's operations."""
    n = len(keys) // 2

    def writes(part: list[bytes]) -> list[bytes]:
        return commands(name.encode(), b"key", part, per_command)

    def start() -> None:
        server.ask("FLUSHALL")
        if name != "SADD":
            server.ask("BF.RESERVE", "key", str(RATE), str(n))

    start()
    times = {}
    times["new"], new = server.timed(writes(keys[:n]), n)
    times["known"], known = server.timed(writes(keys[:n]), n)
    start()
    server.timed(writes(keys[:n // 2]), n // 2)
    # Every other item is new.
    half = [key for pair in zip(keys[:n // 2], keys[n:n + n // 2]) for key in pair]
    times["half new"], mixed = server.timed(writes(half), len(half))
    least = 1 - 2 * RATE if name != "SADD" else 1
    if not (least * n <= new <= n and known == 0 and least * n / 2 <= mixed <= n / 2):
        raise SystemExit(f"madd.py: {name}: {new} of {n} new, {known} of the known, {mixed} of half")
    server.ask("FLUSHALL")
    times["protocol alone"], found = server.timed(commands(b"SMISMEMBER", b"none", keys[:n], per_command), n)
    return times


def library(program: Path, directory: Path) -> dict[str, float]:
    done = subprocess.run([program, *(directory / name for name in ("members", "absent", "mixed")), str(RATE)],
                          check=True, stdout=subprocess.PIPE, text=True)
    add, _, _, mixed = map(float, done.stdout.split()[-4:])
    return {"new": add, "half new": mixed}


def build_library(directory: Path) -> Path:
    program, found = directory / "library", os.environ.get("DEJA_LIBRARY", str(RELEASE / "libdeja.so"))
    subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", f"-I{ROOT}", f"-I{ROOT}/include", ROOT / "bench/peers/peer_deja.c",
                    "-o", program, found, f"-Wl,-rpath,{Path(found).resolve().parent}"], check=True)
    return program


def report(taken: dict[str, dict[str, list[float]]]) -> None:
    operations = ["new", "half new", "known", "protocol alone"]
    print("| server CPU time per item, ns: median (least) | " + " | ".join(operations) + " |")
    print("|---|" + "---:|" * len(operations))
    for name, times in taken.items():
        print(f"| {name} | " + " | ".join(
            f"{statistics.median(times[o]):.0f} ({min(times[o]):.0f})" if o in times else "" for o in operations) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=float, default=1e6, help="number of items")
    parser.add_argument("--turns", type=int, default=5, help="measure each contender this many times")
    parser.add_argument("--items", type=int, default=100, help="items per command")
    parser.add_argument("--module", action="append", default=[], metavar="NAME=FILE",
                        help="also measure BF.MADD of this module; can be repeated")
    chosen = parser.parse_args()
    if not shutil.which("redis-server"):
        sys.exit("madd.py: redis-server is not installed (Debian: redis-server)")
    own = os.environ.get("DEJA_MODULE", str(RELEASE / "redis" / "deja.so"))
    modules = {"deja": own, **dict(module.split("=", 1) for module in chosen.module)}
    taken: dict[str, dict[str, list[float]]] = {}
    servers: dict[str, Server] = {}
    with tempfile.TemporaryDirectory() as made:
        directory = Path(made)
        keys = keys_of(int(chosen.n), directory)
        program = build_library(directory)
        try:
            for name, file in modules.items():
                servers[name] = Server(FIRST_PORT + len(servers), file, directory)
            contenders = [(name, "BF.MADD") for name in modules] + [("deja", "DEJA.ADD"), ("deja", "SADD")]
            for _ in range(chosen.turns):
                found = {f"{command}, {name}" if command == "BF.MADD" else command:
                         contend(servers[name], command, keys, chosen.items) for name, command in contenders}
                found["the library, without a server"] = library(program, directory)
                for name, times in found.items():
                    for operation, ns in times.items():
                        taken.setdefault(name, {}).setdefault(operation, []).append(ns)
        finally:
            for server in servers.values():
                server.close()
    report(taken)


if __name__ == "__main__":
    main()
