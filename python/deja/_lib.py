"""libdeja through ctypes: finds the library and declares the structures and functions in use.

deja.h is the reference; its comments are not repeated here.  The options of a filter come from the
library's own table.  A structure that begins with `size` may be shorter than the library's: fields
are only appended, and the library reads the size.  tests/python/abi.py compares all of this with
the header.

The library is searched for in this order:

    $DEJA_LIBRARY            a file, for work on deja itself
    next to this module      the copy in a wheel
    libdeja.so.0.2           the system's, found by the loader
"""

from __future__ import annotations

import ctypes
import os
from ctypes import (
    POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_int, c_size_t, c_uint16, c_uint32,
    c_uint64, c_uint, c_void_p,
)
from pathlib import Path
from typing import Any, Iterator

ABI = (0, 2)  # major and minor version of deja.h; before 1.0 a minor release may change the interface
SONAME = f"libdeja.so.{ABI[0]}.{ABI[1]}"

# --- Numbers ----------------------------------------------------------------------

OK = 0
EINVAL, ENOMEM, EIO, EFORMAT, EVERSION, EFULL, ESPACE, ENOTSUP, EMISMATCH, EBUSY, ENOTURL = range(-1, -12, -1)
KEY_LEN = 32
KEY_APART = 1  # in deja_options.flags; the other flags are rows of the option table
CAN_ADD, CAN_GROW = 0x0001, 0x0010
OPTION_COUNT, OPTION_RATE, OPTION_REAL, OPTION_CHOICE, OPTION_CHAR, OPTION_FLAG = range(1, 7)
OPTION_SECRET, OPTION_RULES, OPTION_BITS = 7, 8, 9
OPTION_CHOICES = 64
OPEN_WRITE, CREATE_REPLACE, OPEN_REPAIR = 1, 2, 4
CREATE_MODE_SHIFT = 16  # DEJA_CREATE_MODE
URL_NO_LIST = 1
STATS_BODY = 1
URL_EXPRESSIONS = 30
OPEN_CREATE = 8
SIEVE_BATCH = 4096
SIEVE_NO_RECORD = 2 ** 64 - 1
SIEVE_SEEN, SIEVE_NEW, SIEVE_PENDING = range(3)


def url_room(length: int) -> int:
    """DEJA_URL_ROOM."""
    return 4 * length + 512


# --- The library ------------------------------------------------------------------


def _load() -> ctypes.CDLL:
    chosen = os.environ.get("DEJA_LIBRARY")
    bundled = Path(__file__).with_name(SONAME)
    name = chosen or (str(bundled) if bundled.exists() else SONAME)
    try:
        return ctypes.CDLL(name, use_errno=True)
    except OSError as reason:
        raise ImportError(
            f"deja needs the library {SONAME}: {reason}. Install deja (cmake --install, then ldconfig), use a "
            "wheel that includes the library, or set DEJA_LIBRARY to the file."
        ) from None


_cdll = _load()


# --- Structures -------------------------------------------------------------------


class Error(Structure):
    _fields_ = [("status", c_int), ("text", c_char * 252)]


class Slice(Structure):
    """A deja_slice that the library fills in."""

    _fields_ = [("data", c_void_p), ("len", c_size_t)]

    def copy(self) -> bytes:
        return ctypes.string_at(self.data, self.len)


class Key(Structure):
    """A deja_slice of a bytes object, which it keeps alive."""

    _fields_ = [("data", c_char_p), ("len", c_size_t)]


class Sized(Structure):
    """A structure with its own size in the first field."""

    def __init__(self, **fields: Any) -> None:
        super().__init__(size=ctypes.sizeof(type(self)), **fields)


class Option(Structure):
    """A row of the library's option table (deja_option)."""

    _fields_ = [
        ("name", c_char_p), ("keyword", c_char_p), ("value", c_char_p), ("help", c_char_p), ("unit", c_char_p),
        ("type", c_uint32), ("width", c_uint32), ("offset", c_size_t), ("least", c_uint64), ("most", c_uint64),
        ("standard", c_double), ("choice", ctypes.CFUNCTYPE(c_char_p, c_uint32)), ("flag", c_uint32),
        ("compared", c_uint32),
        ("renewable", c_uint32),
    ]


def _read_options() -> Iterator[Option]:
    """Yield the rows, which live as long as the library."""
    if not hasattr(_cdll, "deja_option_at"):  # a different version; _declare reports it
        return
    _cdll.deja_option_at.restype, _cdll.deja_option_at.argtypes = POINTER(Option), [c_size_t]
    at = 0
    while row := _cdll.deja_option_at(at):
        yield row.contents
        at += 1


OPTIONS = {row.name.decode(): row for row in _read_options()}


def _type_of(row: Option) -> Any:
    types = {OPTION_RATE: c_double, OPTION_REAL: c_double, OPTION_SECRET: c_void_p, OPTION_RULES: c_void_p}
    return types.get(row.type, c_uint32 if row.width == 4 else c_uint64)


def _option_fields() -> Iterator[tuple[str, Any]]:
    """Yield the fields of deja_options: those of the table, and the few that are not options."""
    fields = {0: ("size", c_size_t)}
    for name, row in OPTIONS.items():
        fields.setdefault(row.offset, ("flags" if row.flag else name, _type_of(row)))
    end = 0
    for offset, (name, type_) in sorted(fields.items()):
        if offset > end:
            yield "alloc", c_void_p
        yield name, type_
        end = offset + ctypes.sizeof(type_)


class Keyed(Sized):
    """A structure with a pointer to a secret key."""

    def take_key(self, secret: bytes) -> None:
        """Point to a copy of the secret that lives as long as the structure."""
        self._secret = ctypes.create_string_buffer(secret, len(secret))
        self.key = ctypes.addressof(self._secret)


class Options(Keyed):
    _fields_ = list(_option_fields())

    def field(self, row: Option) -> Any:
        """Return the field of a row; read or set its `value`."""
        return _type_of(row).from_buffer(self, row.offset)

    def share_key(self, other: "Options") -> None:
        """Point to the secret of other options, if any."""
        self._shared, self.key = other, other.key


class Plan(Sized):
    _fields_ = [
        ("size", c_size_t), ("kind", c_uint32), ("hashes", c_uint32), ("filters", c_uint32),
        ("hash", c_uint32), ("capacity", c_uint64), ("fp_rate", c_double), ("bits", c_uint64),
        ("bytes", c_uint64), ("bits_per_key", c_double), ("lost", c_double), ("deletions", c_uint64),
        ("fn_rate", c_double), ("generations", c_uint64), ("lines", c_uint64), ("cache_lines", c_uint64),
    ]


class Stats(Sized):
    _fields_ = [
        ("size", c_size_t), ("kind", c_uint32), ("part_kind", c_uint32), ("parts", c_uint32),
        ("filters", c_uint32), ("hash", c_uint32), ("hashes", c_uint32), ("growth", c_uint32),
        ("profile", c_uint32), ("fp_rate", c_double), ("tightening", c_double), ("url_rules", c_uint64),
        ("capacity", c_uint64), ("bytes", c_uint64), ("offered", c_uint64), ("keys", c_uint64),
        ("entries", c_uint64), ("excess", c_uint64), ("format", c_uint64), ("syncs", c_uint64),
        ("flags", c_uint32), ("keyed", c_uint32), ("unclean", c_uint32), ("counter_bits", c_uint32),
        ("visit", c_uint64), ("visits_before", c_uint64), ("last_distinct", c_uint64),
        ("last_lost", c_double), ("unions", c_uint64), ("folds", c_uint64), ("removed", c_uint64),
        ("refused", c_uint64), ("hidden", c_uint64), ("generations", c_uint64),
        ("window_seconds", c_uint64), ("clock_behind", c_uint64), ("bits", c_uint64),
        ("bits_set", c_uint64), ("fill", c_double), ("distinct", c_double), ("fp_now", c_double),
        ("lost", c_double), ("missed", c_double), ("bits_expected", c_double), ("bits_sigma", c_double),
        ("largest", c_uint64), ("saturated", c_uint64), ("deletions", c_uint64),
        ("deletions_capacity", c_uint64), ("fn_now", c_double), ("crowded", c_uint64),
        ("turns", c_uint64), ("window_keys", c_uint64), ("generation_keys", c_uint64 * 8),
        ("generation_age", c_uint64 * 8), ("familiar", c_uint64), ("layers", c_uint32),
        ("layers_most", c_uint32), ("delimiter", c_uint64), ("oldest_day", c_uint64),
        ("newest_day", c_uint64), ("exceptions", c_uint64), ("merged_parts", c_uint32),
        ("other_keys", c_uint32), ("merged_rate", c_double), ("cache_lines", c_uint64),
        ("machine", c_uint64), ("key_check", c_uint64),
    ]


class Days(Structure):
    _fields_ = [("first", c_uint16), ("last", c_uint16)]


class Layer(Sized):
    _fields_ = [
        ("size", c_size_t), ("segments", c_uint64), ("capacity", c_uint64), ("bytes", c_uint64),
        ("fp_now", c_double), ("parts", c_uint32), ("hashes", c_uint32),
    ]


class SieveOptions(Keyed):
    _fields_ = [
        ("size", c_size_t), ("memory", c_uint64), ("key", c_void_p), ("seed", c_uint64), ("url", c_void_p),
        ("alloc", c_void_p), ("flags", c_uint32), ("reserved", c_uint32),
    ]


class Fingerprint(Structure):
    _fields_ = [("hash", c_uint64), ("check", c_uint32), ("tag", c_uint32)]


class Settled(Structure):
    _fields_ = [("token", c_uint64), ("record", Slice), ("verdict", c_uint32), ("reserved", c_uint32)]


class SieveStats(Sized):
    """deja_sieve_report."""

    _fields_ = [
        ("size", c_size_t), ("keys", c_uint64), ("recent", c_uint64), ("runs", c_uint64), ("disk", c_uint64),
        ("memory", c_uint64), ("memory_used", c_uint64), ("filter_bytes", c_uint64), ("filter_hashes", c_uint32),
        ("flags", c_uint32), ("uncommitted", c_uint64), ("pending", c_uint64), ("pending_most", c_uint64),
        ("waited", c_uint64), ("settled", c_uint64), ("late", c_uint64), ("passes", c_uint64),
        ("merges", c_uint64), ("merges_failed", c_uint64), ("merging", c_uint32), ("profile", c_uint32),
        ("url_rules", c_uint64), ("wait_rate", c_double), ("wrong", c_double), ("merge_error", c_char * 128),
    ]


class SievePlan(Sized):
    """deja_sieve_forecast."""

    _fields_ = [
        ("size", c_size_t), ("disk", c_uint64), ("disk_most", c_uint64), ("late", c_double), ("waiting", c_double),
        ("passes", c_double), ("read", c_double), ("written", c_double), ("wait_rate", c_double),
        ("wrong", c_double),
    ]


# --- Prototypes -------------------------------------------------------------------

# Arrays are c_void_p, which accepts an array and, through byref, a position inside one.
_filter, _builder, _import, _sieve, _rules, _array, _room = (c_void_p,) * 7
_out = POINTER(c_void_p)
_error = POINTER(Error)
_size = POINTER(c_size_t)

PROTOTYPES: dict[str, tuple[Any, ...]] = {  # name: result, arguments
    "deja_strerror": (c_char_p, c_int),
    "deja_version": (c_char_p,),
    "deja_version_number": (c_uint32,),
    "deja_profile_name": (c_char_p, c_uint32),
    "deja_profile_parse": (c_uint32, c_char_p),
    "deja_url_profile": (_rules, c_uint32),
    "deja_url_rules_new": (c_int, c_uint32, c_uint, _array, c_size_t, _array, c_size_t, _out, _error),
    "deja_url_rules_free": (None, _rules),
    "deja_url_rules_id": (c_uint64, _rules),
    "deja_url_rules_older": (_rules, _rules),
    "deja_url_canon": (c_int, _rules, Key, _room, c_size_t, POINTER(Slice), _error),
    "deja_url_canon_batch": (c_size_t, _rules, _array, c_size_t, _room, c_size_t, _array, _array),
    "deja_url_resolve": (c_int, Key, Key, _room, c_size_t, POINTER(Slice), _error),
    "deja_url_split": (c_size_t, Key, _array, c_size_t),
    "deja_url_expressions": (c_size_t, Slice, _array),
    "deja_kind_name": (c_char_p, c_uint32),
    "deja_kind_can": (c_bool, c_uint32, c_uint32),
    "deja_hash_name": (c_char_p, c_uint32),
    "deja_option_at": (POINTER(Option), c_size_t),
    "deja_options_like": (c_int, _filter, POINTER(Options), _error),
    "deja_options_grow": (c_bool, POINTER(Options)),
    "deja_plan_make": (c_int, POINTER(Options), POINTER(Plan), _error),
    "deja_filter_new": (c_int, POINTER(Options), _out, _error),
    "deja_filter_free": (None, _filter),
    "deja_filter_can": (c_bool, _filter, c_uint32),
    "deja_filter_open": (c_int, c_char_p, c_uint, POINTER(Options), _out, _error),
    "deja_filter_create": (c_int, c_char_p, c_uint, POINTER(Options), _out, _error),
    "deja_filter_copy": (c_int, _filter, c_char_p, c_uint, _out, _error),
    "deja_filter_add": (c_int, _filter, Key, POINTER(c_bool), _error),
    "deja_filter_contains": (c_bool, _filter, Key),
    "deja_filter_remove": (c_int, _filter, Key, POINTER(c_bool), _error),
    "deja_filter_count": (c_int, _filter, Key, POINTER(c_uint64), _error),
    "deja_filter_add_batch": (c_int, _filter, _array, c_size_t, _array, _size, _error),
    "deja_filter_contains_batch": (None, _filter, _array, c_size_t, _array),
    "deja_filter_remove_batch": (c_int, _filter, _array, c_size_t, _array, _size, _error),
    "deja_filter_count_batch": (c_int, _filter, _array, c_size_t, _array, _error),
    "deja_filter_prefix_batch": (c_int, _filter, _array, c_size_t, _array, _error),
    "deja_filter_days_batch": (c_int, _filter, _array, c_size_t, _array, _error),
    "deja_filter_older": (c_int, _filter, c_uint32, POINTER(c_uint64), _error),
    "deja_filter_expire": (c_int, _filter, c_uint32, POINTER(c_uint64), _error),
    "deja_filter_set_clock": (c_int, _filter, c_uint64, _error),
    "deja_filter_stats": (c_int, _filter, c_uint, POINTER(Stats), _error),
    "deja_filter_layer": (c_int, _filter, c_uint32, POINTER(Layer), _error),
    "deja_filter_sync": (c_int, _filter, _error),
    "deja_filter_merge": (c_int, _filter, _filter, _error),
    "deja_filter_fold": (c_int, _filter, c_uint32, _error),
    "deja_filter_overlap": (c_int, _filter, _filter, POINTER(c_double), POINTER(c_double), _error),
    "deja_filter_rotate": (c_int, _filter, POINTER(Options), _error),
    "deja_file_verify": (c_int, c_char_p, _error),
    "deja_files_guard": (c_int, _error),
    "deja_filter_check_file": (c_int, _filter, _error),
    "deja_filter_export": (c_size_t, _filter, c_uint64, _room, c_size_t),
    "deja_filter_import": (c_int, _array, c_size_t, POINTER(Options), _out, _error),
    "deja_import_new": (c_int, c_uint64, POINTER(Options), _out, _error),
    "deja_import_write": (c_int, _import, _array, c_size_t, _error),
    "deja_import_finish": (c_int, _import, _out, _error),
    "deja_import_free": (None, _import),
    "deja_builder_new": (c_int, POINTER(Options), _out, _error),
    "deja_builder_free": (None, _builder),
    "deja_builder_add_batch": (c_int, _builder, _array, c_size_t, _error),
    "deja_builder_except_batch": (c_int, _builder, _array, c_size_t, c_uint, _error),
    "deja_builder_finish": (c_int, _builder, c_char_p, c_uint, _out, _error),
    "deja_lines_split": (c_size_t, POINTER(Slice), c_char, _array, c_size_t),
    "deja_sieve_open": (c_int, c_char_p, c_uint, POINTER(SieveOptions), _out, _error),
    "deja_sieve_free": (None, _sieve),
    "deja_sieve_exists": (c_bool, c_char_p),
    "deja_sieve_hash_batch": (None, _sieve, _array, c_size_t, _array),
    "deja_sieve_judge": (c_int, _sieve, _array, c_size_t, _array, _array, _array, _error),
    "deja_sieve_commit": (c_int, _sieve, _error),
    "deja_sieve_settle": (c_int, _sieve, _error),
    "deja_sieve_settled": (c_int, _sieve, POINTER(Settled), c_size_t, _size, _error),
    "deja_sieve_sync": (c_int, _sieve, _error),
    "deja_sieve_save": (c_int, _sieve, _error),
    "deja_sieve_contains": (c_int, _sieve, _array, c_size_t, _array, _error),
    "deja_sieve_merge": (c_int, _sieve, _sieve, _error),
    "deja_sieve_verify": (c_int, c_char_p, _error),
    "deja_sieve_stats": (c_int, _sieve, POINTER(SieveStats), _error),
    "deja_sieve_plan": (c_int, POINTER(SieveOptions), c_uint64, c_uint64, POINTER(SievePlan), _error),
}


# --- The library, declared -------------------------------------------------------


def _declare(lib: ctypes.CDLL) -> ctypes.CDLL:
    if not hasattr(lib, "deja_version"):
        raise ImportError(f"{lib._name} is not {SONAME}: it lacks deja_version")
    number = lib.deja_version_number() if hasattr(lib, "deja_version_number") else 100  # 0.1 lacks it
    if divmod(number // 100, 100) != ABI:
        lib.deja_version.restype = c_char_p
        raise ImportError(
            f"this package needs libdeja {ABI[0]}.{ABI[1]}, but {lib._name} is {lib.deja_version().decode()}; "
            "install both from the same release"
        )
    for name, (result, *arguments) in PROTOTYPES.items():
        try:
            function = getattr(lib, name)
        except AttributeError:
            raise ImportError(f"{lib._name} lacks {name}: it is older than this package") from None
        function.restype, function.argtypes = result, arguments
    return lib


lib = _declare(_cdll)
