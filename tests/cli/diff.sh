# diff: how many keys changed between two filters.
. "$SUPPORT/cases.sh"

_lists() { # a.txt and b.txt have 3000 lines in common
    deja gen -n 9000 >a.txt
    deja gen -n 7000 --first 6000 >b.txt
}
_build() { # OPTION...: a.deja and b.deja
    deja build --force -q "$@" a.deja a.txt
    deja build --force -q "$@" b.deja b.txt
}
# _is NAME LOW HIGH: the number in .stdout, which is JSON, is in that range.
_is() {
    jq -e "$1 >= $2 and $1 <= $3" .stdout >.jq || fail "$1 is $(jq "$1" .stdout), not $2 to $3"
}

exact_filters_are_counted() {
    _lists
    _build --seed 1 -k exact
    succeeds deja diff a.deja b.deja
    expect_stdout <<'END'
          9,000  in a.deja
          7,000  in b.deja
          3,000  in both
          6,000  only in a.deja
          4,000  only in b.deja
END
    expect_stderr_empty
    succeeds deja diff --json a.deja b.deja
    [ "$(jq -c '[.a.keys, .b.keys, .both.keys, .only_a.keys, .only_b.keys, .sigma]' .stdout)" = \
        '[9000,7000,3000,6000,4000,0]' ] || fail "wrong numbers"
    succeeds deja diff -q a.deja a.deja
    expect_stdout_has "              0  only in a.deja"
}

# The interval has 1.96 standard errors on each side; at 5 sigma a correct estimate fails for one
# seed in 1.7 million.
estimates_have_intervals() {
    _lists
    local kind seed
    for kind in blocked classic; do
        for seed in 1 2 3; do
            _build --seed $seed -k $kind -n 20k -p 0.01
            succeeds deja diff --json a.deja b.deja
            _is .sigma 1 60
            _is '(.both.high - .both.low) / .sigma' 3.9 3.95
            _is '(.both.keys - 3000) / .sigma' -5 5
            _is '(.only_a.keys - 6000) / .sigma' -5.5 5.5 # keys that were lost are not in A
            _is '(.only_b.keys - 4000) / .sigma' -5.5 5.5
            _is '(.a.keys - .both.keys - .only_a.keys)' -0.001 0.001
            succeeds deja diff a.deja b.deja
            expect_stderr_has "estimates from the bits that are set, with 95% intervals"
            expect_lines 5 .stdout
        done
    done
}

bounds_are_numbers_of_keys() {
    _lists
    _build --seed 1 -n 20k -p 0.01
    deja gen -n 5 --first 50000 | deja build -q --seed 1 -n 20k -p 0.01 few.deja
    succeeds deja diff -q --json a.deja few.deja
    _is .both.low 0 0
    _is .both.high 0 5
    _is .only_b.low 0 5
    _is .only_a.high 8900 9000
}

keys_are_read_from_a_file() {
    _lists
    head -c 32 /dev/urandom >f.key
    chmod 600 f.key
    _build --key f.key -k exact
    succeeds deja diff -q --key f.key a.deja b.deja
    expect_stdout_has "3,000  in both"
    fails_with 2 "does not contain its secret key" deja diff a.deja b.deja
}

filters_that_cannot_be_compared_are_refused() {
    _lists
    _build -k exact
    fails_with 2 "a.deja and b.deja: the filters differ in secret key: check values" deja diff a.deja b.deja
    deja build -q --seed 1 -k classic c.deja a.txt
    deja build -q --seed 1 -k exact d.deja a.txt
    fails_with 2 "differ in kind" deja diff c.deja d.deja
    deja build -q --seed 1 -k static s.deja a.txt
    fails_with 2 "s.deja" deja diff s.deja s.deja
    fails_with 2 "a.txt: not a deja filter file" deja diff c.deja a.txt
    fails_with 2 "missing operand" deja diff c.deja
    fails_with 2 "unexpected operand" deja diff c.deja c.deja c.deja
}

cases "$@"
