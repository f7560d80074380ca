"""Canonical URLs: the profiles of docs/url.md, one URL at a time or as a step before a filter.

A filter of profile gsb is a block list, a set of expressions (host/path?query).  A URL goes in by
the first of its expressions, which is the URL without its scheme, and is looked up by all of them.
What is no URL has none: it is not added, and never found."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref
from typing import Any, Iterable, Iterator, Optional, Union, overload

from . import _lib
from ._checks import flag, most_of, whole, word
from ._errors import check, fail
from ._keys import PORTION, Batch, Key, Portion, key_bytes
from ._lib import Slice, lib


class _Rooms(threading.local):
    """Memory for one form: a thread uses it again and again.  A signal handler that interrupts it
    finds none, and makes its own."""

    def __init__(self) -> None:
        self.free: list["ctypes.Array[ctypes.c_char]"] = []

    def take(self, size: int) -> "ctypes.Array[ctypes.c_char]":
        room = self.free.pop() if self.free else ctypes.create_string_buffer(4096)
        return room if len(room) >= size else ctypes.create_string_buffer(size)

    def give_back(self, room: "ctypes.Array[ctypes.c_char]") -> None:
        self.free[:] = [room]  # one is enough


_rooms = _Rooms()


def _names(what: str, names: Iterable[Key]) -> list[bytes]:
    if isinstance(names, (str, bytes, bytearray, memoryview)):
        raise TypeError(f"{what} is a list of names, not one: [{names!r}]")
    return [key_bytes(name) for name in names]


def _slices(keys: list[bytes]) -> tuple[object, int]:
    return (_lib.Key * len(keys))(*[_lib.Key(key, len(key)) for key in keys]), len(keys)


class Rules:
    """A profile made ready: "safe", "crawl", "gsb" or "scrapy".

    drop and keep are for profiles that drop query parameters (crawl): names to add to its list
    and to take from it; a name may end in `*`.  With builtin=False only `drop` is dropped.

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
            fail(_lib.EINVAL, f"there is no URL profile {profile!r}; there are safe, crawl, gsb, scrapy")
        self.profile = profile
        self._number = number
        if not dropped and not kept and builtin:
            self._handle: int = lib.deja_url_profile(number)
            return
        error, out = _lib.Error(), ctypes.c_void_p()
        check(lib.deja_url_rules_new(number, 0 if builtin else _lib.URL_NO_LIST, *_slices(dropped), *_slices(kept),
                                     byref(out), byref(error)), error)
        assert out.value
        self._handle = self._own = out.value

    def __del__(self) -> None:
        if getattr(self, "_own", None):
            lib.deja_url_rules_free(self._own)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled as what they were made of: the library's own are an address here."""
        return _rules_again, (*self._made_of, self._newer is not None)

    def __repr__(self) -> str:
        return f"<deja.Rules {self.profile}{' with other parameters' if self._own else ''}>"

    def _older(self) -> "Optional[Rules]":
        """The same rules in the version before, for filters that were made with it."""
        handle = lib.deja_url_rules_older(self._handle)
        if not handle:
            return None
        older = object.__new__(Rules)
        older.__dict__.update(self.__dict__)
        older._own, older._handle, older._newer = None, handle, self  # which owns it
        return older

    @property
    def id(self) -> int:
        """Equal for rules that always give the same form."""
        return int(lib.deja_url_rules_id(self._handle))

    def _form(self, url: bytes, error: Optional[_lib.Error] = None) -> tuple[int, bytes]:
        """Status and form; the URL itself when it has none."""
        room, form = _rooms.take(_lib.url_room(len(url))), Slice()
        status = lib.deja_url_canon(self._handle, _lib.Key(url, len(url)), room, len(room), byref(form), error)
        found = ctypes.string_at(form.data, form.len) if status == _lib.OK and form.len else url
        _rooms.give_back(room)
        return status, found

    @overload
    def canonical(self, url: str) -> str: ...

    @overload
    def canonical(self, url: Union[bytes, bytearray, memoryview]) -> bytes: ...

    def canonical(self, url: Key) -> Union[str, bytes]:
        """The canonical form, as str for str and bytes for bytes; NotURLError for what is no URL."""
        given = key_bytes(url)
        error = _lib.Error()
        status, form = self._form(given, error)
        check(status, error)
        return form.decode("utf-8", "surrogateescape") if isinstance(url, str) else form

    # --- For filters ---

    @property
    def is_block_list(self) -> bool:
        """Is a URL one key when it is added and several when it is looked up?"""
        return self.profile == "gsb"

    def _key(self, url: bytes) -> tuple[int, bytes]:
        """Status, and the key that stands for a URL; of what is no URL, its bytes."""
        status, form = self._form(url)
        if status == _lib.OK and self.is_block_list:
            return status, expressions_of(form)[0]
        return status, form

    def _questions(self, url: bytes) -> tuple[int, list[bytes]]:
        """Status, and the keys to look up for a URL."""
        status, form = self._form(url)
        if not self.is_block_list:
            return status, [form]
        return status, expressions_of(form) if status == _lib.OK else []

    def _portions(self, given: Iterator[Batch], account: "Account", look_up: bool) -> Iterator[Portion]:
        """The same keys with forms in the place of URLs."""
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
        """Forms of at most so many URLs at a time, and a status for each as a byte."""
        forms, status = (Slice * PORTION)(), (ctypes.c_int8 * PORTION)()
        room = ctypes.create_string_buffer(PORTION * 256)
        for urls, n in given:
            at = 0
            while at < n:
                rest = byref(urls, at * ctypes.sizeof(Slice))
                done = lib.deja_url_canon_batch(self._handle, rest, min(most, n - at), room, len(room), forms, status)
                if done == 0:  # a URL that is longer than all the room
                    room = ctypes.create_string_buffer(2 * _lib.url_room(urls[at].len))
                    continue
                told = ctypes.string_at(status, done)
                account.add(done - told.count(_lib.OK))
                yield forms, told, done
                at += done


def _rules_again(profile: str, drop: list[Key], keep: list[Key], builtin: bool, older: bool = False) -> Rules:
    rules = Rules(profile, drop=drop, keep=keep, builtin=builtin)
    return older and rules._older() or rules


def _slice_of(data: bytes) -> Slice:
    """A slice of bytes that the caller keeps."""
    return Slice(ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p), len(data))


def expressions_of(form: bytes) -> list[bytes]:
    """The expressions of a URL in the canonical form of gsb."""
    found = (Slice * _lib.URL_EXPRESSIONS)()
    n = lib.deja_url_expressions(_slice_of(form), found)
    return [ctypes.string_at(found[i].data, found[i].len) for i in range(n)]


class Account:
    """How many keys were no URLs, counted by any number of threads."""

    def __init__(self) -> None:
        self.not_urls = 0
        self._lock = threading.RLock()  # a signal handler may come in between

    def add(self, n: int) -> None:
        if n:
            with self._lock:
                self.not_urls += n

    def after_fork(self) -> None:
        """In the child, where nobody is left who could give the lock back."""
        self._lock = threading.RLock()


_profiles: dict[str, Rules] = {}


def rules_of(url: Union[str, Rules]) -> Rules:
    """Rules from the name of a profile, or as they are."""
    if isinstance(url, Rules):
        return url
    if not isinstance(url, str):
        raise TypeError(f"url is the name of a profile or Rules, not {type(url).__name__}")
    if url not in _profiles:
        _profiles[url] = Rules(url)
    return _profiles[url]


@overload
def canonical(url: str, profile: Union[str, Rules] = "safe") -> str: ...


@overload
def canonical(url: Union[bytes, bytearray, memoryview], profile: Union[str, Rules] = "safe") -> bytes: ...


def canonical(url: Key, profile: Union[str, Rules] = "safe") -> Union[str, bytes]:
    """The canonical form of a URL.

    >>> canonical("HTTP://Example.com:80/a/../b#top")
    'http://example.com/b'
    """
    return rules_of(profile).canonical(url)


# --- Parts of URLs ----------------------------------------------------------------


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def resolve(base: Key, link: Key) -> str:
    """What a link in the page `base` points to, fragment included, as browsers see it.

    >>> resolve("http://example.com/a/b", "../c?d#e")
    'http://example.com/c?d#e'
    """
    page, there = key_bytes(base), key_bytes(link)
    size = _lib.url_room(len(page) + len(there))
    room, url = _rooms.take(size), Slice()
    error = _lib.Error()
    status = lib.deja_url_resolve(_lib.Key(page, len(page)), _lib.Key(there, len(there)), room, len(room), byref(url),
                                  byref(error))
    found = ctypes.string_at(url.data, url.len) if status == _lib.OK else b""
    _rooms.give_back(room)
    check(status, error)
    return _text(found)


def layers(url: Key, most: int = 64) -> list[str]:
    """Scheme and authority, then each segment of the path with its slash; the query belongs to
    the last, and the last of `most` has the rest.

    >>> layers("http://example.com/a/b?c=/d")
    ['http://example.com', '/a', '/b?c=/d']
    """
    data = key_bytes(url)
    most = min(whole("most", most, most_of(ctypes.c_size_t)), len(data) + 1)  # a layer has a byte
    found = (Slice * most)()
    n = lib.deja_url_split(_lib.Key(data, len(data)), found, most)
    return [_text(ctypes.string_at(found[i].data, found[i].len)) for i in range(n)]


def expressions(url: Key) -> list[str]:
    """The host-suffix/path-prefix expressions by which Safe Browsing looks up a URL, its own first.

    >>> expressions("http://a.example/b/c?d")
    ['a.example/b/c?d', 'a.example/b/c', 'a.example/b/', 'a.example/']
    """
    return [_text(one) for one in expressions_of(rules_of("gsb").canonical(key_bytes(url)))]
