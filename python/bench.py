#!/usr/bin/env python3
"""Measure the Python package, as ratios within one run.

    python3 bench.py [-n 1000000] [--turns 9] [--urls FILE]   filters, sets and other packages
    python3 bench.py --crawl [--pages 2000] [--turns 3]       Scrapy with and without deja

The reference is the library itself: one call of deja_filter_add_batch on prepared slices.  The
subjects take turns in one process, each with a new filter or set.  Times are CPU time, because other
programs may be running: the best turn, and the median of the ratios of adjacent turns.  The answers
are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
try:
    import deja
except ImportError:
    sys.path.insert(0, str(HERE))
    import deja
from deja import _keys, _lib

try:
    import flor  # a Bloom filter package in pure Python
except ImportError:
    flor = None


# --- Keys -------------------------------------------------------------------------


def made_up(n: int) -> bytes:
    """Return n URLs of about the usual length, one per line."""
    return b"".join(b"https://www.site%d.example/%x/articles/%d/index.html\n" % (i * 7919 % 9973, i * 2654435761 % 2**32, i)
                    for i in range(n))


class PureBloom:
    """A Bloom filter as usually written in pure Python, for comparison."""

    def __init__(self, capacity: int, fp_rate: float) -> None:
        import math

        self.bits = int(-capacity * math.log(fp_rate) / math.log(2) ** 2) + 1
        self.hashes = max(1, round(self.bits / capacity * math.log(2)))
        self.body = bytearray(self.bits // 8 + 1)

    def add(self, key: bytes) -> bool:
        digest = hashlib.blake2b(key, digest_size=16).digest()
        a, b = int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:], "little") | 1
        is_new = False
        for _ in range(self.hashes):
            byte, bit = divmod(a % self.bits, 8)
            if not self.body[byte] >> bit & 1:
                self.body[byte] |= 1 << bit
                is_new = True
            a += b
        return is_new


def size_of_set(seen: set) -> int:
    return sys.getsizeof(seen) + sum(map(sys.getsizeof, seen))


class Keys:
    """The keys, and the subjects that add or look them up."""

    def __init__(self, data: bytes, fp_rate: float) -> None:
        self.data, self.rate = data, fp_rate
        self.lines = data.splitlines()
        self.texts = [line.decode() for line in self.lines]
        self.n = len(self.lines)
        self.slices = (_lib.Slice * self.n)()
        self.answers = ctypes.create_string_buffer(self.n)
        self.held = _keys.Held(data)
        with self.held as text:
            assert _lib.lib.deja_lines_split(ctypes.byref(text), b"\n", self.slices, self.n) == self.n

    def filter(self, **more: object) -> "deja.Filter":
        f = deja.Filter(capacity=self.n, fp_rate=self.rate, **more)
        f.add("page in")
        return f

    def library(self, f: "deja.Filter") -> int:
        _lib.lib.deja_filter_add_batch(f._handle, self.slices, self.n, self.answers, None, None)
        return 0

    def few(self, n: int) -> bytes:
        """Return the first n lines."""
        return self.data[:self.slices[n - 1].data - self.slices[0].data + self.slices[n - 1].len]

    def subjects(self) -> dict:
        few = self.n // 10  # for subjects that take microseconds per key
        subjects = {
            "libdeja, one call, slices ready": (self.filter, self.library, self.n),
            "add_many(buffer of lines)": (self.filter, lambda f: f.add_many(self.data), self.n),
            "contains_many(buffer of lines)": (self.filter, lambda f: f.contains_many(self.data), self.n),
            "add_many(buffer), url='crawl'": (lambda: self.filter(url="crawl"), lambda f: f.add_many(self.data), self.n),
            "contains_many(buffer), url='gsb'": (
                lambda: self.filter(url="gsb"), lambda f: f.contains_many(self.few(few)), few),
            "add_many(list of bytes)": (self.filter, lambda f: f.add_many(self.lines), self.n),
            "add_many(list of str)": (self.filter, lambda f: f.add_many(self.texts), self.n),
            "add(str), one by one": (self.filter, lambda f: [f.add(key) for key in self.texts[:few]], few),
            "set.update(buffer.split())": (set, lambda s: s.update(self.data.split(b"\n")), self.n),
            "set.add(str), one by one": (set, lambda s: [s.add(key) for key in self.texts], self.n),
            "set of SHA-1 in hexadecimal": (
                set, lambda s: [s.add(hashlib.sha1(key).hexdigest()) for key in self.lines], self.n),
            "Bloom filter in pure Python": (
                lambda: PureBloom(self.n, self.rate), lambda b: [b.add(key) for key in self.lines[:few]], few),
        }
        if flor:
            subjects["flor, Debian's python3-flor"] = (
                lambda: flor.BloomFilter(self.n, self.rate), lambda b: [b.add(key) for key in self.lines[:few]], few)
        return subjects

    def check(self) -> None:
        """Compare the number of new keys with an exact set."""
        exact = len(set(self.lines))
        for form in (self.data, self.lines, self.texts):
            new = sum(self.filter().add_many(form))
            assert abs(new - exact) <= 5 + 3 * self.rate * exact, (new, exact)


def bench_keys(data: bytes, fp_rate: float, turns: int) -> None:
    keys = Keys(data, fp_rate)
    keys.check()
    subjects = keys.subjects()
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(turns):
        for name, (make, run, n) in subjects.items():
            subject = make()
            begin = time.process_time()
            run(subject)
            times[name].append((time.process_time() - begin) / n)
    base_name = next(iter(subjects))
    base = min(times[base_name])
    print(f"{keys.n:,} keys, {len(data) / keys.n:.0f} bytes per line, rate {fp_rate:g}, best of {turns} turns")
    print(f"{'':34} {'ns/key':>8} {'times libdeja':>14} {'its speed':>10} {'median':>8}")
    for name, taken in times.items():
        best = min(taken)
        ratio = statistics.median(a / b for a, b in zip(times[base_name], taken))
        print(f"{name:34} {best * 1e9:8.1f} {best / base:14.2f} {base / best:10.3f} {ratio:8.3f}")
    f = keys.filter()
    print(f"\nbytes per key: deja {f.stats().bytes / keys.n:.2f}, "
          f"set of str {size_of_set(set(keys.texts)) / keys.n:.0f}, "
          f"set of hexadecimal SHA-1 (Scrapy) "
          f"{size_of_set({hashlib.sha1(key).hexdigest() for key in keys.lines}) / keys.n:.0f}")


# --- Scrapy -----------------------------------------------------------------------


def bench_fingerprints(data: bytes, turns: int) -> None:
    try:
        from scrapy import Request
        from scrapy.utils.request import fingerprint as theirs
    except ImportError:
        print("\nfingerprints not measured: no Scrapy (Debian: python3-scrapy)")
        return
    from deja.scrapy import fingerprint as ours

    urls = [line.decode("ascii", "ignore") for line in data.splitlines()[:20000]]
    taken: dict[str, list[float]] = {"Scrapy": [], "deja": []}
    for _ in range(turns):
        for name, make in (("Scrapy", theirs), ("deja", ours)):
            requests = [Request(url) for url in urls]
            begin = time.process_time()
            for request in requests:
                make(request)
            taken[name].append((time.process_time() - begin) / len(urls))
    best = {name: min(each) * 1e6 for name, each in taken.items()}
    print(f"\none fingerprint: Scrapy {best['Scrapy']:.1f} us, deja {best['deja']:.1f} us: "
          f"{best['Scrapy'] / best['deja']:.1f} times as fast")


def timed(name: str) -> type:
    """Return a REQUEST_FINGERPRINTER_CLASS that measures its own time."""

    class Timed:
        def __init__(self, crawler) -> None:
            from scrapy import signals
            from scrapy.utils.misc import load_object

            self.make = load_object(name).from_crawler(crawler).fingerprint
            self.crawler, self.times, self.begin = crawler, [], time.process_time()
            crawler.signals.connect(self.close, signal=signals.spider_closed)

        @classmethod
        def from_crawler(cls, crawler):
            return cls(crawler)

        def fingerprint(self, request) -> bytes:
            begin = time.perf_counter()
            made = self.make(request)
            self.times.append(time.perf_counter() - begin)
            return made

        def close(self) -> None:
            """Record the sum of the times.  Their median ignores those with a context switch."""
            spent = statistics.median(self.times) * len(self.times)
            self.crawler.stats.set_value("bench/fingerprints", spent)
            self.crawler.stats.set_value("bench/all", time.process_time() - self.begin)

    return Timed


TimedScrapy = timed("scrapy.utils.request.RequestFingerprinter")
TimedDeja = timed("deja.scrapy.DejaRequestFingerprinter")
SCRAPY_FILTER = {"DUPEFILTER_CLASS": "scrapy.dupefilters.RFPDupeFilter"}
SUBJECTS = {
    "Scrapy's own": {"REQUEST_FINGERPRINTER_CLASS": "bench.TimedScrapy", **SCRAPY_FILTER},
    "deja, both": {"REQUEST_FINGERPRINTER_CLASS": "bench.TimedDeja"},
}


def one_crawl(url: str, settings: dict[str, str]) -> dict:
    """Run the example spider; return its stats."""
    import datetime

    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log")
        flags = [flag for name, value in {**settings, "LOG_FILE": log}.items() for flag in ("-s", f"{name}={value}")]
        subprocess.run([sys.executable, str(HERE / "examples" / "spider.py"), url, *flags], check=True)
        text = log.read_text().split("Dumping Scrapy stats:\n")[1]
        return eval(text[:text.index("}\n") + 1], {"datetime": datetime})


def bench_crawl(pages: int, turns: int) -> None:
    os.environ["PYTHONPATH"] = os.pathsep.join([str(HERE), os.environ.get("PYTHONPATH", "")])
    server = subprocess.Popen([sys.executable, str(HERE / "examples" / "site_server.py"), "--pages", str(pages)],
                              stdout=subprocess.PIPE, text=True)
    try:
        url = server.stdout.readline().strip()
        runs: dict[str, list[dict]] = {name: [] for name in SUBJECTS}
        for _ in range(turns):
            for name, settings in SUBJECTS.items():
                runs[name].append(one_crawl(url, {"DEJA_CAPACITY": str(pages), **settings}))
    finally:
        server.kill()
        server.wait()
    last = runs["deja, both"][-1]
    print(f"{pages:,} pages, {last['dupefilter/filtered'] + pages:,} links, CPU of the spider's process, "
          f"medians of {turns} turns")
    for name, stats in runs.items():
        share = statistics.median(s["bench/fingerprints"] / s["bench/all"] for s in stats)
        cpu = statistics.median(s["bench/all"] for s in stats)
        print(f"{name:14} {stats[-1]['item_scraped_count']:,} pages, {1e3 * cpu / pages:.1f} ms per page, "
              f"{share:.1%} of it for fingerprints")
    seen = {hashlib.sha1(b"%d" % i).hexdigest() for i in range(pages)}
    print(f"memory for seen requests: {size_of_set(seen):,} bytes, {last['deja/bytes']:,} with deja: "
          f"1/{size_of_set(seen) / last['deja/bytes']:.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=float, default=1e6, help="number of keys")
    parser.add_argument("-p", type=float, default=1e-6, help="false-positive rate")
    parser.add_argument("--urls", help="read the keys from this file, one per line")
    parser.add_argument("--turns", type=int, help="measure each subject this many times")
    parser.add_argument("--crawl", action="store_true", help="measure Scrapy")
    parser.add_argument("--pages", type=int, default=2000, help="crawl a site of this size")
    chosen = parser.parse_args()
    if chosen.crawl:
        bench_crawl(chosen.pages, chosen.turns or 3)
        return
    data = Path(chosen.urls).read_bytes() if chosen.urls else made_up(int(chosen.n))
    bench_keys(data, chosen.p, chosen.turns or 9)
    bench_fingerprints(data, chosen.turns or 9)


if __name__ == "__main__":
    main()
