#!/usr/bin/env python3
"""draw - the pictures of the documentation, as SVG files beside this script.

    draw.py [DIRECTORY]

Run it after a change and commit the results; the test lint.pictures compares them.  Colors are
classes, so that one style sheet serves light and dark themes."""

import pathlib
import sys

MASK64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
ODD = [0x47B6137B, 0x44974D91, 0x8824AD5B, 0xA2B7289D, 0x705495C7, 0x2DF1424B, 0x9EFC4947,
       0x5C6BFB31, 0xC2B2AE35, 0x85EBCA6B, 0x1B873593, 0xCC9E2D51, 0x165667B1, 0x27D4EB2F,
       0xE6546B65, 0x9E3779B1]

# The worked example of docs/format.md: its key, the key's hash, two blocks, k = 4.
KEY, HASH, BLOCKS, K = "https://example.com/", 0xBCAEDBA724B98003, 2, 4

STYLE = """
  .page { fill: #ffffff } .box { fill: #f4f6f8; stroke: #8a96a3 } .cell { fill: #ffffff; stroke: #c3cbd3 }
  .a { fill: #dbeafb; stroke: #3b74b4 } .b { fill: #fdf0d0; stroke: #b98a1d }
  .c { fill: #dff3e1; stroke: #3f8f4a } .d { fill: #f3e3f6; stroke: #8d4f9b }
  .set { fill: #2f6fb3; stroke: #2f6fb3 } text { fill: #1d242b } .dim { fill: #55606b; font-size: 12.5px }
  .name { font-weight: 600 } .mono { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 13px }
  .arrow { stroke: #8a96a3; stroke-width: 1.5; fill: none; marker-end: url(#head) } marker path { fill: #8a96a3 }
  .line { stroke: #8a96a3; fill: none }
  @media (prefers-color-scheme: dark) {
    .page { fill: #15191d } .box { fill: #20262c; stroke: #66717c } .cell { fill: #1a1f24; stroke: #3a434c }
    .a { fill: #1b2c40; stroke: #5b93d3 } .b { fill: #372d14; stroke: #c99b33 }
    .c { fill: #17301b; stroke: #5fb06b } .d { fill: #33203a; stroke: #b77bc6 }
    .set { fill: #6aa9ee; stroke: #6aa9ee } text { fill: #e6eaee } .dim { fill: #a4afba }
  }
"""


class Picture:
    def __init__(self, width, height, title, description):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            'aria-labelledby="t d" font-family="system-ui, sans-serif" font-size="14">',
            f'<title id="t">{title}</title>', f'<desc id="d">{description}</desc>',
            f"<style>{STYLE}</style>",
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" '
            'markerHeight="8" orient="auto"><path d="M0 0 L8 4 L0 8 Z"/></marker></defs>',
            f'<rect class="page" width="{width}" height="{height}" rx="6"/>']

    def box(self, x, y, width, height, style="box", radius=5):
        self.parts.append(f'<rect class="{style}" x="{x}" y="{y}" width="{width}" '
                          f'height="{height}" rx="{radius}"/>')

    def text(self, x, y, text, style="", anchor="middle"):
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        self.parts.append(f'<text class="{style}" x="{x}" y="{y}" '
                          f'text-anchor="{anchor}">{text}</text>')

    def arrow(self, path, style="arrow"):
        self.parts.append(f'<path class="{style}" d="{path}"/>')

    def svg(self):
        return "\n".join(self.parts) + "\n</svg>\n"


def mix(x):
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    x = (x ^ x >> 27) * 0x94D049BB133111EB & MASK64
    return x ^ x >> 31


def lanes_and_bits():
    """The lanes of the key and its bit in each (docs/format.md)."""
    g = HASH * GOLDEN & MASK64
    choice = g >> 24 & 255
    lane, state = list(range(16)), (16 * K + choice // 16 + 1) * GOLDEN & MASK64
    for i in range(15, 0, -1):
        state = state + GOLDEN & MASK64
        j = mix(state) % (i + 1)
        lane[i], lane[j] = lane[j], lane[i]
    lanes = sorted((l + choice % 16) % 16 for l in lane[:K])
    return {l: ((g >> 32) * ODD[l] & 0xFFFFFFFF) >> 27 for l in lanes}


def block():
    bits = lanes_and_bits()
    number = HASH * BLOCKS >> 64
    names = ", ".join(map(str, bits))
    p = Picture(860, 330, "A block", f"A key selects block {number} and sets one bit in each of "
                f"the lanes {names}: one cache line per query.")
    p.text(20, 40, KEY, "mono", "start")
    p.arrow("M96 50 V70")
    p.text(20, 90, f"h = 0x{HASH:016x}", "mono", "start")
    p.text(20, 108, "64-bit hash, with a secret key", "dim", "start")
    p.arrow("M96 118 V138")
    for i in range(BLOCKS):
        p.box(20 + 110 * i, 146, 100, 40, "a" if i == number else "box")
        p.text(70 + 110 * i, 171, f"block {i}", "name" if i == number else "")
    p.text(20, 208, "the high bits of h select a block;", "dim", "start")
    p.text(20, 225, f"other bits select {K} of 16 lanes,", "dim", "start")
    p.text(20, 242, "and one of 32 bits in each", "dim", "start")
    p.arrow("M232 166 H292")
    size, left, top = 15, 366, 34
    for lane in range(16):
        y = top + lane * (size + 2)
        p.text(left - 8, y + 12, f"lane {lane}", "dim" if lane not in bits else "name", "end")
        for bit in range(32):
            p.box(left + bit * size, y, size - 2, size - 2,
                  "set" if bits.get(lane) == bit else "a" if lane in bits else "cell", 2)
    p.text(left, 24, "bit 0", "dim", "start")
    p.text(left + 32 * size, 24, "bit 31", "dim", "end")
    p.text(left, top + 16 * (size + 2) + 16,
           "one block: 16 lanes of 32 bits = 64 bytes = one cache line", "dim", "start")
    return p


def window():
    p = Picture(860, 372, "The generations of a window", "A window with G = 3 has four generations. "
                "Each turn empties the oldest one, which becomes the newest.")
    moments = [("before turn 4", [(0, "keys 1 to 100"), (1, "keys 101 to 200"), (2, "keys 201 to 300"),
                                  (3, "keys 301 to 400")], 3, 0),
               ("after turn 4", [(0, "from key 401 on"), (1, "keys 101 to 200"), (2, "keys 201 to 300"),
                                 (3, "keys 301 to 400")], 0, 1),
               ("after turn 5", [(0, "keys 401 to 500"), (1, "from key 501 on"), (2, "keys 201 to 300"),
                                 (3, "keys 301 to 400")], 1, 2)]
    p.text(20, 30, "-n 300 --generations 3: each generation takes 100 keys", "mono", "start")
    for i in range(4):
        p.text(240 + 170 * i, 60, f"generation {i}", "dim")
    for row, (name, generations, newest, oldest) in enumerate(moments):
        y = 72 + 72 * row
        p.text(20, y + 31, name, "name", "start")
        for i, keys in generations:
            p.box(165 + 170 * i, y, 150, 48, "c" if i == newest else "b" if i == oldest else "box")
            p.text(240 + 170 * i, y + 21, keys)
            p.text(240 + 170 * i, y + 39,
                   "newest" if i == newest else
                   "oldest: emptied next" if i == oldest else "", "dim")
    p.text(20, 312, "in memory", "name", "start")
    p.text(20, 330, "(a row per block)", "dim", "start")
    for i in range(4):
        p.box(165 + 170 * i, 292, 170, 40, "cell", 0)
        p.text(250 + 170 * i, 317, f"block b of generation {i}")
    p.text(165, 354, "A query reads one row: G + 1 adjacent cache lines.", "dim", "start")
    return p


def url_layers():
    p = Picture(860, 300, "The layers of a URL", "A URL is cut at its slashes. Each layer has a filter "
                "of its own, and the XOR layer stores the combination.")
    parts = [("http://a.example", "a", "layer 1: the site", 230),
             ("/b", "b", "layer 2: a folder", 190), ("/c?d/e", "c", "layer 3: the page", 190)]
    x = 30
    for part, style, name, width in parts:
        p.box(x, 24, width, 40, style, 3)
        p.text(x + width / 2, 49, part, "mono")
        p.arrow(f"M{x + width / 2} 64 V104")
        p.box(x, 106, width, 56, style)
        p.text(x + width / 2, 130, name, "name")
        p.text(x + width / 2, 150, "a filter, without the query" if "?" in part else "a filter", "dim")
        p.arrow(f"M{x + width / 2} 162 V204", "line")
        x += width + 10
    p.arrow("M145 204 H565", "line")
    p.arrow("M365 204 V228")
    p.text(376, 221, "the hashes of all segments, combined by XOR", "dim", "start")
    p.box(30, 230, 630, 50, "d")
    p.text(345, 252, "XOR layer: the whole URL", "name")
    p.text(345, 270, "a filter", "dim")
    p.text(682, 124, "A URL is seen if every", "", "start")
    p.text(682, 143, "layer has its segment", "", "start")
    p.text(682, 162, "and the XOR layer has", "", "start")
    p.text(682, 181, "the whole URL.", "", "start")
    return p


def key_path():
    bits = lanes_and_bits()
    number = HASH * BLOCKS >> 64
    steps = [("line", ["HTTPS://Example.", "com:443/#top"], ["--format and --field", "pick it from the input"], "box"),
             ("key", ["https://", "example.com/"], ["--url: the canonical", "form of the URL"], "a"),
             ("hash", [f"0x{HASH >> 32:08x}", f"{HASH & 0xFFFFFFFF:08x}"], ["--hash: 64 bits, with", "a secret key"], "b"),
             ("positions", [f"block {number}, lanes", ", ".join(map(str, bits))], ["-k: depends on the", "kind of filter"], "c"),
             ("answer", ["all set: seen", "if not: new"], ["dedup prints new lines,", "then adds their keys"], "d")]
    p = Picture(860, 160, "The path of a key", "A line gives a key, the key a hash, the hash positions "
                "in the filter, and the bits there the answer.")
    for i, (name, example, how, style) in enumerate(steps):
        x = 14 + 170 * i
        p.box(x, 18, 150, 84, style)
        p.text(x + 75, 42, name, "name")
        for j in (0, 1):
            p.text(x + 75, 66 + 19 * j, example[j], "mono")
            p.text(x + 75, 124 + 17 * j, how[j], "dim")
        if i:
            p.arrow(f"M{x - 19} 60 H{x - 2}")
    return p


def main():
    where = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
    where = where if where.is_dir() else where.parent
    for name, picture in [("block", block), ("window", window), ("url-layers", url_layers),
                          ("key-path", key_path)]:
        (where / f"{name}.svg").write_text(picture().svg())


main()
