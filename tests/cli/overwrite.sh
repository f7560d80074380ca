# No command replaces a filter without --force, and none overwrites a filter with its results.
. "$SUPPORT/cases.sh"

# _filter FILE LINES [OPTION...]: a filter of that many lines, last written at a known time.
_filter() {
    local file=$1 lines=$2
    shift 2
    all_new_urls "$lines" | deja build -q --seed 1 "$@" "$file"
    touch -d '2026-11-17 19:02:03 UTC' "$file"
    mkdir -p before
    cp "$file" before/
}

# _stays FILE: unchanged since _filter made it, and nothing was left next to it.
_stays() {
    expect_same "before/$1" "$1"
    [ "$(find . -name '.*.new' -o -name "$1.*" | wc -l)" -eq 0 ] || fail "something is left beside $1"
}

# _refuses FILE "N keys" CMD...: the command leaves FILE alone and says what it is.
_refuses() {
    local file=$1 keys=$2 kind
    shift 2
    kind=$(deja info --json "$file" | sed -n 's/.*"kind": "\(.*\)".*/\1/p')
    [ -n "$kind" ] || fail "$file has no kind"
    if [ "$kind" = exact ]; then kind="an $kind"; else kind="a $kind"; fi
    fails_with 2 "$file: $kind filter with $keys, last written 2026-11-17 19:02" "$@"
    expect_stdout ''
    _stays "$file"
}

the_error_describes_the_existing_file() {
    all_new_urls 2 >two
    local kind
    for kind in blocked classic scalable spectral paired static layered; do
        _filter $kind.deja 1200 -k $kind -n 1500
        _refuses $kind.deja "1,200 keys" deja build $kind.deja two
        expect_stderr_has "; use --force to replace it"
    done
    _filter exact.deja 1 -k exact
    _refuses exact.deja "1 key" deja build exact.deja two
    _filter window.deja 3 -k window -n 10
    _refuses window.deja "3 keys" deja build window.deja two
}

no_command_replaces_a_filter_without_force() {
    all_new_urls 2 >two
    _filter f.deja 1000 -m 64KiB -n 2000
    _filter a.deja 10 -m 64KiB -n 2000
    local what="1,000 keys"
    _refuses f.deja "$what" deja build f.deja two
    _refuses f.deja "$what" deja build -k static f.deja two
    _refuses f.deja "$what" deja build --like a.deja f.deja two
    _refuses f.deja "$what" deja build --format dcso -n 10 f.deja two
    _refuses f.deja "$what" deja merge -o f.deja a.deja a.deja
    _refuses f.deja "$what" deja fold -o f.deja a.deja
    ln -s f.deja link.deja
    fails_with 2 "filter with $what" deja build link.deja two
    _stays f.deja
    deja build -q --format dcso -n 10 list.bloom two
    fails_with 2 "list.bloom: a DCSO bloom file with 2 keys" deja build --format dcso -n 10 list.bloom two
    expect_stderr_has "use --force to replace it"
}

force_replaces_a_filter() {
    all_new_urls 2 >two
    local options
    for options in '' '-k static'; do
        rm -f f.deja
        _filter f.deja 1000
        # shellcheck disable=SC2086 # words
        succeeds deja build --force $options f.deja two
        succeeds deja check -q -c f.deja two
        expect_stdout 2
        succeeds deja check -q -c -v f.deja <(all_new_urls 1000)
        expect_stdout 998
    done
    _filter a.deja 10 -m 64KiB -n 2000
    succeeds deja merge --force -q -o f.deja a.deja
    succeeds deja fold --force -q -o f.deja a.deja
    deja build -q --format dcso -n 10 list.bloom two
    succeeds deja build --force -q --format dcso -n 10 list.bloom two
    # --force is accepted even if there is nothing to replace.
    succeeds deja build --force -q new.deja two
    # A filter in a different format is not what the user meant.
    cp list.bloom copy
    fails_with 2 "remove it first" deja build --force list.bloom two
    expect_same copy list.bloom
    fails_with 2 "remove it first" deja build --force --format dcso -n 10 f.deja two
    succeeds deja verify -q f.deja
}

results_do_not_replace_a_filter() {
    echo http://a/ >list
    _filter seen.deja 1000
    _filter other.deja 1 -k spectral -n 9
    local what="1,000 keys"
    _refuses seen.deja "$what" deja dedup -o seen.deja list
    expect_stderr_has "; write to another file, or remove it first"
    _refuses seen.deja "$what" deja check -o seen.deja other.deja list
    _refuses seen.deja "$what" deja count -o seen.deja other.deja list
    _refuses seen.deja "$what" deja url -o seen.deja list
    _refuses seen.deja "$what" deja gen -n 5 -o seen.deja
    _refuses seen.deja "$what" deja bench --csv seen.deja
    _refuses seen.deja "$what" deja bench -o seen.deja
    deja build -q --format dcso -n 10 list.bloom list
    cp list.bloom copy
    fails_with 2 "list.bloom: a DCSO bloom file with 1 key" deja url -o list.bloom list
    expect_same copy list.bloom
    # Text files are replaced as before.
    echo old >text
    succeeds deja url -o text list
    expect_same list text
}

another_file_stays_even_with_force() {
    all_new_urls 20 >urls.txt
    cp urls.txt copy
    local force
    for force in '' --force; do
        # shellcheck disable=SC2086 # none or one
        fails_with 2 "urls.txt exists and is not a filter file" deja build $force urls.txt </dev/null
        # shellcheck disable=SC2086
        fails_with 2 "urls.txt exists and is not a filter file" \
            deja build $force --format dcso -n 10 urls.txt </dev/null
        # shellcheck disable=SC2086
        fails_with 2 "the new filter comes first: deja build out.deja urls.txt" \
            deja build $force urls.txt out.deja
        expect_same copy urls.txt
        [ ! -e out.deja ] || fail "out.deja was made"
    done
    mkfifo pipe
    fails_with 2 "pipe is not a regular file" deja build --force pipe copy
    [ -p pipe ] || fail "the pipe is gone"
    ln -s nowhere link
    fails_with 2 "link is a symbolic link to a missing file" deja build link /dev/zero
}

an_empty_file_may_be_replaced() {
    echo a >list
    local options name
    for options in '' '-k static' '--format dcso -n 10'; do
        name=$(mktemp out.XXXXXX)
        # shellcheck disable=SC2086 # words
        succeeds deja build -q $options "$name" list
        succeeds deja check -q "$name" list
    done
}

filters_that_cannot_be_opened_are_described() {
    (umask 077 && head -c 32 /dev/urandom >f.key)
    echo a >list
    deja build -q --key f.key -k classic -n 10 --fixed apart.deja list
    cp apart.deja copy
    fails_with 2 "apart.deja: a filter file of kind classic, last written 2" deja build apart.deja list
    expect_same copy apart.deja
    local kind=layered
    _filter newer.deja 10 -k $kind -n 10
    printf '\x09' | dd of=newer.deja bs=1 seek=8 conv=notrunc status=none
    fails_with 2 "newer.deja: a filter file of kind $kind" deja build newer.deja list
    head -c 12 copy >cut.deja
    fails_with 2 "cut.deja: a filter file, last written" deja build cut.deja list
    fails_with 2 "cut.deja: a filter file, last written" deja dedup -o cut.deja list
    succeeds deja build --force -q newer.deja list
    succeeds deja build --force -q cut.deja list
    succeeds deja verify -q newer.deja cut.deja
}

# The check counts when the file takes its name, not only when the command starts.
the_first_of_two_builders_wins() {
    all_new_urls 5 >list
    local options
    for options in '-n 10' '-k static' '--format dcso -n 10'; do
        rm -f in f.deja
        mkfifo in
        # shellcheck disable=SC2086 # words
        deja build $options f.deja in 2>late &
        exec 9>in
        echo late >&9
        # shellcheck disable=SC2086
        deja build -q $options f.deja list
        cp f.deja good
        exec 9>&-
        if wait $!; then fail "$options: the second one replaced the first"; fi
        grep -q "f.deja: .* with 5 keys.*--force" late || fail "$options: $(cat late)"
        expect_same good f.deja
    done
}

# merge -o A A B replaces A, whose keys are in the union, but not keys that A gets during the
# merge.
a_union_replaces_no_input_that_has_changed() {
    umask 077
    head -c 32 /dev/urandom >f.key
    local name
    for name in a b; do
        echo $name >$name
        deja build -q --key f.key -n 100 $name.deja $name
    done
    mkfifo pipe
    deja merge --key pipe -o a.deja a.deja b.deja 2>late &
    exec 9>pipe # merge has seen a.deja and waits for the key
    echo new >new
    deja add -q --key f.key a.deja new
    cat f.key >&9
    exec 9>&-
    if wait $!; then fail "a.deja was replaced"; fi
    grep -q "a.deja changed while it was read" late || fail "$(cat late)"
    succeeds deja check -q --key f.key a.deja new
    succeeds deja merge -q --key f.key -o a.deja a.deja b.deja
    succeeds deja check -q -c --key f.key a.deja a b new
    expect_stdout 3
}

cases "$@"
