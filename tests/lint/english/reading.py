#!/usr/bin/env python3
"""reading - lists the texts of this tree, for a reader.

    reading.py messages [PATH ...]        every message under these paths, with its place
    reading.py sample GROUP SEED [COUNT]  COUNT (100) random sentences of docs, comments or messages

A sample is the same for the same tree, group and seed.  docs/testing.md records what readers found.
"""

import random
import re
import sys

from prose import files, messages, prose, sentences

PRODUCT = ("src", "include", "tools", "cli", "gen", "bench", "lab", "crawler", "redis", "python")


def all_messages(paths=PRODUCT):
    for name, text in files():
        if str(name).startswith(tuple(paths)) and name.suffix in (".c", ".h", ".py"):
            for line, said in messages(name, text):
                yield name, line, said


def all_sentences(pages):
    """The sentences of pages, or of comments."""
    for name, text in files():
        if (name.suffix == ".md") == pages:
            for line, said in sentences(prose(name, text, strings=False), text):
                if len(re.findall(r"[a-z]{2,}", said)) >= 4:
                    yield name, line, said


GROUPS = {"docs": lambda: all_sentences(pages=True),
          "comments": lambda: all_sentences(pages=False),
          "messages": all_messages}


def main(argv):
    if argv[:1] == ["messages"]:
        found = all_messages(argv[1:] or PRODUCT)
    elif argv[:1] == ["sample"] and len(argv) in (3, 4) and argv[1] in GROUPS:
        found = list(GROUPS[argv[1]]())
        count = int(argv[3]) if len(argv) == 4 else 100
        found = random.Random(argv[2]).sample(found, min(count, len(found)))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    for name, line, said in found:
        print(f"{name}:{line}: {said}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        sys.exit(0)
