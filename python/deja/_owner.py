"""Owner: what a Filter and a Sieve share: a handle of the library, the lock that guards it, a path and URL rules."""

from __future__ import annotations

import ctypes
import os
import weakref
from contextlib import contextmanager
from ctypes import byref
from typing import Any, Iterator, Optional, TypeVar, Union

from . import _lib
from ._checks import file_name
from ._errors import ReadOnlyError, call, check, fail
from ._files import Path
from ._gate import Gate
from ._lib import lib
from ._url import Account, Rules, idn_is_built, rules_of

URL = Union[str, Rules, None]
_O = TypeVar("_O", bound="Owner")


class Owner:
    """An object of the library; the kind of object is `_what` in messages."""

    _what = "object"

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
        _all.add(self)

    def _alive(self) -> int:
        if self._handle is None:
            fail(_lib.EINVAL, f"the {self._what} is closed")
        return self._handle

    def _to_write(self) -> int:
        handle = self._alive()
        if not self._writable:
            fail(_lib.EINVAL, f"{self._path}: " + ("the parent of this process writes it; this one can only read it"
                                                   if self._inherited else 'opened for reading (mode="r")'),
                 ReadOnlyError)
        return handle

    def _free(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Wait until no other call uses the object, and keep others out."""
        with self._gate.exclusive():
            yield

    def _exclusive(self, function: Any, *arguments: Any) -> None:
        with self._alone():
            call(function, self._alive(), *arguments, what=self._name)

    def _after_fork(self) -> None:
        """In the child: replace locks that threads of the parent may hold."""
        self._gate = Gate()
        self._account.after_fork()

    # --- Opening ---

    def _encoded_path(self) -> Optional[bytes]:
        return None if self._path is None else os.fsencode(self._path)

    def _accepted(self, expect: Any, function: Any, *arguments: Any) -> Optional[int]:
        """Call a function that opens the object; if it refuses the URL rules, try their previous version."""
        error, out = _lib.Error(), ctypes.c_void_p()
        status = function(*arguments, byref(expect), byref(out), byref(error))
        older = self._rules._older() if self._rules and status == _lib.EMISMATCH else None
        if older:
            expect.url = older._handle
            if function(*arguments, byref(expect), byref(out), None) == _lib.OK:
                status, self._rules = _lib.OK, older
        check(status, error, self._name)
        return out.value

    def _adopt_rules(self, profile: Optional[str], number: int) -> None:
        """Use the URL rules of an opened object, given by profile and id, unless the caller gave rules."""
        if not profile or self._rules:
            return
        version: Optional[Rules] = rules_of(profile)
        while version and version.id != number:
            version = version._older()
        if not version:
            other = "without" if idn_is_built() else "with"
            fail(_lib.EMISMATCH, f"{self._path or 'these bytes'}: its rules for profile {profile} differ from this library's. "
                 f"If it was made with a custom list of parameters, pass the same url=Rules({profile!r}, drop=..., keep=...); "
                 f"otherwise, use a libdeja {other} libidn2, like the one that made it")
        self._rules = version

    # --- For users ---

    @property
    def closed(self) -> bool:
        """Whether it is closed."""
        return self._handle is None

    @property
    def path(self) -> Optional[str]:
        """The path; None for a filter in memory."""
        return self._path

    @property
    def rules(self) -> Optional[Rules]:
        """The URL rules that canonicalize its keys; None if keys are compared unchanged."""
        return self._rules

    @property
    def not_urls(self) -> int:
        """How many keys given to this object are not URLs, although it has a URL profile.

        They are compared unchanged.  A block list (gsb) skips them: it neither adds nor finds them.
        """
        return self._account.not_urls

    def __enter__(self: _O) -> _O:
        self._alive()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_handle", None) is not None:
            self._free()


@contextmanager
def both_alone(a: Owner, b: Owner) -> Iterator[None]:
    """Lock two objects, always in the same order, so that two threads cannot deadlock."""
    first, second = sorted((a, b), key=id)
    with first._alone():
        if first is second:
            yield
        else:
            with second._alone():
                yield


_all: "weakref.WeakSet[Owner]" = weakref.WeakSet()


def _after_fork() -> None:
    for one in list(_all):
        one._after_fork()


os.register_at_fork(after_in_child=_after_fork)
