"""scrapy_long - the tests of the plugin pass with the newest Scrapy and redis-py, with each reactor.

A virtual environment gets them from the package index.  With the asyncio reactor, Scrapy's default,
all tests run; with Twisted's own reactors, those that crawl.  In Debian's Python, the other tests run
with Debian's Scrapy; here they also run with Twisted's reactor.  A deprecation warning in our modules
is an error.
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import pydeja

PLUGIN = ("fingerprints", "settings", "crawl", "crawl_sieve", "shared", "failover")
CRAWLS = ("crawl", "crawl_sieve", "shared")
OURS = "scrapy _waiting _server _machines _filter _sieve".split()


def newest():
    """Return the Python of a new environment, or None."""
    made = subprocess.run([sys.executable, "-m", "venv", "env"], capture_output=True, text=True)
    python = Path("env/bin/python").absolute()
    if made.returncode != 0:
        pydeja.skip("no venv for this Python (Debian: python3-venv)")
    done = subprocess.run([python, "-m", "pip", "install", "-q", "scrapy", "redis"], capture_output=True, text=True)
    if done.returncode != 0:
        pydeja.skip(f"no package index: {done.stderr.strip().splitlines()[-1:]}")
    return python


def run(python, test, reactor=None):
    """Run a test; return its status and output."""
    warnings = ",".join(f"error::DeprecationWarning:deja.{module}" for module in OURS)
    environment = {**os.environ, "DEJA_TEST_PYTHON": str(python), "PYTHONWARNINGS": warnings}
    if reactor:
        environment["DEJA_TEST_REACTOR"] = f"twisted.internet.{reactor}"
    script = pydeja.SOURCE / "tests" / "python" / f"{test}.py"
    done = subprocess.run([pydeja.SOURCE / "tests" / "support" / "run-script", script], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"{test} {reactor or 'asyncio'}: {done.stdout.strip().splitlines()[-1:]}", flush=True)
    return done.returncode, done.stdout


class Newest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = newest()
        print(subprocess.run([cls.python, "-m", "scrapy", "version"], capture_output=True, text=True).stdout.strip())

    def passes(self, tests, python, reactor=None):
        for test in tests:
            with self.subTest(test, reactor=reactor):
                status, out = run(python, test, reactor)
                self.assertEqual(status, 0, out[-5000:])

    def test_with_asyncio(self):
        self.passes(PLUGIN, self.python)

    def test_with_epoll(self):
        self.passes(CRAWLS, self.python, "epollreactor.EPollReactor")

    def test_with_select(self):
        self.passes(["crawl"], self.python, "selectreactor.SelectReactor")

    def test_debian_with_asyncio(self):
        if subprocess.run([pydeja.SYSTEM, "-c", "import scrapy, redis"], capture_output=True).returncode != 0:
            self.skipTest("no Scrapy and redis-py for Debian's Python (Debian: python3-scrapy python3-redis)")
        self.passes(CRAWLS, pydeja.SYSTEM, "asyncioreactor.AsyncioSelectorReactor")

    def test_nothing_of_ours_is_deprecated(self):
        """Scrapy's own warnings name what a plugin should change."""
        code = ("import warnings; warnings.simplefilter('error')\n"
                "import scrapy\nwarnings.simplefilter('always')\n"
                "import deja.scrapy\nfrom scrapy.utils.test import get_crawler\n"
                "from scrapy.utils.misc import build_from_crawler\n"
                "crawler = get_crawler()\n"
                "for cls in (deja.scrapy.DejaRequestFingerprinter, deja.scrapy.DejaDupeFilter):\n"
                "    crawler.request_fingerprinter = one = build_from_crawler(cls, crawler)\n"
                "one.request_seen(scrapy.Request('http://a.example/'))\n")
        done = subprocess.run([self.python, "-c", code], capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if re.search(r"Deprecat.*deja|deja.*Deprecat", line)]
        self.assertEqual((done.returncode, said), (0, []), done.stderr[-3000:])


if __name__ == "__main__":
    unittest.main()
