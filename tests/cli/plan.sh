# deja plan: prints a recommendation, a command that works, a table of choices, and the trade-off.
. "$SUPPORT/cases.sh"

_refuses() { # TEXT ARG...
    local text=$1
    shift
    fails_with 2 "$text" deja plan "$@"
    expect_stdout ''
}

_holds() { # EXPRESSION...: true of d, the JSON in .stdout
    python3 -c 'import json, sys
d = json.load(open(".stdout"))
for e in sys.argv[1:]:
    assert eval(e), e' "$@" || fail "the JSON is wrong"
}
_kind() { echo "[k for k in d['kinds'] if k['kind'] == '$1'][0]"; }

every_kind_has_a_row() {
    succeeds deja plan -n 1M
    expect_stderr_empty
    local kind
    for kind in classic blocked layered spectral paired scalable window static exact; do
        grep -qE "^  $kind .* lines?" .stdout || fail "no row for $kind"
    done
    expect_stdout_has "For 1,000,000 keys at rate 1.0e-6, the default"
    grep -qE '^  blocked +3\.9 MB +31\.11 +18 +1\.0e-6 +0\.08 +2 cache lines$' .stdout ||
        fail "another row for blocked"
    for exponent in 1 2 3 4 5 6 7 8 9; do
        grep -qE "^. 1e-$exponent   \[#" .stdout || fail "no bar for 1e-$exponent"
    done
    expect_stdout_has "> 1e-6 "
    head -n 2 .stdout >first
    cmp first - <<'END' || fail "the recommendation is not first: $(cat first)"
Use blocked: 2 cache lines per lookup, not 20, for 8% more memory than classic.
  deja dedup -n 1M --state seen.deja urls.txt > new.txt
END
    [ "$(awk '{ print length }' .stdout | sort -n | tail -n 1)" -le 90 ] || fail "wider than 90 columns"
}

the_rate_follows_from_memory() {
    succeeds deja plan -n 1e9 -m 2G
    expect_stdout_has "For 1,000,000,000 keys in 2.1 GB"
    grep -qE '^  blocked +2\.1 GB +17\.18 +12 +3\.2e-4 ' .stdout || fail "another rate"
    expect_stdout_has "not scalable: "
    expect_stdout_has "not exact: "
    expect_stdout_has "deja dedup -n 1G -m 2G --state"
    succeeds deja plan -n 1M -m 20M
    expect_stdout_has "Use exact: "
    expect_stdout_has "deja dedup -k exact -n 1M -m 20M --state"
}

the_capacity_follows_from_memory_and_rate() {
    succeeds deja plan -m 64M -p 1e-3
    expect_stdout_has "In 67.1 MB at rate 0.001"
    grep -qE '^  kind +keys \(n\) +memory ' .stdout || fail "no column for the keys"
    grep -qE '^  blocked +34,519,130 +67\.1 MB ' .stdout || fail "another number of keys"
    expect_stdout_has "> 1e-3 "
    succeeds deja plan -m 64M
    expect_stdout_has "at rate 1.0e-6, the default"
}

small_rates_favor_fingerprints() {
    succeeds deja plan -n 1M -p 1e-9
    expect_stdout_has "Use blocked: 3 cache lines per lookup, not 30, for 8% more memory than classic."
    succeeds deja plan -n 1M -p 6e-14
    expect_stdout_has "Use exact: "
    expect_stdout_has "deja dedup -k exact -n 1M -p 6e-14 --state"
    succeeds deja plan -n 3 -p 0.5
    expect_stdout_has "Use blocked: with this few keys the choice makes no difference."
}

one_kind_can_be_shown_in_detail() {
    succeeds deja plan -k blocked -n 1M
    [ "$(grep -cE '^  (classic|exact|scalable|spectral|paired) ' .stdout)" -eq 0 ] || fail "other kinds are there"
    head -n 1 .stdout | grep -qF "For 1,000,000 keys" || fail "a recommendation: $(head -n 1 .stdout)"
    expect_stdout_has "As it fills"
    grep -qE '^ +1,000,000 +100% +1\.0e-6 +0\.08$' .stdout || fail "no line for all keys"
    grep -qE '^ +2,000,000 +200% ' .stdout || fail "no line for twice the keys"
    expect_stdout_has "deja dedup -n 1M --state"
    succeeds deja plan -k exact -n 1M
    expect_stdout_has "It is full at 15/16 of its slots, 1,171,875 keys"
    succeeds deja plan -k scalable -n 1M
    expect_stdout_has "twice as large"
    succeeds deja plan -k classic -n 1M --multiplier 2 --hashes 3 --filters 2
    grep -qE '^  classic +1\.5 MB +12\.00 +2 x 3 +0\.00371 +639 +6 cache lines$' .stdout ||
        fail "another row"
    expect_stdout_has "deja dedup -k classic -n 1M --hashes 3 --filters 2 --multiplier 2 --state"
}

options_of_one_kind_select_that_kind() {
    succeeds deja plan -n 1M --hash sha1
    expect_stdout_has "Use classic: no other kind supports these options."
    expect_stdout_has "not blocked: --hash sha1 goes with kind classic"
    expect_stdout_has "deja dedup -k classic -n 1M --hash sha1 --state"
    succeeds deja plan -n 1M --hashes 3 --multiplier 2
    expect_stdout_has "For 1,000,000 keys, 2 bits for each of the k positions of a key"
    expect_stdout_has "not exact: "
}

# The next command can be typed unchanged.
the_next_command_runs() {
    deja gen -q -n 1000 --repeats 0.3 >urls.txt
    ln -s "$DEJA" deja
    local options
    while read -r options; do
        rm -f seen.deja new.txt
        # shellcheck disable=SC2086 # words
        succeeds deja plan $options
        line=$(sed -n 's/^  deja dedup/deja dedup/p' .stdout)
        PATH=$PWD:$PATH bash -e -c "$line" 2>.stderr || fail "$options: does not run: $line"
        expect_lines 700 new.txt
    done <<'END'
-n 20k
-n 1234 -p 1e-9
-n 20k -m 512k
-n 20k -m 77777
-m 1M -p 0.0000123
-m 64k
-k classic -n 5k
-k exact -n 5k
-k spectral -n 5k -p 1e-3
-k spectral --counter-bits 16 --minimal-increase -n 5k -p 1e-3
-k scalable -n 5k
-n 20k --hash siphash
-n 20k --hash sha1
-k classic -n 20k --hashes 10 --filters 2 --multiplier 2.5
END
}

json_has_all_fields() {
    local options
    while read -r options; do
        # shellcheck disable=SC2086 # words
        succeeds deja plan --json $options
        expect_stderr_empty
        _holds "all(k['possible'] or k['why_not'] for k in d['kinds'])" \
            "len(d['tradeoff']) == 9 and d['command'].startswith('deja dedup ')"
    done <<'END'
-n 1M
-n 1M -m 1M
-m 1M -p 1e-3
-n 1M -k exact
-n 1M -k spectral
-n 1M -k layered
-n 1M -k layered --layered paper --layers 3
-n 1M --counter-bits 8
-n 1M -k scalable
-n 5 -p 0.9
-n 1M --hashes 3 --multiplier 2
END
    succeeds deja plan --json -n 1M
    python3 -m json.tool <.stdout >/dev/null || fail "no JSON"
    _holds "[k['kind'] for k in d['kinds']] == ['classic', 'blocked', 'layered', 'spectral', 'paired', 'scalable', 'window', 'static', 'exact']" \
        "d['recommended'] == 'blocked' and ' 8%' in d['reason']" \
        "$(_kind blocked)['bytes'] * 8 == $(_kind blocked)['bits']" \
        "$(_kind classic)['hashes'] == 20 and $(_kind classic)['reads'] == '20 cache lines'" \
        "all(k['fp_rate'] <= 1e-6 and k['capacity'] == 10**6 for k in d['kinds'])" \
        "all(0 < k['lost_per_million'] < 1 for k in d['kinds'] if k['kind'] != 'static')" \
        "$(_kind static)['lost'] == 0" \
        "$(_kind blocked)['bits_per_key'] == d['tradeoff'][5]['bits_per_key']['blocked']"
    succeeds deja plan --json -n 1M -m 1M
    _holds "not $(_kind exact)['possible'] and 'exact' in $(_kind exact)['why_not']"
    succeeds deja plan --json -n 1M -k blocked
    _holds "d['recommended'] is None and len(d['kinds']) == 1" \
        "[f['keys'] for f in d['filling']][-1] == 2 * 10**6" \
        "all(a['fp_rate'] < b['fp_rate'] for a, b in zip(d['filling'], d['filling'][1:]))"
}

# The rule of the lecture notes: a filter is good if its bits per key are much fewer than those of
# the key, plus log n.
a_table_of_the_keys_is_compared() {
    succeeds deja plan -n 1M -p 0.01 --key-length 50
    expect_stderr_empty
    grep -qE '^  the keys, in a table +52\.5 MB +419\.93 +- +0 +0 +-$' .stdout || fail "another row for the keys"
    expect_stdout_has "their 400 bits and log2 n = 19.9 more: 42.4 times as much as"
    expect_stdout_has "a filter is worth its errors"
    succeeds deja plan -k exact -n 1M --key-length 8
    expect_stdout_has "1.05 times as much as"
    expect_stdout_has "but not ten times; consider a table"
    succeeds deja plan -k exact -n 1M --key-length 4
    expect_stdout_has "0.65 times as much as"
    expect_stdout_has "a table is smaller, and never errs"
    succeeds deja plan -m 64M --key-length 50
    grep -qE '^  the keys, in a table +1,277,397 +67\.1 MB ' .stdout || fail "another number of keys in the table"
    succeeds deja plan -m 100 -k classic --key-length 1k
    grep -qE '^  the keys, in a table +0 +0 B ' .stdout || fail "a key that does not fit"
    succeeds deja plan --json -n 1M -p 0.01 --key-length 50
    _holds "d['key_table'] == {'key_length': 50, 'capacity': 10**6, 'bytes': 52491447, 'bits_per_key': d['key_table']['bits_per_key']}" \
        "abs(d['key_table']['bits_per_key'] - 400 - 6 * 3.321928) < 1e-4" \
        "all(abs(k['key_table_ratio'] * k['bits_per_key'] - d['key_table']['bits_per_key']) < 1e-6 for k in d['kinds'])"
    succeeds deja plan --json -n 1M
    _holds "'key_table' not in d" "'key_table_ratio' not in d['kinds'][0]"
    _refuses "--key-length takes a number from 1 to 1048576, not 0" -n 5 --key-length 0
    _refuses "--key-length takes" -n 5 --key-length -1
    _refuses "--key-length compares filters with a table of the keys: omit --sieve" --sieve -n 5 --key-length 50
}

wrong_options_are_refused() {
    _refuses "give the number of keys, -n N, or a size, -m SIZE, to see how many fit"
    expect_stderr_has "try: deja plan --help"
    _refuses "give the number of keys" -p 1e-3
    _refuses "-n, -p and -m: give two; deja computes the third" -n 5 -p 0.1 -m 1M
    local p
    for p in 0 1 2 -1 nan x ''; do
        _refuses "-p/--fp-rate takes a rate between 0 and 1" -n 5 -p "$p"
    done
    _refuses "-n/--capacity takes a number from 1 to 9007199254740992, not 0" -n 0
    _refuses "-n/--capacity takes at most 18446744073709551615" -n 1e30
    _refuses "-n/--capacity takes a number from 1 to 9007199254740992, not 1000000000000000000" -n 1e18
    _refuses "lower -n or raise -p" -n 1e15 -p 1e-12
    _refuses "lower -n or raise -p" -k blocked -n 1e15 -p 1e-12
    _refuses "-m is 1: it must be at least" -k blocked -m 1
    _refuses "a scalable filter grows" -k scalable -m 1M
    _refuses "an exact filter of that size holds 104857 keys" -k exact -n 1M -m 1M
    _refuses "exact takes at most 1" -k exact -n 5 --hashes 2
    _refuses "--multiplier goes with -n and --hashes (m = n k M)" -n 5 --multiplier 2
    _refuses "-k/--kind takes classic, blocked, layered, spectral, paired, scalable, window, static or exact" -n 5 -k bloom
    _refuses "unexpected operand 'x'" -n 5 x
}

cases "$@"
