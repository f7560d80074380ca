"""sequences - after any commands on any filter that import accepts, the result can be loaded.

Exports of every kind, and the golden files, get random edits in their header fields, with checksums
that match.  Random commands run on those that DEJA.IMPORT or BF.LOADCHUNK accepts.  Then every value
must survive RDB, a rewritten log, EXPORT and IMPORT, chunks, COPY, and DUMP and RESTORE, and answer
as before; none may have become unusable.

SEQUENCES_SECONDS makes it run longer, SEQUENCES_SEED makes it differ."""

import glob
import math
import os
import random
import struct
import time

from crafted import PAGE, RECORD, repaired
from redisrun import Error, Server, case, expect, run, until

SECONDS = float(os.environ.get("SEQUENCES_SECONDS", "4"))
SEED = int(os.environ.get("SEQUENCES_SEED", "17"))
KEYS = 24  # values of a round

RESERVE = {
    "classic": "KIND classic CAPACITY 300 ERROR 0.01",
    "salted": "KIND classic CAPACITY 100 ERROR 0.1 HASH murmur3",
    "thesis": "KIND classic CAPACITY 100 HASHES 3 MULTIPLIER 2 HASH jenkins",
    "blocked": "KIND blocked CAPACITY 500 ERROR 0.01",
    "folding": "KIND blocked MEMORY 8192 CAPACITY 100",
    "several": "KIND blocked CAPACITY 200 ERROR 0.01 FILTERS 3",
    "layered": "KIND layered CAPACITY 100 ERROR 0.01",
    "words": "KIND layered CAPACITY 100 ERROR 0.01 WORDS DELIMITER /",
    "spectral": "KIND spectral CAPACITY 200 ERROR 0.01 COUNTERBITS 8",
    "spread": "KIND spectral CAPACITY 200 ERROR 0.01 COUNTERBITS 16 SPREAD",
    "paired": "KIND paired CAPACITY 200 ERROR 0.01 DELETIONS 50",
    "scalable": "KIND scalable CAPACITY 30 ERROR 0.01",
    "window": "KIND window CAPACITY 100 ERROR 0.01 GENERATIONS 3",
    "timed": "KIND window CAPACITY 100 ERROR 0.01 SECONDS 1000000",
    "exact": "KIND exact CAPACITY 300",
    "dated": "KIND exact CAPACITY 300 DATES",
    "dates": "KIND scalable PARTS exact CAPACITY 30 ERROR 0.01 DATES",
    "url": "KIND blocked CAPACITY 100 ERROR 0.01 URL crawl",
}
# Fields of the header, of an entry in the part table, and of the sync record (docs/format.md).
WHOLE = [(at, "<I") for at in (20, 28, 48, 72, 76, 136, 144, 148, 152, 208, 212, 216, 304)]
LONG = [(at, "<Q") for at in (32, 64, 160, 168, 176, 200, *range(224, 304, 8), 312, 328)]
REAL = [(at, "<d") for at in (40, 56, 184, 192)]
PART = [(0, "<Q"), (8, "<I"), (12, "<I"), (16, "<Q"), (24, "<d")]
SYNC = [(at, "<Q") for at in (0, 16, 32, *range(40, 72, 8), 304, 312, 320, 336, 344, 352, 360, 368,
                              376, 432)] + [(328, "<d")]
FIELDS = [*WHOLE, *LONG, *REAL, *[(512 + 64 * i + at, form) for i in range(4) for at, form in PART],
          *[(RECORD + at, form) for at, form in SYNC], (208, "<I")]
NUMBERS = (0, 1, 2, 3, 7, 52, 53, 54, 64, 255, 1000, 1024, 1025, 2**20, 2**31, 2**32 - 1, 2**40,
           2**47 - 1, 2**47, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
REALS = (0.0, 5e-324, 1e-308, 1e-18, 1e-9, 1e-3, 0.5, 1 - 2**-53, 1.0, 2.0, 1e300, math.inf, math.nan)

rng = random.Random(SEED)
ITEMS = [f"http://h{i % 7}.example/{i % 11}/{i}" for i in range(120)]


def sources(c):
    """Exports of all kinds, and the golden files that can be imported."""
    made = {}
    for name, words in RESERVE.items():
        expect(c("DEJA.RESERVE", name, *words.split()), "OK", name)
        c("DEJA.ADD", name, *rng.sample(ITEMS, 60))
        made[name] = c("DEJA.EXPORT", name)
    for path in glob.glob(os.path.join(os.environ["SOURCE"], "tests/format/golden/*/*.deja")):
        with open(path, "rb") as f:
            data = f.read()
        if len(data) < 1 << 18 and c("DEJA.IMPORT", "golden", data, "REPLACE") == "OK":
            made[os.path.basename(path)] = c("DEJA.EXPORT", "golden")
    c("FLUSHALL")
    return made


def crafted(data):
    data = bytearray(data)
    for _ in range(rng.choice((0, 1, 1, 1, 2, 3))):
        at, form = rng.choice(FIELDS)
        if form == "<d":
            value = rng.choice((*REALS, struct.unpack_from(form, data, at)[0] * rng.choice((0.5, 2))))
        else:
            old = struct.unpack_from(form, data, at)[0]
            value = rng.choice((*NUMBERS, old + 1, old - 1, 2 * old, old // 2))
            value &= (1 << 8 * struct.calcsize(form)) - 1
        struct.pack_into(form, data, at, value)
    return repaired(data)


def bring(c, key, data):
    """Imports in one of two ways; returns the reply."""
    if rng.randrange(2):
        return c("DEJA.IMPORT", key, data)
    got = c("BF.LOADCHUNK", key, 1, data[:PAGE])
    return c("BF.LOADCHUNK", key, len(data) - PAGE + 1, data[PAGE:]) if got == "OK" else got


def some_items():
    return rng.sample(ITEMS, rng.randrange(1, 20))


def command(key, keys):
    other = rng.choice(keys)
    return rng.choice((
        ("DEJA.FOLD", key), ("DEJA.FOLD", key, rng.choice((1, 2, 3, 60))),
        ("DEJA.ADD", key, *some_items()), ("BF.MADD", key, *some_items()),
        ("DEJA.ADD", key, *(f"{rng.getrandbits(64)}" for _ in range(300))),
        ("DEJA.REMOVE", key, *some_items()), ("DEJA.COUNT", key, *some_items()),
        ("DEJA.ROTATE", key), ("DEJA.ROTATE", key, "CAPACITY", rng.choice((1, 50, 5000))),
        ("DEJA.ROTATE", key, "ERROR", rng.choice((0.5, 0.001))),
        ("DEJA.MERGE", key, other), ("DEJA.MERGE", key, key), ("COPY", key, other, "REPLACE"),
        ("BF.INFO", key), ("DEJA.INFO", key), ("BF.CARD", key),
    ))


def answers(c, key):
    """What a client can see, except for the memory that the allocator rounds up."""
    info = c("DEJA.INFO", key)
    assert not isinstance(info, Error), (key, info)
    told = dict(zip(info[0::2], info[1::2]))
    del told["memory"]
    told.update(items=c("DEJA.CHECK", key, *ITEMS), card=c("BF.CARD", key))
    # A saved count is at most 2^58, which only a falsified one reaches.
    return {field: min(value, 1 << 58) if isinstance(value, int) else value for field, value in told.items()}


def same(c, key, want, what):
    for field, value in answers(c, key).items():
        if field == "lost":  # an estimate, and the counts of its parts were falsified
            assert math.isclose(float(value), float(want[field]), rel_tol=1e-6), (value, want)
        else:
            expect(value, want[field], f"{field} of {want['kind']} after {what}")


def check(c, before, what):
    for key, want in before.items():
        same(c, key, want, what)


def rewritten_log(c, server):
    r = server.client()
    c("CONFIG", "SET", "aof-use-rdb-preamble", "no")
    c("CONFIG", "SET", "appendonly", "yes")  # starts with a rewrite
    until("rewritten", lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
          not r.info("persistence")["aof_rewrite_scheduled"])
    expect(r.info("persistence")["aof_last_bgrewrite_status"], "ok")
    expect(c("DEBUG", "LOADAOF"), "OK")
    c("CONFIG", "SET", "appendonly", "no")


def round_of_sequences(c, server, made):
    """Runs a round; returns how many imports were accepted."""
    c("FLUSHALL")
    keys = []
    for i in range(KEYS):
        if bring(c, f"k{i}", crafted(rng.choice(made))) == "OK":
            keys.append(f"k{i}")
    if not keys:
        return 0
    for key in keys:
        for _ in range(rng.randrange(6)):
            c(*command(key, keys))
    before = {key: answers(c, key) for key in keys}
    expect(c("DEBUG", "RELOAD"), "OK")
    check(c, before, "RDB")
    rewritten_log(c, server)
    check(c, before, "a rewritten log")
    for key in keys:
        data = c("DEJA.EXPORT", key)
        assert not isinstance(data, Error), (key, data)
        expect(c("DEJA.IMPORT", "x", data, "REPLACE"), "OK", key)
        same(c, "x", before[key], "IMPORT")
        iterator, page = c("BF.SCANDUMP", key, 0)
        c("DEL", "x")
        expect(c("BF.LOADCHUNK", "x", iterator, page), "OK", key)
        expect(c("BF.LOADCHUNK", "x", *c("BF.SCANDUMP", key, iterator)), "OK", key)
        same(c, "x", before[key], "chunks")
        expect(c("COPY", key, "x", "REPLACE"), 1, key)
        same(c, "x", before[key], "COPY")
        expect(c("RESTORE", "x", 0, c("DUMP", key), "REPLACE"), "OK", key)
        same(c, "x", before[key], "RESTORE")
    expect(int(server.client().info("deja_filters")["deja_unusable_filters"]), 0)
    return len(keys)


@case
def accepted_filters_can_be_saved_and_loaded():
    with Server() as server:
        c = server.raw()
        c("CONFIG", "SET", "deja.filter-max-bytes", "16mb")
        made = list(sources(c).values())
        end, rounds, accepted = time.monotonic() + SECONDS, 0, 0
        while rounds < 3 or time.monotonic() < end:
            accepted += round_of_sequences(c, server, made)
            rounds += 1
        expect(c("SAVE"), "OK")
        server.kill()
        server.restart()
        print(f"  {rounds} rounds, {accepted} of {rounds * KEYS} imports accepted")
        assert accepted > rounds * KEYS // 10


@case
def a_filter_with_the_maximum_number_of_folds_loads_again():
    with Server() as server:
        c = server.raw()
        for folds in (52, 53):
            c("DEJA.RESERVE", "k", "MEMORY", 8192, "CAPACITY", 100)
            c("DEJA.ADD", "k", "x")
            data = bytearray(c("DEJA.EXPORT", "k"))
            struct.pack_into("<I", data, 208, folds)
            if c("DEJA.IMPORT", "k", repaired(data), "REPLACE") == "OK":
                for _ in range(3):
                    c("DEJA.FOLD", "k")
                    expect(c("DEBUG", "RELOAD"), "OK")
                    expect(c("DEJA.CHECK", "k", "x"), [1])
            c("DEL", "k")


run(globals())
