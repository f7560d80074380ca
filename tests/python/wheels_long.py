"""wheels_long - the wheels of make_wheels.py are what they say, and run where they say.

A virtual environment gets zig and auditwheel from the package index.  The manylinux wheels run here, and
for aarch64 in qemu-user with Debian's Python.  The libraries for musl run with the musl loader, in a C
program: no Python for musl is in a registry, so the extension for musl is only compiled.
"""

import os
import platform
import re
import shutil
import subprocess
import sys
import unittest
import zipfile
from pathlib import Path

import pydeja

SYSTEMS = [f"{libc}_{machine}" for libc in ("manylinux_2_28", "musllinux_1_2") for machine in ("x86_64", "aarch64")]
ZIG = {"x86_64": "x86_64-linux-musl", "aarch64": "aarch64-linux-musl"}
USE = """
import sys, platform
import deja
from deja import _extension
f = deja.Filter("%s.deja" % platform.machine(), mode="w", capacity=1000)
assert f.add("a") and not f.add("a") and "a" in f and "b" not in f
assert sum(f.add_many("http://x.example/%d" % i for i in range(500))) == 500
f.close()
urls = deja.Filter(capacity=100, url="crawl")
urls.add("http://A.example/?utm_source=b")
assert "http://a.example/" in urls
print(bool(_extension.fast), platform.machine(), deja.__file__)
"""
IN_C = """
#include <deja.h>
#include <stdio.h>
int main(void)
{
    const deja_options options = {.size = sizeof options, .capacity = 1000};
    deja_filter *f = NULL;
    bool is_new = false;
    const deja_slice key = {"a", 1};
    if (deja_filter_create("musl.deja", DEJA_CREATE_REPLACE, &options, &f, NULL) != DEJA_OK ||
        deja_filter_add(f, key, &is_new, NULL) != DEJA_OK || !is_new || !deja_filter_contains(f, key) ||
        deja_filter_sync(f, NULL) != DEJA_OK)
        return 1;
    deja_filter_free(f);
    puts(deja_version());
    return deja_file_verify("musl.deja", NULL) == DEJA_OK ? 0 : 2;
}
"""
# What make_wheels.py and the environments must not see.
CLEAN = {name: value for name, value in os.environ.items()
         if name not in ("DEJA_LIBRARY", "DEJA_EXTENSION", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}


def said(*command, **options):
    """Return the output of a command that must succeed."""
    done = subprocess.run([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **{"env": CLEAN, **options})
    assert done.returncode == 0, f"{command}: exit {done.returncode}\n{done.stdout[-3000:]}"
    return done.stdout


def tools():
    """Return the Python of an environment with zig and auditwheel."""
    if subprocess.run([sys.executable, "-m", "venv", "tools"], capture_output=True).returncode != 0:
        pydeja.skip("no venv for this Python (Debian: python3-venv)")
    python = Path("tools/bin/python").absolute()
    done = subprocess.run([python, "-m", "pip", "install", "-q", "ziglang", "auditwheel", "twine"], capture_output=True,
                          text=True, env=CLEAN)
    if done.returncode != 0:
        pydeja.skip(f"no package index: {done.stderr.strip().splitlines()[-1:]}")
    return python


def unpacked_for_arm(*packages):
    """Unpack Debian packages for aarch64 into a folder and return it; None if they cannot be fetched."""
    root, state = Path("arm").absolute(), Path("apt").absolute()
    for folder in (root, state / "lists" / "partial", state / "cache" / "archives" / "partial"):
        folder.mkdir(parents=True, exist_ok=True)
    (state / "status").touch()
    apt = ["apt-get", "-q", "-o", "APT::Architecture=arm64", "-o", "APT::Architectures=arm64", "-o",
           f"Dir::State::lists={state}/lists", "-o", f"Dir::Cache={state}/cache", "-o",
           f"Dir::State::status={state}/status", "-o", "APT::Sandbox::User=root"]
    subprocess.run([*apt, "update"], capture_output=True)  # other sources may lack arm64
    if subprocess.run([*apt, "download", *packages], cwd=state, capture_output=True).returncode != 0:
        return None
    for package in state.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", package, root], check=True)
    return root


class Wheels(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.python = tools()
        said(cls.python, pydeja.SOURCE / "python" / "make_wheels.py", "dist")
        cls.dist = {path.name: path for path in Path("dist").absolute().iterdir()}

    def wheel(self, system, abi="cp39-abi3"):
        (name,) = (name for name in self.dist if name.endswith(f"-{abi}-{system}.whl"))
        return self.dist[name]

    def environment(self, name):
        """Return the Python of an empty environment."""
        said(sys.executable, "-m", "venv", name)
        return Path(name, "bin", "python").absolute()

    def test_all_files_are_there_and_valid(self):
        self.assertEqual(len(self.dist), 2 * len(SYSTEMS) + 1)
        self.assertNotIn("WARNING", said(self.python, "-m", "twine", "check", "--strict", *self.dist.values()))
        for system in SYSTEMS:
            for abi in ("cp39-abi3", "py3-none"):
                with zipfile.ZipFile(self.wheel(system, abi)) as wheel:
                    names = wheel.namelist()
                    self.assertEqual("deja/_fast.abi3.so" in names, abi == "cp39-abi3")
                    self.assertIn("deja/libdeja.so.0.2", names)
                    self.assertIn("deja/py.typed", names)
                    (notice,) = (name for name in names if name.endswith("licenses/xxhash.txt"))
                    self.assertIn("Redistribution", wheel.read(notice).decode())

    def test_two_builds_are_equal(self):
        said(self.python, pydeja.SOURCE / "python" / "make_wheels.py", "again", "manylinux_2_28_x86_64")
        for path in Path("again").iterdir():
            self.assertEqual(path.read_bytes(), self.dist[path.name].read_bytes(), path.name)

    def test_auditwheel_confirms_the_tags_of_manylinux(self):
        for system in SYSTEMS[:2]:
            for abi in ("cp39-abi3", "py3-none"):
                shown = said(self.python, "-m", "auditwheel", "show", self.wheel(system, abi))
                self.assertIn(f'platform tag: "{system}"', re.sub(r"\s+", " ", shown))

    def test_the_libraries_for_musl_need_only_musl(self):
        readelf = shutil.which("readelf") or self.skipTest("no readelf (Debian: binutils)")
        for system in SYSTEMS[2:]:
            with zipfile.ZipFile(self.wheel(system)) as wheel:
                for name in ("deja/libdeja.so.0.2", "deja/_fast.abi3.so"):
                    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", said(readelf, "-d", wheel.extract(name, system)))
                    self.assertLessEqual(set(needed), {"libc.so"}, (system, name))

    @unittest.skipUnless(platform.machine() == "x86_64", "not an x86-64 machine")
    def test_pip_installs_one_without_a_compiler(self):
        python = self.environment("empty")
        clean = {**CLEAN, "PATH": str(python.parent), "CC": "no-compiler"}
        out = said(python, "-m", "pip", "install", "--no-index", "--only-binary=:all:", "-f", "dist", "deja", env=clean)
        self.assertIn("cp39-abi3", out)
        self.assertTrue(said(python, "-c", USE, env=clean).startswith(f"True x86_64 {Path('empty').absolute()}"))
        said(python, "-m", "pip", "install", "--no-index", "--force-reinstall", self.wheel(SYSTEMS[0], "py3-none"), env=clean)
        self.assertIn("False x86_64", said(python, "-c", USE, env=clean))

    def test_aarch64_in_qemu(self):
        qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        if not qemu or not shutil.which("apt-get"):
            self.skipTest("no qemu-aarch64 (Debian: qemu-user), or not Debian")
        minor = said(pydeja.SYSTEM, "-c", "import sys; print(sys.version_info[1])").strip()
        root = unpacked_for_arm(f"python3.{minor}-minimal", f"libpython3.{minor}-minimal", f"libpython3.{minor}-stdlib",
                                "libc6", "zlib1g", "libexpat1", "libffi8")
        if root is None:
            self.skipTest("Debian's packages for arm64 cannot be fetched")
        for abi, fast in (("cp39-abi3", True), ("py3-none", False)):
            folder = f"on-arm-{abi}"
            said(self.python, "-m", "pip", "install", "-q", "--no-deps", "--target", folder, "--platform", SYSTEMS[1],
                 "--implementation", "cp", "--python-version", f"3.{minor}", "--only-binary=:all:",
                 self.wheel(SYSTEMS[1], abi))
            out = said(qemu, "-L", root, root / "usr" / "bin" / f"python3.{minor}", "-c", USE,
                       env={**CLEAN, "PYTHONPATH": folder})
            self.assertTrue(out.startswith(f"{fast} aarch64"), out)

    def test_the_libraries_for_musl_run(self):
        Path("in_c.c").write_text(IN_C)
        loaders = {"x86_64": [shutil.which("ld-musl-x86_64.so.1", path="/lib")]}
        qemu = shutil.which("qemu-aarch64") or shutil.which("qemu-aarch64-static")
        arm = unpacked_for_arm("musl") if qemu and shutil.which("apt-get") else None
        if arm:
            loaders["aarch64"] = [qemu, next((arm / "lib").glob("ld-musl-aarch64*"), None)]
        tried = 0
        for machine, loader in loaders.items():
            if None in loader:
                continue
            folder = Path(f"musl-{machine}")
            with zipfile.ZipFile(self.wheel(f"musllinux_1_2_{machine}")) as wheel:
                library = wheel.extract("deja/libdeja.so.0.2", folder)
            said(self.python, "-m", "ziglang", "cc", "-target", ZIG[machine], "-dynamic", "-O2", "in_c.c", library,
                 f"-I{pydeja.SOURCE}/include", "-o", folder / "in_c")
            out = said(*loader, folder / "in_c", env={**CLEAN, "LD_LIBRARY_PATH": str(folder / "deja")})
            self.assertRegex(out, r"^\d+\.\d+\.\d+\n$")
            tried += 1
        if not tried:
            self.skipTest("no musl loader (Debian: musl)")

    def test_an_sdist_builds_in_an_empty_folder(self):
        python = self.environment("built")
        (sdist,) = (path for name, path in self.dist.items() if name.endswith(".tar.gz"))
        Path("elsewhere").mkdir()
        shutil.copy(sdist, "elsewhere")
        said(python, "-m", "pip", "install", "-q", "--no-index", "--no-binary=:all:", f"./elsewhere/{sdist.name}")
        out = said(python, "-c", USE)
        self.assertIn(str(Path("built").absolute()), out)


if __name__ == "__main__":
    unittest.main()
