#!/usr/bin/env bash
# compare.sh [FILE] - compare deja dedup with the usual ways to drop repeated lines, in one run.
#
# Without FILE, `deja gen` generates the input: 5 million distinct URLs, then 2 million repeats of
# them in random order.  All input is in the page cache, output goes to /dev/null.  Each command
# runs RUNS times (3), interleaved; the best time counts.  Prints a Markdown table.
set -eu -o pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-3}
deja=build/release/deja
if [ ! -x "$deja" ]; then
    { cmake --preset release && cmake --build --preset release; } >/dev/null
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
input=${1:-$work/urls.txt}
if [ $# -eq 0 ]; then
    "$deja" gen -q -n 5M >"$work/unique.txt"
    shuf -n 2000000 --random-source=<(yes) "$work/unique.txt" | cat "$work/unique.txt" - >"$input"
    rm "$work/unique.txt"
fi
cat "$input" >/dev/null

# Name and shell command of each contender; the input is $input, output goes to /dev/null.
names=() commands=()
add() {
    names+=("$1")
    commands+=("$2")
}
add 'wc -l' "wc -l <'$input'"
add 'deja dedup' "'$deja' dedup -q '$input'"
add 'cat | deja dedup' "cat '$input' | '$deja' dedup -q"
add 'cat | cat' "cat '$input' | cat"
add 'deja dedup --state (new)' "rm -f '$work/s.deja'; '$deja' dedup -q --state '$work/s.deja' '$input'"
add 'deja dedup -k exact' "'$deja' dedup -q -k exact '$input'"
add 'sort -u' "LC_ALL=C sort -u '$input'"
for awk in mawk gawk; do
    if command -v $awk >/dev/null; then add "$awk '!seen[\$0]++'" "LC_ALL=C $awk '!seen[\$0]++' '$input'"; fi
done
if command -v perl >/dev/null; then add 'perl %seen' "perl -ne 'print unless \$seen{\$_}++' '$input'"; fi
if command -v python3 >/dev/null; then
    add 'python3 set' "python3 -c 'import sys
seen=set()
for line in open(sys.argv[1],\"rb\"):
    if line not in seen:
        seen.add(line); sys.stdout.buffer.write(line)' '$input'"
fi

# measure COMMAND: prints "seconds peak-RSS-in-MB" of the command and its children.
measure() {
    python3 - "$1" <<'PY'
import resource, subprocess, sys, time
begin = time.monotonic()
subprocess.run(["bash", "-c", sys.argv[1]], stdout=subprocess.DEVNULL, check=True)
seconds = time.monotonic() - begin
print(seconds, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6)
PY
}

declare -A best rss
for ((run = 0; run < runs; run++)); do
    for i in "${!names[@]}"; do
        read -r seconds peak < <(measure "${commands[$i]}")
        if [ -z "${best[$i]:-}" ] || awk "BEGIN { exit !($seconds < ${best[$i]}) }"; then
            best[$i]=$seconds
        fi
        rss[$i]=$peak
    done
done

filter=$("$deja" dedup --json "$input" 2>&1 >/dev/null | sed -n 's/.*"filter_bytes": \([0-9]*\).*/\1/p')
fastest=$(for i in "${!names[@]}"; do
    case ${names[$i]} in wc* | cat* | deja*) ;; *) echo "${best[$i]}" ;; esac
done | sort -g | head -n 1)
printf '%s lines, %s bytes; filter of deja dedup: %s bytes\n\n' \
    "$(wc -l <"$input")" "$(wc -c <"$input")" "$filter"
echo '| command | seconds | times `wc -l` | faster than the fastest alternative | peak memory, MB |'
echo '|---|---:|---:|---:|---:|'
for i in "${!names[@]}"; do
    awk -v n="${names[$i]}" -v s="${best[$i]}" -v w="${best[0]}" -v f="$fastest" -v m="${rss[$i]}" \
        'BEGIN { printf "| `%s` | %.2f | %.1f | %.1f | %.0f |\n", n, s, s / w, f / s, m }'
done
