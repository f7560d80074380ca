# deja crawl as a user types it: bad input, harvest, Ctrl-C, invalid folders.
. "$SUPPORT/cli.sh"
run deja crawl --output absent
if grep -q 'has no crawler' .stderr; then skip "deja crawl is not built"; fi
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

# A folder of pages under a server; its port is in $port.
mkdir site
printf '<a href=/a.html>a</a><a href=http://out.invalid/x>x</a><a href=/a.html#b>b</a>' >site/index.html
printf '<a href=/>home</a><a href=/c.html>c</a>' >site/a.html
printf 'end' >site/c.html
mkfifo announced
python3 -u - >announced 2>server.log <<'END' &
import functools, http.server

class Handler(http.server.SimpleHTTPRequestHandler):
    """The files of the folder, and /chain/N, which links to /chain/N+1: a site without end."""

    def do_GET(self):
        if not self.path.startswith("/chain/"):
            return super().do_GET()
        body = b"<a href=/chain/%d>next</a>" % (int(self.path[7:]) + 1)
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

handler = functools.partial(Handler, directory="site")
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print(server.server_port, flush=True)
server.serve_forever()
END
server=$!
trap 'kill $server' EXIT
read -r port <announced
url=http://127.0.0.1:$port

# --- Wrong command lines ------------------------------------------------------
fails_with 2 'give -o DIR' deja crawl "$url/"
fails_with 2 'give one of them' deja crawl "$url/" --output x --revisit x
fails_with 2 'go together' deja crawl "$url/" --output x --scope regex
fails_with 2 'go together' deja crawl "$url/" --output x --match a
fails_with 2 'not a regular expression' deja crawl "$url/" --output x1 --scope regex --match '('
fails_with 2 'not a regular expression' deja crawl "$url/" --output x2 --exclude '['
fails_with 2 'did you mean host?' deja crawl "$url/" --output x --scope hosts
fails_with 2 'takes a time' deja crawl "$url/" --output x --delay soon
fails_with 2 'takes a time' deja crawl "$url/" --output x --delay -1
fails_with 2 '--visits needs --every' deja crawl "$url/" --output x --visits 2
fails_with 2 'give one of them' deja crawl "$url/" --output x --harvest --json
fails_with 2 'profile gsb cannot be fetched' deja crawl "$url/" --output x --url gsb
fails_with 2 'profile shape cannot be fetched' deja crawl "$url/" --output x --url shape
fails_with 2 'need --url=crawl' deja crawl "$url/" --output x --keep-params=a
fails_with 2 'takes a number from 1 to 64' deja crawl "$url/" --output x --per-host 0
fails_with 2 'cannot be combined' deja crawl "$url/" --output x --key k --seed 3
[ ! -e x ] || fail "a folder was made for a command that cannot run"

# --- Invalid seeds and folders ---------------------------------------------------
for seed in example ftp://example.org/ mailto:a@b http:// 'http://[x/' ''; do
    fails_with 2 'is not an http or https URL' deja crawl "$seed" --output "seed"
done
fails_with 2 'give a URL to start from' deja crawl --output .
fails_with 2 '--ca-file nowhere.pem: cannot read' deja crawl "$url/" --output ca --ca-file nowhere.pem
fails_with 2 'cannot open the folder' deja crawl --output absent
fails_with 2 'cannot open the folder' deja crawl --revisit absent
fails_with 2 'cannot create the folder' deja crawl "$url/" --output absent/below
echo text >file
fails_with 2 'cannot open the folder' deja crawl "$url/" --output file
fails_with 2 'give a URL to start from' deja crawl --revisit site
mkdir damaged
head -c 5000 /dev/urandom >damaged/queue.db
fails_with 2 'not a queue, or a damaged one' deja crawl "$url/" --output damaged
fails_with 2 'static' deja crawl "$url/" --output static -k static -n 1000

# --- A crawl -----------------------------------------------------------------------
succeeds deja crawl "$url/" --output crawl --delay 0
expect_stderr_has 'no --contact'
expect_stderr_has 'visit 1, done: 3 pages'
expect_stderr_has 'URLs: 5 offered, 2 seen before, 3 queued; probably lost: none'
expect_stderr_has 'left out: 1 out of scope'
expect_stdout ''
succeeds deja crawl --output crawl
expect_stderr_has 'as before: --delay 0'
expect_stderr_has 'this visit was already complete, and nothing was fetched'
succeeds deja info crawl/seen.deja
succeeds deja crawl "$url/" --output quiet --delay 0 -q
expect_stderr_empty
succeeds deja check --url crawl/seen.deja <<<"$url/c.html"
succeeds deja check --format cdxj --url crawl/seen.deja crawl/index.cdxj
expect_lines 3 .stdout

# Another profile, kind or seed than before: rejected by name.
fails_with 2 'safe' deja crawl --output crawl --url crawl
fails_with 2 'scalable' deja crawl --output crawl -k exact
fails_with 2 'seed' deja crawl --output crawl --seed 9
cp -r crawl broken
printf 'xxxx' | dd of=broken/seen.deja bs=1 seek=20 conv=notrunc status=none
exits_with 2 deja crawl --output broken

# A cache without a queue is left alone.
cp -r crawl orphan
rm orphan/queue.db
fails_with 2 'it has a cache but no queue' deja crawl "$url/" --output orphan
rm orphan/seen.deja
fails_with 2 'it has an archive but no queue' deja crawl "$url/" --output orphan
expect_same orphan/crawl-00001.warc.gz crawl/crawl-00001.warc.gz
mv orphan/crawl-00001.warc.gz orphan/crawl-00002.warc.gz
fails_with 2 'move crawl-00002.warc.gz away' deja crawl "$url/" --output orphan
expect_same orphan/crawl-00002.warc.gz crawl/crawl-00001.warc.gz

# Kinds of the cache.
for kind in classic blocked exact spectral; do
    succeeds deja crawl "$url/" --output "kind-$kind" --delay 0 -k $kind -n 1000
    expect_stderr_has '3 pages'
done
(umask 077 && head -c 32 /dev/urandom >key)
succeeds deja crawl "$url/" --output keyed --delay 0 --key key --max-pages 1
fails_with 2 'key' deja crawl --output keyed --delay 0
succeeds deja crawl --output keyed --delay 0 --key key
expect_stderr_has '3 pages'

# --- Harvest: every URL once, including those out of scope ----------------------------------
succeeds deja crawl "$url/" --output harvest --delay 0 --harvest --no-archive -q
sort .stdout >urls
printf '%s\n' "$url/" "$url/a.html" "$url/c.html" http://out.invalid/x | sort >want
expect_same urls want
[ ! -e harvest/crawl-00001.warc.gz ] || fail "an archive in spite of --no-archive"
succeeds deja crawl --output harvest --delay 0 --harvest -q
expect_stdout ''

# --- No server -------------------------------------------------------------------------
exits_with 1 deja crawl http://127.0.0.1:1/ --output nobody --retries 0 -q

# --- Ctrl-C finishes the requests in flight; the next run continues ---------------------------
"$DEJA" crawl "$url/chain/0" --output stopped --delay 20ms --max-depth 1e6 -q &
crawl=$!
until grep -q 'GET /chain/5 ' server.log; do sleep 0.05; done
kill -TERM $crawl
status=0
wait $crawl || status=$?
[ $status -eq $((128 + 15)) ] || fail "exit $status after SIGTERM"
asked=$(grep -c 'GET /chain/' server.log)
succeeds deja crawl --output stopped --delay 0 --max-depth 1e6 --max-pages $((asked + 3))
expect_stderr_has "$((asked + 3)) pages"
grep -o 'GET /chain/[0-9]*' server.log | sort | uniq -d >twice
[ ! -s twice ] || fail "asked for again: $(head -n 3 twice)"
