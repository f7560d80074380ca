"""machines - deja.Machines and DEJA_REDIS_URL with several servers: filters on F servers."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

import pydeja

pydeja.need_scrapy()
from crawling import Crawl, Site  # noqa: E402
import deja  # noqa: E402
from deja import _peer  # noqa: E402
from deja._keyspool import KeySpool  # noqa: E402

MODULE = os.environ.get("DEJA_MODULE", os.path.join(os.environ["BUILD"], "redis", "deja.so"))
COMMAND = os.environ.get("DEJA") or os.path.join(os.environ["BUILD"], "deja")
PAGES = 60


class Server:
    def __init__(self, folder):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.url, self.folder = f"redis://127.0.0.1:{self.port}", os.path.join(folder, str(self.port))
        os.mkdir(self.folder)
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--dir", self.folder,
             "--appendonly", "yes", "--appendfsync", "always", "--loadmodule", MODULE], stdout=subprocess.DEVNULL)
        while self.ask("PING") != b"PONG":
            if self.process.poll() is not None:
                raise AssertionError("the server ended")
            time.sleep(0.02)

    def ask(self, *words):
        peer = _peer.Peer(self.url)
        if peer.connect():
            peer.send([_peer.packed(words)])
            while peer.busy:
                _peer.wait([peer], 1)
        peer.close()
        return peer.replies[0] if peer.replies else None

    def kill(self):
        self.process.kill()
        self.process.wait()


def urls(first, last):
    return [f"http://example.com/{i}" for i in range(first, last)]


@unittest.skipUnless(shutil.which("redis-server") and os.path.exists(MODULE), "no redis-server, or no module")
class Together(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        os.environ["XDG_STATE_HOME"] = os.path.join(self.folder.name, "state")
        self.servers = [Server(self.folder.name) for _ in range(3)]
        self.urls = [s.url for s in self.servers]

    def tearDown(self):
        for server in self.servers:
            server.kill()
        self.folder.cleanup()

    def spools(self):
        folder = os.path.join(os.environ["XDG_STATE_HOME"], "deja")
        return os.listdir(folder) if os.path.isdir(folder) else []

    def command(self, *words, keys, status=0):
        redis = [w for url in self.urls for w in ("--redis", url)]
        run = subprocess.run([COMMAND, words[0], *redis, *words[1:]], input="".join(k + "\n" for k in keys), text=True,
                             capture_output=True)
        self.assertEqual(run.returncode, status, run.stderr)
        return run.stdout.split()

    def test_the_answers_are_those_of_one_filter(self):
        size = dict(kind="classic", capacity=2000, fp_rate=0.05, seed=7)
        whole = deja.Filter(filters=3, **size)
        with deja.Machines(self.urls, "seen", **size) as seen:
            seen.add_many(urls(0, 3000))
            whole.add_many(urls(0, 3000))
            want = [bool(x) for x in whole.contains_many(urls(0, 20000))]
            self.assertGreater(sum(want), 3100)
            self.assertEqual(seen.contains_many(urls(0, 20000)), want)
            self.assertEqual([row[:2] for row in seen.answered()], [(3, 23000), (2, 0), (1, 0)])
        self.assertEqual(self.spools(), [])

    def test_the_command_and_the_package_share_a_cache(self):
        with deja.Machines(self.urls, "a", capacity=10000, shards=4) as a:
            self.assertEqual(a.add_many([*urls(0, 100), *urls(0, 100)]), [True] * 100 + [False] * 100)
            self.assertFalse(a.add("http://example.com/5"))
            self.assertIn("http://example.com/5", a)
        self.assertEqual(self.command("dedup", "-q", "--state", "a", keys=urls(50, 110)), urls(100, 110))
        self.command("dedup", "-q", "--state", "b", "-n", "1000", keys=urls(0, 100))
        with deja.Machines(self.urls, "b") as b:
            self.assertEqual(sum(b.add_many(urls(0, 120))), 20)
            self.assertEqual(b.shards, 1)
        self.assertEqual(self.command("check", "-q", "-c", "b", keys=urls(0, 120)), ["120"])

    def test_a_missing_server_gets_its_keys_later(self):
        with deja.Machines(self.urls, "seen", capacity=10000) as seen:
            seen.add_many(urls(0, 100))
            self.servers[1].kill()
            self.assertEqual(sum(seen.add_many(urls(0, 300))), 200)
            self.assertEqual(sum(seen.add_many(urls(0, 300))), 0)
            self.assertEqual(list(seen.waiting().values()), [200])
            self.assertEqual([row[1] for row in seen.answered()], [100, 600, 0])
        self.assertEqual(len(self.spools()), 1)
        # Another process, and the command, continue: their spools are the same files.
        with deja.Machines(self.urls, "seen") as seen:
            self.assertEqual(sum(seen.add_many(urls(0, 310))), 10)
            self.assertEqual(list(seen.waiting().values()), [210])
        self.assertEqual(self.command("dedup", "-q", "--state", "seen", keys=urls(0, 320)), urls(310, 320))
        self.servers[1].start()
        self.assertEqual(self.command("check", "-q", "-c", "seen", keys=urls(0, 320)), ["320"])
        self.assertEqual(self.spools(), [])
        self.assertEqual(self.servers[1].ask("DEJA.CHECK", "{seen.2:0}", *urls(0, 320)), [1] * 320)

    def test_a_server_that_returns_answers_again(self):
        with deja.Machines(self.urls, "seen", capacity=10000) as seen:
            self.servers[0].kill()
            seen.add_many(urls(0, 100))
            self.servers[0].start()
            end = time.monotonic() + 60
            while seen.waiting() and time.monotonic() < end:
                seen.add("x")
                time.sleep(0.1)
            self.assertEqual(seen.waiting(), {})
        self.assertEqual(self.servers[0].ask("DEJA.CHECK", "{seen.1:0}", *urls(0, 100)), [1] * 100)

    def test_a_hung_server_counts_as_missing(self):
        with deja.Machines(self.urls, "seen", capacity=10000) as seen:
            seen.add_many(urls(0, 100))
            self.servers[2].process.send_signal(signal.SIGSTOP)
            silence, _peer.SILENCE = _peer.SILENCE, 0.5
            try:
                self.assertEqual(sum(seen.add_many(urls(0, 200))), 100)
                self.assertEqual(sum(seen.add_many(urls(0, 300))), 100)
            finally:
                _peer.SILENCE = silence
                self.servers[2].process.send_signal(signal.SIGCONT)

    def test_servers_that_do_not_fit_are_errors(self):
        with deja.Machines(self.urls, "seen", capacity=10000) as seen:
            seen.add_many(urls(0, 10))
        a, b, c = self.urls
        with self.assertRaisesRegex(deja.MismatchError, "in the order"):
            deja.Machines([b, a, c], "seen")
        with self.assertRaisesRegex(deja.MismatchError, "consists of 3 filters"):
            deja.Machines([a, b], "seen")
        with self.assertRaisesRegex(deja.ArgumentError, "give 2 to 16"):
            deja.Machines([a], "seen")
        with self.assertRaisesRegex(deja.ArgumentError, "give capacity"):
            deja.Machines(self.urls, "new")
        with self.assertRaisesRegex(deja.ArgumentError, "blocked or classic"):
            deja.Machines(self.urls, "new", kind="window", capacity=10)
        with self.assertRaisesRegex(deja.ArgumentError, "not the URL of a server") as e:
            deja.Machines([a, b, "redis://:secret@h:0"], "seen")
        self.assertNotIn("secret", str(e.exception))
        self.servers[1].ask("FLUSHALL")
        with self.assertLogs("deja", "ERROR") as log, deja.Machines(self.urls, "seen") as seen:
            self.assertEqual(sum(seen.add_many(urls(0, 20))), 10)
            self.assertEqual(seen.waiting(), {})
        self.assertIn("server 2 at", log.output[0])
        self.assertIn("has lost its filter of seen", log.output[0])
        self.servers[0].kill()
        with self.assertRaisesRegex(deja.Error, "a new cache needs all its servers"):
            deja.Machines(self.urls, "new", capacity=10)
        for server in self.servers[1:]:
            server.kill()
        with self.assertRaisesRegex(deja.Error, "none of the 3 servers answers"):
            deja.Machines(self.urls, "seen")

    def test_a_full_spool_is_an_error_before_anything_is_added(self):
        with deja.Machines(self.urls, "seen", capacity=10000, spool_size="1k") as seen:
            self.servers[2].kill()
            self.assertTrue(seen.add("a"))
            with self.assertRaisesRegex(deja.FullError, "the spool for server 3 is full"):
                seen.add_many(urls(0, 100))
            self.assertNotIn("http://example.com/0", seen)

    def test_spiders_share_three_servers_and_lose_one(self):
        site = Site(PAGES).start()
        try:
            settings = {"DEJA_REDIS_URL": ",".join(self.urls), "DEJA_CAPACITY": 1000}
            first = Crawl(site, **settings).wait()
            self.assertEqual(sorted(set(first.pages)), list(range(PAGES)))
            self.assertEqual(first.stats["deja/answered_by_2"], 0)
            self.servers[1].kill()
            second = Crawl(site, **settings).wait()
            self.assertLessEqual(len(second.pages), 1)
            self.assertGreater(second.stats["deja/answered_by_2"], 0)
            self.assertIn("continuing without it", second.log)
        finally:
            site.shutdown()
            site.server_close()


class Files(unittest.TestCase):
    def test_damaged_files_lose_only_what_is_damaged(self):
        with tempfile.TemporaryDirectory() as folder:
            def spool():
                return KeySpool(folder, "a/b", 2, 99, 1 << 20)

            first = spool()
            first.put([b"key %d" % i for i in range(3)])
            first.close()
            (name,) = os.listdir(folder)
            path = os.path.join(folder, name)
            self.assertEqual(name, "a_b-0000000000000063-2.0.spool")
            self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
            with open(path, "rb") as f:
                whole = f.read()
            for cut in range(64, len(whole) + 1):
                with open(path, "wb") as f:
                    f.write(whole[:cut])
                one = spool()
                self.assertEqual([k for some in one.batches(2) for k in some],
                                 [b"key %d" % i for i in range((cut - 64) // 17)])
                self.assertEqual(one.damaged, (cut - 64) % 17)
                os.close(one._fd)
            for at in range(len(whole)):
                with open(path, "wb") as f:
                    f.write(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:])
                if at < 64:
                    with self.assertRaises(deja.FormatError):
                        spool()
                    continue
                one = spool()
                self.assertEqual(one.keys, (at - 64) // 17)
                os.close(one._fd)

    def test_replies_that_are_cut_or_wrong(self):
        whole = b"*4\r\n:1\r\n$2\r\nab\r\n*1\r\n-ERR x\r\n$-1\r\n"
        self.assertEqual(_peer.parse_reply(bytearray(whole)), ([1, b"ab", ["ERR x"], None], len(whole)))
        for cut in range(len(whole)):
            with self.assertRaises(_peer._Partial):
                _peer.parse_reply(bytearray(whole[:cut]))
        for bad in (b"x\r\n", b":x\r\n", b"*99999999999\r\n", b"$99999999999\r\n", b"*1\r\n" * 20):
            with self.assertRaises((ValueError, _peer._Partial)):
                _peer.parse_reply(bytearray(bad + b"\r\n"))


if __name__ == "__main__":
    unittest.main()
