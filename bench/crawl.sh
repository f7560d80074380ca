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
deja=${DEJA:-$here/build/release/deja}
pages=${1:-5000}
turns=${TURNS:-5}
per_host=${PER_HOST:-8}
nginx=$(command -v nginx || echo /usr/sbin/nginx)
memory=${TMPDIR:-$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)}
for tool in "$deja" "$nginx" "$(command -v wget || echo wget)"; do
    [ -x "$tool" ] || { echo "crawl.sh: $tool is missing; install it" >&2; exit 2; }
done

top=$(mktemp -d -p "$memory")
server=
trap '[ -z "$server" ] || kill "$server"; rm -rf "$top"' EXIT
chmod 755 "$top"
cd "$top"
DEJA=$deja PYTHONPATH=$here/tests/crawler PYTHONDONTWRITEBYTECODE=1 python3 - "$pages" <<'END'
import os, sys
from crawling import looped_site
for path, body in looped_site(int(sys.argv[1])).items():
    name = "site" + (path if path != "/" else "/index.html")
    os.makedirs(os.path.dirname(name), exist_ok=True)
    open(name, "wb").write(body)
END
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >nginx.conf <<END
daemon off; pid $top/nginx.pid; error_log $top/error.log; worker_processes 1;
events { worker_connections 500; }
http {
  access_log off; types { text/html html; } keepalive_requests 1000000;
  client_body_temp_path $top/t1; proxy_temp_path $top/t2; fastcgi_temp_path $top/t3;
  uwsgi_temp_path $top/t4; scgi_temp_path $top/t5;
  server { listen 127.0.0.1:$port; root $top/site; }
}
END
"$nginx" -p "$top" -c "$top/nginx.conf" 2>/dev/null &
server=$!
until curl -s "http://127.0.0.1:$port/" >/dev/null 2>&1 ||
    wget -q -O /dev/null "http://127.0.0.1:$port/"; do sleep 0.1; done

TIMEFORMAT='%R %U %S'
turn() { # NAME COMMAND...: prints "name seconds CPU-seconds"
    local name=$1
    shift
    { time "$@" >/dev/null 2>&1; } 2>&1 | awk -v name="$name" '{ printf "%s %.2f %.2f\n", name, $1, $2 + $3 }'
}
for ((i = 1; i <= turns; i++)); do
    rm -rf crawl files
    turn deja "$deja" crawl "http://127.0.0.1:$port/" --output crawl --delay 0 \
        --per-host "$per_host" --max-depth 10000 -q
    turn wget wget -q -r -l inf -P files "http://127.0.0.1:$port/"
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
