"""kill -9 at random moments, then resume: no page is lost, only pages that were in flight are fetched
twice, and the archive is valid after every step."""

import os
import random
import signal
import subprocess
import time
from collections import Counter
from urllib.parse import urlparse

import warcfile
from crawling import PATIENCE, arguments, check, fail, looped_site, run, same
from webserver import Server, site

IN_FLIGHT = 6


def interrupted(n, kills, seed, sig, *args, begin=None):
    """begin(server, folder), if given, prepares the folder of the crawl."""
    rng = random.Random(seed)
    pages = looped_site(n, seed)
    name = f"kills-{seed}"
    with Server(site(pages)) as server:
        if begin:
            begin(server, name)
        command = arguments("-q", server.url, "--output", name, "--per-host", IN_FLIGHT,
                            "--max-depth", 1000, *args)
        happened = 0
        for _ in range(kills):
            before = len(server.log)
            process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
            until = before + rng.randrange(1, max(2, 2 * n // kills))
            server.hold_after = until  # so that the crawl cannot end before the signal
            while len(server.log) < until and process.poll() is None:
                time.sleep(0.0005)
            time.sleep(rng.random() * 0.01)
            if process.poll() is None:
                process.send_signal(sig)
                happened += 1
            server.hold_after = None
            _, err = process.communicate(timeout=PATIENCE)
            check(process.returncode in (0, -sig), f"exit {process.returncode}: {err.decode()}")
        allowed = IN_FLIGHT * happened if sig == signal.SIGKILL else 0
        summary = run(server.url, "--output", name, "--per-host", IN_FLIGHT, "--max-depth", 1000,
                      *args)
        count = Counter(server.paths())
        same(set(count), set(pages), "pages")
        again = sum(count.values()) - len(count)
        check(again <= allowed, f"{again} requests too many after {happened} kills")
        same((summary["fetched"], summary["waiting"]), (n, 0), "fetched, waiting")
        answers = warcfile.read_folder(name)
        same(Counter(urlparse(r.url).path for r in answers), Counter(pages.keys()), "archived")
        if begin:
            check(summary["late"] > n // 20, f"only {summary['late']} URLs were late")
        print(f"{happened} times signal {sig}: {again} requests repeated, {allowed} allowed")
        if happened == 0:
            fail("it was never interrupted")


def a_lost_cache_is_rebuilt(n=300):
    """Without seen.deja, the cache is rebuilt from the queue."""
    pages = looped_site(n)
    with Server(site(pages)) as server:
        run(server.url, "--output", "lost", "--max-pages", n // 2, "--max-depth", 1000)
        os.remove("lost/seen.deja")
        summary = run("--output", "lost", "--max-depth", 1000)
        same(Counter(server.paths()), Counter(pages.keys()), "pages")
        check(summary["rebuilt"] >= n // 2, "URLs put into the cache again")
        run("--revisit", "lost", "--max-depth", 1000, "--max-pages", n // 2)
        os.remove("lost/seen.deja")
        same(run("--output", "lost", "--max-depth", 1000)["visit"], 2, "the cache of visit 2")
        same(run("--revisit", "lost", "--max-depth", 1000)["visit"], 3, "and the next")


def main(n, kills):
    interrupted(n, kills, 1, signal.SIGKILL)
    interrupted(n, kills, 2, signal.SIGKILL, "--sync-every", "0")
    interrupted(n, kills, 3, signal.SIGINT)
    a_lost_cache_is_rebuilt()


if __name__ == "__main__":
    main(800, 8)
