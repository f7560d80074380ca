"""sieve_agrees - the library and the reader that was written from docs/sieve.md agree on sieves: the
golden one, which an earlier deja wrote, and a new one."""

import ctypes
import os
import shutil
from pathlib import Path

import sieve_reader

SOURCE = Path(os.environ["SOURCE"])
lib = ctypes.CDLL(os.environ["LIBDEJA"])
OPEN_WRITE, OPEN_CREATE, NO_THREAD = 1, 8, 0x10000


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int), ("text", ctypes.c_char * 252)]


class Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("memory", ctypes.c_uint64), ("key", ctypes.c_char_p),
                ("seed", ctypes.c_uint64), ("url", ctypes.c_void_p), ("alloc", ctypes.c_void_p),
                ("flags", ctypes.c_uint32), ("reserved", ctypes.c_uint32)]


class Slice(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("len", ctypes.c_size_t)]


class Fingerprint(ctypes.Structure):
    _fields_ = [("hash", ctypes.c_uint64), ("check", ctypes.c_uint32), ("tag", ctypes.c_uint32)]


def opened(path, flags, memory=1 << 20):
    s, err = ctypes.c_void_p(), Error()
    opt = Options(ctypes.sizeof(Options), memory, None, 1, None, None, NO_THREAD, 0)
    rc = lib.deja_sieve_open(os.fsencode(path), flags, ctypes.byref(opt), ctypes.byref(s), ctypes.byref(err))
    assert rc == 0, err.text
    return s


def prints(s, keys):
    out = (Fingerprint * len(keys))()
    slices = (Slice * len(keys))(*[Slice(k, len(k)) for k in keys])
    lib.deja_sieve_hash_batch(s, slices, ctypes.c_size_t(len(keys)), out)
    return out, slices


def contained(s, keys):
    out, _ = prints(s, keys)
    found, err = (ctypes.c_uint8 * len(keys))(), Error()
    assert lib.deja_sieve_contains(s, out, ctypes.c_size_t(len(keys)), found, ctypes.byref(err)) == 0, err.text
    return list(found), [(p.hash, p.check) for p in out]


def compare(path, keys):
    """Both find these keys, and only these; returns what the reader found."""
    strangers = [b"never " + k for k in keys[:200]]
    mine = sieve_reader.Sieve(path)
    s = opened(path, 0)
    found, own = contained(s, keys + strangers)
    assert found == [1] * len(keys) + [0] * len(strangers)
    for key, want in list(zip(keys, own))[::max(1, len(keys) // 200)]:
        assert mine.fingerprint(key) == want, key
    assert mine.runs | mine.log == set(own[:len(keys)]) and mine.runs
    lib.deja_sieve_free(s)
    assert lib.deja_sieve_verify(os.fsencode(path), None) == 0
    return mine


golden_keys = [b"https://example.com/%d" % i for i in range(400)]
shutil.copytree(SOURCE / "tests/format/golden/sieve", "golden")
golden = compare("golden", golden_keys)
assert [(t, r) for _, _, t, r in golden.spool] == [(1000 + i, golden_keys[i]) for i in range(40)]
writer = opened("golden", OPEN_WRITE)  # and a writer can continue
assert lib.deja_sieve_settle(writer, None) == 0
lib.deja_sieve_free(writer)

keys = [b"%d%s" % (i * i, b"x" * (i % 40)) for i in range(30000)]
s, err, verdicts = opened("new", OPEN_CREATE), Error(), (ctypes.c_uint8 * 1000)()
for at in range(0, len(keys), 1000):
    fps, slices = prints(s, keys[at:at + 1000])
    rc = lib.deja_sieve_judge(s, fps, ctypes.c_size_t(1000), None, slices, verdicts, ctypes.byref(err))
    assert rc == 0, err.text
    assert lib.deja_sieve_commit(s, ctypes.byref(err)) == 0, err.text
    pending = [keys[at + i] for i in range(1000) if verdicts[i] == 2]
    keys_late = pending if at == 0 else keys_late + pending
assert lib.deja_sieve_sync(s, None) == 0
lib.deja_sieve_free(s)
new = compare("new", [k for k in keys if k not in set(keys_late)])
assert [r for _, _, _, r in new.spool] == keys_late

for name in sorted(p.name for p in Path("new").iterdir() if p.name[0] in "mrls" and p.name != "lock"):
    path = Path("new") / name
    data = bytearray(path.read_bytes())
    for at in {len(data) - 1, len(data) // 16 * 15, 100, 513, 2000}:
        if at >= len(data):
            continue
        data[at] ^= 1
        path.write_bytes(data)
        refused = False
        try:
            sieve_reader.Sieve("new")
        except sieve_reader.Damaged:
            refused = True
        assert refused == (lib.deja_sieve_verify(b"new", None) != 0) and refused, (name, at)
        data[at] ^= 1
        path.write_bytes(data)
print(f"{len(golden.runs)} + {len(golden.log)} golden keys, {len(new.runs)} + {len(new.log)} new ones")
