"""files - filters in files: modes, permissions, locks, damage, kills, pickles and forks."""

import ctypes
import errno
import gc
import os
import pickle
import subprocess
import sys
import unittest

from pydeja import URLS, in_child

import deja
from deja import _errors, _lib


class Files(unittest.TestCase):
    def setUp(self):
        self.path = f"{self.id()}.deja"

    def test_a_file_exists_at_once_and_keeps_its_keys(self):
        with deja.Filter(self.path, capacity=1000) as f:
            self.assertTrue(os.path.exists(self.path))
            f.add("a")
        self.assertTrue(f.closed)
        with deja.Filter(self.path) as f:
            self.assertFalse(f.add("a"))
            self.assertEqual((f.stats().kind, f.stats().part_kind), ("scalable", "blocked"))
        deja.Filter(self.path, kind="blocked", capacity=1000).close()  # the kind of its parts
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
        with deja.Filter("rights-shared.deja", mode="w") as f:  # keeps the permissions of the replaced file
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
            self.assertIn("a", reader)  # both map the same memory

    def test_a_mismatch_is_named(self):
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

    def test_a_file_that_cannot_be_created_is_named(self):
        with self.assertRaises(OSError) as caught:
            deja.Filter("no/such/folder/x.deja", capacity=10)
        self.assertIn("no/such/folder", str(caught.exception))
        with self.assertRaises(PermissionError) as caught:
            ctypes.set_errno(errno.EACCES)
            _errors.fail(_lib.EIO, "x.deja: cannot open")
        self.assertIsInstance(caught.exception, deja.FileDeniedError)
        self.assertEqual((caught.exception.errno, str(caught.exception)), (errno.EACCES, "x.deja: cannot open"))

    def test_messages_escape_control_characters_in_file_names(self):
        with self.assertRaises(OSError) as caught:
            deja.Filter(b"no/such/\xc3\xa9\x1b[2J\x9b\xe2\x80\xae\n.deja", capacity=10)
        self.assertIn(r"no/such/\u00e9\x1b[2J\x9b\u202e\n.deja".replace(r"\u00e9", "\u00e9"), str(caught.exception))

    def test_added_keys_survive_a_kill(self):
        code = f"import deja, os; f = deja.Filter({self.path!r}, capacity=1000); f.add('a'); os.kill(os.getpid(), 9)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code]).returncode, -9)
        with deja.Filter(self.path) as f:
            self.assertTrue(f.stats().unclean)
            self.assertIn("a", f)

    def test_a_separate_key_is_needed_again(self):
        key = bytes(range(32))
        with deja.Filter(self.path, capacity=10, key=key) as f:
            f.add("a")
            self.assertRaises(TypeError, pickle.dumps, f)
        self.assertRaises(deja.Error, deja.Filter, self.path)
        self.assertRaises(deja.Error, deja.Filter, self.path, key=bytes(32))
        self.assertIn("a", deja.Filter(self.path, key=key))
        self.assertRaises(ValueError, deja.Filter, capacity=10, key=b"short")

    def test_a_pickle_is_a_reader_of_the_same_file(self):
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
            with self.assertRaises(deja.BusyError):  # the parent still has the lock
                deja.Filter(self.path)
        deja.verify(self.path)
        self.assertEqual(deja.Filter(self.path).stats().keys, 2)

    def test_a_truncated_file_is_an_error(self):
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

    def test_a_closed_filter_refuses_all_calls(self):
        f = deja.Filter(self.path, capacity=10)
        f.close()
        f.close()
        for call in (lambda: f.add("a"), lambda: "a" in f, f.stats, f.sync, f.rotate, lambda: f.add_many(["a"]),
                     f.__enter__, f.to_bytes, f.check_file, lambda: f.stats(body=False)):
            self.assertRaises(ValueError, call)
            self.assertRaises(deja.Error, call)
        self.assertIn("closed", repr(f))

    def test_a_filter_that_is_deleted_releases_its_file(self):
        f = deja.Filter(self.path, capacity=10)
        del f
        gc.collect()
        deja.Filter(self.path).close()


if __name__ == "__main__":
    unittest.main()
