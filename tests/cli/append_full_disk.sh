# dedup --append on a full disk: the list never has a part of a line, and the next run continues.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

# _into_pipe OPTION...: dedup into a pipe, so that every batch is appended at once.
_into_pipe() { deja dedup -q -k exact "$@" input | cat >first; }

a_list_that_cannot_grow_is_cut_back_to_whole_lines() {
    small_disk disk 1m
    all_new_urls 100000 >input # 2.8 MB
    fails_with 2 "disk/list: cannot append" _into_pipe --append disk/list
    expect_stderr_has "No space left on device"
    [ -s disk/list ] || fail "nothing was appended"
    [ "$(tail -c 1 disk/list | od -An -tx1)" = " 0a" ] || fail "the last line is incomplete"
    head -c "$(stat -c %s disk/list)" first | cmp - disk/list || fail "not what was printed"
    cp disk/list list
    succeeds deja dedup -q -k exact --append list input
    sort -u first .stdout | cmp - <(sort input) || fail "lines lost"
    sort list | cmp - <(sort input) || fail "the list is not complete"
}

a_state_does_not_know_lines_that_were_not_appended() {
    small_disk disk 1m
    all_new_urls 100000 >input
    fails_with 2 "disk/list: cannot append" _into_pipe --state s.deja --append disk/list
    cp disk/list list
    succeeds deja dedup -q --state s.deja --append list input
    sort list | cmp - <(sort input) || fail "the list is not complete"
    [ "$(wc -l <.stdout)" -lt 100000 ] || fail "nothing was recorded"
}

an_output_that_is_full_appends_nothing_more() {
    small_disk disk 1m
    all_new_urls 100000 >input
    fails_with 2 "disk/out" deja dedup -q --append list -o disk/out input
    [ ! -e list ] || fail "appended what was not printed"
    echo known >list
    fails_with 2 "disk/out" deja dedup -q --append list -o disk/out input
    [ "$(cat list)" = known ] || fail "appended what was not printed"
}

cases "$@"
