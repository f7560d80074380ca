# Files move between this machine and another CPU, in both directions: every kind, sieves, DCSO
# filters, and the lab's journal.  $HOST_DEJA is a command for this machine, $DEJA one for the other.
. "$SUPPORT/cases.sh"
[ -x "${HOST_DEJA:-}" ] || skip "DEJA_HOST_COMMAND is not a command (build the preset dev)"

N=2000 # keys of one list

_here() { timeout -k 5 "${DEJA_TIMEOUT:-600}" "$HOST_DEJA" "$@"; }
_there() { timeout -k 5 "${DEJA_TIMEOUT:-600}" "$DEJA" "$@"; }
unset -f deja # always say which of the two

# Lists of URLs: first and second are added, strange is not.
_lists() {
    _here gen -n $((3 * N)) --seed 5 | head -n $((3 * N)) >all
    head -n $N all >first
    sed -n "$((N + 1)),$((2 * N))p" all >second
    tail -n $N all >strange
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
}

# _same_file A B: all bytes are the same, except those of the sync records, which hold the time.
_same_file() {
    cmp <(head -c 3072 "$1") <(head -c 3072 "$2") || fail "the headers of $1 and $2 differ"
    cmp -i 4096 "$1" "$2" || fail "the bodies of $1 and $2 differ"
}

# _same_answers FILE: both commands find the same lines of each list.
_same_answers() {
    local list
    for list in first second strange; do
        _here check -q --key key "$1" $list >found.here || [ $? -eq 1 ]
        _there check -q --key key "$1" $list >found.there || [ $? -eq 1 ]
        cmp found.here found.there || fail "other answers for $list in $1"
    done
}

_finds_all() { # COMMAND FILE LIST
    "$1" check -q --key key "$2" "$3" >found
    cmp "$3" found || fail "$1 does not find all lines of $3 in $2"
}

# _moves NAME BUILD-OPTION...: both commands build the same file; each extends the other's.
_moves() {
    local name=$1
    shift
    _here build -q --key key -n 4500 -p 1e-4 "$@" "$name.here" first
    _there build -q --key key -n 4500 -p 1e-4 "$@" "$name.there" first
    _same_file "$name.here" "$name.there"
    _there verify "$name.here" >/dev/null
    _here verify "$name.there" >/dev/null
    _finds_all _there "$name.here" first
    _finds_all _here "$name.there" first
    if [ "$name" != static ]; then
        _there add -q --key key "$name.here" second
        _here add -q --key key "$name.there" second
        _same_file "$name.here" "$name.there"
        if [ "$name" != window ]; then _finds_all _here "$name.here" first; fi
        if [ "$name" != window ]; then _finds_all _there "$name.there" first; fi
        _finds_all _here "$name.here" second
        _finds_all _there "$name.there" second
    fi
    _here verify "$name.here" >/dev/null
    _there verify "$name.there" >/dev/null
    _same_answers "$name.here"
}

every_kind_moves_and_is_extended() {
    _lists
    _moves classic -k classic --fixed
    _moves blocked -k blocked --fixed
    _moves one_line -k blocked --fixed --cache-lines 1
    _moves growing -k blocked -n 1000
    _moves scalable -k scalable -n 1000
    _moves spectral -k spectral --fixed
    _moves wide_counters -k spectral --fixed --counter-bits 16
    _moves spread -k spectral --fixed --spread
    _moves paired -k paired --fixed
    _moves window -k window
    _moves exact -k exact --fixed
    _moves dated -k exact --fixed --dates
    _moves static -k static
    _moves layered -k layered --fixed --url=crawl
    _moves paper -k layered --fixed --url=crawl --layered paper
    _moves filters -k blocked --fixed --filters 3
}

every_hash_moves_and_is_extended() {
    local hash
    _lists
    for hash in siphash mixed; do # mixed: all six functions
        _moves $hash -k classic --fixed --hash $hash --hashes 6
    done
}

sets_are_combined_and_folded_alike() {
    local on
    _lists
    _here build -q --key key -n 4500 -m 64KiB --fixed a first
    _there build -q --key key -n 4500 -m 64KiB --fixed b second
    for on in _here _there; do
        $on merge -q --key key -o merged.$on a b
        _finds_all $on merged.$on first
        _finds_all $on merged.$on second
        cp merged.$on folded.$on
        $on fold -q --key key folded.$on
        $on merge -q --key key --common a b >estimate.$on
        $on info --key key --json a >info.$on
    done
    _same_file merged._here merged._there
    _same_file folded._here folded._there
    cmp estimate._here estimate._there
    cmp info._here info._there
}

counts_and_removals_agree() {
    _lists
    _here build -q --key key -n 4500 --fixed -k spectral f first second first
    _there remove -q --key key f second >/dev/null
    _here count -q --key key f first >counts.here
    _there count -q --key key f first >counts.there
    cmp counts.here counts.there
    _same_answers f
}

# Both begin a sieve, continue the other's, and have printed each line once in the end.
_sieve() { # FIRST OTHER
    local s=sieve.$1
    $1 dedup -q -m 1M --key key --sieve "$s" first first >out
    $2 dedup -q -m 1M --key key --sieve "$s" second first >>out
    $1 verify --key key "$s" >/dev/null
    $2 verify --key key "$s" >/dev/null
    $1 dedup -q -m 1M --key key --sieve "$s" all >>out
    sort out >sorted.out
    sort all >sorted.all
    cmp sorted.all sorted.out || fail "$s: lines are missing or repeated"
    $2 check -q --key key "$s" strange >found
    cmp strange found
}

sieves_move_in_the_middle_of_a_run() {
    _lists
    _sieve _here _there
    _sieve _there _here
}

large_sieves_move_with_their_runs() {
    head -c 32 /dev/zero | tr '\0' k >key
    chmod 600 key
    _here gen -n 120000 --seed 9 >list
    _here dedup -q -m 1M --key key --sieve s list >/dev/null
    [ -n "$(ls s/run-*)" ] || fail "no runs: the memory is too large for this test"
    _there verify --key key s >/dev/null
    _there dedup -q -m 1M --key key --sieve s list >again
    [ ! -s again ] || fail "$(wc -l <again) lines are new again"
}

a_dedup_continues_with_the_others_state() {
    _lists
    _here dedup -q --state seen -n 20k first >out
    _there dedup -q --state seen second first >>out
    _here dedup -q --state seen all >>out
    cmp all out
}

dcso_filters_are_the_same_bytes() {
    _lists
    _here build -q --format dcso -n 4000 -p 1e-4 here.bloom first
    _there build -q --format dcso -n 4000 -p 1e-4 there.bloom first
    cmp here.bloom there.bloom
    _there check -q --format dcso --format lines here.bloom all >found.there
    _here check -q --format dcso --format lines here.bloom all >found.here
    cmp found.here found.there
}

canonical_urls_are_the_same() {
    local profile
    _lists
    sed -e 's|^http://|HTTP://|' -e 's|$|?b=2&a=%7e#x|' first >odd
    for profile in safe crawl gsb scrapy; do
        _here url -q --url=$profile all odd >urls.here
        _there url -q --url=$profile all odd >urls.there
        cmp urls.here urls.there
    done
}

cases "$@"
