"""crawl_sieve - Scrapy with DEJA_SIEVE: most requests wait, and every page is fetched once."""

import os
import shutil
import signal
import types
import unittest
import unittest.mock

import pydeja

pydeja.need_scrapy()
from scrapy import Request, Spider  # noqa: E402
from scrapy.settings import Settings  # noqa: E402
from scrapy.signalmanager import SignalManager  # noqa: E402
from scrapy.statscollectors import MemoryStatsCollector  # noqa: E402

import deja  # noqa: E402
from deja import _lib  # noqa: E402
from crawling import CAREFUL, DEFAULT, Crawl, Site, crawl  # noqa: E402
from deja.scrapy import DejaDupeFilter, DejaRequestFingerprinter  # noqa: E402
from sieves import OLD, crowded  # noqa: E402

PAGES = 120
REACTORS = "twisted.internet.epollreactor.EPollReactor", "twisted.internet.asyncioreactor.AsyncioSelectorReactor"
SMALL = {"DEJA_MEMORY": "1M", "DEJA_OPTIONS": '{"seed": 1}'}


def small(name, **more):
    """Return the settings of a crawl in which most requests wait."""
    if not os.path.exists(name):
        shutil.copytree("crowded.sieve", name)
    return {"DEJA_SIEVE": name, **SMALL, **more}


def setUpModule():
    crowded("crowded.sieve")


class Crawls(unittest.TestCase):
    def setUp(self):
        self.site = Site(PAGES).start()
        self.addCleanup(self.site.server_close)
        self.addCleanup(self.site.shutdown)

    def assert_once(self, *runs):
        """Page 0 has two URLs, and each run requests it first."""
        pages = [page for run in runs for page in run.pages]
        self.assertEqual(sorted(page for page in pages if page), list(range(1, PAGES)))
        self.assertIn(pages.count(0), range(1, len(runs) + 2))

    def assert_waited(self, run):
        self.assertGreater(run.stats["deja/sieve_waited"], 0)
        self.assertGreater(run.stats["deja/sieve_late"], 0)

    def test_every_page_once_although_most_requests_wait(self):
        default = crawl(self.site, **DEFAULT)
        for i, more in enumerate(({}, {"JOBDIR": "job1"})):
            more = {"TWISTED_REACTOR": REACTORS[i], **more}
            with self.subTest(more):
                run = crawl(self.site, **small(f"once{i}.sieve"), **more)
                self.assert_once(run)
                self.assertEqual(sorted(run.pages), sorted(default.pages))
                self.assertEqual(run.stats["dupefilter/filtered"], default.stats["dupefilter/filtered"])
                late = run.stats["deja/sieve_late"]
                self.assertGreater(late, PAGES // 2)
                self.assertGreater(run.stats["deja/sieve_waited"], late)
                self.assertEqual(run.stats["deja/sieve_pending"], 0)
                self.assertEqual(run.stats["deja/keys"], OLD + len(run.pages) - 1)
                self.assertIn(f"lost: none, {late} requests came late, 0 wait for the next run", run.log)
                self.assertIn(f"Using reactor: {REACTORS[i]}", run.log)
        deja.verify("once0.sieve")
        self.assertEqual(crawl(self.site, **small("once0.sieve")).pages, [0])  # all others were seen
        self.assertEqual(crawl(self.site, **small("once1.sieve", JOBDIR="job1")).pages, [0])

    def test_a_sieve_that_fits_in_memory_makes_no_request_wait(self):
        run = crawl(self.site, DEJA_SIEVE="large.sieve", DEJA_URL="crawl")
        self.assert_once(run)
        self.assertEqual((run.stats["deja/sieve_waited"], run.stats["deja/sieve_passes"]), (0, 0))
        with deja.Sieve("large.sieve", mode="r") as s:
            self.assertIn(f"{self.site.url}q?view=full&id=5", s)
            self.assertEqual(s.rules.profile, "crawl")

    def test_a_stop_and_a_resume_fetch_every_page_once(self):
        settings = small("stopped.sieve", JOBDIR="stopped")
        first = Crawl(self.site, CONCURRENT_REQUESTS=4, **settings).kill(
            lambda: len(self.site.asked) > PAGES // 4, signal.SIGINT)
        self.assertLess(len(first.pages), PAGES)
        waiting = first.stats["deja/sieve_pending"]
        self.assertGreater(waiting, 0)
        self.assertIn(f"{waiting} wait for the next run", first.log)
        second = crawl(self.site, **settings)
        self.assert_once(first, second)
        self.assertLessEqual(len(self.site.asked), PAGES + 3)
        self.assertNotIn("killed", second.log)
        self.assertEqual(crawl(self.site, **settings).pages, [0])

    def test_a_kill_loses_no_page(self):
        for i, more in enumerate(({"JOBDIR": "killed"}, {})):
            with self.subTest(more):
                del self.site.asked[:]
                settings = small(f"killed{i}.sieve", **more)
                Crawl(self.site, CONCURRENT_REQUESTS=4, **settings).kill(lambda: len(self.site.asked) > PAGES // 4)
                self.assertLess(len(set(self.site.asked)), PAGES)
                second = crawl(self.site, **settings)
                self.assertIn("was killed or stopped", second.log)
                self.assert_once(second)
                self.assertEqual(second.stats["deja/keys"], len(second.pages) - 1)  # the new sieve was empty
                deja.verify(f"killed{i}.sieve.killed")
                self.assertEqual(crawl(self.site, **settings).pages, [0])
        self.assertTrue(os.path.exists("killed/requests.queue.killed"))

    def test_requests_that_waited_in_a_killed_run_come_back(self):
        """No page has links in the next run, so nothing else leads to them."""
        settings = small("orphan.sieve", JOBDIR="orphan")

        def pending():
            if len(self.site.asked) < 2:
                return 0
            with deja.Sieve("orphan.sieve", mode="r") as s:
                return s.stats().pending

        # Between two pages, half a second passes; between two passes, several pages.
        Crawl(self.site, CONCURRENT_REQUESTS=1, DOWNLOAD_DELAY=0.5, RANDOMIZE_DOWNLOAD_DELAY=0, **settings).kill(
            lambda: pending() > 2)
        asked, waiting = self.site.asked[:], pending()
        self.site.links = lambda page: []
        second = crawl(self.site, **settings)
        self.assertGreater(len(second.pages), 1)
        self.assertLessEqual(len(second.pages), 1 + waiting)
        self.assertEqual(set(second.pages) & set(asked), {0})

    def test_a_stop_without_a_queue_on_disk_starts_again(self):
        Crawl(self.site, CONCURRENT_REQUESTS=4, **small("memory.sieve")).kill(
            lambda: len(self.site.asked) > PAGES // 4, signal.SIGINT)
        second = crawl(self.site, **small("memory.sieve"))
        self.assertIn("was killed or stopped", second.log)
        self.assert_once(second)

    def test_a_queue_that_was_deleted_starts_the_crawl_again(self):
        settings = small("deleted.sieve", JOBDIR="deleted")
        Crawl(self.site, CONCURRENT_REQUESTS=4, **settings).kill(lambda: len(self.site.asked) > PAGES // 4, signal.SIGINT)
        shutil.rmtree("deleted")
        second = crawl(self.site, **settings)
        self.assertIn("queue is lost", second.log)
        self.assert_once(second)

    def test_requests_come_back_with_everything(self):
        run = crawl(self.site, CAREFUL, **small("careful.sieve"))
        self.assert_once(run)
        self.assert_waited(run)
        self.assertNotIn("LOST SOMETHING", run.log)
        self.assertNotIn("FAILED", run.log)
        self.assertIn("AGAIN", run.log)
        self.assertEqual(run.stats["deja/sieve_unserializable"], 0)

    def test_requests_that_cannot_be_serialized_are_settled_at_once(self):
        self.use("lambda")
        run = crawl(self.site, CAREFUL, **small("lambdas.sieve", JOBDIR="lambdas"))
        self.assert_once(run)
        self.assertNotIn("LOST SOMETHING", run.log)
        self.assertEqual(run.log.count("WARNING: deja: unable to serialize request"), 1)
        self.assertGreater(run.stats["deja/sieve_unserializable"], PAGES)
        self.assertGreater(run.stats["deja/sieve_passes"], PAGES // 2)
        self.assertEqual((run.stats["deja/sieve_waited"], run.stats["deja/sieve_pending"]), (0, 0))

    def use(self, how):
        os.environ["CAREFUL"] = how
        self.addCleanup(os.environ.pop, "CAREFUL", None)

    def test_a_callback_that_is_gone_stops_the_crawl_and_the_requests_wait(self):
        settings = small("renamed.sieve", JOBDIR="renamed")
        self.use("renamed")
        first = Crawl(self.site, CAREFUL, CONCURRENT_REQUESTS=2, **settings).kill(
            lambda: len(self.site.asked) > PAGES // 4, signal.SIGINT)
        self.assertGreater(first.stats["deja/sieve_pending"], 0)
        self.use("")
        second = crawl(self.site, CAREFUL, **settings)
        self.assertEqual(second.stats["finish_reason"], "deja_failed")
        self.assertRegex(second.log, "ERROR: deja: .*cannot be restored .*parse_page.*kept")
        self.assertEqual(second.stats["deja/sieve_pending"], first.stats["deja/sieve_pending"] - 1)
        self.use("renamed")
        third = crawl(self.site, CAREFUL, **settings)
        pages = set(first.pages + second.pages + third.pages)
        self.assertEqual(pages, set(range(PAGES)))

    def test_lines_of_another_program_are_left_alone(self):
        with deja.Sieve(small("foreign.sieve")["DEJA_SIEVE"], memory="1M") as s:
            waiting = s.add_many([f"line {i}" for i in range(100)]).count(deja.Verdict.PENDING)
            s.commit()
        run = crawl(self.site, **small("foreign.sieve"))
        self.assertEqual(run.stats["finish_reason"], "deja_failed")
        self.assertIn("lines of another program", run.log)
        with deja.Sieve("foreign.sieve", memory="1M") as s:
            self.assertEqual(len([record for record, is_new in s.settle() if record.startswith(b"line ")]), waiting)

    def test_conflicting_settings_are_refused(self):
        run = crawl(self.site, DEJA_SIEVE="conflict.sieve", DEJA_CAPACITY=1000)
        self.assertIn("DEJA_SIEVE and DEJA_CAPACITY cannot be combined", run.log)
        self.assertEqual(run.pages, [])
        self.assertFalse(os.path.exists("conflict.sieve"))
        with deja.Sieve("taken.sieve"):
            run = crawl(self.site, DEJA_SIEVE="taken.sieve")
            self.assertIn("in use by another process", run.log)
            self.assertFalse(os.path.exists("taken.sieve.run"))


class Engine:
    """The part of Scrapy between a spider and its queue."""

    def __init__(self, **settings):
        self.queue, self.dropped, self.reason = [], 0, None
        self.crawler = types.SimpleNamespace(
            settings=Settings(settings), signals=SignalManager(self), request_fingerprinter=DejaRequestFingerprinter(),
            spider=Spider("fake"), engine=self)
        self.crawler.stats = MemoryStatsCollector(self.crawler)
        self.crawler.spider.crawler = self.crawler
        self.filter = DejaDupeFilter.from_crawler(self.crawler)
        self.filter.open()

    def crawl(self, request):
        if self.filter.request_seen(request):
            self.filter.log(request, self.crawler.spider)
            self.dropped += 1
        else:
            self.queue.append(request)

    def close_spider(self, spider, reason):
        self.reason = reason


class Full(unittest.TestCase):
    def test_a_full_spool_is_settled(self):
        """Room for 16,384 requests; more than 20,000 wait."""
        engine = Engine(**small("full.sieve"))
        urls = [f"http://a.example/{i}" for i in range(30_000)]
        for url in urls + urls[:5_000]:
            engine.crawl(Request(url))
        self.assertGreater(len(engine.queue), 16_000)  # without an idle spider
        waiting = engine.filter.seen
        self.assertGreater(waiting._late, 10_000)  # committed in between, too
        with self.assertRaises(Exception) as raised:
            waiting._idle()
        self.assertEqual(type(raised.exception).__name__, "DontCloseSpider")
        self.assertEqual(sorted(request.url for request in engine.queue), sorted(urls))
        waiting._idle()  # nothing waits: the spider may close
        self.assertGreater(waiting._waited, 20_000)
        engine.filter.close("finished")
        stats = engine.crawler.stats.get_stats()
        self.assertEqual((stats["deja/sieve_pending"], stats["dupefilter/filtered"]), (0, 5_000))
        self.assertEqual((stats["deja/keys"], engine.reason), (OLD + 30_000, None))

    def test_a_damaged_run_stops_the_crawl_and_nothing_is_recorded(self):
        path = small("damaged.sieve")["DEJA_SIEVE"]
        with deja.Sieve(path, memory="1M"):
            pass  # writes the run
        run = max((name for name in os.listdir(path) if name.startswith("run-")),
                  key=lambda name: os.path.getsize(os.path.join(path, name)))
        engine = Engine(**small(path))
        with open(os.path.join(path, run), "r+b") as file:
            file.seek(500_000)
            file.write(b"damage")
        for i in range(3_000):
            engine.crawl(Request(f"http://a.example/{i}"))
        with self.assertLogs("deja", "ERROR") as said:
            engine.filter.seen._idle()
        self.assertIn(run, said.output[0])
        self.assertEqual(engine.reason, "deja_failed")
        queued = len(engine.queue)
        engine.crawl(engine.queue[0])  # nobody knows: rather twice than never
        self.assertEqual(len(engine.queue), queued + 1)
        engine.filter.close("deja_failed")
        self.assertEqual(engine.crawler.stats.get_value("deja/sieve_pending"), 3_000 - queued)

    def test_a_full_disk_at_the_end_repeats_requests_in_the_next_run(self):
        for verb in ("commit", "sync"):
            with self.subTest(verb):
                settings = {"DEJA_SIEVE": f"{verb}.sieve"}
                engine = Engine(**settings)
                engine.crawl(Request("http://a.example/"))
                function = "deja_sieve_commit" if verb == "commit" else "deja_sieve_save"
                with unittest.mock.patch.object(_lib.lib, function, lambda *_: _lib.EIO), \
                        self.assertLogs("deja", "ERROR") as said:
                    engine.filter.close("finished")
                self.assertIn("may repeat requests", said.output[0])
                with open(f"{verb}.sieve.run", encoding="utf-8") as note:
                    self.assertEqual(note.read(), "finished\n")
                again = Engine(**settings)
                again.crawl(Request("http://a.example/"))
                self.assertEqual(len(again.queue), verb == "commit")
                again.filter.close("finished")


if __name__ == "__main__":
    unittest.main()
