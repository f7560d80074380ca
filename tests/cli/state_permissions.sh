# Files that may not be read or written, for a user who is not root.
. "$SUPPORT/cases.sh"

nobody=()
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || skip "root may do everything, and there is no setpriv"
    nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups --)
fi
# Other users may not be able to enter the build folder, so they run a copy that they can reach.
cp "$DEJA" deja-copy
chmod 755 deja-copy
chmod 711 .
copy=$PWD/deja-copy
"${nobody[@]}" "$copy" --version >/dev/null 2>&1 || skip "another user cannot reach $PWD"

_as_nobody() { timeout -k 5 600 "${nobody[@]}" "$copy" "$@"; }

# The case's folder belongs to root.  This gives user nobody the files that it must write.
_give() { [ "$(id -u)" -ne 0 ] || chown 65534:65534 "$@"; }

an_unreadable_input_is_an_error() {
    echo a >list
    echo b >secret
    chmod 000 secret
    fails_with 2 "secret: permission denied" _as_nobody dedup secret
    fails_with 2 "secret: permission denied" _as_nobody dedup list secret
    expect_stdout ''
}

an_unreadable_state_is_an_error() {
    echo a >list
    deja dedup -q --state seen.deja list >/dev/null
    chmod 000 seen.deja
    echo precious >out
    chmod 666 out
    fails_with 2 "seen.deja: cannot open: Permission denied" \
        _as_nobody dedup --state seen.deja -o out list
    expect_stdout ''
    echo precious | cmp - out || fail "the output was touched"
    fails_with 2 "seen.deja: cannot open: Permission denied" _as_nobody check seen.deja list
    fails_with 2 "seen.deja: cannot open: Permission denied" _as_nobody add seen.deja list
}

a_read_only_state_can_only_be_read() {
    printf 'a\nb\n' >list
    deja dedup -q --state seen.deja list >/dev/null
    chmod 444 seen.deja
    echo c >>list
    fails_with 2 "seen.deja: cannot open: Permission denied" \
        _as_nobody dedup --state seen.deja list
    expect_stdout ''
    fails_with 2 "seen.deja: cannot open: Permission denied" _as_nobody add seen.deja list
    # Reading needs only read permission.
    succeeds _as_nobody check seen.deja list
    printf 'a\nb\n' | expect_stdout
}

a_read_only_folder_accepts_no_new_state() {
    echo a >list
    mkdir closed
    chmod 555 closed
    fails_with 2 "closed/seen.deja: cannot create: Permission denied" \
        _as_nobody dedup --state closed/seen.deja list
    expect_stdout ''
    fails_with 2 "closed/f.deja: cannot create: Permission denied" \
        _as_nobody build closed/f.deja list
    fails_with 2 "closed/out: Permission denied" _as_nobody dedup -o closed/out list
}

# Growth needs a new file next to the old one.  If it cannot be created, the run says so, and the
# next run prints the lines that could not be recorded.
growth_in_a_read_only_folder_is_an_error() {
    mkdir closed
    all_new_urls 900 >first
    all_new_urls 20000 >list
    deja dedup -q --state closed/seen.deja -k scalable -n 1000 -p 1e-12 first >/dev/null
    _give closed/seen.deja
    chmod 555 closed
    fails_with 2 "closed/seen.deja" _as_nobody dedup --state closed/seen.deja list
    expect_stderr_has "Permission denied"
    cp .stdout one
    succeeds deja verify closed/seen.deja
    chmod 755 closed
    _give closed
    succeeds _as_nobody dedup -q --state closed/seen.deja list
    sort -u first one .stdout >union
    sort list | cmp - union || fail "lines lost"
    succeeds deja verify closed/seen.deja
}

a_read_only_output_is_an_error() {
    echo a >list
    echo precious >out
    chmod 444 out
    fails_with 2 "out: Permission denied" _as_nobody dedup -o out list
    echo precious | cmp - out
}

cases "$@"
