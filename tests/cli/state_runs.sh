# dedup --state: keys are remembered between runs, by one run at a time, in a file that is rejected
# if it is not valid.
. "$SUPPORT/cases.sh"

# _prints WANTED ARG...: this run prints exactly that file, and leaves an intact state.
_prints() {
    local wanted=$1
    shift
    succeeds deja dedup -q --state seen.deja "$@"
    expect_same "$wanted" .stdout
    succeeds deja verify -q seen.deja
}

_list() {
    some_urls 20000 8000 >list
    once <list >expected
}

a_later_run_prints_only_new_lines() {
    _list
    _prints expected --seed 7 list
    _prints /dev/null list
    all_new_urls 3000 >new
    _prints new list new list
    _prints /dev/null new list
}

every_kind_can_be_a_state() {
    _list
    all_new_urls 2000 >new
    local options
    for options in '-k classic -n 10k' '-k blocked -n 10k' '-k exact -n 10k' '-k scalable -n 100' \
        '-k classic' '-k exact' '--filters 3 -n 10k' '-k classic -n 10k --hash md5'; do
        rm -f seen.deja
        # shellcheck disable=SC2086 # words
        _prints expected --seed 7 $options list
        _prints /dev/null list
        # shellcheck disable=SC2086
        _prints new $options list new
    done
}

an_empty_run_makes_a_state() {
    : >empty
    _prints /dev/null empty
    echo a >list
    _prints list list
}

repeats_are_counted_across_runs() {
    printf 'a\nb\na\n' >first
    printf 'b\nc\nc\n' >second
    succeeds deja dedup -q --state seen.deja -D first
    expect_stdout a
    succeeds deja dedup -q --state seen.deja -D second
    printf 'b\nc\n' | expect_stdout
    rm seen.deja
    succeeds deja dedup -q --state seen.deja --count first
    expect_stdout 2
    succeeds deja dedup -q --state seen.deja --count second
    expect_stdout 1
}

the_summary_mentions_the_state() {
    printf 'a\nb\na\n' >list
    succeeds deja dedup --state seen.deja list
    expect_stderr_has "3 read, 2 new, 1 seen before"
    succeeds deja dedup --state seen.deja --json list
    [ "$(json_get kept .stderr)" -eq 0 ] || fail "kept"
    [ "$(json_get read .stderr)" -eq 3 ] || fail "read"
}

output_can_go_to_a_file() {
    _list
    succeeds deja dedup -q --seed 7 --state seen.deja -o out list
    expect_same expected out
    succeeds deja dedup -q --state seen.deja -o out list
    [ ! -s out ] || fail "the second run printed something"
    rm seen.deja
    deja dedup -q --seed 7 --state seen.deja list >out
    expect_same expected out
    echo new >>list
    deja dedup -q --state seen.deja list >>out
    echo new | cat expected - | cmp - out
}

lines_of_a_slow_pipe_are_printed_and_recorded_at_once() {
    mkfifo in
    deja dedup -q --state seen.deja in | cat >out &
    exec 9>in
    printf 'a\nb\n' >&9
    printf 'a\nb\n' >expected
    eventually cmp -s expected out
    eventually deja check -q seen.deja expected
    exec 9>&-
    wait
}

# With a file as output, too: `tail -f log | deja dedup --state seen.deja >new` is useful.
lines_of_a_slow_pipe_reach_a_file() {
    mkfifo in
    deja dedup -q --state seen.deja -o out in &
    exec 9>in
    printf 'a\nb\n' >&9
    printf 'a\nb\n' >expected
    eventually cmp -s expected out
    exec 9>&-
    wait
}

only_one_run_can_use_a_state() {
    _list
    echo first >one
    mkfifo in
    deja dedup -q --state seen.deja in | cat >piped &
    exec 9>in
    cat one >&9
    eventually cmp -s one piped
    echo precious >out
    fails_with 2 "seen.deja is in use by another process" deja dedup --state seen.deja -o out list
    echo precious | cmp - out || fail "the output was touched"
    fails_with 2 "seen.deja is in use by another process" deja dedup --state seen.deja list
    expect_stdout ''
    fails_with 2 "seen.deja is in use by another process" deja add seen.deja list
    # Readers can use it at the same time.
    succeeds deja check seen.deja one
    exec 9>&-
    wait
    _prints expected list
}

two_runs_that_create_the_same_state_lose_no_line() {
    local i lost
    all_new_urls 5000 >list
    for ((i = 0; i < 10; i++)); do
        rm -f seen.deja
        deja dedup -n 5000 -p 1e-9 --state seen.deja list >out1 2>err1 &
        deja dedup -n 5000 -p 1e-9 --state seen.deja list >out2 2>err2 || grep -q seen.deja err2 ||
            fail "$(cat err2)"
        wait $! || grep -q seen.deja err1 || fail "$(cat err1)"
        # Every run that failed has said so; together they have printed every line.
        sort -u out1 out2 >both
        lost=$(sort list | comm -23 - both | wc -l)
        [ "$lost" -eq 0 ] || fail "$lost lines lost"
        succeeds deja verify -q seen.deja
    done
}

# A pause of the input is enough to commit: `deja check` finds the lines that were written
# before the input ends.  The ten minutes only end a test that fails.
lines_before_a_pause_are_in_the_state() {
    local threads i
    seq -f 'http://a/%.0f' 10 >list
    seq -f 'http://b/%.0f' 10 >second
    for threads in 1 2; do
        rm -f input seen.deja out
        mkfifo input
        deja dedup -q --state seen.deja -n 1000 -j $threads -o out <input &
        exec 9>input
        for file in list second; do
            cat $file >&9
            for i in $(seq 1 6000); do
                if [ -e seen.deja ] && [ "$(deja check -q -c seen.deja $file)" = 10 ]; then break; fi
                [ "$i" -lt 6000 ] || fail "not in the state after ten minutes (-j $threads)"
                sleep 0.1
            done
            tail -n 10 out | cmp - $file || fail "in the state before its line was handed over"
        done
        exec 9>&-
        wait $!
        cat list second | cmp - out || fail "other lines"
        succeeds deja verify -q seen.deja
    done
}

# Sizing options that an existing state does not follow are named.
options_that_have_no_effect_are_named() {
    echo a >list
    succeeds deja dedup --state seen.deja -n 1000 -p 1e-3 list
    succeeds deja dedup --state seen.deja -n 1000 -p 1e-3 list
    ! grep -q "keeps its size" .stderr || fail "nothing is ignored"
    local options
    while IFS='|' read -r options named; do
        # shellcheck disable=SC2086
        succeeds deja dedup --state seen.deja $options list
        expect_stderr_has "seen.deja keeps its size, 1,000 keys at rate 0.001; ignored: $named"
    done <<'END'
-n 5|-n
-p 0.5|-p
-m 1M|-m
--hashes 3|--hashes
--filters 3|--filters
--multiplier 2|--multiplier
--fingerprint-bits 8|--fingerprint-bits
--deletions 5|--deletions
--fixed|--fixed
-n 1000 -p 0.5 -m 2M --hashes 4 --fixed|-p, -m, --fixed, --hashes
END
    rm seen.deja
    succeeds deja dedup --state seen.deja -n 1000 -m 64k --hashes 4 list
    succeeds deja dedup --state seen.deja -n 1000 -m 64k --hashes 4 --fixed list
    ! grep -q "keeps its size" .stderr || fail "nothing is ignored"
    succeeds deja dedup --state seen.deja -n 1000 -m 32k --hashes 4 list
    expect_stderr_has "ignored: -m"
}

another_kind_is_refused() {
    echo a >list
    _prints list -k exact -n 100 list
    fails_with 2 "seen.deja is of kind scalable with parts of kind exact, not classic" \
        deja dedup --state seen.deja -k classic list
    fails_with 2 "seen.deja is of kind scalable with parts of kind exact, not blocked" \
        deja dedup --state seen.deja -k blocked -n 5 list
    succeeds deja dedup --state seen.deja -k exact -n 100 list # as it was made
    ! grep -q ignored .stderr || fail "nothing is ignored"
    rm seen.deja
    _prints list -k exact -n 100 --fixed list
    fails_with 2 "seen.deja is of kind exact, not classic" deja dedup --state seen.deja -k classic list
    fails_with 2 "seen.deja was made with --hash xxh3, not siphash" \
        deja dedup --state seen.deja --hash siphash list
    expect_stdout ''
    _prints /dev/null -k exact list
    rm seen.deja
    _prints list -k scalable -n 100 list
    fails_with 2 "seen.deja is of kind scalable with parts of kind blocked, not exact" \
        deja dedup --state seen.deja -k exact list
}

another_seed_is_refused() {
    echo a >list
    deja dedup -q --seed 7 --state seen.deja list >/dev/null
    succeeds deja dedup -q --seed 7 --state seen.deja list
    fails_with 2 "seen.deja was not made with the seed 8" deja dedup --seed 8 --state seen.deja list
    rm seen.deja
    deja dedup -q --state seen.deja list >/dev/null
    fails_with 2 "was not made with the seed 7" deja dedup --seed 7 --state seen.deja list
}

another_size_is_reported() {
    echo a >list
    succeeds deja dedup --state seen.deja -n 1000 list
    succeeds deja dedup --state seen.deja -n 5000 list
    expect_stderr_has "seen.deja keeps its size, 1,000 keys"
}

# Every bit of the header matters: no flip is answered with lines.
a_damaged_header_is_refused() {
    echo a >list
    _prints list -n 100 list
    cp seen.deja good.deja
    local at
    for at in 0 3 8 12 16 20 24 32 40 64 100 128 200 255 300 500 1000 2000 3000 3071 3072 3080 \
        3100 3200 3583 3584 3600 3700 4000 4095; do
        cp good.deja seen.deja
        flip_bit seen.deja $at
        exits_with 2 deja dedup --state seen.deja list
        expect_stdout ''
        expect_stderr_has "seen.deja"
        expect_lines 1 .stderr
    done
    cp good.deja seen.deja
    _prints /dev/null list
}

verify_finds_a_damaged_body() {
    all_new_urls 1000 >list
    _prints list --seed 7 -n 1000 list
    flip_bit seen.deja 5000
    exits_with 1 deja verify seen.deja
    expect_stderr_has "damaged"
}

a_truncated_file_is_refused() {
    all_new_urls 1000 >list
    _prints list --seed 7 -n 1000 list
    cp seen.deja good.deja
    local size at
    size=$(stat -c %s good.deja)
    for at in 1 7 100 3072 4095 4096 4097 $((size / 2)) $((size - 1)); do
        head -c "$at" good.deja >seen.deja
        fails_with 2 "truncated" deja dedup --state seen.deja list
        expect_stdout ''
    done
    : >seen.deja
    fails_with 2 "seen.deja: not a deja filter file (empty)" deja dedup --state seen.deja list
    { cat good.deja && printf x; } >seen.deja
    fails_with 2 "seen.deja is longer than its header says" deja dedup --state seen.deja list
}

other_files_are_refused_and_left_alone() {
    all_new_urls 1000 >list
    cp list text
    fails_with 2 "text: not a deja filter file (bad magic)" \
        deja dedup --state text list
    expect_same list text
    mkdir folder
    fails_with 2 "folder is a directory" deja dedup --state folder list
    exits_with 2 deja dedup --state /dev/null list
    expect_stderr_has "not a regular file"
    mkfifo pipe
    fails_with 2 "pipe is not a regular file" deja dedup --state pipe list
    fails_with 2 "nowhere/seen.deja" deja dedup --state nowhere/seen.deja list
}

a_newer_format_is_refused() {
    echo a >list
    _prints list -n 100 list
    # The version is the number after the magic.  With a repaired checksum it is a file for another
    # version, with the old checksum it is damage.  Either way there is no answer.
    printf '\377' | dd of=seen.deja bs=1 seek=8 conv=notrunc 2>/dev/null
    exits_with 2 deja dedup --state seen.deja list
    expect_stdout ''
}

# Growth uses a new file and a rename: readers of the old one continue, and no other file is left.
a_state_grows_over_several_runs() {
    local i before after replaced=0
    for i in 1 2 3 4 5 6; do
        all_new_urls 3000 $((i * 3000)) >list.$i
    done
    for i in 1 2 3 4 5 6; do
        before=$(stat -c %i seen.deja 2>/dev/null || true)
        _prints list.$i --seed 7 -k scalable -n 1000 list.$i
        after=$(stat -c %i seen.deja)
        [ "$before" = "$after" ] || replaced=$((replaced + 1))
        cat list.[1-$i] >all
        succeeds deja check -q seen.deja all
        expect_same all .stdout
    done
    [ $replaced -ge 2 ] || fail "the file grew in place"
    _prints /dev/null list.[1-6]
    [ "$(find . -name '*.deja*' | wc -l)" -eq 1 ] || fail "something was left behind"
}

a_reader_continues_while_the_state_grows() {
    all_new_urls 500 >first
    _prints first -k scalable -n 1000 first
    mkfifo ask
    deja check -q seen.deja ask | cat >answer &
    exec 9>ask
    cat first >&9
    eventually cmp -s first answer
    all_new_urls 30000 1000 >rest
    _prints rest rest
    cat first >&9
    exec 9>&-
    wait
    cat first first | cmp - answer || fail "the reader lost lines"
}

# The file holds the key of the filter: if its owner closed it to others, it must stay closed.
growth_keeps_the_mode() {
    all_new_urls 5000 >list
    echo a >one
    _prints one -k scalable -n 1000 one
    chmod 600 seen.deja
    _prints list list
    [ "$(stat -c %a seen.deja)" = 600 ] || fail "mode $(stat -c %a seen.deja) instead of 600"
}

growth_keeps_a_symbolic_link() {
    all_new_urls 5000 >list
    echo a >one
    mkdir elsewhere
    _prints one -k scalable -n 1000 one
    mv seen.deja elsewhere/real.deja
    ln -s elsewhere/real.deja seen.deja
    _prints list list
    [ -L seen.deja ] || fail "the link was replaced by a file"
    succeeds deja check -q elsewhere/real.deja list
    expect_same list .stdout
}

# As in killed.py, at one moment, for which the expected content is known.
after_a_kill_the_state_opens_and_the_next_run_seals_it() {
    python3 - <<'PY'
import subprocess
import dejarun

process = dejarun.start("dedup", "-q", "--state", "seen.deja", stdin=subprocess.PIPE)
collector = dejarun.Collector(process.stdout)
process.stdin.write(b"a\nb\n")
dejarun.eventually("the lines", lambda: collector.data == b"a\nb\n")
dejarun.eventually(
    "the keys", lambda: dejarun.run("check", "-q", "seen.deja", data=b"a\nb\n")[1] == b"a\nb\n"
)
process.kill()
process.wait()
PY
    exits_with 1 deja verify seen.deja
    expect_stderr_has "was not synced"
    printf 'a\nb\nc\n' >list
    echo c >new
    _prints new list
}

cases "$@"
