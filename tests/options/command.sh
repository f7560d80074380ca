# A row in the option table makes an option of the command, without any other code.
. "$SUPPORT/cases.sh"

help_explains_it() {
    succeeds deja dedup --help
    expect_stdout_has "--trial-steps T     try T times, or give -m (default 7)"
}

the_man_page_has_it() {
    succeeds deja help --man dedup
    expect_stdout_has "trial\\-steps"
    expect_stdout_has "try T times, or give \\-m (default 7)"
}

shells_complete_it() {
    local shell
    for shell in bash zsh fish; do
        succeeds deja help --completion $shell
        expect_stdout_has "trial-steps"
    done
}

the_parser_knows_its_range() {
    echo a >list
    fails_with 2 "--trial-steps takes a number from 2 to 99, not 100" deja dedup --trial-steps 100 list
    fails_with 2 "did you mean --trial-steps?" deja dedup --trial-step 5 list
    succeeds deja dedup --trial-steps=5 list
}

plan_repeats_it_and_the_filter_follows_it() {
    deja gen -n 5000 --seed 1 >list
    succeeds deja plan -n 1000 --trial-steps 3
    expect_stdout_has " --trial-steps 3 --state "
    deja build -q -n 100 --trial-steps 9 nine.deja list
    deja build -q -n 100 two.deja list
    succeeds deja info --json nine.deja two.deja
    python3 - .stdout <<'END'
import json, sys
nine, two = json.load(open(sys.argv[1]))
assert nine["parts"] < two["parts"], (nine["parts"], two["parts"])
END
}

a_state_ignores_it_aloud() {
    echo a >list
    deja dedup -q -n 100 --state s.deja list >/dev/null
    succeeds deja dedup --trial-steps 5 --state s.deja list
    expect_stderr_has "ignored: --trial-steps"
}

cases "$@"
