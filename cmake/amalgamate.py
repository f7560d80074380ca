#!/usr/bin/env python3
"""The library as one file, for people who would rather add deja.c and deja.h to their project.

    python3 cmake/amalgamate.py SOURCE_DIR OUT_DIR

OUT_DIR/deja.c is every header and source file below src/, each header once and before its first
use.  What is private to a file in src/ is made private to it here: names that a file defines for
itself (static functions and variables, types, enumerators) get the file's name as a suffix, and
its macros end with it.  Files for one instruction set keep it: a pragma turns it on around them.

    cc -O2 -c deja.c          needs <xxhash.h>, pthreads and libm, and nothing else
    -DDEJA_HAVE_IDN2 -lidn2 -lunistring   hosts in other scripts
    -DDEJA_NO_SIMD            portable code alone
"""
import pathlib
import re
import sys

TOKEN = re.compile(
    r"""(?P<skip>/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')"""
    r"""|(?P<name>[A-Za-z_]\w*)|(?P<number>\.?\d[\w.]*)|(?P<arrow>->)|(?P<space>\s+)|(?P<other>.)""",
    re.S,
)
LOCAL_INCLUDE = re.compile(r'^#include "([^"]+)"[^\n]*\n', re.M)
KEYWORDS = set(
    "struct union enum static const inline void int char short long unsigned signed float double "
    "bool if else for while do switch case default return break continue goto sizeof typedef "
    "extern volatile register _Atomic _Generic _Static_assert restrict".split()
)
SIMD = {  # ending of a file's name: what its instruction set is called
    "_avx2": ("AVX2", "avx2,bmi,bmi2,lzcnt"),
    "_avx512": ("AVX512", "avx512f,avx512bw,avx512dq,avx512vl"),
}


def tokens(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def code_only(text):
    """Without comments, literals and preprocessor lines, for finding what is defined."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", "", text, flags=re.M | re.S)
    return [(k, t) for k, t in tokens(text) if k not in ("skip", "space")]


def private_names(text):
    """What a .c file defines at file level for itself, and enumerators and tags at any level;
    and its typedefs."""
    names, types, depth, parens, statement = set(), set(), 0, 0, []
    toks = code_only(text)
    for i, (kind, tok) in enumerate(toks):
        before = toks[i - 1][1] if i else ""
        after = toks[i + 1][1] if i + 1 < len(toks) else ""
        if kind == "name" and before in ("struct", "union", "enum") and after == "{":
            names.add(tok)
        if tok == "{" and (before == "enum" or (i > 1 and toks[i - 2][1] == "enum")):
            names |= enumerators(toks, i)
        if depth == 0 and parens == 0 and tok == "(" and "static" in statement:
            if before != "__attribute__" and after != "*":
                names.add(before)  # a function, or its prototype
        named = tok in ("=", "[", ";") and "=" not in statement  # not the value behind it
        if depth == 0 and parens == 0 and named and "static" in statement:
            if before not in ("]", ")") and re.match(r"[A-Za-z_]\w*$", before):
                names.add(before)
        if depth == 0 and statement[:1] == ["typedef"] and tok == ";":
            types.add(before if before != ")" else typedef_function(statement))
        depth += (tok == "{") - (tok == "}")
        parens += (tok == "(") - (tok == ")")
        if depth == 0 and parens == 0 and tok in (";", "}"):
            # `static const struct {...} table[] = ...` goes on behind its brace
            statement = statement if tok == "}" and "(" not in statement and goes_on(after) else []
        elif depth == 0:
            statement.append(tok)
    # deja_ and dj_ names are one space for the whole library already.
    foreign = KEYWORDS | {n for n in names | types if n.startswith(("deja_", "dj_"))}
    return names - foreign, types - foreign


def goes_on(after):
    return re.match(r"[A-Za-z_]\w*$", after) is not None and after not in KEYWORDS


def typedef_function(statement):
    """The name in `T name(...)` or `T (*name)(...)`."""
    at = statement.index("(")
    return statement[at + 2] if statement[at + 1] == "*" else statement[at - 1]


def enumerators(toks, at):
    found, depth, first = set(), 0, True
    for kind, tok in toks[at:]:
        depth += (tok == "{") - (tok == "}")
        if depth == 0:
            break
        if kind == "name" and first and depth == 1:
            found.add(tok)
            first = False
        if depth == 1 and tok in ("{", ","):
            first = True
    return found


def rename(text, names, types, suffix):
    """Names get the suffix, but members do not: they are behind . or ->, or declared in braces
    that follow struct or union."""
    out, last, opened, members = [], "", [], 0
    pending = False
    for kind, tok in tokens(text):
        if kind == "name" and tok in names | types:
            is_type = last in ("struct", "union", "enum") or tok in types
            if last in (".", "->") or (members and not is_type and opened[-1]):
                out.append(tok)
            else:
                out.append(tok + suffix)
        else:
            out.append(tok)
        if kind in ("skip", "space"):
            continue
        if tok in ("struct", "union"):
            pending = True
        elif tok == "{":
            opened.append(pending)
            members += pending
            pending = False
        elif tok == "}" and opened:
            members -= opened.pop()
        elif kind != "name":
            pending = False
        last = tok
    return "".join(out)


def macros(text):
    return re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", text, re.M)


def is_guarded(header):
    return re.search(r"^#ifndef (\w+)\n#define \1$", header, re.M) is not None


class Amalgamation:
    def __init__(self, root):
        self.root = root
        self.seen = set()
        self.parts = []

    def headers_of(self, text):
        for name in LOCAL_INCLUDE.findall(text):
            if name == "deja.h":
                continue
            path = self.root / "src" / name
            if path in self.seen:
                continue
            self.seen.add(path)
            header = path.read_text()
            self.headers_of(header)
            self.parts.append(f"\n/* === src/{name} === */\n" + LOCAL_INCLUDE.sub("", header))

    def expanded(self, text):
        """With headers that are templates, meant to be included again and again, in place."""

        def template(match):
            path = self.root / "src" / match.group(1)
            if not path.exists() or is_guarded(path.read_text()):
                return match.group()
            return self.expanded(path.read_text())

        return LOCAL_INCLUDE.sub(template, text)

    def add(self, path):
        text = self.expanded(path.read_text())
        self.headers_of(text)
        text = LOCAL_INCLUDE.sub("", text)
        text = rename(text, *private_names(text), "_" + path.stem)
        text += "".join(f"#undef {name}\n" for name in dict.fromkeys(macros(text)))
        where = path.relative_to(self.root)
        for ending, (name, target) in SIMD.items():
            if path.stem.endswith(ending):
                text = (
                    f"#ifdef DJ_HAVE_{name}\n#ifdef __clang__\n"
                    f'#pragma clang attribute push(__attribute__((target("{target}"))), '
                    "apply_to = function)\n#else\n#pragma GCC push_options\n"
                    f'#pragma GCC target("{target}")\n#endif\n{text}'
                    "#ifdef __clang__\n#pragma clang attribute pop\n#else\n"
                    "#pragma GCC pop_options\n#endif\n#endif\n"
                )
        self.parts.append(f"\n/* === {where} === */\n{text}")


BEGIN = """/* deja.c - libdeja {version} as one file, made by cmake/amalgamate.py from the files named below.
 *
 *     cc -O2 -c deja.c          needs <xxhash.h>, pthreads and libm, and nothing else
 *     -DDEJA_HAVE_IDN2 -lidn2 -lunistring   hosts in other scripts
 *     -DDEJA_NO_SIMD            portable code alone */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#if defined(__x86_64__) && !defined(DEJA_NO_SIMD)
#define DJ_HAVE_AVX2
#define DJ_HAVE_AVX512
#include <immintrin.h>
#endif
#include "deja.h"
"""


def main():
    root, out = (pathlib.Path(p) for p in sys.argv[1:])
    header = (root / "include/deja.h").read_text()
    version = ".".join(re.findall(r"#define DEJA_VERSION_\w+ (\d+)", header))
    whole = Amalgamation(root)
    for path in sorted(root.glob("src/**/*.c")):
        whole.add(path)
    out.mkdir(parents=True, exist_ok=True)
    (out / "deja.c").write_text(BEGIN.format(version=version) + "".join(whole.parts))
    (out / "deja.h").write_text(header)


if __name__ == "__main__":
    main()
