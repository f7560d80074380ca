"""A strict reader of WARC 1.1 files and their CDXJ index, written from the standard alone.

Anything wrong ends the test: members with more than one record, wrong lengths and digests, missing
fields, requests without a response, payloads that do not match their digest, an index that is not
sorted or points elsewhere."""

import base64
import hashlib
import json
import re
import zlib
from pathlib import Path

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
ID = re.compile(r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>$")
MUST = {"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length"}
REVISIT = "http://netpreserve.org/warc/1.1/revisit/"


class Wrong(Exception):
    pass


def need(holds, what):
    if not holds:
        raise Wrong(what)


def sha1(data):
    return "sha1:" + base64.b32encode(hashlib.sha1(data).digest()).decode()


class Record:
    def __init__(self, file, offset, length, data):
        self.file, self.offset, self.length = file, offset, length
        head, gap, rest = data.partition(b"\r\n\r\n")
        need(gap, "no end of the header")
        lines = head.decode("utf-8").split("\r\n")
        need(lines[0] == "WARC/1.1", f"version {lines[0]}")
        self.fields = {}
        for line in lines[1:]:
            name, colon, value = line.partition(": ")
            need(colon and name not in self.fields, f"field {line!r}")
            self.fields[name] = value
        need(MUST <= set(self.fields), "fields are missing")
        size = int(self.fields["Content-Length"])
        need(rest[size:] == b"\r\n\r\n", "the block has another length, or no end")
        self.block = rest[:size]
        self.type = self.fields["WARC-Type"]
        self.url = self.fields.get("WARC-Target-URI")
        self.check()

    def check(self):
        f = self.fields
        need(ID.match(f["WARC-Record-ID"]), "record id")
        need(DATE.match(f["WARC-Date"]), "date")
        need(f.get("WARC-Block-Digest") == sha1(self.block), "block digest")
        if self.type == "warcinfo":
            need(f["Content-Type"] == "application/warc-fields", "type of warcinfo")
            need(f["WARC-Filename"] == self.file, "file name")
            return
        need(self.type in ("request", "response", "revisit"), f"type {self.type}")
        need(self.url and self.url.startswith("http"), "target")
        message = "request" if self.type == "request" else "response"
        need(f["Content-Type"] == f"application/http; msgtype={message}", "media type")
        self.http_head, gap, self.body = self.block.partition(b"\r\n\r\n")
        need(gap, "no end of the HTTP header")
        if self.type == "request":
            need(re.match(rb"GET \S+ HTTP/(1\.1|2)\r\n", self.block), "request line")
        else:
            self.check_answer()

    def check_answer(self):
        line = re.match(rb"HTTP/1\.[01] (\d{3}) ", self.block)
        need(line, "status line")
        self.status = int(line.group(1))
        need(b"\r\ntransfer-encoding:" not in self.http_head.lower(), "a transfer coding")
        if self.type == "response":
            need(self.fields["WARC-Payload-Digest"] == sha1(self.body), "payload digest")
            return
        profile = self.fields["WARC-Profile"]
        need(profile in (REVISIT + "server-not-modified", REVISIT + "identical-payload-digest"),
             "profile")
        need(self.body == b"", "a revisit with a body")
        need(self.fields["WARC-Refers-To-Target-URI"] == self.url, "what it refers to")
        need(DATE.match(self.fields["WARC-Refers-To-Date"]), "when it refers to")


def members(data, step=16384):
    """The gzip members of a file: offset, length, contents."""
    at = 0
    while at < len(data):
        z, contents, read = zlib.decompressobj(31), b"", at
        while not z.eof:
            need(read < len(data), "a member without end")
            contents += z.decompress(data[read:read + step])
            read += step
        length = min(read, len(data)) - at - len(z.unused_data)
        yield at, length, contents
        at += length


def read_file(path):
    path = Path(path)
    records = [Record(path.name, *m) for m in members(path.read_bytes())]
    need(records and records[0].type == "warcinfo", "no warcinfo at the beginning")
    need(all(r.type != "warcinfo" for r in records[1:]), "another warcinfo")
    pairs = records[1:]
    need(len(pairs) % 2 == 0, "a request without an answer")
    for request, answer in zip(pairs[::2], pairs[1::2]):
        need(request.type == "request" and answer.type in ("response", "revisit"), "order")
        need(request.fields["WARC-Concurrent-To"] == answer.fields["WARC-Record-ID"], "pair")
        need(request.url == answer.url, "pair of URLs")
    return records


def read_folder(folder):
    """All answers in a crawl's folder, compared with each other and with the index."""
    records = [r for p in sorted(Path(folder).glob("crawl-*.warc.gz")) for r in read_file(p)]
    ids = [r.fields["WARC-Record-ID"] for r in records]
    need(len(set(ids)) == len(ids), "an id twice")
    answers = [r for r in records if r.type in ("response", "revisit")]
    copies = {(r.url, r.fields["WARC-Date"]): r for r in answers if r.type == "response"}
    for r in answers:
        if r.type == "revisit":
            origin = copies.get((r.url, r.fields["WARC-Refers-To-Date"]))
            need(origin is not None, f"a revisit of nothing: {r.url}")
            need(origin.fields["WARC-Payload-Digest"] == r.fields["WARC-Payload-Digest"],
                 "a revisit with another digest")
    check_index(Path(folder) / "index.cdxj", answers)
    return answers


def check_index(path, answers):
    lines = path.read_bytes().splitlines()
    need(lines == sorted(lines), "the index is not sorted")
    left = {(r.file, r.offset): r for r in answers}
    for line in lines:
        key, stamp, text = line.decode().split(" ", 2)
        entry = json.loads(text)
        r = left.pop((entry["filename"], int(entry["offset"])), None)
        need(r is not None, f"the index points nowhere: {line!r}")
        need(int(entry["length"]) == r.length, "length in the index")
        need(entry["url"] == r.url and int(entry["status"]) == r.status, "url or status")
        need(entry["digest"] == r.fields["WARC-Payload-Digest"], "digest in the index")
        need((entry.get("mime") == "warc/revisit") == (r.type == "revisit"), "revisit")
        need(stamp == re.sub(r"\D", "", r.fields["WARC-Date"]), "time in the index")
        need(")/" in key and key == key.lower(), f"key {key}")
    need(not left, f"{len(left)} records are not in the index")
