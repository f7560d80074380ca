"""Who may call the library when.

It lets add, remove, contains and count run together on one filter, and wants every other call to
have the filter to itself.  So there is a gate in each Filter:

    one key         under the lock.  The interpreter's own lock is let go in the call, but the
                    next call on this filter waits: it lasts less than taking turns would.
    a portion of    beside others: it counts itself in and out under the lock, and runs without,
    many keys       so that several threads fill one filter at the same time.
    anything else   alone: under the lock, after the portions under way have counted themselves out.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import Iterator


class Gate:
    """Many calls beside each other, or one alone.  `lock` is also for calls about one key."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._idle = threading.Condition(self.lock)
        self._running = 0
        self._waiting = 0  # who wants to be alone goes first, or might never get a turn

    @contextmanager
    def beside(self) -> Iterator[None]:
        with self.lock:
            self._idle.wait_for(lambda: not self._waiting)
            self._running += 1
        try:
            yield
        finally:
            with self.lock:
                self._running -= 1
                self._idle.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        with self.lock:
            self._waiting += 1
            try:
                self._idle.wait_for(lambda: not self._running)
            finally:
                self._waiting -= 1
                self._idle.notify_all()
            yield


@contextmanager
def both_alone(a: Gate, b: Gate) -> Iterator[None]:
    """Two filters alone, always in the same order: two threads cannot wait for each other."""
    first, second = sorted((a, b), key=id)
    with first.alone(), second.alone():
        yield
