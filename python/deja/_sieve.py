"""Sieve: the library's deja_sieve as a Python object.

Calls go through ctypes.  The library allows one call on a sieve at a time, so every call is
exclusive (_gate.py), and none works in a signal handler that interrupted another.
"""

from __future__ import annotations

import ctypes
import enum
from ctypes import byref
from typing import Any, Iterable, Iterator, NamedTuple, Optional, Union

from . import _lib
from ._checks import most_of, size, whole
from ._errors import Error, call, check, fail
from ._files import Path
from ._keys import Key, Keys, batches, is_buffer, key_bytes
from ._lib import lib
from ._options import secret
from ._owner import URL, Owner, both_alone
from ._records import SievePlan, SieveStats

_MOST = most_of(ctypes.c_uint64)
_AT_ONCE = _lib.SIEVE_BATCH // 4  # keys per judge, so that a full sieve has judged as many as possible
_PRINT = ctypes.sizeof(_lib.Fingerprint)
_SLICE = ctypes.sizeof(_lib.Slice)


class Verdict(enum.IntEnum):
    """What a sieve says of a key.  Only NEW is true: `if sieve.add(url):` handles a new key."""

    SEEN = _lib.SIEVE_SEEN
    NEW = _lib.SIEVE_NEW
    PENDING = _lib.SIEVE_PENDING  # settle() decides it

    def __bool__(self) -> bool:
        return self is Verdict.NEW


class Settled(NamedTuple):
    """A key that waited; see Sieve.settle()."""

    record: bytes
    is_new: bool  # it comes late, but is not lost


def _options(memory: Union[float, str, None], key: Optional[bytes] = None,
             seed: Optional[int] = None) -> _lib.SieveOptions:
    options = _lib.SieveOptions()
    if memory is not None:
        options.memory = size("memory", memory)
    if seed is not None:
        options.seed = whole("seed", seed, _MOST)
    if key is not None:
        options.take_key(secret(key))
        options.flags = _lib.KEY_APART
    return options


class Sieve(Owner):
    """Tells new keys from seen ones with certainty, in fixed memory, however many keys there are.

    Sieve(path) opens the sieve in the directory `path`, or creates one.

    mode         "a": open for adding, or create (the default);  "r": open for reading
    memory       bytes for everything, as a number or text ("512M"); 256 MiB by default, at least 1 MiB.
                 It can be different each time.
    key, seed    as for Filter
    url          compare keys as URLs, by a profile or Rules; not "gsb"

    A key is new, seen or pending.  A pending key waits, with its record, until settle() decides it.
    A key is recorded by commit(), which you call after you have handled the new keys, for example
    written their lines to a file.  Until then, a crash makes them new again, so none is lost.

    >>> with Sieve("pages.sieve") as pages:
    ...     for url in ["http://a.example/", "http://b.example/", "http://a.example/"]:
    ...         if pages.add(url):
    ...             print(url)
    ...     pages.commit()
    ...     for record, is_new in pages.settle():
    ...         if is_new:
    ...             print(record.decode(), "came late")
    ...     pages.commit()
    http://a.example/
    http://b.example/

    Any number of threads can use one Sieve; their calls wait for each other.  One process can write
    a sieve (BusyError); others can read it, and see the keys that were recorded when they opened it.
    """

    _what = "sieve"

    def __init__(self, path: Path, *, mode: str = "a", memory: Union[float, str, None] = None,
                 key: Optional[bytes] = None, seed: Optional[int] = None, url: URL = None) -> None:
        self._begin(path, url, key is not None)
        self._returning = False  # settle() has decided keys and must return the rest
        if mode not in ("a", "r"):
            fail(_lib.EINVAL, f'mode must be "a" or "r", not {mode!r}')
        self._writable = mode == "a"
        options = _options(memory, key, seed)
        options.url = self._rules._handle if self._rules else None
        self._refuse_block_list()
        self._handle = self._accepted(options, lib.deja_sieve_open, self._encoded_path(),
                                      _lib.OPEN_CREATE if self._writable else 0)
        try:
            known = self._stats()
            self._adopt_rules(known.profile, known.url_rules)
            self._refuse_block_list()
        except BaseException:
            self._free()
            raise

    def _refuse_block_list(self) -> None:
        if self._rules and self._rules.is_block_list:
            fail(_lib.EINVAL, f"{self._path}: a block list (url=\"gsb\") needs a Filter: a sieve looks up whole URLs")

    def _free(self) -> None:
        handle, self._handle = self._handle, None
        lib.deja_sieve_free(handle)

    def _alive(self) -> int:
        if self._inherited:
            fail(_lib.EINVAL, f"{self._path} was opened before a fork: open it again in this process, "
                 'with mode="r" while the parent writes it')
        return super()._alive()

    def _after_fork(self) -> None:
        """In the child: the thread that merges runs does not exist here, so nothing can be called."""
        super()._after_fork()
        self._inherited = self._inherited or self._handle is not None
        self._handle = None

    def close(self) -> None:
        """Save and close the sieve, without a commit; it is closed even if saving fails.

        Keys that were not committed will be new again.  Pending keys wait for the next writer.
        """
        with self._alone():
            if self._handle is None:
                return
            try:
                if self._writable:
                    call(lib.deja_sieve_save, self._handle, what=self._name)
            finally:
                self._free()

    def __reduce__(self) -> Any:
        raise TypeError('a sieve cannot be pickled: it has one writer; open it with mode="r" in the other process')

    def __repr__(self) -> str:
        state = ", closed" if self.closed else "" if self._writable else ", for reading"
        return f"<deja.Sieve {self._path!r}{state}>"

    # --- Keys ---

    def add(self, key: Key, record: Optional[Key] = None) -> Verdict:
        """Judge a key, a str or bytes: Verdict.NEW, SEEN or PENDING.

        After NEW, later adds of the key return SEEN, even before the commit.  For a PENDING key,
        settle() returns the record, by default the key as given, encoded as UTF-8.  The record is on disk when
        the call returns and survives a kill.

        FullError: there is no room for more keys that are not committed or not settled.
        """
        given = key_bytes(key)
        kept = given if record is None else key_bytes(record)
        form = self._form(given)
        prints, verdict, error = _lib.Fingerprint(), ctypes.c_uint8(), _lib.Error()
        with self._alone():
            handle = self._to_write()
            lib.deja_sieve_hash_batch(handle, byref(_lib.Key(form, len(form))), 1, byref(prints))
            status = lib.deja_sieve_judge(handle, byref(prints), 1, None, byref(_lib.Key(kept, len(kept))),
                                          byref(verdict), byref(error))
        check(status, error, self._name)
        return Verdict(verdict.value)

    def add_many(self, keys: Keys, records: Optional[Iterable[Key]] = None, *, mark: bytes = b"\n") -> bytes:
        """Judge many keys; return one byte per key, in order: a Verdict.

        The keys are an iterable, or one buffer of lines, as for Filter.add_many.  `records` has a
        record for each key of an iterable; the default is the key.

        If the call fails, `error.done` is how many keys were judged before, and `error.answers` has
        their verdicts.  FullError: handle these keys, commit, settle, and continue with keys[error.done:].
        """
        if not isinstance(keys, str) and not is_buffer(keys):
            keys = list(map(key_bytes, keys))  # type: ignore[arg-type]  # all, before one is judged
        held = None if records is None else self._records(keys, records)
        parts: list[bytes] = []
        at = 0 if held is None else ctypes.addressof(held)
        for forms, lines, n in self._forms(keys, mark):
            self._judge(forms, at or lines, n, parts)
            at += n * _SLICE if at else 0
        return b"".join(parts)

    def _form(self, given: bytes) -> bytes:
        if self._rules is None:
            return given
        status, form = self._rules._key(given)
        self._account.add(status != _lib.OK)
        return form

    @staticmethod
    def _records(keys: Any, records: Iterable[Key]) -> Any:
        if not isinstance(keys, list):
            fail(_lib.EINVAL, "records= needs an iterable of keys, not a buffer of lines")
        given = [key_bytes(record) for record in records]
        if len(given) != len(keys):
            fail(_lib.EINVAL, f"there are {len(given)} records for {len(keys)} keys")
        return (_lib.Key * len(given))(*[_lib.Key(record, len(record)) for record in given])

    def _forms(self, keys: Keys, mark: bytes) -> Iterator[tuple[Any, int, int]]:
        """Yield keys in portions: their canonical forms, the address of the slices as given, and how many."""
        for lines, n in batches(keys, mark):
            at = ctypes.addressof(lines)
            if self._rules is None:
                yield lines, at, n
                continue
            for forms, some, _ in self._rules._portions(iter([(lines, n)]), self._account, False):
                yield forms, at, some
                at += some * _SLICE

    def _judge(self, forms: Any, records: int, n: int, parts: list[bytes]) -> None:
        """Judge a portion, with the slices at this address as records; add its verdicts to `parts`, even on failure."""
        prints, verdicts, error = (_lib.Fingerprint * n)(), (ctypes.c_uint8 * n)(), _lib.Error()
        done, status = 0, _lib.OK
        with self._alone():
            handle = self._to_write()
            lib.deja_sieve_hash_batch(handle, forms, n, prints)
            while done < n and not status:
                some = min(n - done, _AT_ONCE)
                status = lib.deja_sieve_judge(handle, byref(prints, done * _PRINT), some, None,
                                              records + done * _SLICE, byref(verdicts, done), byref(error))
                done += 0 if status else some
        parts.append(bytes(verdicts[:done]))
        try:
            check(status, error, self._name)
        except Error as failed:
            failed.answers = b"".join(parts)
            failed.done = len(failed.answers)
            raise

    def __contains__(self, key: Key) -> bool:
        """Return whether a key is recorded or was judged new, exactly.  Reads a block of each run that may have it."""
        return bool(self.contains_many([key])[0])

    def contains_many(self, keys: Keys, *, mark: bytes = b"\n") -> bytes:
        """Look up many keys, exactly, in one pass; return 1 per key that is found, otherwise 0.

        A key is found if it is recorded or was judged new.  A pending key is found only if it was
        recorded before.  The call takes 32 bytes per key, beyond the memory of the sieve.
        """
        prints, at_once = bytearray(), (_lib.Fingerprint * 0)()
        for forms, _, n in self._forms(keys, mark):
            if n > len(at_once):
                at_once = (_lib.Fingerprint * n)()
            with self._alone():
                lib.deja_sieve_hash_batch(self._alive(), forms, n, at_once)
            prints += memoryview(at_once).cast("B")[:n * _PRINT]
        n = len(prints) // _PRINT
        found = (ctypes.c_uint8 * n)()
        self._exclusive(lib.deja_sieve_contains, (_lib.Fingerprint * n).from_buffer(prints), n, found)
        return bytes(found)

    # --- Settling ---

    def commit(self) -> None:
        """Record all keys that were reported as new: by add, or by settle() so far.

        Call it after you have handled them.  They then survive a kill, and after sync() a power
        cut.  If it fails (a full disk), some may be recorded already; you can call it again.
        """
        with self._alone():
            call(lib.deja_sieve_commit, self._to_write(), what=self._name)

    def settle(self) -> Iterator[Settled]:
        """Decide all pending keys, in one pass over the runs; return an iterator of Settled(record, is_new).

        They come in the order in which they were added.  Of several adds of one key, at most the
        first is new.  After the last one, call commit(): the next settle needs it.  You can call
        it before, between two keys; then the late keys so far are recorded (after 65,536 late keys,
        FullError asks you to).  If you stop early, the next call of settle() continues.
        """
        with self._alone():
            handle = self._to_write()
            if not self._returning:
                call(lib.deja_sieve_settle, handle, what=self._name)
                self._returning = True
        return iter(self._next_settled, None)

    def _next_settled(self) -> Optional[Settled]:
        """Return the next key; None after the last.

        One by one: a commit records every late key that the library has returned.
        """
        out, n = _lib.Settled(), ctypes.c_size_t()
        with self._alone():
            handle = self._to_write()
            call(lib.deja_sieve_settled, handle, byref(out), 1, byref(n), what=self._name)
            while n.value and out.token == _lib.SIEVE_NO_RECORD:  # an interrupted `deja add` left this key
                call(lib.deja_sieve_settled, handle, byref(out), 1, byref(n), what=self._name)
            if n.value:
                return Settled(out.record.copy(), out.verdict == _lib.SIEVE_NEW)
            self._returning = False
            return None

    # --- The whole sieve ---

    def sync(self) -> None:
        """Make everything that was committed or is pending survive a power cut."""
        with self._alone():
            call(lib.deja_sieve_sync, self._to_write(), what=self._name)

    def stats(self) -> SieveStats:
        """Return what the sieve holds and what it costs."""
        with self._alone():
            return self._stats()

    def _stats(self) -> SieveStats:
        numbers = _lib.SieveStats()
        call(lib.deja_sieve_stats, self._alive(), byref(numbers), what=self._name)
        return SieveStats._of(numbers)

    def merge(self, other: "Sieve") -> None:
        """Add every key that is recorded in another sieve, exactly.  Durable on return.

        Both need the same secret key and URL rules, and neither may have pending or uncommitted keys.
        """
        if not isinstance(other, Sieve):
            raise TypeError(f"the other sieve must be a deja.Sieve, not {type(other).__name__}")
        with both_alone(self, other):
            call(lib.deja_sieve_merge, self._to_write(), other._alive(), what=self._name)

    @staticmethod
    def plan(keys: float, lines: Optional[float] = None, *, memory: Union[float, str, None] = None) -> SievePlan:
        """Predict the costs of a new sieve with this many keys, in `lines` adds (default: each once).

        >>> Sieve.plan(1e9, memory="1G").wait_rate < 0.1
        True
        """
        n, numbers = whole("keys", keys, _MOST, fractions=True), _lib.SievePlan()
        call(lib.deja_sieve_plan, byref(_options(memory)), n,
             n if lines is None else whole("lines", lines, _MOST, fractions=True), byref(numbers))
        return SievePlan._of(numbers)
