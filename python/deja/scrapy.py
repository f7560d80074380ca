"""Scrapy: a duplicate filter that takes a few bytes per request, and faster request fingerprints.

    DUPEFILTER_CLASS = "deja.scrapy.DejaDupeFilter"
    REQUEST_FINGERPRINTER_CLASS = "deja.scrapy.DejaRequestFingerprinter"

Settings, all of them optional (docs/scrapy.md explains them with figures):

    DEJA_FILE          the filter file; default: JOBDIR/requests.deja, or memory without JOBDIR
    DEJA_CAPACITY      expected requests: the initial size, past which the filter grows
    DEJA_FIXED         do not grow; log a WARNING when more requests arrive
    DEJA_FP_RATE       false-positive rate at capacity; default 1e-6
    DEJA_KIND          blocked (default), classic, exact ...
    DEJA_REVISIT       make every run a new visit: empty, with different hash functions
    DEJA_URL           compare URLs by this profile (safe, crawl, scrapy) instead of fingerprints
    DEJA_OPTIONS       a dict of further options of deja.Filter: memory, hash, key, seed ...
    DEJA_REDIS_URL     a Redis or Valkey server with the module: many spiders share a filter; a list of
                       F servers: one of F filters on each, and one server may be missing
    DEJA_REDIS_KEY     the name of that filter; default: "deja:" and the name of the spider
    DEJA_REDIS_SHARDS  spread it over this many filters, in a cluster over its nodes
    DEJA_REDIS_SPOOL   several servers: the folder for keys of a missing one
    DEJA_SIEVE         a sieve, a directory, instead of a filter: no page is lost (_waiting.py)
    DEJA_MEMORY        the memory of the sieve; default 64M

With JOBDIR, a crash can make a page be fetched twice but never loses one.  For that, the filter must
agree with the queue: a request that is marked as seen must be fetched or still be queued.

    JOBDIR     Scrapy's queue is on disk, and complete only after a run that ended by itself
               (Ctrl-C once).  A request counts as seen when it is queued.  A kill loses the queue,
               which a file next to the filter reveals, or the filter, which was never closed.  Then
               the filter begins a new visit, and the broken queue is renamed, because Scrapy may
               fail on it.
    DEJA_FILE  The queue is in memory, and every run that does not finish loses it.  A request
    alone      counts as seen in the file when its response arrives; until then, a set holds it.
               If all links to a page were on fetched pages, the next run does not find the page.
    DEJA_SIEVE A request counts as seen when it is queued.  After a run that lost its queue (a kill,
               or without JOBDIR any end but "finished"), the crawl starts again with an empty sieve.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import shutil
import sys
from importlib.metadata import version
from json import dumps as _quoted
from pathlib import Path
from typing import Any, Callable, Iterable, Iterator, Optional, Union
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.settings import default_settings
from scrapy.utils.job import job_dir
from scrapy.utils.python import to_bytes, to_unicode
from scrapy.utils.request import RequestFingerprinter, referer_str
from w3lib.url import canonicalize_url

from . import _lib
from ._checks import file_name, positive, size, whole, word
from ._errors import ArgumentError, Error
from ._filter import Filter
from ._records import Stats
from ._machines import Machines
from ._server import FIRST_CAPACITY, MOST_SHARDS, OneFilter, Shards
from ._sieve import Sieve
from ._url import Rules, rules_of
from ._waiting import Waiting

logger = logging.getLogger(__name__)

RUNNING, FINISHED = "running", "finished"
QUEUE = "requests.queue"  # Scrapy's, in JOBDIR
SIEVE_MEMORY = "64M"
SIEVE_CONFLICTS = {
    "DEJA_FILE": "a sieve remembers the requests", "DEJA_KIND": "a sieve has a filter of its own",
    "DEJA_CAPACITY": "its size is DEJA_MEMORY", "DEJA_FIXED": "its memory is always fixed",
    "DEJA_FP_RATE": "it has no false positives", "DEJA_REVISIT": "it loses no page; delete it to fetch all pages again",
    **dict.fromkeys(("DEJA_REDIS_URL", "DEJA_REDIS_KEY", "DEJA_REDIS_SHARDS"), "a sieve is a local directory"),
}


# --- Fingerprints -----------------------------------------------------------------

_scrapy_rules = rules_of("scrapy")

# The profile gives the forms of w3lib 2.1.1 with Python 3.11.  Other versions differ in rare URLs: those
# with dot segments, semicolons, some escapes, odd ports ...  All versions agree on URLs like these.
_same_w3lib = version("w3lib") == "2.1.1" and sys.version_info[:2] == (3, 11)
_plain = re.compile(r"""
    https?:// [a-zA-Z0-9-]+ (?: \.[a-zA-Z0-9-]+ )* (?: :[1-9][0-9]{0,3} )?
    (?: / (?! \.\.? (?: [/?#] | $ ) ) (?: [a-zA-Z0-9_.~!$&'()*+,=:@-] | %(?: 20 | [89A-Fa-f][0-9A-Fa-f] ) )+ )* /?
    (?: \? (?: [a-zA-Z0-9_.~!$'()*+,=:@/?&-] | %[0-9A-Fa-f]{2} )* )?
    (?: \#[!-~]* )?
    """, re.X | re.A).fullmatch


def _canonical(url: str, keep_fragments: bool = False) -> str:
    """Return what the installed w3lib's canonicalize_url returns; call it only if deja's form may differ."""
    if not keep_fragments and (_same_w3lib or _plain(url)):
        status, made = _scrapy_rules._form(url.encode("utf-8", "surrogatepass"))
        if status == _lib.OK:
            return made.decode()
    form: str = canonicalize_url(url, keep_fragments=keep_fragments)
    return form


def fingerprint(request: Request, *, include_headers: Optional[Iterable[Union[bytes, str]]] = None,
                keep_fragments: bool = False) -> bytes:
    """Return the same bytes as scrapy.utils.request.fingerprint."""
    headers = ""
    if include_headers:
        names = [to_bytes(name.lower()) for name in sorted(include_headers)]
        values = {name.hex(): ", ".join(f'"{value.hex()}"' for value in request.headers.getlist(name))
                  for name in names if name in request.headers}
        headers = ", ".join(f'"{name}": [{values[name]}]' for name in sorted(values))
    text = (f'{{"body": "{(request.body or b"").hex()}", "headers": {{{headers}}}, '
            f'"method": {_quoted(to_unicode(request.method))}, '
            f'"url": {_quoted(_canonical(request.url, keep_fragments))}}}')
    return hashlib.sha1(text.encode()).digest()


# Later versions of Scrapy ignore the setting.
_has_2_6 = hasattr(default_settings, "REQUEST_FINGERPRINTER_IMPLEMENTATION")


def _fingerprint_2_6(request: Request) -> bytes:
    """Return the fingerprint of Scrapy before 2.7 (REQUEST_FINGERPRINTER_IMPLEMENTATION = "2.6")."""
    digest = hashlib.sha1(to_bytes(request.method))
    digest.update(to_bytes(_canonical(request.url)))
    digest.update(request.body or b"")
    return digest.digest()


class DejaRequestFingerprinter:
    """REQUEST_FINGERPRINTER_CLASS: Scrapy's own fingerprints, computed faster.

    The bytes are the same, also with REQUEST_FINGERPRINTER_IMPLEMENTATION, so you can switch
    between two runs of a job, and an HTTP cache stays valid.
    """

    def __init__(self, implementation: Optional[str] = None) -> None:
        self._make: Callable[[Request], bytes] = fingerprint
        if implementation == "2.6" and _has_2_6:
            self._make = _fingerprint_2_6
        self._made: "WeakKeyDictionary[Request, bytes]" = WeakKeyDictionary()

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DejaRequestFingerprinter":
        return cls(crawler.settings.get("REQUEST_FINGERPRINTER_IMPLEMENTATION"))

    def fingerprint(self, request: Request) -> bytes:
        made = self._made.get(request)
        if made is None:
            made = self._made[request] = self._make(request)
        return made


# --- The filter -------------------------------------------------------------------


class _Local(Filter):
    """A filter of this process, in a file or in memory."""

    def __init__(self, path: Optional[str], options: dict[str, Any]) -> None:
        self.is_new = path is None or not os.path.exists(path)
        super().__init__(path, **options)

    def _crowded(self, known: Stats, frames: int) -> None:
        """Log the warning: the log is what people read after a crawl."""
        logger.warning("deja: the filter was sized for %s requests and now holds %s: its rate is above %g and rises "
                       "with every request; use a larger DEJA_CAPACITY, or unset DEJA_FIXED",
                       f"{known.capacity:,}", f"{known.entries:,}", known.fp_rate)

    def account(self) -> dict[str, Any]:
        s = self.stats()
        account = {"keys": s.keys, "bytes": s.bytes, "fp_rate": s.fp_now, "expected_lost": s.lost, "visit": s.visit}
        if s.visits_before:
            account["missed_by_every_visit"] = s.missed
        return account

    def __str__(self) -> str:
        s = self.stats(body=False)
        where = self.path or "in memory"
        return f"{where}: {s.kind}, {s.bytes:,} bytes, visit {s.visit}, {s.keys:,} requests seen"


# --- How the last run ended -------------------------------------------------------


class _LastRun:
    """A note in a file next to the filter: `running`, or the reason why the run was closed."""

    def __init__(self, path: str) -> None:
        self._path = Path(path + ".run")

    def read(self) -> Optional[str]:
        try:
            return self._path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    def write(self, word: str) -> None:
        """Replace the note atomically."""
        fresh = Path(f"{self._path}.new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(word + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)
        folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def _set_queue_aside(jobdir: str) -> None:
    """Rename Scrapy's queue of a killed run: the sizes in its files are missing or wrong."""
    queue, aside = Path(jobdir, QUEUE), Path(jobdir, QUEUE + ".killed")
    if queue.exists():
        shutil.rmtree(aside, ignore_errors=True)
        queue.rename(aside)


def _seen_by_scrapy(path: Path) -> Iterator[bytes]:
    """Yield the fingerprints in requests.seen: lines in hexadecimal or, in later versions, bytes after their length."""
    with path.open("rb") as file:
        if file.peek(1)[:1] in b"0123456789abcdef":
            yield from (bytes.fromhex(line.decode("ascii", "replace")) for line in file if len(line) == 41)
            return
        while len(head := file.read(2)) == 2:
            made = file.read(int.from_bytes(head, "big"))
            if len(made) < int.from_bytes(head, "big"):
                return  # the last one was cut off by a kill
            yield made


# --- Settings ---------------------------------------------------------------------


def _named(setting: str, read: Callable[..., Any], *arguments: Any) -> Any:
    """Call `read`; if it refuses the value, raise an error that names the setting."""
    try:
        return read(*arguments)
    except (TypeError, ValueError) as reason:
        raise ArgumentError(f"{setting}: {reason}") from None


def _number(settings: Any, name: str) -> Union[int, float, None]:
    """Return a number above 0, also from text (`scrapy crawl -s`); None if absent, empty or 0."""
    value = settings.get(name)
    if isinstance(value, str):
        value = _named(name, float, value) if value.strip() else None
    if value is None or (value == 0 and value is not False):
        return None
    x = _named(name, positive, name, value)
    return int(x) if x == int(x) else x


def _word(settings: Any, name: str) -> Optional[str]:
    value = settings.get(name)
    if value:
        _named(name, word, name, value)
    return value or None


# --- The duplicate filter ---------------------------------------------------------


class DejaDupeFilter(BaseDupeFilter):
    """DUPEFILTER_CLASS: drop requests that were seen before.

    The docstring of this module lists the settings.
    """

    def __init__(self, settings: Any, *, fingerprinter: Any = None, crawler: Any = None) -> None:
        self.debug = settings.getbool("DUPEFILTER_DEBUG")
        self.logdupes = True
        self._crawler = crawler
        self._fingerprinter = fingerprinter or RequestFingerprinter()
        self._rules = self._rules_of(settings)
        self._jobdir = job_dir(settings)
        self._pending: Optional[set[bytes]] = None
        self._last_run: Optional[_LastRun] = None
        self._stopped = False
        self._waiting: Optional[Waiting] = None
        if settings.get("DEJA_SIEVE"):
            self.seen: Any = self._open_sieve(settings)  # or a _Local, OneFilter, Shards or Machines
        else:
            self.seen = self._open_filter(settings)
        self._rules = getattr(self.seen, "rules", self._rules)  # the version that made the filter
        logger.info("deja: %s", self.seen)

    @classmethod
    def from_settings(cls, settings: Any, *, fingerprinter: Any = None) -> "DejaDupeFilter":
        return cls(settings, fingerprinter=fingerprinter)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DejaDupeFilter":
        return cls(crawler.settings, fingerprinter=crawler.request_fingerprinter, crawler=crawler)

    # --- Opening ---

    def _open_filter(self, settings: Any) -> Union[_Local, OneFilter, Shards, Machines]:
        if settings.get("DEJA_MEMORY"):
            raise ArgumentError("DEJA_MEMORY is the memory of a sieve: set DEJA_SIEVE, or use DEJA_OPTIONS for a filter")
        options = self._options(settings)
        revisit = _named("DEJA_REVISIT", settings.getbool, "DEJA_REVISIT")
        if settings.get("DEJA_REDIS_URL"):
            if revisit or settings.get("DEJA_FILE"):
                raise ArgumentError("DEJA_REDIS_URL excludes DEJA_FILE and DEJA_REVISIT; "
                                    "to begin a visit for all spiders, send DEJA.ROTATE to the server")
            return self._on_server(settings, options)
        return self._open_file(self._file(settings), options, revisit)

    def _open_sieve(self, settings: Any) -> Waiting:
        for name, why in SIEVE_CONFLICTS.items():
            if settings.get(name) not in (None, "", "0", 0, False):
                raise ArgumentError(f"DEJA_SIEVE and {name} cannot be combined: {why}")
        path = os.path.abspath(_named("DEJA_SIEVE", file_name, settings["DEJA_SIEVE"]))
        memory = _named("DEJA_MEMORY", size, "memory", settings.get("DEJA_MEMORY") or SIEVE_MEMORY)
        _named("DEJA_MEMORY", lambda: Sieve.plan(1, memory=memory))
        options = dict(_named("DEJA_OPTIONS", settings.getdict, "DEJA_OPTIONS"), memory=memory, url=self._rules)
        if not set(options) <= {"key", "seed", "memory", "url"}:
            raise ArgumentError("DEJA_OPTIONS: a sieve has the options key and seed")
        if self._crawler is None:
            raise ArgumentError("DEJA_SIEVE needs a crawler: create the filter with from_crawler")
        sieve, earlier = self._continue(path, options)
        self._waiting = Waiting(sieve, earlier, self._crawler, self._key, self.log, self._stop)
        return self._waiting

    def _continue(self, path: str, options: dict[str, Any]) -> tuple[Sieve, Optional[Sieve]]:
        """Return the sieve; after a run that lost its queue, an empty one, and that of the last run."""
        self._last_run = _LastRun(path)
        sieve, earlier = Sieve(path, **options), None  # nobody else writes it, so the last run has ended
        ended = self._last_run.read()
        kept = self._jobdir and Path(self._jobdir, QUEUE).exists()
        if ended == RUNNING or (ended not in (None, FINISHED) and not kept):
            logger.warning("deja: the last run with %s was killed or stopped, and Scrapy's queue is lost; starting the "
                           "crawl again with an empty sieve (the old one is %s.killed)", path, path)
            if self._jobdir:
                _set_queue_aside(self._jobdir)
            shutil.rmtree(path + ".killed", ignore_errors=True)
            os.rename(path, path + ".killed")
            sieve, earlier = Sieve(path, **options), sieve
        self._last_run.write(RUNNING)
        return sieve, earlier

    @staticmethod
    def _rules_of(settings: Any) -> Optional[Rules]:
        profile = settings.get("DEJA_URL")
        if not profile:
            return None
        rules: Rules = _named("DEJA_URL", rules_of, profile)
        if rules.is_block_list:
            raise ArgumentError("DEJA_URL=gsb is for block lists: a page would count as seen if its site is; use crawl")
        return rules

    def _options(self, settings: Any) -> dict[str, Any]:
        options = dict(_named("DEJA_OPTIONS", settings.getdict, "DEJA_OPTIONS"))
        for name, get in (("capacity", _number), ("fp_rate", _number), ("kind", _word)):
            value = get(settings, "DEJA_" + name.upper())
            if value:
                options[name] = value
        if settings.getbool("DEJA_FIXED"):
            options["grow"] = False
            if not options.get("capacity") and not options.get("memory"):
                raise ArgumentError("DEJA_FIXED needs DEJA_CAPACITY, the number of expected requests")
        if self._rules:
            options["url"] = self._rules
        if not options.get("capacity") and not options.get("memory") and not options.get("kind"):
            options.update(kind="scalable", capacity=FIRST_CAPACITY)
        return options

    def _file(self, settings: Any) -> Optional[str]:
        path = settings.get("DEJA_FILE")
        if not path and self._jobdir:
            path = str(Path(self._jobdir, "requests.deja"))
        return _named("DEJA_FILE", file_name, path) if path else None

    def _on_server(self, settings: Any, options: dict[str, Any]) -> Union[OneFilter, Shards, Machines]:
        urls = settings["DEJA_REDIS_URL"]
        urls = [url.strip() for url in urls.split(",") if url.strip()] if isinstance(urls, str) else list(urls)
        given = _number(settings, "DEJA_REDIS_SHARDS")
        shards = _named("DEJA_REDIS_SHARDS", whole, "shards", given, MOST_SHARDS) if given else None
        if len(urls) > 1:
            return self._on_machines(settings, urls, shards, options)
        if settings.get("DEJA_REDIS_SPOOL"):
            raise ArgumentError("DEJA_REDIS_SPOOL needs several servers in DEJA_REDIS_URL")
        where = urls[0], self._redis_key(settings), options
        if not shards:
            return OneFilter(*where)
        return Shards(*where, shards, self._rules)

    def _on_machines(self, settings: Any, urls: list[str], shards: Optional[int], options: dict[str, Any]) -> Machines:
        given = {name: value for name, value in options.items() if name not in ("url", "grow")}
        if not settings.get("DEJA_KIND") and given.get("kind") == "scalable":  # the default, which grows
            given = {name: value for name, value in given.items() if name not in ("kind", "capacity")}
        return Machines(urls, self._redis_key(settings), shards=shards, url=self._rules,
                        spool=settings.get("DEJA_REDIS_SPOOL") or None, **given)

    def _redis_key(self, settings: Any) -> str:
        spider = getattr(self._crawler, "spider", None)
        return _word(settings, "DEJA_REDIS_KEY") or f"deja:{spider.name if spider else 'seen'}"

    def _open_file(self, path: Optional[str], options: dict[str, Any], revisit: bool) -> _Local:
        if path is None and revisit:
            raise ArgumentError("DEJA_REVISIT needs a file that remembers the last visit; set DEJA_FILE or JOBDIR")
        seen = _Local(path, options)
        if path is None:
            return seen
        self._last_run = _LastRun(path)
        ended = self._last_run.read()
        if not seen.is_new and seen.stats(body=False).unclean:  # a power cut can restore an older note
            ended = RUNNING
        elif not seen.is_new and ended is None:
            ended = FINISHED
        if self._jobdir:
            self._resume(seen, ended, revisit)
        else:
            self._pending = set()
            if revisit and not seen.is_new:
                seen.rotate()
        self._last_run.write(RUNNING)
        return seen

    def _resume(self, seen: _Local, ended: Optional[str], revisit: bool) -> None:
        assert self._jobdir
        if ended == RUNNING:
            logger.warning("deja: the last run in %s was killed, so Scrapy's queue is lost; starting the crawl again "
                           "as a new visit", self._jobdir)
            _set_queue_aside(self._jobdir)
            if not seen.is_new:
                seen.rotate()
        elif ended == FINISHED and revisit:
            seen.rotate()
        elif seen.is_new and not self._rules:
            self._take_over(seen)

    def _take_over(self, seen: _Local) -> None:
        """Import the requests of a job that started with Scrapy's own filter."""
        assert self._jobdir
        theirs = Path(self._jobdir, "requests.seen")
        if theirs.exists():
            taken = sum(seen.add_many(_seen_by_scrapy(theirs)))
            logger.info("deja: imported %s requests from %s", f"{taken:,}", theirs)

    def open(self) -> None:
        """Connect to the signals of the crawler; Scrapy calls this before the first request."""
        if self._waiting is not None:
            self._waiting.open()
        if self._pending is not None and self._crawler is not None:
            for signal in (signals.response_downloaded, signals.response_received):
                self._crawler.signals.connect(self._response_arrived, signal=signal)

    # --- Requests ---

    def _key(self, request: Request) -> bytes:
        """Return a key that is equal for equal requests; with DEJA_URL, a canonical URL."""
        if self._rules and request.method == "GET" and not request.body:
            return self._rules._key(to_bytes(request.url))[1]
        key: bytes = self._fingerprinter.fingerprint(request)
        return b"fp:" + key.hex().encode() if self._rules else key

    def request_seen(self, request: Request) -> bool:
        """Return whether the request was seen before; remember it if not."""
        key = self._key(request)
        if self._pending is None:
            try:
                return self._waiting.seen(request, key) if self._waiting else not self.seen.add(key)
            except Error as reason:
                self._stop(reason)
                return False
        if key in self._pending or key in self.seen:
            return True
        self._pending.add(key)
        return False

    def _response_arrived(self, request: Request, **_: Any) -> None:
        """Mark a fetched request as seen for later runs."""
        key = self._key(request)
        assert self._pending is not None
        try:
            self.seen.add(key)
            self._pending.discard(key)
        except Error as reason:
            self._stop(reason)

    def _stop(self, reason: Exception) -> None:
        """Stop the crawl: without a working filter it would never end."""
        if not self._stopped:
            self._stopped = True
            logger.error("deja: %s", reason)
            if self._crawler is not None and self._crawler.engine is not None:
                self._crawler.engine.close_spider(self._crawler.spider, "deja_failed")

    # --- The end ---

    def close(self, reason: str) -> None:
        """Report the statistics and close the filter."""
        account = self.seen.account()
        if self._crawler is not None:
            for name, value in account.items():
                self._crawler.stats.set_value(f"deja/{name}", value)
        if "expected_lost" in account:
            logger.info("deja: %(keys)s requests, probably %(expected_lost).2g new ones mistaken for seen", account)
        elif self._waiting:
            logger.info("deja: %(keys)s requests; lost: none, %(sieve_late)s requests came late, "
                        "%(sieve_pending)s wait for the next run", account)
        self.seen.close()
        if self._last_run and (not self._waiting or self._jobdir or reason == FINISHED):
            self._last_run.write(reason)

    def log(self, request: Request, spider: Spider) -> None:
        """Log and count a duplicate, as Scrapy's own filter does; a request that waits is none."""
        if self._waiting and self._waiting.waits(request):
            return
        if self.debug:
            logger.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                         {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
        elif self.logdupes:
            logger.debug("Filtered duplicate request: %(request)s - no more duplicates will be shown"
                         " (see DUPEFILTER_DEBUG to show all duplicates)",
                         {"request": request}, extra={"spider": spider})
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered")
