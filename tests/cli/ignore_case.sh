# -i: keys are compared without regard to the case of ASCII letters; lines are printed unchanged.
. "$SUPPORT/cases.sh"

the_first_spelling_is_printed_unchanged() {
    printf 'Ab\naB\nAC\r\nac\n\303\204\n\303\244\n' >list
    succeeds deja dedup -q -i list
    printf 'Ab\nAC\r\n\303\204\n\303\244\n' | cmp - .stdout || fail "wrong lines"
    succeeds deja dedup -q --ignore-case -D -j 1 list
    printf 'aB\nac\n' | cmp - .stdout || fail "wrong repeats"
    succeeds deja dedup -q list
    expect_same list .stdout
}

a_random_list_matches_sort_and_uniq() {
    awk 'BEGIN { srand(3); for (i = 0; i < 40000; i++) {
        s = sprintf("%x", int(rand() * 30000)); print rand() < 0.5 ? toupper(s) : s } }' >list
    tr "[:upper:]" "[:lower:]" <list | sort -u >expected
    succeeds deja dedup -q -i list
    tr "[:upper:]" "[:lower:]" <.stdout | sort >got
    expect_same expected got
}

fields_columns_and_strings_are_folded() {
    printf 'x Ab\ny aB\n' >fields
    succeeds deja dedup -q -i -f 2 fields
    expect_stdout 'x Ab'
    printf 'id,url\n1,"A,""b"\n2,"a,""B"\n' >list.csv
    succeeds deja dedup -q -i --csv url list.csv
    printf 'id,url\n1,"A,""b"\n' | expect_stdout
    printf '{"url":"\\u0041b"}\n{"url":"aB"}\n{"x":1}\n' >list.jsonl
    succeeds deja dedup -q -i --format jsonl list.jsonl
    printf '{"url":"\\u0041b"}\n{"x":1}\n' | expect_stdout
}

urls_are_folded_after_their_canonical_form() {
    printf 'http://A.org/%%41\nHTTP://a.org/a\nhttp://a.org/%%e4\nhttp://a.org/%%E4\n' >list
    succeeds deja dedup -q --url -i list
    printf 'http://A.org/%%41\nhttp://a.org/%%e4\n' | expect_stdout
    succeeds deja dedup -q --url -i --canonical list
    printf 'http://a.org/A\nhttp://a.org/%%E4\n' | expect_stdout
    printf 'http://a.org/A\nhttp://a.org/a\nno url\n' >strict
    exits_with 2 deja dedup -q --url -i --strict strict
    expect_stdout 'http://a.org/A'
}

texts_are_folded() {
    printf 'One Two\nthree\n\nONE TWO\nThree\n' >text
    succeeds deja dedup -q --paragraphs -i text
    printf 'One Two\nthree\n\n' | cmp - .stdout || fail "wrong paragraphs"
    printf '{"text":"Menu\\nA"}\n{"text":"MENU\\nB"}\n' >docs
    succeeds deja dedup -q -i --jsonl-text text docs
    printf '{"text":"Menu\\nA"}\n{"text":"B"}\n' | expect_stdout
    printf 'a b C d\nA B c e\n' >lines
    succeeds deja dedup -q -i --ngrams 2 --threshold 0.6 lines
    expect_stdout 'a b C d'
}

other_commands_fold_too() {
    printf 'Ab\n' >list
    succeeds deja build -q -i list.deja list
    printf 'AB\nab\nx\n' >probe
    succeeds deja check -q -i list.deja probe
    printf 'AB\nab\n' | expect_stdout
    succeeds deja check -q list.deja probe
    expect_stdout ab
    succeeds deja dedup -q -i --state s.deja probe
    succeeds deja dedup -q -i --state s.deja list
    expect_stdout ''
    fails_with 2 "-i" deja url -i list
}

cases "$@"
