"""banned - calls that no C file here makes, because a safer one exists."""

import os
import re
import sys
from pathlib import Path

BANNED = {
    "strcpy": "memcpy with a known length, or snprintf",
    "strcat": "snprintf",
    "sprintf": "snprintf",
    "vsprintf": "vsnprintf",
    "gets": "fgets or getline",
    "strtok": "strchr and slices",
    "atoi": "a parser that notices garbage and overflow",
    "atol": "a parser that notices garbage and overflow",
    "atof": "a parser that notices garbage and overflow",
    "rand": "tests/support/rng.h, or core/base/random.h",
    "srand": "tests/support/rng.h, or core/base/random.h",
}
CALL = re.compile(r"(?<![\w.>])(" + "|".join(BANNED) + r")\s*\(")
# Calls and flags that POSIX.1-2008 lacks or makes optional.  Only the doors to the system use them.
FOREIGN = re.compile(
    r"((?<!\w)st_mtim\b|(?<![\w.>])(?:(?:explicit_bzero|fallocate|fdatasync|fsync|getentropy|getrandom|madvise|memrchr|mremap|msync"
    r"|posix_fadvise|posix_fallocate|qsort_r|reallocarray|renameat2|copy_file_range|memfd_create|pipe2|accept4"
    r"|sync_file_range|nl_langinfo_l|pthread_condattr_setclock)(?=\s*\()|O_PATH\b|O_TMPFILE\b|MADV_\w+|SOCK_CLOEXEC\b"
    r"|MAP_NORESERVE\b))")
DOORS = {"src": ("src/core/base/os.", "src/core/base/random.c"), "tools": ("tools/base/sys.",)}
DOOR_OF = {"src": "src", **dict.fromkeys(("tools", "cli", "gen", "bench", "lab", "crawler", "redis"), "tools")}
APART = ("bench/peers/", "bench/stores/")  # programs of their own
# Comments, strings and characters, to be blanked with their line ends kept.
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def calls(text, pattern=CALL):
    code = QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return [(code.count("\n", 0, m.start()) + 1, m.group(1)) for m in pattern.finditer(code)]


def foreign(name, text):
    """Lines of a file that go past the door to the system."""
    door = DOOR_OF.get(name.split("/")[0])
    if not door or name.startswith(APART) or name.startswith(DOORS[door]):
        return []
    use = "core/base/os.h" if door == "src" else "tools/base/sys.h"
    return [f"{name}:{line}: {what}: use {use}" for line, what in calls(text, FOREIGN)]


sample = 'x = "strcpy(";\n/* gets( */ snprintf(a); dj_rand(); f->rand();\nstrcpy (a, b); atoi(s);\n'
assert calls(sample) == [(3, "strcpy"), (3, "atoi")], calls(sample)
sample = "fsync(fd); dj_fsync(fd); open(x, O_PATH); /* mremap( */ a.st_mtim"
assert [c[8:] for c in foreign("src/x.c", sample)] == ["1: fsync: use core/base/os.h", "1: O_PATH: use core/base/os.h",
                                                       "1: st_mtim: use core/base/os.h"]
assert not foreign("src/core/base/os.c", sample) and not foreign("tests/unit/x.c", sample)

root, bad, seen = Path(os.environ["SOURCE"]), [], 0
for path in sorted(root.rglob("*.[ch]")):
    name = path.relative_to(root)
    if name.parts[0] not in ("build", ".git"):
        seen += 1
        bad += [f"{name}:{line}: {call}: use {BANNED[call]}"
                for line, call in calls(path.read_text(errors="replace"))]
        bad += foreign(name.as_posix(), path.read_text(errors="replace"))
print("\n".join(bad) or f"{seen} files, no banned call")
sys.exit(1 if bad or not seen else 0)
