"""Records of what the library reports about filters and sieves.  deja.h explains every field."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, NamedTuple, Optional, TypeVar

from ._errors import fail
from ._lib import EINVAL, lib

_NAMES = {"kind": lib.deja_kind_name, "part_kind": lib.deja_kind_name, "hash": lib.deja_hash_name,
          "profile": lib.deja_profile_name}
_FLAGS = {"unclean", "keyed", "merging"}
_DAYS = {"oldest_day", "newest_day"}
_EPOCH = date(1970, 1, 1).toordinal()


class Days(NamedTuple):
    """When a key was first and last seen; see Filter.days()."""

    first: date
    last: date


def date_of(day: int) -> Optional[date]:
    """Return the date of a day number; None for 0."""
    return date.fromordinal(_EPOCH + day) if day else None


def days_of(days: Any) -> Optional[Days]:
    first, last = date_of(days.first), date_of(days.last)
    return Days(first, last) if first and last else None


def day_of(name: str, day: date) -> int:
    """Return the number of a date; 0 if it is before 1970."""
    if not isinstance(day, date):
        fail(EINVAL, f"{name} is {day!r}, not a datetime.date")
    return max(day.toordinal() - _EPOCH, 0)


def _value(name: str, number: Any) -> Any:
    if name in _NAMES:
        text = _NAMES[name](number)
        return text.decode() if text else None
    if isinstance(number, ctypes.Array):
        return tuple(number)
    if isinstance(number, bytes):
        return number.decode(errors="backslashreplace")
    if name in _DAYS:
        return date_of(number)
    return bool(number) if name in _FLAGS else number


_R = TypeVar("_R", bound="_Record")


@dataclass(frozen=True)
class _Record:
    @classmethod
    def _of(cls: type[_R], numbers: Any) -> _R:
        return cls(**{f.name: _value(f.name, getattr(numbers, f.name)) for f in fields(cls)})


@dataclass(frozen=True)
class Plan(_Record):
    """The size and rates of a filter that does not exist yet; see plan()."""

    kind: str
    hashes: int  # k
    filters: int
    hash: str
    capacity: int
    fp_rate: float  # predicted at capacity; at most the requested rate
    bits: int
    bytes: int
    bits_per_key: float
    lost: float  # keys expected to be lost while filling to capacity
    deletions: int  # paired: removals it is sized for
    fn_rate: float  # paired: share of its keys that it forgets after these
    generations: int  # window: full ones that it remembers
    lines: int  # cache lines that a lookup reads; scalable: per part
    cache_lines: int  # of a key in each blocked filter; otherwise 1


@dataclass(frozen=True)
class Stats(_Record):
    """What a filter holds and what it costs; see Filter.stats()."""

    kind: str
    part_kind: str
    parts: int
    filters: int
    hash: str
    hashes: int
    growth: int  # scalable
    profile: Optional[str]  # of its URLs; None: keys are compared unchanged
    fp_rate: float  # as requested
    tightening: float  # scalable
    url_rules: int
    capacity: int
    bytes: int
    offered: int  # keys passed to add
    keys: int  # of these, answered "new"
    entries: int  # keys that take up capacity; paired: also removed ones
    excess: int  # of these, beyond the capacity: the rate is above fp_rate
    format: int  # of its file: 1 from deja 0.1, 2 since 0.2
    syncs: int
    flags: int  # DEJA_KEY_APART = 1, DEJA_MINIMAL_INCREASE = 2, DEJA_LAYERED_PAPER = 4, DEJA_LAYERED_WORDS = 8,
    #                  DEJA_DATES = 16, DEJA_SPREAD = 32
    keyed: bool
    unclean: bool  # not synced after its last add; counts are estimates
    counter_bits: int
    visit: int
    visits_before: int
    last_distinct: int
    last_lost: float
    unions: int
    folds: int
    removed: int
    refused: int
    hidden: int
    generations: int  # window: full ones that it remembers
    window_seconds: int
    clock_behind: int  # window: seconds by which its newest generation starts in the future

    # From the body; with body=False, a float is NaN and an int is 0.
    bits: int
    bits_set: int
    fill: float
    distinct: float  # distinct keys, estimated from the bits
    fp_now: float  # false-positive rate at the current fill
    lost: float  # new keys mistaken for seen so far, as expected
    missed: float  # chance that every visit so far missed a given page
    bits_expected: float
    bits_sigma: float
    largest: int
    saturated: int
    deletions: int  # paired: keys in its second filter
    deletions_capacity: int
    fn_now: float  # share of its keys that it forgets
    crowded: int
    turns: int
    window_keys: int
    generation_keys: tuple[int, ...]  # the newest first
    generation_age: tuple[int, ...]  # seconds since each began
    familiar: int  # layered: new keys whose segments were all known before
    layers: int
    layers_most: int
    delimiter: int
    oldest_day: Optional[date]  # with dates: the earliest last day of a key, UTC
    newest_day: Optional[date]
    exceptions: int  # static: keys that it would find by mistake, and does not
    merged_parts: int  # scalable: parts that came from other filters
    other_keys: int  # scalable: how many other secret keys they have
    merged_rate: float  # scalable: the sum of their rates, which adds to fp_rate
    cache_lines: int  # of a key in a blocked part; scalable: in the newest
    machine: int  # the filter of the F that it holds; 0: all of them
    key_check: int  # differs for different secret keys


@dataclass(frozen=True)
class Layer(_Record):
    """One layer of a layered filter; see Filter.layer()."""

    segments: int  # distinct ones
    capacity: int
    bytes: int
    fp_now: float  # false-positive rate for a segment
    parts: int
    hashes: int


@dataclass(frozen=True)
class SieveStats(_Record):
    """What a sieve holds and what it costs; see Sieve.stats()."""

    keys: int  # recorded
    recent: int  # of these, in memory and in the log ..
    runs: int  # .. and the others in this many runs
    disk: int  # bytes of all files
    memory: int  # bytes that it may use ..
    memory_used: int  # .. and those it has allocated
    filter_bytes: int  # 0: no filter yet, and no key waits
    filter_hashes: int  # k
    flags: int  # DEJA_KEY_APART = 1
    uncommitted: int  # judged or settled as new, not committed
    pending: int  # keys that wait
    pending_most: int  # room for pending keys
    waited: int  # since the sieve was created: keys that were pending ..
    settled: int  # .. those that have been settled and committed ..
    late: int  # .. and of these, the new ones
    passes: int  # over the runs
    merges: int  # of runs, since it was created
    merges_failed: int  # since it was opened; merge_error has the last reason
    merging: bool  # a merge is under way
    profile: Optional[str]  # of its URLs; None: keys are compared unchanged
    url_rules: int
    wait_rate: float  # share of new keys that wait, at the current fill
    wrong: float  # bound on the probability of any wrong answer
    merge_error: str


@dataclass(frozen=True)
class SievePlan(_Record):
    """The costs of a sieve that does not exist yet; see Sieve.plan()."""

    disk: int  # bytes after merges ..
    disk_most: int  # .. and during the largest
    late: float  # new keys that wait, in all ..
    waiting: float  # .. and keys that wait, with the seen ones
    passes: float  # over the runs
    read: float  # bytes read by passes and merges ..
    written: float  # .. and written, without the spool
    wait_rate: float  # share of new keys that wait at the end
    wrong: float  # bound on the probability of any wrong answer
