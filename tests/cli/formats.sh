# --format, --json-key and exports with comments: dedup, build, check and add find the URL or the
# hosts, and print lines unchanged.
. "$SUPPORT/cases.sh"

# same_everywhere OPTION...: standard input has a line for each thing that can go wrong; what is
# kept is the same from a file, a pipe and with one thread, and check finds all that build took.
# Lines without a key are in the file "keyless": all of them are kept, and in no filter.
_same_everywhere() {
    cat >list
    succeeds deja dedup --seed 7 "$@" list
    cp .stdout kept
    cp .stderr said
    deja dedup -q --seed 7 "$@" <list | cmp - kept
    deja dedup -q --seed 7 -j 1 "$@" - <list | cmp - kept
    gzip -c list | deja dedup -q --seed 7 "$@" | cmp - kept
    deja build -q --seed 7 "$@" f.deja list
    deja check -q "$@" f.deja list >found
    : >keyless
    if deja check -q -v "$@" f.deja list >rest; then cp rest keyless; fi # else, maybe a header
    grep -vxFf keyless kept >keyed || true
    deja dedup -q --seed 7 "$@" found | cmp - keyed
    deja build -q --seed 7 "$@" g.deja /dev/null
    deja add -q "$@" g.deja list
    deja check -q "$@" g.deja list | cmp - found
    cp said .stderr
    cp kept .stdout
}

common_and_combined_logs_are_read() {
    _same_everywhere --format log <<'END'
192.0.2.1 - - [10/Oct/2024:13:55:36 +0200] "GET /a HTTP/1.1" 200 23
192.0.2.2 - bob [10/Oct/2024:13:55:37 +0200] "GET /a HTTP/2.0" 304 0 "https://example.org/" "Mozilla/5.0 (\"x\")"
www.example.org:443 192.0.2.1 - - [10/Oct/2024:13:55:38 +0200] "POST /a HTTP/1.1" 200 23 "-" "-"
192.0.2.1 - - [10/Oct/2024:13:55:39 +0200] "GET /say?\"hi\" HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:40 +0200] "GET /say?\x22hi\x22 HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:41 +0200] "-" 408 0
192.0.2.1 - - [10/Oct/2024:13:55:42 +0200] "\x16\x03\x01" 400 0
192.0.2.1 - - [10/Oct/2024:13:55:43 +0200] "GET /b" 200 23
END
    sed -n '1p;4p;6p;7p;8p' list | expect_stdout
    expect_stderr_has "2 lines without a request target, passed through"
    sed -n 6,7p list | cmp - keyless
    printf '/b\n/c\n' | deja check -q f.deja >out
    echo /b | cmp - out
}

squid_logs_are_read() {
    _same_everywhere --format squid <<'END'
1066036250.129    149 192.0.2.1 TCP_MISS/200 5 GET http://example.org/a - DIRECT/192.0.2.9 text/html
1066036251.000      1 192.0.2.1 TCP_HIT/200 5 GET http://example.org/a - NONE/- text/html
1066036252.000  12001 192.0.2.1 TCP_TUNNEL/200 5 CONNECT example.org:443 - DIRECT/192.0.2.9 -
1066036253.000      0 192.0.2.1 NONE/400 5 NONE error:invalid-request - NONE/- text/html
END
    sed -n '1p;3p;4p' list | expect_stdout
    expect_stderr_has "1 line without a URL, passed through"
    # The same by its number, except for the one without a URL.
    succeeds deja dedup -f 7 list
    expect_stderr_has "4 read, 3 new"
}

cdx_is_read_with_and_without_a_legend() {
    _same_everywhere --format cdx <<'END'
 CDX N b a m s k r M S V g
org,example)/ 20240101000000 http://example.org/ text/html 200 AAAA - - 100 0 a.warc.gz
org,example)/ 20240201000000 http://example.org/ text/html 200 BBBB - - 100 9 a.warc.gz
org,example)/b 20240101000000 http://example.org/b text/html 404 CCCC - - 100 18 a.warc.gz
END
    sed -n '1p;2p;4p' list | expect_stdout
    tail -n +2 list | deja dedup -q --format cdx >out
    sed -n '2p;4p' list | cmp - out
    printf ' CDX a b\nhttp://x/ 1\n' >other
    succeeds deja dedup --format cdx list other
    expect_stderr_has "different headers"
    expect_stdout_has "http://x/ 1"
    printf ' CDX N b\nx 1\n' >bad
    fails_with 2 "bad has no original URLs: its CDX legend has no column a" \
        deja dedup --format cdx bad
}

cdxj_is_read() {
    _same_everywhere --format cdxj <<'END'
org,example)/ 20240101000000 {"url": "http://example.org/", "status": "200", "digest": "AAAA"}
org,example)/ 20240201000000 {"status": "200", "digest": "AAAA", "url": "http:\/\/example.org\/"}
org,example)/b 20240101000000 {"url": "http://example.org/b", "digest": "BBBB"}
END
    sed -n '1p;3p' list | expect_stdout
    succeeds deja dedup --format cdxj --json-key digest list
    sed -n '1p;3p' list | expect_stdout
}

json_lines_are_read() {
    _same_everywhere --json-key url <<'END'
{"url": "http://example.org/", "n": 1}
{"n": 2, "more": {"url": "http://example.org/no"}, "url": "http:\/\/example.org\/"}
{"url": "http://example.org/\u00e9", "list": ["}", {"url": 1}]}
{"url": "http://example.org/é"}
{"url": null}
{"link": {"href": "http://example.org/"}}
END
    sed -n '1p;3p;5,6p' list | expect_stdout
    expect_stderr_has '2 lines without a string "url", passed through'
    succeeds deja dedup --format jsonl list
    sed -n '1p;3p;5,6p' list | expect_stdout
    succeeds deja dedup -q -D --json-key link.href list
    expect_stdout ''
}

# Objects written by Python's json module, and read by it.
random_json_agrees_with_python() {
    python3 - <<'PY'
import json, random
random.seed(5)
letters = ['a', 'b', '"', '\\', '/', '\n', 'é', '\u20ac', '\U0001f600', '{', '}', '[', ']', ',', ':', ' ', '\x01']
def text():
    return ''.join(random.choices(letters, k=random.randrange(5)))
def value(depth):
    kind = random.randrange(7 if depth else 4)
    if kind == 0: return text()
    if kind == 1: return random.choice([None, True, False])
    if kind < 4: return random.choice([0, -1.5e9, 17])
    if kind == 4: return [value(depth - 1) for _ in range(random.randrange(4))]
    return {random.choice(['url', 'x', text()]): value(depth - 1) for _ in range(random.randrange(4))}
seen, data, out = set(), [], []
for n in range(20000):
    o = {k: value(3) for k in random.sample(['a', 'b', 'c', text()], 3)}
    if random.randrange(8):
        items = list(o.items())
        items.insert(random.randrange(len(items) + 1), ('url', text() if random.randrange(8) else value(2)))
        o = dict(items)
    line = json.dumps(o, ensure_ascii=random.randrange(2) == 0, separators=random.choice([(',', ':'), (', ', ': ')]))
    key = o.get('url')
    data.append(line)
    if not (isinstance(key, str) and key):
        out.append(line)
        continue
    if key not in seen:
        out.append(line)
    seen.add(key)
open('list', 'w').write('\n'.join(data) + '\n')
open('expected', 'w').write('\n'.join(out) + '\n')
PY
    succeeds deja dedup --seed 7 --format jsonl list
    expect_same expected .stdout
}

hosts_files_and_rules_are_read() {
    _same_everywhere --format hosts <<'END'
[Adblock Plus 2.0]
# a list of hosts
! of two kinds
127.0.0.1 localhost localhost.localdomain
::1 ip6-localhost

0.0.0.0 ads.example track.example # both
0.0.0.0	track.example
||banner.example^
||other.example^$third-party
ads.example
plain.example
END
    sed -n '7p;9,10p;12p' list | expect_stdout
    expect_stderr_has "1 line without a host, passed through"
    expect_stderr_has "6 read, 4 new, 2 seen before"
    printf '%s\n' ads.example track.example banner.example plain.example localhost other.example '' |
        deja check -q f.deja >out
    printf '%s\n' ads.example track.example banner.example plain.example | cmp - out
    # build and add count hosts, the others count lines; a line is in if one of its hosts is.
    succeeds deja build --force --format hosts f.deja list
    expect_stderr_has "7 read, 4 new, 2 seen before"
    expect_stderr_has "1 line without a host, skipped"
    expect_stderr_has "f.deja finds host names, but no URLs and no subdomains; --url=gsb covers both"
    succeeds deja build --force --url=gsb --format hosts f.deja list
    ! grep -q "finds host names" .stderr
    deja build -q --force --format hosts f.deja list
    deja build -q track.deja <<<track.example
    succeeds deja check --format hosts track.deja list
    sed -n '7,8p' list | expect_stdout
    succeeds deja check --format hosts -c track.deja list
    expect_stdout 2
    succeeds deja check --format hosts -v track.deja list
    sed -n '9,12p' list | expect_stdout
    succeeds deja dedup --format hosts -D list
    sed -n '8p;11p' list | expect_stdout
    # Whichever of them it is.
    printf '0.0.0.0 %s\n' 'x track.example y' 'track.example x' 'x track.example' 'x y' >several
    succeeds deja check --format hosts track.deja several
    head -n 3 several | expect_stdout
    succeeds deja check --format hosts -v track.deja several
    expect_stdout '0.0.0.0 x y'
}

rules_of_name_servers_and_ad_blockers_are_read() {
    cat >dnsmasq.conf <<'END'
# dnsmasq
address=/evil.example/bad.example/0.0.0.0
server=/intranet.example/192.0.2.1
local=/worse.example/
END
    cat >unbound.conf <<'END'
server:
local-zone: "evil.example." always_nxdomain
local-zone: "good.example." transparent
local-data: "bad.example. A 0.0.0.0"
local-zone: "worse.example." static
END
    cat >policy.rpz <<'END'
$TTL 60
@ IN SOA ns.example. root.example. ( 1 60
    60 60 60 )
  NS ns.example.
evil.example CNAME .
*.evil.example CNAME .
bad.example A 192.0.2.1 ; a walled garden
worse.example CNAME rpz-drop.
good.example CNAME rpz-passthru.
END
    cat >rules.txt <<'END'
[Adblock Plus 2.0]
! rules
||evil.example^$third-party
||bad.example^
worse.example
@@||good.example^
||cdn.example^$script
example.org##.banner
END
    printf 'http://%s/x\n' www.evil.example bad.example worse.example good.example cdn.example >urls
    for list in dnsmasq:dnsmasq.conf unbound:unbound.conf rpz:policy.rpz adblock:rules.txt; do
        succeeds deja build --force --url=gsb --format "${list%%:*}" l.deja "${list#*:}"
        expect_stderr_has "without a key ("
        succeeds deja check -q --url=gsb l.deja urls
        head -n 3 urls | expect_stdout
    done
    succeeds deja build --force --url=gsb --format adblock l.deja rules.txt
    expect_stderr_has "3 rules without a key (1 cosmetic, 1 exception, 1 limited by options), skipped: rules.txt:"
    succeeds deja build --force --json --url=gsb --format adblock l.deja rules.txt
    expect_stdout_has '"limited": 1'
    # Rules are accepted by --strict, other text is not; dedup keeps both.
    succeeds deja build -q --force --strict --format adblock l.deja rules.txt
    fails_with 2 "lacks a host" deja build -q --force --strict --format unbound l.deja rules.txt
    succeeds deja dedup -q --format adblock rules.txt
    tail -n +3 rules.txt | expect_stdout
    fails_with 2 "no line has a host" deja build -q --force --format dnsmasq l.deja urls
}

hosts_are_remembered_between_runs() {
    printf '0.0.0.0 a b\n' >monday
    printf '0.0.0.0 b\n0.0.0.0 b c\n# x\n' >tuesday
    succeeds deja dedup --format hosts --state seen.deja monday
    expect_same monday .stdout
    succeeds deja dedup --format hosts --state seen.deja tuesday
    expect_stdout '0.0.0.0 b c'
}

# Many hosts per line: the filter is sized by the hosts, not by the lines.
hosts_are_counted_for_the_size() {
    awk 'BEGIN { for (i = 0; i < 2000; i++) { printf "0.0.0.0"
        for (j = 0; j < 9; j++) printf " h%d.example", 9 * i + j
        print "" } }' >list
    succeeds deja build --seed 7 --format hosts f.deja list
    expect_stderr_has "18,000 read, 18,000 new"
    if grep -q 'was sized for' .stderr; then fail "too small"; fi
}

comments_of_plain_lists_are_kept() {
    printf '# a\nb\n# a\n' >list
    succeeds deja dedup list
    printf '# a\nb\n' | expect_stdout
    succeeds deja dedup --format lines list
    printf '# a\nb\n' | expect_stdout
}

# As URLhaus exports them: comments, and the names of the columns in the last of them.
csv_can_have_its_header_in_a_comment() {
    _same_everywhere --csv url < <(printf '%s\r\n' '################' '# A list ("free") #' '#' \
        '# id,dateadded,url,url_status,tags' \
        '"1","2024-01-01 00:00:00","http://example.org/a","online","x,y"' \
        '"2","2024-01-01 00:00:01","http://example.org/a","offline","x"' \
        '"3","2024-01-01 00:00:02","http://example.org/b","online","None"')
    sed -n '4p;5p;7p' list | expect_stdout
    fails_with 2 'list has no column "link"; it has: "1", "2024-01-01 00:00:00"' \
        deja dedup --csv link list
}

# As PhishTank exports them.
csv_can_have_a_usual_header() {
    _same_everywhere --csv url <<'END'
phish_id,url,phish_detail_url,submission_time
1,"http://example.org/?a=1,2",http://x/1,2024
2,"http://example.org/?a=1,2",http://x/2,2024
END
    sed -n '1,2p' list | expect_stdout
}

records_can_end_in_zero_bytes() {
    printf '{"url":"a\\n"}\0{"url":\n"a\\u000a"}\0{"url":"b"}\0' >list
    deja dedup -q -z --format jsonl list >out
    printf '{"url":"a\\n"}\0{"url":"b"}\0' | cmp - out
}

contradicting_options_are_refused() {
    echo a >list
    fails_with 2 "--csv and --format cannot be combined" deja dedup --csv url --format log list
    fails_with 2 "--csv and --json-key cannot be combined" deja dedup --csv url --json-key a list
    fails_with 2 "-f/--field and --format log cannot be combined" deja dedup -f 2 --format log list
    fails_with 2 "-f/--field and --json-key cannot be combined" deja dedup -f 2 --json-key a list
    fails_with 2 "--json-key needs --format jsonl or cdxj, not log" \
        deja dedup --json-key a --format log list
    fails_with 2 "--json-key needs a name" deja dedup --json-key '' list
    fails_with 2 "-d/--delimiter needs -f/--field or --csv" deja dedup --format log -d ' ' list
    fails_with 2 "--format takes lines, log, squid, cdx, cdxj, jsonl, hosts, dnsmasq, unbound, rpz or adblock, not 'jsno'" \
        deja dedup --format jsno list
    fails_with 2 "did you mean jsonl?" deja check --format jsonk f.deja list
}

help_and_completion_list_the_formats() {
    for command in dedup build check add; do
        succeeds deja help $command
        expect_stdout_has "--format FORMAT"
        expect_stdout_has "--json-key NAME"
    done
    succeeds deja help --completion bash
    expect_stdout_has 'dedup:--format) _deja_words "lines log squid cdx cdxj jsonl hosts dnsmasq unbound rpz adblock"'
}

cases "$@"
