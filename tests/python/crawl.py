"""crawl - Scrapy with deja's filter on a site with loops: pages, kills, stops, visits, settings, log.

CRAWL_PAGES sets the number of pages; crawl_long.py and crawl_stops_long.py set it higher.
"""

import os
import signal
import sys
import unittest

import pydeja

pydeja.need_scrapy()
import deja  # noqa: E402
from crawling import DEFAULT, Crawl, Site, crawl  # noqa: E402

PAGES = int(os.environ.get("CRAWL_PAGES", "120"))


def set_bytes(n):
    """Return the memory of Scrapy's own filter for n requests: a set of hexadecimal SHA-1."""
    seen = {f"{i:040x}" for i in range(n)}
    return sys.getsizeof(seen) + sum(map(sys.getsizeof, seen))


class Crawls(unittest.TestCase):
    def setUp(self):
        self.sites = []

    def tearDown(self):
        for site in self.sites:
            site.shutdown()
            site.server_close()

    def site(self, pages=PAGES):
        self.sites.append(Site(pages).start())
        return self.sites[-1]

    def assert_all(self, pages, n):
        self.assertEqual(sorted(set(pages)), list(range(n)))

    def test_the_same_pages_as_the_default_in_a_fraction_of_the_memory(self):
        default = crawl(self.site(), **DEFAULT)
        ours = crawl(self.site(), DEJA_CAPACITY=PAGES * 5 // 4)
        self.assert_all(default.pages, PAGES)
        self.assertEqual(sorted(ours.pages), sorted(default.pages))
        self.assertEqual(ours.stats["dupefilter/filtered"], default.stats["dupefilter/filtered"])
        self.assertEqual(ours.stats["deja/keys"], PAGES)
        self.assertLess(ours.stats["deja/expected_lost"], 0.01)
        theirs = set_bytes(PAGES)
        print(f"{PAGES} pages: {ours.stats['deja/bytes']} bytes, 1/{theirs / ours.stats['deja/bytes']:.0f} "
              f"of Scrapy's {theirs}")
        self.assertLess(ours.stats["deja/bytes"] * 10, theirs)

    def test_a_stop_and_a_resume_fetch_every_page_once(self):
        site = self.site()
        first = Crawl(site, JOBDIR="stopped", CONCURRENT_REQUESTS=4).kill(
            lambda: len(site.asked) > PAGES // 4, signal.SIGINT)
        self.assertLess(len(first.pages), PAGES)
        second = crawl(site, JOBDIR="stopped")
        self.assert_all(first.pages + second.pages, PAGES)
        self.assertLessEqual(len(site.asked), PAGES + 2)  # each run requests the start page
        self.assertNotIn("killed", second.log)
        self.assertEqual(second.stats["deja/visit"], 1)
        self.assertEqual(crawl(site, JOBDIR="stopped").pages, [0])  # finished: nothing is left

    def test_a_job_of_the_default_filter_is_imported(self):
        site = self.site()
        first = Crawl(site, JOBDIR="moved", CONCURRENT_REQUESTS=4, **DEFAULT).kill(
            lambda: len(site.asked) > PAGES // 4, signal.SIGINT)
        second = crawl(site, JOBDIR="moved")
        self.assertIn("requests from", second.log)
        self.assert_all(first.pages + second.pages, PAGES)
        self.assertLessEqual(len(site.asked), PAGES + 2)

    def test_a_kill_loses_no_page(self):
        site = self.site()
        Crawl(site, JOBDIR="killed", CONCURRENT_REQUESTS=4).kill(lambda: len(site.asked) > PAGES // 4)
        self.assertLess(len(set(site.asked)), PAGES)
        second = crawl(site, JOBDIR="killed")
        self.assertIn("was killed", second.log)
        self.assertEqual(second.stats["deja/visit"], 2)
        self.assert_all(second.pages, PAGES)

    def test_a_power_cut_that_restores_an_older_note(self):
        site = self.site()
        Crawl(site, JOBDIR="cut", CONCURRENT_REQUESTS=4).kill(lambda: len(site.asked) > PAGES // 4)
        with open("cut/requests.deja.run", "w", encoding="utf-8") as note:
            note.write("shutdown\n")
        second = crawl(site, JOBDIR="cut")
        self.assertIn("was killed", second.log)
        self.assert_all(second.pages, PAGES)

    def test_a_kill_of_a_resumed_run_loses_no_page(self):
        site = self.site()
        Crawl(site, JOBDIR="twice").kill(lambda: len(site.asked) > PAGES // 8, signal.SIGINT)
        before = len(site.asked)
        Crawl(site, JOBDIR="twice").kill(lambda: len(site.asked) > before + PAGES // 8)
        self.assert_all(crawl(site, JOBDIR="twice").pages, PAGES)
        self.assertTrue(os.path.exists("twice/requests.queue.killed"))

    def test_a_visit_finds_what_a_tiny_filter_hid(self):
        """The temporal strategy: visits have different false positives, so the next one finds lost pages.

        Keys contain the port and differ from run to run, so the bounds are wide.  The first filter
        is sized for half of the pages at p = 0.2 and loses about a fifth of them, the second one a
        few percent.  The chance that the first loses none of 120, or that the second loses the same
        twenty again, is below 1e-10.
        """
        site = self.site()
        settings = {"JOBDIR": "tiny", "DEJA_REVISIT": 1, "DEJA_KIND": "classic", "DEJA_CAPACITY": PAGES // 2,
                    "DEJA_FP_RATE": 0.2, "DEJA_FIXED": 1}
        first, second = crawl(site, **settings), crawl(site, **settings)
        hidden = set(range(PAGES)) - set(first.pages)
        found = hidden & set(second.pages)
        print(f"visit 1 missed {len(hidden)} of {PAGES} pages ({first.stats['deja/expected_lost']:.0f} expected, "
              f"and pages that only these link to); visit 2 found {len(found)} of them")
        self.assertGreater(len(hidden), 0)
        self.assertGreater(first.stats["deja/expected_lost"], 1)
        self.assertGreater(len(found), 0)
        self.assertEqual((first.stats["deja/visit"], second.stats["deja/visit"]), (1, 2))
        self.assertGreater(second.stats["deja/missed_by_every_visit"], 0)

    def test_a_file_alone_remembers_fetched_pages(self):
        site = self.site()
        Crawl(site, DEJA_FILE="seen.deja", CONCURRENT_REQUESTS=2).kill(lambda: len(site.asked) > PAGES // 4)
        with deja.Filter("seen.deja", mode="r") as f:
            keys = f.stats().keys
        self.assertLess(abs(keys - len(site.asked)), 20)  # without requests that were only queued
        asked = set(site.asked)
        before = len(site.asked)
        second = crawl(site, DEJA_FILE="seen.deja")
        self.assertLessEqual(len(set(site.asked[before:]) & asked), 4)  # the first page, and requests in flight
        self.assertEqual(crawl(site, DEJA_FILE="seen.deja").pages, [0])
        self.assertTrue(second.pages)
        self.assert_all(crawl(site, DEJA_FILE="seen.deja", DEJA_REVISIT=1).pages, PAGES)

    def test_urls_instead_of_fingerprints(self):
        site = self.site()
        run = crawl(site, DEJA_URL="crawl", DEJA_FILE="urls.deja", DEJA_CAPACITY=PAGES)
        self.assert_all(run.pages, PAGES)
        # Other spellings of a URL in flight are not requested again; page 0 has two URLs.
        self.assertLessEqual(len(run.pages), PAGES + 1)
        with deja.Filter("urls.deja", mode="r") as f:  # any program can look URLs up in it
            self.assertEqual(f.rules.profile, "crawl")
            self.assertTrue(all(site.url + f"p/{i}" in f for i in range(1, PAGES) if i % 5))
            self.assertIn(f"{site.url}q?view=full&id=5", f)

    def test_log_lines_that_scrapy_users_expect(self):
        site = self.site(30)
        quiet, loud = crawl(site), crawl(site, DUPEFILTER_DEBUG=1)
        self.assertEqual(quiet.log.count("Filtered duplicate request"), 1)
        self.assertIn("no more duplicates will be shown (see DUPEFILTER_DEBUG", quiet.log)
        self.assertEqual(loud.log.count("Filtered duplicate request"), loud.stats["dupefilter/filtered"])
        self.assertIn("(referer: http://127.0.0.1", loud.log)

    def test_a_full_filter_stops_the_crawl(self):
        run = crawl(self.site(), DEJA_KIND="exact", DEJA_CAPACITY=20, DEJA_FIXED=1)
        self.assertEqual(run.stats["finish_reason"], "deja_failed")
        self.assertIn("is full: make a new filter", run.log)

    def test_a_capacity_is_a_first_size(self):
        site = self.site()
        for settings in ({}, {"DEJA_KIND": "classic"}, {"JOBDIR": "small"}, {"DEJA_FILE": "small.deja"}):
            run = crawl(site, DEJA_CAPACITY=PAGES // 6, **settings)
            self.assert_all(run.pages, PAGES)
            self.assertNotIn("was sized for", run.log)
        run = crawl(site, DEJA_CAPACITY=PAGES // 6, DEJA_FIXED=1)
        self.assertRegex(run.log, rf"WARNING: deja: the filter was sized for {PAGES // 6} requests and now holds ")
        self.assertEqual(run.log.count("was sized for"), 1)

    def test_conflicting_settings_are_refused(self):
        for settings, word in (({"DEJA_REVISIT": 1}, "DEJA_FILE"), ({"DEJA_KIND": "cuckoo"}, "cuckoo"),
                               ({"DEJA_URL": "gsb"}, "block lists"), ({"DEJA_FIXED": 1}, "DEJA_CAPACITY"),
                               ({"DEJA_REDIS_URL": "redis://127.0.0.1:1/", "DEJA_REVISIT": 1}, "DEJA.ROTATE")):
            run = crawl(self.site(5), **settings)
            self.assertIn(word, run.log)
            self.assertEqual(run.pages, [])


if __name__ == "__main__":
    unittest.main()
