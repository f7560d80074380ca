# shellcheck shell=bash disable=SC2164 # scripts that source it use set -e
# localsite.sh - a site of generated pages on a local nginx; sourced by the benchmarks of the crawler.
#
# Needs $here, the source tree, and $deja, the command.

# localsite PAGES FOLDER: makes a scratch folder in FOLDER, serves the site from it until the script
# ends, and goes there.  Sets $site, the address.
localsite() {
    local nginx port
    nginx=$(command -v nginx || echo /usr/sbin/nginx)
    [ -x "$nginx" ] || { echo "${0##*/}: $nginx is missing; install nginx" >&2; exit 2; }
    top=$(mktemp -d -p "$2")
    server=
    trap '[ -z "$server" ] || kill "$server"; rm -rf "$top"' EXIT
    chmod 755 "$top"
    cd "$top"
    DEJA=$deja PYTHONPATH=$here/tests/crawler PYTHONDONTWRITEBYTECODE=1 python3 - "$1" <<'END'
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
    site=http://127.0.0.1:$port/
    until python3 -c "import urllib.request; urllib.request.urlopen('$site')" 2>/dev/null; do sleep 0.1; done
}
