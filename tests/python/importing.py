"""importing - import loads its library or says what to install; the examples in docstrings run."""

import doctest
import os
import subprocess
import sys
import unittest

import pydeja  # noqa: F401

import deja
from deja import _filter, _options, _sieve, _url


class Import(unittest.TestCase):
    def test_a_missing_library_is_an_error_with_a_remedy(self):
        env = dict(os.environ, DEJA_LIBRARY="/no/such/libdeja.so")
        done = subprocess.run([sys.executable, "-c", "import deja"], env=env, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: deja needs the library libdeja.so", done.stderr)

    def test_another_library_is_refused(self):
        env = dict(os.environ, DEJA_LIBRARY="libc.so.6")
        done = subprocess.run([sys.executable, "-c", "import deja"], env=env, capture_output=True, text=True)
        self.assertIn("ImportError", done.stderr)

    def test_the_version_has_three_numbers(self):
        self.assertRegex(deja.__version__, r"^\d+\.\d+\.\d+$")


def load_tests(loader, tests, pattern):
    for module in (_filter, _options, _sieve, _url):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
