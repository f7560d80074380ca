"""What the scripts that draw runs of deja share: colors, the frame of a picture, running a command."""

import os
import subprocess
import sys

STYLE = """
  .page { fill: #ffffff } text { fill: #1d242b } .dim { fill: #55606b; font-size: 12px }
  .title { font-weight: 600 } .grid { stroke: #d8dee4; stroke-width: 1 } .axis { stroke: #8a96a3; stroke-width: 1 }
  .fixed { stroke: #c2410c; fill: #c2410c } .grows { stroke: #2563eb; fill: #2563eb }
  path { fill: none !important; stroke-width: 2 } circle { stroke: none } .label { stroke: none }
  @media (prefers-color-scheme: dark) {
    .page { fill: #15191d } text { fill: #e6eaee } .dim { fill: #a4afba }
    .grid { stroke: #2c343c } .axis { stroke: #66717c }
    .fixed { stroke: #fb923c; fill: #fb923c } .grows { stroke: #60a5fa; fill: #60a5fa }
  }
"""


def page(title, description, *, width=920, height=360):
    """The first lines of a picture; the last is </svg>."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d" '
        'font-family="system-ui, sans-serif" font-size="14">',
        f'<title id="t">{title}</title>',
        f'<desc id="d">{description}</desc>',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
    ]


def run(*words, lines=None, report=None):
    """What the command prints; what it reports goes to the file `report`."""
    with open(report or os.devnull, "wb") as err:
        done = subprocess.run(words, input=lines, stdout=subprocess.PIPE, stderr=err)
    if done.returncode > 1:  # check answers with 0 or 1
        sys.exit(f"exit {done.returncode}: {' '.join(words)}")
    return done.stdout
