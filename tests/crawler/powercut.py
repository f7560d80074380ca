"""Power cuts at any moment of a crawl (cutfolder.py), then resume: the crawl is not refused, no page
that was safe on disk is requested again, all pages are in the archive once, and archive and index
are valid.  Once the command has ended, all of this holds without resuming."""

import json
import random
import shutil
import sqlite3
import subprocess
from collections import Counter
from contextlib import closing
from pathlib import Path
from urllib.parse import urlparse

import warcfile
from crawling import PATIENCE, arguments, check, fail, looped_site, run, same
from cutfolder import Device, Disk
from webserver import Server, site

OPTIONS = ("--per-host", 4, "--max-depth", 1000, "-n", 2000, "-p", 1e-9)


def done_pages(folder):
    """The current visit of a queue, and the paths of its finished pages."""
    with closing(sqlite3.connect(f"{folder}/queue.db")) as db:
        try:
            visit = db.execute("SELECT value FROM setting WHERE name = 'visit'").fetchone() or (0,)
            rows = db.execute("SELECT url FROM url WHERE state = 2 AND visit = ?", visit)
            return visit[0], {urlparse(r[0]).path for r in rows}
        except sqlite3.OperationalError:  # no tables yet
            return 0, set()


def safe_pages(device, rng):
    """The same, as of what a power cut cannot destroy."""
    shutil.rmtree("safe", ignore_errors=True)
    device.cut(rng, "safe", "none", "queue.db")
    return done_pages("safe") if Path("safe/queue.db").exists() else (0, set())


class Scenario:
    def __init__(self, name, pages, *runs):
        self.name, self.pages, self.runs = name, pages, runs
        self.states = self.repeated = self.undone = 0

    def record(self, server):
        disk = Disk(f"{self.name}-watched", f"{self.name}.log")
        for args in self.runs:
            command = arguments("-q", *[disk.folder if a == "DIR" else a for a in args])
            if "--revisit" not in command:
                command += [server.url, *map(str, OPTIONS)]
            done = subprocess.run(command, env=disk.environment(), capture_output=True,
                                  timeout=PATIENCE)
            same((done.returncode, done.stderr), (0, b""), f"{self.name}: exit, standard error")
        return list(disk.events())

    def judge(self, server, device, rng, what):
        """Resumes from one state and checks the result."""
        self.states += 1
        visit, safe = safe_pages(device, rng)
        shutil.rmtree("state", ignore_errors=True)
        how = device.cut(rng, "state")
        what = f"{self.name}, {what}, {how}"
        before = len(server.log)
        done = subprocess.run(arguments("--json", server.url, "--output", "state", *OPTIONS),
                              capture_output=True, timeout=PATIENCE, env=Disk.without_syncs())
        if done.returncode != 0:
            fail(f"{what}: refused: {done.stderr.decode()}")
        self.undone += json.loads(done.stdout)["undone"]
        asked = Counter(s.path for s in server.log[before:] if s.path != "/robots.txt")
        if done_pages("state")[0] > visit:  # the cut was at the start of the next visit
            safe = set()
        check(not safe & set(asked), f"{what}: asked again for {sorted(safe & set(asked))[:3]}, "
                                     "which was safe")
        same(max(asked.values(), default=1), 1, f"{what}: requests for a page")
        self.repeated += len(asked)
        self.whole(what)

    def whole(self, what):
        try:
            answers = warcfile.read_folder("state")
        except (warcfile.Wrong, OSError) as wrong:
            fail(f"{what}: {wrong}")
        found = Counter(urlparse(r.url).path for r in answers)
        same(set(found), set(self.pages), f"{what}: archived")
        visits = len([r for r in self.runs if "--revisit" in r]) + 1
        check(max(found.values()) <= visits, f"{what}: a page is archived twice")
        with closing(sqlite3.connect("state/queue.db")) as db:
            rows = db.execute("SELECT count(*), count(DISTINCT visit || url) FROM url "
                              "WHERE state = 2").fetchone()
        same(rows[0], rows[1], f"{what}: rows of pages, and different ones")

    def run(self, server, seed, moments):
        rng = random.Random(seed)
        events = self.record(server)
        points = set(rng.sample(range(len(events)), min(moments, len(events))))
        device = Device()
        for i, event in enumerate(events):
            device.take(*event)
            if i in points:
                self.judge(server, device, rng, f"event {i} of {len(events)}")
        shutil.rmtree("state", ignore_errors=True)
        device.cut(rng, "state", "none")
        self.whole(f"{self.name}, at the end")
        print(f"{self.name}: {self.states} states of {len(events)} events, {self.repeated} requests "
              f"to finish them, {self.undone} records were damaged", flush=True)


def main(pages, seeds, moments):
    for seed in seeds:
        site_ = looped_site(pages, seed)
        with Server(site(site_)) as server:
            first = ("--output", "DIR")
            for scenario in (
                    Scenario(f"often-{seed}", site_, (*first, "--sync-every", "0")),
                    Scenario(f"seldom-{seed}", site_, (*first, "--sync-every", "20ms")),
                    Scenario(f"never-{seed}", site_, (*first, "--sync-every", "1h")),
                    Scenario(f"files-{seed}", site_, (*first, "--sync-every", "1h",
                                                      "--max-file", "5000")),
                    Scenario(f"visits-{seed}", site_, (*first, "--max-pages", pages // 2),
                             first, ("--revisit", "DIR"))):
                scenario.run(server, seed, moments)


if __name__ == "__main__":
    main(60, [1], 16)
