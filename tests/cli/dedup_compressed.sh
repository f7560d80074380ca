# dedup of gzip and zstd input, which is known by its content.
. "$SUPPORT/cases.sh"

command -v zstd >/dev/null || skip "zstd is not here"
echo probe | gzip >probe.gz
echo probe | zstd -q >probe.zst
for probe in probe.gz probe.zst; do
    if deja dedup $probe 2>&1 | grep -q 'was built without'; then
        skip "this deja was built without zlib or libzstd"
    fi
done

_list() {
    some_urls 30000 9000 >list
    once <list >expected
}

gzip_and_zstd() {
    _list
    gzip -k list
    zstd -q list
    succeeds deja dedup --seed 7 list.gz
    expect_same expected .stdout
    succeeds deja dedup --seed 7 list.zst
    expect_same expected .stdout
}

names_do_not_matter() {
    _list
    gzip -c list >plain.txt
    zstd -qc list >list.gz
    cp list list.zst
    local name
    for name in plain.txt list.gz list.zst; do
        succeeds deja dedup --seed 7 $name
        expect_same expected .stdout
    done
}

standard_input_too() {
    _list
    gzip -c list | deja dedup -q --seed 7 >out
    expect_same expected out
    zstd -qc list | deja dedup -q --seed 7 - >out
    expect_same expected out
    zstd -qc list >list.zst
    deja dedup -q --seed 7 <list.zst >out
    expect_same expected out
}

concatenated_members() {
    seq 1 1000 >a
    seq 500 1500 >b
    for tool in 'gzip -c' 'zstd -qc'; do
        {
            $tool a
            : | $tool
            $tool b
            $tool a
        } >joined
        succeeds deja dedup --seed 7 joined
        seq 1 1500 | expect_stdout
    done
    # A line may go across two members.
    { printf 'one\ntw' | gzip && printf 'o\nthree\n' | gzip; } >joined
    succeeds deja dedup joined
    printf 'one\ntwo\nthree\n' | expect_stdout
    { printf 'one\ntw' | zstd -q && printf 'o\nthree\n' | zstd -q; } >joined
    succeeds deja dedup joined
    printf 'one\ntwo\nthree\n' | expect_stdout
}

tapes_pad_gzip_with_zeros() {
    { seq 1 100 | gzip && head -c 4096 /dev/zero; } >padded.gz
    succeeds deja dedup --seed 7 padded.gz
    seq 1 100 | expect_stdout
}

plain_and_compressed_mixed() {
    seq 1 1000 >plain
    seq 500 1500 | gzip >b.gz
    seq 1200 2000 | zstd -q >c.zst
    seq 1900 2100 | deja dedup -q --seed 7 plain b.gz c.zst - >out
    seq 1 2100 | cmp - out
}

csv_inside() {
    printf '%s\n' 'id,url' '1,"a,b"' '2,"a,b"' '3,c' | gzip >list.csv.gz
    succeeds deja dedup --csv url list.csv.gz
    printf '%s\n' 'id,url' '1,"a,b"' '3,c' | expect_stdout
}

nothing_compressed_is_nothing() {
    : | gzip >empty.gz
    : | zstd -q >empty.zst
    : >empty
    succeeds deja dedup empty.gz empty empty.zst
    expect_stdout ''
}

short_files_that_begin_like_compressed_ones() {
    printf '\037' >one
    printf '\037\213' >two
    printf '(\265/\n' >three
    succeeds deja dedup one two three
    printf '\037\n\037\213\n(\265/\n' | expect_stdout
    printf '\037\213' | deja dedup -q >out
    printf '\037\213\n' | cmp - out
}

# Cut at many places: what comes out are the first lines, whole, and exit 2 tells.
_cut_short() { # FILE
    local size at
    size=$(stat -c %s "$1")
    for at in 5 30 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 1)); do
        head -c "$at" "$1" >short
        fails_with 2 "short ends inside its compressed data" deja dedup --seed 7 short
        cmp -n "$(stat -c %s .stdout)" expected .stdout || fail "not the first lines (cut at $at)"
        [ ! -s .stdout ] || [ "$(tail -c 1 .stdout | od -An -c | tr -d ' ')" = '\n' ] ||
            fail "half a line came out (cut at $at)"
    done
    [ "$(wc -l <.stdout)" -gt 8000 ] || fail "the lines before the cut did not come out"
}

gzip_cut_short() {
    _list
    gzip -k list
    _cut_short list.gz
}

zstd_cut_short() {
    _list
    zstd -q list
    _cut_short list.zst
}

cut_short_with_state_records_what_came_out() {
    _list
    gzip -k list
    head -c 60000 list.gz >short
    fails_with 2 "short ends inside" deja dedup --state seen.deja short
    cp .stdout first
    [ -s first ] || fail "nothing came out before the cut"
    succeeds deja dedup --state seen.deja list.gz
    cat first .stdout | cmp - expected || fail "lines lost or repeated after an error"
}

damaged_data() {
    _list
    gzip -k list
    zstd -q list
    flip_bit list.gz 20000
    fails_with 2 "list.gz holds damaged gzip data" deja dedup list.gz
    flip_bit list.zst 20000
    fails_with 2 "list.zst holds damaged zstd data" deja dedup list.zst
    flip_bit list.zst 20000
    succeeds deja dedup --seed 7 list.zst
    expect_same expected .stdout
}

wrong_checksum_is_damage() {
    _list
    gzip -k list
    flip_bit list.gz $(($(stat -c %s list.gz) - 6))
    fails_with 2 "list.gz holds damaged gzip data" deja dedup list.gz
    zstd -q --check list
    flip_bit list.zst $(($(stat -c %s list.zst) - 2))
    fails_with 2 "list.zst holds damaged zstd data" deja dedup list.zst
}

bytes_behind_the_end_are_an_error() {
    { seq 1 100 | gzip && echo garbage; } >trailing.gz
    fails_with 2 "trailing.gz has bytes after its gzip data" deja dedup --seed 7 trailing.gz
    seq 1 100 | expect_stdout
    { seq 1 100 | zstd -q && echo garbage; } >trailing.zst
    fails_with 2 "trailing.zst has bytes after its zstd data" deja dedup --seed 7 trailing.zst
    seq 1 100 | expect_stdout
}

cases "$@"
