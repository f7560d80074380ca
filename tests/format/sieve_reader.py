"""sieve_reader - reads a sieve, written from docs/sieve.md alone; slow but simple."""

import struct
from pathlib import Path

import reader
from reader_hashes import siphash, u64, xxh3


class Damaged(Exception):
    """The file is not what the page describes."""


def need(holds, what):
    if not holds:
        raise Damaged(what)


class Sieve:
    """runs, log: sets of (hash, check); spool: a list of (hash, check, token, record)."""

    def __init__(self, path):
        self.path = Path(path)
        data = (self.path / "manifest").read_bytes()
        need(data[:8] == b"dejasiev" and len(data) >= 264, "manifest: magic")
        version, self.flags = struct.unpack_from("<II", data, 8)
        need(version == 1, "manifest: version")
        need(xxh3(data[:-8]) == struct.unpack("<Q", data[-8:])[0], "manifest: checksum")
        (self.seed, self.key_check, self.id, self.url_rules, self.sequence, self.next, log, spool,
         self.changes, self.saved, self.waited, self.settled, self.late, self.passes,
         self.merges) = struct.unpack_from("<15Q", data, 48)
        n_runs = struct.unpack_from("<Q", data, 176)[0]
        need(len(data) == 256 + 40 * n_runs + 8, "manifest: length")
        need(not any(data[172:176] + data[184:256]), "manifest: not zero")
        self.key = data[16:48]
        if self.flags & 2:
            self.key = b"".join(u64(reader.mix((self.seed + i * reader.GOLDEN) % 2**64)) for i in range(1, 5))
        if not self.flags & 1:
            need(self.derive(5, 0) == self.key_check, "manifest: key")
            need(self.derive(10, 2) == self.id, "manifest: id")
        self.runs = set()
        self.listed = [struct.unpack_from("<QQQQII", data, 256 + 40 * i) for i in range(n_runs)]
        for number, keys, length, checksum, _, _ in self.listed:
            found = self.run(number, keys, length, checksum)
            need(not found & self.runs, f"run-{number}: a key is in two runs")
            self.runs |= found
        self.log = set()
        for entries, count in self.journal("log", log):
            need(len(entries) == 12 * count, "log: entries")
            self.log |= {struct.unpack_from("<QI", entries, 12 * i) for i in range(count)}
        need(not self.log & self.runs, "log: a key is in a run, too")
        self.spool = []
        for entries, count in self.journal("spool", spool):
            at = 0
            for _ in range(count):
                value, check, length, token = struct.unpack_from("<QIIQ", entries, at)
                self.spool.append((value, check, token, entries[at + 24:at + 24 + length]))
                at += 24 + length
            need(at == len(entries), "spool: entries")

    def derive(self, stream, index):
        return siphash(self.key[:16], self.key[16:] + u64(stream) + u64(index))

    def fingerprint(self, key):
        sip = u64(self.derive(10, 0)) + u64(self.derive(10, 1))
        hasher = reader.Hasher("xxh3", self.key, 1, 1, 1, False)
        return hasher.numbers(key)[0], siphash(sip, key, 1, 3) % 2**32

    def run(self, number, keys, length, checksum):
        name, data = f"run-{number}", (self.path / f"run-{number}").read_bytes()
        need(data[:8] == b"dejarun\n" and len(data) == length, f"{name}: magic or length")
        need(struct.unpack_from("<I", data, 8)[0] == 1, f"{name}: version")
        ident, own, n, blocks, index_at, index_sum = struct.unpack_from("<6Q", data, 16)
        own_sum = struct.unpack_from("<Q", data, 120)[0]
        need(own_sum == checksum == xxh3(data[:120]), f"{name}: checksum of the head")
        need(not any(data[12:16] + data[64:120]), f"{name}: not zero")
        need((ident, own, n) == (self.id, number, keys), f"{name}: head")
        index = data[index_at:]
        need(len(index) == 32 * blocks and xxh3(index) == index_sum, f"{name}: index")
        found, at = [], 128
        for b in range(blocks):
            first, check, in_block, offset, size, zero = struct.unpack_from("<QIIQII", index, 32 * b)
            need(offset == at and zero == 0, f"{name}: index")
            block = data[at:at + size]
            block_sum, count, n_bytes = struct.unpack_from("<QII", block)
            need(block_sum == xxh3(block[8:]) and count == in_block and n_bytes == size - 16,
                 f"{name}: block {b}")
            p, high, entries = 16, 0, []
            for _ in range(count):
                shift = 0
                while True:
                    byte = block[p]
                    p += 1
                    high += (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                low = struct.unpack_from("<Q", block, p)[0]
                p += 8
                entries.append((high << 32 | low >> 32, low % 2**32))
            need(p == size and entries[0] == (first, check), f"{name}: entries of block {b}")
            found += entries
            at += size
        need(at == index_at and len(found) == keys, f"{name}: keys")
        need(all(a < b for a, b in zip(found, found[1:])), f"{name}: order")
        return set(found)

    def journal(self, kind, number):
        """Yield (entries, count) for each batch."""
        name, data = f"{kind}-{number}", (self.path / f"{kind}-{number}").read_bytes()
        identity = u64(self.id) + u64(number)
        head = b"dejajrnl" + struct.pack("<II", 1, ord(kind[0])) + identity + u64(0)
        need(data[:40] == head and data[40:48] == u64(xxh3(head)), f"{name}: head")
        need(not any(data[48:512] + data[536:1024] + data[1048:4096]), f"{name}: not zero")
        newest, durable = 0, 4096
        for at in (512, 1024):
            mark, length, own_sum = struct.unpack_from("<3Q", data, at)
            valid = own_sum == xxh3(data[at:at + 16] + identity)
            need(valid or not any(data[at:at + 24]), f"{name}: mark at {at}")
            if valid and mark > newest:
                newest, durable = mark, length
        at, batch = 4096, 0
        while at + 32 <= len(data):
            magic, count, length, own, own_sum = struct.unpack_from("<4sIQQQ", data, at)
            entries = data[at + 32:at + 32 + length]
            if (magic, own, len(entries)) != (b"btch", batch, length) or \
                    own_sum != xxh3(data[at:at + 24] + identity + entries):
                break
            yield entries, count
            at, batch = at + 32 + length, batch + 1
        need(at >= durable, f"{name}: damaged at {at}")
