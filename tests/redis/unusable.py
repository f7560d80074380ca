"""unusable - values that this build of the module cannot use do not stop the server.

Filters of a newer kind, hash, format or set of URL rules, and damaged ones, get into an RDB file, a
log or a primary's stream by editing bytes.  The server starts, answers commands on
them with the reason, and keeps the bytes through everything else."""

import os
import socket
import struct
import threading

from crafted import PAGE, RECORD, edited, repaired
from redisrun import Error, Server, case, expect, run, until

PLAIN = ("--rdbcompression", "no", "--rdbchecksum", "no")  # so that bytes can be edited in place
SECRET = bytes(range(32))


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x20]) + data[at + 1:]


# name: how its export is edited, a part of the reason, and whether another build could use it
EDITS = {
    "url": (lambda d: edited(d, 128, "<Q", 7), "different rules", True),
    "profile": (lambda d: edited(d, 52, "<I", 77), "different rules", True),
    "kind": (lambda d: edited(d, 16, "<I", 77), "kind 77", True),
    "hash": (lambda d: edited(d, 24, "<I", 77), "hash 77", True),
    "flags": (lambda d: edited(d, 72, "<I", 1 << 30), "newer", True),
    "version": (lambda d: edited(d, 8, "<I", 9), "version 9", True),
    "folds": (lambda d: edited(d, 208, "<I", 54), "folds", False),
    "unsynced": (lambda d: edited(d, RECORD + 8, "<I", 2), "synced", False),
    "header": (lambda d: flipped(d, 40), "checksum", False),
    "magic": (lambda d: b"not a filter" + d[12:], "magic", False),
    "body": (lambda d: flipped(d, len(d) - 3), "checksum", False),
}


def make(c):
    """Makes one filter for each edit; returns their bytes."""
    c("FLUSHALL")
    bytes_of = {}
    for name in EDITS:
        profile = ("URL", "crawl") if name in ("url", "profile") else ()
        expect(c("DEJA.RESERVE", name, "CAPACITY", 100 + len(bytes_of), *profile), "OK")
        c("DEJA.ADD", name, *(f"http://h/{name}/{i}" for i in range(20)))
        bytes_of[name] = c("DEJA.EXPORT", name)
    expect(c("DEJA.RESERVE", "sound", "CAPACITY", 100), "OK")
    c("DEJA.ADD", "sound", "x")
    return bytes_of


def replace_in_file(path, edit):
    """edit changes a bytearray in place."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    edit(data)
    with open(path, "wb") as f:
        f.write(data)


def edit_all(data, bytes_of):
    """Edit each filter that is in some file.  The time in its header may differ from that of
    the export, so it is found by its secret key.  Returns the new bytes of each."""
    new = {}
    for name, old in bytes_of.items():
        at = data.index(old[88:120]) - 88
        new[name] = EDITS[name][0](bytes(data[at:at + len(old)]))
        data[at:at + len(old)] = new[name]
    return new


def check_unusable(c, bytes_of):
    """Every command that needs a filter reports the reason; the others work."""
    for name, data in bytes_of.items():
        told = c("DEJA.INFO", name)
        assert isinstance(told, Error) and EDITS[name][1] in told, (name, told)
        assert told.startswith("ERR this build cannot use the filter: "), told
        assert told.endswith("; DUMP, DEJA.EXPORT and DEL still work"), told
        for command in ("BF.ADD {0} x", "BF.MADD {0} x y", "BF.INSERT {0} ITEMS x",
                        "BF.EXISTS {0} x", "BF.MEXISTS {0} x y", "BF.INFO {0}", "BF.CARD {0}",
                        "BF.LOADCHUNK {0} 5 x", "DEJA.ADD {0} x", "DEJA.CHECK {0} x",
                        "DEJA.REMOVE {0} x", "DEJA.COUNT {0} x", "DEJA.FOLD {0}",
                        "DEJA.ROTATE {0}", "DEJA.MERGE {0} sound", "DEJA.MERGE sound {0}",
                        "DEJA.MERGE new {0}"):
            expect(c(*command.format(name).split()), told, command)
        for command in ("BF.RESERVE {0} 0.1 10", "DEJA.RESERVE {0} CAPACITY 10",
                        "BF.LOADCHUNK {0} 1 x", "DEJA.IMPORT {0} x"):
            expect(c(*command.format(name).split()), Error("ERR item exists"), command)
        expect(c("DEJA.EXPORT", name), data, name)
        assert c("MEMORY", "USAGE", name) >= len(data)
        expect(c("TYPE", name), "deja-filt")
        iterator, page = c("BF.SCANDUMP", name, 0)
        expect(page + c("BF.SCANDUMP", name, iterator)[1], data, name)
    expect(c("DEJA.CHECK", "sound", "x"), [1])
    expect(c("EXISTS", "new"), 0)


def lines_with(server, text):
    with open(server.log, errors="surrogateescape") as f:
        return [line for line in f if text in line]


def edited_server(c, server):
    """Saves, kills, edits the RDB file and restarts; returns the bytes of the unusable filters."""
    bytes_of = make(c)
    expect(c("SAVE"), "OK")
    server.kill()
    new = {}
    replace_in_file(os.path.join(server.folder, "dump.rdb"),
                    lambda data: new.update(edit_all(data, bytes_of)))
    server.restart()
    return new


@case
def a_server_starts_with_them_and_keeps_them():
    with Server(*PLAIN) as server:
        new = edited_server(server.raw(), server)
        c = server.raw()
        check_unusable(c, new)
        said = lines_with(server, "of the loaded filters")
        assert len(said) == 1 and f" {len(new)} of the loaded filters" in said[0], said
        expect(int(server.client().info("deja_filters")["deja_unusable_filters"]), len(new))
        for turn in range(2):  # saved as loaded
            expect(c("DEBUG", "RELOAD"), "OK")
            check_unusable(c, new)
        expect(c("SAVE"), "OK")
        server.kill()
        server.restart()
        c = server.raw()
        check_unusable(c, new)
        digest = c("DEBUG", "DIGEST")
        with Server(*PLAIN, "--replicaof", "127.0.0.1", str(server.port)) as replica:
            q = replica.client()
            until("synchronized", lambda: q.info("replication")["master_link_status"] == "up")
            check_unusable(server.raw(), new)
            d = replica.raw()
            expect(d("DEBUG", "DIGEST"), digest)
            for name, data in new.items():
                expect(d("DEJA.EXPORT", name), data, name)
                assert EDITS[name][1] in d("DEJA.INFO", name)


@case
def every_command_of_the_server_works_on_them():
    with Server(*PLAIN) as server:
        new = edited_server(server.raw(), server)
        c = server.raw()
        c("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
        for name, data in new.items():
            expect(c("COPY", name, "copy"), 1)
            expect(c("RENAME", "copy", "moved"), "OK")
            expect(c("DEBUG", "DIGEST-VALUE", name), c("DEBUG", "DIGEST-VALUE", "moved"))
            expect(c("EXPIRE", "moved", 1000), 1)
            expect(c("DEJA.EXPORT", "moved"), data)
            expect(c("UNLINK", "moved"), 1)
            dump = c("DUMP", name)
            assert data in dump
            got = c("RESTORE", "again", 0, dump)
            if EDITS[name][2]:
                expect(got, "OK", name)
                expect(c("DEJA.EXPORT", "again"), data)
                expect(c("DUMP", "again"), dump)
                assert EDITS[name][1] in c("BF.ADD", "again", "x")
                expect(c("DEL", "again"), 1)
            else:
                expect(got, Error("ERR Bad data format"), name)
                expect(c("EXISTS", "again"), 0)
            good = c("DEJA.EXPORT", "sound")
            expect(c("DEJA.IMPORT", name, good, "REPLACE"), "OK")
            expect(c("DEJA.CHECK", name, "x"), [1])
            expect(c("DEL", name), 1)
        expect(int(server.client().info("deja_filters")["deja_unusable_filters"]), 0)


@case
def a_build_that_can_use_them_recovers_its_filters():
    with Server(*PLAIN) as server:
        new = edited_server(server.raw(), server)
        c = server.raw()
        expect(c("SAVE"), "OK")
        server.kill()
        good = bytearray(new["kind"])
        struct.pack_into("<I", good, 16, 2)  # blocked again

        def undo(data):
            at = data.index(new["kind"])
            data[at:at + len(good)] = repaired(good)

        replace_in_file(os.path.join(server.folder, "dump.rdb"), undo)
        server.restart()
        c = server.raw()
        expect(c("DEJA.CHECK", "kind", "http://h/kind/3", "other"), [1, 0])
        del new["kind"]
        check_unusable(c, new)


@case
def clients_cannot_import_them():
    with Server() as server:
        c = server.raw()
        for name, old in make(c).items():
            data, why = EDITS[name][0](old), EDITS[name][1]
            got = c("DEJA.IMPORT", "k", data)
            assert isinstance(got, Error) and why in got, (name, got)
            expect(c("DEJA.IMPORT", "k", data, "FLAGS", 2), Error("ERR syntax error"))
            got = c("BF.LOADCHUNK", "k", 1, data[:PAGE])
            if got == "OK":  # the damage is after the header
                got = c("BF.LOADCHUNK", "k", len(data) - PAGE + 1, data[PAGE:])
            expect(got, Error("ERR received bad data"), name)
            expect(c("EXISTS", "k"), 0)


def aof_files(folder):
    folder = os.path.join(folder, "appendonlydir")
    return [os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".aof")]


@case
def a_log_preserves_them():
    """By IMPORT, by chunks, half of the chunks, and with a secret key of its own, in a log of
    commands; then rewritten, as commands and as an RDB file, and read again."""
    with Server(*PLAIN, "--appendonly", "yes", "--appendfsync", "always",
                "--aof-use-rdb-preamble", "no") as server:
        c = server.raw()
        bytes_of = make(c)
        c("FLUSHALL")
        for name, data in bytes_of.items():
            expect(c("DEJA.IMPORT", name, data), "OK")
            if name in ("kind", "url", "body"):
                expect(c("BF.LOADCHUNK", name + ":chunks", 1, data[:PAGE]), "OK")
                expect(c("BF.LOADCHUNK", name + ":chunks", 101, data[PAGE:PAGE + 100]), "OK")
            if name in ("url", "body"):
                expect(c("BF.LOADCHUNK", name + ":chunks", len(data) - PAGE + 1,
                         data[PAGE + 100:]), "OK")
        apart = bytearray(edited(bytes_of["hash"], 72, "<I", 1))  # its key is stored separately
        apart[88:120] = bytes(32)
        apart = repaired(apart)
        expect(c("DEJA.IMPORT", "apart", apart, "KEY", bytes_of["hash"][88:120]), "OK")
        expect(c("DEJA.RESERVE", "sound", "CAPACITY", 100), "OK")
        c("DEJA.ADD", "sound", "x")
        server.kill()
        new = {name: EDITS[name][0](data) for name, data in bytes_of.items()}
        new_apart = edited(apart, 24, "<I", 77)
        chunks = {name: new[name] for name in ("kind", "url", "body")}

        def edit(data):
            for name, old in bytes_of.items():
                for piece in (slice(None), slice(PAGE), slice(PAGE + 100, None)):  # or its chunks
                    data[:] = data.replace(old[piece], new[name][piece])
            data[:] = data.replace(apart, new_apart)

        for path in aof_files(server.folder):
            replace_in_file(path, edit)
        server.restart()
        c = server.raw()

        def check():
            check_unusable(c, new)
            for name, data in chunks.items():
                want = data[:PAGE + 100] if name == "kind" else data
                expect(c("DEJA.EXPORT", name + ":chunks"), want, name)
                assert EDITS[name][1] in c("DEJA.ADD", name + ":chunks", "x")
            expect(c("DEJA.EXPORT", "apart"), new_apart)
            assert bytes_of["hash"][88:120] in c("DUMP", "apart")

        check()
        said = lines_with(server, "of the loaded filters")
        assert len(said) == 1, said
        for preamble in ("no", "yes", "no"):
            expect(c("CONFIG", "SET", "aof-use-rdb-preamble", preamble), "OK")
            r = server.client()
            r.bgrewriteaof()
            until("rewritten", lambda: not r.info("persistence")["aof_rewrite_in_progress"] and
                  not r.info("persistence")["aof_rewrite_scheduled"])
            expect(r.info("persistence")["aof_last_bgrewrite_status"], "ok")
            server.kill()
            server.restart()
            c = server.raw()
            check()
        # When a build that can use them reads the log, the other chunks complete the filter.
        good = bytes_of["kind"]
        expect(c("SAVE"), "OK")
        server.kill()
        for path in aof_files(server.folder):
            replace_in_file(path, lambda data: data.__setitem__(
                slice(None), data.replace(new["kind"][:PAGE], good[:PAGE])))
        server.restart()
        c = server.raw()
        assert "being loaded" in c("DEJA.INFO", "kind:chunks")
        expect(c("BF.LOADCHUNK", "kind:chunks", len(good) - PAGE + 1, good[PAGE + 100:]), "OK")
        expect(c("DEJA.CHECK", "kind:chunks", "http://h/kind/3"), [1])
        expect(c("DEJA.CHECK", "kind", "http://h/kind/3"), [1])


class Primary:
    """A minimal primary: an empty RDB file, then the commands of a test."""

    def __init__(self, rdb):
        self.rdb = rdb
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.ready = threading.Event()
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        self.link, _ = self.listener.accept()
        words = self.link.makefile("rb")
        while line := words.readline():
            if line[:1] != b"*":
                continue
            command = [words.read(int(words.readline()[1:]) + 2)[:-2] for _ in range(int(line[1:]))]
            name = command[0].upper()
            if name == b"PSYNC":
                self.link.sendall(b"+FULLRESYNC " + b"a" * 40 + b" 0\r\n$%d\r\n" % len(self.rdb) +
                                  self.rdb)
                self.ready.set()
            elif not self.ready.is_set():
                self.link.sendall(b"+PONG\r\n" if name == b"PING" else b"+OK\r\n")

    def send(self, *words):
        words = [w if isinstance(w, bytes) else str(w).encode() for w in words]
        self.link.sendall(b"*%d\r\n" % len(words) +
                          b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))


@case
def a_replica_keeps_what_its_primary_accepted():
    with Server(*PLAIN) as server:
        c = server.raw()
        bytes_of = make(c)
        c("FLUSHALL")
        expect(c("SAVE"), "OK")
        with open(os.path.join(server.folder, "dump.rdb"), "rb") as f:
            primary = Primary(f.read())
        c("REPLICAOF", "127.0.0.1", primary.port)
        r = server.client()
        until("synchronized", lambda: r.info("replication")["master_link_status"] == "up")
        new = {name: EDITS[name][0](data) for name, data in bytes_of.items()}
        primary.send("SELECT", 0)
        for name, data in new.items():
            primary.send("DEJA.IMPORT", name, data)
        data = new["kind"]
        primary.send("BF.LOADCHUNK", "chunks", 1, data[:PAGE])
        primary.send("BF.LOADCHUNK", "chunks", len(data) - PAGE + 1, data[PAGE:])
        primary.send("DEJA.IMPORT", "sound", EDITS["kind"][0](bytes_of["kind"]))
        primary.send("DEJA.ADD", "kind", "x")  # an error that the server logs
        primary.send("DEJA.IMPORT", "sound", bytes_of["kind"], "REPLACE")
        primary.send("SET", "end", 1)
        until("the end", lambda: r.exists("end"))
        expect(c("DEJA.EXPORT", "chunks"), data)
        assert "kind 77" in c("DEJA.INFO", "chunks")
        for name, data in new.items():
            expect(c("DEJA.EXPORT", name), data, name)
        expect(c("DEJA.CHECK", "sound", "http://h/kind/3"), [1])
        assert lines_with(server, "kept a filter that this build cannot use")


@case
def failed_restores_do_not_fill_the_log():
    with Server(*PLAIN) as server:
        c = server.raw()
        make(c)
        c("DEBUG", "SET-SKIP-CHECKSUM-VALIDATION", "1")
        dump = c("DUMP", "sound")
        at = len(dump) - 40  # in the filter's body
        name = b"\x1b[31m\0\r\n# fake line \xff"
        for _ in range(500):
            expect(c("RESTORE", name, 0, flipped(dump, at)), Error("ERR Bad data format"))
        expect(int(server.client().info("deja_filters")["deja_refused_restores"]), 500)
        said = lines_with(server, "refused a damaged filter")
        assert len(said) == 10, len(said)
        assert 'key "?[31m???# fake line ?"' in said[0], said[0]
        expect(lines_with(server, "more like these"), [])
        kind = edited(c("DEJA.EXPORT", "sound"), 16, "<I", 77)
        page = dump.index(b"DEJA\r\n")
        for _ in range(100):  # those that are kept count as well
            expect(c("RESTORE", "k", 0, dump[:page] + kind[:PAGE] + dump[page + PAGE:], "REPLACE"),
                   "OK")
        expect(lines_with(server, "kept a filter"), [])
        server.process.terminate()
        server.process.wait()
        said = lines_with(server, "more like these")
        assert len(said) == 1 and "... and 590 more" in said[0], said
        with open(server.log, "rb") as f:
            assert not set(f.read()) & set(b"\x1b\0\xff")


run(globals())
