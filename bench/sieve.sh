#!/usr/bin/env bash
# sieve.sh [PART...] - measure deja dedup --sieve.
#
#   memory   a list that fits into memory, compared with --state (MEMORY_KEYS, 1e7)
#   stores   more keys than memory, compared with sort -u and databases that put a key if it is
#            absent, all with STORES_MEMORY (128M) in a cgroup (STORES_KEYS, 1e8).  Each stops after
#            LIMIT seconds (600); its speed is then that of the lines it has read, which is too
#            good, because all of them get slower as they fill up
#   growth   10^7 to 10^9 keys in GROWTH_MEMORY (1G), compared with the forecast of deja plan
#            (GROWTH_KEYS, "1e7 1e8 1e9")
#   late     a filter that is far too small: LATE_MEMORY (320M) for LATE_LINES (1e9)
#
# Without PART, all.  In `stores`, `growth` and `late`, 30% of the lines are repeats, all lines come from
# `deja gen` through a pipe, and a sum of hashes proves that every distinct line came out exactly
# once.  The cgroup allows a tenth more than the memory, or 32 MB more if that is more, page cache and
# program included.  Files are in TMPDIR, which should be a disk.  Prints Markdown tables.
set -eu -o pipefail
cd "$(dirname "$0")/.."
source=$PWD
build=$source/build/release
if [ ! -x "$build/deja" ]; then
    { cmake --preset release && cmake --build --preset release; } >/dev/null
fi
deja=$build/deja
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
limit=${LIMIT:-600}
measure=$source/bench/stores/measure.py
gcc -O2 bench/stores/linesum.c -o "$work/linesum"

bytes() { # 128M -> 134217728
    numfmt --from=iec "${1%B}"
}
whole() { # 1e8 -> 100000000
    printf '%.0f' "$1"
}
# Lines of which 30% are repeats of this many keys.
lines_for() {
    awk -v n="$1" 'BEGIN { printf "%.0f", n / 0.7 }'
}
distinct() { # LINES: how many of them are distinct
    awk -v n="$1" 'BEGIN { printf "%d", n - int(0.3 * n + 0.5) }'
}
# The sum of the distinct lines among this many, computed once.
expected() {
    if [ ! -e "$work/sum-$1" ]; then
        "$deja" gen -q -n "$(distinct "$1")" | "$work/linesum" >"$work/sum-$1"
    fi
    cat "$work/sum-$1"
}
# verify NAME LINES FILE: the sum in the file is that of all distinct lines.
verify() {
    if [ "$(cat "$3")" != "$(expected "$2")" ]; then
        echo "sieve.sh: $1: lines are missing or repeated: $(cat "$3"), not $(expected "$2")" >&2
        exit 1
    fi
}
most_for() { # MEMORY: the limit of its cgroup
    echo $(($1 + ($1 / 10 > 32000000 ? $1 / 10 : 32000000)))
}
field() { # NAME FILE: a number of a JSON report
    sed -n "s/.*\"$1\": *\([0-9.eE+-]*\).*/\1/p" "$2" | head -n 1
}
heading() {
    echo
    echo "$1; $(date -u +%F); $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores"
    echo
}

# sieve LINES MEMORY: drops the repeats of generated lines with a new sieve in $work/s.
sieve() {
    local memory
    memory=$(bytes "$2")
    rm -rf "$work/s"
    "$deja" gen -q -n "$1" --repeats 0.3 |
        "$measure" "$work/measured" "$(most_for "$memory")" \
            "$deja" dedup --json --sieve "$work/s" -m "$memory" 2>"$work/report" |
        "$work/linesum" >"$work/sum" || {
        echo "sieve.sh: deja dedup --sieve -m $memory failed: $(cat "$work/report")" >&2
        exit 1
    }
    verify "dedup --sieve" "$1" "$work/sum"
    read -r wall cpu peak limited <"$work/measured"
}

part_memory() {
    local n name turn
    n=$(whole "${MEMORY_KEYS:-1e7}")
    "$deja" gen -q -n "$n" -o "$work/list"
    for ((turn = 0; turn < 5; turn++)); do
        for name in state sieve; do
            rm -rf "$work/new"
            "$measure" "$work/measured" 0 "$deja" dedup -q "--$name" "$work/new" "$work/list" >/dev/null
            echo "$name $(cat "$work/measured")" >>"$work/memory"
        done
    done
    rm -rf "$work/list" "$work/new"
    heading "$n new lines from a file, all in memory, medians of 5 turns"
    echo '| | seconds | processor seconds | peak memory |'
    echo '|---|---:|---:|---:|'
    for name in state sieve; do
        awk -v name=$name '$1 == name { n++; wall[n] = $2; cpu[n] = $3; peak = $4 }
            function median(a,   i, k, t) {
                for (i = 1; i <= n; i++) for (k = i + 1; k <= n; k++)
                    if (a[k] < a[i]) { t = a[i]; a[i] = a[k]; a[k] = t }
                return a[int((n + 1) / 2)] }
            END { printf "| --%s | %.2f | %.2f | %d MB |\n", name, median(wall), median(cpu), peak / 1e6 }' \
            "$work/memory"
    done
}

store_row() { # NAME LINES-READ SECONDS CPU COMPLETE
    awk -v name="$1" -v lines="$2" -v seconds="$3" -v cpu="$4" -v complete="$5" -v all="$total" 'BEGIN {
        printf "| %s | %s | %.0f | %.0f | %.0f |\n", name,
            complete ? "all" : sprintf("%.0f%%", 100 * lines / all), seconds, cpu, lines / seconds }'
}
part_stores() {
    local memory name library total
    total=$(lines_for "$(whole "${STORES_KEYS:-1e8}")")
    memory=$(bytes "${STORES_MEMORY:-128M}")
    heading "$total lines, $(distinct "$total") distinct, $memory bytes of memory, at most $limit s"
    echo '| | lines read | seconds | processor seconds | lines per second |'
    echo '|---|---:|---:|---:|---:|'
    sieve "$total" "$memory"
    store_row 'deja dedup --sieve' "$total" "$wall" "$cpu" 1
    rm -rf "$work/s"
    mkdir "$work/tmp"
    if "$deja" gen -q -n "$total" --repeats 0.3 |
        "$measure" "$work/measured" "$(most_for "$memory")" timeout $((3 * limit)) \
            env LC_ALL=C sort -u -S "$memory"b -T "$work/tmp" | "$work/linesum" >"$work/sum"; then
        verify 'sort -u' "$total" "$work/sum"
        read -r wall cpu peak limited <"$work/measured"
        store_row 'sort -u' "$total" "$wall" "$cpu" 1
    else
        echo "| sort -u | not finished after $((3 * limit)) s | | | |"
    fi
    rm -rf "$work/tmp"
    for name in sqlite lmdb rocksdb; do
        library=${name/sqlite/sqlite3}
        if ! gcc -O2 -D_GNU_SOURCE -I. "bench/stores/store_$name.c" -o "$work/store_$name" \
            "-l$library" 2>"$work/log"; then
            echo "| $name | left out: $(grep -m 1 error "$work/log") | | | |"
            continue
        fi
        mkdir "$work/store"
        { "$deja" gen -q -n "$total" --repeats 0.3 || true; } |
            "$measure" "$work/measured" "$(most_for "$memory")" \
                "$work/store_$name" "$work/store" "$memory" "$limit" 2>"$work/report" |
            "$work/linesum" >"$work/sum"
        rm -rf "$work/store"
        local lines
        IFS=$'\t' read -r lines _ <"$work/report"
        read -r wall cpu peak limited <"$work/measured"
        if [ "$lines" = "$total" ]; then verify "$name" "$total" "$work/sum"; fi
        store_row "$name" "$lines" "$wall" "$cpu" $((lines == total))
    done
    if [ "$limited" = 0 ]; then echo; echo 'No memory cgroup could be created: the page cache was not limited.'; fi
}

growth_row() { # LINES MEMORY
    local keys forecast
    keys=$(distinct "$1")
    forecast=$("$deja" plan --sieve -n "$keys" --lines "$1" -m "$2" --disk-speed 1G --json |
        python3 -c 'import json, sys
f = next(s for s in json.load(sys.stdin)["sizes"] if s["memory"] == int(sys.argv[1]))
print(f["passes"], round(f["late"]))' "$2")
    awk -v keys="$keys" -v lines="$1" -v wall="$wall" -v cpu="$cpu" -v peak="$peak" -v forecast="$forecast" \
        -v late="$(field late "$work/report")" -v passes="$(field passes "$work/report")" \
        -v disk="$(field disk_bytes "$work/report")" 'BEGIN {
        split(forecast, f, " ")
        printf "| %.0e | %.0f | %.2f | %.2f | %d | %.2f | %d | %d | %d | %d |\n", keys, wall,
            wall / lines * 1e6, cpu / lines * 1e6, peak / 1e6, disk / keys, passes, f[1], late, f[2] }'
}
part_growth() {
    local keys memory=${GROWTH_MEMORY:-1G}
    heading "30% repeats through a pipe, -m $memory, every distinct line exactly once"
    echo '| keys | seconds | s per million lines | CPU s per million | resident MB | bytes per key on disk | passes | forecast | late lines | forecast |'
    echo '|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|'
    for keys in ${GROWTH_KEYS:-1e7 1e8 1e9}; do
        lines=$(lines_for "$(whole "$keys")")
        sieve "$lines" "$memory"
        growth_row "$lines" "$(bytes "$memory")"
    done
}

part_late() {
    local lines memory=${LATE_MEMORY:-320M}
    lines=$(whole "${LATE_LINES:-1e9}")
    sieve "$lines" "$memory"
    heading "$lines lines, 30% repeats, -m $memory: a filter that is far too small"
    echo "$(field kept "$work/report") lines out, each distinct line exactly once;"
    echo "$(field late "$work/report") of them late, $(field passes "$work/report") passes, $(awk -v s="$wall" -v c="$cpu" 'BEGIN { printf "%.0f s, %.0f s of processor time", s, c }')"
    echo "a new line waits with probability $(field wait_rate "$work/report") at the end"
}

if [ $# -eq 0 ]; then set -- memory stores growth late; fi
for part; do
    case $part in
    memory | stores | growth | late) "part_$part" ;;
    *)
        echo "sieve.sh: unknown part $part: memory, stores, growth or late" >&2
        exit 2
        ;;
    esac
done
