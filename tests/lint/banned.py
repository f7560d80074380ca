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
# Comments, strings and characters, to be blanked with their line ends kept.
QUIET = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def calls(text):
    code = QUIET.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)
    return [(code.count("\n", 0, m.start()) + 1, m.group(1)) for m in CALL.finditer(code)]


sample = 'x = "strcpy(";\n/* gets( */ snprintf(a); dj_rand(); f->rand();\nstrcpy (a, b); atoi(s);\n'
assert calls(sample) == [(3, "strcpy"), (3, "atoi")], calls(sample)

root, bad, seen = Path(os.environ["SOURCE"]), [], 0
for path in sorted(root.rglob("*.[ch]")):
    name = path.relative_to(root)
    if name.parts[0] not in ("build", ".git"):
        seen += 1
        bad += [f"{name}:{line}: {call}: use {BANNED[call]}"
                for line, call in calls(path.read_text(errors="replace"))]
print("\n".join(bad) or f"{seen} files, no banned call")
sys.exit(1 if bad or not seen else 0)
