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
