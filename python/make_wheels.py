#!/usr/bin/env python3
"""Make the wheels and the sdist for PyPI, on one Linux machine, for all of these:

    python3 python/make_wheels.py OUT [SYSTEM...]      systems of TARGETS; all by default

    manylinux_2_28  x86_64, aarch64    Debian 10, Ubuntu 20.04, RHEL 8 and later
    musllinux_1_2   x86_64, aarch64    Alpine 3.13 and later

Each system gets two wheels: one with the extension, for CPython 3.9 and later (cp39-abi3), and one
without it, for the free-threaded builds of CPython (py3-none).  The library and the extension are
cross-compiled with `zig cc` (PyPI: ziglang), which has the C libraries of all targets.  The compiler
of the machine is not used.  xxhash.h is taken from this machine (Debian: libxxhash-dev), Python.h from
the Python that runs this.

The libraries in these wheels are without libidn2; docs/python.md says what that means.
"""

import argparse
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

import build_backend
import build_native

TARGETS = {
    "manylinux_2_28_x86_64": "x86_64-linux-gnu.2.28", "manylinux_2_28_aarch64": "aarch64-linux-gnu.2.28",
    "musllinux_1_2_x86_64": "x86_64-linux-musl", "musllinux_1_2_aarch64": "aarch64-linux-musl",
}


def xxhash():
    """Return the path of xxhash.h."""
    for folder in ("/usr/local/include", "/usr/include"):
        if Path(folder, "xxhash.h").exists():
            return Path(folder, "xxhash.h")
    raise build_native.NotBuilt("no xxhash.h (Debian: libxxhash-dev)")


def notice(header):
    """Return the license that a binary with code from xxhash.h must come with: the header's first comment."""
    text = re.search(r"/\*(.*?)\*/", header.read_text(), re.S).group(1)
    assert "Copyright" in text and "Redistribution" in text, f"{header} does not begin with its license"
    return "xxhash.txt", re.sub(r"(?m)^ \*? ?", "", text).strip().encode() + b"\n"


def python_headers(folder):
    """Copy the headers of Python; pyconfig.h is the same for all 64-bit Linux under the limited interface."""
    shutil.copytree(sysconfig.get_path("include"), folder)
    shutil.copy(sysconfig.get_config_h_filename(), Path(folder, "pyconfig.h"))
    return folder


def wheels(out, system, headers, notices):
    """Write the two wheels of a system; return their names."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", TARGETS[system]]
    files = build_backend.package()
    files[f"deja/{build_native.soname()}"] = build_native.build_library(zig, ["-DDEJA_NO_CPU_MODEL", "-isystem", headers])
    fast = build_native.build_extension(zig, include=headers / "python")
    return [build_backend.write_wheel(out, chosen, system, notices)
            for chosen in (files, {**files, f"deja/{build_backend.EXTENSION}": fast})]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", metavar="OUT")
    parser.add_argument("systems", metavar="SYSTEM", nargs="*", help=", ".join(TARGETS))
    chosen = parser.parse_args()
    wrong = set(chosen.systems) - set(TARGETS)
    if wrong:
        parser.error(f"unknown system {wrong.pop()}; one of {', '.join(TARGETS)}")
    if subprocess.run([sys.executable, "-m", "ziglang", "version"], capture_output=True).returncode != 0:
        sys.exit(f"make_wheels: no zig for {sys.executable}: pip install ziglang")
    Path(chosen.out).mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            headers = Path(folder)
            shutil.copy(xxhash(), headers)
            python_headers(headers / "python")
            for system in chosen.systems or TARGETS:
                print(*wheels(chosen.out, system, headers, [notice(xxhash())]), sep="\n", flush=True)
    except build_native.NotBuilt as why:
        sys.exit(f"make_wheels: {why}")
    print(build_backend.build_sdist(chosen.out))


if __name__ == "__main__":
    main()
