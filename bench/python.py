#!/usr/bin/env python3
"""Measure single calls and lists of the Python package, with its extension and through ctypes.

    python3 bench/python.py [-n 1000000] [--turns 5] [--urls FILE]

Each turn is one new process with the extension and one without, in alternation; both also measure
set, and the packages rbloom and pybloom_live if they are installed.  In a process, the contestants
take turns at each operation.  All get the same keys as new str objects, as a parser makes them: the
hash of a str that was in a set before would already be known.  Half of the keys are new in
test-and-add.  Answers are checked before anything is timed.  The figures are medians of the CPU time
in ns per key, and then the times of the others divided by deja's.  DEJA_LIBRARY and DEJA_EXTENSION name
the files to measure; by default, those of the release build.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RATE = 1e-6
BATCH = 100  # links of a page


def made_up(n: int) -> list[str]:
    """Return n URLs of about the usual length."""
    return [f"https://www.site{i * 7919 % 9973}.example/{i * 2654435761 % 2**32:x}/articles/{i}/index.html"
            for i in range(n)]


# --- One process ----------------------------------------------------------------------------


def timed(call, subject, keys) -> float:
    """Return ns per key."""
    begin = time.process_time()
    call(subject, keys)
    return (time.process_time() - begin) / len(keys) * 1e9


def fresh(keys) -> list[str]:
    return [key[:1] + key[1:] for key in keys]


def add_all(subject, keys) -> None:
    for key in keys:
        subject.add(key)


def find_all(subject, keys) -> None:
    for key in keys:
        key in subject


def test_and_add(subject, keys) -> None:
    for key in keys:
        if key not in subject:
            subject.add(key)


def add_batches(subject, keys) -> None:
    for at in range(0, len(keys), BATCH):
        subject.add_many(keys[at:at + BATCH])


def find_list(subject, keys) -> None:
    list(map(subject.__contains__, keys))


class Contestant:
    """How to make a subject, and its calls for each operation; None: it has no such call."""

    def __init__(self, make, ours: bool) -> None:
        self.make = make
        test = make()
        update = "update" if hasattr(test, "update") else None
        self.calls = {
            "add": add_all, "in, absent": find_all, "in, present": find_all,
            "test-and-add": add_all if ours else test_and_add,  # a filter tests and adds in one call
            "add all": (lambda s, keys: s.add_many(keys)) if ours else update and (lambda s, keys: s.update(keys)),
            "find all": (lambda s, keys: s.contains_many(keys)) if ours else find_list,
            f"{BATCH} at a time": add_batches if ours else None,
        }

    def filled(self, keys):
        subject = self.make()
        add_all(subject, keys)
        return subject


def measure(contestants: dict[str, Contestant], keys: list[str]) -> dict[str, dict[str, float]]:
    half, rest = keys[::2], keys[1::2]
    filled = {name: one.filled(half) for name, one in contestants.items()}
    for subject in filled.values():
        assert all(key in subject for key in half) and sum(key in subject for key in rest) < 10
    times: dict[str, dict[str, float]] = {name: {} for name in contestants}
    used = {"in, absent": rest, "in, present": half, "find all": keys}
    for operation in next(iter(contestants.values())).calls:
        for name, one in contestants.items():
            call = one.calls[operation]
            if call:
                subject = filled[name] if operation in used else one.filled(half if operation == "test-and-add" else [])
                times[name][operation] = timed(call, subject, fresh(used.get(operation, keys)))
    return times


def contestants(n: int) -> dict[str, Contestant]:
    import deja

    name = "deja, ctypes" if os.environ["DEJA_EXTENSION"] == "no" else "deja"
    found = {name: Contestant(lambda: deja.Filter(capacity=n, fp_rate=RATE), True), "set": Contestant(set, False)}
    for package, make in (("rbloom", lambda m: m.Bloom(n, RATE)), ("pybloom_live", lambda m: m.BloomFilter(n, RATE))):
        try:
            module = importlib.import_module(package)
        except ImportError:
            continue
        found[package] = Contestant(lambda make=make, module=module: make(module), False)
    return found


def one_process(keys: list[str]) -> dict[str, dict[str, float]]:
    return measure(contestants(len(keys)), keys)


# --- All processes --------------------------------------------------------------------------


def environments() -> list[dict[str, str]]:
    library = os.environ.get("DEJA_LIBRARY", str(next((ROOT / "build" / "release").glob("libdeja.so.?.?"), "")))
    extension = os.environ.get("DEJA_EXTENSION", str(ROOT / "build" / "release" / "python" / "_fast.abi3.so"))
    common = {**os.environ, "DEJA_LIBRARY": library, "PYTHONPATH": os.pathsep.join(
        [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])}
    return [{**common, "DEJA_EXTENSION": chosen} for chosen in (extension, "no")]


def report(taken: dict[str, dict[str, list[float]]]) -> None:
    operations = list(taken["deja"])
    ns = {name: {o: statistics.median(times[o]) for o in times} for name, times in taken.items()}

    def row(name: str, cell) -> None:
        print(f"{name:22}" + "".join(f"{cell(o):>{max(len(o), 9) + 2}}" for o in operations))

    row("ns per key", lambda o: o)
    for name, times in ns.items():
        row(name, lambda o: f"{times[o]:.0f}" if o in times else "")
    for name, times in ns.items():
        if name != "deja":
            row(f"{name} / deja", lambda o: f"{times[o] / ns['deja'][o]:.2f}" if o in times else "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=float, default=1e6, help="number of keys")
    parser.add_argument("--turns", type=int, default=5, help="run this many pairs of processes")
    parser.add_argument("--urls", help="read the keys from this file, one per line")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        keys = Path(chosen.urls).read_text().splitlines() if chosen.urls else made_up(int(chosen.n))
        print(json.dumps(one_process(keys)))
        return
    taken: dict[str, dict[str, list[float]]] = {}
    for _ in range(chosen.turns):
        for environment in environments():
            done = subprocess.run([sys.executable, __file__, "--one", *sys.argv[1:]], env=environment, check=True,
                                  stdout=subprocess.PIPE, text=True)
            for name, times in json.loads(done.stdout).items():
                for operation, ns in times.items():
                    taken.setdefault(name, {}).setdefault(operation, []).append(ns)
    report(taken)


if __name__ == "__main__":
    main()
