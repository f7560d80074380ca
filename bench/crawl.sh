#!/usr/bin/env bash
# crawl.sh [PAGES] - compare deja crawl with wget -r on the same site of one local nginx, in turns.
#
# Prints the elapsed and CPU seconds of each turn, and the median ratios.  deja writes compressed
# WARC records, digests, a queue that survives kill -9 and a cache on disk; wget writes plain
# files, one per page, in memory (/dev/shm, or TMPDIR): on ext4 that costs wget 1 to 6 seconds of
# CPU time, depending on how many files were removed there in the last minutes.
# DEJA is the command (default build/release/deja), TURNS the number of turns, PER_HOST the number
# of concurrent requests per host.
set -eu -o pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=bench/localsite.sh
. "$here/bench/localsite.sh"
deja=${DEJA:-$here/build/release/deja}
pages=${1:-5000}
turns=${TURNS:-5}
per_host=${PER_HOST:-8}
memory=${TMPDIR:-$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)}
for tool in "$deja" "$(command -v wget || echo wget)"; do
    [ -x "$tool" ] || { echo "crawl.sh: $tool is missing; install it" >&2; exit 2; }
done

localsite "$pages" "$memory"

TIMEFORMAT='%R %U %S'
turn() { # NAME COMMAND...: prints "name seconds CPU-seconds"
    local name=$1
    shift
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk -v name="$name" '{ printf "%s %.2f %.2f\n", name, $1, $2 + $3 }'
}
for ((i = 1; i <= turns; i++)); do
    rm -rf crawl files
    turn deja "$deja" crawl "$site" --output crawl --delay 0 \
        --per-host "$per_host" --max-depth 10000 -q
    turn wget wget -q -r -l inf -P files "$site"
    have=$(find files -type f ! -name robots.txt | wc -l)
    [ "$have" -eq "$pages" ] || { echo "wget has $have pages" >&2; exit 1; }
    [ "$(wc -l <crawl/index.cdxj)" -eq "$pages" ] || { echo "deja lacks some pages" >&2; exit 1; }
done | tee turns

median() { # NAME COLUMN
    awk -v name="$1" -v at="$2" '$1 == name { print $at }' turns | sort -n |
        awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
awk -v n="$pages" -v d="$(median deja 2)" -v w="$(median wget 2)" \
    -v dc="$(median deja 3)" -v wc="$(median wget 3)" 'BEGIN {
        printf "%d pages: deja %.0f pages/s, wget %.0f pages/s; deja takes %.2f of wget'"'"'s time, %.2f of its CPU time\n",
            n, n / d, n / w, d / w, dc / wc }'
