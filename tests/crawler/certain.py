"""`deja crawl --certain`: each page exactly once and none lost, although nearly all links wait and many
are false positives of a filter that is far too small (filled.py); and what its folder is for
resuming, for the next visit and for other commands."""

import json
import os
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from contextlib import closing
from pathlib import Path
from urllib.parse import urlparse

import warcfile
from crawling import DEJA, PATIENCE, arguments, check, exactly_once, fail, looped_site, run, same
from dejarun import compile_shim
from filled import MANY, SMALL, begin, fill
from kills import interrupted
from webserver import Server, page, site

DEEP = ("--max-depth", 1000)


def refused(*args):
    """The message of a crawl that must not start."""
    done = subprocess.run(arguments(*args), capture_output=True, timeout=PATIENCE)
    text = done.stderr.decode(errors="replace")
    same(done.returncode, 2, f"exit of {args}: {text}")
    return text


def settings(folder):
    with closing(sqlite3.connect(f"{folder}/queue.db")) as db:
        return dict(db.execute("SELECT name, value FROM setting"))


def archived(folder, pages, what):
    exactly_once([urlparse(r.url).path for r in warcfile.read_folder(folder)], pages, what)


def each_page_once(n):
    pages = looped_site(n)
    with Server(site(pages)) as server:
        begin(server, "once")
        summary = run("--output", "once", "--per-host", 8)
        exactly_once(server.paths(), pages, "requested")
        archived("once", pages, "archived")
        same((summary["fetched"], summary["ended"], summary["waiting"], summary["pending"]),
             (n, "done", 0, 0), "fetched, ended, waiting, pending")
        same(summary["offered"], summary["duplicates"] + summary["queued"], "offered")
        check(n / 10 < summary["late"] < n / 3, f"{summary['late']} of {n} URLs were late")
        check(summary["lost"] == 0 and 0 < summary["wrong"] < 1e-12, f"lost: {summary}")
        same(summary["cache"]["kind"], "sieve", "kind of the cache")
        same(summary["cache"]["keys"], MANY + n, "keys")
        check(summary["cache"]["bytes"] <= 1.2 * 2**20, f"memory: {summary['cache']}")
        server.clear()
        same(run("--output", "once")["fetched"], n, "fetched in all")
        same(server.paths(), [], "requests of the next run")
        text = subprocess.run(arguments("--output", "once"), capture_output=True).stderr.decode()
        for part in ("as before: --certain", "lost: none, certain to 1 in 10^1", "came late (a filter alone "):
            check(part in text, f"'{part}' in {text}")
        for command in ("info", "verify"):
            subprocess.run([DEJA, command, "once/seen.sieve"], check=True, stdout=subprocess.DEVNULL)


def a_page_with_more_links_than_there_is_room_for(links=40000):
    """The room for pending links is 16,384: they are settled in the middle of the page."""
    pages = {"/": page("/all"), "/all": page(*[f"/{i % (links // 4)}" for i in range(links)])}
    want = [*pages, *[f"/{i}" for i in range(links // 4)]]
    shim = compile_shim("killnth")
    with Server(site(pages)) as server:
        begin(server, "room")
        kills = [kill_at_spool("/all", server, shim, n) for n in range(1, 5)]
        check(sum(kills) >= 2, f"kills during the page: {kills}")
        summary = run("--output", "room", "--per-host", 8)
        same(set(server.paths()), set(want), "requested")
        check(summary["cache"]["passes"] > 1, f"passes: {summary['cache']}")
        exactly_once([urlparse(r.url).path for r in warcfile.read_folder("room")], want, "archived")


def kill_at_spool(path, server, shim, n):
    """kill -9 as the n-th spool is created: one when the crawl begins, then one whenever links have
    been settled.  Returns whether this page was being processed."""
    before = server.paths().count(path)
    env = dict(os.environ, LD_PRELOAD=shim, DEJA_KILL=f"create-spool {n}")
    done = subprocess.run(arguments("-q", "--output", "room"), env=env, timeout=PATIENCE)
    return (done.returncode == -signal.SIGKILL and server.paths().count(path) > before and
            server.paths()[-1] == path)


def kills_and_ctrl_c(n, kills):
    interrupted(n, kills, 11, signal.SIGKILL, *SMALL, begin=begin)
    interrupted(n, kills, 12, signal.SIGKILL, *SMALL, "--sync-every", "0", begin=begin)
    interrupted(n, kills, 13, signal.SIGINT, *SMALL, begin=begin)


# --- Power failures --------------------------------------------------------------


def lose_what_is_not_safe(folder, journal):
    """Truncates a file of the sieve to the length that was synced; returns how much it lost."""
    file, = Path(folder).glob(f"seen.sieve/{journal}-*")
    data = file.read_bytes()
    marks = [struct.unpack_from("<QQ", data, at) for at in (512, 1024)]
    os.truncate(file, max(max(marks)[1], 4096))
    return len(data) - file.stat().st_size


def kill_with_a_long_queue(server, folder, sync_every):
    """kill -9 when the queue is long, so that pending links have not been settled."""
    process = subprocess.Popen(arguments("-q", "--output", folder, "--sync-every", sync_every))
    server.hold_after = len(server.log) + 300
    while len(server.log) < server.hold_after:
        if process.poll() is not None:
            fail("the crawl ended too early")
        time.sleep(0.01)
    time.sleep(0.3)  # for the commit
    process.kill()
    process.wait()
    server.hold_after = None


def lost_links_are_found_again(*args):
    """The power fails: the queue is on the disk, and the end of the spool is not.  With the pages
    of these links, all of them come back.  URLs that only the log has lost are recorded again."""
    pages = looped_site(1500, 4)
    name = "power-" + str(len(args))
    with Server(site(pages)) as server:
        begin(server, name, *args)
        kill_with_a_long_queue(server, name, "1h")
        check(lose_what_is_not_safe(name, "spool") > 0, "all of the spool was safe")
        lose_what_is_not_safe(name, "log")
        before = len(server.log)
        summary = run("--output", name, "--per-host", 8)
        same(set(server.paths()), set(pages), "pages")
        check(0 < summary["undone"] < before, f"{summary['undone']} pages wait again")
        same(summary["fetched"], len(pages), "fetched")
        same(summary["ended"], "done", "ended")
        if not args:
            archived(name, pages, "archived")


def links_are_safe_before_their_pages():
    """With a sync after each round, the power cut of above loses nothing."""
    pages = looped_site(1500, 4)
    with Server(site(pages)) as server:
        begin(server, "safe")
        kill_with_a_long_queue(server, "safe", "0")
        for journal in ("spool", "log"):
            lose_what_is_not_safe("safe", journal)
        summary = run("--output", "safe", "--per-host", 8)
        same((summary["undone"], summary["fetched"]), (0, len(pages)), "pages that wait again, fetched")
        check(len(server.paths()) - len(pages) <= 1, "more than the page in flight was repeated")


# --- Visits ------------------------------------------------------------------------


def every_visit_judges_anew():
    pages = looped_site(200)
    with Server(site(pages)) as server:
        begin(server, "visits")
        run("--output", "visits")
        server.clear()
        pages["/"] = page("/new", *[f"/d{i % 17}/page-{i}.html" for i in range(1, 200)])
        pages["/new"] = page()
        summary = run("--revisit", "visits")
        exactly_once(server.paths(), pages, "visit 2")
        same((summary["visit"], summary["unchanged"], summary["appeared"], summary["recovered"]),
             (2, 199, 1, 0), "visit, unchanged, appeared, recovered")
        same((summary["cache"]["keys"], summary["late"]), (201, 0), "keys of a new sieve, late")
        same(settings("visits")["sieve"], 2, "visit of the sieve")
        server.clear()
        run("--output", "visits")
        same(server.paths(), [], "requests of the resumed visit")


def what_waits_as_a_visit_ends_was_not_lost():
    """The next visit knows pages that waited, so it does not report that they had been lost."""
    pages = looped_site(600, 2)
    with Server(site(pages)) as server:
        begin(server, "ends")
        summary = run("--output", "ends", "--max-pages", 150)
        text = subprocess.run(arguments("--output", "ends", "--max-pages", 150), capture_output=True)
        check(b"pending, perhaps new; the next run decides about them" in text.stderr,
              text.stderr.decode())
        found = summary["queued"]
        server.clear()
        summary = run("--revisit", "ends")
        exactly_once(server.paths(), pages, "visit 2")
        check(summary["left_behind"] > found - 150, "pending URLs are left behind, too")
        same(summary["recovered"], 0, "recovered")


def a_visit_that_began_halfway():
    """kill -9 while the old sieve is being removed."""
    pages = looped_site(100)
    with Server(site(pages)) as server:
        run(server.url, "--output", "half", *SMALL, *DEEP, "--max-pages", 50)
        with closing(sqlite3.connect("half/queue.db")) as db:
            db.execute("UPDATE setting SET value = 0 WHERE name = 'sieve'")
            db.commit()
        os.remove("half/seen.sieve/manifest")
        Path("half/seen.sieve/filter.deja").touch()
        summary = run("--output", "half")
        exactly_once(server.paths(), pages, "visit 1")
        check(summary["rebuilt"] > 50, f"{summary['rebuilt']} URLs were added to the new sieve")
        server.clear()
        same(run("--revisit", "half")["fetched"], 100, "fetched by visit 2")


def kills_as_a_visit_begins():
    """kill -9 at moments of the first tenth of a second of the next visit, while links of the last one
    are pending.  Whichever visit it is then, it can be resumed, and finds all pages."""
    pages = looped_site(300, 6)
    with Server(site(pages)) as server:
        begin(server, "last")
        run("--output", "last", "--max-pages", 100)
        visits = set()
        for delay in range(0, 96, 12):
            shutil.rmtree("next-visit", ignore_errors=True)
            shutil.copytree("last", "next-visit")
            process = subprocess.Popen(arguments("-q", "--revisit", "next-visit"))
            time.sleep(delay / 1000)
            process.kill()
            process.wait()
            visits.add(settings("next-visit")["visit"])
            same(run("--output", "next-visit", "--per-host", 8)["fetched"], len(pages), "fetched")
            with closing(sqlite3.connect("next-visit/queue.db")) as db:
                rows = db.execute("SELECT count(*), count(DISTINCT visit || url) FROM url "
                                  "WHERE state = 2").fetchone()
            same(rows[0], rows[1], "rows of pages, and different ones")
            server.clear()
            summary = run("--revisit", "next-visit", "--per-host", 8)
            same((set(server.paths()), summary["recovered"]), (set(pages), 0), "pages, recovered")
        print(f"killed in visits {visits}")


def a_missing_sieve():
    """It is rebuilt from the queue, unless links waited in it."""
    pages = looped_site(300, 3)
    with Server(site(pages)) as server:
        run(server.url, "--output", "gone", *SMALL, *DEEP, "--max-pages", 150)
        shutil.rmtree("gone/seen.sieve")
        summary = run("--output", "gone", "--max-pages", 200)
        check(summary["rebuilt"] >= 150, f"{summary['rebuilt']} URLs were added again")
        fill("gone")
        run("--output", "gone", "--max-pages", 250)
        check(settings("gone")["waited"] > 0, "nothing waits")
        os.rename("gone/seen.sieve", "away")
        text = refused("--output", "gone")
        check("gone/seen.sieve: it is missing, and " in text and "--revisit" in text, text)
        shutil.copytree("gone", "again")
        os.rename("away", "gone/seen.sieve")
        run("--output", "gone")
        exactly_once(server.paths(), pages, "visit 1")
        server.clear()
        run("--revisit", "again")
        exactly_once(server.paths(), pages, "visit 2 without the sieve of visit 1")


# --- Options -------------------------------------------------------------------------


def certain_is_for_ever():
    with Server(site({"/": page("/a"), "/a": page()})) as server:
        run(server.url, "--output", "plain", "--max-pages", 1)
        text = refused("--output", "plain", "--certain")
        check("--certain: the crawl in plain began without it; start another crawl" in text, text)
        text = refused("--revisit", "plain", "--certain")
        check("began without it" in text, text)
        same(run("--output", "plain")["cache"]["kind"], "scalable", "the cache")
        run(server.url, "--output", "sure", *SMALL, "--max-pages", 1)
        for args in (("-k", "exact"), ("-n", 1000), ("-p", 0.1), ("--fixed",), ("--hashes", 3)):
            for crawl in (("--output", "sure"), ("--revisit", "sure"),
                          (server.url, "--output", "other", "--certain")):
                text = refused(*crawl, *args)
                check(f"{args[0]}: with --certain, the cache is a sieve" in text and "(-m)" in text, text)
        check("cannot be combined" in refused(server.url, "--output", "x", "--certain", "--mode", 640),
              "--mode")
        same(run("--output", "sure", "-m", "2M")["fetched"], 2, "with more memory")
        same(len(server.paths()), 4, "requests")


def the_profile_and_the_key_are_those_of_the_start():
    pages = {"/": page("/a?utm_source=x", "/a?z=1&x=2"), "/a": page(), "/a?x=2&z=1": page()}
    Path("key").write_bytes(bytes(range(32)))
    os.chmod("key", 0o600)
    with Server(site(pages)) as server:
        run(server.url, "--output", "forms", *SMALL, "--url", "crawl", "--key", "key", "--max-pages", 1)
        run("--output", "forms", "--key", "key")
        same(sorted(server.paths()), ["/", "/a", "/a?x=2&z=1"], "pages")
        check("give the key" in refused("--output", "forms", "--url", "crawl"), "without the key")


def urls_that_are_harvested():
    """Each URL found is printed once, late or not, within the scope or not."""
    pages = looped_site(400, 5)
    outside = [f"http://other.invalid/{i}" for i in range(400)]
    for i, path in enumerate(pages):
        pages[path] += page(outside[i], outside[i // 2])
    with Server(site(pages)) as server:
        begin(server, "harvest", "--no-archive")
        printed = []
        for limit in (100, 1000):
            done = subprocess.run(arguments("-q", "--output", "harvest", "--harvest", "--max-pages", limit),
                                  capture_output=True, timeout=PATIENCE)
            same(done.returncode, 0, done.stderr.decode())
            printed += done.stdout.decode().split()
            if limit == 100:
                shutil.copytree("harvest", "next")
        exactly_once([u for u in printed if "other" in u], outside, "outside")
        exactly_once(server.paths(), pages, "pages")
        summary = run("--revisit", "next")  # URLs that are out of scope are not left behind
        check(summary["left_behind"] <= 300, f"{summary['left_behind']} of 400 pages left behind")


def main():
    for test in (certain_is_for_ever, the_profile_and_the_key_are_those_of_the_start,
                 a_missing_sieve, a_visit_that_began_halfway, every_visit_judges_anew,
                 what_waits_as_a_visit_ends_was_not_lost, kills_as_a_visit_begins, urls_that_are_harvested,
                 lost_links_are_found_again, links_are_safe_before_their_pages, a_page_with_more_links_than_there_is_room_for):
        print(test.__name__, flush=True)
        test()
    print("and without an archive", flush=True)
    lost_links_are_found_again("--no-archive")
    each_page_once(1500)
    kills_and_ctrl_c(800, 6)


if __name__ == "__main__":
    main()
