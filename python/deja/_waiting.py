"""Scrapy with a sieve: requests that wait until it is certain whether they are new.

The sieve judges each request.  A pending one waits in the spool, serialized as Scrapy's own disk
queue does it, and Scrapy considers it dropped.  The spool is settled when it is full, when the
spider is idle, and at the start of the next run.  New requests then go back to the engine as if the
spider had just returned them.

A request is committed after Scrapy has queued it.  Scrapy queues a request right after request_seen()
has answered, so whenever request_seen() is called, every earlier answer has been handed over.

A request that cannot be serialized cannot wait: its record is NOW, and all pending requests are
settled before it is answered.  It is the last of these.
"""

from __future__ import annotations

import logging
import pickle
from typing import Any, Callable, Optional

from scrapy import Request, signals
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.request import request_from_dict

from ._errors import Error, FullError
from ._sieve import Sieve, Verdict

logger = logging.getLogger(__name__)

NOW = b"now"
MARK = b"scrapy1 "  # begins every other record
COMMIT = 10_000  # late requests after which they are committed


class Waiting:
    """A sieve, the requests that wait in it, and their way back to the engine."""

    def __init__(self, sieve: Sieve, earlier: Optional[Sieve], crawler: Any, key_of: Callable[[Request], bytes],
                 drop: Callable[[Request, Any], None], stop: Callable[[Exception], None]) -> None:
        self.rules = sieve.rules
        self._sieve, self._crawler = sieve, crawler
        self._key_of, self._drop, self._stop = key_of, drop, stop
        self._before = sieve.stats()
        self._earlier = earlier  # of a run that lost its queue
        self._returning: Optional[bytes] = None  # the key of a request that goes back to the engine
        self._waits: Optional[Request] = None  # the last one that was pending
        self._failed = False  # then nothing is committed: a request may have been settled and not handed over
        self._waited = self._late = self._unserializable = 0

    def open(self) -> None:
        """Connect to the signals."""
        self._crawler.signals.connect(self._opened, signal=signals.spider_opened)
        self._crawler.signals.connect(self._idle, signal=signals.spider_idle)

    # --- Judging ---

    def seen(self, request: Request, key: bytes) -> bool:
        """Return whether Scrapy should drop a request: it was seen, or it waits."""
        if key == self._returning or self._failed:
            return False
        record = self._record(request)
        verdict = self._judge(key, record)
        if verdict is not Verdict.PENDING:
            return verdict is Verdict.SEEN
        if record == NOW:
            return not self._settle(commit=False)
        self._waited += 1
        self._waits = request
        return True

    def waits(self, request: Request) -> bool:
        """Return whether this request, which was just judged, waits."""
        waits, self._waits = self._waits, None
        return request is waits

    def _judge(self, key: bytes, record: bytes) -> Verdict:
        steps: tuple[Callable[[], object], ...] = (self._sieve.commit, self._settle)
        for make_room in steps:
            try:
                return self._sieve.add(key, record)
            except FullError:
                make_room()
        return self._sieve.add(key, record)

    def _record(self, request: Request) -> bytes:
        try:
            return MARK + pickle.dumps(request.to_dict(spider=self._crawler.spider), protocol=4)
        except (ValueError, pickle.PicklingError, AttributeError, TypeError) as reason:  # as Scrapy's queue
            if not self._unserializable:
                logger.warning("deja: unable to serialize request: %(request)s - reason: %(reason)s - such a request "
                               "cannot wait, so each one may need a pass over the sieve; no more will be logged",
                               {"request": request, "reason": reason}, extra={"spider": self._crawler.spider})
            self._unserializable += 1
            return NOW

    # --- Settling ---

    def _settle(self, commit: bool = True) -> bool:
        """Decide all pending requests; return whether the last one is new, if its record is NOW.

        That request is not queued yet, so the caller omits the commit; the next one includes it.
        """
        self._sieve.commit()
        last = self._return_all()
        if commit:
            self._sieve.commit()
        return last

    def _return_all(self) -> bool:
        last, before = False, self._late
        try:
            for record, is_new in self._sieve.settle():
                if record == NOW:
                    last = is_new
                    continue
                self._return(self._request(record), is_new)
                if self._late >= before + COMMIT:
                    before = self._late
                    self._sieve.commit()
        except BaseException:
            self._failed = True
            raise
        return last

    def _return_earlier(self) -> None:
        """Give the requests that a killed run left in its sieve to the engine: this run judges them."""
        if self._earlier is not None:
            for record, is_new in self._earlier.settle():
                if is_new and record != NOW:
                    self._crawler.engine.crawl(self._request(record))
            self._earlier.close()
            self._earlier = None

    def _request(self, record: bytes) -> Request:
        if not record.startswith(MARK):
            raise Error(f"{self._sieve.path}: lines of another program wait in this sieve; settle them first "
                        "(deja dedup --sieve), or use another sieve")
        try:
            return request_from_dict(pickle.loads(record[len(MARK):]), spider=self._crawler.spider)
        except Exception as reason:
            raise Error(f"{self._sieve.path}: a request that waits cannot be restored ({reason}); it will be kept. "
                        "Run the version of the spider that made it") from reason

    def _return(self, request: Request, is_new: bool) -> None:
        """Give a new request to the engine, which asks seen() again, and drop another one."""
        if not is_new:
            self._drop(request, self._crawler.spider)
            return
        before, self._returning = self._returning, self._key_of(request)
        try:
            self._crawler.engine.crawl(request)
        finally:
            self._returning = before
        self._late += 1

    def _opened(self) -> None:
        """Return what waited when the last run ended."""
        self._guarded(self._return_earlier)
        self._guarded(self._settle_pending)

    def _idle(self) -> None:
        before = self._late
        self._guarded(self._settle_pending)
        if self._late > before:
            raise DontCloseSpider

    def _settle_pending(self) -> None:
        if self._sieve.stats().pending:
            self._settle()

    def _guarded(self, function: Callable[[], None]) -> None:
        """Call a function from a signal; Scrapy would only log its exceptions."""
        if not self._failed:
            try:
                function()
            except Exception as reason:
                self._failed = True
                self._stop(reason)

    # --- The end ---

    def account(self) -> dict[str, Any]:
        """Commit, and return the statistics of this run."""
        if not self._failed:
            self._at_the_end(self._sieve.commit)
        s = self._sieve.stats()
        return {"keys": s.keys, "bytes": s.memory_used, "sieve_disk": s.disk, "sieve_waited": self._waited,
                "sieve_late": self._late, "sieve_pending": s.pending, "sieve_passes": s.passes - self._before.passes,
                "sieve_unserializable": self._unserializable}

    def close(self) -> None:
        for sieve in filter(None, (self._earlier, self._sieve)):
            self._at_the_end(sieve.close)

    @staticmethod
    def _at_the_end(function: Callable[[], None]) -> None:
        """Call a function that may fail if the disk is full: the next run then repeats requests, but loses none."""
        try:
            function()
        except Error as reason:
            logger.error("deja: %s; the next run may repeat requests", reason)

    def __str__(self) -> str:
        s = self._before
        return f"{self._sieve.path}: a sieve, {s.keys:,} requests seen, {s.pending:,} pending"
