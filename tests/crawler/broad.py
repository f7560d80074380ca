"""A broad crawl over many hosts in 127.0.0.0/8, and scopes that limit a crawl."""

import shutil

from crawling import check, exactly_once, run, same
from webserver import Answer, Server, page

HOSTS = 120
PAGES = 8
addresses = ["127.0.0.1"] + [f"127.0.{1 + i // 200}.{1 + i % 200}" for i in range(HOSTS - 1)]


def answer(request):
    """Pages of each host link to each other and to two more hosts."""
    if request.path == "/robots.txt":
        return Answer(b"", 404)
    me = addresses.index(request.address)
    port = request.host.split(":")[1]
    others = [f"http://{addresses[(2 * me + i) % HOSTS]}:{port}/" for i in (1, 2)]
    return Answer(page(*[f"/{i}" for i in range(PAGES - 1)], *others))


def every_host_is_visited_once():
    with Server(answer, addresses) as server:
        want = {f"http://{a}:{server.port}{p}" for a in addresses
                for p in ["/"] + [f"/{i}" for i in range(PAGES - 1)]}
        summary = run(server.url, "--output", "any", "--scope", "any", "--allow-private", "--connections",
                      "40")
        asked = [f"http://{s.host}{s.path}" for s in server.log if s.path != "/robots.txt"]
        exactly_once(asked, want, "broad crawl")
        same(summary["hosts"], HOSTS, "hosts")
        robots = [s.host for s in server.log if s.path == "/robots.txt"]
        exactly_once(robots, {f"{a}:{server.port}" for a in addresses}, "robots.txt")
        same(max(server.most_open.values()), 1, "requests to a host at a time")
        # Breadth first: a host's own pages are one link away from its first page.
        first = [s.path for s in server.log if s.host == f"127.0.0.1:{server.port}"]
        same(first[:2], ["/robots.txt", "/"], "the first requests")
        summary = run(server.url, "--output", "few", "--scope", "any", "--allow-private",
                      "--max-host-pages", "3")
        same(summary["fetched"], 3 * HOSTS, "pages with three a host")
        same(summary["left_out"]["host_limit"], (PAGES - 3) * HOSTS, "beyond the limit")


def named_hosts(request):
    links = [f"http://{h}:{request.host.split(':')[1]}{p}" for h in
             ("www.one.localhost", "two.one.localhost", "www.other.localhost")
             for p in ("/", "/docs/", "/docs/a", "/blog")]
    return Answer(page(*links)) if request.path != "/robots.txt" else Answer(b"", 404)


def scopes_limit_the_crawl():
    """Names below localhost resolve to this machine without DNS."""
    with Server(named_hosts) as server:
        def crawl(name, *args):
            shutil.rmtree(name, ignore_errors=True)
            server.clear()
            run(f"http://www.one.localhost:{server.port}/docs/", "--output", name, *args)
            return {f"{s.host.split(':')[0]}{s.path}" for s in server.log
                    if s.path != "/robots.txt"}
        one = {"www.one.localhost" + p for p in ("/", "/docs/", "/docs/a", "/blog")}
        two = {u.replace("www", "two") for u in one}
        other = {u.replace("one", "other") for u in one}
        same(crawl("host"), one, "scope host")
        same(crawl("domain", "--scope", "domain"), one | two, "scope domain")
        same(crawl("any", "--scope", "any", "--allow-private"), one | two | other, "scope any")
        same(crawl("prefix", "--scope", "prefix"),
             {u for u in one if "/docs/" in u}, "scope prefix")
        same(crawl("regex", "--scope", "regex", "--match", r"^http://[^/]*/docs/$",
                   "--allow-private"),
             {u for u in one | two | other if u.endswith("/docs/")}, "scope regex")
        same(crawl("exclude", "--scope", "any", "--allow-private", "--exclude", "/docs/a|other"),
             {u for u in one | two if not u.endswith("/docs/a")}, "exclude")
        # A visit keeps its scope; the next one may have another.
        server.clear()
        run("--revisit", "prefix", "--scope", "host", f"http://www.one.localhost:{server.port}/")
        same(len(server.paths()), 4, "a wider scope finds the rest")


every_host_is_visited_once()
scopes_limit_the_crawl()
