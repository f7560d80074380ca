"""Check arguments before they reach C, which would truncate numbers and end text at a NUL.

A wrong type raises TypeError.  A value that is out of range or contains a NUL raises ArgumentError,
which is a ValueError.  Both name the argument.
"""

from __future__ import annotations

import ctypes
import math
import numbers
import operator
import os
import re
from typing import Any, Union

from . import _lib
from ._errors import fail


MOST_SIZE = (1 << 63) - 1
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?) ?([kKMGT]?)(i?B)?\s*")


def number(name: str, value: Any) -> Union[int, float]:
    """Return an int or a float, including numpy's types; refuse text and bool."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            if isinstance(value, numbers.Real):
                return float(value)
    raise TypeError(f"{name} must be a number, not {type(value).__name__} ({_shown(value)})")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def most_of(type_: Any) -> int:
    """Return the largest number that an unsigned C type holds."""
    return int((1 << 8 * ctypes.sizeof(type_)) - 1)


def whole(name: str, value: Any, most: int, *, least: int = 1, fractions: bool = False) -> int:
    """Return a whole number in a range; 1e6 is one.  With `fractions`, 2.5 becomes 2."""
    n = number(name, value)
    if isinstance(n, float) and n % 1 > 0 and not fractions:
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not a whole number")
    if not least <= n <= most:  # also false for NaN
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not from {least} to {most}")
    return int(n)


def positive(name: str, value: Any) -> float:
    """Return a finite float above 0."""
    n = number(name, value)
    try:
        x = float(n)
    except OverflowError:
        x = math.inf
    if not 0 < x < math.inf:
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not a finite number above 0")
    return x


def size(name: str, value: Any) -> int:
    """Return a number of bytes, given as a number or as text such as "1.5G", "512M" or "64KiB"."""
    if not isinstance(value, str):
        return whole(name, value, MOST_SIZE, fractions=True)
    found = _SIZE.fullmatch(value)
    if not found:
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not a size such as 1.5G, 512M or 64KiB (k, M, G, T are powers "
             "of 1024; kB, MB, GB, TB of 1000)")
    base = 1000 if found[3] == "B" and found[2] else 1024
    return whole(name, float(found[1]) * base ** " KMGT".index(found[2].upper() or " "), MOST_SIZE, fractions=True)


def flag(name: str, value: Any) -> bool:
    """Return a bool; refuse text such as "no"."""
    if value in (True, False, None) and not isinstance(value, float):
        return bool(value)
    raise TypeError(f"{name} must be True or False, not {_shown(value)}")


def word(name: str, value: Any) -> bytes:
    """Return the bytes of a name that the library looks up."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a str, not {type(value).__name__}")
    if "\0" in value:
        fail(_lib.EINVAL, f"{name}={_shown(value)} contains a NUL character")
    return str.encode(value, "utf-8", "surrogateescape")


def file_name(path: Any) -> str:
    """Return a file name, given as str, bytes or os.PathLike, as str."""
    name = os.fsdecode(path)
    if "\0" in name:
        fail(_lib.EINVAL, f"the path {_shown(name)} contains a NUL character")
    return name


def buffer_bytes(name: str, value: Any) -> bytes:
    """Return the bytes in a buffer's memory; a subclass may report a different length."""
    if type(value) is bytes:
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{name} must be bytes, not {type(value).__name__}") from None
