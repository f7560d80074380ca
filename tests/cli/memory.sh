# Memory: dedup needs little more than its filter, however long the list is.
. "$SUPPORT/cases.sh"

# _peak_kb ARG...: run deja and print its peak memory; lines are discarded, the report, which -o
# sends to standard output, goes to `report`.
_peak_kb() {
    python3 - "$@" <<'PY'
import resource, subprocess, sys, os
with open("report", "wb") as report, open(os.devnull, "wb") as nowhere:
    to_file = "-o" in sys.argv
    subprocess.run([os.environ["DEJA"], *sys.argv[1:]], stdout=report if to_file else nowhere,
                   stderr=nowhere if to_file else report, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PY
}

_within_32_mb() { # ARG...
    local peak filter
    peak=$(_peak_kb dedup --json "$@")
    filter=$(json_get filter_bytes report)
    [ "$peak" -le $((filter / 1024 + 32 * 1024)) ] ||
        fail "$peak kB for a filter of $((filter / 1024)) kB: $*"
}

a_list_of_100_megabytes_needs_little_memory() {
    awk 'BEGIN {
        for (i = 0; i < 1200000; i++)
            print "https://www.some-host-" i % 9973 ".example.org/a/path/that/is/rather/long/" i ".html?q=" i * 7
    }' >list
    [ "$(stat -c %s list)" -gt 100000000 ] || fail "the list is too short"
    _within_32_mb list
    _within_32_mb -j 1 list
    _within_32_mb -k exact list
    _within_32_mb --state seen.deja list
    _within_32_mb --state seen.deja list
    _within_32_mb -D list -o out
    rm seen.deja
    _within_32_mb --state seen.deja -o out list
}

# A state may be larger than memory: commands read its header, and the pages of the queried keys.
opening_a_large_file_does_not_read_it() {
    local command peak
    seq 10 >list
    deja build -q --fixed -m 256M large.deja list
    for command in "dedup -q --state large.deja list" "check -q large.deja list" \
        "add -q large.deja /dev/null"; do
        # shellcheck disable=SC2086
        peak=$(_peak_kb $command)
        [ "$peak" -le $((64 * 1024)) ] || fail "deja $command: $peak kB"
    done
}

cases "$@"
