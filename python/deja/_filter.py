"""Filter: the library's deja_filter as a Python object.  _gate.py says how threads share one.

After a fork, parent and child have the same file mapped, and each its own idea of how many keys are
in it; so the child's Filter becomes a reader.  One in memory is simply two filters from then on.
"""

from __future__ import annotations

import ctypes
import errno
import os
import warnings
import weakref
from array import array
from ctypes import byref
from typing import Any, Iterable, Iterator, Optional, Union

from . import _lib
from ._checks import file_name, most_of, whole
from ._errors import (
    CapacityWarning, FileMissingError, FileThereError, FullError, ReadOnlyError, check, fail,
)
from ._gate import Gate, both_alone
from ._keys import PORTION, Held, Key, Keys, Portion, batches, for_each_key, key_bytes
from ._lib import lib
from ._options import demands, describe, let_grow, make_options
from ._records import Layer, Stats
from ._url import Account, Rules, rules_of

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
URL = Union[str, Rules, None]

PIECE = 1 << 20  # bytes of an export at a time
MOST_PIECE = 1 << 30


# --- Files ------------------------------------------------------------------------


def _place(path: Optional[str], replace: bool, permissions: Optional[int]) -> int:
    """Flags for a new file; an old one of that name is in the way unless it is to be replaced."""
    if permissions is not None and (isinstance(permissions, bool) or not isinstance(permissions, int)
                                    or not 0 < permissions <= 0o777):
        fail(_lib.EINVAL, f"permissions are a number from 0o001 to 0o777, not {permissions!r}")
    if permissions is not None and path is None:
        fail(_lib.EINVAL, "permissions are for files, and there is no path")
    if path is not None and not replace and os.path.lexists(path):
        error = FileThereError(f"{path} exists already")
        error.status, error.errno = _lib.EINVAL, errno.EEXIST
        raise error
    return (_lib.CREATE_REPLACE if replace else 0) | (permissions or 0) << _lib.CREATE_MODE_SHIFT


def verify(path: Path) -> None:
    """Read the whole file and compare its checksums.

    Returns when it is sound.  FormatError names the damage; BusyError says that the file was
    not synced after its last add, so that no checksum can vouch for it."""
    error, name = _lib.Error(), file_name(path)
    check(lib.deja_file_verify(os.fsencode(name), byref(error)), error, name)


_guarded = False


def guard_files() -> None:
    """From now on a file that somebody cuts short while a Filter has it open is a FileError in
    every call on that filter, `in` included, where the system would end the process (SIGBUS).

    For the whole process and for good.  A handler that was there before gets every other SIGBUS;
    one that comes later, as faulthandler.enable() brings, takes this one's place: call it before."""
    global _guarded
    error = _lib.Error()
    check(lib.deja_files_guard(byref(error)), error)
    _guarded = True


# --- Filters ----------------------------------------------------------------------


class Filter:
    """A set of keys in little memory, that may claim one it has not, at a rate you choose.

    Filter() and Filter(capacity=...) live in memory; Filter(path) is a `.deja` file, which is
    created when it is not there.

    path      the file, mapped into memory and shared with every process that has it open.
    mode      "a": open for adding, or create (the default);  "r": an existing file, for asking
              only;  "x": create, and fail if it is there;  "w": create in its place.
    capacity  how many keys are expected: a first size, past which the filter grows.
    grow      False: keep the size.  Options that pin the body (memory, hashes, filters ...) and the
              kinds spectral, paired, window and layered never grow.  A filter that does not grow
              issues one CapacityWarning when it holds more keys than it was sized for.
    fp_rate   how often it may be wrong about a key it has not, at capacity; 1e-6 by default.
    kind      "blocked" (default), "classic", "exact", "spectral" ...: docs/kinds.md has them all.
              A filter that grows is of kind "scalable", with parts of this kind.
    memory    bytes for it, where the size matters and one of the other two should follow.
    key       32 secret bytes that stay out of the file; by default they are random and in it.
    seed      an int instead of a secret: the same filter in every run.
    url       compare canonical URLs: "safe", "crawl", "gsb", "scrapy", or Rules(...).
              A file knows its profile and need not be told again.
    repair    open a file with one of its two sync records damaged, and trust the other.
    permissions  of a new file, such as 0o640.  By default only you can read a file that contains
              its secret key (0o600); the umask decides for the others.  chmod changes them later.
    others    the other options of deja_options and its flags:

{options}

    A file that is there keeps its sizes; kind, hash, seed and url have to be the file's if given.

    What is added to a file survives the process at once, and a power cut after sync(), which
    close() and the with statement do.  A Filter may be used by any number of threads; the
    interpreter runs other threads meanwhile.

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
        self._begin(path, None if url is None else rules_of(url), key is not None)
        if mode not in ("a", "r", "x", "w"):
            fail(_lib.EINVAL, f'mode is "a", "r", "x" or "w", not {mode!r}')
        if path is None and mode != "a":
            fail(_lib.EINVAL, f"mode {mode!r} is for files, and there is no path")
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
        self._create(options, mode, permissions)

    def _begin(self, path: Optional[Path], rules: Optional[Rules], has_key: bool) -> None:
        self._handle: Optional[int] = None
        self._gate = Gate()
        self._account = Account()
        self._path = None if path is None else file_name(path)
        self._absolute = None if self._path is None else os.path.abspath(self._path)  # whatever chdir does
        self._rules = rules
        self._has_key = has_key
        self._writable = True
        self._inherited = False  # by a child process, from a parent that writes the file
        self._error = _lib.Error()  # of calls on one key, which hold the gate's lock
        self._room: Optional[int] = None  # new keys until the size is checked again; None: never
        _all.add(self)

    @classmethod
    def _blank(cls, path: Optional[Path], rules: Optional[Rules], has_key: bool) -> "Filter":
        """One that a handle is yet to be found for."""
        self = cls.__new__(cls)
        self._begin(path, rules, has_key)
        return self

    def _open(self, expect: _lib.Options, mode: str, repair: bool) -> None:
        error, out = _lib.Error(), ctypes.c_void_p()
        self._writable = mode != "r"
        flags = (_lib.OPEN_WRITE if self._writable else 0) | (_lib.OPEN_REPAIR if repair else 0)
        status = lib.deja_filter_open(self._encoded_path(), flags, byref(expect), byref(out), byref(error))
        older = self._rules._older() if self._rules and status == _lib.EMISMATCH else None
        if older:  # the file may have been made by the version before
            expect.url = older._handle
            if lib.deja_filter_open(self._encoded_path(), flags, byref(expect), byref(out), None) == _lib.OK:
                status, self._rules = _lib.OK, older
        check(status, error, self._path or "")
        self._take(out)

    def _take(self, out: ctypes.c_void_p) -> None:
        """A filter that was made elsewhere, and may have rules when none were asked for."""
        self._handle = out.value
        self._look_at_room(self._stats())
        try:
            self._adopt_profile()
        except BaseException:
            self._free()
            raise

    def _adopt_profile(self) -> None:
        told = self._stats()
        if not told.profile or self._rules:
            return
        rules = rules_of(told.profile)
        version: Optional[Rules] = rules
        while version and version.id != told.url_rules:
            version = version._older()
        if not version:
            fail(_lib.EMISMATCH, f"{self._path or 'these bytes'}: its URLs follow other rules than profile "
                 f"{rules.profile} as it comes; give url=Rules({rules.profile!r}, drop=..., keep=...) as it was made")
        self._rules = version

    def _create(self, options: _lib.Options, mode: str, permissions: Optional[int]) -> None:
        error, out = _lib.Error(), ctypes.c_void_p()
        flags = _place(self._path, mode == "w", permissions)
        if self._path is None:
            check(lib.deja_filter_new(byref(options), byref(out), byref(error)), error)
            self._handle = out.value
            self._look_at_room(self._stats())
            return
        check(lib.deja_filter_create(self._encoded_path(), flags, byref(options), byref(out), byref(error)),
              error, self._path)
        self._handle = out.value
        self._look_at_room(self._stats())
        self.sync()  # from now on it has its name

    @classmethod
    def build(cls, keys: Keys, path: Optional[Path] = None, *, mark: bytes = b"\n", replace: bool = False,
              permissions: Optional[int] = None, key: Optional[bytes] = None, url: URL = None,
              **options: Any) -> "Filter":
        """A static filter, the smallest, of keys that are complete: nothing can be added to it.

        keys as for add_many; fp_rate= or fingerprint_bits= choose how often it may be wrong, path
        puts it into a new file (replace: also in the place of an old one; permissions as for
        Filter)."""
        self = cls._blank(path, None if url is None else rules_of(url), key is not None)
        flags = _place(self._path, replace, permissions)
        error, builder, out = _lib.Error(), ctypes.c_void_p(), ctypes.c_void_p()
        chosen = make_options(rules=self._rules, key=key, **{"kind": "static", **options})
        check(lib.deja_builder_new(byref(chosen), byref(builder), byref(error)), error)
        try:
            for lines, n, _ in self._portions(keys, mark):
                check(lib.deja_builder_add_batch(builder, lines, n, byref(error)), error)
            encoded = None if self._path is None else self._encoded_path()
            check(lib.deja_builder_finish(builder, encoded, flags, byref(out), byref(error)), error, self._path or "")
        finally:
            lib.deja_builder_free(builder)
        self._handle = out.value
        self.sync()
        return self

    @classmethod
    def from_bytes(cls, data: Union[bytes, bytearray, memoryview, Iterable[bytes]], *, kind: Optional[str] = None,
                   key: Optional[bytes] = None, url: URL = None, **demanded: Any) -> "Filter":
        """A filter in memory from the bytes of a file, as to_bytes() and pieces() give them: in one
        buffer, or in an iterable of pieces, in order.

        They may come from anywhere: what is no filter, cut short or changed is a FormatError.
        key= is needed again where it stays out of files; kind, url and others are demands, as for
        a file that is there."""
        self = cls._blank(None, None if url is None else rules_of(url), key is not None)
        expect = demands(make_options(kind=kind, key=key, rules=self._rules, **demanded), kind)
        error, out = _lib.Error(), ctypes.c_void_p()
        try:
            memoryview(data).release()  # type: ignore[arg-type]
        except TypeError:
            _import_pieces(data, expect, out)  # type: ignore[arg-type]
        else:
            with Held(data) as text:
                status = lib.deja_filter_import(text.data, text.len, byref(expect), byref(out), byref(error))
                older = self._rules._older() if self._rules and status == _lib.EMISMATCH else None
                if older:
                    expect.url = older._handle
                    if lib.deja_filter_import(text.data, text.len, byref(expect), byref(out), None) == _lib.OK:
                        status, self._rules = _lib.OK, older
                check(status, error)
        self._take(out)
        return self

    # --- Life ---

    def _encoded_path(self) -> bytes:
        assert self._path is not None
        return os.fsencode(self._path)

    def _alive(self) -> int:
        if self._handle is None:
            fail(_lib.EINVAL, "the filter is closed")
        return self._handle

    def _to_write(self) -> int:
        handle = self._alive()
        if not self._writable:
            error = ReadOnlyError(f"{self._path}: " + ("the process that this one was forked from writes it"
                                                       if self._inherited else 'opened for reading (mode="r")'))
            error.status = _lib.EINVAL
            raise error
        return handle

    def _free(self) -> None:
        handle, self._handle = self._handle, None
        lib.deja_filter_free(handle)

    def sync(self) -> None:
        """Afterwards every key that was added before survives a power cut (files only)."""
        with self._gate.alone():
            self._sync()

    def _sync(self) -> None:
        handle = self._alive()
        if self._path is None or not self._writable:
            return
        error = _lib.Error()
        check(lib.deja_filter_sync(handle, byref(error)), error, self._path)

    def close(self) -> None:
        """Sync and let go of it; also when that fails.  Closing twice is fine."""
        with self._gate.alone():
            if self._handle is None:
                return
            try:
                self._sync()
            finally:
                self._free()

    @property
    def closed(self) -> bool:
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
        """Pickled by its file's name: it arrives as a reader of the same file."""
        if self._absolute is None:
            raise TypeError("a filter in memory cannot be pickled; one in a file can, Filter(path, ...), and "
                            "to_bytes() has all of it")
        if self._has_key:
            raise TypeError("the key of this filter stays out of its file, and so out of a pickle; "
                            "open it there with key=")
        if self._writable and self._handle is not None:
            self.sync()  # a file that was never synced has no name yet
        return _reader, (self._absolute, self._rules)

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else repr(self._path)
        return f"<deja.Filter {where}{', closed' if self.closed else '' if self._writable else ', for reading'}>"

    def _after_fork(self) -> None:
        """In the child: threads that held a lock are not there any more."""
        self._gate = Gate()
        self._account.after_fork()
        if self._path is not None and self._writable:
            self._writable, self._inherited = False, True

    @property
    def path(self) -> Optional[str]:
        return self._path

    @property
    def rules(self) -> Optional[Rules]:
        """How its keys become canonical; None: bytes as they are."""
        return self._rules

    @property
    def not_urls(self) -> int:
        """Keys this object was given, with a URL profile, that are no URLs.  They are taken as
        bytes (with gsb: left out, as they have no key)."""
        return self._account.not_urls

    # --- One key ---

    def _key(self, key: Key) -> Optional[bytes]:
        data = key_bytes(key)
        if self._rules is None:
            return data
        status, form = self._rules._key(data)
        if status != _lib.OK:
            self._account.add(1)
            if self._rules.is_block_list:
                return None
        return form

    def _look_at_room(self, told: Stats) -> None:
        if told.kind in ("scalable", "static") or not self._writable:
            self._room = None
        elif told.generations:  # by time, a generation may get more than its share
            self._room = 0 if told.excess else max(told.capacity // 8, 1)
        else:
            self._room = max(told.capacity - told.entries, 0) if not told.excess else 0

    def _watch(self, new: int, frames: int) -> None:
        """Warn, once, when a filter that does not grow is past its capacity."""
        if self._room is None or (self._room > 0 and not new):
            return
        self._room -= new
        if self._room > 0:
            return
        told = self.stats(body=False)
        if told.excess:
            self._room = None
            self._crowded(told, frames + 1)
        else:
            self._look_at_room(told)
            self._room = max(self._room or 0, 1)

    def _crowded(self, told: Stats, frames: int) -> None:
        """frames: how far up the caller of the package is."""
        warnings.warn(f"{self._path or 'the filter'} was sized for {told.capacity:,} keys and now holds "
                      f"{told.entries:,}: its rate is above {told.fp_rate:g} and rises with every key; "
                      "use a larger capacity, or let it grow", CapacityWarning, stacklevel=frames)

    def add(self, key: Key) -> bool:
        """Add a key; True when it was new."""
        data = self._key(key)
        if data is None:
            return False
        is_new = ctypes.c_bool()
        with self._gate.lock:
            status = lib.deja_filter_add(self._to_write(), _lib.Key(data, len(data)), byref(is_new), self._error)
            if status != _lib.OK:
                self._refuse(status, self._error)
        if self._room is not None:
            self._watch(is_new.value, 3)
        return is_new.value

    def __contains__(self, key: Key) -> bool:
        """Whether the key was added.  Yes may be wrong, at the filter's rate; no never is."""
        questions = [key_bytes(key)]
        if self._rules is not None:
            status, questions = self._rules._questions(questions[0])
            self._account.add(status != _lib.OK)
        with self._gate.lock:
            handle = self._alive()
            found = any(lib.deja_filter_contains(handle, _lib.Key(one, len(one))) for one in questions)
            if _guarded:
                self._vouch()
        return found

    def remove(self, key: Key) -> bool:
        """Take one add of the key back (kinds spectral and paired); False when it is not there.

        Remove only what was added: in spectral, taking out a false positive takes from other keys;
        in paired, what is removed stays out for good.  docs/kinds.md has the limits."""
        data = self._key(key)
        if data is None:
            return False
        removed = ctypes.c_bool()
        with self._gate.lock:
            status = lib.deja_filter_remove(self._to_write(), _lib.Key(data, len(data)), byref(removed), self._error)
            self._refuse(status, self._error)
        return removed.value

    def count(self, key: Key) -> int:
        """How often the key was added and not removed, or more (kind spectral)."""
        data = self._key(key)
        if data is None:
            return 0
        count = ctypes.c_uint64()
        with self._gate.lock:
            status = lib.deja_filter_count(self._alive(), _lib.Key(data, len(data)), byref(count), self._error)
            self._refuse(status, self._error)
        return count.value

    # --- Many keys ---

    def add_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Add keys; a byte for each, in order: 1 when it was new, 0 when not.

        keys is an iterable of keys, or one buffer of lines (bytes, bytearray, memoryview, mmap),
        which is not copied; `mark` ends a line.  `sum(answers)` is how many were new,
        `itertools.compress(urls, answers)` which.

        >>> Filter(capacity=1000).add_many(b"a\\nb\\na\\n")
        b'\\x01\\x01\\x00'
        """
        return self._many("add", lib.deja_filter_add_batch, keys, mark)

    def contains_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Ask about keys, as add_many takes them; a byte for each: 1 when it is in, 0 when not."""
        return self._many("contains", lib.deja_filter_contains_batch, keys, mark)

    def remove_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Take one add of each key back; a byte for each: 1 when it was there."""
        return self._many("remove", lib.deja_filter_remove_batch, keys, mark)

    def prefix_many(self, beginnings: Keys, *, mark: bytes = b"\n") -> bytes:
        """As prefix, for many; a byte for each."""
        return self._many("prefix", lib.deja_filter_prefix_batch, beginnings, mark)

    def prefix(self, beginning: Key) -> bool:
        """Was anything added that is, or lies under, this beginning of a URL (kind layered)?"""
        return bool(self.prefix_many([beginning])[0])

    def count_many(self, keys: Keys, *, mark: bytes = b"\n") -> "array[int]":
        """How many times each key was added, as an array of 64-bit numbers."""
        counts, answers, error = array("Q"), (ctypes.c_uint64 * PORTION)(), _lib.Error()
        for lines, n, widths in self._portions(keys, mark):
            with self._gate.beside():
                status = lib.deja_filter_count_batch(self._alive(), lines, n, answers, byref(error))
            self._refuse(status, error)
            told = iter(answers[:n])
            counts.extend(told if widths is None else (next(told) if width else 0 for width in widths))
        return counts

    def _many(self, verb: str, call: Any, keys: Keys, mark: bytes) -> bytes:
        """A call that gives 0 or 1 for each key, portion after portion."""
        writes = verb in ("add", "remove")
        answers, done = ctypes.create_string_buffer(PORTION), ctypes.c_size_t()
        error = _lib.Error()
        more = (byref(done), byref(error)) if writes else (byref(error),) if verb == "prefix" else ()
        parts: list[bytes] = []
        for lines, n, widths in self._portions(keys, mark, look_up=verb == "contains"):
            with self._gate.beside():
                handle = self._to_write() if writes else self._alive()
                status = call(handle, lines, n, answers, *more)
                if _guarded and not writes:
                    self._vouch()
            if status:  # contains has none
                taken = done.value if widths is None else _keys_of(done.value, widths)
                self._refuse(status, error, sum(map(len, parts)) + taken)
            if verb == "add" and self._room is not None:
                self._watch(ctypes.string_at(answers, n).count(1), 4)
            parts.append(for_each_key(ctypes.string_at(answers, n), widths))
        return b"".join(parts)

    def _portions(self, keys: Keys, mark: bytes, look_up: bool = False) -> Iterator[Portion]:
        given = batches(keys, mark)
        if self._rules is None:
            return ((lines, n, None) for lines, n in given)
        return self._rules._portions(given, self._account, look_up)

    def set_clock(self, seconds: int) -> None:
        """The time, in seconds since 1970, that a window by time goes by; 0: the system's clock."""
        seconds = whole("seconds", seconds, most_of(ctypes.c_uint64), least=0)
        with self._gate.alone():
            self._refuse(lib.deja_filter_set_clock(self._alive(), seconds, self._error), self._error)

    def _refuse(self, status: int, error: _lib.Error, done: int = 0) -> None:
        """Raise unless the status is DEJA_OK; `done` keys were taken before."""
        try:
            check(status, error, self._path or "")
        except FullError as full:
            full.done = done
            raise

    # --- The whole filter ---

    def stats(self, body: bool = True) -> Stats:
        """What is in it and what it costs.  Reads the whole filter once; with body=False it takes no
        time, and what only the bits can tell is missing (see Stats)."""
        with self._gate.alone():
            return self._stats(body)

    def _stats(self, body: bool = False) -> Stats:
        numbers, error = _lib.Stats(), _lib.Error()
        check(lib.deja_filter_stats(self._alive(), _lib.STATS_BODY if body else 0, byref(numbers), byref(error)),
              error, self._path or "")
        return Stats._of(numbers)

    def layer(self, number: int) -> Layer:
        """One layer of a layered filter: 1 to stats().layers, or 0 for the one of whole keys."""
        numbers, number = _lib.Layer(), whole("number", number, most_of(ctypes.c_uint32), least=0)
        with self._gate.alone():
            self._refuse(lib.deja_filter_layer(self._alive(), number, byref(numbers), self._error), self._error)
        return Layer._of(numbers)

    def vouch(self) -> None:
        """Return if the answers so far came from the whole file; FileError if it was cut short
        meanwhile, which is noticed after guard_files()."""
        with self._gate.lock:
            self._vouch()

    def _vouch(self) -> None:
        error = _lib.Error()
        check(lib.deja_filter_check_file(self._alive(), byref(error)), error, self._path or "")

    def rotate(self, *, capacity: Optional[float] = None, fp_rate: Optional[float] = None,
               memory: Optional[float] = None) -> None:
        """Begin the next visit: empty, with other hashes, so that what this visit lost by a false
        positive is found in the next.  Sized from the keys of this visit unless told otherwise."""
        following = make_options(capacity=capacity, fp_rate=fp_rate, memory=memory)
        following.kind = 0  # as it is
        self._whole(lib.deja_filter_rotate, byref(following))

    def fold(self, times: int = 1) -> None:
        """Halve it, so many times, at the price of a higher rate."""
        self._whole(lib.deja_filter_fold, whole("times", times, most_of(ctypes.c_uint32)))

    def _whole(self, call: Any, argument: Any) -> None:
        error = _lib.Error()
        with self._gate.alone():
            handle = self._to_write()
            check(call(handle, argument, byref(error)), error, self._path or "")
            self._look_at_room(self._stats())

    def merge(self, other: "Filter") -> None:
        """Add everything that is in another filter, made with the same sizes and secret key."""
        error = _lib.Error()
        _must_be_filter(other)
        with both_alone(self._gate, other._gate):
            handle = self._to_write()
            check(lib.deja_filter_merge(handle, other._alive(), byref(error)), error, self._path or "")

    def common(self, other: "Filter") -> tuple[float, float]:
        """About how many keys are in both, and the standard deviation of that."""
        keys, sigma, error = ctypes.c_double(), ctypes.c_double(), _lib.Error()
        _must_be_filter(other)
        with both_alone(self._gate, other._gate):
            check(lib.deja_filter_overlap(self._alive(), other._alive(), byref(keys), byref(sigma), byref(error)),
                  error)
        return keys.value, sigma.value

    def copy(self, path: Path, *, replace: bool = False, permissions: Optional[int] = None) -> "Filter":
        """A copy in a new file: same secret key, same counts; permissions as for Filter."""
        copy = self._blank(path, self._rules, self._has_key)
        error, out = _lib.Error(), ctypes.c_void_p()
        flags = _place(copy._path, replace, permissions)
        with self._gate.alone():
            check(lib.deja_filter_copy(self._alive(), copy._encoded_path(), flags, byref(out), byref(error)),
                  error, copy._path or "")
        copy._handle = out.value
        copy.sync()
        return copy

    # --- Its bytes ---

    def to_bytes(self) -> bytes:
        """What the file of this filter would hold, to be sent elsewhere or kept in another store;
        Filter.from_bytes makes a filter of it again."""
        room, parts = ctypes.create_string_buffer(PIECE), [b""]
        with self._gate.alone():
            while len(parts) == 1 or parts[-1]:
                parts.append(self._piece((len(parts) - 1) * PIECE, room))
        return b"".join(parts)

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """The same in pieces, for large ones.  A filter that changes before the last one was taken
        gives bytes that nobody will accept."""
        return self._pieces(whole("size", size, MOST_PIECE))

    def _pieces(self, size: int) -> Iterator[bytes]:
        room, at = ctypes.create_string_buffer(size), 0
        while True:
            with self._gate.alone():
                piece = self._piece(at, room)
            if not piece:
                return
            yield piece
            at += len(piece)

    def _piece(self, at: int, room: "ctypes.Array[ctypes.c_char]") -> bytes:
        n = lib.deja_filter_export(self._alive(), at, room, len(room))
        if _guarded:
            self._vouch()
        return ctypes.string_at(room, n)


if Filter.__doc__:  # python -OO has none
    Filter.__doc__ = Filter.__doc__.replace("{options}", describe())


def _must_be_filter(other: Any) -> None:
    if not isinstance(other, Filter):
        raise TypeError(f"the other one is a deja.Filter, not {type(other).__name__}")


def _import_pieces(pieces: Iterable[bytes], expect: _lib.Options, out: ctypes.c_void_p) -> None:
    error, under_way = _lib.Error(), ctypes.c_void_p()
    check(lib.deja_import_new(0, byref(expect), byref(under_way), byref(error)), error)
    try:
        for piece in pieces:
            with Held(piece) as text:
                check(lib.deja_import_write(under_way, text.data, text.len, byref(error)), error)
        check(lib.deja_import_finish(under_way, byref(out), byref(error)), error)
    finally:
        lib.deja_import_free(under_way)


def _keys_of(slices: int, widths: list[int]) -> int:
    """How many keys have their slices among the first so many."""
    total = 0
    for i, width in enumerate(widths):
        total += width
        if total > slices:
            return i
    return len(widths)


def _reader(path: str, rules: Optional[Rules]) -> Filter:
    return Filter(path, mode="r", url=rules)


_all: "weakref.WeakSet[Filter]" = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_all):
        one._after_fork()


os.register_at_fork(after_in_child=_after_fork)
