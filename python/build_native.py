"""Compile libdeja and the extension _fast, for build_backend.py and make_wheels.py.

The C sources are one file, deja.c, with deja.h and the list of exported names (deja.map).  An sdist has
them in the folder native; in the tree, cmake/amalgamate.py writes them.  The compiler must find
xxhash.h, which is not ours; nothing of it is linked.
"""

import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
TREE = HERE.parent
OWN = HERE / "native"  # in an sdist
PACKAGES = "Debian: gcc libc6-dev libxxhash-dev; Fedora: gcc xxhash-devel; Alpine: gcc musl-dev xxhash-dev"
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-DNDEBUG", "-O3", "-fPIC", "-fvisibility=hidden", "-shared"]
IDN = ["-DDEJA_HAVE_IDN2", "-lidn2", "-lunistring"]


class NotBuilt(Exception):
    """Something that could not be compiled, and why."""


def header():
    return (OWN if OWN.exists() else TREE / "include") / "deja.h"


def version():
    return ".".join(re.findall(r"#define DEJA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header().read_text()))


def abi():
    """Return what CMakeLists.txt takes for the name of the library: major.minor while the major version is 0."""
    major, minor = version().split(".")[:2]
    return major if major != "0" else f"{major}.{minor}"


def soname():
    return f"libdeja.so.{abi()}"


def _write_sources(folder):
    """Write the sources from the tree."""
    script, symbols = TREE / "cmake" / "amalgamate.py", TREE / "tests" / "lint" / "symbols.txt"
    if not script.exists():
        raise NotBuilt(f"{TREE} lacks the C sources")
    before = sys.argv
    try:
        sys.argv = [str(script), str(TREE), str(folder)]
        runpy.run_path(str(script), run_name="__main__")
    finally:
        sys.argv = before
    names = "".join(f"    {name};\n" for name in symbols.read_text().split())
    Path(folder, "deja.map").write_text(f"DEJA_{abi()} {{\n  global:\n{names}  local:\n    *;\n}};\n")
    shutil.copy(HERE / "compat.h", folder)


@contextmanager
def sources():
    """Give a folder with deja.c, deja.h, deja.map and compat.h."""
    if OWN.exists():
        yield OWN
        return
    with tempfile.TemporaryDirectory() as folder:
        _write_sources(folder)
        yield Path(folder)


# --- Compiling ------------------------------------------------------------------------------


def compiler():
    """Return the compiler's command: $CC, that of this Python, or cc."""
    chosen = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if not os.environ.get("CC") and not shutil.which(chosen[0]):
        chosen = ["cc"]
    if not shutil.which(chosen[0]):
        raise NotBuilt(f"no C compiler {chosen[0]} ({PACKAGES})")
    return chosen


def run(command, what):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True)
    if done.returncode != 0:
        missing = re.search(r"xxhash\.h\W.*(No such file|not found)", done.stderr)
        hint = f"xxhash.h is missing ({PACKAGES})" if missing else f"{command[0]} failed"
        raise NotBuilt(f"{what}: {hint}\n{done.stderr[-3000:]}")


def _has_idn(cc, folder):
    """Return whether libidn2 and libunistring can be linked."""
    probe = Path(folder, "probe.c")
    probe.write_text("#include <idn2.h>\n#include <uninorm.h>\n"
                     "int main(void) { return !idn2_check_version(0) + !uc_general_category_name(uc_general_category(0)); }\n")
    return subprocess.run([*cc, str(probe), "-o", str(Path(folder, "probe")), *IDN], capture_output=True).returncode == 0


def build_library(cc, flags=(), idn=False):
    """Return the bytes of libdeja."""
    with sources() as c, tempfile.TemporaryDirectory() as folder:
        made = Path(folder, soname())
        more = IDN if idn and _has_idn(cc, folder) else []
        run([*cc, *FLAGS, f"-I{c}", "-include", c / "compat.h", *flags, c / "deja.c", "-o", made, f"-Wl,-soname,{soname()}",
             f"-Wl,--version-script={c / 'deja.map'}", "-Wl,-z,defs", "-s", *more, "-lm", "-lpthread"], "libdeja")
        return made.read_bytes()


def build_extension(cc, flags=(), include=None):
    """Return the bytes of the extension, which every CPython from 3.9 on can load."""
    include = include or sysconfig.get_path("include")
    if not Path(include, "Python.h").exists():
        raise NotBuilt(f"no Python.h in {include} (Debian: python3-dev)")
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "_fast.abi3.so")
        run([*cc, "-O2", "-s", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{header().parent}", *flags, f"-I{include}",
             HERE / "deja" / "_fast.c", "-o", made], "the extension")
        return made.read_bytes()
