"""killed.py MOMENTS - output before state: dedup --state is killed with SIGKILL at MOMENTS points.

The same list is deduplicated repeatedly with one state, by runs that are killed at a random moment,
until one run finishes; then again with a new state.  After every kill
  - the state opens (or does not exist yet), and
  - every line whose key it holds was handed over by one of the runs so far,
and in the end
  - the lines that were handed over are exactly those of the list.
Lines may be printed twice; this is counted.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import time

import dejarun

STATE = "seen.deja"
LEFTOVER = re.compile(r"\.seen\.deja\.\d+\.new")  # docs/format.md: a kill just before a rename

# Where lines come from: all at once, or a few at a time, with pauses that separate batches.
FILE, PACED = "file", "paced pipe"
# Where they go.  A slow reader blocks deja while it is writing its output.
OUTPUT, STDOUT, PIPE, SLOW = "-o file", "stdout to a file", "pipe", "slow reader"
# Output to a file counts as written when it is synced, every 2^18 new lines: needs a long list.
MANY, SOME, FEW = 330_000, 60_000, 12_000
# False positives would look like lost lines: keep them few, and the same in every run.
RATE = ["-p", "1e-9", "--seed", "7"]
GROWING = ["-k", "scalable", "-n", "1000", *RATE]
SCENES = [  # source, sink, lines, options
    (FILE, OUTPUT, MANY, RATE),
    (FILE, STDOUT, MANY, GROWING),
    (FILE, OUTPUT, MANY, ["-k", "exact", "-n", "330k"]),
    (FILE, PIPE, SOME, GROWING),
    (FILE, SLOW, SOME, GROWING),
    (FILE, SLOW, SOME, ["-k", "blocked", "-n", "60k", *RATE]),
    (FILE, SLOW, SOME, ["-k", "exact", "-n", "60k", "-j", "1"]),
    (PACED, PIPE, FEW, [*GROWING, "-j", "1"]),
    (PACED, PIPE, FEW, GROWING),
    (PACED, SLOW, FEW, ["-k", "classic", "-n", "20k", *RATE]),
]


class Scene:
    """One way of running `dedup`, with a state that lives in the folder `work`."""

    state = ["--state", "work/" + STATE]

    def __init__(self, source, sink, n, options, rng):
        self.source, self.sink, self.options, self.rng = source, sink, options, rng
        lines = dejarun.unique_lines(n)
        self.all = set(lines)
        # Repeats everywhere, so that output comes in small pieces and is buffered.
        mixed = lines + rng.sample(lines, n // 8)
        rng.shuffle(mixed)
        self.data = b"\n".join(mixed) + b"\n"
        with open("list", "wb") as f:
            f.write(self.data)
        self.kills = self.twice = self.leftovers = 0
        self.duration = 0.0
        self.start_over()

    def name(self):
        return f"{self.source} to {self.sink} with {' '.join(self.options)}"

    def start_over(self):
        shutil.rmtree("work", ignore_errors=True)
        os.mkdir("work")
        self.handed_over = set()

    def start(self, args, stdin, stdout, moment):
        return dejarun.start(*args, stdin=stdin, stdout=stdout)

    def end(self, process, moment):
        """Waits for the end, or kills the process after that time."""
        try:
            process.wait(dejarun.PATIENCE if moment is None else moment)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            if moment is None:
                dejarun.fail("hangs: " + self.name())

    def run(self, moment):
        """One run, killed at that moment (None: never).  True if it finished."""
        args = ["dedup", "-q", *self.state, *self.options]
        stdin, stdout = subprocess.DEVNULL, subprocess.PIPE
        if self.source == FILE:
            args.append("list")
        else:
            stdin = subprocess.PIPE
        if self.sink == OUTPUT:
            args += ["-o", "out"]
            stdout = subprocess.DEVNULL
        elif self.sink == STDOUT:
            stdout = open("out", "wb")
        began = time.monotonic()
        process = self.start(args, stdin, stdout, moment)
        errors = dejarun.Collector(process.stderr)
        collector = None
        if self.sink in (PIPE, SLOW):
            pace = (8192, 0.0005) if self.sink == SLOW else (1 << 16, 0)
            collector = dejarun.Collector(process.stdout, *pace)
        feeder = None
        if self.source == PACED:
            feeder = dejarun.Feeder(process.stdin, self.data, 6000, 0.004)
        self.end(process, moment)
        lived = time.monotonic() - began
        if feeder:
            feeder.finish()
        out = collector.finish() if collector else b""
        if self.sink == STDOUT:
            stdout.close()
        if os.path.exists("out"):
            with open("out", "rb") as f:
                out = f.read()
            os.unlink("out")
        text = errors.finish().decode(errors="replace")
        if process.returncode not in (0, -9):
            dejarun.fail(f"exit {process.returncode}: {self.name()}: {text}")
        self.take(out)
        if process.returncode == 0:
            self.duration = max(self.duration, lived)
        return process.returncode == 0

    def take(self, out):
        lines = dejarun.whole_lines(out)
        fresh = set(lines)
        self.twice += len(lines) - len(fresh - self.handed_over)
        self.handed_over |= fresh

    def check_state(self):
        names = set(os.listdir("work"))
        self.leftovers += sum(1 for name in names if LEFTOVER.fullmatch(name))
        strange = [name for name in names if name != STATE and not LEFTOVER.fullmatch(name)]
        if strange:
            dejarun.fail(f"left behind: {strange}")
        for name in names - {STATE}:
            os.unlink("work/" + name)
        if STATE not in names:
            return
        status, out, err = dejarun.run("check", "-q", "work/" + STATE, "list")
        if status not in (0, 1):
            dejarun.fail(f"the state does not open: {self.name()}: {err}")
        lost = set(dejarun.whole_lines(out)) - self.handed_over
        if lost:
            dejarun.fail(f"{len(lost)} keys recorded before their lines were out: {self.name()}")

    def finish(self):
        if self.handed_over != self.all:
            missing = len(self.all - self.handed_over)
            invented = len(self.handed_over - self.all)
            dejarun.fail(f"{missing} lines missing, {invented} invented: {self.name()}")
        status, _, err = dejarun.run("verify", self.state[1])
        if status != 0:
            dejarun.fail(f"the state is not intact in the end: {self.name()}: {err}")
        self.start_over()

    def play(self, moments):
        self.run(None)  # to learn how long it takes
        self.finish()
        while self.kills < moments:
            if self.run(self.rng.uniform(0, self.duration)):
                self.finish()
            else:
                self.kills += 1
                self.check_state()
        self.run(None)
        self.finish()
        print(
            f"{self.kills} kills, {self.twice} lines twice, {self.leftovers} leftovers: {self.name()}"
        )


def shares(moments, scenes):
    """(scene, its share of the moments), of equal sizes."""
    for i, scene in enumerate(scenes):
        yield scene, moments * (i + 1) // len(scenes) - moments * i // len(scenes)


def main():
    rng = random.Random(20)
    for scene, share in shares(int(sys.argv[1]), SCENES):
        Scene(*scene, rng).play(share)


if __name__ == "__main__":
    main()
