/* test_foreign_murmur.c - the MurmurHash family: the verification values of SMHasher, the test program of
 * their author, and known hashes. */
#include "tools/foreign/foreign_bytes.h"
#include "tools/foreign/foreign_murmur.h"
#include "unit.h"
#include <string.h>

typedef void hash_function(const void *data, size_t len, uint32_t seed, uint8_t *out);

static void of_3_128(const void *data, size_t len, uint32_t seed, uint8_t *out)
{
    uint64_t hash[2];
    murmur3_128(data, len, seed, hash);
    store_le(out, hash[0], 8);
    store_le(out + 8, hash[1], 8);
}

static void of_2(const void *data, size_t len, uint32_t seed, uint8_t *out)
{
    store_le(out, murmur2(data, len, seed), 4);
}

static void of_2_64a(const void *data, size_t len, uint32_t seed, uint8_t *out)
{
    store_le(out, murmur2_64a(data, len, seed), 8);
}

/* Hashes the keys {}, {0}, {0, 1} ... of up to 255 bytes, with the seeds 256, 255 ..., and then the
 * hashes. */
static uint32_t verification(hash_function *hash, size_t len)
{
    uint8_t key[256], hashes[256 * 16], last[16];
    for (size_t i = 0; i < 256; i++) {
        key[i] = (uint8_t)i;
        hash(key, i, (uint32_t)(256 - i), hashes + i * len);
    }
    hash(hashes, 256 * len, 0, last);
    return (uint32_t)load_le(last, 4);
}

static void verification_values_are_those_of_the_author(void **state)
{
    assert_int_equal(verification(of_3_128, 16), 0x6384BA69);
    assert_int_equal(verification(of_2, 4), 0x27864C1E);
    assert_int_equal(verification(of_2_64a, 8), 0x1F0D3804);
}

static void known_texts_have_known_hashes(void **state)
{
    static const struct {
        const char *text;
        uint64_t a, b;
    } rows[] = {
        {"", 0, 0},
        {"hello", UINT64_C(0xcbd8a7b341bd9b02), UINT64_C(0x5b1e906a48ae1d19)},
        {"The quick brown fox jumps over the lazy dog", UINT64_C(0xe34bbc7bbc071b6c),
         UINT64_C(0x7a433ca9c49a9347)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t hash[2];
        murmur3_128(rows[i].text, strlen(rows[i].text), 0, hash);
        assert_int_equal(hash[0], rows[i].a);
        assert_int_equal(hash[1], rows[i].b);
    }
}

static void pieces_hash_like_the_whole(void **state)
{
    uint8_t data[100];
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 37);
    for (size_t len = 0; len <= sizeof data; len++)
        for (size_t cut = 0; cut <= len; cut += 16) {
            struct murmur3 s = {7, 7, 0};
            uint64_t whole[2], pieces[2];
            const size_t more = (len - cut) / 16 * 16;
            murmur3_128(data, len, 7, whole);
            murmur3_blocks(&s, data, cut);
            murmur3_blocks(&s, data + cut, more);
            murmur3_end(&s, data + cut + more, len - cut - more, pieces);
            assert_memory_equal(whole, pieces, sizeof whole);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verification_values_are_those_of_the_author),
        cmocka_unit_test(known_texts_have_known_hashes),
        cmocka_unit_test(pieces_hash_like_the_whole),
    };
    return cmocka_run_group_tests_name("unit.foreign_murmur", tests, NULL, NULL);
}
