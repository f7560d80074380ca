"""Build the package for pip (PEP 517) with the standard library alone.

`pip install ./python` works in a plain virtual environment, without a network, setuptools or wheel.

The version comes from deja.h, everything else from pyproject.toml.  A wheel contains libdeja: the file
that DEJA_LIBRARY names, or the one that the `release` preset built in this tree, or one that is
compiled now (build_native.py).  With DEJA_LIBRARY=no, it contains none, and the package uses the
system's library.

A wheel also contains the extension _fast if it can be compiled, which takes a C compiler and Python.h.
Without the extension, the package uses ctypes.  DEJA_EXTENSION=no omits it; DEJA_EXTENSION=FILE includes
a compiled one.

The tag of a wheel depends on its content:

    py3-none-any            neither
    py3-none-linux_x86_64   the library
    cp39-abi3-linux_x86_64  the extension, for CPython 3.9 or later

make_wheels.py makes the wheels for PyPI, which run on most distributions.
"""

import ast
import base64
import gzip
import hashlib
import io
import os
import re
import sys
import sysconfig
import tarfile
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import build_native  # noqa: E402
from build_native import NotBuilt, soname, version  # noqa: E402

EXTENSION = "_fast.abi3.so"
WHEN = int(os.environ.get("SOURCE_DATE_EPOCH", "315532800"))  # of files in an archive, so that two builds are equal
REMEDY = "install what is missing, or set DEJA_LIBRARY to a libdeja, or to no, to use the system's"


def library():
    """Return the bytes of the library; None for the system's."""
    chosen = os.environ.get("DEJA_LIBRARY")
    if chosen == "no":
        return None
    built = Path(chosen) if chosen else build_native.TREE / "build" / "release" / soname()
    if chosen or built.exists():
        return built.read_bytes()
    try:
        return build_native.build_library(build_native.compiler(), idn=True)
    except NotBuilt as why:
        raise SystemExit(f"deja: {why}\n{REMEDY}") from None


def extension():
    """Return the bytes of the extension; None, after a message that says why, if it is not built."""
    chosen = os.environ.get("DEJA_EXTENSION")
    if chosen and chosen != "no":
        return Path(chosen).read_bytes()
    try:
        if chosen == "no":
            raise NotBuilt("DEJA_EXTENSION=no")
        if sysconfig.get_config_var("Py_GIL_DISABLED"):
            raise NotBuilt("it needs the interpreter lock, which this Python lacks")
        return build_native.build_extension(build_native.compiler())
    except NotBuilt as why:
        print(f"deja: without the extension, single calls are slower: {why}")
        return None


def project():
    """Return the tables of pyproject.toml.

    Python 3.9 has no TOML parser, so every value there is true, a string or a list of strings on
    one line.
    """
    tables, table = {}, {}
    for line in (HERE / "pyproject.toml").read_text().splitlines():
        if line.startswith("["):
            table = tables.setdefault(line.strip("[]"), {})
        elif "=" in line and not line.startswith("#"):
            name, value = line.split("=", 1)
            table[name.strip()] = value.strip() == "true" or ast.literal_eval(value.strip())
    return tables


def metadata():
    tables = project()
    about = tables["project"]
    lines = ["Metadata-Version: 2.4", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"License-Expression: {about['license']}", "License-File: LICENSE",
             f"Keywords: {','.join(about['keywords'])}", f"Requires-Python: {about['requires-python']}",
             *(f"Classifier: {text}" for text in about["classifiers"])]
    for extra, needs in tables["project.optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {need}; extra == '{extra}'" for need in needs)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / about["readme"]).read_text()]
    return "\n".join(lines).encode()


def sources():
    return sorted(p for p in (HERE / "deja").iterdir() if p.suffix == ".py" or p.name == "py.typed")


def license_file():
    own = HERE / "LICENSE"
    return (own if own.exists() else HERE.parent / "LICENSE").read_bytes()


def write_wheel(folder, files, system=None, notices=()):
    """Write a wheel; its files and the system (this one's by default) determine the tag.

    `notices` are names and texts of licenses of other software in the binaries.
    """
    name = f"deja-{version()}"
    pure = not any(".so" in path for path in files)
    system = "any" if pure else system or re.sub(r"[-.]", "_", sysconfig.get_platform())
    abi = "cp39-abi3" if f"deja/{EXTENSION}" in files else "py3-none"
    tags = "".join(f"Tag: {abi}-{one}\n" for one in system.split("."))
    about = f"{name}.dist-info"
    files = {**files, f"{about}/METADATA": metadata(), f"{about}/licenses/LICENSE": license_file(),
             **{f"{about}/licenses/{file}": text for file, text in notices},
             f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: deja\nRoot-Is-Purelib: {str(pure).lower()}\n"
                               f"{tags}".encode()}
    record = ""
    with zipfile.ZipFile(Path(folder, f"{name}-{abi}-{system}.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            wheel.writestr(_entry(path), data)
        wheel.writestr(_entry(f"{about}/RECORD"), record + f"{about}/RECORD,,\n")
    return f"{name}-{abi}-{system}.whl"


def _entry(path):
    entry = zipfile.ZipInfo(path, time.gmtime(WHEN)[:6])
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o755 if path.endswith(".so") or ".so." in path else 0o644) << 16
    return entry


def write_sdist(folder, files):
    name = f"deja-{version()}"
    with open(Path(folder, f"{name}.tar.gz"), "wb") as out, gzip.GzipFile("", "wb", mtime=WHEN, fileobj=out) as packed, \
            tarfile.open(fileobj=packed, mode="w") as sdist:
        for path, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{name}/{path}")
            entry.size, entry.mtime, entry.mode = len(data), WHEN, 0o644
            sdist.addfile(entry, io.BytesIO(data))
    return f"{name}.tar.gz"


# --- Hooks that pip calls -------------------------------------------------------------------


def package():
    """Return the Python files of the package."""
    return {f"deja/{p.name}": p.read_bytes() for p in sources()}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files, libdeja, fast = package(), library(), extension()
    if libdeja:
        files[f"deja/{soname()}"] = libdeja
    if fast:
        files[f"deja/{EXTENSION}"] = fast
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"deja.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    """Write an sdist with the C sources, which needs nothing around it."""
    files = package()
    for name in ("pyproject.toml", "README.md", "build_backend.py", "build_native.py", "deja/_fast.c"):
        files[name] = (HERE / name).read_bytes()
    with build_native.sources() as c:
        for name in ("deja.c", "deja.h", "deja.map", "compat.h"):
            files[f"native/{name}"] = (c / name).read_bytes()
    return write_sdist(sdist_directory, {**files, "LICENSE": license_file(), "PKG-INFO": metadata()})
