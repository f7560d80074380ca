"""Turn keyword arguments into deja_options.

In C, zero means the default.  Here None does, and zero is refused: seed=0 would be random, and
capacity=0 a filter that grows.  Numbers that do not fit the C field are refused too.
"""

from __future__ import annotations

from ctypes import byref
from typing import Any, Optional

from . import _lib
from ._checks import buffer_bytes, flag, positive, whole, word
from ._errors import call, fail, in_python
from ._lib import lib
from ._records import Plan
from ._url import Rules

_SPECIAL = (_lib.OPTION_SECRET, _lib.OPTION_RULES)  # key= and url= have their own types
_FLAGS = {name: row for name, row in _lib.OPTIONS.items() if row.flag}
_FIELDS = {name: row for name, row in _lib.OPTIONS.items() if not row.flag and row.type not in _SPECIAL}


def _choice(name: str, row: _lib.Option, value: Any) -> int:
    text = word(name, value)
    for number in range(_lib.OPTION_CHOICES):
        if row.choice(number) == text:
            return number
    return fail(_lib.EINVAL, f"{name}={value!r}: there is no such {name.replace('part_', '')}")


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
    # An estimate such as 1.2 * n may have a fraction.
    return whole(name, value, row.most, least=row.least, fractions=row.unit in (b"keys", b"bytes"))


def secret(key: bytes) -> bytes:
    """Return the bytes of a secret key."""
    data = buffer_bytes("key", key)
    if len(data) != _lib.KEY_LEN:
        fail(_lib.EINVAL, f"key has {len(data)} bytes; a secret key has {_lib.KEY_LEN}")
    return data


def checked(name: str, value: Any) -> Any:
    """Check one option; return it as a server accepts it, with names as text."""
    row = _lib.OPTIONS[name]
    if row.flag:
        return flag(name, value)
    if row.type == _lib.OPTION_SECRET:
        return secret(value)
    number = _field(name, value)
    return value if row.type == _lib.OPTION_CHOICE else number


def spelled(name: str, value: Any) -> list[Any]:
    """Return the words of DEJA.RESERVE for a checked option."""
    row = _lib.OPTIONS[name]
    if row.flag:
        return [row.keyword] if value else []
    return [row.keyword, bytes([value]) if row.type == _lib.OPTION_CHAR else value]


def make_options(*, key: Optional[bytes] = None, rules: Optional[Rules] = None, **given: Any) -> _lib.Options:
    """Return deja_options; `given` has fields and flags by their names in the option table."""
    flags = _lib.KEY_APART if key is not None else 0
    for name, row in _FLAGS.items():
        if flag(name, given.pop(name, False)):
            flags |= row.flag
    unknown = set(given) - set(_FIELDS)
    if unknown:
        raise TypeError(f"a filter has no option {', '.join(sorted(unknown))}; see help(deja.Filter)")
    given = {name: _field(name, value) for name, value in given.items() if value is not None}
    if not given.keys() & {"kind", "capacity", "memory"}:
        given["kind"] = _field("kind", "scalable")  # the number of keys is unknown: grow, as the command does
    options = _lib.Options(flags=flags, url=rules._handle if rules else None)
    for name, number in given.items():
        options.field(_FIELDS[name]).value = number
    if key is not None:
        options.take_key(secret(key))
    return options


def let_grow(options: _lib.Options, grow: Optional[bool]) -> None:
    """Let the filter grow.  True: fail if the options rule it out; None: grow if possible; False: do not."""
    if grow is False:
        if lib.deja_kind_can(options.kind, _lib.CAN_GROW):
            fail(_lib.EINVAL, "grow=False needs a size; give capacity= or memory=")
    elif not lib.deja_options_grow(byref(options)) and grow:
        fail(_lib.EINVAL, "grow=True, but these options rule out growth; use kind blocked, classic or exact, "
             "without memory, hashes, multiplier, filters and the papers' hashes")


def demands(options: _lib.Options, kind: Optional[str]) -> _lib.Options:
    """Return what the options demand of an existing filter; defaults demand nothing."""
    expect = _lib.Options(flags=options.flags, url=options.url)
    for row in _FIELDS.values():
        if row.compared:
            expect.field(row).value = options.field(row).value
    expect.kind = options.kind if kind else 0
    expect.share_key(options)
    return expect


def describe() -> str:
    """Return help lines for the options without a named parameter, for the docstring of Filter."""
    lines = []
    for name, row in _lib.OPTIONS.items():
        if name not in ("capacity", "fp_rate", "kind", "memory", "key", "seed", "url"):
            lines.append(f"        {name:<16}  {in_python(row.help.decode())}")
    return "\n".join(lines)


def plan(*, grow: Optional[bool] = None, **options: Any) -> Plan:
    """Return the size and rates of a filter with these options, without making it.

    The options are those of Filter: capacity=, fp_rate=, kind=, memory=, grow= ...  If the filter
    would grow, the plan describes its first part.

    >>> plan(capacity=1e9, fp_rate=0.01, grow=False).bytes
    1238534336
    """
    numbers, chosen = _lib.Plan(), make_options(**options)
    let_grow(chosen, grow)
    call(lib.deja_plan_make, byref(chosen), byref(numbers))
    return Plan._of(numbers)
