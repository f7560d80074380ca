"""reader_agrees - the library agrees with the reader that was written from docs/format.md.

It compares the golden files; new files of every kind and hash, at rates so high that both have
many, and the same, false positives; files with a flipped bit, which both refuse; and the examples
on the page itself."""

import ctypes
import os
import random
import re
from pathlib import Path

import reader

SOURCE, LIBRARY = Path(os.environ["SOURCE"]), os.environ["LIBDEJA"]
GOLDENS = [SOURCE / "tests/format/golden" / version for version in ("v1", "v2")]
GOLDEN = GOLDENS[0]
APART = bytes(range(0x10)) + bytes(range(0xF0, 0x100))
STATUS = {-4: "EFORMAT", -5: "EVERSION", -9: "EMISMATCH", -10: "EBUSY"}
OPEN_WRITE, OPEN_REPAIR, KEY_APART, MINIMAL_INCREASE, PAPER, WORDS, DATES, SPREAD = 1, 4, 1, 2, 4, 8, 16, 32


# --- The library ----------------------------------------------------------------


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kind", ctypes.c_uint32), ("hashes", ctypes.c_uint32),
                ("capacity", ctypes.c_uint64), ("fp_rate", ctypes.c_double),
                ("key", ctypes.c_char_p), ("seed", ctypes.c_uint64), ("alloc", ctypes.c_void_p),
                ("memory", ctypes.c_uint64), ("multiplier", ctypes.c_double),
                ("filters", ctypes.c_uint32), ("hash", ctypes.c_uint32),
                ("part_kind", ctypes.c_uint32), ("growth", ctypes.c_uint32),
                ("tightening", ctypes.c_double), ("url", ctypes.c_void_p),
                ("flags", ctypes.c_uint32), ("counter_bits", ctypes.c_uint32),
                ("fingerprint_bits", ctypes.c_uint32), ("layers", ctypes.c_uint32),
                ("delimiter", ctypes.c_uint32), ("generations", ctypes.c_uint32),
                ("window_seconds", ctypes.c_uint64), ("deletions", ctypes.c_uint64),
                ("format", ctypes.c_uint64), ("cache_lines", ctypes.c_uint64),
                ("machine", ctypes.c_uint64)]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Options), **fields)


class Slice(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class Days(ctypes.Structure):
    _fields_ = [("first", ctypes.c_uint16), ("last", ctypes.c_uint16)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 252)]


lib = ctypes.CDLL(LIBRARY)
for name, arguments in {
        "deja_filter_create": [ctypes.c_char_p, ctypes.c_uint, ctypes.POINTER(Options),
                               ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)],
        "deja_filter_open": [ctypes.c_char_p, ctypes.c_uint, ctypes.POINTER(Options),
                             ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)],
        "deja_filter_add": [ctypes.c_void_p, Slice, ctypes.c_void_p, ctypes.POINTER(Error)],
        "deja_filter_contains": [ctypes.c_void_p, Slice],
        "deja_filter_days": [ctypes.c_void_p, Slice, ctypes.POINTER(Days), ctypes.POINTER(Error)],
        "deja_filter_expire": [ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(ctypes.c_uint64),
                               ctypes.POINTER(Error)],
        "deja_filter_prefix_batch": [ctypes.c_void_p, ctypes.POINTER(Slice), ctypes.c_size_t,
                                     ctypes.POINTER(ctypes.c_uint8), ctypes.POINTER(Error)],
        "deja_builder_new": [ctypes.POINTER(Options), ctypes.POINTER(ctypes.c_void_p),
                             ctypes.POINTER(Error)],
        "deja_builder_except_batch": [ctypes.c_void_p, ctypes.POINTER(Slice), ctypes.c_size_t,
                                      ctypes.c_uint, ctypes.POINTER(Error)],
        "deja_builder_add_batch": [ctypes.c_void_p, ctypes.POINTER(Slice), ctypes.c_size_t,
                                   ctypes.POINTER(Error)],
        "deja_builder_finish": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint,
                                ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(Error)],
        "deja_builder_free": [ctypes.c_void_p],
        "deja_filter_remove": [ctypes.c_void_p, Slice, ctypes.c_void_p, ctypes.POINTER(Error)],
        "deja_filter_count": [ctypes.c_void_p, Slice, ctypes.POINTER(ctypes.c_uint64),
                              ctypes.POINTER(Error)],
        "deja_filter_sync": [ctypes.c_void_p, ctypes.POINTER(Error)],
        "deja_filter_merge": [ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(Error)],
        "deja_filter_fold": [ctypes.c_void_p, ctypes.c_uint32, ctypes.POINTER(Error)],
        "deja_filter_rotate": [ctypes.c_void_p, ctypes.POINTER(Options), ctypes.POINTER(Error)],
        "deja_filter_set_clock": [ctypes.c_void_p, ctypes.c_uint64, ctypes.POINTER(Error)],
        "deja_filter_free": [ctypes.c_void_p],
        "deja_file_verify": [ctypes.c_char_p, ctypes.POINTER(Error)]}.items():
    getattr(lib, name).argtypes = arguments
lib.deja_filter_contains.restype = ctypes.c_bool
lib.deja_filter_free.restype = lib.deja_builder_free.restype = None
lib.deja_url_profile.restype = ctypes.c_void_p


class Filter:
    """A library filter, called through ctypes, with only the calls that this test needs."""

    def __init__(self, call, path, how, **options):
        self.handle, err = ctypes.c_void_p(), Error()
        self.status = call(os.fsencode(path), how, Options(**options), self.handle, err)
        self.text = err.text.decode()

    def add(self, keys):
        for key in keys:
            assert lib.deja_filter_add(self.handle, Slice(key, len(key)), None, None) == 0

    def contains(self, key):
        return lib.deja_filter_contains(self.handle, Slice(key, len(key)))

    def remove(self, keys):
        """How many of them were removed."""
        answer, sum_ = ctypes.c_bool(), 0
        for key in keys:
            assert lib.deja_filter_remove(self.handle, Slice(key, len(key)),
                                          ctypes.byref(answer), None) == 0
            sum_ += answer.value
        return sum_

    def count(self, key):
        answer = ctypes.c_uint64()
        assert lib.deja_filter_count(self.handle, Slice(key, len(key)), answer, None) == 0
        return answer.value

    def days(self, key):
        answer = Days()
        assert lib.deja_filter_days(self.handle, Slice(key, len(key)), answer, None) == 0
        return answer.first, answer.last

    def set_clock(self, seconds):
        assert lib.deja_filter_set_clock(self.handle, seconds, None) == 0

    def has_under(self, prefix):
        found = ctypes.c_uint8()
        assert lib.deja_filter_prefix_batch(self.handle, Slice(prefix, len(prefix)), 1, found,
                                            None) == 0
        return bool(found.value)

    def sync(self):
        assert lib.deja_filter_sync(self.handle, None) == 0

    def free(self):
        lib.deja_filter_free(self.handle)


def create(path, profile=0, **options):
    if profile:
        options["url"] = lib.deja_url_profile(profile)
    f = Filter(lib.deja_filter_create, path, 0, **options)
    assert f.status == 0, (options, f.text)
    return f


def library_says(path, flags=0, key=None):
    """None, or the status with which open fails."""
    f = Filter(lib.deja_filter_open, path, flags, key=key)
    if f.status == 0:
        f.free()
        return None
    return STATUS.get(f.status, f.status)


def reader_says(path, repair=False, key=None):
    try:
        reader.File(path, key, repair)
        return None
    except reader.Refused as why:
        return why.status


def verified(path):
    return {0: "intact", -4: "damaged", -10: "open"}[lib.deja_file_verify(os.fsencode(path), None)]


def read_keys(path):
    return path.read_bytes().split(b"\n")[:-1]


# --- Tests ------------------------------------------------------------------------

chance = random.Random(1)


def make_keys(n):
    """Keys of all lengths up to 20, around the lengths at which hashing changes, and some long ones."""
    lengths = list(range(21)) + [31, 32, 33, 63, 64, 65, 127, 128, 129, 239, 240, 241, 256, 600]
    keys = {chance.randbytes(lengths[i] if i < len(lengths) else chance.randrange(8, 100))
            for i in range(n)}
    return sorted(keys)


def make_urls(n):
    """URLs with shared segments, with and without scheme, queries, deep paths, empty segments."""
    urls = set()
    while len(urls) < n:
        scheme = chance.choice([b"http://", b"https://", b"", b"a+b.c-1://", b"1://", b"x:", b"://"])
        path = b"/".join(b"%x" % chance.randrange(chance.choice([1, 3, 9])) * chance.randrange(3)
                         for _ in range(chance.randrange(1, 13)))
        urls.add(scheme + path + chance.choice([b"", b"", b"/", b"?q=/1", b"#f/", b"?"]))
    return sorted(urls)


def compare(path, keys, key=None, now=0):
    """Both must agree about every key; returns how many they contain."""
    file = reader.File(path, key, now=now)
    f = Filter(lib.deja_filter_open, path, 0, key=key)
    assert f.status == 0, f.text
    if now:
        f.set_clock(now)
    ours = [f.contains(k) for k in keys]
    theirs = [file.contains(k) for k in keys]
    f.free()
    assert ours == theirs, (path, [k for k, a, b in zip(keys, ours, theirs) if a != b][:3])
    assert file.integrity() == verified(path), path
    return sum(ours)


def golden_files_agree():
    for folder in GOLDENS:
        folder_agrees(folder)


def folder_agrees(folder):
    members, others = (read_keys(folder / f"{name}.txt") for name in ("members", "strangers"))
    files = sorted(folder.glob("*.deja"))
    assert len(files) >= 20, files
    for path in files:
        key = APART if path.stem == "key_apart" else None
        report = reader.File(path, key).report()
        n = min(120 if path.stem == "open" else report["offered"], len(members))
        now = 1700000000 if report["kind"] == "window" else 0
        assert compare(path, members[:n], key, now) == n - report["removed"], path
        assert compare(path, others, key, now) == 0, path
        if path.stem == "window_time":
            assert compare(path, members[:n], key, now + 7199) == n, path
            assert compare(path, members[:n], key, now + 7200) == 0, path
        assert report["bodies"] == ("open" if path.stem == "open" else "intact"), report


FRESH = {
    "blocked": dict(kind=2, fp_rate=0.2),
    "blocked_k1": dict(kind=2, fp_rate=0.2, hashes=1),
    "blocked_k16": dict(kind=2, fp_rate=0.01, hashes=16),
    "blocked_3": dict(kind=2, fp_rate=0.1, filters=3),
    "blocked_siphash": dict(kind=2, fp_rate=0.2, hash=2),
    "classic": dict(kind=1, fp_rate=0.2),
    "classic_k1": dict(kind=1, fp_rate=0.2, hashes=1),
    "classic_4": dict(kind=1, fp_rate=0.1, filters=4),
    "classic_siphash": dict(kind=1, fp_rate=0.2, hash=2),
    "jenkins": dict(kind=1, fp_rate=0.1, hash=3),
    "jenkins_k1": dict(kind=1, fp_rate=0.2, hash=3, hashes=1),
    "jenkins_3": dict(kind=1, fp_rate=0.1, hash=3, filters=3),
    "murmur2": dict(kind=1, fp_rate=0.1, hash=4),
    "murmur3": dict(kind=1, fp_rate=0.1, hash=5),
    "murmur3_2_k1": dict(kind=1, fp_rate=0.1, hash=5, filters=2, hashes=1),
    "md5": dict(kind=1, fp_rate=0.1, hash=6),
    "sha1": dict(kind=1, fp_rate=0.1, hash=7),
    "mixed": dict(kind=1, fp_rate=0.1, hash=8, hashes=6),
    "mixed_2": dict(kind=1, fp_rate=0.1, hash=8, hashes=4, filters=2),
    "exact": dict(kind=9),
    "exact_crowded": dict(kind=9, capacity=232),  # 270 keys in 296 slots
    "exact_siphash": dict(kind=9, hash=2),
    "exact_dates": dict(kind=9, flags=DATES),
    "exact_dates_crowded": dict(kind=9, capacity=232, flags=DATES),
    "scalable_dates": dict(kind=6, part_kind=9, capacity=30, flags=DATES),
    "spectral": dict(kind=4, fp_rate=0.2),
    "spectral_k16": dict(kind=4, fp_rate=0.2, hashes=16),
    "spectral_3": dict(kind=4, fp_rate=0.1, filters=3),
    "spectral_8": dict(kind=4, fp_rate=0.2, counter_bits=8),
    "spectral_16": dict(kind=4, fp_rate=0.2, counter_bits=16, flags=MINIMAL_INCREASE),
    "spectral_32": dict(kind=4, fp_rate=0.2, counter_bits=32, hash=2),
    "spectral_32_k16": dict(kind=4, fp_rate=0.2, counter_bits=32, hashes=16),
    "spread": dict(kind=4, fp_rate=0.2, flags=SPREAD),
    "spread_k64": dict(kind=4, fp_rate=0.2, hashes=64, flags=SPREAD),
    "spread_3": dict(kind=4, fp_rate=0.1, filters=3, counter_bits=8, hash=2, flags=SPREAD),
    "spread_32": dict(kind=4, fp_rate=0.2, counter_bits=32, flags=SPREAD | MINIMAL_INCREASE),
    "paired": dict(kind=5, fp_rate=0.2, deletions=40),
    "paired_siphash": dict(kind=5, fp_rate=0.2, hash=2),
    "layered": dict(kind=3, fp_rate=0.3),
    "layered_2": dict(kind=3, fp_rate=0.3, layers=2, hash=2),
    "layered_10": dict(kind=3, fp_rate=0.3, layers=10),
    "layered_paper": dict(kind=3, fp_rate=0.3, layers=4, flags=PAPER),
    "layered_paper_k1": dict(kind=3, fp_rate=0.3, hashes=1, flags=PAPER),
    "layered_words": dict(kind=3, fp_rate=0.3, flags=WORDS, delimiter=0x2f),
    "layered_words_3": dict(kind=3, fp_rate=0.3, flags=WORDS, delimiter=0x2f, layers=3),
    "layered_words_k1": dict(kind=3, fp_rate=0.3, flags=WORDS, delimiter=0x2f, hashes=1),
    "layered_words_paper": dict(kind=3, fp_rate=0.3, flags=WORDS | PAPER, delimiter=0x2f),
    "scalable": dict(kind=6, capacity=30, fp_rate=0.2, growth=2),
    "scalable_classic": dict(kind=6, part_kind=1, capacity=30, fp_rate=0.2, growth=3),
    "scalable_exact": dict(kind=6, part_kind=9, capacity=30),
    "window": dict(kind=7, fp_rate=0.2),
    "window_7": dict(kind=7, fp_rate=0.2, generations=7, hash=2),
    "window_k16": dict(kind=7, fp_rate=0.2, generations=2, hashes=16),
    "apart": dict(kind=2, fp_rate=0.2, key=APART, flags=KEY_APART, profile=3),
    "blocked_v1": dict(kind=2, fp_rate=0.2, format=1),
    "jenkins_v1": dict(kind=1, fp_rate=0.1, hash=3, format=1),
    "mixed_v1": dict(kind=1, fp_rate=0.1, hash=8, hashes=6, format=1),
    "layered_v1": dict(kind=3, fp_rate=0.2, layers=4, format=1),
    "layered_paper_v1": dict(kind=3, fp_rate=0.2, layers=4, flags=PAPER, format=1),
    "two_lines": dict(kind=2, fp_rate=0.2, cache_lines=2),
    "three_lines": dict(kind=2, fp_rate=0.2, cache_lines=3),
    "machine_1": dict(kind=2, fp_rate=0.1, filters=3, machine=1),
    "machine_3": dict(kind=1, fp_rate=0.1, filters=3, machine=3),
    "machine_2_spectral": dict(kind=4, fp_rate=0.1, filters=2, machine=2),
    "machine_2_sha1": dict(kind=1, fp_rate=0.1, filters=3, hash=7, machine=2),
    "multiplier": dict(kind=1, hash=4, hashes=3, multiplier=1.5),
}


def fresh_files_agree(name, options):
    options = dict(options)
    options.setdefault("capacity", 300)
    if "key" not in options:
        options["seed"] = chance.randrange(1, 1 << 64)
    path, keys = name + ".deja", make_urls(900) if options["kind"] == 3 else make_keys(900)
    chance.shuffle(keys)
    members, late, others = keys[:250], keys[250:270], keys[270:]
    key = options.get("key")
    f = create(path, **options)
    f.add(members)
    f.sync()
    assert compare(path, members, key) == len(members), name
    claims = compare(path, others, key)
    is_exact = 9 in (options["kind"], options.get("part_kind"))
    assert (claims == 0) == is_exact, (name, claims)
    f.add(late)  # a writer has it open; these are not synced
    assert compare(path, late, key) == len(late), name
    report = reader.File(path, key).report()
    # Layers that grew and windows that turned wrote a record, with the number of keys so far.
    offered = range(len(members), len(members) + len(late) + 1)
    assert report["state"] == "open" and report["offered"] in offered, report
    assert options["kind"] in (3, 7) or report["offered"] == len(members), report
    f.sync()
    f.free()
    report = reader.File(path, key).report()
    assert report["bodies"] == "intact" and report["offered"] == len(members) + len(late), report
    profile = options.get("profile", 0)
    assert report["syncs"] == 2 and report["profile"] == profile, report
    rules = [reader.url_rules(profile, 1, idna) for idna in (0, 1)] if profile else [0]
    assert report["url_rules"] in rules, report
    assert report["kind"] == reader.KINDS[options["kind"]], report
    parts = len(report["parts"])
    expected = 2 if options["kind"] == 5 else 1 if "machine" in options else options.get("filters", 1)
    assert parts > 1 if options["kind"] in (3, 6) else parts == expected, report
    return claims


def prefixes_agree(layers):
    """Returns the number of false positives."""
    path, keys = f"prefixes_{layers}.deja", make_urls(1200)
    chance.shuffle(keys)
    f = create(path, kind=3, layers=layers, capacity=100, fp_rate=0.3, seed=6)
    f.add(keys[:150])
    f.sync()
    file = reader.File(path)
    ours, theirs = [f.has_under(k) for k in keys], [file.has_under(k) for k in keys]
    assert ours == theirs, [k for k, a, b in zip(keys, ours, theirs) if a != b][:3]
    assert all(ours[:150]), path
    f.free()
    return sum(ours[150:])


def counts_agree(bits, filters, flags=0):
    """Adds keys up to 20 times and removes some; 4-bit counters saturate at 15."""
    path, keys = f"counts_{bits}_{filters}_{flags}.deja", make_keys(300)
    f = create(path, kind=4, counter_bits=bits, filters=filters, capacity=300, fp_rate=0.2, seed=5,
               flags=flags)
    for i, key in enumerate(keys[:200]):
        f.add([key] * (i % 21))
    removed = f.remove(keys[:250:3])
    f.sync()
    file = reader.File(path)
    assert [f.count(k) for k in keys] == [file.count(k) for k in keys], path
    report = file.report()
    assert (report["removed"], report["refused"]) == (removed, 84 - removed), report
    assert report["bodies"] == "intact" and report["counter_bits"] == bits, report
    assert report["spread"] == bool(flags), report
    f.free()


def removals_agree(**options):
    """Removes keys and adds some again: those stay absent, and so do some others by mistake."""
    path, keys = f"removals_{options}.deja", make_keys(900)
    chance.shuffle(keys)
    f = create(path, kind=5, fp_rate=0.2, seed=chance.randrange(1, 1 << 64), **options)
    f.add(keys[:500])
    removed = f.remove(keys[300:700])
    f.add(keys[400:500])
    f.sync()
    found = compare(path, keys)
    file = reader.File(path)
    report = file.report()
    hidden = sum(file.part_contains(1, file.hasher.numbers(k)) for k in keys[400:500])
    assert (report["removed"], report["refused"]) == (removed, 400 - removed), report
    assert report["hidden"] == hidden and report["bodies"] == "intact", report
    assert report["parts"][1]["keys"] == removed, report
    kept = sum(file.contains(k) for k in keys[:300])
    assert 0 < kept < 300 and found > kept, (kept, found)  # it forgets
    f.free()


def windows_agree(generations, seconds):
    """Both remember and forget the same keys, which arrive in six waves."""
    path, keys = f"waves_{generations}_{seconds}.deja", make_keys(1200)
    chance.shuffle(keys)
    f = create(path, kind=7, generations=generations, window_seconds=seconds, capacity=300,
               fp_rate=0.1, seed=chance.randrange(1, 1 << 64))
    now, remembered = 1700000000, []
    for wave in range(6):
        f.set_clock(now)
        f.add(keys[150 * wave:150 * wave + 150])
        f.add(keys[:20])  # these are renewed
        f.sync()
        file = reader.File(path, now=now)
        remembered.append(compare(path, keys, now=now))
        report = file.report()
        assert report["bodies"] == "intact" and not report["clearing"], report
        assert report["offered"] == 170 * (wave + 1), report
        assert report["starts"][report["turns"] % (generations + 1)] <= now, report
        now += 70
    f.free()
    assert file.report()["turns"] >= 2, file.report()
    assert remembered[5] < remembered[2] + 150, remembered  # it has forgotten
    assert sum(file.contains(key) for key in keys[:20]) == 20


def marks_agree():
    """A large exact filter at capacity, where lines are full and searches follow their marks."""
    path, n = "marks.deja", 27000
    keys = [b"%d" % i for i in range(2 * n)]
    f = create(path, kind=9, capacity=n, seed=7)
    f.add(keys[:n])
    f.sync()
    f.free()
    assert compare(path, keys[:n]) == n and compare(path, keys[n:]) == 0
    (part,) = reader.File(path).parts
    marks = sum(part.body[at] & 1 for at in range(0, len(part.body), 8))
    assert part.marked and marks > n // 20, marks


def days_agree(**options):
    """Keys are added on several days, some of them again; then the oldest ones expire."""
    path, keys = f"days_{options['kind']}.deja", make_keys(600)
    chance.shuffle(keys)
    f = create(path, flags=DATES, seed=chance.randrange(1, 1 << 64), **options)
    for day, some in ((100, keys[:200]), (120, keys[100:300]), (65535, keys[250:400])):
        f.set_clock(day * 86400)
        f.add(some)
    f.sync()
    file = reader.File(path)
    assert [f.days(k) for k in keys] == [file.days(k) for k in keys], path
    assert {file.days(k) for k in keys} == {(0, 0), (100, 100), (100, 120), (120, 120),
                                            (120, 65535), (65535, 65535)}
    assert lib.deja_filter_expire(f.handle, 120, None, None) == 0
    file = reader.File(path)
    assert [f.days(k) for k in keys] == [file.days(k) for k in keys], path
    assert file.integrity() == "intact" and sum(map(file.contains, keys)) == 300, path
    f.free()


def static_files_agree(n, width, **options):
    """Returns the number of false positives."""
    path, keys = f"static_{n}_{width}.deja", make_keys(n + 2000)
    chance.shuffle(keys)
    members, others = keys[:n], keys[n:]
    b, f, err = ctypes.c_void_p(), ctypes.c_void_p(), Error()
    options = Options(kind=8, fingerprint_bits=width, seed=chance.randrange(1, 1 << 64), **options)
    assert lib.deja_builder_new(options, b, err) == 0, err.text
    for key in members + members[:n // 3]:
        assert lib.deja_builder_add_batch(b, Slice(key, len(key)), 1, None) == 0
    assert lib.deja_builder_finish(b, os.fsencode(path), 0, f, err) == 0, err.text
    assert lib.deja_filter_sync(f, None) == 0
    lib.deja_filter_free(f)
    lib.deja_builder_free(b)
    assert compare(path, members) == n, path
    report = reader.File(path).report()
    assert report["offered"] == n + n // 3 and report["parts"][0]["keys"] == n, report
    assert report["parts"][0]["in_use"] == n * width, report
    claims = compare(path, others)
    assert n > 0 or claims == 0
    return claims


def exceptions_agree():
    """A static filter with exceptions: its second part is a table."""
    path, keys = "except.deja", make_keys(6000)
    chance.shuffle(keys)
    members, allowed, others = keys[:1000], keys[900:5000], keys[5000:]
    b, f, err = ctypes.c_void_p(), ctypes.c_void_p(), Error()
    options = Options(kind=8, fingerprint_bits=8, seed=chance.randrange(1, 1 << 64))
    assert lib.deja_builder_new(options, b, err) == 0, err.text
    for key in members:
        assert lib.deja_builder_add_batch(b, Slice(key, len(key)), 1, None) == 0
    for key in allowed:
        assert lib.deja_builder_except_batch(b, Slice(key, len(key)), 1, 0, None) == 0
    assert lib.deja_builder_finish(b, os.fsencode(path), 0, f, err) == 0, err.text
    assert lib.deja_filter_sync(f, None) == 0
    lib.deja_filter_free(f)
    lib.deja_builder_free(b)
    assert compare(path, members[:900]) == 900
    assert compare(path, allowed) == 0
    compare(path, others)
    report = reader.File(path).report()
    assert report["exceptions"] == report["parts"][1]["keys"] == report["parts"][1]["in_use"] > 0


def folds_unions_and_visits_agree():
    keys = make_keys(900)
    chance.shuffle(keys)
    members, more, others = keys[:250], keys[250:400], keys[400:]
    for kind, filters, lines in ((1, 1, 0), (1, 3, 0), (2, 1, 1), (2, 2, 1), (2, 2, 2)):
        path, other = f"folded_{kind}_{filters}_{lines}.deja", "other.deja"
        options = dict(kind=kind, memory=2048 * filters, capacity=400, filters=filters,
                       cache_lines=lines,
                       seed=chance.randrange(1, 1 << 64))
        f = create(path, **options)
        f.add(members)
        f.sync()
        assert lib.deja_filter_fold(f.handle, 2, None) == 0
        assert compare(path, members) == len(members), path
        claims = compare(path, others)
        report = reader.File(path).report()
        assert report["folds"] == 2 and report["bodies"] == "intact", report
        assert report["parts"][0]["bits"] == 4096 and report["carried_keys"] > 0, report
        large = create(other, **options)
        large.add(more)
        assert lib.deja_filter_merge(f.handle, large.handle, None) == 0
        f.sync()
        large.free()
        assert compare(path, members + more) == len(members + more), path
        report = reader.File(path).report()
        assert report["unions"] == 1 and report["offered"] == len(members + more), report
        assert lib.deja_filter_rotate(f.handle, Options(fp_rate=0.3), None) == 0
        report = reader.File(path).report()
        assert report["visit"] == 2 and report["visits_before"] == 1, report
        assert report["folds"] == 0 and report["offered"] == 0 and report["last_distinct"], report
        f.add(more)
        f.sync()
        f.free()
        assert compare(path, more) == len(more), path
        claims += compare(path, members + others)
        assert claims > 0, path


def random_damage_is_refused_alike(path):
    path, broken = Path(path), Path("broken.deja")
    sound = path.read_bytes()
    for i in range(600):
        bit = chance.randrange(8 * 4096) if i % 2 else chance.randrange(8 * len(sound))
        data = bytearray(sound)
        data[bit // 8] ^= 1 << bit % 8
        broken.write_bytes(data[:chance.randrange(len(data))] if i % 10 == 0 else data)
        for repair in (False, True):
            ours = library_says(broken, OPEN_REPAIR if repair else 0)
            theirs = reader_says(broken, repair)
            assert ours == theirs, (bit, repair, ours, theirs)
        if library_says(broken) is None:
            assert reader.File(broken).integrity() == verified(broken) == "damaged", bit


def wrong_keys_are_refused_alike():
    for key in (None, APART, APART[::-1]):
        ours, theirs = library_says("apart.deja", key=key), reader_says("apart.deja", key=key)
        assert ours == theirs == (None if key == APART else "EMISMATCH"), (key, ours, theirs)


# --- The page ---------------------------------------------------------------------


def table_after(page, words):
    rows = re.findall(r"^\|(.*)\|$", page[page.index(words):].split("\n\n", 2)[1], re.M)
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", row)] for row in rows[2:]]


def values_of_the_page_are_right(page):
    key, salt = b"https://example.com/", reader.u64(0x0123456789ABCDEF)
    values = [value for _, value in table_after(page, "Test values for an implementation")]
    functions = [reader.jenkins, reader.murmur2, reader.murmur3, reader.md5, reader.sha1]
    assert [int(v, 16) for v in values] == [
        reader.siphash(bytes(range(16)), key), reader.xxh3(key),
        reader.xxh3_seed(key, 0x0123456789ABCDEF)] + [f(salt + key) for f in functions], values


def dump_of_the_page_is_the_file(page):
    data, at, skip = (GOLDEN / "tiny.deja").read_bytes(), 0, False
    dump = page[page.index("## A worked example"):].split("```")[1].strip().splitlines()
    for line in dump:
        if line == "*":
            skip = True
            continue
        offset, *digits = line.split("  |")[0].split()
        if skip:
            assert not any(data[at:int(offset, 16)]), line
        else:
            assert int(offset, 16) == at, line
        at, skip = int(offset, 16) + len(digits), False
        assert data[int(offset, 16):at] == bytes.fromhex("".join(digits)), line
    assert at == len(data), at


def trace_of_the_page_is_right(page):
    file = reader.File(GOLDEN / "tiny.deja")
    (h,) = file.hasher.numbers(b"https://example.com/")
    trace = page[page.index("## A worked example"):].split("```")[3]
    assert f"h      = {h:#018x}" in trace, hex(h)
    places = [divmod(at, 8) for at in file.parts[0].places(h)]
    assert len(places) == 4
    for byte, bit in places:
        assert f"byte {4096 + byte:#06x} bit {bit}" in trace, (hex(4096 + byte), bit)


golden_files_agree()
print("golden files: agreed")
for name, options in FRESH.items():
    print(f"{name}: agreed, {fresh_files_agree(name, options)} false positives")
for width in (4, 8, 16, 32):
    for some in (1, 2):
        counts_agree(width, some)
        counts_agree(width, some, SPREAD)
print("counts: agreed")
removals_agree(capacity=500)
removals_agree(capacity=500, deletions=100)
print("removals: agreed")
print("prefixes: agreed, false positives:", [prefixes_agree(n) for n in (2, 5, 10)])
folds_unions_and_visits_agree()
print("folds, unions, visits: agreed")
claims = {f"{n} keys of {w} bits": static_files_agree(n, w, hash=1 + n % 2)
          for n in (0, 1, 2, 7, 100, 3000) for w in (8, 16, 32)}
assert any(claims.values()), claims
print("static: agreed, false positives:", claims)
exceptions_agree()
print("static with exceptions: agreed")
for seconds in (0, 100):
    for generations in (1, 2, 5):
        windows_agree(generations, seconds)
print("windows: agreed")
marks_agree()
print("marks: agreed")
days_agree(kind=9, capacity=450)
days_agree(kind=6, part_kind=9, capacity=30)
print("days: agreed")
random_damage_is_refused_alike("classic.deja")
random_damage_is_refused_alike("scalable_dates.deja")
random_damage_is_refused_alike("window_k16.deja")
random_damage_is_refused_alike("static_100_8.deja")
random_damage_is_refused_alike("except.deja")
random_damage_is_refused_alike("marks.deja")
random_damage_is_refused_alike("layered.deja")
random_damage_is_refused_alike("layered_words_paper.deja")
wrong_keys_are_refused_alike()
print("damage: refused alike")
text = (SOURCE / "docs/format.md").read_text()
values_of_the_page_are_right((SOURCE / "docs/format/hashes.md").read_text())
dump_of_the_page_is_the_file(text)
trace_of_the_page_is_right(text)
print("docs/format.md: its examples are right")
