"""Single: calls with one key.

Each call has a plain version here, which goes through ctypes.  If the extension is installed, its
version of `add`, `in`, `remove` and `count` comes first, and calls the plain one for everything
that is not simple: an unusual key, a block list, a filter that is closed, full or in use by an
exclusive call.
"""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, Optional

from . import _files, _lib
from ._extension import fast
from ._keys import Key, key_bytes
from ._lib import lib
from ._state import UNLIMITED, State


class Plain(State):
    """The calls in Python."""

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
        if self._room != UNLIMITED:
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
            if _files.guarded:
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


if TYPE_CHECKING or not fast:
    Single = Plain
else:

    class Single(fast.Single, Plain):
        """The calls in C."""

        _plain_add, _plain_contains = Plain.add, Plain.__contains__
        _plain_remove, _plain_count = Plain.remove, Plain.count

        def _failed(self, status: int, number: int, error: bytes) -> None:
            """Raise the error of a call in C."""
            ctypes.set_errno(number)
            self._refuse(status, _lib.Error.from_buffer_copy(error))
