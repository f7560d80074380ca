#!/usr/bin/env python3
"""Draw late lines against memory, from real runs: the picture in docs/sieve.md.

    docs/pictures/late.py build/release/deja > docs/pictures/late.svg

`deja dedup --sieve` gets a million different URLs, with more and more memory.  Dots are the lines
that came late, the line is what `deja plan --sieve` predicts.  The seed makes every number, and so
every byte of the picture, repeatable."""

import json
import math
import sys
import tempfile
from pathlib import Path

from chart import page, run

KEYS = 1_000_000
MEASURED = [1024 * kib for kib in (1280, 1536, 2048, 2560, 3072, 4096, 5120, 6144)]
FIRST, LAST = 1 << 20, 8 << 20  # the horizontal axis
HIGH, LOW = 1.0, 1e-5  # the vertical axis
LEFT, WIDTH, TOP, HEIGHT = 80, 780, 50, 240


def predicted(deja, memory):
    """The share of lines that comes late."""
    plan = json.loads(run(deja, "plan", "--sieve", "-n", str(KEYS), "-m", str(memory), "--disk-speed", "1G", "--json"))
    return next(s["late_share"] for s in plan["sizes"] if s["memory"] == memory)


def measured(deja, scratch, memory):
    sieve = f"{scratch}/{memory}"
    options = ("--sieve", sieve, "-m", str(memory), "--seed", "1", "-j", "1", "-c", "--json")
    run(deja, "dedup", *options, f"{scratch}/urls", report=f"{scratch}/report")
    report = json.loads(Path(f"{scratch}/report").read_text())
    assert report["kept"] == KEYS and report["lost"] == 0
    return report["late"]


def x(memory):
    return LEFT + WIDTH * math.log(memory / FIRST) / math.log(LAST / FIRST)


def y(share):
    return TOP + HEIGHT * math.log(share / HIGH) / math.log(LOW / HIGH)


def main():
    deja = str(Path(sys.argv[1]).resolve())
    curve = [FIRST * 2 ** (i / 8) for i in range(0, 25)]
    curve = [(m, s) for m in map(int, curve) if (s := predicted(deja, m)) > LOW]
    with tempfile.TemporaryDirectory() as scratch:
        Path(f"{scratch}/urls").write_bytes(run(deja, "gen", "-q", "-n", str(KEYS)))
        dots = [(m, measured(deja, scratch, m)) for m in MEASURED]
    out = page(
        "Late lines against memory",
        f"Of {KEYS:,} new lines, {dots[0][1]:,} came late with {dots[0][0] / 2**20:.2f} MiB of memory, and "
        f"{dots[-1][1]:,} with {dots[-1][0] / 2**20:.0f} MiB; none was lost.",
    )
    out.append(f'<text class="title" x="{LEFT}" y="30">New lines that came late, of {KEYS:,}</text>')
    for power in range(0, 6):
        at = y(10.0**-power)
        out.append(f'<path class="grid" d="M{LEFT} {at:.1f}h{WIDTH}"/>')
        label = f"{KEYS // 10**power:,}"
        out.append(f'<text class="dim" x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{label}</text>')
    for mib in (1, 2, 3, 4, 6, 8):
        at = x(mib << 20)
        out.append(f'<path class="axis" d="M{at:.1f} {TOP + HEIGHT}v5"/>')
        bits = 8 * (mib << 20) / KEYS
        out.append(f'<text class="dim" x="{at:.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{mib} MiB</text>')
        out.append(
            f'<text class="dim" x="{at:.1f}" y="{TOP + HEIGHT + 36}" text-anchor="middle">{bits:.0f} bits/key</text>'
        )
    points = "L".join(f"{x(m):.1f} {y(s):.1f}" for m, s in curve)
    out.append(f'<g class="grows"><path d="M{points}"/>')
    out += [f'<circle cx="{x(m):.1f}" cy="{y(late / KEYS):.1f}" r="3.5"/>' for m, late in dots if late / KEYS > LOW]
    m, s = curve[len(curve) // 2]
    out.append(f'<text class="label grows" x="{x(m) + 12:.1f}" y="{y(s) - 6:.1f}">line: deja plan; dots: measured</text></g>')
    out.append(
        f'<text class="dim" x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 58}" text-anchor="middle">memory (-m); no line is lost</text>'
    )
    out.append("</svg>")
    print("\n".join(out))


if __name__ == "__main__":
    main()
