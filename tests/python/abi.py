"""abi - _lib.py agrees with deja.h, and nothing is missing.

The package calls every function that the library exports, or NOT_BOUND gives the reason why not.
Every field of a structure is in the record of the same name.
"""

import os
import re
import shutil
import subprocess
import sys

import pydeja

import ctypes
import dataclasses
from deja import _lib, _records

header = (pydeja.SOURCE / "include" / "deja.h").read_text()
plain = re.sub(r"/\*.*?\*/", " ", header, flags=re.S)
STRUCTURES = {"deja_error": _lib.Error, "deja_slice": _lib.Slice, "deja_option": _lib.Option, "deja_options": _lib.Options,
              "deja_plan": _lib.Plan, "deja_stats": _lib.Stats, "deja_layer": _lib.Layer, "deja_days": _lib.Days,
              "deja_sieve_options": _lib.SieveOptions, "deja_fingerprint": _lib.Fingerprint, "deja_settled": _lib.Settled,
              "deja_sieve_report": _lib.SieveStats, "deja_sieve_forecast": _lib.SievePlan}
NUMBERS = {f"DEJA_{name}": getattr(_lib, name) for name in
           "OK EINVAL ENOMEM EIO EFORMAT EVERSION EFULL ESPACE ENOTSUP EMISMATCH EBUSY ENOTURL KEY_LEN KEY_APART "
           "OPTION_COUNT OPTION_RATE OPTION_REAL OPTION_CHOICE OPTION_CHAR OPTION_FLAG OPTION_SECRET OPTION_RULES OPTION_BITS "
           "OPTION_CHOICES OPEN_WRITE CREATE_REPLACE CREATE_MODE_SHIFT OPEN_REPAIR "
           "URL_NO_LIST URL_EXPRESSIONS STATS_BODY CAN_ADD CAN_GROW "
           "OPEN_CREATE SIEVE_BATCH SIEVE_NO_RECORD SIEVE_SEEN SIEVE_NEW SIEVE_PENDING".split()}
NUMBERS.update(DEJA_VERSION_MAJOR=_lib.ABI[0], DEJA_VERSION_MINOR=_lib.ABI[1])
NUMBERS["DEJA_URL_ROOM(100)"] = _lib.url_room(100)

TWO_STEPS = "hashes in one thread for lookups in another; here, several threads call add_many"
LINES = "deja_lines_split splits buffers into keys"
NOT_BOUND = {
    "deja_builder_add_hashed": TWO_STEPS, "deja_builder_hash_batch": TWO_STEPS,
    "deja_filter_add_hashed": TWO_STEPS, "deja_filter_contains_hashed": TWO_STEPS,
    "deja_filter_count_hashed": TWO_STEPS, "deja_filter_days_hashed": TWO_STEPS, "deja_filter_hash_batch": TWO_STEPS,
    "deja_filter_hash_words": TWO_STEPS, "deja_filter_remove_hashed": TWO_STEPS,
    **dict.fromkeys(("deja_dedup_again_after", "deja_dedup_commit", "deja_dedup_contains", "deja_dedup_free", "deja_dedup_judge", "deja_dedup_new",
                     "deja_dedup_pending"), "takes hashes, as the two-step calls do"),
    "deja_sieve_each": TWO_STEPS, "deja_sieve_like": TWO_STEPS,
    **dict.fromkeys(("deja_sieve_create", "deja_sieve_rename", "deja_sieve_remove"), "whole sieves: use the command"),
    "deja_sieve_record": "for programs with a durable queue of their own",
    "deja_builder_except_hashed": TWO_STEPS, "deja_builder_excepted": "the stats have the number of exceptions",
    "deja_filter_difference": "the message lists the differences",
    "deja_builder_add": "build adds batches", "deja_filter_prefix": "prefix calls prefix_many",
    "deja_filter_days": "days calls days_many", "deja_filter_today": "Python code does the same",
    "deja_filter_export_len": "an export ends with an empty piece",
    "deja_import_len": "callers can count pieces", "deja_import_read": "the caller has the pieces",
    "deja_lines_count": LINES, "deja_lines_ends": LINES,
    "deja_filter_profile": "the stats contain it", "deja_url_rules_profile": "Rules knows its profile",
    **dict.fromkeys(("deja_filter_require", "deja_kind_help", "deja_kind_next"),
                    "an unsupported call raises an error that names a kind that supports it"),
    **dict.fromkeys(("deja_kind_parse", "deja_hash_parse"), "the option table has the names"),
    "deja_option_find": "the rows are in a dict", "deja_option_accepted": "the library refuses other options",
    **dict.fromkeys(("deja_option_given", "deja_option_print", "deja_option_translate"), "Python code does the same"),
    "deja_simd_name": "for benchmarks in C",
}


def forgotten():
    exported = set((pydeja.SOURCE / "tests" / "lint" / "symbols.txt").read_text().split())
    exported = {name for name in exported if name.startswith("deja_")}
    package = "".join(file.read_text() for file in (pydeja.SOURCE / "python" / "deja").glob("*.py"))
    yield from (f"{name}: exported, neither in _lib.py nor in NOT_BOUND" for name in
                sorted(exported - set(_lib.PROTOTYPES) - set(NOT_BOUND)))
    yield from (f"{name}: in NOT_BOUND, but bound or not exported" for name in
                sorted(set(NOT_BOUND) - (exported - set(_lib.PROTOTYPES))))
    yield from (f"{name}: in _lib.py, but nothing calls it" for name in _lib.PROTOTYPES
                if not re.search(rf"\.{name}\b", package))
    for record in (_records.Plan, _records.Stats, _records.Layer, _records.SieveStats, _records.SievePlan):
        c = {name for name, *_ in getattr(_lib, record.__name__)._fields_} - {"size"}
        yield from (f"{record.__name__}.{name}: only in one of _lib.py and _records.py" for name in
                    c ^ {field.name for field in dataclasses.fields(record)})
    for name, structure in STRUCTURES.items():
        said = {field for field, *_ in structure._fields_}
        body = re.search(rf"typedef struct {name} {{(.*?)}} {name};", plain, flags=re.S).group(1)
        c = {re.search(r"(\w+)(\[\w+\]|\)\(.*\))?$", line.strip()).group(1) for line in body.split(";") if line.strip()}
        yield from (f"{name}.{field}: only in one of deja.h and _lib.py" for field in c ^ said)


def code():
    yield "#include <deja.h>\n#include <stdio.h>\nint main(void)\n{"
    for name, structure in STRUCTURES.items():
        for field, *_ in structure._fields_:
            yield (f'printf("{name}.{field} %d %d\\n", (int)offsetof({name}, {field}), '
                   f"(int)sizeof((({name} *)0)->{field}));")
    for name in NUMBERS:
        yield f'printf("{name} %lld\\n", (long long){name});'
    yield "return 0;\n}"


def expected():
    for name, structure in STRUCTURES.items():
        for field, *_ in structure._fields_:
            at = getattr(structure, field)
            yield f"{name}.{field} {at.offset} {at.size}"
    for name, number in NUMBERS.items():
        yield f"{name} {ctypes.c_int64(number).value}"


def arguments(name):
    """Return how many arguments the header declares."""
    text = re.search(rf"\b{name}\(([^;]*)\);", plain).group(1)
    return 0 if text.strip() == "void" else text.count(",") + 1


compiler = os.environ.get("CC", "cc")
if not shutil.which(compiler):
    pydeja.skip(f"no compiler {compiler}")
with open("abi.c", "w") as out:
    out.write("\n".join(code()) + "\n")
subprocess.run([compiler, f"-I{pydeja.SOURCE}/include", "abi.c", "-o", "abi"], check=True)
lines = subprocess.run(["./abi"], check=True, capture_output=True, text=True).stdout.splitlines()
wrong = [f"deja.h: {is_}   _lib.py: {said}" for is_, said in zip(lines, expected()) if is_ != said]
wrong += [f"{name}: {arguments(name)} arguments in deja.h, {len(types) - 1} in _lib.py"
          for name, types in _lib.PROTOTYPES.items() if arguments(name) != len(types) - 1]
wrong += forgotten()


def other_library(major, minor, with_number):
    """Return the output of `import deja` with a library of a different version."""
    name = f"./other{major}{minor}.so"
    with open("other.c", "w") as out:
        out.write(f'const char *deja_version(void) {{ return "{major}.{minor}.9"; }}\n')
        if with_number:
            out.write(f"unsigned deja_version_number(void) {{ return {major * 10000 + minor * 100 + 9}; }}\n")
    subprocess.run([compiler, "-w", "-shared", "-fPIC", "other.c", "-o", name], check=True)
    done = subprocess.run([sys.executable, "-c", "import deja"], env=dict(os.environ, DEJA_LIBRARY=name),
                          capture_output=True, text=True)
    return done.stderr


major, minor = _lib.ABI
for other in ((0, 1, False), (major, minor + 1, True), (major + 1, minor, True)):
    said = other_library(*other)
    if f"ImportError: this package needs libdeja {major}.{minor}, but " not in said or f"{other[0]}.{other[1]}.9" not in said:
        wrong.append(f"libdeja {other[0]}.{other[1]} is not refused by version: {said}")
assert ctypes.sizeof(_lib.Key) == ctypes.sizeof(_lib.Slice)
assert not wrong, "\n".join(wrong)
print(f"{len(lines)} fields and numbers, {len(_lib.PROTOTYPES)} calls")
