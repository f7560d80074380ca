"""Arguments on their way to C, which takes any bits for a number and ends any text at a NUL.

A wrong type is a TypeError, a value out of range or with a NUL in it an ArgumentError (a ValueError);
both name the argument."""

from __future__ import annotations

import ctypes
import math
import numbers
import operator
import os
from typing import Any, Union

from . import _lib
from ._errors import fail


def number(name: str, value: Any) -> Union[int, float]:
    """An int for what is one (numpy's as well), else a float; text and truth values are neither."""
    if not isinstance(value, bool):
        try:
            return operator.index(value)
        except TypeError:
            if isinstance(value, numbers.Real):
                return float(value)
    raise TypeError(f"{name} is a number, not {type(value).__name__} ({_shown(value)})")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def most_of(type_: Any) -> int:
    """The largest number that an unsigned field of C holds."""
    return int((1 << 8 * ctypes.sizeof(type_)) - 1)


def whole(name: str, value: Any, most: int, *, least: int = 1, fractions: bool = False) -> int:
    """A whole number in a range; 1e6 is one as well.  fractions: is 2.5 taken as 2?"""
    n = number(name, value)
    if isinstance(n, float) and n % 1 > 0 and not fractions:
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not a whole number")
    if not least <= n <= most:  # nor NaN
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not from {least} to {most}")
    return int(n)


def positive(name: str, value: Any) -> float:
    """A finite number above 0."""
    n = number(name, value)
    try:
        x = float(n)
    except OverflowError:
        x = math.inf
    if not 0 < x < math.inf:
        fail(_lib.EINVAL, f"{name}={_shown(value)} is not a finite number above 0")
    return x


def flag(name: str, value: Any) -> bool:
    """True or False; "no" is neither."""
    if value in (True, False, None) and not isinstance(value, float):
        return bool(value)
    raise TypeError(f"{name} is True or False, not {_shown(value)}")


def word(name: str, value: Any) -> bytes:
    """A name that the library looks up."""
    if not isinstance(value, str):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")
    if "\0" in value:
        fail(_lib.EINVAL, f"{name}={_shown(value)} has a NUL character in it")
    return str.encode(value, "utf-8", "surrogateescape")


def file_name(path: Any) -> str:
    """The name of a file: str, bytes or os.PathLike, without NUL."""
    name = os.fsdecode(path)
    if "\0" in name:
        fail(_lib.EINVAL, f"the path {_shown(name)} has a NUL character in it")
    return name


def buffer_bytes(name: str, value: Any) -> bytes:
    """What a buffer really holds, whatever its class says about its length."""
    if type(value) is bytes:
        return value
    try:
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{name} is bytes, not {type(value).__name__}") from None
