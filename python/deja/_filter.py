"""Filter: the library's deja_filter as a Python object.

Threads.  The library lets add, remove, contains and count run together on one filter, and wants
every other call to have the filter to itself.  So there is a lock in each Filter:

    one key         under the lock.  The interpreter's own lock is let go in the call, but the
                    next call on this filter waits: it lasts less than taking turns would.
    a portion of    beside others: it counts itself in and out under the lock, and runs without,
    many keys       so that several threads fill one filter at the same time.
    anything else   under the lock, after the portions under way have counted themselves out.
"""

from __future__ import annotations

import ctypes
import errno
import os
import threading
from array import array
from contextlib import contextmanager
from ctypes import byref
from typing import Any, Iterator, Optional, Union

from . import _lib
from ._errors import FileMissingError, FileThereError, FullError, ReadOnlyError, UnsupportedError, check, fail
from ._keys import PORTION, Key, Keys, batches, key_bytes
from ._lib import lib
from ._records import Plan, Stats
from ._url import Account, Rules, rules_of

Path = Union[str, bytes, "os.PathLike[str]", "os.PathLike[bytes]"]
URL = Union[str, Rules, None]


# --- Options ----------------------------------------------------------------------


def _number(parse: Any, what: str, name: Optional[str]) -> int:
    if name is None:
        return 0
    number = parse(name.encode())
    if not number:
        fail(_lib.EINVAL, f"there is no {what} {name!r}")
    return int(number)


def _checked(key: bytes) -> bytes:
    if len(key) != _lib.KEY_LEN:
        fail(_lib.EINVAL, f"key has {len(key)} bytes; a secret key has {_lib.KEY_LEN}")
    return bytes(key)


_FLAGS = {"minimal_increase": _lib.MINIMAL_INCREASE, "layered_paper": _lib.LAYERED_PAPER,
          "layered_words": _lib.LAYERED_WORDS}
_DEMANDS = ("hash", "seed", "url", "counter_bits", "generations", "window_seconds", "layers", "delimiter")


def make_options(
    *,
    capacity: Optional[float] = None,
    fp_rate: Optional[float] = None,
    kind: Optional[str] = None,
    memory: Optional[int] = None,
    hashes: Optional[int] = None,
    filters: Optional[int] = None,
    hash: Optional[str] = None,
    key: Optional[bytes] = None,
    seed: Optional[int] = None,
    rules: Optional[Rules] = None,
    **others: Any,
) -> _lib.Options:
    """deja_options from what the constructors take; `others` are fields by their name in deja.h."""
    if kind is None and capacity is None and memory is None:
        kind = "scalable"  # as the command does: nobody knows how many will come
    flags = _lib.KEY_APART if key is not None else 0
    for name, flag in _FLAGS.items():
        if others.pop(name, False):
            flags |= flag
    if isinstance(others.get("part_kind"), str):
        others["part_kind"] = _number(lib.deja_kind_parse, "kind", others["part_kind"])
    unknown = set(others) - {name for name, _ in _lib.Options._fields_[1:]}
    if unknown:
        raise TypeError(f"a filter has no option {', '.join(sorted(unknown))}")
    options = _lib.Options(
        kind=_number(lib.deja_kind_parse, "kind", kind), hash=_number(lib.deja_hash_parse, "hash", hash),
        capacity=int(capacity or 0), fp_rate=fp_rate or 0.0, memory=int(memory or 0), hashes=hashes or 0,
        filters=filters or 0, seed=seed or 0, flags=flags,
        url=rules._handle if rules else None, **others,
    )
    if key is not None:
        options.take_key(_checked(key))
    return options


_WHO_CAN = {"remove": "kinds spectral and paired", "count": "kind spectral", "prefix": "kind layered",
            "set_clock": "kind window"}


def plan(**options: Any) -> Plan:
    """What a filter of these options comes to (capacity=, fp_rate=, kind=, memory= ...), without
    making it.

    >>> plan(capacity=1e9, fp_rate=0.01).bytes
    1238534336
    """
    error, numbers = _lib.Error(), _lib.Plan()
    check(lib.deja_plan_make(byref(make_options(**options)), byref(numbers), byref(error)), error)
    return Plan._of(numbers)


def _place(path: Optional[str], replace: bool) -> int:
    """Flags for a new file; an old one of that name is in the way unless it is to be replaced."""
    if path is not None and not replace and os.path.lexists(path):
        error = FileThereError(f"{path} exists already")
        error.status, error.errno = _lib.EINVAL, errno.EEXIST
        raise error
    return _lib.CREATE_REPLACE if replace else 0


def verify(path: Path) -> None:
    """Read the whole file and compare its checksums.

    Returns when it is sound.  FormatError names the damage; BusyError says that the file was
    not synced after its last add, so that no checksum can vouch for it."""
    error = _lib.Error()
    check(lib.deja_file_verify(os.fsencode(path), byref(error)), error, os.fsdecode(path))


# --- One filter and its threads ---------------------------------------------------


class _Gate:
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


class Filter:
    """A set of keys in little memory, that may claim one it has not, at a rate you choose.

    Filter() and Filter(capacity=...) live in memory; Filter(path) is a `.deja` file, which is
    created when it is not there.

    path      the file, mapped into memory and shared with every process that has it open.
    mode      "a": open for adding, or create (the default);  "r": an existing file, for asking
              only;  "x": create, and fail if it is there;  "w": create in its place.
    capacity  how many keys are expected.  Without it, and without memory, the filter grows.
    fp_rate   how often it may be wrong about a key it has not, at capacity; 1e-6 by default.
    kind      "blocked" (default with a capacity), "scalable" (without), "classic", "exact",
              "spectral" ...: docs/kinds.md has them all.
    memory    bytes for it, where the size matters and one of the other two should follow.
    key       32 secret bytes that stay out of the file; by default they are random and in it.
    seed      an int instead of a secret: the same filter in every run.
    url       compare canonical URLs: "safe", "crawl", "gsb", "scrapy", or Rules(...).
              A file knows its profile and need not be told again.
    others    hashes=, filters=, hash=, growth=, counter_bits= ...: the fields of deja_options.

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
                 fp_rate: Optional[float] = None, kind: Optional[str] = None, memory: Optional[int] = None,
                 key: Optional[bytes] = None, seed: Optional[int] = None, url: URL = None,
                 **others: Any) -> None:
        self._begin(path, None if url is None else rules_of(url), key is not None)
        if mode not in ("a", "r", "x", "w"):
            fail(_lib.EINVAL, f'mode is "a", "r", "x" or "w", not {mode!r}')
        if path is None and mode != "a":
            fail(_lib.EINVAL, f"mode {mode!r} is for files, and there is no path")
        given: dict[str, Any] = {
            "capacity": capacity, "fp_rate": fp_rate, "kind": kind, "memory": memory, "key": key,
            "seed": seed, "rules": self._rules, **others}
        options = make_options(**given)
        if mode in ("a", "r") and path is not None:
            # What is left to a default is no demand on a file that is there.
            expect = _lib.Options(kind=options.kind if kind else 0, key=options.key,
                                  flags=options.flags & (_lib.LAYERED_PAPER | _lib.LAYERED_WORDS),
                                  **{name: getattr(options, name) for name in _DEMANDS})
            try:
                self._open(expect, mode)
                return
            except FileMissingError:
                if mode == "r":
                    raise
        self._create(options, mode)

    def _begin(self, path: Optional[Path], rules: Optional[Rules], has_key: bool) -> None:
        self._handle: Optional[int] = None
        self._gate = _Gate()
        self._account = Account()
        self._path = None if path is None else os.fsdecode(path)
        self._rules = rules
        self._has_key = has_key
        self._writable = True

    def _open(self, expect: _lib.Options, mode: str) -> None:
        error, out = _lib.Error(), ctypes.c_void_p()
        self._writable = mode != "r"
        flags = _lib.OPEN_WRITE if self._writable else 0
        check(lib.deja_filter_open(self._encoded_path(), flags, byref(expect), byref(out), byref(error)),
              error, self._path or "")
        self._handle = out.value
        try:
            self._adopt_profile()
        except BaseException:
            self._free()
            raise

    def _adopt_profile(self) -> None:
        """The rules of a file that has them, when none were asked for."""
        profile = lib.deja_filter_profile(self._handle)
        if not profile or self._rules:
            return
        rules = rules_of(lib.deja_profile_name(profile).decode())
        if self._stats().url_rules != rules.id:
            fail(_lib.EMISMATCH, f"{self._path}: its URLs follow other rules than profile {rules.profile} as it "
                 f"comes; give url=Rules({rules.profile!r}, drop=..., keep=...) as it was made")
        self._rules = rules

    def _create(self, options: _lib.Options, mode: str) -> None:
        error, out = _lib.Error(), ctypes.c_void_p()
        if self._path is None:
            check(lib.deja_filter_new(byref(options), byref(out), byref(error)), error)
            self._handle = out.value
            return
        flags = _place(self._path, mode == "w")
        check(lib.deja_filter_create(self._encoded_path(), flags, byref(options), byref(out), byref(error)),
              error, self._path)
        self._handle = out.value
        self.sync()  # from now on it has its name

    @classmethod
    def build(cls, keys: Keys, path: Optional[Path] = None, *, mark: bytes = b"\n", replace: bool = False,
              url: URL = None, **options: Any) -> "Filter":
        """A static filter, the smallest, of keys that are complete: nothing can be added to it.

        keys as for add_many; fp_rate= or fingerprint_bits= choose how often it may be wrong, path
        puts it into a new file (replace: also in the place of an old one)."""
        self = cls.__new__(cls)
        self._begin(path, None if url is None else rules_of(url), options.get("key") is not None)
        options = {"kind": "static", **options}
        flags = _place(self._path, replace)
        error, builder, out = _lib.Error(), ctypes.c_void_p(), ctypes.c_void_p()
        chosen = make_options(rules=self._rules, **options)
        check(lib.deja_builder_new(byref(chosen), byref(builder), byref(error)), error)
        try:
            for lines, n in self._batches(keys, mark):
                check(lib.deja_builder_add_batch(builder, lines, n))
            encoded = None if self._path is None else self._encoded_path()
            check(lib.deja_builder_finish(builder, encoded, flags, byref(out), byref(error)), error, self._path or "")
        finally:
            lib.deja_builder_free(builder)
        self._handle = out.value
        if self._path is not None:
            self.sync()
        return self

    # --- Life ---

    def _encoded_path(self) -> bytes:
        assert self._path is not None
        return os.fsencode(self._path)

    def _alive(self) -> int:
        if self._handle is None:
            raise ValueError("the filter is closed")
        return self._handle

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
        if self._path is None:
            raise TypeError("a filter in memory cannot be pickled; one in a file can: Filter(path, ...)")
        if self._has_key:
            raise TypeError("the key of this filter stays out of its file, and so out of a pickle; "
                            "open it there with key=")
        if self._writable and self._handle is not None:
            self.sync()  # a file that was never synced has no name yet
        return _reader, (os.path.abspath(self._path),)

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else repr(self._path)
        return f"<deja.Filter {where}{', closed' if self.closed else '' if self._writable else ', for reading'}>"

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
            self._account.not_urls += 1
            if self._rules.profile == "gsb":
                return None
        return form

    def add(self, key: Key) -> bool:
        """Add a key; True when it was new."""
        data = self._key(key)
        if data is None:
            return False
        is_new = ctypes.c_bool()
        with self._gate.lock:
            status = lib.deja_filter_add(self._alive(), _lib.Key(data, len(data)), byref(is_new))
        if status != _lib.OK:
            self._refuse(status, "add")
        return is_new.value

    def __contains__(self, key: Key) -> bool:
        """Whether the key was added.  Yes may be wrong, at the filter's rate; no never is."""
        data = key_bytes(key)
        questions = [data] if self._rules is None else self._rules._questions(data)
        with self._gate.lock:
            handle = self._alive()
            return any(lib.deja_filter_contains(handle, _lib.Key(one, len(one))) for one in questions)

    def remove(self, key: Key) -> bool:
        """Take one add of the key back (kinds spectral and paired); False when it is not there.

        Remove only what was added: in spectral, taking out a false positive takes from other keys;
        in paired, what is removed stays out for good.  docs/kinds.md has the limits."""
        data = self._key(key)
        if data is None:
            return False
        removed = ctypes.c_bool()
        with self._gate.lock:
            status = lib.deja_filter_remove(self._alive(), _lib.Key(data, len(data)), byref(removed))
        if status != _lib.OK:
            self._refuse(status, "remove")
        return removed.value

    def count(self, key: Key) -> int:
        """How often the key was added and not removed, or more (kind spectral)."""
        data = self._key(key)
        if data is None:
            return 0
        count = ctypes.c_uint64()
        with self._gate.lock:
            status = lib.deja_filter_count(self._alive(), _lib.Key(data, len(data)), byref(count))
        if status != _lib.OK:
            self._refuse(status, "count")
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
        if self._is_gsb():
            return bytes([self.add(key) for key in _single(keys, mark)])
        answers, done = ctypes.create_string_buffer(PORTION), ctypes.c_size_t()
        parts, before = [], 0
        for lines, n in self._batches(keys, mark):
            with self._gate.beside():
                status = lib.deja_filter_add_batch(self._alive(), lines, n, answers, byref(done))
            if status != _lib.OK:
                self._refuse(status, "add", before + done.value)
            parts.append(ctypes.string_at(answers, n))
            before += n
        return b"".join(parts)

    def contains_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Ask about keys, as add_many takes them; a byte for each: 1 when it is in, 0 when not."""
        if self._is_gsb():
            return bytes([key in self for key in _single(keys, mark)])
        answers = ctypes.create_string_buffer(PORTION)
        parts = []
        for lines, n in self._batches(keys, mark):
            with self._gate.beside():
                lib.deja_filter_contains_batch(self._alive(), lines, n, answers)
            parts.append(ctypes.string_at(answers, n))
        return b"".join(parts)

    def remove_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Take one add of each key back; a byte for each: 1 when it was there."""
        if self._is_gsb():
            return bytes([self.remove(key) for key in _single(keys, mark)])
        answers = ctypes.create_string_buffer(PORTION)
        parts = []
        for lines, n in self._batches(keys, mark):
            with self._gate.beside():
                status = lib.deja_filter_remove_batch(self._alive(), lines, n, answers, None)
            if status != _lib.OK:
                self._refuse(status, "remove")
            parts.append(ctypes.string_at(answers, n))
        return b"".join(parts)

    def count_many(self, keys: Keys, *, mark: bytes = b"\n") -> "array[int]":
        """How often each key was added, as an array of 32-bit numbers."""
        counts = array("I")
        if self._is_gsb():
            counts.extend(self.count(key) for key in _single(keys, mark))
            return counts
        answers = (ctypes.c_uint32 * PORTION)()
        for lines, n in self._batches(keys, mark):
            with self._gate.beside():
                status = lib.deja_filter_count_batch(self._alive(), lines, n, answers)
            if status != _lib.OK:
                self._refuse(status, "count")
            counts.extend(answers[:n])
        return counts

    def prefix(self, beginning: Key) -> bool:
        """Was anything added that is, or lies under, this beginning of a URL (kind layered)?"""
        return bool(self.prefix_many([beginning])[0])

    def prefix_many(self, beginnings: Keys, *, mark: bytes = b"\n") -> bytes:
        """The same for many; a byte for each."""
        answers = ctypes.create_string_buffer(PORTION)
        parts = []
        for lines, n in self._batches(beginnings, mark):
            with self._gate.beside():
                status = lib.deja_filter_prefix_batch(self._alive(), lines, n, answers)
            if status != _lib.OK:
                self._refuse(status, "prefix")
            parts.append(ctypes.string_at(answers, n))
        return b"".join(parts)

    def set_clock(self, seconds: int) -> None:
        """The time, in seconds since 1970, that a window by time goes by; 0: the system's clock."""
        with self._gate.alone():
            status = lib.deja_filter_set_clock(self._alive(), seconds)
            if status != _lib.OK:
                self._refuse(status, "set_clock")

    def _is_gsb(self) -> bool:
        """A URL is then one key when it is added and several when it is looked up."""
        return self._rules is not None and self._rules.profile == "gsb"

    def _batches(self, keys: Keys, mark: bytes) -> Iterator[Any]:
        given = batches(keys, mark)
        return given if self._rules is None else self._rules._batches(given, self._account)

    def _refuse(self, status: int, verb: str, done: int = 0) -> None:
        """Raise for a call that tells a status only, with the words for it."""
        where = f"{self._path}: " if self._path else ""
        if status == _lib.EINVAL and not self._writable:
            error: Exception = ReadOnlyError(f"{where}opened for reading (mode=\"r\")")
        elif status == _lib.ENOTSUP:
            kind = self.stats().kind
            if verb == "add":
                text = f"{kind} filters are complete when they are made (Filter.build)"
            else:
                text = f"kind {kind} as it is here cannot {verb}; {_WHO_CAN[verb]} can"
            error = UnsupportedError(where + text)
        elif status == _lib.EFULL:
            error = FullError(f"{where}the filter is full, and the key was not added; kind scalable grows")
            error.done = done
        else:
            fail(status)
        error.status = status  # type: ignore[attr-defined]
        raise error

    # --- The whole filter ---

    def stats(self) -> Stats:
        """What is in it and what it costs.  Reads the whole filter once."""
        with self._gate.alone():
            return self._stats()

    def _stats(self) -> Stats:
        numbers = _lib.Stats()
        check(lib.deja_filter_stats(self._alive(), byref(numbers)))
        return Stats._of(numbers)

    def rotate(self, *, capacity: Optional[float] = None, fp_rate: Optional[float] = None,
               memory: Optional[int] = None) -> None:
        """Begin the next visit: empty, with other hashes, so that what this visit lost by a false
        positive is found in the next.  Sized from the keys of this visit unless told otherwise."""
        following = _lib.Options(capacity=int(capacity or 0), fp_rate=fp_rate or 0.0, memory=int(memory or 0))
        self._whole(lib.deja_filter_rotate, byref(following))

    def fold(self, times: int = 1) -> None:
        """Halve it, so many times, at the price of a higher rate."""
        self._whole(lib.deja_filter_fold, times)

    def _whole(self, call: Any, argument: Any) -> None:
        error = _lib.Error()
        with self._gate.alone():
            if not self._writable:
                self._refuse(_lib.EINVAL, "change")
            check(call(self._alive(), argument, byref(error)), error, self._path or "")

    def merge(self, other: "Filter") -> None:
        """Add everything that is in another filter, made with the same sizes and secret key."""
        error = _lib.Error()
        with _both(self, other):
            if not self._writable:
                self._refuse(_lib.EINVAL, "merge")
            check(lib.deja_filter_merge(self._alive(), other._alive(), byref(error)), error, self._path or "")

    def common(self, other: "Filter") -> tuple[float, float]:
        """About how many keys are in both, and the standard deviation of that."""
        keys, sigma, error = ctypes.c_double(), ctypes.c_double(), _lib.Error()
        with _both(self, other):
            check(lib.deja_filter_common(self._alive(), other._alive(), byref(keys), byref(sigma), byref(error)),
                  error)
        return keys.value, sigma.value

    def copy(self, path: Path, *, replace: bool = False) -> "Filter":
        """A copy in a new file: same secret key, same counts."""
        copy = type(self).__new__(type(self))
        copy._begin(path, self._rules, self._has_key)
        error, out = _lib.Error(), ctypes.c_void_p()
        flags = _place(copy._path, replace)
        with self._gate.alone():
            check(lib.deja_filter_copy(self._alive(), copy._encoded_path(), flags, byref(out), byref(error)),
                  error, copy._path or "")
        copy._handle = out.value
        copy.sync()
        return copy


def _reader(path: str) -> Filter:
    return Filter(path, mode="r")


@contextmanager
def _both(a: Filter, b: Filter) -> Iterator[None]:
    """Two filters alone, always in the same order: two threads cannot wait for each other."""
    first, second = sorted((a, b), key=id)
    with first._gate.alone(), second._gate.alone():
        yield


def _single(keys: Keys, mark: bytes) -> Iterator[Key]:
    """The same keys one by one, for what the library does not do in batches."""
    for lines, n in batches(keys, mark):
        for i in range(n):
            yield ctypes.string_at(lines[i].data, lines[i].len)
