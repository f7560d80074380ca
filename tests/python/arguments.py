"""arguments - wrong arguments are refused with their names before they reach C."""

import os
import unittest

import pydeja  # noqa: F401

import deja


class Liar(bytes):
    """Bytes with a len() that differs from their memory."""

    def __len__(self):
        return 1000

    def __bytes__(self):
        return b"other bytes"


class Index:
    """An integer of another type, like numpy's."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


class Arguments(unittest.TestCase):
    numbers = ("capacity", "memory", "hashes", "filters", "growth", "counter_bits", "layers", "generations",
               "window_seconds", "deletions", "seed", "fingerprint_bits")
    rates = ("fp_rate", "multiplier", "tightening")

    def test_wrong_numbers_are_refused(self):
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

    def test_numbers_of_other_types_are_accepted(self):
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
        for wrong in (2**33, 2**32, 2**32 + 1):  # 0 and 1 if truncated to 32 bits
            self.assertRaisesRegex(deja.ArgumentError, "number", f.layer, wrong)
            self.assertRaisesRegex(deja.ArgumentError, "times", f.fold, wrong)
        self.assertEqual(deja.layers("http://a.example/b", 2**40), ["http://a.example", "/b"])

    def test_paths_and_names_with_nul_are_refused(self):
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

    def test_the_length_of_a_buffer_is_that_of_its_memory(self):
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

    def test_flags_must_be_true_or_false(self):
        for name in ("minimal_increase", "spread", "layered_paper", "layered_words"):
            self.assertRaisesRegex(TypeError, name, deja.plan, capacity=10, **{name: "no"})
        self.assertRaisesRegex(TypeError, "Filter", deja.Filter(capacity=10).merge, "f.deja")
        self.assertRaises(deja.ArgumentError, deja.plan, capacity=10, kind="layered", layered_words=True, delimiter="ab")


if __name__ == "__main__":
    unittest.main()
