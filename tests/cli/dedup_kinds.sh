# Every kind, hash, size and number of threads gives the lines that an exact set would give, except
# for the requested rate of false positives.
. "$SUPPORT/cases.sh"

_list() {
    some_urls 60000 25000 >list
    once <list >expected
}

_gives_expected() { # ARG...
    succeeds deja dedup --seed 7 "$@" list
    expect_same expected .stdout
}

every_kind_sizes_itself() {
    _list
    local kind
    for kind in classic blocked exact scalable; do
        _gives_expected -k $kind
        deja dedup -q --seed 7 -k $kind <list | cat >out
        expect_same expected out
    done
}

every_kind_accepts_a_capacity() {
    _list
    local kind
    for kind in classic blocked exact scalable spectral; do
        _gives_expected -k $kind -n 25k
        _gives_expected --kind=$kind --capacity=1M
    done
}

every_hash_works_with_classic() {
    some_urls 8000 3000 >list
    once <list >expected
    local hash
    for hash in xxh3 siphash jenkins murmur2 murmur3 md5 sha1 mixed; do
        _gives_expected -k classic -n 3000 --hash $hash
        _gives_expected -k classic -n 3000 --hash $hash --filters 3
    done
}

keyed_hashes_work_with_every_kind() {
    _list
    local kind hash
    for kind in classic blocked exact scalable; do
        for hash in xxh3 siphash; do
            _gives_expected -k $kind --hash $hash
        done
    done
}

hashes_of_the_papers_need_classic() {
    echo a >list
    fails_with 2 "--hash md5 goes with kind classic" deja dedup -n 10 --hash md5 list
    fails_with 2 "--hash mixed goes with kind classic" deja dedup -n 10 -k exact --hash mixed list
}

# They cannot grow: the message suggests a size, not the kind that was already given.
hashes_of_the_papers_need_a_size() {
    echo a >list
    fails_with 2 "-n" deja dedup -k classic --hash md5 - < <(cat list)
}

several_filters_must_agree() {
    _list
    _gives_expected -k classic -n 25k --filters 3
    _gives_expected -k blocked -n 25k --filters 3
    _gives_expected --filters 2 -n 25k
    fails_with 2 "--filters goes with kinds classic, blocked and spectral, not exact" deja dedup -k exact -n 25k --filters 3 list
}

several_filters_need_a_size_from_a_pipe() {
    _list
    _gives_expected --filters 3
    fails_with 2 "give -n N" deja dedup --filters 3 < <(cat list)
}

the_number_of_hash_functions_can_be_chosen() {
    _list
    local k
    for k in 4 12 20; do
        _gives_expected -k classic -n 25k -p 1e-9 --hashes $k
    done
    succeeds deja dedup --seed 7 -k classic -n 25k -p 0.01 --hashes 1 list
    [ "$(wc -l <.stdout)" -gt $(($(wc -l <expected) * 98 / 100)) ] || fail "more lost than 1 %"
    _gives_expected -k blocked -n 25k --hashes 8
}

the_rule_of_the_thesis_gives_the_bits() {
    _list
    _gives_expected -k classic -n 25k --hashes 20 --multiplier 1.6
    succeeds deja dedup --seed 7 -k classic -n 25k --hashes 4 --multiplier 2 --json list
    bytes=$(json_get filter_bytes .stderr)
    { [ "$bytes" -ge 25000 ] && [ "$bytes" -lt 25064 ]; } || fail "m is not n k M bits"
    fails_with 2 "multiplier" deja dedup --multiplier 2 list
    fails_with 2 "multiplier" deja dedup --multiplier 2 -n 10 --hashes 4 -m 1M list
}

a_memory_size_can_be_given() {
    _list
    _gives_expected -m 1M
    _gives_expected -m 1M -n 25k
    _gives_expected -k classic -m 256KiB
    _gives_expected -k exact -m 2M
    succeeds deja dedup --seed 7 -m 1M --json list
    [ "$(json_get filter_bytes .stderr)" -eq 1048576 ] || fail "1M is not 1 MiB"
}

threads_change_nothing() {
    some_urls 200000 150000 >list
    local kind
    for kind in classic blocked exact scalable spectral; do
        deja dedup -q --seed 7 -p 0.01 -k $kind -n 100k -j 1 list >one
        for j in 2 5; do
            deja dedup -q --seed 7 -p 0.01 -k $kind -n 100k -j $j list >out
            expect_same one out
        done
    done
}

# With many false positives two keys of the filter never agree by chance.
a_seed_makes_runs_repeatable() {
    _list
    deja dedup -q -p 0.2 -n 25k --seed 1 list >one
    deja dedup -q -p 0.2 -n 25k --seed 1 list >again
    deja dedup -q -p 0.2 -n 25k --seed 2 list >other
    expect_same one again
    cmp -s one other && fail "another seed changed nothing"
    # Wherever the lines come from.
    deja dedup -q -p 0.2 -n 25k --seed 1 <list | cat >again
    expect_same one again
}

without_a_seed_every_run_has_a_new_key() {
    _list
    deja dedup -q -p 0.2 -n 25k list >one
    deja dedup -q -p 0.2 -n 25k list >other
    ! cmp -s one other || fail "two runs with the same key"
}

# The output is right up to the false positives, and their reported number is right: the lines lost
# are binomial around it, within 5 standard deviations.
lost_lines_agree_with_the_report() {
    some_urls 120000 60000 >list
    local kind p different kept lost
    different=$(once <list | wc -l)
    for kind in classic blocked scalable; do
        for p in 0.1 0.01 0.001; do
            succeeds deja dedup --seed 3 -k $kind -p $p -n "$different" --json list
            kept=$(json_get kept .stderr)
            lost=$(json_get lost .stderr)
            expect_lines "$kept" .stdout
            awk -v real=$((different - kept)) -v said="$lost" -v p=$p -v n="$different" 'BEGIN {
                d = real - said
                if (d * d > 25 * (said + 1) || real > p * n + 5 * sqrt(p * n)) exit 1
            }' || fail "$kind at $p: $((different - kept)) lost, $lost in the account"
        done
    done
    succeeds deja dedup --seed 3 -k exact -p 0.1 -n "$different" --json list
    expect_lines "$different" .stdout
}

# A hundred times larger than planned, from a pipe of unknown length.
a_filter_can_grow_far_beyond_its_first_size() {
    all_new_urls 150000 >list
    deja dedup --json -p 1e-3 -k scalable -n 1000 --seed 3 <list 2>report | cat >out
    [ "$(wc -l <out)" -gt 149700 ] || fail "more lost than the rate allows: $(wc -l <out)"
    awk -v now="$(json_get fp_now report)" 'BEGIN { exit !(now <= 1e-3) }' ||
        fail "the rate does not hold any more"
    cat list list | deja dedup -q -p 1e-9 -k scalable -n 1000 --seed 3 | cmp - list ||
        fail "lines lost or repeated while growing"
    cat list list | deja dedup -q -k exact | cmp - list || fail "exact lost lines"
}

# However the lines arrive: a part that is nearly full accepts no more than its room.
the_rate_holds_if_a_part_fills_up_within_a_batch() {
    all_new_urls 900 >first
    all_new_urls 5000 >list
    all_new_urls 300000 100000 >other
    deja build -q --seed 3 -k scalable -n 1000 -p 1e-3 f.deja first
    deja add -q f.deja list
    run deja check -q --count f.deja other
    [ "$(cat .stdout)" -le 390 ] || fail "$(cat .stdout) of 300000 other lines are known, not 1 in 1000"
}

a_fixed_filter_warns_beyond_its_capacity() {
    all_new_urls 30000 >list
    succeeds deja dedup --seed 3 -k blocked -n 10000 --fixed list
    expect_stderr_has "warning: the filter was sized for 10,000 keys and now holds "
    expect_stderr_has "use a larger -n next time"
    # Once, even with -q or a state, and for every option that fixes the size of the body.
    local options
    for options in --fixed "-m 20k" "--hashes 4" "--filters 2" "-k classic --hash murmur3" "-k spectral" \
        "-k layered" "-k window --window-time 1d" "--state s.deja --fixed" "--state s.deja"; do
        # shellcheck disable=SC2086
        succeeds deja dedup -q -n 10000 $options list
        [ "$(grep -c "warning: .* was sized for 10,000 keys and now holds " .stderr)" -eq 1 ] || fail "$options"
    done
}

# A given size is the initial size: nothing beyond it is lost, and there is no message.
a_filter_grows_beyond_its_size() {
    local kind options
    seq 1000 >list
    succeeds deja dedup -q -n 100 -c list
    expect_stdout 1000
    expect_stderr_empty
    for kind in blocked classic exact scalable; do
        for options in "" "--state $kind.deja"; do
            # shellcheck disable=SC2086
            succeeds deja dedup -q -k $kind -n 10 $options list
            expect_stdout <list
            expect_stderr_empty
        done
        succeeds deja dedup -q -k $kind --state $kind.deja list
        expect_stdout ''
    done
}

# The small share of the rate that is reserved for growth costs little memory, even much later.
growing_far_beyond_its_size_costs_little_memory() {
    all_new_urls 100000 >list
    succeeds deja dedup --json -n 100 -c list
    [ "$(json_get filter_bytes .stderr)" -lt 2500000 ] || fail "$(json_get filter_bytes .stderr) bytes for 100,000 keys"
    succeeds deja dedup --json -n 100000 -c list
    [ "$(json_get filter_bytes .stderr)" -lt 500000 ] || fail "$(json_get filter_bytes .stderr) bytes in one part"
}

a_full_exact_filter_is_an_error_with_a_remedy() {
    all_new_urls 30000 >list
    fails_with 2 "the filter is full: make a new filter with a larger" \
        deja dedup -k exact -n 1000 --fixed list
}

cases "$@"
