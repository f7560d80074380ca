"""reentry - a signal handler calls the filter whose call it interrupted."""

import signal
import subprocess
import sys
import threading
import time
import unittest

from pydeja import URLS

import deja
from deja import _lib


class Reentry(unittest.TestCase):
    def setUp(self):
        self.f = deja.Filter(capacity=100_000)
        self.results = []
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
                self.results.append(f"{name} did not raise")
            except deja.ReentryError as error:
                assert isinstance(error, RuntimeError) and "afterwards" in str(error)
        self.f.add("from the handler")
        self.results.append("from the handler" in self.f)

    def interrupted(self, name, call):
        """Make a call and send a signal right after its C function `name`."""
        function = getattr(_lib.lib, name)

        def and_signal(*arguments):
            status = function(*arguments)
            setattr(_lib.lib, name, function)  # one signal: the handler calls the function too
            signal.raise_signal(signal.SIGUSR1)
            return status

        setattr(_lib.lib, name, and_signal)
        try:
            return call()
        finally:
            setattr(_lib.lib, name, function)

    def test_calls_that_would_wait_forever_raise(self):
        f, key = self.f, bytearray(b"a")  # the extension leaves such a key to ctypes; no signal interrupts its own calls
        for name, call in (("add_batch", lambda: f.add_many(URLS)), ("contains_batch", lambda: f.contains_many(URLS)),
                           ("add", lambda: f.add(key)), ("contains", lambda: key in f), ("stats", f.stats),
                           ("export", f.to_bytes), ("rotate", f.rotate)):
            with self.subTest(name):
                self.results.clear()
                self.interrupted(f"deja_filter_{name}", call)
                self.assertTrue(self.results)
                self.assertEqual(set(self.results), {True})
        f.add_many(URLS)
        self.assertEqual(sum(f.contains_many(URLS)), len(URLS))
        f.close()

    def test_a_handler_may_add_past_the_capacity(self):
        f = deja.Filter(capacity=1, grow=False)
        signal.signal(signal.SIGUSR1, lambda *_: f.add("from the handler"))
        with self.assertWarns(deja.CapacityWarning):  # from the interrupted call
            self.interrupted("deja_filter_add", lambda: f.add("a"))
        self.assertIn("from the handler", f)

    def test_the_error_may_end_the_interrupted_call(self):
        def handle(*_):
            self.f.sync()

        signal.signal(signal.SIGUSR1, handle)
        for _ in range(3):
            with self.assertRaises(RuntimeError):
                self.interrupted("deja_filter_add_batch", lambda: self.f.add_many(URLS))
            self.f.sync()  # the gate is free
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
            while not self.results:  # a signal just before the thread blocks does not wake it
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
        self.assertEqual(set(self.results), {True})

    def test_many_signals_at_any_point(self):
        """In a child with a time limit, in case of a deadlock."""
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


if __name__ == "__main__":
    unittest.main()
