"""filters - `deja dedup|check|add --redis A --redis B --redis C`: filter i of F on server i.

The answers are compared with those of one process that has the same F filters (--filters F, with the
same seed), at rates that are high enough for false positives: the false positives must be the same
lines."""

import glob
import json
import os
import re
import signal
import subprocess
import threading
import time

from redisrun import Server, case, environment, expect, run, skip, until

DEJA = os.environ["DEJA"]
probe = subprocess.run([DEJA, "check", "--redis", "redis://127.0.0.1:1", "x"], input=b"",
                       capture_output=True)
if b"without hiredis" in probe.stderr:
    skip("the command was built without hiredis (Debian: libhiredis-dev)")

os.environ["XDG_STATE_HOME"] = os.path.abspath("state")
DURABLE = "--appendonly", "yes", "--appendfsync", "always"
SIZE = "-k", "classic", "-n", "20000", "-p", "0.05", "--seed", "7"


def deja(*words, data=b"", status=0):
    p = subprocess.run([DEJA, *words], input=data, capture_output=True, timeout=600)
    assert p.returncode == status, (words, p.returncode, p.stdout[:300], p.stderr)
    return p.stdout if status != 2 else p.stderr.decode()


def told(*words, data=b""):
    p = subprocess.run([DEJA, *words], input=data, capture_output=True, timeout=600)
    assert p.returncode == 0, (words, p.stderr)
    return p.stdout, p.stderr.decode()


def lines(first, last):
    return b"".join(b"http://example.com/%d\n" % i for i in range(first, last))


def redis(*servers):
    return [w for s in servers for w in ("--redis", f"redis://127.0.0.1:{s.port}")]


class Three:
    """Three servers; the spools are in a folder of their own."""

    count = 0

    def __init__(self, *options):
        Three.count += 1
        os.environ["XDG_STATE_HOME"] = os.path.abspath(f"state{Three.count}")
        self.servers = [Server(*options) for _ in range(3)]
        self.words = redis(*self.servers)

    def __enter__(self):
        return self

    def __exit__(self, *why):
        for server in self.servers:
            server.__exit__(*why)

    def spools(self):
        return glob.glob(os.path.join(os.environ["XDG_STATE_HOME"], "deja", "*"))


class Running:
    """A dedup that is fed slowly, with its output."""

    def __init__(self, *words):
        self.p = subprocess.Popen([DEJA, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, env=environment())
        self.out, self.err = [], []
        self.threads = [threading.Thread(target=lambda: self.out.extend(self.p.stdout), daemon=True),
                        threading.Thread(target=lambda: self.err.extend(self.p.stderr), daemon=True)]
        for thread in self.threads:
            thread.start()

    def feed(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def says(self, text):
        until(text, lambda: any(re.search(text, line.decode()) for line in self.err))

    def end(self, status=0):
        self.p.stdin.close()
        assert self.p.wait(600) == status, (self.p.returncode, self.err)
        for thread in self.threads:
            thread.join(600)
        return b"".join(self.out)


@case
def three_servers_answer_as_one_process():
    with Three() as t:
        data, check = lines(0, 30000) + lines(10000, 20000) + lines(30000, 40000), lines(30000, 90000)
        for i, size in enumerate((SIZE, ("-n", "20k", "-p", "0.05", "--seed", "9"),
                                  ("-k", "classic", "-n", "20k", "--hashes", "2", "--multiplier", "1", "--seed", "3"),
                                  ("-k", "classic", "-n", "20k", "-m", "30k", "--seed", "3"))):
            name, local = f"seen{i}", f"local{i}.deja"
            deja("dedup", "-q", "--filters", "3", "--state", local, *size, data=data)
            got, report = told("dedup", "--verbose", "--filters", "3", *t.words, "--state", name, *size, data=data)
            assert 35000 < got.count(b"\n") == len(set(got.split())) < 39900, got.count(b"\n")
            assert "by 3 of 3 servers (rate " in report, report
            # dedup looks up a batch before it adds any of it, so which lines of a batch hide others
            # depends on its size.  But the same keys set the same bits: from here on, all answers are the same.
            want = deja("check", "-q", local, data=check)
            assert want.count(b"\n") > 10100, want.count(b"\n")
            expect(deja("check", "-q", *t.words, name, data=check), want)
            r = [server.client() for server in t.servers]
            for j in range(3):
                info = r[j].execute_command("DEJA.INFO", "{%s.%d:0}" % (name, j + 1))
                info = dict(zip(info[0::2], info[1::2]))
                assert (info[b"machine"], info[b"filters"]) == (j + 1, 3), info
        more = [json.loads(deja("add", "--json", *words, data=lines(50000, 55000)))
                for words in ((*t.words, "seen0"), ("local0.deja",))]
        more = [report[0] if isinstance(report, list) else report for report in more]
        assert 0 < more[0]["added"] == more[1]["added"] < 5000, more
        expect(deja("check", "-q", "-v", *t.words, "seen0", data=check),
               deja("check", "-q", "-v", "local0.deja", data=check))
        assert not t.spools(), t.spools()


@case
def a_server_that_was_killed_gets_what_it_missed():
    with Three(*DURABLE) as t:
        parts = [lines(3000 * i, 3000 * i + 4000) for i in range(6)]
        job = Running("dedup", *t.words, "--state", "seen", *SIZE)

        def feed(i):
            before = len(job.out)
            job.feed((parts[i] if i < len(parts) else b"") + b"the end of part %d\n" % i)
            until(f"part {i}", lambda: b"the end of part %d\n" % i in job.out[before:])
            return job.out[before:-1]

        assert len(feed(0)) > 3900
        t.servers[1].kill()
        two = [feed(1), feed(2)]
        job.says(r"lost server 2 at .*; continuing with the others")
        for i, got in enumerate(two):
            # Two of three filters find more false positives, and never miss a key.
            assert len(got) > 2700, len(got)
            assert set(got) <= set(lines(3000 * i + 4000, 3000 * i + 7000).splitlines(True))
        assert len(t.spools()) == 1 and os.stat(t.spools()[0]).st_mode & 0o777 == 0o600, t.spools()
        t.servers[1].restart()
        time.sleep(1)
        for i in range(3, 1000):
            feed(i)
            if any(b"is back after" in e for e in job.err):
                break
            time.sleep(0.1)
        out = job.end()
        assert not t.spools(), t.spools()
        summary = b"".join(job.err).decode()
        assert re.search(r"answered: [\d,]+ by 3 of 3 servers \(rate .*\), [\d,]+ by 2 of 3 \(rate ", summary), summary
        assert re.search(r"server 2 at .* got [\d,]+ keys that it had missed", summary), summary
        # All three have all printed lines now, so no printed line is ever new again.
        for i in range(3):
            alone = t.servers[i].client()
            for part in range(0, len(job.out), 1000):
                keys = [line.rstrip() for line in job.out[part:part + 1000]]
                assert all(alone.execute_command("DEJA.CHECK", "{seen.%d:0}" % (i + 1), *keys)), i
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=out), b"")


@case
def the_same_answers_after_the_return():
    """A missing server loses nothing: what it gets later makes its filter the same, bit for bit."""
    with Three(*DURABLE) as t:
        tiny = "-k", "classic", "-n", "20000", "-p", "1e-9", "--seed", "7"  # no line is lost with two
        deja("dedup", "-q", *t.words, "--state", "seen", *tiny, data=lines(0, 1000))
        t.servers[0].kill()
        _, report = told("dedup", *t.words, "--state", "seen", data=lines(500, 3000))
        assert "2,000 keys for server 1 at" in report and "a later run delivers them" in report, report
        _, report = told("dedup", *t.words, "--state", "seen", data=lines(3000, 3500))
        assert "2,500 keys for server 1 at" in report, report
        t.servers[0].restart()
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(0, 3500)), b"")
        deja("dedup", "-q", "--state", "whole.deja", "--filters", "3", *tiny, data=lines(0, 3500))
        for i in range(3):
            deja("dedup", "-q", "--state", f"one{i}.deja", "--filters", "3", "--machine", f"{i + 1}", *tiny,
                 data=lines(0, 3500))
            with open("exported.deja", "wb") as f:
                f.write(t.servers[i].client().execute_command("DEJA.EXPORT", "{seen.%d:0}" % (i + 1)))
            with open(f"one{i}.deja", "rb") as f, open("exported.deja", "rb") as g:
                expect(g.read()[4096:4096 + 50000], f.read()[4096:4096 + 50000], f"body {i}")
        assert not t.spools()


@case
def a_hung_server_delays_only_one_batch():
    with Three() as t:
        deja("dedup", "-q", *t.words, "--state", "seen", "-n", "10k", data=lines(0, 100))
        job = Running("dedup", *t.words, "--state", "seen")
        job.feed(lines(0, 200))
        until("the first lines", lambda: len(job.out) == 100)
        t.servers[2].process.send_signal(signal.SIGSTOP)
        job.feed(lines(200, 300))
        until("lines of two servers", lambda: len(job.out) == 200)
        job.says(r"lost server 3 at .*: no reply in time; continuing")
        for i in range(5):
            job.feed(lines(300 + 10 * i, 310 + 10 * i))
            until("more lines", lambda: len(job.out) == 210 + 10 * i)
        t.servers[2].process.send_signal(signal.SIGCONT)
        time.sleep(1)
        until("the return", lambda: job.feed(lines(0, 1)) or any(b"is back after" in e for e in job.err)
              or time.sleep(0.2))
        job.end()
        expect(deja("check", "-q", "-c", *t.words, "seen", data=lines(0, 350)), b"350\n")


@case
def all_servers_missing_is_an_error():
    with Three(*DURABLE) as t:
        deja("dedup", "-q", *t.words, "--state", "seen", "-n", "10k", data=lines(0, 100))
        for server in t.servers:
            server.kill()
        complaint = deja("dedup", *t.words, "--state", "seen", data=lines(0, 100), status=2)
        assert "none of the 3 servers answers" in complaint and "refused" in complaint, complaint
        complaint = deja("dedup", *t.words, "--state", "other", "-n", "10", data=lines(0, 100), status=2)
        assert "none of the 3 servers answers" in complaint, complaint
        t.servers[0].restart()
        complaint = deja("dedup", *t.words, "--state", "other", "-n", "10", data=lines(0, 100), status=2)
        assert "a new cache needs all its servers" in complaint, complaint
        # One is enough for an existing cache, in any order of events.
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(90, 110)), lines(100, 110))
        t.servers[1].restart()
        t.servers[0].kill()  # server 2 has got from the spool what server 1 learned alone
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(90, 110)), b"")
        t.servers[0].restart()
        t.servers[2].restart()
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(0, 110)), b"")
        assert not t.spools(), t.spools()


@case
def a_server_that_lost_its_data_is_not_mixed_with_the_others():
    with Three() as t:
        deja("dedup", "-q", *t.words, "--state", "seen", "-n", "10k", data=lines(0, 1000))
        t.servers[1].client().flushall()
        got, report = told("dedup", *t.words, "--state", "seen", data=lines(0, 1010))
        expect(got, lines(1000, 1010))
        assert re.search("server 2 at .* has lost its filter of seen; restore its data; continuing without server 2",
                         report), report
        assert "1,010 by 2 of 3 servers" in report, report
        assert not t.spools()
        job = Running("dedup", *t.words, "--state", "seen")
        job.feed(lines(0, 1020))
        until("lines", lambda: len(job.out) == 10)
        t.servers[0].client().flushall()
        job.feed(lines(0, 1030))
        until("lines", lambda: len(job.out) == 20)
        job.says("server 1 at .* has lost its filter of seen")
        job.end()
        t.servers[2].client().flushall()
        complaint = deja("check", *t.words, "seen", data=lines(0, 10), status=2)
        assert "no cache seen" in complaint, complaint


@case
def other_servers_and_other_parameters_are_refused():
    with Three() as t, Three() as u:
        deja("dedup", "-q", *t.words, "--state", "seen", "-n", "10k", data=lines(0, 1000))
        deja("dedup", "-q", *u.words, "--state", "seen", "-n", "10k", data=lines(0, 1000))
        a, b, c = t.servers
        complaint = deja("check", *redis(b, a, c), "seen", status=2)
        assert re.search("has filter [12] of seen, but is server [12] here; give --redis in the order",
                         complaint), complaint
        complaint = deja("check", *redis(a, b), "seen", status=2)
        assert "seen consists of 3 filters: give --redis 3 times" in complaint, complaint
        complaint = deja("dedup", *redis(a, b, u.servers[2]), "--state", "seen", status=2)
        assert "filter of another cache named seen" in complaint, complaint
        complaint = deja("dedup", *t.words, "--filters", "2", "--state", "x", status=2)
        assert "--filters is 2, but --redis was given 3 times" in complaint, complaint
        complaint = deja("dedup", *redis(a), "--filters", "2", "--state", "x", status=2)
        assert "give --redis 2 times" in complaint, complaint
        for words, text in ((("-k", "window"), "-k window does not work with several"),
                            (("-k", "spectral"), "blocked and classic do"),
                            (("--key", "x"), "--key and --machine do not work"),
                            (("--machine", "1"), "--key and --machine do not work"),
                            (("--replicas", "1"), "cannot be combined"),
                            (("-m", "1M", "--shards", "2"), "cannot be combined with --shards"),
                            ((), "how many keys? give -n")):
            complaint = deja("dedup", *t.words, "--state", "new", *words, status=2)
            assert text in complaint, complaint
        complaint = deja("dedup", *redis(a), "--spool", "x", "--state", "y", status=2)
        assert "need --redis several times" in complaint, complaint
        # The description says one thing, and the filter another.
        export = c.client().execute_command("DEJA.EXPORT", "{seen.3:0}")
        theirs = u.servers[2].client().execute_command("DEJA.EXPORT", "{seen.3:0}")
        c.client().execute_command("DEJA.IMPORT", "{seen.3:0}", theirs, "REPLACE")
        complaint = deja("check", *t.words, "seen", status=2)
        assert "made with other parameters" in complaint, complaint
        c.client().execute_command("DEJA.IMPORT", "{seen.3:0}", export, "REPLACE")
        c.client().execute_command("DEJA.ROTATE", "{seen.3:0}", "CAPACITY", "10000")
        complaint = deja("check", *t.words, "seen", status=2)
        assert "visit 2, the others in 1" in complaint or "visit 1, the others in 2" in complaint, complaint
        for server in a, b:
            name = "{seen.%d:0}" % (1 + t.servers.index(server))
            server.client().execute_command("DEJA.ROTATE", name, "CAPACITY", "10000")
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(0, 10)), lines(0, 10))
        for text in ("", "x", "deja-machine 1 filter=3/3", "deja-machine 1 filter=3/3 shards=0 profile=none rules=0 "
                     "set=0000000000000000", "deja-machine 1 filter=1/3 making=zz", "deja-machine 1 filter=3/99 making=x"):
            c.client().set("seen.3", text)
            complaint = deja("check", *t.words, "seen", status=2)
            assert "not of a deja cache" in complaint, (text, complaint)


@case
def one_server_can_have_two_filters():
    with Server() as a, Server() as b:
        both = redis(a, a, b)
        deja("dedup", "-q", "--filters", "3", "--state", "one.deja", *SIZE, data=lines(0, 30000))
        deja("dedup", "-q", *both, "--state", "seen", *SIZE, data=lines(0, 30000))
        expect(deja("check", "-q", *both, "seen", data=lines(0, 60000)),
               deja("check", "-q", "one.deja", data=lines(0, 60000)))


@case
def a_full_spool_stops_the_run_before_a_line_is_lost():
    with Three(*DURABLE) as t:
        spool = "--spool", os.path.abspath("deep/er/spool")
        small = *spool, "--spool-size", "64k"
        # At a rate of 1e-12, two servers of three lose one line of 90,000 in 1,000 runs of this test.
        deja("dedup", "-q", *t.words, *small, "--state", "seen", "-n", "100k", "-p", "1e-12", data=lines(0, 100))
        t.servers[2].kill()
        deja("dedup", "-q", *t.words, *small, "--state", "seen", data=lines(100, 300))
        p = subprocess.run([DEJA, "dedup", *t.words, *small, "--state", "seen"], input=lines(300, 90000),
                           capture_output=True, timeout=600)
        complaint = p.stderr.decode()
        assert p.returncode == 2 and "the spool for server 3 is full" in complaint, complaint
        assert "--spool-size" in complaint, complaint
        rest = deja("dedup", "-q", *t.words, *spool, "--state", "seen", data=lines(0, 90000))
        expect(p.stdout + rest, lines(300, 90000))
        assert os.stat("deep/er/spool").st_mode & 0o777 == 0o700
        t.servers[2].restart()
        expect(deja("dedup", "-q", *t.words, *spool, "--state", "seen", data=lines(0, 90000)), b"")
        assert not os.listdir("deep/er/spool")


@case
def damaged_and_foreign_spools():
    with Three(*DURABLE) as t:
        spool = "--spool", os.path.abspath("spool9")
        at = *t.words, *spool
        deja("dedup", "-q", *at, "--state", "seen", "-n", "100k", data=lines(0, 100))
        t.servers[1].kill()
        deja("dedup", "-q", *at, "--state", "seen", data=lines(100, 300))
        (path,) = glob.glob("spool9/*")
        with open(path, "rb") as f:
            whole = f.read()
        for cut in (len(whole) - 1, len(whole) - 30, 64 + 5, 64, 63, 1, 0):
            with open(path, "wb") as f:
                f.write(whole[:cut])
            out, report = told("check", "-c", *at, "seen", data=lines(0, 300))
            expect(out, b"300\n")
            assert ("was damaged" in report) == (cut > 64), (cut, report)
        for bad in (b"x" * len(whole), whole[:20] + b"\x01" + whole[21:]):
            with open(path, "wb") as f:
                f.write(bad)
            assert "is not the spool of this cache" in deja("check", *at, "seen", status=2)
        os.remove(path)
        os.symlink("/etc/passwd", path)
        assert "cannot be opened" in deja("check", *at, "seen", status=2)
        os.remove(path)
        with open(path, "wb") as f:
            f.write(whole)
        # Two processes spool at a time; the next run takes over both files.  Lines come out before
        # their keys are in a file.
        jobs = [Running("dedup", *at, "--state", "seen") for _ in range(2)]
        size = len(whole) - 64
        for i, job in enumerate(jobs):
            new = lines(300 + 100 * i, 400 + 100 * i)
            size += sum(12 + len(line) for line in new.split())
            job.feed(new)
            until("lines", lambda: len(job.out) == 100)
            until("keys in the spool", lambda: size == sum(os.path.getsize(f) - 64 for f in glob.glob("spool9/*")))
        assert len(os.listdir("spool9")) == 2
        for job in jobs:
            job.p.send_signal(signal.SIGKILL)
            job.p.wait()
        t.servers[1].restart()
        expect(deja("dedup", "-q", *at, "--state", "seen", data=lines(0, 500)), b"")
        assert not os.listdir("spool9")
        alone = t.servers[1].client()
        assert all(alone.execute_command("DEJA.CHECK", "{seen.2:0}", *lines(0, 500).split()))


@case
def stopping_in_the_middle_keeps_the_spool():
    with Three(*DURABLE) as t:
        deja("dedup", "-q", *t.words, "--state", "seen", "-n", "100k", data=lines(0, 100))
        t.servers[0].kill()
        job = Running("dedup", *t.words, "--state", "seen")
        job.feed(lines(0, 5000))
        until("lines", lambda: len(job.out) == 4900)
        job.p.send_signal(signal.SIGINT)
        job.p.wait(600)
        t.servers[0].restart()
        expect(deja("dedup", "-q", *t.words, "--state", "seen", data=lines(0, 5000)), b"")


@case
def reports_urls_and_passwords():
    with Three() as t:
        for i, server in enumerate(t.servers):
            server.client().config_set("requirepass", f"p{i}")
        words = [w for i, s in enumerate(t.servers) for w in ("--redis", f"redis://:p{i}@127.0.0.1:{s.port}/{i}")]
        report = json.loads(subprocess.run([DEJA, "dedup", *words, "--json", "--url=crawl", "--state", "p", "-n", "1k",
                                            "--shards", "4"], input=b"http://A/?b=1&utm_source=x\nhttp://a/?b=1\n",
                                           capture_output=True, check=True).stderr)
        assert report["kept"] == 1 and report["shards"] == 4, report
        assert [a["servers"] for a in report["answered"]] == [3, 2, 1], report
        assert report["answered"][0]["keys"] == 1 and report["answered"][1]["keys"] == 0, report
        assert [s["state"] for s in report["servers"]] == ["answers"] * 3, report
        expect(deja("check", "-q", *words, "p", data=b"http://a/?b=1&gclid=2\n"), b"http://a/?b=1&gclid=2\n")
        wrong = [w.replace(":p1@", ":oops@") for w in words]
        out, said = told("check", *wrong, "p", data=b"http://a/?b=1\n")
        assert "continuing without it" in said and "oops" not in said, said
        assert "1 by 2 of 3 servers" in said, said


run(globals())
