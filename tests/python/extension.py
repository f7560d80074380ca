"""extension - calls in C do exactly what the plain calls through ctypes do.

Another process repeats the operations with the other choice of DEJA_EXTENSION: the answers, the
errors, the warnings and the bytes of the filters must be equal.
"""

import gc
import json
import os
import random
import subprocess
import sys
import threading
import unittest
import warnings

import pydeja

import deja
from deja import _extension, _lib, _single

HEADER = 4096  # includes the time; the body follows it
FILE = os.environ.get("DEJA_EXTENSION", "no")
OTHER = pydeja.Path(os.environ["BUILD"], "python", "_fast.abi3.so") if FILE == "no" else "no"


class Text(str):
    """A str that pretends to be a different one."""

    def encode(self, *_):
        return b"wrong"


class Data(bytes):
    def __len__(self):
        return 1


def keys(seed):
    """Return keys of every type, some of them twice."""
    draw = random.Random(seed)
    made = [f"http://Example.com:80/{draw.randrange(300)}?b=1&a=2#x" for _ in range(500)]
    made += [f"http://example.com/é{i}/\U0001f600" for i in range(20)] + [f"no URL {i}" for i in range(20)]
    made += ["", b"", b"\xff\0", "\udcff", "\ud800", Text("text"), Data(b"data"), bytearray(b"x"), memoryview(b"y")]
    made += [None, 7, ("a",), ["a"], "http://" + "long" * 3000 + ".example/", "http://bücher.example/", "x" * 100_000]
    draw.shuffle(made)
    return made


OPTIONS = [
    {"capacity": 1000}, {"capacity": 200, "grow": False}, {"kind": "spectral", "capacity": 1000},
    {"kind": "paired", "capacity": 100}, {"kind": "exact", "capacity": 100, "grow": False}, {"kind": "classic", "capacity": 500},
    {"kind": "window", "capacity": 300}, {"kind": "layered", "capacity": 1000}, {"capacity": 300, "path": "file.deja"},
    {"capacity": 500, "url": "crawl"}, {"capacity": 500, "url": "safe", "path": "urls.deja"}, {"capacity": 500, "url": "gsb"},
]


def answer(call, *arguments, **named):
    """Return the answer, or the error, as text."""
    try:
        return repr(call(*arguments, **named))
    except Exception as error:
        return f"{type(error).__name__}: {error}, {getattr(error, 'errno', None)}, {getattr(error, 'done', None)}"


def story():
    """Return the answers of many calls, and the bytes of the filters afterwards."""
    told = []
    for options in OPTIONS:
        f = deja.Filter(**options, **({"mode": "w"} if "path" in options else {}), seed=7)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for i, key in enumerate(keys(str(options))):
                told.append([answer(f.add, key), answer(f.__contains__, key), answer(f.count, key)])
                if i % 5 == 0:
                    told.append(answer(f.remove, key))
            told.append(answer(f.add_many, keys(2)))  # a wrong type ends it
            right = [key for key in keys(3) if isinstance(key, (str, bytes, bytearray, memoryview)) and key != "\ud800"]
            told.append([answer(call, form) for form in (right, tuple(right), iter(right), right[:3], [])
                         for call in (f.add_many, f.contains_many)])
        told.append([(str(one.message), one.filename == __file__) for one in caught])
        told += [answer(f.add), answer(f.add, key="named"), answer(f.count, "a", b=1) != "", f.not_urls]
        told.append(f.to_bytes()[HEADER:].hex())
        if not f.stats().generations:  # the age of those may differ by a second
            told.append(repr(f.stats()))
        f.close()
        told += [answer(f.add, "a"), answer(f.__contains__, "a"), answer(f.remove, "a"), answer(f.count, "a")]
        if "path" in options:
            with deja.Filter(options["path"], mode="r") as reader:
                told += [answer(reader.add, "a"), answer(reader.remove, "a"), answer(reader.__contains__, "a")]
    static = deja.Filter.build(["a"], seed=7)
    told += [answer(static.add, "b"), answer(static.__contains__, "a"), answer(static.remove, "a")]
    return told


class Agreement(unittest.TestCase):
    maxDiff = 2000

    def test_both_ways_have_the_same_results(self):
        if OTHER != "no" and not OTHER.exists():
            self.skipTest("this build has no extension (Debian: python3-dev)")
        done = subprocess.run([sys.executable, __file__, "--story"], env={**os.environ, "DEJA_EXTENSION": str(OTHER)},
                              check=True, capture_output=True, text=True)
        for ours, theirs in zip(json.loads(json.dumps(story())), json.loads(done.stdout)):
            self.assertEqual(ours, theirs)

    def test_the_environment_chooses(self):
        self.assertEqual(bool(_extension.fast), FILE != "no")
        self.assertEqual(deja.Filter.add is not _single.Plain.add, FILE != "no")

    def test_a_free_threaded_python_uses_ctypes(self):
        """The build of the interpreter is simulated: none may be installed (interpreters_long.py uses those that are)."""
        said = pydeja.in_child("import sys, sysconfig; real = sysconfig.get_config_var\n"
                               "sysconfig.get_config_var = lambda name: 1 if name == 'Py_GIL_DISABLED' else real(name)\n"
                               "import deja; from deja import _extension; f = deja.Filter(capacity=9)\n"
                               "print(_extension.fast, 'deja._fast' in sys.modules, f.add('a'), 'a' in f)")
        self.assertEqual(said, "None False True True")

    def test_a_wrong_file_is_an_error(self):
        for wrong, said in (("missing.so", "missing.so"), ("text", "not an extension")):
            done = subprocess.run([sys.executable, "-c", "import deja"], env={**os.environ, "DEJA_EXTENSION": wrong},
                                  capture_output=True, text=True)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("ImportError", done.stderr)
            self.assertIn(said, done.stderr)


class Direct(unittest.TestCase):
    def setUp(self):
        if not _extension.fast:
            self.skipTest("without the extension")

    def test_an_exclusive_call_keeps_single_calls_out(self):
        f, inside, go, added = deja.Filter(capacity=1000), threading.Event(), threading.Event(), []
        function = _lib.lib.deja_filter_stats

        def slow(*arguments):
            inside.set()
            go.wait()
            return function(*arguments)

        _lib.lib.deja_filter_stats = slow
        try:
            threads = [threading.Thread(target=f.stats), threading.Thread(target=lambda: added.append(f.add("a")))]
            threads[0].start()
            inside.wait()
            threads[1].start()
            threads[1].join(0.2)
            self.assertEqual(added, [])  # waits
        finally:
            go.set()
            _lib.lib.deja_filter_stats = function
        for thread in threads:
            thread.join()
        self.assertEqual(added, [True])
        self.assertTrue(f._direct)  # the next calls are direct again

    def test_single_calls_do_not_use_ctypes(self):
        f, failing = deja.Filter(kind="spectral", capacity=1000), {}

        def never(*_):
            raise AssertionError("called through ctypes")

        for name in ("add", "contains", "remove", "count"):
            failing[f"deja_filter_{name}"] = getattr(_lib.lib, f"deja_filter_{name}")
            setattr(_lib.lib, f"deja_filter_{name}", never)
        try:
            self.assertTrue(f.add("é"))
            self.assertIn("é".encode(), f)
            self.assertEqual(f.count("é"), 1)
            self.assertTrue(f.remove("é"))
        finally:
            for name, function in failing.items():
                setattr(_lib.lib, name, function)

    def test_a_closed_filter_has_no_handle(self):
        f = deja.Filter(capacity=1000)
        self.assertTrue(f._direct)
        f.close()
        self.assertEqual(f._direct, 0)
        self.assertEqual(deja.Filter(capacity=100, url="gsb")._direct, 0)

    def test_references_are_balanced(self):
        f, key, odd = deja.Filter(capacity=1000, url="safe"), "http://example.com/" + "é", bytearray(b"odd")
        many = [key, odd, b"x" * 50, 7]
        gc.collect()
        before = [sys.getrefcount(x) for x in (f, key, odd, *many, True, False)]
        for _ in range(1000):
            f.add(key), key in f, f.add(odd), odd in f, f.add(key=key)
            answer(f.count, key), answer(f.add, 7), answer(f.add, key, key), answer(f.add_many, many)
        gc.collect()
        after = [sys.getrefcount(x) for x in (f, key, odd, *many, True, False)]
        self.assertLess(max(b - a for a, b in zip(before, after)), 100)

    def test_a_filter_is_freed_with_its_last_reference(self):
        class Watched(deja.Filter):
            def __del__(self):
                ended.append(1)
                super().__del__()

        ended = []
        f = Watched(capacity=100)
        f.add("a")
        del f
        self.assertEqual(ended, [1])

    def test_a_subclass_can_override_calls(self):
        class Loud(deja.Filter):
            def add(self, key):
                return super().add(key.upper())

            def __contains__(self, key):
                return super().__contains__(key.upper())

        f = Loud(capacity=100)
        self.assertTrue(f.add("a"))
        self.assertIn("A", f)
        self.assertFalse(f.add("A"))


if __name__ == "__main__":
    if sys.argv[1:] == ["--story"]:
        print(json.dumps(story()))
    else:
        open("text", "w").close()
        unittest.main()
