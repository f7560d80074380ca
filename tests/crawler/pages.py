"""Every page of a generated site is fetched and archived exactly once, despite loops in its links."""

from urllib.parse import urlparse

import warcfile
from crawling import exactly_once, looped_site, run, same
from webserver import Server, site


def whole_site(n, *args):
    pages = looped_site(n)
    with Server(site(pages)) as server:
        summary = run(server.url, "--output", "crawl", "--max-depth", 1000, *args)
        exactly_once(server.paths(), pages, f"{n} pages with {args}")
        same([s.path for s in server.log].count("/robots.txt"), 1, "requests for robots.txt")
        same(summary["fetched"], n, "fetched")
        same(summary["ended"], "done", "ended")
        same(summary["waiting"], 0, "waiting")
        same(summary["queued"], n, "queued")
        same(summary["offered"], summary["duplicates"] + n, "offered")
        answers = warcfile.read_folder("crawl")
        exactly_once([urlparse(r.url).path for r in answers], pages, "archived")
        same({urlparse(r.url).path: r.body for r in answers}, pages, "bodies")
        # A second run finds nothing left to do.
        server.clear()
        same(run("--output", "crawl")["fetched"], n, "fetched in all")
        same(server.paths(), [], "requests of the second run")


if __name__ == "__main__":
    whole_site(1500, "--per-host", "8")
