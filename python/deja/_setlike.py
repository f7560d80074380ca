"""SetLike: the operators and calls that users of set expect, as far as a filter can answer them.

Calls that need the keys are missing: iteration, members of an intersection or difference, pop.  So are
those that would answer wrongly: equality and subsets could only compare bits, which differ for equal
sets with different secret keys, and can be equal for different sets.  So == is identity.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, Any, Iterator, Optional, TypeVar, Union

from . import _files, _lib
from ._errors import Error, call, make
from ._files import Path
from ._keys import Held, Keys
from ._lib import lib
from ._many import Many

if TYPE_CHECKING:
    from ._filter import Filter

PIECE = 1 << 20  # bytes per piece of an export
_S = TypeVar("_S", bound="SetLike")


class SetLike(Many):
    """Operators, len, bool, repr and copies."""

    def merge(self, other: "Filter") -> None:
        raise NotImplementedError

    def copy(self, path: Optional[Path] = None, *, replace: bool = False,
             permissions: Optional[int] = None) -> "Filter":
        raise NotImplementedError

    # --- Sizes ---

    def __len__(self) -> int:
        """Return the number of distinct keys: those that were new when they were added and not removed.

        Lost keys are missing (stats().lost).  A key in two merged filters with different secret
        keys counts twice.  A window counts the keys that it remembers, for which it reads its body.
        """
        with self._alone():
            known = self._stats()
            return self._stats(body=True).window_keys if known.generations else known.keys

    def __bool__(self) -> bool:
        """Return whether it has keys, as for set.  Test `f is not None` for an optional filter."""
        return len(self) > 0

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else repr(self._path)
        if self.closed:
            return f"<deja.Filter {where}, closed>"
        how = "" if self._writable else ", for reading"
        try:
            with self._alone():
                known = self._stats()
        except Error:  # in a signal handler, for example
            return f"<deja.Filter {where}{how}>"
        return f"<deja.Filter {where}{how}: {known.kind}, {known.keys:,} keys, rate {known.fp_rate:g}>"

    # --- Union ---

    def update(self, *others: "Union[Filter, Keys]") -> None:
        """Add all keys of other filters (merge) and collections (add_many).

        >>> from deja import Filter
        >>> seen = Filter(capacity=1000)
        >>> seen.update(["a", "b"], ["c"])
        >>> len(seen)
        3
        """
        for other in others:
            if isinstance(other, SetLike):
                self.merge(other)
            else:
                self.add_many(other)

    def __ior__(self: _S, other: "Filter") -> _S:
        """Add all keys of another filter; see merge."""
        if not isinstance(other, SetLike):
            return NotImplemented
        self.merge(other)
        return self

    def __or__(self, other: "Filter") -> "Filter":
        """Return the union of two filters, in memory; see merge."""
        if not isinstance(other, SetLike):
            return NotImplemented
        union = self.copy()
        try:
            union.merge(other)
        except BaseException:
            union.close()
            raise
        return union

    # --- Copies in memory ---

    def __copy__(self) -> "Filter":
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> "Filter":
        memo[id(self)] = made = self.copy()
        return made

    def _in_memory(self) -> int:
        """Return the handle of a copy in memory, with the same secret key and counts."""
        with self._alone():
            expect = _lib.Options(url=self._rules._handle if self._rules else None)
            if self._has_key:  # which its bytes do not contain
                given = _lib.Options(url=expect.url)
                call(lib.deja_options_like, self._alive(), byref(given), what=self._name)
                expect.share_key(given)
            return imported(self._bytes(), expect)

    def _bytes(self) -> Iterator[bytes]:
        """Yield the bytes of its file; the caller keeps others out."""
        room, at = ctypes.create_string_buffer(PIECE), 0
        while piece := self._piece(at, room):
            yield piece
            at += len(piece)

    def _piece(self, at: int, room: "ctypes.Array[ctypes.c_char]") -> bytes:
        n = lib.deja_filter_export(self._alive(), at, room, len(room))
        if _files.guarded:
            self._check_file()
        return ctypes.string_at(room, n)


def imported(pieces: Any, expect: _lib.Options) -> int:
    """Return the handle of a filter made from the pieces of its file."""
    under_way = make(lib.deja_import_new, 0, byref(expect))
    try:
        for piece in pieces:
            with Held(piece) as text:
                call(lib.deja_import_write, under_way, text.data, text.len)
        return make(lib.deja_import_finish, under_way)
    finally:
        lib.deja_import_free(under_way)
