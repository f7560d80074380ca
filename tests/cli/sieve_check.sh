# deja check with a sieve: exact answers, in the order of the input.  awk is the reference.
. "$SUPPORT/cases.sh"
with_small_disks "$@"

tiny="-m 1M"

# _sieve N: a sieve s with the keys of all_new_urls N, some of them in runs.
_sieve() {
    all_new_urls "$1" >list
    # shellcheck disable=SC2086 # words
    deja build -q $tiny --sieve s list
    [ -n "$(ls s/run-*)" ] || fail "no runs: the memory is too large for this test"
}

answers_are_exact_and_in_order() {
    _sieve 100000
    # Known and unknown lines, mixed.
    all_new_urls 100000 50000 | awk '{ print (NR * 7919) % 100003, $0 }' | sort -n | cut -d ' ' -f 2 >mixed
    awk -F/ '$NF < 100000' mixed >known
    awk -F/ '$NF >= 100000' mixed >unknown
    for options in "-m 1M" "-m 8M" "" "-j 1"; do
        # shellcheck disable=SC2086
        deja check -q $options s mixed | cmp -s - known || fail "wrong lines: $options"
        # shellcheck disable=SC2086
        deja check -q -v $options s mixed | cmp -s - unknown || fail "wrong lines: -v $options"
    done
    succeeds deja check -c s mixed
    expect_stdout 50000
    expect_stderr_has "deja check: 100,000 read, 50,000 in s"
    # shellcheck disable=SC2086
    succeeds deja check -c -v $tiny --json s mixed
    expect_stdout 50000
    [ "$(json_get read .stderr) $(json_get in .stderr) $(json_get file .stderr)" = "100000 50000 s" ] ||
        fail "wrong report"
    passes=$(json_get passes .stderr)
    [ "$passes" -gt 1 ] || fail "the memory is too large for this test"
    succeeds deja check -c --json s mixed
    [ "$(json_get passes .stderr)" -eq 1 ] || fail "more passes than needed"
    # shellcheck disable=SC2086
    succeeds deja check -c --verbose $tiny s mixed
    expect_stderr_has "100,000 lines read, 50,000 in s; $passes passes; "
}

the_exit_status_tells_whether_there_were_any() {
    _sieve 60000
    head -n 1 list >one
    echo none >none
    succeeds deja check -q s one
    exits_with 1 deja check -q s none
    exits_with 1 deja check -q -v s one
    succeeds deja check -q -v s none
    expect_stdout none
    exits_with 1 deja check -q s /dev/null
    exits_with 2 deja check s missing
    fails_with 2 "missing" deja check missing one
    exits_with 1 deja check -c s none
    expect_stdout 0
}

lines_are_read_as_with_filters() {
    _sieve 60000
    head -n 500 list >some
    { cat some && echo none; } >mixed
    for pack in gzip zstd xz bzip2; do
        $pack -c mixed >packed 2>/dev/null || continue
        deja check -q s packed | cmp -s - some || fail "wrong lines: $pack"
    done
    deja check -q s <mixed | cmp -s - some || fail "wrong lines from standard input"
    tr '\n' '\0' <mixed | deja check -q -z s | tr '\0' '\n' | cmp -s - some || fail "wrong records"
    sed 's/.*/"&",x/; 1i url,n' mixed >mixed.csv
    { echo url,n && sed 's/.*/"&",x/' some; } >some.csv
    deja check -q --csv url s mixed.csv | cmp -s - some.csv || fail "wrong rows"
    { sed 's/.*/{"url": "&"}/' mixed && echo '{}'; } >mixed.jsonl
    sed 's/.*/{"url": "&"}/' some >some.jsonl
    succeeds deja check --format jsonl s mixed.jsonl
    expect_stdout <some.jsonl
    expect_stderr_has '1 line without a string "url", not in the filter'
    deja check -q -v --format jsonl s mixed.jsonl >out || fail "nothing was printed"
    printf '{"url": "none"}\n{}\n' | cmp -s - out || fail "wrong lines with -v"
    fails_with 2 "mixed.jsonl: line 502" deja check --strict --format jsonl s mixed.jsonl
    printf 'a\nb\n\n\nc\n' >text
    printf 'a\nb' >key
    deja build -q --sieve texts --paragraphs text
    printf 'x\n\na\nb\n\ny\n' | deja check -q --paragraphs texts >out || fail "no paragraph"
    printf 'a\nb\n' | cmp -s - out || [ "$(head -n 2 out)" = "$(printf 'a\nb')" ] || fail "wrong paragraph"
    printf '0.0.0.0 a b\n0.0.0.0 c d\n' >hosts
    deja build -q --sieve names --format hosts hosts
    printf '0.0.0.0 x a\n0.0.0.0 x y\n127.0.0.1 d z\n' >lines
    deja check -q --format hosts names lines >out || fail "no line"
    printf '0.0.0.0 x a\n127.0.0.1 d z\n' | cmp -s - out || fail "wrong lines with several hosts"
}

urls_are_compared_by_their_profile() {
    printf 'http://a.org/?b=1&utm_source=x&a=2\n' >list
    deja build -q --sieve s --url=crawl list
    printf 'HTTP://A.org/?a=2&b=1\nhttp://b.org\nno url\n' >lines
    succeeds deja check s lines
    expect_stdout 'HTTP://A.org/?a=2&b=1'
    expect_stderr_has "1 line is not a URL"
    succeeds deja check -q --canonical s lines
    expect_stdout 'http://a.org/?a=2&b=1'
    fails_with 2 "crawl" deja check --url=safe s lines
    printf 'evil.example\nhttp://b.org/bad/\n' >bad
    deja build -q --sieve list.sieve --url=gsb bad
    printf 'http://www.evil.example/x\nhttp://b.org/bad/page\nhttp://b.org/\n' >lines
    succeeds deja check -q list.sieve lines
    head -n 2 lines | expect_stdout
}

it_agrees_with_an_exact_filter() {
    some_urls 40000 15000 >lines
    head -n 20000 lines >list
    # shellcheck disable=SC2086
    deja build -q $tiny --sieve s list
    deja build -q -k exact f.deja list
    for option in -q -v -c -vc; do
        deja check -q $option f.deja lines >want
        # shellcheck disable=SC2086
        deja check -q $option $tiny s lines >out
        expect_same want out
    done
}

what_a_sieve_cannot_do_is_refused() {
    echo a >list
    deja build -q --sieve s list
    deja build -q f.deja list
    fails_with 2 "s is a sieve: --prefix needs a filter of kind layered" deja check --prefix s list
    fails_with 2 "s is a sieve: --older-than needs a filter with dates" \
        deja check --older-than 3d s list
    fails_with 2 "s is a sieve: --why" deja check --why s list
    fails_with 2 "s is a sieve: --tag" deja check --tag s list
    fails_with 2 "s is a sieve: it is not a filter of another program" deja check --format dcso s list
    fails_with 2 "s is a sieve: a sieve is checked alone" deja check s f.deja list
    fails_with 2 "s is a sieve: a sieve is checked alone" deja check f.deja s list
    fails_with 2 "the filter comes first: deja check s list" deja check list s
    fails_with 2 "-m is the memory of a sieve" deja check -m 1M f.deja list
    fails_with 2 "a sieve needs at least" deja check -m 1k s list
}

other_commands_say_what_to_use_instead() {
    echo a >list
    deja build -q --sieve s list
    deja build -q f.deja list
    fails_with 2 "s is a sieve: " deja fold s
    expect_stderr_has "deja build --from-sieve DIR OUT.deja"
    fails_with 2 "s is a sieve: " deja rotate s
    fails_with 2 "s is a sieve: it cannot remove keys" deja remove s list
    fails_with 2 "s is a sieve: " deja count s list
    expect_stderr_has "deja dedup --counts"
    fails_with 2 "s is a sieve: it does not store dates" deja expire --older-than 3d s
    fails_with 2 "s is a sieve: " deja diff f.deja s
    fails_with 2 "s is a sieve: use --sieve instead of --state" deja dedup --state s list
    fails_with 2 "s: a sieve with 1 key; write to another file" deja dedup -o s list
    succeeds deja verify s
}

lines_are_answered_when_the_input_pauses() {
    _sieve 60000
    mkfifo pipe
    deja check -q s pipe >out &
    exec 3>pipe
    head -n 3 list >&3
    # shellcheck disable=SC2317 # eventually calls it
    _three() { [ "$(wc -l <out)" -eq 3 ]; }
    eventually _three # before the input ends
    exec 3>&-
    wait $!
}

a_closed_pipe_ends_it() {
    _sieve 100000
    cat list list list list list list list list >long
    [ "$(deja check s long 2>err | head -n 5 | wc -l)" -eq 5 ] || fail "not five lines"
    [ ! -s err ] || fail "$(cat err)"
    deja check -q s long >/dev/full 2>err && fail "a full disk went unnoticed"
    grep -q "No space left on device" err || fail "$(cat err)"
}

a_reader_needs_no_rights_to_write() {
    small_disk disk 8m
    _sieve 50000
    cp -r s disk/s
    mount -o remount,ro disk
    succeeds deja check -q -c disk/s list
    expect_stdout 50000
    [ ! -e disk/s/filter.deja ] || [ -e s/filter.deja ] || fail "a file was written"
}

a_reader_works_beside_a_writer() {
    _sieve 60000
    mkfifo pipe
    # shellcheck disable=SC2086
    deja add -q $tiny s pipe &
    exec 3>pipe
    all_new_urls 10 60000 >&3
    all_new_urls 10 60000 >ten
    # shellcheck disable=SC2317
    _ten() { [ "$(deja check -q -c s ten)" -eq 10 ]; }
    eventually _ten
    deja check -q s list | cmp -s - list || fail "wrong lines"
    exec 3>&-
    wait $!
}

damage_is_an_error_and_no_answer() {
    _sieve 100000
    run=$(find s -name 'run-*' | head -n 1)
    cp "$run" whole
    flip_bit "$run" $(($(stat -c %s "$run") / 2))
    fails_with 2 "$run" deja check s list
    expect_stdout ''
    truncate -s 1000 "$run"
    fails_with 2 "$run" deja check s list
    rm "$run"
    fails_with 2 "$run: this run is missing" deja check s list
    cp whole "$run"
    deja check -q s list | cmp -s - list || fail "wrong lines"
    rm s/manifest
    exits_with 2 deja check s list
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    deja build -q --sieve --key key t list
    fails_with 2 "--key" deja check t list
    head -c 32 /dev/zero | tr '\0' j >wrong
    chmod 600 wrong
    fails_with 2 "t was made with another secret key" deja check --key wrong t list
    succeeds deja check -q -c --key key t list
}

cases "$@"
