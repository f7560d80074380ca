# Writing the output fails: exit status 2, the message names the output, and no unwritten line is
# recorded.
. "$SUPPORT/cases.sh"

[ -w /dev/full ] || skip "there is no /dev/full"

a_full_output_is_an_error() {
    seq 1 1000 >list
    local j
    for j in 1 2; do
        status=0
        deja dedup -j $j list >/dev/full 2>.stderr || status=$?
        [ $status -eq 2 ] || fail "exit $status"
        expect_stderr_has "standard output: No space left on device"
        expect_lines 1 .stderr
        fails_with 2 "/dev/full: No space left on device" deja dedup -j $j -o /dev/full list
        expect_lines 1 .stderr
    done
    deja build -q f.deja list
    fails_with 2 "/dev/full: No space left on device" deja check -o /dev/full f.deja list
    fails_with 2 "/dev/full: No space left on device" deja dedup --count -o /dev/full list
}

a_full_output_is_an_error_with_a_long_list() {
    all_new_urls 400000 >list
    fails_with 2 "/dev/full: No space left on device" deja dedup -o /dev/full list
}

nothing_unwritten_is_recorded() {
    all_new_urls 50000 >list
    fails_with 2 "/dev/full" deja dedup --seed 7 --state seen.deja -o /dev/full list
    succeeds deja dedup -q --state seen.deja list
    expect_same list .stdout
    # After a first part that went well:
    rm seen.deja
    head -n 20000 list >first
    succeeds deja dedup -q --seed 7 --state seen.deja first
    fails_with 2 "/dev/full" deja dedup --seed 7 --state seen.deja -o /dev/full list
    succeeds deja verify seen.deja
    succeeds deja dedup -q --state seen.deja list
    tail -n +20001 list | expect_stdout
}

cases "$@"
