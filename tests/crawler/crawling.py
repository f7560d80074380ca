"""What the tests of deja crawl share: runs of the command, generated sites, small checks."""

import json
import os
import random
import subprocess
import sys
from collections import Counter

from webserver import page

DEJA = os.environ["DEJA"]
PATIENCE = 600  # seconds; longer than this is a hang

for name in list(os.environ):
    if name.lower().endswith("_proxy"):
        del os.environ[name]


def fail(text):
    sys.exit("FAIL: " + text)


def check(holds, text):
    if not holds:
        fail(text)


def same(got, want, what):
    if got != want:
        fail(f"{what}: {got!r} instead of {want!r}")


def arguments(*args):
    """The command of a crawl without pauses, which only a test on its own server may do."""
    return [DEJA, "crawl", "--contact", "http://tests.invalid/", "--delay", "0", "--retry-wait",
            "0", "--timeout", "300", *map(str, args)]


def run(*args, status=0, warns=""):
    """The summary of a crawl; with `warns`, one line on standard error has that text."""
    done = subprocess.run(arguments("--json", *args), capture_output=True, timeout=PATIENCE)
    text = done.stderr.decode(errors="replace")
    if done.returncode != status:
        fail(f"exit {done.returncode} of deja crawl {' '.join(map(str, args))}: {text}")
    if warns:
        check(text.count("\n") == 1 and warns in text, f"standard error is {text!r}")
    else:
        same(text, "", "standard error")
    return json.loads(done.stdout)


def exactly_once(paths, want, what):
    """Every expected page was fetched once, and nothing else."""
    count = Counter(paths)
    twice = [p for p, n in count.items() if n > 1]
    missing, stray = set(want) - set(count), set(count) - set(want)
    if twice or missing or stray:
        fail(f"{what}: {len(twice)} twice {twice[:3]}, {len(missing)} missing "
             f"{sorted(missing)[:3]}, {len(stray)} stray {sorted(stray)[:3]}")


# --- Sites ---------------------------------------------------------------------

def looped_site(n, seed=1):
    """n pages, reachable from / by links, full of loops:

    copies of the thesis' figure 1.2 (A -> B, E; B -> C -> D -> B; E -> F, G);
    figure 2.2, two pages that link to each other;
    a page that links to itself; and links to random pages, spelled differently."""
    rng = random.Random(seed)
    paths = ["/"] + [f"/d{i % 17}/page-{i}.html" for i in range(1, n)]
    links = [[] for _ in range(n)]
    for base in range(0, n, 7):
        a, b, c, d, e, f, g = [base + i if base + i < n else base for i in range(7)]
        links[a] += [b, e]
        links[b] += [c]
        links[c] += [d]
        links[d] += [b]
        links[e] += [f, g]
        links[f] += [g]
        links[g] += [f]  # two pages that link to each other
        links[a] += [a]
        for child in (2 * (base // 7) + 1, 2 * (base // 7) + 2):  # a tree of these figures
            if child * 7 < n:
                links[g if base + 6 < n else a].append(child * 7)
    pages = {}
    for i in range(n):
        links[i] += [rng.randrange(n) for _ in range(4)]
        pages[paths[i]] = page(*[spelling(paths[j], rng) for j in links[i]], text=f"page {i}")
    return pages


def spelling(path, rng):
    """Another spelling of the same page."""
    return rng.choice([path, path, path + "#part", "/x/.." + path, path.replace("page", "p%61ge")])
