# deja bench: every kind is measured and reported.  The figures are not checked, because the machine
# that runs the tests may be busy.
. "$SUPPORT/cli.sh"

# --- JSON: the machine, the limits, every kind and every operation --------------
succeeds deja bench -q --quick -n 100k --json --csv bench.csv
expect_stderr_empty
cp .stdout bench.json
python3 - bench.json <<'END' || fail "the JSON is not what it should be"
import json
import sys

report = json.load(open(sys.argv[1]))
for field in ("version", "cpu", "compiler", "flags", "simd", "huge_pages"):
    assert isinstance(report[field], str) and report[field], field
assert report["memory_available"] > 0
kinds = {case["kind"] for case in report["cases"]}
assert kinds >= {"blocked", "classic", "exact", "paired", "scalable", "spectral", "static", "window",
                 "hash table"}, kinds
assert [c["p"] for c in report["cases"] if c["kind"] == "blocked"] == [0.01, 1e-6, 0.01]

contains = {"contains absent", "contains present", "contains half"}
every = contains | {"add new", "add 90% new", "add 50% new", "add 10% new", "add present"}
assert {case["case"] for case in report["cases"]} == {"kinds", "threads", "growth"}
for case in report["cases"]:
    assert case["n"] == 100000
    for field in ("bytes", "bits_per_key", "hash_ns", "line_ns", "fused_ns", "line_changed_ns", "limit_ns",
                  "rounds", "keys_a_round", "key_bytes", "rate_probes"):
        assert case[field] > 0, (case["kind"], field)
    assert 0 <= case["rate"] < 0.05 and 40 < case["key_bytes"] < 80
    calls = {(o["call"], o["operation"]) for o in case["operations"]}
    if case["kind"] in ("libbloom", "hash table"):
        expected = ["one"]
    else:
        expected = ["batch", "2 threads", "batch after"] if case["case"] == "threads" else ["batch", "one"]
    assert {c for c, o in calls} == set(expected), calls
    for call in expected:
        # Nothing can be added to static, and window reports repeats as new.
        want = {"static": contains, "window": contains | {"add new"}}.get(case["kind"], every)
        assert {o for c, o in calls if c == call} == want, (case["kind"], call, calls)
    for o in case["operations"]:
        assert o["ns"] > 0 and o["ratio_fused"] > 0 and 0 < o["ratio_low"] <= o["ratio"] <= o["ratio_high"], o
jobs = {}
for job in report["jobs"]:
    jobs.setdefault(job["case"], []).append(job["job"])
    assert job["kind"] == "blocked" and job["n"] == 100000 and job["p"] == 0.01, job
    assert job["per"] in ("key", "line", "run") and job["limit"], job
    assert all(job[f] > 0 for f in ("bytes", "rounds", "ns", "limit_ns")), job
    assert 0 < job["ratio_low"] <= job["ratio"] <= job["ratio_high"], job
assert {case: len(names) for case, names in jobs.items()} == {"growth": 2, "files": 4}, jobs
assert [u["profile"] for u in report["canonical"]] == ["safe", "crawl", "gsb", "scrapy"]
for u in report["canonical"]:
    assert all(u[field] > 0 for field in ("hash_ns", "all_ns", "all_ratio")), u
    assert 0 <= u["changed_share"] < 0.5, u
END

# --- CSV: a header, and as many rows as the JSON has operations ------------------
python3 - bench.csv bench.json <<'END' || fail "the CSV is not what it should be"
import csv
import json
import sys

rows = list(csv.DictReader(open(sys.argv[1])))
report = json.load(open(sys.argv[2]))
assert len(rows) == sum(len(case["operations"]) for case in report["cases"]) + len(report["jobs"]), len(rows)
for row in rows:
    assert None not in row and None not in row.values() and float(row["ratio"]) > 0, row
END

# --- the table, one kind, a rate, keys from a list -------------------------------
deja gen -q -n 5000 >urls.txt
cat urls.txt urls.txt >twice.txt # repeats are omitted
succeeds deja bench --quick -k exact -n 20k --urls twice.txt
expect_stdout_has "keys: twice.txt"
expect_stdout_has "contains absent"
[ "$(grep -c '^exact ' .stdout)" -eq 2 ] || fail "not two rows for one kind"
expect_stderr_has "1 case, up to"
succeeds deja bench -q --quick -k blocked -n 20k -p 0.001 -o table.txt
expect_stdout ""
grep -q '^blocked *20k *0.001 ' table.txt || fail "no row for rate 0.001"

# --- cases by name ---------------------------------------------------------------
deja bench --list >list.txt
while read -r name _; do
    succeeds deja bench -q --quick -n 2k "$name" --json
    python3 - "$name" .stdout <<'END' || fail "case $name reports something else"
import json
import sys

report = json.load(open(sys.argv[2]))
assert {case["case"] for case in report["cases"] + report["jobs"]} <= {sys.argv[1]}
assert report["cases"] or report["jobs"] or report["canonical"]
assert bool(report["canonical"]) == (sys.argv[1] == "urls")
END
done <list.txt
succeeds deja bench -q --quick -n 2k growth -k exact
[ "$(grep -c '^grown from n/8 ' .stdout)" -eq 2 ] || fail "no rows for an exact filter that grew"
fails_with 2 "growth needs a kind that can grow" deja bench --quick -n 2k growth -k spectral

# --- files: none is left, also after an error --------------------------------------
mkdir dir
succeeds deja bench --quick -n 2k files --dir dir
expect_stdout_has "open, add one key, sync, close"
[ -z "$(ls -A dir)" ] || fail "files are left"
fails_with 2 "cannot create a directory in nowhere" deja bench --quick -n 2k files --dir nowhere
printf '%0600d\n' 0 | tr 0 d >long.txt
fails_with 2 "--dir: the name is too long" deja bench --quick -n 2k files --dir "$(cat long.txt)"

# --- errors -------------------------------------------------------------------------
fails_with 2 "--capacity" deja bench -n 10
fails_with 2 "unknown case 'file'" deja bench file
fails_with 2 "did you mean threads?" deja bench thread
fails_with 2 "nowhere.txt" deja bench --quick -n 20k --urls nowhere.txt
: >empty.txt
fails_with 2 "empty.txt has no line" deja bench --quick -n 20k --urls empty.txt
