"""settings - the settings of the module under every name that clients use, and the arguments of
loadmodule."""

import os
import subprocess

from redisrun import (BINARY, MODULE, Error, Raw, Server, case, environment, expect, free_port,
                      redis, run, until)

KNOWN = ("bf-error-rate", "bf-initial-size", "bf-expansion-factor", "bloom-fp-rate",
         "bloom-capacity", "bloom-expansion")


def is_redis_8(c):
    """Only Redis 8 lets a module register a name without its prefix."""
    info = c("INFO", "server").decode()
    version = info.split("redis_version:")[1].split("\r")[0]
    return "valkey_version" not in info and int(version.split(".")[0]) >= 8


def get(c, name):
    """The value of one setting, whatever the server calls it in the reply."""
    reply = c("CONFIG", "GET", name)
    assert len(reply) == 2, (name, reply)
    return reply[1].decode()


def defaults(c):
    return [get(c, name) for name in ("bf-error-rate", "bf-initial-size", "bf-expansion-factor")]


def effective(c):
    """What the defaults make of a new filter."""
    c("DEL", "probe")
    c("BF.ADD", "probe", "x")
    return [float(c("BF.INFO", "probe", field)[0]) for field in ("ERROR", "CAPACITY", "EXPANSION")]


@case
def config_knows_the_names_of_redisbloom_and_of_valkey():
    with Server() as server:
        c = server.raw()
        expect(defaults(c), ["0.01", "100", "2"])
        for spell in ("{}", "deja.{}", "bf.{}"):
            for rate, size, growth in (("0.001", "5000", "4"), ("0.02", "300", "3")):
                for names in (KNOWN[:3], KNOWN[3:]):
                    names = [spell.format(n) for n in names]
                    if spell == "{}" and is_redis_8(c) and names[0] == "bloom-fp-rate":
                        continue  # no module has called it that there
                    expect(c("CONFIG", "SET", names[0], rate, names[1], size, names[2], growth),
                           "OK", names)
                    expect([get(c, n) for n in names], [rate, size, growth])
                    expect(effective(c), [float(rate), float(size), float(growth)])
                    expect(defaults(c), [rate, size, growth])
        if is_redis_8(c):
            expect(c("CONFIG", "GET", "bf-initial-size"), [b"bf-initial-size", b"300"])
        expect(c("CONFIG", "SET", "deja.filter-max-bytes", "1gb"), "OK")
        expect(get(c, "bf.bloom-memory-usage-limit"), str(2**30))
        # In a transaction and in another case as well; other settings stay what they are.
        expect(c("MULTI"), "OK")
        expect(c("config", "set", "BF-Initial-Size", "77", "maxmemory", "100mb"), "QUEUED")
        expect(c("EXEC"), ["OK"])
        expect(get(c, "deja.bf-initial-size"), "77")
        expect(get(c, "maxmemory"), str(100 * 2**20))


@case
def wrong_values_are_refused_with_the_texts_of_redisbloom():
    with Server() as server:
        c = server.raw()
        for name, value, text in (
                ("bf-error-rate", "0", "Value for `bf-error-rate` must be in the range (0.000000, "
                 "1.000000)"),
                ("bf-error-rate", "1", "must be in the range (0.000000, 1.000000)"),
                ("bf-error-rate", "nan", "Invalid value for `bf-error-rate`"),
                ("bf-error-rate", "x", "Invalid value for `bf-error-rate`"),
                ("bf-initial-size", "0", "Value for `bf-initial-size` must be in the range [1, "
                 "1073741824]"),
                ("bf-initial-size", "4294967296", "must be in the range [1, 1073741824]"),
                ("bf-initial-size", "ten", "Invalid value for `bf-initial-size`"),
                ("bf-expansion-factor", "-1", "must be in the range [0, 32768]"),
                ("bf-expansion-factor", "32769", "must be in the range [0, 32768]")):
            for spell in ("{}", "deja.{}"):
                got = c("CONFIG", "SET", spell.format(name), value)
                assert isinstance(got, Error) and text in got, (name, value, got)
        expect(defaults(c), ["0.01", "100", "2"])
        got = c("CONFIG", "SET", "bf-unknown", "1")
        assert isinstance(got, Error) and "bf-unknown" in got, got
        expect(c("CONFIG", "GET", "cf-bucket-size"), [])


@case
def one_name_in_the_configuration_is_enough():
    """The defaults of the other names of a setting change nothing."""
    lines = (("--deja.bf-error-rate", "0.005", "--deja.bloom-capacity", "500",
              "--deja.bloom-expansion", "5", "--deja.filter-max-bytes", "1gb"),
             ("--deja.bloom-fp-rate", "0.005", "--deja.bf-initial-size", "500",
              "--deja.bf-expansion-factor", "5", "--deja.bloom-memory-usage-limit", "1gb"))
    for options in lines:
        with Server(*options) as server:
            c = server.raw()
            eight = is_redis_8(c)
            expect(defaults(c), ["0.005", "500", "5"])
            expect(effective(c), [0.005, 500.0, 5.0])
            expect(get(c, "deja.filter-max-bytes"), str(2**30))
    if not eight:
        return
    for options in (("--bf-error-rate", "0.005", "--bf-initial-size", "500",
                     "--bf-expansion-factor", "5"),
                    ("--bf.bloom-fp-rate", "0.005", "--bf.bf-initial-size", "500",
                     "--bf.bloom-expansion", "5")):
        with Server(*options) as server:
            expect(defaults(server.raw()), ["0.005", "500", "5"])


@case
def settings_survive_a_rewrite_of_the_configuration():
    os.makedirs("rewrite", exist_ok=True)
    path = os.path.abspath("rewrite/server.conf")
    with open(path, "w") as f:
        f.write(f"loadmodule {MODULE} INITIAL_SIZE 200\n")
    for turn in range(2):
        port = free_port()
        p = subprocess.Popen([BINARY, path, "--port", str(port), "--bind", "127.0.0.1",
                              "--save", "", "--dir", os.path.abspath("rewrite")], env=environment(), stdout=subprocess.DEVNULL)
        try:
            def answers():
                assert p.poll() is None
                try:
                    return redis.Redis("127.0.0.1", port).ping()
                except redis.exceptions.ConnectionError:
                    return False
            until("server answers", answers)
            c = Raw(port)
            expect(defaults(c), [["0.01", "200", "2"], ["0.003", "200", "7"]][turn])
            c("CONFIG", "SET", "bf-error-rate", "0.003", "bf.bloom-expansion", "7")
            expect(c("CONFIG", "REWRITE"), "OK")
        finally:
            p.terminate()
            p.wait()


@case
def loadmodule_takes_the_arguments_of_redisbloom():
    for arguments, want in (
            (("ERROR_RATE", "0.004", "INITIAL_SIZE", "400"), ["0.004", "400", "2"]),
            (("error_rate", "0.004", "EXPANSION", "3", "CF_MAX_EXPANSIONS", "16"),
             ["0.004", "100", "3"]),
            (("bf-error-rate", "0.004", "bf-initial-size", "400", "bf-expansion-factor", "0"),
             ["0.004", "400", "0"])):
        with Server(arguments=arguments) as server:
            expect(defaults(server.raw()), want, arguments)
    with Server("--deja.bf-initial-size", "900",
                arguments=("INITIAL_SIZE", "400", "ERROR_RATE", "0.004")) as server:
        expect(defaults(server.raw()), ["0.004", "900", "2"], "a setting wins over an argument")


@case
def wrong_arguments_stop_the_load_with_a_message():
    for arguments, text in ((("ERROR_RATE",), "pairs"), (("SPEED", "9"), "unknown argument"),
                            (("ERROR_RATE", "7"), "must be in the range (0.000000, 1.000000)"),
                            (("INITIAL_SIZE", "x"), "Invalid value"),
                            (("AS", "ft"), "can be deja or bf")):
        p = subprocess.run([BINARY, "--port", str(free_port()), "--save", "", "--loadmodule", MODULE,
                            *arguments], capture_output=True, text=True, env=environment(),
                           timeout=600)
        assert p.returncode != 0 and text in p.stdout + p.stderr, (arguments, p.stdout, p.stderr)


@case
def the_module_can_have_the_name_of_redisbloom():
    """Then settings in files start with bf., as with Valkey's module."""
    with Server("--bf.bloom-fp-rate", "0.005", "--bf.bf-initial-size", "500",
                arguments=("AS", "bf")) as server:
        c = server.raw()
        expect(defaults(c), ["0.005", "500", "2"])
        expect(effective(c), [0.005, 500.0, 2.0])
        expect(get(c, "bf.bloom-capacity"), "500")
        expect(get(c, "bf.bf-error-rate"), "0.005")
        names = [m[m.index(b"name") + 1] for m in c("MODULE", "LIST")]
        assert b"bf" in names and b"deja" not in names, names
        dump = c("DUMP", "probe")
    with Server() as server:  # the data are the same under either name
        c = server.raw()
        expect(c("RESTORE", "probe", 0, dump), "OK")
        expect(c("BF.EXISTS", "probe", "x"), 1)


run(globals())
