"""prose - the text in this tree that people read: pages, comments, messages.

english.py checks it, reading.py lists it for a reader.
"""

import io
import os
import re
import tokenize
from pathlib import Path

ROOT = Path(os.environ.get("SOURCE", Path(__file__).parents[3]))
CODE = "\x01"  # stands for a character of code; a phrase never spans it
NAME = "§"  # stands for a quoted name

STRING = r'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
C_TOKEN = re.compile(r"(/\*.*?\*/|//[^\n]*)" + STRING, re.S)
LINE_TOKEN = re.compile(r"((?<!\S)#[^\n]*)" + STRING)


def hidden(text, mark=CODE):
    return re.sub(r"\S", mark, text)


def keep(text, spans):
    """The text with everything outside the spans hidden."""
    out, end = [], 0
    for start, stop in spans:
        out += [hidden(text[end:start]), text[start:stop]]
        end = stop
    return "".join(out) + hidden(text[end:])


def code_prose(text, token, strings):
    prose = keep(text, [m.span() for m in token.finditer(text) if strings or m[1]])
    prose = re.sub(r"\\[nt\"]|%[-0-9.*]*[a-z]+\b|%%", lambda m: NAME * len(m.group()), prose)
    # The signs that open a comment's lines, and the quotes of strings.
    prose = re.sub(r"(?m)^([ \t]*)(/\*+|\*+/|\*+|//+|#+)", lambda m: m[1] + " " * len(m[2]), prose)
    return re.sub(r"/\*+|\*+/|\"", lambda m: " " * len(m.group()), prose)


def python_prose(text, strings):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    strings = (tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", None)) if strings else ()
    spans = [(starts[t.start[0] - 1] + t.start[1], starts[t.end[0] - 1] + t.end[1])
             for t in tokenize.generate_tokens(io.StringIO(text).readline)
             if t.type == tokenize.COMMENT or t.type in strings or t.string.startswith('"""')]
    prose = keep(text, spans)
    return re.sub(r"(?m)^[ \t]*#+|\"|\\[nt]", lambda m: " " * len(m.group()), prose)


def page_prose(text):
    def hide(match):
        return hidden(match.group())
    text = re.sub(r"(?ms)^( *)(```|~~~).*?^\1\2[^\n]*$", hide, text)
    text = re.sub(r"(?m)(?<=\n\n)(?: {4}.*\n)+", hide, text)  # indented code
    text = re.sub(r"(?s)<!--.*?-->|\$\$.*?\$\$", hide, text)
    text = re.sub(r"(?s)(?<!`)(`+)(?!`)(?:(?!\n\n).)*?(?<!`)\1(?!`)|\$[^$\n]+\$",
                  lambda m: hidden(m.group(), NAME), text)
    text = re.sub(r"(?<=\])\([^)]*\)|<[^>\n]*>", lambda m: " " * len(m.group()), text)
    return re.sub(r"(?m)^( *)(#+|[-*]|\d+\.)(?= )", lambda m: m[1] + CODE * len(m[2]), text)


def prose(path, text, strings=True):
    """The text of a page, or the comments (and the strings) of code; the rest is hidden."""
    if path.suffix == ".md":
        return page_prose(text)
    if path.suffix == ".py":
        return python_prose(text, strings)
    return code_prose(text, C_TOKEN if path.suffix in (".c", ".h", ".go") else LINE_TOKEN, strings)


def files():
    for path in sorted(ROOT.rglob("*")):
        name = path.relative_to(ROOT)
        if name.parts[0] in ("build", ".git") or "corpus" in name.parts or not path.is_file():
            continue
        if (path.suffix in (".md", ".c", ".h", ".go", ".py", ".sh", ".cmake")
                or name.name in ("CMakeLists.txt", "check", "quickstart")):
            yield name, path.read_text(errors="replace")


def sentences(text, source=None):
    """(line, sentence) of prose, as it reads in its source.  A cell of a table is a paragraph."""
    for paragraph in re.finditer(r"(?:[^\n\x01|]+\n?)+", text):
        for m in re.finditer(r"\S.*?(?:[.!?](?=\s|$)|$(?![\s\S]))", paragraph.group(), re.S):
            start, end = paragraph.start() + m.start(), paragraph.start() + m.end()
            said = re.sub(r"\n\s*(?:/?\*+/?|//|#+)(?= )", "\n", (source or text)[start:end])
            yield text.count("\n", 0, start) + 1, " ".join(said.split())


def messages(path, text):
    """(line, message) of the string literals that are texts: at least two words.  Adjacent literals
    are one; a conversion (%s, {name}) stays as it is."""
    if path.suffix == ".py":
        code, literal = text, r'[rfb]*(?:"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')'
        code = re.sub(r'"""(?:.|\n)*?"""|(?m:^\s*#.*$)', lambda m: hidden(m.group(), " "), text)
    else:
        code = re.sub(r"/\*(?:.|\n)*?\*/|//.*|(?m:^#include.*$)", lambda m: hidden(m.group(), " "), text)
        literal = r'(?:"(?:\\.|[^"\\\n])*"|\bPRI[a-zA-Z0-9]+\b)'
    for m in re.finditer(rf"{literal}(?:\s*{literal})*", code):
        said = "".join(p[1:-1] if p[0] in "\"'" else p.lstrip("rfb")[1:-1] if p[-1] in "\"'" else "N"
                       for p in re.findall(literal, m.group()))
        said = re.sub(r"\\n", " ", re.sub(r"\\t", " ", said)).strip()
        if len(re.findall(r"(?<![\w%\\-])[A-Za-z][a-z]+(?![\w(=])", said)) >= 2:
            yield text.count("\n", 0, m.start()) + 1, said
