"""kinds - outside src/kinds, ask a kind what it can do instead of comparing its number.

Counts comparisons with a kind's number: == DEJA_CLASSIC, != DEJA_CLASSIC, case DEJA_CLASSIC: and,
in Python, comparisons with its name.  More than MOST fail.  Before the tree is judged, a small wrong
tree must be found wrong."""

import os
import re
import sys
import tempfile
from pathlib import Path

MOST = 15
PLACES = ["src", "cli", "redis", "crawler", "python"]
NAMES = "blocked classic exact layered paired scalable spectral static window".split()
NUMBER = rf"DEJA_(?:{'|'.join(NAMES).upper()})\b"
IN_C = re.compile(rf"[=!]=\s*{NUMBER}|{NUMBER}\s*[=!]=|\bcase\s+{NUMBER}\s*:")
QUOTED = rf"""["'](?:{'|'.join(NAMES)})["']"""
IN_PYTHON = re.compile(rf"kind\w*\"?\)?\]?\s*(?:[=!]=\s*{QUOTED}|(?:not\s+)?in\s*[(\[{{]\s*{QUOTED})|{QUOTED}\s*[=!]=")


def comparisons(root):
    """The places, as FILE:LINE."""
    for place in PLACES:
        for path in sorted((root / place).rglob("*")):
            if path.suffix not in (".c", ".h", ".py") or (root / "src" / "kinds") in path.parents:
                continue
            in_c = path.suffix != ".py"
            for i, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
                code = re.sub(r"/\*.*?\*/|//.*" if in_c else r"#.*", "", line)
                yield from [f"{path.relative_to(root)}:{i}"] * len((IN_C if in_c else IN_PYTHON).findall(code))


def self_test():
    tree = {
        "src/filter/a.c": "if (kind == DEJA_WINDOW)\n    x = DEJA_EXACT;\n",
        "src/kinds/b.c": "if (kind == DEJA_WINDOW)\n",
        "cli/c.c": "switch (kind) {\ncase DEJA_STATIC:\n    break;\n}\n/* kind == DEJA_PAIRED */\n",
        "python/d.py": 'if told.kind in ("scalable", "static") or told.kind == "window":  # kind == "exact"\n',
    }
    with tempfile.TemporaryDirectory() as top:
        for name, text in tree.items():
            path = Path(top, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = list(comparisons(Path(top)))
    wanted = ["src/filter/a.c:1", "cli/c.c:2", "python/d.py:1", "python/d.py:1"]
    if found != wanted:
        sys.exit(f"kinds: the self test found {found} instead of {wanted}")


self_test()
found = list(comparisons(Path(os.environ["SOURCE"])))
if len(found) > MOST:
    print("\n".join(found))
print(f"{len(found)} comparisons with a kind's number outside src/kinds, at most {MOST}: "
      "deja_kind_can and deja_filter_can answer most questions")
sys.exit(len(found) > MOST)
