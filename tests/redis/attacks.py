"""attacks - the attacks of stat.attacks against a server: BF.RESERVE key 0.001 10000.

The attacker has everything except the filter's secret key: the code, the sizes, the public hash
functions, any answer of the server, and a budget of 10,000 items, the capacity.  attacker.c
chooses the items with a twin that has a made-up key.  Each attack runs against three filters, each
with a random key of its own.

Measured is the false-positive rate for items that nobody chose.  A filter with 10,000 of 10,000
items has a rate of 0.0005, half of the requested one (the other half is for later parts).  The
bound is 0.0012.  With n = 400,000 queries, a correct filter stays 20 standard deviations below it;
a true rate of 0.0015 exceeds it by 5 (n p = 600, sigma 24.5, bound 480).  Of 30,000 forged items,
15 are expected; the bound is 36, 5.4 deviations more.

To show that the bound can fail, the same program also runs with the filter's key, and must break
it."""

import os
import random
import secrets
import subprocess

from redisrun import Server, case, run

server = Server()
CAPACITY, BOUND = 10000, 0.0012
OTHERS, FORGED = 400000, 30000
rng = random.Random(6)


def chosen(how, n, key):
    """Items of an attacker who assumes this key."""
    done = subprocess.run([os.environ["ATTACKER"], how, str(n), key.hex()], check=True,
                          stdout=subprocess.PIPE)
    items = done.stdout.split()
    assert len(items) == n and len(set(items)) == n, (how, len(items))
    return items


def reserve(r, key=None):
    """A plain filter; or one with a known key, which needs an item to be created."""
    r.flushall()
    if key is None:
        r.execute_command("BF.RESERVE", "k", "0.001", CAPACITY)
    else:
        r.execute_command("BF.INSERT", "k", "CAPACITY", CAPACITY, "ERROR", "0.001", "EXPANSION", 2,
                          "SEED", key, "ITEMS", "first")


def add(r, items):
    for i in range(0, len(items), 500):
        r.execute_command("BF.MADD", "k", *items[i:i + 500])


def seen(r, items):
    return sum(sum(r.execute_command("BF.MEXISTS", "k", *items[i:i + 1000]))
               for i in range(0, len(items), 1000))


def rate_of_others(r):
    return seen(r, [b"other %016x" % rng.getrandbits(64) for _ in range(OTHERS)]) / OTHERS


def bounded(what, rate):
    print(f"  {what}: {rate:.6f}")
    assert rate <= BOUND, (what, rate)


@case
def an_attacker_with_the_key_breaks_the_filter():
    r = server.client()
    key = secrets.token_bytes(32)
    for how in ("pollute", "saturate"):
        reserve(r, key)
        add(r, chosen(how, CAPACITY - 1, key))
        rate = rate_of_others(r)
        print(f"  {how} with the key: {rate:.6f}")
        assert rate > 2 * BOUND, (how, rate)
    reserve(r, key)
    add(r, [b"https://honest.example/%d" % i for i in range(CAPACITY - 1)])
    # The twin has one item more, and lacks "first": nearly all forged items are seen.
    assert seen(r, chosen("forge", 1000, key)) > 950


@case
def chosen_items_do_not_raise_the_rate():
    r = server.client()
    for how in ("pollute", "saturate"):
        for key in (bytes(32), secrets.token_bytes(32), secrets.token_bytes(32)):
            reserve(r)
            add(r, chosen(how, CAPACITY, key))
            assert r.execute_command("BF.INFO", "k", "FILTERS") == [1]
            bounded(how, rate_of_others(r))


@case
def forged_items_are_seen_no_more_often_than_others():
    r = server.client()
    items = chosen("forge", FORGED, bytes(32))
    for _ in range(3):
        reserve(r)
        add(r, [b"https://honest.example/%d" % i for i in range(CAPACITY)])
        bounded("forge", seen(r, items) / FORGED)


@case
def answers_do_not_help():
    """Adding only items that the server calls new fills a filter fastest; its answers reveal
    nothing else."""
    r = server.client()
    for _ in range(3):
        reserve(r)
        while (left := CAPACITY - r.execute_command("BF.CARD", "k")) > 0:
            items = [b"%016x" % rng.getrandbits(64) for _ in range(200)]
            found = r.execute_command("BF.MEXISTS", "k", *items)
            add(r, [i for i, f in zip(items, found) if not f][:left])
        bounded("answers", rate_of_others(r))


@case
def every_filter_has_its_own_key():
    r = server.client()
    keys = set()
    for i in range(20):
        r.execute_command("BF.RESERVE", f"f{i}", "0.001", CAPACITY)
        keys.add(r.execute_command("DEJA.EXPORT", f"f{i}")[88:120])
    assert len(keys) == 20 and bytes(32) not in keys


with server:
    run(globals())
