"""Turn keys into arrays of deja_slice, a few thousand at a time.

    iterable of keys                       each key is a str (encoded as UTF-8) or bytes
    bytes, bytearray, memoryview, mmap     the lines of the buffer: nothing is copied, the slices
                                           point into the buffer, which stays locked until the end
    str                                    the same, after encoding

A portion is small enough to stay in the CPU caches between splitting and lookup, and large enough
that the few microseconds of a call from Python do not matter.

Usually a key is one slice.  In a block list, a URL has several; a portion then comes with its
widths, the number of slices of each key, in order.
"""

from __future__ import annotations

import ctypes
from array import array
from itertools import accumulate, islice
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

from . import _lib
from ._checks import buffer_bytes
from ._errors import fail
from ._extension import fast
from ._lib import Slice, lib

Key = Union[str, bytes, bytearray, memoryview]
Keys = Union[Iterable[Key], bytes, bytearray, memoryview, str]
Widths = Optional[List[int]]
Batch = Tuple[Any, int]  # an array of deja_slice, and how many of its items are used
Portion = Tuple[Any, int, Widths]

PORTION = 8192
_WORD = "L"  # array type code; as large as a pointer and a size_t on every supported system
assert array(_WORD).itemsize == ctypes.sizeof(ctypes.c_size_t) == ctypes.sizeof(ctypes.c_void_p)


def key_bytes(key: Key) -> bytes:
    """Return the bytes of a key.  Text is encoded as UTF-8, surrogate escapes as the original bytes.

    The result is never a subclass of bytes, because its len() could differ from its memory.
    """
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        return str.encode(key, "utf-8", "surrogateescape")
    if isinstance(key, (bytes, bytearray, memoryview)):
        return memoryview(key).tobytes()
    raise TypeError(f"a key must be str or bytes, not {type(key).__name__}")


# --- Buffers ----------------------------------------------------------------------


class _PyBuffer(ctypes.Structure):
    """Py_buffer of the C API, the only way to get the address of a read-only buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int  # -1 sets a Python exception, which ctypes raises
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None
_SIMPLE = 0  # PyBUF_SIMPLE: contiguous bytes


class Held:
    """Lock a buffer, so that it can neither move nor shrink, during a with statement."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._view = _PyBuffer()

    def __enter__(self) -> Slice:
        _get_buffer(self._owner, ctypes.byref(self._view), _SIMPLE)
        return Slice(self._view.buf, self._view.len)

    def __exit__(self, *_: object) -> None:
        _release_buffer(ctypes.byref(self._view))


def is_buffer(data: Any) -> bool:
    try:
        memoryview(data).release()
    except TypeError:
        return False
    return True


def _of_buffer(buffer: Any, mark: bytes) -> Iterator[Batch]:
    lines = (Slice * PORTION)()
    with Held(buffer) as text:
        while n := lib.deja_lines_split(ctypes.byref(text), mark, lines, PORTION):
            yield lines, n


# --- Iterables --------------------------------------------------------------------


def _address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _joined(keys: list[bytes]) -> tuple[bytes, "array[int]", "array[int]"]:
    """Return all bytes joined, the address of each key, and its length."""
    data = b"".join(keys)
    length = array(_WORD, map(len, keys))
    begin = array(_WORD, accumulate(length, initial=_address(data)))
    begin.pop()
    return data, begin, length


def _copied(portion: List[Any]) -> Any:
    """Return an array of slices of the keys in a list, and what it points into."""
    if set(map(type, portion)) != {bytes}:
        portion = [key_bytes(key) for key in portion]
    data, begin, length = _joined(portion)
    words = array(_WORD, bytes(2 * len(length) * length.itemsize))
    words[0::2], words[1::2] = begin, length
    return (Slice * len(length)).from_buffer(words), data


def _borrowed(portion: List[Any]) -> Any:
    """Do the same without copying str and bytes; other keys in the list become bytes."""
    lines = (Slice * len(portion))()
    fast.slices(portion, ctypes.addressof(lines), key_bytes)
    return lines, portion


_sliced = _borrowed if fast else _copied


def _of_iterable(keys: Iterable[Key]) -> Iterator[Batch]:
    rest = iter(keys)
    while portion := list(islice(rest, PORTION)):
        lines, held = _sliced(portion)  # held must outlive the slices
        yield lines, len(portion)


def batches(keys: Keys, mark: bytes = b"\n") -> Iterator[Batch]:
    """Yield the keys in portions.  A portion is valid until the next one."""
    mark = buffer_bytes("mark", mark)
    if len(mark) != 1:
        fail(_lib.EINVAL, f"mark must be one byte, not {mark!r}")
    if isinstance(keys, str):
        return _of_buffer(key_bytes(keys), mark)
    return _of_buffer(keys, mark) if is_buffer(keys) else _of_iterable(keys)  # type: ignore[arg-type]


def for_each_key(answers: bytes, widths: Widths) -> bytes:
    """Return 1 for each key that has a 1 for any of its slices, otherwise 0."""
    if widths is None:
        return answers
    return bytes([answers.find(1, end - width, end) >= 0 for width, end in zip(widths, accumulate(widths))])
