"""Many: calls with many keys, which run in portions (_keys.py) without the interpreter's lock."""

from __future__ import annotations

import ctypes
from array import array
from bisect import bisect_right
from ctypes import byref
from itertools import accumulate
from typing import Any, Iterator, Optional

from . import _files, _lib
from ._keys import PORTION, Key, Keys, Portion, batches, for_each_key
from ._lib import lib
from ._records import Days, days_of
from ._single import Single
from ._state import UNLIMITED


class Many(Single):
    """Calls with many keys."""

    def add_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Add many keys; return one byte per key, in order: 1 if the key was new, otherwise 0.

        The keys are an iterable of keys, or one buffer of lines (bytes, bytearray, memoryview or
        mmap), which is not copied; the byte `mark` ends a line.  `sum(answers)` is the number of
        new keys, and `itertools.compress(keys, answers)` yields them.

        >>> Filter(capacity=1000).add_many(b"a\\nb\\na\\n")
        b'\\x01\\x01\\x00'
        """
        return self._many("add", lib.deja_filter_add_batch, keys, mark)

    def contains_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Look up many keys, given as for add_many; return 1 per key that is found, otherwise 0."""
        return self._many("contains", lib.deja_filter_contains_batch, keys, mark)

    def remove_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Undo one add of each key; return 1 per removed key, 0 per absent one.  See remove."""
        return self._many("remove", lib.deja_filter_remove_batch, keys, mark)

    def prefix_many(self, prefixes: Keys, *, mark: bytes = b"\n") -> bytes:
        """Look up many URL prefixes; return 1 per prefix that is found, otherwise 0.  See prefix."""
        return self._many("prefix", lib.deja_filter_prefix_batch, prefixes, mark)

    def prefix(self, prefix: Key) -> bool:
        """Return whether a URL was added that is, or is under, this URL prefix (kind layered)."""
        return bool(self.prefix_many([prefix])[0])

    def count_many(self, keys: Keys, *, mark: bytes = b"\n") -> "array[int]":
        """Return how many times each key was added, as an array of 64-bit numbers.  See count."""
        counts, answers, error = array("Q"), (ctypes.c_uint64 * PORTION)(), _lib.Error()
        for lines, n, widths in self._portions(keys, mark):
            with self._gate.shared():
                status = lib.deja_filter_count_batch(self._alive(), lines, n, answers, byref(error))
            self._refuse(status, error)
            found = iter(answers[:n])
            counts.extend(found if widths is None else (next(found) if width else 0 for width in widths))
        return counts

    def days(self, key: Key) -> Optional[Days]:
        """Return when a key was first and last seen (dates=True); None if it was never added.

        Days are in UTC.  Every add of a known key sets its last day.
        """
        return self.days_many([key])[0]

    def days_many(self, keys: Keys, *, mark: bytes = b"\n") -> list[Optional[Days]]:
        """Return when each key was first and last seen, None for an absent key.  See days."""
        days: list[Optional[Days]] = []
        answers, error = (_lib.Days * PORTION)(), _lib.Error()
        for lines, n, widths in self._portions(keys, mark):
            with self._gate.shared():
                status = lib.deja_filter_days_batch(self._alive(), lines, n, answers, byref(error))
            self._refuse(status, error)
            found = map(days_of, answers[:n])
            days.extend(found if widths is None else (next(found) if width else None for width in widths))
        return days

    def _many(self, verb: str, function: Any, keys: Keys, mark: bytes) -> bytes:
        """Call a function that answers 0 or 1 per key, one portion after another."""
        writes = verb in ("add", "remove")
        answers, done = ctypes.create_string_buffer(PORTION), ctypes.c_size_t()
        error = _lib.Error()
        more = (byref(done), byref(error)) if writes else (byref(error),) if verb == "prefix" else ()
        parts: list[bytes] = []
        for lines, n, widths in self._portions(keys, mark, look_up=verb == "contains"):
            with self._gate.shared():
                handle = self._to_write() if writes else self._alive()
                status = function(handle, lines, n, answers, *more)
                if _files.guarded and not writes:
                    self._check_file()
            if status:  # None from contains
                whole_keys = done.value if widths is None else bisect_right(list(accumulate(widths)), done.value)
                self._refuse(status, error, sum(map(len, parts)) + whole_keys)
            if verb == "add" and self._room != UNLIMITED:
                self._watch(ctypes.string_at(answers, n).count(1), 4)
            parts.append(for_each_key(ctypes.string_at(answers, n), widths))
        return b"".join(parts)

    def _portions(self, keys: Keys, mark: bytes, look_up: bool = False) -> Iterator[Portion]:
        given = batches(keys, mark)
        if self._rules is None:
            return ((lines, n, None) for lines, n in given)
        return self._rules._portions(given, self._account, look_up)
