#!/usr/bin/env python3
"""Measure single calls and lists of the Python package, with its extension and through ctypes.

    python3 bench/python.py [-n 1000000] [--turns 5] [--urls FILE]

Each turn is one new process with the extension and one without, in alternation; both also measure
set, and the packages rbloom and pybloom_live if they are installed.  All get the same str keys, half
of which are new in test-and-add.  Answers are checked before anything is timed.  The figures are
medians of the CPU time in ns per key.  DEJA_LIBRARY and DEJA_EXTENSION name the files to measure; by
default, those of the release build.
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


def timed(call, n: int) -> float:
    begin = time.process_time()
    call()
    return (time.process_time() - begin) / n * 1e9


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


def measure(make, keys, one_call: bool, batches: bool) -> dict[str, float]:
    """Return ns per key of each operation."""
    n, half = len(keys), keys[::2]
    subject = make()
    add_all(subject, half)
    assert all(key in subject for key in half) and sum(key in subject for key in keys[1::2]) < 10
    times = {"add": timed(lambda s=make(): add_all(s, keys), n)}
    times["in, absent"] = timed(lambda: find_all(subject, keys[1::2]), n // 2)
    times["in, present"] = timed(lambda: find_all(subject, half), len(half))
    # A filter tests and adds in one call.
    times["test-and-add"] = timed(lambda: (add_all if one_call else test_and_add)(subject, keys), n)
    if batches:
        times["many"] = timed(lambda s=make(): s.add_many(keys), n)
        times[f"many, {BATCH} at a time"] = timed(lambda s=make(): add_batches(s, keys), n)
    elif hasattr(subject, "update"):
        times["many"] = timed(lambda s=make(): s.update(keys), n)
    return times


def subjects(n: int) -> dict:
    """Return for each subject how to make it, and which calls it has."""
    import deja

    name = "deja, ctypes" if os.environ["DEJA_EXTENSION"] == "no" else "deja"
    found = {name: (lambda: deja.Filter(capacity=n, fp_rate=RATE), True, True), "set": (set, False, False)}
    for package, make in (("rbloom", lambda m: m.Bloom(n, RATE)), ("pybloom_live", lambda m: m.BloomFilter(n, RATE))):
        try:
            module = importlib.import_module(package)
        except ImportError:
            continue
        found[package] = (lambda make=make, module=module: make(module), False, False)
    return found


def one_process(keys: list[str]) -> dict[str, dict[str, float]]:
    return {name: measure(make, keys, *calls) for name, (make, *calls) in subjects(len(keys)).items()}


# --- All processes --------------------------------------------------------------------------


def environments() -> list[dict[str, str]]:
    library = os.environ.get("DEJA_LIBRARY", str(next((ROOT / "build" / "release").glob("libdeja.so.?.?"), "")))
    extension = os.environ.get("DEJA_EXTENSION", str(ROOT / "build" / "release" / "python" / "_fast.abi3.so"))
    common = {**os.environ, "DEJA_LIBRARY": library, "PYTHONPATH": os.pathsep.join(
        [str(ROOT / "python"), os.environ.get("PYTHONPATH", "")])}
    return [{**common, "DEJA_EXTENSION": chosen} for chosen in (extension, "no")]


def report(taken: dict[str, dict[str, list[float]]]) -> None:
    operations = list(taken["deja"])
    print(f"{'ns per key':14}" + "".join(f"{name:>{max(len(name), 9) + 2}}" for name in operations))
    for name, times in taken.items():
        print(f"{name:14}" + "".join(f"{statistics.median(times[o]) if o in times else float('nan'):>{max(len(o), 9) + 2}.0f}"
                                     for o in operations))


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
