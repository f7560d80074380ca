#!/usr/bin/env bash
# crawl_certain.sh [PAGES] - what deja crawl --certain costs, compared with a plain crawl of the same
# site of one local nginx, in turns.
#
#     plain     the default cache, a filter
#     certain   --certain, with its default memory: no link waits
#     small     --certain -m 1M, and FULL other URLs are in the sieve: nearly every link waits
#     fixed     a filter of the same 1 MiB with the same URLs, which loses pages
#
# Prints the elapsed and CPU seconds, the peak memory in MiB and the number of pages of each turn, and
# the medians.  Without a delay between requests, and with a local server, the cache weighs as much as
# it can.  DEJA is the command (default build/release/deja), TURNS the number of turns, FULL the number
# of other URLs, PER_HOST the number of concurrent requests.
set -eu -o pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=bench/localsite.sh
. "$here/bench/localsite.sh"
deja=${DEJA:-$here/build/release/deja}
pages=${1:-10000}
turns=${TURNS:-3}
full=${FULL:-2M}
per_host=${PER_HOST:-8}
for tool in "$deja" /usr/bin/time; do
    [ -x "$tool" ] || { echo "crawl_certain.sh: $tool is missing; install it" >&2; exit 2; }
done

localsite "$pages" "${TMPDIR:-/tmp}"
"$deja" gen -n "$full" --seed 5 >others

crawl() { "$deja" crawl --output crawl --delay 0 --per-host "$per_host" --max-depth 10000 -q "$@"; }
turn() { # NAME [OPTION...]: prints "name seconds CPU-seconds MiB pages"
    local name=$1
    shift
    /usr/bin/time -o used -f '%e %U %S %M' "$deja" crawl --output crawl --delay 0 \
        --per-host "$per_host" --max-depth 10000 --json "$@" >summary 2>/dev/null
    python3 - "$name" <<'PYTHON'
import json, sys
wall, user, system, kb = map(float, open("used").read().split())
s = json.load(open("summary"))
print(sys.argv[1], f"{wall:.2f} {user + system:.2f} {kb / 1024:.1f} {s['fetched']} {s.get('late', 0)}",
      s["cache"].get("settled", 0), s["cache"].get("passes", 0))
PYTHON
    rm -rf crawl
}
echo "turn seconds CPU MiB pages late settled passes"
for ((i = 1; i <= turns; i++)); do
    rm -rf crawl
    turn plain "$site"
    turn certain --certain "$site"
    crawl "$site" --certain -m 1M --max-pages 1
    "$deja" dedup -q --sieve crawl/seen.sieve --url=safe -m 256M others >/dev/null
    "$deja" dedup -q --sieve crawl/seen.sieve --url=safe -m 1M /dev/null # moves them to a run
    turn small
    crawl "$site" -k blocked -m 1M --fixed --max-pages 1
    "$deja" add -q crawl/seen.deja others 2>/dev/null
    turn fixed
done | tee turns

echo "medians:"
for name in plain certain small fixed; do
    # shellcheck disable=SC2046 # numbers
    echo "$name" $(for at in 2 3 4 5; do
        awk -v name="$name" -v at="$at" '$1 == name { print $at }' turns | sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
    done)
done
