# deja add and deja build --sieve: the keys of lines go into a sieve.  awk and sort are the references.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

# With this memory, keys wait and runs are merged.
tiny="-m 1M"

# _has_all N SIEVE: the sieve has exactly the keys of all_new_urls N.
_has_all() {
    all_new_urls "$1" >want
    succeeds deja check -q -c "$2" want
    expect_stdout "$1"
    succeeds deja info --json "$2"
    [ "$(python3 -c 'import json; print(json.load(open(".stdout"))[0]["keys"])')" -eq "$1" ] ||
        fail "wrong number of keys"
}

build_makes_a_sieve_and_add_grows_it() {
    { all_new_urls 150000 && all_new_urls 50000; } >list
    # shellcheck disable=SC2086 # words
    succeeds deja build $tiny --sieve --json s list
    [ "$(json_get read .stdout) $(json_get added .stdout) $(json_get known .stdout)" = \
        "200000 150000 50000" ] || fail "wrong counts"
    [ "$(json_get keys .stdout) $(json_get format .stdout)" = "150000 sieve" ] || fail "wrong report"
    [ "$(json_get passes .stdout)" -gt 0 ] || fail "the memory is too large for this test"
    _has_all 150000 s
    all_new_urls 250000 >list
    # shellcheck disable=SC2086
    succeeds deja add $tiny s list
    expect_stdout ''
    expect_stderr_has "deja add: 250,000 read, 100,000 new, 150,000 seen before"
    _has_all 250000 s
    # shellcheck disable=SC2086
    succeeds deja add $tiny -v s list
    expect_stderr_has "250,000 read, 0 new, 250,000 seen before"
    expect_stderr_has "s: 250,000 keys in "
    succeeds deja verify s
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve s list
    expect_stdout ''
}

input_is_read_as_with_filters() {
    all_new_urls 3000 >list
    succeeds deja build -q --sieve a list
    gzip -c list >list.gz
    zstd -q -c list >list.zst
    for file in list.gz list.zst -; do
        succeeds deja add a $file <list
        expect_stderr_has "3,000 read, 0 new, 3,000 seen before"
    done
    printf 'x 1\ny 1\nz 2\nw\n' >fields
    succeeds deja build --sieve b -f 2 fields
    expect_stderr_has "4 read, 2 new, 1 seen before"
    expect_stderr_has "1 line without field 2, skipped"
    fails_with 2 "fields: line 4" deja add --strict -f 2 b fields
    printf '0.0.0.0 a b\na\n' >hosts
    succeeds deja build --sieve --format hosts --json c hosts
    [ "$(json_get added .stdout) $(json_get known .stdout)" = "2 1" ] || fail "wrong counts"
    printf 'http://A.org\nhttp://a.org/\n' >urls
    succeeds deja build --sieve --url d urls
    expect_stderr_has "2 read, 1 new, 1 seen before"
    succeeds deja add d urls # the sieve knows the profile
    expect_stderr_has "2 read, 0 new, 2 seen before"
    fails_with 2 "safe" deja add --url=crawl d urls
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    succeeds deja build -q --sieve --key key e list
    fails_with 2 "--key" deja add e list
    succeeds deja add -q --key key e list
    for name in a b c d e; do succeeds deja verify -q $name; done
}

an_empty_input_makes_an_empty_sieve() {
    succeeds deja build --sieve s /dev/null
    expect_stderr_has "0 read, 0 new, 0 seen before"
    succeeds deja add s /dev/null
    echo a >list
    exits_with 1 deja check s list
    succeeds deja verify s
}

an_existing_sieve_is_replaced_only_with_force() {
    echo a >old
    echo b >new
    succeeds deja build -q --sieve s old
    fails_with 2 "s: a sieve with 1 key; add to it with \`deja add\`, or use --force to replace it" \
        deja build --sieve s new
    fails_with 2 "s: a sieve with 1 key; choose another name" deja build s new
    fails_with 2 "s: a sieve with 1 key; choose another name" deja build --force s new
    succeeds deja check -q s old
    succeeds deja build -q --sieve --force s/ new
    exits_with 1 deja check -q s old
    succeeds deja check -q s new
    # Bad input leaves the old one.
    fails_with 2 "missing does not exist" deja build --sieve --force s missing
    succeeds deja check -q s new
    [ ! -e .s.deja-build ] || fail "a directory was left"
    # What a killed run has left is deleted, and nothing else.
    succeeds deja build -q --sieve .t.deja-build old
    rm .t.deja-build/manifest
    succeeds deja build -q --sieve t new
    [ ! -e .t.deja-build ] || fail "the leftover is still there"
    mkdir .u.deja-build
    echo text >.u.deja-build/notes
    fails_with 2 "notes is not a file of a sieve" deja build --sieve u new
    expect_lines 1 .u.deja-build/notes
}

names_that_are_taken_are_refused() {
    echo a >list
    deja build -q f.deja list
    fails_with 2 "f.deja: a scalable filter with 1 key" deja build --sieve --force f.deja list
    fails_with 2 "list exists and is not a directory" deja build --sieve list s
    mkdir full
    touch full/file
    fails_with 2 "full is not a sieve and not empty" deja build --sieve full list
    fails_with 2 "full is not a sieve and not empty" deja build --sieve --force full list
    fails_with 2 "'.' cannot be the name" deja build --sieve . list
    small_disk disk 1m
    fails_with 2 "disk is the root of a file system" deja build --sieve disk list
    mkdir empty
    succeeds deja build -q --sieve empty list
    succeeds deja check -q empty list
    fails_with 2 "new/ is the name of a directory; to make a sieve, give --sieve" \
        deja build new/ list
    fails_with 2 "missing does not exist; create it with" deja add missing list
    mkdir other
    exits_with 2 deja add other list
    fails_with 2 "the filter comes first: deja add empty list" deja add list empty
}

options_without_a_meaning_are_refused() {
    echo a >list
    fails_with 2 "--sieve and -k cannot be combined: a sieve has its own filter" \
        deja build --sieve -k exact s list
    fails_with 2 "--sieve and --except cannot be combined" deja build --sieve --except list s list
    fails_with 2 "--sieve and --mode cannot be combined" deja build --sieve --mode 0644 s list
    fails_with 2 "--sieve and --format dcso cannot be combined" \
        deja build --sieve --format dcso s list
    fails_with 2 "a sieve needs at least" deja build --sieve -m 1k s list
    [ ! -e s ] || fail "a directory was created"
    succeeds deja build --sieve -n 5 -p 0.1 s list
    expect_stderr_has "ignored: -n, -p"
    deja build -q f.deja list
    fails_with 2 "-m is the memory of a sieve, and f.deja is not one: omit -m" \
        deja add -m 1M f.deja list
}

a_sieve_can_be_made_like_another() {
    echo http://a.org >list
    succeeds deja build -q --sieve --url=crawl a list
    succeeds deja build -q --sieve --like a b list
    succeeds deja info b
    expect_stdout_has "URLs of profile crawl"
    succeeds deja merge -q -o c a b
    fails_with 2 "list is not a sieve" deja build --sieve --like list d list
    fails_with 2 "--like and --seed" deja build --sieve --like a --seed 4 d list
    fails_with 2 "crawl" deja build --sieve --like a --url=safe d list
    [ ! -e d ] || fail "a directory was created"
    [ ! -e .d.deja-build ] || fail "a directory was left"
}

ctrl_c_keeps_what_was_read() {
    all_new_urls 100000 >list
    mkfifo pipe
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve s /dev/null
    # shellcheck disable=SC2086
    "$DEJA" add $tiny --json s pipe >report 2>err &
    exec 3>pipe
    cat list >&3
    # shellcheck disable=SC2317 # eventually calls it
    _all_there() { [ "$(deja check -q -c s list)" -gt 90000 ]; }
    eventually _all_there
    kill -TERM $!
    wait $! || true
    exec 3>&-
    [ "$(json_get stopped report)" = True ] || fail "$(cat report)"
    succeeds deja check -q -c s list
    [ "$(cat .stdout)" -eq "$(json_get added report)" ] || fail "it has other keys than it reported"
    succeeds deja verify s
    # A build that is stopped creates nothing.
    mkfifo other
    "$DEJA" build --sieve t other 2>err &
    exec 3>other
    head -n 1000 list >&3
    eventually test -e .t.deja-build/manifest
    kill -TERM $!
    wait $! || true
    exec 3>&-
    grep -q "stopped: t was not created" err || fail "$(cat err)"
    [ ! -e t ] || fail "it was created"
    [ ! -e .t.deja-build ] || fail "a directory was left"
}

a_killed_add_leaves_a_sieve_that_can_be_used() {
    all_new_urls 200000 >list
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve s /dev/null
    for ((i = 0; i < 30; i++)); do
        # shellcheck disable=SC2086
        "$DEJA" add -q $tiny s list &
        sleep "0.0$((i % 10))$i"
        kill -KILL $! 2>/dev/null || true
        wait $! 2>/dev/null || true
    done
    # shellcheck disable=SC2086
    succeeds deja add -q $tiny s list
    _has_all 200000 s
    succeeds deja verify s
}

keys_that_wait_after_a_kill_have_no_line() {
    all_new_urls 100000 >list
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve s list
    mkfifo pipe
    for next in dedup add; do
        # shellcheck disable=SC2086
        "$DEJA" add -q $tiny s pipe &
        exec 3>pipe
        head -n 3000 list >&3
        # shellcheck disable=SC2317 # eventually calls it
        _some_wait() { deja info --json s | grep -q '"pending": [1-9]'; }
        eventually _some_wait
        kill -KILL $!
        wait $! || true
        exec 3>&-
        if [ $next = dedup ]; then
            # shellcheck disable=SC2086
            succeeds deja dedup -q $tiny --sieve s -D /dev/null
            expect_stdout '' # not even an empty line
        else
            # shellcheck disable=SC2086
            succeeds deja add $tiny s /dev/null
            expect_stderr_has "0 read, 0 new, 0 seen before"
        fi
        deja info --json s | grep -q '"pending": 0,' || fail "keys still wait"
    done
    _has_all 100000 s
}

lines_that_wait_for_output_are_not_lost() {
    all_new_urls 100000 >list
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s list >out.0
    # Repeats wait until they are settled; a run that is killed leaves them.
    mkfifo pipe
    # shellcheck disable=SC2086
    "$DEJA" dedup -q $tiny --sieve s pipe >out.1 &
    exec 3>pipe
    head -n 3000 list >&3
    # shellcheck disable=SC2317
    _some_wait() { deja info --json s | grep -q '"pending": [1-9]'; }
    eventually _some_wait
    kill -KILL $!
    wait $! || true
    exec 3>&-
    echo new >another
    # shellcheck disable=SC2086
    fails_with 2 "s: lines of an earlier run wait for output, and adding would lose them" \
        deja add $tiny s another
    expect_stderr_has "deja dedup --sieve s /dev/null"
    deja info --json s | grep -q '"pending": [1-9]' || fail "the lines were dropped"
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve s /dev/null
    # shellcheck disable=SC2086
    succeeds deja add $tiny s another
    expect_stderr_has "1 read, 1 new, 0 seen before"
}

bad_input_keeps_what_came_before() {
    all_new_urls 100000 >list
    gzip -c list >list.gz
    head -c 200000 list.gz >cut.gz
    deja build -q --sieve s /dev/null
    exits_with 2 deja add s cut.gz
    succeeds deja check -q -c s list
    [ "$(cat .stdout)" -gt 1000 ] || fail "nothing was recorded"
    succeeds deja add s list
    _has_all 100000 s
    # shellcheck disable=SC2086
    succeeds deja add -q $tiny s list # makes runs
    run=$(find s -name 'run-*' | head -n 1)
    flip_bit "$run" $(($(stat -c %s "$run") / 2))
    # shellcheck disable=SC2086
    fails_with 2 "$run" deja add $tiny s list
    rm "$run"
    # shellcheck disable=SC2086
    fails_with 2 "$run: this run is missing" deja add $tiny s list
}

a_full_disk_or_a_folder_without_rights_is_an_error() {
    small_disk disk 1m
    all_new_urls 200000 >list
    # shellcheck disable=SC2086
    fails_with 2 "No space left on device" deja build $tiny --sieve disk/s list
    [ -z "$(find disk -mindepth 1)" ] || fail "something was left: $(find disk)"
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve disk/s /dev/null
    # shellcheck disable=SC2086
    fails_with 2 "No space left on device" deja add $tiny disk/s list
    mount -o remount,size=20m disk
    # shellcheck disable=SC2086
    succeeds deja add -q $tiny disk/s list
    _has_all 200000 disk/s
    mount -o remount,ro disk
    fails_with 2 "disk/s" deja add disk/s list
    exits_with 2 deja build --sieve disk/t list
}

two_writers_are_refused() {
    mkfifo pipe
    echo a >list
    deja build -q --sieve s list
    deja add -q s pipe &
    exec 3>pipe
    echo b >&3
    echo b >other
    eventually deja check -q s other
    fails_with 2 "s is in use by another process" deja add s list
    fails_with 2 "the new sieve is in .s.deja-build" deja build --sieve --force s list
    exec 3>&-
    wait $!
    succeeds deja check -q s other
}

cases "$@"
