"""What the library tells about filters, as records.  deja.h has the meaning of every number."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from typing import Any, Optional, TypeVar

from ._lib import lib

_NAMES = {"kind": lib.deja_kind_name, "part_kind": lib.deja_kind_name, "hash": lib.deja_hash_name,
          "profile": lib.deja_profile_name}
_FLAGS = {"unclean", "key_apart", "keyed", "minimal_increase"}


def _value(name: str, number: Any) -> Any:
    if name in _NAMES:
        text = _NAMES[name](number)
        return text.decode() if text else None
    if isinstance(number, ctypes.Array):
        return tuple(number)
    return bool(number) if name in _FLAGS else number


_R = TypeVar("_R", bound="_Record")


class _Record:
    @classmethod
    def _of(cls: type[_R], numbers: Any) -> _R:
        return cls(**{f.name: _value(f.name, getattr(numbers, f.name)) for f in fields(cls)})


@dataclass(frozen=True)
class Plan(_Record):
    """What options come to."""

    kind: str
    hashes: int  # k
    filters: int
    hash: str
    capacity: int
    fp_rate: float  # predicted at capacity: at most what was asked for
    bits: int
    bytes: int
    bits_per_key: float
    lost: float  # keys expected to be lost while filling to capacity
    deletions: int  # paired: removals it is sized for
    fn_rate: float  # and the share of its keys that is forgotten then
    generations: int  # window
    lines: int  # cache lines that a lookup reads; scalable: per part


@dataclass(frozen=True)
class Stats(_Record):
    """What is in a filter, and what it costs."""

    kind: str
    part_kind: str
    parts: int
    hashes: int
    filters: int
    hash: str
    capacity: int
    fp_rate: float  # as asked for
    bits: int
    bytes: int
    bits_set: int
    fill: float
    offered: int  # keys that add was asked to take
    keys: int  # of these, answered "new"
    distinct: float  # different keys, estimated from the bits
    fp_now: float  # false-positive rate at the present fill
    lost: float  # new keys expected to have been taken for seen, so far
    bits_expected: float
    bits_sigma: float
    visit: int
    syncs: int
    profile: Optional[str]  # of its URLs; None: bytes as given
    url_rules: int
    unclean: bool  # was not synced after its last add; counts are estimates
    key_apart: bool
    keyed: bool
    visits_before: int
    last_distinct: int
    last_lost: float
    missed: float  # chance that a page was missed by every visit
    unions: int
    folds: int
    removed: int
    refused: int
    largest: int
    saturated: int
    counter_bits: int
    minimal_increase: bool
    deletions: int  # paired: keys in its second filter
    deletions_capacity: int
    hidden: int
    fn_now: float  # share of its keys that it forgets
    generations: int  # window: full ones that it remembers
    crowded: int
    window_seconds: int
    turns: int
    window_keys: int
    generation_keys: tuple[int, ...]  # the newest first
    generation_age: tuple[int, ...]  # seconds since it began
    familiar: int  # layered: new keys whose segments were all known before
    layers: int
    layers_most: int
    layered_flags: int
    delimiter: int
    format: int  # of its file: 1 as deja 0.1 wrote it, 2 since 0.2
    clock_behind: int  # window: seconds by which its newest generation starts in the future


@dataclass(frozen=True)
class Layer(_Record):
    """One layer of a layered filter."""

    segments: int  # different ones in it
    capacity: int
    bytes: int
    fp_now: float  # rate at which a segment that is not in it is found
    parts: int
    hashes: int


@dataclass(frozen=True)
class Outline(_Record):
    """What a filter knows without reading its body."""

    kind: str
    part_kind: str
    parts: int
    filters: int
    hash: str
    hashes: int
    growth: int  # scalable, as tightening
    profile: Optional[str]
    url_rules: int
    capacity: int
    bytes: int
    offered: int
    keys: int
    visit: int
    fp_rate: float  # as asked for
    tightening: float
    flags: int
    keyed: bool
    entries: int  # keys that take up capacity; paired: also those removed
    excess: int  # of these, beyond what the filter is sized for: its rate is above fp_rate
    clock_behind: int  # window: seconds by which its newest generation starts in the future
