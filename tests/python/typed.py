"""typed - the package has types: a strict program passes mypy, and each mistake in it is found.

CHECKER=pyright runs pyright instead (typed_long.py).
"""

import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

import pydeja

PYRIGHT = os.environ.get("CHECKER") == "pyright"
PROGRAM = (pydeja.SOURCE / "tests" / "support" / "typed_user.py").read_text()
MISTAKES = {  # a line of the program, and what somebody might write instead
    "new: bool = seen.add(": "new: str = seen.add(",
    "answers: bytes = ": "answers: list[bool] = ",
    "counts: array[int] = ": "counts: list[str] = ",
    "first: date = days.first": "first: date = days.begin",
    "seen.update(urls, ": "seen.update(7, ",
    "seen |= deja.Filter(capacity=100)": "seen |= {'a'}",
    "capacity=10_000, url=": "capacity='many', url=",
    "days: Optional[deja.Days] = ": "days: deja.Days = ",
    "keys, sigma = seen.overlap(both)": "keys, sigma, more = seen.overlap(both)",
    "verdict: deja.Verdict = sieve.add": "verdict: bool = sieve.add",
    'form: str = deja.canonical("': 'form: str = deja.canonical(b"',
    "plan.bytes": "plan.byte",
}


def mypy():
    """Return the command, for this Python or Debian's."""
    for python in (sys.executable, pydeja.SYSTEM):
        if subprocess.run([python, "-c", "import mypy"], capture_output=True).returncode == 0:
            # As for an installed package: errors inside it, such as missing types of redis, do not count.
            return [python, "-m", "mypy", "--strict", "--follow-imports=silent", "--no-incremental",
                    "--cache-dir=/dev/null"]
    return pydeja.skip("no mypy (Debian: mypy)")


COMMAND = [os.environ["PYRIGHT"]] if PYRIGHT else mypy()


def errors(text):
    """Return the lines with errors in a program."""
    Path("user.py").write_text(text)
    Path("pyrightconfig.json").write_text('{"extraPaths": ["%s"], "typeCheckingMode": "strict"}'
                                          % (pydeja.SOURCE / "python"))
    done = subprocess.run([*COMMAND, "user.py"], env={**os.environ, "MYPYPATH": str(pydeja.SOURCE / "python")},
                          capture_output=True, text=True)
    found = [int(n) for n in re.findall(r"user\.py:(\d+):.*error", done.stdout)]
    assert (done.returncode == 0) == (not found), done.stdout + done.stderr
    return found, done.stdout


class Typed(unittest.TestCase):
    def test_the_package_says_that_it_has_types(self):
        self.assertTrue((pydeja.SOURCE / "python" / "deja" / "py.typed").exists())

    def test_a_strict_program_has_no_errors(self):
        found, said = errors(PROGRAM)
        self.assertEqual(found, [], said)

    def test_each_mistake_is_an_error_in_its_line(self):
        text = PROGRAM
        for right, wrong in MISTAKES.items():
            self.assertEqual(PROGRAM.count(right), 1, right)
            text = text.replace(right, wrong)
        expected = {text[:text.index(wrong)].count("\n") + 1 for wrong in MISTAKES.values()}
        found, said = errors(text)
        self.assertEqual(expected - set(found), set(), said)


if __name__ == "__main__":
    unittest.main()
