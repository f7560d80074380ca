"""Canonical URLs: the profiles of docs/url.md, for one URL or for the keys of a filter.

A gsb filter is a block list, a set of expressions (host/path?query).  Adding a URL adds
its first expression, which is the URL without its scheme; a lookup tries all of them.  A key that is
not a URL has no expressions: it is never added and never found.
"""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref
from typing import Any, Iterable, Iterator, Optional, Union, overload

from . import _lib
from ._checks import flag, most_of, whole, word
from ._errors import check, fail, make
from ._keys import PORTION, Batch, Held, Key, Portion, key_bytes
from ._lib import Slice, lib


class _Rooms(threading.local):
    """Buffers for canonical forms, reused by each thread.

    A signal handler that interrupts a use of the buffer finds none and allocates its own.
    """

    def __init__(self) -> None:
        self.free: list["ctypes.Array[ctypes.c_char]"] = []

    def take(self, size: int) -> "ctypes.Array[ctypes.c_char]":
        room = self.free.pop() if self.free else ctypes.create_string_buffer(4096)
        return room if len(room) >= size else ctypes.create_string_buffer(size)

    def give_back(self, room: "ctypes.Array[ctypes.c_char]") -> None:
        self.free[:] = [room]


_rooms = _Rooms()


def _write(function: Any, size: int, error: Any, *arguments: Any) -> tuple[int, bytes]:
    """Call a function that writes a URL into a buffer of this size; return its status and the URL."""
    room, url = _rooms.take(_lib.url_room(size)), Slice()
    status = function(*arguments, room, len(room), byref(url), error)
    written = url.copy() if status == _lib.OK else b""
    _rooms.give_back(room)
    return status, written


def _names(what: str, names: Iterable[Key]) -> list[bytes]:
    if isinstance(names, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{what} must be a list of names: [{names!r}]")
    return [key_bytes(name) for name in names]


def _slices(keys: list[bytes]) -> tuple[object, int]:
    return (_lib.Key * len(keys))(*[_lib.Key(key, len(key)) for key in keys]), len(keys)


class Rules:
    """The rules of a URL profile: "safe", "crawl", "gsb", "scrapy" or "shape".

    For a profile that drops query parameters (crawl), `drop` adds names to its list and `keep`
    removes names; a name may end in `*`.  With builtin=False, the list is `drop` alone.

    >>> Rules("crawl", drop=["ref"]).canonical("http://a.example/?utm_source=x&ref=y&b=1&a=2")
    'http://a.example/?a=2&b=1'
    """

    def __init__(self, profile: str = "safe", *, drop: Iterable[Key] = (), keep: Iterable[Key] = (),
                 builtin: bool = True) -> None:
        self._own: Optional[int] = None
        self._newer: Optional[Rules] = None
        dropped, kept = _names("drop", drop), _names("keep", keep)
        self._made_of = (profile, dropped, kept, flag("builtin", builtin))
        number = lib.deja_profile_parse(word("profile", profile))
        if not number:
            known: list[bytes] = [*filter(None, map(lib.deja_profile_name, range(_lib.OPTION_CHOICES)))]
            fail(_lib.EINVAL, f"there is no URL profile {profile!r}; use one of {b', '.join(known).decode()}")
        self.profile = profile
        self._number = number
        if not dropped and not kept and builtin:
            self._handle: int = lib.deja_url_profile(number)
            return
        self._handle = self._own = make(lib.deja_url_rules_new, number, 0 if builtin else _lib.URL_NO_LIST,
                                        *_slices(dropped), *_slices(kept))

    def __del__(self) -> None:
        if getattr(self, "_own", None):
            lib.deja_url_rules_free(self._own)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the arguments: the library's object is an address in this process."""
        return _rules_again, (*self._made_of, self._newer is not None)

    def __repr__(self) -> str:
        return f"<deja.Rules {self.profile}{' with other parameters' if self._own else ''}>"

    def _older(self) -> "Optional[Rules]":
        """Return the previous version of the rules, for filters that were made with it."""
        handle = lib.deja_url_rules_older(self._handle)
        if not handle:
            return None
        older = object.__new__(Rules)
        older.__dict__.update(self.__dict__)
        older._own, older._handle, older._newer = None, handle, self  # self owns the handle
        return older

    @property
    def id(self) -> int:
        """A number that is equal for rules that always give the same form."""
        return int(lib.deja_url_rules_id(self._handle))

    def _form(self, url: bytes, error: Optional[_lib.Error] = None) -> tuple[int, bytes]:
        """Return a status and the canonical form, or the URL itself if it has none."""
        status, form = _write(lib.deja_url_canon, len(url), error, self._handle, _lib.Key(url, len(url)))
        return status, form or url

    @overload
    def canonical(self, url: str) -> str: ...

    @overload
    def canonical(self, url: Union[bytes, bytearray, memoryview]) -> bytes: ...

    def canonical(self, url: Key) -> Union[str, bytes]:
        """Return the canonical form of a URL, as str or bytes like the argument.

        NotURLError: the argument is not a URL.
        """
        given = key_bytes(url)
        error = _lib.Error()
        status, form = self._form(given, error)
        check(status, error)
        return _text(form) if isinstance(url, str) else form

    # --- For filters ---

    @property
    def is_block_list(self) -> bool:
        """Whether a lookup tries several expressions of a URL (profile gsb)."""
        return self.profile == "gsb"

    def _key(self, url: bytes) -> tuple[int, bytes]:
        """Return a status and the key to add for a URL; the bytes themselves if they are not a URL."""
        status, form = self._form(url)
        if status == _lib.OK and self.is_block_list:
            return status, expressions_of(form)[0]
        return status, form

    def _lookups(self, url: bytes) -> tuple[int, list[bytes]]:
        """Return a status and the keys to look up for a URL."""
        status, form = self._form(url)
        if not self.is_block_list:
            return status, [form]
        return status, expressions_of(form) if status == _lib.OK else []

    def _portions(self, given: Iterator[Batch], account: "Account", look_up: bool) -> Iterator[Portion]:
        """Yield the same keys in canonical form."""
        if not self.is_block_list:
            for forms, _, n in self._forms(given, account, PORTION):
                yield forms, n, None
            return
        most = _lib.URL_EXPRESSIONS if look_up else 1
        found = (Slice * (PORTION + _lib.URL_EXPRESSIONS))()
        for forms, status, n in self._forms(given, account, PORTION // most):
            widths, total = [], 0
            for i in range(n):
                width = 0
                if status[i] == _lib.OK:
                    at = byref(found, total * ctypes.sizeof(Slice))
                    width = min(most, lib.deja_url_expressions(forms[i], at))
                widths.append(width)
                total += width
            yield found, total, widths

    def _forms(self, given: Iterator[Batch], account: "Account", most: int) -> Iterator[tuple[Any, bytes, int]]:
        """Yield the forms of up to `most` URLs at a time, with one status byte for each."""
        forms, status = (Slice * PORTION)(), (ctypes.c_int8 * PORTION)()
        room = ctypes.create_string_buffer(PORTION * 256)
        for urls, n in given:
            at = 0
            while at < n:
                rest = byref(urls, at * ctypes.sizeof(Slice))
                done = lib.deja_url_canon_batch(self._handle, rest, min(most, n - at), room, len(room), forms, status)
                if done == 0:  # the URL does not fit the buffer
                    room = ctypes.create_string_buffer(2 * _lib.url_room(urls[at].len))
                    continue
                found = ctypes.string_at(status, done)
                account.add(done - found.count(_lib.OK))
                yield forms, found, done
                at += done


def _rules_again(profile: str, drop: list[Key], keep: list[Key], builtin: bool, older: bool = False) -> Rules:
    rules = Rules(profile, drop=drop, keep=keep, builtin=builtin)
    return older and rules._older() or rules


def expressions_of(form: bytes) -> list[bytes]:
    """Return the expressions of a URL in canonical form (profile gsb)."""
    found = (Slice * _lib.URL_EXPRESSIONS)()
    with Held(form) as text:
        n = lib.deja_url_expressions(text, found)
        return [one.copy() for one in found[:n]]


class Account:
    """A thread-safe count of keys that are not URLs."""

    def __init__(self) -> None:
        self.not_urls = 0
        self._lock = threading.RLock()  # reentrant: a signal handler may add too

    def add(self, n: int) -> None:
        if n:
            with self._lock:
                self.not_urls += n

    def after_fork(self) -> None:
        """In the child: replace the lock, whose owner may not exist here."""
        self._lock = threading.RLock()


_profiles: dict[str, Rules] = {}


def rules_of(url: Union[str, Rules]) -> Rules:
    """Return the rules of a profile given by name, or the given rules."""
    if isinstance(url, Rules):
        return url
    if not isinstance(url, str):
        raise TypeError(f"url must be the name of a profile or Rules, not {type(url).__name__}")
    if url not in _profiles:
        _profiles[url] = Rules(url)
    return _profiles[url]


def idn_is_built() -> bool:
    """Return whether the library converts international hosts."""
    return rules_of("safe")._form("http://\xe9/".encode())[0] != _lib.ENOTSUP


@overload
def canonical(url: str, profile: Union[str, Rules] = "safe") -> str: ...


@overload
def canonical(url: Union[bytes, bytearray, memoryview], profile: Union[str, Rules] = "safe") -> bytes: ...


def canonical(url: Key, profile: Union[str, Rules] = "safe") -> Union[str, bytes]:
    """Return the canonical form of a URL, as str or bytes like the argument.

    The profile is "safe", "crawl", "gsb", "scrapy", "shape" or Rules(...).  NotURLError: not a URL.

    >>> canonical("HTTP://Example.com:80/a/../b#top")
    'http://example.com/b'
    """
    return rules_of(profile).canonical(url)


# --- Parts of URLs ----------------------------------------------------------------


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def resolve(base: Key, link: Key) -> str:
    """Return the URL that a link in the page `base` points to, with its fragment, as browsers do.

    >>> resolve("http://example.com/a/b", "../c?d#e")
    'http://example.com/c?d#e'
    """
    page, there = key_bytes(base), key_bytes(link)
    error = _lib.Error()
    status, url = _write(lib.deja_url_resolve, len(page) + len(there), error,
                         _lib.Key(page, len(page)), _lib.Key(there, len(there)))
    check(status, error)
    return _text(url)


def layers(url: Key, most: int = 64) -> list[str]:
    """Split a URL into scheme and authority, then the segments of its path, each with its slash.

    The query belongs to the last segment.  If there are more than `most` layers, the last one holds
    the rest.

    >>> layers("http://example.com/a/b?c=/d")
    ['http://example.com', '/a', '/b?c=/d']
    """
    data = key_bytes(url)
    most = min(whole("most", most, most_of(ctypes.c_size_t)), len(data) + 1)  # a layer has at least one byte
    found = (Slice * most)()
    n = lib.deja_url_split(_lib.Key(data, len(data)), found, most)
    return [_text(one.copy()) for one in found[:n]]


def expressions(url: Key) -> list[str]:
    """Return the host-suffix/path-prefix expressions that Safe Browsing looks up for a URL.

    The first one is for the URL itself.

    >>> expressions("http://a.example/b/c?d")
    ['a.example/b/c?d', 'a.example/b/c', 'a.example/b/', 'a.example/']
    """
    return [_text(one) for one in expressions_of(rules_of("gsb").canonical(key_bytes(url)))]
