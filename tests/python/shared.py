"""shared - spiders share one filter in a server (DEJA_REDIS_URL).

The tests use a small server in this file, and redis-server with the module if both are available
($BUILD/redis/deja.so, or DEJA_MODULE).
"""

import os
import re
import shutil
import socket
import socketserver
import subprocess
import threading
import time
import unittest
import unittest.mock

import pydeja

pydeja.need_scrapy()
try:
    import redis
except ImportError:
    pydeja.skip("no redis-py for python3 (Debian: python3-redis)")
from crawling import Crawl, Site, crawl  # noqa: E402
import deja  # noqa: E402
from deja import _server  # noqa: E402

PAGES = 60
HELLO = b"%1\r\n+proto\r\n:3\r\n"
MODULE = os.environ.get("DEJA_MODULE", os.path.join(os.environ["BUILD"], "redis", "deja.so"))


class BloomServer(socketserver.ThreadingTCPServer):
    """A server with BF.RESERVE, BF.ADD and DEJA.INFO over exact sets."""

    allow_reuse_address = daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), BloomHandler)
        self.sets, self.reserved, self.lock = {}, {}, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"redis://127.0.0.1:{self.server_address[1]}/"


class BloomHandler(socketserver.StreamRequestHandler):
    def handle(self):
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                length = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(length + 2)[:-2])
            with self.server.lock:
                self.wfile.write(self.answer(words[0].upper(), *words[1:]))

    def answer(self, command, name=b"", *rest):
        sets = self.server.sets
        if command == b"HELLO":  # from redis-py 8; the replies below are the same in both protocols
            return HELLO
        if command == b"BF.RESERVE":
            if name in sets:
                return b"-ERR item exists\r\n"
            sets[name], self.server.reserved[name] = set(), rest
            return b"+OK\r\n"
        if command == b"BF.ADD":
            new = rest[0] not in sets[name]
            sets[name].add(rest[0])
            return b":%d\r\n" % new
        if command == b"DEJA.INFO":
            found = {b"keys": len(sets[name]), b"bytes": 1, b"fp_now": 0, b"lost": 0, b"visit": 1}
            return b"*10\r\n" + b"".join(b"+%s\r\n:%d\r\n" % item for item in found.items())
        return b"-ERR unknown command\r\n" if command[:3] in (b"BF.", b"DEJ") else b"+OK\r\n"


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class RealServer:
    """redis-server with the module; skips the test if one is missing."""

    def __init__(self, *options):
        binary = shutil.which("redis-server")
        if not binary or not os.path.exists(MODULE):
            raise unittest.SkipTest("no redis-server, or no module")
        port = free_port()
        self.url = f"redis://127.0.0.1:{port}"
        self.process = subprocess.Popen([binary, "--bind", "127.0.0.1", "--port", str(port), "--save", "",
                                         "--loadmodule", MODULE, *options], stdout=subprocess.DEVNULL)
        self.client = redis.Redis.from_url(self.url)

    def __enter__(self):
        while self.process.poll() is None:
            try:
                self.client.ping()
                return self
            except redis.ConnectionError:
                time.sleep(0.02)
        raise AssertionError("the server exited")

    def __exit__(self, *_):
        self.client.close()
        self.process.kill()
        self.process.wait()


class Shared(unittest.TestCase):
    def setUp(self):
        self.site = Site(PAGES).start()

    def tearDown(self):
        self.site.shutdown()
        self.site.server_close()

    def two_spiders(self, url, **more):
        """Two spiders together fetch every page once; both fetch the start page."""
        settings = {"DEJA_REDIS_URL": url, "DEJA_CAPACITY": 1000, **more}
        both = [Crawl(self.site, **settings), Crawl(self.site, **settings)]
        pages = [page for run in both for page in run.wait().pages]
        self.assertEqual(sorted(set(pages)), list(range(PAGES)))
        self.assertLessEqual(len(self.site.asked), PAGES + 2)
        self.assertTrue(all(run.stats["deja/keys"] > 0 for run in both))

    def test_two_spiders_share_the_pages(self):
        server = BloomServer()
        self.two_spiders(server.url)
        self.assertEqual(list(server.sets), [b"deja:everything"])
        self.assertEqual(server.reserved[b"deja:everything"], (b"1e-06", b"1000"))
        self.assertEqual(len(server.sets[b"deja:everything"]), PAGES)

    def test_keys_are_canonical_urls_with_a_profile(self):
        server = BloomServer()
        crawl(self.site, DEJA_REDIS_URL=server.url, DEJA_REDIS_KEY="mine", DEJA_URL="crawl")
        self.assertIn(f"{self.site.url}q?id=5&view=full".encode(), server.sets[b"mine"])

    def test_options_that_a_server_lacks_are_named(self):
        server = BloomServer()
        run = crawl(self.site, DEJA_REDIS_URL=server.url, DEJA_OPTIONS='{"fingerprint_bits": 8}')
        self.assertIn("does not take the option fingerprint_bits", run.log)
        self.assertEqual((self.site.asked, server.sets), ([], {}))

    def test_shards_of_keys_are_those_of_the_command(self):
        """tests/unit/cli/server/test_shards.c lists the values, which never change."""
        known = re.findall(r'\{"([^"]*)", (\d+), (\d+), (\d+)\}',
                           (pydeja.SOURCE / "tests/unit/cli/server/test_shards.c").read_text())
        self.assertGreater(len(known), 2)
        for text, *shards in known:
            self.assertEqual([_server.shard_of(text.encode(), n) for n in (16, 256, 16384)], list(map(int, shards)))
        self.assertEqual(_server.shard_of(b"", 16), 15)

    def test_a_missing_module_or_server_is_an_error(self):
        class Plain(BloomHandler):
            def answer(self, command, *rest):
                if command == b"HELLO":
                    return HELLO
                return b"-ERR unknown command 'BF.RESERVE'\r\n" if command == b"BF.RESERVE" else b"+OK\r\n"

        server = BloomServer()
        server.RequestHandlerClass = Plain
        run = crawl(self.site, DEJA_REDIS_URL=server.url)
        self.assertIn("is the module deja loaded there?", run.log)
        run = crawl(self.site, DEJA_REDIS_URL="redis://127.0.0.1:1/")
        self.assertIn("Connection refused", run.log)
        self.assertEqual(self.site.asked, [])

    def test_a_server_that_fails_stops_the_crawl(self):
        class Failing(BloomHandler):
            def answer(self, command, *rest):
                if command == b"BF.ADD":
                    return b"-ERR out of memory\r\n"
                return super().answer(command, *rest)

        server = BloomServer()
        server.RequestHandlerClass = Failing
        run = crawl(self.site, DEJA_REDIS_URL=server.url)
        self.assertEqual(run.stats["finish_reason"], "deja_failed")
        self.assertIn("out of memory", run.log)

    def test_an_add_without_an_answer_is_not_repeated(self):
        """The server may have executed it: a second one would report a page as seen that nobody fetched."""
        class Mute(BloomHandler):
            def answer(self, command, *rest):
                found = super().answer(command, *rest)
                if command == b"BF.ADD" and len(self.server.sets[rest[0]]) > 5:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return b""
                return found

        server = BloomServer()
        server.RequestHandlerClass = Mute
        run = crawl(self.site, DEJA_REDIS_URL=server.url)
        self.assertEqual(run.stats["finish_reason"], "deja_failed")
        self.assertIn("Connection closed", run.log)

    def test_with_the_module(self):
        with RealServer() as server:
            self.two_spiders(server.url)
            self.assertEqual(server.client.execute_command("BF.CARD", "deja:everything"), PAGES)
            crawl(self.site, DEJA_REDIS_URL=server.url, DEJA_REDIS_KEY="kind", DEJA_KIND="exact", DEJA_CAPACITY=500,
                  DEJA_OPTIONS='{"seed": 7}')
            found = server.client.execute_command("DEJA.INFO", "kind")
            if not isinstance(found, dict):  # RESP2
                found = dict(zip(found[0::2], found[1::2]))
            self.assertEqual((found[b"kind"], found[b"keys"]), (b"scalable", PAGES))

    def shards(self, server):
        """Crawl with a cache of eight filters, then look URLs up with the command."""
        settings = {"DEJA_REDIS_URL": server.url, "DEJA_REDIS_KEY": "cache", "DEJA_REDIS_SHARDS": 8, "DEJA_URL": "crawl"}
        first = crawl(self.site, **settings)
        self.assertEqual(sorted(set(first.pages)), list(range(PAGES)))
        self.assertIn("8 shards", first.log)
        self.assertEqual(first.stats["deja/keys"], PAGES)
        self.assertEqual(crawl(self.site, **settings).pages, [0])  # Scrapy always requests the start page
        for wrong, word in (({"DEJA_REDIS_SHARDS": 4}, "has 8 shards, not 4"), ({"DEJA_URL": "safe"}, "other URL rules"),
                            ({"DEJA_REDIS_SHARDS": 20000}, "1 to 16384"), ({"DEJA_REDIS_KEY": "a{b}"}, "braces")):
            run = crawl(self.site, **{**settings, **wrong})
            self.assertIn(word, run.log)
            self.assertEqual(run.pages, [])
        if "DEJA" in os.environ:
            urls = f"{self.site.url}q?view=full&id=5\n{self.site.url}p/1\n{self.site.url}none\n"
            done = subprocess.run([os.environ["DEJA"], "check", "--redis", server.url, "--url=crawl", "cache"],
                                  input=urls, capture_output=True, text=True)
            if "hiredis" not in done.stderr:  # a build without hiredis
                self.assertEqual(done.stdout.splitlines(), urls.splitlines()[:2], done.stderr)

    def test_shards(self):
        with RealServer() as server:
            self.shards(server)

    def test_shards_give_up_on_a_dead_server(self):
        with RealServer() as server, unittest.mock.patch("deja._server.PATIENCE", 0.3):
            cache = _server.Shards(server.url, "cache", {"fp_rate": 1e-9}, 4, None)
            self.assertTrue(cache.add(b"a"))
            self.assertFalse(cache.add(b"a"))
            server.process.kill()
            with self.assertLogs("deja", "WARNING") as said, self.assertRaisesRegex(deja.Error, "no answer for"):
                cache.add(b"b")
            self.assertEqual(len(said.output), 1)
            self.assertEqual(cache.account(), {})
            cache.close()

    def test_shards_in_a_cluster(self):
        with RealServer("--cluster-enabled", "yes", "--cluster-port", str(free_port())) as server:
            server.client.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
            while server.client.execute_command("CLUSTER INFO")["cluster_state"] != "ok":
                time.sleep(0.05)
            self.shards(server)


if __name__ == "__main__":
    unittest.main()
