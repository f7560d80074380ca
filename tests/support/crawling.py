"""Real crawls by a real Scrapy, of the example site on 127.0.0.1, for tests/python/*.py.

DEJA_TEST_REACTOR names a reactor of Twisted, such as twisted.internet.epollreactor.EPollReactor.
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pydeja

from site_server import Site  # noqa: F401  # the tests take it from here

SPIDER = pydeja.SOURCE / "python" / "examples" / "spider.py"
CAREFUL = pydeja.SOURCE / "tests" / "support" / "careful_spider.py"
DEFAULT = {"DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter",
           "REQUEST_FINGERPRINTER_CLASS": "scrapy.utils.request.RequestFingerprinter"}
PATIENCE = 1800
REACTOR = os.environ.get("DEJA_TEST_REACTOR")  # instead of Scrapy's default


class Crawl:
    """One run of the spider: `pages` as it wrote them, `log`, and Scrapy's `stats`."""

    runs = 0

    def __init__(self, site, spider=SPIDER, **settings):
        Crawl.runs += 1
        self._out, self._log, self._stats = (Path(f"run{Crawl.runs}.{end}") for end in ("jl", "log", "stats"))
        settings.setdefault("LOG_LEVEL", "DEBUG")
        if REACTOR:
            settings.setdefault("TWISTED_REACTOR", REACTOR)
        settings["LOG_FILE"] = self._log
        settings["STATS_DUMP"] = True
        flags = [flag for name, value in settings.items() for flag in ("-s", f"{name}={value}")]
        with open(f"run{Crawl.runs}.err", "wb") as errors:
            self._process = subprocess.Popen([sys.executable, str(spider), site.url, "-o", str(self._out), *flags],
                                             stderr=errors)

    def wait(self):
        try:
            status = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            raise
        assert status == 0, f"exit {status}\n{self.log[-3000:]}"
        return self

    def kill(self, condition, how=signal.SIGKILL):
        """Kills it when the condition holds."""
        while not condition():
            assert self._process.poll() is None, "the crawl ended too early\n" + self.log[-3000:]
            time.sleep(0.002)
        self._process.send_signal(how)
        self._process.wait(PATIENCE)
        return self

    @property
    def log(self):
        return self._log.read_text() if self._log.exists() else ""

    @property
    def pages(self):
        """Titles in order; torn lines of a killed run do not count."""
        if not self._out.exists():
            return []
        return [int(json.loads(line)["title"].split()[1]) for line in self._out.read_text().splitlines(True)
                if line.endswith("\n")]

    @property
    def stats(self):
        import datetime

        text = self.log.split("Dumping Scrapy stats:\n")[1]
        return eval(text[:text.index("}\n") + 1], {"datetime": datetime})


def crawl(site, spider=SPIDER, **settings):
    return Crawl(site, spider, **settings).wait()
