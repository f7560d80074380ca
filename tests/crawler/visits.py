"""Visits: an unchanged page costs one conditional request, and the next visit finds lost pages.

The temporal claim, live.  A classic filter far too small for its site mistakes new URLs for seen.
Hypothesis: leaf i is lost with p_i = (1 - e^(-k n_i / m))^k, where n_i URLs are in the filter when
its page is judged; losses are independent, also between visits, whose hash functions differ.  The
number of lost leaves is then a sum of independent 0/1 variables with mean sum p_i, whose tails are
below those of a Poisson variable; after three visits a leaf is still missing with p_i^3.  A count
fails if its tail probability is below that of five standard deviations, one in 3.5 million.  (The
server's port is part of the URLs, so the seed alone does not fix them.)  With the same hash
functions, exactly the same pages are lost again."""

import hashlib
import json
import math
import os
import subprocess

import warcfile
from crawling import arguments, check, exactly_once, fail, run, same
from webserver import Answer, Server, page, site

HUBS, LEAVES = 40, 25
BYTES, HASHES = 512, 4
BITS = 8 * BYTES
FIVE_SIGMA = 2.9e-7  # one tail


def hubs_and_leaves():
    """/ links to all hubs, and hubs to leaves.  The hubs come first, while the filter is nearly
    empty; a lost leaf hides no other page."""
    pages = {"/": page(*[f"/hub{h}" for h in range(HUBS)])}
    for h in range(HUBS):
        pages[f"/hub{h}"] = page(*[f"/leaf{h}-{i}" for i in range(LEAVES)])
        pages.update({f"/leaf{h}-{i}": page(text=f"{h} {i}") for i in range(LEAVES)})
    return pages


def predicted():
    """p_i of the leaves of each hub, in crawl order: a hub's leaves are judged together, and then
    the new ones enter the filter."""
    keys, rates = 1.0 + HUBS, []
    for _ in range(HUBS):
        p = (1 - math.exp(-HASHES * keys / BITS)) ** HASHES
        rates.append(p)
        keys += LEAVES * (1 - p)
    return rates


def poisson(k, mean):
    return math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))


def within(got, rates, what):
    mean = sum(LEAVES * p for p in rates)
    print(f"{what}: {got}, predicted {mean:.1f}")
    at_most = sum(poisson(k, mean) for k in range(got + 1))
    at_least = 1 - sum(poisson(k, mean) for k in range(got))
    if min(at_most, at_least) < FIVE_SIGMA:
        fail(f"{what}: {got} instead of about {mean:.1f}")


def small_cache(seed):
    return ("-k", "classic", "-m", BYTES, "--hashes", HASHES, "--seed", seed, "--connections", 1,
            "--sync-every", 0)


def lost_pages_are_recovered():
    pages = hubs_and_leaves()
    with Server(site(pages)) as server:
        small = "warning: the cache was sized for "  # later visits are sized from the first
        def visit(*args, warns=""):
            server.clear()
            summary = run(*args, *small_cache(11), warns=warns)
            return set(server.paths()), summary
        rates = predicted()
        first, summary = visit(server.url, "--output", "v", warns=small)
        check(all(f"/hub{h}" in first for h in range(HUBS)), "a hub was lost: another seed, please")
        within(len(pages) - len(first), rates, "lost by visit 1")
        same((summary["visit"], summary["recovered"], summary["appeared"]), (1, 0, 0), "visit 1")
        within(round(summary["expected_lost"]), rates, "lost by visit 1, as the summary says")
        second, summary = visit("--revisit", "v")
        within(len(pages) - len(second), rates, "lost by visit 2")
        within(len(pages) - len(first | second), [p * p for p in rates], "lost by both")
        same((summary["visit"], summary["appeared"]), (2, 0), "visit 2")
        same(summary["recovered"], len(second - first), "recovered by visit 2")
        third, summary = visit("--revisit", "v")
        within(len(pages) - len(first | second | third), [p ** 3 for p in rates], "lost by all three")
        same(summary["recovered"], len(third - first - second), "recovered by visit 3")
        # The same hash functions: a new folder with the same seed is the same filter.
        again, _ = visit(server.url, "--output", "same", warns=small)
        same(again, first, "pages of a visit with the same hashes")
        check(pages.keys() - first, "nothing was lost, so nothing was shown")


def a_cache_grows_beyond_its_size():
    """A cache for a tenth of the URLs grows and loses nothing; a fixed one warns, even with -q."""
    pages = hubs_and_leaves()
    with Server(site(pages)) as server:
        for kind in "blocked", "classic", "exact":
            server.clear()
            summary = run(server.url, "--output", f"grows-{kind}", "-n", len(pages) // 10, "-k", kind)
            same(set(server.paths()) - {"/robots.txt"}, set(pages), f"pages with a small cache of kind {kind}")
            same(summary["cache"]["kind"], "scalable", "kind of the cache")
        run(server.url, "--output", "fixed", "-n", len(pages) // 10, "--fixed", "-q",
            warns=f"warning: the cache was sized for {len(pages) // 10} URLs and now holds ")


def the_mode_of_the_filters_can_be_chosen():
    def modes(folder):
        return [oct(os.stat(f"{folder}/{name}.deja").st_mode & 0o777) for name in ("seen", "shapes")]

    with Server(site({"/": page("/a"), "/a": page()})) as server:
        run(server.url, "--output", "private")
        same(modes("private"), ["0o600"] * 2, "permissions without --mode")
        run(server.url, "--output", "shared", "--mode", "640")
        same(modes("shared"), ["0o640"] * 2, "permissions with --mode")
        run("--revisit", "shared", "--mode", "600", warns="shared/seen.deja keeps its permissions; use chmod to change them")
        same(modes("shared"), ["0o640"] * 2, "permissions of the next visit")


def etag(body):
    return '"' + hashlib.md5(body).hexdigest() + '"'


def conditional(pages):
    """A server that supports If-None-Match."""
    def answer(request):
        body = pages.get(request.path)
        if body is None:
            return Answer(b"", 404)
        if request.headers.get("if-none-match") == etag(body):
            return Answer(b"", 304, headers=[("ETag", etag(body))])
        return Answer(body, headers=[("ETag", etag(body))])
    return answer


def unchanged_pages_are_revisits():
    pages = {"/": page("/a", "/b"), "/a": page("/c"), "/b": page(text="one"), "/c": page()}
    with Server(conditional(pages)) as server:
        run(server.url, "--output", "cond")
        check(all("if-none-match" not in s.headers for s in server.log), "a first visit asks plainly")
        server.clear()
        pages["/b"] = page("/new", text="two")
        pages["/new"] = page()
        summary = run("--revisit", "cond")
        exactly_once(server.paths(), pages, "visit 2")
        check(all("if-none-match" in s.headers for s in server.log if s.path in ("/", "/a", "/b")),
              "conditional requests")
        same((summary["fetched"], summary["unchanged"], summary["appeared"], summary["recovered"]),
             (5, 3, 1, 0), "fetched, unchanged, appeared, recovered")
        answers = warcfile.read_folder("cond")
        revisits = [r for r in answers if r.type == "revisit"]
        same(sorted(r.url[len(server.url) - 1:] for r in revisits), ["/", "/a", "/c"], "revisits")
        check(all(r.fields["WARC-Profile"].endswith("server-not-modified") for r in revisits), "304")
        # Visit 3: nothing changed; links come from the archived copies.
        server.clear()
        summary = run("--revisit", "cond")
        exactly_once(server.paths(), pages, "visit 3")
        same((summary["visit"], summary["unchanged"]), (3, 5), "visit, unchanged")
        warcfile.read_folder("cond")


def missing_archives_are_tolerated():
    """A page without an archived copy is requested unconditionally: its links are needed."""
    pages = {"/": page("/a", "/b"), "/a": page("/c"), "/b": page(), "/c": page()}
    with Server(conditional(pages)) as server:
        run(server.url, "--output", "away", "--max-file", "1")
        os.remove("away/crawl-00002.warc.gz")  # the first has only a warcinfo record
        server.clear()
        summary = run("--revisit", "away")
        exactly_once(server.paths(), pages, "visit 2")
        plain = [s.path for s in server.log if "if-none-match" not in s.headers]
        same(plain, ["/robots.txt", "/"], "requested unconditionally")
        same((summary["unchanged"], summary["unread"]), (4, 0), "unchanged, unread")


def unchanged_bytes_are_revisits():
    """A server without ETag sends everything again; the archive keeps it once."""
    pages = {"/": page("/a"), "/a": page(text="same")}
    with Server(site(pages)) as server:
        run(server.url, "--output", "bytes")
        pages["/"] = page("/a", text="changed")
        same(run("--revisit", "bytes")["unchanged"], 1, "unchanged")
        answers = warcfile.read_folder("bytes")
        same(sorted((r.url[len(server.url) - 1:], r.type) for r in answers),
             [("/", "response"), ("/", "response"), ("/a", "response"), ("/a", "revisit")],
             "records")


def visits_can_repeat():
    pages = {"/": page("/a"), "/a": page()}
    with Server(conditional(pages)) as server:
        done = subprocess.run(arguments("--json", server.url, "--output", "every", "--every", "1s",
                                        "--visits", "3"), capture_output=True, timeout=600)
        same(done.returncode, 0, "exit")
        decoder, text, summaries = json.JSONDecoder(), done.stdout.decode(), []
        while text.strip():
            summary, end = decoder.raw_decode(text.lstrip())
            summaries.append(summary)
            text = text.lstrip()[end:]
        same([s["visit"] for s in summaries], [1, 2, 3], "visits")
        same([s["unchanged"] for s in summaries], [0, 2, 2], "unchanged")
        same(len(server.paths()), 6, "requests")


def an_unfinished_visit_can_be_followed_by_the_next():
    pages = {"/": page(*[f"/{i}" for i in range(9)]), **{f"/{i}": page() for i in range(9)}}
    with Server(site(pages)) as server:
        run(server.url, "--output", "part", "--max-pages", "4")
        server.clear()
        summary = run("--revisit", "part")
        exactly_once(server.paths(), pages, "visit 2")
        same((summary["left_behind"], summary["recovered"], summary["appeared"]), (6, 0, 0),
             "left behind; none of it was lost")


lost_pages_are_recovered()
a_cache_grows_beyond_its_size()
the_mode_of_the_filters_can_be_chosen()
unchanged_pages_are_revisits()
missing_archives_are_tolerated()
unchanged_bytes_are_revisits()
visits_can_repeat()
an_unfinished_visit_can_be_followed_by_the_next()
