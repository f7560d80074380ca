#!/usr/bin/env python3
"""reader - a second reader of .deja files, written from docs/format.md alone.

    reader.py FILE [--key HEX] [--repair] [KEYS]

checks FILE and describes it as JSON; with KEYS, a file with one key per line, it also says whether
each is in the filter.  Exit status: 0 valid, 1 refused (the JSON names the field), 2 usage.

Slow and simple on purpose: it shares no code with the library, except XXH3 from libxxhash."""

import argparse
import functools
import json
import math
import operator
import re
import struct
import sys

from reader_hashes import (MASK32, MASK64, MIXED, jenkins, little, md5, mix, mulhi, murmur2,
                           murmur3, rotl, scramble, sha1, short_hash, siphash, u64, xxh3, xxh3_secret,
                           xxh3_seed)

HEADER_LEN = 4096
PIECE = 65536
GOLDEN = 0x9E3779B97F4A7C15
MAGIC = bytes.fromhex("44454a410d0a1a0a")

CLASSIC, BLOCKED, LAYERED, SPECTRAL, PAIRED, SCALABLE, WINDOW, STATIC, EXACT = range(1, 10)
KINDS = {CLASSIC: "classic", BLOCKED: "blocked", LAYERED: "layered", SPECTRAL: "spectral",
         PAIRED: "paired", SCALABLE: "scalable", WINDOW: "window", STATIC: "static",
         EXACT: "exact"}
HASHES = {1: "xxh3", 2: "siphash", 3: "jenkins", 4: "murmur2", 5: "murmur3", 6: "md5", 7: "sha1",
          8: "mixed"}
SEALED, OPEN = 1, 2
ODD = [0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947,
       0x5c6bfb31, 0xc2b2ae35, 0x85ebca6b, 0x1b873593, 0xcc9e2d51, 0x165667b1, 0x27d4eb2f,
       0xe6546b65, 0x9e3779b1]


class Refused(Exception):
    """The file violates the format; status is the library's name for it."""

    def __init__(self, status, text):
        super().__init__(text)
        self.status = status


# --- Keys ---------------------------------------------------------------------


class Hasher:
    """From the bytes of a key to its numbers."""

    def __init__(self, hash_name, key, visit, words, rules, layered):
        self.name, self.key, self.first, self.words = hash_name, key, visit << 16, words
        self.rules, self.layered = rules, layered
        self.short = [self.derive(9, self.first + i) for i in range(38)]
        self.secret = b"".join(u64(self.derive(1, self.first + i)) for i in range(24))
        self.sip = b"".join(u64(self.derive(3, self.first + i)) for i in range(2))
        if hash_name not in ("xxh3", "siphash"):
            self.salts = [self.derive(2, self.first + w) for w in range(words)]

    def derive(self, stream, index):
        return siphash(self.key[:16], self.key[16:] + u64(stream) + u64(index))

    def part_salt(self, i):
        return self.derive(4, self.first + i) | 1

    def numbers(self, data):
        if self.name == "xxh3" and self.rules > 0 and len(data) <= 16:
            return [short_hash(self.short, data)]
        if self.name == "xxh3" and self.rules > 0 and self.layered:
            return [siphash(self.sip, data)]
        if self.name == "xxh3":
            return [xxh3_secret(data, self.secret)]
        if self.name == "siphash":
            return [siphash(self.sip, data)]
        return [self.number(w, data) for w in range(self.words)]

    def number(self, w, data):
        salted = u64(self.salts[w]) + data
        if self.name == "mixed":
            function = MIXED[w % 6]
            value = function(salted) if function else xxh3_seed(data, self.salts[w])
            return self.widened(value & MASK32)
        value = {"jenkins": jenkins, "murmur2": murmur2, "murmur3": murmur3, "md5": md5,
                 "sha1": sha1}[self.name](salted)
        return self.widened(value) if self.name in ("jenkins", "murmur2") else value

    def widened(self, value):
        return (scramble(value) if self.rules > 0 else value) << 32


# --- Bodies -------------------------------------------------------------------


def lane_sets(k):
    sets = []
    for d in range(16):
        lane = list(range(16))
        state = ((16 * k + d + 1) * GOLDEN) & MASK64
        for i in range(15, 0, -1):
            state = (state + GOLDEN) & MASK64
            j = mix(state) % (i + 1)
            lane[i], lane[j] = lane[j], lane[i]
        drawn = sum(1 << lane[i] for i in range(k))
        sets += [rotl(drawn, r, 16) if r else drawn for r in range(16)]
    return sets


class Part:
    def __init__(self, kind, bits, k, body, counter_bits=0, fuse=None, generations=0, dated=False,
                 marked=0, key_lines=1, spread=False):
        self.dated, self.marked, self.key_lines, self.spread = dated, marked, key_lines, spread
        self.kind, self.bits, self.k, self.body, self.fuse = kind, bits, k, body, fuse
        self.counter_bits = counter_bits
        self.lines = generations + 1  # of a window
        self.living = range(self.lines)
        laned = kind in (BLOCKED, SPECTRAL, WINDOW) and not spread
        self.sets = lane_sets(k // key_lines) if laned else None

    def bit(self, at):
        return self.body[at // 8] >> (at % 8) & 1

    def contains(self, h):
        """For a key that became one number."""
        if self.kind == CLASSIC:
            return self.has_all(mix((h + (j + 1) * GOLDEN) & MASK64) for j in range(self.k))
        if self.kind == STATIC:
            return self.in_static(h)
        if self.kind == SPECTRAL:
            return self.count(h) > 0
        if self.kind == WINDOW:
            return any(self.in_line(h, line) for line in self.living)
        if self.dated:
            return self.days(h) != (0, 0)
        return self.in_blocked(h) if self.kind == BLOCKED else self.in_exact(h)

    def has_all(self, numbers):
        return all(self.bit(mulhi(n, self.bits)) for n in numbers)

    def in_blocked(self, h):
        blocks = self.bits // 512 // self.key_lines
        numbers = [h] + [mix((h + j * GOLDEN) & MASK64) for j in range(1, self.key_lines)]
        return all(self.bit(512 * blocks * j + at)
                   for j, number in enumerate(numbers) for at in self.places(number))

    def in_line(self, h, line):
        return all(self.bit(at + 512 * line) for at in self.places(h))

    def places(self, h):
        block = mulhi(h, self.bits // 512 // self.lines // self.key_lines) * self.lines
        g = (h * GOLDEN) & MASK64
        lanes = self.sets[g >> 24 & 255]
        return [512 * block + 32 * lane + ((((g >> 32) * ODD[lane]) & MASK32) >> 27)
                for lane in range(16) if lanes >> lane & 1]

    def counter(self, number):
        at = number * self.counter_bits
        return little(self.body[at // 8:at // 8 + 4]) >> at % 8 & (1 << self.counter_bits) - 1

    def counters(self, h):
        """The numbers of the key's k counters."""
        if self.spread:
            return [mulhi(mix((h + (j + 1) * GOLDEN) & MASK64), self.bits // self.counter_bits)
                    for j in range(self.k)]
        a_lane = 32 // self.counter_bits
        first = mulhi(h, self.bits // 512) * 16 * a_lane
        g = (h * GOLDEN) & MASK64
        if self.counter_bits == 4:
            lanes = self.sets[g >> 24 & 255]
            return [first + 8 * lane + ((((g >> 32) * ODD[lane]) & MASK32) >> 29)
                    for lane in range(16) if lanes >> lane & 1]
        x, left, numbers = g, list(range(16)), []
        for _ in range(self.k):
            at, x = mulhi(x, len(left)), x * len(left) & MASK64
            lane = left.pop(at)
            numbers.append(first + a_lane * lane + mulhi(x, a_lane))
            x = x * a_lane & MASK64
        return numbers

    def count(self, h):
        return min(self.counter(number) for number in self.counters(h))

    def probe(self, h):
        """The lines of an exact body to search for h, in order."""
        lines = self.bits // 512 >> self.marked
        line = mulhi(h, lines)
        for hop in range(1, lines + 9):
            yield 2 * line + h % 2 if self.marked else line
            stride = 1 + mulhi((h * GOLDEN) & MASK64, lines - 1) if hop < 8 else 1
            line = (line + stride) % lines

    def in_exact(self, h):
        fingerprints = (max(h & ~1, 2), max(h | 1, 3)) if self.marked else (h or 1,)
        for line in self.probe(h):
            slots = struct.unpack_from("<8Q", self.body, 64 * line)
            if any(f in slots for f in fingerprints):
                return True
            if 0 in slots or self.marked and not slots[h >> 1 & 7] & 1:
                return False
        return False

    def days(self, h):
        """exact with dates: the first and the last day of a key; (0, 0) if it is absent."""
        h &= ~2047
        for line in self.probe(h):
            *fields, rest = struct.unpack_from("<6Q6HI", self.body, 64 * line)
            for i in range(6):
                word, last = fields[i], fields[6 + i]
                if word == 0:
                    return 0, 0
                if word >> 16 == h >> 16 and rest >> 5 * i & 31 == h >> 11 & 31:
                    return max(word & 65535, 1), max(last, 1)
        return 0, 0

    def in_static(self, h):
        width, length, segments, seed, keys = (
            self.fuse[name] for name in ("width", "length", "segments", "seed", "keys"))
        if keys == 0:
            return False
        g = mix(h ^ seed)
        first = mulhi(g, segments * length)
        places = [first, (first + length) ^ (g >> 18 & length - 1),
                  (first + 2 * length) ^ (g & length - 1)]
        size = width // 8
        total = 0
        for at in places:
            total ^= little(self.body[size * at:size * at + size])
        return total == ((g ^ g >> 32) * GOLDEN & MASK64) >> (64 - width)

    def in_use(self):
        if self.kind == STATIC:
            return self.fuse["keys"] * self.fuse["width"]
        if self.dated:
            return sum(self.body[at + 8 * i:at + 8 * i + 8] != bytes(8)
                       for at in range(0, len(self.body), 64) for i in range(6))
        if self.kind == EXACT:
            return sum(s != 0 for (s,) in struct.iter_unpack("<Q", self.body))
        if self.kind == SPECTRAL:
            return sum(self.counter(i) != 0 for i in range(self.bits // self.counter_bits))
        return bin(little(self.body)).count("1")


# --- The file -----------------------------------------------------------------


def need(holds, text, status="EFORMAT"):
    if not holds:
        raise Refused(status, text)


def zeros(data):
    return not any(data)


def url_rules(profile, version, idna, dropped=()):
    """The id of a profile's rules, with the names that it drops and no exceptions."""
    data = bytes((profile, version, idna))
    if profile in (2, 5):
        names = sorted(dropped, key=lambda name: name.rstrip(b"*"))
        data += b"".join(n[:-1] + b"&" if n.endswith(b"*") else n + b"=" for n in names) + b"\0\0"
    number = 0xcbf29ce484222325
    for byte in data:
        number = (number ^ byte) * 0x100000001b3 % (1 << 64)
    return number


def read_header(page):
    need(len(page) == HEADER_LEN, "cut short inside the header")
    need(page[:8] == MAGIC, "magic")
    version, header_len = struct.unpack_from("<II", page, 8)
    need(version <= 2, "version", "EVERSION")
    need(version > 0 and header_len == HEADER_LEN, "version or header length")
    need(little(page[2560:2568]) == xxh3(page[:2560]), "header checksum")
    names = ("kind part_kind hash filters capacity rate growth profile tightening visit flags "
             "parts key_check key file_len url_rules counter_bits rules").split()
    h = dict(zip(names, struct.unpack_from("<IIIIQdIIdQIIQ32sQQII", page, 16)))
    need((version == 1) == (h["rules"] == 0), "rules")
    need(h["rules"] <= 1, "rules", "EVERSION")
    need(h["flags"] & ~(8191 if h["rules"] else 128 | 31) == 0, "flags", "EVERSION")
    need(h["kind"] in KINDS, "kind", "EVERSION")
    need(h["part_kind"] in (CLASSIC, BLOCKED, SPECTRAL, WINDOW, STATIC, EXACT), "part kind")
    need(h["part_kind"] not in (SPECTRAL, WINDOW, STATIC) if h["kind"] == SCALABLE
         else h["part_kind"] == {PAIRED: BLOCKED, LAYERED: CLASSIC}.get(h["kind"], h["kind"]),
         "part kind")
    widths = (4, 8, 16, 32) if h["kind"] == SPECTRAL else (0,)
    need(h["counter_bits"] in widths, "counter bits")
    need(h["kind"] == SPECTRAL or not h["flags"] & (4 | 2048), "flags")
    need(h["kind"] != STATIC or not h["flags"] & 32, "flags")
    need(h["part_kind"] == EXACT or not h["flags"] & 64, "flags")
    need(h["hash"] in HASHES, "hash", "EVERSION")
    need(h["hash"] <= 2 or h["kind"] == CLASSIC, "hash")
    single = (LAYERED, PAIRED, SCALABLE, WINDOW, STATIC)
    need(1 <= h["filters"] <= 16 and (h["kind"] not in single or h["filters"] == 1), "filters")
    most = (7 if h["kind"] == WINDOW else 1) << 53
    need(0 < h["capacity"] <= most and 0 < h["rate"] < 1, "capacity or rate")
    need(1 <= h["growth"] <= 1024 and 0 < h["tightening"] < 1, "growth or tightening")
    need(1 <= h["visit"] < 1 << 47, "visit")
    names = "visits_before missed last_lost last_distinct folds".split()
    h.update(zip(names, struct.unpack_from("<QddQI", page, 176)))
    need(h["visits_before"] < h["visit"] and 0 <= h["missed"] <= 1, "earlier visits")
    need(0 <= h["last_lost"] < math.inf and h["last_distinct"] <= 1 << 53, "earlier visits")
    need(h["visits_before"] or not (h["missed"] or h["last_lost"] or h["last_distinct"]),
         "earlier visits")
    need(h["folds"] == 0 or h["folds"] <= 53 and h["kind"] in (CLASSIC, BLOCKED), "folds")
    need(1 <= h["parts"] <= 32, "number of parts")
    h["multiplier"], h["deletions"] = struct.unpack_from("<dQ", page, 320)
    sized = h["kind"] in (CLASSIC, BLOCKED, SPECTRAL, PAIRED) or h["kind"] == LAYERED and h["flags"] & 8
    need(0 <= h["multiplier"] < 1e9, "multiplier")
    need(h["multiplier"] == 0 or sized and h["flags"] & 32, "multiplier")
    need((h["kind"] == PAIRED) == (h["deletions"] > 0) and h["deletions"] <= 1 << 53, "deletions")
    h["apart"], h["seeded"] = bool(h["flags"] & 1), bool(h["flags"] & 2)
    h["dates"] = bool(h["flags"] & 64)
    h["paper"], h["words"] = bool(h["flags"] & 8), bool(h["flags"] & 16)
    h["fuse"] = read_fuse(page) if h["kind"] == STATIC else None
    h["exceptions"] = h["fuse"]["exceptions"] if h["fuse"] else 0
    need(h["rules"] > 0 or h["exceptions"] == 0, "exceptions")
    h["machine"] = struct.unpack_from("<I", page, 504)[0] if h["flags"] & 4096 else 0
    need(not h["flags"] & 4096 or h["kind"] in (CLASSIC, BLOCKED, SPECTRAL) and h["filters"] > 1
         and 1 <= h["machine"] <= h["filters"], "machine")
    here = 1 if h["machine"] else h["filters"]
    parts = 2 if h["kind"] == PAIRED or h["exceptions"] else here
    need(h["kind"] in (SCALABLE, LAYERED) or h["parts"] == parts, "number of parts")
    h["generations"], reserved, h["window_seconds"] = struct.unpack_from("<IIQ", page, 304)
    need(h["kind"] != WINDOW or 1 <= h["generations"] <= 7 and reserved == 0
         and h["window_seconds"] <= 1 << 40, "generations or seconds")
    need(h["kind"] == LAYERED or not h["flags"] & 24, "flags")
    if h["kind"] == LAYERED:
        read_layers(page, h)
    h["sources"] = read_sources(page, h)
    h["table"] = read_table(page, h)
    return h


def read_sources(page, h):
    """Other keys of a scalable filter with merged parts: tuples of key, visit and rules."""
    if not h["flags"] & 128:
        need(zeros(page[2568:3072]), "reserved space of the header")
        return []
    need(h["kind"] == SCALABLE, "flags")
    n, checksum = struct.unpack_from("<I4xQ", page, 336)
    need(n <= 7 and not (n and h["flags"] & 1), "number of other keys")
    need(n == 0 or checksum == xxh3(page[2568:3072]), "checksum of the other keys")
    need(zeros(page[2568 + 48 * n:3072]), "reserved space of the header")
    sources = [struct.unpack_from("<32sQII", page, 2568 + 48 * i) for i in range(n)]
    for _, visit, rules, seeded in sources:
        need(1 <= visit < 1 << 47 and rules <= 1 and seeded <= 1, "other keys")
    return [source[:3] for source in sources]


def read_fuse(page):
    """Fields that only static filters have."""
    names = "width log2 segments exceptions seed keys".split()
    f = dict(zip(names, struct.unpack_from("<IIIIQQ", page, 144)))
    need(f["width"] in (8, 16, 32), "fingerprint bits")
    need(f["log2"] <= 18 and f["segments"] >= 1, "segments")
    f["length"] = 1 << f["log2"]
    f["slots"] = (f["segments"] + 2) * f["length"]
    need(f["slots"] <= 1 << 32 and f["keys"] <= f["slots"], "segments or keys")
    return f


def read_layers(page, h):
    """Fields that only layered filters have."""
    h["layers"], h["delimiter"], reserved = struct.unpack_from("<III", page, 212)
    h["first"] = struct.unpack_from("<10Q", page, 224)
    need(h["layers"] <= 10 and (h["words"] or h["layers"] >= 2), "layers")
    need(1 <= h["delimiter"] <= 255 if h["words"] else h["delimiter"] == 0, "delimiter")
    need(max(h["first"]) <= 1 << 53 and reserved == 0, "first capacities")


def check_layers(h, table):
    number = [p["layer"] for p in table]
    need(number[0] == 0 and 0 not in number[1:], "XOR layer")
    need(max(number) <= (h["layers"] or 8), "layers")
    need(all(number.count(i) <= (1 if h["paper"] else 3) for i in number), "parts of a layer")
    if h["paper"]:
        need(all((p["bits"], p["k"]) == (table[0]["bits"], table[0]["k"]) for p in table),
             "part table")


def check_sizes(h, table):
    """Compares parts with the numbers that determine them."""
    steps = 0
    for i, p in enumerate(table):
        if h["kind"] == SCALABLE and p["origin"]:
            need(i > 0 and p["origin"] <= 1 + len(h["sources"]), f"part {i + 1}: origin")
        elif h["kind"] == SCALABLE:
            rate = h["rate"] * (1 - h["tightening"]) * h["tightening"] ** steps
            need(p["capacity"] == h["capacity"] * h["growth"] ** steps, f"part {i + 1}: capacity")
            need(abs(p["rate"] - rate) <= 1e-6 * rate, f"part {i + 1}: rate")
            steps += 1
        elif h["kind"] != LAYERED or h["paper"] or i == 0:
            second = {PAIRED: h["deletions"], STATIC: h["exceptions"]}.get(h["kind"])
            need(p["capacity"] == (second if second and i else h["capacity"]),
                 f"part {i + 1}: capacity")
        if p["kind"] == EXACT:
            slots = p["bits"] // 512 * (6 if h["dates"] else 8)
            need(5 * p["capacity"] <= 4 * slots, f"part {i + 1}: capacity")
        if p["kind"] == CLASSIC and h["kind"] in (SCALABLE, LAYERED):
            fill = -math.expm1(p["k"] * p["capacity"] * math.log1p(-1 / p["bits"]))
            need(fill ** p["k"] <= 2 * p["rate"], f"part {i + 1}: rate")
    need(table[0]["bits"] << h["folds"] <= 1 << 53, "folds")


def read_table(page, h):
    table, at = [], HEADER_LEN
    for i in range(h["parts"]):
        kind = BLOCKED if h["kind"] == LAYERED and i > 0 and not h["paper"] else h["part_kind"]
        kind = EXACT if h["kind"] == STATIC and i > 0 else kind
        granule = {CLASSIC: 64, STATIC: 1, WINDOW: 512 * (h["generations"] + 1)}.get(kind, 512)
        most_k = {CLASSIC: 64, STATIC: 3, EXACT: 1}.get(kind, 64 if h["flags"] & 2048 else 16)
        names = "bits k layer capacity rate offset length".split()
        p = dict(zip(names, struct.unpack_from("<QIIQdQQ", page, 512 + 64 * i)), kind=kind)
        p["origin"] = little(page[560 + 64 * i:564 + 64 * i]) if h["flags"] & 128 else 0
        lines = little(page[564 + 64 * i:568 + 64 * i]) if h["flags"] & 512 else 0
        need(lines in ((0, 2, 3) if kind == BLOCKED else (0,)), f"part {i + 1}: lines")
        p["lines"] = lines or 1
        granule, most_k = granule * p["lines"], most_k * p["lines"]
        need(0 < p["bits"] <= 1 << 53 and p["bits"] % granule == 0, f"part {i + 1}: bits")
        need(1 <= p["k"] <= most_k and p["k"] % p["lines"] == 0, f"part {i + 1}: k")
        need(p["capacity"] > 0 and 0 < p["rate"] <= 1, f"part {i + 1}: capacity or rate")
        p["marked"] = little(page[568 + 64 * i:572 + 64 * i]) if h["flags"] & 1024 else 0
        need(p["marked"] == 0 or p["marked"] == 1 and kind == EXACT and not h["dates"]
             and p["bits"] >= 1024, f"part {i + 1}: marks")
        if kind == STATIC:
            need(p["k"] == 3, f"part {i + 1}: k")
            need(p["bits"] == h["fuse"]["slots"] * h["fuse"]["width"], f"part {i + 1}: bits")
        need(p["offset"] == at, f"part {i + 1}: offset")
        need(p["length"] == (p["bits"] // 8 + 63) // 64 * 64, f"part {i + 1}: length")
        at += p["length"]
        table.append(p)
    if h["kind"] == PAIRED:
        need(table[1]["capacity"] == h["deletions"], "deletions")
    if h["kind"] == LAYERED:
        check_layers(h, table)
    elif h["kind"] not in (SCALABLE, PAIRED) and not h["exceptions"]:
        need(all((p["bits"], p["k"], p["lines"])
                 == (table[0]["bits"], table[0]["k"], table[0]["lines"]) for p in table),
             "part table")
    check_sizes(h, table)
    need(not h["flags"] & 512 or any(p["lines"] > 1 for p in table), "part table")
    need(not h["flags"] & 128 or any(p["origin"] for p in table), "part table")
    need(not h["flags"] & 1024 or any(p["marked"] for p in table), "part table")
    need(h["hash"] <= 2 or h["filters"] * table[0]["k"] <= 512, "part table")
    h["pieces_at"] = at
    pieces = sum(-(-p["length"] // PIECE) for p in table) if h["flags"] & 256 else 0
    need(at + 16 * pieces == h["file_len"], "file length")
    return table


def read_record(page, place):
    """The record; {} if it was never written, None if it is damaged."""
    data = page[3072 + 512 * place:][:512]
    if place == 1 and zeros(data):
        return {}
    if little(data[504:]) != xxh3(data[:504]) or data[296:304] != page[2560:2568]:
        return None
    names = "sequence state offered checksum time".split()
    r = dict(zip(names, struct.unpack_from("<QI4xQQQ", data)))
    r["keys"] = list(struct.unpack_from("<32Q", data, 40))
    names = "syncs unions carried_keys carried_lost removed refused familiar".split()
    r.update(zip(names, struct.unpack_from("<QQQdQQQ", data, 304)))
    r["hidden"] = little(data[432:440])
    turns, *r["starts"] = struct.unpack_from("<9Q", data, 360)
    r["clearing"], r["turns"] = bool(turns >> 63), turns & (1 << 63) - 1
    if not 0 <= r["carried_lost"] < math.inf:
        return None
    if not 0 < r["sequence"] < 1 << 63 or r["sequence"] % 2 != (place == 0):
        return None
    if r["state"] not in (SEALED, OPEN):
        return None
    return r


class File:
    """A file that passed every check except the checksum of its bodies (see integrity)."""

    def __init__(self, path, key=None, repair=False, now=0):
        with open(path, "rb") as file:
            data = file.read()
        self.header = h = read_header(data[:HEADER_LEN])
        records = [read_record(data, 0), read_record(data, 1)]
        for name, r in zip("AB", records):
            need(r is not None or repair, f"sync record {name} is damaged")
        written = [r for r in records if r]
        need(written, "both sync records are damaged")
        self.newest = max(written, key=lambda r: r["sequence"])
        self.sealed = self.newest["state"] == SEALED and None not in records
        need(len(data) >= h["file_len"], "cut short")
        need(len(data) <= h["file_len"], "bytes too many")
        need(key or not h["apart"], "the key is stored separately", "EMISMATCH")
        self.set_key(key or h["key"], "EMISMATCH" if key else "EFORMAT")
        self.bodies, self.pieces = data[HEADER_LEN:h["pieces_at"]], data[h["pieces_at"]:]
        self.parts = [Part(p["kind"], p["bits"], p["k"],
                           data[p["offset"]:p["offset"] + p["length"]], h["counter_bits"],
                           h["fuse"], h["generations"], h["dates"], p["marked"], p["lines"],
                           bool(h["flags"] & 2048))
                      for p in h["table"]]
        if h["kind"] == WINDOW and h["window_seconds"]:
            self.parts[0].living = self.living(now)

    def living(self, now):
        """A window by time: the generations that have started and not expired."""
        seconds, lines = self.header["window_seconds"], self.header["generations"] + 1
        step = -(-seconds // self.header["generations"])
        return [line for line, start in enumerate(self.newest["starts"][:lines])
                if start and now - start < step + seconds]

    def set_key(self, key, status):
        h = self.header
        words = h["filters"] * h["table"][0]["k"] if h["hash"] > 2 else 1
        self.hasher = Hasher(HASHES[h["hash"]], key, h["visit"], words, h["rules"],
                             h["kind"] == LAYERED)
        need(self.hasher.derive(5, 0) == h["key_check"], "key check", status)
        self.others = [Hasher(HASHES[h["hash"]], k, visit, 1, rules, False)
                       for k, visit, rules in h["sources"]]
        self.place = max(h["machine"], 1) - 1
        self.salts = [self.hasher.part_salt(self.place + i) for i in range(h["parts"])]

    def count(self, key):
        """spectral: how many times the key was added."""
        (h,) = self.hasher.numbers(key)
        return min(part.count(mix(h ^ self.salts[i]) if self.place + i else h)
                   for i, part in enumerate(self.parts))

    def days(self, key):
        """With dates: the first and the last day of a key, from the first part that has it."""
        (h,) = self.hasher.numbers(key)
        return next((days for days in (part.days(h) for part in self.parts) if any(days)), (0, 0))

    def part_contains(self, i, numbers):
        part, place = self.parts[i], self.place + i
        if len(numbers) > 1:
            return part.has_all(numbers[place * part.k:place * part.k + part.k])
        (h,) = numbers
        if place > 0 and self.header["kind"] != SCALABLE:
            h = mix(h ^ self.salts[i])
        return part.contains(h)

    # Layers

    def salt(self, index):
        return self.hasher.derive(6, self.hasher.first + index)

    def layer_has(self, layer, number):
        return any(part.contains(number) for part, p in zip(self.parts, self.header["table"])
                   if p["layer"] == layer)

    def cut(self, key):
        """The segments of a key, and the number of layers that they are dealt to."""
        h = self.header
        if h["words"]:
            words = key.split(bytes([h["delimiter"]]), 15)
            most = -(-len(words) // self.parts[0].k)
            return words, h["layers"] or min(most, 8)
        scheme = re.match(rb"[A-Za-z][A-Za-z0-9+.-]*://", key)
        stop = re.search(rb"[?#]", key)
        end = stop.start() if stop else len(key)
        cuts = [i for i in range(scheme.end() if scheme else 0, end) if key[i:i + 1] == b"/"]
        cuts = [0] + cuts[:h["layers"] - 1] + [len(key)]
        segments = [key[a:b] for a, b in zip(cuts, cuts[1:])]
        if h["paper"] and h["rules"] > 0:
            bare = segments[0][scheme.end() if scheme else 0:]
            segments = [bare] + [s[1:] for s in segments[1:]]
        return segments, len(segments)

    def in_layers(self, key):
        segments, layers = self.cut(key)
        h = [self.hasher.numbers(s)[0] for s in segments]
        if self.header["paper"]:
            return self.has_xor(h) and all(
                self.layer_has(t % layers + 1, number) for t, number in enumerate(h))
        first = 32 if self.header["words"] else 1
        mark = 0
        for t, number in enumerate(h):
            mark ^= mix(number ^ self.salt(first + t))
        if not self.header["words"]:
            h[-1] = self.hasher.numbers(re.split(rb"[?#]", segments[-1], 1)[0])[0]
        return self.parts[0].contains(mark) and all(
            self.layer_has(t % layers + 1, mix(number ^ self.salt(t % layers + 1)))
            for t, number in enumerate(h))

    def has_xor(self, hashes):
        """Mode paper: part 0."""
        part = self.parts[0]
        for j in range(part.k):
            numbers = [mix((h + (j + 1) * GOLDEN) & MASK64) for h in hashes]
            if self.header["rules"] > 0:
                at = functools.reduce(operator.xor, (mulhi(n, part.bits) for n in numbers))
                at %= part.bits
            else:
                at = mulhi(functools.reduce(operator.xor, numbers), part.bits)
            if not part.bit(at):
                return False
        return True

    def has_under(self, prefix):
        """Was any URL with this prefix added?"""
        segments = self.cut(re.split(rb"[?#]", prefix, 1)[0])[0]
        if len(segments) == self.header["layers"] or len(segments) > 1 and segments[-1] == b"/":
            segments.pop()
        return all(self.layer_has(t + 1, mix(self.hasher.numbers(s)[0] ^ self.salt(t + 1)))
                   for t, s in enumerate(segments))

    def contains(self, key):
        if self.header["kind"] == LAYERED:
            return self.in_layers(key)
        numbers = self.hasher.numbers(key)
        answers = (self.part_contains(i, numbers) for i in range(len(self.parts)))
        if self.header["kind"] == SCALABLE:
            rows = [numbers] + [other.numbers(key) for other in self.others]
            return any(self.part_contains(i, rows[max(p["origin"], 1) - 1])
                       for i, p in enumerate(self.header["table"]))
        if self.header["kind"] == PAIRED or self.header["exceptions"]:
            added, removed = answers
            return added and not removed
        return all(answers)

    def integrity(self):
        """"intact", "damaged", or "open" if there is no valid checksum."""
        if not self.sealed:
            return "open"
        checked = self.pieces if self.header["flags"] & 256 else self.bodies
        if xxh3(checked) != self.newest["checksum"]:
            return "damaged"
        return "intact" if not self.pieces or self.pieces == self.count_pieces() else "damaged"

    def count_pieces(self):
        """The piece table that belongs to the bodies."""
        table = []
        for part in self.parts:
            for at in range(0, len(part.body), PIECE):
                piece = part.body[at:at + PIECE]
                set_bits = bin(int.from_bytes(piece, "little")).count("1")
                table.append(struct.pack("<QQ", xxh3(piece), set_bits))
        return b"".join(table)

    def report(self):
        h, r = self.header, self.newest
        return {
            "kind": KINDS[h["kind"]], "part_kind": KINDS[h["part_kind"]],
            "hash": HASHES[h["hash"]], "filters": h["filters"], "capacity": h["capacity"],
            "rate": h["rate"], "growth": h["growth"], "profile": h["profile"], "url_rules": h["url_rules"],
            "tightening": h["tightening"], "visit": h["visit"], "key_apart": h["apart"],
            "seeded": h["seeded"], "file_len": h["file_len"], "rules": h["rules"],
            "parts": [dict(p, keys=r["keys"][i], in_use=self.parts[i].in_use())
                      for i, p in enumerate(h["table"])],
            "sequence": r["sequence"], "state": "sealed" if self.sealed else "open",
            "offered": r["offered"], "syncs": r["syncs"], "time": r["time"],
            "visits_before": h["visits_before"], "missed": h["missed"],
            "last_lost": h["last_lost"], "last_distinct": h["last_distinct"],
            "folds": h["folds"], "unions": r["unions"], "carried_keys": r["carried_keys"],
            "carried_lost": r["carried_lost"],
            "counter_bits": h["counter_bits"], "minimal_increase": bool(h["flags"] & 4),
            "spread": bool(h["flags"] & 2048),
            "removed": r["removed"], "refused": r["refused"], "familiar": r["familiar"],
            "multiplier": h["multiplier"], "own_k": bool(h["flags"] & 32),
            "dates": h["dates"], "piece_table": bool(h["flags"] & 256), "deletions": h["deletions"], "hidden": r["hidden"],
            "exceptions": h["exceptions"],
            "generations": h["generations"], "window_seconds": h["window_seconds"],
            "turns": r["turns"], "clearing": r["clearing"], "starts": r["starts"],
            "generation_keys": r["keys"][:h["generations"] + 1], "told_new": r["keys"][8],
            "bodies": self.integrity(),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("keys", nargs="?")
    parser.add_argument("--key", type=bytes.fromhex, help="64 hexadecimal digits")
    parser.add_argument("--repair", action="store_true", help="trust one record alone")
    args = parser.parse_args()
    try:
        file = File(args.file, args.key, args.repair)
    except Refused as why:
        print(json.dumps({"refused": str(why), "status": why.status}))
        return 1
    report = file.report()
    if args.keys:
        with open(args.keys, "rb") as lines:
            report["contains"] = [file.contains(key) for key in lines.read().split(b"\n")[:-1]]
    print(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
