"""deja_options from what the constructors take, and what they come to.

In C a zero asks for the default.  Here None does, and a zero is refused: seed=0 would be random,
and capacity=0 something that grows.  So are numbers that a field of C has no room for."""

from __future__ import annotations

from ctypes import byref
from typing import Any, Optional

from . import _lib
from ._checks import buffer_bytes, flag, positive, whole, word
from ._errors import check, fail, in_python
from ._lib import lib
from ._records import Plan
from ._url import Rules

_SPECIAL = (_lib.OPTION_SECRET, _lib.OPTION_RULES)  # key= and url= have types of their own
_FLAGS = {name: row for name, row in _lib.OPTIONS.items() if row.flag}
_FIELDS = {name: row for name, row in _lib.OPTIONS.items() if not row.flag and row.type not in _SPECIAL}


def _choice(name: str, row: _lib.Option, value: Any) -> int:
    text = word(name, value)
    for number in range(_lib.OPTION_CHOICES):
        if row.choice(number) == text:
            return number
    return fail(_lib.EINVAL, f"there is no {name.replace('part_', '')} {value!r}")


def _field(name: str, value: Any) -> Any:
    row = _FIELDS[name]
    if row.type == _lib.OPTION_CHOICE:
        return _choice(name, row, value)
    if row.type in (_lib.OPTION_RATE, _lib.OPTION_REAL):
        return positive(name, value)
    if row.type == _lib.OPTION_CHAR and isinstance(value, (str, bytes)):
        if len(value) != 1:
            fail(_lib.EINVAL, f"{name}={value!r} is not one character")
        value = ord(value)
    # An estimate, a product such as 1.2 * n, may have a fraction.
    return whole(name, value, row.most, least=row.least, fractions=row.unit in (b"keys", b"bytes"))


def _secret(key: bytes) -> bytes:
    data = buffer_bytes("key", key)
    if len(data) != _lib.KEY_LEN:
        fail(_lib.EINVAL, f"key has {len(data)} bytes; a secret key has {_lib.KEY_LEN}")
    return data


def checked(name: str, value: Any) -> Any:
    """One option as a server takes it: numbers as numbers, names as they are."""
    row = _lib.OPTIONS[name]
    if row.flag:
        return flag(name, value)
    if row.type == _lib.OPTION_SECRET:
        return _secret(value)
    number = _field(name, value)
    return value if row.type == _lib.OPTION_CHOICE else number


def spelled(name: str, value: Any) -> list[Any]:
    """The words of DEJA.RESERVE for an option that was checked."""
    row = _lib.OPTIONS[name]
    if row.flag:
        return [row.keyword] if value else []
    return [row.keyword, bytes([value]) if row.type == _lib.OPTION_CHAR else value]


def make_options(*, key: Optional[bytes] = None, rules: Optional[Rules] = None, **given: Any) -> _lib.Options:
    """deja_options; `given` are its fields by their name in deja.h, and flags by theirs."""
    flags = _lib.KEY_APART if key is not None else 0
    for name, row in _FLAGS.items():
        if flag(name, given.pop(name, False)):
            flags |= row.flag
    unknown = set(given) - set(_FIELDS)
    if unknown:
        raise TypeError(f"a filter has no option {', '.join(sorted(unknown))}")
    given = {name: _field(name, value) for name, value in given.items() if value is not None}
    if not given.keys() & {"kind", "capacity", "memory"}:
        given["kind"] = _field("kind", "scalable")  # as the command does: nobody knows how many will come
    options = _lib.Options(flags=flags, url=rules._handle if rules else None)
    for name, number in given.items():
        options.field(_FIELDS[name]).value = number
    if key is not None:
        options.take_key(_secret(key))
    return options


def let_grow(options: _lib.Options, grow: Optional[bool]) -> None:
    """Make the capacity a first size.  None: if the options allow it; True: they have to; False: no."""
    if grow is False:
        if options.kind == _field("kind", "scalable"):
            fail(_lib.EINVAL, "grow=False, and nothing says how large the filter is to be: give capacity= or memory=")
        return
    if not lib.deja_options_grow(byref(options)) and grow:
        fail(_lib.EINVAL, "grow=True, but these options cannot grow: blocked, classic and exact can, without memory, "
             "hashes, multiplier, filters and the papers' hashes")


def demands(options: _lib.Options, kind: Optional[str]) -> _lib.Options:
    """What options ask of a filter that is there: what is left to a default is no demand on it."""
    expect = _lib.Options(flags=options.flags, url=options.url)
    for row in _FIELDS.values():
        if row.compared:
            expect.field(row).value = options.field(row).value
    expect.kind = options.kind if kind else 0
    expect.share_key(options)
    return expect


def describe() -> str:
    """The options of a filter that have no parameter of their own, for the documentation of Filter."""
    lines = []
    for name, row in _lib.OPTIONS.items():
        if name not in ("capacity", "fp_rate", "kind", "memory", "key", "seed", "url"):
            lines.append(f"    {name:<16}  {in_python(row.help.decode())}")
    return "\n".join(lines)


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
