"""typed_long - the program of typed.py passes pyright, and the newest mypy, from the package index."""

import os
import subprocess
import sys
from pathlib import Path

import pydeja

if subprocess.run([sys.executable, "-m", "venv", "env"], capture_output=True).returncode != 0:
    pydeja.skip("no venv for this Python (Debian: python3-venv)")
python = Path("env/bin/python").absolute()
done = subprocess.run([python, "-m", "pip", "install", "-q", "pyright[nodejs]", "mypy"], capture_output=True, text=True)
if done.returncode != 0:
    pydeja.skip(f"no package index: {done.stderr.strip().splitlines()[-1:]}")
pyright = python.with_name("pyright")
if subprocess.run([pyright, "--version"], capture_output=True).returncode != 0:  # fetches its program from npm
    pydeja.skip("pyright cannot be installed")
script = pydeja.SOURCE / "tests" / "python" / "typed.py"
for checker in ("mypy", "pyright"):
    print(checker, flush=True)
    subprocess.run([python, script], env={**os.environ, "CHECKER": checker, "PYRIGHT": str(pyright)}, check=True)
