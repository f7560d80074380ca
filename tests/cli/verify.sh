# deja verify: exit status 0 intact, 1 damaged or not synced, 2 unreadable; --repair repairs what it
# can.
. "$SUPPORT/cases.sh"

# _holds EXPRESSION...: true of d, the list in the JSON of .stdout
_holds() {
    python3 -c 'import json, sys
d = json.load(open(".stdout"))
for e in sys.argv[1:]:
    assert eval(e), e' "$@" || fail "the JSON is wrong"
}

_filter() { # FILE [OPTION...]: synced twice, so that both sync records are in use
    local file=$1
    shift
    deja gen -n 3000 | deja build -q -n 20k "$@" "$file"
    echo another | deja add -q "$file"
}

_is_unsynced() {
    ! deja verify -q "$1"
}

# _writer FILE: a process that adds to the file and waits for more; its number is in $writer.
_writer() {
    mkfifo pipe
    "$DEJA" add -q "$@" <pipe 2>/dev/null &
    writer=$!
    exec 9>pipe
    deja gen -n 5000 --first 1M >&9
    eventually _is_unsynced "$1"
}
_kill_writer() {
    kill -KILL "$writer"
    { wait "$writer" || true; } 2>/dev/null
    exec 9>&-
    rm pipe
}

intact_files_are_reported_as_intact() {
    local kind
    for kind in classic blocked exact scalable spectral paired; do
        _filter $kind.deja -k $kind
        cp $kind.deja before
        succeeds deja verify $kind.deja
        expect_stdout "$kind.deja: intact"
        expect_stderr_empty
        succeeds deja verify -q $kind.deja
        expect_stdout ''
        # There is nothing to repair, and nothing is touched.
        succeeds deja verify --repair $kind.deja
        expect_stdout "$kind.deja: intact"
        expect_same before $kind.deja
    done
    succeeds deja verify classic.deja blocked.deja
    expect_stdout $'classic.deja: intact\nblocked.deja: intact'
}

# Every region of the file, by one bit.
damage_is_found_and_named() {
    _filter f.deja
    cp f.deja good
    local at what
    while read -r at what; do
        cp good f.deja
        flip_bit f.deja "$at"
        fails_with 1 "$what" deja verify f.deja
        expect_stdout ''
        expect_stderr_has f.deja
        [ "$(wc -l <.stderr)" -eq 1 ] || fail "more than a line"
        exits_with 1 deja verify -q f.deja
        expect_stderr_has "$what" # also with -q
    done <<'END'
40 header is damaged
600 header is damaged
3080 sync record A is damaged
3600 sync record B is damaged
4096 body is damaged
20000 body is damaged
END
}

truncated_and_extended_files_are_damaged() {
    _filter f.deja
    head -c -1 f.deja >cut.deja
    fails_with 1 "cut.deja is truncated" deja verify cut.deja
    head -c 1000 f.deja >cut.deja
    fails_with 1 "shorter than a header" deja verify cut.deja
    cp f.deja grown.deja
    echo >>grown.deja
    fails_with 1 "grown.deja is longer than its header says" deja verify grown.deja
    expect_stdout ''
}

unreadable_files_are_errors() {
    fails_with 2 "nowhere.deja: cannot open: No such file" deja verify nowhere.deja
    fails_with 2 "is not a regular file" deja verify .
    echo "https://example.org/" >text
    fails_with 2 text deja verify text
    : >empty
    fails_with 2 "empty: not a deja filter file (empty)" deja verify empty
    head -c 10000 /dev/zero >zeros
    fails_with 2 zeros deja verify zeros
    _filter f.deja
    flip_bit f.deja 0
    fails_with 2 f.deja deja verify f.deja
    # Repair does not make a filter of them.
    cp text before
    fails_with 2 text deja verify --repair text
    expect_same before text
    if [ "$(id -u)" -ne 0 ]; then
        _filter closed.deja
        chmod 000 closed.deja
        fails_with 2 "Permission denied" deja verify closed.deja
    fi
}

a_newer_version_is_not_damage() {
    _filter f.deja
    printf '\t' | dd of=f.deja bs=1 seek=8 conv=notrunc status=none
    fails_with 2 "newer than deja" deja verify f.deja
    fails_with 2 "newer than deja" deja verify --repair f.deja
}

the_worst_file_decides_the_exit_status() {
    _filter good.deja
    cp good.deja bad.deja
    flip_bit bad.deja 5000
    exits_with 1 deja verify good.deja bad.deja good.deja
    expect_stdout $'good.deja: intact\ngood.deja: intact'
    expect_stderr_has "bad.deja: the body is damaged"
    exits_with 2 deja verify good.deja nowhere.deja bad.deja
    expect_stdout "good.deja: intact"
    expect_stderr_has nowhere.deja
    expect_stderr_has "bad.deja: the body is damaged"
}

verify_reports_files_in_use_and_files_not_synced() {
    _filter f.deja
    _writer f.deja
    fails_with 1 "f.deja is being written, or was not synced after its last add" deja verify f.deja
    expect_stdout ''
    fails_with 1 "f.deja is in use by another process" deja verify --repair f.deja
    _kill_writer
    fails_with 1 "was not synced after its last add" deja verify f.deja
    succeeds deja verify --repair f.deja
    grep -qE '^f.deja: repaired: recounted, about [0-9],[0-9]{3} keys, and sealed$' .stdout ||
        fail "it does not say what was done"
    expect_stderr_empty
    succeeds deja verify f.deja
    expect_stdout "f.deja: intact"
    # What was synced is still there.
    deja gen -n 3000 >list
    succeeds deja check -q -c f.deja list
    expect_stdout 3000
}

a_damaged_record_is_repaired() {
    _filter f.deja
    cp f.deja good
    deja gen -n 3000 >list
    local at
    for at in 3080 3600; do
        cp good f.deja
        flip_bit f.deja $at
        exits_with 1 deja verify f.deja
        succeeds deja verify --repair f.deja
        expect_stdout_has "f.deja: repaired: recounted, about "
        succeeds deja verify f.deja
        succeeds deja check -q -c f.deja list
        expect_stdout 3000
    done
}

other_damage_cannot_be_repaired() {
    _filter f.deja
    cp f.deja good
    local at
    for at in 40 5000; do
        cp good f.deja
        flip_bit f.deja $at
        cp f.deja before
        fails_with 1 "is damaged" deja verify --repair f.deja
        expect_stdout ''
        expect_same before f.deja
    done
    cp good f.deja
    flip_bit f.deja 3080
    flip_bit f.deja 3600
    fails_with 1 "both sync records are damaged" deja verify --repair f.deja
    head -c 5000 good >f.deja
    fails_with 1 "f.deja is truncated" deja verify --repair f.deja
}

only_repair_needs_the_key() {
    umask 077
    head -c 32 /dev/urandom >f.key
    head -c 32 /dev/urandom >other.key
    deja gen -n 3000 | deja build -q -n 20k --key f.key f.deja
    succeeds deja verify f.deja
    expect_stdout "f.deja: intact"
    _writer f.deja --key f.key
    _kill_writer
    fails_with 2 "f.deja does not contain its secret key: give the key (--key)" \
        deja verify --repair f.deja
    fails_with 2 "f.deja was made with another secret key" \
        deja verify --repair --key other.key f.deja
    fails_with 2 "no.key: cannot open the key file" deja verify --repair --key no.key f.deja
    succeeds deja verify --repair --key f.key f.deja
    expect_stdout_has "f.deja: repaired"
}

json_reports_the_same() {
    _filter good.deja
    cp good.deja bad.deja
    flip_bit bad.deja 5000
    cp good.deja record.deja
    flip_bit record.deja 3080
    exits_with 2 deja verify --json good.deja bad.deja nowhere.deja
    python3 -m json.tool <.stdout >/dev/null || fail "no JSON"
    _holds "[f['file'] for f in d] == ['good.deja', 'bad.deja', 'nowhere.deja']" \
        "[f['verdict'] for f in d] == ['intact', 'damaged', 'not read']" \
        "[f['intact'] for f in d] == [True, False, False]" \
        "d[0]['why'] is None and 'body' in d[1]['why'] and 'No such file' in d[2]['why']"
    succeeds deja verify --json --repair good.deja record.deja
    _holds "[f['verdict'] for f in d] == ['intact', 'repaired']" \
        "[f['repaired'] for f in d] == [False, True] and d[1]['intact']"
    _writer good.deja
    exits_with 1 deja verify --json good.deja
    _holds "d[0]['verdict'] == 'not synced'"
    _kill_writer
}

wrong_options_are_refused() {
    fails_with 2 "missing operand; usage: deja verify" deja verify
    fails_with 2 "unknown option --fix" deja verify --fix f.deja
    fails_with 2 "--repair takes no value" deja verify --repair=yes f.deja
    expect_stdout ''
}

cases "$@"
