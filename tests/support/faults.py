"""Every command with its n-th system call failing, for n = 1, 2, .. until a run is not affected.

    faults.py [--all] [SCENARIO...]

tests/fault/failnth.c makes calls fail.  After each run:

  - it ended by itself: with exit 2 and a message that names a file and a reason or, if the failure
    was harmless, with the messages and results of an undisturbed run
  - every key that was in a filter file before is still in it, and the file opens
  - there is no new file except results
  - dedup: the next run prints the lines that this one did not

Without --all, only the first and some later ones of frequent calls are tried.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import dejarun

DEJA = os.environ["DEJA"]
SOURCE = Path(os.environ["SOURCE"])
PATIENCE = 600
SHIM = Path.cwd() / "failnth.so"

FAULTS = {
    "malloc": ["ENOMEM"],
    "mmap": ["ENOMEM"],
    "read": ["EIO", "EINTR", "short"],
    "pread": ["EIO", "EINTR", "short"],
    "write": ["ENOSPC", "EINTR", "short"],
    "pwrite": ["ENOSPC", "EINTR", "short"],
    "open": ["EMFILE", "EACCES"],
    "fstat": ["EIO"],
    "flock": ["EIO"],
    "fsync": ["EIO"],
    "msync": ["EIO"],
    "ftruncate": ["EIO"],
    "fallocate": ["ENOSPC"],
    "rename": ["EACCES"],
    "link": ["EACCES"],
    "close": ["EIO"],
}


class Scenario:
    """A command line, and what must hold after it, whatever happened.

    files, and folders: copied into the folder; keeps: {filter file: list of the keys that stay in it};
    makes: {file: list of keys} that a successful run leaves; dedup: prints lines once;
    sieve: is intact, whatever happened."""

    def __init__(self, name, args, files, keeps=None, makes=None, dedup=False, output=None,
                 compare=True, rotates=False, harmless=(0,), sieve=None):
        self.name, self.args, self.files = name, args.split(), files.split()
        self.keeps, self.makes = keeps or {}, makes or {}
        self.dedup, self.output, self.compare = dedup, output, compare
        self.rotates, self.harmless, self.sieve = rotates, harmless, sieve


SCENARIOS = [
    Scenario("dedup", "dedup -j1 -n 5000 new.txt", "new.txt"),
    Scenario("dedup_threads", "dedup -j2 -n 5000 new.txt", "new.txt"),
    Scenario("dedup_gzip", "dedup -j1 -n 5000 new.txt.gz", "new.txt.gz"),
    Scenario("dedup_zstd", "dedup -j1 -n 5000 new.txt.zst", "new.txt.zst"),
    Scenario("dedup_xz", "dedup -j1 -n 5000 new.txt.xz", "new.txt.xz"),
    Scenario("dedup_bzip2", "dedup -j1 -n 5000 new.txt.bz2", "new.txt.bz2"),
    Scenario("dedup_url", "dedup -j1 --url=crawl --drop-params drop.txt -n 5000 new.txt",
             "new.txt drop.txt"),
    Scenario("dedup_state", "dedup -j1 --state state.deja new.txt", "new.txt state.deja",
             {"state.deja": "old.txt"}, {"state.deja": "new.txt"}, dedup=True),
    Scenario("dedup_state_to_file", "dedup -j1 --state state.deja -o out.txt new.txt",
             "new.txt state.deja", {"state.deja": "old.txt"}, {"state.deja": "new.txt"},
             dedup=True, output="out.txt"),
    Scenario("dedup_new_state", "dedup -j1 --state fresh.deja -n 5000 new.txt", "new.txt", {},
             {"fresh.deja": "new.txt"}, dedup=True),
    Scenario("dedup_growing_state", "dedup -j1 --state grow.deja new.txt", "new.txt grow.deja",
             {"grow.deja": "old.txt"}, {"grow.deja": "new.txt"}, dedup=True),
    Scenario("dedup_sieve", "dedup -j1 -m 1M --sieve lines.sieve mixed.txt",
             "mixed.txt lines.sieve", dedup=True, sieve="lines.sieve"),
    Scenario("build", "build -j1 -n 5000 out.deja new.txt", "new.txt", {},
             {"out.deja": "new.txt"}),
    Scenario("build_with_key", "build -j1 -n 5000 --key key out.deja new.txt", "new.txt key",
             {}, {"out.deja": None}),
    Scenario("build_growing", "build -j1 -k scalable -n 300 out.deja new.txt", "new.txt", {},
             {"out.deja": "new.txt"}),
    Scenario("build_over", "build -j1 --force -n 5000 state.deja all.txt", "all.txt state.deja",
             {"state.deja": "old.txt"}, {"state.deja": "all.txt"}),
    Scenario("build_static", "build -j1 -k static out.deja new.txt", "new.txt", {},
             {"out.deja": "new.txt"}),
    Scenario("add", "add -j1 state.deja new.txt", "new.txt state.deja",
             {"state.deja": "old.txt"}, {"state.deja": "new.txt"}),
    Scenario("add_growing", "add -j1 grow.deja new.txt", "new.txt grow.deja",
             {"grow.deja": "old.txt"}, {"grow.deja": "new.txt"}),
    Scenario("merge", "merge -o out.deja a.deja b.deja", "a.deja b.deja",
             {"a.deja": "old.txt", "b.deja": "more.txt"}, {"out.deja": "all.txt"}),
    Scenario("merge_over", "merge -o a.deja a.deja b.deja", "a.deja b.deja",
             {"a.deja": "old.txt", "b.deja": "more.txt"}, {"a.deja": "all.txt"}),
    Scenario("common", "merge --common a.deja b.deja", "a.deja b.deja",
             {"a.deja": "old.txt", "b.deja": "more.txt"}),
    Scenario("fold", "fold a.deja", "a.deja", {"a.deja": "old.txt"}, {"a.deja": "old.txt"}),
    Scenario("fold_to", "fold -o out.deja a.deja", "a.deja", {"a.deja": "old.txt"},
             {"out.deja": "old.txt"}),
    Scenario("rotate", "rotate state.deja", "state.deja", {"state.deja": "old.txt"},
             {"state.deja": None}, rotates=True),
    Scenario("remove", "remove -j1 counted.deja some.txt", "some.txt counted.deja",
             {"counted.deja": "rest.txt"}, {"counted.deja": "rest.txt"}),
    Scenario("count", "count -j1 counted.deja old.txt", "old.txt counted.deja",
             {"counted.deja": "old.txt"}),
    Scenario("check", "check -j1 state.deja new.txt", "new.txt state.deja",
             {"state.deja": "old.txt"}),
    Scenario("check_static", "check -j1 -v static.deja new.txt", "new.txt static.deja",
             {"static.deja": "old.txt"}),
    Scenario("sieve_build", "build -j1 -m 1M --sieve out new.txt", "new.txt", {},
             {"out": "new.txt"}),
    Scenario("sieve_build_over", "build -j1 -m 1M --sieve --force a.sieve all.txt",
             "all.txt a.sieve", {"a.sieve": "old.txt"}, {"a.sieve": "all.txt"}),
    Scenario("sieve_add", "add -j1 -m 1M a.sieve new.txt", "new.txt a.sieve",
             {"a.sieve": "old.txt"}, {"a.sieve": "new.txt"}),
    Scenario("sieve_check", "check -j1 -m 1M a.sieve new.txt", "new.txt a.sieve",
             {"a.sieve": "old.txt"}),
    Scenario("sieve_merge", "merge -o out a.sieve b.sieve", "a.sieve b.sieve",
             {"a.sieve": "old.txt", "b.sieve": "more.txt"}, {"out": "all.txt"}),
    Scenario("sieve_merge_into", "merge -o a.sieve a.sieve b.sieve", "a.sieve b.sieve",
             {"a.sieve": "old.txt", "b.sieve": "more.txt"}, {"a.sieve": "all.txt"}),
    Scenario("sieve_to_filter", "build -j1 --from-sieve a.sieve out.deja", "a.sieve",
             {"a.sieve": "old.txt"}, {"out.deja": "old.txt"}),
    Scenario("verify", "verify state.deja", "state.deja", {"state.deja": "old.txt"}),
    Scenario("repair", "verify --repair open.deja", "open.deja", {"open.deja": "members.txt"},
             {"open.deja": "members.txt"}),
    Scenario("info", "info state.deja grow.deja", "state.deja grow.deja",
             {"state.deja": "old.txt"}),
    Scenario("url", "url --segments new.txt", "new.txt"),
]


def deja(*args, cwd, **fault):
    env = dict(os.environ, LD_PRELOAD=str(SHIM), **fault)
    done = subprocess.run([DEJA, *args], cwd=cwd, env=env, stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr.decode(errors="replace")


def must(*args, cwd):
    status, out, err = deja(*args, cwd=cwd)
    if status not in (0, 1):
        sys.exit(f"FAIL: deja {' '.join(args)}: exit {status}: {err}")
    return out


def prepare(top):
    """Makes the files that scenarios start with."""
    def lines(name, numbers):
        (top / name).write_text("".join(f"https://example.org/page/{i}.html\n" for i in numbers))

    lines("old.txt", range(0, 1000))
    lines("more.txt", range(900, 2000))
    lines("all.txt", range(0, 2000))
    lines("new.txt", [*range(500, 2500), *range(600, 700)])
    lines("some.txt", range(0, 400))
    lines("rest.txt", range(400, 1000))
    (top / "drop.txt").write_text("ref\nsession_*\n")
    (top / "key").write_bytes(bytes(range(32)))
    os.chmod(top / "key", 0o600)
    subprocess.run("gzip -k new.txt && zstd -q new.txt && xz -k new.txt && bzip2 -k new.txt", shell=True, check=True, cwd=top)
    must("dedup", "-q", "--state", "state.deja", "-n", "5000", "old.txt", cwd=top)
    must("build", "-q", "-k", "scalable", "-n", "600", "grow.deja", "old.txt", cwd=top)
    must("build", "-q", "-k", "spectral", "-n", "2000", "counted.deja", "old.txt", cwd=top)
    must("build", "-q", "-k", "static", "static.deja", "old.txt", cwd=top)
    for name, keys in (("a.deja", "old.txt"), ("b.deja", "more.txt")):
        must("build", "-q", "--seed", "1", "-m", "16KiB", "-n", "2000", name, keys, cwd=top)
    # Of these lines, many wait; a flush begins a merge.
    lines("many.txt", range(0, 56000))
    lines("mixed.txt", [*range(55000, 60500), *range(60000, 60500)])
    must("dedup", "-q", "-m", "1M", "--seed", "7", "--sieve", "lines.sieve", "many.txt", cwd=top)
    for name, keys in (("a.sieve", "old.txt"), ("b.sieve", "more.txt")):
        must("build", "-q", "--seed", "1", "--sieve", name, keys, cwd=top)
    for name in ("open.deja", "members.txt"):  # a file that was not synced
        shutil.copy(SOURCE / "tests" / "format" / "golden" / "v1" / name, top)


class Wrong(Exception):
    """A check that failed."""


class Trial:
    """One run of a scenario with a fault."""

    def __init__(self, top, scenario, fault):
        self.top, self.s, self.fault = top, scenario, fault
        self.folder = top / "trial"

    def fail(self, text):
        command = " ".join(self.s.args)
        raise Wrong(f"FAIL: DEJA_FAIL='{self.fault}' deja {command}\n  {text}\n"
                    f"  exit {self.status}, standard error: {self.err}")

    def run(self):
        """False if the call was never made."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        for name in self.s.files:
            copy = shutil.copytree if (self.top / name).is_dir() else shutil.copy
            copy(self.top / name, self.folder / name)
        mark = self.top / "mark"
        mark.unlink(missing_ok=True)
        self.status, self.out, self.err = deja(*self.s.args, cwd=self.folder,
                                               DEJA_FAIL=self.fault, DEJA_FAIL_MARK=str(mark))
        if self.s.output and (self.folder / self.s.output).exists():
            self.out = (self.folder / self.s.output).read_bytes()
        return mark.exists()

    def holds(self, file, keys):
        status, _, err = deja("check", "-v", "-q", file, str(self.top / keys), cwd=self.folder)
        if status == 2:
            self.fail(f"{file} does not open: {err}")
        return status == 1

    def visit(self, file):
        return json.loads(must("info", "--json", file, cwd=self.folder))[0]["visit"]

    def check_end(self, want):
        status, out, _ = want
        if self.status == 2:
            if not self.err.startswith("deja"):
                self.fail("it does not say what failed")
            self.check_message()
        elif self.status != status:
            self.fail(f"exit {self.status} instead of {status} or 2")
        elif self.s.compare and self.out != out:
            self.fail("it says that all is well, and prints something else")

    def check_message(self):
        call, _, kind = self.fault.split()
        if call in ("malloc", "mmap"):
            reason = ("memory", "Cannot allocate", "cannot start a thread")
        else:
            reason = {"EIO": ("Input/output error",), "EACCES": ("Permission denied", "may not be"),
                      "EMFILE": ("Too many open files",), "ENOSPC": ("No space left",),
                      "EINTR": ("Interrupted",), "short": ("",)}[kind]
            names = [*self.s.files, *self.s.makes, "standard", self.s.output or "standard"]
            if not any(name in self.err for name in names):
                self.fail("it does not name a file")
        if not any(word.lower() in self.err.lower() for word in reason):
            self.fail(f"it does not say why: {reason[0]}")

    def check_files(self, done):
        for file, keys in self.s.keeps.items():
            if self.s.rotates and self.visit(file) == 2:
                continue
            if not self.holds(file, keys):
                self.fail(f"{file} has lost keys")
        for file, keys in self.s.makes.items():
            if done and keys and not self.holds(file, keys):
                self.fail(f"{file} lacks keys")
            if done and deja("verify", file, cwd=self.folder)[0] != 0:
                self.fail(f"{file} is not intact")
        if self.s.sieve:
            status, _, err = deja("verify", self.s.sieve, cwd=self.folder)
            if status != 0:
                self.fail(f"the sieve is not intact: {err}")
        known = {*self.s.files, *self.s.makes, self.s.output}
        strange = [name for name in os.listdir(self.folder)
                   if name not in known and not (self.status == 2 and name in self.err)]
        if strange:
            self.fail(f"left behind: {strange}")

    def check_dedup(self, want):
        """The next run prints the lines that this one did not."""
        if not self.s.dedup or self.status == 0:
            return
        if self.s.output:
            (self.folder / self.s.output).unlink(missing_ok=True)
        status, out, err = deja(*self.s.args, cwd=self.folder)
        if self.s.output and (self.folder / self.s.output).exists():
            out = (self.folder / self.s.output).read_bytes()
        if status != 0:
            self.fail(f"the next run fails: {err}")
        lost = set(want[1].split()) - set(self.out.split()) - set(out.split())
        if lost:
            self.fail(f"{len(lost)} lines are lost, such as {lost.pop()}")

    def check(self, want):
        if self.status not in (0, 1, 2):
            self.fail("it did not end by itself")
        self.check_end(want)
        self.check_files(self.status == 0)
        self.check_dedup(want)


def numbers(everything, phase):
    """Which calls fail: all, or the first ones and some others, which depend on the phase."""
    n = 1
    while True:
        yield n
        n += 1 if everything or n < 6 + phase % 4 else 1 + n // 3


def try_scenario(top, scenario, everything, seen):
    untouched = Trial(top, scenario, "none 1 EIO")
    untouched.run()
    want = untouched.status, untouched.out, untouched.err
    if want[0] == 2:
        untouched.fail("it fails without a fault")
    untouched.check_files(want[0] == 0)
    runs = failed = bad = 0
    for call, kinds in FAULTS.items():
        for kind in kinds:
            for n in numbers(everything, SCENARIOS.index(scenario)):
                trial = Trial(top, scenario, f"{call} {n} {kind}")
                if not trial.run():
                    break
                try:
                    trial.check(want)
                except Wrong as wrong:
                    bad += 1
                    print(wrong)
                runs += 1
                failed += trial.status == 2
                seen.setdefault(trial.err.strip().split("\n")[0], trial.fault)
    print(f"{scenario.name:22} {runs:5} faults, {failed:5} exit 2, {runs - failed:4} harmless")
    return runs, bad


def main():
    words = sys.argv[1:]
    everything, verbose = "--all" in words, "--verbose" in words
    wanted = [w for w in words if not w.startswith("--")]
    top = Path.cwd()
    dejarun.compile_shim("failnth")
    prepare(top)
    seen = {}
    results = [try_scenario(top, s, everything, seen) for s in SCENARIOS
               if not wanted or s.name in wanted]
    print(f"{sum(runs for runs, _ in results)} faults")
    if verbose:
        for text, fault in sorted(seen.items()):
            print(f"  {fault:24} {text}")
    return any(bad for _, bad in results)


sys.exit(main())
