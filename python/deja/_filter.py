"""Filter: the library's deja_filter as a Python object.

State (_state.py) is its handle and lock, Single (_single.py) and Many (_many.py) have the calls with
keys, SetLike (_setlike.py) the operators of a set; Filter opens and closes files and has the calls on
the whole filter.
"""

from __future__ import annotations

import ctypes
import os
from ctypes import byref
from datetime import date
from typing import Any, Iterable, Iterator, Optional, Union

from . import _files, _lib
from ._checks import most_of, whole
from ._errors import FileMissingError, call, check, fail, make
from ._files import Path, create_flags
from ._keys import Held, Keys, is_buffer
from ._lib import lib
from ._options import demands, describe, let_grow, make_options
from ._owner import URL, both_alone
from ._records import Layer, Stats, day_of
from ._setlike import PIECE, SetLike, imported
from ._url import Rules

MOST_PIECE = 1 << 30


class Filter(SetLike):
    """A set of keys in very little memory, with a false-positive rate that you choose.

    A key that was added is always found, except in the kinds "paired" and "window", which forget
    by design.  A key that was not added may be found too, at the rate fp_rate.

    Filter() and Filter(capacity=...) are in memory.  Filter(path) is a `.deja` file, which is
    created if it does not exist.

    path         the file, mapped into memory and shared by all processes that have it open
    mode         "a": open for adding, or create (the default);  "r": open for reading;
                 "x": create, and fail if the file exists;  "w": create, replacing any old file
    capacity     expected number of keys: the initial size, past which the filter grows
    fp_rate      false-positive rate at capacity; 1e-6 by default
    kind         "blocked" (the default), "classic", "exact", "spectral" ...; see docs/kinds.md.
                 A filter that grows is of kind "scalable", with parts of this kind.
    memory       bytes; give it instead of the capacity or the rate, which deja then computes
    key          32 secret bytes that are not stored in the file; by default deja generates
                 random ones and stores them
    seed         a number instead of a secret, for the same filter in every run
    url          compare canonical URLs: "safe", "crawl", "gsb", "scrapy", "shape" or Rules(...).
                 A file records its profile, so you can omit it when you open one.
    repair       open a file with one damaged sync record and use the other record
    permissions  mode bits of a new file, such as 0o640.  By default only you can read a file that
                 contains its secret key (0o600); for other files the umask decides.
    grow         False keeps the filter at its size; True fails if the options rule out growth.
                 Options that fix the size (memory, hashes, filters ...) rule it out, as do the
                 kinds spectral, paired, window and layered.  A filter that does not grow issues
                 one CapacityWarning when it has more keys than its capacity.
    others       the other options and flags of the C library:

{options}

    An existing file keeps its sizes.  If you give kind, hash, seed or url, they must match the file.

    A key added to a file survives the end of the process at once, and a power cut after sync(),
    which close() and the with statement call.  Any number of threads can use one Filter; calls
    release the interpreter lock.

    >>> seen = Filter(capacity=1e6)
    >>> seen.add("http://example.com/")
    True
    >>> seen.add("http://example.com/")
    False
    >>> "http://example.com/" in seen
    True
    """

    def __init__(self, path: Optional[Path] = None, *, mode: str = "a", capacity: Optional[float] = None,
                 fp_rate: Optional[float] = None, kind: Optional[str] = None, memory: Optional[float] = None,
                 key: Optional[bytes] = None, seed: Optional[int] = None, url: URL = None,
                 repair: bool = False, permissions: Optional[int] = None, grow: Optional[bool] = None,
                 **others: Any) -> None:
        self._begin(path, url, key is not None)
        if mode not in ("a", "r", "x", "w"):
            fail(_lib.EINVAL, f'mode must be "a", "r", "x" or "w", not {mode!r}')
        if path is None and mode != "a":
            fail(_lib.EINVAL, f"mode {mode!r} applies to files; give a path")
        options = make_options(capacity=capacity, fp_rate=fp_rate, kind=kind, memory=memory, key=key, seed=seed,
                               rules=self._rules, **others)
        if mode in ("a", "r") and path is not None:
            try:
                self._open(demands(options, kind), mode, repair)
                return
            except FileMissingError:
                if mode == "r":
                    raise
        let_grow(options, grow)
        flags = create_flags(self._path, mode == "w", permissions)
        if path is None:
            self._take(make(lib.deja_filter_new, byref(options)))
        else:
            self._take_new(make(lib.deja_filter_create, self._encoded_path(), flags, byref(options), what=self._name))

    @classmethod
    def _blank(cls, path: Optional[Path], url: URL, has_key: bool) -> "Filter":
        """Return a Filter that has no handle yet."""
        self = cls.__new__(cls)
        self._begin(path, url, has_key)
        return self

    def _open(self, expect: _lib.Options, mode: str, repair: bool) -> None:
        self._writable = mode != "r"
        flags = (_lib.OPEN_WRITE if self._writable else 0) | (_lib.OPEN_REPAIR if repair else 0)
        self._take(self._accepted(expect, lib.deja_filter_open, self._encoded_path(), flags))

    def _take(self, handle: Optional[int]) -> None:
        self._handle = handle
        try:
            known = self._stats()
            self._adopt_rules(known.profile, known.url_rules)
            self._measure_room(known)
            self._set_direct()
        except BaseException:
            self._free()
            raise

    def _take_new(self, handle: int) -> None:
        self._take(handle)
        self.sync()  # the file gets its name

    @classmethod
    def build(cls, keys: Keys, path: Optional[Path] = None, *, exceptions: Keys = (), mark: bytes = b"\n",
              replace: bool = False, permissions: Optional[int] = None, key: Optional[bytes] = None,
              url: URL = None, **options: Any) -> "Filter":
        """Build a static filter, the smallest kind, from all its keys; no key can be added later.

        The keys are as for add_many.  fp_rate= or fingerprint_bits= choose the false-positive
        rate.  With a path, the filter is in a new file; replace=True replaces any old file.  The
        other arguments are as for Filter.

        The filter finds none of the exceptions, not even as a false positive; one that is also in
        keys is left out.  stats().exceptions is how many of them it had to store.
        """
        self = cls._blank(path, url, key is not None)
        flags = create_flags(self._path, replace, permissions)
        chosen = make_options(rules=self._rules, key=key, **{"kind": "static", **options})
        builder = make(lib.deja_builder_new, byref(chosen))
        try:
            for lines, n, _ in self._portions(keys, mark):
                call(lib.deja_builder_add_batch, builder, lines, n)
            for lines, n, _ in self._portions(exceptions, mark):
                call(lib.deja_builder_except_batch, builder, lines, n, 0)
            handle = make(lib.deja_builder_finish, builder, self._encoded_path(), flags, what=self._name)
        finally:
            lib.deja_builder_free(builder)
        self._take_new(handle)
        return self

    @classmethod
    def like(cls, other: "Filter", path: Optional[Path] = None, *, replace: bool = False,
             permissions: Optional[int] = None) -> "Filter":
        """Make an empty filter with the options, sizes, secret key and URL rules of another.

        It can be merged with the other one, unless that is in a later visit or of a kind that
        cannot be merged.  The remaining arguments are as for copy.
        """
        with _checked(other)._alone():
            self = cls._blank(path, other._rules, other._has_key)
            flags = create_flags(self._path, replace, permissions)
            options = _lib.Options(url=other._rules._handle if other._rules else None)
            call(lib.deja_options_like, other._alive(), byref(options), what=other._name)
            if path is None:
                handle = make(lib.deja_filter_new, byref(options))
            else:
                handle = make(lib.deja_filter_create, self._encoded_path(), flags, byref(options), what=self._name)
        self._take_new(handle)
        return self

    @classmethod
    def from_bytes(cls, data: Union[bytes, bytearray, memoryview, Iterable[bytes]], *, kind: Optional[str] = None,
                   key: Optional[bytes] = None, url: URL = None, **demanded: Any) -> "Filter":
        """Make a filter in memory from the bytes of a file, as to_bytes() or pieces() return them.

        The data is one buffer, or an iterable of pieces in order.  It may come from an untrusted
        source: FormatError if it is not a filter, or was truncated or changed.  If the filter was
        made with key=, give the same key.  If you give kind, url or other options, they must be
        the filter's.
        """
        self = cls._blank(None, url, key is not None)
        expect = demands(make_options(kind=kind, key=key, rules=self._rules, **demanded), kind)
        if is_buffer(data):
            with Held(data) as text:
                self._take(self._accepted(expect, lib.deja_filter_import, text.data, text.len))
        else:
            self._take(imported(data, expect))
        return self

    # --- Opening and closing ---

    def sync(self) -> None:
        """Make every key added so far survive a power cut (files only)."""
        with self._alone():
            self._sync()

    def _sync(self) -> None:
        handle = self._alive()
        if self._path is not None and self._writable:
            call(lib.deja_filter_sync, handle, what=self._path)

    def close(self) -> None:
        """Sync and close the filter; it is closed even if the sync fails.  Closing twice is fine."""
        with self._alone():
            if self._handle is None:
                return
            try:
                self._sync()
            finally:
                self._free()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the name of the file; the copy is a reader of the same file."""
        if self._absolute is None:
            raise TypeError("a filter in memory cannot be pickled; give it a path, or pickle to_bytes()")
        if self._has_key:
            raise TypeError("the key of this filter is not in its file, so it cannot be pickled; "
                            "open the file with key= in the other process")
        if self._writable and self._handle is not None:
            self.sync()  # so that the reader gets exact counts
        return _reader, (self._absolute, self._rules)

    # --- The whole filter ---

    def _replace(self, function: Any, *arguments: Any) -> None:
        """Call a function that replaces the body."""
        with self._alone():
            call(function, self._to_write(), *arguments, what=self._name)
            self._measure_room(self._stats())

    def older(self, before: date) -> int:
        """Return how many keys were last seen before a day, a datetime.date in UTC (dates=True)."""
        keys = ctypes.c_uint64()
        self._exclusive(lib.deja_filter_older, day_of("before", before), byref(keys))
        return keys.value

    def expire(self, before: date) -> int:
        """Remove the keys that were last seen before a day, a datetime.date in UTC; return how many.

        A file is replaced when the new one is complete.  A filter that has grown shrinks.
        """
        keys = ctypes.c_uint64()
        self._replace(lib.deja_filter_expire, day_of("before", before), byref(keys))
        return keys.value

    def set_clock(self, seconds: int) -> None:
        """Set the time of a window or a filter with dates, in seconds since 1970; 0 restores the system clock."""
        self._exclusive(lib.deja_filter_set_clock, whole("seconds", seconds, most_of(ctypes.c_uint64), least=0))

    def stats(self, body: bool = True) -> Stats:
        """Return what the filter holds and what it costs.

        This reads the whole filter once.  With body=False it takes no time and omits the fields
        that need the bits; see Stats.
        """
        with self._alone():
            return self._stats(body)

    def layer(self, number: int) -> Layer:
        """Describe one layer of a layered filter: 1 to stats().layers, or 0 for the layer of whole keys."""
        numbers = _lib.Layer()
        self._exclusive(lib.deja_filter_layer, whole("number", number, most_of(ctypes.c_uint32), least=0),
                        byref(numbers))
        return Layer._of(numbers)

    def check_file(self) -> None:
        """Raise FileError if the file was truncated or overwritten, so that answers may be wrong.

        deja notices this only after guard_files().
        """
        with self._gate.lock:
            self._check_file()

    def rotate(self, *, capacity: Optional[float] = None, fp_rate: Optional[float] = None,
               memory: Optional[float] = None) -> None:
        """Begin the next visit: empty the filter and change its hash functions.

        The next visit finds pages that this one lost to false positives.  Without arguments, it is
        sized from the number of keys of this visit.
        """
        following = make_options(capacity=capacity, fp_rate=fp_rate, memory=memory)
        following.kind = 0  # unchanged
        self._replace(lib.deja_filter_rotate, byref(following))

    def fold(self, times: int = 1) -> None:
        """Halve the filter this many times, which raises its false-positive rate."""
        self._replace(lib.deja_filter_fold, whole("times", times, most_of(ctypes.c_uint32)))

    def merge(self, other: "Filter") -> None:
        """Add all keys of another filter.

        A filter that grows takes any other with the same kind of parts, hash and URL profile; its
        rate and those of the other parts add up.  All others need the same sizes and secret key.
        """
        with both_alone(self, _checked(other)):
            call(lib.deja_filter_merge, self._to_write(), other._alive(), what=self._name)

    def overlap(self, other: "Filter") -> tuple[float, float]:
        """Estimate how many keys are in both filters; return the number and its standard deviation."""
        keys, sigma = ctypes.c_double(), ctypes.c_double()
        with both_alone(self, _checked(other)):
            call(lib.deja_filter_overlap, self._alive(), other._alive(), byref(keys), byref(sigma))
        return keys.value, sigma.value

    def copy(self, path: Optional[Path] = None, *, replace: bool = False,
             permissions: Optional[int] = None) -> "Filter":
        """Copy the filter, with its secret key and counts, into a new file, or into memory without a path.

        replace=True replaces an existing file; permissions are as for Filter.
        """
        copy = self._blank(path, self._rules, self._has_key)
        flags = create_flags(copy._path, replace, permissions)
        if path is None:
            copy._take(self._in_memory())
            return copy
        with self._alone():
            handle = make(lib.deja_filter_copy, self._alive(), copy._encoded_path(), flags, what=copy._name)
        copy._take_new(handle)
        return copy

    # --- Its bytes ---

    def to_bytes(self) -> bytes:
        """Return the bytes that a file of this filter would have; Filter.from_bytes reads them."""
        with self._alone():
            return b"".join(self._bytes())

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """Yield the same bytes in pieces, for large filters.

        If the filter changes before the last piece, Filter.from_bytes rejects the bytes.
        """
        return self._pieces(whole("size", size, MOST_PIECE))

    def _pieces(self, size: int) -> Iterator[bytes]:
        room, at = ctypes.create_string_buffer(size), 0
        while True:
            with self._alone():
                piece = self._piece(at, room)
            if not piece:
                return
            yield piece
            at += len(piece)


if Filter.__doc__:  # python -OO has none
    Filter.__doc__ = Filter.__doc__.replace("{options}", describe())


def _checked(other: Any) -> Filter:
    if not isinstance(other, Filter):
        raise TypeError(f"the other filter must be a deja.Filter, not {type(other).__name__}")
    return other


def _reader(path: str, rules: Optional[Rules]) -> Filter:
    return Filter(path, mode="r", url=rules)
