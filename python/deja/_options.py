"""deja_options from what the constructors take, and what they come to.

In C a zero asks for the default.  Here None does, and a zero is refused: seed=0 would be random,
and capacity=0 something that grows.  So are numbers that a field of C has no room for."""

from __future__ import annotations

import ctypes
from ctypes import byref
from typing import Any, Optional

from . import _lib
from ._checks import buffer_bytes, flag, most_of, positive, whole, word
from ._errors import check, fail
from ._lib import lib
from ._records import Plan
from ._url import Rules

_FLAGS = {"minimal_increase": _lib.MINIMAL_INCREASE, "layered_paper": _lib.LAYERED_PAPER,
          "layered_words": _lib.LAYERED_WORDS}
_NAMES = {"kind": lib.deja_kind_parse, "part_kind": lib.deja_kind_parse, "hash": lib.deja_hash_parse}
_TYPES = {name: type_ for name, type_ in _lib.Options._fields_
          if name not in ("size", "key", "alloc", "url", "flags")}
_ESTIMATES = ("capacity", "memory")  # a product such as 1.2 * n will do
_DEMANDS = ("hash", "seed", "url", "counter_bits", "generations", "window_seconds", "layers", "delimiter")


def _parsed(what: str, name: str) -> int:
    number = _NAMES[what](word(what, name))
    if not number:
        fail(_lib.EINVAL, f"there is no {what.replace('part_', '')} {name!r}")
    return int(number)


def _field(name: str, value: Any) -> Any:
    if name in _NAMES:
        return _parsed(name, value)
    if _TYPES[name] is ctypes.c_double:
        return positive(name, value)
    if name == "delimiter" and isinstance(value, (str, bytes)):
        if len(value) != 1:
            fail(_lib.EINVAL, f"delimiter={value!r} is not one character")
        value = ord(value)
    return whole(name, value, most_of(_TYPES[name]), fractions=name in _ESTIMATES)


def _secret(key: bytes) -> bytes:
    data = buffer_bytes("key", key)
    if len(data) != _lib.KEY_LEN:
        fail(_lib.EINVAL, f"key has {len(data)} bytes; a secret key has {_lib.KEY_LEN}")
    return data


def checked(name: str, value: Any) -> Any:
    """One option as a server takes it: numbers as numbers, names as they are."""
    if name == "key":
        return _secret(value)
    number = _field(name, value)
    return value if name in _NAMES else number


def make_options(*, key: Optional[bytes] = None, rules: Optional[Rules] = None, **given: Any) -> _lib.Options:
    """deja_options; `given` are its fields by their name in deja.h, and flags by theirs."""
    flags = _lib.KEY_APART if key is not None else 0
    for name, bit in _FLAGS.items():
        if flag(name, given.pop(name, False)):
            flags |= bit
    unknown = set(given) - set(_TYPES)
    if unknown:
        raise TypeError(f"a filter has no option {', '.join(sorted(unknown))}")
    given = {name: _field(name, value) for name, value in given.items() if value is not None}
    if not given.keys() & {"kind", "capacity", "memory"}:
        given["kind"] = _parsed("kind", "scalable")  # as the command does: nobody knows how many will come
    options = _lib.Options(flags=flags, url=rules._handle if rules else None, **given)
    if key is not None:
        options.take_key(_secret(key))
    return options


def let_grow(options: _lib.Options, grow: Optional[bool]) -> None:
    """Make the capacity a first size.  None: if the options allow it; True: they have to; False: no."""
    if grow is False:
        if options.kind == _parsed("kind", "scalable"):
            fail(_lib.EINVAL, "grow=False, and nothing says how large the filter is to be: give capacity= or memory=")
        return
    if not lib.deja_options_grow(byref(options)) and grow:
        fail(_lib.EINVAL, "grow=True, but these options cannot grow: blocked, classic and exact can, without memory, "
             "hashes, multiplier, filters and the papers' hashes")


def demands(options: _lib.Options, kind: Optional[str]) -> _lib.Options:
    """What options ask of a filter that is there: what is left to a default is no demand on it."""
    expect = _lib.Options(kind=options.kind if kind else 0,
                          flags=options.flags & (_lib.LAYERED_PAPER | _lib.LAYERED_WORDS),
                          **{name: getattr(options, name) for name in _DEMANDS})
    expect.share_key(options)
    return expect


def plan(*, grow: Optional[bool] = None, **options: Any) -> Plan:
    """What a Filter of these options comes to (capacity=, fp_rate=, kind=, memory=, grow= ...), without
    making it; of one that grows, its first part.

    >>> plan(capacity=1e9, fp_rate=0.01, grow=False).bytes
    1238534336
    """
    error, numbers, chosen = _lib.Error(), _lib.Plan(), make_options(**options)
    let_grow(chosen, grow)
    check(lib.deja_plan_make(byref(chosen), byref(numbers), byref(error)), error)
    return Plan._of(numbers)
