"""100,000 pages: the memory of the process does not grow with the number of pages.

Hypothesis: after the first quarter the process has all the memory it needs; its anonymous memory
grows by less than a quarter while three times as many pages arrive.  If something were kept for
each page, it would grow fourfold.  The index is sorted at the end, in a few megabytes."""

import json
import os
import subprocess
import time

from crawling import arguments, check, same
from webserver import Answer, Server, page

PAGES = int(os.environ.get("PAGES", 100000))
SORTING = 16384  # kB


def answer(request):
    """Page i links to 2i, 2i + 1 and a few earlier pages."""
    if request.path == "/robots.txt":
        return Answer(b"", 404)
    i = int(request.path[2:]) if len(request.path) > 1 else 1
    next_ones = [f"/p{j}" for j in (2 * i, 2 * i + 1) if j <= PAGES]
    return Answer(page(*next_ones, *[f"/p{(i * k) % i + 1}" for k in (7, 31, 101)], "/p1"))


def anonymous_kilobytes(pid):
    with open(f"/proc/{pid}/status") as status:
        for line in status:
            if line.startswith("RssAnon:"):
                return int(line.split()[1])
    return 0


def main():
    with Server(answer) as server:
        process = subprocess.Popen(arguments("--json", server.url + "p1", "--output", "crawl",
                                             "--per-host", "16"), stdout=subprocess.PIPE)
        seen = {}
        while process.poll() is None:
            n = len(server.log)
            seen[n] = max(seen.get(n, 0), anonymous_kilobytes(process.pid))
            time.sleep(0.2)
        summary = json.loads(process.stdout.read())
        same(process.returncode, 0, "exit")
        same(summary["fetched"], PAGES, "fetched")
        same(len(server.paths()), PAGES, "requests")
        quarters = [max(kb for n, kb in seen.items() if n <= PAGES * i // 4 and n < PAGES)
                    for i in (1, 2, 3, 4)]
        print(f"anonymous memory after each quarter: {quarters} kB, at most {max(seen.values())} kB;"
              f" {summary['pages_per_second']:.0f} pages/s; queue "
              f"{os.path.getsize('crawl/queue.db')} bytes")
        check(quarters[3] < 1.25 * quarters[0], "memory grows with the pages")
        check(max(seen.values()) < quarters[3] + SORTING, "the index takes too much memory")


main()
