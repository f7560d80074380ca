"""keys - add, look up, count and remove keys: one by one, in lists and in buffers, in several kinds."""

import gc
import itertools
import mmap
import unittest
from array import array

from pydeja import TEXT, URLS

import deja
from deja import _keys


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

    def test_other_types_are_refused_as_keys(self):
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
        f = deja.Filter(capacity=n, seed=7)  # so that no key is lost by chance
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
            mapped.close()  # fails if the buffer is still locked
        self.assertEqual(f.contains_many(URLS), b"\1" * len(URLS))

    def test_a_buffer_is_released_after_an_error(self):
        buffer = bytearray(TEXT)
        f = deja.Filter(capacity=100, kind="exact", grow=False)
        self.assertRaises(deja.FullError, f.add_many, buffer)
        gc.collect()
        buffer.append(1)  # a locked buffer cannot grow

    def test_other_marks_and_empty_input(self):
        f = deja.Filter(capacity=100)
        self.assertEqual(f.add_many(b"a\nb\0c", mark=b"\0"), b"\1\1")
        self.assertIn(b"a\nb", f)
        self.assertEqual(f.add_many(b""), b"")
        self.assertEqual(f.add_many([]), b"")
        self.assertEqual(f.contains_many(iter(())), b"")
        self.assertEqual(f.add_many(b"\n"), b"\1")  # one line, empty
        self.assertRaises(ValueError, f.add_many, b"a", mark=b"ab")

    def test_batches_and_single_calls_agree(self):
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

    def test_counters_can_be_spread(self):
        plan = [deja.plan(capacity=1000, kind="spectral", fp_rate=0.001, counter_bits=32, spread=spread)
                for spread in (True, False)]
        self.assertLess(plan[0].bits_per_key, 465)
        self.assertGreater(plan[1].bits_per_key, 1800)
        options = dict(capacity=1000, kind="spectral", fp_rate=1e-6, seed=1)
        with deja.Filter("spread.deja", spread=True, **options) as f:
            for _ in range(3):
                f.add("a")
            self.assertEqual(list(f.count_many(["a", "b"])), [3, 0])
            self.assertEqual(f.remove_many(["a", "b"]), b"\1\0")
            self.assertTrue(f.stats().flags & 32)
        with deja.Filter("spread.deja", mode="r") as f:
            self.assertEqual(f.count("a"), 2)
        line = deja.Filter(**options)
        with self.assertRaisesRegex(deja.MismatchError, "spread"):
            line.merge(deja.Filter(spread=True, **options))
        with self.assertRaisesRegex(deja.ArgumentError, "spread goes with kind spectral"):
            deja.Filter(capacity=10, spread=True)

    def test_other_kinds_name_one_that_can(self):
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

    def test_layered_finds_prefixes(self):
        f = deja.Filter("layers.deja", capacity=1000, kind="layered", layers=4)
        f.add_many(["http://a.example/x/1", "http://a.example/x/2"])
        self.assertTrue(f.prefix("http://a.example/x"))
        self.assertEqual(f.prefix_many(["http://a.example/", "http://b.example/"]), b"\1\0")
        f.close()
        self.assertRaises(deja.MismatchError, deja.Filter, "layers.deja", layers=7)
        self.assertRaises(deja.UnsupportedError, deja.Filter(capacity=10).prefix, "http://a/")

    def test_layers_and_generations_are_described(self):
        f = deja.Filter(capacity=1000, kind="layered", layers=4)
        f.add_many(["http://a.example/x/1", "http://a.example/x/2"])
        self.assertEqual([f.layer(i).segments for i in (0, 1, 2, 3)], [2, 1, 1, 2])
        self.assertRaises(deja.ArgumentError, f.layer, 9)
        self.assertRaises(deja.UnsupportedError, deja.Filter(capacity=10).layer, 1)
        f = deja.Filter(capacity=1000, kind="window", generations=2)
        f.add("a")
        self.assertEqual(f.stats().generation_keys[0], 1)
        self.assertRaises(deja.ArgumentError, f.set_clock, -1)


if __name__ == "__main__":
    unittest.main()
