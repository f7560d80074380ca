"""redisbloom_long - RedisBloom and deja side by side: the same replies and dumps, byte for byte, for
200,000 URLs, before and after a filter has moved, and back again.

No registry has RedisBloom's module alone.  REDISBLOOM names it; otherwise the usual places of Redis
8 and of Redis Stack are tried."""

import os

from redisrun import Server, case, expect, redis, run, skip

PLACES = ("/usr/lib/redis/modules/redisbloom.so", "/usr/local/lib/redis/modules/redisbloom.so",
          "/opt/redis-stack/lib/redisbloom.so")
REDISBLOOM = next((p for p in (os.environ.get("REDISBLOOM", ""), *PLACES) if os.path.exists(p)),
                  None)
if not REDISBLOOM:
    skip("RedisBloom's module is not here; name it: REDISBLOOM=/path/redisbloom.so")

URLS = [f"https://h{i % 977}.example/p/{i}" for i in range(200000)]
HALF = len(URLS) // 2
FILTERS = {
    "grows": ("0.01", "1000"), "sized": ("0.001", "100000"),
    "fixed": ("0.01", "100000", "NONSCALING"), "slow": ("0.02", "20000", "EXPANSION", "1"),
    "fast": ("0.05", "500", "EXPANSION", "4"), "tiny": ("0.24", "1", "EXPANSION", "8"),
    "precise": ("1e-9", "10"),
}


def each(r, command, key, urls):
    """Replies, and how often the filter was full; the reply then ends early."""
    out = []
    for i in range(0, len(urls), 5000):
        out.append([str(x) for x in r.execute_command(command, key, *urls[i:i + 5000])])
    return out


def dump(r, key):
    chunks, iterator = [], 0
    while True:
        iterator, data = r.execute_command("BF.SCANDUMP", key, iterator)
        if iterator == 0:
            return chunks
        chunks.append((iterator, data))


def load(r, key, chunks):
    for iterator, data in chunks:
        expect(r.execute_command("BF.LOADCHUNK", key, iterator, data), b"OK")


def info(r, key):
    return [r.execute_command("BF.INFO", key, *more) for more in
            ((), ("CAPACITY",), ("SIZE",), ("FILTERS",), ("ITEMS",), ("EXPANSION",))] + \
        [r.execute_command("BF.CARD", key)]


@case
def both_servers_reply_the_same():
    with Server(module=REDISBLOOM) as theirs, Server() as ours:
        a, b = theirs.client(), ours.client()
        for name, options in FILTERS.items():
            a.execute_command("BF.RESERVE", name, *options)
            each(a, "BF.MADD", name, URLS[:HALF])
            load(b, name, dump(a, name))
            expect(info(b, name), info(a, name), name)
            expect(each(b, "BF.MEXISTS", name, URLS), each(a, "BF.MEXISTS", name, URLS), name)
            expect(each(b, "BF.MADD", name, URLS[HALF:]), each(a, "BF.MADD", name, URLS[HALF:]), name)
            expect(info(b, name), info(a, name), name)
            expect(dump(b, name), dump(a, name), name)
            load(a, "back", dump(b, name))
            expect(dump(a, "back"), dump(b, name), name)
            a.delete("back")


run(globals())
