"""filters - calls on a whole filter: growth, visits, set operations, statistics, export and import."""

import dataclasses
import math
import unittest
import warnings
from datetime import date, datetime, timezone

from pydeja import SOURCE, TEXT, URLS

import deja


class WholeFilter(unittest.TestCase):
    def test_without_a_size_it_grows(self):
        self.assertEqual(deja.Filter().stats().kind, "scalable")
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

    def test_merge_and_overlap(self):
        a, b = (deja.Filter(capacity=10_000, seed=3) for _ in range(2))
        a.add_many(URLS[:2000])
        b.add_many(URLS[1000:])
        keys, sigma = a.overlap(b)
        self.assertLess(abs(keys - 1000), 5 * sigma + 1)
        a.merge(b)
        self.assertEqual(sum(a.contains_many(URLS)), len(URLS))
        with self.assertRaisesRegex(deja.MismatchError, "kind: blocked and exact"):
            a.merge(deja.Filter(capacity=10_000, seed=4, kind="exact"))

    def test_filters_with_different_keys_are_merged(self):
        a, b = (deja.Filter(capacity=10_000) for _ in range(2))
        a.add_many(URLS[:2000])
        b.add_many(URLS[1000:])
        a.merge(b)
        self.assertEqual(sum(a.contains_many(URLS)), len(URLS))
        s = a.stats()
        self.assertEqual((s.parts, s.merged_parts, s.other_keys), (2, 1, 1))
        self.assertGreater(s.merged_rate, 0)
        with a.copy("merged.deja") as copy:
            self.assertEqual(sum(copy.contains_many(URLS)), len(URLS))
            copy.add_many(str(i) for i in range(20_000))  # grows
        with deja.Filter("merged.deja") as f:
            self.assertEqual(sum(f.contains_many(URLS)), len(URLS))
        fixed = deja.Filter(capacity=10_000, grow=False)
        with self.assertRaisesRegex(deja.MismatchError, "secret key: check values"):
            fixed.merge(deja.Filter(capacity=10_000, grow=False))

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

    def test_dates(self):
        def at(year, month, day):
            return int(datetime(year, month, day, 12, tzinfo=timezone.utc).timestamp())

        for path in (None, "dates.deja"):
            f = deja.Filter(path, dates=True, capacity=100)
            f.set_clock(at(2026, 1, 2))
            f.add_many(URLS[:1000])  # it grows
            f.set_clock(at(2026, 3, 4))
            f.add_many(URLS[500:2000])
            self.assertEqual(f.days(URLS[0]), (date(2026, 1, 2), date(2026, 1, 2)))
            self.assertEqual(f.days(URLS[500]).last, date(2026, 3, 4))
            self.assertEqual(f.days(URLS[500]).first, date(2026, 1, 2))
            self.assertIsNone(f.days("absent"))
            days = f.days_many(URLS)
            self.assertEqual(sum(d is not None for d in days), 2000)
            self.assertEqual(days[1500], deja.Days(date(2026, 3, 4), date(2026, 3, 4)))
            self.assertEqual((f.stats().oldest_day, f.stats().newest_day), (date(2026, 1, 2), date(2026, 3, 4)))
            self.assertEqual(f.older(date(2026, 3, 4)), 500)
            self.assertEqual(f.expire(date(2026, 3, 4)), 500)
            self.assertEqual(f.expire(date(1950, 1, 1)), 0)
            self.assertEqual(f.stats().keys, 1500)
            self.assertNotIn(URLS[0], f)
            self.assertRaises(deja.ArgumentError, f.expire, 30)
        f = deja.Filter(capacity=100)
        self.assertIsNone(f.stats().oldest_day)
        self.assertRaisesRegex(deja.UnsupportedError, "dates", f.days, "a")
        self.assertRaisesRegex(deja.UnsupportedError, "dates", f.expire, date(2026, 1, 1))
        self.assertRaisesRegex(deja.ArgumentError, "dates goes with kind exact", deja.Filter, kind="layered",
                               capacity=9, dates=True)

    def test_dates_of_urls(self):
        f = deja.Filter(dates=True, url="safe", capacity=100)
        f.add("HTTP://Example.com")
        self.assertIsNotNone(f.days("http://example.com/"))
        self.assertEqual([d is None for d in f.days_many(["http://example.com", "http://other/"])], [False, True])

    def test_static_filters_are_built(self):
        f = deja.Filter.build(URLS, "static.deja")
        self.assertEqual(sum(f.contains_many(URLS)), len(URLS))
        self.assertEqual(f.stats().kind, "static")
        self.assertRaisesRegex(deja.UnsupportedError, "build", f.add, "a")
        self.assertRaises(FileExistsError, deja.Filter.build, URLS, "static.deja")
        self.assertIn(URLS[5], deja.Filter.build(TEXT, fingerprint_bits=8))

    def test_exceptions_of_a_static_filter_are_not_found(self):
        golden = SOURCE / "tests" / "format" / "golden" / "v2"
        members = (golden / "members.txt").read_bytes().split(b"\n")[:120]
        with deja.Filter(golden / "static_except.deja") as f:
            self.assertEqual(f.stats(body=False).exceptions, 6)
            copy = deja.Filter.from_bytes(f.to_bytes())
        for filter in (copy, deja.Filter(golden / "static_except.deja")):
            self.assertEqual(sum(filter.contains_many(members)), 120)
            self.assertEqual(sum(filter.contains_many(f"https://allowed.example/{i}" for i in range(2000))), 0)

    def test_wrong_options_are_refused(self):
        for wrong in ({"kind": "cuckoo"}, {"hash": "crc"}, {"capacity": 10, "fp_rate": 2.0}, {"url": "mine"},
                      {"capacity": 10, "hashes": 1000}, {"capacity": 0}, {"capacity": -5}, {"capacity": float("nan")},
                      {"capacity": 10, "seed": 0}, {"capacity": 10, "fp_rate": 0}, {"capacity": 10, "hashes": 2**32 + 3},
                      {"capacity": 10, "memory": -1}):
            with self.subTest(wrong):
                self.assertRaises(deja.ArgumentError, deja.Filter, **wrong)
        for unknown in ("color", "alloc", "size", "flags"):
            self.assertRaises(TypeError, deja.Filter, capacity=10, **{unknown: 1})
        self.assertRaises(deja.Error, deja.Filter, capacity=1e18)

    def test_a_full_filter_reports_how_many_keys_it_added(self):
        f = deja.Filter(capacity=50, kind="exact", grow=False)
        with self.assertRaises(deja.FullError) as caught:
            f.add_many(URLS)
        self.assertEqual(caught.exception.done, f.stats().keys)
        self.assertGreater(caught.exception.done, 49)

    def test_a_plan_predicts_the_filter(self):
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

    def test_a_fixed_filter_warns_once_past_its_capacity(self):
        def warned(f, urls, add):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                add(f, urls)
            return [(one.category, one.filename) for one in caught]

        def one_by_one(f, urls):
            for url in urls:
                f.add(url)

        warning = [(deja.CapacityWarning, __file__)]
        for add in (deja.Filter.add_many, one_by_one):
            for options in ({"grow": False}, {"kind": "spectral"}, {"hashes": 5}, {"kind": "window", "window_seconds": 99}):
                with self.subTest(options):
                    f = deja.Filter(capacity=100, **options)
                    self.assertEqual(warned(f, URLS[:90], add), [])
                    self.assertEqual(warned(f, URLS[90:300], add), warning)
                    self.assertEqual(warned(f, URLS, add), [])
                    self.assertGreater(f.stats(body=False).excess, 0)
        with deja.Filter(f"{self.id()}.deja", capacity=100, grow=False) as f:
            self.assertEqual(warned(f, URLS[:200], one_by_one), warning)
        with deja.Filter(f"{self.id()}.deja") as f:  # again in each run that adds any key
            self.assertEqual(warned(f, URLS[:1], one_by_one), warning)
            f.rotate(capacity=100)
            self.assertEqual(warned(f, URLS[:90], one_by_one), [])
            self.assertEqual(warned(f, URLS[:200], one_by_one), warning)
            with f.copy(f"{self.id()}.copy.deja") as copy:
                self.assertEqual(warned(copy, URLS[:1], one_by_one), warning)

    def test_stats_without_the_body_agree_with_full_stats(self):
        f = deja.Filter(capacity=5000, url="crawl", kind="scalable")
        f.add_many(URLS)
        quick, stats = f.stats(body=False), f.stats()
        for name in ("kind", "part_kind", "parts", "capacity", "bytes", "keys", "visit", "fp_rate", "profile", "url_rules"):
            self.assertEqual(getattr(quick, name), getattr(stats, name), name)
        self.assertEqual(quick.entries, stats.keys)
        self.assertTrue(math.isnan(quick.fill) and math.isnan(quick.lost) and quick.bits_set == 0)

    def test_a_filter_can_be_exported_and_imported(self):
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

    def test_damaged_bytes_are_refused(self):
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

    def test_equal_seeds_make_equal_filters(self):
        a, b = (deja.Filter(capacity=100, fp_rate=0.3, seed=9) for _ in range(2))
        a.add_many(URLS[:100])
        b.add_many(URLS[:100])
        self.assertEqual(a.contains_many(TEXT), b.contains_many(TEXT))
        self.assertFalse(a.stats().keyed)


class Exceptions(unittest.TestCase):
    def test_an_exception_is_never_found(self):
        keys, absent = [f"in {i}" for i in range(2000)], [f"out {i}" for i in range(20_000)]
        wrong = sum(deja.Filter.build(keys, fp_rate=0.01, seed=1).contains_many(absent))
        self.assertGreater(wrong, 0)
        f = deja.Filter.build(keys, "allow.deja", fp_rate=0.01, seed=1, exceptions=absent)
        self.assertEqual(sum(f.contains_many(absent)), 0)
        self.assertEqual(sum(f.contains_many(keys)), len(keys))
        self.assertGreater(f.stats().exceptions, 0)
        f.close()
        with deja.Filter("allow.deja", mode="r") as again:
            self.assertEqual(sum(again.contains_many(absent)), 0)

    def test_a_key_that_is_also_an_exception_is_left_out(self):
        f = deja.Filter.build(["a", "b"], exceptions=b"b\nc\n")
        self.assertEqual(f.contains_many(["a", "b", "c"]), b"\1\0\0")

    def test_exceptions_have_the_url_rules_of_the_filter(self):
        f = deja.Filter.build(["http://a.example/", "http://b.example/"], url="safe", exceptions=["HTTP://B.example:80"])
        self.assertIn("http://A.example", f)
        self.assertNotIn("http://b.example/", f)


class Like(unittest.TestCase):
    def test_filters_that_are_alike_can_be_merged(self):
        for options in ({"capacity": 1000}, {"capacity": 1000, "grow": False}, {"kind": "classic", "memory": 8192},
                        {"kind": "spectral", "capacity": 1000}, {"capacity": 1000, "url": "crawl"},
                        {"capacity": 1000, "key": bytes(32)}, {"capacity": 1000, "path": "one.deja"}):
            with self.subTest(options):
                one = deja.Filter(**options)
                one.add("http://a.example/")
                for path in (None, "other.deja"):
                    other = deja.Filter.like(one, path, replace=True)
                    self.assertNotIn("http://a.example/", other)
                    self.assertEqual(other.stats().bytes, one.stats().bytes)
                    self.assertEqual(other.rules, one.rules)
                    other.add("http://b.example/?b=1&a=2")
                    before = one.stats().parts
                    one.merge(other)
                    self.assertEqual(one.stats().parts, before)
                    self.assertIn("http://b.example/?b=1&a=2", one)
                    other.close()

    def test_only_an_open_filter_can_be_imitated(self):
        f = deja.Filter(capacity=100)
        f.close()
        self.assertRaises(deja.ArgumentError, deja.Filter.like, f)
        self.assertRaises(TypeError, deja.Filter.like, "f.deja")
        with deja.Filter("there.deja", capacity=100) as there:
            self.assertRaises(FileExistsError, deja.Filter.like, there, "there.deja")


if __name__ == "__main__":
    unittest.main()
