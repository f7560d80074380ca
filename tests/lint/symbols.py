"""symbols - libdeja.so exports exactly what deja.h declares, and what symbols.txt lists.

The list is the ABI: a line that goes away breaks programs, a new one is a promise.  After a
deliberate change: python3 tests/lint/symbols.py --write, with SOURCE set to the tree."""

import os
import re
import subprocess
import sys
from pathlib import Path

source = Path(os.environ["SOURCE"])
listed_path = source / "tests" / "lint" / "symbols.txt"


def declared():
    text = (source / "include" / "deja.h").read_text()
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    text = re.sub(r"^\s*#.*(?:\\\n.*)*$", " ", text, flags=re.M)
    return set(re.findall(r"\bDEJA_(?:API|CHECKED)\b[^;(]*?\b(\w+)\s*\(", text))


def exported():
    lines = subprocess.run(["nm", "-D", "--defined-only", os.environ["LIBDEJA"]], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if " A " not in line}  # A: the version itself


if "--write" in sys.argv:
    listed_path.write_text("".join(f"{name}\n" for name in sorted(declared())))
    sys.exit(0)

sets = {"deja.h": declared(), "symbols.txt": set(listed_path.read_text().split()),
        "libdeja.so": exported()}
bad = [f"{name}: does not start with deja_" for name in sorted(sets["libdeja.so"])
       if not name.startswith("deja_")]
for name in sorted(set.union(*sets.values())):
    absent = [where for where, names in sets.items() if name not in names]
    if absent:
        present = [where for where in sets if where not in absent]
        bad.append(f"{name}: in {', '.join(present)}, not in {', '.join(absent)}")
print("\n".join(bad) or f"{len(sets['deja.h'])} symbols, the same in {', '.join(sets)}")
sys.exit(1 if bad or not sets["deja.h"] else 0)
