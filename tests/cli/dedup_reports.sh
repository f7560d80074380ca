# What dedup reports in addition to the lines it prints, and where each is written.
. "$SUPPORT/cases.sh"

_list() { printf '%s\n' a b a c b a >list; }

the_summary_is_one_short_line() {
    _list
    succeeds deja dedup list
    printf 'a\nb\nc\n' | expect_stdout
    expect_lines 1 .stderr
    grep -Eqx 'deja dedup: 6 read, 3 new, 3 seen before · [0-9.]+ ms' .stderr || fail "the line"
    all_new_urls 30000 >list
    succeeds deja dedup --seed 1 -n 1000 -p 0.01 list
    grep -Eq 'about [0-9,]+ lost' .stderr || fail "no number of lost lines"
    expect_stderr_has "filter grew to "
    [ "$(awk '{ print length }' .stderr | sort -n | tail -n 1)" -le 81 ] || fail "too long" # bytes
}

verbose_tells_everything() {
    _list
    succeeds deja dedup --verbose list
    expect_lines 1 .stderr
    expect_stderr_has "6 lines read, 3 new, 3 seen before, probably none of them lost (rate 1.0e-6)"
    expect_stderr_has "filter "
    succeeds deja dedup -v -p 0.01 list
    expect_stderr_has "rate 0.01"
    fails_with 2 "--quiet and --verbose cannot be combined" deja dedup -q -v list
    fails_with 2 "--quiet and --verbose cannot be combined" deja check -q --verbose f.deja list
    deja build -q f.deja list
    exits_with 1 deja check -v f.deja list # inverts, as in grep
    expect_stderr_has "6 read, 0 not in f.deja"
    succeeds deja check --verbose f.deja list
    expect_stderr_has "6 lines read, 6 in f.deja; "
}

# A line judged before any key is in the state cannot be lost.
the_losses_of_a_run_exclude_earlier_runs() {
    all_new_urls 3000 >list
    succeeds deja dedup --state s.deja --fixed -n 3000 -p 0.05 list
    ! grep -q lost .stderr || fail "lost in the first batch"
    echo one more >list
    succeeds deja dedup --state s.deja -o out --json list
    awk -v run="$(json_get lost_in_run .stdout)" -v all="$(json_get lost .stdout)" \
        'BEGIN { exit !(run < 0.2 && all > 5) }' || fail "$(cat .stdout)"
}

lines_left_out_are_named() {
    printf '%s\n' '# x' http://a/ '' foo bar baz http://b/ >list
    succeeds deja dedup -o out --url list
    expect_stderr_has '4 lines are not URLs: list:1 "# x", list:4 "foo", list:5 "bar", ...'
    expect_stderr_has '1 line without a URL, passed through: list:3 ""'
    succeeds deja dedup -o out --verbose --url list
    expect_stderr_has 'deja dedup: list:6 is not a URL: "baz"'
    expect_lines 8 .stderr
    succeeds deja dedup -o out --json --url list
    expect_stderr_empty
    python3 -c 'import json
left = json.load(open(".stdout"))["left_out"]
assert [(x["line"], x["why"]) for x in left] == [
    (3, "no key"), (1, "not a URL"), (4, "not a URL"), (5, "not a URL")], left'
    succeeds deja dedup -o out -q --url list
    expect_stderr_empty
    # Comments in a block list are not left out, but count as lines.
    printf '# a\nb.example\n# c\n1 2 3\n' >hosts
    succeeds deja build --format hosts h.deja hosts
    expect_stderr_has '1 line without a host, skipped: hosts:4 "1 2 3"'
    succeeds deja url -o out list
    expect_stderr_has '5 lines are not URLs: list:1 "# x", list:3 "", list:4 "foo", ...'
    # Names of columns and of long files.
    printf 'a b\n\033[31m\n' >list
    succeeds deja dedup -f 2 list
    expect_stderr_has '1 line without field 2, passed through: list:2 "\x1b[31m"'
}

quiet_is_silent() {
    _list
    succeeds deja dedup -q list
    printf 'a\nb\nc\n' | expect_stdout
    expect_stderr_empty
    succeeds deja dedup --quiet --json list
    expect_stderr_empty
    # Errors are still printed.
    fails_with 2 "nowhere does not exist" deja dedup -q nowhere
}

only_results_are_on_standard_output() {
    _list
    deja dedup list 2>/dev/null >out
    expect_lines 3 out
    deja dedup --json list 2>/dev/null >out
    expect_lines 3 out
    deja dedup --count list 2>/dev/null >out
    expect_lines 1 out
}

json_on_standard_error_is_json() {
    _list
    succeeds deja dedup --json list
    printf 'a\nb\nc\n' | expect_stdout
    python3 - <<'PY'
import json
report = json.load(open(".stderr"))
want = {"read": 6, "kept": 3, "dropped": 3, "bytes": 12, "fp_rate": 1e-6, "stopped": False}
for key, value in want.items():
    assert report[key] == value, (key, report[key])
for key in "lost", "fp_now", "filter_bytes", "fill", "seconds":
    assert isinstance(report[key], (int, float)) and report[key] >= 0, (key, report[key])
assert isinstance(report["kind"], str)
PY
    : >empty
    succeeds deja dedup --json empty
    [ "$(json_get read .stderr)" -eq 0 ] || fail "read"
    cp list again
    succeeds deja dedup --json list - <again
    [ "$(json_get read .stderr)" -eq 12 ] || fail "read"
}

# If a filter was sized by memory or by the multiplier, the summary shows the resulting rate, not
# the default one.
the_summary_shows_the_rate_of_the_filter() {
    all_new_urls 30000 >list
    succeeds deja dedup --seed 1 -n 30000 -m 20k --json list
    awk -v p="$(json_get fp_rate .stderr)" 'BEGIN { exit !(p > 1e-3) }' ||
        fail "rate $(json_get fp_rate .stderr) for 5 bits per key"
    succeeds deja dedup --seed 1 -k classic -n 30000 --hashes 3 --multiplier 2 --json list
    awk -v p="$(json_get fp_rate .stderr)" 'BEGIN { exit !(p > 1e-3) }' ||
        fail "rate $(json_get fp_rate .stderr) for 6 bits per key"
}

output_goes_to_a_file() {
    _list
    succeeds deja dedup -o out list
    expect_stdout ''
    printf 'a\nb\nc\n' | cmp - out
    succeeds deja dedup --output=out2 list
    expect_same out out2
    succeeds deja dedup -o - list
    printf 'a\nb\nc\n' | expect_stdout
    [ ! -e ./- ] || fail "a file named - was made"
}

output_replaces_an_older_file() {
    _list
    seq 1 100000 >out
    succeeds deja dedup -o out list
    printf 'a\nb\nc\n' | cmp - out
    seq 1 100000 >out
    : >empty
    succeeds deja dedup -o out empty
    [ ! -s out ] || fail "old lines are still there"
    seq 1 1000 >out
    succeeds deja dedup --count -o out list
    echo 3 | cmp - out
}

output_is_untouched_if_the_run_cannot_start() {
    _list
    echo precious >out
    fails_with 2 "nowhere" deja dedup -o out list nowhere
    fails_with 2 "directory" deja dedup -o out list .
    fails_with 2 "two; deja computes the third" deja dedup -o out -n 5 -p 0.1 -m 5k list
    fails_with 2 "not a deja filter file" deja dedup -o out --state list list
    echo precious | cmp - out
}

output_that_is_also_an_input_is_refused() {
    seq 1 200000 >list
    cp list copy
    ln -s list symbolic
    ln list hard
    local name
    for name in list symbolic hard ./list "$PWD/list"; do
        fails_with 2 "is also the output" deja dedup -o "$name" list
        expect_same copy list
    done
    fails_with 2 "standard input is also the output" deja dedup -o hard <list
    fails_with 2 "standard input is also the output" deja dedup -o hard copy - <list
    expect_same copy list
    # The same through the shell: the input would grow while it is read, and never end.
    status=0
    # shellcheck disable=SC2094
    deja dedup list >>list 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status"
    expect_stderr_has "list is also the output"
    expect_same copy list
    # An output that is not a file cannot be destroyed.
    succeeds deja dedup -o /dev/null /dev/null
}

output_that_is_also_the_state_is_refused() {
    seq 1 1000 >list
    succeeds deja dedup -q --state seen.deja list
    cp seen.deja copy
    fails_with 2 "seen.deja" deja dedup --state seen.deja -o seen.deja list
    expect_same copy seen.deja
    ln -s seen.deja link
    fails_with 2 "link: a scalable filter with 1,000 keys" deja dedup --state seen.deja -o link list
    expect_same copy seen.deja
    status=0
    # shellcheck disable=SC2094
    deja dedup --state seen.deja list >>seen.deja 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status for >>seen.deja"
    expect_same copy seen.deja
}

an_output_that_cannot_be_opened_is_an_error() {
    _list
    fails_with 2 "nowhere/out: No such file or directory" deja dedup -o nowhere/out list
    fails_with 2 "directory" deja dedup -o . list
}

closed_standard_files_are_harmless() {
    _list
    status=0
    deja dedup list >&- 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status with standard output closed"
    expect_stderr_has "standard output"
    status=0
    deja dedup <&- >.stdout 2>.stderr || status=$?
    [ $status -eq 2 ] || fail "exit $status with standard input closed"
    expect_stderr_has "standard input"
    # The messages are lost; the lines are right, and messages do not overwrite the state.
    deja dedup --state seen.deja list 2>&- >out || fail "exit $? with standard error closed"
    expect_lines 3 out
    succeeds deja check seen.deja list
}

cases "$@"
