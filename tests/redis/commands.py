"""commands - every command as clients use it: redis-py's own helpers, and replies on the wire."""

import math
import os

from redisrun import Error, Server, case, expect, redis, run, until

server = Server()

# For filters whose every answer is compared: at 1e-12, no run will see a false positive.
SURE = "1e-12"


def fresh():
    client = server.client()
    client.flushall()
    return client


# --- redis-py, unchanged ------------------------------------------------------------


@case
def redis_py_helpers_work_unchanged():
    r = fresh()
    bf = r.bf()
    assert bf.create("bloom", SURE, 1000)
    assert bf.create("bloom_e", 0.01, 1000, expansion=1)
    assert bf.create("bloom_ns", 0.01, 1000, noScale=True)
    assert bf.add("bloom", "foo") == 1
    assert bf.add("bloom", "foo") == 0
    assert bf.exists("bloom", "foo") == 1
    assert bf.exists("bloom", "noexist") == 0
    assert bf.madd("bloom", "foo", "bar", "baz") == [0, 1, 1]
    assert bf.mexists("bloom", "foo", "bar", "nope") == [1, 1, 0]
    assert bf.insert("captured", ["a", "b"]) == [1, 1]
    assert bf.insert("captured", ["a", "c"], noCreate=True, capacity=5, error=0.1) == [0, 1]
    assert bf.insert("sized", ["1"], capacity=1000, error=0.001, expansion=4) == [1]
    info = bf.info("bloom")
    assert (info.capacity, info.filterNum, info.insertedNum, info.expansionRate) == (1000, 1, 3, 2)
    assert info.size > 1000
    assert bf.info("bloom_ns").expansionRate is None
    assert bf.info("sized").expansionRate == 4
    if hasattr(bf, "card"):
        assert bf.card("bloom") == 3


@case
def redis_py_dumps_and_loads():
    r = fresh()
    bf = r.bf()
    bf.create("bloom", 0.0001, 1000)
    for i in range(3000):
        bf.add("bloom", i)
    chunks, cursor = [], 0
    while True:
        cursor, data = bf.scandump("bloom", cursor)
        if not cursor:
            break
        chunks.append((cursor, data))
    before = r.execute_command("DEBUG", "DIGEST-VALUE", "bloom")
    r.delete("bloom")
    for cursor, data in chunks:
        assert bf.loadchunk("bloom", cursor, data)
    assert r.execute_command("DEBUG", "DIGEST-VALUE", "bloom") == before
    assert all(bf.mexists("bloom", *range(3000)))


# --- Replies on the wire --------------------------------------------------------------


@case
def replies_have_the_types_of_redisbloom():
    fresh()
    for protocol, yes, no in ((2, 1, 0), (3, True, False)):
        c = server.raw(protocol)
        c("FLUSHALL")
        expect(c("BF.RESERVE", "k", SURE, "100"), "OK")
        expect(c("BF.ADD", "k", "a"), yes)
        expect(c("BF.ADD", "k", "a"), no)
        expect(c("BF.MADD", "k", "a", "b"), [no, yes])
        expect(c("BF.INSERT", "k", "ITEMS", "b", "c"), [no, yes])
        expect(c("BF.EXISTS", "k", "a"), yes)
        expect(c("BF.EXISTS", "none", "a"), no)
        expect(c("BF.MEXISTS", "k", "a", "zz"), [yes, no])
        expect(c("BF.MEXISTS", "none", "a", "zz"), [no, no])
        expect(c("BF.CARD", "k"), 3)
        expect(c("BF.CARD", "none"), 0)
        for word, title, value in (("CAPACITY", "Capacity", 100),
                                   ("items", "Number of items inserted", 3),
                                   ("FILTERS", "Number of filters", 1),
                                   ("EXPANSION", "Expansion rate", 2)):
            expect(c("BF.INFO", "k", word), [value] if protocol == 2 else {title: value})
        info = c("BF.INFO", "k")
        if protocol == 2:
            assert info[0::2] == ["Capacity", "Size", "Number of filters",
                                  "Number of items inserted", "Expansion rate"], info
            info = dict(zip(info[0::2], info[1::2]))
        expect(info["Capacity"], 100)
        expect(info["Number of items inserted"], 3)
        expect(info["Expansion rate"], 2)
        expect(c("BF.RESERVE", "n", SURE, "2", "NONSCALING"), "OK")
        expect(c("BF.INFO", "n", "EXPANSION"),
               [None] if protocol == 2 else {"Expansion rate": None})
        expect(c("BF.MADD", "n", "a", "b", "a", "c", "d"),
               [yes, yes, no, Error("ERR non scaling filter is full")])
        expect(c("BF.ADD", "n", "x"), Error("ERR non scaling filter is full"))
        expect(c("BF.ADD", "n", "a"), no)
        expect(c("BF.CARD", "n"), 2)
        expect(c("BF.SCANDUMP", "k", "0")[0], 1)
        expect(c("BF.SCANDUMP", "k", "99999999"), [0, b""])


@case
def a_reserved_filter_takes_eleven_bits_per_item():
    """RedisBloom takes 5.51 MB for 4 million items at 1 %.  The size includes what the server's allocator adds."""
    c = server.raw(3)
    c("FLUSHALL")
    expect(c("BF.RESERVE", "k", "0.01", "4000000"), "OK")
    size = c("MEMORY", "USAGE", "k")
    assert 4000000 * 9.9 / 8 < size < 4000000 * 11 / 8, size
    expect(c("BF.INFO", "k", "TIGHTENING"), {"Tightening ratio": 0.2})
    expect(c("BF.INSERT", "t", "TIGHTENING", "0.5", "ITEMS", "a"), [True])
    expect(c("BF.INFO", "t", "TIGHTENING"), {"Tightening ratio": 0.5})


@case
def errors_have_the_messages_of_redisbloom():
    c = server.raw()
    c("FLUSHALL")
    c("SET", "text", "x")
    c("BF.RESERVE", "k", "0.01", "100")
    wrong = "WRONGTYPE Operation against a key holding the wrong kind of value"
    rate = "ERR error rate must be in the range (0.000000, 1.000000)"
    size = "ERR capacity must be in the range [1, 1073741824]"
    grow = "ERR expansion must be in the range [0, 32768]"
    for words, want in (
            ("BF.RESERVE k 0.01 100", "ERR item exists"),
            ("BF.RESERVE x y 100", "ERR bad error rate"),
            ("BF.RESERVE x nan 100", "ERR bad error rate"),
            ("BF.RESERVE x inf 100", rate), ("BF.RESERVE x 0 100", rate),
            ("BF.RESERVE x 1 100", rate), ("BF.RESERVE x -0.1 100", rate),
            ("BF.RESERVE x 0.01 y", "ERR bad capacity"), ("BF.RESERVE x 0.01 0", size),
            ("BF.RESERVE x 0.01 -1", size), ("BF.RESERVE x 0.01 1073741825", size),
            ("BF.RESERVE x 0.01 99999999999999999999", "ERR bad capacity"),
            ("BF.RESERVE x 0.01 100 EXPANSION", "ERR no expansion"),
            ("BF.RESERVE x 0.01 100 EXPANSION y", "ERR bad expansion"),
            ("BF.RESERVE x 0.01 100 EXPANSION -1", grow),
            ("BF.RESERVE x 0.01 100 EXPANSION 32769", grow),
            ("BF.RESERVE x 0.01 100 NONSCALING EXPANSION 2", "Nonscaling filters cannot expand"),
            ("BF.RESERVE x 0.01 100 EXPANSION 99999 NONSCALING",
             "Nonscaling filters cannot expand"),
            ("BF.RESERVE x 0.01 100 FASTER", "Unknown argument received"),
            ("BF.INSERT x ERROR y ITEMS a", "Bad error rate"),
            ("BF.INSERT x CAPACITY y ITEMS a", "Bad capacity"),
            ("BF.INSERT x EXPANSION y ITEMS a", "Bad expansion"),
            ("BF.INSERT x ERROR 2 ITEMS a", "Bad error rate"),
            ("BF.INSERT x CAPACITY 0 ITEMS a", "Bad capacity"),
            ("BF.INSERT x EXPANSION 32769 ITEMS a", "Bad expansion"),
            ("BF.INSERT x WHAT ITEMS a", "Unknown argument received"),
            ("BF.INSERT x NOCREATE ITEMS a", "ERR not found"),
            ("BF.INSERT x SEED short ITEMS a", "ERR invalid seed"),
            ("BF.INSERT x TIGHTENING 1 ITEMS a", "ERR bad tightening ratio"),
            ("BF.INFO none", "ERR not found"), ("BF.INFO k WHAT", "Invalid information value"),
            ("BF.SCANDUMP none 0", "ERR not found"),
            ("BF.SCANDUMP k x", "Second argument must be numeric"),
            ("BF.LOADCHUNK x y data", "Second argument must be numeric"),
            ("BF.LOADCHUNK x 1 data", "ERR received bad data"),
            ("BF.LOADCHUNK x 2 data", "ERR not found"),
            ("BF.LOADCHUNK k 2 data", "ERR invalid offset - no link found"),
            ("BF.LOADCHUNK k 1 data", "ERR item exists")):
        expect(c(*words.split()), Error(want), words)
    for command in ("BF.RESERVE text 0.01 9", "BF.ADD text a", "BF.MADD text a",
                    "BF.INSERT text ITEMS a", "BF.EXISTS text a", "BF.MEXISTS text a",
                    "BF.INFO text", "BF.CARD text", "BF.SCANDUMP text 0", "BF.LOADCHUNK text 1 x",
                    "DEJA.RESERVE text CAPACITY 9", "DEJA.ADD text a", "DEJA.CHECK text a",
                    "DEJA.REMOVE text a", "DEJA.COUNT text a", "DEJA.MERGE text k",
                    "DEJA.MERGE k text", "DEJA.FOLD text", "DEJA.ROTATE text", "DEJA.INFO text",
                    "DEJA.EXPORT text", "DEJA.IMPORT text x"):
        expect(c(*command.split()), Error(wrong), command)
    for command in ("BF.RESERVE", "BF.RESERVE k 0.1", "BF.RESERVE k 0.1 1 2 3 4 5", "BF.ADD k",
                    "BF.ADD k a b", "BF.MADD k", "BF.INSERT k", "BF.INSERT k ITEMS",
                    "BF.INSERT k NOCREATE ITEMS", "BF.INSERT k NOCREATE CAPACITY",
                    "BF.INSERT k ERROR", "BF.INSERT k NONSCALING EXPANSION", "BF.EXISTS k", "BF.EXISTS k a b", "BF.MEXISTS k",
                    "BF.INFO", "BF.INFO k SIZE ITEMS", "BF.CARD", "BF.SCANDUMP k",
                    "BF.LOADCHUNK k 1", "DEJA.RESERVE", "DEJA.ADD k", "DEJA.CHECK k",
                    "DEJA.REMOVE k", "DEJA.COUNT k", "DEJA.MERGE k", "DEJA.FOLD", "DEJA.FOLD k 1 2",
                    "DEJA.ROTATE", "DEJA.INFO", "DEJA.EXPORT", "DEJA.IMPORT k"):
        got = c(*command.split())
        assert isinstance(got, Error) and "wrong number of arguments" in got, (command, got)
    expect(c("EXISTS", "x"), 0)


@case
def options_of_insert_may_come_in_any_order():
    c = server.raw()
    c("FLUSHALL")
    orders = (("CAPACITY", 50, "ERROR", "0.001", "EXPANSION", 4),
              ("expansion", 4, "error", "0.001", "capacity", 50))
    for i, options in enumerate(orders):
        expect(c("BF.INSERT", f"k{i}", *options, "ITEMS", "a", "ITEMS", "a"), [1, 1, 0])
        expect(c("BF.INFO", f"k{i}", "CAPACITY"), [50])
        expect(c("BF.INFO", f"k{i}", "EXPANSION"), [4])
    # NONSCALING overrides EXPANSION here, and EXPANSION 0 is NONSCALING.
    for i, options in enumerate((("EXPANSION", 2, "NONSCALING"), ("NONSCALING", "EXPANSION", 2),
                                 ("EXPANSION", 0))):
        expect(c("BF.INSERT", f"n{i}", *options, "ITEMS", "a"), [1])
        expect(c("BF.INFO", f"n{i}", "EXPANSION"), [None])
    expect(c("BF.RESERVE", "zero", "0.01", 10, "NONSCALING", "EXPANSION", 0), "OK")
    # The options of an existing filter stay what they are.
    expect(c("BF.INSERT", "k0", "CAPACITY", 999, "NOCREATE", "ITEMS", "b"), [1])
    expect(c("BF.INFO", "k0", "CAPACITY"), [50])


# --- Growth and rates -------------------------------------------------------------------


@case
def filters_grow_and_keep_their_rate():
    r = fresh()
    r.execute_command("BF.RESERVE", "k", "0.01", "1000", "EXPANSION", "2")
    n = 20000
    for i in range(0, n, 500):
        r.execute_command("BF.MADD", "k", *range(i, i + 500))
    parts = r.execute_command("BF.INFO", "k", "FILTERS")[0]
    capacity = r.execute_command("BF.INFO", "k", "CAPACITY")[0]
    assert parts == 5 and capacity == 31000, (parts, capacity)
    assert all(all(r.execute_command("BF.MEXISTS", "k", *range(i, i + 500)))
               for i in range(0, n, 500))
    probes = 100000
    hits = sum(sum(r.execute_command("BF.MEXISTS", "k", *range(i, i + 500)))
               for i in range(n, n + probes, 500))
    # At most the requested rate plus five standard deviations.
    assert hits <= probes * 0.01 + 5 * math.sqrt(probes * 0.01 * 0.99), hits


# --- DEJA.* ---------------------------------------------------------------------------


@case
def a_filter_reports_how_far_it_can_grow():
    c = server.raw()
    c("FLUSHALL")
    make = ("BF.INSERT", "k", "CAPACITY", 100000, "ERROR", "0.01", "EXPANSION", 2)
    try:
        c("CONFIG", "SET", "deja.filter-max-bytes", "2mb")
        far = Error("ERR provided VALIDATESCALETO causes bloom object to exceed memory limit")
        expect(c(*make, "VALIDATESCALETO", 10**9, "ITEMS", "a"), far)
        expect(c("EXISTS", "k"), 0)
        expect(c(*make, "VALIDATESCALETO", 700000, "ITEMS", "a"), [1])
        expect(c("BF.INFO", "k", "MAXSCALEDCAPACITY"), [700000])  # 1 + 2 + 4; 8 are too many
        for i in range(0, 2000000, 10000):
            answers = c("BF.MADD", "k", *range(i, i + 10000))
            if isinstance(answers[-1], Error):
                break
        expect(c("BF.INFO", "k", "CAPACITY"), [700000])
        expect(c("BF.INFO", "k", "MAXSCALEDCAPACITY"), [700000])
    finally:
        c("CONFIG", "SET", "deja.filter-max-bytes", "4gb")
    for words, want in (
            ("VALIDATESCALETO x ITEMS a", "ERR bad capacity"),
            ("VALIDATESCALETO 0 ITEMS a", "ERR bad capacity"),
            ("VALIDATESCALETO 1000 NONSCALING ITEMS a",
             "ERR cannot use NONSCALING and VALIDATESCALETO options together")):
        expect(c("BF.INSERT", "l", *words.split()), Error(want), words)
    c("BF.RESERVE", "n", "0.01", "10", "NONSCALING")
    expect(c("BF.INFO", "n", "MAXSCALEDCAPACITY"), Error("Invalid information value"))
    c("BF.RESERVE", "one", "0.01", "10", "EXPANSION", "1")
    expect(c("BF.INFO", "one", "MAXSCALEDCAPACITY"), [320])


@case
def every_kind_works():
    r = fresh()
    made = 0
    for kind in ("classic", "blocked", "layered", "spectral", "paired", "scalable", "window",
                 "exact"):
        try:
            r.execute_command("DEJA.RESERVE", kind, "KIND", kind, "CAPACITY", 1000, "ERROR", 0.001)
        except redis.exceptions.ResponseError as error:
            assert "bad value for KIND" in str(error), error  # not in this version
            continue
        made += 1
        items = [f"http://example.com/{kind}/{i}" for i in range(300)]
        assert sum(r.execute_command("DEJA.ADD", kind, *items)) >= 297
        assert r.execute_command("DEJA.CHECK", kind, *items) == [1] * 300
        assert r.execute_command("BF.MEXISTS", kind, *items) == [1] * 300
        info = r.execute_command("DEJA.INFO", kind)
        info = dict(zip(info[0::2], info[1::2]))
        assert info[b"kind"].decode() == kind and 297 <= info[b"keys"] <= 300, info
    assert made >= 5


FULL = Error("ERR non scaling filter is full")
FIXED = ("classic", "blocked", "exact", "spectral", "layered", "paired")


def sized(c, kind, *more):
    """A filter for 100 items, named after its kind; returns more items than it is sized for."""
    expect(c("DEJA.RESERVE", kind, "KIND", kind, "CAPACITY", 100, "ERROR", SURE, *more), "OK")
    return [f"http://h{i}/{i}" for i in range(150)]


@case
def bf_add_fills_a_fixed_filter_to_its_capacity():
    c = server.raw()
    c("FLUSHALL")
    for kind in FIXED:
        items = sized(c, kind)
        expect(c("BF.MADD", kind, *items), [1] * 100 + [FULL], kind)
        expect(c("BF.INSERT", kind, "ITEMS", items[0], items[100], items[1]), [0, FULL], kind)
        expect(c("BF.ADD", kind, items[99]), 0, kind)
        expect(c("BF.ADD", kind, items[149]), FULL, kind)
        expect(c("BF.CARD", kind), 100, kind)
        expect(c("BF.MEXISTS", kind, *items), [1] * 100 + [0] * 50, kind)


@case
def deja_add_continues_beyond_the_capacity():
    """BF.ADD still refuses more items.  An exact table is full when its slots are."""
    c = server.raw()
    c("FLUSHALL")
    for kind in FIXED:
        items = sized(c, kind)
        answers = c("DEJA.ADD", kind, *items)
        if kind == "exact":
            assert isinstance(answers.pop(), Error) and 100 < len(answers) < 150, answers
        assert answers == [1] * len(answers), (kind, answers)
        expect(c("BF.ADD", kind, "one more"), FULL, kind)
        expect(c("BF.CARD", kind), len(answers), kind)


@case
def removals_make_room_in_spectral_but_not_in_paired():
    """Counters are decremented.  A paired filter keeps the bits of both halves, and stays full."""
    c = server.raw()
    c("FLUSHALL")
    for kind in ("spectral", "paired"):
        items = sized(c, kind)
        expect(c("BF.MADD", kind, *items[:90]), [1] * 90, kind)
        expect(c("DEJA.REMOVE", kind, *items[:20]), [1] * 20, kind)
        expect(c("BF.CARD", kind), 70, kind)
        expect(c("BF.INFO", kind, "CAPACITY"), [100], kind)
    expect(c("BF.MADD", "spectral", *items[90:]), [1] * 30 + [FULL])
    # A removed item is "new", has no effect, and takes no room.
    expect(c("BF.MADD", "paired", items[0], items[0], *items[90:]), [1] * 12 + [FULL])
    expect(c("BF.CARD", "paired"), 80)
    expect(c("BF.ADD", "paired", items[0]), FULL)
    expect(c("BF.MEXISTS", "paired", items[0], items[20], items[99], items[100]), [0, 1, 1, 0])
    info = c("DEJA.INFO", "paired")
    info = dict(zip(info[0::2], info[1::2]))
    assert (info["deletions"], info["deletions_capacity"], info["hidden"]) == (20, 100, 2), info
    assert 0 < float(info["fn_now"]) < 1e-12, info


@case
def a_window_is_never_full():
    r = fresh()
    items = [f"http://h{i}/{i}" for i in range(1000)]
    r.execute_command("DEJA.RESERVE", "k", "KIND", "window", "CAPACITY", 100, "ERROR", SURE)
    assert r.execute_command("BF.MADD", "k", *items) == [1] * 1000
    assert r.execute_command("BF.MEXISTS", "k", *items[-50:]) == [1] * 50


@case
def a_missing_filter_is_not_a_negative_answer():
    c = server.raw()
    c("FLUSHALL")
    for command in ("ADD none a", "CHECK none a", "REMOVE none a", "COUNT none a", "FOLD none",
                    "ROTATE none", "INFO none", "EXPORT none", "MERGE none nobody"):
        expect(c(*("DEJA." + command).split()), Error("ERR not found"), command)


@case
def items_are_counted_and_removed():
    c = server.raw()
    c("FLUSHALL")
    expect(c("DEJA.RESERVE", "s", "KIND", "spectral", "CAPACITY", 1000, "ERROR", SURE), "OK")
    expect(c("DEJA.ADD", "s", "p", "p", "q"), [1, 0, 1])
    expect(c("DEJA.COUNT", "s", "p", "q", "r"), [2, 1, 0])
    expect(c("DEJA.REMOVE", "s", "p", "q", "r"), [1, 1, 0])
    expect(c("DEJA.CHECK", "s", "p", "q"), [1, 0])
    info = c("DEJA.INFO", "s")
    info = dict(zip(info[0::2], info[1::2]))
    assert (info["counter_bits"], info["spread"]) == (4, 0), info
    c("DEJA.RESERVE", "b", "CAPACITY", 1000)
    assert "cannot" in c("DEJA.REMOVE", "b", "x")
    assert "cannot" in c("DEJA.COUNT", "b", "x")


@case
def counters_can_be_spread():
    c = server.raw()
    c("FLUSHALL")
    make = ("KIND", "spectral", "CAPACITY", 1000, "ERROR", 0.001, "COUNTERBITS", 32, "SEED", 1)
    expect(c("DEJA.RESERVE", "s", *make, "SPREAD"), "OK")
    expect(c("DEJA.RESERVE", "line", *make), "OK")
    infos = []
    for key in ("s", "line"):
        info = c("DEJA.INFO", key)
        infos.append(dict(zip(info[0::2], info[1::2])))
    assert [i["spread"] for i in infos] == [1, 0], infos
    assert infos[0]["bits"] < 14.5 * 1000 and infos[1]["bits"] > 4 * infos[0]["bits"], infos
    items = [f"i{n}" for n in range(1000)]
    c("DEJA.ADD", "s", *items, *items[:500])
    counts = c("DEJA.COUNT", "s", *items)
    assert all(n >= 1 + (i < 500) for i, n in enumerate(counts)), counts
    assert sum(counts) <= 1500 + 5, sum(counts)
    expect(c("DEJA.REMOVE", "s", *items), [1] * 1000)
    expect(c("DEJA.CHECK", "s", *items[:500]), [1] * 500)
    assert sum(c("DEJA.CHECK", "s", *items[500:])) <= 5
    copy = c("DEJA.EXPORT", "s")
    expect(c("DEJA.IMPORT", "t", copy), "OK")
    expect(c("DEJA.COUNT", "t", *items), c("DEJA.COUNT", "s", *items))
    expect(c("DEJA.MERGE", "t", "s"), "OK")
    assert all(n >= 2 for n in c("DEJA.COUNT", "t", *items[:500]))
    assert "spread: only one of them" in c("DEJA.MERGE", "line", "s")
    assert "folded" in c("DEJA.FOLD", "s")
    expect(c("DEJA.RESERVE", "x", "KIND", "exact", "CAPACITY", 10, "SPREAD"),
           Error("ERR SPREAD goes with kind spectral, not exact"))


@case
def urls_are_compared_in_canonical_form():
    c = server.raw()
    c("FLUSHALL")
    expect(c("DEJA.RESERVE", "u", "CAPACITY", 1000, "ERROR", SURE, "URL", "crawl"), "OK")
    expect(c("DEJA.ADD", "u", "HTTP://Example.com:80/a?utm_source=x&b=1", "no url"), [1, 1])
    expect(c("DEJA.CHECK", "u", "http://example.com/a?b=1", "http://example.com/a", "no url"),
           [1, 0, 1])
    expect(c("BF.ADD", "u", "http://example.com/a?b=1"), 0)
    many = [f"http://h/{i}" for i in range(500)]
    expect(c("DEJA.ADD", "u", *many), [1] * 500)
    expect(c("DEJA.CHECK", "u", *[m.upper().replace("/", "/", 1) for m in many[:3]]),
           [1 if m.upper() == m else c("DEJA.CHECK", "u", m.upper())[0] for m in many[:3]])


@case
def filters_can_be_merged_folded_and_rotated():
    c = server.raw()
    c("FLUSHALL")
    for name in ("a", "b"):
        expect(c("DEJA.RESERVE", name, "MEMORY", 65536, "CAPACITY", 10000, "SEED", 9), "OK")
        expect(c("DEJA.ADD", name, *[f"{name}{i}" for i in range(100)])[0], 1)
    expect(c("DEJA.RESERVE", "other", "MEMORY", 65536, "CAPACITY", 10000), "OK")
    assert "secret key" in c("DEJA.MERGE", "a", "b", "other")
    expect(c("DEJA.CHECK", "a", "b1"), [0])  # nothing was changed
    expect(c("DEJA.MERGE", "a", "b"), "OK")
    expect(c("DEJA.CHECK", "a", "a1", "b1"), [1, 1])
    expect(c("DEJA.MERGE", "new", "a", "b"), "OK")
    expect(c("DEJA.MERGE", "a", "a"), "OK")
    expect(c("DEJA.CHECK", "new", "a99", "b99", "c"), [1, 1, 0])
    assert c("DEJA.MERGE", "new", "nobody") == Error("ERR not found")
    expect(c("DEJA.FOLD", "new", 2), "OK")
    expect(c("DEJA.CHECK", "new", "a99", "b99"), [1, 1])
    assert "range" in c("DEJA.FOLD", "new", 0)
    assert isinstance(c("DEJA.FOLD", "new", 60), Error)
    expect(c("DEJA.ROTATE", "a", "CAPACITY", 500), "OK")
    expect(c("DEJA.CHECK", "a", "a1"), [0])
    assert isinstance(c("DEJA.ROTATE", "a", "KIND", "exact"), Error)
    for name in ("d", "e", "f"):  # filters that grow may have different keys
        expect(c("DEJA.RESERVE", name, "KIND", "scalable", "CAPACITY", 20), "OK")
        expect(c("DEJA.ADD", name, *[f"{name}{i}" for i in range(100)])[0], 1)
    expect(c("DEJA.MERGE", "d", "e", "f"), "OK")
    expect(c("DEJA.CHECK", "d", "d99", "e99", "f99"), [1, 1, 1])
    info = c("DEJA.INFO", "d")
    expect(info[info.index("other_keys") + 1], 2)
    assert c("DEJA.ROTATE", "a", "WHAT") == Error("ERR syntax error")


@case
def files_are_imported_and_exported():
    c = server.raw()
    c("FLUSHALL")
    c("DEJA.RESERVE", "k", "KIND", "exact", "CAPACITY", 1000)
    c("DEJA.ADD", "k", "x", "y")
    data = c("DEJA.EXPORT", "k")
    assert data.startswith(b"DEJA\r\n\x1a\n")
    expect(c("DEJA.IMPORT", "k", data), Error("ERR item exists"))
    expect(c("DEJA.IMPORT", "k", data, "REPLACE"), "OK")
    expect(c("DEJA.IMPORT", "l", data), "OK")
    expect(c("DEJA.CHECK", "l", "x", "y", "z"), [1, 1, 0])
    assert "checksum" in c("DEJA.IMPORT", "m", data[:-1] + bytes([data[-1] ^ 1]))
    assert "bytes" in c("DEJA.IMPORT", "m", data[:-1])
    expect(c("DEJA.IMPORT", "m", data, "KEY", "short"), Error("ERR bad value for KEY"))
    assert "another secret key" in c("DEJA.IMPORT", "m", data, "KEY", "k" * 32)
    expect(c("EXISTS", "m"), 0)


@case
def options_that_make_no_sense_are_refused():
    c = server.raw()
    c("FLUSHALL")
    for words in ("", "CAPACITY 0", "CAPACITY -1", "CAPACITY x", "CAPACITY 99999999999999999999",
                  "CAPACITY", "CAPACITY 10 ERROR 2", "CAPACITY 10 ERROR nan",
                  "CAPACITY 10 ERROR -1", "CAPACITY 10 KIND", "CAPACITY 10 KIND what",
                  "CAPACITY 10 KIND static", "CAPACITY 10 HASH what", "CAPACITY 10 URL what",
                  "CAPACITY 10 KEY short", "CAPACITY 10 SEED 0", "CAPACITY 10 COUNTERBITS 3",
                  "CAPACITY 10 FILTERS 99", "CAPACITY 10 DELIMITER ab", "CAPACITY 10 WHAT 1",
                  "CAPACITY 9223372036854775807", "MEMORY 9223372036854775807",
                  "CAPACITY 10 ERROR 1e-320 KIND classic HASHES 4000000000",
                  "CAPACITY 1000000000000 ERROR 0.0001"):
        got = c("DEJA.RESERVE", "k", *words.split())
        assert isinstance(got, Error), (words, got)
    expect(c("DEJA.RESERVE", "k", "CAPACITY", "10", "KIND", b"exact\0x"),
           Error("ERR bad value for KIND"))
    expect(c("EXISTS", "k"), 0)


# --- Integration with the server ---------------------------------------------------


@case
def memory_is_checked_before_it_is_allocated():
    c = server.raw()
    c("FLUSHALL")
    try:
        expect(c("CONFIG", "SET", "deja.filter-max-bytes", "2mb"), "OK")
        assert "MB" in c("BF.RESERVE", "k", "0.01", "10000000")
        expect(c("BF.RESERVE", "k", "0.01", "500000"), "OK")
        grown = None
        for i in range(0, 3000000, 10000):
            grown = c("BF.MADD", "k", *range(i, i + 10000))[-1]
            if isinstance(grown, Error):
                break
        assert isinstance(grown, Error) and "filter-max-bytes" in grown, grown
        assert c("MEMORY", "USAGE", "k") < 4 << 20
    finally:
        c("CONFIG", "SET", "deja.filter-max-bytes", "4gb")
    used = int(c("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
    try:
        c("CONFIG", "SET", "maxmemory", str(used + (16 << 20)))
        assert "MB" in c("BF.RESERVE", "m", "0.01", "100000000")
        expect(c("BF.RESERVE", "m", "0.01", "1000000"), "OK")
    finally:
        c("CONFIG", "SET", "maxmemory", "0")


@case
def static_filters_keep_their_exceptions():
    c = server.raw()
    golden = os.path.join(os.environ["SOURCE"], "tests/format/golden/v2")
    with open(os.path.join(golden, "static_except.deja"), "rb") as f:
        expect(c("DEJA.IMPORT", "except", f.read(), "REPLACE"), "OK")
    with open(os.path.join(golden, "members.txt"), "rb") as f:
        expect(c("DEJA.CHECK", "except", *f.read().split(b"\n")[:120]), [1] * 120)
    allowed = [f"https://allowed.example/{i}" for i in range(2000)]
    expect(c("DEJA.CHECK", "except", *allowed), [0] * 2000)
    expect(c("COPY", "except", "again", "REPLACE"), 1)
    expect(c("DEJA.CHECK", "again", *allowed), [0] * 2000)


def filters_of_deja_0_1_keep_their_forms():
    """A snowman was not valid then, so its key is the URL as given; new filters have another."""
    c = server.raw()
    hosts = os.path.join(os.environ["SOURCE"], "tests/format/golden/hosts")
    with open(os.path.join(hosts, "hosts.txt"), "rb") as f:
        urls = f.read().split()
    for profile in ("safe", "crawl"):
        with open(os.path.join(hosts, profile + ".deja"), "rb") as f:
            expect(c("DEJA.IMPORT", "old", f.read(), "REPLACE"), "OK")
        expect(c("DEJA.CHECK", "old", *urls), [1] * len(urls))
        expect(c("DEJA.CHECK", "old", "http://xn--n3h.example/"), [0])
        c("DEL", "new")
        expect(c("DEJA.RESERVE", "new", "CAPACITY", "100", "URL", profile), "OK")
        c("DEJA.ADD", "new", *urls)
        expect(c("DEJA.CHECK", "new", "http://xn--n3h.example/", *urls), [1] * (len(urls) + 1))


@case
def key_events_are_published():
    r = fresh()
    r.config_set("notify-keyspace-events", "Kd")
    p = r.pubsub()
    p.psubscribe("__keyspace@0__:*")
    assert p.get_message(timeout=600)["type"] == "psubscribe"
    r.execute_command("BF.RESERVE", "k", 0.01, 100)
    r.execute_command("BF.ADD", "k", "x")
    r.execute_command("BF.EXISTS", "k", "x")
    r.execute_command("DEJA.ADD", "k", "y")
    got = [p.get_message(timeout=600)["data"] for _ in range(3)]
    assert got == [b"bloom.reserve", b"bloom.add", b"deja.add"], got
    p.close()
    r.config_set("notify-keyspace-events", "")


@case
def commands_are_described():
    r = fresh()
    c = server.raw()
    names = [f"bf.{n}" for n in "reserve add madd insert exists mexists info card scandump "
             "loadchunk".split()]
    names += [f"deja.{n}" for n in "reserve add check remove count merge fold rotate info export "
              "import".split()]
    for name in names:
        info = c("COMMAND", "INFO", name)[0]
        assert info[3:6] == [1, -1 if name == "deja.merge" else 1, 1], (name, info)
        flags = set(info[2])
        assert ("readonly" in flags) != ("write" in flags), (name, flags)
        docs = c("COMMAND", "DOCS", name)[1]
        assert docs[0] == b"summary" and len(docs[1]) > 10, docs
    expect(c("COMMAND", "GETKEYS", "DEJA.MERGE", "a", "b", "c"), [b"a", b"b", b"c"])
    expect(c("COMMAND", "GETKEYS", "BF.ADD", "a", "b"), [b"a"])
    r.execute_command("ACL", "SETUSER", "reader", "on", ">x", "%R~*", "+bf.exists", "+bf.add")
    reader = server.client(username="reader", password="x")
    assert reader.execute_command("BF.EXISTS", "k", "x") == 0
    try:
        reader.execute_command("BF.ADD", "k", "x")
        raise AssertionError("a reader has written")
    except redis.exceptions.NoPermissionError:
        pass
    r.execute_command("ACL", "DELUSER", "reader")
    fields = c("COMMAND", "DOCS", "bf.info")[1]
    arguments = fields[fields.index(b"arguments") + 1]
    choices = arguments[1][arguments[1].index(b"arguments") + 1]
    assert [dict(zip(a[0::2], a[1::2]))[b"token"] for a in choices][:5] == [
        b"CAPACITY", b"SIZE", b"FILTERS", b"ITEMS", b"EXPANSION"], choices
    if b"bloom" in c("ACL", "CAT"):  # from Redis 7.4 on, and in Valkey
        listed = set(c("ACL", "CAT", "bloom"))
        assert listed >= {n.encode() for n in names} - {b"deja.help"}, listed
        r.execute_command("ACL", "SETUSER", "bloom", "on", ">x", "~*", "-@all", "+@bloom")
        user = server.client(username="bloom", password="x")
        assert user.execute_command("BF.ADD", "k", "x") in (0, 1)
        r.execute_command("ACL", "DELUSER", "bloom")
    assert b"deja_filters:" in c("INFO", "modules") + c("INFO", "everything")


@case
def help_lists_the_commands_that_are_registered():
    c = server.raw()
    lines = [line.decode() for line in c("DEJA.HELP")]
    syntax, summaries = lines[0::2], lines[1::2]
    listed = {line.split()[0].lower() for line in syntax}
    registered = {n.decode() for prefix in ("bf.", "deja.") for n in
                  c("COMMAND", "LIST", "FILTERBY", "PATTERN", prefix + "*")}
    assert listed == registered and len(listed) == len(syntax), listed ^ registered
    assert all(line.startswith("    ") and line.endswith(".") for line in summaries), summaries
    for want in ("BF.RESERVE key error_rate capacity [EXPANSION expansion] [NONSCALING]",
                 "BF.MADD key item [item ...]",
                 "BF.INFO key [CAPACITY|SIZE|FILTERS|ITEMS|EXPANSION|ERROR|TIGHTENING|"
                 "MAXSCALEDCAPACITY]",
                 "BF.INSERT key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] "
                 "[TIGHTENING tightening] [SEED seed] [VALIDATESCALETO scale-to] [NOCREATE] "
                 "[NONSCALING] ITEMS item [item ...]",
                 "DEJA.MERGE destination source [source ...]",
                 "DEJA.IMPORT key bytes [REPLACE] [KEY secret]", "DEJA.HELP [command]"):
        assert want in syntax, (want, syntax)
    reserve = next(line for line in syntax if line.startswith("DEJA.RESERVE"))
    for word in ("KIND", "CAPACITY", "ERROR", "MINIMALINCREASE", "SEED", "KEY"):
        assert f"[{word}" in reserve, (word, reserve)
    docs = c("COMMAND", "DOCS", "deja.reserve")[1]
    arguments = docs[docs.index(b"arguments") + 1]
    assert reserve.count("[") == len(arguments) - 1 and reserve.endswith("]"), reserve
    expect(c("deja.help", "bf.card"), [b"BF.CARD key", b"    Returns how many distinct items were added."])
    expect(len(c("DEJA.HELP", "nothing")), 1)
    assert "wrong number" in c("DEJA.HELP", "a", "b")
    expect(c("COMMAND", "INFO", "deja.help")[0][3:6], [0, 0, 0])


@case
def memory_is_counted_and_freed():
    c = server.raw()
    c("FLUSHALL")
    before = int(c("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
    expect(c("BF.RESERVE", "k", "0.01", "4000000"), "OK")
    size = c("MEMORY", "USAGE", "k")
    assert 4000000 < size < 12000000, size
    with_it = int(c("INFO", "memory").split(b"used_memory:")[1].split(b"\r")[0])
    assert with_it - before > 0.95 * size
    expect(c("COPY", "k", "l"), 1)
    expect(c("UNLINK", "k", "l"), 2)

    def freed():  # by another thread
        info = c("INFO", "deja_filters")
        return b"deja_filter_bytes:0\r" in info and b"deja_filters:0\r" in info

    until("the filters are freed", freed)


with server:
    run(globals())
