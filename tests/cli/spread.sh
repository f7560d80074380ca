# --spread: the counters of a spectral filter anywhere in the array.
. "$SUPPORT/cases.sh"

_info() { # FILTER FIELD
    deja info --json "$1" | python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$2"
}

lines_are_counted_and_removed() {
    local bits
    for bits in 4 8 16 32; do
        printf 'a\nb\na\nc\na\nb\n' >list
        deja build -q --seed 1 --force -k spectral --spread --counter-bits $bits -n 100 f.deja list
        printf 'a\nb\nc\nd\n' >asked
        succeeds deja count -q f.deja asked
        printf '3\ta\n2\tb\n1\tc\n0\td\n' | expect_stdout
        printf 'a\nd\nb\nb\n' >away
        succeeds deja remove f.deja away
        expect_stderr_has "4 read, 3 removed, 1 refused"
        succeeds deja count -q f.deja asked
        printf '2\ta\n0\tb\n1\tc\n0\td\n' | expect_stdout
        succeeds deja verify -q f.deja
        succeeds deja info f.deja
        expect_stdout_has "counters    $bits bits, spread; the largest is 2, none saturated"
        [ "$(_info f.deja spread)" = True ] || fail "spread in JSON"
        [ "$(_info f.deja counter_bits)" = $bits ] || fail "counter_bits in JSON"
    done
    deja build -q --force -k spectral -n 100 f.deja list
    [ "$(_info f.deja spread)" = False ] || fail "no spread in JSON"
}

a_saturated_counter_does_not_change() {
    seq 20 | sed s,.*,a, >list
    deja build -q -k spectral --spread -n 100 f.deja list
    echo a >one
    succeeds deja count -q f.deja one
    printf '15\ta\n' | expect_stdout
    succeeds deja remove f.deja one
    expect_stderr_has "0 removed, 1 refused"
    succeeds deja check -q f.deja one
}

removing_everything_leaves_an_empty_filter() {
    all_new_urls 3000 >list
    deja build -q --seed 3 -k spectral --spread -n 3000 -p 1e-3 --filters 2 f.deja list
    succeeds deja remove f.deja list
    expect_stderr_has "3,000 read, 3,000 removed, 0 refused"
    tail -c +4097 f.deja | tr -d '\0' >rest
    [ ! -s rest ] || fail "the body is not empty"
    succeeds deja add -q f.deja list
    succeeds deja check -q f.deja list
    expect_same list .stdout
}

minimal_increase_does_not_remove() {
    printf 'a\na\nb\n' >list
    deja build -q -k spectral --spread --minimal-increase -n 100 f.deja list
    succeeds deja count -q f.deja list
    printf '2\ta\n2\ta\n1\tb\n' | expect_stdout
    fails_with 2 "do not hold the sum of their keys" deja remove f.deja list
    succeeds deja info f.deja
    expect_stdout_has "4 bits, spread, minimal increase"
}

memory_is_what_theory_predicts() {
    local bits
    for bits in 4 8 16 32; do # -ln p / (ln 2)^2 = 14.378 counters per key at 1e-3
        succeeds deja plan --json -k spectral --spread --counter-bits $bits -n 1m -p 1e-3
        python3 -c '
import json, sys
row, bits = json.load(open(".stdout"))["kinds"][0], int(sys.argv[1])
assert 14.37 * bits < row["bits_per_key"] < 14.39 * bits and row["hashes"] == 10, row
' $bits || fail "$bits bits"
    done
}

filters_of_one_layout_merge() {
    seq 1 500 >a
    seq 400 900 >b
    deja build -q --seed 1 -k spectral --spread --counter-bits 8 -n 1k -p 1e-4 a.deja a
    deja build -q --seed 1 -k spectral --spread --counter-bits 8 -n 1k -p 1e-4 b.deja b
    deja build -q --seed 1 -k spectral --counter-bits 8 -n 1k -p 1e-4 line.deja b
    deja build -q --seed 1 -k spectral --spread --counter-bits 16 -n 1k -p 1e-4 wide.deja b
    succeeds deja merge -q -o c.deja a.deja b.deja
    cat a b | sort -n | uniq -c | awk '{ print $1 "\t" $2 }' >truth
    seq 1 900 | deja count -q c.deja >counts
    cmp counts truth || fail "counts of the union"
    fails_with 2 "spread: only one of them spreads its counters" deja merge -o d.deja a.deja line.deja
    fails_with 2 "counter bits: 8 and 16" deja merge -o d.deja a.deja wide.deja
    [ ! -e d.deja ] || fail "a refused union has a file"
    fails_with 2 "spectral filters cannot be folded" deja fold a.deja
    fails_with 2 "spectral filters cannot be compared" deja diff a.deja b.deja
    deja build -q --like a.deja e.deja b
    cmp <(tail -c +4097 e.deja) <(tail -c +4097 b.deja) || fail "--like"
}

a_rotation_keeps_the_layout() {
    seq 1 900 >list
    deja build -q -k spectral --spread --counter-bits 16 -n 1k -p 1e-3 f.deja list
    succeeds deja rotate -q f.deja
    [ "$(_info f.deja spread)" = True ] || fail "spread"
    [ "$(_info f.deja counter_bits)" = 16 ] || fail "counter bits"
    [ "$(_info f.deja keys)" = 0 ] || fail "keys"
    succeeds deja dedup -q --state f.deja list
    expect_same list .stdout
}

dedup_compares_it_with_the_file() {
    seq 1 100 >list
    deja dedup -q -k spectral --spread -n 1k --state s.deja list >out
    expect_same list out
    deja dedup -q -k spectral -n 1k --state line.deja list >out
    succeeds deja dedup -q --state s.deja list
    expect_stdout ''
    succeeds deja dedup -q -k spectral --spread --state s.deja list
    fails_with 2 "line.deja was made without --spread" \
        deja dedup -k spectral --spread --state line.deja list
}

only_spectral_takes_it() {
    echo a >list
    fails_with 2 "--spread goes with kind spectral, not blocked" deja build --spread -n 9 f.deja list
    fails_with 2 "--spread goes with kind spectral, not exact" \
        deja build -k exact --spread -n 9 f.deja list
    fails_with 2 "--cache-lines goes with kind blocked, not spectral" \
        deja build -k spectral --spread --cache-lines 2 -n 9 f.deja list
    [ ! -e f.deja ] || fail "a refused filter has a file"
}

cases "$@"
