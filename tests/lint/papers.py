"""papers - docs/papers.md names commands, options, experiments and tests that exist.

A row without a test must say that the item is missing or not built.  Before the page is judged, a
small wrong page must be found wrong."""

import os
import re
import sys
from pathlib import Path

GROUPS = "unit property stat format fault url cli redis crawler python install".split()
WITHOUT_TEST = ("missing", "not built")


def names_in(text, prefix=""):
    return set(re.findall(prefix + r'"([a-z0-9][a-z0-9-]*)"', text))


def read_all(root, places, suffix):
    return "".join(p.read_text() for place in places for p in sorted((root / place).rglob(f"*{suffix}")))


def tests_of(root):
    """unit.x is tests/unit/**/test_x.c; cli.x is tests/cli/x.sh; redis.x is tests/redis/x.py or .sh."""
    found = set()
    for group in GROUPS:
        for path in (root / "tests" / group).rglob("*"):
            if path.suffix in (".c", ".sh", ".py"):
                found.add(f"{group}.{path.stem.removeprefix('test_')}")
    return found


class Known:
    def __init__(self, root):
        self.commands = names_in(read_all(root, ["cli/commands"], ".c"), r"\.name = ")
        self.options = names_in(read_all(root, ["cli", "tools"], ".c") + read_all(root, ["cli"], ".h"))
        self.experiments = names_in(read_all(root, ["lab/experiments"], ".c"), r"\.name = ")
        self.tests = tests_of(root)


def wrong_in_code(code, known):
    words = code.split()
    if words[0] != "deja" and not words[0].startswith("--"):
        return
    if words[0] == "deja" and words[1] not in known.commands:
        yield f"no command {words[1]}"
    if words[:2] == ["deja", "lab"]:
        for word in words[2:3]:
            if not word.startswith("-") and word not in known.experiments:
                yield f"no experiment {word}"
    for word in words:
        if word.startswith("--") and word[2:] not in known.options:
            yield f"no option {word}"


def wrong_in_row(cells, known):
    row, test = " | ".join(cells[:-1]), cells[-1]
    for code in re.findall(r"`([^`]+)`", row):
        yield from wrong_in_code(code, known)
    tests = re.findall(r"`([^`]+)`", test)
    if not tests and not any(word in row for word in WITHOUT_TEST):
        yield "no test, and not called missing"
    yield from (f"no test {name}" for name in tests if name not in known.tests)


def wrong(text, known):
    in_table = False
    for number, line in enumerate(text.splitlines(), 1):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if not line.startswith("|"):
            in_table = False
        elif cells[-1] == "test":
            in_table = True
        elif in_table and not cells[0].startswith("---"):
            yield from (f"docs/papers.md:{number}: {what}" for what in wrong_in_row(cells, known))


def self_test(known):
    page = """
| what | in deja | test |
|---|---|---|
| right | `deja lab single --runs`, `m = n k M` | `cli.lab` |
| open | missing | |
| wrong | `deja frobnicate` | `cli.lab` |
| wrong | `deja build --frobnicate` | `cli.lab` |
| wrong | `deja lab frobnicate` | `cli.lab` |
| wrong | `deja build` | `cli.frobnicate` |
| wrong | `deja build` | |
"""
    found = [line.split(": ")[0].split(":")[1] for line in wrong(page, known)]
    if found != ["6", "7", "8", "9", "10"]:
        sys.exit(f"papers: the self test found lines {found}")


root = Path(os.environ["SOURCE"])
known = Known(root)
self_test(known)
found = list(wrong((root / "docs" / "papers.md").read_text(), known))
print("\n".join(found) or "every command, option, experiment and test of docs/papers.md exists")
sys.exit(bool(found))
