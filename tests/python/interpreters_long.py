"""interpreters_long - the package's tests pass on every CPython that is installed, from 3.9 on.

The interpreters are those of pyenv, python3.N and python3.Nt on the path, and the files in
DEJA_PYTHONS (separated by colons).  Each test runs with the extension of this build and through
ctypes.  Tests that need another package, such as Scrapy, are in scrapy_long.py.
"""

import os
import pwd
import shutil
import subprocess
from pathlib import Path

import pydeja

TESTS = [path for path in sorted((pydeja.SOURCE / "tests" / "python").glob("*.py"))
         if not path.stem.endswith("_long") and path.stem not in ("abi", "typed")]
LEAST = 8  # tests that need no other package
ABOUT = ("import sys, sysconfig; print('%d.%d' % sys.version_info[:2], sys.implementation.name,"
         " sysconfig.get_config_var('Py_GIL_DISABLED') or 0)")


def candidates():
    yield from filter(None, os.environ.get("DEJA_PYTHONS", "").split(":"))
    home = Path(pwd.getpwuid(os.getuid()).pw_dir)  # the tests have another $HOME
    yield from sorted((home / ".pyenv" / "versions").glob("*/bin/python"))
    yield from filter(None, (shutil.which(f"python3.{n}{t}") for n in range(9, 30) for t in ("", "t")))
    yield pydeja.SYSTEM


def interpreters():
    """Return the files by version, such as 3.13, or 3.13t for a free-threaded build."""
    found = {}
    for file in candidates():
        try:
            done = subprocess.run([file, "-c", ABOUT], capture_output=True, text=True)
        except OSError:
            continue
        if done.returncode != 0:
            continue
        version, name, free = done.stdout.split()
        if name == "cpython" and tuple(map(int, version.split("."))) >= (3, 9):
            found.setdefault(version + "t" * int(free), str(file))
    return found


def run(script, python, extension):
    """Return None if a test passes, True if it is skipped; otherwise its output."""
    done = subprocess.run([pydeja.SOURCE / "tests" / "support" / "run-script", script],
                          env={**os.environ, "DEJA_TEST_PYTHON": python, "DEJA_EXTENSION": extension},
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 77 or (done.stdout if done.returncode else None)


fast = os.environ.get("DEJA_EXTENSION", "no")
failed = []
found = interpreters()
for version, python in found.items():
    for extension in dict.fromkeys((fast, "no")):
        if version.endswith("t") and extension != "no":
            continue
        results = {script.stem: run(script, python, extension) for script in TESTS}
        skipped = [name for name, result in results.items() if result is True]
        bad = {name: result for name, result in results.items() if isinstance(result, str)}
        passed = len(results) - len(skipped) - len(bad)
        print(f"{version} {'ctypes' if extension == 'no' else 'extension'}: {passed} passed, {len(bad)} failed, "
              f"{len(skipped)} skipped ({' '.join(skipped)})", flush=True)
        failed += [f"{version}, {name}:\n{out[-3000:]}" for name, out in bad.items()]
        if passed < LEAST:
            failed.append(f"{version}: only {passed} tests ran")
assert found, "no interpreter"
assert not failed, "\n".join(failed)
