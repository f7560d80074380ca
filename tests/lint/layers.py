"""layers - every #include of a project header obeys src/LAYERS, which has no cycle.

A folder may include its own headers, those of the folders on its line, and deja.h.  An include
that leads nowhere, a folder without a line and a drawing in docs/ that differs fail too.  Before the tree is judged, a small wrong tree must be found wrong."""

import os
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, os.path.join(os.environ["SOURCE"], "cmake"))
import layers  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.M)


def layer_of(folder, allowed):
    """The listed folder that holds this one, or None."""
    fits = [f for f in allowed if folder == f or folder.startswith(f + "/")]
    return max(fits, key=len, default=None)


def problems(root):
    """A list of texts, and how many edges were seen."""
    allowed = layers.read(root / "src" / "LAYERS")
    found, edges = [], 0
    if layers.parts(allowed, False) is None or layers.parts(allowed, True) is None:
        found.append("src/LAYERS: there is a cycle")
    places = {"src"} | {f.split("/")[0] for f in allowed}
    sources = [p for place in sorted(places) for p in sorted((root / place).rglob("*.[ch]"))]
    for source in sources:
        name = source.relative_to(root).as_posix()
        own = layer_of(os.path.dirname(name), allowed)
        if own is None:
            found.append(f"{name}: its folder has no line in src/LAYERS")
            continue
        for mark, header in INCLUDE.findall(source.read_text(errors="replace")):
            # In the compiler's order.
            tries = [source.parent / header, root / "include" / header, root / "src" / header,
                     root / header]
            hit = next((t for t in tries if t.is_file()), None)
            if hit is None:
                if mark == '"':
                    found.append(f'{name}: "{header}" is not a file of the project')
                continue
            edges += 1
            target = os.path.relpath(os.path.realpath(hit), os.path.realpath(root))
            if target == "include/deja.h":
                continue
            layer = layer_of(os.path.dirname(target), allowed)
            if layer != own and layer not in allowed[own]:
                found.append(f'{name}: may not include "{header}" ({own} sees '
                             f'{" ".join(allowed[own]) or "nothing but itself"} and deja.h)')
    return found, edges


def self_test():
    tree = {
        "src/LAYERS": "src/core/base:\nsrc/core/bits: src/core/base # below\ncli:\nlab: cli\n",
        "include/deja.h": "",
        "src/core/base/low.h": '#include "deja.h"\n',
        "src/core/bits/good.c": '#include "core/base/low.h"\n#include "core/bits/own.h"\n',
        "src/core/bits/own.h": "#include <stdint.h>\n",
        "src/core/base/up.c": '#include "core/bits/own.h"\n',
        "src/core/new/stray.c": "",
        "cli/good.c": '#include <deja.h>\n#include "opt.h"\n',
        "cli/opt.h": "",
        "cli/private.c": '#include "core/base/low.h"\n',
        "cli/dots.c": ' # include "../src/core/base/low.h"\n',
        "cli/lost.c": '#include "nowhere.h"\n',
        "cli/above.c": '#include "lab/lab.h"\n',
        "lab/lab.h": "",
        "lab/good.c": '#include "lab/lab.h"\n#include "cli/opt.h"\n',
    }
    for cycle in ({"a": ["b"], "b": ["a"]}, {"a/x": ["b"], "b": ["a/y"], "a/y": []}):
        if layers.parts(cycle, False) is not None:
            sys.exit(f"layers: the self test found no cycle in {cycle}")
    with tempfile.TemporaryDirectory() as top:
        for name, text in tree.items():
            path = Path(top, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        found = {text.split(":")[0] for text in problems(Path(top))[0]}
    wanted = {"src/core/base/up.c", "src/core/new/stray.c", "cli/private.c", "cli/dots.c",
              "cli/lost.c", "cli/above.c"}
    if found != wanted:
        sys.exit(f"layers: the self test found {sorted(found)} instead of {sorted(wanted)}")


self_test()
root = Path(os.environ["SOURCE"])
found, edges = problems(root)
if not found:
    found = [f"{path.relative_to(root)}: differs from src/LAYERS; run python3 cmake/layers.py"
             for path, text in layers.drawings(root).items() if path.read_text() != text]
print("\n".join(found) or f"{edges} includes of project headers, all allowed")
sys.exit(1 if found or edges == 0 else 0)
