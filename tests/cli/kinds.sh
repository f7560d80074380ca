# Adding a kind takes one file and one line: help and `deja plan` show a kind that only this test's
# command has.
. "$SUPPORT/cases.sh"

_probe() { "$DEJA_PROBE" "$@"; }

help_lists_every_kind() {
    succeeds _probe build --help
    tr -s '\n ' ' ' <.stdout >words
    grep -q 'window, static, exact or probe' words || fail "help does not list the kind"
}

a_plan_has_a_row_for_every_kind() {
    succeeds _probe plan -n 1M
    grep -qE '^  probe +[0-9.]+ MB ' .stdout || fail "no row for the kind"
    succeeds _probe plan -n 1M -k probe
    expect_stdout_has probe
}

a_filter_of_the_kind_is_built_checked_and_described() {
    seq 1000 >keys
    succeeds _probe build -k probe --fixed -n 1000 probe.deja keys
    succeeds _probe check probe.deja keys
    succeeds _probe info probe.deja
    expect_stdout_has probe
    succeeds _probe verify probe.deja
}

a_command_without_the_kind_refuses_its_file() {
    seq 1000 >keys
    succeeds _probe build -k probe --fixed -n 1000 probe.deja keys
    fails_with 2 "kind 63 is not known" deja info probe.deja
}

cases "$@"
