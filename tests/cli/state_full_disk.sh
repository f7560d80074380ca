# Filter files on a full or read-only disk.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

without_room_no_state_is_created() {
    small_disk disk 2m
    all_new_urls 1000 >list
    fails_with 2 "disk/seen.deja: no space for" deja dedup --state disk/seen.deja -n 10M list
    expect_stdout ''
    [ -z "$(ls -A disk)" ] || fail "left behind: $(ls -A disk)"
    fails_with 2 "disk/f.deja: no space for" deja build -n 10M disk/f.deja list
    [ -z "$(ls -A disk)" ] || fail "left behind: $(ls -A disk)"
}

# The state starts small and grows until the disk is full: the run ends with exit 2, its state
# opens, and the next run prints the lines that could not be recorded.
without_room_to_grow_the_state_stays_valid() {
    small_disk disk 2m
    all_new_urls 200000 >list
    fails_with 2 "disk/seen.deja" deja dedup --state disk/seen.deja -k scalable -n 1000 -p 1e-12 list
    expect_stderr_has "No space left on device"
    cp .stdout first
    [ -s first ] || fail "nothing came out before the disk was full"
    succeeds deja verify disk/seen.deja
    [ "$(ls -A disk)" = seen.deja ] || fail "left behind: $(ls -A disk)"
    cp disk/seen.deja seen.deja
    succeeds deja dedup -q --state seen.deja list
    [ "$(wc -l <.stdout)" -lt 200000 ] || fail "nothing was recorded"
    sort -u first .stdout >union
    sort list | cmp - union || fail "lines lost"
}

add_without_room_to_grow_keeps_the_filter() {
    small_disk disk 2m
    all_new_urls 200000 >list
    head -n 500 list >first
    deja build -q -k scalable -n 1000 -p 1e-12 disk/f.deja first
    fails_with 2 "disk/f.deja" deja add disk/f.deja list
    expect_stderr_has "No space left on device"
    succeeds deja verify disk/f.deja
    succeeds deja check -q disk/f.deja first
    expect_same first .stdout
}

# A new filter is made next to the old one: the old one stays if there is no room for both.
without_room_the_old_filter_stays() {
    small_disk disk 2m
    all_new_urls 1000 >list
    succeeds deja build -q -m 1200k disk/f.deja list
    fails_with 2 "no space for" deja build --force -m 1200k disk/f.deja list
    [ "$(ls -A disk)" = f.deja ] || fail "left behind: $(ls -A disk)"
    succeeds deja check -q disk/f.deja list
    expect_same list .stdout
}

a_reserved_state_works_on_a_full_disk() {
    small_disk disk 1m
    all_new_urls 1000 >list
    succeeds deja dedup -q --state disk/seen.deja -n 2000 list
    head -c 2000000 /dev/zero >disk/ballast 2>/dev/null || true
    # Its room was reserved when it was created.
    all_new_urls 1500 >list
    succeeds deja dedup -q --state disk/seen.deja list
    expect_lines 500 .stdout
    succeeds deja verify disk/seen.deja
}

a_read_only_file_system_is_an_error() {
    small_disk disk 1m
    printf 'a\nb\n' >list
    succeeds deja dedup -q --state disk/seen.deja -n 1000 list
    mount -o remount,ro disk
    echo c >>list
    fails_with 2 "disk/seen.deja: cannot open: Read-only file system" \
        deja dedup --state disk/seen.deja list
    expect_stdout ''
    fails_with 2 "Read-only file system" deja dedup --state disk/new.deja list
    fails_with 2 "Read-only file system" deja add disk/seen.deja list
    fails_with 2 "Read-only file system" deja build --force disk/seen.deja list
    succeeds deja check disk/seen.deja list
    printf 'a\nb\n' | expect_stdout
    succeeds deja verify disk/seen.deja
}

cases "$@"
