#!/usr/bin/env python3
"""measure.py RESULT LIMIT COMMAND... - run a command in a memory cgroup and measure it.

Writes "wall-seconds cpu-seconds peak-bytes limited" to RESULT.  LIMIT is in bytes and includes the
page cache; 0: no limit.  `limited` is 1 if the limit was set, and 0 if this system or user cannot
create a memory cgroup.  Standard input, output and error are the command's.
"""
import os
import resource
import sys
import time

V1 = "/sys/fs/cgroup/memory"
V2 = "/sys/fs/cgroup"


def cgroup(limit):
    """A new cgroup with this limit, or None."""
    for root, name in ((V1, "memory.limit_in_bytes"), (V2, "memory.max")):
        folder = f"{root}/deja-bench-{os.getpid()}"
        try:
            os.mkdir(folder)
        except OSError:
            continue
        try:
            with open(f"{folder}/{name}", "w") as f:
                f.write(str(limit))
            return folder
        except OSError:
            os.rmdir(folder)
    return None


def join(folder):
    with open(f"{folder}/cgroup.procs", "w") as f:
        f.write(str(os.getpid()))


result, limit, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
folder = cgroup(limit) if limit else None
begin = time.monotonic()
child = os.fork()
if child == 0:
    try:
        if folder:
            join(folder)
        os.execvp(command[0], command)
    except OSError as e:
        print(f"measure.py: {command[0]}: {e}", file=sys.stderr)
        os._exit(127)
_, status = os.waitpid(child, 0)
seconds = time.monotonic() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if folder:
    os.rmdir(folder)
with open(result, "w") as f:
    print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, int(bool(folder)), file=f)
sys.exit(os.waitstatus_to_exitcode(status) & 255)
