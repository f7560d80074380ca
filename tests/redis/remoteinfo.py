"""remoteinfo - `deja info --redis`, and the losses that `dedup --redis` and `add --redis` report."""

import json
import os
import re
import subprocess

from redisrun import Server, case, expect, run, skip

DEJA = os.environ["DEJA"]
probe = subprocess.run([DEJA, "check", "--redis", "redis://127.0.0.1:1", "x"], input=b"",
                       capture_output=True)
if b"without hiredis" in probe.stderr:
    skip("the command was built without hiredis (Debian: libhiredis-dev)")
os.environ["XDG_STATE_HOME"] = os.path.abspath("state")


def deja(*words, data=b"", status=0):
    p = subprocess.run([DEJA, *words], input=data, capture_output=True, timeout=600)
    assert p.returncode == status, (words, p.returncode, p.stdout[:300], p.stderr)
    return p.stdout, p.stderr.decode()


def lines(first, last):
    return b"".join(b"http://example.com/%d\n" % i for i in range(first, last))


def at(*servers):
    return [w for s in servers for w in ("--redis", f"127.0.0.1:{s.port}")]


def info(servers, *names):
    return json.loads(deja("info", "--json", *at(*servers), *names)[0])


@case
def a_single_filter_is_described():
    with Server() as s:
        c = s.raw()
        c("BF.RESERVE", "plain", "0.01", "1000")
        c("BF.MADD", "plain", *range(600))
        reply = c("DEJA.INFO", "plain")
        want = dict(zip(reply[0::2], reply[1::2]))
        got = info([s], "plain")[0]
        for field in ("capacity", "bits", "bytes", "memory", "keys", "offered", "bits_set", "hashes",
                      "parts", "visit"):
            expect(got[field], want[field], field)
        for field in ("fp_rate", "fp_now", "lost", "fill", "distinct"):
            assert abs(got[field] - float(want[field])) <= 1e-6 * float(want[field]) + 1e-12, field
        assert (got["cache"], got["shards"], got["kind"]) == ("plain", 0, "scalable"), got
        text = deja("info", *at(s), "plain")[0].decode()
        for want in (r"^plain$", r"kind +scalable of 1 blocked part", r"capacity +1,000 keys, then",
                     r"keys +\d+ new of 600 offered", r"capacity is used", r"rate +\S+ now",
                     rf"server +127\.0\.0\.1:{s.port}$", r"room +for \d+ more keys"):
            assert re.search(want, text, re.M), (want, text)


@case
def the_shards_of_a_cache_are_added_up():
    with Server() as s:
        c = s.raw()
        deja("dedup", *at(s), "--state", "seen", "-n", "20000", "--shards", "5", data=lines(0, 9000))
        infos = [c("DEJA.INFO", "{seen:%d}" % i) for i in range(5)]
        infos = [dict(zip(i[0::2], i[1::2])) for i in infos]
        got = info([s], "seen")[0]
        for field in ("capacity", "bits", "bytes", "memory", "keys", "offered", "bits_set"):
            expect(got[field], sum(i[field] for i in infos), field)
        rate = sum(float(i["fp_now"]) for i in infos) / 5
        assert abs(got["fp_now"] - rate) <= 1e-6 * rate, (got["fp_now"], rate)
        assert got["shards"] == 5 and 8990 <= got["keys"] <= 9000, got
        text = deja("info", *at(s), "seen")[0].decode()
        assert "5 filters, {seen:0} to {seen:4}" in text, text
        # Several names, and one that does not exist.
        out, err = deja("info", "--json", *at(s), "seen", "nobody", "{seen:0}", status=2)
        reports = json.loads(out)
        assert "has no cache or filter nobody" in err and "nobody" in reports[1]["error"], err
        expect(reports[2]["keys"], infos[0]["keys"])
        c("SET", "text", "hello")
        c("RPUSH", "list", "hello")
        assert "not a deja cache" in deja("info", *at(s), "text", status=2)[1]
        assert "WRONGTYPE" in deja("info", *at(s), "list", status=2)[1]


@case
def filters_on_several_servers_are_described_together():
    with Server() as a, Server() as b, Server() as d:
        servers = [a, b, d]
        deja("dedup", *at(*servers), "--state", "seen", "-k", "classic", "-n", "20000", "-p",
             "0.05", "--seed", "7", data=lines(0, 20000))
        got = info(servers, "seen")[0]
        rates = [one["fp_now"] for one in got["servers"]]
        assert abs(got["fp_now"] - rates[0] * rates[1] * rates[2]) < 1e-9 and got["fp_now"] < 0.07
        assert [one["answers"] for one in got["servers"]] == [True] * 3, got
        expect(got["bytes"], sum(one["bytes"] for one in got["servers"]))
        text = deja("info", *at(*servers), "seen")[0].decode()
        assert "filter 3 of 3" in text and "{seen.1:0}" in text, text
        # The wrong number or order of servers is an error.
        for some, why in (([b, a, d], "no cache or filter seen.1"), ([a, b], "in its order"),
                          ([a], "no cache or filter seen")):
            assert why in deja("info", *at(*some), "seen", status=2)[1], why
        b.kill()
        got = info(servers, "seen")[0]
        expect([one["answers"] for one in got["servers"]], [True, False, True])
        assert abs(got["fp_now"] - rates[0] * rates[2]) < 1e-9, got
        assert "DOES NOT ANSWER" in deja("info", *at(*servers), "seen")[0].decode()


@case
def no_password_is_printed():
    with Server() as s:
        url = f"redis://:hidden-word@127.0.0.1:{s.port}"
        s.client().execute_command("BF.RESERVE", "k", 0.01, 100)
        s.client().config_set("requirepass", "hidden-word")
        for words in ((), ("--json",)):
            out, err = deja("info", *words, "--redis", url, "k")
            assert b"hidden" not in out and "hidden" not in err, (out, err)


@case
def wrong_options_are_refused():
    assert "--key are for files" in deja("info", "--redis", "127.0.0.1:1", "--format", "dcso", "x",
                                         status=2)[1]
    assert "x" in deja("info", "--redis", "http://x", "x", status=2)[1]


def lost(servers, name, size, data):
    """The report of a run as JSON; a note that an existing cache keeps its size may be ahead of it."""
    report = deja("dedup", "--json", *at(*servers), "--state", name, *size, data=data)[1]
    return json.loads(report[report.index("{"):])


@case
def dedup_reports_how_many_lines_it_probably_lost():
    with Server() as s:
        size = ("-k", "classic", "-n", "20000", "-p", "0.05", "--shards", "2")
        first = lost([s], "seen", size, lines(0, 12000))
        assert first["kept"] > 11900 and first["lost_in_run"] < 5, first  # a batch or a few
        for i in range(12000, 20000, 4000):
            more = lost([s], "seen", size, lines(i, i + 4000))
            really = 4000 - more["kept"]
            assert really > 5 and really / 2.5 < more["lost_in_run"] < 2.5 * really, (really, more)
        assert more["lost"] > 0 and more["fp_now"] > first["fp_now"], more
        text = deja("dedup", *at(s), "--state", "seen", data=lines(30000, 31000))[1]
        assert re.search(r"about \d+ lost", text), text
        text = deja("dedup", "-v", *at(s), "--state", "seen", data=lines(31000, 32000))[1]
        assert re.search(r"about \d+ lost", text), text
        added = json.loads(deja("add", "--json", *at(s), "seen", data=lines(40000, 42000))[0])
        added = added[0] if isinstance(added, list) else added
        really = 2000 - added["added"]
        assert really / 2 < added["lost_in_run"] < 2 * really, (really, added)
        checked = deja("check", "--json", *at(s), "seen", data=lines(0, 10))[1]
        assert "lost" not in checked and json.loads(checked)["fp_now"] > 0.03, checked
        # Nothing to report.
        text = deja("dedup", *at(s), "--state", "sure", "-n", "1000", data=lines(0, 500))[1]
        assert "lost" not in text, text


@case
def several_servers_lose_only_what_all_of_them_lose():
    with Server() as a, Server() as b:
        size = ("-k", "classic", "-n", "20000", "-p", "0.04", "--seed", "5")
        lost([a, b], "seen", size, lines(0, 20000))
        for i in (20000, 26000):
            got = lost([a, b], "seen", size, lines(i, i + 6000))
            really = 6000 - got["kept"]
            assert really > 20 and really / 2.5 < got["lost_in_run"] < 2.5 * really, (really, got)
        assert "lost" not in got, got


run(globals())
