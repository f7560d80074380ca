"""abi - what _lib.py tells ctypes is what deja.h tells the compiler."""

import os
import re
import shutil
import subprocess

import pydeja

import ctypes
from deja import _lib

header = (pydeja.SOURCE / "include" / "deja.h").read_text()
STRUCTURES = {"deja_error": _lib.Error, "deja_slice": _lib.Slice, "deja_options": _lib.Options,
              "deja_plan": _lib.Plan, "deja_stats": _lib.Stats}
NUMBERS = {f"DEJA_{name}": getattr(_lib, name) for name in
           "OK EINVAL ENOMEM EIO EFORMAT EVERSION EFULL ESPACE ENOTSUP EMISMATCH EBUSY ENOTURL KEY_LEN KEY_APART "
           "MINIMAL_INCREASE LAYERED_PAPER LAYERED_WORDS OPEN_WRITE CREATE_REPLACE URL_NO_LIST URL_EXPRESSIONS SCALABLE STATIC".split()}
NUMBERS.update(DEJA_VERSION_MAJOR=_lib.ABI[0], DEJA_VERSION_MINOR=_lib.ABI[1], DEJA_URL_GSB=_lib.GSB,
               DEJA_URL_SCRAPY=_lib.SCRAPY)
NUMBERS["DEJA_URL_ROOM(100)"] = _lib.url_room(100)


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
        yield f"{name} {number}"


def arguments(name):
    """How many the header declares."""
    text = re.search(rf"\b{name}\(([^;]*)\);", re.sub(r"/\*.*?\*/", " ", header, flags=re.S)).group(1)
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
assert ctypes.sizeof(_lib.Key) == ctypes.sizeof(_lib.Slice)
assert not wrong, "\n".join(wrong)
print(f"{len(lines)} fields and numbers, {len(_lib.PROTOTYPES)} calls")
