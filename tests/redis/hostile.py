"""hostile - bytes and numbers from an attacker: an error reply, never a crash, nothing is stored.

Chunks and files that are truncated, mutated or out of order; headers with valid checksums and
absurd numbers; damaged dumps.  If the module is built for the address sanitizer, the server runs
under it.  HOSTILE_SECONDS makes the random part longer; each part runs at least 20 rounds, even on
a slow machine."""

import os
import random
import resource
import struct
import time

from crafted import repaired
from redisrun import Error, Server, case, expect, run

server = Server("--proto-max-bulk-len", "1gb")
rng = random.Random(int(os.environ.get("HOSTILE_SEED", "20")))
SECONDS = float(os.environ.get("HOSTILE_SECONDS", "4"))


def alive(c):
    expect(c("PING"), "PONG")


def make(c):
    """Makes some filters and returns their dumps, as chunks."""
    c("FLUSHALL")
    c("BF.RESERVE", "grown", "0.01", "100")
    c("BF.MADD", "grown", *range(1000))
    c("BF.RESERVE", "fixed", "0.01", "100", "NONSCALING")
    for kind in ("classic", "exact", "spectral"):
        c("DEJA.RESERVE", kind, "KIND", kind, "CAPACITY", "100", "ERROR", "0.01")
        c("DEJA.ADD", kind, "a", "b")
    made = {}
    for name in ("grown", "fixed", "classic", "exact", "spectral"):
        made[name] = c("DEJA.EXPORT", name)
    c("FLUSHALL")
    return made


def mutated(data):
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        how = rng.randrange(5)
        at = rng.randrange(len(data) or 1)
        if how == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif how == 1 and data:
            data[at] = rng.choice((0, 1, 0x7f, 0x80, 0xff))
        elif how == 2:
            data[at:at + 8] = struct.pack("<Q", rng.choice((0, 1, 2**31, 2**32, 2**53, 2**63,
                                                            2**64 - 1, rng.getrandbits(64))))
        elif how == 3:
            del data[at:at + rng.randrange(1, 64)]
        else:
            data[at:at] = bytes(rng.getrandbits(8) for _ in range(rng.randrange(16)))
    return bytes(data)


@case
def chunks_out_of_order_are_refused():
    c = server.raw()
    data = make(c)["grown"]
    page, body = data[:4096], data[4096:]
    third = len(body) // 3
    pieces = [(third + 1, body[:third]), (2 * third + 1, body[third:2 * third]),
              (len(body) + 1, body[2 * third:])]
    offset = Error("ERR invalid offset - no link found")
    expect(c("BF.LOADCHUNK", "k", 1, page), "OK")
    expect(c("BF.LOADCHUNK", "k", *pieces[1]), offset)
    expect(c("BF.LOADCHUNK", "k", *pieces[0]), "OK")
    expect(c("BF.LOADCHUNK", "k", *pieces[0]), offset)
    expect(c("BF.LOADCHUNK", "k", *pieces[2]), offset)
    expect(c("BF.LOADCHUNK", "k", pieces[1][0], b""), offset)
    expect(c("BF.LOADCHUNK", "k", 0, b"x"), offset)
    expect(c("BF.LOADCHUNK", "k", 2**63 - 1, b"x"), offset)
    too_big = body[third:] + b"x"
    expect(c("BF.LOADCHUNK", "k", third + 1 + len(too_big), too_big),
           Error("ERR invalid chunk - Too big for current filter"))
    for command in ("BF.ADD k x", "BF.EXISTS k x", "BF.INFO k", "BF.SCANDUMP k 0", "DEJA.ADD k x",
                    "DEJA.INFO k", "DEJA.MERGE k k", "DEJA.MERGE n k", "DEJA.EXPORT k"):
        assert "being loaded" in c(*command.split()), command
    expect(c("BF.CARD", "k"), 0)
    assert c("BF.RESERVE", "k", "0.1", "10") == Error("ERR item exists")
    expect(c("BF.LOADCHUNK", "k", 1, page), "OK")  # restarted
    for piece in pieces:
        expect(c("BF.LOADCHUNK", "k", *piece), "OK")
    expect(c("BF.MEXISTS", "k", *range(1000)), [1] * 1000)
    expect(c("BF.LOADCHUNK", "k", 1, page), Error("ERR item exists"))


@case
def a_damaged_body_removes_the_key():
    c = server.raw()
    data = make(c)["fixed"]
    body = data[4096:-1] + bytes([data[-1] ^ 4])
    expect(c("BF.LOADCHUNK", "k", 1, data[:4096]), "OK")
    expect(c("BF.LOADCHUNK", "k", len(body) + 1, body), Error("ERR received bad data"))
    expect(c("EXISTS", "k"), 0)


@case
def a_header_that_claims_a_terabyte_allocates_no_memory():
    c = server.raw()
    page = bytearray(make(c)["fixed"][:4096])
    bits = 8 << 39  # half a terabyte
    page[512:520] = struct.pack("<Q", bits)
    page[512 + 40:512 + 48] = struct.pack("<Q", bits // 8)
    page[120:128] = struct.pack("<Q", 4096 + bits // 8)
    used = lambda: int(c("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
    before = used()
    expect(c("BF.LOADCHUNK", "k", 1, repaired(page)),
           Error("ERR the filter is larger than filter-max-bytes"))
    expect(c("CONFIG", "SET", "deja.filter-max-bytes", "1000gb"), "OK")
    expect(c("BF.LOADCHUNK", "k", 1, repaired(page)), "OK")
    expect(c("BF.LOADCHUNK", "k", 1001, b"x" * 1000), "OK")
    assert used() - before < 8 << 20, used() - before
    assert isinstance(c("DEJA.IMPORT", "l", repaired(page)), Error)
    assert used() - before < 8 << 20, used() - before
    c("DEL", "k")
    expect(c("CONFIG", "SET", "deja.filter-max-bytes", "4gb"), "OK")
    alive(c)


@case
def mutated_bytes_never_crash():
    c = server.raw()
    made = list(make(c).values())
    c("CONFIG", "SET", "deja.filter-max-bytes", "64mb")
    end, turns, taken = time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < end or turns < 20 or not taken:
        data = rng.choice(made)
        page, body = data[:4096], data[4096:]
        if rng.randrange(4):
            page = mutated(page)
        if len(page) == 4096 and rng.randrange(4):
            page = repaired(page)
        if rng.randrange(2):
            body = mutated(body)
        c("DEL", "k")
        if rng.randrange(2):
            got = c("DEJA.IMPORT", "k", page + body)
        else:
            got = c("BF.LOADCHUNK", "k", 1, page)
            at = 0
            while got == "OK" and at < len(body):
                piece = body[at:at + rng.randrange(1, len(body) + 1)]
                at += len(piece)
                got = c("BF.LOADCHUNK", "k", at + 1 + rng.choice((0, 0, 0, 0, 1)), piece)
        taken += got == "OK"
        for command in ("BF.MADD k a b c", "BF.EXISTS k a", "BF.INFO k", "DEJA.INFO k",
                        "DEJA.FOLD k", "DEJA.COUNT k a", "DEJA.REMOVE k a", "COPY k l REPLACE",
                        "DEJA.MERGE l k", "MEMORY USAGE k", "DEBUG DIGEST-VALUE k l"):
            c(*command.split())
        dump = c("DUMP", "k")
        if dump:
            got = c("RESTORE", "m", "0", dump, "REPLACE")
            assert got == "OK", got
        turns += 1
    alive(c)
    c("CONFIG", "SET", "deja.filter-max-bytes", "4gb")
    print(f"  {turns} turns, {taken} taken")


@case
def damaged_dumps_never_crash():
    c = server.raw()
    c("FLUSHALL")
    c("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
    c("BF.RESERVE", "k", "0.01", "100")
    c("BF.MADD", "k", *range(300))
    dump = c("DUMP", "k")
    end, turns = time.monotonic() + SECONDS / 2, 0
    while time.monotonic() < end or turns < 20:
        bad = dump[:1] + mutated(dump[1:-10]) + dump[-10:] if rng.randrange(4) else mutated(dump)
        got = c("RESTORE", "m", "0", bad, "REPLACE")
        if got == "OK":
            c("BF.MADD", "m", "a", "b")
            c("BF.MEXISTS", "m", *range(10))
        turns += 1
    for cut in range(0, len(dump) - 10, 37):
        c("RESTORE", "m", "0", dump[:cut] + dump[-10:], "REPLACE")
    c("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "0")
    alive(c)


@case
def items_too_large_for_memory_are_refused():
    """Canonicalizing needs four times the length of a URL: here 256 MB, with 200 available."""
    if os.environ.get("MODULE_PRELOAD"):
        return  # the sanitizer reserves more address space than any limit allows
    item = b"http://h/" + b"x" * (64 << 20)
    with Server() as small:
        c = small.raw()
        pid = small.process.pid
        c("DEJA.RESERVE", "k", "CAPACITY", "1000", "URL", "safe")
        with open(f"/proc/{pid}/statm") as f:
            mapped = int(f.read().split()[0]) * resource.getpagesize()
        limits = resource.prlimit(pid, resource.RLIMIT_AS)
        resource.prlimit(pid, resource.RLIMIT_AS, (mapped + (200 << 20), limits[1]))
        for command in ("BF.ADD", "BF.EXISTS", "BF.MADD", "BF.MEXISTS", "DEJA.ADD", "DEJA.CHECK",
                        "DEJA.REMOVE", "DEJA.COUNT"):
            expect(c(command, "k", item), Error("ERR out of memory; send fewer or shorter items at once"))
        resource.prlimit(pid, resource.RLIMIT_AS, limits)
        expect(c("BF.CARD", "k"), 0)
        expect(c("BF.ADD", "k", item), 1)


@case
def random_arguments_never_crash():
    """Commands with any arguments: extreme numbers, empty and binary strings."""
    c = server.raw()
    made = make(c)
    c("CONFIG", "SET", "deja.filter-max-bytes", "64mb")
    names = [f"BF.{n}" for n in "RESERVE ADD MADD INSERT EXISTS MEXISTS INFO CARD SCANDUMP "
             "LOADCHUNK".split()]
    names += [f"DEJA.{n}" for n in "RESERVE ADD CHECK REMOVE COUNT MERGE FOLD ROTATE INFO EXPORT "
              "IMPORT".split()]
    words = ["", "0", "1", "-1", "2", "100", "0.01", "1e-9", "nan", "inf", "-inf", "1e400",
             "9223372036854775807", "-9223372036854775808", "18446744073709551616", "CAPACITY",
             "ERROR", "KIND", "exact", "blocked", "scalable", "spectral", "classic", "ITEMS",
             "NOCREATE", "NONSCALING", "EXPANSION", "MEMORY", "HASHES", "FILTERS", "HASH", "md5",
             "URL", "crawl", "SEED", "KEY", b"\0" * 32, b"\xff\0\r\n", "x" * 5000, "REPLACE",
             "GROWTH", "1024", "TIGHTENING", "0.999999", "COUNTERBITS", "PARTS", "MINIMALINCREASE", "SPREAD",
             "VALIDATESCALETO", "MAXSCALEDCAPACITY", "LAYERS", "WORDS", "PAPER", "DELIMITER",
             made["exact"], made["grown"], "k", "l", "m"]
    end, turns = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        key = rng.choice(("k", "l", "m", ""))
        c(rng.choice(names), key, *(rng.choice(words) for _ in range(rng.randrange(9))))
        if not rng.randrange(30):
            c("DEL", rng.choice(("k", "l", "m", "")))
        turns += 1
    alive(c)
    c("CONFIG", "SET", "deja.filter-max-bytes", "4gb")
    print(f"  {turns} commands")


with server:
    run(globals())
