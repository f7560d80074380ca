"""together - many threads use one Filter: no key is lost, nothing crashes, and batches overlap."""

import ctypes
import os
import threading
import unittest

import pydeja  # noqa: F401

import deja
from deja import _keys, _lib

THREADS, EACH = 4, 40_000


def at_once(*jobs):
    """Run jobs concurrently; raise the first error."""
    errors = []

    def guarded(job):
        try:
            job()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


def text_of(t):
    return b"".join(b"http://h%d.example/%d\n" % (t, i) for i in range(EACH))


class Threads(unittest.TestCase):
    def test_adding_from_many_threads_loses_nothing(self):
        for options in ({"capacity": THREADS * EACH}, {"kind": "scalable", "capacity": 5000},
                        {"kind": "exact", "capacity": THREADS * EACH}):
            with self.subTest(options):
                f = deja.Filter(**options)
                at_once(*(lambda t=t: f.add_many(text_of(t)) for t in range(THREADS)))
                for t in range(THREADS):
                    self.assertEqual(sum(f.contains_many(text_of(t))), EACH)

    def test_all_calls_can_run_concurrently(self):
        f = deja.Filter("busy.deja", capacity=THREADS * EACH)
        stop = threading.Event()

        def adding(t):
            f.add_many(text_of(t))
            for i in range(500):
                f.add(f"{t}-{i}")
                assert f"{t}-{i}" in f

        def asking():
            while not stop.is_set():
                f.stats()
                f.sync()

        def work():
            try:
                at_once(*(lambda t=t: adding(t) for t in range(THREADS)))
            finally:
                stop.set()

        at_once(work, asking)
        for t in range(THREADS):
            self.assertEqual(sum(f.contains_many(text_of(t))), EACH)
        f.close()
        deja.verify("busy.deja")

    def test_rotating_and_merging_under_load(self):
        f, other = deja.Filter(capacity=1000, seed=1), deja.Filter(capacity=1000, seed=1)
        stop = threading.Event()

        def load():
            while not stop.is_set():
                f.add_many(["x"] * 3000)
                other.add("y")

        def change():
            try:
                for _ in range(50):
                    f.rotate()
                    for a, b in ((f, other), (other, f)):
                        try:
                            a.merge(b)
                        except deja.FullError:
                            pass  # it has the hashes of too many visits
            finally:
                stop.set()

        at_once(load, load, change)
        self.assertEqual(f.stats().visit, 51)

    def test_merging_in_both_directions_does_not_deadlock(self):
        a, b = deja.Filter(capacity=1000, seed=1), deja.Filter(capacity=1000, seed=1)
        a.add("a")
        b.add("b")
        at_once(lambda: [a.merge(b) for _ in range(300)], lambda: [b.merge(a) for _ in range(300)])
        self.assertTrue("b" in a and "a" in b)

    def test_closing_under_load_raises_an_exception(self):
        for _ in range(20):
            f = deja.Filter(capacity=100_000)
            ready = threading.Barrier(3)

            def load():
                ready.wait()
                with self.assertRaises(ValueError):
                    while True:
                        f.add_many(["x"] * 1000)
                        f.add("y")

            def close():
                ready.wait()
                f.close()

            at_once(load, load, close)

    def test_the_iterable_may_use_the_filter(self):
        f = deja.Filter("inner.deja", capacity=100_000, seed=7)  # so that no key is lost by chance

        def keys():
            for i in range(20_000):
                if i % 5000 == 0:
                    f.sync()
                    f.stats()
                    f.add(f"inner{i}")
                yield str(i)

        self.assertEqual(sum(f.add_many(keys())), 20_000)

    def test_other_threads_run_during_a_call(self):
        """While one thread is inside a long call, another thread gets turns.

        A call that held the interpreter lock would allow at most one turn before and one after it.
        On a busy machine the other thread may not run during a call; the test tries many calls.
        """
        turns = 0
        for _ in range(200):
            turns = self.turns_during_a_call()
            if turns > 4:
                break
        self.assertGreater(turns, 4)

    def turns_during_a_call(self, n=500_000):
        data = b"".join(b"%d\n" % i for i in range(n))
        f = deja.Filter(capacity=2 * n, kind="classic")
        slices = (_lib.Slice * n)()
        turns, during, done = [0], [], threading.Event()

        def work():
            try:
                with _keys.Held(data) as text:
                    _lib.lib.deja_lines_split(ctypes.byref(text), b"\n", slices, n)
                    before = turns[0]
                    _lib.lib.deja_filter_add_batch(f._handle, slices, n, None, None, None)
                    during.append(turns[0] - before)
            finally:
                done.set()

        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            turns[0] += 1
            done.wait(0.0005)
        thread.join()
        return during[0]

    def test_a_child_of_fork_may_read(self):
        f = deja.Filter(capacity=1000)
        f.add("a")
        pid = os.fork()
        if pid == 0:
            os._exit(0 if "a" in f and "b" not in f else 1)
        self.assertEqual(os.waitpid(pid, 0)[1], 0)


if __name__ == "__main__":
    unittest.main()
