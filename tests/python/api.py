"""api - the package as programs use it: every method, every error, files, pickles, the docstrings."""

import copy
import ctypes
import dataclasses
import doctest
import errno
import gc
import itertools
import math
import mmap
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings
from array import array

import pydeja

import deja
from deja import _errors, _filter, _keys, _lib, _options, _url

URLS = [f"http://example.com/{i}" for i in range(3000)]
TEXT = "".join(url + "\n" for url in URLS).encode()


def in_child(code):
    """What another process prints."""
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


class OneKey(unittest.TestCase):
    def test_a_key_is_new_once(self):
        f = deja.Filter(capacity=1000)
        self.assertNotIn("a", f)
        self.assertTrue(f.add("a"))
        self.assertFalse(f.add("a"))
        self.assertIn("a", f)

    def test_text_is_utf8_and_any_bytes_are_keys(self):
        f = deja.Filter(capacity=1000)
        f.add("é")
        self.assertIn("é".encode(), f)
        for key in (b"", b"\0", b"a\0b", bytes(range(256)), bytearray(b"x"), memoryview(b"y")):
            self.assertTrue(f.add(key))
            self.assertIn(key, f)
        self.assertNotIn(b"a", f)
        f.add(b"\xff")
        self.assertIn("\udcff", f)

    def test_what_is_no_key_is_refused(self):
        f = deja.Filter(capacity=10)
        for wrong in (1, None, ["a"], 1.5):
            self.assertRaises(TypeError, f.add, wrong)
            self.assertRaises(TypeError, f.__contains__, wrong)
        self.assertRaises(TypeError, f.add_many, ["a", 1])
        self.assertRaises(TypeError, f.add_many, 7)
        self.assertRaises(TypeError, f.add_many, [array("I", [1, 2]), b"abcd"])


class ManyKeys(unittest.TestCase):
    forms = {
        "list of str": URLS, "tuple": tuple(URLS), "list of bytes": [url.encode() for url in URLS],
        "mixed": [url if i % 2 else url.encode() for i, url in enumerate(URLS)],
        "bytes": TEXT, "bytearray": bytearray(TEXT), "memoryview": memoryview(TEXT), "str": TEXT.decode(),
    }

    def test_every_form_of_keys_gives_the_same_answers(self):
        for name, keys in self.forms.items():
            with self.subTest(name):
                f = deja.Filter(capacity=10_000)
                for url in URLS[::2]:
                    f.add(url)
                want = bytes(i % 2 for i in range(len(URLS)))
                self.assertEqual(f.add_many(keys), want)
                self.assertEqual(f.contains_many(keys), b"\1" * len(URLS))
                self.assertEqual(sum(f.add_many(keys)), 0)

    def test_generators_and_more_than_a_portion(self):
        n = 2 * _keys.PORTION + 5
        f = deja.Filter(capacity=n)
        self.assertEqual(f.add_many(str(i) for i in range(n)), b"\1" * n)
        text = b"".join(b"%d\n" % i for i in range(n))
        self.assertEqual(f.contains_many(text), b"\1" * n)
        self.assertEqual(f.contains_many(text[:-1]), b"\1" * n)

    def test_keys_may_be_views_of_larger_items(self):
        f = deja.Filter(capacity=100)
        words = memoryview(array("I", [1, 2]))
        self.assertEqual(f.add_many([words, b"abcd"]), b"\1\1")
        self.assertEqual(f.contains_many([words.tobytes(), "abcd"]), b"\1\1")

    def test_repeats_inside_a_call_are_seen(self):
        f = deja.Filter(capacity=100)
        self.assertEqual(f.add_many(["a", "b", "a"]), b"\1\1\0")
        self.assertEqual(list(itertools.compress("ab", f.add_many(b"b\nc\n"))), ["b"])

    def test_a_mapped_file_is_read_in_place(self):
        with open("lines.txt", "wb") as out:
            out.write(TEXT)
        f = deja.Filter(capacity=10_000)
        with open("lines.txt", "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            self.assertEqual(sum(f.add_many(mapped)), len(URLS))
            mapped.close()  # nothing holds it any more
        self.assertEqual(f.contains_many(URLS), b"\1" * len(URLS))

    def test_a_buffer_is_let_go_after_an_error(self):
        buffer = bytearray(TEXT)
        f = deja.Filter(capacity=100, kind="exact", grow=False)
        self.assertRaises(deja.FullError, f.add_many, buffer)
        gc.collect()
        buffer.append(1)  # a buffer that is held cannot grow

    def test_other_marks_and_empty_input(self):
        f = deja.Filter(capacity=100)
        self.assertEqual(f.add_many(b"a\nb\0c", mark=b"\0"), b"\1\1")
        self.assertIn(b"a\nb", f)
        self.assertEqual(f.add_many(b""), b"")
        self.assertEqual(f.add_many([]), b"")
        self.assertEqual(f.contains_many(iter(())), b"")
        self.assertEqual(f.add_many(b"\n"), b"\1")  # one line, empty
        self.assertRaises(ValueError, f.add_many, b"a", mark=b"ab")

    def test_batches_are_as_good_as_single_calls(self):
        one, many = deja.Filter(capacity=2000, fp_rate=0.1, seed=5), deja.Filter(capacity=2000, fp_rate=0.1, seed=5)
        self.assertEqual(bytes(one.add(url) for url in URLS), many.add_many(TEXT))


class Counting(unittest.TestCase):
    def test_spectral_counts_and_removes(self):
        f = deja.Filter(capacity=1000, kind="spectral", counter_bits=8)
        for _ in range(3):
            f.add("a")
        self.assertEqual(f.count("a"), 3)
        self.assertTrue(f.remove("a"))
        self.assertFalse(f.remove("b"))
        self.assertEqual(list(f.count_many(["a", "b"])), [2, 0])
        self.assertEqual(f.remove_many(b"a\nb\n"), b"\1\0")
        self.assertEqual(f.stats().refused, 2)

    def test_others_say_who_can(self):
        f = deja.Filter(capacity=10)
        for call in (f.remove, f.count, f.remove_many, f.count_many):
            with self.assertRaisesRegex(deja.UnsupportedError, "spectral"):
                call("a")


class OtherKinds(unittest.TestCase):
    def test_paired_removes(self):
        f = deja.Filter(capacity=1000, kind="paired")
        f.add("a")
        self.assertTrue(f.remove("a"))
        self.assertNotIn("a", f)
        self.assertEqual(f.stats().deletions, 1)
        self.assertRaises(deja.UnsupportedError, f.count, "a")

    def test_window_forgets_by_its_clock(self):
        f = deja.Filter(capacity=1000, kind="window", window_seconds=100)
        f.set_clock(1000)
        f.add("a")
        self.assertIn("a", f)
        f.set_clock(5000)
        f.add("b")
        self.assertNotIn("a", f)
        self.assertRaises(deja.UnsupportedError, deja.Filter(capacity=10).set_clock, 5)

    def test_layered_answers_for_folders(self):
        f = deja.Filter("layers.deja", capacity=1000, kind="layered", layers=4)
        f.add_many(["http://a.example/x/1", "http://a.example/x/2"])
        self.assertTrue(f.prefix("http://a.example/x"))
        self.assertEqual(f.prefix_many(["http://a.example/", "http://b.example/"]), b"\1\0")
        f.close()
        self.assertRaises(deja.MismatchError, deja.Filter, "layers.deja", layers=7)
        self.assertRaises(deja.UnsupportedError, deja.Filter(capacity=10).prefix, "http://a/")

    def test_layers_and_generations_tell(self):
        f = deja.Filter(capacity=1000, kind="layered", layers=4)
        f.add_many(["http://a.example/x/1", "http://a.example/x/2"])
        self.assertEqual([f.layer(i).segments for i in (0, 1, 2, 3)], [2, 1, 1, 2])
        self.assertRaises(deja.ArgumentError, f.layer, 9)
        self.assertRaises(deja.UnsupportedError, deja.Filter(capacity=10).layer, 1)
        f = deja.Filter(capacity=1000, kind="window", generations=2)
        f.add("a")
        self.assertEqual(f.stats().generation_keys[0], 1)
        self.assertRaises(deja.ArgumentError, f.set_clock, -1)


class Files(unittest.TestCase):
    def setUp(self):
        self.path = f"{self.id()}.deja"

    def test_a_file_is_there_at_once_and_keeps_its_keys(self):
        with deja.Filter(self.path, capacity=1000) as f:
            self.assertTrue(os.path.exists(self.path))
            f.add("a")
        self.assertTrue(f.closed)
        with deja.Filter(self.path) as f:
            self.assertFalse(f.add("a"))
            self.assertEqual((f.stats().kind, f.stats().part_kind), ("scalable", "blocked"))
        deja.Filter(self.path, kind="blocked", capacity=1000).close()  # as it was made
        self.assertRaises(deja.MismatchError, deja.Filter, self.path, kind="classic")
        deja.verify(self.path)

    def test_modes(self):
        self.assertRaises(deja.FileMissingError, deja.Filter, self.path, mode="r")
        self.assertRaises(FileNotFoundError, deja.Filter, self.path, mode="r")
        deja.Filter(self.path, capacity=10).close()
        self.assertRaises(FileExistsError, deja.Filter, self.path, mode="x", capacity=10)
        with deja.Filter(self.path, mode="w", capacity=10) as f:
            self.assertTrue(f.add("a"))
        with deja.Filter(self.path, mode="r") as f:
            self.assertIn("a", f)
            self.assertRaises(deja.ReadOnlyError, f.add, "b")
            self.assertRaises(deja.ReadOnlyError, f.rotate)
            self.assertRaises(deja.ReadOnlyError, f.add_many, ["b"])
        self.assertRaises(ValueError, deja.Filter, self.path, mode="q")
        self.assertRaises(ValueError, deja.Filter, mode="r")

    def test_permissions(self):
        def mode(path):
            return os.stat(path).st_mode & 0o7777
        old = os.umask(0o022)
        try:
            deja.Filter("rights-own.deja").close()
            deja.Filter("rights-seeded.deja", seed=1).close()
            deja.Filter("rights-shared.deja", permissions=0o640).close()
            deja.Filter.build(URLS, "rights-static.deja", permissions=0o604).close()
            with deja.Filter("rights-own.deja") as f:
                f.copy("rights-copy.deja").close()
                f.copy("rights-wide.deja", permissions=0o666).close()
        finally:
            os.umask(old)
        self.assertEqual([mode(f"rights-{name}.deja") for name in "own seeded shared static copy wide".split()],
                         [0o600, 0o644, 0o640, 0o604, 0o600, 0o666])
        with deja.Filter("rights-shared.deja", mode="w") as f:  # keeps those of the file that it replaces
            f.add_many(URLS)
        self.assertEqual(mode("rights-shared.deja"), 0o640)
        for wrong in 0, 0o1777, -1, "640", True, 6.0:
            with self.assertRaisesRegex(deja.ArgumentError, "permissions"):
                deja.Filter("rights-never.deja", permissions=wrong)
        with self.assertRaisesRegex(deja.ArgumentError, "permissions"):
            deja.Filter(permissions=0o600)
        self.assertFalse(os.path.exists("rights-never.deja"))

    def test_one_writer_many_readers(self):
        with deja.Filter(self.path, capacity=1000) as f:
            with self.assertRaises(deja.BusyError) as caught:
                deja.Filter(self.path)
            self.assertIsInstance(caught.exception, OSError)
            reader = deja.Filter(self.path, mode="r")
            f.add("a")
            self.assertIn("a", reader)  # the memory is the same

    def test_what_differs_is_named(self):
        deja.Filter(self.path, capacity=10, kind="classic", url="safe").close()
        with self.assertRaisesRegex(deja.MismatchError, "classic"):
            deja.Filter(self.path, kind="exact")
        with self.assertRaisesRegex(deja.MismatchError, "safe"):
            deja.Filter(self.path, url="crawl")
        self.assertEqual(deja.Filter(self.path).rules.profile, "safe")

    def test_damage_is_named(self):
        with open(self.path, "wb") as out:
            out.write(b"no filter" * 1000)
        self.assertRaises(deja.FormatError, deja.Filter, self.path)
        self.assertRaises(deja.FormatError, deja.verify, self.path)
        with open(self.path, "rb") as left:
            self.assertTrue(left.read().startswith(b"no filter"))

    def test_places_where_no_file_can_be(self):
        with self.assertRaises(OSError) as caught:
            deja.Filter("no/such/folder/x.deja", capacity=10)
        self.assertIn("no/such/folder", str(caught.exception))
        with self.assertRaises(PermissionError) as caught:
            ctypes.set_errno(errno.EACCES)
            _errors.fail(_lib.EIO, "x.deja: cannot open")
        self.assertIsInstance(caught.exception, deja.FileDeniedError)
        self.assertEqual((caught.exception.errno, str(caught.exception)), (errno.EACCES, "x.deja: cannot open"))

    def test_names_of_files_cannot_command_a_terminal(self):
        with self.assertRaises(OSError) as caught:
            deja.Filter(b"no/such/\xc3\xa9\x1b[2J\x9b\xe2\x80\xae\n.deja", capacity=10)
        self.assertIn(r"no/such/\u00e9\x1b[2J\x9b\u202e\n.deja".replace(r"\u00e9", "\u00e9"), str(caught.exception))

    def test_what_was_added_survives_a_kill(self):
        code = f"import deja, os; f = deja.Filter({self.path!r}, capacity=1000); f.add('a'); os.kill(os.getpid(), 9)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, -9)
        with deja.Filter(self.path) as f:
            self.assertTrue(f.stats().unclean)
            self.assertIn("a", f)

    def test_a_key_apart(self):
        key = bytes(range(32))
        with deja.Filter(self.path, capacity=10, key=key) as f:
            f.add("a")
            self.assertRaises(TypeError, pickle.dumps, f)
        self.assertRaises(deja.Error, deja.Filter, self.path)
        self.assertRaises(deja.Error, deja.Filter, self.path, key=bytes(32))
        self.assertIn("a", deja.Filter(self.path, key=key))
        self.assertRaises(ValueError, deja.Filter, capacity=10, key=b"short")

    def test_pickled_by_name(self):
        with deja.Filter(self.path, capacity=1000) as f:
            f.add("a")
            copy = pickle.loads(pickle.dumps(f))
            self.assertIn("a", copy)
            self.assertRaises(deja.ReadOnlyError, copy.add, "b")
            here = os.getcwd()
            os.chdir("/")
            try:
                data = pickle.dumps(f).hex()
            finally:
                os.chdir(here)
            self.assertEqual(in_child(f"import pickle; print('a' in pickle.loads(bytes.fromhex({data!r})))"), "True")
        with self.assertRaisesRegex(TypeError, "path"):
            pickle.dumps(deja.Filter(capacity=10))

    def test_a_forked_child_reads_what_its_parent_writes(self):
        with deja.Filter(self.path, capacity=1000) as f:
            f.add("a")
            pid = os.fork()
            if pid == 0:
                refused = 0
                for call in (lambda: f.add("b"), lambda: f.add_many(["b"]), f.rotate, f.fold, lambda: f.merge(f)):
                    try:
                        call()
                    except deja.ReadOnlyError:
                        refused += 1
                found = "a" in f and "b" not in f and f.contains_many(["a", "b"]) == b"\1\0"
                f.sync()
                f.close()
                os._exit(0 if refused == 5 and found else 1)
            self.assertEqual(os.waitpid(pid, 0)[1], 0)
            self.assertTrue(f.add("c"))
            with self.assertRaises(deja.BusyError):  # it still has the lock
                deja.Filter(self.path)
        deja.verify(self.path)
        self.assertEqual(deja.Filter(self.path).stats().keys, 2)

    def test_a_file_cut_short_is_an_error(self):
        code = f"""
import deja, os, signal
deja.guard_files()
deja.guard_files()
f = deja.Filter({self.path!r}, capacity=1_000_000)
f.add("a")
f.check_file()
os.truncate({self.path!r}, 4096)
for call in (lambda: "a" in f, lambda: f.contains_many(["a", "b"]), lambda: f.add("b"), f.check_file, f.stats, f.to_bytes,
             f.close):
    try:
        call()
        print("no error")
    except deja.FileError as error:
        assert isinstance(error, OSError) and {self.path!r} in str(error), error
        print("error")
"""
        self.assertEqual(in_child(code).split("\n"), ["error"] * 7)

    def test_a_damaged_record_is_repaired_on_request(self):
        with deja.Filter(self.path, capacity=1000) as f:
            f.add("a")
        with open(self.path, "r+b") as file:  # docs/format.md: two sync records
            data = file.read(4096)
            places = [at for at in range(512, 4096, 512) if any(data[at:at + 512])]
            file.seek(places[-1] + 20)
            file.write(bytes(255 - byte for byte in data[places[-1] + 20:places[-1] + 24]))
        self.assertRaises(deja.FormatError, deja.Filter, self.path)
        self.assertIn("a", deja.Filter(self.path, repair=True))

    def test_closed_is_closed(self):
        f = deja.Filter(self.path, capacity=10)
        f.close()
        f.close()
        for call in (lambda: f.add("a"), lambda: "a" in f, f.stats, f.sync, f.rotate, lambda: f.add_many(["a"]),
                     f.__enter__, f.to_bytes, f.check_file, lambda: f.stats(body=False)):
            self.assertRaises(ValueError, call)
            self.assertRaises(deja.Error, call)
        self.assertIn("closed", repr(f))

    def test_an_unclosed_filter_lets_go_of_its_file(self):
        f = deja.Filter(self.path, capacity=10)
        del f
        gc.collect()
        deja.Filter(self.path).close()


class Whole(unittest.TestCase):
    def test_without_a_size_it_grows(self):
        f = deja.Filter()
        self.assertEqual(f.stats().kind, "scalable")
        small = deja.Filter(kind="scalable", capacity=100)
        small.add_many(URLS)
        self.assertGreater(small.stats().parts, 1)
        self.assertEqual(sum(small.contains_many(URLS)), len(URLS))

    def test_rotate_begins_a_visit(self):
        f = deja.Filter("visits.deja", capacity=5000)
        f.add_many(URLS)
        f.rotate()
        s = f.stats()
        self.assertEqual((s.visit, s.keys, s.visits_before), (2, 0, 1))
        self.assertEqual(sum(f.contains_many(URLS)), 0)
        f.rotate(capacity=20_000, fp_rate=0.01)
        self.assertEqual(f.stats().capacity, 20_000)

    def test_merge_and_common(self):
        a, b = (deja.Filter(capacity=10_000, seed=3) for _ in range(2))
        a.add_many(URLS[:2000])
        b.add_many(URLS[1000:])
        keys, sigma = a.overlap(b)
        self.assertLess(abs(keys - 1000), 5 * sigma + 1)
        a.merge(b)
        self.assertEqual(sum(a.contains_many(URLS)), len(URLS))
        with self.assertRaises(deja.MismatchError):
            a.merge(deja.Filter(capacity=10_000, seed=4))

    def test_fold_and_copy(self):
        f = deja.Filter(capacity=1 << 14, memory=1 << 16, seed=1)
        f.add_many(URLS)
        before = f.stats().bytes
        f.fold()
        self.assertEqual(f.stats().bytes * 2, before)
        with f.copy("copy.deja") as copy:
            self.assertEqual(sum(copy.contains_many(URLS)), len(URLS))
        self.assertRaises(FileExistsError, f.copy, "copy.deja")
        f.copy("copy.deja", replace=True).close()
        self.assertRaises(deja.ArgumentError, f.fold, 99)

    def test_static_filters_are_built(self):
        f = deja.Filter.build(URLS, "static.deja")
        self.assertEqual(sum(f.contains_many(URLS)), len(URLS))
        self.assertEqual(f.stats().kind, "static")
        self.assertRaisesRegex(deja.UnsupportedError, "build", f.add, "a")
        self.assertRaises(FileExistsError, deja.Filter.build, URLS, "static.deja")
        self.assertIn(URLS[5], deja.Filter.build(TEXT, fingerprint_bits=8))

    def test_options_that_are_wrong(self):
        for wrong in ({"kind": "cuckoo"}, {"hash": "crc"}, {"capacity": 10, "fp_rate": 2.0}, {"url": "mine"},
                      {"capacity": 10, "hashes": 1000}, {"capacity": 0}, {"capacity": -5}, {"capacity": float("nan")},
                      {"capacity": 10, "seed": 0}, {"capacity": 10, "fp_rate": 0}, {"capacity": 10, "hashes": 2**32 + 3},
                      {"capacity": 10, "memory": -1}):
            with self.subTest(wrong):
                self.assertRaises(deja.ArgumentError, deja.Filter, **wrong)
        for none in ("color", "alloc", "size", "flags"):
            self.assertRaises(TypeError, deja.Filter, capacity=10, **{none: 1})
        self.assertRaises(deja.Error, deja.Filter, capacity=1e18)

    def test_full_says_how_far_it_got(self):
        f = deja.Filter(capacity=50, kind="exact", grow=False)
        with self.assertRaises(deja.FullError) as caught:
            f.add_many(URLS)
        self.assertEqual(caught.exception.done, f.stats().keys)
        self.assertGreater(caught.exception.done, 49)

    def test_a_plan_is_what_is_made(self):
        for grow in (None, True, False):
            options = {"capacity": 1e5, "fp_rate": 1e-3, "kind": "classic", "grow": grow}
            plan, made = deja.plan(**options), deja.Filter(**options).stats()
            self.assertEqual((plan.bytes, plan.hashes, plan.kind), (made.bytes, made.hashes, made.kind))

    def test_a_capacity_is_a_first_size(self):
        for kind in (None, "blocked", "classic", "exact"):
            with self.subTest(kind), warnings.catch_warnings():
                warnings.simplefilter("error")
                f = deja.Filter(capacity=50, kind=kind, fp_rate=1e-9)
                self.assertEqual(sum(f.add_many(URLS)), len(URLS))
                self.assertEqual((f.stats(body=False).kind, f.stats(body=False).excess), ("scalable", 0))
        for options in ({"memory": 4096}, {"capacity": 50, "hashes": 4}, {"capacity": 50, "kind": "spectral"},
                        {"capacity": 50, "filters": 2}):
            self.assertNotEqual(deja.Filter(**options).stats(body=False).kind, "scalable")
            self.assertRaises(deja.ArgumentError, deja.Filter, grow=True, **options)
        self.assertRaises(deja.ArgumentError, deja.Filter, grow=False)

    def test_a_fixed_filter_warns_once_when_it_is_too_small(self):
        def warned(f, urls, add):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                add(f, urls)
            return [(one.category, one.filename) for one in caught]

        def one_by_one(f, urls):
            for url in urls:
                f.add(url)

        said = [(deja.CapacityWarning, __file__)]
        for add in (deja.Filter.add_many, one_by_one):
            for options in ({"grow": False}, {"kind": "spectral"}, {"hashes": 5}, {"kind": "window", "window_seconds": 99}):
                with self.subTest(options):
                    f = deja.Filter(capacity=100, **options)
                    self.assertEqual(warned(f, URLS[:90], add), [])
                    self.assertEqual(warned(f, URLS[90:300], add), said)
                    self.assertEqual(warned(f, URLS, add), [])
                    self.assertGreater(f.stats(body=False).excess, 0)
        with deja.Filter(f"{self.id()}.deja", capacity=100, grow=False) as f:
            self.assertEqual(warned(f, URLS[:200], one_by_one), said)
        with deja.Filter(f"{self.id()}.deja") as f:  # again in each run that adds, known keys or not
            self.assertEqual(warned(f, URLS[:1], one_by_one), said)
            f.rotate(capacity=100)
            self.assertEqual(warned(f, URLS[:90], one_by_one), [])
            self.assertEqual(warned(f, URLS[:200], one_by_one), said)

    def test_stats_without_the_body_agree_with_those_of_it(self):
        f = deja.Filter(capacity=5000, url="crawl", kind="scalable")
        f.add_many(URLS)
        told, stats = f.stats(body=False), f.stats()
        for name in ("kind", "part_kind", "parts", "capacity", "bytes", "keys", "visit", "fp_rate", "profile", "url_rules"):
            self.assertEqual(getattr(told, name), getattr(stats, name), name)
        self.assertEqual(told.entries, stats.keys)
        self.assertTrue(math.isnan(told.fill) and math.isnan(told.lost) and told.bits_set == 0)

    def test_the_bytes_of_a_filter_are_the_filter(self):
        for options in ({"capacity": 5000}, {"kind": "scalable", "capacity": 500}, {"kind": "exact", "capacity": 5000},
                        {"capacity": 5000, "url": "crawl"}):
            with self.subTest(options):
                f = deja.Filter(**options)
                f.add_many(URLS)
                data = f.to_bytes()
                self.assertEqual(b"".join(f.pieces(1000)), data)
                for form in (data, memoryview(data), f.pieces(5000), [data[:100], bytearray(data[100:])]):
                    again = deja.Filter.from_bytes(form)
                    self.assertEqual(sum(again.contains_many(URLS)), len(URLS))
                    self.assertEqual(dataclasses.replace(again.stats(), syncs=0), f.stats())
                    self.assertEqual(again.rules, f.rules)
                with open("bytes.deja", "wb") as out:
                    out.write(data)
                deja.verify("bytes.deja")
        self.assertRaises(deja.ArgumentError, f.pieces, 0)

    def test_bytes_that_are_wrong_are_refused(self):
        f = deja.Filter(capacity=5000)
        f.add_many(URLS)
        data = f.to_bytes()
        changed = data[:5000] + bytes([data[5000] ^ 1]) + data[5001:]
        for wrong in (b"", b"no filter" * 1000, data[:-1], data + b"x", changed):
            self.assertRaises(deja.FormatError, deja.Filter.from_bytes, wrong)
            self.assertRaises(deja.FormatError, deja.Filter.from_bytes, [wrong[:4500], wrong[4500:]])
        self.assertRaises(deja.MismatchError, deja.Filter.from_bytes, data, kind="exact")
        self.assertRaises(deja.MismatchError, deja.Filter.from_bytes, data, url="crawl")
        self.assertRaises(TypeError, deja.Filter.from_bytes, 7)
        key = bytes(range(32))
        data = deja.Filter(capacity=100, key=key).to_bytes()
        self.assertNotIn(key, data)
        self.assertRaises(deja.Error, deja.Filter.from_bytes, data)
        self.assertTrue(deja.Filter.from_bytes(data, key=key).add("a"))

    def test_seeds_repeat(self):
        a, b = (deja.Filter(capacity=100, fp_rate=0.3, seed=9) for _ in range(2))
        a.add_many(URLS[:100])
        b.add_many(URLS[:100])
        self.assertEqual(a.contains_many(TEXT), b.contains_many(TEXT))
        self.assertFalse(a.stats().keyed)


class Addresses(unittest.TestCase):
    same = ["http://Example.com:80/a/../b?b=1&a=2#top", "http://example.com/b?a=2&b=1&utm_source=x"]

    def test_canonical(self):
        self.assertEqual(deja.canonical(self.same[0]), "http://example.com/b?b=1&a=2")
        self.assertEqual(deja.canonical(self.same[0].encode(), "crawl"), b"http://example.com/b?a=2&b=1")
        with self.assertRaisesRegex(deja.NotURLError, "no url"):
            deja.canonical("no url")
        self.assertRaises(ValueError, deja.Rules, "mine")
        self.assertRaises(deja.Error, deja.Rules, "safe", drop=["a"])

    def test_spellings_are_one_key(self):
        f = deja.Filter(capacity=1000, url="crawl")
        self.assertTrue(f.add(self.same[0]))
        self.assertFalse(f.add(self.same[1]))
        self.assertIn(self.same[1], f)
        self.assertEqual(f.add_many(self.same + ["http://example.com/c"]), b"\0\0\1")
        self.assertEqual(f.contains_many("\n".join(self.same)), b"\1\1")

    def test_batches_of_urls_are_as_good_as_single_ones(self):
        urls = [f"HTTP://h{i % 7}.Example/{'x' * (i % 90)}/../{i}?b=1&a={i % 3}#{i}" for i in range(20_000)]
        urls[17] = "http://h/" + "%41" * 1_500_000  # longer than all the room for a portion
        urls[18] = "no url"
        one, many = deja.Filter(capacity=50_000, url="crawl"), deja.Filter(capacity=50_000, url="crawl")
        want = bytes(one.add(url) for url in urls)
        self.assertEqual(many.add_many(urls), want)
        self.assertEqual((one.not_urls, many.not_urls), (1, 1))
        self.assertEqual(many.contains_many(urls), b"\1" * len(urls))

    def test_own_rules_are_needed_again(self):
        rules = deja.Rules("crawl", drop=["ref"], keep=["utm_*"])
        with deja.Filter("rules.deja", capacity=100, url=rules) as f:
            f.add("http://a.example/?ref=1&b=2")
            self.assertIn("http://a.example/?b=2", f)
        self.assertRaisesRegex(deja.MismatchError, "Rules", deja.Filter, "rules.deja")
        with deja.Filter("rules.deja", url=deja.Rules("crawl", drop=["ref"], keep=["utm_*"])) as f:
            self.assertIn("http://a.example/?b=2&ref=7", f)
            self.assertIn("http://a.example/?b=2&ref=7", pickle.loads(pickle.dumps(f)))

    def test_rules_are_copied_and_pickled_by_what_they_are_made_of(self):
        rules = deja.Rules("crawl", drop=["ref"], keep=["utm_*"])
        for again in (copy.copy(rules), copy.deepcopy(rules), pickle.loads(pickle.dumps(rules))):
            self.assertEqual(again.id, rules.id)
            self.assertEqual(again.canonical("http://a.example/?ref=1&b=2"), "http://a.example/?b=2")
            del again
            gc.collect()
        self.assertEqual(rules.canonical("http://a.example/?ref=1"), "http://a.example/")

    def test_links_layers_and_expressions(self):
        self.assertEqual(deja.resolve(b"http://a.example/b/", "c/\u00e9"), "http://a.example/b/c/%C3%A9")
        self.assertRaises(deja.NotURLError, deja.resolve, "no url", "no link")
        self.assertEqual(deja.layers("http://a.example/b/c/d", 2), ["http://a.example", "/b/c/d"])
        self.assertRaises(deja.ArgumentError, deja.layers, "http://a.example/", 0)
        self.assertEqual(deja.expressions("http://1.2.3.4/"), ["1.2.3.4/"])
        self.assertRaises(deja.NotURLError, deja.expressions, "/path")

    def test_block_lists_know_sites_and_folders(self):
        bad = ["http://evil.example/", "http://shop.example/fake/"]
        asked = ["https://www.evil.example/x", "http://shop.example/", "/path", "http://shop.example/fake/y"]
        f = deja.Filter(capacity=100, url="gsb")
        self.assertEqual(f.add_many(["/path", *bad, bad[0], "/path"]), b"\0\1\1\0\0")
        self.assertEqual((f.not_urls, f.stats().keys), (2, 2))
        for f in (f, deja.Filter.build(bad, url="gsb")):
            self.assertEqual(f.contains_many(asked), b"\1\0\0\1")
            self.assertEqual([url in f for url in asked], [True, False, False, True])

    def test_block_lists_in_batches_are_as_good_as_one_by_one(self):
        urls = [f"http://h{i % 50}.a{i % 7}.example/{i % 11}/{i % 13}/x?y={i}" for i in range(3000)]
        urls[5], urls[1000] = "/path", "http://h/" + "%41" * 1_500_000
        one, many = (deja.Filter(capacity=5000, url="gsb", kind="spectral", seed=3) for _ in range(2))
        self.assertEqual(many.add_many(urls[::2]), bytes(one.add(url) for url in urls[::2]))
        asked = urls + [f"http://z.{url[7:]}" for url in urls[:100]]
        answers = many.contains_many("\n".join(asked))
        self.assertEqual(answers, bytes(url in one for url in asked))
        self.assertGreater(sum(answers), 1499)
        self.assertEqual(list(many.count_many(urls)), [one.count(url) for url in urls])
        self.assertEqual(many.remove_many(urls), bytes(one.remove(url) for url in urls))
        full = deja.Filter(capacity=50, url="gsb", kind="exact", grow=False)
        with self.assertRaises(deja.FullError) as caught:
            full.add_many(["/path"] + urls)
        self.assertEqual(caught.exception.done, full.stats().keys + 2)  # two are not URLs

    def test_files_of_the_command_are_files_of_the_package(self):
        if "DEJA" not in os.environ:
            self.skipTest("the command is not built")
        command = os.environ["DEJA"]
        subprocess.run([command, "build", "-q", "--url=gsb", "bad.deja"], input=b"http://evil.example/\n", check=True)
        self.assertIn("http://a.evil.example/b", deja.Filter("bad.deja", mode="r"))
        with deja.Filter("seen.deja", capacity=100, url="crawl") as f:
            f.add(self.same[0])
        out = subprocess.run([command, "check", "-q", "--url=crawl", "seen.deja"], input=self.same[1].encode(),
                             capture_output=True, check=True).stdout
        self.assertEqual(out.decode().strip(), self.same[1])

    def test_files_of_deja_0_1_keep_their_forms(self):
        """A snowman was not valid then, so its key is the URL as given."""
        hosts = os.path.join(os.environ["SOURCE"], "tests", "format", "golden", "hosts")
        with open(os.path.join(hosts, "hosts.txt"), encoding="utf-8") as lines:
            urls = lines.read().split()
        if "xn--" not in deja.Rules("safe").canonical("http://\u00fc/"):
            self.skipTest("built without libidn2")
        for profile in "safe", "crawl":
            path = os.path.join(hosts, profile + ".deja")
            with open(path, "rb") as file:
                data = file.read()
            for f in (deja.Filter(path, mode="r", url=profile), deja.Filter(path, mode="r"),
                      deja.Filter.from_bytes(data, url=profile), deja.Filter.from_bytes(data)):
                self.assertTrue(all(url in f for url in urls))
                self.assertNotIn("http://xn--n3h.example/", f)
                self.assertNotEqual(f.rules.id, deja.Rules(profile).id)
                self.assertEqual(f.rules.id, pickle.loads(pickle.dumps(f.rules)).id)
                f.close()
        self.assertIn("http://xn--n3h.example/", _filled(urls))


def _filled(urls):
    f = deja.Filter(capacity=100, url="safe")
    f.add_many(urls)
    return f


class Import(unittest.TestCase):
    def test_no_library_says_what_to_install(self):
        env = dict(os.environ, DEJA_LIBRARY="/no/such/libdeja.so")
        done = subprocess.run([sys.executable, "-c", "import deja"], env=env, capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ImportError: deja needs the library libdeja.so", done.stderr)

    def test_another_library_is_refused(self):
        env = dict(os.environ, DEJA_LIBRARY="libc.so.6")
        done = subprocess.run([sys.executable, "-c", "import deja"], env=env, capture_output=True, text=True)
        self.assertIn("ImportError", done.stderr)

    def test_the_version_is_the_librarys(self):
        self.assertRegex(deja.__version__, r"^\d+\.\d+\.\d+$")


class Liar(bytes):
    """Its memory has one length, and it tells another."""

    def __len__(self):
        return 1000

    def __bytes__(self):
        return b"other bytes"


class Index:
    """An integer of somebody else's, as numpy's are."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Arguments(unittest.TestCase):
    """Nothing reaches C that it would take for something else."""

    numbers = ("capacity", "memory", "hashes", "filters", "growth", "counter_bits", "layers", "generations",
               "window_seconds", "deletions", "seed", "fingerprint_bits")
    rates = ("fp_rate", "multiplier", "tightening")

    def test_numbers_are_numbers(self):
        for name in self.numbers + self.rates:
            for wrong in ("10", b"10", True, [10], object(), 1j):
                with self.subTest(name, wrong=wrong):
                    self.assertRaisesRegex(TypeError, name, deja.plan, **{"capacity": 10, name: wrong})
            for wrong in (0, -1, 2**64, -(10**400), float("nan"), float("inf"), -0.5):
                if name in self.rates and wrong == 2**64:
                    continue
                with self.subTest(name, wrong=wrong):
                    self.assertRaisesRegex(deja.ArgumentError, name, deja.plan, **{"capacity": 10, name: wrong})
        for name in set(self.numbers) - {"capacity", "memory", "deletions"}:
            self.assertRaisesRegex(deja.ArgumentError, "whole", deja.plan, **{"capacity": 10, name: 2.5})
        for name in self.rates:
            self.assertRaisesRegex(deja.ArgumentError, name, deja.plan, **{"capacity": 10, name: 10**400})

    def test_numbers_of_other_types_are_taken(self):
        self.assertEqual(deja.plan(capacity=Index(1000)), deja.plan(capacity=1000))
        self.assertEqual(deja.plan(capacity=1e3, hashes=5.0), deja.plan(capacity=1000, hashes=5))
        self.assertEqual(deja.plan(capacity=1000.5), deja.plan(capacity=1000))

    def test_numbers_of_methods_are_checked(self):
        f = deja.Filter(capacity=100, kind="layered")
        f.add("http://a.example/b")
        f.layer(Index(1))
        w = deja.Filter(capacity=100, kind="window", window_seconds=100)
        calls = {"layer": f.layer, "fold": f.fold, "pieces": f.pieces, "set_clock": w.set_clock,
                 "layers": lambda n: deja.layers("http://a.example/", n)}
        for name, call in calls.items():
            for wrong in ("1", None, True, b"1", 1.5):
                with self.subTest(name, wrong=wrong):
                    self.assertRaises((TypeError, ValueError), call, wrong)
            for wrong in (2**64, -1, 2**200):
                with self.subTest(name, wrong=wrong):
                    self.assertRaises(deja.ArgumentError, call, wrong)
        for wrong in (2**33, 2**32, 2**32 + 1):  # 0 and 1 in 32 bits
            self.assertRaisesRegex(deja.ArgumentError, "number", f.layer, wrong)
            self.assertRaisesRegex(deja.ArgumentError, "times", f.fold, wrong)
        self.assertEqual(deja.layers("http://a.example/b", 2**40), ["http://a.example", "/b"])

    def test_paths_and_names_have_no_nul(self):
        f = deja.Filter(capacity=10)
        calls = (deja.Filter, deja.verify, f.copy, lambda path: deja.Filter.build(["a"], path))
        for call in calls:
            for wrong in ("a\0b", b"a\0b", "\0"):
                self.assertRaisesRegex(deja.ArgumentError, "NUL", call, wrong)
            for wrong in (5, 1.5, ["a"]):
                self.assertRaises(TypeError, call, wrong)
        self.assertFalse(os.path.exists("a"))
        for name in ("kind", "hash", "part_kind"):
            self.assertRaisesRegex(deja.ArgumentError, "NUL", deja.plan, **{"capacity": 10, name: "blocked\0x"})
            self.assertRaisesRegex(TypeError, name, deja.plan, **{"capacity": 10, name: 2})
        self.assertRaisesRegex(deja.ArgumentError, "NUL", deja.Rules, "safe\0x")
        self.assertRaises(TypeError, deja.Rules, 1)
        self.assertRaises(TypeError, deja.Filter, capacity=10, url=1)
        self.assertRaisesRegex(TypeError, "list of names", deja.Rules, "crawl", drop="ref")

    def test_buffers_have_the_length_of_their_memory(self):
        liar = Liar(b"ab")
        f = deja.Filter(capacity=100, url=None)
        self.assertTrue(f.add(liar))
        self.assertIn(b"ab", f)
        self.assertEqual(f.add_many([liar, b"ab", Liar(b"c"), "c", bytearray(b"c")]), b"\0\0\1\0\0")
        self.assertEqual(f.contains_many([liar, b"c", b"ab"]), b"\1\1\1")
        self.assertEqual(f.add_many(Liar(b"d\nab\n")), b"\1\0")
        self.assertEqual(deja.canonical(Liar(b"http://A.example")), b"http://a.example/")
        self.assertRaisesRegex(deja.ArgumentError, "2 bytes", deja.Filter, capacity=10, key=liar)
        secret = Liar(range(32))
        deja.Filter("liar.deja", capacity=10, key=secret).close()
        deja.Filter("liar.deja", key=bytes(range(32))).close()
        self.assertRaisesRegex(TypeError, "key", deja.Filter, capacity=10, key="x" * 32)
        self.assertRaises(TypeError, f.add_many, b"a\n", mark="\n")
        self.assertRaises(deja.ArgumentError, f.add_many, b"a\n", mark=Liar(b"ab"))

    def test_flags_are_true_or_false(self):
        for name in ("minimal_increase", "layered_paper", "layered_words"):
            self.assertRaisesRegex(TypeError, name, deja.plan, capacity=10, **{name: "no"})
        self.assertRaisesRegex(TypeError, "Filter", deja.Filter(capacity=10).merge, "f.deja")
        self.assertRaises(deja.ArgumentError, deja.plan, capacity=10, kind="layered", layered_words=True, delimiter="ab")


class Reentry(unittest.TestCase):
    """A signal handler calls the filter that it interrupted."""

    def setUp(self):
        self.f = deja.Filter(capacity=100_000)
        self.told = []
        self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, self.handle))

    def waiting_calls(self):
        f = self.f
        return {"sync": f.sync, "stats": f.stats, "close": f.close, "rotate": f.rotate,
                "fold": f.fold, "to_bytes": f.to_bytes, "pieces": lambda: list(f.pieces()),
                "add_many": lambda: f.add_many(["x"]), "contains_many": lambda: f.contains_many(["x"]),
                "merge": lambda: f.merge(f), "overlap": lambda: f.overlap(f),
                "copy": lambda: f.copy("copy.deja", replace=True), "set_clock": lambda: f.set_clock(0)}

    def handle(self, *_):
        for name, call in self.waiting_calls().items():
            try:
                call()
                self.told.append(f"{name} went through")
            except deja.ReentryError as error:
                assert isinstance(error, RuntimeError) and "afterwards" in str(error)
        self.f.add("from the handler")
        self.told.append("from the handler" in self.f)

    def interrupted(self, name, call):
        """Run a call in which the C function `name` is followed by a signal."""
        function = getattr(_lib.lib, name)

        def and_signal(*arguments):
            status = function(*arguments)
            setattr(_lib.lib, name, function)  # one signal: the handler calls it, too
            signal.raise_signal(signal.SIGUSR1)
            return status

        setattr(_lib.lib, name, and_signal)
        try:
            return call()
        finally:
            setattr(_lib.lib, name, function)

    def test_calls_that_would_wait_forever_raise(self):
        f = self.f
        for name, call in (("add_batch", lambda: f.add_many(URLS)), ("contains_batch", lambda: f.contains_many(URLS)),
                           ("add", lambda: f.add("a")), ("contains", lambda: "a" in f), ("stats", f.stats),
                           ("export", f.to_bytes), ("rotate", f.rotate)):
            with self.subTest(name):
                self.told.clear()
                self.interrupted(f"deja_filter_{name}", call)
                self.assertTrue(self.told)
                self.assertEqual(set(self.told), {True})
        f.add_many(URLS)
        self.assertEqual(sum(f.contains_many(URLS)), len(URLS))
        f.close()

    def test_the_interrupted_call_may_end_with_the_error(self):
        def handle(*_):
            self.f.sync()

        signal.signal(signal.SIGUSR1, handle)
        for _ in range(3):
            with self.assertRaises(RuntimeError):
                self.interrupted("deja_filter_add_batch", lambda: self.f.add_many(URLS))
            self.f.sync()  # nobody is inside any more
            self.assertEqual(sum(self.f.contains_many(URLS)), len(URLS))
        self.f.stats()

    def test_a_thread_that_waits_for_others_may_be_interrupted(self):
        f, inside, go = self.f, threading.Event(), threading.Event()
        function = _lib.lib.deja_filter_add_batch

        def slow(*arguments):
            inside.set()
            go.wait()
            return function(*arguments)

        def send():
            inside.wait()
            while not f._gate._waiting:
                time.sleep(0.001)
            while not self.told:  # one that arrives just before the thread blocks does not wake it
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
                time.sleep(0.05)
            go.set()

        _lib.lib.deja_filter_add_batch = slow
        try:
            threads = [threading.Thread(target=send), threading.Thread(target=f.add_many, args=(URLS,))]
            for thread in threads:
                thread.start()
            inside.wait()
            self.assertEqual(f.stats().keys, len(URLS) + 1)  # waits for the other thread
        finally:
            go.set()
            _lib.lib.deja_filter_add_batch = function
        for thread in threads:
            thread.join()
        self.assertEqual(set(self.told), {True})

    def test_many_signals_at_any_point(self):
        """In a child with a limit: a deadlock would last forever."""
        code = """
import itertools, signal, deja
f = deja.Filter("signals.deja", capacity=200_000, url="safe")
refused, added, numbers = [], [], itertools.count()
def handle(*_):
    try:
        f.sync()
    except RuntimeError:
        refused.append(1)
    key = f"not a URL {next(numbers)}"
    f.add(key)
    added.append(key)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
text = b"".join(b"http://a.example/%d\\n" % i for i in range(20_000))
for turn in range(200):
    f.add_many(text)
    f.add(f"http://b.example/{turn}")
    f.stats()
    if len(refused) > 50:
        break
signal.setitimer(signal.ITIMER_REAL, 0)
assert sum(f.contains_many(text)) == 20_000
assert all(key in f for key in added)
assert all(f"http://b.example/{i}" in f for i in range(turn + 1))
f.close()
print(len(added) > 0)
"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
        self.assertEqual((done.stdout.strip(), done.stderr), ("True", ""))


def load_tests(loader, tests, pattern):
    for module in (_filter, _options, _url):
        tests.addTests(doctest.DocTestSuite(module))
    return tests


if __name__ == "__main__":
    unittest.main()
