"""memory - what filters take: bits per item next to RedisBloom's, and many small filters, which rest
when they are not in use."""

import math

from redisrun import Error, Server, case, expect, run, until

LN2_SQUARED = math.log(2) ** 2
AWAKE = 16  # small filters that a server keeps in use
IN_USE = 8000  # bytes of the tables of a filter in use, at most


def bits(rate):
    """Bits per item of RedisBloom for one part."""
    return -math.log(rate) / LN2_SQUARED


def size(c, key):
    return c("BF.INFO", key, "SIZE")[0]


def used_memory(c):
    return int(c("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])


def number(c, section, name):
    return int(c("INFO", section).split(name.encode() + b":")[1].split(b"\r")[0])


server = Server()


@case
def low_rates_take_no_more_bits_than_in_redisbloom():
    """RedisBloom: half of the rate for the first part of a filter that grows, all of it otherwise.
    The allowance is for pages and the tables of a filter in use: a thousandth at 10 million items."""
    c = server.raw()
    n = 10_000_000
    for exponent in range(5, 12):
        rate = float(f"1e-{exponent}")
        c("FLUSHALL")
        expect(c("BF.RESERVE", "grows", rate, n), "OK")
        expect(c("BF.RESERVE", "fixed", rate, n, "NONSCALING"), "OK")
        for key, want in (("grows", bits(rate / 2)), ("fixed", bits(rate))):
            for got in (size(c, key), c("MEMORY", "USAGE", key)):
                assert 0.99 * want < got * 8 / n < 1.006 * want, (rate, key, got * 8 / n, want)
        if exponent < 11:  # below, hash collisions cost bits
            assert size(c, "grows") * 8 / n < 1.0025 * bits(rate / 2), (rate, size(c, "grows"))


@case
def low_rates_take_no_more_bits_however_far_a_filter_grows():
    c = server.raw()
    for rate in (1e-5, 1e-7, 1e-9):
        c("FLUSHALL")
        first, parts, want = 20000, 5, 0
        expect(c("BF.RESERVE", "k", rate, first), "OK")
        total = first * (2 ** parts - 1)
        for i in range(0, total, 5000):
            c("BF.MADD", "k", *range(i, i + 5000))
        expect(c("BF.INFO", "k", "FILTERS"), [parts])
        for i in range(parts):
            want += first * 2 ** i * bits(rate / 2 ** (i + 1))
        assert size(c, "k") * 8 < 1.002 * want + 8 * IN_USE + parts * 8 * 8192, (
            rate, size(c, "k") * 8 / total, want / total)
        assert all(c("BF.MEXISTS", "k", *range(0, total, 997)))
        assert sum(c("BF.MEXISTS", "k", *range(total, total + 50000))) <= 50000 * rate + 5


@case
def a_filter_that_cannot_grow_is_smaller_than_one_that_can():
    c = server.raw()
    c("FLUSHALL")
    for n in (700, 1000, 10000, 100000, 1000000):
        for rate in ("0.1", "0.03", "0.01", "0.002", "0.0011", "0.001", "0.0009", "1e-4", "2e-5",
                     "1e-5", "1e-6", "1e-8"):
            c("DEL", "grows", "fixed")
            expect(c("BF.RESERVE", "grows", rate, n), "OK")
            expect(c("BF.RESERVE", "fixed", rate, n, "NONSCALING"), "OK")
            grows, fixed = size(c, "grows"), size(c, "fixed")
            assert fixed <= grows, (n, rate, fixed, grows)
            assert n < 100000 or fixed < grows * 0.99, (n, rate, fixed, grows)


@case
def a_small_filter_takes_less_than_a_kilobyte():
    c = server.raw()
    c("FLUSHALL")
    for n, rate, most in ((1, "0.01", 600), (100, "0.1", 600), (100, "0.01", 640),
                          (100, "0.001", 720), (200, "0.01", 800), (300, "0.001", 1200)):
        for more in ((), ("NONSCALING",)):
            c("DEL", "k")
            c("BF.RESERVE", "k", rate, n, *more)
            used = c("MEMORY", "USAGE", "k")
            assert used < most, (n, rate, used)
            c("BF.MADD", "k", *range(n))  # full, it takes the same except for the counts
            assert c("MEMORY", "USAGE", "k") < most + 20, (n, rate, c("MEMORY", "USAGE", "k"))


@case
def many_small_filters_take_little_memory():
    """RedisBloom's module takes about 400 bytes for each of them."""
    c = server.raw()
    c("FLUSHALL")
    before = used_memory(c)
    n = 5000
    for i in range(n):
        expect(c("BF.RESERVE", f"host:{i}", "0.01", "100"), "OK")
    each = (used_memory(c) - before - AWAKE * IN_USE) / n
    assert each < 800, each
    for i in range(n):
        c("BF.MADD", f"host:{i}", *range(i, i + 50))
    each = (used_memory(c) - before - AWAKE * IN_USE) / n
    assert each < 800, each
    assert number(c, "deja_filters", "deja_filter_bytes") < n * 600 + AWAKE * IN_USE
    for i in range(0, n, 7):
        assert all(c("BF.MEXISTS", f"host:{i}", *range(i, i + 50))), i
        expect(c("BF.CARD", f"host:{i}"), c("BF.INFO", f"host:{i}", "ITEMS")[0])
        assert 48 <= c("BF.CARD", f"host:{i}") <= 50, c("BF.CARD", f"host:{i}")
    c("FLUSHALL", "SYNC")
    until("all are freed", lambda: number(c, "deja_filters", "deja_filter_bytes") == 0)


KINDS = ("blocked", "classic", "scalable", "spectral", "paired", "layered", "exact", "window")


def fill(c, key, kind, first):
    """A filter, its items, and all that it replies about them."""
    expect(c("DEJA.RESERVE", key, "KIND", kind, "CAPACITY", 60, "ERROR", "0.001"), "OK")
    c("DEJA.ADD", key, *[f"http://h{i}/p" for i in range(first, first + 40)])


def replies(c, key, first):
    info = c("DEJA.INFO", key)
    return info, c("DEJA.CHECK", key, *[f"http://h{i}/p" for i in range(first, first + 400)])


def crowd_out(c):
    """Uses as many other small filters as a server keeps awake."""
    for i in range(AWAKE):
        c("BF.ADD", f"other:{i}", "x")


@case
def a_filter_is_the_same_after_a_rest():
    c = server.raw()
    c("FLUSHALL")
    for kind in KINDS:
        fill(c, kind, kind, 7)
        crowd_out(c)
        digest, memory = c("DEBUG", "DIGEST-VALUE", kind), c("MEMORY", "USAGE", kind)
        dump = c("DEJA.EXPORT", kind)
        before = replies(c, kind, 7)
        for turn in range(3):
            crowd_out(c)
            expect(c("MEMORY", "USAGE", kind), memory, kind)
            expect(replies(c, kind, 7), before, kind)
            expect(c("DEBUG", "DIGEST-VALUE", kind), digest, kind)
            expect(c("DEJA.EXPORT", kind)[4096:], dump[4096:], kind)
        crowd_out(c)  # and it learns
        c("DEJA.ADD", kind, "http://new/")
        crowd_out(c)
        expect(c("DEJA.CHECK", kind, "http://new/"), [1], kind)


@case
def a_small_filter_grows_out_of_its_rest():
    c = server.raw()
    c("FLUSHALL")
    for i in range(0, 40000, 100):
        crowd_out(c)
        c("BF.MADD", "k", *range(i, i + 100))
    assert all(c("BF.MEXISTS", "k", *range(40000)))
    assert size(c, "k") > 40000


@case
def filters_at_rest_are_saved_copied_and_replicated():
    with Server("--appendonly", "yes", "--aof-use-rdb-preamble", "no") as first:
        c = first.raw()
        with Server("--replicaof", "127.0.0.1", str(first.port)) as replica:
            n = 3 * AWAKE
            for i in range(n):
                fill(c, f"k{i}", KINDS[i % len(KINDS)], i)
            for i in range(0, n, 5):
                expect(c("COPY", f"k{i}", f"copy{i}"), 1)
                expect(c("RESTORE", f"restored{i}", 0, c("DUMP", f"k{i}")), "OK")
                expect(c("DEJA.MERGE", f"merged{i}", f"k{i}"), "OK")
            want = {}
            for key in c("KEYS", "*"):
                want[key] = c("DEBUG", "DIGEST-VALUE", key)
            r = replica.raw()
            until("the replica has all", lambda: c("WAIT", "1", "100") == 1)
            for key, digest in want.items():
                expect(r("DEBUG", "DIGEST-VALUE", key), digest, key)
        expect(c("DEBUG", "RELOAD"), "OK")
        for key, digest in want.items():
            expect(c("DEBUG", "DIGEST-VALUE", key), digest, key)
        expect(number(c, "deja_filters", "deja_filters"), len(want))
        windows = len(want) // 4  # at most; they never rest
        assert number(c, "deja_filters", "deja_filter_bytes") < (
            len(want) * 1500 + (AWAKE + windows) * IN_USE)
        c("BGREWRITEAOF")
        until("the log is rewritten",
              lambda: b"aof_rewrite_in_progress:0" in c("INFO", "persistence") and
              b"aof_rewrite_scheduled:0" in c("INFO", "persistence"))
        first.kill()
        first.restart()
        c = first.raw()
        for key, digest in want.items():
            expect(c("DEBUG", "DIGEST-VALUE", key), digest, key)


@case
def filters_are_freed_in_the_background_while_others_come_to_rest():
    c = server.raw()
    for turn in range(30):
        for i in range(300):
            c.send("BF.ADD", f"k{i}", "x")
        for i in range(300):
            expect(c.read(), 1)
        expect(c("FLUSHALL", "ASYNC"), "OK")

    def freed():
        return number(c, "deja_filters", "deja_filters") == 0

    until("all are freed", freed)
    expect(number(c, "deja_filters", "deja_filter_bytes"), 0)


with server:
    run(globals())
