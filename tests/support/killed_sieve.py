"""killed_sieve.py MOMENTS - dedup --sieve is killed with SIGKILL at MOMENTS changes of its files.

Moments are counted, not timed: tests/fault/killnth.c kills the command at the n-th change of a class,
such as a write to the spool, a rename of the manifest or the deletion of a run.  Classes take turns,
so that 40 kills reach all of them; n is random.  The memory is so small that lines wait, and runs
are flushed and merged and spools exchanged all the time.  After every kill
  - the sieve is intact (or does not exist yet),
and when a run finishes
  - the lines that were handed over are exactly those of the list,
  - the sieve is intact, and no file is left behind.
A run prints no line twice.  After a kill, lines may be printed again: those of a batch and what was
settled before it, or if the output is a file, which is synced first, those since the last commit.
"""

import collections
import json
import os
import random
import sys

import dejarun
import killed

SIEVE = "work/s"
OPTIONS = ["-m", "1M", "--seed", "7", "-j", "1"]
LATE = [*OPTIONS, "--late", "500"]  # many passes, and many spools
LINES = 70_000  # enough that the filter is saved
BATCH = 2048  # lines
COMMIT = 1 << 15  # new lines after which those in a file are synced and committed
SCENES = [
    (killed.FILE, killed.PIPE, LINES, LATE),
    (killed.FILE, killed.OUTPUT, LINES, OPTIONS),
    (killed.FILE, killed.STDOUT, LINES, LATE),
    (killed.FILE, killed.PIPE, LINES, ["-m", "1M", "--seed", "7"]),
]
# What a life of a sieve consists of.  (Output to a pipe and to a file have different classes.)
PHASES = {
    "write-log", "create-log", "delete-log", "sync-log",
    "write-spool", "create-spool", "delete-spool", "sync-spool",
    "write-unnamed", "link-run", "delete-run", "rename-manifest", "link-filter",
}


class SieveScene(killed.Scene):
    state = ["--sieve", SIEVE]
    turns = collections.Counter()  # kills of each class, in all scenes
    stages = collections.Counter()  # kills of a sieve that had runs, ...

    def __init__(self, *args):
        self.shim = dejarun.compile_shim("killnth")
        self.most_repeated = 0
        super().__init__(*args)

    def start(self, args, stdin, stdout, moment):
        wish = {"DEJA_KILL": f"{moment[0]} {moment[1]}"} if moment else {}
        return dejarun.start(*args, stdin=stdin, stdout=stdout, LD_PRELOAD=self.shim,
                             DEJA_KILL_COUNTS="counts", **wish)

    def end(self, process, moment):
        dejarun.wait(process)

    def take(self, out):
        lines = dejarun.whole_lines(out)
        fresh = set(lines)
        if len(fresh) != len(lines):
            dejarun.fail(f"{len(lines) - len(fresh)} lines twice in one run: {self.name()}")
        self.most_repeated = max(self.most_repeated, len(fresh & self.handed_over))
        if self.most_repeated > (BATCH + 1024 if self.sink == killed.PIPE else COMMIT + BATCH):
            dejarun.fail(f"{self.most_repeated} lines again after a kill: {self.name()}")
        super().take(out)

    def info(self):
        return json.loads(dejarun.succeed("info", "--json", SIEVE))[0]

    def check_state(self):
        if not os.path.exists(SIEVE + "/manifest"):
            return
        status, _, err = dejarun.run("verify", SIEVE)
        if status != 0:
            dejarun.fail(f"not intact after a kill: {self.name()}: {err}")
        info = self.info()
        for what in ("runs", "merges", "pending"):
            self.stages[what] += info[what] > 0

    def finish(self):
        names = sorted(name.split("-")[0] for name in os.listdir(SIEVE))
        want = ["filter.deja", "lock", "log", "manifest", *["run"] * self.info()["runs"], "spool"]
        if names != want:
            dejarun.fail(f"left behind: {names}")
        super().finish()

    def play(self, moments):
        self.run(None)  # how many changes of each class are there?
        with open("counts", encoding="utf-8") as f:
            counts = {name: int(n) for name, n in (line.split() for line in f)}
        self.finish()
        if lacking := PHASES - counts.keys():
            dejarun.fail(f"a life without {lacking}: {self.name()}")
        classes = sorted(counts)
        self.rng.shuffle(classes)
        while self.kills < moments:
            name = min(classes, key=lambda name: self.turns[name])
            if self.run((name, self.rng.randint(1, counts[name]))):
                self.finish()  # it had come too far for that change; now it begins anew
            else:
                self.turns[name] += 1
                self.kills += 1
                self.check_state()
        self.run(None)
        self.finish()
        print(f"{self.kills} kills, {self.twice} lines twice, at most {self.most_repeated} after "
              f"one kill: {self.name()}")


def main():
    rng = random.Random(20)
    moments = int(sys.argv[1])
    for scene, share in killed.shares(moments, SCENES):
        SieveScene(*scene, rng).play(share)
    print(dict(SieveScene.turns), "\nwith", dict(SieveScene.stages))
    if lacking := PHASES - SieveScene.turns.keys():
        dejarun.fail(f"no kill at {lacking}")
    if min(SieveScene.stages.values()) < moments / 10:
        dejarun.fail("too few kills of a sieve with runs, merges and waiting lines")


main()
