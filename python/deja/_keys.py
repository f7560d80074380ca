"""Keys on their way in: whatever holds them becomes arrays of deja_slice, some thousands at a time.

    a list or other iterable of keys    each a str (as UTF-8) or bytes
    a buffer: bytes, bytearray,         its lines.  Nothing is copied: the slices point into the
    memoryview, mmap, str               buffer, which is held meanwhile (a str is encoded first)

A portion is small enough to stay in the caches between being cut up and being asked about, and
large enough that the calls from Python, a few microseconds, are lost beside it.

Mostly a key is one slice.  Where it is not (block lists: a URL is looked up by several), a portion
comes with the widths: how many slices belong to each key, in order.
"""

from __future__ import annotations

import ctypes
from array import array
from itertools import accumulate, islice
from typing import Any, Iterable, Iterator, List, Optional, Tuple, Union

from . import _lib
from ._checks import buffer_bytes
from ._errors import fail
from ._lib import Slice, lib

Key = Union[str, bytes, bytearray, memoryview]
Keys = Union[Iterable[Key], bytes, bytearray, memoryview, str]
Widths = Optional[List[int]]
Batch = Tuple[Any, int]  # an array of deja_slice, and how many of them are used
Portion = Tuple[Any, int, Widths]

PORTION = 8192
_WORD = "L"  # of array: as large as a pointer and a size_t, on every system that deja runs on
assert array(_WORD).itemsize == ctypes.sizeof(ctypes.c_size_t) == ctypes.sizeof(ctypes.c_void_p)


def key_bytes(key: Key) -> bytes:
    """The bytes of one key.  Text is UTF-8; bytes that Python smuggled into text come out again.
    Exactly of type bytes, whose length is that of its memory: a subclass may tell another one."""
    if type(key) is bytes:
        return key
    if isinstance(key, str):
        return str.encode(key, "utf-8", "surrogateescape")
    if isinstance(key, (bytes, bytearray, memoryview)):
        return memoryview(key).tobytes()
    raise TypeError(f"a key is str or bytes, not {type(key).__name__}")


# --- Buffers ----------------------------------------------------------------------


class _PyBuffer(ctypes.Structure):
    """Py_buffer of the C API, which is the only way to the address of a read-only buffer."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
        ("format", ctypes.c_void_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_get_buffer.restype = ctypes.c_int  # -1 comes with a Python exception, which ctypes raises
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None
_SIMPLE = 0  # PyBUF_SIMPLE: bytes in one piece


class Held:
    """A buffer that can neither move nor shrink until the end of the with statement."""

    def __init__(self, owner: Any) -> None:
        self._owner = owner
        self._view = _PyBuffer()

    def __enter__(self) -> Slice:
        _get_buffer(self._owner, ctypes.byref(self._view), _SIMPLE)
        return Slice(self._view.buf, self._view.len)

    def __exit__(self, *_: object) -> None:
        _release_buffer(ctypes.byref(self._view))


def _of_buffer(buffer: Any, mark: bytes) -> Iterator[Batch]:
    lines = (Slice * PORTION)()
    with Held(buffer) as text:
        while n := lib.deja_lines_split(ctypes.byref(text), mark, lines, PORTION):
            yield lines, n


# --- Iterables --------------------------------------------------------------------


def _address(data: bytes) -> int:
    return ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p).value or 0


def _in_one_piece(keys: list[bytes]) -> tuple[bytes, "array[int]", "array[int]"]:
    """Their bytes, and where each begins and how long it is."""
    data = b"".join(keys)
    length = array(_WORD, map(len, keys))
    begin = array(_WORD, accumulate(length, initial=_address(data)))
    begin.pop()
    return data, begin, length


def _of_iterable(keys: Iterable[Key]) -> Iterator[Batch]:
    rest = iter(keys)
    while portion := list(islice(rest, PORTION)):
        if set(map(type, portion)) != {bytes}:
            portion = [key_bytes(key) for key in portion]
        data, begin, length = _in_one_piece(portion)  # type: ignore[arg-type]  # data: as long as the slices
        words = array(_WORD, bytes(2 * len(length) * length.itemsize))
        words[0::2], words[1::2] = begin, length
        yield (Slice * len(length)).from_buffer(words), len(length)


def batches(keys: Keys, mark: bytes = b"\n") -> Iterator[Batch]:
    """The keys in portions, which are good until the next one is asked for."""
    mark = buffer_bytes("mark", mark)
    if len(mark) != 1:
        fail(_lib.EINVAL, f"lines end with one byte, not {mark!r}")
    if isinstance(keys, str):
        return _of_buffer(key_bytes(keys), mark)
    try:
        memoryview(keys).release()  # type: ignore[arg-type]
    except TypeError:
        return _of_iterable(keys)  # type: ignore[arg-type]
    return _of_buffer(keys, mark)


def for_each_key(answers: bytes, widths: Widths) -> bytes:
    """From a 0 or 1 for each slice one for each key: whether any of its slices has a 1."""
    if widths is None:
        return answers
    return bytes([answers.find(1, end - width, end) >= 0 for width, end in zip(widths, accumulate(widths))])
