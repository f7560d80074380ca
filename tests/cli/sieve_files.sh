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

on_a_full_disk_nothing_is_lost() {
    small_disk disk 1m
    all_new_urls 200000 >different
    { cat different && head -n 60000 different; } >list
    # shellcheck disable=SC2086
    exits_with 2 deja dedup $tiny --sieve disk/s list
    expect_stderr_has "No space left on device"
    cp .stdout out.1
    [ -s out.1 ] || fail "nothing came out before the disk was full"
    mount -o remount,size=20m disk
    # shellcheck disable=SC2086
    succeeds deja dedup -q $tiny --sieve disk/s list
    cp .stdout out.2
    [ "$(wc -l <out.2)" -lt 200000 ] || fail "nothing was recorded"
    LC_ALL=C sort -u out.1 out.2 | cmp -s - <(LC_ALL=C sort different) || fail "lines are lost"
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
