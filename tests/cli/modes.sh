# Who can read filter files and key files.
. "$SUPPORT/cases.sh"

_mode() { # FILE MODE
    [ "$(stat -c %a "$1")" = "$2" ] || fail "$1 has mode $(stat -c %a "$1") instead of $2"
}

only_the_owner_reads_a_filter_with_its_key() {
    umask 022
    echo a >list
    deja build -q f.deja list
    _mode f.deja 600
    deja build -q -k static s.deja list
    _mode s.deja 600
    deja dedup -q --state seen.deja list >/dev/null
    _mode seen.deja 600
    deja merge -q -o union.deja f.deja
    _mode union.deja 600
    deja build -q -m 64KiB -n 100 g.deja list
    deja fold -q -o half.deja g.deja
    _mode half.deja 600
    # A seed is not secret, a key in its own file is not in the filter, and DCSO files have none.
    deja build -q --seed 1 seed.deja list
    _mode seed.deja 644
    (umask 077 && head -c 32 /dev/urandom >f.key)
    deja build -q --key f.key apart.deja list
    _mode apart.deja 644
    deja build -q --format dcso -n 10 list.bloom list
    _mode list.bloom 644
}

the_mode_can_be_chosen() {
    umask 077
    echo a >list
    deja build -q --mode 640 f.deja list
    _mode f.deja 640
    deja build -q --mode 0604 -k static s.deja list
    _mode s.deja 604
    deja dedup -q --mode 644 --state seen.deja list >/dev/null
    _mode seen.deja 644
    succeeds deja dedup --mode 600 --state seen.deja list
    expect_stderr_has "seen.deja keeps its permissions; use chmod to change them"
    _mode seen.deja 644
    deja merge -q --mode 660 -o union.deja f.deja
    _mode union.deja 660
    deja build -q -m 64KiB -n 100 g.deja list
    deja fold -q --mode 664 -o half.deja g.deja
    _mode half.deja 664
    deja build -q --force --mode 600 half.deja list
    _mode half.deja 600
    local mode
    for mode in 0 888 rw 1777 7777777777777 -1 ''; do
        fails_with 2 "--mode takes permissions in octal such as 640, not '$mode'" \
            deja build "--mode=$mode" x.deja list
    done
    fails_with 2 "omit --mode: --format dcso" deja build --format dcso -n 9 --mode 600 x.bloom list
    fails_with 2 "--mode sets the permissions of the state: give --state FILE" deja dedup --mode 600 list
    fails_with 2 "--force and --mode need -o OUT.deja" deja fold --mode 600 g.deja
    fails_with 2 "--force and --mode need -o OUT.deja" deja fold --force g.deja
    fails_with 2 "--force and --mode need -o OUT.deja" deja merge --common --mode 600 f.deja g.deja
}

the_mode_survives_growth_fold_rotation_and_rebuilding() {
    all_new_urls 3000 >list
    deja dedup -q -k scalable -n 100 --state seen.deja <(head -n 10 list) >/dev/null
    chmod 640 seen.deja
    deja dedup -q --state seen.deja list >/dev/null
    _mode seen.deja 640
    chmod 660 seen.deja
    deja rotate -q seen.deja
    _mode seen.deja 660
    deja build -q -m 64KiB -n 100 f.deja list 2>/dev/null
    chmod 604 f.deja
    deja fold -q f.deja
    _mode f.deja 604
    deja build -q --force f.deja list
    _mode f.deja 604
}

_key() { (umask 077 && head -c 32 /dev/urandom >"$1"); }

a_key_file_that_others_can_read_is_refused() {
    echo a >list
    _key f.key
    deja build -q --key f.key -m 64KiB -n 100 f.deja list
    local mode
    for mode in 640 604 620 602 644 666 777 610; do
        chmod $mode f.key
        fails_with 2 "f.key: other users have access to this key file (mode 0$mode); run 'chmod 600' on it" \
            deja check --key f.key f.deja list
        expect_stderr_has "--insecure-key"
        expect_stdout ''
    done
    local command
    for command in "build --key f.key x.deja list" "dedup --key f.key list" "add --key f.key f.deja list" \
        "info --key f.key f.deja" "verify --key f.key f.deja" "fold --key f.key f.deja" "rotate --key f.key f.deja" \
        "merge --key f.key -o x.deja f.deja" "merge --common --key f.key f.deja f.deja" \
        "build --like f.deja --key f.key x.deja list"; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "f.key: other users have access" deja $command
        [ ! -e x.deja ] || fail "$command: x.deja was made"
        # shellcheck disable=SC2086
        succeeds deja $command --insecure-key
        rm -f x.deja
    done
    chmod 400 f.key
    succeeds deja info --key f.key f.deja
    # A pipe has one reader.
    chmod 644 f.key
    succeeds deja info --key <(cat f.key) f.deja
}

a_key_file_of_another_user_is_refused() {
    [ "$(id -u)" -eq 0 ] || return 0 # only root can give files away
    echo a >list
    _key f.key
    chown 12345 f.key
    fails_with 2 "f.key: this key file belongs to another user (ID 12345)" deja dedup --key f.key list
    succeeds deja dedup -q --insecure-key --key f.key list
}

cases "$@"
