"""settings - a wrong value of a Scrapy setting is an error that names the setting."""

import os
import unittest

import pydeja

pydeja.need_scrapy()
from scrapy.settings import Settings  # noqa: E402

import deja  # noqa: E402
from deja.scrapy import SIEVE_CONFLICTS, DejaDupeFilter  # noqa: E402

NOWHERE = "redis://127.0.0.1:1"


class SettingsOfScrapy(unittest.TestCase):
    def test_wrong_values_name_their_setting(self):
        for name, values in {
            "DEJA_CAPACITY": ("many", -5, "-5", True, [5], "nan", float("inf"), b"5x"),
            "DEJA_FP_RATE": ("small", -0.1, "1e-3x", True, float("nan")),
            "DEJA_KIND": (5, "cuckoo\0", ["blocked"]),
            "DEJA_URL": ("mine", 5, "safe\0"),
            "DEJA_FILE": ("a\0b",),
            "DEJA_REVISIT": ("maybe",),
            "DEJA_OPTIONS": ("not json", 5),
        }.items():
            for value in values:
                with self.subTest(name, value=value):
                    self.assertRaisesRegex(deja.ArgumentError, name, DejaDupeFilter, Settings({name: value}))

    def test_wrong_values_for_a_server_name_their_setting(self):
        for name, values in {"DEJA_REDIS_SHARDS": ("x", 4.5, "4.5", -1, 10**6, True),
                             "DEJA_REDIS_KEY": (5, "a\0b")}.items():
            for value in values:
                with self.subTest(name, value=value):
                    self.assertRaisesRegex(deja.ArgumentError, name, DejaDupeFilter,
                                           Settings({"DEJA_REDIS_URL": NOWHERE, name: value}))

    def test_wrong_options_are_named(self):
        for option, value in (("hashes", "5"), ("memory", True), ("seed", 1.5), ("fp_rate", "0.1"), ("hash", 3)):
            for more in ({}, {"DEJA_REDIS_URL": NOWHERE}):
                with self.subTest(option, value=value, more=more):
                    self.assertRaisesRegex((TypeError, ValueError), option, DejaDupeFilter,
                                           Settings({"DEJA_CAPACITY": 100, "DEJA_OPTIONS": {option: value}, **more}))

    def test_wrong_values_for_a_sieve_name_their_setting(self):
        for name, values in {
            "DEJA_SIEVE": ("a\0b", 5), "DEJA_MEMORY": ("much", "1k", 1000, True, -1, [1]),
            "DEJA_OPTIONS": ("not json", {"hashes": 3}, {"capacity": 5}), "DEJA_URL": ("mine",),
            "DEJA_FILE": ("seen.deja",), "DEJA_KIND": ("exact",), "DEJA_CAPACITY": (1000, "1e6"),
            "DEJA_FIXED": (True, "1"), "DEJA_FP_RATE": (0.1,), "DEJA_REVISIT": (1,), "DEJA_REDIS_URL": (NOWHERE,),
            "DEJA_REDIS_KEY": ("mine",), "DEJA_REDIS_SHARDS": (4,),
        }.items():
            for value in values:
                with self.subTest(name, value=value):
                    self.assertRaisesRegex(deja.ArgumentError, name, DejaDupeFilter,
                                           Settings({"DEJA_SIEVE": "wrong.sieve", name: value}))
        self.assertFalse(os.path.exists("wrong.sieve"))

    def test_absent_values_do_not_conflict_with_a_sieve(self):
        for absent in (None, 0, "", "0", False):
            settings = Settings({"DEJA_SIEVE": "none.sieve", **dict.fromkeys(SIEVE_CONFLICTS, absent)})
            self.assertRaisesRegex(deja.ArgumentError, "needs a crawler", DejaDupeFilter, settings)

    def test_the_memory_of_a_sieve_needs_a_sieve(self):
        self.assertRaisesRegex(deja.ArgumentError, "DEJA_SIEVE", DejaDupeFilter, Settings({"DEJA_MEMORY": "1G"}))

    def test_requests_of_every_version_of_scrapy_are_imported(self):
        """The default filter writes lines in hexadecimal or, later, bytes after their length; a kill cuts the last off."""
        made = [bytes([i]) * 20 for i in (1, 10, 0x30, 255)]
        for job, data in (("lines", b"".join(b"%s\n" % one.hex().encode() for one in made) + b"0101"), ("empty", b""),
                          ("bytes", b"".join(b"\0\x14" + one for one in made) + b"\0\x14abc")):
            os.mkdir(job)
            with open(f"{job}/requests.seen", "wb") as file:
                file.write(data)
            f = DejaDupeFilter(Settings({"JOBDIR": job}))
            self.assertEqual([one in f.seen for one in made], [bool(data)] * len(made), job)
            self.assertEqual(f.seen.stats().keys, len(made) if data else 0)
            f.close("finished")

    def test_numbers_may_be_text(self):
        """`scrapy crawl -s NAME=VALUE` passes text; 0 and an empty text mean the default."""
        for capacity in (5000, "5000", "5e3", 5000.0):
            f = DejaDupeFilter(Settings({"DEJA_CAPACITY": capacity, "DEJA_FP_RATE": "0.001", "DEJA_KIND": "blocked"}))
            self.assertEqual((f.seen.stats().capacity, f.seen.stats().fp_rate), (5000, 0.001))
        for absent in (None, 0, "", "0", " "):
            f = DejaDupeFilter(Settings({"DEJA_CAPACITY": absent, "DEJA_KIND": ""}))
            self.assertEqual(f.seen.stats().kind, "scalable")


if __name__ == "__main__":
    unittest.main()
