"""The cache is truncated while a crawl uses it: the crawl stops and says why."""

import os
import subprocess
import time

from crawling import PATIENCE, arguments, check, same
from webserver import Server, page, site

WORDS = "seen.deja was truncated or overwritten by another program while it was in use"

pages = {"/": page("/a"), "/a": page(*(f"/{i}" for i in range(100)))}
pages.update({f"/{i}": page() for i in range(100)})
with Server(site(pages)) as server:
    server.hold_after = 2  # robots.txt and the seed
    crawl = subprocess.Popen(arguments(server.url, "--output", "cut"), stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)
    while len(server.paths()) < 2:  # the page with the links was requested, and is held back
        check(crawl.poll() is None, "the crawl has ended")
        time.sleep(0.01)
    os.truncate("cut/seen.deja", 0)
    server.hold_after = None
    text = crawl.communicate(timeout=PATIENCE)[1].decode()
    same(crawl.returncode, 2, "exit status")
    check(WORDS in text, f"standard error is {text!r}")
