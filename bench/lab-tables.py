#!/usr/bin/env python3
"""The tables of a `deja lab` report as Markdown: generates docs/lab-tables.md.

    bench/lab-tables.py DIR "COMMAND" > docs/lab-tables.md

A cell has the measured value, and below it the paper's; a printed rate that is more than 4 standard
deviations off the theory is marked.  Tables of times are omitted: they apply to one machine."""

import csv
import sys
from pathlib import Path

FAR = 4
TITLES = {
    "5.1": "one function, incremental", "5.2": "two functions, incremental",
    "5.3": "three functions, incremental", "5.5": "one function, full filter",
    "5.6": "two functions, full filter", "5.7": "three functions, full filter",
    "5.9": "one filter", "5.16": "lost on both of two visits",
    "5.17": "one, two and three filters, incremental", "5.18": "two filters, full",
    "5.19": "three filters, full", "5.20": "two filters, two visits",
    "5.21": "three filters, two visits",
}
EXPERIMENTS = ("hashes", "single", "temporal", "spatial", "spatiotemporal")


def digits(row):
    """The mean, with the digits that its standard error supports."""
    mean, hits = float(row["mean"]), float(row["hits"])
    if hits == 0:
        return f"< {float(row['high']):.1g}"
    error = float(row["standard_error"] or 0)
    places = 2
    while places < 9 and error < 0.5 * 10 ** -places:
        places += 1
    return f"{mean:.{places}f}"


def cell(row):
    text = digits(row)
    if row["published"]:
        off = abs(float(row["published_sigma_theory"] or 0)) > FAR
        text += f"<br>{row['published']}{' (!)' if off else ''}"
    return text


def grid(rows):
    """Rows by columns, in their order of appearance."""
    columns = list(dict.fromkeys(r["column"] for r in rows))
    names = list(dict.fromkeys(r["row"] for r in rows))
    at = {(r["row"], r["column"]): r for r in rows}
    lines = ["| | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for name in names:
        cells = [cell(at[name, c]) if (name, c) in at else "" for c in columns]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def summary(folder):
    lines = ["| experiment | rates beside theory | without a hit | largest difference, sigma | "
             "printed rates within 4 sigma of theory | of these, measured within 4 sigma of printed |",
             "|---|---:|---:|---:|---:|---:|"]
    for path in sorted(folder.glob("*.csv")):
        rows = [r for r in csv.DictReader(path.open()) if r["sigma_theory"]]
        if not rows:
            continue
        far = max(abs(float(r["sigma_theory"])) for r in rows)
        silent = sum(float(r["hits"]) == 0 for r in rows)
        printed = [r for r in rows if r["published_sigma_theory"]]
        good = [r for r in printed if abs(float(r["published_sigma_theory"])) <= FAR]
        both = [r for r in good if r["sigma_published"]]
        same = sum(abs(float(r["sigma_published"])) <= FAR for r in both)
        lines.append(f"| {path.stem} | {len(rows)} | {silent} | {far:.1f} | " +
                     (f"{len(good)} of {len(printed)} | {same} of {len(both)} |" if printed
                      else "none printed | |"))
    return "\n".join(lines)


def misfits(folder):
    lines = ["| table | filter | printed, % | theory, % | off, sigma | measured, % |",
             "|---|---|---:|---:|---:|---:|"]
    for name in EXPERIMENTS:
        for r in csv.DictReader((folder / f"{name}.csv").open()):
            off = r["published_sigma_theory"]
            if off and abs(float(off)) > FAR:
                lines.append(f"| {r['table']} | {r['row']}, {r['column']} | {r['published']} | "
                             f"{float(r['theory']):.4g} | {float(off):+.1f} | {digits(r)} |")
    return "\n".join(lines)


def main():
    folder, command = Path(sys.argv[1]), sys.argv[2]
    print(f"""# The tables of the thesis, again

Made by `{command}` and `bench/lab-tables.py`; [lab.md](lab.md) says what the experiments do and how to
read them. Rates are in percent: measured, and below it as printed. `(!)` marks a printed rate that is more than
{FAR} standard deviations off the theory, given the paper's hundred million questions; they are listed at the end.
`<` is the bound that no hit at all proves (95 %).

{summary(folder)}
""")
    for name in EXPERIMENTS:
        rows = list(csv.DictReader((folder / f"{name}.csv").open()))
        for table in dict.fromkeys(r["table"] for r in rows):
            if table in TITLES:
                print(f"## Table {table}: {TITLES[table]}\n")
                print(grid([r for r in rows if r["table"] == table]) + "\n")
    print(f"""## Printed rates that are off the theory

All of them fit the scatter of a single run of a million questions: the hundred runs of the thesis have most likely shared
their salts and URLs, and are then worth one. The measured rates are those of a hundred runs with different salts.

{misfits(folder)}""")


main()
