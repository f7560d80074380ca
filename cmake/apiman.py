#!/usr/bin/env python3
"""deja(3) out of deja.h: the header is the reference, so the page is the header, laid out for man.

    python3 cmake/apiman.py include/deja.h OUT_DIR

OUT_DIR gets deja.3 and, for every function, a page that points to it: man deja_filter_add.
"""
import pathlib
import re
import sys

SECTION = re.compile(r"^/\* --- (.+?) -+ \*/$", re.M)
FUNCTION = re.compile(r"^DEJA_(?:API|CHECKED)\s+[^;]*?\b(deja_\w+)\(", re.M)
NOISE = re.compile(r"^(?:DEJA_API|DEJA_CHECKED) ", re.M)


def troff(line):
    line = line.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + line if line[:1] in (".", "'") else line


def block(text):
    """Code and comments as they stand."""
    lines = NOISE.sub("", text.strip("\n")).split("\n")
    return ".nf\n" + "\n".join(troff(line) for line in lines) + "\n.fi\n"


def table(comment):
    """The words at the top: a paragraph, then `Word   text` lines, each a tagged paragraph."""
    lines = [re.sub(r"^ \* ?|^/\* ?| ?\*/$", "", line) for line in comment.split("\n")]
    out, rest = [], False
    for line in lines:
        tag = re.match(r"([A-Z][a-z]+)\s{2,}(\S.*)$", line)
        if tag:
            out.append(f".TP\n.B {tag.group(1)}\n{troff(tag.group(2))}")
            rest = True
        elif line.strip():
            out.append(troff(line.strip()))
        elif not rest:
            out.append(".PP")
    return "\n".join(out) + "\n"


def main():
    header = pathlib.Path(sys.argv[1]).read_text()
    out = pathlib.Path(sys.argv[2])
    version = ".".join(re.findall(r"#define DEJA_VERSION_\w+ (\d+)", header))
    top = header[: header.index("*/") + 2]
    pieces = SECTION.split(header)[1:]
    page = [
        f'.TH DEJA 3 "" "deja {version}" "Library functions"\n',
        ".SH NAME\ndeja \\- have I seen this key before?\n",
        ".SH SYNOPSIS\n.B #include <deja.h>\n.PP\ncc \\fIprog.c\\fR $(pkg\\-config \\-\\-cflags "
        "\\-\\-libs deja)\n.SH DESCRIPTION\n",
        table(top.replace("deja.h - ", "")),
    ]
    for title, body in zip(pieces[::2], pieces[1::2]):
        body = body.split("#ifdef __cplusplus")[0]
        page.append(f".SH {title.upper()}\n{block(body)}")
    page.append('.SH SEE ALSO\n.BR deja (1)\n')
    out.mkdir(parents=True, exist_ok=True)
    (out / "deja.3").write_text("".join(page))
    for name in sorted(set(FUNCTION.findall(header))):
        (out / f"{name}.3").write_text(".so man3/deja.3\n")


if __name__ == "__main__":
    main()
