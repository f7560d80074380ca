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
deja=${DEJA:-$here/build/release/deja}
pages=${1:-10000}
turns=${TURNS:-3}
full=${FULL:-2M}
per_host=${PER_HOST:-8}
nginx=$(command -v nginx || echo /usr/sbin/nginx)
for tool in "$deja" "$nginx" /usr/bin/time; do
    [ -x "$tool" ] || { echo "crawl_certain.sh: $tool is missing; install it" >&2; exit 2; }
done

top=$(mktemp -d -p "${TMPDIR:-/tmp}")
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$top"' EXIT
chmod 755 "$top"
cd "$top"
DEJA=$deja PYTHONPATH=$here/tests/crawler PYTHONDONTWRITEBYTECODE=1 python3 - "$pages" <<'PYTHON'
import os, sys
from crawling import looped_site
for path, body in looped_site(int(sys.argv[1])).items():
    name = "site" + (path if path != "/" else "/index.html")
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "wb").write(body)
PYTHON
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nginx.conf <<CONF
daemon off; pid $top/nginx.pid; error_log $top/error.log; worker_processes 1;
events { worker_connections 500; }
http {
  access_log off; types { text/html html; } keepalive_requests 1000000;
  client_body_temp_path $top/t1; proxy_temp_path $top/t2; fastcgi_temp_path $top/t3;
  uwsgi_temp_path $top/t4; scgi_temp_path $top/t5;
  server { listen 127.0.0.1:$port; root $top/site; }
}
CONF
"$nginx" -p "$top" -c "$top/nginx.conf" 2>/dev/null &
server=$!
site=http://127.0.0.1:$port/
until python3 -c "import urllib.request; urllib.request.urlopen('$site')" 2>/dev/null; do sleep 0.1; done
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
    echo "$name" $(for at in 2 3 4 5; do
        awk -v name="$name" -v at="$at" '$1 == name { print $at }' turns | sort -n |
            awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
    done)
done
