"""A real web server: nginx, with compression, HTTP/2 over TLS, redirects and its own log."""

import gzip
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter

import warcfile
from crawling import check, fail, looped_site, run, same

NGINX = shutil.which("nginx") or "/usr/sbin/nginx"
CONFIG = """
daemon off; pid {here}/nginx.pid; error_log {here}/error.log; worker_processes 1;
events {{ worker_connections 500; }}
http {{
  log_format plain '$server_protocol $status $uri';
  access_log {here}/access.log plain;
  client_body_temp_path {here}/t1; proxy_temp_path {here}/t2; fastcgi_temp_path {here}/t3;
  uwsgi_temp_path {here}/t4; scgi_temp_path {here}/t5;
  types {{ text/html html; text/plain txt; }}
  gzip on; gzip_min_length 1;
  ssl_certificate {here}/cert.pem; ssl_certificate_key {here}/key.pem;
  server {{
    listen 127.0.0.1:{port}; listen 127.0.0.1:{tls} ssl http2; root {here}/site;
    location = /old {{ return 301 /; }}
    location = /broken {{ return 500; }}
  }}
}}
"""


def free_ports(n):
    sockets = [socket.socket() for _ in range(n)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def write_site(pages):
    for path, body in pages.items():
        name = "site" + (path if path != "/" else "/index.html")
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "wb") as out:
            out.write(body)


def start(port, tls):
    here = os.getcwd()
    os.chmod(here, 0o755)  # if root starts nginx, its workers run as another user
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
                    "key.pem", "-out", "cert.pem", "-days", "2", "-subj", "/CN=127.0.0.1",
                    "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    with open("nginx.conf", "w") as out:
        out.write(CONFIG.format(here=here, port=port, tls=tls))
    server = subprocess.Popen([NGINX, "-p", here, "-c", here + "/nginx.conf"],
                              stderr=subprocess.DEVNULL)
    for _ in range(12000):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return server
        except OSError:
            time.sleep(0.05)
        if server.poll() is not None:
            break
    fail("nginx does not start: " + open("error.log").read())


def log_lines():
    return [line.split() for line in open("access.log").read().splitlines()]


def crawl(pages, url, name, *args):
    open("access.log", "w").close()
    summary = run(url, "--output", name, "--per-host", "4", "--max-depth", "1000", *args)
    same(summary["fetched"], len(pages), f"{name}: fetched")
    asked = Counter(p for _, _, p in log_lines() if p not in ("/robots.txt",))
    same(set(asked.values()), {1}, f"{name}: how often each page was asked for")
    answers = warcfile.read_folder(name)
    bodies = {r.url[len(url) - 1:]: r.body for r in answers if r.status == 200}
    same({p: gzip.decompress(b) for p, b in bodies.items()}, pages, f"{name}: bodies")
    return summary, answers


def main():
    if not os.path.exists(NGINX) or not shutil.which("openssl"):
        print("skipped: nginx or openssl is not here")
        sys.exit(77)
    pages = looped_site(400)
    pages["/"] = pages["/"].replace(b"<ul>", b'<ul><li><a href="/old">o</a><a href="/broken">b</a>')
    write_site(pages)
    port, tls = free_ports(2)
    server = start(port, tls)
    try:
        summary, _ = crawl(pages, f"http://127.0.0.1:{port}/", "plain", "--retries", "0")
        same((summary["redirects"], summary["failed"]["server_error"]), (1, 1), "redirects, errors")
        same({p for p, _, _ in log_lines()}, {"HTTP/1.1"}, "protocol")
        _, answers = crawl(pages, f"https://127.0.0.1:{tls}/", "tls", "--retries", "0",
                           "--ca-file", "cert.pem")
        same({p for p, _, _ in log_lines()}, {"HTTP/2.0"}, "protocol over TLS")
        check(all(r.fields.get("WARC-Protocol") == "h2" for r in answers), "the archive knows")
        # Conditional requests, by nginx's own ETag.
        summary = run("--revisit", "plain", "--per-host", "4", "--max-depth", "1000", "--retries",
                      "0")
        same(summary["unchanged"], len(pages), "unchanged")
        same(Counter(s for _, s, _ in log_lines())["304"], len(pages), "answers 304")
        warcfile.read_folder("plain")
        # An untrusted certificate.
        summary = run(f"https://127.0.0.1:{tls}/", "--output", "untrusted", "--retries", "0", status=1)
        same((summary["fetched"], summary["failed"]["no_secure_connection"]), (0, 1),
             "pages without trust")
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(600)


main()
