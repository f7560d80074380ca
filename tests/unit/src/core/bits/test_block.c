/* test_block.c - 512-bit blocks: every kernel does what block.h says.
 *
 * The reference below sets one bit at a time and uses nothing of block.c except two constants of
 * the format.  The portable kernel is compared with it, and all others with the portable one:
 * answers and bodies, bit for bit. */
#include "unit.h"

#include "core/bits/block.h"
#include "deja.h"
#include "rng.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LANES 16
#define KEYS  2000

#ifdef DJ_TEST_EMULATED_AVX512
extern const struct dj_block_kernel dj_block_avx512_emulated;
#endif

/* Every kernel of this CPU, then the emulated one. */
static const struct dj_block_kernel *variant(size_t i)
{
    static struct dj_block_kernel all[8];
    size_t n = 0;
    for (size_t j = 0; dj_block_at(j); j++)
        all[n++] = *dj_block_at(j);
#ifdef DJ_TEST_EMULATED_AVX512
    all[n++] = dj_block_avx512_emulated;
#endif
    return i < n ? &all[i] : NULL;
}

/* --- The reference ------------------------------------------------------ */

static const uint32_t odd_numbers[LANES] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31,
    0xc2b2ae35, 0x85ebca6b, 0x1b873593, 0xcc9e2d51, 0x165667b1, 0x27d4eb2f, 0xe6546b65, 0x9e3779b1,
};

static uint64_t plain_block_of(uint64_t hash, uint64_t n_blocks)
{
    return dj_halves_mul(hash, n_blocks).high; /* the kernels use the compiler's product, if any */
}

/* The numbers of the bits that hash sets in its block: 32 lane + bit. */
static unsigned plain_bits(uint64_t hash, const uint32_t *lane_sets, unsigned out[LANES])
{
    const uint64_t g = hash * UINT64_C(0x9e3779b97f4a7c15);
    const uint32_t lanes = lane_sets[(g >> 24) % 256];
    unsigned n = 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        if ((lanes >> lane) % 2) {
            const uint32_t product = (uint32_t)(g >> 32) * odd_numbers[lane];
            out[n++] = 32 * lane + product / (1u << 27);
        }
    return n;
}

static bool plain_add(uint8_t *body, uint64_t n_blocks, const uint32_t *lane_sets, uint64_t hash)
{
    uint8_t *block = body + 64 * plain_block_of(hash, n_blocks);
    unsigned bits[LANES];
    bool is_new = false;
    const unsigned n = plain_bits(hash, lane_sets, bits);
    for (unsigned i = 0; i < n; i++) { /* little-endian: bit b is in byte b / 8 */
        is_new |= !(block[bits[i] / 8] >> bits[i] % 8 & 1);
        block[bits[i] / 8] = (uint8_t)(block[bits[i] / 8] | 1u << bits[i] % 8);
    }
    return is_new;
}

/* --- Bodies and hashes -------------------------------------------------- */

static struct dj_blocks new_blocks(uint64_t n_blocks, uint32_t k)
{
    struct dj_blocks b = {NULL, n_blocks, dj_block_lane_sets(k), 1};
    b.body = aligned_alloc(DJ_BLOCK_BYTES, DJ_BLOCK_BYTES * n_blocks);
    assert_non_null(b.body);
    memset(b.body, 0, DJ_BLOCK_BYTES * n_blocks);
    return b;
}

/* Random hashes, extreme ones, and repeats. */
static void draw_hashes(uint64_t *hash, size_t n, uint64_t seed)
{
    static const uint64_t extreme[] = {
        0, UINT64_MAX, 1, UINT64_C(1) << 63, UINT32_MAX, UINT64_C(1) << 32,
    };
    struct rng r = rng_seeded(seed);
    for (size_t i = 0; i < n; i++)
        hash[i] = i < DJ_ARRAY_LEN(extreme) ? extreme[i]
                  : i % 5 == 4              ? hash[rng_below(&r, i)]
                                            : rng_next(&r);
}

static const uint64_t sizes[] = {1, 2, 3, 7, 64, 1000, 65537};

/* --- Lane sets ---------------------------------------------------------- */

static void each_lane_set_has_k_lanes(void **state)
{
    for (uint32_t k = 1; k <= LANES; k++) {
        const uint32_t *sets = dj_block_lane_sets(k);
        for (size_t i = 0; i < DJ_LANE_SETS; i++)
            assert_int_equal(__builtin_popcount(sets[i]), k);
    }
}

static void every_lane_is_used_equally_often(void **state)
{
    for (uint32_t k = 1; k <= LANES; k++) {
        const uint32_t *sets = dj_block_lane_sets(k);
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned used = 0;
            for (size_t i = 0; i < DJ_LANE_SETS; i++)
                used += (unsigned)(sets[i] >> lane) & 1u;
            assert_int_equal(used, DJ_LANE_SETS * k / LANES);
        }
    }
}

static size_t count_different(const uint32_t *sets)
{
    static bool seen[UINT16_MAX + 1];
    size_t n = 0;
    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i < DJ_LANE_SETS; i++) {
        n += !seen[sets[i]];
        seen[sets[i]] = true;
    }
    return n;
}

/* There are C(16, k) sets.  16 draws in 16 rotations find most of them if they are few, and rarely
 * draw the same one twice if they are many. */
static void lane_sets_vary_as_much_as_possible(void **state)
{
    double choose = 1;
    for (uint32_t k = 1; k <= LANES; k++) {
        choose = choose * (LANES + 1 - k) / k;
        const uint32_t *sets = dj_block_lane_sets(k);
        const size_t different = count_different(sets);
        if (k == 1 || k >= 15)
            assert_int_equal(different, choose);
        else if (choose < DJ_LANE_SETS)
            assert_in_range(different, choose / 2, choose);
        else
            assert_in_range(different, DJ_LANE_SETS * 3 / 4, DJ_LANE_SETS);
    }
}

/* The tables are part of the file format.  The number is FNV-1a over all of them, little-endian,
 * computed by a program in another language. */
static void lane_sets_never_change(void **state)
{
    uint64_t fnv = UINT64_C(0xcbf29ce484222325);
    for (uint32_t k = 1; k <= LANES; k++) {
        const uint32_t *sets = dj_block_lane_sets(k);
        for (size_t i = 0; i < 2 * DJ_LANE_SETS; i++)
            fnv = (fnv ^ (uint8_t)(sets[i / 2] >> 8 * (i % 2))) * UINT64_C(0x100000001b3);
    }
    assert_int_equal(fnv, UINT64_C(0x467fd4dc16238aa5));
}

/* --- Kernels ------------------------------------------------------------ */

static void the_portable_kernel_sets_the_bits_that_block_h_defines(void **state)
{
    static uint64_t hash[KEYS];
    for (uint32_t k = 1; k <= LANES; k++)
        for (size_t s = 0; s < DJ_ARRAY_LEN(sizes); s++) {
            struct dj_blocks b = new_blocks(sizes[s], k);
            uint8_t *plain = calloc(sizes[s], DJ_BLOCK_BYTES);
            assert_non_null(plain);
            draw_hashes(hash, KEYS, 100 * k + s);
            for (size_t i = 0; i < KEYS; i++) {
                uint8_t is_new, found;
                dj_block_portable.add(&b, &hash[i], &hash[i], 1, &is_new);
                dj_block_portable.contains(&b, &hash[i], &hash[i], 1, &found);
                assert_int_equal(is_new, plain_add(plain, sizes[s], b.lane_sets, hash[i]));
                assert_int_equal(found, 1);
            }
            assert_memory_equal(b.body, plain, DJ_BLOCK_BYTES * sizes[s]);
            free(plain);
            free(b.body);
        }
}

/* Does the same to both bodies: add keys, look up others, add more. */
static void compare(const struct dj_block_kernel *kernel, uint64_t n_blocks, uint32_t k)
{
    static uint64_t hash[2 * KEYS];
    static uint8_t want[2 * KEYS], got[2 * KEYS];
    struct dj_blocks a = new_blocks(n_blocks, k), b = new_blocks(n_blocks, k);
    draw_hashes(hash, 2 * KEYS, n_blocks + 1000 * k);
    for (size_t half = 0; half < 2; half++) {
        dj_block_portable.add(&a, hash + half * KEYS, hash + half * KEYS, KEYS, want);
        kernel->add(&b, hash + half * KEYS, hash + half * KEYS, KEYS, got);
        if (memcmp(want, got, KEYS) != 0)
            fail_msg("%s: another is_new for k %u, %zu blocks", kernel->name, k, (size_t)n_blocks);
        if (memcmp(a.body, b.body, DJ_BLOCK_BYTES * n_blocks) != 0)
            fail_msg("%s: another body for k %u, %zu blocks", kernel->name, k, (size_t)n_blocks);
        dj_block_portable.contains(&a, hash, hash, 2 * KEYS, want);
        kernel->contains(&b, hash, hash, 2 * KEYS, got);
        if (memcmp(want, got, 2 * KEYS) != 0)
            fail_msg("%s: another answer for k %u, %zu blocks", kernel->name, k, (size_t)n_blocks);
    }
    free(a.body);
    free(b.body);
}

static void every_kernel_agrees_with_the_portable_one_bit_for_bit(void **state)
{
    for (size_t i = 0; variant(i); i++) {
        print_message("           compared: %s\n", variant(i)->name);
        for (uint32_t k = 1; k <= LANES; k++)
            for (size_t s = 0; s < DJ_ARRAY_LEN(sizes); s++)
                compare(variant(i), sizes[s], k);
    }
}

/* The body is sparse: only pages with a key take up memory. */
static uint8_t *new_sparse(size_t len)
{
    uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) {
        print_message("           skipped: no room for a sparse half terabyte\n");
        skip();
    }
    return p;
}

static void every_kernel_finds_its_block_among_2_to_the_33(void **state)
{
    enum {
        FEW = 300
    };
    static uint64_t hash[FEW];
    struct dj_blocks b = {NULL, UINT64_C(1) << 33, dj_block_lane_sets(8), 1};
    const size_t len = (size_t)(b.n_blocks * DJ_BLOCK_BYTES);
    b.body = new_sparse(len);
    draw_hashes(hash, FEW, 33);
    for (size_t v = 0; variant(v); v++) {
        static uint8_t is_new[FEW], found[FEW];
        const struct dj_block_kernel *kernel = variant(v);
        kernel->add(&b, hash, hash, FEW, is_new);
        kernel->contains(&b, hash, hash, FEW, found);
        for (size_t i = 0; i < FEW; i++) {
            const uint64_t at = plain_block_of(hash[i], b.n_blocks);
            uint8_t want[DJ_BLOCK_BYTES] = {0};
            for (size_t j = 0; j < FEW; j++)
                if (plain_block_of(hash[j], b.n_blocks) == at)
                    plain_add(want, 1, b.lane_sets, hash[j]);
            assert_ptr_equal(dj_block_of(&b, hash[i]), b.body + DJ_BLOCK_BYTES * at);
            assert_memory_equal(b.body + DJ_BLOCK_BYTES * at, want, DJ_BLOCK_BYTES);
            assert_true(found[i]);
        }
        assert_int_equal(madvise(b.body, len, MADV_DONTNEED), 0); /* zeros for the next kernel */
    }
    munmap(b.body, len);
}

/* Writing to a read-only page would kill the test. */
static void repeated_keys_write_nothing(void **state)
{
    enum {
        BLOCKS = 64,
        FEW = 100
    };
    for (size_t v = 0; variant(v); v++) {
        static uint64_t hash[FEW];
        static uint8_t is_new[FEW];
        struct dj_blocks b = {NULL, BLOCKS, dj_block_lane_sets(8), 1};
        b.body = mmap(NULL, BLOCKS * DJ_BLOCK_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_ptr_not_equal(b.body, MAP_FAILED);
        draw_hashes(hash, FEW, 34);
        variant(v)->add(&b, hash, hash, FEW, is_new);
        assert_int_equal(mprotect(b.body, BLOCKS * DJ_BLOCK_BYTES, PROT_READ), 0);
        variant(v)->add(&b, hash, hash, FEW, is_new);
        for (size_t i = 0; i < FEW; i++)
            assert_false(is_new[i]);
        munmap(b.body, BLOCKS * DJ_BLOCK_BYTES);
    }
}

/* The known keys are in the first of two pages, the new ones in the second. */
static void known_keys_among_new_ones_write_nothing(void **state)
{
    enum {
        BLOCKS = 128,
        PAGE = BLOCKS / 2 * DJ_BLOCK_BYTES,
        FEW = 100
    };
    for (size_t v = 0; variant(v); v++) {
        static uint64_t hash[FEW];
        static uint8_t is_new[FEW];
        struct dj_blocks b = {NULL, BLOCKS, dj_block_lane_sets(8), 1};
        struct rng r = rng_seeded(35);
        b.body = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
        assert_ptr_not_equal(b.body, MAP_FAILED);
        for (size_t i = 0; i < FEW; i++)
            hash[i] = rng_next(&r) >> 1; /* the highest bit selects the page */
        variant(v)->add(&b, hash, hash, FEW, is_new);
        assert_int_equal(mprotect(b.body, PAGE, PROT_READ), 0);
        for (size_t i = 0; i < FEW; i += 2)
            hash[i] |= UINT64_C(1) << 63;
        variant(v)->add(&b, hash, hash, FEW, is_new);
        for (size_t i = 0; i < FEW; i++)
            assert_int_equal(is_new[i], i % 2 == 0);
        munmap(b.body, (size_t)2 * PAGE);
    }
}

static void an_empty_batch_changes_nothing(void **state)
{
    for (size_t v = 0; variant(v); v++) {
        static const uint8_t empty[DJ_BLOCK_BYTES];
        struct dj_blocks b = new_blocks(1, 8);
        uint8_t answer = 77;
        const uint64_t hash = 5;
        variant(v)->add(&b, &hash, &hash, 0, &answer);
        variant(v)->contains(&b, &hash, &hash, 0, &answer);
        assert_int_equal(answer, 77);
        assert_memory_equal(b.body, empty, sizeof empty);
        free(b.body);
    }
}

static void no_key_is_found_in_an_empty_body(void **state)
{
    for (uint32_t k = 1; k <= LANES; k++) {
        struct dj_blocks b = new_blocks(3, k);
        for (size_t v = 0; variant(v); v++)
            for (uint64_t hash = 0; hash < 100; hash++) {
                uint8_t found = 1;
                const uint64_t h = dj_mix64(hash);
                variant(v)->contains(&b, &h, &h, 1, &found);
                assert_int_equal(found, 0);
            }
        free(b.body);
    }
}

/* All k bits count: clearing any one of them removes the key. */
static void a_key_with_one_bit_missing_is_not_found(void **state)
{
    for (uint32_t k = 1; k <= LANES; k++)
        for (size_t v = 0; variant(v); v++) {
            struct dj_blocks b = new_blocks(1, k);
            const uint64_t hash = dj_mix64(k);
            unsigned bits[LANES];
            assert_int_equal(plain_bits(hash, b.lane_sets, bits), k);
            for (unsigned i = 0; i < k; i++) {
                uint8_t found = 1, is_new = 0;
                plain_add(b.body, 1, b.lane_sets, hash);
                b.body[bits[i] / 8] = (uint8_t)(b.body[bits[i] / 8] & ~(1u << bits[i] % 8));
                variant(v)->contains(&b, &hash, &hash, 1, &found);
                assert_int_equal(found, 0);
                variant(v)->add(&b, &hash, &hash, 1, &is_new);
                assert_int_equal(is_new, 1);
                variant(v)->add(&b, &hash, &hash, 1, &is_new);
                assert_int_equal(is_new, 0);
            }
            free(b.body);
        }
}

/* --- Lines: several filters interleaved ------------------------------------ */

/* One body of the reference for each line. */
struct plain_lines {
    uint8_t *line[DJ_BLOCK_LINES];
};

static struct dj_blocks new_lines(uint64_t n_blocks, uint32_t k, uint32_t lines,
                                  struct plain_lines *plain)
{
    struct dj_blocks b = new_blocks(n_blocks * lines, k);
    b.n_blocks = n_blocks;
    b.lines = lines;
    for (uint32_t l = 0; plain && l < lines; l++) {
        plain->line[l] = calloc(n_blocks, DJ_BLOCK_BYTES);
        assert_non_null(plain->line[l]);
    }
    return b;
}

static bool plain_has(const uint8_t *body, uint64_t n_blocks, const uint32_t *lane_sets,
                      uint64_t hash)
{
    uint8_t copy[DJ_BLOCK_BYTES];
    memcpy(copy, body + 64 * plain_block_of(hash, n_blocks), sizeof copy);
    return !plain_add(copy, 1, lane_sets, hash); /* with one block, every hash falls into it */
}

static void check_lines(const struct dj_block_kernel *kernel, dj_block_add_line *add_line,
                        uint64_t n_blocks, uint32_t k, uint32_t lines)
{
    enum {
        FEW = 300
    };
    static uint64_t hash[FEW];
    static uint8_t had[FEW], found[FEW];
    struct plain_lines plain;
    struct dj_blocks b = new_lines(n_blocks, k, lines, &plain);
    for (uint32_t l = 0; l < lines; l++) {
        uint8_t want[FEW] = {0};
        draw_hashes(hash, FEW,
                    1000 * k + 10 * lines + l / 2); /* pairs of lines get the same keys */
        for (size_t i = 0; i < FEW; i++) {
            for (uint32_t m = 0; m < lines; m++)
                want[i] |=
                    (uint8_t)(plain_has(plain.line[m], n_blocks, b.lane_sets, hash[i]) << m);
            plain_add(plain.line[l], n_blocks, b.lane_sets, hash[i]);
        }
        add_line(&b, l, hash, hash, FEW, had);
        assert_memory_equal(had, want, FEW);
        kernel->find_lines(&b, hash, hash, FEW, found);
        for (size_t i = 0; i < FEW; i++)
            assert_int_equal(found[i], had[i] | found[i] | 1u << l);
        dj_block_portable.find_lines(&b, hash, hash, FEW, want);
        assert_memory_equal(found, want, FEW);
    }
    for (uint32_t l = 0; l < lines; l++) {
        for (uint64_t at = 0; at < n_blocks; at++)
            assert_memory_equal(b.body + DJ_BLOCK_BYTES * (at * lines + l),
                                plain.line[l] + DJ_BLOCK_BYTES * at, DJ_BLOCK_BYTES);
        free(plain.line[l]);
    }
    free(b.body);
}

static void every_kernel_keeps_lines_separate(void **state)
{
    static const uint64_t few[] = {1, 2, 7, 100};
    for (size_t v = 0; variant(v); v++)
        for (uint32_t lines = 1; lines <= DJ_BLOCK_LINES; lines++)
            for (uint32_t k = 1; k <= LANES; k += 3)
                for (size_t s = 0; s < DJ_ARRAY_LEN(few); s++) {
                    check_lines(variant(v), variant(v)->add_line, few[s], k, lines);
                    check_lines(variant(v), dj_block_add_line_shared, few[s], k, lines);
                }
}

/* --- Several bodies -------------------------------------------------------- */

static void each_of_several_bodies_answers(void **state)
{
    enum {
        FEW = 500,
        BODIES = 5
    };
    static const uint64_t blocks[BODIES] = {1, 7, 12, 50, 3};
    static uint64_t hash[FEW];
    static uint32_t having[FEW];
    static uint8_t unused[FEW], one[FEW];
    for (size_t v = 0; variant(v); v++)
        for (uint32_t n = 1; n <= BODIES; n++) {
            struct dj_blocks b[BODIES];
            const struct dj_blocks *list[BODIES];
            uint32_t want[FEW] = {0};
            for (uint32_t j = 0; j < n; j++) { /* each with a different k */
                b[j] = new_blocks(blocks[j], 1 + 3 * j + n % 4);
                list[j] = &b[j];
                draw_hashes(hash, FEW, 100 + j);
                dj_block_portable.add(&b[j], hash, hash, 20 * (j + 1), unused);
            }
            draw_hashes(hash, FEW, 100); /* keys of the first body, and others */
            for (uint32_t j = 0; j < n; j++) {
                dj_block_portable.contains(&b[j], hash, hash, FEW, one);
                for (size_t i = 0; i < FEW; i++)
                    want[i] |= (uint32_t)one[i] << j;
            }
            variant(v)->find_bodies(list, n, hash, hash, FEW, having);
            assert_memory_equal(having, want, sizeof want);
            for (uint32_t j = 0; j < n; j++)
                free(b[j].body);
        }
}

static void kernels_are_listed_from_the_fastest_to_the_portable(void **state)
{
    size_t n = 0;
    while (dj_block_at(n))
        n++;
    assert_in_range(n, 1, 3);
    assert_ptr_equal(dj_block_best(), dj_block_at(0));
    assert_ptr_equal(dj_block_at(n - 1), &dj_block_portable);
    assert_null(dj_block_at(n + 1));
    assert_string_equal(deja_simd_name(), dj_block_best()->name);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(dj_block_at(i)->name, dj_block_at(j)->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_lane_set_has_k_lanes),
        cmocka_unit_test(every_lane_is_used_equally_often),
        cmocka_unit_test(lane_sets_vary_as_much_as_possible),
        cmocka_unit_test(lane_sets_never_change),
        cmocka_unit_test(the_portable_kernel_sets_the_bits_that_block_h_defines),
        cmocka_unit_test(every_kernel_agrees_with_the_portable_one_bit_for_bit),
        cmocka_unit_test(every_kernel_finds_its_block_among_2_to_the_33),
        cmocka_unit_test(repeated_keys_write_nothing),
        cmocka_unit_test(known_keys_among_new_ones_write_nothing),
        cmocka_unit_test(an_empty_batch_changes_nothing),
        cmocka_unit_test(no_key_is_found_in_an_empty_body),
        cmocka_unit_test(a_key_with_one_bit_missing_is_not_found),
        cmocka_unit_test(every_kernel_keeps_lines_separate),
        cmocka_unit_test(each_of_several_bodies_answers),
        cmocka_unit_test(kernels_are_listed_from_the_fastest_to_the_portable),
    };
    return cmocka_run_group_tests_name("unit.block", tests, NULL, NULL);
}
