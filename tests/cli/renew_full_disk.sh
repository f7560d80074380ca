# Merging, folding, rotating and expiring on a full disk: the old file stays, nothing is left behind.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

_only() { # NAME...: the disk has no other files
    [ "$(ls -A disk)" = "$(printf '%s\n' "$@")" ] || fail "on the disk: $(ls -A disk)"
}

merge_without_room_keeps_the_files() {
    small_disk disk 2m
    all_new_urls 1000 >list
    deja build -q --seed 1 -n 1k -m 1500k disk/a.deja list
    deja build -q --seed 1 -n 1k -m 1500k b.deja list
    fails_with 2 "disk/out.deja: no space for" deja merge -o disk/out.deja disk/a.deja b.deja
    _only a.deja
    cp disk/a.deja before
    fails_with 2 "disk/a.deja: no space for" deja merge -o disk/a.deja disk/a.deja b.deja
    _only a.deja
    expect_same before disk/a.deja
}

fold_without_room_keeps_the_file() {
    small_disk disk 2m
    all_new_urls 1000 >list
    deja build -q --seed 1 -n 1k -m 1536k disk/a.deja list
    cp disk/a.deja before
    fails_with 2 "No space left on device" deja fold disk/a.deja
    expect_same before disk/a.deja
    _only a.deja
    succeeds deja fold -q --times 3 disk/a.deja # which fits next to it
    succeeds deja verify -q disk/a.deja
    _only a.deja
}

rotate_without_room_keeps_the_file() {
    small_disk disk 2m
    all_new_urls 1000 >list
    deja build -q --seed 1 -n 1k -m 1500k disk/a.deja list
    cp disk/a.deja before
    fails_with 2 "disk/a.deja: no space for" deja rotate -m 1M disk/a.deja
    expect_same before disk/a.deja
    _only a.deja
    succeeds deja rotate -q -p 0.01 disk/a.deja
    succeeds deja verify -q disk/a.deja
    _only a.deja
}

expire_without_room_keeps_the_file() {
    small_disk disk 2m
    deja build -q --dates --fixed -m 1500k disk/a.deja /dev/null
    all_new_urls 1000 | python3 "$SUPPORT/dated.py" disk/a.deja 100
    cp disk/a.deja before
    fails_with 2 "disk/a.deja: no space for" deja expire --older-than 30d disk/a.deja
    expect_same before disk/a.deja
    _only a.deja
}

cases "$@"
