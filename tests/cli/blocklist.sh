# --url=gsb: lists of sites, folders and pages, and searching logs for them.
. "$SUPPORT/cases.sh"

_block() { printf '%s\n' "$@" | deja build --force -q --seed 7 --url=gsb bad.deja; }
# Standard input: lines with + before URLs that the list blocks, and - before the others.
_blocks() {
    cat >.cases
    sed -n 's/^+ //p' .cases >want
    sed -n 's/^- //p' .cases >others
    sed 's/^. //' .cases >list
    run deja check -q --url=gsb bad.deja list
    expect_stdout <want
    run deja check -q -v --url=gsb bad.deja list
    expect_stdout <others
    run deja check -q -c -j 1 --url=gsb bad.deja list
    expect_stdout "$(wc -l <want)"
}

a_site_includes_its_subdomains_and_pages() {
    local entry
    for entry in evil.com http://evil.com/ HTTPS://EVIL.com:8443 evil.com/ http://me@evil.com//; do
        _block "$entry"
        _blocks <<'END'
+ http://evil.com/
+ https://evil.com
+ evil.com
+ http://www.evil.com/a/b/c/d/e/f/g?h=i#j
+ http://a.b.c.evil.com:8080/
+ http://EVIL.COM./x
+ http://ev%69l.com/
- http://notevil.com/
- http://evil.com.org/
- http://evil.co/
- http://com/
- http://good.org/evil.com/
- http://good.org/?evil.com/
- http://evil.com@good.org/
END
    done
}

a_folder_includes_everything_under_it() {
    _block http://evil.com/bad/
    _blocks <<'END'
+ http://evil.com/bad/
+ http://evil.com/bad/a/b.html?c
+ https://www.evil.com/x/../bad/y
- http://evil.com/
- http://evil.com/bad
- http://evil.com/badder/
- http://evil.com/x/bad/
- http://notevil.com/bad/
END
}

a_page_matches_with_its_query() {
    _block 'http://evil.com/a?b=1' http://evil.com/page
    _blocks <<'END'
+ http://evil.com/a?b=1
+ http://www.evil.com/a?b=1#c
+ http://evil.com/page
+ http://evil.com/page?x
- http://evil.com/a
- http://evil.com/a?b=12
- http://evil.com/a?b=1&c
- http://evil.com/page/
- http://evil.com/page.html
END
}

addresses_have_no_subdomains() {
    _block 1.2.3.4 http://0x7f.1/
    _blocks <<'END'
+ http://1.2.3.4/x
+ http://127.0.0.1/
+ http://2130706433/
- http://4.1.2.3/
- http://3.4/
- http://2.3.4.4/
END
}

# Names with many labels and deep folders are found as they are, but not by a suffix.
expressions_have_limits() {
    _block b.c.d.e.f.com c.d.e.g.com http://evil.com/1/2/3/4/ http://h.com/1/2/3/
    _blocks <<'END'
+ http://b.c.d.e.f.com/
+ http://x.y.z.a.b.c.d.e.g.com/
+ http://evil.com/1/2/3/4/
+ http://h.com/1/2/3/4/5/6/7/8
- http://a.b.c.d.e.f.com/
- http://evil.com/1/2/3/4/5
- http://d.e.g.com/
END
}

a_list_can_have_one_url_per_line() {
    printf '%s\r\n' '# a list' '' 'http://evil.example/a/' 'bad.example' 'mailto:me@evil.example' >list
    succeeds deja build --url=gsb bad.deja list
    expect_stderr_has "2 lines are not URLs, skipped"
    expect_stderr_has "1 line without a URL, skipped"
    expect_stderr_has "5 read, 2 new, 0 seen before"
    printf '%s\n' http://evil.example/a/b http://www.bad.example/ >want
    { cat want && printf '%s\n' 'mailto:me@evil.example' '# a list' '' -; } >log
    succeeds deja check -q --url=gsb bad.deja log
    expect_same want .stdout
}

a_list_can_be_hosts() {
    cat >hosts <<'END'
# hosts
127.0.0.1 localhost
0.0.0.0 evil.example www.bad.example
||banner.example^
*.wild.example
END
    succeeds deja build --url=gsb --format hosts bad.deja hosts
    expect_stderr_has "4 read, 4 new"
    _blocks <<'END'
+ http://evil.example/
+ http://sub.evil.example/x
+ http://www.bad.example/
+ https://cdn.banner.example/b.js
+ http://wild.example/
- http://bad.example/
- http://localhost/
- http://example/
END
    # A list against a list: a line is in if one of its hosts is.
    printf '0.0.0.0 a.example b.evil.example\n0.0.0.0 c.example d.example\n' >other
    succeeds deja check -q --url=gsb --format hosts bad.deja other
    expect_stdout '0.0.0.0 a.example b.evil.example'
    succeeds deja check -q -v --url=gsb --format hosts bad.deja other
    expect_stdout '0.0.0.0 c.example d.example'
}

a_list_can_be_csv() {
    cat >dump.csv <<'END'
################
# id,dateadded,url,url_status
"1","2024-01-01 00:00:00","http://evil.example/a?x=1,2","online"
"2","2024-01-02 00:00:00","http://1.2.3.4:8080/bin.sh","offline"
"3","2024-01-03 00:00:00","","offline"
END
    succeeds deja build --url=gsb --csv url bad.deja dump.csv
    expect_stderr_has "1 line without a URL, skipped"
    _blocks <<'END'
+ http://evil.example/a?x=1,2
+ http://1.2.3.4/bin.sh
- http://evil.example/a
- http://1.2.3.4/
END
}

proxy_logs_are_searched() {
    cat >squid.log <<'END'
1066036250.129    149 192.0.2.1 TCP_MISS/200 5 GET http://www.evil.example/x - DIRECT/192.0.2.9 text/html
1066036251.000      1 192.0.2.1 TCP_HIT/200 5 GET http://good.example/ - NONE/- text/html
1066036252.000  12001 192.0.2.1 TCP_TUNNEL/200 5 CONNECT evil.example:443 - DIRECT/192.0.2.9 -
1066036253.000      0 192.0.2.1 NONE/400 5 NONE error:invalid-request - NONE/- text/html
1066036254.000      0 192.0.2.1 NONE/400 5 NONE - - NONE/- text/html
END
    _block evil.example
    local pick
    for pick in '-f 7' '--format squid'; do
        # shellcheck disable=SC2086 # words
        succeeds deja check --url=gsb bad.deja squid.log $pick
        sed -n '1p;3p' squid.log | expect_stdout
        expect_stderr_has "5 read, 2 in bad.deja"
        # shellcheck disable=SC2086 # words
        succeeds deja check -q -v --url=gsb $pick bad.deja squid.log
        sed -n '2p;4,5p' squid.log | expect_stdout
    done
    # No match: exit status 1, like grep.
    exits_with 1 deja check -q --url=gsb --format squid bad.deja <(sed -n 2p squid.log)
}

server_logs_are_searched() {
    cat >access.log <<'END'
192.0.2.1 - - [10/Oct/2024:13:55:36 +0200] "GET /private/a HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:37 +0200] "GET /public HTTP/1.1" 200 23
192.0.2.1 - - [10/Oct/2024:13:55:38 +0200] "-" 408 0
END
    _block http://example.org/private/
    succeeds deja check --url=gsb --format log --base https://example.org bad.deja access.log
    sed -n 1p access.log | expect_stdout
    expect_stderr_has "1 line without a URL, not in the filter"
}

# A state of dedup and a list hold the same keys: expressions.
a_state_of_dedup_is_a_list() {
    printf '%s\n' http://evil.example/a/ http://good.example/x?y >list
    deja dedup -q --url=gsb --state seen.deja list >out
    succeeds deja check -q --url=gsb seen.deja <<<https://www.evil.example/a/b
    exits_with 1 deja check -q --url=gsb seen.deja <<<http://evil.example/
    succeeds deja add --url=gsb seen.deja <<<evil.example
    succeeds deja dedup --url=gsb --state seen.deja <<<HTTPS://evil.example/
    expect_stdout ''
}

# Every entry of a list is found, for each kind, and the rate holds: at most 30 times p.
long_lists_have_no_false_negatives_and_keep_their_rate() {
    all_new_urls 20000 >list
    all_new_urls 20000 1000000 | sed 's|$|/a/b/c/d.html?e|' >others
    local kind found
    for kind in blocked classic exact scalable; do
        deja build --force -q --seed 7 --url=gsb -k $kind -p 1e-3 bad.deja list
        exits_with 1 deja check -q -v --url=gsb bad.deja list
        found=$("$DEJA" check -q -c --url=gsb bad.deja others || true)
        [ "$found" -lt 600 ] || fail "$kind: $found of 20,000 others were found at rate 1e-3"
    done
}

cases "$@"
