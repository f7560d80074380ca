"""sharded - `deja dedup|check|add --redis`: one cache over N filters on a server, even if
connections and servers are lost."""

import json
import os
import subprocess
import tempfile
import threading
import time

from redisrun import Server, case, environment, expect, run, skip, until

DEJA = os.environ["DEJA"]
probe = subprocess.run([DEJA, "check", "--redis", "redis://127.0.0.1:1", "x"], input=b"",
                       capture_output=True)
if b"without hiredis" in probe.stderr:
    skip("the command was built without hiredis (Debian: libhiredis-dev)")


def deja(*words, data=b"", status=0):
    p = subprocess.run([DEJA, *words], input=data, capture_output=True, timeout=600)
    assert p.returncode == status, (words, p.returncode, p.stderr)
    return p.stdout if status != 2 else p.stderr.decode()


def lines(first, last):
    return b"".join(b"http://example.com/%d\n" % i for i in range(first, last))


def url(server):
    return f"redis://127.0.0.1:{server.port}"


@case
def runs_share_a_cache():
    with Server() as server:
        at = ("--redis", url(server), "--state", "seen", "-q")
        expect(deja("dedup", *at, "-n", "100000", data=lines(0, 5000) + lines(0, 10)),
               lines(0, 5000))
        expect(deja("dedup", *at, data=lines(2500, 7500)), lines(5000, 7500))
        expect(deja("dedup", *at, "-D", data=lines(7499, 7502)), lines(7499, 7500))
        expect(deja("dedup", *at, "-c", data=lines(7500, 7510)), b"8\n")
        r = server.client()
        names = sorted(r.keys("{seen:*}"))
        assert len(names) == 16, names
        cards = [r.execute_command("BF.CARD", n) for n in names]
        assert sum(cards) >= 7509 and min(cards) > 350 and max(cards) < 600, cards
        assert r.get("seen") == b"deja-cache 1 shards=16 profile=none rules=0"
        redis = ("--redis", url(server), "-q")
        expect(deja("check", *redis, "seen", data=lines(0, 5) + b"never\n"), lines(0, 5))
        expect(deja("check", *redis, "-v", "seen", data=lines(0, 5) + b"never\n"), b"never\n")
        expect(deja("check", *redis, "-c", "seen", data=b"never\n", status=1), b"0\n")
        deja("add", *redis, "seen", data=b"never\n")
        expect(deja("check", *redis, "seen", data=b"never\n"), b"never\n")
        deja("add", *redis, "--shards", "3", "other", data=lines(0, 100))
        assert len(r.keys("{other:*}")) == 3
        expect(deja("check", *redis, "-c", "other", data=lines(0, 100)), b"100\n")


@case
def shards_have_the_requested_kind():
    with Server() as server:
        r = server.client()
        for name, options, want in (
                ("w", "-k window -n 16000 --window-time 1d --generations 3",
                 {"kind": "window", "window_seconds": 86400, "generations": 3}),
                ("s", "-k spectral -n 16000 --counter-bits 8 --minimal-increase",
                 {"kind": "spectral", "counter_bits": 8, "minimal_increase": True}),
                ("a", "-k spectral -n 16000 --spread", {"kind": "spectral", "spread": True}),
                ("p", "-k paired -n 16000 --deletions 1600", {"kind": "paired"}),
                ("l", "-k layered -n 16000 --layers 5", {"kind": "layered"}),
                ("x", "-k layered -n 16000 --words + --hash siphash", {"hash": "siphash"}),
                ("b", "-k exact", {"kind": "scalable", "part_kind": "exact"})):
            deja("dedup", "--redis", url(server), "--state", name, "-q", *options.split(),
                 data=lines(0, 100))
            with open("shard.deja", "wb") as f:
                f.write(r.execute_command("DEJA.EXPORT", "{%s:3}" % name))
            info = json.loads(deja("info", "--json", "shard.deja"))[0]
            assert {k: info.get(k) for k in want} == want, (options, info)
        again = ("dedup", "--redis", url(server), "--state", "b")
        for options, ignored in (((), None), (("-n", "5", "-p", "0.5", "--fixed"), "-n, -p, --fixed"), (("-k", "blocked"), "-k")):
            done = subprocess.run([DEJA, *again, *options], input=b"x\n", capture_output=True, check=True)
            note = "b keeps its kind and size; ignored: "
            assert (note + ignored if ignored else "") in done.stderr.decode(), done.stderr
            assert ignored or note not in done.stderr.decode(), done.stderr
        deja("dedup", "--redis", url(server), "--state", "f", "-q", "-n", "1600", "--fixed", data=lines(0, 100))
        with open("shard.deja", "wb") as f:
            f.write(r.execute_command("DEJA.EXPORT", "{f:3}"))
        assert json.loads(deja("info", "--json", "shard.deja"))[0]["kind"] == "blocked"
        complaint = deja("dedup", "--redis", url(server), "--state", "no", "-k", "window",
                         "--window-time", "1d", data=b"x\n", status=2)
        assert "how many keys" in complaint, complaint


def seq(*numbers):
    return b"".join(b"%d\n" % n for n in numbers)


@case
def a_window_forgets_as_a_local_one_does():
    with Server() as server:
        rate = ("-p", "1e-12")  # the server's secrets are random: no line may be lost by chance
        at = ("--redis", url(server), "-q", "-k", "window", *rate, "--state")
        again = seq(*3 * list(range(50)))
        renewed = b"".join(b"always\n" + seq(*range(9 * i, 9 * i + 9)) for i in range(40))
        for i, (size, data) in enumerate((
                (("-n", "10"), again),
                (("-n", "10"), again + seq(*range(45, 50), *range(40, 50))),
                (("-n", "1"), seq(*3 * [1, 1, 2, 3, 4])),
                (("-n", "20", "--generations", "2"), again),
                (("-n", "10"), renewed),
                (("-n", "2000"), seq(*2 * list(range(5000)))),
                (("--window-time", "1h", "-n", "100"), again))):
            want = deja("dedup", "-q", "-k", "window", *rate, *size, data=data)
            for j in "1", "2":
                expect(deja("dedup", *at, f"w{i}{j}", *size, "-j", j, data=data), want)
            expect(deja("dedup", *at, f"c{i}", *size, "-c", data=data),
                   b"%d\n" % want.count(b"\n"))
        later = ("--redis", url(server), "-q", "--state", "w01")
        assert deja("dedup", *later, data=again).count(b"\n") == 150  # also in a later run
        # Many shards remember more than requested, but not forever.
        data = seq(*2 * list(range(100000)), *range(70000, 100000))
        assert deja("dedup", *at, "large", "-n", "40k", data=data) == data[:-6 * 30000]
        assert len(server.client().keys("{large:*}")) == 16
        assert len(server.client().keys("{w01:*}")) == 1


@case
def seeing_or_adding_a_line_renews_it_on_the_server():
    with Server() as server:
        at = ("--redis", url(server), "-q")
        state = ("--state", "w", "-k", "window", "-n", "10")
        expect(deja("dedup", *at, *state, data=b"always\n"), b"always\n")
        for i in range(10):
            expect(deja("dedup", *at, *state, data=seq(*range(8 * i, 8 * i + 8)) + b"always\n"),
                   seq(*range(8 * i, 8 * i + 8)))
        for i in range(20, 30):
            deja("add", *at, "w", data=seq(*range(8 * i, 8 * i + 8)) + b"always\n")
        expect(deja("check", *at, "w", data=b"always\n"), b"always\n")
        at += ("--state", "t", "-k", "window", "--window-time", "2s", "-n", "100")
        expect(deja("dedup", *at, data=b"x\n"), b"x\n")
        time.sleep(5)
        expect(deja("dedup", *at, data=b"x\nx\n"), b"x\n")


@case
def lines_without_a_key_match_nothing():
    with Server() as server:
        at = ("--redis", url(server), "--state", "keys", "-f", "2", "-q")
        data = b"1 a\nx\n2 a\nx\n3 b\nx\n"
        expect(deja("dedup", *at, data=data), b"1 a\nx\nx\n3 b\nx\n")
        expect(deja("dedup", *at, data=data), b"x\n" * 3)
        expect(deja("dedup", *at, "-D", data=data), b"1 a\n2 a\n3 b\n")
        expect(deja("dedup", *at, "-c", data=data), b"3\n")
        redis = ("--redis", url(server))
        deja("add", *redis, "-q", "keys", data=b"\n")  # a whole line: the empty key
        check = ("check", *redis, "-q", "-f", "2", "keys")
        expect(deja(*check, data=data), b"1 a\n2 a\n3 b\n")
        expect(deja(*check, "-v", data=data), b"x\n" * 3)
        report = subprocess.run([DEJA, "add", *redis, "-f", "2", "keys"], input=data + b"4 c\n",
                                capture_output=True, timeout=300)
        assert b"3 lines without field 2, skipped" in report.stderr, report.stderr
        assert b"7 read, 1 new, 3 seen before" in report.stderr, report.stderr
        complaint = deja("dedup", *at, data=b"x\n", status=2)
        assert "no line has field 2" in complaint, complaint


@case
def keys_of_urls_are_canonical():
    with Server() as server:
        at = ("--redis", url(server), "--state", "pages", "-q")
        data = b"http://A/?b=1&utm_source=x\nhttp://a/?b=1\n"
        expect(deja("dedup", *at, "--url=crawl", data=data), b"http://A/?b=1&utm_source=x\n")
        expect(deja("dedup", *at, data=data), b"")  # without --url, the cache's profile
        expect(deja("dedup", *at, "--url=crawl", data=data), b"")
        redis = ("--redis", url(server), "-q")
        expect(deja("check", *redis, "pages", data=data), data)
        expect(deja("check", *redis, "--canonical", "pages", data=data), 2 * b"http://a/?b=1\n")
        deja("add", *redis, "pages", data=b"HTTP://c?gclid=1\n")
        expect(deja("check", *redis, "pages", data=b"http://c/\n"), b"http://c/\n")
        assert "profile crawl, not safe" in deja("dedup", *at, "--url", data=data, status=2)
        with tempfile.NamedTemporaryFile() as names:
            names.write(b"b\n")
            names.flush()
            ours = (*redis, "--drop-params", names.name, "--url=crawl")
            deja("add", *ours, "ours", data=data)
            assert "--drop-params" in deja("check", *redis, "ours", data=data, status=2)
            ours = (*redis, "--drop-params", names.name)
            expect(deja("check", *ours, "ours", data=b"http://a/\n"), b"http://a/\n")
        deja("dedup", "--redis", url(server), "--state", "bytes", "-q", data=data)
        assert "omit --url" in deja("dedup", "--redis", url(server), "--state", "bytes",
                                         "--url", data=data, status=2)


@case
def wrong_options_are_refused():
    with Server() as server:
        at = ("--redis", url(server))
        assert "--state NAME" in deja("dedup", *at, status=2)
        assert "no cache" in deja("check", *at, "none", status=2)
        assert "need --redis" in deja("dedup", "--shards", "4", status=2)
        assert "do not work with --redis" in deja("dedup", *at, "--state", "x", "--seed", "1",
                                                status=2)
        assert "without braces" in deja("dedup", *at, "--state", "a{b", status=2)
        for bad in ("http://x", "redis://", "redis://h:0", "redis://h:99999", "redis://h:1/x",
                    "redis://:", "redis://[::1", "redis://[::1]x:1", "redis://[]:1",
                    "redis://u:secret@h:0"):
            complaint = deja("dedup", "--redis", bad, "--state", "x", status=2)
            assert "not the URL of a server" in complaint and "secret" not in complaint, complaint
        deja("dedup", *at, "--state", "x", "--shards", "4", data=b"a\n")
        bare = url(server).removeprefix("redis://")
        assert deja("dedup", "--redis", bare, "--state", "x", data=b"a\n") == b""
        assert "4 shards, not 5" in deja("dedup", *at, "--state", "x", "--shards", "5", status=2)
        r = server.client()
        for text in ("something else", "", "deja-cache 2 shards=4 profile=none rules=0",
                     "deja-cache 1 shards=4 profile=none", "deja-cache 1 shards=4 profile= rules=0",
                     "deja-cache 1 shards=0 profile=none rules=0",
                     "deja-cache 1 shards=16385 profile=none rules=0",
                     "deja-cache 1 shards=99999999999999999999 profile=none rules=0",
                     "deja-cache 1 shards=4 profile=" + "x" * 99 + " rules=0"):
            r.set("text", text)
            complaint = deja("dedup", *at, "--state", "text", status=2)
            assert "not a deja cache" in complaint, (text, complaint)
        r.delete("{x:2}")
        assert "lost this shard" in deja("check", *at, "x", data=lines(0, 100), status=2)
        r.config_set("requirepass", "secret")
        assert "NOAUTH" in deja("dedup", *at, "--state", "x", status=2)
        with_secret = f"redis://:secret@127.0.0.1:{server.port}"
        expect(deja("dedup", "--redis", with_secret, "--state", "y", "-q", data=b"a\n"), b"a\n")
        expect(deja("dedup", "--redis", with_secret + "/3", "--state", "y", "-q", data=b"a\n"),
               b"a\n")
        r.config_set("requirepass", "a/b@c%")
        for coded in ("a%2Fb%40c%25", "a%2fb@c%"):
            expect(deja("check", "--redis", f"redis://:{coded}@[127.0.0.1]:{server.port}", "-q",
                        "y", data=b"a\n"), b"a\n")
    assert "refused" in deja("dedup", *at, "--state", "x", status=2)


class Running:
    """A dedup that is fed slowly, with its output."""

    def __init__(self, server, name, *words):
        self.p = subprocess.Popen([DEJA, "dedup", "--redis", url(server), "--state", name, *words],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment())
        self.out = []
        self.thread = threading.Thread(target=lambda: self.out.extend(self.p.stdout), daemon=True)
        self.thread.start()

    def feed(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def end(self):
        self.p.stdin.close()
        self.p.stdin = None
        self.thread.join(600)
        _, self.err = self.p.communicate(timeout=600)
        assert self.p.returncode == 0, self.err
        return self.out


@case
def killed_connections_lose_no_line():
    with Server() as server:
        r = server.client()
        job = Running(server, "seen")
        for i in range(40):
            job.feed(lines(i * 1000, i * 1000 + 1000))
            r.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            time.sleep(0.01)
        out = job.end()
        # A line may be printed twice if an answer was lost; none is missing except for false
        # positives, at a rate of 1e-6.
        assert 40000 - len(set(out)) <= 2, len(set(out))
        expect(deja("check", "--redis", url(server), "-q", "-c", "seen", data=lines(0, 40000)),
               b"40000\n")


@case
def a_killed_server_loses_no_printed_line():
    with Server("--appendonly", "yes", "--appendfsync", "always") as server:
        job = Running(server, "seen")
        for i in range(30):
            job.feed(lines(i * 1000, i * 1000 + 1000))
            if i % 10 == 5:
                until("some lines", lambda: len(job.out) > 1000)
                server.kill()
                time.sleep(0.2)
                server.restart()
        out = job.end()
        assert 30000 - len(set(out)) <= 2, len(set(out))
        # Printed lines are in the cache: the next run prints none of them.
        again = deja("dedup", "--redis", url(server), "--state", "seen", "-q",
                     data=lines(0, 30000))
        expect(again, b"")


@case
def a_lost_server_and_its_return_are_messages():
    with Server("--appendonly", "yes", "--appendfsync", "always") as server:
        address = f"127.0.0.1:{server.port}"
        for words, wanted in (("-j1",), 2), (("-q",), 0):
            job = Running(server, "seen" + words[0], *words)
            messages = []
            reader = threading.Thread(target=lambda: messages.extend(job.p.stderr), daemon=True)
            reader.start()
            for outage in range(wanted or 1):
                job.feed(lines(10 * outage, 10 * outage + 5))
                until("the first lines", lambda: len(job.out) == 10 * outage + 5)
                server.kill()
                job.feed(lines(10 * outage + 5, 10 * outage + 10))
                lost = f"deja dedup: lost the server at {address}: ".encode()
                if wanted:
                    until("a message", lambda: any(m.startswith(lost) for m in messages[outage * 2:]))
                    assert len(messages) == outage * 2 + 1, messages
                    assert b"; retrying for up to 60 s" in messages[-1], messages
                server.restart()
                until("the other lines", lambda: len(job.out) == 10 * outage + 10)
                if wanted:
                    until("a message", lambda: len(messages) == outage * 2 + 2)
                    back = f"deja dedup: the server at {address} is back after ".encode()
                    assert messages[-1].startswith(back), messages
            job.p.stdin.close()
            assert job.p.wait(600) == 0, messages
            reader.join(600)
            assert len(messages) == (5 if wanted else 0), messages  # and the summary
            if not wanted:
                continue
            # A connection that is restored at once is not worth a message.
            job = Running(server, "again")
            job.feed(lines(0, 5))
            until("the first lines", lambda: len(job.out) == 5)
            server.client().execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            job.feed(lines(5, 10))
            job.end()
            assert b"server" not in job.err, job.err


@case
def dedup_waits_for_replicas():
    with Server() as primary, Server("--replicaof", "127.0.0.1", str(primary.port)) as replica:
        until("replica", lambda: replica.client().info("replication")["master_link_status"] ==
              "up")
        at = ("--redis", url(primary), "--state", "seen", "-q", "--replicas", "1")
        expect(deja("dedup", *at, data=lines(0, 3000)), lines(0, 3000))
        q = replica.client()
        found = sum(sum(q.execute_command("BF.MEXISTS", "{seen:%d}" % s,
                                          *lines(0, 3000).split()))
                    for s in range(16))
        assert found >= 3000, found


run(globals())
