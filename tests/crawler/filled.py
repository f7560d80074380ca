"""What the tests of `deja crawl --certain` share: a crawl whose sieve is full of other URLs.

A sieve that has seen no more than fits into its memory judges every URL at once.  So a crawl begins
with one page, `deja dedup --sieve` adds a million other URLs to its sieve, and with 1 MiB of memory
nearly every link of the rest of the crawl has to wait, and about a fifth of the new ones are false
positives of its filter."""

import subprocess

from crawling import DEJA, PATIENCE, fail, run

MANY = 1200000
SMALL = ("--certain", "-m", "1M")


def junk():
    """A file of URLs of other hosts; generated once."""
    with open("junk.txt", "ab") as out:
        if out.tell() == 0:
            subprocess.run([DEJA, "gen", "-n", str(MANY), "--seed", "5"], stdout=out, check=True,
                           timeout=PATIENCE)
    return "junk.txt"


def fill(folder):
    """Adds these URLs to the sieve of a crawl."""
    done = subprocess.run([DEJA, "dedup", "-q", "--sieve", f"{folder}/seen.sieve", "--url=safe", "-m",
                           "256M", junk()], capture_output=True, timeout=PATIENCE)
    if done.returncode != 0 or done.stdout.count(b"\n") < MANY * 0.99:
        fail(f"cannot fill the sieve: {done.stderr.decode()}")


def begin(server, folder, *args):
    """One page of a crawl, whose sieve is then filled."""
    run(server.url, "--output", folder, *SMALL, "--max-pages", 1, "--max-depth", 1000, *args)
    fill(folder)
