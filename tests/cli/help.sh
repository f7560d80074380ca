# -h fits one screen for every command; --help has the options before the prose.
. "$SUPPORT/cases.sh"

_commands() { deja help | sed -nE '/^Commands:/,/^$/s/^  ([a-z]+) .*/\1/p'; }

_fits_a_screen() { # WORD...
    succeeds deja "$@"
    expect_stderr_empty
    [ "$(wc -l <.stdout)" -le 24 ] || fail "more than 24 lines: $*"
    [ "$(wc -L <.stdout)" -le 80 ] || fail "wider than 80 columns: $*"
    [ "$(grep -c '^  # ' .stdout)" -eq 3 ] || fail "not three examples: $*"
    grep -q '^Usage: deja ' .stdout || fail "no usage: $*"
    tail -n 1 .stdout | grep -qe "--help.*man deja" || fail "the last line leads nowhere: $*"
}

the_short_help_fits_a_screen() {
    local command options
    for command in $(_commands); do
        _fits_a_screen "$command" -h
        options=$(grep -cE '^  (-.,|   ) --' .stdout || true)
        if [ "$options" -lt 1 ] || [ "$options" -gt 10 ]; then fail "$command: $options options"; fi
        ! grep -E '^  (-.,|   ) --' .stdout | grep -q '[.][.][.]$' || fail "$command: a cut phrase"
    done
    _fits_a_screen -h
    for command in $(_commands); do
        grep -qw -- "$command" .stdout || fail "deja -h does not name $command"
    done
}

the_most_used_options_come_from_the_marks() {
    succeeds deja dedup -h
    expect_stdout_has "--state FILE"
    expect_stdout_has "--url[=PROFILE]"
    ! grep -q -e --insecure-key .stdout || fail "a rare option"
    succeeds deja dedup --help
    expect_stdout_has "--insecure-key"
}

the_long_help_has_options_before_prose() {
    local command
    for command in $(_commands); do
        succeeds deja "$command" --help
        awk '/^ +(-.,)? *--help/ { options = NR } /^Examples:/ { examples = NR }
             NR > 3 && /^[A-Z][a-z].*[a-z]/ && !/:$/ && !prose { prose = NR }
             END { exit !(options && prose && options < prose && prose < examples) }' .stdout ||
            fail "$command: usage, options, prose, examples expected"
    done
}

cases "$@"
