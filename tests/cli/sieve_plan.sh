# deja plan --sieve: predictions; the disk's speed is given, so that they are the same everywhere.
. "$SUPPORT/cases.sh"

a_plan_fits_80_columns() {
    succeeds deja plan --sieve -n 1e10 -m 4G --disk-speed 500M
    expect_stdout_has "A sieve for 10,000,000,000 keys"
    expect_stdout_has "  memory      4.3 GB"
    expect_stdout_has "  lost        none, certain to 1 in 10^9"
    expect_stdout_has "Disk: 524.3 MB/s, as given"
    expect_stdout_has "  deja dedup --sieve DIR -m 4G"
    cp .stdout plan
    succeeds deja plan --sieve -n 1e9 --lines 3e9 -m 512M --disk-speed 80M
    expect_stdout_has "A sieve for 1,000,000,000 keys in 3,000,000,000 lines"
    cat .stdout >>plan
    awk 'length($0) > 80' plan | grep . && fail "a line is too long"
    return 0
}

json_has_the_same_numbers() {
    succeeds deja plan --sieve -n 1e8 --lines 2e8 -m 64M --disk-speed 100M --json
    python3 - <<'END' || fail "wrong report"
import json
p = json.load(open(".stdout"))
assert p["keys"] == 10**8 and p["lines"] == 2 * 10**8 and p["memory"] == 64 << 20
assert p["disk_reads"] == p["disk_writes"] == 100 << 20 and not p["disk_measured"]
sizes = p["sizes"]
assert [s["memory"] >> 20 for s in sizes] == [4, 16, 64, 256, 1024]
for less, more in zip(sizes, sizes[1:]):
    assert less["late"] >= more["late"] and less["passes"] >= more["passes"]
for s in sizes:
    assert abs(s["seconds"] - (s["read"] + s["written"]) / p["disk_reads"]) < 1e-6 * s["seconds"]
    assert 0 <= s["late_share"] <= s["wait_rate"] <= 1 and s["disk_most"] >= s["disk"] > 0
    assert abs(s["wrong"] / (10.0**16 / 2**97) - 1) < 1e-9
END
    # Small sieves are not planned below the least memory.
    succeeds deja plan --sieve -n 1000 -m 1M --disk-speed 100M --json
    [ "$(python3 -c 'import json; print(len(json.load(open(".stdout"))["sizes"]))')" -eq 3 ] ||
        fail "wrong sizes"
}

a_sieve_costs_what_was_planned() {
    all_new_urls 200000 >list
    deja build -m 1M --sieve --json s list >report
    succeeds deja plan --sieve -n 200000 -m 1M --disk-speed 100M --json
    python3 - <<'END' || fail "$(cat report)"
import json
made, planned = json.load(open("report")), json.load(open(".stdout"))["sizes"][0]
assert planned["memory"] == 1 << 20
assert abs(made["disk_bytes"] / planned["disk"] - 1) < 0.3, planned
assert abs(made["passes"] - planned["passes"]) <= 1, planned
END
}

the_disk_is_measured() {
    mkdir there
    succeeds deja plan --sieve -n 1e8 -m 64M --measure there --json
    python3 - <<'END' || fail "wrong report"
import json
p = json.load(open(".stdout"))
assert p["disk_measured"] and p["disk_reads"] > 0 and p["disk_writes"] > 0
END
    [ -z "$(find there -mindepth 1)" ] || fail "a file was left"
    succeeds deja plan --sieve -n 1e8 -m 64M --measure there
    grep -qE '^Disk: reads .*/s and writes .*/s, measured with .* in there$' .stdout || fail "no speed"
    fails_with 2 "missing: cannot measure the disk there: No such file or directory" \
        deja plan --sieve -n 1e8 --measure missing
    expect_stderr_has "give --disk-speed"
}

misuse_is_refused() {
    fails_with 2 "give the number of keys, -n N" deja plan --sieve
    fails_with 2 "--sieve needs -n and takes -m: omit -p" deja plan --sieve -n 5 -p 0.1
    fails_with 2 "--lines is for sieves: give --sieve" deja plan -n 5 --lines 6
    fails_with 2 "--disk-speed is for sieves: give --sieve" deja plan -n 5 --disk-speed 6M
    fails_with 2 "--lines is the number of lines" deja plan --sieve -n 5 --lines 4
    fails_with 2 "give one of them" deja plan --sieve -n 5 --measure . --disk-speed 5M
    fails_with 2 "a sieve needs at least" deja plan --sieve -n 5 -m 5k --disk-speed 5M
    fails_with 2 "--disk-speed" deja plan --sieve -n 5 --disk-speed 0
}

cases "$@"
