# Real URLs: every kind gives the same lines as sort -u, except for the false positives it predicts.
. "$SUPPORT/cases.sh"

export DEJA_TIMEOUT=1200

data=${DEJA_REAL_DATA-}
[ -n "$data" ] || skip "DEJA_REAL_DATA does not name a folder with urls-real.txt.zst"
[ -r "$data/urls-real.txt.zst" ] || skip "$data has no urls-real.txt.zst"
command -v zstd >/dev/null || skip "zstd is not here"
# The distinct URLs in their original order, followed by a fifth of them again.
zstd -qdc "$data/urls-real.txt.zst" | tr -d '\r' >unique.txt
different=$(sort -u unique.txt | wc -l)
if [ "$different" -ne "$(wc -l <unique.txt)" ]; then
    once <unique.txt >once.txt
    mv once.txt unique.txt
fi
awk 'NR % 5 == 0' unique.txt | cat unique.txt - >real.txt
real=$PWD/real.txt
unique=$PWD/unique.txt

# _right FILE RATE: distinct URLs in their original order, no other line, none twice; and no more of them
# missing than the rate allows.
_right() {
    local missing
    awk -v out="$1" '
        !have { have = (getline line <out) > 0 }
        have && line == $0 { have = 0 }
        END { exit have || (getline line <out) > 0 }' "$unique" || fail "repeated or wrong lines"
    missing=$((different - $(wc -l <"$1")))
    awk -v missing="$missing" -v n="$different" -v p="$2" 'BEGIN {
        exit !(missing <= n * p + 5 * sqrt(n * p) + 1)
    }' || fail "$missing of $different lines lost at rate $2"
}

dedup_agrees_with_sort() {
    deja dedup -q -k exact "$real" | sort >sorted
    sort -u "$real" | cmp - sorted
}

every_kind_agrees_with_sort() {
    local kind rate
    for kind in classic blocked exact layered scalable; do
        for rate in 1e-6 1e-3; do
            deja dedup -q -k $kind -p $rate "$real" >out
            _right out $rate
        done
    done
    # A window as large as the stream forgets none of it.
    deja dedup -q -k window -n "$(wc -l <"$real")" --generations 2 -p 1e-3 "$real" >out
    _right out 1e-3
}

# One hash for each of the ten positions is slow: a part of the list.
every_hash_agrees_with_sort() {
    local hash
    head -n 1000000 "$unique" >part
    unique=part different=$(wc -l <part)
    cat part part >twice
    for hash in xxh3 siphash jenkins murmur2 murmur3 md5 sha1 mixed; do
        deja dedup -q -k classic --hash $hash -n "$different" -p 1e-3 twice >out
        _right out 1e-3
    done
}

several_filters_agree_with_sort() {
    deja dedup -q -n "$different" --filters 3 -p 1e-3 "$real" >out
    _right out 1e-3
}

compressed_input_and_growth_work() {
    deja dedup -q "$data/urls-real.txt.zst" | tr -d '\r' >out
    _right out 1e-6
    deja dedup -q -k scalable -n 1000 -p 1e-4 <"$real" >out
    _right out 1e-4
}

a_state_works_over_several_runs() {
    split -n l/5 "$real" part.
    local part
    for part in part.*; do deja dedup -q --state seen.deja "$part"; done >out
    rm part.*
    _right out 1e-6
    succeeds deja dedup -q --state seen.deja "$real"
    expect_stdout ''
    succeeds deja verify -q seen.deja
}

# _near WHAT COUNT EXPECTED: within five standard deviations.
_near() {
    awk -v n="$2" -v x="$3" 'BEGIN { exit !((n - x) ^ 2 <= 25 * x) }' || fail "$1: $2, expected $3"
}

# Both errors of the kind that forgets, on a million URLs of which half are removed.
paired_forgets_as_announced() {
    [ "$different" -ge 2000000 ] || return 0
    local p
    head -n 1000000 "$unique" >members
    sed -n '1000001,2000000p;2000000q' "$unique" >strangers
    head -n 500000 members >gone
    tail -n 500000 members >stay
    for p in 0.01 0.001; do
        deja build -q --seed 7 -k paired -n 1M --deletions 500k -p $p f.deja members
        deja remove -q f.deja gone
        run deja check -q -c -v f.deja stay
        _near "forgotten at $p" "$(cat .stdout)" "$(awk -v p=$p 'BEGIN { print 5e5 * p }')"
        run deja check -q -c f.deja strangers
        _near "found at $p" "$(cat .stdout)" "$(awk -v p=$p 'BEGIN { print 1e6 * p * (1 - p) }')"
        exits_with 1 deja check -q f.deja gone
    done
}

build_and_check_work() {
    succeeds deja build -q f.deja "$real"
    exits_with 1 deja check -q -v f.deja "$real"
    expect_stdout ''
    all_new_urls 1000000 >other
    run deja check -q --count f.deja other
    [ "$(cat .stdout)" -le 8 ] || fail "$(cat .stdout) of a million other lines are known"
}

cases "$@"
