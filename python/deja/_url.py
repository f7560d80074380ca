"""Canonical URLs: the profiles of docs/url.md, one URL at a time or as a step before a filter."""

from __future__ import annotations

import ctypes
import threading
from ctypes import byref
from typing import Iterable, Iterator, Optional, Union

from . import _lib
from ._errors import check, fail
from ._keys import PORTION, Batch, Key, key_bytes
from ._lib import Slice, lib


class _Room(threading.local):
    """Memory for one form: a thread uses it again and again."""

    def __init__(self) -> None:
        self.at = ctypes.create_string_buffer(4096)

    def of(self, size: int) -> "ctypes.Array[ctypes.c_char]":
        if len(self.at) < size:
            self.at = ctypes.create_string_buffer(size)
        return self.at


_room = _Room()


def _names(names: Iterable[Key]) -> tuple[object, int]:
    keys = [key_bytes(name) for name in names]
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
        drop, keep = list(drop), list(keep)
        number = lib.deja_profile_parse(profile.encode())
        if not number:
            fail(_lib.EINVAL, f"there is no URL profile {profile!r}; there are safe, crawl, gsb, scrapy")
        self.profile = profile
        self._number = number
        if not drop and not keep and builtin:
            self._handle: int = lib.deja_url_profile(number)
            return
        error, out = _lib.Error(), ctypes.c_void_p()
        check(lib.deja_url_rules_new(number, 0 if builtin else _lib.URL_NO_LIST, *_names(drop), *_names(keep),
                                     byref(out), byref(error)), error)
        assert out.value
        self._handle = self._own = out.value

    def __del__(self) -> None:
        if getattr(self, "_own", None):
            lib.deja_url_rules_free(self._own)

    def __repr__(self) -> str:
        return f"<deja.Rules {self.profile}{' with other parameters' if self._own else ''}>"

    @property
    def id(self) -> int:
        """Equal for rules that always give the same form."""
        return int(lib.deja_url_rules_id(self._handle))

    def _form(self, url: bytes) -> tuple[int, bytes]:
        """Status and form; the URL itself when it has none."""
        size = _lib.url_room(len(url))
        room, form = _room.of(size), Slice()
        status = lib.deja_url_canon(self._handle, _lib.Key(url, len(url)), room, len(room), byref(form))
        return status, ctypes.string_at(form.data, form.len) if status == _lib.OK and form.len else url

    def canonical(self, url: Key) -> Union[str, bytes]:
        """The canonical form, as str for str and bytes for bytes; NotURLError for what is no URL."""
        given = key_bytes(url)
        status, form = self._form(given)
        if status != _lib.OK:
            text = repr(url if len(given) <= 100 else given[:100] + b"...")
            fail(status, f"{text} is no URL" if status == _lib.ENOTURL else
                 f"{text}: libdeja was built without libidn2, which this host needs")
        return form.decode("utf-8", "surrogateescape") if isinstance(url, str) else form

    # --- For filters ---

    def _key(self, url: bytes) -> tuple[int, bytes]:
        """Status, and the key that stands for a URL; of what is no URL, its bytes."""
        status, form = self._form(url)
        if status == _lib.OK and self._number == _lib.GSB:
            return status, self._expressions(form)[0]
        return status, form

    def _questions(self, url: bytes) -> list[bytes]:
        """The keys to look up for a URL: for gsb all its expressions."""
        status, form = self._form(url)
        if self._number != _lib.GSB:
            return [form]
        return self._expressions(form) if status == _lib.OK else []

    def _expressions(self, form: bytes) -> list[bytes]:
        found = (Slice * _lib.URL_EXPRESSIONS)()
        n = lib.deja_url_expressions(_lib.Key(form, len(form)), found)
        return [ctypes.string_at(found[i].data, found[i].len) for i in range(n)]

    def _batches(self, given: Iterator[Batch], account: "Account") -> Iterator[Batch]:
        """The same batches with forms in the place of URLs."""
        forms, status = (Slice * PORTION)(), (ctypes.c_int8 * PORTION)()
        room = ctypes.create_string_buffer(PORTION * 256)
        for urls, n in given:
            at = 0
            while at < n:
                rest = byref(urls, at * ctypes.sizeof(Slice))
                done = lib.deja_url_canon_batch(self._handle, rest, n - at, room, len(room), forms, status)
                if done == 0:  # a URL that is longer than all the room
                    room = ctypes.create_string_buffer(2 * _lib.url_room(urls[at].len))
                    continue
                account.add(ctypes.string_at(status, done))
                yield forms, done
                at += done


class Account:
    """How many keys were no URLs."""

    def __init__(self) -> None:
        self.not_urls = 0

    def add(self, status: bytes) -> None:
        """The status of each of some URLs, as a byte."""
        self.not_urls += len(status) - status.count(0)


_profiles: dict[str, Rules] = {}


def rules_of(url: Union[str, Rules]) -> Rules:
    """Rules from the name of a profile, or as they are."""
    if isinstance(url, Rules):
        return url
    if url not in _profiles:
        _profiles[url] = Rules(url)
    return _profiles[url]


def canonical(url: Key, profile: Union[str, Rules] = "safe") -> Union[str, bytes]:
    """The canonical form of a URL.

    >>> canonical("HTTP://Example.com:80/a/../b#top")
    'http://example.com/b'
    """
    return rules_of(profile).canonical(url)
