"""100,000 pages: the memory of the process does not grow with them.

Hypothesis: after the first quarter the process has all it needs.  Its anonymous memory at the end
is less than a quarter larger than then; with something kept for each page, be it its URL, it would
be four times as large in that part."""

import json
import os
import subprocess
import time

from crawling import arguments, check, same
from webserver import Answer, Server, page

PAGES = 100000


def answer(request):
    """Page i links to 2i, 2i + 1 and a few before it."""
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
        process = subprocess.Popen(arguments("--json", server.url + "p1", "--out", "crawl",
                                             "--per-host", "16"), stdout=subprocess.PIPE)
        seen = {}
        while process.poll() is None:
            seen[len(server.log)] = anonymous_kilobytes(process.pid) or seen.get(len(server.log), 0)
            time.sleep(0.2)
        summary = json.loads(process.stdout.read())
        same(process.returncode, 0, "exit")
        same(summary["fetched"], PAGES, "fetched")
        same(len(server.paths()), PAGES, "requests")
        quarter = max(kb for n, kb in seen.items() if n <= PAGES // 4)
        whole = max(kb for n, kb in seen.items())
        print(f"anonymous memory: {quarter} kB after a quarter, {whole} kB at most; "
              f"{summary['pages_per_second']:.0f} pages/s; cache {summary['cache']['bytes']} bytes; "
              f"queue {os.path.getsize('crawl/queue.db')} bytes")
        check(whole < 1.25 * quarter, "memory grows with the pages")


main()
