# Filter files that other programs wrote: deja finds the same keys and makes the same mistakes, and
# it writes the same bytes.
. "$SUPPORT/cases.sh"

golden=$SOURCE/tests/cli/foreign

_reads() { # FILE [OPTION...]
    local file=$1
    shift
    deja check -q "$@" "$golden/$file.bloom" "$golden/keys.txt" >got
    expect_same got "$golden/keys.txt"
    deja check -q "$@" "$golden/$file.bloom" "$golden/absent.txt" >got || true
    expect_same got "$golden/$file.found"
}

_writes() { # FILE FORMAT [OPTION...]
    deja build -q --force --format "$2" "${@:3}" ours "$golden/keys.txt"
    expect_same ours "$golden/$1.bloom"
}

guava_strings_and_bytes() {
    _reads guava
    _reads guava --format guava
    _writes guava guava -n 66 -p 0.05
    succeeds deja info "$golden/guava.bloom"
    expect_stdout_has "format      Guava Bloom filter, MURMUR128_MITZ_64"
    expect_stdout_has "hashing     MurmurHash3 128, k = 4, no secret"
}

guava_with_the_older_strategy() {
    _reads guava-32
    succeeds deja info "$golden/guava-32.bloom"
    expect_stdout_has "MURMUR128_MITZ_32"
}

guava_characters() {
    _reads guava-chars --format guava-chars
    _writes guava-chars guava-chars -n 66 -p 0.05
}

redisbloom_dumps() {
    local file
    for file in redisbloom redisbloom-fixed redisbloom-old64 redisbloom-old32; do
        _reads $file
        _reads $file --format redisbloom
    done
    _writes redisbloom redisbloom -n 20 -p 0.05
    succeeds deja info "$golden/redisbloom.bloom" "$golden/redisbloom-fixed.bloom"
    expect_stdout_has "format      RedisBloom dump, 64-bit hashes, grows"
    expect_stdout_has "memory      184 B in 3 parts"
    expect_stdout_has "capacity    140 keys, at a rate of 0.025"
    expect_stdout_has "keys        64 counted; about "
    expect_stdout_has "format      RedisBloom dump, 64-bit hashes, fixed size"
}

spark_versions_and_seeds() {
    _reads spark
    _reads spark-2
    _reads spark-2 --format spark
    _reads spark-seed
    _writes spark spark -n 66 -p 0.05
    _writes spark-2 spark-2 -n 66 -p 0.05
    succeeds deja info "$golden/spark-2.bloom"
    expect_stdout_has "format      Spark Bloom filter, version 2"
}

columns_of_parquet_files() {
    _reads parquet
    _reads parquet --format parquet
    _reads parquet-two --filter-column u
    cut -c 1-40 "$golden/keys.txt" >short # the other column has the first 40 characters
    grep -v '[^ -~]' short >ascii
    deja check -q --filter-column s.host "$golden/parquet-two.bloom" ascii >got
    expect_same got ascii
    fails_with 2 "give --filter-column with one of: u, s.host" deja check "$golden/parquet-two.bloom" short
    fails_with 2 "has no filter for column v, only for: id, u, s.host" \
        deja check --filter-column v "$golden/parquet-two.bloom" short
    fails_with 2 "its column id holds numbers, not strings" \
        deja info --filter-column id "$golden/parquet-two.bloom"
    succeeds deja info --filter-column u "$golden/parquet-two.bloom"
    expect_stdout_has "format      Parquet file"
    succeeds deja info "$golden/parquet.bloom"
    expect_stdout_has "memory      64 B in 2 parts"
    fails_with 2 "filter-column needs a .parquet file" \
        deja check --filter-column u "$golden/guava.bloom" short
    fails_with 2 "guava.bloom has no columns: omit --filter-column" \
        deja info --filter-column u "$golden/guava.bloom"
    gzip -c "$golden/parquet.bloom" >z.gz
    fails_with 2 "must be a regular file and not compressed" deja check --format parquet z.gz short
    fails_with 2 "can read a Parquet file but not write it" deja build --format parquet -n 9 p short
    cp "$golden/parquet.bloom" p
    fails_with 2 "remove it first" deja build --force --format sbbf -n 9 p short
    expect_same p "$golden/parquet.bloom"
}

# The block of a row group, cut out of a .parquet file, is a file of format sbbf.
parquet_filter_blocks() {
    local at
    head -n 33 "$golden/keys.txt" >first
    deja build -q --format sbbf -n 33 -p 0.05 ours first
    at=$(LC_ALL=C grep -obUaP '\x15[\x40-\x80]\x01?\x1c\x1c\x00\x00' "$golden/parquet.bloom" | head -n 1 | cut -d : -f 1)
    tail -c +$((at + 1)) "$golden/parquet.bloom" | head -c "$(wc -c <ours)" >theirs
    expect_same ours theirs
    deja check -q ours first >got
    expect_same got first
    succeeds deja info ours
    expect_stdout_has "format      Parquet filter block"
}

rbloom_with_both_functions() {
    local format
    for format in rbloom rbloom-sha256; do
        _reads $format --format $format
        rm -f ours # nothing in an old file shows that it is a filter
        deja build -q --format $format -n 66 -p 0.05 ours "$golden/keys.txt"
        expect_same ours "$golden/$format.bloom"
        fails_with 2 "ours exists and is not a filter file" \
            deja build --force --format $format -n 66 ours "$golden/keys.txt"
    done
    succeeds deja info --format rbloom "$golden/rbloom.bloom"
    expect_stdout_has "hashing     SHA-256 of pickled strings, k = 4"
    fails_with 2 "must be a regular file" deja check --format rbloom /dev/stdin "$golden/keys.txt" < <(cat ours)
}

# A filter does not contain its keys, so no command can convert it.
other_commands_say_what_the_file_is() {
    local command
    cp "$golden/guava.bloom" g
    : >none
    while read -r command; do
        # shellcheck disable=SC2086 # words
        fails_with 2 "g: a Guava Bloom filter, which only check and info read" deja $command
        expect_stderr_has "build a filter from them"
    done <<'END'
merge -o o.deja g g
fold -o o.deja g
diff g g
add g none
count g none
rotate g
dedup --state g none
build --like g o.deja none
END
    [ ! -e o.deja ] || fail "a file was made"
    expect_same g "$golden/guava.bloom"
}

a_filter_of_another_format_is_not_replaced() {
    cp "$golden/guava.bloom" g
    fails_with 2 "g: a Guava Bloom filter" deja build --format guava -n 10 g "$golden/keys.txt"
    fails_with 2 "remove it first" deja build --force --format dcso -n 10 g "$golden/keys.txt"
    fails_with 2 "remove it first" deja build --force g "$golden/keys.txt"
    expect_same g "$golden/guava.bloom"
    succeeds deja build -q --force --format guava -n 66 -p 0.05 g "$golden/keys.txt"
    expect_same g "$golden/guava.bloom"
}

cases "$@"
