"""server - a row in the option table makes an option for DEJA.RESERVE, COMMAND DOCS and the shards
of --redis, without any other code."""

import os
import subprocess

from redisrun import Error, Server, case, expect, run

DEJA = os.environ["DEJA"]
ITEMS = [f"item {i}" for i in range(3000)]
server = Server()


def parts(c, key):
    return c("BF.INFO", key, "FILTERS")[0]


@case
def reserve_takes_it():
    c = server.raw()
    expect(c("DEJA.RESERVE", "nine", "KIND", "scalable", "CAPACITY", "100", "trialsteps", "9"), "OK")
    expect(c("DEJA.RESERVE", "two", "KIND", "scalable", "CAPACITY", "100"), "OK")
    for key in ("nine", "two"):
        c("DEJA.ADD", key, *ITEMS)
    assert parts(c, "nine") < parts(c, "two")
    expect(c("DEJA.RESERVE", "x", "TRIALSTEPS", "many"), Error("ERR bad value for TRIALSTEPS"))
    expect(c("DEJA.RESERVE", "x", "CAPACITY", "1", "TRIALSTEPS", "1"),
           Error("ERR TRIALSTEPS is 1: it must be from 2 to 99"))


@case
def docs_explain_it():
    docs = server.raw()("COMMAND", "DOCS", "DEJA.RESERVE")[1]
    arguments = docs[docs.index(b"arguments") + 1]
    found = [dict(zip(a[0::2], a[1::2])) for a in arguments]
    mine = [a for a in found if a[b"name"] == b"trial_steps"]
    assert len(mine) == 1, found
    expect(mine[0][b"token"], b"TRIALSTEPS")
    expect(mine[0][b"type"], b"integer")
    expect(mine[0][b"summary"], b"try T times, or give MEMORY")


@case
def shards_send_it():
    c = server.raw()
    probe = subprocess.run([DEJA, "check", "--redis", "redis://127.0.0.1:1", "x"], input=b"",
                           capture_output=True)
    if b"without hiredis" in probe.stderr:
        print("the command was built without hiredis: its shards were not tried")
        return
    data = "".join(item + "\n" for item in ITEMS).encode()
    for name, more in (("shards", ["--trial-steps", "9"]), ("plain", [])):
        subprocess.run([DEJA, "dedup", "-q", "--redis", f"redis://127.0.0.1:{server.port}", "--shards", "2",
                        "-n", "50", "--state", name, *more], input=data, check=True, capture_output=True)
    assert parts(c, "{shards:0}") < parts(c, "{plain:0}")


with server:
    run(globals())
