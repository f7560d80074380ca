"""sieve - deja.Sieve against a set: every key is new exactly once, also after crashes; arguments, threads, forks."""

import copy
import os
import pickle
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
import unittest

import pydeja  # noqa: F401

import deja
from deja import _lib
from sieves import OLD, crowded

NEW, SEEN, PENDING = deja.Verdict.NEW, deja.Verdict.SEEN, deja.Verdict.PENDING

# Adds keys like a crawler: a page counts as fetched once its line is written; then it is committed.
CRAWLER = """
import random, sys
import deja
seed = int(sys.argv[1])
chance = random.Random(seed)
out = open("lines.txt", "ab", buffering=0)
s = deja.Sieve("crash.sieve", memory="1M")

def settle():
    s.commit()
    for record, is_new in s.settle():
        if is_new:
            out.write(record + b"\\n")
    s.commit()

settle()
print("open", flush=True)
for turn in range(10 ** 9):
    key = b"page %d" % chance.randrange(100_000)
    try:
        if s.add(key):
            out.write(key + b"\\n")
    except deja.FullError:
        settle()
    if turn % 100 == 0:
        s.commit()
    if turn % 5_000 == 4_999:
        settle()
"""


class Model:
    """A caller that keeps a set of the keys that came out."""

    def __init__(self, s):
        self.s, self.out, self.waited, self.late = s, set(), 0, 0

    def new(self, key):
        assert key not in self.out, f"{key} is new a second time"
        self.out.add(key)

    def settle(self):
        self.s.commit()
        for record, is_new in self.s.settle():
            if is_new:
                self.new(record)
                self.late += 1
        self.s.commit()

    def add(self, keys):
        while keys:
            try:
                answers = self.s.add_many(keys)
            except deja.FullError as full:
                answers = full.answers
                assert full.done == len(answers) and full.status == _lib.EFULL
                self.take(keys, answers)
                self.settle()
            else:
                self.take(keys, answers)
            keys = keys[len(answers):]

    def take(self, keys, answers):
        for key, answer in zip(keys, answers):
            if answer == NEW:
                self.new(key)
        self.waited += answers.count(PENDING)


class Sieves(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        crowded("crowded.sieve")

    def crowded(self, name):
        """Return the path of a copy in which most keys wait."""
        shutil.copytree("crowded.sieve", name)
        return name

    def test_a_small_sieve_agrees_with_a_set(self):
        chance = random.Random(3)
        numbers = [chance.randrange(120_000) for _ in range(200_000)]
        given = [b"key %d" % n if n % 4 else b"old %d" % n for n in numbers]  # a quarter is old
        expected = {key for key in given if not key.startswith(b"old")}
        with deja.Sieve(self.crowded("model.sieve"), memory="1M") as s:
            model = Model(s)
            for begin in range(0, len(given), 7_000):
                model.add(given[begin:begin + 7_000])
            model.settle()
            self.assertEqual(model.out, expected)
            self.assertGreater(model.waited, len(given) // 2)
            self.assertGreater(model.late, len(expected) // 2)
            known = s.stats()
            self.assertEqual((known.keys, known.pending, known.uncommitted), (OLD + len(expected), 0, 0))
            self.assertEqual((known.waited, known.settled, known.late), (model.waited, model.waited, model.late))
            self.assertEqual(set(s.contains_many(sorted(expected))), {1})
            self.assertEqual(s.contains_many([b"old 7", b"never", b"old -1", given[0]]), b"\1\0\0\1")
            self.assertTrue("old 7" in s and "never" not in s)
        deja.verify("model.sieve")

    def test_single_calls_agree_with_a_set(self):
        chance, out, waiting = random.Random(4), set(), 0
        with deja.Sieve(self.crowded("single.sieve"), memory="1M") as s:
            for turn in range(6_000):
                key = f"key {chance.randrange(4_000)}"
                verdict = s.add(key)
                waiting += verdict is PENDING
                if verdict:  # only NEW is true
                    self.assertNotIn(key, out)
                    out.add(key)
                if verdict is SEEN:
                    self.assertIn(key, out)
                if turn % 2_000 == 1_999:
                    s.commit()
                    late = {record.decode() for record, is_new in s.settle() if is_new}
                    self.assertFalse(late & out)
                    out |= late
                    s.commit()
        self.assertEqual(len(out), len({f"key {n}" for n in self.numbers(4, 6_000, 4_000)}))
        self.assertGreater(waiting, 2_000)

    @staticmethod
    def numbers(seed, n, below):
        chance = random.Random(seed)
        return [chance.randrange(below) for _ in range(n)]

    def test_a_large_sieve_answers_at_once(self):
        with deja.Sieve("large.sieve", memory=64 << 20) as s:
            self.assertEqual([s.add(key) for key in ("a", b"b", bytearray(b"a"), "\u00e9")], [NEW, NEW, SEEN, NEW])
            self.assertEqual(s.add_many(["a", "c", "c", "\u00e9"]), bytes([SEEN, NEW, SEEN, SEEN]))
            self.assertEqual(s.add_many(b"c\nd\ne\n"), bytes([SEEN, NEW, NEW]))
            self.assertEqual(s.add_many("e,f", mark=b","), bytes([SEEN, NEW]))
            self.assertEqual((list(s.settle()), s.add_many([]), s.contains_many([])), ([], b"", b""))
            s.commit()
            self.assertEqual((s.stats().keys, s.stats().memory), (7, 64 << 20))

    def test_keys_that_were_not_committed_are_new_again(self):
        with deja.Sieve("again.sieve") as s:
            self.assertTrue(s.add("a"))
            s.commit()
            self.assertTrue(s.add("b"))
            self.assertIn("b", s)
        with deja.Sieve("again.sieve") as s:
            self.assertEqual((s.add("a"), s.add("b")), (SEEN, NEW))

    def test_records_come_back_in_order(self):
        with deja.Sieve(self.crowded("records.sieve"), memory="1M") as s:
            keys = [f"k{i}" for i in range(200)]
            records = [b"record %d\0\n" % i for i in range(200)]
            answers = s.add_many(keys, records)
            more = s.add("k200", "")
            waiting = [record for record, answer in zip(records, answers) if answer == PENDING]
            self.assertGreater(len(waiting), 100)
            self.assertEqual([s.add("old 1", b"first"), s.add("old 1", "second")], [PENDING, PENDING])
            self.assertEqual([record for record, _ in s.settle()],
                             waiting + [b""] * (more is PENDING) + [b"first", b"second"])
            s.commit()

    def test_pending_keys_survive_a_close(self):
        path = self.crowded("closed.sieve")
        with deja.Sieve(path, memory="1M") as s:
            waiting = s.add_many([f"k{i}" for i in range(1_000)]).count(PENDING)
            s.commit()
        with deja.Sieve(path, memory="1M") as s:
            self.assertEqual(s.stats().pending, waiting)
            late = [record for record, is_new in s.settle() if is_new]
            self.assertEqual((len(late), len(set(late))), (waiting, waiting))
            s.commit()
        with deja.Sieve(path, memory="1M") as s:
            self.assertEqual((s.stats().pending, list(s.settle())), (0, []))
            self.assertEqual(set(s.contains_many([f"k{i}" for i in range(1_000)])), {1})

    def test_keys_that_nobody_waits_for_do_not_come_back(self):
        """An interrupted `deja add` leaves pending keys without records."""
        with deja.Sieve(crowded("added.sieve"), memory="1M") as s:
            fp, verdict = _lib.Fingerprint(), _lib.ctypes.c_uint8()
            token = _lib.ctypes.c_uint64(_lib.SIEVE_NO_RECORD)
            left = 0
            for i in range(100):
                key = b"added %d" % i
                _lib.lib.deja_sieve_hash_batch(s._handle, _lib.ctypes.byref(_lib.Key(key, len(key))), 1,
                                               _lib.ctypes.byref(fp))
                self.assertEqual(_lib.lib.deja_sieve_judge(s._handle, _lib.ctypes.byref(fp), 1,
                                                           _lib.ctypes.byref(token), None,
                                                           _lib.ctypes.byref(verdict), None), _lib.OK)
                left += verdict.value == PENDING
            self.assertGreater(left, 10)
            mine = next(key for key in map("mine {}".format, range(1000)) if s.add(key) is PENDING)
            s.commit()
            self.assertEqual(list(s.settle()), [(mine.encode(), True)])
            s.commit()
            self.assertEqual(s.stats().pending, 0)

    def test_settling_can_stop_and_go_on(self):
        path = self.crowded("stop.sieve")
        with deja.Sieve(path, memory="1M") as s:
            waiting = s.add_many([f"k{i}" for i in range(1_000)]).count(PENDING)
            s.commit()
            some = [next(s.settle()).record for _ in range(10)]  # each call continues
            s.commit()
            self.assertEqual(s.add(some[0]), SEEN)
            rest = [record for record, _ in s.settle()]
            self.assertEqual(len(set(some + rest)), waiting)
            with self.assertRaisesRegex(deja.ArgumentError, "commit"):
                s.settle()
            s.commit()
        self.assertEqual(deja.Sieve(path, mode="r").stats().keys, OLD + 1_000)

    def test_late_keys_that_were_not_returned_are_not_recorded(self):
        path = self.crowded("half.sieve")
        with deja.Sieve(path, memory="1M") as s:
            s.add_many([f"k{i}" for i in range(1_000)])
            s.commit()
            before = s.stats().keys
            first = s.settle()
            for _ in range(10):
                next(first)
            s.commit()
            self.assertEqual(s.stats().keys, before + 10)
        with deja.Sieve(path, memory="1M") as s:  # as after a crash: all of them wait again
            self.assertEqual(sum(is_new for _, is_new in s.settle()), 990 - (before - OLD))
            s.commit()

    def test_kills_lose_no_page(self):
        """Lines are written before the commit, so a kill can repeat a line."""
        self.crowded("crash.sieve")
        chance = random.Random(5)
        with open("lines.txt", "wb"):
            pass
        for kill in range(6):
            child = subprocess.Popen([sys.executable, "-c", CRAWLER, str(kill)], stdout=subprocess.PIPE)
            self.assertEqual(child.stdout.readline(), b"open\n")
            enough = os.path.getsize("lines.txt") + chance.randrange(1, 20_000)
            while child.poll() is None and os.path.getsize("lines.txt") < enough:
                time.sleep(0.001)
            child.kill()
            child.wait()
            child.stdout.close()
            self.assertEqual(child.returncode, -signal.SIGKILL)
        deja.verify("crash.sieve")
        with open("lines.txt", "rb") as lines:
            out = lines.read().splitlines()  # each line was one write
        with deja.Sieve("crash.sieve", memory="1M") as s:
            late = {record for record, is_new in s.settle() if is_new}
            s.commit()
            model, pages = Model(s), {b"page %d" % i for i in range(100_000)}
            model.add(sorted(pages))
            model.settle()
        # Every page was printed, or was pending, or is new now.  One that was printed and not committed is twice.
        self.assertEqual(set(out) | late | model.out, pages)
        self.assertFalse(model.out & late)
        self.assertLessEqual(len(model.out & set(out)), 6 * 101)
        self.assertLess(len(out) - len(set(out)), 6 * 5_100)
        self.assertGreater(len(set(out)), 1_000)

    def test_a_second_writer_is_refused_and_readers_are_not(self):
        with deja.Sieve("busy.sieve") as s:
            s.add_many(["a", "b"])
            s.commit()
            with self.assertRaises(deja.BusyError):
                deja.Sieve("busy.sieve")
            with deja.Sieve("busy.sieve", mode="r") as reader:
                self.assertEqual(reader.contains_many(["a", "c", "b"]), b"\1\0\1")
                s.add("c")
                s.commit()
                self.assertNotIn("c", reader)
                for call in (lambda: reader.add("x"), lambda: reader.add_many(["x"]), reader.commit, reader.settle,
                             reader.sync, lambda: reader.merge(s)):
                    self.assertRaisesRegex(deja.ReadOnlyError, 'mode="r"', call)
                self.assertIn("for reading", repr(reader))

    def test_wrong_arguments_are_named(self):
        for options, error, word in (
                ({"memory": "1K"}, deja.ArgumentError, "at least 1 MiB"), ({"memory": "many"}, deja.ArgumentError, "memory"),
                ({"memory": 0}, deja.ArgumentError, "memory"), ({"memory": True}, TypeError, "memory"),
                ({"memory": []}, TypeError, "memory"), ({"memory": "1e3"}, deja.ArgumentError, "memory"),
                ({"memory": "9000000000G"}, deja.ArgumentError, "memory"),
                ({"key": b"short"}, deja.ArgumentError, "32"), ({"seed": 0}, deja.ArgumentError, "seed"),
                ({"url": "gsb"}, deja.ArgumentError, "Filter"), ({"url": "none"}, deja.ArgumentError, "profile"),
                ({"mode": "w"}, deja.ArgumentError, "mode"), ({"capacity": 5}, TypeError, "capacity")):
            with self.subTest(options):
                self.assertRaisesRegex(error, word, deja.Sieve, "wrong.sieve", **options)
        self.assertFalse(os.path.exists("wrong.sieve"))
        self.assertRaisesRegex(deja.FileMissingError, "none.sieve", deja.Sieve, "none.sieve", mode="r")
        self.assertRaises(deja.ArgumentError, deja.Sieve, "a\0b")
        os.mkdir("full")
        with open("full/file", "w"):
            pass
        self.assertRaisesRegex(deja.ArgumentError, "choose another", deja.Sieve, "full")
        with deja.Sieve("calls.sieve") as s:
            for call in (lambda: s.add(5), lambda: s.add("a", 5), lambda: s.add_many(["a", 5]), lambda: s.add_many(5),
                         lambda: s.add_many(["a"], [5]), lambda: 5 in s, lambda: s.merge("other")):
                self.assertRaises(TypeError, call)
            self.assertRaisesRegex(deja.ArgumentError, "1 records for 2 keys", s.add_many, ["a", "b"], ["x"])
            self.assertRaisesRegex(deja.ArgumentError, "buffer", s.add_many, b"a\nb\n", ["x", "y"])

            def broken():
                yield "a"
                raise KeyError("mine")

            self.assertRaises(KeyError, s.add_many, broken())
            self.assertEqual(s.add("a"), NEW)  # none of these calls judged it

    def test_sizes_as_text(self):
        for text, number in (("2M", 2 << 20), ("1.5M", 3 << 19), ("2MiB", 2 << 20), ("2000kB", 2_000_000),
                             ("2097152", 2 << 20), (2_000_000.5, 2_000_000)):
            with deja.Sieve("sizes.sieve", memory=text) as s:
                self.assertEqual(s.stats().memory, number)

    def test_keys_and_rules_must_match(self):
        secret = bytes(range(32))
        deja.Sieve("secret.sieve", key=secret).close()
        deja.Sieve("secret.sieve", key=secret).close()
        self.assertRaisesRegex(deja.MismatchError, "key", deja.Sieve, "secret.sieve")
        self.assertRaisesRegex(deja.MismatchError, "another secret key", deja.Sieve, "secret.sieve", key=bytes(32))
        with deja.Sieve("urls.sieve", url="crawl") as s:
            self.assertTrue(s.add("http://Example.com:80/a/../b?utm_source=x"))
            self.assertEqual((s.add("no URL"), s.not_urls), (NEW, 1))
            s.commit()
        with deja.Sieve("urls.sieve") as s:  # it knows its profile
            self.assertEqual((s.rules.profile, s.stats().profile), ("crawl", "crawl"))
            self.assertEqual(s.add_many(["http://example.com/b", "http://example.com/c"]), bytes([SEEN, NEW]))
            self.assertIn("HTTP://example.com/b", s)
        self.assertRaises(deja.MismatchError, deja.Sieve, "urls.sieve", url="safe")
        custom = deja.Rules("crawl", drop=["ref"])
        deja.Sieve("custom.sieve", url=custom).close()
        self.assertRaisesRegex(deja.MismatchError, "custom list", deja.Sieve, "custom.sieve")
        deja.Sieve("custom.sieve", url=custom).close()

    def test_records_of_urls_are_as_given(self):
        with deja.Sieve("forms.sieve", memory="256M", seed=1, url="safe") as s:
            s.add_many(b"".join(b"http://old.example/%d\n" % i for i in range(100_000)))
            s.commit()
            for begin in range(100_000, OLD, 100_000):
                s.add_many(b"".join(b"http://old.example/%d\n" % i for i in range(begin, begin + 100_000)))
                s.commit()
        with deja.Sieve("forms.sieve", memory="1M") as s:
            urls = [b"HTTP://New.Example/%d#top" % i for i in range(9_000)]
            answers = s.add_many(urls)
            waiting = [url for url, answer in zip(urls, answers) if answer == PENDING]
            self.assertGreater(len(waiting), 4_500)
            self.assertEqual([record for record, is_new in s.settle() if is_new], waiting)
            s.commit()

    def test_a_damaged_sieve_is_refused(self):
        path = self.crowded("damaged.sieve")
        with deja.Sieve(path, memory="1M"):
            pass  # moves the keys into runs
        run = max((name for name in os.listdir(path) if name.startswith("run-")),
                  key=lambda name: os.path.getsize(os.path.join(path, name)))
        with open(os.path.join(path, run), "r+b") as file:
            file.seek(500_000)
            file.write(b"damage")
        self.assertRaisesRegex(deja.FormatError, run, deja.verify, path)
        with deja.Sieve(path, memory="1M") as s:  # the filter was saved
            self.assertIn(PENDING, s.add_many([f"k{i}" for i in range(5_000)]))  # in every block of the run
            self.assertRaisesRegex(deja.FormatError, run, s.settle)
            self.assertGreater(s.stats().pending, 0)
        os.remove(os.path.join(path, "manifest"))
        self.assertRaisesRegex(deja.FormatError, "manifest is missing", deja.Sieve, path)
        self.assertRaisesRegex(deja.FormatError, "not a sieve", deja.Sieve, path, mode="r")

    def test_sieves_merge(self):
        a, b = deja.Sieve("a.sieve", seed=5), deja.Sieve("b.sieve", seed=5)
        a.add_many(["x", "y"])
        b.add_many(["y", "z"])
        self.assertRaises(deja.ArgumentError, a.merge, b)
        a.commit()
        b.commit()
        a.merge(b)
        self.assertEqual((a.contains_many(["x", "y", "z", "-"]), a.stats().keys), (b"\1\1\1\0", 3))
        with deja.Sieve("c.sieve") as c:
            self.assertRaises(deja.MismatchError, a.merge, c)
        a.close()
        b.close()

    def test_a_plan_predicts(self):
        small, large = deja.Sieve.plan(1e9, memory="512M"), deja.Sieve.plan(1e9, 3e9, memory="4G")
        self.assertGreater(small.wait_rate, 5 * large.wait_rate)
        self.assertTrue(8e9 < small.disk < 1e10 and small.disk_most > small.disk and small.wrong < 1e-10)
        self.assertGreater(large.waiting, 1e9)
        self.assertRaises(deja.ArgumentError, deja.Sieve.plan, 0)

    def test_attributes_and_closing(self):
        s = deja.Sieve("attributes.sieve")
        self.assertEqual((s.path, s.rules, s.closed, s.not_urls), ("attributes.sieve", None, False, 0))
        self.assertEqual(repr(s), "<deja.Sieve 'attributes.sieve'>")
        for copier in (pickle.dumps, copy.copy, copy.deepcopy):
            self.assertRaisesRegex(TypeError, 'mode="r"', copier, s)
        settling = s.settle()
        s.close()
        s.close()
        self.assertIn("closed", repr(s))
        for call in (lambda: s.add("x"), lambda: s.add_many(["x"]), lambda: "x" in s, s.commit, s.settle, s.sync, s.stats,
                     lambda: next(settling), s.__enter__, lambda: s.merge(s)):
            self.assertRaisesRegex(deja.ArgumentError, "the sieve is closed", call)
        with self.assertRaises(KeyError), deja.Sieve("attributes.sieve") as s:
            s.add("x")
            raise KeyError
        self.assertTrue(s.closed)
        self.assertEqual(deja.Sieve("attributes.sieve").add("x"), NEW)  # also: the last one is freed, not closed

    def test_threads_wait_for_each_other(self):
        with deja.Sieve(self.crowded("threads.sieve"), memory="1M") as s:
            out, lock, errors, each = [], threading.Lock(), [], 2_000

            def add(t):
                try:
                    for i in range(0, each, 4):
                        mine = [f"key {(t * 500 + i + k) % 4_000}" for k in range(4)]
                        answers = [s.add(mine[0]), *s.add_many(mine[1:])]
                        with lock:
                            out.extend(key for key, answer in zip(mine, answers) if answer == NEW)
                        s.stats()
                        mine[0] in s
                except BaseException as error:
                    errors.append(error)

            threads = [threading.Thread(target=add, args=(t,)) for t in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(errors, [])
            s.commit()
            out += [record.decode() for record, is_new in s.settle() if is_new]
            s.commit()
            self.assertEqual((len(out), len(set(out))), (3_500, 3_500))

    def test_a_signal_handler_gets_an_error(self):
        with deja.Sieve("signals.sieve") as s:
            results = []

            def handle(*_):
                for call in (lambda: s.add("x"), lambda: s.add_many(["x"]), lambda: "x" in s, s.commit, s.settle, s.sync,
                             s.stats, s.close, lambda: s.merge(s)):
                    try:
                        call()
                        results.append("did not raise")
                    except deja.ReentryError:
                        results.append("raised")

            self.addCleanup(signal.signal, signal.SIGUSR1, signal.signal(signal.SIGUSR1, handle))
            judge = _lib.lib.deja_sieve_judge

            def and_signal(*arguments):
                status = judge(*arguments)
                signal.raise_signal(signal.SIGUSR1)
                return status

            for call in (lambda: s.add("a"), lambda: s.add_many(["b"])):
                results.clear()
                _lib.lib.deja_sieve_judge = and_signal
                try:
                    call()
                finally:
                    _lib.lib.deja_sieve_judge = judge
                self.assertEqual(results, ["raised"] * 9)
            self.assertEqual(s.add_many(["a", "b", "x"]), bytes([SEEN, SEEN, NEW]))

    def test_a_child_of_fork_must_open_it_again(self):
        s = deja.Sieve("forked.sieve")
        s.add("a")
        s.commit()
        pid = os.fork()
        if pid == 0:
            status = 1
            try:
                s.add("b")
            except deja.ArgumentError as error:
                with deja.Sieve("forked.sieve", mode="r") as reader:
                    status = 0 if "before a fork" in str(error) and "a" in reader else 2
                del s
            os._exit(status)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        self.assertEqual(s.add("b"), NEW)
        s.close()


if __name__ == "__main__":
    unittest.main()
