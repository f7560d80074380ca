"""crawl - a crawl's folder remembers an option that is a row in the option table, without any other
code."""

import contextlib
import os
import sqlite3
import subprocess
import sys

sys.path.insert(0, os.environ["SOURCE"] + "/tests/crawler")
from crawling import arguments, check, run, same
from webserver import Server, page, site

with Server(site({"/": page("/a"), "/a": page()})) as server:
    run(server.url, "--output", "crawl", "-n", "100", "--trial-steps", "9")
    with contextlib.closing(sqlite3.connect("crawl/queue.db")) as db:
        value = db.execute("SELECT CAST(value AS TEXT) FROM setting WHERE name = 'trial-steps'").fetchone()
    same(value, ("9",), "stored")
    run("--output", "crawl", "--trial-steps", "9")  # as it is
    refused = subprocess.run(arguments("--output", "crawl", "--trial-steps", "8"), capture_output=True, text=True)
    same(refused.returncode, 2, "exit status")
    check(" 8: this visit started with 9" in refused.stderr, refused.stderr)
