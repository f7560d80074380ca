"""urls - canonical URLs as keys, URL rules, parts of URLs, and block lists."""

import copy
import gc
import os
import pickle
import subprocess
import unittest
import unittest.mock

import pydeja  # noqa: F401

import deja
from deja import _url


class URLs(unittest.TestCase):
    same = ["http://Example.com:80/a/../b?b=1&a=2#top", "http://example.com/b?a=2&b=1&utm_source=x"]

    def test_canonical_forms(self):
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

    def test_batches_and_single_calls_agree(self):
        urls = [f"HTTP://h{i % 7}.Example/{'x' * (i % 90)}/../{i}?b=1&a={i % 3}#{i}" for i in range(20_000)]
        urls[17] = "http://h/" + "%41" * 1_500_000  # does not fit the buffer of a portion
        urls[18] = "no url"
        one, many = (deja.Filter(capacity=50_000, url="crawl", seed=7) for _ in range(2))
        want = bytes(one.add(url) for url in urls)
        self.assertEqual(many.add_many(urls), want)
        self.assertEqual((one.not_urls, many.not_urls), (1, 1))
        self.assertEqual(many.contains_many(urls), b"\1" * len(urls))

    def test_custom_rules_are_needed_again(self):
        rules = deja.Rules("crawl", drop=["ref"], keep=["utm_*"])
        with deja.Filter("rules.deja", capacity=100, url=rules) as f:
            f.add("http://a.example/?ref=1&b=2")
            self.assertIn("http://a.example/?b=2", f)
        self.assertRaisesRegex(deja.MismatchError, "Rules", deja.Filter, "rules.deja")
        with deja.Filter("rules.deja", url=deja.Rules("crawl", drop=["ref"], keep=["utm_*"])) as f:
            self.assertIn("http://a.example/?b=2&ref=7", f)
            self.assertIn("http://a.example/?b=2&ref=7", pickle.loads(pickle.dumps(f)))

    def test_rules_can_be_copied_and_pickled(self):
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

    def test_block_lists_cover_sites_and_folders(self):
        bad = ["http://evil.example/", "http://shop.example/fake/"]
        asked = ["https://www.evil.example/x", "http://shop.example/", "/path", "http://shop.example/fake/y"]
        f = deja.Filter(capacity=100, url="gsb")
        self.assertEqual(f.add_many(["/path", *bad, bad[0], "/path"]), b"\0\1\1\0\0")
        self.assertEqual((f.not_urls, f.stats().keys), (2, 2))
        for f in (f, deja.Filter.build(bad, url="gsb")):
            self.assertEqual(f.contains_many(asked), b"\1\0\0\1")
            self.assertEqual([url in f for url in asked], [True, False, False, True])

    def test_block_lists_answer_the_same_in_batches(self):
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

    def test_the_command_and_the_package_share_files(self):
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

    def test_files_of_deja_0_1_keep_their_url_rules(self):
        """A host with a snowman was not valid then, so its key is the unchanged URL."""
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

    def test_a_file_of_a_library_with_other_rules_is_refused_with_the_remedy(self):
        with deja.Filter("rules.deja", mode="w", url="crawl", capacity=100) as f:
            f.add("http://a.example/")
        with unittest.mock.patch.object(deja.Rules, "id", 7):  # as if the library had other rules
            for has, needs in ((True, "without"), (False, "with")):
                with unittest.mock.patch("deja._owner.idn_is_built", return_value=has):
                    self.assertRaisesRegex(deja.MismatchError, f"use a libdeja {needs} libidn2", deja.Filter, "rules.deja")

    def test_whether_international_hosts_are_built(self):
        try:
            self.assertEqual(deja.canonical("http://b\u00fccher.example/"), "http://xn--bcher-kva.example/")
            has = True
        except deja.UnsupportedError:
            has = False
        self.assertEqual(_url.idn_is_built(), has)


if __name__ == "__main__":
    unittest.main()
