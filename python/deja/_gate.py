"""Who may call the library when.

It lets add, remove, contains and count run together on one filter, and wants every other call to
have the filter to itself.  So there is a gate in each Filter:

    one key         under the lock.  The interpreter's own lock is let go in the call, but the
                    next call on this filter waits: it lasts less than taking turns would.
    a portion of    beside others: it enters its thread under the lock, and runs without, so that
    many keys       several threads fill one filter at the same time.
    anything else   alone: under the lock, after the portions under way have ended.

A signal handler, a finalizer or a trace function runs in the middle of whatever its thread is doing.
If that is a call on the same filter, a call that has to wait for it to end would wait forever: it
raises ReentryError.  Calls about one key wait for nothing and work everywhere.  The exception may
hit the interrupted call at any point, so threads are kept in sets: leaving twice does no harm.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Iterator, Set

from ._errors import ReentryError


class Gate:
    """Many calls beside each other, or one alone.  `lock` is also for calls about one key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._idle = threading.Condition(self.lock)
        self._running: Set[int] = set()  # threads
        self._waiting: Set[int] = set()  # a thread that wants to be alone goes first, or might never get a turn

    def _new_here(self) -> int:
        """This thread, unless it is inside already."""
        me = threading.get_ident()
        if me in self._running or me in self._waiting or self.lock._is_owned():  # type: ignore[attr-defined]
            raise ReentryError("this thread is inside another call on the same filter (a signal handler or a "
                               "finalizer interrupted it): set a flag there, and make this call afterwards")
        return me

    @contextmanager
    def beside(self) -> Iterator[None]:
        me = self._new_here()
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
    def alone(self) -> Iterator[None]:
        me = self._new_here()
        with self.lock:
            try:
                self._waiting.add(me)
                self._idle.wait_for(lambda: not self._running)
            finally:
                self._waiting.discard(me)
                self._idle.notify_all()
            yield


@contextmanager
def both_alone(a: Gate, b: Gate) -> Iterator[None]:
    """Two filters alone, always in the same order: two threads cannot wait for each other."""
    first, second = sorted((a, b), key=id)
    with first.alone():
        if first is second:
            yield
        else:
            with second.alone():
                yield
