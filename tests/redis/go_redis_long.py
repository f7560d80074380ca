"""go_redis - go-redis (github.com/redis/go-redis/v9) talks to the module, unchanged.

Go downloads it into the test's own folder.  Without go or a module proxy, the test is skipped, with
a message."""

import os
import shutil
import subprocess
from pathlib import Path

from redisrun import Server, case, run, skip

CLIENT = "github.com/redis/go-redis/v9"
go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
if not go:
    skip("go is not here (Debian: golang-go)")
here = Path.cwd()
environment = dict(os.environ, GOPATH=str(here / "go"), GOCACHE=str(here / "cache"),
                   GOFLAGS="-modcacherw -mod=mod", GOTOOLCHAIN="local", GO111MODULE="on")
shutil.copy(Path(os.environ["SOURCE"]) / "tests/redis/go_client.go", here / "main.go")
Path("go.mod").unlink(missing_ok=True)
for command in (["mod", "init", "example.org/client"], ["get", CLIENT + "@latest"]):
    done = subprocess.run([go, *command], env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout[-2000:])
        skip(f"go cannot download {CLIENT}: no module proxy, or this go is too old?")
server = Server()


@case
def go_redis_works_unchanged():
    subprocess.run([go, "build", "-o", "client", "."], env=environment, check=True)
    for protocol in (2, 3):
        subprocess.run(["./client", str(server.port), str(protocol)], check=True)


with server:
    run(globals())
