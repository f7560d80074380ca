# spectral: counting and removing keys on the command line.
. "$SUPPORT/cases.sh"

_count() { # FILTER LINE: its count
    printf '%s\n' "$2" | deja count -q "$1" | cut -f 1
}

keys_are_counted_and_removed() {
    printf 'a\nb\na\nc\na\nb\n' >list
    deja build -q -k spectral -n 100 f.deja list
    printf 'a\nb\nc\nd\n' >asked
    succeeds deja count f.deja asked
    printf '3\ta\n2\tb\n1\tc\n0\td\n' | expect_stdout
    expect_stderr_has "4 read, 6 adds, 3 in f.deja"
    printf 'a\nd\nb\nb\n' >away
    succeeds deja remove f.deja away
    expect_stdout ''
    expect_lines 1 .stderr
    expect_stderr_has "4 read, 3 removed, 1 refused"
    succeeds deja count -q f.deja asked
    printf '2\ta\n0\tb\n1\tc\n0\td\n' | expect_stdout
    exits_with 0 deja check -q f.deja asked
    expect_stdout "$(printf 'a\nc')"
    succeeds deja verify -q f.deja
    succeeds deja remove --json f.deja away
    [ "$(json_get removed .stdout)" -eq 1 ] || fail "removed"
    [ "$(json_get refused .stdout)" -eq 3 ] || fail "refused"
    [ "$(json_get keys .stdout)" -eq 2 ] || fail "keys"
    run deja count --json f.deja asked
    [ "$(json_get total .stderr)" -eq 2 ] || fail "total"
    [ "$(json_get in .stderr)" -eq 2 ] || fail "in"
    succeeds deja remove -q f.deja away
    expect_stderr_empty
    # Refused removals stay in the statistics.
    succeeds deja info --json f.deja
    [ "$(python3 -c 'import json; print(json.load(open(".stdout"))[0]["refused"])')" -eq 7 ] ||
        fail "refused in info"
}

every_width_counts_to_its_maximum() {
    local bits
    for bits in 4 8 16 32; do
        seq 300 | sed s,.*,a, >list
        deja build --force -q -k spectral --counter-bits $bits -n 100 f.deja list
        case $bits in
        4) [ "$(_count f.deja a)" -eq 15 ] || fail "4 bits" ;;
        8) [ "$(_count f.deja a)" -eq 255 ] || fail "8 bits" ;;
        *) [ "$(_count f.deja a)" -eq 300 ] || fail "$bits bits" ;;
        esac
        echo a | deja remove f.deja 2>.stderr
        case $bits in # a saturated counter does not change
        4 | 8) expect_stderr_has "0 removed, 1 refused" ;;
        *) expect_stderr_has "1 removed, 0 refused" ;;
        esac
        succeeds deja info f.deja
        expect_stdout_has "counters    $bits bits; the largest is"
        [ $bits -gt 8 ] || ! grep -q "none saturated" .stdout || fail "nothing saturated"
    done
    fails_with 2 "--counter-bits is 5: it must be 4, 8, 16 or 32" \
        deja build -k spectral --counter-bits 5 -n 9 g.deja list
    fails_with 2 "--counter-bits goes with kind spectral, not blocked" \
        deja build -k blocked --counter-bits 8 -n 9 g.deja list
    fails_with 2 "--counter-bits" deja build -k spectral --counter-bits 64 -n 9 g.deja list
}

removing_everything_leaves_an_empty_filter() {
    all_new_urls 3000 >list
    deja build -q --seed 3 -k spectral -n 3000 -p 1e-3 --filters 2 f.deja list
    succeeds deja remove f.deja list
    expect_stderr_has "3,000 read, 3,000 removed, 0 refused"
    exits_with 1 deja check -q f.deja list
    expect_stdout ''
    tail -c +4097 f.deja | tr -d '\0' >rest
    [ ! -s rest ] || fail "the body is not empty"
    succeeds deja add -q f.deja list
    succeeds deja check -q f.deja list
    expect_same list .stdout
}

minimal_increase_counts_and_does_not_remove() {
    printf 'a\na\nb\n' >list
    deja build -q -k spectral --minimal-increase -n 100 f.deja list
    [ "$(_count f.deja a)" -eq 2 ] || fail "count"
    fails_with 2 "do not hold the sum of their keys" deja remove f.deja list
    [ "$(_count f.deja a)" -eq 2 ] || fail "count after"
    succeeds deja info f.deja
    expect_stdout_has "minimal increase"
    succeeds deja verify -q f.deja
    fails_with 2 "--minimal-increase goes with kind spectral" \
        deja build --minimal-increase -n 9 g.deja list
}

other_kinds_name_the_one_that_can() {
    echo a >list
    local kind
    for kind in classic blocked exact scalable; do
        deja build --force -q -k $kind -n 100 f.deja list
        if [ $kind != scalable ]; then deja build --force -q -k $kind -n 100 --fixed f.deja list; fi
        cp f.deja before.deja
        fails_with 2 "f.deja is of kind $kind, which cannot remove keys; spectral and paired can" \
            deja remove f.deja list
        fails_with 2 "f.deja is of kind $kind, which cannot count keys; spectral can" \
            deja count f.deja list
        expect_stdout ''
        expect_same f.deja before.deja
    done
    fails_with 2 "nowhere.deja" deja remove nowhere.deja list
    fails_with 2 "nowhere.deja" deja count nowhere.deja list
}

it_cannot_grow() {
    fails_with 2 "give -n N" deja build -k spectral f.deja </dev/null
    echo a >list
    succeeds deja build -q -k spectral f.deja list # sized from the file
}

fields_urls_and_records_can_be_keys() {
    printf '1;x\n2;y\n3;x\n' >list
    deja build -q -k spectral -n 100 -f 2 -d ';' f.deja list
    succeeds deja count -q -f 2 -d ';' f.deja list
    printf '2\t1;x\n1\t2;y\n2\t3;x\n' | expect_stdout
    printf 'n,u\n1,x\n2,"x"\n' >list.csv
    deja build --force -q -k spectral -n 100 --csv u f.deja list.csv
    succeeds deja count -q --csv u f.deja list.csv
    printf 'count\tn,u\n2\t1,x\n2\t2,"x"\n' | expect_stdout
    printf 'HTTP://Example.org\nhttp://example.org/\n' >urls
    deja build --force -q -k spectral -n 100 --url f.deja urls
    succeeds deja count -q --url --canonical f.deja urls
    printf '2\thttp://example.org/\n2\thttp://example.org/\n' | expect_stdout
    succeeds deja count -q f.deja urls # the filter's profile
    printf '2\tHTTP://Example.org\n2\thttp://example.org/\n' | expect_stdout
    head -n 1 urls | deja remove -q --url f.deja
    succeeds deja count -q --url -o out f.deja urls
    printf '1\tHTTP://Example.org\n1\thttp://example.org/\n' | cmp - out || fail "out"
    printf 'a\nb\0c\0' >zero
    deja build --force -q -z -k spectral -n 100 f.deja zero
    deja count -q -z f.deja zero >out
    printf '1\ta\nb\0001\tc\0' | cmp - out || fail "-z"
    fails_with 2 "f.deja" deja count -o f.deja f.deja zero
}

dedup_accepts_the_kind() {
    all_new_urls 2000 >list
    cat list list | deja dedup -q -k spectral -n 2000 -p 1e-9 >out
    expect_same list out
    deja dedup -q -k spectral -n 2000 -p 1e-6 --state seen.deja list >out
    expect_same list out
    exits_with 0 deja dedup -q --state seen.deja list
    expect_stdout ''
    head -n 5 list | deja remove -q seen.deja
    succeeds deja dedup -q --state seen.deja list
    head -n 5 list | expect_stdout
    fails_with 2 "was made with --counter-bits 4, not 8" \
        deja dedup --state seen.deja -k spectral --counter-bits 8 list
}

cases "$@"
