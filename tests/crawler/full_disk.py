"""A full disk.  A crawl into a small file system ends with a message and exit status 2, with only
whole records in its archive; once there is room, it continues, and has every page once.

The disk grows a little after each failure, so that the crawl runs out of room wherever it writes:
queue, filters, archive."""

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlparse

import warcfile
from crawling import PATIENCE, arguments, check, fail, same
from webserver import Server, page, site

PAGES = 60
IN_FLIGHT = 2
# Kilobytes of the disk: below shapes.deja, which takes 6 MB from the start, and then in steps of
# less than two pages.
SIZES = [*range(16, 200, 24), *range(6200, 10000, 36)]
FULL = ("No space left on device", "database or disk is full")


def in_a_namespace():
    """Restarts in a mount namespace of its own.  In a chroot, the propagation of / cannot be
    changed; mounts may then be visible outside until they are unmounted."""
    if os.environ.get("DEJA_TEST_MOUNTS"):
        return
    os.mkdir("try")
    for how in (["unshare", "--mount"], ["unshare", "--mount", "--map-root-user"],
                ["unshare", "--mount", "--propagation", "unchanged"]):
        try:
            done = subprocess.run([*how, "sh", "-c", "mount -t tmpfs -o size=64k none try && umount try"],
                                  capture_output=True)
        except OSError:
            break
        if done.returncode == 0:
            os.environ["DEJA_TEST_MOUNTS"] = "yes"
            os.execvp(how[0], [*how, sys.executable, *sys.argv])
    print("skipped: this test mounts small file systems, which needs root or user namespaces")
    sys.exit(77)


class Disk:
    """A file system of this many kilobytes, under the name `disk`."""

    def __init__(self, size):
        os.mkdir("disk")
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", "disk"], check=True)

    def grow(self, size):
        subprocess.run(["mount", "-o", f"remount,size={size}k", "disk"], check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "disk"], check=True)
        os.rmdir("disk")


def large_site():
    """Pages that gzip makes no smaller than 20 kB, each with links to some others."""
    rng = random.Random(1)
    paths = ["/"] + [f"/page-{i}.html" for i in range(1, PAGES)]
    return {path: page(*[paths[j] for j in (2 * i + 1, 2 * i + 2) if j < PAGES], paths[0],
                       rng.choice(paths), text=rng.randbytes(20000).hex())
            for i, path in enumerate(paths)}


FILTER = ("-n", 1000, "-k", "blocked")
SIEVE = ("--certain", "-m", "1M")


def crawl(server, cache=FILTER):
    done = subprocess.run(arguments("-q", server.url, "--output", "disk/crawl", *cache, "--per-host", IN_FLIGHT, "--max-file", "200k",
                                    "--sync-every", "0", "--max-depth", 1000),
                          capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stderr.decode(errors="replace")


def recorded():
    """The places of the queue's pages in the archive; reads a copy, because the disk is full."""
    Path("copy").mkdir(exist_ok=True)
    for old in Path("copy").iterdir():
        old.unlink()
    for file in Path("disk/crawl").glob("queue.db*"):
        shutil.copy(file, "copy")
    queue = sqlite3.connect("copy/queue.db")
    try:
        return set(queue.execute("SELECT file, offset FROM url WHERE state = 2 AND file > 0"))
    except sqlite3.OperationalError as error:  # no room for its tables
        check("no such table" in str(error), str(error))
        return set()
    finally:
        queue.close()


def kept_so_far():
    """The queue's pages, each with a whole record; further records are whole too, and will be cut
    off.  A file without room for its first record is empty."""
    files = [p for p in sorted(Path("disk/crawl").glob("crawl-*.warc.gz")) if p.stat().st_size]
    try:
        records = [r for p in files for r in warcfile.read_file(p)]
    except warcfile.Wrong as wrong:
        fail(f"after a full disk: {wrong}")
    answers = {(int(r.file[6:11]), r.offset) for r in records if r.type == "response"}
    pages = recorded()
    check(pages <= answers, f"the queue has pages that the archive lacks: {pages - answers}")
    return pages


def ends_with_a_message(status, text, size):
    """The name of the file that could not be written."""
    same(status, 2, f"exit at {size} kB: {text}")
    check(text.startswith("deja crawl: ") and any(words in text for words in FULL), text)
    return text.split(": ")[1].split("/")[-1]


def has_everything(server, pages, ends):
    answers = warcfile.read_folder("disk/crawl")
    same(Counter(urlparse(r.url).path for r in answers), Counter(pages.keys()), "archived")
    asked = server.paths()
    same(set(asked), set(pages), "pages")
    check(len(asked) - len(pages) <= IN_FLIGHT * ends, f"{len(asked)} requests, {ends} ends")


def the_crawl_completes_as_the_disk_grows():
    pages, where = large_site(), Counter()
    with Server(site(pages)) as server, Disk(SIZES[0]) as disk:
        kept = set()
        for size in sorted(2 * SIZES):  # each twice: a try without more room must fail cleanly too
            disk.grow(size)
            status, text = crawl(server)
            if status == 0:
                break
            where[ends_with_a_message(status, text, size)] += 1
            before, kept = kept, kept_so_far()
            check(kept >= before, f"at {size} kB pages are gone")
        same(status, 0, text)
        has_everything(server, pages, sum(where.values()))
        print(f"{sum(where.values())} ends: {dict(where)}; {len(server.paths())} requests")
        check(any("warc" in name for name in where) and len(where) > 2, f"full at {dict(where)}")


def the_crawl_continues_when_files_are_removed(cache=FILTER):
    """Another program fills the disk during the crawl."""
    pages = large_site()
    ballast = Path("disk/ballast")

    def answer(request, plain=site(pages)):
        if len(server.log) == PAGES // 2:
            with ballast.open("wb", buffering=0) as f:
                try:
                    while f.write(bytes(4096)):
                        pass
                except OSError:
                    pass
        return plain(request)

    with Server(answer) as server, Disk(SIZES[-1]):
        ends_with_a_message(*crawl(server, cache), SIZES[-1])
        kept = len(kept_so_far())
        check(PAGES // 3 < kept < PAGES, f"{kept} pages before the disk was full")
        ballast.unlink()
        same(crawl(server, cache), (0, ""), "with room")
        has_everything(server, pages, 1)


def the_same_with_a_sieve():
    the_crawl_continues_when_files_are_removed(SIEVE)


in_a_namespace()
for test in (the_crawl_completes_as_the_disk_grows, the_crawl_continues_when_files_are_removed,
             the_same_with_a_sieve):
    print(test.__name__, flush=True)
    test()
