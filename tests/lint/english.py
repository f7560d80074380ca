"""english - all text that people read is plain English: no banned phrases, no misspelled words.

Reads pages, comments and string literals.  The tables are in tests/lint/english:
phrases.txt says what is banned, exceptions.txt what is allowed and why, and words.txt lists the
words that the dictionary lacks.  Sentences with more than 40 words are listed, but do not fail.
Arguments restrict the output to paths that start with them.
"""

import os
import re
import shutil
import subprocess
import sys
from bisect import bisect
from pathlib import Path

TABLES = Path(__file__).parent / "english"
sys.path.insert(0, str(TABLES))
from prose import CODE, files, prose, sentences  # noqa: E402


def table(name):
    lines = (TABLES / name).read_text().splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def offences(text, phrases):
    """(line, phrase, advice) of each banned phrase in the prose.  Phrases may span lines, but not
    paragraphs."""
    text = re.sub(r"\n(?=[ \t]*\n)", "\n" + CODE, text)
    flat, starts, lines = "", [], []
    for number, line in enumerate(text.split("\n"), 1):
        line = " ".join(re.sub(f"{CODE}[{CODE} ]*", CODE, line).split())
        if line:
            starts.append(len(flat))
            lines.append(number)
            flat += line + " "
    return sorted((lines[bisect(starts, m.start()) - 1], m.group().strip(), advice)
                  for pattern, advice in phrases for m in pattern.finditer(flat))


def words(text):
    """The words to spell-check, without names: with digits, inner capitals, paths, options."""
    for number, line in enumerate(text.split("\n"), 1):
        for token in re.split(r"[\s\x01]+", line):
            for part in re.split(r"[-–—/]", "" if token.startswith("-") else token):
                part = re.sub(r"('s|s')$", "", part.strip(".,;:!?()[]{}*\"'|…"))
                if re.fullmatch(r"[A-Za-z]?[a-z]+('[a-z]+)?", part) and len(part) > 2:
                    yield number, part


def unknown(candidates):
    done = subprocess.run(["hunspell", "-d", "en_US", "-l"], input="\n".join(sorted(candidates)),
                          capture_output=True, text=True, check=True,
                          env={**os.environ, "LC_ALL": "C.UTF-8"})
    return set(done.stdout.split())


def rows(name):
    """The rows of a table, split at ` => `."""
    return [line.split(" => ") for line in table(name)]


def self_test():
    """The checks find what is wrong in a small text, and only that."""
    def found(name, text):
        return [(line, phrase) for line, phrase, _ in offences(prose(Path(name), text), PHRASES)]

    def spelled(name, text):
        return [word for _, word in words(prose(Path(name), text, strings=False))]
    c = 'f("bits a\\n" key); /* This is\n * no key file.\n */ is(no, key); f("speling"); // wrongg\n'
    assert found("x.c", c) == [(1, "is no")], found("x.c", c)
    assert spelled("x.c", c) == ["This", "key", "file", "wrongg"], spelled("x.c", c)
    page = "# One\n\nA `is no` page; it is\nno page.\n\n```\nis no page\n```\n"
    assert found("x.md", page) == [(3, "is no")], found("x.md", page)
    script = "echo an own file # 'an own file'\nprintf 'it is no file'\n"
    assert found("x.sh", script) == [(1, "an own"), (2, "is no")], found("x.sh", script)
    assert found("x.py", "is_no(file)  # an own file\n") == [(1, "an own")]
    assert list(sentences("One\nsentence. Two words.\n")) == [(1, "One sentence."), (2, "Two words.")]
    assert not HUNSPELL or unknown({"filter", "wrongg", "behaviour"}) == {"wrongg", "behaviour"}


def main():
    allowed, used = rows("exceptions.txt"), set()

    def exempt(name, phrase, line):
        for i, (path, text, _) in enumerate(allowed):
            if path in ("*", str(name)) and (text == "*" or phrase.lower() in text and text in line.lower()):
                used.add(i)
                return True
        return False
    known = {word.lower() for word in table("words.txt")}
    faults, candidates, longest = [], [], []
    for name, text in files():
        read, lines = prose(name, text), [""] + text.splitlines() + [""]
        faults += [(name, line, f"{phrase!r}: say {advice}")
                   for line, phrase, advice in offences(read, PHRASES)
                   if not exempt(name, phrase, " ".join((lines[line] + " " + lines[line + 1]).split()))]
        if name.suffix == ".md":
            longest += [(name, line, len(text.split())) for line, text in sentences(read)
                        if len(text.split()) > 40]
        else:
            code = "".join(a if b == CODE else " " for a, b in zip(text, read))
            known |= {word.lower() for word in re.findall(r"[A-Za-z]+", code)}
            read = prose(name, text, strings=False)
        candidates += [(name, line, word) for line, word in words(read)]
    if HUNSPELL:
        wrong = unknown({word for _, _, word in candidates if word.lower() not in known})
        faults += [(name, line, f"{word!r}: misspelled, or missing from words.txt")
                   for name, line, word in candidates if word in wrong]

    wanted = tuple(sys.argv[1:])
    for name, line, text in sorted(faults):
        if str(name).startswith(wanted or ""):
            print(f"{name}:{line}: {text}")
    for name, line, count in longest:
        if str(name).startswith(wanted or ""):
            print(f"{name}:{line}: a sentence of {count} words (listed only)")
    for i, (path, text, _) in enumerate(allowed):
        if i not in used:
            print(f"exceptions.txt: {path} => {text}: not needed")
    print(f"{len(faults)} offences, {len(longest)} long sentences")
    if not faults and not HUNSPELL:
        print("skipped: hunspell is not installed; phrases were checked, spelling was not")
        return 77
    return 1 if faults else 0


HUNSPELL = shutil.which("hunspell")
PHRASES = [(re.compile(pattern, re.I), advice) for pattern, advice in rows("phrases.txt")]
self_test()
sys.exit(main())
