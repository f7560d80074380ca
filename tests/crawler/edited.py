"""A queue.db that was edited or damaged causes an error that names the problem, never a crash.  The
crawl resumes once the value is restored."""

import contextlib
import os
import shutil
import sqlite3
import subprocess

from crawling import DEJA, PATIENCE, check, run, same
from webserver import Server, page, site

OPTIONS = ("certain scope match exclude embeds nofollow sitemaps no-archive order prefer host-share "
           "max-depth max-redirects "
           "max-host-pages max-similar max-page max-url max-file delay max-crawl-delay "
           "allow-private per-host connections contact user-agent retries retry-wait timeout "
           "sync-every kind seed hash flags delimiter layers counter-bits generations window "
           "capacity fp-rate memory hashes filters multiplier deletions").split()
TEXTS = ("seeds", "url", "counts")
NUMBERS = ("visit", "cached", "warc_file", "warc_end", "warc_safe_file", "warc_safe_end")
ESCAPE = "\x1b[2J"


@contextlib.contextmanager
def database(folder):
    with contextlib.closing(sqlite3.connect(folder + "/queue.db")) as db, db:
        yield db


def crawl(*args):
    """Exit status and messages; fails on a signal, and on escape sequences from the file."""
    done = subprocess.run([DEJA, "crawl", "-q", *map(str, args)], capture_output=True,
                          timeout=PATIENCE)
    text = done.stderr.decode(errors="replace")
    check(done.returncode in (0, 1, 2), f"exit {done.returncode} of {args}: {text}")
    check(b"\x1b" not in done.stderr + done.stdout, f"an escape: {done.stderr!r}")
    return done.returncode, text


def damaged_settings():
    """Each setting, with values of other types and beyond its range."""
    cases = [(name, (5, b"x\0")[i % 2]) for i, name in enumerate(OPTIONS)]
    cases += [(name, value) for name in TEXTS for value in (5, None, ESCAPE)]
    cases += [(name, value) for name in NUMBERS for value in ("5", None, -1)]
    cases += [("visit", 2**62), ("cached", 2**62), ("warc_file", 2**32), ("warc_end", 1),
              ("contact", None)]
    cases += [("seeds", text) for text in ("http://a/", "\n", "http://a/\nfile:///\n")]
    for name, value in cases:
        with database("set") as db:
            was = db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
            db.execute("INSERT OR REPLACE INTO setting VALUES(?, ?)", (name, value))
        status, text = crawl("--output", "set")
        same(status, 2, f"exit with {name} {value!r}: {text}")
        check(f"set/queue.db: its setting '{name}' is damaged; " in text, f"{value!r}: {text}")
        with database("set") as db:
            db.execute("DELETE FROM setting WHERE name = ?", (name,))
            if was:
                db.execute("INSERT INTO setting VALUES(?, ?)", (name, was[0]))
    status, text = crawl("--output", "set", "--revisit", "set")
    same(status, 2, "misuse")
    same(crawl("--output", "set")[0], 0, f"exit when all is as it was: {text}")


def damaged_settings_of_a_sieve():
    for name in ("sieve", "spooled", "waited", "round"):
        for value in ("5", None, -1):
            with database("sure") as db:
                was = db.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
                db.execute("UPDATE setting SET value = ? WHERE name = ?", (value, name))
            status, text = crawl("--output", "sure")
            check(status == 2 and f"sure/queue.db: its setting '{name}' is damaged; " in text, text)
            with database("sure") as db:
                db.execute("UPDATE setting SET value = ? WHERE name = ?", (was[0], name))
    same(crawl("--output", "sure")[0], 0, "exit when all is as it was")


def an_option_replaces_its_damaged_setting():
    with database("set") as db:
        db.execute("INSERT OR REPLACE INTO setting VALUES('scope', 99)")
        db.execute("INSERT OR REPLACE INTO setting VALUES('embeds', 'maybe')")
        db.execute("INSERT OR REPLACE INTO setting VALUES('delay', 'soon')")
    status, text = crawl("--output", "set", "--scope", "host", "--delay", "0")
    check("'embeds' is damaged; give --embeds or --no-embeds to set it again" in text, text)
    same(crawl("--output", "set", "--scope", "host", "--delay", "0", "--no-embeds")[0], 0, "replaced")
    same(crawl("--output", "set")[0], 0, "and remembered")


def damaged_rows():
    """Each column of each table, on the way to the next page and on a revisit.  Plausible
    values (a host that does not exist) may be harmless."""
    columns = {"url": ("visit host depth hops attempts hidden state hash url outcome status at_time "
                       "mime etag modified digest file offset length revisit parent links cash "
                       "share priority").split(),
               "host": ("name",), "sqlite_sequence": ("seq",)}
    for table, names in columns.items():
        for name in names:
            for value in ("x" + ESCAPE, b"\0" * 100000, -1):
                shutil.rmtree("row", ignore_errors=True)
                shutil.copytree("rows", "row")
                try:
                    with database("row") as db:
                        db.execute(f"UPDATE {table} SET {name} = ?", (value,))
                except sqlite3.IntegrityError:
                    continue  # SQLite refuses it
                for args in (("--output", "row"), ("--revisit", "row")):
                    status, text = crawl(*args)
                    check(status < 2 or "row/queue.db" in text or "seen.deja" in text,
                          f"{table}.{name} = {value!r}: {text}")
    shutil.copytree("rows", "named")
    with database("named") as db:
        db.execute("UPDATE url SET url = 'file:///etc/passwd'")
    status, text = crawl("--output", "named")
    check(status == 2 and "named/queue.db: a row of its table url is damaged" in text, text)


with Server(site({"/": page("/a", "/b"), "/a": page(), "/b": page()})) as server:
    run(server.url, "--output", "set")
    run(server.url, "--output", "sure", "--certain")
    run(server.url, "--output", "rows", "--max-pages", "2")
    os.environ["no_proxy"] = "*"
    damaged_settings()
    damaged_settings_of_a_sieve()
    an_option_replaces_its_damaged_setting()
    damaged_rows()
