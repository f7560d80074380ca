"""Servers and pages that misbehave: each fault is counted by type, and the crawl continues."""

import gzip
import zlib

import warcfile
from crawling import check, run, same
from webserver import Answer, Server, page, site


def crawl(pages, name, *args, status=0):
    """Crawls / and what it links to: the summary, the requested paths, the archived answers."""
    with Server(site(pages)) as server:
        summary = run(server.url, "--output", name, *args, status=status)
        answers = {r.url[len(server.url) - 1:]: r for r in warcfile.read_folder(name)}
        return summary, server.paths(), answers


def failures(summary):
    return {k: n for k, n in summary["failed"].items() if n}


def error_statuses_are_counted():
    pages = {"/": page("/404", "/410", "/403", "/418", "/500", "/204")}
    pages.update({f"/{s}": Answer(b"x", s) for s in (404, 410, 403, 418, 500)})
    pages["/204"] = Answer(b"", 204)
    summary, paths, answers = crawl(pages, "statuses", "--retries", "1")
    same(failures(summary), {"not_found": 2, "forbidden": 1, "client_error": 1, "server_error": 1},
         "failures")
    same(paths.count("/500"), 2, "a server error is tried again")
    same(paths.count("/404"), 1, "a missing page is not")
    same({p: r.status for p, r in answers.items()},
         {"/": 200, "/404": 404, "/410": 410, "/403": 403, "/418": 418, "/500": 500, "/204": 204},
         "archived")


def slow_and_truncated_answers_are_retried():
    long = page(text="x" * 4000)
    pages = {"/": page("/silent", "/drip", "/cut", "/short", "/cutchunks", "/nothing", "/fine"),
             "/silent": Answer(long, wait=3600), "/drip": Answer(long, drip=1),
             "/cut": Answer(long, cut=100), "/short": Answer(long, length=10 ** 6),
             "/cutchunks": Answer(long, chunked=True, cut=200), "/nothing": Answer(raw=b""),
             "/fine": page()}
    # The two slow ones take twice 8 s, in parallel; on a busy machine, the others may take as
    # long.
    summary, paths, _ = crawl(pages, "slow", "--timeout", "8s", "--retries", "1", "--per-host", "4")
    same(failures(summary), {"timeout": 2, "cut_off": 4}, "failures")
    same(summary["fetched"], 2, "fetched")
    same(paths.count("/cut"), 2, "what is cut off is tried again")


def garbage_is_not_http():
    pages = {"/": page("/garbage", "/head", "/fine"), "/garbage": Answer(raw=b"\x00\x01\x02\r\n" * 9),
             "/head": Answer(raw=b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 400000 + b"\r\n\r\nbody"),
             "/fine": page()}
    summary, _, _ = crawl(pages, "nohttp", "--retries", "0")
    same(summary["fetched"], 2, "fetched")
    same(sum(failures(summary).values()), 2, "failures")


def huge_pages_are_truncated_at_the_limit():
    pages = {"/": page("/huge", "/bomb"), "/huge": Answer(page("/in", text="x" * 300000)),
             "/bomb": Answer(gzip.compress(page("/at-once", text=" " * 10 ** 7)),
                             headers=[("Content-Encoding", "gzip")]),
             "/at-once": page(), "/in": page()}
    summary, paths, answers = crawl(pages, "huge", "--max-page", "100000")
    same(summary["truncated"], 1, "truncated")
    same(answers["/huge"].fields["WARC-Truncated"], "length", "what the archive says of it")
    same(len(answers["/huge"].body), 100000, "bytes kept")
    check("/in" not in paths and "/at-once" not in paths, "links behind the limit")


def content_codings():
    body = page("/next")
    raw = zlib.compressobj(wbits=-15)
    coded = {"gzip": gzip.compress(body), "deflate": zlib.compress(body),
             "x-gzip": gzip.compress(body), "raw": raw.compress(body) + raw.flush()}
    for name, data in coded.items():
        coding = "deflate" if name == "raw" else name
        pages = {"/": Answer(data, headers=[("Content-Encoding", coding)], chunked=True),
                 "/next": page()}
        summary, paths, answers = crawl(pages, f"coding-{name}")
        same(paths, ["/", "/next"], f"links in {name}")
        same(answers["/"].body, data, "archived as it was sent")
    pages = {"/": Answer(gzip.compress(body)[:-9], headers=[("Content-Encoding", "gzip")]),
             "/next": page()}
    summary, paths, _ = crawl(pages, "coding-damaged")
    same((summary["unread"], summary["fetched"]), (1, 2), "damaged, and its links all the same")
    pages["/"] = Answer(b"xx", headers=[("Content-Encoding", "br")])
    same(crawl(pages, "coding-other")[0]["unread"], 1, "a coding that was not asked for")


def content_types():
    link = page("/no")
    pages = {"/": page("/text", "/image", "/none", "/xhtml"), "/text": Answer(link, type="text/plain"),
             "/image": Answer(link, type="image/png"), "/none": Answer(page("/yes"), type=None),
             "/xhtml": Answer(page("/yes2"), type="application/xhtml+xml; charset=utf-8"),
             "/yes": page(), "/yes2": page(), "/no": page()}
    summary, paths, _ = crawl(pages, "types")
    same(set(paths), set(pages) - {"/no"}, "links only in HTML")


def redirects():
    def to(path, status=302):
        return Answer(b"", status, headers=[("Location", path)])
    pages = {"/": page("/one", "/loop1", "/self", "/out", "/none", "/chain0"),
             "/one": to("/end", 301), "/end": page(),
             "/loop1": to("/loop2"), "/loop2": to("/loop1"), "/self": to("/self#x"),
             "/out": to("http://elsewhere.invalid/"), "/none": Answer(b"", 302),
             **{f"/chain{i}": to(f"/chain{i + 1}") for i in range(20)}}
    summary, paths, answers = crawl(pages, "redirects", "--max-redirects", "5")
    same(sorted(p for p in paths if "chain" in p), [f"/chain{i}" for i in range(6)], "a chain")
    same(paths.count("/loop1"), 1, "a loop of two")
    same(paths.count("/self"), 6, "a page that leads to itself")
    same(summary["left_out"]["scope"], 1, "out of scope")
    same(failures(summary), {"too_many_redirects": 2}, "failures")
    same(answers["/one"].status, 301, "redirects are archived")
    check("/end" in paths, "the target of a redirect")


def cookies():
    """A page that redirects clients without a cookie to itself, and sets one."""
    def answer(request):
        if request.path == "/robots.txt":
            return Answer(b"", 404)
        if "seen=1" not in request.headers.get("cookie", ""):
            return Answer(b"", 302, headers=[("Location", request.path),
                                             ("Set-Cookie", "seen=1; Path=/")])
        return Answer(page("/a", "/b"))
    with Server(answer) as server:
        summary = run(server.url, "--output", "cookies")
        same(server.paths(), ["/", "/", "/a", "/b"], "requests")
        same(summary["fetched"], 3, "fetched")


def malformed_pages():
    pages = {"/": b"<a href=/a><p <b><a href='/b'</i>\x00\xff<table><a href=/c><a href=/d",
             "/a": b"<" * 5000 + b"<a href='/e'>", "/b": b"\xff\xfe<\x00a\x00>", "/c": b"",
             "/e": page("mailto:a@b", "javascript:void(0)", "http://", "http://[::", "//", "/%zz",
                        "http://a b/", "x" * 5000, "data:text/html,x"),
             "/d": b"".join(b"<div>" for _ in range(100000)) + b"<a href=/f>"}
    summary, paths, _ = crawl(pages, "malformed")
    check({"/", "/a", "/b", "/c", "/e"} <= set(paths), f"paths {sorted(set(paths))}")
    check(summary["left_out"]["bad"] >= 4, "links that are none")
    same(summary["left_out"]["scheme"], 3, "other schemes")


def traps():
    """An endless calendar, a folder that contains itself, a search with endless values."""
    def answer(request):
        if request.path == "/robots.txt":
            return Answer(b"", 404)
        path, _, query = request.path.partition("?")
        if path == "/":
            return Answer(page("/cal/1", "/dir/", "/search?q=0"))
        if path.startswith("/cal/"):
            return Answer(page(f"/cal/{int(path[5:]) + 1}"))
        if path.startswith("/dir/"):
            return Answer(page("dir/"))
        n = int(query.split("=")[1])
        return Answer(page(*[f"/search?q={3 * n + i}" for i in (1, 2, 3)]))
    with Server(answer) as server:
        summary = run(server.url, "--output", "traps", "--max-depth", "30", "--max-similar", "50",
                      "--per-host", "4")
        paths = server.paths()
        same(len([p for p in paths if "cal" in p]), 30, "days of the calendar")
        same(len([p for p in paths if "dir" in p]), 2, "folders in themselves")
        same(len([p for p in paths if "search" in p]), 50, "searches")
        check(summary["left_out"]["traps"] > 50 and summary["left_out"]["depth"] == 1, "traps")


def missing_hosts_are_counted():
    summary = run("http://nowhere.invalid/", "--output", "nowhere", "--retries", "0", status=1)
    same(failures(summary), {"no_address": 1}, "a host without address")
    with Server(site({})) as server:
        port = server.port
    summary = run(f"http://127.0.0.1:{port}/", "--output", "gone", "--retries", "0", status=1)
    same(failures(summary), {"no_answer": 1}, "nobody there")


def limits():
    pages = {"/": page(*[f"/{i}" for i in range(50)]), **{f"/{i}": page() for i in range(50)}}
    with Server(site(pages)) as server:
        summary = run(server.url, "--output", "limits", "--max-pages", "10", "--per-host", "4")
        same((summary["fetched"], summary["ended"]), (10, "page limit"), "--max-pages")
        same(summary["waiting"], 41, "waiting")
        summary = run("--output", "limits", "--max-pages", "20")
        same((len(server.paths()), summary["fetched"]), (20, 20), "the same, a little further")
        summary = run("--output", "limits", "--max-bytes", "1")
        same(summary["ended"], "byte limit", "--max-bytes")
        summary = run("--output", "limits")
        same((sorted(server.paths()), summary["ended"]), (sorted(pages), "done"), "the rest")
        same(run(server.url, "--output", "depth", "--max-depth", "0")["fetched"], 1, "--max-depth 0")


def embeds():
    pages = {"/": page(text="<img src=/i.png><script src=/s.js></script>"),
             "/i.png": Answer(b"png", type="image/png"), "/s.js": Answer(b"js", type="text/js")}
    same(set(crawl(pages, "plain")[1]), {"/"}, "without --embeds")
    same(set(crawl(pages, "embeds", "--embeds")[1]), set(pages), "with --embeds")


for test in (error_statuses_are_counted, slow_and_truncated_answers_are_retried,
             garbage_is_not_http, huge_pages_are_truncated_at_the_limit, content_codings,
             content_types, redirects, cookies, malformed_pages, traps, missing_hosts_are_counted,
             limits, embeds):
    print(test.__name__, flush=True)
    test()
