#!/usr/bin/env python3
"""layers - draw the layers in src/LAYERS.

    python3 cmake/layers.py       updates docs/internals.md and docs/architecture.svg

lint.layers fails if the drawings and src/LAYERS differ.
"""

import sys
from pathlib import Path

MARK = "<!-- drawn from src/LAYERS by cmake/layers.py -->\n"
STYLE = """<style>
  .page { fill: #ffffff } .box { fill: #f4f6f8; stroke: #8a96a3 } .tool { fill: #e8f1fb; stroke: #3b74b4 }
  .door { fill: #fdf3dc; stroke: #b98a1d } text { fill: #1d242b } .name { font-weight: 600 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #15191d } .box { fill: #20262c; stroke: #66717c } .tool { fill: #1b2c40; stroke: #5b93d3 }
    .door { fill: #372d14; stroke: #c99b33 } text { fill: #e6eaee }
  }
</style>"""


def read(path):
    """Return each directory with the directories that it may include."""
    allowed = {}
    for line in Path(path).read_text().splitlines():
        folder, colon, others = line.split("#", 1)[0].partition(":")
        if colon:
            allowed[folder.strip()] = others.split()
    return allowed


def levels(sees):
    """Return rows of names, top first; a name sees only lower rows.  None if there is a cycle."""
    rows, placed = [], set()
    while len(placed) < len(sees):
        row = sorted(n for n in sees if n not in placed and set(sees[n]) - {n} <= placed)
        if not row:
            return None
        rows.insert(0, row)
        placed.update(row)
    return rows


def part_of(folder):
    """Return the part of a directory: cli for cli/report, core for src/core/url."""
    return folder.removeprefix("src/").split("/")[0]


def parts(allowed, library):
    """Return rows of (part, rows of its directories), top first; None if there is a cycle."""
    mine = {f: o for f, o in allowed.items() if f.startswith("src/") == library}
    sees = {part_of(f): set() for f in mine}
    for folder, others in mine.items():
        sees[part_of(folder)] |= {part_of(o) for o in others}
    outer = levels(sees)
    inner = {}
    for part in sees:
        own = {f: [o for o in others if part_of(o) == part]
               for f, others in mine.items() if part_of(f) == part}
        inner[part] = levels(own)
    if outer is None or None in inner.values():
        return None
    return [[(part, inner[part]) for part in row] for row in outer]


def row_texts(row):
    """Return (name, directories) for each part of a row; parts without directories share one."""
    texts, plain = [], [part for part, rows in row if len(rows) == 1 and len(rows[0]) == 1]
    for part, rows in row:
        if part not in plain:
            names = [[f.split("/")[-1] for f in r if part_of(f) != f.removeprefix("src/")] for r in rows]
            texts.append((part, " > ".join("  ".join(n) for n in names if n)))
    if plain:
        texts.append(("  ".join(plain), ""))
    return texts


def text_drawing(allowed):
    lines = []
    for library in (False, True):
        for row in parts(allowed, library):
            lines += [f"  {name:10}{folders}".rstrip() for name, folders in row_texts(row)]
        if not library:
            lines.append("  " + "-" * 27 + " include/deja.h " + "-" * 27)
    return "\n".join(lines) + "\n"


def svg_drawing(allowed):
    out, y = [], 20
    def box(kind, name, folders):
        nonlocal y
        label = f'<text class="name" x="40" y="{y + 26}">{name}</text>'
        if folders:
            label += f'<text x="140" y="{y + 26}">{folders.replace(">", "&gt;")}</text>'
        out.append(f'<rect class="{kind}" x="20" y="{y}" width="720" height="42" rx="5"/>{label}')
        y += 50
    for library in (False, True):
        for row in parts(allowed, library):
            for name, folders in row_texts(row):
                box("box" if library else "tool", name, folders)
        if not library:
            box("door", "deja.h", "the only door: what a tool misses is missing here")
    size = f'viewBox="0 0 760 {y + 10}"'
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="t" '
        'font-family="system-ui, sans-serif" font-size="14">',
        '<title id="t">The layers of deja: each knows only what is below it</title>', STYLE,
        f'<rect class="page" width="760" height="{y + 10}" rx="6"/>', *out, "</svg>"]) + "\n"


def drawings(root):
    """Return {path: text} of the drawings."""
    allowed = read(root / "src" / "LAYERS")
    page = root / "docs" / "internals.md"
    before, _, rest = page.read_text().partition(MARK)
    after = rest.split("```\n", 1)[1] if "```\n" in rest else ""
    block = "```text\n" + text_drawing(allowed) + "```\n"
    return {page: before + MARK + block + after,
            root / "docs" / "architecture.svg": svg_drawing(allowed)}


if __name__ == "__main__":
    for path, text in drawings(Path(__file__).resolve().parent.parent).items():
        path.write_text(text)
        print(path)
