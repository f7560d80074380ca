# --keep N: the first N lines with the same key.  awk counts exactly and is the reference.
. "$SUPPORT/cases.sh"

# _first N: the first N of equal lines.
_first() { awk -v n="$1" '++seen[$0] <= n'; }
_beyond() { awk -v n="$1" '++seen[$0] > n'; }

the_first_n_lines_of_each_key_are_printed() {
    local n
    some_urls 30000 5000 >list
    for n in 1 2 3 7 1000; do
        _first $n <list >expected
        succeeds deja dedup -q --keep $n list
        expect_same expected .stdout
    done
    succeeds deja dedup -q --keep 3 -j 1 <list
    _first 3 <list | expect_stdout
    succeeds deja dedup -q --keep 3 -D list
    _beyond 3 <list | expect_stdout
    succeeds deja dedup -q --keep 3 -c list
    expect_stdout "$(_first 3 <list | wc -l)"
}

every_kind_keeps_n_lines() {
    local options
    some_urls 5000 800 >list
    _first 3 <list >expected
    for options in '-k blocked' '-k classic' '-k exact' '-k scalable' '-k layered -n 20k' \
        '-k spectral -n 20k' '-k window -n 20k' '-k classic --hash mixed -n 20k' \
        '-k blocked --filters 2 -n 20k'; do
        # shellcheck disable=SC2086 # words
        succeeds deja dedup -q -p 1e-9 $options --keep 3 list
        expect_same expected .stdout
    done
}

a_state_continues_to_count() {
    some_urls 6000 1000 >list
    head -n 2500 list >today
    tail -n +2501 list >later
    succeeds deja dedup -q --keep 3 --state s.deja today
    cp .stdout got
    succeeds deja dedup -q --keep 3 --state s.deja -o part later
    cat part >>got
    _first 3 <list >expected
    expect_same expected got
    # With a larger N, each key is printed until it has N entries.
    printf 'a\na\na\n' >same
    succeeds deja dedup -q --keep 2 --state n.deja same
    succeeds deja dedup -q --keep 3 --state n.deja same
    expect_stdout a
    succeeds deja dedup -q --state n.deja same
    expect_stdout ''
}

samples_of_each_shape_are_printed() {
    cat >list <<'END'
http://example.com/post/1
http://example.com/post/2
http://example.com/post/3
http://example.com/about
http://example.com/post/4
END
    succeeds deja dedup -q --url=shape --keep 2 list
    expect_stdout <<'END'
http://example.com/post/1
http://example.com/post/2
http://example.com/about
END
}

keys_that_are_parts_of_a_line_are_counted() {
    printf 'a 1\nb 1\nc\nd 1\nc\n' >fields
    succeeds deja dedup -q --keep 2 -f 2 fields
    printf 'a 1\nb 1\nc\nc\n' | expect_stdout # a line without a key always passes
    printf '0.0.0.0 a b\na\nb\na\nb c\n' >hosts
    succeeds deja dedup -q --keep 2 --format hosts hosts
    printf '0.0.0.0 a b\na\nb\nb c\n' | expect_stdout
    printf '{"text":"x\\ny"}\n{"text":"x\\nz"}\n{"text":"x\\nv"}\n' >docs
    succeeds deja dedup -q --keep 2 --jsonl-text text docs
    printf '{"text":"x\\ny"}\n{"text":"x\\nz"}\n{"text":"v"}\n' | expect_stdout
    printf 'x\n\nx\n\nx\n' >text
    succeeds deja dedup -q --keep 2 --paragraphs text
    printf 'x\n\nx\n\n' | cmp - .stdout || fail "wrong paragraphs"
}

never_more_than_n_lines_come_out() { # however wrong the filter is
    some_urls 20000 4000 >list
    succeeds deja dedup -q --seed 5 -n 1000 -p 0.3 --fixed --keep 2 list
    sort .stdout | uniq -c | awk '$1 > 2 { exit 1 }' || fail "a line was printed three times"
    [ -s .stdout ] || fail "nothing was printed"
}

misuse_is_refused_with_a_reason() {
    echo a >list
    fails_with 2 "--keep" deja dedup --keep 0 list
    fails_with 2 "--keep" deja dedup --keep 1001 list
    fails_with 2 "--keep and --redis cannot be combined" \
        deja dedup --keep 2 --redis localhost --state s list
    fails_with 2 "--keep and --ngrams cannot be combined" deja dedup --keep 2 --ngrams 3 list
    fails_with 2 "--keep and --again-after cannot be combined" \
        deja dedup --keep 2 --again-after 1d --state s.deja list
}

cases "$@"
