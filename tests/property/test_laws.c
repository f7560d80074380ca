/* test_laws.c - the laws that every filter keeps.
 *
 * One table lists all combinations of kind, hash family, number of filters and k, and every kind
 * of the list with default options; every law walks it.  Filters are small and are filled beyond
 * their capacity, so that false positives, full lines and growth occur.  An exact set (model.h)
 * knows the truth:
 *
 *   no false negative    a key is found from the moment it was added
 *   correct "new"        is_new is 1 only for keys never added, and exactly if a lookup just
 *                        before would have said no
 *   batch = loop         the same answers and the same bytes in the body, for any batch sizes
 *   kernels agree        every instruction set, and the shared add, leave the same bytes
 *   lookups are free     lookups leave every byte and count unchanged
 *   union = both         merging two filters gives the bytes that all their keys would have left
 *   visits               each starts empty, and all of the above holds in it */
#include "unit.h"

#include "bodies.h"
#include "kinds/kind.h"
#include "model.h"
#include "rng.h"
#include "sharing.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- The table ---------------------------------------------------------- */

struct combination {
    char name[80];
    deja_options opt;
};

#define MOST_COMBINATIONS 300
static struct combination table[MOST_COMBINATIONS];
static size_t n_table, n_entered;

/* The laws do not depend on the sanitizer, so every third row is enough to find memory errors. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define EVERY 3
#else
#define EVERY 1
#endif

static void enter(deja_options opt)
{
    if (n_entered++ % EVERY != 0)
        return;
    struct combination *c = &table[n_table++];
    assert_true(n_table <= MOST_COMBINATIONS);
    opt.size = sizeof opt;
    opt.seed = n_entered;
    c->opt = opt;
    snprintf(c->name, sizeof c->name, "%s%s%s hash %s, k %u, F %u, growth %u",
             deja_kind_name(opt.kind), opt.part_kind ? " of " : "",
             opt.part_kind ? deja_kind_name(opt.part_kind) : "",
             opt.hash ? deja_hash_name(opt.hash) : "xxh3", opt.hashes, opt.filters, opt.growth);
}

#define CAPACITY 1000

static int fill_table(void **state)
{
    static const uint32_t part_kinds[] = {DEJA_BLOCKED, DEJA_CLASSIC, DEJA_EXACT};
    for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_MIXED; hash++)
        for (uint32_t filters = 1; filters <= 3; filters++) {
            enter((deja_options){.kind = DEJA_CLASSIC,
                                 .hash = hash,
                                 .filters = filters,
                                 .capacity = CAPACITY,
                                 .fp_rate = 0.02});
            enter((deja_options){.kind = DEJA_CLASSIC,
                                 .hash = hash,
                                 .filters = filters,
                                 .capacity = CAPACITY,
                                 .hashes = 1,
                                 .multiplier = 8});
        }
    for (uint32_t k = 1; k <= 16; k++)
        for (uint32_t filters = 1; filters <= 3; filters++)
            enter((deja_options){.kind = DEJA_BLOCKED,
                                 .hashes = k,
                                 .filters = filters,
                                 .capacity = CAPACITY,
                                 .memory = 1500 * filters,
                                 .hash = k % 2 ? DEJA_HASH_XXH3 : DEJA_HASH_SIPHASH});
    enter((deja_options){.kind = DEJA_CLASSIC, .hashes = 64, .capacity = CAPACITY});
    enter((deja_options){.kind = DEJA_CLASSIC,
                         .hash = DEJA_HASH_MURMUR2,
                         .hashes = 64,
                         .filters = 8,
                         .capacity = CAPACITY});
    enter((deja_options){.kind = DEJA_BLOCKED, .filters = 16, .capacity = CAPACITY});
    enter((deja_options){.kind = DEJA_BLOCKED, .memory = 64, .hashes = 4});
    enter((deja_options){.kind = DEJA_CLASSIC, .memory = 8, .fp_rate = 0.1});
    enter((deja_options){.kind = DEJA_EXACT, .capacity = 4 * CAPACITY});
    enter((deja_options){.kind = DEJA_EXACT, .capacity = 4 * CAPACITY, .flags = DEJA_DATES});
    enter((deja_options){.kind = DEJA_SCALABLE,
                         .part_kind = DEJA_EXACT,
                         .capacity = CAPACITY,
                         .flags = DEJA_DATES});
    enter((deja_options){.kind = DEJA_EXACT, .capacity = 4 * CAPACITY, .hash = DEJA_HASH_SIPHASH});
    for (uint32_t k = 1; k <= 16; k++)
        for (uint32_t bits = 4; bits <= 32; bits *= 2)
            enter((deja_options){.kind = DEJA_SPECTRAL,
                                 .hashes = k,
                                 .filters = k % 5 == 2 ? 2 : 1,
                                 .capacity = CAPACITY,
                                 .memory = 1500 * bits,
                                 .counter_bits = bits,
                                 .flags = k % 3 == 0 ? DEJA_MINIMAL_INCREASE : 0,
                                 .hash = k % 2 ? DEJA_HASH_XXH3 : DEJA_HASH_SIPHASH});
    enter((deja_options){.kind = DEJA_SPECTRAL, .memory = 64, .hashes = 4});
    for (uint32_t k = 1; k <= 64; k += k < 16 ? 3 : 16)
        for (uint32_t bits = 4; bits <= 32; bits *= 2)
            enter((deja_options){.kind = DEJA_SPECTRAL,
                                 .hashes = k,
                                 .filters = k % 5 == 2 ? 2 : 1,
                                 .capacity = CAPACITY,
                                 .memory = 1500 * bits,
                                 .counter_bits = bits,
                                 .flags = DEJA_SPREAD | (k % 2 ? 0 : DEJA_MINIMAL_INCREASE),
                                 .hash = k % 4 ? DEJA_HASH_XXH3 : DEJA_HASH_SIPHASH});
    enter((deja_options){.kind = DEJA_SPECTRAL,
                         .memory = 64,
                         .fp_rate = 0.2,
                         .counter_bits = 32,
                         .flags = DEJA_SPREAD});
    for (uint32_t k = 0; k <= 16; k += 4) /* nothing is removed here; property.removals_threads
                                           * does that */
        enter((deja_options){.kind = DEJA_PAIRED,
                             .hashes = k,
                             .capacity = CAPACITY,
                             .deletions = 100 * k,
                             .fp_rate = 0.02,
                             .hash = k % 8 ? DEJA_HASH_XXH3 : DEJA_HASH_SIPHASH});
    enter((deja_options){.kind = DEJA_PAIRED, .memory = 128, .hashes = 4});
    for (uint32_t generations = 1; generations <= 7; generations++) /* large enough to forget none
                                                                     * of them */
        enter((deja_options){.kind = DEJA_WINDOW,
                             .capacity = 8 * CAPACITY,
                             .fp_rate = 0.02,
                             .generations = generations,
                             .window_seconds = generations % 2 ? 0 : 1 << 20,
                             .hash = generations % 3 ? DEJA_HASH_XXH3 : DEJA_HASH_SIPHASH});
    for (uint32_t i = 0; i < 16; i++) /* words between odd bytes, so that keys have several
                                       * segments */
        enter((deja_options){.kind = DEJA_LAYERED,
                             .capacity = i < 8 ? CAPACITY : 100,
                             .fp_rate = i % 3 ? 0.02 : 1e-4,
                             .layers = i % 4 == 1 ? 3 : 0,
                             .flags = (i & 1 ? DEJA_LAYERED_PAPER : 0) |
                                      (i & 2 ? DEJA_LAYERED_WORDS : 0),
                             .delimiter = i & 2 ? 1 + i : 0,
                             .hash = i & 4 ? DEJA_HASH_SIPHASH : DEJA_HASH_XXH3});
    for (size_t i = 0; i < DJ_ARRAY_LEN(part_kinds); i++)
        for (uint32_t growth = 2; growth <= 4; growth++)
            for (uint64_t first = 20; first <= 400; first += 190)
                enter((deja_options){.kind = DEJA_SCALABLE,
                                     .part_kind = part_kinds[i],
                                     .capacity = first,
                                     .growth = growth,
                                     .fp_rate = 0.01,
                                     .hash = growth == 3 ? DEJA_HASH_SIPHASH : DEJA_HASH_XXH3});
    enter((deja_options){.kind = DEJA_SCALABLE,
                         .part_kind = DEJA_CLASSIC,
                         .capacity = 100,
                         .hashes = 1,
                         .fp_rate = 0.2});
    for (uint32_t kind = 0; (kind = deja_kind_next(kind)) != 0;) { /* default options */
        const uint64_t capacity = deja_kind_can(kind, DEJA_CAN_FILL) ? 4 * CAPACITY : 8 * CAPACITY;
        if (deja_kind_can(kind, DEJA_CAN_ADD))
            enter((deja_options){.kind = kind, .capacity = capacity, .fp_rate = 0.02});
        if (deja_kind_can(kind, DEJA_CAN_ADD | DEJA_CAN_REPEAT))
            enter(
                (deja_options){.kind = kind, .capacity = CAPACITY, .fp_rate = 0.02, .filters = 2});
    }
    return 0;
}

static deja_filter *new_filter(const struct combination *c)
{
    deja_filter *f;
    deja_error err = {0, ""};
    if (deja_filter_new(&c->opt, &f, &err) != DEJA_OK)
        fail_msg("%s: %s", c->name, err.text);
    return f;
}

/* --- Keys --------------------------------------------------------------- */

/* A universe of keys of all lengths, and an order of arrival with repeats; there are more keys
 * than most of the filters were made for. */
#define UNIVERSE 3000
#define ARRIVALS 6000

static uint8_t key_bytes[UNIVERSE][120];
static deja_slice universe[UNIVERSE];
static deja_slice arrival[ARRIVALS];

static void draw_keys(void)
{
    struct rng r = rng_seeded(2024);
    for (size_t i = 0; i < UNIVERSE; i++) {
        /* Keys 0 to 255 are single bytes, key 256 is empty; random ones are as long as URLs. */
        const size_t len = i < 256 ? 1 : i == 256 ? 0 : 8 + (size_t)rng_below(&r, 112);
        rng_bytes(&r, key_bytes[i], len);
        if (i < 256)
            key_bytes[i][0] = (uint8_t)i;
        universe[i] = (deja_slice){len ? key_bytes[i] : NULL, len};
    }
    for (size_t i = 0; i < ARRIVALS; i++)
        arrival[i] = universe[rng_below(&r, UNIVERSE)];
}

static int set_up(void **state)
{
    draw_keys();
    return fill_table(state);
}

/* --- Comparing ---------------------------------------------------------- */

static void assert_same(const deja_filter *a, const deja_filter *b, const char *name,
                        const char *how)
{
    if (a->n_parts != b->n_parts)
        fail_msg("%s: %s has %u parts, not %u", name, how, b->n_parts, a->n_parts);
    if (a->offered != b->offered)
        fail_msg("%s: %s counts %zu keys offered, not %zu", name, how, (size_t)b->offered,
                 (size_t)a->offered);
    for (uint32_t i = 0; i < a->n_parts; i++) {
        if (!bodies_equal(a->part[i], b->part[i]))
            fail_msg("%s: %s leaves another body in part %u", name, how, i);
        if (a->part[i]->keys != b->part[i]->keys)
            fail_msg("%s: %s counts %zu keys in part %u, not %zu", name, how,
                     (size_t)b->part[i]->keys, i, (size_t)a->part[i]->keys);
    }
}

static void assert_same_answers(const uint8_t *a, const uint8_t *b, size_t n, const char *name,
                                const char *how)
{
    for (size_t i = 0; i < n; i++)
        if (a[i] != b[i])
            fail_msg("%s: %s answers %u to key %zu, not %u", name, how, b[i], i, a[i]);
}

/* Adds all arrivals one by one. */
static void add_singly(deja_filter *f, uint8_t *is_new)
{
    for (size_t i = 0; i < ARRIVALS; i++) {
        bool answer = false;
        assert_int_equal(deja_filter_add(f, arrival[i], &answer, NULL), DEJA_OK);
        is_new[i] = answer;
    }
}

/* --- No false negative, correct "new" ----------------------------------- */

static void no_key_is_ever_forgotten_and_none_is_new_twice(void **state)
{
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *f = new_filter(&table[c]);
        struct model truth = {NULL, 0, 0};
        uint64_t told_new = 0;
        for (size_t i = 0; i < ARRIVALS; i++) {
            const bool known = model_has(&truth, arrival[i]);
            const bool before = deja_filter_contains(f, arrival[i]);
            bool is_new = before;
            if (known && !before)
                fail_msg("%s: key %zu was forgotten", table[c].name, i);
            assert_int_equal(deja_filter_add(f, arrival[i], &is_new, NULL), DEJA_OK);
            if (is_new == before)
                fail_msg("%s: key %zu is %s, and add says %s", table[c].name, i,
                         before ? "present" : "absent", is_new ? "new" : "seen");
            if (!deja_filter_contains(f, arrival[i]))
                fail_msg("%s: key %zu is absent after its add", table[c].name, i);
            told_new += is_new;
            model_add(&truth, arrival[i]);
        }
        for (size_t i = 0; i < UNIVERSE; i++)
            if (model_has(&truth, universe[i]) && !deja_filter_contains(f, universe[i]))
                fail_msg("%s: key %zu of the universe was forgotten", table[c].name, i);
        deja_stats s = DEJA_STATS_INIT;
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_int_equal(s.offered, ARRIVALS);
        assert_int_equal(s.keys, told_new);
        model_free(&truth);
        deja_filter_free(f);
    }
}

/* Exact has no false positives either: it equals the model. */
static void exact_agrees_with_the_model(void **state)
{
    for (size_t c = 0; c < n_table; c++) {
        const deja_options *opt = &table[c].opt;
        if (opt->kind != DEJA_EXACT && opt->part_kind != DEJA_EXACT)
            continue;
        deja_filter *f = new_filter(&table[c]);
        struct model truth = {NULL, 0, 0};
        for (size_t i = 0; i < ARRIVALS; i++) {
            bool is_new = false;
            assert_int_equal(deja_filter_add(f, arrival[i], &is_new, NULL), DEJA_OK);
            assert_int_equal(is_new, model_add(&truth, arrival[i]));
        }
        for (size_t i = 0; i < UNIVERSE; i++)
            assert_int_equal(deja_filter_contains(f, universe[i]), model_has(&truth, universe[i]));
        model_free(&truth);
        deja_filter_free(f);
    }
}

/* --- Batch = loop ------------------------------------------------------- */

static const size_t pieces[] = {0, 1, 2, 63, 64, 65, 1000};

static void a_batch_is_a_loop_of_single_calls(void **state)
{
    static uint8_t want[ARRIVALS], got[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *loop = new_filter(&table[c]);
        add_singly(loop, want);
        for (size_t p = 1; p <= DJ_ARRAY_LEN(pieces); p++) { /* the last one: all at once */
            deja_filter *f = new_filter(&table[c]);
            const size_t piece = p < DJ_ARRAY_LEN(pieces) ? pieces[p] : ARRIVALS;
            char how[40];
            snprintf(how, sizeof how, "a batch of %zu", piece);
            for (size_t at = 0, n; at < ARRIVALS; at += n) {
                size_t done = 7;
                n = ARRIVALS - at < piece ? ARRIVALS - at : piece;
                assert_int_equal(deja_filter_add_batch(f, arrival + at, 0, NULL, &done, NULL),
                                 DEJA_OK);
                assert_int_equal(done, 0);
                const int rc = deja_filter_add_batch(f, arrival + at, n, got + at, &done, NULL);
                if (rc != DEJA_OK || done != n)
                    fail_msg("%s: %s: %s, %zu of %zu done", table[c].name, how, deja_strerror(rc),
                             done, n);
            }
            assert_same_answers(want, got, ARRIVALS, table[c].name, how);
            assert_same(loop, f, table[c].name, how);
            deja_filter_free(f);
        }
        deja_filter_free(loop);
    }
}

static void a_batch_of_any_size_is_a_loop(void **state)
{
    static uint8_t want[ARRIVALS], got[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *loop = new_filter(&table[c]), *f = new_filter(&table[c]);
        struct rng r = rng_seeded(c);
        add_singly(loop, want);
        for (size_t at = 0, n; at < ARRIVALS; at += n) {
            n = pieces[rng_below(&r, DJ_ARRAY_LEN(pieces))];
            n = n < ARRIVALS - at ? n : ARRIVALS - at;
            assert_int_equal(deja_filter_add_batch(f, arrival + at, n, got + at, NULL, NULL),
                             DEJA_OK);
        }
        assert_same_answers(want, got, ARRIVALS, table[c].name, "a mix of batches");
        assert_same(loop, f, table[c].name, "a mix of batches");
        deja_filter_free(loop);
        deja_filter_free(f);
    }
}

static void a_batch_of_lookups_is_a_loop_of_single_ones(void **state)
{
    static uint8_t want[UNIVERSE], got[UNIVERSE];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *f = new_filter(&table[c]);
        assert_int_equal(deja_filter_add_batch(f, universe, UNIVERSE / 3, NULL, NULL, NULL),
                         DEJA_OK);
        for (size_t i = 0; i < UNIVERSE; i++)
            want[i] = deja_filter_contains(f, universe[i]);
        for (size_t p = 1; p <= DJ_ARRAY_LEN(pieces); p++) {
            const size_t piece = p < DJ_ARRAY_LEN(pieces) ? pieces[p] : UNIVERSE;
            memset(got, 7, sizeof got);
            for (size_t at = 0, n; at < UNIVERSE; at += n) {
                n = UNIVERSE - at < piece ? UNIVERSE - at : piece;
                deja_filter_contains_batch(f, universe + at, n, got + at);
            }
            assert_same_answers(want, got, UNIVERSE, table[c].name, "a batch of lookups");
        }
        deja_filter_free(f);
    }
}

static void hashed_calls_equal_calls_with_keys(void **state)
{
    static uint8_t want[ARRIVALS], got[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *a = new_filter(&table[c]), *b = new_filter(&table[c]);
        const size_t words = deja_filter_hash_words(a);
        uint64_t *hash = malloc(ARRIVALS * words * sizeof *hash);
        assert_non_null(hash);
        deja_filter_hash_batch(b, arrival, ARRIVALS, hash);
        assert_int_equal(deja_filter_add_batch(a, arrival, ARRIVALS, want, NULL, NULL), DEJA_OK);
        for (size_t at = 0; at < ARRIVALS; at += 1500)
            assert_int_equal(
                deja_filter_add_hashed(b, hash + at * words, 1500, got + at, NULL, NULL), DEJA_OK);
        assert_same_answers(want, got, ARRIVALS, table[c].name, "a batch of hashes");
        assert_same(a, b, table[c].name, "a batch of hashes");
        deja_filter_contains_hashed(b, hash, ARRIVALS, got);
        for (size_t i = 0; i < ARRIVALS; i++)
            assert_int_equal(got[i], 1);
        free(hash);
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* --- Union, visits ------------------------------------------------------ */

static void has_all_keys_of(const deja_filter *f, const deja_filter *of, const char *name)
{
    for (size_t i = 0; i < ARRIVALS; i++)
        if (deja_filter_contains(of, arrival[i]) && !deja_filter_contains(f, arrival[i]))
            fail_msg("%s: a union lost key %zu", name, i);
}

/* A union has the bytes that all arrivals leave; a filter that cannot be merged says so and stays
 * unchanged.  A series has each key in some part, possibly not the one where a single stream
 * would have put it, and a window has the keys that either remembers. */
static void a_union_is_the_filter_of_all_keys(void **state)
{
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *a = new_filter(&table[c]), *b = new_filter(&table[c]);
        deja_filter *all = new_filter(&table[c]), *first = new_filter(&table[c]);
        deja_error err = {0, ""};
        const size_t half = ARRIVALS / 2;
        assert_int_equal(deja_filter_add_batch(a, arrival, half, NULL, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(first, arrival, half, NULL, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(b, arrival + half, half, NULL, NULL, NULL),
                         DEJA_OK);
        assert_int_equal(deja_filter_add_batch(all, arrival, ARRIVALS, NULL, NULL, NULL), DEJA_OK);
        const int rc = deja_filter_merge(a, b, &err);
        const uint32_t kind = table[c].opt.kind;
        const bool grew_apart = deja_kind_can(kind, DEJA_CAN_LAYER) && rc == DEJA_EMISMATCH;
        if (rc != (deja_filter_can(a, DEJA_CAN_MERGE) ? DEJA_OK : DEJA_ENOTSUP) && !grew_apart)
            fail_msg("%s: %d %s", table[c].name, rc, err.text);
        if (rc != DEJA_OK)
            assert_same(first, a, table[c].name, "a refused union");
        else {
            has_all_keys_of(a, first, table[c].name);
            has_all_keys_of(a, b, table[c].name);
        }
        const bool same_bytes = rc == DEJA_OK && !deja_kind_can(kind, DEJA_CAN_GROW) &&
                                !deja_kind_can(kind, DEJA_CAN_EXPIRE) &&
                                !deja_kind_can(kind, DEJA_CAN_LAYER);
        for (uint32_t i = 0; same_bytes && i < all->n_parts; i++)
            if (!bodies_equal(all->part[i], a->part[i]))
                fail_msg("%s: a union leaves another body in part %u", table[c].name, i);
        assert_int_equal(a->offered, rc == DEJA_OK ? ARRIVALS : half);
        deja_filter_free(a);
        deja_filter_free(b);
        deja_filter_free(all);
        deja_filter_free(first);
    }
}

static void every_visit_starts_empty_and_forgets_none_of_its_keys(void **state)
{
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *f = new_filter(&table[c]);
        for (uint64_t visit = 1; visit <= 3; visit++) {
            deja_stats s = DEJA_STATS_INIT;
            deja_error err = {0, ""};
            uint64_t is_new = 0;
            static uint8_t answer[ARRIVALS];
            assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
            assert_int_equal(s.visit, visit);
            assert_int_equal(s.bits_set + s.keys + s.offered, 0);
            assert_int_equal(deja_filter_add_batch(f, arrival, ARRIVALS, answer, NULL, NULL),
                             DEJA_OK);
            for (size_t i = 0; i < ARRIVALS; i++) {
                is_new += answer[i];
                if (!deja_filter_contains(f, arrival[i]))
                    fail_msg("%s: visit %zu forgot key %zu", table[c].name, (size_t)visit, i);
            }
            assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
            assert_int_equal(s.keys, is_new);
            if (deja_filter_rotate(f, NULL, &err) < 0)
                fail_msg("%s: visit %zu: %s", table[c].name, (size_t)visit, err.text);
        }
        deja_filter_free(f);
    }
}

/* --- Kernels ------------------------------------------------------------ */

static void set_kernel(deja_filter *f, const struct dj_block_kernel *kernel)
{
    for (uint32_t i = 0; i < f->n_parts; i++)
        if (f->part[i]->kernel)
            f->part[i]->kernel = kernel;
}

/* Parts that are added during the run get the kernel before the next piece. */
static void add_with_kernel(deja_filter *f, const struct dj_block_kernel *kernel, uint8_t *is_new)
{
    for (size_t at = 0; at < ARRIVALS; at += 100) {
        set_kernel(f, kernel);
        assert_int_equal(deja_filter_add_batch(f, arrival + at, 100, is_new + at, NULL, NULL),
                         DEJA_OK);
    }
    set_kernel(f, kernel);
}

static void every_instruction_set_leaves_the_same_bytes(void **state)
{
    static uint8_t want[ARRIVALS], got[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *portable = new_filter(&table[c]);
        if (!portable->part[0]->kernel) { /* not made of blocks */
            deja_filter_free(portable);
            continue;
        }
        add_with_kernel(portable, &dj_block_portable, want);
        for (size_t level = 0; dj_block_at(level); level++) {
            const struct dj_block_kernel *kernel = dj_block_at(level);
            static uint8_t here[UNIVERSE], there[UNIVERSE];
            deja_filter *f = new_filter(&table[c]);
            add_with_kernel(f, kernel, got);
            assert_same_answers(want, got, ARRIVALS, table[c].name, kernel->name);
            assert_same(portable, f, table[c].name, kernel->name);
            deja_filter_contains_batch(portable, universe, UNIVERSE, here);
            deja_filter_contains_batch(f, universe, UNIVERSE, there);
            assert_same_answers(here, there, UNIVERSE, table[c].name, kernel->name);
            deja_filter_free(f);
        }
        deja_filter_free(portable);
    }
}

static void a_shared_filter_stores_the_bytes_of_a_sole_writer(void **state)
{
    static uint8_t want[ARRIVALS], got[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *sole = new_filter(&table[c]), *shared = new_filter(&table[c]);
        share(shared);
        assert_int_equal(deja_filter_add_batch(sole, arrival, ARRIVALS, want, NULL, NULL),
                         DEJA_OK);
        assert_int_equal(deja_filter_add_batch(shared, arrival, ARRIVALS, got, NULL, NULL),
                         DEJA_OK);
        assert_same_answers(want, got, ARRIVALS, table[c].name, "the shared add");
        assert_same(sole, shared, table[c].name, "the shared add");
        deja_filter_free(sole);
        deja_filter_free(shared);
    }
}

/* --- Lookups are free ---------------------------------------------------- */

static void looking_up_changes_nothing(void **state)
{
    static uint8_t found[ARRIVALS];
    for (size_t c = 0; c < n_table; c++) {
        deja_filter *a = new_filter(&table[c]), *b = new_filter(&table[c]);
        assert_int_equal(deja_filter_add_batch(a, arrival, 1000, NULL, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(b, arrival, 1000, NULL, NULL, NULL), DEJA_OK);
        deja_filter_contains_batch(b, arrival, ARRIVALS, found);
        for (size_t i = 0; i < UNIVERSE; i++)
            deja_filter_contains(b, universe[i]);
        deja_stats s = DEJA_STATS_INIT;
        assert_int_equal(deja_filter_stats(b, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_same(a, b, table[c].name, "a filter that was asked");
        deja_filter_free(a);
        deja_filter_free(b);
    }
}

/* --- Static sets --------------------------------------------------------- */

static deja_filter *built(const deja_options *opt, size_t piece)
{
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    assert_int_equal(deja_builder_new(opt, &b, NULL), DEJA_OK);
    for (size_t at = 0; at < ARRIVALS; at += piece)
        assert_int_equal(deja_builder_add_batch(
                             b, arrival + at, ARRIVALS - at < piece ? ARRIVALS - at : piece, NULL),
                         DEJA_OK);
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, NULL), DEJA_OK);
    deja_builder_free(b);
    return f;
}

/* The laws that remain if nothing can be added: no false negative, batch = loop, for building and
 * for queries, and lookups are free. */
static void a_static_filter_is_the_set_that_it_was_built_from(void **state)
{
    struct model truth = {NULL, 0, 0};
    static uint8_t got[UNIVERSE];
    for (size_t i = 0; i < ARRIVALS; i++)
        model_add(&truth, arrival[i]);
    for (uint32_t width = 8; width <= 32; width *= 2)
        for (uint32_t hash = DEJA_HASH_XXH3; hash <= DEJA_HASH_SIPHASH; hash++) {
            const deja_options opt = {.size = sizeof opt,
                                      .kind = DEJA_STATIC,
                                      .fingerprint_bits = width,
                                      .hash = hash,
                                      .seed = width + hash};
            deja_filter *loop = built(&opt, 1), *batch = built(&opt, ARRIVALS);
            assert_same(loop, batch, "static", "a batch");
            for (size_t piece = 1; piece <= UNIVERSE; piece = piece * 3 + 1)
                for (size_t at = 0, n; at < UNIVERSE; at += n) {
                    n = UNIVERSE - at < piece ? UNIVERSE - at : piece;
                    deja_filter_contains_batch(batch, universe + at, n, got + at);
                }
            for (size_t i = 0; i < UNIVERSE; i++) {
                assert_int_equal(deja_filter_contains(loop, universe[i]), got[i]);
                assert_true(got[i] || !model_has(&truth, universe[i]));
                assert_true(!got[i] || width < 32 || model_has(&truth, universe[i]));
            }
            assert_same(loop, batch, "static", "looking up");
            deja_filter_free(loop);
            deja_filter_free(batch);
        }
    model_free(&truth);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_key_is_ever_forgotten_and_none_is_new_twice),
        cmocka_unit_test(exact_agrees_with_the_model),
        cmocka_unit_test(a_batch_is_a_loop_of_single_calls),
        cmocka_unit_test(a_batch_of_any_size_is_a_loop),
        cmocka_unit_test(a_batch_of_lookups_is_a_loop_of_single_ones),
        cmocka_unit_test(hashed_calls_equal_calls_with_keys),
        cmocka_unit_test(a_union_is_the_filter_of_all_keys),
        cmocka_unit_test(every_visit_starts_empty_and_forgets_none_of_its_keys),
        cmocka_unit_test(every_instruction_set_leaves_the_same_bytes),
        cmocka_unit_test(a_shared_filter_stores_the_bytes_of_a_sole_writer),
        cmocka_unit_test(looking_up_changes_nothing),
        cmocka_unit_test(a_static_filter_is_the_set_that_it_was_built_from),
    };
    return cmocka_run_group_tests_name("property.laws", tests, set_up, NULL);
}
