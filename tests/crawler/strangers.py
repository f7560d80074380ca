"""Links from other people's pages: credentials, many spellings of one host, robots.txt elsewhere,
private addresses, endless pauses.  None of them may make the crawler misbehave."""

import contextlib
import glob
import gzip
import json
import sqlite3
import subprocess

from crawling import PATIENCE, arguments, check, run, same
from webserver import Answer, Server, page, site

NO_ROBOTS = Answer(b"", 404)


def notes(*args, status=0):
    """Standard error of a crawl."""
    done = subprocess.run(arguments(*args), capture_output=True, timeout=PATIENCE)
    text = done.stderr.decode(errors="replace")
    same(done.returncode, status, f"exit of {args}: {text}")
    return text


@contextlib.contextmanager
def database(folder):
    """The queue, committed and closed at the end."""
    with contextlib.closing(sqlite3.connect(folder + "/queue.db")) as db, db:
        yield db


def contents(folder):
    """All bytes that the crawl wrote; archives unpacked."""
    text = b""
    for name in sorted(glob.glob(folder + "/*")):
        with (gzip.open if name.endswith(".gz") else open)(name, "rb") as f:
            text += f.read()
    return text


def credentials_are_dropped():
    """In links, redirects, base elements, canonical links and sitemaps.  The pages themselves say
    `secret` only in what the server sent, which is archived as it is."""
    with Server(None) as server:
        host = server.url[len("http://"):].rstrip("/")
        us = [f"http://u{i}:secret@{host}/x{i % 3}" for i in range(30)]
        pages = {
            "/": page(*us, "/based", "/moved", f"http://{host}/x0",
                      head=f'<link rel=canonical href="http://c:secret@{host}/canonical">'),
            "/based": page("below", head=f'<base href="http://b:secret@{host}/dir/">'),
            "/moved": Answer(b"", 302, headers=[("Location", f"http://r:secret@{host}/target")]),
            "/robots.txt": f"Sitemap: http://m:secret@{host}/map.xml\n".encode(),
            "/map.xml": Answer(f"<urlset><url><loc>http://s:secret@{host}/mapped</loc></url>"
                               "</urlset>".encode(), type="text/xml"),
            **{p: page() for p in ("/x0", "/x1", "/x2", "/canonical", "/dir/below", "/target",
                                   "/mapped")}}
        server.answer = site(pages)
        summary = run(server.url, "--output", "dropped", "--sitemaps")
        same(sorted(server.paths(robots=True)), sorted(pages), "each page once")
        same(summary["hosts"], 1, "hosts")
        for seen in server.log:
            check("authorization" not in seen.headers, f"{seen.path}: {seen.headers}")
        with open("dropped/index.cdxj", "rb") as index:
            check(b"secret" not in index.read(), "credentials in the index")
        requests = [r for r in contents("dropped").split(b"WARC/1.1\r\n") if b"request" in r[:200]]
        check(requests and not any(b"secret" in r or b"uthorization" in r for r in requests),
              "credentials in a request record")
        with database("dropped") as db:
            urls = [row[0] for row in db.execute("SELECT url FROM url UNION SELECT name FROM host")]
        check(urls and not any("@" in u for u in urls), f"credentials in the queue: {urls}")


def a_seed_with_credentials_is_refused():
    text = notes("http://me:secret@127.0.0.1:9/a", "--output", "login", status=2)
    check("does not log in; give http://127.0.0.1:9/a instead" in text, text)
    check("secret" not in text and "me" not in text.split("instead")[0].split("give")[1], text)


def all_spellings_are_one_host():
    """Pauses, parallel requests and pages are counted per host, over all its ports and spellings.
    The test checks only the shortest pause, because the machine may be busy."""
    with Server(None) as one, Server(None) as two:
        names = ("127.0.0.1", "127.1", "0x7f000001", "127.0.0.1.", "u@127.0.0.1", "[::ffff:7f00:1]")
        links = [f"http://{name}:{s.port}/{i}" for i, name in enumerate(names) for s in (one, two)]
        answers = {"/": page(*links), **{f"/{i}": page() for i in range(len(names))}}
        one.answer = two.answer = site(answers)
        summary = run(one.url, "--output", "spelled", "--scope", "any", "--allow-private",
                      "--delay", "50ms", "--per-host", "1")
        log = sorted(one.log + two.log, key=lambda s: s.at)
        same(summary["hosts"], 1, "hosts")
        check(len(log) > len(names) * 2, f"{len(log)} requests")
        least = min(b.at - a.answered for a, b in zip(log, log[1:]))
        check(least >= 0.05, f"a pause of {least} s between requests to two ports of one host")
        summary = run(one.url, "--output", "limited", "--scope", "any", "--allow-private",
                      "--max-host-pages", "3")
        same(summary["fetched"], 3, "pages of one host")
        # Each port has rules of its own.
        one.clear(), two.clear()
        two.answer = site({**answers, "/robots.txt": b"user-agent: *\ndisallow: /\n"})
        run(one.url, "--output", "ruled", "--scope", "any", "--allow-private")
        same(two.paths(), [], "pages of the port that forbids all")
        check(len(one.paths()) > 6, "pages of the port that does not")


def robots_txt_is_followed_within_the_scope():
    """A redirect is followed only within the scope; if it leads outside, nothing is fetched."""
    with Server(None, ["127.0.0.1", "127.0.0.2"]) as server:
        other = f"http://127.0.0.2:{server.port}"
        asked = []

        def answer(request):
            asked.append(f"{request.address}{request.path}")
            if request.address == "127.0.0.2":
                rules = Answer(b"user-agent: *\ndisallow: /shut\n", type="text/plain")
                return rules if request.path == "/rules" else NO_ROBOTS
            if request.path == "/robots.txt":
                return Answer(b"", 301, headers=[("Location", other + "/rules")])
            return Answer(page("/open", "/shut"))

        server.answer = answer
        summary = run(server.url, "--output", "out-of-scope", status=1)
        same(asked, ["127.0.0.1/robots.txt"], "requests")
        same(summary["failed"]["robots_redirects"], 1, "robots redirects")
        text = notes(server.url, "--output", "told", status=1)
        check(f"redirects out of the scope, to {other}/rules; start from there" in text, text)
        asked.clear()
        run(server.url, "--output", "in-scope", "--scope", "any", "--allow-private")
        same(sorted(asked), ["127.0.0.1/", "127.0.0.1/open", "127.0.0.1/robots.txt",
                             "127.0.0.2/rules"], "requests")
        # Another port is outside the scope, too; another path on the same port is not, even in a
        # prefix scope.
        with Server(site({"/robots.txt": Answer(b"", 302, headers=[
                ("Location", f"http://127.0.0.1:{server.port}/robots.txt")])})) as port:
            asked.clear()
            run(port.url, "--output", "port", status=1)
            same(asked, [], "requests to another port")
        with Server(site({"/robots.txt": Answer(b"", 302, headers=[("Location", "/r")]),
                          "/r": b"user-agent: *\ndisallow: /docs/shut\n",
                          "/docs/": page("shut", "open"), "/docs/open": page()})) as here:
            run(here.url + "docs/", "--output", "prefix", "--scope", "prefix")
            same(here.paths(robots=True), ["/robots.txt", "/r", "/docs/", "/docs/open"], "prefix")
        with Server(site({"/robots.txt": Answer(b"", 302, headers=[
                ("Location", "ftp://127.0.0.1/robots.txt")])})) as strange:
            run(strange.url, "--output", "strange", status=1)
            same(strange.paths(), [], "robots.txt at ftp")


def redirected_robots_txt_respects_pauses():
    """A hundred hosts whose robots.txt redirects to one host do not shorten its pauses."""
    hosts = [f"127.0.1.{i}" for i in range(1, 9)]
    with Server(None, ["127.0.0.1", *hosts]) as server:
        def answer(request):
            if request.address == "127.0.0.1":
                links = [f"http://{h}:{server.port}/" for h in hosts]
                return NO_ROBOTS if request.path == "/robots.txt" else Answer(page(*links))
            if request.path == "/robots.txt":
                return Answer(b"", 302, headers=[
                    ("Location", f"http://127.0.0.1:{server.port}/of-{request.address}")])
            return Answer(page())

        server.answer = answer
        run(server.url, "--output", "hurry", "--scope", "any", "--allow-private", "--delay", "60ms")
        log = sorted((s for s in server.log if s.host.startswith("127.0.0.1:")), key=lambda s: s.at)
        same(len(log), 2 + len(hosts), "requests to the host that all lead to")
        least = min(b.at - a.answered for a, b in zip(log, log[1:]))
        check(least >= 0.06, f"a pause of {least} s")
        same(server.most_open[log[0].host], 1, "requests at a time")


def private_addresses_are_refused():
    """In a broad crawl, unless a seed names the address and port, or --allow-private is given."""
    with Server(None, ["127.0.0.1", "127.0.0.2"]) as server, Server(None) as other:
        def answer(request):
            if request.path == "/robots.txt":
                return NO_ROBOTS
            port = server.port
            if request.path == "/away":
                return Answer(b"", 302, headers=[("Location", f"http://127.0.0.2:{port}/moved")])
            if request.path == "/":
                return Answer(page("/mine", "/away", f"http://127.0.0.2:{port}/a",
                                   f"http://localhost:{port}/b", f"http://x.localhost:{port}/c",
                                   f"http://[::1]:{port}/d", f"http://2130706434:{port}/e",
                                   f"http://127.0.0.1:{other.port}/f"))
            return Answer(page())

        server.answer = other.answer = answer
        for scope in (("--scope", "any"), ("--scope", "regex", "--match", ".")):
            server.clear()
            summary = run(server.url, "--output", "private-" + scope[1], *scope)
            same(sorted(server.paths()), ["/", "/away", "/mine"], "pages")
            same({s.host for s in server.log}, {f"127.0.0.1:{server.port}"}, "hosts that were asked")
            same(other.log, [], "requests to another port")
            same(summary["failed"]["private_address"], 7, "private addresses")
        check("give --allow-private" in notes(server.url, "--output", "hint", "--scope", "any"), "hint")
        server.clear()
        run(server.url, f"http://127.0.0.2:{server.port}/a", "--output", "named", "--scope", "any")
        same({s.host.split(":")[0] for s in server.log}, {"127.0.0.1", "127.0.0.2"}, "two are named")
        # A redirect of robots.txt does not lead to a private address either.
        gate = Answer(b"", 302, headers=[("Location", f"http://127.0.0.2:{server.port}/gate")])
        with Server(site({"/": page(), "/robots.txt": gate})) as way:
            server.clear()
            summary = run(way.url, "--output", "way-in", "--scope", "any", status=1)
            same(server.log, [], "requests that a robots.txt led to")
            same(summary["failed"]["private_address"], 1, "private addresses")
        # The option is remembered and can be turned off.
        server.clear()
        run(server.url, "--output", "allowed", "--scope", "any", "--allow-private", "--max-pages", "1")
        summary = run("--output", "allowed", "--scope", "any", "--no-allow-private")
        check("/a" not in server.paths() and summary["failed"]["private_address"] > 0, "turned off")


def a_long_crawl_delay_is_capped():
    pages = {"/": page("/a", "/b"), "/a": page(), "/b": page(),
             "/robots.txt": b"user-agent: *\ncrawl-delay: 86400\n"}
    with Server(site(pages)) as server:
        summary = run(server.url, "--output", "day", "--max-crawl-delay", "100ms")
        same((summary["fetched"], summary["capped_delays"]), (3, 1), "pages, delays cut")
        log = sorted(server.log, key=lambda s: s.at)
        least = min(b.at - a.answered for a, b in zip(log, log[1:]))
        check(least >= 0.1, f"a pause of {least} s")
        text = notes(server.url, "--output", "cut", "--max-crawl-delay", "0")
        check("1 robots.txt asks for a longer pause than --max-crawl-delay allows" in text, text)
    pages["/robots.txt"] = b"user-agent: *\ncrawl-delay: 0.1\n"
    with Server(site(pages)) as server:
        same(run(server.url, "--output", "short")["capped_delays"], 0, "delays cut")


def a_folder_of_deja_0_1_can_be_resumed():
    """In deja 0.1, a host was its scheme and authority, with credentials."""
    pages = {"/": page("/a", "/b"), "/a": page(), "/b": page(), "/c": page()}
    with Server(site(pages)) as server:
        run(server.url, "--output", "old", "--max-pages", "1")
        host = server.url.rstrip("/")
        with database("old") as db:
            db.execute("UPDATE host SET name = ?", (host,))
            old = db.execute("INSERT INTO host(name) VALUES(?)",
                             (host.replace("//", "//me:secret@"),)).lastrowid
            db.execute("INSERT INTO url(visit, host, depth, hops, attempts, hidden, state, hash, "
                       "url) VALUES(1, ?, 1, 0, 0, 0, 0, 0, ?)",
                       (old, server.url.replace("//", "//me:secret@") + "c"))
            db.execute("DROP INDEX url_waits")
            for column in ("parent", "links", "cash", "share", "priority"):
                db.execute(f"ALTER TABLE url DROP COLUMN {column}")
            db.execute("CREATE INDEX url_waits ON url(host, depth, id) WHERE state = 0")
            db.execute("PRAGMA user_version = 2")
        server.clear()
        summary = run("--output", "old", "--log", "old.log")
        same(sorted(server.paths()), ["/a", "/b", "/c"], "pages")
        with open("old.log", encoding="utf-8") as log:
            same(sorted(json.loads(line)["url"] for line in log),
                 [server.url + path for path in "abc"], "URLs in the log, without credentials")
        same(summary["hosts"], 1, "hosts")
        for seen in server.log:
            check("authorization" not in seen.headers, f"{seen.path}: {seen.headers}")
        with database("old") as db:
            same(db.execute("SELECT name FROM host").fetchall(), [("127.0.0.1",)], "hosts")
            same(db.execute("SELECT count(*) FROM url WHERE host NOT IN (SELECT id FROM host)")
                 .fetchone(), (0,), "URLs of no host")
            db.execute("PRAGMA user_version = 99")
        check("another version of deja (format 99" in notes("--output", "old", status=2), "a newer folder")


def bare_hosts_are_accepted():
    with Server(site({"/": page(), "/x": page()})) as server:
        host = server.url[len("http://"):].rstrip("/")
        text = notes(host, "--output", "bare")
        check(f"'{host}' is read as http://{host}/\n" in text, text)
        text = notes(f"localhost:{server.port}/x", "--output", "local")
        check(f"is read as http://localhost:{server.port}/x" in text, text)
        same(server.paths(), ["/", "/x"], "pages")
    with open("urls.txt", "w", encoding="ascii") as f:
        f.write("http://127.0.0.1/\n")
    for seed, words in (("urls.txt", "'urls.txt' is a file, not a URL"),
                        ("word", "'word' is not an http or https URL"),
                        ("mailto:a@b.org", "is not an http or https URL"),
                        ("ftp://example.org/", "is not an http or https URL"),
                        ("http://", "is not an http or https URL")):
        text = notes(seed, "--output", "not-made", status=2)
        check(words in text, text)


for test in (credentials_are_dropped, a_seed_with_credentials_is_refused, all_spellings_are_one_host,
             robots_txt_is_followed_within_the_scope, redirected_robots_txt_respects_pauses,
             private_addresses_are_refused, a_long_crawl_delay_is_capped,
             a_folder_of_deja_0_1_can_be_resumed, bare_hosts_are_accepted):
    print(test.__name__, flush=True)
    test()
