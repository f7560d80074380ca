"""Filter: the library's deja_filter as a Python object.  _gate.py explains how threads share one.

After a fork, parent and child map the same file, but each has its own count of the keys; so the
child's Filter becomes a reader.  A filter in memory becomes two independent ones.
"""

from __future__ import annotations

import ctypes
import errno
import os
import warnings
import weakref
from array import array
from bisect import bisect_right
from ctypes import byref
from datetime import date
from itertools import accumulate
from typing import Any, Callable, Iterable, Iterator, Optional, Union

from . import _lib
from ._checks import file_name, most_of, whole
from ._errors import (
    CapacityWarning, FileMissingError, FileThereError, FullError, ReadOnlyError, ReentryError, call, check, fail, make,
)
from ._gate import Gate, both_exclusive
from ._keys import PORTION, Held, Key, Keys, Portion, batches, for_each_key, is_buffer, key_bytes
from ._lib import lib
from ._options import demands, describe, let_grow, make_options
from ._records import Days, Layer, Stats, day_of, days_of
from ._url import Account, Rules, rules_of

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
URL = Union[str, Rules, None]

PIECE = 1 << 20  # bytes per piece of an export
MOST_PIECE = 1 << 30


# --- Files ------------------------------------------------------------------------


def _create_flags(path: Optional[str], replace: bool, permissions: Optional[int]) -> int:
    """Return the flags for a new file; refuse to replace an existing one unless asked to."""
    if permissions is not None and (isinstance(permissions, bool) or not isinstance(permissions, int)
                                    or not 0 < permissions <= 0o777):
        fail(_lib.EINVAL, f"permissions must be a number from 0o001 to 0o777, not {permissions!r}")
    if permissions is not None and path is None:
        fail(_lib.EINVAL, "permissions apply to files; give a path")
    if path is not None and not replace and os.path.lexists(path):
        ctypes.set_errno(errno.EEXIST)
        fail(_lib.EINVAL, f"{path}: the file already exists", FileThereError)
    return (_lib.CREATE_REPLACE if replace else 0) | (permissions or 0) << _lib.CREATE_MODE_SHIFT


def verify(path: Path) -> None:
    """Read a whole filter file and compare its checksums.

    FormatError names the damage.  BusyError means that the file was not synced after its last add,
    so it has no valid checksum.
    """
    name = file_name(path)
    call(lib.deja_file_verify, os.fsencode(name), what=name)


_guarded = False


def guard_files() -> None:
    """Turn access to a truncated file into a FileError, for all filters of this process.

    Without it, the system kills the process with SIGBUS.  Afterwards every call on a filter whose
    file was truncated or overwritten raises FileError, including `in`.

    This permanently installs a signal handler that passes any other SIGBUS to the previous handler.
    A handler that is installed later, as by faulthandler.enable(), replaces it: call guard_files()
    last.
    """
    global _guarded
    call(lib.deja_files_guard)
    _guarded = True


# --- Filters ----------------------------------------------------------------------


class Filter:
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
        flags = _create_flags(self._path, mode == "w", permissions)
        if path is None:
            self._take(make(lib.deja_filter_new, byref(options)))
        else:
            self._take_new(make(lib.deja_filter_create, self._encoded_path(), flags, byref(options), what=self._name))

    def _begin(self, path: Optional[Path], url: URL, has_key: bool) -> None:
        self._handle: Optional[int] = None
        self._gate = Gate()
        self._account = Account()
        self._path = None if path is None else file_name(path)
        self._absolute = None if self._path is None else os.path.abspath(self._path)  # chdir does not change it
        self._name = self._path or ""  # in messages
        self._rules = None if url is None else rules_of(url)
        self._has_key = has_key
        self._writable = True
        self._inherited = False  # by a forked child, from a parent that writes the file
        self._error = _lib.Error()  # of calls with one key, which hold the gate's lock
        self._room: Optional[int] = None  # new keys until the size is checked again; None: never
        _all.add(self)

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

    def _accepted(self, expect: _lib.Options, function: Any, *arguments: Any) -> Optional[int]:
        """Call a function that opens a filter; if it refuses the URL rules, try their previous version."""
        error, out = _lib.Error(), ctypes.c_void_p()
        status = function(*arguments, byref(expect), byref(out), byref(error))
        older = self._rules._older() if self._rules and status == _lib.EMISMATCH else None
        if older:
            expect.url = older._handle
            if function(*arguments, byref(expect), byref(out), None) == _lib.OK:
                status, self._rules = _lib.OK, older
        check(status, error, self._name)
        return out.value

    def _take(self, handle: Optional[int]) -> None:
        self._handle = handle
        try:
            known = self._stats()
            self._adopt_rules(known)
            self._measure_room(known)
        except BaseException:
            self._free()
            raise

    def _take_new(self, handle: int) -> None:
        self._take(handle)
        self.sync()  # the file gets its name

    def _adopt_rules(self, known: Stats) -> None:
        """Use the URL rules of an opened filter unless the caller gave rules."""
        if not known.profile or self._rules:
            return
        version: Optional[Rules] = rules_of(known.profile)
        while version and version.id != known.url_rules:
            version = version._older()
        if not version:
            fail(_lib.EMISMATCH, f"{self._path or 'these bytes'}: made with a custom list of parameters for profile "
                 f"{known.profile}; pass the same url=Rules({known.profile!r}, drop=..., keep=...)")
        self._rules = version

    @classmethod
    def build(cls, keys: Keys, path: Optional[Path] = None, *, mark: bytes = b"\n", replace: bool = False,
              permissions: Optional[int] = None, key: Optional[bytes] = None, url: URL = None,
              **options: Any) -> "Filter":
        """Build a static filter, the smallest kind, from all its keys; no key can be added later.

        The keys are as for add_many.  fp_rate= or fingerprint_bits= choose the false-positive
        rate.  With a path, the filter is in a new file; replace=True replaces any old file.  The
        other arguments are as for Filter.
        """
        self = cls._blank(path, url, key is not None)
        flags = _create_flags(self._path, replace, permissions)
        chosen = make_options(rules=self._rules, key=key, **{"kind": "static", **options})
        builder = make(lib.deja_builder_new, byref(chosen))
        try:
            for lines, n, _ in self._portions(keys, mark):
                call(lib.deja_builder_add_batch, builder, lines, n)
            handle = make(lib.deja_builder_finish, builder, self._encoded_path(), flags, what=self._name)
        finally:
            lib.deja_builder_free(builder)
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
            self._take(_import_pieces(data, expect))  # type: ignore[arg-type]
        return self

    # --- Opening and closing ---

    def _encoded_path(self) -> Optional[bytes]:
        return None if self._path is None else os.fsencode(self._path)

    def _alive(self) -> int:
        if self._handle is None:
            fail(_lib.EINVAL, "the filter is closed")
        return self._handle

    def _to_write(self) -> int:
        handle = self._alive()
        if not self._writable:
            fail(_lib.EINVAL, f"{self._path}: " + ("the parent of this process writes it; this one can only read it"
                                                   if self._inherited else 'opened for reading (mode="r")'),
                 ReadOnlyError)
        return handle

    def _free(self) -> None:
        handle, self._handle = self._handle, None
        lib.deja_filter_free(handle)

    def sync(self) -> None:
        """Make every key added so far survive a power cut (files only)."""
        with self._gate.exclusive():
            self._sync()

    def _sync(self) -> None:
        handle = self._alive()
        if self._path is not None and self._writable:
            call(lib.deja_filter_sync, handle, what=self._path)

    def close(self) -> None:
        """Sync and close the filter; it is closed even if the sync fails.  Closing twice is fine."""
        with self._gate.exclusive():
            if self._handle is None:
                return
            try:
                self._sync()
            finally:
                self._free()

    @property
    def closed(self) -> bool:
        """Whether the filter is closed."""
        return self._handle is None

    def __enter__(self) -> "Filter":
        self._alive()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
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

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else repr(self._path)
        return f"<deja.Filter {where}{', closed' if self.closed else '' if self._writable else ', for reading'}>"

    def _after_fork(self) -> None:
        """In the child: replace locks that threads of the parent may hold."""
        self._gate = Gate()
        self._account.after_fork()
        if self._path is not None and self._writable:
            self._writable, self._inherited = False, True

    @property
    def path(self) -> Optional[str]:
        """The path of the file; None for a filter in memory."""
        return self._path

    @property
    def rules(self) -> Optional[Rules]:
        """The URL rules that canonicalize its keys; None if keys are compared unchanged."""
        return self._rules

    @property
    def not_urls(self) -> int:
        """How many keys given to this object are not URLs, although the filter has a URL profile.

        They are compared unchanged.  A block list (gsb) skips them: it neither adds nor finds them.
        """
        return self._account.not_urls

    # --- Capacity ---

    def _measure_room(self, known: Stats) -> None:
        """Set how many new keys to add before the next check of the capacity."""
        if (not self._writable or not lib.deja_filter_can(self._handle, _lib.CAN_ADD)
                or lib.deja_filter_can(self._handle, _lib.CAN_GROW)):
            self._room = None
        elif known.excess:
            self._room = 0
        elif known.generations:  # in a window by time, a generation can get more than its share
            self._room = max(known.capacity // 8, 1)
        else:
            self._room = max(known.capacity - known.entries, 0)

    def _watch(self, new: int, frames: int) -> None:
        """Warn once when a filter that does not grow passes its capacity."""
        if self._room is None or (self._room > 0 and not new):
            return
        self._room -= new
        if self._room > 0:
            return
        try:
            with self._gate.exclusive():
                known = self._stats()
                self._measure_room(known)
        except ReentryError:  # in a signal handler: the next add checks
            return
        if known.excess:
            self._room = None
            self._crowded(known, frames + 1)
        else:
            self._room = max(self._room or 0, 1)

    def _crowded(self, known: Stats, frames: int) -> None:
        """Issue the warning; the caller of the package is `frames` frames up."""
        warnings.warn(f"{self._path or 'the filter'} was sized for {known.capacity:,} keys and now holds "
                      f"{known.entries:,}: its rate is above {known.fp_rate:g} and rises with every key; "
                      "use a larger capacity, or let it grow", CapacityWarning, stacklevel=frames)

    # --- One key ---

    def _key(self, key: Key) -> Optional[bytes]:
        """Return the bytes to add for a key; None if a block list skips it."""
        data = key_bytes(key)
        if self._rules is None:
            return data
        status, form = self._rules._key(data)
        if status != _lib.OK:
            self._account.add(1)
            if self._rules.is_block_list:
                return None
        return form

    def _one(self, function: Any, handle: Callable[[], int], key: Key, answer: Any) -> Any:
        """Call a function with one key; return the answer that it stores."""
        data = self._key(key)
        if data is not None:
            with self._gate.lock:
                status = function(handle(), _lib.Key(data, len(data)), byref(answer), self._error)
                if status:
                    self._refuse(status, self._error)
        return answer.value

    def add(self, key: Key) -> bool:
        """Add a key, a str or bytes; return True if it was new.

        False means that the key was added before, or, at the filter's rate, is a false positive.
        """
        is_new: bool = self._one(lib.deja_filter_add, self._to_write, key, ctypes.c_bool())
        if self._room is not None:
            self._watch(is_new, 3)
        return is_new

    def __contains__(self, key: Key) -> bool:
        """Return whether the key was added.  True may be a false positive."""
        forms = [key_bytes(key)]
        if self._rules is not None:
            status, forms = self._rules._lookups(forms[0])
            self._account.add(status != _lib.OK)
        with self._gate.lock:
            handle = self._alive()
            found = any(lib.deja_filter_contains(handle, _lib.Key(form, len(form))) for form in forms)
            if _guarded:
                self._check_file()
        return found

    def remove(self, key: Key) -> bool:
        """Undo one add of a key (kinds spectral and paired); return False if the key is absent.

        Remove only keys that were added.  In a spectral filter, removing a false positive takes
        counts from other keys.  In a paired filter, a removed key never comes back.  See
        docs/kinds.md.
        """
        return bool(self._one(lib.deja_filter_remove, self._to_write, key, ctypes.c_bool()))

    def count(self, key: Key) -> int:
        """Return how many times a key was added and not removed, or more (kind spectral)."""
        return int(self._one(lib.deja_filter_count, self._alive, key, ctypes.c_uint64()))

    def days(self, key: Key) -> Optional[Days]:
        """Return when a key was first and last seen (dates=True); None if it was never added.

        Days are in UTC.  Every add of a known key sets its last day.
        """
        return self.days_many([key])[0]

    # --- Many keys ---

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
                if _guarded and not writes:
                    self._check_file()
            if status:  # None from contains
                whole_keys = done.value if widths is None else bisect_right(list(accumulate(widths)), done.value)
                self._refuse(status, error, sum(map(len, parts)) + whole_keys)
            if verb == "add" and self._room is not None:
                self._watch(ctypes.string_at(answers, n).count(1), 4)
            parts.append(for_each_key(ctypes.string_at(answers, n), widths))
        return b"".join(parts)

    def _portions(self, keys: Keys, mark: bytes, look_up: bool = False) -> Iterator[Portion]:
        given = batches(keys, mark)
        if self._rules is None:
            return ((lines, n, None) for lines, n in given)
        return self._rules._portions(given, self._account, look_up)

    def _refuse(self, status: int, error: _lib.Error, done: int = 0) -> None:
        """Raise unless the status is DEJA_OK; the call added `done` keys before the failure."""
        try:
            check(status, error, self._name)
        except FullError as full:
            full.done = done
            raise

    # --- The whole filter ---

    def _exclusive(self, function: Any, *arguments: Any) -> None:
        with self._gate.exclusive():
            call(function, self._alive(), *arguments, what=self._name)

    def _replace(self, function: Any, *arguments: Any) -> None:
        """Call a function that replaces the body."""
        with self._gate.exclusive():
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
        with self._gate.exclusive():
            return self._stats(body)

    def _stats(self, body: bool = False) -> Stats:
        numbers = _lib.Stats()
        call(lib.deja_filter_stats, self._alive(), _lib.STATS_BODY if body else 0, byref(numbers), what=self._name)
        return Stats._of(numbers)

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

    def _check_file(self) -> None:
        call(lib.deja_filter_check_file, self._alive(), what=self._name)

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
        with both_exclusive(self._gate, _gate_of(other)):
            call(lib.deja_filter_merge, self._to_write(), other._alive(), what=self._name)

    def overlap(self, other: "Filter") -> tuple[float, float]:
        """Estimate how many keys are in both filters; return the number and its standard deviation."""
        keys, sigma = ctypes.c_double(), ctypes.c_double()
        with both_exclusive(self._gate, _gate_of(other)):
            call(lib.deja_filter_overlap, self._alive(), other._alive(), byref(keys), byref(sigma))
        return keys.value, sigma.value

    def copy(self, path: Path, *, replace: bool = False, permissions: Optional[int] = None) -> "Filter":
        """Copy the filter into a new file, with its secret key and counts.

        replace=True replaces an existing file; permissions are as for Filter.
        """
        copy = self._blank(path, self._rules, self._has_key)
        flags = _create_flags(copy._path, replace, permissions)
        with self._gate.exclusive():
            handle = make(lib.deja_filter_copy, self._alive(), copy._encoded_path(), flags, what=copy._name)
        copy._take_new(handle)
        return copy

    # --- Its bytes ---

    def to_bytes(self) -> bytes:
        """Return the bytes that a file of this filter would have; Filter.from_bytes reads them."""
        room, parts = ctypes.create_string_buffer(PIECE), [b""]
        with self._gate.exclusive():
            while len(parts) == 1 or parts[-1]:
                parts.append(self._piece((len(parts) - 1) * PIECE, room))
        return b"".join(parts)

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """Yield the same bytes in pieces, for large filters.

        If the filter changes before the last piece, Filter.from_bytes rejects the bytes.
        """
        return self._pieces(whole("size", size, MOST_PIECE))

    def _pieces(self, size: int) -> Iterator[bytes]:
        room, at = ctypes.create_string_buffer(size), 0
        while True:
            with self._gate.exclusive():
                piece = self._piece(at, room)
            if not piece:
                return
            yield piece
            at += len(piece)

    def _piece(self, at: int, room: "ctypes.Array[ctypes.c_char]") -> bytes:
        n = lib.deja_filter_export(self._alive(), at, room, len(room))
        if _guarded:
            self._check_file()
        return ctypes.string_at(room, n)


if Filter.__doc__:  # python -OO has none
    Filter.__doc__ = Filter.__doc__.replace("{options}", describe())


def _gate_of(other: Any) -> Gate:
    if not isinstance(other, Filter):
        raise TypeError(f"the other filter must be a deja.Filter, not {type(other).__name__}")
    return other._gate


def _import_pieces(pieces: Iterable[bytes], expect: _lib.Options) -> int:
    under_way = make(lib.deja_import_new, 0, byref(expect))
    try:
        for piece in pieces:
            with Held(piece) as text:
                call(lib.deja_import_write, under_way, text.data, text.len)
        return make(lib.deja_import_finish, under_way)
    finally:
        lib.deja_import_free(under_way)


def _reader(path: str, rules: Optional[Rules]) -> Filter:
    return Filter(path, mode="r", url=rules)


_all: "weakref.WeakSet[Filter]" = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_all):
        one._after_fork()


os.register_at_fork(after_in_child=_after_fork)
