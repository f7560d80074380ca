# The disk fills up with output: the lines on it are complete, and the state has exactly those lines.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

_whole_lines() { # of a file that was cut off by the end of the disk
    head -n "$(wc -l <"$1")" "$1"
}

the_error_names_the_output() {
    small_disk disk 1m
    all_new_urls 100000 >list
    fails_with 2 "disk/out: No space left on device" deja dedup -o disk/out list
    [ -s disk/out ] || fail "nothing was written"
    status=0
    deja dedup list >disk/out 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    expect_stderr_has "standard output: No space left on device"
}

# So few lines that none of them is synced before the disk is full.
nothing_unwritten_is_recorded() {
    small_disk disk 1m
    all_new_urls 100000 >list
    fails_with 2 "disk/out: No space left" deja dedup --state seen.deja --seed 7 -o disk/out list
    succeeds deja dedup -q --state seen.deja list
    _whole_lines disk/out >first
    cat first .stdout | sort -u >union
    sort list | cmp - union || fail "lines lost"
    succeeds deja verify seen.deja
}

# More than are synced at a time: the first of them are recorded, and the state is sealed.
synced_lines_are_recorded_and_the_state_is_sealed() {
    all_new_urls 400000 >list
    small_disk disk 9m
    fails_with 2 "disk/out: No space left" deja dedup --state seen.deja --seed 7 -o disk/out list
    succeeds deja verify seen.deja
    succeeds deja dedup -q --state seen.deja list
    [ "$(wc -l <.stdout)" -lt 200000 ] || fail "what was synced is not recorded"
    _whole_lines disk/out >first
    cat first .stdout | sort -u >union
    sort list | cmp - union || fail "lines lost"
}

cases "$@"
