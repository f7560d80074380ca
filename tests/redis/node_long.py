"""node - node-redis (npm packages redis and @redis/bloom) talks to the module, unchanged.

The packages are installed in the test's own folder, the newest major version that the installed
node takes.  Without node, npm or the registry the test is skipped, with a message."""

import os
import re
import shutil
import subprocess
from pathlib import Path

from redisrun import Server, case, run, skip

for tool in ("node", "npm"):
    if not shutil.which(tool):
        skip(f"{tool} is not here (Debian: nodejs, npm)")


def output(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


NODE = int(re.match(r"v(\d+)", output("node", "--version")).group(1))
MAJOR = 6 if NODE >= 20 else 5
if NODE < 18:
    skip(f"node {NODE} is too old for node-redis: 18 or newer")
installed = subprocess.run(
    ["npm", "install", "--no-audit", "--no-fund", "--no-save", "--ignore-scripts", "--prefix", ".",
     "--cache", "npm-cache", "--fetch-retries", "1", f"redis@{MAJOR}", f"@redis/bloom@{MAJOR}"],
    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
if installed.returncode:
    print(installed.stdout)
    skip(f"npm cannot install redis@{MAJOR} and @redis/bloom@{MAJOR}: no registry?")
server = Server()


@case
def node_redis_helpers_work_unchanged():
    program = shutil.copy(Path(os.environ["SOURCE"]) / "tests/redis/node_client.js", ".")
    for protocol in (2, 3):
        print(output("node", program, str(server.port), str(protocol)))


with server:
    run(globals())
