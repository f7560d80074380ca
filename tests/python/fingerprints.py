"""fingerprints - DejaRequestFingerprinter returns the same bytes as Scrapy's own fingerprinter.

The URLs are the hard cases of url.w3lib_agrees and mutations of them, with bodies, methods and
headers.
"""

import importlib.util
import random
import sys
import unittest
import unittest.mock
import warnings

import pydeja

pydeja.need_scrapy()
from scrapy import Request  # noqa: E402
from scrapy.http import FormRequest, JsonRequest  # noqa: E402
from scrapy.settings import Settings  # noqa: E402
from scrapy.utils import request as theirs  # noqa: E402

from deja import scrapy as ours  # noqa: E402

MUTATIONS = 4000


def hard_urls():
    sys.argv[1:] = ["unused"]
    path = pydeja.SOURCE / "tests" / "url" / "w3lib_agrees.py"
    spec = importlib.util.spec_from_file_location("w3lib_agrees", path)
    module = importlib.util.module_from_spec(spec)
    with unittest.mock.patch("importlib.metadata.version", lambda _: "2.1.1"), \
            unittest.mock.patch("sys.version_info", (3, 11)):
        spec.loader.exec_module(module)  # otherwise, it skips other versions of w3lib
    chance = random.Random(8)
    return module.SIMPLE + module.NAMED + [module.mutated(chance) for _ in range(MUTATIONS)]


def requests():
    """Yield the requests that Scrapy accepts: URLs with a scheme."""
    chance = random.Random(9)
    for url in hard_urls():
        text = url.decode("utf-8", "ignore")
        more = chance.choice([{}, {}, {"method": "POST", "body": b"a=1"}, {"method": "put", "body": "\u00e9"},
                              {"body": bytes(range(256))}, {"method": 'X"\\'},
                              {"headers": {"Accept": "x", "A": ["1", "2"]}}])
        try:
            request = Request(text, **more)
            theirs.fingerprint(request)
        except ValueError:
            continue
        yield request


def crawler_with(**settings):
    return type("Crawler", (), {"settings": Settings(settings)})()


class Fingerprints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.requests = list(requests())
        print(f"{len(cls.requests)} requests")
        assert len(cls.requests) > 2000

    def same(self, mine, other):
        for request in self.requests:
            self.assertEqual(mine(request), other(request), request)

    def test_implementation_2_7(self):
        crawler = crawler_with(REQUEST_FINGERPRINTER_IMPLEMENTATION="2.7")
        self.same(ours.DejaRequestFingerprinter.from_crawler(crawler).fingerprint,
                  theirs.RequestFingerprinter.from_crawler(crawler).fingerprint)

    def test_implementation_2_6(self):
        crawler = crawler_with(REQUEST_FINGERPRINTER_IMPLEMENTATION="2.6")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            default = theirs.RequestFingerprinter.from_crawler(crawler)
        self.same(ours.DejaRequestFingerprinter.from_crawler(crawler).fingerprint, default.fingerprint)

    def test_without_the_setting_it_is_the_new_one(self):
        crawler = type("Crawler", (), {"settings": {}})()  # Scrapy after 2.12 lacks the setting
        self.same(ours.DejaRequestFingerprinter.from_crawler(crawler).fingerprint, theirs.fingerprint)

    def test_with_headers_and_fragments(self):
        for options in ({"include_headers": ["Accept"]}, {"include_headers": ["a", "Accept", "None"]}, {"include_headers": [b"Accept", b"A"]},
                        {"keep_fragments": True}, {"include_headers": ["A"], "keep_fragments": True}):
            self.same(lambda r: ours.fingerprint(r, **options), lambda r: theirs.fingerprint(r, **options))

    def test_urls_that_every_version_of_w3lib_canonicalizes_equally(self):
        chance, tried = random.Random(11), 0
        begins = ("http://", "https://", "http://example.com", "https://www.example.com/", "http://example.com/a?")
        parts = [*"abzAZ019-._~!$&'()*+,=:@%/?#;", "%20", "%41", "%e9", "%C3%A9", "%25", "%2f", "%5c", "%00", "%26", "%3b",
                 "/..", "/.", "//", "&&", "a=b", "x=1&y=2", "www.", "0x7f", "127.0.0.1", ":80", ":00", ":443", ".com", "%7E"]
        for _ in range(20000):
            url = chance.choice(begins) + "".join(chance.choice(parts) for _ in range(chance.randrange(9)))
            if ours._plain(url):
                tried += 1
                with unittest.mock.patch.object(ours, "_same_w3lib", False):
                    self.assertEqual(ours._canonical(url), theirs.canonicalize_url(url), url)
        self.assertGreater(tried, 5000)

    def test_of_forms_and_json(self):
        for request in (FormRequest("http://a.example/?b&a", formdata={"x": "1", "é": "2"}),
                        JsonRequest("http://a.example/", data={"x": [1]})):
            self.assertEqual(ours.fingerprint(request), theirs.fingerprint(request))

    def test_a_fingerprint_is_computed_once_and_freed_with_its_request(self):
        fingerprinter = ours.DejaRequestFingerprinter()
        request = Request("http://a.example/")
        self.assertIs(fingerprinter.fingerprint(request), fingerprinter.fingerprint(request))
        del request
        self.assertEqual(len(fingerprinter._made), 0)


if __name__ == "__main__":
    unittest.main()
