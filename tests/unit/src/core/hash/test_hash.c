/* test_hash.c - from key bytes to numbers: derivation, families, salts, names.
 *
 * Everything derived is part of the file format, so the derived words are pinned; the literals
 * come from a SipHash and a SplitMix64 in another language.  The hashes themselves are compared
 * with libxxhash's own header and with the functions of papers.h (which unit.papers compares with
 * published vectors). */
#include "unit.h"

#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/hash/hash.h"
#include "core/hash/papers.h"
#include "rng.h"
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const uint8_t key[DEJA_KEY_LEN] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                          11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                          22, 23, 24, 25, 26, 27, 28, 29, 30, 31};

static const uint32_t all_families[] = {
    DEJA_HASH_XXH3,    DEJA_HASH_SIPHASH, DEJA_HASH_JENKINS, DEJA_HASH_MURMUR2,
    DEJA_HASH_MURMUR3, DEJA_HASH_MD5,     DEJA_HASH_SHA1,    DEJA_HASH_MIXED,
};

static const size_t lengths[] = {0,  1,  2,   3,   4,   7,   8,   9,   15,  16,   17,    31,    32,
                                 33, 60, 128, 129, 240, 241, 255, 256, 257, 1000, 10000, 100000};
#define LONGEST 100000

static uint8_t bytes_of_keys[LONGEST];
static uint32_t rules; /* of this round; every test runs with both */

static int fill_keys(uint32_t by)
{
    struct rng r = rng_seeded(1);
    rng_bytes(&r, bytes_of_keys, LONGEST);
    rules = by;
    return 0;
}

static int rules_0(void **state)
{
    return fill_keys(DJ_RULES_0_1);
}

static int rules_1(void **state)
{
    return fill_keys(DJ_RULES_0_2);
}

static deja_slice slice_of(size_t len)
{
    return (deja_slice){len ? bytes_of_keys : NULL, len};
}

static deja_slice slice_of_text(const char *text)
{
    return (deja_slice){text, strlen(text)};
}

static void init(struct dj_hasher *h, uint32_t family, const uint8_t *secret, uint64_t visit,
                 uint32_t words, uint64_t *salts)
{
    const struct dj_hashing what = {
        .hash = family, .rules = rules, .visit = visit, .words = words};
    dj_hasher_init(h, &what, secret, salts);
}

static uint64_t hash_one(uint32_t family, const uint8_t *secret, uint64_t visit, deja_slice k)
{
    uint64_t salt, out;
    struct dj_hasher h;
    init(&h, family, secret, visit, 1, &salt);
    dj_hasher_hash(&h, &k, 1, &out);
    return out;
}

/* --- Derivation --------------------------------------------------------- */

static void derived_words_never_change(void **state)
{
    static const struct {
        enum dj_stream stream;
        uint64_t index, word;
    } pinned[] = {
        {DJ_STREAM_SECRET, 0, UINT64_C(0x025eda5322b5d08b)},
        {DJ_STREAM_SECRET, 1, UINT64_C(0xebc60ca7019825e8)},
        {DJ_STREAM_SECRET, 1 << 16, UINT64_C(0x86fceab99453bf4a)},
        {DJ_STREAM_SECRET, (7 << 16) + 3, UINT64_C(0x66c27ad7271ced7b)},
        {DJ_STREAM_SALT, 0, UINT64_C(0x1719578038a7d4c6)},
        {DJ_STREAM_SALT, 1 << 16, UINT64_C(0x58dc0fccd2940e26)},
        {DJ_STREAM_SALT, (7 << 16) + 3, UINT64_C(0x0a546fb70af6c194)},
        {DJ_STREAM_SIPHASH, 0, UINT64_C(0x197da4b0491753d2)},
        {DJ_STREAM_SIPHASH, 1, UINT64_C(0xb73620d8e70e4786)},
        {DJ_STREAM_PART, 1, UINT64_C(0xb20d3ebe0f8dde99)},
        {DJ_STREAM_PART, 1 << 16, UINT64_C(0x20a14c8bce7f63c5)},
        {DJ_STREAM_CHECK, 0, UINT64_C(0xf2ed57e4aaac9439)},
        {DJ_STREAM_SHORT, 1 << 16, UINT64_C(0x1acfd31ab0593661)},
        {DJ_STREAM_SHORT, (7 << 16) + 37, UINT64_C(0x49bd7eb21cafeb6a)},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(pinned); i++)
        assert_int_equal(dj_key_derive(key, pinned[i].stream, pinned[i].index), pinned[i].word);
}

static void the_key_of_a_seed_never_changes(void **state)
{
    static const uint64_t of_1[] = {UINT64_C(0x910a2dec89025cc1), UINT64_C(0xbeeb8da1658eec67),
                                    UINT64_C(0xf893a2eefb32555e), UINT64_C(0x71c18690ee42c90b)};
    static const uint64_t of_42[] = {UINT64_C(0xbdd732262feb6e95), UINT64_C(0x28efe333b266f103),
                                     UINT64_C(0x47526757130f9f52), UINT64_C(0x581ce1ff0e4ae394)};
    uint8_t made[DEJA_KEY_LEN];
    dj_key_from_seed(1, made);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dj_load64(made + 8 * i), of_1[i]);
    dj_key_from_seed(42, made);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(dj_load64(made + 8 * i), of_42[i]);
}

static int by_value(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Five streams of 20,000 words: 1e5 random 64-bit numbers have an equal pair once in 3.7e9. */
static void no_two_words_of_any_streams_are_equal(void **state)
{
    enum {
        STREAMS = 5,
        WORDS = 20000
    };
    static uint64_t word[STREAMS * WORDS];
    for (uint32_t s = 0; s < STREAMS; s++)
        for (uint64_t i = 0; i < WORDS; i++)
            word[s * WORDS + i] = dj_key_derive(key, (enum dj_stream)(s + 1), i);
    qsort(word, DJ_ARRAY_LEN(word), sizeof *word, by_value);
    for (size_t i = 1; i < DJ_ARRAY_LEN(word); i++)
        assert_int_not_equal(word[i], word[i - 1]);
}

static void every_bit_of_the_key_changes_every_hash(void **state)
{
    const deja_slice url = slice_of_text("http://www.example.org/index.html");
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++) {
        const uint64_t before = hash_one(all_families[f], key, 1, url);
        for (unsigned bit = 0; bit < 8 * DEJA_KEY_LEN; bit++) {
            uint8_t other[DEJA_KEY_LEN];
            memcpy(other, key, sizeof other);
            other[bit / 8] = (uint8_t)(other[bit / 8] ^ 1u << bit % 8);
            assert_int_not_equal(hash_one(all_families[f], other, 1, url), before);
        }
    }
}

static void every_visit_has_its_own_hashes(void **state)
{
    const deja_slice url = slice_of_text("http://www.example.org/index.html");
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++)
        for (uint64_t visit = 1; visit < 50; visit++)
            for (uint64_t before = 1; before < visit; before++)
                assert_int_not_equal(hash_one(all_families[f], key, visit, url),
                                     hash_one(all_families[f], key, before, url));
}

static void every_family_has_its_own_hashes(void **state)
{
    const deja_slice url = slice_of_text("http://www.example.org/index.html");
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++)
        for (size_t g = 0; g < f; g++) {
            /* The first function of MIXED is Jenkins'. */
            if (all_families[f] == DEJA_HASH_MIXED && all_families[g] == DEJA_HASH_JENKINS)
                continue;
            assert_int_not_equal(hash_one(all_families[f], key, 1, url),
                                 hash_one(all_families[g], key, 1, url));
        }
}

/* --- Families that hash a key once -------------------------------------- */

/* a * b mod 2^128, bit by bit; all numbers low half first. */
static void add_product(uint64_t sum[2], const uint64_t a[2], uint64_t b)
{
    uint64_t low = a[0], high = a[1];
    for (; b; b >>= 1) {
        if (b & 1) {
            sum[0] += low;
            sum[1] += high + (sum[0] < low);
        }
        high = high << 1 | low >> 63;
        low <<= 1;
    }
}

static uint64_t little_endian(const uint8_t *p, size_t n)
{
    uint64_t x = 0;
    for (size_t i = 0; i < n; i++)
        x |= (uint64_t)p[i] << 8 * i;
    return x;
}

/* As docs/format.md defines it. */
static uint64_t plain_short(const uint8_t *secret, uint64_t visit, const uint8_t *p, size_t len)
{
    uint64_t word[38], sum[2];
    for (uint64_t i = 0; i < DJ_ARRAY_LEN(word); i++)
        word[i] = dj_key_derive(secret, DJ_STREAM_SHORT, (visit << 16) + i);
    const size_t n = len >= 8 ? 8 : len >= 4 ? 4 : 0;
    const uint64_t a = little_endian(p, n);
    const uint64_t b = n     ? little_endian(p + len - n, n)
                       : len ? p[0] + 256 * (uint64_t)p[len / 2] + 65536 * (uint64_t)p[len - 1]
                             : 0;
    memcpy(sum, word + 4 + 2 * len, sizeof sum);
    add_product(sum, word, a);
    add_product(sum, word + 2, b);
    return dj_mix64(sum[1]);
}

static uint64_t plain_default(const uint8_t *secret, uint64_t visit, deja_slice k)
{
    uint8_t derived[192];
    if (rules != DJ_RULES_0_1 && k.len <= 16)
        return plain_short(secret, visit, k.data, k.len);
    for (uint64_t i = 0; i < 24; i++)
        dj_store64(derived + 8 * i, dj_key_derive(secret, DJ_STREAM_SECRET, (visit << 16) + i));
    return XXH3_64bits_withSecret(k.data, k.len, derived, sizeof derived);
}

static void long_keys_use_xxh3_and_short_keys_their_own_hash(void **state)
{
    for (uint64_t visit = 1; visit <= 3; visit++)
        for (size_t len = 0; len <= 300; len++)
            assert_int_equal(hash_one(DEJA_HASH_XXH3, key, visit, slice_of(len)),
                             plain_default(key, visit, slice_of(len)));
    for (size_t i = 0; i < DJ_ARRAY_LEN(lengths); i++)
        assert_int_equal(hash_one(DEJA_HASH_XXH3, key, 1, slice_of(lengths[i])),
                         plain_default(key, 1, slice_of(lengths[i])));
}

/* Segments of a layered filter's keys: with rules 1, no byte of them goes through XXH3. */
static void segments_are_hashed_with_the_whole_key(void **state)
{
    struct dj_hasher h;
    const struct dj_hashing what = {
        .hash = DEJA_HASH_XXH3, .rules = rules, .visit = 1, .words = 1, .pieces = true};
    dj_hasher_init(&h, &what, key, NULL);
    for (size_t len = 0; len <= 300; len++) {
        const deja_slice k = slice_of(len);
        uint64_t hash;
        dj_hasher_hash(&h, &k, 1, &hash);
        assert_int_equal(hash, rules == DJ_RULES_0_1 || len <= 16
                                   ? plain_default(key, 1, k)
                                   : hash_one(DEJA_HASH_SIPHASH, key, 1, k));
    }
}

/* Batches are sorted by length before hashing: all lengths of short keys, in ascending and in
 * random order, and many of one length. */
static void a_batch_hashes_like_single_keys(void **state)
{
    enum {
        MANY = 1500,
        LONG = 300
    };
    static deja_slice keys[MANY];
    static uint64_t hash[MANY], want[MANY];
    struct rng r = rng_seeded(2);
    struct dj_hasher h;
    init(&h, DEJA_HASH_XXH3, key, 1, 1, NULL);
    for (unsigned order = 0; order < 3; order++) {
        for (size_t i = 0; i < MANY; i++) {
            const size_t len = order == 0 ? i % LONG : order == 1 ? rng_below(&r, LONG) : 40;
            keys[i] = (deja_slice){bytes_of_keys + rng_below(&r, LONG), len};
            want[i] = plain_default(key, 1, keys[i]);
        }
        for (size_t n = 0; n <= MANY; n = n < 70 ? n + 1 : 2 * n + 1) {
            dj_hasher_hash(&h, keys, n, hash);
            for (size_t i = 0; i < n; i++)
                assert_int_equal(hash[i], want[i]);
        }
    }
}

static void siphash_uses_the_derived_key(void **state)
{
    for (uint64_t visit = 1; visit <= 3; visit++) {
        const uint64_t k[2] = {dj_key_derive(key, DJ_STREAM_SIPHASH, visit << 16),
                               dj_key_derive(key, DJ_STREAM_SIPHASH, (visit << 16) + 1)};
        for (size_t i = 0; i < DJ_ARRAY_LEN(lengths); i++)
            assert_int_equal(hash_one(DEJA_HASH_SIPHASH, key, visit, slice_of(lengths[i])),
                             dj_siphash(k, bytes_of_keys, lengths[i]));
    }
}

/* --- Families with salts ------------------------------------------------ */

/* 32 bits as the number that a position is computed from: with rules 1, through the finalizer of
 * MurmurHash3, written as its author does. */
static uint64_t place32(uint32_t h)
{
    if (rules != DJ_RULES_0_1) {
        h ^= h >> 16;
        h *= 0x85ebca6b;
        h ^= h >> 13;
        h *= 0xc2b2ae35;
        h ^= h >> 16;
    }
    return (uint64_t)h << 32;
}

typedef uint64_t salted_fn(uint64_t salt, const void *data, size_t len);

static uint64_t seeded_xxh3(uint64_t salt, const void *data, size_t len)
{
    return XXH3_64bits_withSeed(data, len, salt);
}

/* The function that computes word w, and how many of its bits count. */
static salted_fn *function_of(uint32_t family, uint32_t w, unsigned *width)
{
    static salted_fn *const mixed[] = {dj_jenkins, dj_murmur2, dj_sha1,
                                       dj_md5,     dj_murmur3, seeded_xxh3};
    *width = family == DEJA_HASH_MURMUR3 || family == DEJA_HASH_MD5 || family == DEJA_HASH_SHA1
                 ? 64
                 : 32;
    switch (family) {
    case DEJA_HASH_JENKINS:
        return dj_jenkins;
    case DEJA_HASH_MURMUR2:
        return dj_murmur2;
    case DEJA_HASH_MURMUR3:
        return dj_murmur3;
    case DEJA_HASH_MD5:
        return dj_md5;
    case DEJA_HASH_SHA1:
        return dj_sha1;
    default:
        return mixed[w % 6];
    }
}

static uint64_t plain_word(uint32_t family, uint64_t visit, uint32_t w, deja_slice k)
{
    unsigned width;
    salted_fn *const fn = function_of(family, w, &width);
    const uint64_t salt = dj_key_derive(key, DJ_STREAM_SALT, (visit << 16) + w);
    const uint64_t value = fn(salt, k.data, k.len);
    return width == 32 ? place32((uint32_t)value) : value;
}

static void each_word_of_the_papers_families_has_its_own_salt(void **state)
{
    enum {
        WORDS = 18
    };
    for (uint32_t family = DEJA_HASH_JENKINS; family <= DEJA_HASH_MIXED; family++)
        for (uint64_t visit = 1; visit <= 2; visit++) {
            uint64_t salts[WORDS], out[WORDS];
            struct dj_hasher h;
            init(&h, family, key, visit, WORDS, salts);
            for (size_t i = 0; i < DJ_ARRAY_LEN(lengths); i++) {
                const deja_slice k = slice_of(lengths[i]);
                dj_hasher_hash(&h, &k, 1, out);
                for (uint32_t w = 0; w < WORDS; w++)
                    assert_int_equal(out[w], plain_word(family, visit, w, k));
            }
        }
}

static void mixed_uses_the_functions_of_the_thesis_first(void **state)
{
    uint64_t salts[6], out[6];
    struct dj_hasher h;
    const deja_slice url = slice_of_text("http://www.example.org/");
    init(&h, DEJA_HASH_MIXED, key, 1, 6, salts);
    dj_hasher_hash(&h, &url, 1, out);
    assert_int_equal(out[0], place32((uint32_t)dj_jenkins(salts[0], url.data, url.len)));
    assert_int_equal(out[1], place32((uint32_t)dj_murmur2(salts[1], url.data, url.len)));
    assert_int_equal(out[2], place32((uint32_t)dj_sha1(salts[2], url.data, url.len)));
    assert_int_equal(out[3], place32((uint32_t)dj_md5(salts[3], url.data, url.len)));
    assert_int_equal(out[4], place32((uint32_t)dj_murmur3(salts[4], url.data, url.len)));
    assert_int_equal(out[5], place32((uint32_t)seeded_xxh3(salts[5], url.data, url.len)));
}

/* --- Batches ------------------------------------------------------------ */

static void hashing_many_keys_equals_hashing_each(void **state)
{
    enum {
        KEYS = 150,
        WORDS = 6
    };
    deja_slice keys[KEYS];
    static uint64_t salts[WORDS], all[KEYS * WORDS], one[WORDS];
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = (deja_slice){bytes_of_keys + i, i};
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++) {
        struct dj_hasher h;
        const uint32_t words = dj_hash_is_single(all_families[f]) ? 1 : WORDS;
        init(&h, all_families[f], key, 1, words, salts);
        dj_hasher_hash(&h, keys, KEYS, all);
        for (size_t i = 0; i < KEYS; i++) {
            dj_hasher_hash(&h, &keys[i], 1, one);
            assert_memory_equal(all + i * words, one, words * sizeof *one);
        }
    }
}

static void an_empty_key_may_be_null(void **state)
{
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++)
        assert_int_equal(hash_one(all_families[f], key, 1, (deja_slice){NULL, 0}),
                         hash_one(all_families[f], key, 1, (deja_slice){"x", 0}));
}

/* --- Properties and names ----------------------------------------------- */

static void families_report_their_width_and_number_of_words(void **state)
{
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++) {
        const uint32_t family = all_families[f];
        const bool narrow = family == DEJA_HASH_JENKINS || family == DEJA_HASH_MURMUR2 ||
                            family == DEJA_HASH_MIXED;
        assert_int_equal(dj_hash_width(family), narrow ? 32 : 64);
        assert_int_equal(dj_hash_is_single(family),
                         family == DEJA_HASH_XXH3 || family == DEJA_HASH_SIPHASH);
        assert_int_equal(dj_hash_max_k(family), family == DEJA_HASH_MIXED ? 6 : UINT32_MAX);
    }
}

static void narrow_families_fill_the_high_half(void **state)
{
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++)
        if (dj_hash_width(all_families[f]) == 32)
            for (size_t i = 0; i < DJ_ARRAY_LEN(lengths); i++)
                assert_int_equal(
                    hash_one(all_families[f], key, 1, slice_of(lengths[i])) & UINT32_MAX, 0);
}

static void names_of_hashes_parse_back(void **state)
{
    static const char *const names[] = {"xxh3",    "siphash", "jenkins", "murmur2",
                                        "murmur3", "md5",     "sha1",    "mixed"};
    for (size_t f = 0; f < DJ_ARRAY_LEN(all_families); f++) {
        assert_string_equal(deja_hash_name(all_families[f]), names[f]);
        assert_int_equal(deja_hash_parse(names[f]), all_families[f]);
    }
    assert_null(deja_hash_name(0));
    assert_null(deja_hash_name(DEJA_HASH_MIXED + 1));
    assert_null(deja_hash_name(UINT32_MAX));
    assert_int_equal(deja_hash_parse(""), 0);
    assert_int_equal(deja_hash_parse("XXH3"), 0);
    assert_int_equal(deja_hash_parse("xxh"), 0);
    assert_int_equal(deja_hash_parse("xxh3 "), 0);
}

static void the_checksum_of_files_is_xxh3_without_a_key(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(lengths); i++)
        assert_int_equal(dj_checksum(bytes_of_keys, lengths[i]),
                         XXH3_64bits(bytes_of_keys, lengths[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(derived_words_never_change),
        cmocka_unit_test(the_key_of_a_seed_never_changes),
        cmocka_unit_test(no_two_words_of_any_streams_are_equal),
        cmocka_unit_test(every_bit_of_the_key_changes_every_hash),
        cmocka_unit_test(every_visit_has_its_own_hashes),
        cmocka_unit_test(every_family_has_its_own_hashes),
        cmocka_unit_test(long_keys_use_xxh3_and_short_keys_their_own_hash),
        cmocka_unit_test(segments_are_hashed_with_the_whole_key),
        cmocka_unit_test(a_batch_hashes_like_single_keys),
        cmocka_unit_test(siphash_uses_the_derived_key),
        cmocka_unit_test(each_word_of_the_papers_families_has_its_own_salt),
        cmocka_unit_test(mixed_uses_the_functions_of_the_thesis_first),
        cmocka_unit_test(hashing_many_keys_equals_hashing_each),
        cmocka_unit_test(an_empty_key_may_be_null),
        cmocka_unit_test(families_report_their_width_and_number_of_words),
        cmocka_unit_test(narrow_families_fill_the_high_half),
        cmocka_unit_test(names_of_hashes_parse_back),
        cmocka_unit_test(the_checksum_of_files_is_xxh3_without_a_key),
    };
    const int old = cmocka_run_group_tests_name("unit.hash, rules 0", tests, rules_0, NULL);
    return old + cmocka_run_group_tests_name("unit.hash, rules 1", tests, rules_1, NULL);
}
