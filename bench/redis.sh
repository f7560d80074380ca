#!/usr/bin/env bash
# redis.sh - compare the module with the server's own commands, in one run.
#
# A server on loopback, redis-benchmark with 50 connections, -P 16, random items.  Each contender
# runs RUNS times (5), interleaved; the best throughput and the server's lowest CPU time per key
# count.  CPU time is the better figure on a machine that does other work as well.  Then the
# memory of a million keys, in a filter with p = 1% and in a set on the server; and
# `deja dedup --redis` of these keys, with all new and with all known, with a log.
set -eu -o pipefail
cd "$(dirname "$0")/.."
runs=${RUNS:-5} requests=${REQUESTS:-500000}
module=build/release/redis/deja.so
if [ ! -e "$module" ]; then
    { cmake --preset release && cmake --build --preset release; } >/dev/null
fi
for tool in redis-server redis-benchmark redis-cli; do
    command -v $tool >/dev/null || { echo "redis.sh: $tool is not installed (Debian: redis-server)" >&2; exit 2; }
done

work=$(mktemp -d)
port=${PORT:-7399}
redis-server --port "$port" --bind 127.0.0.1 --save '' --dir "$work" --logfile "$work/log" \
    --loadmodule "$PWD/$module" &
server=$!
trap 'kill $server; wait $server || true; rm -rf "$work"' EXIT
ask() { redis-cli -p "$port" "$@"; }
until [ "$(ask ping 2>/dev/null)" = PONG ]; do sleep 0.1; done

items=$(for _ in $(seq 100); do printf 'http://example.com/__rand_int__ '; done)
names=() keys=() commands=()
add() { # NAME KEYS COMMAND...
    names+=("$1")
    keys+=("$2")
    shift 2
    commands+=("$*")
}
add 'SET' 1 SET 'http://example.com/__rand_int__' 1
add 'BF.ADD' 1 BF.ADD f 'http://example.com/__rand_int__'
add 'GET' 1 GET 'http://example.com/__rand_int__'
add 'BF.EXISTS' 1 BF.EXISTS f 'http://example.com/__rand_int__'
add 'BF.MADD, 100 keys' 100 BF.MADD f "$items"
add 'DEJA.ADD, 100 keys' 100 DEJA.ADD f "$items"
add 'DEJA.CHECK, 100 keys' 100 DEJA.CHECK f "$items"

cpu() { ask info cpu | awk -F: '/^used_cpu_(user|sys):/ { sum += $2 } END { print sum }'; }

ask BF.RESERVE f 0.01 4000000 >/dev/null
for run in $(seq "$runs"); do
    for i in "${!names[@]}"; do
        n=$((requests / keys[i] < 20000 ? 20000 : requests / keys[i]))
        before=$(cpu)
        # shellcheck disable=SC2086 # words
        rate=$(redis-benchmark -p "$port" -c 50 -P 16 -r 1000000 -n $n --csv ${commands[i]} |
            tail -1 | awk -F'","' '{ print $2 }')
        after=$(cpu)
        echo "$i $run $rate $n $before $after" >>"$work/runs"
    done
done

awk -v names="$(printf '%s|' "${names[@]}")" -v keys="${keys[*]}" '
    BEGIN { split(names, name, "|"); split(keys, per, " ") }
    {
        i = $1 + 1; rate = $3 * per[i]; cpu = ($6 - $5) / $4 / per[i] * 1e9
        if (rate > best[i]) best[i] = rate
        if (!(i in least) || cpu < least[i]) least[i] = cpu
        if (i > n) n = i
    }
    END {
        print "| command | keys/s | server ns per key |"
        print "|---|---|---|"
        for (i = 1; i <= n; i++) printf "| %s | %.0f | %.0f |\n", name[i], best[i], least[i]
        printf "\nBF.ADD / SET        keys/s %.2f, CPU time %.2f\n", best[2] / best[1], least[2] / least[1]
        printf "BF.EXISTS / GET     keys/s %.2f, CPU time %.2f\n", best[4] / best[3], least[4] / least[3]
        printf "BF.MADD / BF.ADD    keys/s %.1f, CPU time 1/%.1f\n", best[5] / best[2], least[2] / least[5]
        printf "DEJA.ADD / BF.ADD   keys/s %.1f, CPU time 1/%.1f\n", best[6] / best[2], least[2] / least[6]
    }' "$work/runs"

# The memory of a million URLs, in a filter and in a set.
ask flushall >/dev/null
ask BF.RESERVE f 0.01 1000000 >/dev/null
build/release/deja gen -q -n 1M --seed 1 >"$work/urls"
awk '{ printf "%s%s", NR % 500 == 1 ? "BF.MADD f" : "", " " $1; if (NR % 500 == 0) print "" }' \
    "$work/urls" | ask >/dev/null
awk '{ printf "%s%s", NR % 500 == 1 ? "SADD s" : "", " " $1; if (NR % 500 == 0) print "" }' \
    "$work/urls" | ask >/dev/null
filter=$(ask memory usage f) set=$(ask memory usage s samples 0)
echo "memory of 1000000 URLs: filter $filter bytes, set $set bytes, 1/$((set / filter))"

# The same with the log of `deja serve`, over 16 shards, from one client.
ask flushall >/dev/null
ask config set appendonly yes >/dev/null
while ask info persistence | grep -q '^aof_rewrite_\(in_progress\|scheduled\):1'; do sleep 0.1; done
for run in $(seq "$runs"); do
    for what in new known; do
        before=$(cpu) began=$(date +%s%N)
        lines=$(build/release/deja dedup -q --redis "redis://127.0.0.1:$port" --state "seen$run" \
            -n 1M "$work/urls" | wc -l)
        echo "$what $before $(cpu) $(($(date +%s%N) - began)) $lines" >>"$work/dedup"
    done
done
awk '
    { cpu = ($3 - $2) * 1e3; rate = 1e9 / $4 } # a million URLs
    !($1 in least) || cpu < least[$1] { least[$1] = cpu }
    rate > best[$1] { best[$1] = rate }
    $1 == "new" && $5 < 999990 || $1 == "known" && $5 > 0 { print "wrong answers:", $0 }
    END {
        for (what in least)
            printf "deja dedup --redis, URLs that are %s: server %.0f ns each; client %.2f million/s\n",
                what, least[what], best[what]
    }' "$work/dedup"
