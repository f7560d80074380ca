# deja merge with sieves: unions are exact; nothing is written if the inputs do not fit together.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

tiny="-m 1M"

# _lists: a has 0..59,999, b 40,000..109,999.
_lists() {
    all_new_urls 60000 >a
    all_new_urls 70000 40000 >b
    all_new_urls 120000 >all
}
# _sieves: A and B, with runs and the same secret key.
_sieves() {
    _lists
    # shellcheck disable=SC2086 # words
    deja build -q $tiny --sieve A a
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve --like A B b
}
# _is_union SIEVE: it has the keys of a and b and no others.
_is_union() {
    deja check -q "$1" all >have
    all_new_urls 110000 | cmp -s - have || fail "$1 does not have the keys of both"
    succeeds deja verify -q "$1"
}
# _left: what is left besides the usual files.
_left() {
    [ "$(find . -name '.*deja-build' | wc -l)" -eq 0 ] || fail "a directory was left"
}

a_union_is_exact_and_new() {
    _sieves
    succeeds deja merge -o out A B
    expect_stderr_has "deja merge: 2 sieves, 110,000 keys, "
    _is_union out
    deja check -q -c A all | grep -qx 60000 || fail "an input changed"
    deja check -q -c B all | grep -qx 70000 || fail "an input changed"
    fails_with 2 "out: a sieve with 110,000 keys" deja merge -o out A B
    succeeds deja merge -q --force -o out A
    deja check -q -c out all | grep -qx 60000 || fail "it was not replaced"
    succeeds deja merge --json -o other out B A B
    [ "$(json_get sieves .stdout) $(json_get keys .stdout) $(json_get file .stdout)" = \
        "4 110000 other" ] || fail "wrong report"
    _is_union other
    # The union is an ordinary sieve.
    # shellcheck disable=SC2086
    succeeds deja add $tiny other all
    expect_stderr_has "120,000 read, 10,000 new, 110,000 seen before"
    _left
}

a_union_can_be_one_of_the_inputs() {
    _sieves
    succeeds deja merge -o A A B
    expect_stderr_has "2 sieves, 110,000 keys"
    _is_union A
    deja check -q -c B all | grep -qx 70000 || fail "the other input changed"
    succeeds deja merge -o ./B/ A B B # another spelling
    _is_union B
    _left
}

sizes_do_not_matter() {
    _lists
    head -n 3 a >few
    for pair in "few b" "b few" "few few"; do
        rm -rf A B out
        # shellcheck disable=SC2086
        deja build -q $tiny --sieve A ${pair% *}
        # shellcheck disable=SC2086
        deja build -q $tiny --sieve --like A B ${pair#* }
        succeeds deja merge -q -o out A B
        # shellcheck disable=SC2086
        cat $pair | LC_ALL=C sort -u >want
        # shellcheck disable=SC2086
        cat $pair b | once | deja check -q out | LC_ALL=C sort >have
        expect_same want have
    done
    deja build -q --sieve E /dev/null
    deja build -q --sieve --like E F /dev/null
    succeeds deja merge -o G E F
    expect_stderr_has "2 sieves, 0 keys"
}

sieves_that_do_not_fit_are_refused() {
    _sieves
    deja build -q --sieve C b
    deja build -q f.deja a
    fails_with 2 "A and C have different secret keys; nothing was written" deja merge -o out A B C
    expect_stderr_has "deja build --sieve --force --like A C LIST"
    fails_with 2 "A and C have different secret keys" deja merge -o A A B C
    deja check -q -c A all | grep -qx 60000 || fail "an input changed"
    echo http://a.org >url
    deja build -q --sieve U --url url
    fails_with 2 "A and U have different URL profiles: none and safe" deja merge -o out A U
    deja build -q --sieve V --url=crawl --keep-params=utm_source --seed 3 url
    deja build -q --sieve W --url=crawl --seed 3 url
    fails_with 2 "V and W have different rules for URLs of profile crawl" deja merge -o out V W
    fails_with 2 "A is a sieve and f.deja a filter file" deja merge -o out A f.deja
    expect_stderr_has "deja build --from-sieve A OUT.deja"
    fails_with 2 "A is a sieve and f.deja a filter file" deja merge -o out.deja f.deja A
    fails_with 2 "missing does not exist" deja merge -o out A missing
    fails_with 2 "a is not a sieve" deja merge -o out A a
    fails_with 2 "--common needs filter files" deja merge --common A B
    fails_with 2 "--mode is for filter files" deja merge --mode 0644 -o out A B
    fails_with 2 "f.deja: a scalable filter" deja merge --force -o f.deja A B
    fails_with 2 "a exists and is not a directory" deja merge -o a A B
    mkdir full
    touch full/file
    fails_with 2 "full is not a sieve and not empty" deja merge --force -o full A B
    [ ! -e out ] || fail "something was written"
    _left
}

rules_of_a_sieve_are_kept() {
    printf 'http://a.org/?utm_source=1\n' >one
    printf 'http://a.org/?utm_source=2\n' >two
    deja build -q --sieve A --url=crawl --keep-params=utm_source one
    deja build -q --sieve --like A B --url=crawl --keep-params=utm_source two
    succeeds deja merge -q -o out A B
    cat one two >both
    succeeds deja check -q -c --url=crawl --keep-params=utm_source out both
    expect_stdout 2
    fails_with 2 "rules" deja check out both
}

lines_that_wait_must_be_settled_first() {
    _sieves
    mkfifo pipe
    # shellcheck disable=SC2086
    "$DEJA" dedup -q $tiny --sieve A pipe >out.1 &
    exec 3>pipe
    head -n 3000 a >&3
    # shellcheck disable=SC2317 # eventually calls it
    _some_wait() { deja info --json A | grep -q '"pending": [1-9]'; }
    eventually _some_wait
    kill -KILL $!
    wait $! || true
    exec 3>&-
    fails_with 2 "A: some lines wait; settle first" deja merge -o out A B
    fails_with 2 "A: some lines wait; settle first" deja merge -o B A B
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve A /dev/null
    succeeds deja merge -q -o out A B
    _is_union out
}

a_secret_key_in_a_file_is_needed() {
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    echo a >a
    echo b >b
    deja build -q --sieve --key key A a
    deja build -q --sieve --key key B b
    fails_with 2 "--key" deja merge -o out A B
    succeeds deja merge -q --key key -o out A B
    fails_with 2 "--key" deja info out
    cat a b >both
    succeeds deja check -q -c --key key out both
    expect_stdout 2
}

damage_and_full_disks_leave_the_inputs() {
    _sieves
    small_disk disk 1200k
    fails_with 2 "No space left on device" deja merge -o disk/out A B
    [ -z "$(find disk -mindepth 1)" ] || fail "something was left: $(find disk)"
    mount -o remount,ro disk
    exits_with 2 deja merge -o disk/out A B
    run=$(find B -name 'run-*' | head -n 1)
    flip_bit "$run" $(($(stat -c %s "$run") / 2))
    fails_with 2 "$run" deja merge -o out A B
    fails_with 2 "$run" deja merge -o A A B
    [ ! -e out ] || fail "something was written"
    deja check -q -c A all | grep -qx 60000 || fail "an input changed"
    succeeds deja verify A
    _left
}

a_killed_merge_loses_no_key() {
    _sieves
    for i in 1 2 3 4 5 6 7 8; do
        rm -rf C
        cp -r A C
        "$DEJA" merge -q -o C C B &
        sleep "0.0$i"
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        succeeds deja verify -q C
        deja check -q -c C a | grep -qx 60000 || fail "keys are lost"
        "$DEJA" merge -q -o out A B &
        sleep "0.0$i"
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
        [ ! -e out ] || _is_union out
        rm -rf out
    done
    succeeds deja merge -q -o C C B
    _is_union C
    succeeds deja merge -q -o out A B
    _is_union out
    _left
}

cases "$@"
