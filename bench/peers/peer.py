"""peer.py MODULE MEMBERS ABSENT MIXED P - rbloom or pybloom_live; README.md explains the output."""

import sys
import time

REPEATS = 3
ENOUGH = 20  # seconds, after which it does not repeat


def read(path):
    with open(path, encoding="utf-8") as lines:
        return lines.read().split("\n")[:-1]


def rbloom(n, p):
    import rbloom
    bloom = rbloom.Bloom(n, p)
    return bloom, bloom.size_in_bits, two_steps


def pybloom_live(n, p):
    import pybloom_live
    bloom = pybloom_live.BloomFilter(n, p)
    return bloom, bloom.num_bits, one_step


def two_steps(bloom, keys):
    new = 0
    for key in keys:
        if key not in bloom:
            bloom.add(key)
            new += 1
    return new


def one_step(bloom, keys):
    new = 0
    for key in keys:
        if not bloom.add(key):
            new += 1
    return new


def add(bloom, keys):
    for key in keys:
        bloom.add(key)


def contains(bloom, keys):
    found = 0
    for key in keys:
        if key in bloom:
            found += 1
    return found


def main(module, members, absent, mixed, p):
    keys = {"members": read(members), "absent": read(absent), "mixed": read(mixed)}
    make = {"rbloom": rbloom, "pybloom_live": pybloom_live}[module]
    least = {}

    def timed(what, call, bloom, which):
        begin = time.thread_time_ns()
        result = call(bloom, keys[which])
        took = (time.thread_time_ns() - begin) / len(keys[which])
        least[what] = min(took, least.get(what, took))
        return result

    for _ in range(REPEATS):
        bloom, bits, test_and_add = make(len(keys["members"]), float(p))
        timed("add", add, bloom, "members")
        hits = timed("absent", contains, bloom, "absent")
        found = timed("present", contains, bloom, "members")
        bloom, bits, test_and_add = make(len(keys["members"]), float(p))
        new = timed("mixed", test_and_add, bloom, "mixed")
        if time.thread_time() > ENOUGH:
            break
    print(len(keys["members"]), bits, found, hits, new,
          *(f"{least[what]:.1f}" for what in ("add", "absent", "present", "mixed")), sep="\t")


main(*sys.argv[1:])
