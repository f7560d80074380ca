"""setlike - the calls that users of set, pybloom-live and rbloom expect, and the ones that are refused."""

import copy
import pickle
import signal
import unittest

from pydeja import TEXT, URLS

import deja
from deja import _lib

KEY = b"k" * 32


def filled(n=100, **options):
    f = deja.Filter(**{"capacity": 5000, **options})
    f.add_many(URLS[:n])
    return f


class SetLike(unittest.TestCase):
    def test_len_is_the_number_of_distinct_keys(self):
        for options in ({}, {"kind": "exact"}, {"grow": False}, {"kind": "spectral"}, {"kind": "layered"}, {"path": "len.deja"}):
            f = filled(1000, **options)
            f.add_many(URLS[:1500])
            self.assertLessEqual(abs(len(f) - 1500), 1, options)
            f.close()
            self.assertRaises(deja.ArgumentError, len, f)
        self.assertEqual(len(deja.Filter.build(URLS)), len(set(URLS)))

    def test_len_without_removed_and_forgotten_keys(self):
        f = filled(100, kind="spectral")
        f.remove_many(URLS[:30])
        self.assertEqual(len(f), 70)
        window = filled(3000, kind="window", capacity=100)
        self.assertEqual(len(window), window.stats().window_keys)
        self.assertLess(len(window), 1000)
        f.rotate()
        self.assertEqual((len(f), bool(f)), (0, False))

    def test_an_empty_filter_is_false(self):
        f = deja.Filter(capacity=10)
        self.assertFalse(f)
        f.add("a")
        self.assertTrue(f)

    def test_update_takes_filters_and_collections(self):
        f = deja.Filter(capacity=5000)
        self.assertIsNone(f.update(URLS[:10], (u for u in URLS[10:20]), TEXT[:TEXT.index(b"/30\n") + 1], filled(50)))
        self.assertEqual(sum(f.contains_many(URLS[:50])), 50)
        f.update()
        self.assertRaises(TypeError, f.update, 7)
        self.assertRaises(TypeError, f.update, [7])

    def test_unions(self):
        a, b = filled(1000, seed=3, grow=False), deja.Filter.like(filled(1, seed=3, grow=False))
        b.add_many(URLS[500:2000])
        both = a | b
        self.assertEqual(sum(both.contains_many(URLS)), 2000)
        self.assertEqual((len(a), len(b)), (1000, 1500))  # unchanged
        self.assertLess(abs(len(both) - 2000), 20)
        same = a
        a |= b
        self.assertIs(a, same)
        self.assertEqual(sum(a.contains_many(URLS)), 2000)
        self.assertRaises(deja.MismatchError, lambda: a | filled(seed=4, grow=False))

    def test_unions_of_different_secret_keys_are_in_memory(self):
        with filled(path="one.deja") as a, filled(200, path="two.deja") as b:
            both = a | b
            self.assertIsNone(both.path)
            self.assertEqual(sum(both.contains_many(URLS)), 200)
            self.assertEqual(len(a), 100)
            a.sync()  # readers get exact counts
            with deja.Filter("one.deja", mode="r") as reader:
                self.assertRaises(deja.ReadOnlyError, reader.update, ["a"])
                self.assertEqual(len(reader | b), len(both))

    def test_other_operands_are_refused(self):
        f = filled()
        for wrong in ({"a"}, ["a"], "a", None):
            self.assertRaises(TypeError, lambda: f | wrong)
            self.assertRaises(TypeError, lambda: wrong | f)
            with self.assertRaises(TypeError):
                f |= wrong
        for call in (lambda: f & f, lambda: f - f, lambda: f <= f, lambda: list(f)):
            self.assertRaises(TypeError, call)

    def test_filters_are_equal_only_to_themselves(self):
        a, b = filled(seed=1), filled(seed=1)
        self.assertNotEqual(a, b)
        self.assertEqual(a, a)
        self.assertEqual(len({a, b}), 2)  # and can be members of a set

    def test_copies_in_memory(self):
        for options in ({}, {"path": "original.deja"}, {"key": KEY}, {"url": "crawl"}, {"url": "crawl", "key": KEY},
                        {"kind": "exact", "dates": True}, {"kind": "window"}, {"kind": "classic", "seed": 5},
                        {"url": deja.Rules("crawl", drop=["x"])}):
            f = filled(**options)
            for make in (f.copy, lambda: copy.copy(f), lambda: copy.deepcopy(f)):
                g = make()
                self.assertIsNone(g.path)
                self.assertEqual((len(g), g.rules and g.rules.id), (len(f), f.rules and f.rules.id))
                self.assertEqual(sum(g.contains_many(URLS[:100])), 100)
                g.add("http://only.example/the-copy")
                self.assertNotIn("http://only.example/the-copy", f)
                self.assertEqual(g.stats().key_check, f.stats().key_check)
            f.close()
        twice = filled()
        a, b = copy.deepcopy([twice, twice])
        self.assertIs(a, b)

    def test_a_copy_of_a_copy_with_a_key_can_be_saved(self):
        with filled(key=KEY).copy().copy("saved.deja") as f:
            f.add("more")
        with deja.Filter("saved.deja", key=KEY) as f:
            self.assertIn("more", f)
            self.assertEqual(sum(f.contains_many(URLS)), 100)
        self.assertRaises(deja.Error, deja.Filter, "saved.deja")

    def test_a_filter_in_memory_cannot_be_pickled(self):
        self.assertRaisesRegex(TypeError, "give it a path, or pickle to_bytes", pickle.dumps, filled())

    def test_repr_names_kind_keys_and_rate(self):
        f = filled(kind="classic", grow=False, fp_rate=0.01, path="repr.deja")
        self.assertEqual(repr(f), f"<deja.Filter 'repr.deja': classic, {len(f)} keys, rate 0.01>")
        self.assertEqual(repr(filled(2)), "<deja.Filter in memory: scalable, 2 keys, rate 1e-06>")
        f.close()
        self.assertEqual(repr(f), "<deja.Filter 'repr.deja', closed>")
        with deja.Filter("repr.deja", mode="r") as reader:
            self.assertIn("'repr.deja', for reading: classic", repr(reader))

    def test_repr_in_a_signal_handler_works(self):
        f, said, function = filled(), [], _lib.lib.deja_filter_stats
        before = signal.signal(signal.SIGUSR1, lambda *_: said.append(repr(f)))

        def interrupted(*arguments):
            if not said:
                said.append("")
                signal.raise_signal(signal.SIGUSR1)
            return function(*arguments)

        _lib.lib.deja_filter_stats = interrupted
        try:
            f.stats()
        finally:
            _lib.lib.deja_filter_stats = function
            signal.signal(signal.SIGUSR1, before)
        self.assertEqual(said[1:], ["<deja.Filter in memory>"])


if __name__ == "__main__":
    unittest.main()
