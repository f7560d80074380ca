# Filters with dates: dedup --again-after, check --older-than, deja expire, deja info.
#
# Keys of the past come from dated.py.  The ages here are far from the limits, so a test that runs
# at midnight passes too; unit.dates and unit.dedup test the limits.
. "$SUPPORT/cases.sh"

_ago() { python3 "$SUPPORT/dated.py" "$1" "$2"; } # _ago FILE DAYS: adds the lines of stdin

_info() { deja info --json old.deja | sed '1d;$d'; } # without the array around it

# old.deja: 1 to 30 last seen 100 days ago, 31 to 60 40 days ago, 61 to 90 5 days ago.
_three_ages() {
    deja build -q --dates -n "${1:-1k}" old.deja /dev/null
    seq 1 90 | _ago old.deja 100
    seq 31 90 | _ago old.deja 40
    seq 61 90 | _ago old.deja 5
}

a_line_is_printed_again_after_as_many_days() {
    seq 100 > list
    run deja dedup -q --state s.deja --again-after 30d list
    cmp .stdout list || fail "not all lines are new"
    run deja dedup -q --state s.deja --again-after 30d list
    [ ! -s .stdout ] || fail "printed again on the same day"
    _three_ages
    { seq 120; seq 120; } > list
    run deja dedup -q --state old.deja --again-after 30d list
    { seq 60; seq 91 120; } | cmp - .stdout || fail "not the new and the due lines"
    run deja dedup -q --state old.deja --again-after 30d list
    [ ! -s .stdout ] || fail "the lines were not renewed"
    run deja dedup -q --state old.deja --again-after 1d list
    seq 61 90 | cmp - .stdout || fail "a line that was not printed was renewed"
}

# A state that has grown: the due lines are in older parts.
a_state_that_has_grown_is_renewed_in_place() {
    _three_ages 10
    _info > info.json
    [ "$(json_get parts info.json)" -gt 2 ] || fail "it has not grown"
    run deja dedup -q --state old.deja --again-after 30d <(seq 90)
    seq 60 | cmp - .stdout || fail "not the due lines"
    _info > info.json
    [ "$(json_get keys info.json)" -eq 90 ] || fail "a line was added twice"
    run deja check -q -c --older-than 30d old.deja <(seq 90)
    grep -qx 0 .stdout || fail "not renewed"
}

counts_repeats_and_reports_agree() {
    _three_ages
    cp old.deja copy.deja
    run deja dedup -q -c --state copy.deja --again-after 30d <(seq 120)
    grep -qx 90 .stdout || fail "-c: not 90"
    cp old.deja copy.deja
    run deja dedup -q -D --state copy.deja --again-after 30d <(seq 120)
    seq 61 90 | cmp - .stdout || fail "-D: not the lines seen 5 days ago"
    cp old.deja copy.deja
    deja dedup --json --state copy.deja --again-after 30d -o out <(seq 120) > report.json
    [ "$(json_get kept report.json)" -eq 90 ] || fail "--json"
    cp old.deja copy.deja
    seq 120 | gzip | deja dedup -q --state copy.deja --again-after 30d | wc -l | grep -qx 90 || fail "gzip in a pipe"
}

# Without --again-after, every line that is read was seen today.
a_run_without_it_renews_all_lines() {
    _three_ages
    run deja dedup -q --state old.deja <(seq 40)
    [ ! -s .stdout ] || fail "a seen line was printed"
    run deja check -q --older-than 30d old.deja <(seq 120)
    seq 41 60 | cmp - .stdout || fail "not renewed"
    run deja add -q old.deja <(seq 41 50)
    run deja check -q --older-than 30d old.deja <(seq 120)
    seq 51 60 | cmp - .stdout || fail "add does not renew"
}

check_prints_lines_by_their_last_day() {
    _three_ages
    cp old.deja before.deja
    seq 120 > list
    run deja check -q --older-than 30d old.deja list
    seq 60 | cmp - .stdout || fail "30d"
    run deja check -q --older-than 10w old.deja list
    seq 30 | cmp - .stdout || fail "10w"
    run deja check -q -v --older-than 30d old.deja list
    seq 61 120 | cmp - .stdout || fail "-v"
    succeeds deja check --older-than 30d --json -o out old.deja list
    [ "$(json_get in .stdout)" -eq 60 ] || fail "--json"
    exits_with 1 deja check -q --older-than 1y old.deja list
    deja check -q --older-than 3 old.deja list | wc -l | grep -qx 90 || fail "days without a unit"
    expect_same old.deja before.deja
}

expire_removes_old_keys() {
    _three_ages
    cp old.deja before.deja
    succeeds deja expire -n --older-than 30d old.deja
    grep -q "60 keys would be removed, last seen before 20..-..-.., 30 left" .stderr || fail "-n: $(cat .stderr)"
    expect_same old.deja before.deja
    run deja expire --older-than 1y old.deja
    grep -q "0 keys removed, .*, 90 left" .stderr || fail "$(cat .stderr)"
    expect_same old.deja before.deja
    run deja expire --older-than 30d old.deja
    grep -q "60 keys removed, .*, 30 left" .stderr || fail "$(cat .stderr)"
    [ ! -s .stdout ] || fail "the report is on stdout"
    deja verify -q old.deja || fail "damaged"
    run deja check -q old.deja <(seq 120)
    seq 61 90 | cmp - .stdout || fail "not the keys of the last 30 days"
    run deja dedup -q --state old.deja --again-after 30d <(seq 120)
    { seq 60; seq 91 120; } | cmp - .stdout || fail "removed keys are not new"
    deja expire -q --older-than 1y old.deja 2> err
    [ ! -s err ] || fail "-q"
}

expire_shrinks_a_filter_that_has_grown() {
    _three_ages 10
    deja expire --json --older-than 30d old.deja > report.json
    [ "$(json_get removed report.json)" -eq 60 ] || fail "removed"
    [ "$(json_get left report.json)" -eq 30 ] || fail "left"
    [ "$(json_get filter_bytes report.json)" -lt "$(json_get filter_bytes_before report.json)" ] || fail "bytes"
    _info > info.json
    [ "$(json_get parts info.json)" -eq 1 ] || fail "parts"
    run deja check -q old.deja <(seq 120)
    seq 61 90 | cmp - .stdout || fail "keys"
}

info_shows_the_days() {
    _three_ages
    run deja info old.deja
    grep -q "exact part.*53-bit fingerprints and dates" .stdout || fail "kind"
    grep -q "last seen   from 20..-..-.. to 20..-..-.. (UTC)" .stdout || fail "days"
    _info > info.json
    [ "$(json_get oldest_day info.json)" = "$(date -u -d '100 days ago' +%F)" ] ||
        [ "$(json_get oldest_day info.json)" = "$(date -u -d '101 days ago' +%F)" ] || fail "oldest_day"
    deja build -q --dates new.deja /dev/null
    run deja info new.deja
    grep -q "last seen   no key yet" .stdout || fail "an empty filter"
}

unions_have_the_dates_of_both() {
    deja build -q --seed 1 --dates -n 100 a.deja /dev/null
    deja build -q --seed 1 --dates -n 100 b.deja /dev/null
    seq 20 | _ago a.deja 100
    seq 11 30 | _ago b.deja 5
    succeeds deja merge -q -o both.deja a.deja b.deja
    run deja check -q --older-than 30d both.deja <(seq 40)
    seq 10 | cmp - .stdout || fail "not the latest days"
    deja build -q --seed 1 -k exact -n 100 c.deja /dev/null
    fails_with 2 "only one of them has dates" deja merge -q -o no.deja a.deja c.deja
}

# n / 2^53 and 15/16 of six slots per line.
the_plan_knows_the_smaller_fingerprints() {
    succeeds deja plan -k exact --dates -n 1M
    expect_stdout_has "500,000   50%    5.6e-11"
    expect_stdout_has "It is full at 15/16 of its slots, 1,171,879 keys"
}

misuse_is_explained() {
    local option
    exec < /dev/null
    echo a | deja build -q -n 10 plain.deja
    echo a | deja build -q -k exact --fixed -n 10 exact.deja
    echo a | deja build -q --dates -n 10 dated.deja
    fails_with 2 "give --state FILE" deja dedup --again-after 30d
    fails_with 2 "not --redis" deja dedup --again-after 30d --state x --redis redis://127.0.0.1:1
    fails_with 2 "kind window does not store; use -k exact" deja dedup --again-after 30d --state x.deja -k window -n 10
    fails_with 2 "plain.deja has no dates" deja dedup --again-after 30d --state plain.deja
    fails_with 2 "exact.deja has no dates: make a new filter of kind exact with --dates" \
        deja dedup --again-after 30d --state exact.deja
    fails_with 2 "exact.deja was made without --dates" deja dedup --dates --state exact.deja
    fails_with 2 "--again-after takes a number of days such as 30d, 4w, 6mo or 1y" deja dedup --again-after 30m --state x.deja
    fails_with 2 "takes a number from 1 to 65535, not 0" deja dedup --again-after 0 --state x.deja
    fails_with 2 "takes a number from 1 to 65535" deja check --older-than 200y dated.deja
    fails_with 2 "has no dates" deja check --older-than 30d plain.deja
    fails_with 2 "--prefix cannot be combined" deja check --older-than 30d --prefix plain.deja
    for option in --counts -u "--keep 2" "--append list"; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "and --again-after cannot be combined" deja dedup --again-after 30d --state x.deja $option
    done
    fails_with 2 "not --redis" deja check --older-than 30d --redis redis://127.0.0.1:1 x
    fails_with 2 "not --format dcso" deja check --older-than 30d --format dcso x
    fails_with 2 "give --older-than DAYS" deja expire dated.deja
    fails_with 2 "has no dates" deja expire --older-than 30d plain.deja
    fails_with 2 "none.deja" deja expire --older-than 30d none.deja
    fails_with 2 "--dates goes with kind exact, not blocked" deja build -k blocked --dates -n 10 x.deja
    fails_with 2 "--dates goes with kind exact, not spectral" deja build -k spectral --dates -n 10 x.deja
    [ ! -e x.deja ] || fail "a misuse made a file"
}

cases "$@"
