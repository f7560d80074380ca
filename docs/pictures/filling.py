#!/usr/bin/env python3
"""Draw a filter filling up, from a real run: the picture in the README.

    docs/pictures/filling.py build/release/deja > docs/pictures/filling.svg

Two filters sized for 100,000 URLs at p = 1% get 200,000.  One grows (the default), the other is
--fixed.  Lines are what `deja info` predicts; dots are what happened: false positives among
200,000 URLs that were never added, and new URLs that `deja add` mistook for known.  The seed makes
every number, and so every byte of the picture, repeatable."""

import json
import sys
import tempfile
from pathlib import Path

from chart import page, run

CAPACITY, STEP, STEPS, RATE = 100_000, 10_000, 20, 0.01
STRANGERS = 200_000
WIDTH, HEIGHT = 380, 250  # of one panel
def fill(deja, path, urls, strangers, *options):
    """One row per step: URLs offered; rate predicted, measured; lost predicted, measured."""
    rows = [(0, 0, 0, 0, 0)]
    size = ("-n", str(CAPACITY), "-p", str(RATE), "--seed", "1")
    run(deja, "build", "-q", *size, *options, path, lines=b"")
    for offered in range(STEP, STEP * STEPS + 1, STEP):
        run(deja, "add", "-q", path, lines=b"".join(urls[offered - STEP : offered]))
        info = json.loads(run(deja, "info", "--json", path))[0]
        found = int(run(deja, "check", "-q", "--count", path, lines=strangers))
        rows.append((offered, info["fp_now"], found / STRANGERS, info["lost"], offered - info["keys"]))
    return rows


def panel(out, left, title, unit, top, ticks, below, series):
    """A chart with its lower left corner at (left, 300); series: (class, label, line, dots);
    the labels of the classes in below go under their lines."""
    x = lambda keys: left + keys / (STEP * STEPS) * WIDTH
    y = lambda value: 300 - value / top * HEIGHT
    out.append(f'<text class="title" x="{left}" y="30">{title}</text>')
    for tick in ticks:
        out.append(f'<path class="grid" d="M{left} {y(tick):.1f}h{WIDTH}"/>')
        out.append(f'<text class="dim" x="{left - 8}" y="{y(tick) + 4:.1f}" text-anchor="end">{unit(tick)}</text>')
    for keys in range(0, STEP * STEPS + 1, CAPACITY // 2):
        out.append(f'<text class="dim" x="{x(keys):.1f}" y="320" text-anchor="middle">{keys:,}</text>')
    out.append(f'<path class="axis" stroke-dasharray="4 4" d="M{x(CAPACITY):.1f} 300V40"/>')
    out.append(f'<text class="dim" x="{x(CAPACITY) - 6:.1f}" y="50" text-anchor="end">capacity (-n)</text>')
    out.append(f'<text class="dim" x="{left + WIDTH / 2}" y="342" text-anchor="middle">URLs added</text>')
    for name, label, line, dots in series:
        points = "L".join(f"{x(keys):.1f} {y(value):.1f}" for keys, value in line)
        out.append(f'<g class="{name}"><path d="M{points}"/>')
        out += [f'<circle cx="{x(keys):.1f}" cy="{y(value):.1f}" r="3.2"/>' for keys, value in dots]
        keys, value = line[-1]
        height = y(value) + (20 if name in below else -10)
        out.append(f'<text class="label {name}" x="{x(keys) - 6:.1f}" y="{height:.1f}" text-anchor="end">{label}</text></g>')


def main():
    deja = str(Path(sys.argv[1]).resolve())
    total = STEP * STEPS
    urls = run(deja, "gen", "-q", "-n", str(total)).splitlines(keepends=True)
    strangers = run(deja, "gen", "-q", "-n", str(STRANGERS), "--first", str(total))
    with tempfile.TemporaryDirectory() as scratch:
        fixed = fill(deja, f"{scratch}/fixed.deja", urls, strangers, "--fixed")
        grows = fill(deja, f"{scratch}/grows.deja", urls, strangers)
    series = lambda predicted, measured: [
        (name, label, [(r[0], r[predicted]) for r in rows], [(r[0], r[measured]) for r in rows[1:]])
        for name, label, rows in (("fixed", "--fixed", fixed), ("grows", "default", grows))
    ]
    out = page(
        "A filter filling up",
        f"Past its capacity, the rate of a fixed filter reaches {fixed[-1][2]:.1%} and it loses "
        f"{fixed[-1][4]:,} of {total:,} URLs; the default grows, stays below 1% and loses {grows[-1][4]:,}.",
    )
    panel(out, 60, "False-positive rate, with p = 1%", lambda v: f"{v:.0%}", 0.125,
          (0, 0.01, 0.04, 0.08, 0.12), (), series(1, 2))
    panel(out, 505, "Lost pages so far", lambda v: f"{v:,}", 7500, (0, 2000, 4000, 6000), ("grows",), series(3, 4))
    out += ["</svg>"]
    print("\n".join(out))


if __name__ == "__main__":
    main()
