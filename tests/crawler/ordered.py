"""--order, --prefer and --host-share: every page exactly once in every order, with kills, with changes
of the order and with a sieve; which pages come first; turns of the hosts."""

import contextlib
import random
import signal
import sqlite3
import subprocess
from collections import Counter
from urllib.parse import urlparse

import filled
import kills
from crawling import arguments, check, exactly_once, looped_site, run, same
from webserver import Answer, Server, page, site

ORDERS = ("breadth", "depth", "backlinks", "opic")
NO_ROBOTS = Answer(b"", 404)


def database(folder):
    return contextlib.closing(sqlite3.connect(f"{folder}/queue.db"))


def every_page_comes_once_despite_kills():
    for seed, order in enumerate(ORDERS, 11):
        kills.interrupted(300, 5, seed, signal.SIGKILL, "--order", order, "--prefer", "/d[0-4]/:3",
                          "--prefer", "/d7/:-2", "--host-share", 2)
        kept_amounts_are_sound(f"kills-{seed}", 1)


def kept_amounts_are_sound(folder, urls):
    """No count is negative, and no URL has more cash than all of them can have."""
    with database(folder) as db:
        worst = db.execute("SELECT min(links), min(cash), max(cash) FROM url").fetchone()
    check(worst[0] >= 0 and worst[1] >= 0 and worst[2] <= urls + 1e-9, f"amounts: {worst}")


def links_are_counted_once_per_page():
    """The counts of all URLs that never left the queue are exact, whatever happened."""
    pages = {"/": page("/a", "/b", "/c"), "/a": page("/x", "/y", "/x", "/x#part"),
             "/b": page("/x", "/b"), "/c": page("/x", "/y", "/z", "http://out.invalid/"),
             "/x": page(), "/y": page(), "/z": page()}
    for order, extra in (("backlinks", ()), ("opic", ()), ("backlinks", ("--certain", "-m", "1M"))):
        name = f"counts-{order}-{len(extra)}"
        with Server(site(pages)) as server:
            run(server.url, "--output", name, "--order", order, "--max-pages", "4",
                "--prefer", "/[abc]?$", *extra)
            same(sorted(server.paths()), ["/", "/a", "/b", "/c"], "the preferred pages")
            with database(name) as db:
                rows = {urlparse(url).path: (links, cash) for url, links, cash in
                        db.execute("SELECT url, links, cash FROM url WHERE state = 0")}
            same({p: n for p, (n, _) in rows.items()}, {"/x": 3, "/y": 2, "/z": 1}, "links")
            want = {"/x": 1 / 6 + 1 / 3 + 1 / 9, "/y": 1 / 6 + 1 / 9, "/z": 1 / 9}
            for path, (_, cash) in rows.items():
                expected = want[path] if order == "opic" else 0
                check(abs(cash - expected) < 1e-12, f"cash of {path}: {cash}, not {expected}")
            server.clear()
            run("--output", name)
            same(server.paths(), ["/x", "/y", "/z"], f"{order}: the most linked first")


def late_links_count_too():
    """In a sieve that is too small, links wait; when they are settled, they count as others do.  Only
    if a page has a link twice, and both wait, do both count."""
    n = 400
    pages = looped_site(n, 3)
    with Server(site(pages)) as server:
        filled.begin(server, "sieve", "--order", "backlinks")
        summary = run("--output", "sieve", "--max-pages", n * 9 // 10)
        check(summary["late"] > 5, f"late: {summary}")
        done = set(server.paths())
    with database("sieve") as db:
        rows = db.execute("SELECT url, links FROM url WHERE state = 0").fetchall()
    links = Counter(link for path in done for link in linked(pages, path))
    on_pages = Counter(link for path in done for link in set(linked(pages, path)))
    short = 0
    for url, count in rows:
        path = urlparse(url).path
        check(count <= links[path], f"{path}: {count} of {links[path]} links")
        short += max(0, on_pages[path] - count)
    check(short <= summary["pending"], f"{short} links missing, {summary['pending']} pending")


def linked(pages, path):
    """The canonical paths that a page of looped_site links to."""
    found = []
    for part in pages[path].decode().split('href="')[1:]:
        link = part.split('"')[0].split("#")[0].replace("p%61ge", "page").replace("/x/..", "")
        found.append(link or "/")
    return found


def the_order_can_change_at_any_time():
    """Each run has another order; a change orders the waiting URLs again, and loses none."""
    n = 400
    rng = random.Random(4)
    pages = looped_site(n, 5)
    with Server(site(pages)) as server:
        run(server.url, "--output", "changed", "--max-pages", "5", "--max-depth", "1000")
        for i in range(8):
            done = len(server.paths())
            options = ["--order", rng.choice(ORDERS)] + (["--prefer", f"/d{i}/"] if i % 2 else [])
            if i == 6:
                options = ["--prefer", ""]
            run("--output", "changed", "--max-pages", done + 20, *options)
            kept_amounts_are_sound("changed", n)
        run("--output", "changed")
        exactly_once(server.paths(), pages, "pages")


def preferred_urls_come_first():
    links = [f"/{kind}/{i}" for i in range(10) for kind in ("late", "plain", "soon")]
    pages = {"/": page(*links), **{p: page() for p in links}}
    for order in ORDERS:
        with Server(site(pages)) as server:
            run(server.url, "--output", f"prefer-{order}", "--order", order, "--prefer", "/soon/",
                "--prefer", "/late/:-1")
            kinds = [p.split("/")[1] for p in server.paths()[1:]]
            same(kinds, ["soon"] * 10 + ["plain"] * 10 + ["late"] * 10, order)
    with Server(site(pages)) as server:
        command = ("--output", "forget", "--max-pages")
        run(server.url, *command, "3", "--prefer", "/late/")
        run(*command, "6")
        run(*command, "9", "--prefer", "")
        kinds = [p.split("/")[1] for p in server.paths()[1:]]
        same(kinds[:6], ["late"] * 5 + ["plain"], "remembered, then forgotten")


def depth_goes_down_first():
    pages = {"/": page("/a", "/b"), "/a": page("/a1", "/a2"), "/a1": page("/a11"), "/a11": page(),
             "/a2": page(), "/b": page("/b1"), "/b1": page()}
    with Server(site(pages)) as server:
        run(server.url, "--output", "down", "--order", "depth")
        same(server.paths(), ["/", "/a", "/a1", "/a11", "/a2", "/b", "/b1"], "depth first")


def a_large_host_takes_turns():
    """One host with many pages near the seed, and many hosts with few pages far from it."""
    small = [f"127.0.2.{i}" for i in range(1, 11)]
    with Server(None, ["127.0.0.1", "127.0.1.1", *small]) as server:
        def answer(request):
            if request.path == "/robots.txt":
                return NO_ROBOTS
            if request.address == "127.0.0.1":
                return Answer(page(f"http://127.0.1.1:{server.port}/",
                                   *(f"http://{h}:{server.port}/start" for h in small)))
            if request.address == "127.0.1.1":
                return Answer(page(*(f"/{i}" for i in range(200))))
            if request.path == "/start":
                return Answer(page(*(f"/{i}" for i in range(5))))
            return Answer(page())

        server.answer = answer

        def order_of_hosts(name, *args):
            server.clear()
            run(server.url, "--output", name, "--scope", "any", "--allow-private",
                "--connections", "1", "--prefer", "127.0.1.1", *args)
            exactly_once([s.host + s.path for s in server.log], {s.host + s.path for s in server.log},
                         "requests")
            return [s.host.split(":")[0] for s in server.log if s.path != "/robots.txt"]

        hosts = order_of_hosts("greedy")
        same(len(hosts), 1 + 201 + 10 * 6, "pages")
        same(set(hosts[1:202]), {"127.0.1.1"}, "without a share, the preferred host comes first")
        for share in (1, 3):
            hosts = order_of_hosts(f"share-{share}", "--host-share", share)
            same(len(hosts), 1 + 201 + 10 * 6, "pages")
            last = max(i for i, h in enumerate(hosts) if h in small)
            large = hosts[:last].count("127.0.1.1")
            check(large <= 6 * share + share, f"share {share}: {large} pages of the large host first")
        same(order_of_hosts("off", "--host-share", "0")[1:202], ["127.0.1.1"] * 201, "off")


def the_order_applies_across_hosts():
    """Of all hosts that are ready, the one with the most linked URL is next."""
    with Server(None, ["127.0.0.1", "127.0.3.1", "127.0.3.2"]) as server:
        def answer(request):
            one, two = (f"http://127.0.3.{i}:{server.port}/" for i in (1, 2))
            if request.path == "/robots.txt":
                return NO_ROBOTS
            if request.path in ("/", "/p"):
                return Answer(page("/p", one + "a", *([two + "b"] if request.path == "/p" else [])))
            return Answer(page())

        server.answer = answer
        run(server.url, "--output", "across", "--scope", "any", "--allow-private", "--order",
            "backlinks", "--connections", "1", "--prefer", "127.0.0.1")
        same([s.path for s in server.log if s.path != "/robots.txt"], ["/", "/p", "/a", "/b"], "order")


def misuse():
    """Wrong values are refused before anything is fetched."""
    for args, words in ((("--order", "random"), "random"),
                        (("--prefer", "("), "--prefer '(': not a regular expression"),
                        (("--prefer", "a:2000"), "a weight is between -1000 and 1000"),
                        (("--prefer", "a\nb"), "cannot contain a newline"),
                        (("--prefer", "a", "--prefer", ""), "cannot be combined"),
                        (("--host-share", "-1"), "host-share")):
        done = subprocess.run(arguments("http://127.0.0.1:9/", "--output", "misuse", *args),
                              capture_output=True, text=True, timeout=60)
        check(done.returncode == 2 and words in done.stderr, f"{args}: {done.stderr}")


if __name__ == "__main__":
    for test in (every_page_comes_once_despite_kills, links_are_counted_once_per_page,
                 late_links_count_too, the_order_can_change_at_any_time, preferred_urls_come_first,
                 depth_goes_down_first, a_large_host_takes_turns, the_order_applies_across_hosts,
                 misuse):
        print(test.__name__, flush=True)
        test()
