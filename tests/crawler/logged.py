"""--log FILE: a line for each URL in the queue, with its page or the reason why it has none; after kill
-9 and after a power cut, no URL whose fate the queue knows lacks its line."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

from crawling import DEJA, PATIENCE, arguments, check, looped_site, run, same
from cutfolder import Device, Disk
from webserver import Answer, Server, page, site

FIELDS = ["time", "url", "status", "bytes", "parent", "depth", "outcome", "why", "visit"]


def read(path):
    lines = Path(path).read_bytes().split(b"\n")
    same(lines.pop(), b"", "the end of the last line")
    return [json.loads(line) for line in lines]


def fates(path):
    """Path -> its only line."""
    lines = read(path)
    found = {urlparse(line["url"]).path: line for line in lines}
    same(len(found), len(lines), "lines per URL")
    return found


def done_rows(folder):
    """The URLs whose fate the queue knows."""
    with contextlib.closing(sqlite3.connect(f"{folder}/queue.db")) as db:
        return {row[0] for row in db.execute("SELECT url FROM url WHERE state IN (2, 3)")}


def each_url_has_its_fate():
    pages = {"/": page("/a", "/gone", "/shut", "/moved", "/broken", "/busy", "/slow/1"),
             "/a": page("/b", "http://out.invalid/", "/a"), "/b": page("/c", "/d"),
             "/moved": Answer(b"", 302, headers=[("Location", "/there")]), "/there": page(),
             "/broken": Answer(raw=b"nonsense\r\n\r\n"), "/busy": Answer(b"", 503),
             "/c": page(), "/d": page(), "/slow/1": page(),
             "/robots.txt": Answer(b"user-agent: *\ndisallow: /shut\n", type="text/plain")}
    with Server(site(pages)) as server:
        root = server.url.rstrip("/")
        summary = run(server.url, "--output", "fates", "--log", "fates.log", "--max-host-pages", 9)
        found = fates("fates.log")
        same({"/" + urlparse(u).path[1:] for u in done_rows("fates")}, set(found), "URLs")
        for line in found.values():
            same(list(line), FIELDS, "fields")
            check(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", line["time"]), line["time"])

        def is_(path, *want):
            line = found[path]
            same((line["outcome"], line["why"], line["status"], line["depth"]), want, path)

        is_("/", "fetched", None, 200, 0)
        is_("/a", "fetched", None, 200, 1)
        is_("/gone", "failed", "not found", 404, 1)
        is_("/shut", "skipped", "robots", None, 1)
        is_("/moved", "redirect", None, 302, 1)
        is_("/there", "fetched", None, 200, 1)
        is_("/busy", "failed", "server error", 503, 1)
        same((found["/broken"]["outcome"], found["/broken"]["status"]), ("failed", None), "/broken")
        limited = [p for p, line in found.items() if line["why"] == "host limit"]
        same(len(limited), summary["left_out"]["host_limit"], "over the limit")
        check(limited and all(found[p]["outcome"] == "skipped" for p in limited), "skipped")
        same(found["/"]["parent"], None, "the parent of a seed")
        same(found["/a"]["parent"], root + "/", "a parent")
        same(found["/b"]["parent"], root + "/a", "a parent")
        same(found["/there"]["parent"], root + "/moved", "the parent of a target")
        same(found["/"]["bytes"], len(pages["/"]), "bytes")
        same(summary["left_out"]["scope"], 1, "links out of scope, which are only counted")


def private_addresses_are_logged():
    with Server(None, ["127.0.0.1", "127.0.0.9"]) as server:
        server.answer = lambda request: Answer(page(f"http://127.0.0.9:{server.port}/x"))
        run(server.url, "--output", "private", "--scope", "any", "--log", "private.log")
        line = fates("private.log")["/x"]
        same((line["outcome"], line["why"], line["status"]), ("skipped", "private address", None),
             "a private address")
        same([s.path for s in server.log if "127.0.0.9" in s.host], [], "requests")


def runs_and_visits_are_appended():
    pages = {"/": page("/a", "/b", "/c"), "/a": page(), "/b": page(), "/c": page()}
    with Server(site(pages)) as server:
        run(server.url, "--output", "again", "--log", "again.log", "--max-pages", 2)
        same([line["outcome"] for line in read("again.log")], ["fetched"] * 2, "the first run")
        run("--revisit", "again", "--log", "again.log", "--max-pages", 3)
        lines = read("again.log")
        same(Counter((line["visit"], line["outcome"]) for line in lines),
             {(1, "fetched"): 2, (1, "dropped"): 2, (2, "unchanged"): 2, (2, "fetched"): 1}, "lines")
        run("--output", "again")
        same(read("again.log"), lines, "the option is not remembered")


def nothing_is_lost_by_kills(n=300, kills=8):
    rng = random.Random(8)
    pages = looped_site(n, 8)
    with Server(site(pages)) as server:
        command = arguments("-q", server.url, "--output", "kills", "--per-host", 4, "--max-depth",
                            1000, "--log", "kills.log")
        happened = 0
        for _ in range(kills):
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
            until = len(server.log) + rng.randrange(10, 2 * n // kills)
            server.hold_after = until
            while len(server.log) < until and process.poll() is None:
                time.sleep(0.0005)
            time.sleep(rng.random() * 0.01)
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                happened += 1
            server.hold_after = None
            process.wait(timeout=PATIENCE)
            lines = Path("kills.log").read_bytes()
            logged = {json.loads(line)["url"] for line in lines[:lines.rfind(b"\n") + 1].splitlines()}
            lost = done_rows("kills") - logged
            check(not lost, f"no line for {lost}")
        check(happened > 0, "it was never interrupted")
        run("--output", "kills", "--log", "kills.log", "--max-depth", 1000)
        count = Counter(urlparse(line["url"]).path for line in read("kills.log"))
        same(set(count), set(pages), "URLs in the log")
        again = sum(count.values()) - len(count)
        check(again <= 4 * happened, f"{again} repeated lines after {happened} kills")


def nothing_is_lost_by_power_cuts(cuts=40):
    """The log is in the recorded folder; whatever a cut leaves, the queue is not ahead of it."""
    rng = random.Random(3)
    pages = looped_site(60, 2)
    disk = Disk("device", "device.events")
    with Server(site(pages)) as server:
        process = subprocess.run(
            arguments("-q", server.url, "--output", "device", "--max-depth", 1000, "--sync-every",
                      "20ms", "--log", "device/urls.log"),
            env={**os.environ, **disk.environment()}, capture_output=True, timeout=PATIENCE)
        same(process.returncode, 0, process.stderr.decode())
    events = list(disk.events())
    moments = sorted(rng.randrange(len(events)) for _ in range(cuts))
    device, at, known = Device(), 0, 0
    for moment in moments:
        for event in events[at:moment]:
            device.take(*event)
        at = max(at, moment)
        shutil.rmtree("cut", ignore_errors=True)
        device.cut(rng, "cut")
        if not Path("cut/queue.db").exists():
            continue
        log = Path("cut/urls.log")
        whole = log.read_bytes() if log.exists() else b""
        logged = {json.loads(line)["url"] for line in whole.split(b"\n")[:-1] if complete(line)}
        try:
            rows = done_rows("cut")
        except sqlite3.OperationalError:  # no tables yet
            continue
        known += len(rows)
        check(rows <= logged, f"after {moment} of {len(events)} events, no line for {rows - logged}")
    check(known > 10 * cuts, f"only {known} rows survived {cuts} cuts")


def complete(line):
    return line.startswith(b"{") and line.endswith(b"}")


def refused(words, *args, status=2):
    done = subprocess.run(arguments("http://127.0.0.1:9/", "--output", "refused", *args),
                          capture_output=True, text=True, timeout=PATIENCE)
    check(done.returncode == status and words in done.stderr, f"{args}: {done.stderr}")


def files_that_cannot_be_logs_are_refused():
    Path("text").write_text("not a log\n")
    refused("--log text: not a log of deja crawl", "--log", "text")
    same(Path("text").read_text(), "not a log\n", "an unchanged file")
    refused("--log nowhere/log: cannot open", "--log", "nowhere/log")
    refused("--log .: cannot open", "--log", ".")
    refused("--log needs a file name", "--log", "")
    refused("--log - and --json both print", "--log", "-", "--json")
    refused("--log - and --harvest both print", "--log", "-", "--harvest")
    refused("--log again/queue.db: not a log", "--log", "again/queue.db")
    with Server(site({"/": page("/a"), "/a": page()})) as server:
        done = subprocess.run(arguments(server.url, "--output", "full", "--log", "/dev/full"),
                              capture_output=True, text=True, timeout=PATIENCE)
        check(done.returncode == 2 and "/dev/full" in done.stderr, f"a full disk: {done.stderr}")
        run("--output", "full", "--log", "full.log")  # the crawl can go on
        same(set(fates("full.log")), {"/", "/a"}, "URLs after a full disk")
        server.hold_after = 1
        first = subprocess.Popen(arguments(server.url, "--output", "one", "--log", "shared.log"),
                                 stderr=subprocess.DEVNULL)
        while not os.path.exists("shared.log") or not Path("one/queue.db").exists():
            time.sleep(0.01)
        refused("--log shared.log: another process writes to this log", "--log", "shared.log")
        server.hold_after = None
        same(first.wait(timeout=PATIENCE), 0, "the first")


def an_incomplete_line_is_removed():
    with Server(site({"/": page("/a"), "/a": page()})) as server:
        run(server.url, "--output", "torn", "--log", "torn.log", "--max-pages", 1)
        whole = Path("torn.log").read_bytes()
        for tail in (b'{"time": "2', b"{" * 10000, b"\0" * 5000):
            Path("torn.log").write_bytes(whole + tail)
            run("--output", "torn", "--log", "torn.log", "--max-pages", 1, status=0)
            same(Path("torn.log").read_bytes(), whole, "without the incomplete line")
        Path("torn.log").write_bytes(b'{"time": "2')
        run("--output", "torn", "--log", "torn.log")
        same(set(fates("torn.log")), {"/a"}, "URLs of the last run")


def standard_output_and_pipes():
    with Server(site({"/": page("/a"), "/a": page()})) as server:
        done = subprocess.run(arguments("-q", server.url, "--output", "stdout", "--log", "-"),
                              capture_output=True, timeout=PATIENCE)
        same([json.loads(line)["url"] for line in done.stdout.splitlines()],
             [server.url, server.url + "a"], "lines")
        os.mkfifo("pipe")
        reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)
        run(server.url, "--output", "piped", "--log", "pipe")
        same(len(reader.communicate(timeout=PATIENCE)[0].splitlines()), 2, "lines in a pipe")


def the_parent_of_a_late_link_is_known():
    """It waits in the sieve, perhaps until the next run."""
    import filled
    n = 300
    pages = looped_site(n, 4)
    with Server(site(pages)) as server:
        filled.begin(server, "late", "--log", "late.log")
        run("--output", "late", "--log", "late.log", "--max-pages", n // 2)
        summary = run("--output", "late", "--log", "late.log")
        check(summary["late"] > 5, f"late: {summary['late']}")
        found = fates("late.log")
        same(set(found), set(pages), "URLs")
        for path, line in found.items():
            if path != "/":
                text = pages[urlparse(line["parent"]).path].decode()
                check(path in text.replace("p%61ge", "page") or path == "/", f"the parent of {path}")


for test in (each_url_has_its_fate, private_addresses_are_logged, runs_and_visits_are_appended,
             nothing_is_lost_by_kills, nothing_is_lost_by_power_cuts,
             files_that_cannot_be_logs_are_refused, an_incomplete_line_is_removed,
             standard_output_and_pipes, the_parent_of_a_late_link_is_known):
    print(test.__name__, flush=True)
    test()
