# build -k static --except: a block list that never finds an entry of an allow list.
. "$SUPPORT/cases.sh"

# 10^5 blocked and 10^5 allowed keys with 8 bits each: without --except, about 390 are found.
no_allowed_key_matches_and_no_blocked_key_is_missing() {
    deja gen -n 100k >blocked
    deja gen -n 100k --first 100k >allowed
    succeeds deja build --seed 7 -k static -p 0.01 plain.deja blocked
    run deja check -q -c plain.deja allowed
    if [ "$(cat .stdout)" -lt 290 ] || [ "$(cat .stdout)" -gt 490 ]; then fail "$(cat .stdout) of 100,000 at 1/256"; fi
    cp .stdout found
    succeeds deja build --seed 7 -k static -p 0.01 --except allowed safe.deja blocked
    expect_stderr_has "allowed: 100,000 lines read, 0 keys left out of the filter, $(cat found) false positives overruled by exceptions"
    exits_with 1 deja check -q -c safe.deja allowed
    expect_stdout 0
    succeeds deja check -q -c safe.deja blocked
    expect_stdout 100000
    succeeds deja info safe.deja
    expect_stdout_has "$(cat found) keys of an allow list, which would be false positives"
    succeeds deja info --json safe.deja
    expect_stdout_has "\"exceptions\": $(cat found)"
    succeeds deja verify -q safe.deja
    # Other keys still match at the same rate.
    deja gen -n 100k --first 300k >others
    deja check -q plain.deja others >want
    deja check -q safe.deja others >got
    expect_same want got
}

keys_on_both_lists_are_left_out() {
    printf '%s\n' a b c a >blocked
    printf '%s\n' b x y >allowed
    succeeds deja build --seed 7 -k static --except allowed f.deja blocked
    expect_stderr_has "4 read, 2 new, 1 seen before, 1 left out"
    succeeds deja check -q f.deja blocked
    printf '%s\n' a c a | expect_stdout
    succeeds deja build --force --json --seed 7 -k static --except allowed f.deja <blocked
    [ "$(jq -c '[.added, .known, .except.read, .except.left_out, .except.covered]' .stdout)" = '[2,1,3,1,0]' ] ||
        fail "wrong report"
    # A compressed list; an empty one.
    gzip allowed
    succeeds deja build --force -q --seed 7 -k static --except allowed.gz f.deja blocked
    exits_with 1 deja check -q f.deja <<<b
    : >empty
    succeeds deja build --force -q --seed 7 -k static --except empty f.deja blocked
    succeeds deja check -q f.deja <<<b
}

# With gsb, each URL is looked up as several expressions; none of them may be found by mistake.
all_lookups_of_an_allowed_url_are_covered() {
    deja gen -n 20k >blocked
    deja gen -n 20k --first 100k | sed 's|://|://allowed.|; s|$|/a/b?c|' >allowed
    succeeds deja build -q --seed 7 --url=gsb -k static -p 0.01 plain.deja blocked
    succeeds deja check -q -c --url=gsb plain.deja allowed
    succeeds deja build -q --seed 7 --url=gsb -k static -p 0.01 --except allowed safe.deja blocked
    exits_with 1 deja check -q -c --url=gsb safe.deja allowed
    exits_with 1 deja check -q -v --url=gsb safe.deja blocked
}

an_allowed_page_does_not_unblock_its_site() {
    printf '%s\n' evil.example good.example http://shop.example/fake/ >blocked
    printf '%s\n' '# mine' http://evil.example/ok good.example https://shop.example/ >allowed
    succeeds deja build --seed 7 --url=gsb -k static --except allowed f.deja blocked
    expect_stderr_has '1 line is not a URL, skipped: allowed:1 "# mine"'
    expect_stderr_has "allowed: 4 lines read, 1 key left out of the filter"
    expect_stderr_has "warning: some entries of allowed still match, because their site or folder is blocked"
    succeeds deja check -q --url=gsb --why f.deja allowed
    expect_stdout "$(printf 'http://evil.example/ok\tevil.example/')"
    exits_with 1 deja check -q --url=gsb f.deja <<<http://www.good.example/x
    # The warning is printed with -q and with --json, too.
    succeeds deja build --force -q --seed 7 --url=gsb -k static --except allowed f.deja blocked
    expect_stderr_has "still match"
}

formats_apply_to_both_lists() {
    printf '0.0.0.0 evil.example good.example\n' >blocked
    printf '# mine\n0.0.0.0 good.example\n' >allowed
    succeeds deja build -q --seed 7 --url=gsb --format hosts -k static --except allowed f.deja blocked
    succeeds deja check -q --url=gsb f.deja <<<$'http://good.example/\nhttp://evil.example/'
    expect_stdout http://evil.example/
}

the_key_can_come_from_a_pipe() {
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    printf '%s\n' a b >blocked
    echo b >allowed
    succeeds deja build -q --key <(cat key) -k static --except allowed f.deja blocked
    succeeds deja check -q --key key f.deja <<<a
    exits_with 1 deja check -q --key key f.deja <<<b
}

misuse_is_explained() {
    printf '%s\n' a b >blocked
    echo b >allowed
    fails_with 2 "--except needs -k static" deja build --except allowed f.deja blocked
    fails_with 2 "--except needs -k static" deja build -k exact --except allowed f.deja blocked
    fails_with 2 "nowhere does not exist" deja build -k static --except nowhere f.deja blocked
    fails_with 2 "standard input cannot be both lists" deja build -k static --except - f.deja <blocked
    [ ! -e f.deja ] || fail "a file appeared"
    succeeds deja build -q -k static --except - f.deja blocked <allowed
    exits_with 1 deja check -q f.deja <<<b
    fails_with 2 "is a filter file" deja build --force -k static --except f.deja g.deja blocked
}

cases "$@"
