"""`deja crawl --output DIR` resumes a crawl with its options: which are remembered, which may change,
which are refused, and which must be given again."""

import os
import sqlite3
import subprocess

import warcfile
from crawling import DEJA, check, same
from webserver import Answer, Server, page, site


def crawl(*args, status=0):
    """Standard error of a crawl with only these options."""
    done = subprocess.run([DEJA, "crawl", *map(str, args)], capture_output=True, timeout=600)
    text = done.stderr.decode(errors="replace")
    same(done.returncode, status, f"exit of {args}: {text}")
    return text


def pages():
    links = [f"/{i}" for i in range(6)]
    return {"/": page(*links, text="<img src=/i.png><a rel=nofollow href=/shy>s</a>"),
            **{p: page() for p in links}, "/i.png": Answer(b"png", type="image/png"),
            "/shy": page()}


def begun(server, name, *args):
    return crawl(server.url, "--output", name, "--delay", "0", "--contact", "http://us.invalid/",
                 "--max-pages", "1", *args)


def a_crawl_resumes_with_its_options():
    with Server(site(pages())) as server:
        begun(server, "on", "--embeds", "--nofollow", "--per-host", "2", "--exclude", "/5$")
        text = crawl("--output", "on")
        for option in ("--embeds", "--nofollow", "--per-host 2", "--exclude /5$", "--delay 0",
                       "--contact http://us.invalid/"):
            check(option in text, f"{option} in the note: {text}")
        check("no --contact" not in text, "a contact that is known")
        same(sorted(server.paths()), sorted(set(pages()) - {"/5"}), "pages")
        for seen in server.log:
            check("+http://us.invalid/" in seen.agent, f"User-Agent: {seen.agent}")


def canonical_forms_of_an_older_version_stay():
    """A queue of deja 0.1 has another id for its rules; the cache uses the same."""
    older = "safe d0a6fc18672a1282"
    with Server(site(pages())) as server:
        begun(server, "older")
        os.remove("older/seen.deja")
        queue = sqlite3.connect("older/queue.db")
        name = queue.execute("SELECT CAST(value AS TEXT) FROM setting WHERE name = 'url'").fetchone()[0]
        check(name.startswith("safe ") and name != older, f"the forms of a new crawl: {name}")
        queue.execute("UPDATE setting SET value = ? WHERE name = 'url'", (older.encode(),))
        queue.commit()
        queue.close()
        crawl("--output", "older")
        same(len(server.paths()), 7, "pages")
        told = subprocess.run([DEJA, "info", "--json", "older/seen.deja"], capture_output=True).stdout
        check(older.split()[1].encode() in told, f"the cache has the forms of the queue: {told}")


def limits_of_a_run_are_not_remembered():
    with Server(site(pages())) as server:
        begun(server, "limits")
        check("page limit" not in crawl("--output", "limits"), "--max-pages is not remembered")
        same(len(server.paths()), 7, "pages")


def options_of_the_visit_stay_until_the_next():
    with Server(site(pages())) as server:
        begun(server, "visit", "-n", "1000", "-k", "classic")
        for args, text in ((("--scope", "any"), "--scope any: this visit started with host"),
                           (("--embeds",), "--embeds: this visit started without it"),
                           (("--exclude", "x"), "--exclude x: this visit started without it"),
                           (("--no-archive",), "--no-archive: this visit started without it"),
                           (("-n", "2000"), "-n 2000: this visit started with 1000"),
                           (("-p", "0.1"), "-p 0.1: this visit started without it")):
            said = crawl("--output", "visit", *args, status=2)
            check(text in said and "--revisit" in said, f"{args}: {said}")
        crawl("--output", "visit", "--scope", "host", "-n", "1000", "--delay", "0")  # unchanged
        server.clear()
        text = crawl("--revisit", "visit", "--embeds", "-m", "4k", "--delay", "0")
        check("/i.png" in server.paths(), "--embeds from the next visit on")
        check("visit 2, done" in text, text)
        server.clear()
        crawl("--revisit", "visit")
        check("/i.png" in server.paths(), "and in the one after it")


def flags_can_be_turned_off():
    """A flag stays on; its opposite turns it off, at the start of the next visit."""
    site_ = {**pages(), "/mapped": page()}
    extra = {"/i.png", "/shy", "/map.xml", "/mapped"}
    with Server(site(site_)) as server:
        root = server.url.rstrip("/")
        site_["/robots.txt"] = Answer(f"Sitemap: {root}/map.xml\n".encode(), type="text/plain")
        site_["/map.xml"] = Answer(f"<urlset><url><loc>{root}/mapped</loc></url></urlset>".encode(),
                                   type="text/xml")
        begun(server, "flags", "--embeds", "--nofollow", "--sitemaps", "--no-archive")
        for taken, given in (("--no-embeds", "--embeds"), ("--no-nofollow", "--nofollow"),
                             ("--no-sitemaps", "--sitemaps"), ("--archive", "--no-archive")):
            said = crawl("--output", "flags", taken, status=2)
            check(f"{taken}: this visit started with {given}; the next one" in said, said)
        crawl("--output", "flags")
        check(extra <= set(server.paths()), f"all flags: {server.paths()}")
        server.clear()
        crawl("--revisit", "flags", "--no-embeds", "--no-nofollow", "--no-sitemaps")
        check(not extra & set(server.paths()), f"none of the first three: {server.paths()}")
        check(not os.path.exists("flags/crawl-00001.warc.gz"), "an archive that was not wanted")
        server.clear()
        said = crawl("--revisit", "flags", "--no-archive", "--archive")  # the last one counts
        check("--no-" not in said and "--embeds" not in said, f"as before: {said}")
        same(len(warcfile.read_folder("flags")), len(set(server.paths())), "archived")
        crawl("--output", "flags", "--archive", "--no-embeds", status=0)  # unchanged


def politeness_options_can_change_at_any_time():
    with Server(site(pages())) as server:
        begun(server, "manners", "--user-agent", "one/1")
        crawl("--output", "manners", "--max-pages", "2", "--contact", "mailto:b@b.invalid")
        crawl("--output", "manners")
        agents = [s.agent for s in server.log if s.path != "/robots.txt"]
        same(agents[0], "one/1", "the first")
        check(all("+mailto:b@b.invalid" in a for a in agents[1:]), f"User-Agents: {agents}")


def the_url_profile_is_remembered():
    """A profile is remembered; parameters to drop must be given again."""
    site_ = {"/": page("/a?utm_source=x", "/a?z=1&x=2"), "/a": page(), "/a?x=2&z=1": page()}
    with Server(site(site_)) as server:
        begun(server, "forms", "--url", "crawl")
        crawl("--output", "forms")
        same(sorted(server.paths()), ["/", "/a", "/a?x=2&z=1"], "pages")
        check("uses profile crawl" in crawl("--output", "forms", "--url", "safe", status=2), "safe")
        os.remove("forms/seen.deja")
        check("give --url" in crawl("--output", "forms", status=2), "the cache is gone")
        crawl("--output", "forms", "--url", "crawl", "-q", status=0)
        begun(server, "keeps", "--url", "crawl", "--keep-params", "--exclude", "x")
        check("as at its start" in crawl("--output", "keeps", status=2), "other parameters")


def a_missing_cache_is_rebuilt_with_its_options():
    with Server(site(pages())) as server:
        begun(server, "gone", "-k", "blocked", "-n", "5000", "--seed", "7")
        os.remove("gone/seen.deja")
        crawl("--output", "gone")
        told = subprocess.run([DEJA, "info", "gone/seen.deja"], capture_output=True, check=True)
        check(b"blocked" in told.stdout and b"5,000" in told.stdout, told.stdout.decode())
        same(len(server.paths()), 7, "pages")


def a_kind_that_does_not_grow_needs_a_size():
    for kind in ("layered", "window", "spectral"):
        text = crawl("http://127.0.0.1:9/", "--output", "unsized", "-k", kind, status=2)
        check(f"kind {kind} cannot grow: give -n" in text, text)
    with Server(site(pages())) as server:
        begun(server, "unsized", "-k", "layered", "-n", "1000")  # the folder is still usable
        crawl("--output", "unsized")
        same(len(server.paths()), 7, "pages")


for test in (a_crawl_resumes_with_its_options, canonical_forms_of_an_older_version_stay,
             limits_of_a_run_are_not_remembered, options_of_the_visit_stay_until_the_next,
             flags_can_be_turned_off, politeness_options_can_change_at_any_time,
             the_url_profile_is_remembered, a_missing_cache_is_rebuilt_with_its_options,
             a_kind_that_does_not_grow_needs_a_size):
    print(test.__name__, flush=True)
    test()
