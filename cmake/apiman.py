#!/usr/bin/env python3
"""Make the library's man pages from its header.

    python3 cmake/apiman.py include/deja.h OUT_DIR

OUT_DIR gets deja.3, the header laid out for man, and a page for every function: its declaration,
the comment above it, and what these mention (flags, errors, structs).  A comment that begins with
"The same" or "As" continues the one before it.
"""
import pathlib
import re
import sys

SECTION = re.compile(r"^/\* --- (.+?) -+ \*/$", re.M)
TOKEN = re.compile(r"^/\*(?:.|\n)*?\*/|^#define (?:.*\\\n)*.*|^typedef [^;{]*(?:\{(?:.|\n)*?^\})?[^;]*;.*"
                   r"|^DEJA_[^;]*;.*|^$", re.M)
NAME = re.compile(r"\b(deja_\w+)\(")
NOISE = re.compile(r"^(?:DEJA_API|DEJA_CHECKED) (?:.|\n)*?;", re.M)
PLAIN = {"deja_error", "deja_slice"}  # every page would have them


class Entry:
    """A comment and the declarations under it; then the entries that continue it."""

    def __init__(self, comment=""):
        self.text, self.code = words(comment), []

    def functions(self):
        return [c for c in self.code if c.startswith("DEJA_")]

    def names(self):
        return [NAME.search(c)[1] for c in self.functions()]


def words(comment):
    """The text of a comment, as paragraphs of one line each."""
    text = re.sub(r"^/\* ?|\s*\*/$", "", comment)
    text = re.sub(r"^ ?\* ?", "", text, flags=re.M)
    return [" ".join(p.split()) for p in text.split("\n\n") if p.strip()]


def entries(body):
    """The entries of a section, in groups: a blank line ends a group."""
    groups = [[]]
    for token in TOKEN.findall(body):
        group = groups[-1]
        if not token:
            groups.append([])
        elif not token.startswith("/*"):
            if not group:
                group.append(Entry())
            group[-1].code.append(token)
        elif group and re.match(r"/\* (The same|As )", token):
            group[-1].text += words(token)
        else:
            group.append(Entry(token))
    return [group for group in groups if group]


def troff(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def unmarked(declaration):
    """A declaration without DEJA_API or DEJA_CHECKED, its lines moved left by as much."""
    width = declaration[0].index(" ") + 1
    return re.sub(rf"^.{{{width}}}", "", declaration[0], flags=re.M)


def block(text):
    """Code and comments, line for line."""
    lines = NOISE.sub(unmarked, text.strip("\n")).split("\n")
    return ".nf\n" + "\n".join(troff(line) for line in lines) + "\n.fi\n"


def opening(comment):
    """The header's first comment: a paragraph, then `Word   text` lines, each a tagged paragraph."""
    lines = [re.sub(r"^ \* ?|^/\* ?| ?\*/$", "", line) for line in comment.split("\n")]
    out, tagged = [], False
    for line in lines:
        tag = re.match(r"([A-Z][a-z]+)\s{2,}(\S.*)$", line)
        if tag:
            out.append(f".TP\n.B {tag.group(1)}\n{troff(tag.group(2))}")
            tagged = True
        elif line.strip():
            out.append(troff(line.strip()))
        elif not tagged:
            out.append(".PP")
    return "\n".join(out) + "\n"


class Header:
    def __init__(self, text):
        self.text = text
        self.version = ".".join(re.findall(r"#define DEJA_VERSION_\w+ (\d+)", text))
        pieces = SECTION.split(text.split("\n#ifdef __cplusplus\n}")[0])[1:]
        self.sections = list(zip(pieces[::2], pieces[1::2]))
        self.structs = {m[1]: m[0] for m in
                        re.finditer(r"^typedef struct \w+ \{\n.*?^\} (\w+);", text, re.M | re.S)}
        self.errors = dict(re.findall(r"^    (DEJA_E\w+) = [-\d, ]+/\* (.*?) *\*/",
                                      re.sub(r" *\*/\n +/\* ", " ", text), re.M))
        self.macros = {m[1]: m[0] for m in
                       re.finditer(r"^#define (DEJA_\w+)(?:\(\w+\))? .*$",
                                             "".join(body for _, body in self.sections), re.M)
                       if not m[0].endswith("\\")}

    def title(self, name):
        return f'.TH {name.upper()} 3 "" "deja {self.version}" "Library functions"\n'

    def whole(self):
        page = [self.title("deja"), ".SH NAME\ndeja \\- have I seen this key before?\n",
                ".SH SYNOPSIS\n.B #include <deja.h>\n.PP\ncc \\fIprog.c\\fR $(pkg\\-config "
                "\\-\\-cflags \\-\\-libs deja)\n.SH DESCRIPTION\n",
                opening(self.text[: self.text.index("*/") + 2].replace("deja.h - ", ""))]
        page += [f".SH {title.upper()}\n{block(body)}" for title, body in self.sections]
        return "".join(page) + ".SH SEE ALSO\n.BR deja (1)\n"

    def page(self, entry, group):
        """The page of the functions of an entry."""
        names, code, said = entry.names(), "\n".join(entry.functions()), " ".join(entry.text)
        if not said:
            sys.exit(f"apiman.py: deja.h says nothing about {names[0]}")
        shown = [c for e in group for c in e.code if c.startswith("#define")] \
            if " flags" in code else []
        shown += [line for macro, line in self.macros.items()
                  if re.search(rf"\b{macro}\b", said + code) and line not in shown]
        purpose = re.split(r"(?<=[\w)])[.:;](?= |$)", said)[0]
        purpose = purpose[0].lower() + purpose[1:]
        out = [self.title(names[0]), f".SH NAME\n{', '.join(names)} \\- {troff(purpose)}\n",
               ".SH SYNOPSIS\n.B #include <deja.h>\n.PP\n", block(code)]
        if shown:
            out.append(".PP\n" + block("\n".join(shown)))
        out.append(".SH DESCRIPTION\n" + ".PP\n".join(troff(p) + "\n" for p in entry.text))
        if "DEJA_CHECKED int" in code:
            out.append(".SH RETURN VALUE\nA call that returns int returns DEJA_OK or a negative "
                       "status; err, unless it is NULL, then says in one line what failed.\n")
        errors = [e for e in self.errors if re.search(rf"\b{e}\b", said)]
        if errors:
            out.append(".SH ERRORS\n")
            out += [f".TP\n.B {e}\n{troff(self.errors[e])}\n" for e in errors]
        used = set(re.findall(r"\b(deja_\w+) \*", code)) & set(self.structs) - PLAIN
        out += [f".SH {struct.upper()}\n{block(self.structs[struct])}" for struct in sorted(used)]
        others = [name for e in group if e is not entry for name in e.names()]
        also = ", ".join(["deja(3)"] + [f"{other}(3)" for other in others])
        return "".join(out) + f".SH SEE ALSO\n{troff(also)}\n"

    def pages(self):
        """Each function's page; functions that share a comment share their page."""
        for _, body in self.sections:
            for group in entries(body):
                for entry in (e for e in group if e.functions()):
                    first, *rest = entry.names()
                    yield first, self.page(entry, group)
                    yield from ((name, f".so man3/{first}.3\n") for name in rest)


def main():
    header = Header(pathlib.Path(sys.argv[1]).read_text())
    out = pathlib.Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    (out / "deja.3").write_text(header.whole())
    for name, page in header.pages():
        (out / f"{name}.3").write_text(page)


if __name__ == "__main__":
    main()
