"""migration - BF.LOADCHUNK accepts RedisBloom's dumps, and the filter works like RedisBloom's.

The dumps, replies and false positives were recorded from RedisBloom (tests/cli/foreign/README.md).
Here they are split into chunks as BF.SCANDUMP does."""

import os
import struct

from redisrun import Server, case, expect, redis, run, until

GOLDEN = os.path.join(os.environ["SOURCE"], "tests/cli/foreign")
START, RECORD = 20, 53
INFO = {
    "redisbloom": [140, 408, 3, 64, 2],
    "redisbloom-fixed": [66, 152, 1, 65, None],
    "redisbloom-old32": [86, 240, 2, 64, 2],
    "redisbloom-old64": [86, 240, 2, 62, 2],
}
MORE = [300, 712, 4, 212, 2]  # redisbloom.bloom after 150 more keys
FIELDS = [b"Capacity", b"Size", b"Number of filters", b"Number of items inserted",
          b"Expansion rate"]


def read(name):
    with open(os.path.join(GOLDEN, name), "rb") as f:
        return f.read()


def lines(name):
    return read(name).split(b"\n")[:-1]


def chunks(dump):
    """The iterator and data of each chunk: the header, then the bits of each part."""
    n = struct.unpack_from("<I", dump, 8)[0]
    at = START + RECORD * n
    out = [(1, dump[:at])]
    done = 0
    for i in range(n):
        size = struct.unpack_from("<Q", dump, START + RECORD * i)[0]
        done += size
        out.append((done + 1, dump[at:at + size]))
        at += size
    assert at == len(dump)
    return out


def load(r, key, dump):
    for iterator, data in chunks(dump):
        expect(r.execute_command("BF.LOADCHUNK", key, iterator, data), b"OK")


def dumped(r, key):
    out, iterator = b"", 0
    while True:
        iterator, data = r.execute_command("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return out
        out += data


def fails(r, text, *words):
    try:
        r.execute_command(*words)
    except redis.exceptions.ResponseError as e:
        assert text in str(e), (str(e), text)
        return
    raise AssertionError(f"{words[0]} succeeded; expected: {text}")


def check(r, key, name):
    keys, absent, found = lines("keys.txt"), lines("absent.txt"), set(lines(name + ".found"))
    expect(r.execute_command("BF.MEXISTS", key, *keys), [1] * len(keys))
    expect(r.execute_command("BF.MEXISTS", key, *absent), [int(a in found) for a in absent])


@case
def dumps_answer_like_redisbloom():
    with Server() as s:
        r = s.client()
        for name, info in INFO.items():
            dump = read(name + ".bloom")
            load(r, name, dump)
            check(r, name, name)
            expect(r.execute_command("BF.INFO", name),
                   [x for pair in zip(FIELDS, info) for x in pair], name)
            for word, value in zip(("CAPACITY", "SIZE", "FILTERS", "ITEMS", "EXPANSION"), info):
                expect(r.execute_command("BF.INFO", name, word), [value], word)
            expect(r.execute_command("BF.CARD", name), info[3])
            expect(r.execute_command("BF.EXISTS", name, "a"), 1)
            expect(dumped(r, name), dump, name)
            fails(r, "item exists", "BF.LOADCHUNK", name, 1, dump[:73])
            fails(r, "item exists", "BF.RESERVE", name, 0.01, 10)
        three = s.raw(3)  # RESP3: a map
        expect(three("BF.INFO", "redisbloom"),
               {f.decode(): x for f, x in zip(FIELDS, INFO["redisbloom"])})


@case
def a_loaded_filter_grows_as_redisbloom_would():
    with Server() as s:
        r = s.client()
        load(r, "f", read("redisbloom.bloom"))
        absent = lines("absent.txt")
        expect(sum(r.execute_command("BF.MADD", "f", *absent[:150])), MORE[3] - INFO["redisbloom"][3])
        expect(dumped(r, "f"), read("redisbloom-more.bloom"))
        expect(r.execute_command("BF.INFO", "f")[1::2], MORE)
        expect(r.execute_command("BF.ADD", "f", absent[0]), 0)
        expect(r.execute_command("BF.INSERT", "f", "NOCREATE", "ITEMS", absent[0], absent[1]), [0, 0])
        load(r, "full", read("redisbloom-fixed.bloom"))
        new = [a for a in absent if a not in set(lines("redisbloom-fixed.found"))]
        expect(r.execute_command("BF.ADD", "full", new[0]), 1)  # 65 of 66
        fails(r, "non scaling filter is full", "BF.ADD", "full", new[1])
        answers = r.execute_command("BF.MADD", "full", new[0], new[1], new[2])
        assert answers[0] == 0 and len(answers) == 2 and "full" in str(answers[1]), answers


@case
def loaded_filters_survive_like_others():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as s, \
            Server("--replicaof", "127.0.0.1", str(s.port)) as second:
        r = s.client()
        for name in INFO:
            load(r, name, read(name + ".bloom"))
        parts = chunks(read("redisbloom.bloom"))
        for iterator, data in parts[:2]:  # interrupted
            r.execute_command("BF.LOADCHUNK", "half", iterator, data)
        r.copy("redisbloom", "copied")
        r.restore("restored", 0, r.dump("redisbloom"))
        r.execute_command("BF.ADD", "redisbloom", "one more")
        expect(r.wait(1, 60000), 1)

        def whole(c):
            for name in INFO:
                check(c, name, name)
            for name in ("copied", "restored"):
                check(c, name, "redisbloom")
                expect(dumped(c, name), read("redisbloom.bloom"))
            expect(c.execute_command("BF.EXISTS", "redisbloom", "one more"), 1)
            fails(c, "being loaded", "BF.EXISTS", "half", "a")
            expect(c.execute_command("BF.CARD", "half"), 0)

        whole(r)
        whole(second.client())
        before = r.execute_command("DEBUG", "DIGEST")
        expect(second.client().execute_command("DEBUG", "DIGEST"), before)
        r.execute_command("DEBUG", "RELOAD")
        expect(r.execute_command("DEBUG", "DIGEST"), before)
        r.bgrewriteaof()
        until("log rewritten", lambda: not r.info("persistence")["aof_rewrite_in_progress"]
              and not r.info("persistence")["aof_rewrite_scheduled"])
        s.kill()
        s.start()
        r = s.client()
        expect(r.execute_command("DEBUG", "DIGEST"), before)
        whole(r)
        for iterator, data in parts[2:]:
            expect(r.execute_command("BF.LOADCHUNK", "half", iterator, data), b"OK")
        check(r, "half", "redisbloom")


@case
def a_dump_in_one_piece_can_be_imported_and_exported():
    with Server() as s:
        r = s.client()
        dump = read("redisbloom.bloom")
        expect(r.execute_command("DEJA.IMPORT", "f", dump), b"OK")
        check(r, "f", "redisbloom")
        expect(r.execute_command("DEJA.EXPORT", "f"), dump)
        for cut in (0, 19, 20, 72, 100, len(dump) - 1):
            fails(r, "", "DEJA.IMPORT", "g", dump[:cut])
        fails(r, "", "DEJA.IMPORT", "g", dump + b"x")
        expect(r.exists("g"), 0)


@case
def other_commands_say_where_the_filter_comes_from():
    with Server() as s:
        r = s.client()
        load(r, "f", read("redisbloom.bloom"))
        r.execute_command("BF.RESERVE", "g", 0.01, 100)
        for words in (("DEJA.ADD", "f", "x"), ("DEJA.CHECK", "f", "x"), ("DEJA.REMOVE", "f", "x"),
                      ("DEJA.COUNT", "f", "x"), ("DEJA.MERGE", "f", "g"), ("DEJA.MERGE", "g", "f"),
                      ("DEJA.FOLD", "f"), ("DEJA.ROTATE", "f"), ("DEJA.INFO", "f")):
            fails(r, "the filter comes from RedisBloom", *words)
        check(r, "f", "redisbloom")


def crafted(dump, at, form, value):
    out = bytearray(dump)
    struct.pack_into(form, out, at, value)
    return bytes(out)


@case
def crafted_chunks_do_no_harm():
    with Server() as s:
        r = s.client()
        header, *bodies = (data for _, data in chunks(read("redisbloom.bloom")))
        wrong = [
            crafted(header, 0, "<Q", 65),              # keys: not the sum
            crafted(header, START + 16, "<Q", 2**64 - 1),
            crafted(header, 8, "<I", 0),               # parts
            crafted(header, 8, "<I", 2**32 - 1),
            crafted(header[:START], 8, "<I", 2049) + 2049 * header[START:START + RECORD],
            crafted(header, 12, "<I", 16),             # options
            crafted(header, START, "<Q", 0),           # bytes
            crafted(header, START, "<Q", 2**61),
            crafted(header, START + 8, "<Q", 7),       # bits
            crafted(header, START + 24, "<d", 1.5),    # rate
            crafted(header, START + 24, "<d", float("nan")),
            crafted(header, START + 32, "<d", float("nan")),
            crafted(header, START + 32, "<d", -1.0),
            crafted(header, START + 40, "<I", 0),      # k
            crafted(header, START + 40, "<I", 2**32 - 1),
            crafted(header, START + 52, "<B", 60),     # log2
            header[:-1], header + b"x", header[:START], b"", b"x",
        ]
        for data in wrong:
            fails(r, "received bad data", "BF.LOADCHUNK", "f", 1, data)
        huge = crafted(crafted(header, START, "<Q", 2**40), START + 8, "<Q", 2**43)
        fails(r, "larger than filter-max-bytes", "BF.LOADCHUNK", "f", 1, huge)
        expect(r.exists("f"), 0)
        # A header costs nothing: memory is allocated for bits that arrive.
        large = crafted(crafted(header, START, "<Q", 2**31), START + 8, "<Q", 2**34)
        used = r.info("memory")["used_memory"]
        for i in range(20):
            r.execute_command("BF.LOADCHUNK", f"large{i}", 1, large)
            r.execute_command("BF.LOADCHUNK", f"large{i}", 1001, b"x" * 1000)
        assert r.info("memory")["used_memory"] - used < 10**6
        fails(r, "being loaded", "BF.ADD", "large0", "a")
        fails(r, "being loaded", "BF.SCANDUMP", "large0", 0)
        fails(r, "being loaded", "DEJA.INFO", "large0")
        # A filter just below the limit loads, in chunks of any size.
        r.config_set("deja.filter-max-bytes", 2 * 2**20)
        near = crafted(crafted(header[:START + RECORD], 8, "<I", 1), 0, "<Q", 20)
        near = crafted(crafted(near, START, "<Q", 7 * 2**18), START + 8, "<Q", 7 * 2**21)
        r.execute_command("BF.LOADCHUNK", "near", 1, near)
        for at in range(2**14, 7 * 2**18 + 1, 2**14):
            r.execute_command("BF.LOADCHUNK", "near", 1 + at, bytes(2**14))
        expect(r.execute_command("BF.CARD", "near"), 20)
        expect(r.execute_command("BF.EXISTS", "near", "a"), 0)
        r.config_set("deja.filter-max-bytes", 2**32)
        # Chunks out of order, repeated, or too long.
        n = [len(b) for b in bodies]
        r.execute_command("BF.LOADCHUNK", "f", 1, header)
        fails(r, "invalid offset", "BF.LOADCHUNK", "f", 1 + n[0] + n[1], bodies[1])
        fails(r, "Too big", "BF.LOADCHUNK", "f", 1 + 10**6, b"x" * 10**6)
        fails(r, "invalid offset", "BF.LOADCHUNK", "f", 5, b"x" * 10)
        fails(r, "invalid offset", "BF.LOADCHUNK", "f", 1 + 2**62, bodies[0])
        r.execute_command("BF.LOADCHUNK", "f", 1 + n[0], bodies[0])
        fails(r, "invalid offset", "BF.LOADCHUNK", "f", 1 + n[0], bodies[0])
        r.execute_command("BF.LOADCHUNK", "f", 1, header)  # from the start
        load(r, "f", read("redisbloom.bloom"))
        check(r, "f", "redisbloom")
        # A filter that claims to be full of huge parts cannot grow past the limit.
        r.config_set("deja.filter-max-bytes", 2**20)
        big = crafted(crafted(header[:START + RECORD], 8, "<I", 1), 0, "<Q", 0)
        big = crafted(crafted(big, START + 16, "<Q", 0), START + 44, "<Q", 0)
        r.execute_command("BF.LOADCHUNK", "cap", 1, big)
        r.execute_command("BF.LOADCHUNK", "cap", 1 + n[0], bytes(n[0]))
        fails(r, "filter is full", "BF.ADD", "cap", "a")
        big = crafted(big, START + 44, "<Q", 1)
        big = crafted(big, 16, "<I", 2**31)
        r.execute_command("BF.LOADCHUNK", "grow", 1, big)
        r.execute_command("BF.LOADCHUNK", "grow", 1 + n[0], bytes(n[0]))
        expect(r.execute_command("BF.ADD", "grow", "a"), 1)
        fails(r, "cannot grow", "BF.ADD", "grow", "b")
        expect(r.execute_command("BF.MEXISTS", "grow", "a"), [1])


run(globals())
