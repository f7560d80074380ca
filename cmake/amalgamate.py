#!/usr/bin/env python3
"""Write the library as one file, for projects that include deja.c and deja.h directly.

    python3 cmake/amalgamate.py SOURCE_DIR OUT_DIR

OUT_DIR/deja.c contains all headers and source files in src/, each header once, before its first use.
Private names stay private to their file: static functions and variables, types and enumerators get
the name of the file as a suffix, and macros are undefined at its end.  Pragmas enable the instruction
set of a file that needs one.

    cc -O2 -c deja.c                      needs only <xxhash.h>, pthreads and libm
    -DDEJA_HAVE_IDN2 -lidn2 -lunistring   supports hosts in other scripts
    -DDEJA_NO_SIMD                        uses portable code only
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
SIMD = {  # suffix of a file name: name and compiler targets of its instruction set
    "_avx2": ("AVX2", "avx2,bmi,bmi2,lzcnt,popcnt"),
    "_avx512": ("AVX512", "avx512f,avx512bw,avx512dq,avx512vl"),
    "_neon": ("NEON", None),  # part of the architecture
}


def tokens(text):
    return [(m.lastgroup, m.group()) for m in TOKEN.finditer(text)]


def code_only(text):
    """Return the tokens without comments, literals, white space and preprocessor lines."""
    text = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.)*(?:\\\n(?:[^\n\\]|\\.)*)*", "", text, flags=re.M | re.S)
    return [(k, t) for k, t in tokens(text) if k not in ("skip", "space")]


def private_names(text):
    """Return two sets: the private names of a .c file, and its typedefs.

    Private names are static at file level; tags and enumerators count at any level.
    """
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
        named = tok in ("=", "[", ";") and "=" not in statement  # in the name, not in its initial value
        if depth == 0 and parens == 0 and named and "static" in statement:
            if before not in ("]", ")") and re.match(r"[A-Za-z_]\w*$", before):
                names.add(before)
        if depth == 0 and statement[:1] == ["typedef"] and tok == ";":
            types.add(before if before != ")" else typedef_function(statement))
        depth += (tok == "{") - (tok == "}")
        parens += (tok == "(") - (tok == ")")
        if depth == 0 and parens == 0 and tok in (";", "}"):
            # `static const struct {...} table[] = ...` continues after the brace
            statement = statement if tok == "}" and "(" not in statement and is_identifier(after) else []
        elif depth == 0:
            statement.append(tok)
    # Names with deja_ or dj_ are unique in the whole library.
    foreign = KEYWORDS | {n for n in names | types if n.startswith(("deja_", "dj_"))}
    return names - foreign, types - foreign


def is_identifier(token):
    return re.match(r"[A-Za-z_]\w*$", token) is not None and token not in KEYWORDS


def typedef_function(statement):
    """Return the name in `T name(...)` or `T (*name)(...)`."""
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
    """Append the suffix to names, except members: after . or ->, or declared in a struct or union."""
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
        """Return the text with templates in place: headers without a guard, included more than once."""

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
            if path.stem.endswith(ending) and not target:
                text = f"#ifdef DJ_HAVE_{name}\n{text}#endif\n"
            elif path.stem.endswith(ending):
                text = (
                    f"#ifdef DJ_HAVE_{name}\n#ifdef __clang__\n"
                    f'#pragma clang attribute push(__attribute__((target("{target}"))), '
                    "apply_to = function)\n#else\n#pragma GCC push_options\n"
                    f'#pragma GCC target("{target}")\n#endif\n{text}'
                    "#ifdef __clang__\n#pragma clang attribute pop\n#else\n"
                    "#pragma GCC pop_options\n#endif\n#endif\n"
                )
        self.parts.append(f"\n/* === {where} === */\n{text}")


BEGIN = """/* deja.c - libdeja {version} as one file, generated by cmake/amalgamate.py from the files below.
 *
 *     cc -O2 -c deja.c                      needs only <xxhash.h>, pthreads and libm
 *     -DDEJA_HAVE_IDN2 -lidn2 -lunistring   supports hosts in other scripts
 *     -DDEJA_NO_SIMD                        uses portable code only */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64 /* 32-bit systems: files of more than 2 GB */
#endif
#if defined(__x86_64__) && !defined(DEJA_NO_SIMD)
#define DJ_HAVE_AVX2
#define DJ_HAVE_AVX512
#include <immintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON) && !defined(__AARCH64EB__) && !defined(DEJA_NO_SIMD)
#define DJ_HAVE_NEON
#include <arm_neon.h>
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
