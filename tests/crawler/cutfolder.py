"""A folder on a device that can lose power at any moment.

tests/fault/recorddisk.c records what a program does to the files of a folder.  From these events a
Device knows at any moment which data are safe, and which may or may not be on the disk:

    file     a safe image, and all versions of its 512-byte sectors since then; a sync makes the
             current one safe.  The same for its length
    folder   safe names, and the changes since then; a sync of the folder makes them safe

Device.cut makes one of the states that a power cut could leave: every sector in any of its
versions, independently, and every change of a name made or not.  Sectors are never torn; devices
promise that."""

import os
import struct
import subprocess
from pathlib import Path

EVENT = struct.Struct("=c3xIQQ")
SECTOR = 512
DRAWS = ("any", "half", "none", "all", "all except one", "one")


class Disk:
    """A folder whose changes are recorded."""

    shim = Path("recorddisk.so").resolve()

    def __init__(self, folder, log):
        self.folder, self.log = Path(folder).resolve(), Path(log).resolve()
        self.folder.mkdir()
        if not self.shim.exists():
            source = Path(os.environ["SOURCE"]) / "tests" / "fault" / "recorddisk.c"
            subprocess.run([os.environ.get("CC") or "cc", "-shared", "-fPIC", "-O2",
                            "-D_GNU_SOURCE", "-o", self.shim, source], check=True)

    @classmethod
    def without_syncs(cls):
        """For programs that are not recorded; real syncs are slow."""
        return {**os.environ, "LD_PRELOAD": str(cls.shim)}

    def environment(self):
        return {**self.without_syncs(), "DEJA_RECORD": str(self.folder),
                "DEJA_RECORD_LOG": str(self.log)}

    def events(self):
        data, at = self.log.read_bytes(), 0
        while at < len(data):
            kind, length, file, place = EVENT.unpack_from(data, at)
            at += EVENT.size
            yield kind.decode(), file, place, data[at:at + length]
            at += length


class File:
    def __init__(self):
        self.safe, self.now = bytearray(), bytearray()
        self.pending, self.lengths = [], []  # versions of sectors; lengths since the last sync

    def write(self, sector, data):
        at = sector * SECTOR
        self.now[at:at + SECTOR] = data[:len(self.now) - at]
        self.pending.append((sector, data))

    def resize(self, length):
        del self.now[length:]
        self.now.extend(bytes(length - len(self.now)))
        self.lengths.append(length)

    def sync(self):
        self.safe = bytearray(self.now)
        self.pending, self.lengths = [], []

    def draw(self, rng, how):
        length = len(self.safe)
        if self.lengths and how != "none":
            length = len(self.now) if how == "all" else rng.choice(self.lengths)
        data = self.safe[:length]
        data.extend(bytes(length - len(data)))
        chosen = rng.choice(self.pending)[0] if self.pending else None
        for sector, version in self.pending:  # the last chosen version stays
            take = {"any": rng.random() < 1 / 3, "half": rng.random() < 1 / 2, "none": False,
                    "all": True, "all except one": sector != chosen, "one": sector == chosen}[how]
            at = sector * SECTOR
            if take and at < length:
                data[at:at + SECTOR] = version[:length - at]
        return data


class Device:
    def __init__(self):
        self.files, self.safe, self.pending = {}, {}, []

    def take(self, kind, file, place, data):
        """Applies one event."""
        if kind == "c":
            self.files[file] = File()
        elif kind == "w":
            self.files[file].write(place, data)
        elif kind == "l":
            self.files[file].resize(place)
        elif kind == "s":
            self.files[file].sync()
        elif kind == "n":
            name, _, gone = data.decode().partition("\0")
            self.pending.append((name, self.files[file] if file else None, gone))
        elif kind == "d":
            for change in self.pending:
                self._apply(self.safe, change)
            self.pending = []

    @staticmethod
    def _apply(names, change):
        name, file, gone = change
        names.pop(gone, None)
        names.pop(name, None)
        if file:
            names[name] = file

    def cut(self, rng, folder, how=None, only=""):
        """Makes the files of a state in this new folder, or only those whose names start with
        `only`.  how: one of DRAWS; by default random, for all files or for each."""
        how = how or rng.choice(DRAWS + ("each",) * 3)
        how_names = how if how in ("none", "all") else rng.choice(("none", "half", "all"))
        names = dict(self.safe)
        for change in self.pending:
            if how_names == "all" or (how_names == "half" and rng.random() < 1 / 2):
                self._apply(names, change)
        folder = Path(folder)
        folder.mkdir()
        for name, file in names.items():
            if name.startswith(only):
                own = rng.choice(DRAWS) if how == "each" else how
                (folder / name).write_bytes(file.draw(rng, own))
        return how
