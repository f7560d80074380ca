# dedup --audit: the measured loss.  awk knows which lines were lost.
. "$SUPPORT/cases.sh"

# A filter that is far too small, the same in every run.
small="--fixed -n 20000 -p 0.2 --seed 7"

# _lost LIST PRINTED: the lines of LIST, without repeats, that are not in PRINTED.
_lost() {
    awk 'NR == FNR { printed[$0]; next } !seen[$0]++ && !($0 in printed)' "$2" "$1" | wc -l
}

_report() { python3 -c 'import json, sys; print(json.load(open("report"))["audit"][sys.argv[1]])' "$1"; }

a_check_of_all_dropped_lines_counts_every_loss() {
    some_urls 60000 20000 >list
    # shellcheck disable=SC2086 # words
    succeeds deja dedup $small --audit 1M list
    lost=$(_lost list .stdout)
    [ "$lost" -gt 1000 ] || fail "only $lost lost: the filter is too good for this test"
    dropped=$((60000 - $(wc -l <.stdout)))
    expect_stderr_has "audit: ${lost%???},${lost: -3} lost"
    # shellcheck disable=SC2086
    succeeds deja dedup $small --audit 1M --json list
    cp .stderr report
    [ "$(_report lost) $(_report lost_low) $(_report lost_high)" = "$lost $lost $lost" ] ||
        fail "reports $(_report lost) instead of $lost"
    [ "$(_report checked) $(_report dropped)" = "$dropped $dropped" ] || fail "wrong counts"
}

# The seeds are fixed, so this either always holds or never.  At 95%, one seed in 20 is outside; with
# 20 seeds, 6 would be 5 sigma too many.
the_interval_of_a_sample_covers_the_truth() {
    some_urls 30000 10000 >list
    for seed in {1..20}; do
        deja dedup --fixed -n 10000 -p 0.2 --seed "$seed" --audit 500 --json list >out 2>"report.$seed"
        _lost list out >"lost.$seed"
    done
    python3 - <<'END' || fail "wrong intervals"
import json
outside = 0
for seed in range(1, 21):
    audit, lost = json.load(open(f"report.{seed}"))["audit"], int(open(f"lost.{seed}").read())
    assert audit["checked"] == 500 and audit["lost_low"] < audit["lost"] < audit["lost_high"]
    assert audit["lost_high"] - audit["lost_low"] < 0.1 * audit["dropped"]
    outside += not audit["lost_low"] <= lost <= audit["lost_high"]
assert outside < 6, f"{outside} of 20 intervals miss the truth"
END
}

every_way_of_reading_gives_the_same_audit() {
    some_urls 30000 9000 >list
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json list >expected 2>report
    for x in lost lost_low lost_high dropped; do _report $x; done >want
    _same() {
        cp "$1" report
        for x in lost lost_low lost_high dropped; do _report $x; done | cmp -s - want || fail "$2 differs"
        [ ! -e out ] || expect_same expected out
    }
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json >out 2>err < <(cat list)
    _same err "a pipe"
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json -j 1 list >out 2>err
    _same err "-j 1"
    gzip -c list >list.gz
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json list.gz >out 2>err
    _same err "gzip"
    head -n 10000 list >one
    tail -n +10001 list >two
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json one two >out 2>err
    _same err "two files"
    rm out
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json -D list 2>err | cmp -s - <(awk 'NR == FNR { p[$0]++; next }
        p[$0]-- <= 0' expected list) || fail "-D prints other lines"
    _same err "-D"
    # shellcheck disable=SC2086
    deja dedup $small --audit 300 --json -c list >/dev/null 2>err
    _same err "-c"
}

a_new_state_can_be_audited_and_an_old_one_cannot() {
    some_urls 30000 9000 >list
    # shellcheck disable=SC2086
    succeeds deja dedup $small --state s.deja --audit 1M list
    lost=$(_lost list .stdout)
    expect_stderr_has "audit: $lost lost"
    fails_with 2 "s.deja has keys of earlier runs, which --audit cannot check" \
        deja dedup --state s.deja --audit 100 list
    succeeds deja dedup -q --state empty.deja /dev/null
    succeeds deja dedup --state empty.deja --audit 100 list
    expect_stderr_has "audit: 0 of a sample of 100 dropped lines were new"
}

keys_and_copies_are_checked() {
    printf 'a 1\nb 2\nc 1\nd\nd\ne 2\n' >fields
    succeeds deja dedup --audit 10 -f 2 fields
    expect_stderr_has "audit: 0 lost"
    expect_stderr_has "all 2 dropped lines were checked"
    expect_stderr_has "6 read, 4 new, 2 seen before"
    succeeds deja dedup --audit 10 --keep 2 -f 2 fields
    expect_stderr_has "all 0 dropped lines were checked"
    printf 'http://A.org\nhttp://a.org/\nno url\nno url\n' >urls
    succeeds deja dedup --audit 10 --url urls
    expect_stderr_has "all 2 dropped lines were checked"
    expect_stderr_has "2 lines are not URLs"
    printf 'A\na\nb\n' >case
    succeeds deja dedup --audit 10 -i case
    expect_stderr_has "audit: 0 lost"
    printf '0.0.0.0 a b\na\nc\n' >hosts
    succeeds deja dedup --audit 10 --format hosts hosts
    expect_stderr_has "3 read, 2 new, 1 seen before"
    some_urls 20000 3000 >list # with copies: at most two lines of each
    succeeds deja dedup --fixed -n 6000 -p 0.2 --seed 7 --keep 2 --audit 1M list
    awk 'NR == FNR { printed[$0]++; next } ++seen[$0] <= 2 { first[$0]++ }
        END { for (x in first) n += first[x] - printed[x]; print n }' .stdout list >lost
    expect_stderr_has "audit: $(cat lost) lost"
    for kind in classic exact spectral layered scalable; do
        succeeds deja dedup -k $kind -n 6000 --audit 50 list
        expect_stderr_has "audit: 0 of a sample of 50 dropped lines were new"
    done
}

a_file_that_changes_voids_the_audit_but_not_the_output() {
    mkfifo pipe
    some_urls 1000 500 >list
    deja dedup --audit 100 list pipe >out 2>err &
    exec 3>pipe # opens when list has been read
    sed -i 1d list
    exec 3>&-
    status=0
    wait $! || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    grep -q "the input changed before --audit read it again" err || fail "$(cat err)"
    grep -q "the output is complete" err || fail "$(cat err)"
    some_urls 1000 500 | once | cmp -s - out || fail "lines are missing"
}

a_stopped_run_is_not_audited() {
    mkfifo pipe
    echo a >list
    "$DEJA" dedup --audit 100 list pipe >out 2>err &
    exec 3>pipe
    kill -TERM $!
    wait $! || true
    exec 3>&-
    grep -q "audit: stopped before the dropped lines were checked" err || fail "$(cat err)"
}

misuse_is_refused_with_a_reason() {
    echo a >list
    fails_with 2 "--audit takes a whole number" deja dedup --audit many list
    fails_with 2 "--audit" deja dedup --audit 0 list
    fails_with 2 "--audit and --append cannot be combined: the lines of FILE cannot be checked" \
        deja dedup --audit 5 --append known list
    [ ! -e known ] || fail "a file was created"
    fails_with 2 "--audit and --redis cannot be combined" \
        deja dedup --audit 5 --redis localhost --state x list
    fails_with 2 "--audit and --paragraphs cannot be combined: lines are checked, not texts" \
        deja dedup --audit 5 --paragraphs list
    fails_with 2 "--audit and --again-after cannot be combined" \
        deja dedup --audit 5 --state s.deja --again-after 3d list
    fails_with 2 "--audit needs a filter that remembers all lines" \
        deja dedup --audit 5 -k window -n 100 --state s.deja list
    [ ! -e s.deja ] || fail "a state was created"
    succeeds deja dedup -q -k window -n 100 --state w.deja /dev/null
    fails_with 2 "--audit needs a filter that remembers all lines" \
        deja dedup --audit 5 --state w.deja list
    fails_with 2 "--counts and --audit cannot be combined" deja dedup --counts --audit 5 list
    fails_with 2 "set TMPDIR to a directory" env TMPDIR=/nowhere "$DEJA" dedup --audit 5 < <(cat list)
}

cases "$@"
