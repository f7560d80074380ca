"""reader_hashes - the hash functions in docs/format.md, for reader.py: slow but simple.

XXH3 alone comes from libxxhash, as it does for the library."""

import ctypes
import hashlib
import struct

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1

# --- Arithmetic ---------------------------------------------------------------


def mulhi(a, b):
    return (a * b) >> 64


def mix(x):
    x ^= x >> 30
    x = (x * 0xBF58476D1CE4E5B9) & MASK64
    x ^= x >> 27
    x = (x * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def rotl(x, by, width):
    return ((x << by) | (x >> (width - by))) & ((1 << width) - 1)


def little(data):
    return int.from_bytes(data, "little")


def u64(value):
    return struct.pack("<Q", value)


# --- Hash functions -----------------------------------------------------------

_lib = ctypes.CDLL("libxxhash.so.0")
for _name, _more in (("XXH3_64bits", []),
                     ("XXH3_64bits_withSecret", [ctypes.c_char_p, ctypes.c_size_t]),
                     ("XXH3_64bits_withSeed", [ctypes.c_uint64])):
    _f = getattr(_lib, _name)
    _f.argtypes = [ctypes.c_char_p, ctypes.c_size_t] + _more
    _f.restype = ctypes.c_uint64


def xxh3(data):
    return _lib.XXH3_64bits(data, len(data))


def xxh3_secret(data, secret):
    return _lib.XXH3_64bits_withSecret(data, len(data), secret, len(secret))


def xxh3_seed(data, seed):
    return _lib.XXH3_64bits_withSeed(data, len(data), seed)


def siphash(key, data, c=2, d=4):
    """SipHash-c-d, 64 bits; key is 16 bytes."""
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736F6D6570736575, k1 ^ 0x646F72616E646F6D,
         k0 ^ 0x6C7967656E657261, k1 ^ 0x7465646279746573]

    def rounds(n):
        v0, v1, v2, v3 = v
        for _ in range(n):
            v0 = (v0 + v1) & MASK64
            v1 = rotl(v1, 13, 64) ^ v0
            v0 = rotl(v0, 32, 64)
            v2 = (v2 + v3) & MASK64
            v3 = rotl(v3, 16, 64) ^ v2
            v0 = (v0 + v3) & MASK64
            v3 = rotl(v3, 21, 64) ^ v0
            v2 = (v2 + v1) & MASK64
            v1 = rotl(v1, 17, 64) ^ v2
            v2 = rotl(v2, 32, 64)
        v[:] = [v0, v1, v2, v3]

    whole = len(data) // 8 * 8
    words = list(struct.unpack("<%dQ" % (whole // 8), data[:whole]))
    words.append(little(data[whole:]) | (len(data) & 255) << 56)
    for word in words:
        v[3] ^= word
        rounds(c)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(d)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def jenkins(data):
    """lookup2, initval 0."""
    a = b = 0x9E3779B9
    c = 0

    def stir(a, b, c):
        for x, y, z in ((13, 8, 13), (12, 16, 5), (3, 10, 15)):
            a = ((a - b - c) & MASK32) ^ (c >> x)
            b = ((b - c - a) ^ (a << y)) & MASK32
            c = ((c - a - b) & MASK32) ^ (b >> z)
        return a, b, c

    rest = data
    while len(rest) >= 12:
        a = (a + little(rest[0:4])) & MASK32
        b = (b + little(rest[4:8])) & MASK32
        c = (c + little(rest[8:12])) & MASK32
        a, b, c = stir(a, b, c)
        rest = rest[12:]
    a = (a + little(rest[0:4])) & MASK32
    b = (b + little(rest[4:8])) & MASK32
    c = (c + len(data) + (little(rest[8:11]) << 8)) & MASK32  # the low byte is the length's
    return stir(a, b, c)[2]


def murmur2(data):
    """MurmurHash2, 32 bits, seed 0."""
    m = 0x5BD1E995
    h = len(data) & MASK32
    whole = len(data) // 4 * 4
    for at in range(0, whole, 4):
        k = (little(data[at:at + 4]) * m) & MASK32
        k ^= k >> 24
        h = ((h * m) ^ (k * m)) & MASK32
    if len(data) > whole:
        h = ((h ^ little(data[whole:])) * m) & MASK32
    h ^= h >> 13
    h = (h * m) & MASK32
    return h ^ (h >> 15)


def murmur3(data):
    """MurmurHash3_x64_128, seed 0: the first half."""
    c1, c2 = 0x87C37B91114253D5, 0x4CF5AD432745937F
    h1 = h2 = 0

    def first(k):
        return (rotl((k * c1) & MASK64, 31, 64) * c2) & MASK64

    def second(k):
        return (rotl((k * c2) & MASK64, 33, 64) * c1) & MASK64

    def final(k):
        k ^= k >> 33
        k = (k * 0xFF51AFD7ED558CCD) & MASK64
        k ^= k >> 33
        k = (k * 0xC4CEB9FE1A85EC53) & MASK64
        return k ^ (k >> 33)

    whole = len(data) // 16 * 16
    for at in range(0, whole, 16):
        h1 ^= first(little(data[at:at + 8]))
        h1 = (rotl(h1, 27, 64) + h2) & MASK64
        h1 = (h1 * 5 + 0x52DCE729) & MASK64
        h2 ^= second(little(data[at + 8:at + 16]))
        h2 = (rotl(h2, 31, 64) + h1) & MASK64
        h2 = (h2 * 5 + 0x38495AB5) & MASK64
    rest = data[whole:]
    h2 ^= second(little(rest[8:]))
    h1 ^= first(little(rest[:8]))
    h1 ^= len(data)
    h2 ^= len(data)
    h1 = (h1 + h2) & MASK64
    h2 = (h2 + h1) & MASK64
    return (final(h1) + final(h2)) & MASK64


def md5(data):
    return little(hashlib.md5(data, usedforsecurity=False).digest()[:8])


def sha1(data):
    return little(hashlib.sha1(data, usedforsecurity=False).digest()[:8])


def short_hash(words, data):
    """Keys of at most 16 bytes; words are the 38 derived ones."""
    n = len(data)
    size = 8 if n >= 8 else 4 if n >= 4 else 0
    a, b = little(data[:size]), little(data[n - size:]) if size else 0
    if 0 < n < 4:
        b = data[0] + (data[n // 2] << 8) + (data[n - 1] << 16)

    def secret(i):
        return words[2 * i] + (words[2 * i + 1] << 64)

    return mix((secret(2 + n) + secret(0) * a + secret(1) * b) >> 64 & MASK64)


def scramble(x):
    x ^= x >> 16
    x = (x * 0x85EBCA6B) & MASK32
    x ^= x >> 13
    x = (x * 0xC2B2AE35) & MASK32
    return x ^ (x >> 16)


MIXED = [jenkins, murmur2, sha1, md5, murmur3, None]  # the last one takes the salt as its seed
