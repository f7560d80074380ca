# Sieves as files: info, verify, damage, a full disk.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

tiny="-m 1M"

# _sieve N: a sieve s with N keys, some of them in runs.
_sieve() {
    all_new_urls "$1" >list
    # shellcheck disable=SC2086 # words
    deja dedup -q $tiny --sieve s list >/dev/null
    [ -n "$(ls s/run-*)" ] || fail "no runs: the memory is too large for this test"
}

info_describes_a_sieve() {
    _sieve 100000
    succeeds deja info s
    expect_stdout_has "kind        sieve"
    expect_stdout_has "keys        100,000 in "
    expect_stdout_has "contents    bytes as given"
    expect_stdout_has "pending     no line waits"
    expect_stdout_has "lost        none, certain to 1 in 10^19"
    succeeds deja info --json s
    python3 - <<'END' || fail "wrong report"
import json
(s,) = json.load(open(".stdout"))
assert s["file"] == "s" and s["format"] == "sieve" and s["keys"] == 100000
assert s["runs"] > 0 and s["pending"] == 0 and 0 < s["wrong"] < 1e-18
END
    deja build -q f.deja list
    succeeds deja info s f.deja
    expect_stdout_has "f.deja"
    echo http://a.org >url
    deja dedup -q --sieve u --url=crawl url >/dev/null
    succeeds deja info u
    expect_stdout_has "contents    URLs of profile crawl"
}

a_secret_key_can_be_stored_separately() {
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    echo a >list
    succeeds deja dedup -q --sieve s --key key list
    exits_with 2 deja dedup -q --sieve s list
    exits_with 2 deja info s
    succeeds deja info --key key s
    succeeds deja dedup -q --sieve s --key key list
    expect_stdout ''
}

verify_finds_damage_and_dedup_refuses_it() {
    _sieve 100000
    succeeds deja verify s
    expect_stdout "s: intact"
    run=$(find s -name 'run-*' | head -n 1)
    flip_bit "$run" $(($(stat -c %s "$run") / 2))
    fails_with 1 "$run" deja verify s
    # Repeats are looked up in all runs.
    # shellcheck disable=SC2086
    fails_with 2 "$run" deja dedup $tiny --sieve s list
    expect_stdout ''
    rm "$run"
    fails_with 1 "$run: this run is missing" deja verify s
    # shellcheck disable=SC2086
    exits_with 2 deja dedup $tiny --sieve s list
    expect_stdout ''
}

every_missing_file_is_named() {
    _sieve 90000 # enough that the filter is saved
    for file in $(cd s && ls); do
        case $file in lock | filter.deja) continue ;; esac # both are made again
        mv "s/$file" aside
        # shellcheck disable=SC2086
        exits_with 2 deja dedup $tiny --sieve s list
        expect_stdout ''
        expect_stderr_has "s/$file"
        expect_stderr_has "restore the sieve from a backup"
        run deja verify s
        [ "$status" -ne 0 ] || fail "verify does not miss $file"
        run deja info s
        [ "$status" -eq 2 ] || fail "info does not miss $file"
        mv aside "s/$file"
    done
    mv s/manifest aside
    fails_with 2 "s is not a regular file, and not a sieve: it has no manifest" deja verify s
    fails_with 2 "s is not a regular file, and not a sieve: it has no manifest" deja info s
    mv aside s/manifest
    rm s/lock s/filter.deja
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve s list
    expect_stdout ''
}

files_of_others_survive() {
    mkdir s
    echo precious >s/log-20260101
    echo a >list
    fails_with 2 "choose another directory" deja dedup --sieve s list
    [ "$(cat s/log-20260101)" = precious ] || fail "a file was changed"
    succeeds deja dedup -q --sieve t list
    echo precious >t/run-notes
    succeeds deja dedup -q --sieve t list
    [ "$(cat t/run-notes)" = precious ] || fail "a file was changed"
}

a_sieve_that_was_deleted_in_use_is_an_error() {
    mkfifo pipe
    "$DEJA" dedup -q --sieve s pipe >out 2>err &
    exec 3>pipe
    echo a >&3
    eventually test -s out
    rm s/lock
    echo b >list
    fails_with 2 "s is in use by another process" deja dedup --sieve s list
    rm -r s
    exec 3>&-
    status=0
    wait $! || status=$?
    [ "$status" -eq 2 ] || fail "exit $status"
    grep -q "s/manifest was deleted or moved" err || fail "$(cat err)"
}

few_open_files_lose_no_line() {
    all_new_urls 60000 >list
    for n in 8 12 16 64; do
        # shellcheck disable=SC2086
        (ulimit -n $n && run deja dedup -q $tiny --sieve s list && cp .stdout "out.$n" &&
            if [ "$status" -ne 0 ]; then expect_stderr_has "Too many open files; allow more open files"; fi)
    done
    LC_ALL=C sort -u out.* | cmp -s - <(LC_ALL=C sort list) || fail "lines are lost"
    succeeds deja verify s
}

lines_of_any_length_and_content_wait() {
    # They are in the runs already, so they wait, and come out with -D.
    _sieve 90000 # enough that the filter is saved
    { head -c 100000000 /dev/zero | tr '\0' x && printf '\nwith\0zero\n\n\xff\xfe\n' && cat list; } >odd
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s odd | cmp -s - <(head -n 4 odd) || fail "the lines do not come out"
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s <(all_new_urls 20000 100000) >/dev/null # so that no line is recent
    # shellcheck disable=SC2086
    deja dedup -q $tiny --sieve s -D odd | cmp -s - odd || fail "the repeats do not come out"
    succeeds deja verify s
}

less_memory_than_the_pending_keys_need_is_enough() {
    all_new_urls 300000 >list
    deja dedup -q -m 2M --sieve s list >/dev/null
    cat list list >twice
    mkfifo pipe
    "$DEJA" dedup -q -m 64M --sieve s pipe >out.1 &
    exec 3>pipe
    cat twice >&3
    # shellcheck disable=SC2317 # eventually calls it
    _many_wait() { [ "$(stat -c %s s/spool-* | sort -n | tail -n 1)" -gt 9000000 ]; }
    eventually _many_wait
    kill -KILL $!
    wait $! 2>/dev/null || true
    exec 3>&-
    # shellcheck disable=SC2086
    succeeds deja dedup $tiny --sieve s list
    expect_stdout ''
    expect_stderr_has "had waited since an earlier run"
    succeeds deja verify s
}

# The disk grows by a little whenever it is full: in flushes, merges, the spool and the filter.
on_a_full_disk_nothing_is_lost() {
    local kilobytes=100
    small_disk disk ${kilobytes}k
    all_new_urls 60000 >different
    { cat different && head -n 30000 different; } >list
    LC_ALL=C sort different >expected
    status=2
    for ((i = 0; status != 0; i++)); do
        # shellcheck disable=SC2086
        run deja dedup $tiny --late 2000 --sieve disk/s list
        cp .stdout "out.$i"
        if [ "$status" -ne 0 ]; then
            expect_stderr_has "No space left on device; make room and continue: no line is lost"
            kilobytes=$((kilobytes + 20))
            mount -o "remount,size=${kilobytes}k" disk
        fi
        [ "$i" -lt 500 ] || fail "it never ends"
    done
    [ "$i" -gt 20 ] || fail "the disk was full only $i times"
    LC_ALL=C sort -u out.* | cmp -s - expected || fail "lines are lost"
    # A failure repeats two batches at most.
    [ "$(cat out.* | wc -l)" -lt $((60000 + i * 2 * 2048)) ] || fail "little was recorded"
    mount -o remount,size=20m disk
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve disk/s -c list
    expect_stdout 0
    succeeds deja verify disk/s
}

a_folder_that_cannot_be_written_is_refused() {
    small_disk disk 1m
    echo a >list
    deja dedup -q --sieve disk/s list >/dev/null
    mount -o remount,ro disk
    exits_with 2 deja dedup --sieve disk/s list
    expect_stdout ''
    succeeds deja info disk/s
    succeeds deja verify disk/s
    exits_with 2 deja dedup --sieve disk/other list
}

cases "$@"
