"""The two things that pyproject.toml cannot say: the version, which lives in deja.h, and the library.

A wheel brings libdeja along when there is one to bring: the file that DEJA_LIBRARY names, or what
`cmake --preset release` built in this tree.  It is then for this machine's kind (py3-none-linux_x86_64)
and finds its library beside itself.  Otherwise the wheel is py3-none-any and uses the system's."""

import os
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py
from wheel.bdist_wheel import bdist_wheel

HERE = Path(__file__).resolve().parent


def version():
    header = HERE.parent / "include" / "deja.h"
    if header.exists():
        return ".".join(re.findall(r"#define DEJA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header.read_text()))
    return re.search(r"^Version: (.*)$", (HERE / "PKG-INFO").read_text(), re.M).group(1)  # in an sdist


def library():
    chosen = os.environ.get("DEJA_LIBRARY")
    if chosen:
        return Path(chosen)
    built = HERE.parent / "build" / "release" / f"libdeja.so.{version().split('.')[0]}"
    return built if built.exists() else None


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if library():
            target = Path(self.build_lib, "deja", f"libdeja.so.{version().split('.')[0]}")
            shutil.copyfile(library(), target)  # the file itself, not a link to it
            target.chmod(0o644)


class WheelOfOneKind(bdist_wheel):
    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = library() is None

    def get_tag(self):
        python, abi, system = super().get_tag()
        return ("py3", "none", system)  # ctypes: any Python 3 will do


setup(version=version(), cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": WheelOfOneKind})
