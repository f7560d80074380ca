# dedup of gzip, zstd, xz and bzip2 input, recognized by its content; archives and other formats
# are rejected.
. "$SUPPORT/cases.sh"

_tools='gzip zstd xz bzip2'
for tool in $_tools; do
    command -v "$tool" >/dev/null || skip "$tool is not here"
    echo probe | $tool -qc >"probe.$tool"
    if deja dedup "probe.$tool" 2>&1 | grep -q 'was built without'; then
        skip "this deja was built without the library for $tool"
    fi
done

_list() {
    some_urls 30000 9000 >list
    once <list >expected
}

every_format_is_read() {
    _list
    local tool
    for tool in $_tools; do
        $tool -qc list >packed
        succeeds deja dedup --seed 7 packed
        expect_same expected .stdout
        deja dedup -q --seed 7 -j 1 packed | cmp - expected
    done
}

file_names_do_not_matter() {
    _list
    gzip -c list >plain.txt
    zstd -qc list >list.gz
    xz -c list >list.bz2
    bzip2 -c list >list.xz
    cp list list.zst
    local name
    for name in plain.txt list.gz list.bz2 list.xz list.zst; do
        succeeds deja dedup --seed 7 $name
        expect_same expected .stdout
    done
}

standard_input_can_be_compressed() {
    _list
    local tool
    for tool in $_tools; do
        $tool -qc list | deja dedup -q --seed 7 >out
        expect_same expected out
        $tool -qc list | deja dedup -q --seed 7 - >out
        expect_same expected out
        $tool -qc list >packed
        deja dedup -q --seed 7 <packed >out
        expect_same expected out
    done
}

concatenated_members_are_read() {
    seq 1 1000 >a
    seq 500 1500 >b
    local tool
    for tool in $_tools; do
        {
            $tool -qc a
            : | $tool -qc
            $tool -qc b
            $tool -qc a
        } >joined
        succeeds deja dedup --seed 7 joined
        seq 1 1500 | expect_stdout
        # A line may span two members.
        { printf 'one\ntw' | $tool -qc && printf 'o\nthree\n' | $tool -qc; } >joined
        succeeds deja dedup joined
        printf 'one\ntwo\nthree\n' | expect_stdout
    done
}

zeros_are_padding_of_gzip_and_xz() {
    { seq 1 100 | gzip && head -c 4096 /dev/zero; } >padded.gz
    succeeds deja dedup --seed 7 padded.gz
    seq 1 100 | expect_stdout
    { seq 1 100 | xz && head -c 4096 /dev/zero && seq 101 200 | xz; } >padded.xz
    succeeds deja dedup --seed 7 padded.xz
    seq 1 200 | expect_stdout
}

plain_and_compressed_files_can_be_mixed() {
    seq 1 1000 >plain
    seq 500 1500 | gzip >b.gz
    seq 1200 2000 | zstd -q >c.zst
    seq 1900 2100 | xz >d.xz
    seq 2050 2200 | bzip2 >e.bz2
    seq 2150 2300 | deja dedup -q --seed 7 plain b.gz c.zst d.xz e.bz2 - >out
    seq 1 2300 | cmp - out
}

compressed_csv_is_read() {
    printf '%s\n' 'id,url' '1,"a,b"' '2,"a,b"' '3,c' | gzip >list.csv.gz
    succeeds deja dedup --csv url list.csv.gz
    printf '%s\n' 'id,url' '1,"a,b"' '3,c' | expect_stdout
}

compressed_empty_input_is_empty() {
    local tool
    : >empty
    for tool in $_tools; do : | $tool -qc >"empty.$tool"; done
    succeeds deja dedup empty.*
    expect_stdout ''
}

short_files_that_only_start_like_compressed_ones_are_text() {
    printf '\037' >one
    printf '\037\213' >two
    printf '(\265/\n' >three
    printf 'BZh91AY&S\n' >four
    printf 'PK\n' >five
    succeeds deja dedup one two three four five
    printf '\037\n\037\213\n(\265/\nBZh91AY&S\nPK\n' | expect_stdout
    printf '\037\213' | deja dedup -q >out
    printf '\037\213\n' | cmp - out
}

# Truncated at many places: the first lines are printed complete, and the exit status is 2.
_truncated() { # FILE
    local size at
    size=$(stat -c %s "$1")
    for at in 16 30 $((size / 3)) $((size / 2)) $((size - 9)) $((size - 1)); do
        head -c "$at" "$1" >short
        fails_with 2 "short ends inside its compressed data" deja dedup --seed 7 short
        cmp -n "$(stat -c %s .stdout)" expected .stdout || fail "not the first lines (cut at $at)"
        [ ! -s .stdout ] || [ "$(tail -c 1 .stdout | od -An -c | tr -d ' ')" = '\n' ] ||
            fail "half a line came out (cut at $at)"
    done
    # A bzip2 block is decoded completely or not at all.
    [ "$(wc -l <.stdout)" -gt "${2-8000}" ] || fail "the lines before the cut did not come out"
}

truncated_gzip_gives_its_lines_and_an_error() {
    _list
    gzip -k list
    _truncated list.gz
}

truncated_zstd_gives_its_lines_and_an_error() {
    _list
    zstd -q list
    _truncated list.zst
}

truncated_xz_gives_its_lines_and_an_error() {
    _list
    xz -k list
    _truncated list.xz
}

truncated_bzip2_gives_its_lines_and_an_error() {
    _list
    bzip2 -1k list
    _truncated list.bz2 6000
}

with_truncated_input_the_state_has_the_printed_lines() {
    _list
    gzip -k list
    head -c 60000 list.gz >short
    fails_with 2 "short ends inside" deja dedup --state seen.deja short
    cp .stdout first
    [ -s first ] || fail "nothing came out before the cut"
    succeeds deja dedup --state seen.deja list.gz
    cat first .stdout | cmp - expected || fail "lines lost or repeated after an error"
}

damaged_data_is_an_error() {
    _list
    local tool at
    for tool in $_tools; do
        $tool -qc list >packed
        # In the middle; and near the end, in a checksum.
        for at in 20000 $(($(stat -c %s packed) - 6)); do
            flip_bit packed "$at"
            fails_with 2 "packed contains damaged $tool data" deja dedup packed
            flip_bit packed "$at"
        done
        succeeds deja dedup --seed 7 packed
        expect_same expected .stdout
    done
}

a_wrong_checksum_is_damage() {
    _list
    zstd -q --check list
    flip_bit list.zst $(($(stat -c %s list.zst) - 2))
    fails_with 2 "list.zst contains damaged zstd data" deja dedup list.zst
}

bytes_after_the_end_are_an_error() {
    local tool
    for tool in $_tools; do
        { seq 1 100 | $tool -qc && echo garbage; } >trailing
        fails_with 2 "trailing has bytes after its $tool data" deja dedup --seed 7 trailing
        seq 1 100 | expect_stdout
    done
}

xz_that_needs_too_much_memory_is_refused() {
    echo a | xz --lzma2=dict=1GiB >big.xz
    fails_with 2 "and deja allows 256; pipe it through xz -dc" deja dedup big.xz
    xz -dc big.xz | deja dedup -q >out
    echo a | cmp - out
}

# Read as lines, they would be garbage; the message names a tool, and its output can be read.
other_formats_are_refused() {
    seq 1 100 >list
    python3 -c 'import zipfile; zipfile.ZipFile("list.zip", "w").write("list")'
    deja build -q list.deja list
    fails_with 2 "list.zip is a zip archive, which deja cannot read as lines; unpack it first: unzip -p list.zip | deja ..." \
        deja dedup list.zip
    expect_stdout ''
    if command -v unzip >/dev/null; then unzip -p list.zip | deja dedup -q --seed 7 | cmp - list; fi
    deja dedup <list.zip 2>err && fail "read as lines"
    grep -q 'standard input is a zip archive' err || fail "unexpected: $(cat err)"
    fails_with 2 "list.deja is a filter file of deja" deja dedup list.deja
    fails_with 2 "list.deja is a filter file of deja" deja build new.deja list.deja
    [ ! -e new.deja ] || fail "a filter of garbage was made"
    fails_with 2 "list.deja is a filter file of deja" deja check list.deja list list.deja
    xz --format=lzma -k list
    fails_with 2 "unpack it first: xz -dc list.lzma | deja ..." deja dedup list.lzma
    cp list.zip "my list.zip" && cp list.zip ./-list.zip && cp list.zip "it's.zip"
    fails_with 2 "first: unzip -p 'my list.zip' | deja ..." deja dedup "my list.zip"
    fails_with 2 "first: unzip -p ./-list.zip | deja ..." deja dedup -- -list.zip
    fails_with 2 "first: unzip -p FILE | deja ..." deja dedup "it's.zip"
    fails_with 2 "first: unzip -p '\$HOME.zip' | deja ..." deja dedup "$(cp list.zip "\$HOME.zip" && echo "\$HOME.zip")"
    printf 'PAR1\25' >a.parquet && cp a.parquet 'a b.parquet'
    fails_with 2 "SELECT * FROM 'a.parquet'" deja dedup a.parquet
    fails_with 2 "SELECT * FROM 'FILE'" deja dedup 'a b.parquet'
    # Before any other file is read: nothing is printed, and no state is changed.
    fails_with 2 "list.zip is a zip archive" deja dedup --state s.deja list list.zip
    expect_stdout ''
    succeeds deja dedup --seed 7 list
    expect_same list .stdout
}

cases "$@"
