"""State: the handle of a filter (_owner.py), its way for the extension, and its room; no calls for users.

Most calls go through ctypes.  Calls with one key may instead go through the extension (_fast.c),
straight to the handle in `_direct`.  It holds the interpreter's lock and not the gate's, so
`_direct` must be 0 whenever another thread may be in a call that needs exclusive access.  If it is
0, the extension calls the Python method, which waits at the gate.  Without the extension, nothing
reads `_direct` and `_direct_rules`.

After a fork, parent and child map the same file, but each has its own count of the keys; so the
child's filter becomes a reader.  A filter in memory becomes two independent ones.
"""

from __future__ import annotations

import sys
import warnings
from contextlib import contextmanager
from ctypes import byref
from typing import Iterator, Optional

from . import _lib
from ._errors import CapacityWarning, FullError, ReentryError, call, check
from ._files import Path
from ._lib import lib
from ._owner import URL, Owner
from ._records import Stats

UNLIMITED = sys.maxsize  # room of a filter whose size is never checked


class State(Owner):
    """What every call on a filter needs."""

    _what = "filter"

    def _begin(self, path: Optional[Path], url: URL, has_key: bool) -> None:
        super()._begin(path, url, has_key)
        self._error = _lib.Error()  # of calls with one key, which hold the gate's lock
        self._room = UNLIMITED  # new keys until the size is checked again
        self._direct = self._direct_rules = 0  # handles for the extension

    def _free(self) -> None:
        handle, self._handle, self._direct = self._handle, None, 0
        lib.deja_filter_free(handle)

    def _set_direct(self) -> None:
        """Let the extension call the library, unless the filter is closed or a block list."""
        rules = self._rules
        self._direct_rules = rules._handle if rules else 0
        self._direct = 0 if rules and rules.is_block_list else self._handle or 0

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other call uses the filter, and keep others out."""
        with self._gate.exclusive():
            self._direct = 0
            try:
                yield
            finally:
                self._set_direct()

    def _after_fork(self) -> None:
        super()._after_fork()
        if self._path is not None and self._writable:
            self._writable, self._inherited = False, True
        self._set_direct()

    # --- Calls of the library ---

    def _stats(self, body: bool = False) -> Stats:
        numbers = _lib.Stats()
        call(lib.deja_filter_stats, self._alive(), _lib.STATS_BODY if body else 0, byref(numbers), what=self._name)
        return Stats._of(numbers)

    def _check_file(self) -> None:
        call(lib.deja_filter_check_file, self._alive(), what=self._name)

    def _refuse(self, status: int, error: _lib.Error, done: int = 0) -> None:
        """Raise unless the status is DEJA_OK; the call added `done` keys before the failure."""
        try:
            check(status, error, self._name)
        except FullError as full:
            full.done = done
            raise

    # --- Capacity ---

    def _measure_room(self, known: Stats) -> None:
        """Set how many new keys to add before the next check of the capacity."""
        if (not self._writable or not lib.deja_filter_can(self._handle, _lib.CAN_ADD)
                or lib.deja_filter_can(self._handle, _lib.CAN_GROW)):
            self._room = UNLIMITED
        elif known.excess:
            self._room = 0
        elif known.generations:  # in a window by time, a generation can get more than its share
            self._room = max(known.capacity // 8, 1)
        else:
            self._room = min(max(known.capacity - known.entries, 0), UNLIMITED)

    def _watch(self, new: int, frames: int) -> None:
        """Warn once when a filter that does not grow passes its capacity."""
        if self._room > 0:
            self._room -= new
            if self._room > 0:
                return
        try:
            with self._alone():
                known = self._stats()
                self._measure_room(known)
        except ReentryError:  # in a signal handler: the next add checks
            return
        if known.excess:
            self._room = UNLIMITED
            self._crowded(known, frames + 1)
        else:
            self._room = max(self._room, 1)

    def _crowded(self, known: Stats, frames: int) -> None:
        """Issue the warning; the caller of the package is `frames` frames up."""
        warnings.warn(f"{self._path or 'the filter'} was sized for {known.capacity:,} keys and now holds "
                      f"{known.entries:,}: its rate is above {known.fp_rate:g} and rises with every key; "
                      "use a larger capacity, or let it grow", CapacityWarning, stacklevel=frames)
