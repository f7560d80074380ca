# deja build --from-sieve: filter files of every kind that can be made from the hashes of a sieve.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

tiny="-m 1M"

# _sieve N: a sieve s with runs, and its lines in list.
_sieve() {
    all_new_urls "$1" >list
    # shellcheck disable=SC2086 # words
    deja build -q $tiny --sieve s list
}
# _has_all FILTER: every key of the list is found.
_has_all() {
    exits_with 1 deja check -q -v -c "$1" list
    expect_stdout 0
    succeeds deja verify -q "$1"
}

every_kind_that_can_has_every_key() {
    _sieve 30000
    made=0
    for kind in $(deja plan -n 30k --json |
        python3 -c 'import json, sys; print(*(k["kind"] for k in json.load(sys.stdin)["kinds"]))'); do
        if [ "$kind" = layered ]; then # only this kind needs the text of the keys
            fails_with 2 "-k layered cannot be made from a sieve: it needs the text of the keys" \
                deja build -k layered -p 0.01 --from-sieve s layered.deja
            [ ! -e layered.deja ] || fail "a file was created"
            continue
        fi
        succeeds deja build -k "$kind" -p 0.01 --from-sieve s "$kind.deja"
        expect_stderr_has "deja build: 30,000 keys in $kind.deja"
        _has_all "$kind.deja"
        all_new_urls 20000 30000 >others
        deja check -q -c "$kind.deja" others >found || true
        [ "$(cat found)" -lt 400 ] || fail "$kind: $(cat found) of 20,000 other keys are found"
        made=$((made + 1))
    done
    [ $made -ge 8 ] || fail "only $made kinds were made"
}

it_equals_a_filter_of_the_lines() {
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    all_new_urls 30000 >list
    # shellcheck disable=SC2086
    deja build -q $tiny --key key --sieve s list
    for options in "-k blocked -p 0.01" "-k classic -p 1e-4" "-k blocked --filters 3 -p 0.01" \
        "-k classic --hashes 5 -m 64KiB" "--fixed"; do
        # shellcheck disable=SC2086
        deja build -q --key key -n 30k $options a.deja list
        # shellcheck disable=SC2086
        deja build -q --key key --from-sieve s $options b.deja
        tail -c +4097 a.deja >one
        tail -c +4097 b.deja >other
        expect_same one other
        rm a.deja b.deja
    done
    fails_with 2 "--key" deja build --from-sieve s c.deja
}

it_is_sized_for_the_keys_or_as_asked() {
    _sieve 30000
    succeeds deja build --json --from-sieve s a.deja
    [ "$(json_get keys .stdout) $(json_get capacity .stdout) $(json_get sieve .stdout)" = \
        "30000 30000 s" ] || fail "wrong report"
    succeeds deja build --json -n 100k --from-sieve s b.deja
    [ "$(json_get keys .stdout) $(json_get capacity .stdout)" = "30000 100000" ] || fail "wrong report"
    succeeds deja build --json -m 64KiB --from-sieve s c.deja
    [ "$(json_get filter_bytes .stdout)" -le 65536 ] || fail "wrong size"
    _has_all a.deja && _has_all b.deja && _has_all c.deja
    succeeds deja build -n 1000 --fixed --from-sieve s d.deja
    expect_stderr_has "d.deja was sized for 1,000 keys and holds 30,000; use a larger -n"
    _has_all d.deja
    fails_with 2 "a window of 1,000 keys would forget some of the 30,000 in s" \
        deja build -k window -n 1000 --from-sieve s e.deja
    exits_with 2 deja build -k exact --fixed -n 1000 --from-sieve s e.deja
    [ ! -e e.deja ] || fail "a file was created"
    succeeds deja add a.deja list # the filter has the same key and can grow
    expect_stderr_has "30,000 read, 0 new, 30,000 seen before"
    deja build -q --sieve empty /dev/null
    succeeds deja build --from-sieve empty f.deja
    expect_stderr_has "0 keys in f.deja"
}

urls_and_reproducible_keys_are_kept() {
    printf 'http://A.org\nhttp://b.org\n' >list
    deja build -q --sieve s --url=crawl --seed 5 list
    for kind in scalable static; do
        deja build -q -k $kind --from-sieve s $kind.deja
        deja check -q -c $kind.deja list | grep -qx 2 || fail "keys are missing"
        succeeds deja info $kind.deja
        expect_stdout_has "profile crawl"
    done
    fails_with 2 "safe" deja build --url=safe --from-sieve s f.deja
    deja build -q --sieve t --url=crawl --keep-params=utm_source list
    fails_with 2 "rules" deja build --from-sieve t f.deja
    succeeds deja build -q --from-sieve t --url=crawl --keep-params=utm_source f.deja
}

misuse_is_refused_with_a_reason() {
    _sieve 100
    fails_with 2 "--from-sieve reads no lines; add those of list afterwards" \
        deja build --from-sieve s f.deja list
    fails_with 2 "--from-sieve and --hash cannot be combined: a sieve stores hashes" \
        deja build --hash siphash --from-sieve s f.deja
    fails_with 2 "--from-sieve and --hash cannot be combined" \
        deja build --hash md5 -k classic --from-sieve s f.deja
    fails_with 2 "--from-sieve and --dates cannot be combined" \
        deja build -k exact --dates --from-sieve s f.deja
    fails_with 2 "--from-sieve and --except cannot be combined" \
        deja build -k static --except list --from-sieve s f.deja
    fails_with 2 "--from-sieve and --like" deja build --like s --from-sieve s f.deja
    fails_with 2 "--from-sieve and --seed" deja build --seed 3 --from-sieve s f.deja
    fails_with 2 "--from-sieve and --format dcso" deja build --format dcso --from-sieve s f.deja
    fails_with 2 "--from-sieve reads no lines: omit -f" deja build -f 2 --from-sieve s f.deja
    fails_with 2 "missing" deja build --from-sieve missing f.deja
    fails_with 2 "list is not a directory" deja build --from-sieve list f.deja
    [ ! -e f.deja ] || fail "a file was created"
    succeeds deja build -q --from-sieve s f.deja
    fails_with 2 "f.deja: a scalable filter with 100 keys" deja build --from-sieve s f.deja
    succeeds deja build -q --force --from-sieve s f.deja
    fails_with 2 "s: a sieve with 100 keys" deja build --force --from-sieve s s
}

damage_and_a_full_disk_create_nothing() {
    _sieve 50000
    small_disk disk 100k
    fails_with 2 "No space left on device" deja build --from-sieve s disk/f.deja
    [ -z "$(find disk -mindepth 1)" ] || fail "something was left: $(find disk)"
    run=$(find s -name 'run-*' | head -n 1)
    flip_bit "$run" $(($(stat -c %s "$run") / 2))
    for kind in scalable static; do
        fails_with 2 "$run" deja build -k $kind --from-sieve s f.deja
    done
    [ ! -e f.deja ] || fail "a file was created"
}

cases "$@"
