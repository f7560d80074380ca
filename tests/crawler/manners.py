"""robots.txt, pauses and other politeness rules, checked in the server's log."""

from crawling import check, run, same
from webserver import Answer, Server, page, site

LINKS = [f"/{x}{i}" for x in ("open", "shut") for i in range(6)]


def with_robots(text, **more):
    pages = {p: page() for p in LINKS}
    pages["/"] = page(*LINKS, "/shut/but/open", "/shut/x")
    pages["/shut/but/open"] = pages["/shut/x"] = page()
    pages["/robots.txt"] = Answer(text.encode(), type="text/plain", **more)
    return site(pages)


def robots_are_obeyed():
    with Server(with_robots("User-agent: *\nDisallow: /\n\nUser-agent: deja\nDisallow: /shut\n"
                            "Allow: /shut/but\n")) as server:
        summary = run(server.url, "--output", "obey")
        want = {"/", "/shut/but/open"} | {p for p in LINKS if "open" in p}
        same(set(server.paths()), want, "pages")
        same(server.paths(robots=True)[0], "/robots.txt", "the first request")
        same(summary["left_out"]["robots"], 7, "forbidden by robots.txt")
        same(summary["failed"]["not_found"], 0, "not found")
        for seen in server.log:
            check(seen.agent.startswith("deja/") and "http://tests.invalid/" in seen.agent,
                  f"User-Agent: {seen.agent}")


def robots_that_cannot_be_read_follow_the_rfc():
    """RFC 9309: after 4xx everything is allowed; after 5xx or no answer, nothing is."""
    for status, pages in ((404, len(LINKS) + 3), (403, len(LINKS) + 3), (500, 0), (503, 0)):
        with Server(with_robots("user-agent: *\ndisallow: /\n", status=status)) as server:
            summary = run(server.url, "--output", f"robots-{status}", status=0 if pages else 1)
            same(len(server.paths()), pages, f"pages with robots.txt {status}")
            same(summary["failed"]["no_robots_txt"], 0 if pages else 1, "no robots.txt")
    with Server(with_robots("", cut=0, length=100)) as server:
        run(server.url, "--output", "robots-cut", status=1)
        same(server.paths(), [], "pages with robots.txt cut off")


def redirects_of_robots_txt_are_followed():
    hops = {f"/r{i}": Answer(b"", 302, headers=[("Location", f"/r{i + 1}")]) for i in range(4)}
    pages = {"/": page("/a"), "/a": page(), **hops,
             "/robots.txt": Answer(b"", 301, headers=[("Location", "/r0")]),
             "/r4": Answer(b"user-agent: *\ndisallow: /a", type="text/plain")}
    with Server(site(pages)) as server:
        run(server.url, "--output", "redirected")
        check("/a" not in server.paths(), "five redirects of robots.txt are followed")
    pages["/r4"] = Answer(b"", 302, headers=[("Location", "/r0")])
    with Server(site(pages)) as server:
        run(server.url, "--output", "circle")
        check("/a" in server.paths(), "robots.txt in a circle forbids nothing")


def gaps(server):
    """Seconds between an answer and the next request.  The client gets the answer a little
    after the server begins to send it, so its own pause is not longer than this."""
    log = sorted(server.log, key=lambda s: s.at)
    return [b.at - a.answered for a, b in zip(log, log[1:])]


def pauses_are_kept():
    """Checks the shortest pause; longer ones are allowed."""
    pages = {"/": page(*[f"/{i}" for i in range(5)]), **{f"/{i}": page() for i in range(5)}}
    with Server(site(pages)) as server:
        run(server.url, "--output", "delay", "--delay", "200ms")
        same(len(server.log), 7, "requests")
        check(min(gaps(server)) >= 0.2, f"--delay 200ms: {gaps(server)}")
    pages["/robots.txt"] = b"user-agent: *\ncrawl-delay: 0.3\n"
    with Server(site(pages)) as server:
        run(server.url, "--output", "crawl-delay", "--delay", "0")
        check(min(gaps(server)[1:]) >= 0.3, f"crawl-delay: {gaps(server)}")
        same(max(server.most_open.values()), 1, "requests at a time")


def retry_after_is_obeyed():
    tries = []

    def answer(request):
        if request.path == "/robots.txt":
            return Answer(b"", 404)
        tries.append(request.path)
        if len(tries) == 1:
            return Answer(b"busy", 503, headers=[("Retry-After", "1")])
        return Answer(page())

    with Server(answer) as server:
        summary = run(server.url, "--output", "busy")
        same(len(tries), 2, "requests")
        log = [s for s in server.log if s.path == "/"]
        check(log[1].at - log[0].answered >= 1, "Retry-After: 1")
        same((summary["fetched"], summary["retries"]), (1, 1), "fetched, retries")


def nofollow_is_obeyed():
    pages = {"/": page("/a", text='<a rel="nofollow" href="/b">b</a>'), "/a": page(head=(
        '<meta name="robots" content="nofollow">'), text='<a href="/c">c</a>'),
        "/b": page(), "/c": page()}
    with Server(site(pages)) as server:
        summary = run(server.url, "--output", "nofollow")
        same(set(server.paths()), {"/", "/a"}, "pages without nofollow")
        same(summary["left_out"]["nofollow"], 2, "nofollow")
        server.clear()
        run(server.url, "--output", "follow", "--nofollow")
        same(set(server.paths()), set(pages), "pages with --nofollow")


def sitemaps_are_read_on_request():
    with Server(None) as server:
        def answer(request):
            pages = {
                "/": page(), "/hidden?a=1&b=2": page(), "/deep": page(),
                "/robots.txt": f"Sitemap: {server.url}map.xml\n".encode(),
                "/map.xml": Answer(f"<?xml version='1.0'?><sitemapindex><sitemap><loc>{server.url}"
                                   "two.xml</loc></sitemap></sitemapindex>".encode(),
                                   type="text/xml"),
                "/two.xml": Answer(f"<urlset><url><loc> {server.url}hidden?a=1&amp;b=2 </loc>"
                                   f"</url><url><loc><![CDATA[{server.url}deep]]></loc></url>"
                                   "</urlset>".encode(), type="application/xml")}
            return site(pages)(request)
        server.answer = answer
        run(server.url, "--output", "plain")
        same(set(server.paths()), {"/"}, "without --sitemaps")
        server.clear()
        run(server.url, "--output", "maps", "--sitemaps")
        same(set(server.paths()), {"/", "/map.xml", "/two.xml", "/hidden?a=1&b=2", "/deep"},
             "with --sitemaps")


robots_are_obeyed()
robots_that_cannot_be_read_follow_the_rfc()
redirects_of_robots_txt_are_followed()
pauses_are_kept()
retry_after_is_obeyed()
nofollow_is_obeyed()
sitemaps_are_read_on_request()
