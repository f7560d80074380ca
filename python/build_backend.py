"""Build the package for pip (PEP 517) with the standard library alone.

`pip install ./python` works in a plain virtual environment, without a network, setuptools or wheel.

The version comes from deja.h, everything else from pyproject.toml.  A wheel includes libdeja if it
finds one: the file that DEJA_LIBRARY names, or the one that the `release` preset built in this tree.
Such a wheel is for this architecture (py3-none-linux_x86_64).  Otherwise the wheel is py3-none-any,
and the package uses the system's library.

The wheel also includes the extension _fast if it can be compiled, which takes a C compiler and
Python.h; it is then for CPython 3.9 or later on this architecture (cp39-abi3-linux_x86_64).  Without
the extension, the package uses ctypes.  DEJA_EXTENSION=no omits it; DEJA_EXTENSION=FILE includes a
compiled one.
"""

import ast
import base64
import hashlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import tarfile
import tempfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


EXTENSION = "_fast.abi3.so"


def headers():
    """Return the folder of deja.h; an sdist has its own copy."""
    own = HERE / "include"
    return own if own.exists() else HERE.parent / "include"


def version():
    text = (headers() / "deja.h").read_text()
    return ".".join(re.findall(r"#define DEJA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))


def soname():
    """Return the name that CMakeLists.txt gives the library: major.minor while the major version is 0."""
    major, minor = version().split(".")[:2]
    return f"libdeja.so.{major}" if major != "0" else f"libdeja.so.{major}.{minor}"


def library():
    chosen = os.environ.get("DEJA_LIBRARY")
    if chosen:
        return Path(chosen)
    built = HERE.parent / "build" / "release" / soname()
    return built if built.exists() else None


def extension():
    """Return the bytes of the extension; None, after a message that says why, if it is not built."""
    chosen = os.environ.get("DEJA_EXTENSION")
    if chosen and chosen != "no":
        return Path(chosen).read_bytes()
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    if not shutil.which(compiler[0]):
        compiler = ["cc"]
    include = sysconfig.get_path("include")
    if chosen == "no":
        why = "DEJA_EXTENSION=no"
    elif sysconfig.get_config_var("Py_GIL_DISABLED"):
        why = "it needs the interpreter lock, which this Python lacks"
    elif not shutil.which(compiler[0]):
        why = f"no C compiler {compiler[0]}"
    elif not Path(include, "Python.h").exists():
        why = f"no Python.h in {include} (Debian: python3-dev)"
    else:
        with tempfile.TemporaryDirectory() as folder:
            made = Path(folder, EXTENSION)
            done = subprocess.run([*compiler, "-O2", "-shared", "-fPIC", "-fvisibility=hidden", f"-I{include}",
                                   f"-I{headers()}", str(HERE / "deja" / "_fast.c"), "-o", str(made)],
                                  capture_output=True, text=True)
            if done.returncode == 0:
                return made.read_bytes()
            why = f"{compiler[0]} failed:\n{done.stderr}"
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
    lines = ["Metadata-Version: 2.1", f"Name: {about['name']}", f"Version: {version()}",
             f"Summary: {about['description']}", f"Requires-Python: {about['requires-python']}",
             *(f"Classifier: {text}" for text in about["classifiers"])]
    for extra, needs in tables["project.optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f"Requires-Dist: {need}; extra == '{extra}'" for need in needs)]
    lines += ["Description-Content-Type: text/markdown", "", (HERE / about["readme"]).read_text()]
    return "\n".join(lines).encode()


def sources():
    return sorted(p for p in (HERE / "deja").iterdir() if p.suffix == ".py" or p.name == "py.typed")


def write_wheel(folder, files):
    """Write a wheel for any machine, for this architecture or for CPython, depending on its files."""
    name = f"deja-{version()}"
    pure = not any(".so" in path for path in files)
    system = "any" if pure else re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp39-abi3-{system}" if f"deja/{EXTENSION}" in files else f"py3-none-{system}"
    about = f"{name}.dist-info"
    files = {**files, f"{about}/METADATA": metadata(),
             f"{about}/WHEEL": f"Wheel-Version: 1.0\nGenerator: deja\nRoot-Is-Purelib: {str(pure).lower()}\n"
                               f"Tag: {tag}\n".encode()}
    record = ""
    with zipfile.ZipFile(Path(folder, f"{name}-{tag}.whl"), "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record += f"{path},sha256={digest},{len(data)}\n"
            wheel.writestr(path, data)
        wheel.writestr(f"{about}/RECORD", record + f"{about}/RECORD,,\n")
    return f"{name}-{tag}.whl"


# --- Hooks that pip calls -------------------------------------------------------------------


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    files = {f"deja/{p.name}": p.read_bytes() for p in sources()}
    if library():
        files[f"deja/{soname()}"] = library().read_bytes()
    made = extension()
    if made:
        files[f"deja/{EXTENSION}"] = made
    return write_wheel(wheel_directory, files)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return write_wheel(wheel_directory, {"deja.pth": f"{HERE}\n".encode()})


def build_sdist(sdist_directory, config_settings=None):
    name = f"deja-{version()}"
    with tarfile.open(Path(sdist_directory, f"{name}.tar.gz"), "w:gz") as sdist:
        for path in [HERE / "pyproject.toml", HERE / "README.md", Path(__file__), HERE / "deja" / "_fast.c", *sources()]:
            sdist.add(path, f"{name}/{path.resolve().relative_to(HERE)}")
        sdist.add(headers() / "deja.h", f"{name}/include/deja.h")
        entry = tarfile.TarInfo(f"{name}/PKG-INFO")
        entry.size = len(metadata())
        sdist.addfile(entry, io.BytesIO(metadata()))
    return f"{name}.tar.gz"
