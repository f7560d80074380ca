#!/usr/bin/env bash
# queue.sh [PAGES] - what a page costs in the queue of deja crawl, for queues of 10,000 to 10 million
# URLs and for each order.
#
# Prints a table: the URLs in the queue, the order, the microseconds of processor time per page (of the
# process and of the system), and the seconds of processor time for changing the order of the whole
# queue before.  bench/queue/queuecost.c says what a page is.  SIZES are the lengths, BUILD is a build
# folder (default build/release), TURNS the number of turns, of which the median counts; TMPDIR needs
# five times the size of the largest queue, 10 GB for 10 million URLs.
set -eu -o pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD:-$here/build/release}
pages=${1:-5000}
turns=${TURNS:-3}
sizes=${SIZES:-10000 100000 1000000 10000000}
work=$(mktemp -d "${TMPDIR:-/tmp}/queue.XXXXXX")
trap 'rm -rf "$work"' EXIT
cmake --build "$build" --target queuecost >"$work/log" || { cat "$work/log" >&2; exit 2; }
cost=$build/queuecost

# The middle line by the sum of the two times.
median() { awk '{ print $2 + $3 "\t" $0 }' | sort -n | sed -n "$(((turns + 1) / 2))p" | cut -f 2-; }

printf 'URLs\torder\tprocess\tsystem\tchange\n'
for size in $sizes; do
    mkdir "$work/full"
    "$cost" fill "$work/full" "$size"
    for order in breadth depth backlinks opic; do
        for ((turn = 0; turn < turns; turn++)); do
            cp -r "$work/full" "$work/run"
            "$cost" run "$work/run" "$order" "$pages"
            rm -r "$work/run"
        done | median | awk -v order="$order" -v OFS='\t' '{ print $1, order, $2, $3, $4 }'
    done
    rm -r "$work/full"
done
