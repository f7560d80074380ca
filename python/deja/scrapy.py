"""Scrapy: a duplicate filter that takes bits where the default takes a hundred bytes, and request
fingerprints without w3lib.

    DUPEFILTER_CLASS = "deja.scrapy.DejaDupeFilter"
    REQUEST_FINGERPRINTER_CLASS = "deja.scrapy.DejaRequestFingerprinter"

Settings, all of them optional (docs/scrapy.md explains them with figures):

    DEJA_FILE          the filter's file; with JOBDIR, requests.deja in there; else it is in memory
    DEJA_CAPACITY      requests expected: a first size, past which the filter grows
    DEJA_FIXED         do not grow; log a WARNING when more requests come
    DEJA_FP_RATE       how often a new request may be mistaken for a seen one, at capacity; 1e-6
    DEJA_KIND          blocked (default), classic, exact ...
    DEJA_REVISIT       every run is a new visit: the filter is empty and hashes otherwise
    DEJA_URL           compare URLs by this profile (safe, crawl, scrapy) instead of fingerprints
    DEJA_OPTIONS       a dict with further options of deja.Filter: memory, hash, key, seed ...
    DEJA_REDIS_URL     a Redis or Valkey server with the module: many spiders share the filter ...
    DEJA_REDIS_KEY     ... of this name; "deja:" and the spider's name ...
    DEJA_REDIS_SHARDS  ... or so many filters, which a cluster spreads over its nodes

With JOBDIR, a crash may fetch a page twice and never loses one.  That takes more than a good file, as
what counts as seen has to agree with what is still queued:

    JOBDIR     Scrapy's queue is on the disk, and whole only after a run that ended by itself
               (Ctrl-C once).  A request counts as seen when it is queued.  After a run that was
               killed, the queue is lost: a file beside the filter tells, or the filter that was
               never closed; it begins a new visit, and the broken queue is set aside, as Scrapy
               may stumble over it.
    DEJA_FILE  the queue is in memory, and lost with every run that does not finish.  A request
    alone      counts as seen in the file when its response has come; until then a set has it.
               Pages whose links were all on pages that came are not found by the next run.
"""

from __future__ import annotations

import hashlib
import logging
import os
from json import dumps as _quoted
from pathlib import Path
from typing import Any, Callable, Iterable, Optional, Union
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.python import to_bytes, to_unicode
from scrapy.utils.request import RequestFingerprinter, referer_str
from w3lib.url import canonicalize_url

from . import _lib
from ._checks import file_name, positive, whole, word
from ._errors import ArgumentError, Error
from ._filter import Filter
from ._records import Stats
from ._server import FIRST_CAPACITY, MOST_SHARDS, OneFilter, Shards
from ._url import Rules, rules_of

logger = logging.getLogger(__name__)

RUNNING, FINISHED = "running", "finished"


# --- Fingerprints -----------------------------------------------------------------

_scrapy_rules = rules_of("scrapy")


def _canonical(url: str, keep_fragments: bool = False) -> str:
    """What w3lib's canonicalize_url gives; where deja has no answer, that gives it itself."""
    if not keep_fragments:
        status, form = _scrapy_rules._form(url.encode("utf-8", "surrogatepass"))
        if status == _lib.OK:
            return form.decode()
    return canonicalize_url(url, keep_fragments=keep_fragments)


def fingerprint(request: Request, *, include_headers: Optional[Iterable[Union[bytes, str]]] = None,
                keep_fragments: bool = False) -> bytes:
    """As scrapy.utils.request.fingerprint, and the same bytes."""
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


def _fingerprint_2_6(request: Request) -> bytes:
    """What Scrapy made before 2.7, and still does without REQUEST_FINGERPRINTER_IMPLEMENTATION."""
    digest = hashlib.sha1(to_bytes(request.method))
    digest.update(to_bytes(_canonical(request.url)))
    digest.update(request.body or b"")
    return digest.digest()


class DejaRequestFingerprinter:
    """Scrapy's own fingerprints, with canonical URLs from deja: the same bytes, sooner.

    It follows REQUEST_FINGERPRINTER_IMPLEMENTATION, so it can be switched on and off between two
    runs of a job, and shares an HTTP cache with the default."""

    def __init__(self, implementation: Optional[str] = None) -> None:
        self._make: Callable[[Request], bytes] = fingerprint
        if implementation == "2.6":
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


# --- Where what was seen is kept --------------------------------------------------


class _LoggingFilter(Filter):
    """A filter that logs a warning where others issue one: crawls are read in their logs."""

    def _crowded(self, told: Stats, frames: int) -> None:
        logger.warning("deja: the filter was sized for %s requests and now holds %s: its rate is above %g and rises "
                       "with every request, and more pages are lost; use a larger DEJA_CAPACITY, or let it grow",
                       f"{told.capacity:,}", f"{told.entries:,}", told.fp_rate)


class _Local:
    """A filter of this process: in a file or in memory."""

    def __init__(self, path: Optional[str], options: dict[str, Any]) -> None:
        self.is_new = path is None or not os.path.exists(path)
        self.filter = _LoggingFilter(path, **options)
        self.rules = self.filter.rules
        self.add = self.filter.add
        self.rotate = self.filter.rotate
        self.close = self.filter.close

    def __contains__(self, key: bytes) -> bool:
        return key in self.filter

    def was_killed(self) -> bool:
        return self.filter.stats(body=False).unclean

    def account(self) -> dict[str, Any]:
        s = self.filter.stats()
        account = {"keys": s.keys, "bytes": s.bytes, "fp_rate": s.fp_now, "expected_lost": s.lost, "visit": s.visit}
        if s.visits_before:
            account["missed_by_every_visit"] = s.missed
        return account

    def __str__(self) -> str:
        told = self.filter.stats(body=False)
        where = self.filter.path or "in memory"
        return f"{where}: {told.kind}, {told.bytes:,} bytes, visit {told.visit}, {told.keys:,} requests seen"


# --- How the last run ended -------------------------------------------------------


class _LastRun:
    """A word in a file beside the filter's: `running`, or why the run was closed."""

    def __init__(self, path: str) -> None:
        self._path = Path(path + ".run")

    def read(self) -> Optional[str]:
        try:
            return self._path.read_text(encoding="utf-8").strip()
        except FileNotFoundError:
            return None

    def write(self, word: str) -> None:
        """In one step: whatever happens, the old word is there or the new one."""
        fresh = Path(f"{self._path}.new")
        with fresh.open("w", encoding="utf-8") as file:
            file.write(word + "\n")
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(self._path)


def _set_queue_aside(jobdir: str) -> None:
    """Scrapy's queue of a killed run: its files tell no sizes, or wrong ones."""
    queue, aside = Path(jobdir, "requests.queue"), Path(jobdir, "requests.queue.killed")
    if queue.exists():
        if aside.exists():
            for file in sorted(aside.rglob("*"), reverse=True):
                file.rmdir() if file.is_dir() else file.unlink()
            aside.rmdir()
        queue.rename(aside)


# --- Settings ---------------------------------------------------------------------


def _named(setting: str, read: Callable[..., Any], *arguments: Any) -> Any:
    """What `read` returns; if it refuses the value, an error that names the setting."""
    try:
        return read(*arguments)
    except (TypeError, ValueError) as reason:
        raise ArgumentError(f"{setting}: {reason}") from None


def _number(settings: Any, name: str) -> Union[int, float, None]:
    """A number above 0, also as text, as `scrapy crawl -s` gives it; None: absent, empty or 0."""
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
    """DUPEFILTER_CLASS: requests that were seen before are dropped; see the settings above."""

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
        options = self._options(settings)
        revisit = _named("DEJA_REVISIT", settings.getbool, "DEJA_REVISIT")
        if settings.get("DEJA_REDIS_URL"):
            if revisit or settings.get("DEJA_FILE"):
                raise ArgumentError("DEJA_REDIS_URL goes without DEJA_FILE and DEJA_REVISIT: "
                                    "a shared filter is rotated once, with DEJA.ROTATE")
            self.seen: Union[_Local, OneFilter, Shards] = self._on_server(settings, options)
        else:
            self.seen = self._open_file(self._file(settings), options, revisit)
        self._rules = getattr(self.seen, "rules", self._rules)  # as of the version that made it
        logger.info("deja: %s", self.seen)

    @classmethod
    def from_settings(cls, settings: Any, *, fingerprinter: Any = None) -> "DejaDupeFilter":
        return cls(settings, fingerprinter=fingerprinter)

    @classmethod
    def from_crawler(cls, crawler: Any) -> "DejaDupeFilter":
        return cls(crawler.settings, fingerprinter=crawler.request_fingerprinter, crawler=crawler)

    # --- Beginning ---

    @staticmethod
    def _rules_of(settings: Any) -> Optional[Rules]:
        profile = settings.get("DEJA_URL")
        if not profile:
            return None
        rules: Rules = _named("DEJA_URL", rules_of, profile)
        if rules.is_block_list:
            raise ArgumentError("DEJA_URL is gsb: that is for block lists, where a page counts as seen when its site is")
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
                raise ArgumentError("DEJA_FIXED needs DEJA_CAPACITY: how many requests are expected?")
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

    def _on_server(self, settings: Any, options: dict[str, Any]) -> Union[OneFilter, Shards]:
        where = settings["DEJA_REDIS_URL"], self._redis_key(settings), options
        shards = _number(settings, "DEJA_REDIS_SHARDS")
        if not shards:
            return OneFilter(*where)
        return Shards(*where, _named("DEJA_REDIS_SHARDS", whole, "shards", shards, MOST_SHARDS), self._rules)

    def _redis_key(self, settings: Any) -> str:
        spider = getattr(self._crawler, "spider", None)
        return _word(settings, "DEJA_REDIS_KEY") or f"deja:{spider.name if spider else 'seen'}"

    def _open_file(self, path: Optional[str], options: dict[str, Any], revisit: bool) -> _Local:
        if path is None and revisit:
            raise ArgumentError("DEJA_REVISIT needs DEJA_FILE or JOBDIR: what the last visit saw is in a file")
        seen = _Local(path, options)
        if path is None:
            return seen
        self._last_run = _LastRun(path)
        ended = self._last_run.read()
        if not seen.is_new and seen.was_killed():  # a power cut can bring an older word back
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
            logger.warning("deja: the last run in %s was killed, and Scrapy's queue is lost with it. "
                           "The crawl begins again, so that no page is missed.", self._jobdir)
            _set_queue_aside(self._jobdir)
            if not seen.is_new:
                seen.rotate()
        elif ended == FINISHED and revisit:
            seen.rotate()
        elif seen.is_new and not self._rules:
            self._take_over(seen)

    def _take_over(self, seen: _Local) -> None:
        """A job that was begun with Scrapy's own filter: what that has seen stays seen."""
        assert self._jobdir
        theirs = Path(self._jobdir, "requests.seen")
        if theirs.exists():
            with theirs.open(encoding="ascii", errors="replace") as lines:
                taken = sum(seen.filter.add_many(bytes.fromhex(line) for line in lines if len(line) == 41))
            logger.info("deja: took %s requests over from %s", f"{taken:,}", theirs)

    def open(self) -> None:
        """Scrapy calls it before the first request; everything is ready by then."""
        if self._pending is not None and self._crawler is not None:
            for signal in (signals.response_downloaded, signals.response_received):
                self._crawler.signals.connect(self._has_come, signal=signal)

    # --- Requests ---

    def _key(self, request: Request) -> bytes:
        """The same for requests that are the same; canonical URLs stay as they are in the filter."""
        if self._rules and request.method == "GET" and not request.body:
            return self._rules._key(to_bytes(request.url))[1]
        key: bytes = self._fingerprinter.fingerprint(request)
        return b"fp:" + key.hex().encode() if self._rules else key

    def request_seen(self, request: Request) -> bool:
        key = self._key(request)
        if self._pending is None:
            try:
                return not self.seen.add(key)
            except Error as reason:
                self._stop(reason)
                return False
        if key in self._pending or key in self.seen:
            return True
        self._pending.add(key)
        return False

    def _has_come(self, request: Request, **_: Any) -> None:
        """Its response is here: from now on later runs need not ask for it."""
        key = self._key(request)
        assert self._pending is not None
        try:
            self.seen.add(key)
            self._pending.discard(key)
        except Error as reason:
            self._stop(reason)

    def _stop(self, reason: Error) -> None:
        """Nothing more can be remembered: a crawl that goes on would go on for ever."""
        if not self._stopped:
            self._stopped = True
            logger.error("deja: %s", reason)
            if self._crawler is not None and self._crawler.engine is not None:
                self._crawler.engine.close_spider(self._crawler.spider, "deja_failed")

    # --- The end ---

    def close(self, reason: str) -> None:
        account = self.seen.account()
        if self._crawler is not None:
            for name, value in account.items():
                self._crawler.stats.set_value(f"deja/{name}", value)
        if "expected_lost" in account:
            logger.info("deja: %(keys)s requests, probably %(expected_lost).2g of new ones mistaken for seen", account)
        self.seen.close()
        if self._last_run:
            self._last_run.write(reason)

    def log(self, request: Request, spider: Spider) -> None:
        """The lines that Scrapy's own filter writes, and its count."""
        if self.debug:
            logger.debug("Filtered duplicate request: %(request)s (referer: %(referer)s)",
                         {"request": request, "referer": referer_str(request)}, extra={"spider": spider})
        elif self.logdupes:
            logger.debug("Filtered duplicate request: %(request)s - no more duplicates will be shown"
                         " (see DUPEFILTER_DEBUG to show all duplicates)",
                         {"request": request}, extra={"spider": spider})
            self.logdupes = False
        spider.crawler.stats.inc_value("dupefilter/filtered", spider=spider)
