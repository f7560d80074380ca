"""persistence - acknowledged items survive kill -9, and reach replicas and dumps.

Filters of every kind, a load in chunks that was interrupted, and the secret key of each."""

import os
import random
import subprocess

from redisrun import Server, case, expect, redis, run, until

KINDS = ("classic", "blocked", "layered", "spectral", "paired", "scalable", "window", "exact")
N = 2000


def items(kind):
    return [f"http://example.com/{kind}/{i}" for i in range(N)]


def fill(r):
    """Fills filters of all kinds; returns how many items of each were new."""
    made = []
    for kind in KINDS:
        try:
            r.execute_command("DEJA.RESERVE", kind, "KIND", kind, "CAPACITY", 500 if kind ==
                              "scalable" else N, "ERROR", 0.001)
        except redis.exceptions.ResponseError:
            continue
        for i in range(0, N, 100):
            r.execute_command("DEJA.ADD", kind, *items(kind)[i:i + 100])
        made.append(kind)
    r.execute_command("BF.MADD", "auto", *range(N))  # grows from 100
    r.execute_command("BF.INSERT", "fixed", "CAPACITY", 50, "NONSCALING", "ITEMS", *range(90))
    r.execute_command("DEJA.ADD", "spectral", "twice", "twice")
    r.execute_command("DEJA.RESERVE", "spread", "KIND", "spectral", "CAPACITY", 100, "SPREAD")
    r.execute_command("DEJA.ADD", "spread", "twice", "twice")
    for name in ("merged", "joined"):  # with different secret keys
        r.execute_command("DEJA.RESERVE", name, "KIND", "scalable", "CAPACITY", 50)
        r.execute_command("DEJA.ADD", name, *(f"{name}{i}" for i in range(200)))
    r.execute_command("DEJA.MERGE", "merged", "joined")
    return made


def check(r, made):
    for kind in made:
        for i in range(0, N, 500):
            expect(r.execute_command("DEJA.CHECK", kind, *items(kind)[i:i + 500]), [1] * 500, kind)
    expect(r.execute_command("BF.MEXISTS", "auto", *range(N)), [1] * N)
    expect(r.execute_command("BF.CARD", "fixed"), 50)
    assert r.execute_command("DEJA.COUNT", "spectral", "twice")[0] >= 2  # never too low; too high at rate 0.001
    expect(r.execute_command("DEJA.COUNT", "spread", "twice", "never"), [2, 0])
    united = [f"{name}{i}" for name in ("merged", "joined") for i in range(200)]
    expect(r.execute_command("DEJA.CHECK", "merged", *united), [1] * 400)


def digests(r):
    keys = sorted(r.keys("*"))
    return dict(zip(keys, r.execute_command("DEBUG", "DIGEST-VALUE", *keys)))


def half_loaded(r, name):
    """Loads the first chunks of a filter; returns the missing ones."""
    r.execute_command("BF.RESERVE", "source", 0.01, 5000000)
    r.execute_command("BF.MADD", "source", *range(1000))
    chunks, cursor = [], 0
    while True:
        cursor, data = r.execute_command("BF.SCANDUMP", "source", cursor)
        if not cursor:
            break
        chunks.append((cursor, data))
    cursor, data = chunks.pop()
    third = len(data) // 3
    for piece in (data[:third], data[third:2 * third], data[2 * third:]):
        chunks.append((chunks[-1][0] + len(piece), piece))
    assert chunks[-1][0] == cursor
    for cursor, data in chunks[:2]:
        r.execute_command("BF.LOADCHUNK", name, cursor, data)
    r.delete("source")
    return chunks[2:]


def finish_load(r, name, rest):
    try:
        r.execute_command("BF.EXISTS", name, "1")
        raise AssertionError("half a filter has answered")
    except redis.exceptions.ResponseError as error:
        assert "being loaded" in str(error)
    for cursor, data in rest:
        r.execute_command("BF.LOADCHUNK", name, cursor, data)
    expect(r.execute_command("BF.MEXISTS", name, *range(1000)), [1] * 1000)


@case
def an_rdb_file_restores_everything():
    with Server() as server:
        r = server.client()
        made = fill(r)
        rest = half_loaded(r, "half")
        before = digests(r)
        r.save()
        r.execute_command("BF.ADD", "late", "x")  # not saved, so lost
        server.kill()
        server.restart()
        r = server.client()
        expect(digests(r), before)
        check(r, made)
        finish_load(r, "half", rest)
        r.execute_command("DEBUG", "RELOAD")
        check(r, made)


def survives_kill(*options, rewrite=False):
    with Server("--appendonly", "yes", "--appendfsync", "always", *options) as server:
        r = server.client()
        made = fill(r)
        rest = half_loaded(r, "half")
        if rewrite:
            r.bgrewriteaof()
            until("rewritten", lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                  not r.info("persistence")["aof_rewrite_scheduled"])
            expect(r.info("persistence")["aof_last_bgrewrite_status"], "ok")
        r.execute_command("BF.MADD", "auto", *range(N, 2 * N))
        before = digests(r)
        server.kill()
        server.restart()
        r = server.client()
        expect(digests(r), before)
        check(r, made)
        expect(r.execute_command("BF.MEXISTS", "auto", *range(2 * N)), [1] * (2 * N))
        finish_load(r, "half", rest)


@case
def a_log_restores_everything():
    survives_kill()


@case
def a_rewritten_log_restores_everything():
    survives_kill(rewrite=True)


@case
def a_log_rewritten_as_commands_restores_everything():
    survives_kill("--aof-use-rdb-preamble", "no", rewrite=True)


@case
def adds_acknowledged_before_a_kill_survive():
    rng = random.Random(3)
    with Server("--appendonly", "yes", "--appendfsync", "always") as server:
        acknowledged = []
        for turn in range(6):
            r = server.client()
            pipe = r.pipeline(transaction=False)
            for i in range(200):
                pipe.execute_command("BF.ADD", "k", f"{turn}:{i}")
            pipe.execute()
            acknowledged += [f"{turn}:{i}" for i in range(200)]
            for i in range(rng.randrange(50)):
                r.execute_command("BF.ADD", "k", f"{turn}:single:{i}")
                acknowledged.append(f"{turn}:single:{i}")
            server.kill()
            server.restart()
            found = server.client().execute_command("BF.MEXISTS", "k", *acknowledged)
            expect(found, [1] * len(acknowledged))


@case
def replicas_have_the_same_filters():
    with Server() as primary:
        r = primary.client()
        made = fill(r)  # sent by the full synchronization
        rest = half_loaded(r, "half")
        with Server("--replicaof", "127.0.0.1", str(primary.port)) as replica:
            q = replica.client()
            until("synchronised", lambda: q.info("replication")["master_link_status"] == "up")
            finish_load(r, "half", rest)
            for i in range(1, 5):  # sent afterwards
                r.execute_command("BF.MADD", f"new{i}", *range(i * 100))
                r.execute_command("BF.RESERVE", f"reserved{i}", 0.001, 1000)
                r.execute_command("BF.ADD", f"reserved{i}", "x")
            r.execute_command("BF.MADD", "fixed", "1", "never seen")  # ends with an error
            r.execute_command("DEJA.RESERVE", "a", "CAPACITY", 100, "SEED", 4, "URL", "safe")
            r.execute_command("DEJA.RESERVE", "b", "CAPACITY", 100, "SEED", 4, "URL", "safe")
            r.execute_command("DEJA.ADD", "b", "http://X/")
            r.execute_command("DEJA.MERGE", "a", "b")
            r.execute_command("DEJA.MERGE", "c", "b", "a")
            for name in ("d", "e"):  # with different secret keys
                r.execute_command("DEJA.RESERVE", name, "KIND", "scalable", "CAPACITY", 20)
                r.execute_command("DEJA.ADD", name, *(f"{name}{i}" for i in range(100)))
            r.execute_command("DEJA.MERGE", "d", "e")
            r.execute_command("DEJA.ADD", "d", *range(200))
            r.execute_command("DEJA.RESERVE", "fold", "MEMORY", 4096, "CAPACITY", 100)
            r.execute_command("DEJA.ADD", "fold", "x")
            r.execute_command("DEJA.FOLD", "fold", 3)
            r.execute_command("DEJA.ROTATE", "exact")
            r.execute_command("DEJA.ADD", "exact", "x")
            r.execute_command("DEJA.ADD", "spectral", "gone")
            r.execute_command("DEJA.REMOVE", "spectral", "gone")
            r.execute_command("DEJA.IMPORT", "copy", r.execute_command("DEJA.EXPORT", "blocked"))
            assert r.wait(1, 600_000) == 1
            mine, theirs = digests(r), digests(q)
            for key in mine.keys() | theirs.keys():
                expect(theirs.get(key), mine.get(key), key)
            expect(r.execute_command("BF.EXISTS", "fixed", "never seen"),
                   q.execute_command("BF.EXISTS", "fixed", "never seen"))
            made.remove("exact")
            q.replicaof("NO", "ONE")
            check(q, made)
            assert q.info("stats").get("unexpected_error_replies", 0) == 0


@case
def dump_and_restore_are_inverse():
    with Server() as server:
        r = server.client()
        made = fill(r)
        rest = half_loaded(r, "half")
        for key in r.keys("*"):
            r.restore(key + b":2", 0, r.dump(key))
            expect(*r.execute_command("DEBUG", "DIGEST-VALUE", key, key + b":2"))
            if key != b"half":
                assert r.copy(key, key + b":3")
                expect(*r.execute_command("DEBUG", "DIGEST-VALUE", key, key + b":3"))
        finish_load(r, "half:2", rest)
        assert r.copy("half", "half:3")
        finish_load(r, "half:3", rest)
        finish_load(r, "half", rest)
        check(r, made)


@case
def a_separate_key_survives_too():
    """The exported bytes contain no key; the server stores it with them."""
    if "DEJA" not in os.environ:
        return
    with open("secret", "wb") as f:
        f.write(bytes(range(32)))
    os.chmod("secret", 0o600)
    subprocess.run([os.environ["DEJA"], "build", "-q", "--key", "secret", "-n", "100", "f.deja"],
                   input=b"one\ntwo\n", check=True)
    data = open("f.deja", "rb").read()
    for preamble in ("yes", "no"):
        with Server("--appendonly", "yes", "--aof-use-rdb-preamble", preamble) as server:
            r = server.client()
            try:
                r.execute_command("DEJA.IMPORT", "k", data)
                raise AssertionError("taken without its key")
            except redis.exceptions.ResponseError as error:
                assert "secret key" in str(error)
            r.execute_command("DEJA.IMPORT", "k", data, "KEY", bytes(range(32)))
            assert r.copy("k", "l")
            assert bytes(range(32)) not in r.execute_command("DEJA.EXPORT", "k")
            r.bgrewriteaof()
            until("rewritten", lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                  not r.info("persistence")["aof_rewrite_scheduled"])
            r.execute_command("BF.ADD", "k", "three")
            server.kill()
            server.restart()
            r = server.client()
            expect(r.execute_command("BF.MEXISTS", "k", "one", "two", "three", "four"),
                   [1, 1, 1, 0])
            expect(r.execute_command("BF.MEXISTS", "l", "one", "two", "three"), [1, 1, 0])


run(globals())
