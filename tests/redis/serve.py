"""serve - `deja serve` finds the server and the module, and says what is missing."""

import os
import signal
import subprocess

from redisrun import BINARY, MODULE, case, environment, free_port, redis, run, until

DEJA = os.environ["DEJA"]


def serve(*words, **more):
    env = environment()
    env.update(more.pop("env", {}))
    return subprocess.Popen([DEJA, "serve", *words], env=env, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, **more)


def fails(text, *words, **more):
    p = serve(*words, **more)
    out, err = p.communicate(timeout=600)
    assert p.returncode == 2 and text in err.decode(), (p.returncode, err)


@case
def a_server_runs_and_keeps_its_data():
    port = free_port()
    os.makedirs("data")
    for turn in range(2):
        p = serve("--port", str(port), "--dir", "data", "-m", "1G", "--", "--loglevel", "warning",
                  "--logfile", "log")
        try:
            r = redis.Redis("127.0.0.1", port)

            def answers():
                assert p.poll() is None, p.communicate()
                try:
                    return r.ping()
                except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                    return False

            until("server answers", answers)
            assert r.config_get("bind")["bind"] == "127.0.0.1"
            assert r.config_get("maxmemory")["maxmemory"] == str(2**30)
            assert r.config_get("appendonly")["appendonly"] == "yes"
            assert r.config_get("loglevel")["loglevel"] == "warning"
            assert r.execute_command("BF.ADD", "seen", "x") == (turn == 0)
        finally:
            p.send_signal(signal.SIGTERM)
            p.communicate(timeout=600)
        assert p.returncode == 0, p.returncode


@case
def the_error_names_what_is_missing():
    fails("valkey-server", env={"PATH": "/nonexistent"})
    fails("cannot run it", "--server", "/nonexistent/server")
    fails("cannot load it", "--module", "/nonexistent/deja.so", "--server", BINARY)
    fails("cannot keep data there", "--dir", "/nonexistent", "--module", MODULE)
    fails("--port", "--port", "70000")


run(globals())
