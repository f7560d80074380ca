"""The lock of a Filter or a Sieve.

The library allows add, remove, contains and count to run concurrently on one filter; every other
call needs exclusive access.  So each Filter has a gate with three ways in:

    `lock`       for a call with one key.  The call releases the interpreter's lock, but other
                 calls on this filter wait: the call is shorter than a context switch.
    shared()     for a portion of many keys.  It registers the thread under the lock and runs
                 without it, so several threads can fill one filter at the same time.
    exclusive()  for everything else.  It holds the lock and waits for running portions.

A signal handler, a finalizer or a trace function can interrupt a thread inside a call on the same
filter.  If it made a call that waits for the interrupted one, it would wait forever, so that call
raises ReentryError.  Calls with one key do not wait and always work.  The exception can leave the
interrupted call at any point, so threads are in sets, from which removal is idempotent.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Iterator, Set

from ._errors import ReentryError


class Gate:
    """Allow many shared calls or one exclusive call; `lock` is also for calls with one key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._idle = threading.Condition(self.lock)
        self._running: Set[int] = set()  # threads in shared()
        self._waiting: Set[int] = set()  # threads in exclusive() go first; otherwise they could starve

    def _enter(self) -> int:
        """Return the id of this thread; raise ReentryError if it is inside already."""
        me = threading.get_ident()
        if me in self._running or me in self._waiting or self.lock._is_owned():  # type: ignore[attr-defined]
            raise ReentryError("a signal handler or finalizer interrupted another call on the same object; "
                               "set a flag there and make this call afterwards")
        return me

    @contextmanager
    def shared(self) -> Iterator[None]:
        me = self._enter()
        try:
            with self.lock:
                self._idle.wait_for(lambda: not self._waiting)
                self._running.add(me)
            yield
        finally:
            self._running.discard(me)
            with self.lock:
                self._idle.notify_all()

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        me = self._enter()
        with self.lock:
            try:
                self._waiting.add(me)
                self._idle.wait_for(lambda: not self._running)
            finally:
                self._waiting.discard(me)
                self._idle.notify_all()
            yield
