/* test_layered.c - the multi-layer Bloom filter: answers in both modes, growth of layers, and
 * prefix queries without false negatives. */
#include "unit.h"

#define EVERY .kind = DEJA_LAYERED, .seed = 7,
#include "bodies.h"
#include "calls.h"
#include "core/bits/bitset.h"
#include "core/bits/popcount.h"
#include "failmem.h"
#include "kinds/kind.h"
#include "options.h"
#include "rng.h"
#include "scratch.h"
#include "sites.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

static deja_slice key_of(const char *text)
{
    return (deja_slice){text, strlen(text)};
}

static bool add(deja_filter *f, const char *key)
{
    bool is_new = false;
    assert_int_equal(deja_filter_add(f, key_of(key), &is_new, NULL), DEJA_OK);
    return is_new;
}

static bool has(const deja_filter *f, const char *key)
{
    return deja_filter_contains(f, key_of(key));
}

static bool has_under(const deja_filter *f, const char *prefix)
{
    const deja_slice one = key_of(prefix);
    uint8_t found = 7;
    assert_int_equal(deja_filter_prefix_batch(f, &one, 1, &found, NULL), DEJA_OK);
    return found;
}

/* --- Two modes ------------------------------------------------------------- */

#define SMALL .capacity = 1000, .fp_rate = 1e-9

static void add_three(deja_filter *f)
{
    assert_true(add(f, "h/a/b"));
    assert_true(add(f, "g/b/x"));
    assert_true(add(f, "g/x/a"));
}

static void in_mode_paper_swapped_segments_collide(void **state)
{
    (void)state;
    deja_filter *f = new_filter(OPTIONS(SMALL, .flags = DEJA_LAYERED_PAPER));
    add_three(f);
    assert_true(has(f, "h/b/a"));
    assert_false(add(f, "h/b/a"));
    deja_filter_free(f);
}

static void in_mode_salted_swapped_segments_do_not_collide(void **state)
{
    (void)state;
    deja_filter *f = new_filter(OPTIONS(SMALL));
    add_three(f);
    assert_false(has(f, "h/b/a"));
    assert_true(add(f, "h/b/a"));
    deja_filter_free(f);
}

static void equal_segments_cancel_out_only_in_mode_paper(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        deja_filter *f = new_filter(OPTIONS(SMALL, .flags = flags));
        add(f, "h");
        add(f, "g/b/x");
        add(f, "g/x/b");
        assert_int_equal(has(f, "h/b/b"), flags != 0);
        deja_filter_free(f);
    }
}

static void the_xor_layer_rejects_recombined_segments(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        deja_filter *f = new_filter(OPTIONS(SMALL, .flags = flags));
        add(f, "http://h/a");
        add(f, "http://g/b");
        assert_false(has(f, "http://h/b"));
        assert_false(has(f, "http://g/a"));
        assert_int_equal(stats_of(f).familiar, 0);
        assert_true(add(f, "http://h/b"));
        assert_int_equal(stats_of(f).familiar, 1);
        deja_filter_free(f);
    }
}

/* If m is a power of two, both formats have the positions of Algorithm 3; they cut differently. */
static void in_mode_paper_positions_are_those_of_algorithm_3(void **state)
{
    (void)state;
    static const char *const of_format[][3] = {{"http://h", "/a", "/b?c"}, {"h", "a", "b?c"}};
    enum {
        M = 8192
    };
    for (uint32_t turn = 0; turn < 6; turn++) {
        const uint32_t k = 1 + 4 * (turn / 2);
        const char *const *segments = of_format[turn % 2];
        deja_filter *f =
            new_filter(OPTIONS(.memory = 4 * M / 8, .capacity = 100, .hashes = k, .layers = 3,
                               .flags = DEJA_LAYERED_PAPER, .format = 1 + turn % 2));
        uint64_t together[9] = {0};
        assert_int_equal(f->plan.shape.bits, M);
        add(f, "http://h/a/b?c");
        assert_int_equal(f->n_parts, 4);
        for (uint32_t i = 0; i < 3; i++) {
            const deja_slice s = key_of(segments[i]);
            uint64_t h;
            dj_hasher_hash(&f->hasher, &s, 1, &h);
            for (uint32_t j = 0; j < k; j++) {
                const uint64_t at = dj_mulhi(dj_nth64(h, j), M);
                together[j] ^= at;
                assert_true(dj_bit_test(f->part[i + 1]->body, at));
            }
            assert_true(dj_popcount(f->part[i + 1]->body, M / 8) <= k);
        }
        for (uint32_t j = 0; j < k; j++)
            assert_true(dj_bit_test(f->part[0]->body, together[j]));
        assert_true(dj_popcount(f->part[0]->body, M / 8) <= k);
        deja_filter_free(f);
    }
}

/* Layers grow with their contents; the plan has room for the most that n keys can need. */
static void the_plan_is_the_size_for_distinct_segments(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        const deja_options opt =
            OPTIONS(.capacity = 500, .fp_rate = 0.001, .layers = 4, .flags = flags);
        deja_plan plan = DEJA_PLAN_INIT;
        deja_filter *f = new_filter(opt);
        assert_int_equal(deja_plan_make(&opt, &plan, NULL), DEJA_OK);
        assert_true(stats_of(f).bytes < plan.bytes);
        for (unsigned i = 0; i < 500; i++) {
            char url[64];
            snprintf(url, sizeof url, "http://h%u/a%u/b%u/c%u", i, i, i, i);
            add(f, url);
        }
        assert_int_equal(stats_of(f).bytes, plan.bytes);
        assert_int_equal(stats_of(f).bits, plan.bits);
        deja_filter_free(f);
    }
}

static void queries_distinguish_pages_and_the_empty_key_is_a_key(void **state)
{
    (void)state;
    deja_filter *f = new_filter(OPTIONS(SMALL));
    assert_false(has(f, ""));
    assert_true(add(f, "http://h/a?x"));
    assert_false(has(f, "http://h/a"));
    assert_false(has(f, "http://h/a?y"));
    assert_false(has(f, ""));
    assert_true(add(f, ""));
    assert_true(has(f, ""));
    deja_filter_free(f);
}

/* --- Layers ---------------------------------------------------------------- */

static void a_layer_is_created_by_the_first_url_that_deep(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        deja_filter *f = new_filter(OPTIONS(SMALL, .layers = 4, .flags = flags));
        assert_int_equal(stats_of(f).layers, 0);
        add(f, "http://h");
        assert_int_equal(stats_of(f).layers, 1);
        add(f, "http://h/a/b");
        assert_int_equal(stats_of(f).layers, 3);
        add(f, "http://h/a/b/c/d/e/f");
        assert_int_equal(stats_of(f).layers, 4);
        assert_int_equal(stats_of(f).layers_most, 4);
        assert_int_equal(f->n_parts, 5);
        assert_true(has(f, "http://h/a/b/c/d/e/f"));
        assert_false(has(f, "http://h/a/b/c/d/e"));
        deja_filter_free(f);
    }
}

static deja_layer layer_of(const deja_filter *f, uint32_t number)
{
    deja_layer l = DEJA_LAYER_INIT;
    assert_int_equal(deja_filter_layer(f, number, &l, NULL), DEJA_OK);
    return l;
}

/* One host and 20,000 pages: the first layer stays small, the second grows twice. */
static void a_layer_grows_with_its_contents(void **state)
{
    (void)state;
    enum {
        N = 20000
    };
    deja_filter *f = new_filter(OPTIONS(.capacity = N, .fp_rate = 1e-3));
    for (unsigned i = 0; i < N; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://host.example/page%u", i);
        add(f, url);
    }
    const deja_layer hosts = layer_of(f, 1), pages = layer_of(f, 2), all = layer_of(f, 0);
    assert_int_equal(hosts.segments, 1);
    assert_int_equal(hosts.parts, 1);
    assert_int_equal(hosts.capacity, N / 16);
    assert_int_equal(pages.parts, 3);
    assert_int_equal(pages.capacity, N / 16 + N / 4 + N);
    assert_true(pages.segments > N - N / 50 && pages.segments <= N);
    assert_true(pages.fp_now > 0 && pages.fp_now < 0.01);
    assert_int_equal(all.parts, 1);
    assert_int_equal(all.segments, stats_of(f).keys);
    assert_true(fabs(all.fp_now - stats_of(f).fp_now) < 1e-12);
    assert_int_equal(hosts.bytes + pages.bytes + all.bytes, stats_of(f).bytes);
    deja_layer none = DEJA_LAYER_INIT;
    assert_int_equal(deja_filter_layer(f, 3, &none, NULL), DEJA_EINVAL);
    assert_int_equal(deja_filter_layer(f, 1, NULL, NULL), DEJA_EINVAL);
    none.size = 0;
    assert_int_equal(deja_filter_layer(f, 1, &none, NULL), DEJA_EINVAL);
    deja_filter_free(f);
    f = new_filter((deja_options){.size = sizeof(deja_options), .capacity = 9});
    assert_int_equal(deja_filter_layer(f, 0, &none, NULL), DEJA_ENOTSUP);
    deja_filter_free(f);
}

/* Batches of any length leave the same bytes as single calls. */
static void same(const deja_filter *a, const deja_filter *b)
{
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++) {
        assert_int_equal(a->part[i]->layer, b->part[i]->layer);
        assert_int_equal(a->part[i]->keys, b->part[i]->keys);
        assert_true(bodies_equal(a->part[i], b->part[i]));
    }
    assert_int_equal(a->offered, b->offered);
    assert_int_equal(a->familiar, b->familiar);
    assert_int_equal(a->lost, b->lost);
}

#define MANY 6000

static deja_slice *make_urls(const struct sites *s, char text[MANY][SITES_URL])
{
    static deja_slice url[MANY];
    for (size_t i = 0; i < MANY; i++)
        url[i] = sites_url(s, i, text[i]);
    return url;
}

static const deja_options shapes[] = {
    {.capacity = 2000, .fp_rate = 0.05},
    {.capacity = 2000, .fp_rate = 0.05, .layers = 3},
    {.capacity = 2000, .fp_rate = 0.05, .flags = DEJA_LAYERED_PAPER, .layers = 5},
    {.capacity = 2000, .hashes = 1, .flags = DEJA_LAYERED_PAPER, .fp_rate = 0.3},
    {.capacity = 500, .fp_rate = 0.05, .flags = DEJA_LAYERED_WORDS, .delimiter = '/'},
    {.capacity = 500, .fp_rate = 0.3, .flags = DEJA_LAYERED_WORDS, .delimiter = '/', .layers = 2},
    {.capacity = 500,
     .fp_rate = 0.3,
     .flags = DEJA_LAYERED_WORDS | DEJA_LAYERED_PAPER,
     .delimiter = '/'},
    {.capacity = 2000, .fp_rate = 1e-6, .hash = DEJA_HASH_SIPHASH},
};

static void batches_leave_the_bytes_of_single_calls(void **state)
{
    (void)state;
    static char text[MANY][SITES_URL];
    static uint8_t one[MANY], many[MANY];
    const struct sites sites = {.seed = 3, .words = 400, .least = 1, .most = 9, .queries = true};
    const deja_slice *url = make_urls(&sites, text);
    static const size_t pieces[] = {2, 63, 64, 65, 700, MANY};
    for (size_t c = 0; c < DJ_ARRAY_LEN(shapes); c++) {
        deja_options opt = shapes[c];
        opt.size = sizeof opt;
        opt.kind = DEJA_LAYERED;
        opt.seed = c + 1;
        deja_filter *loop = new_filter(opt);
        for (size_t i = 0; i < MANY; i++) {
            bool is_new = true;
            const bool before = deja_filter_contains(loop, url[i]);
            assert_int_equal(deja_filter_add(loop, url[i], &is_new, NULL), DEJA_OK);
            assert_int_equal(is_new, !before);
            assert_true(deja_filter_contains(loop, url[i]));
            one[i] = is_new;
        }
        for (size_t p = 0; p < DJ_ARRAY_LEN(pieces); p++) {
            deja_filter *batch = new_filter(opt);
            for (size_t at = 0; at < MANY; at += pieces[p]) {
                const size_t n = MANY - at < pieces[p] ? MANY - at : pieces[p];
                size_t done = 0;
                assert_int_equal(deja_filter_add_batch(batch, url + at, n, many + at, &done, NULL),
                                 DEJA_OK);
                assert_int_equal(done, n);
            }
            assert_memory_equal(one, many, MANY);
            same(loop, batch);
            deja_filter_contains_batch(batch, url, MANY, many);
            for (size_t i = 0; i < MANY; i++)
                assert_true(many[i]);
            deja_filter_free(batch);
        }
        deja_filter_free(loop);
    }
}

/* Rows that no key has are stored and found, and never cause an access out of bounds. */
static void arbitrary_rows_are_stored_and_found(void **state)
{
    (void)state;
    struct rng r = rng_seeded(9);
    for (size_t c = 0; c < DJ_ARRAY_LEN(shapes); c++) {
        deja_options opt = shapes[c];
        opt.size = sizeof opt;
        opt.kind = DEJA_LAYERED;
        deja_filter *f = new_filter(opt);
        const size_t words = deja_filter_hash_words(f);
        uint64_t rows[70 * DJ_MAX_ROW];
        uint8_t found[70];
        for (int round = 0; round < 50; round++) {
            rng_fill(&r, rows, 70 * words);
            for (size_t i = 0; i < 70; i += 3) /* some that a key could have */
                rows[i * words] = rng_below(&r, 20) | rng_below(&r, 20) << 32;
            assert_int_equal(deja_filter_add_hashed(f, rows, 70, NULL, NULL, NULL), DEJA_OK);
            deja_filter_contains_hashed(f, rows, 70, found);
            for (size_t i = 0; i < 70; i++)
                assert_true(found[i]);
        }
        deja_filter_free(f);
    }
}

/* No memory for a layer: the key leaves no trace and can be added later. */
static void a_layer_that_cannot_grow_leaves_everything_as_it_was(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        struct failmem memory;
        failmem_init(&memory, 0);
        deja_options opt = OPTIONS(.capacity = 1000, .fp_rate = 0.01, .flags = flags);
        opt.alloc = &memory.hook;
        deja_filter *f = new_filter(opt);
        add(f, "http://h/a");
        const deja_stats before = stats_of(f);
        size_t done = 7;
        const deja_slice keys[] = {key_of("http://h/a"), key_of("http://g/b/c"),
                                   key_of("http://g")};
        uint8_t is_new[3];
        memory.fail_at = memory.asked + 1;
        assert_int_equal(deja_filter_add_batch(f, keys, 3, is_new, &done, NULL), DEJA_ENOMEM);
        assert_int_equal(done, 1);
        assert_false(has(f, "http://g/b/c"));
        if (!flags)
            assert_false(has_under(f, "http://g"));
        const deja_stats after = stats_of(f);
        assert_int_equal(after.keys, before.keys);
        assert_int_equal(after.bits_set, before.bits_set);
        assert_int_equal(after.bytes, before.bytes);
        assert_int_equal(deja_filter_add_batch(f, keys, 3, is_new, &done, NULL), DEJA_OK);
        assert_int_equal(is_new[0] + is_new[1] + is_new[2], 2);
        deja_filter_free(f);
        assert_int_equal(memory.live, 0);
        assert_int_equal(memory.mistakes, 0);
    }
}

/* --- Prefix queries -------------------------------------------------------- */

static void a_prefix_covers_the_urls_below_it(void **state)
{
    (void)state;
    deja_filter *f = new_filter(OPTIONS(SMALL, .layers = 4));
    assert_false(has_under(f, "http://h"));
    add(f, "http://h/a/b/c/d?x=1");
    static const char *const under[] = {"http://h",    "http://h/",    "http://h/a",
                                        "http://h/a/", "http://h/a/b", "http://h/a/b/c/d",
                                        "http://h/a?y"};
    static const char *const not_under[] = {
        "http://g", "http://h/ab", "http://h/a/bc", "http:/", "https://h", "http://h/b", ""};
    for (size_t i = 0; i < DJ_ARRAY_LEN(under); i++)
        if (!has_under(f, under[i]))
            fail_msg("%s was missed", under[i]);
    for (size_t i = 0; i < DJ_ARRAY_LEN(not_under); i++)
        if (has_under(f, not_under[i]))
            fail_msg("%s was claimed", not_under[i]);
    assert_true(has_under(f, "http://h/a/b/z")); /* four layers compare three segments */
    add(f, "http://g/x?q");
    assert_true(has_under(f, "http://g/x")); /* the page itself, with any query */
    add(f, "http://k/y/z");
    assert_true(has_under(f, "http://g/y")); /* recombined segments: inherent, and documented */
    deja_filter_free(f);
}

/* Every prefix of every URL, cut at each slash and before the query. */
static void no_prefix_of_an_added_url_is_missed(void **state)
{
    (void)state;
    static char text[MANY][SITES_URL];
    const struct sites sites = {.seed = 5, .words = 300, .least = 1, .most = 10, .queries = true};
    const deja_slice *url = make_urls(&sites, text);
    for (uint32_t layers = 2; layers <= 10; layers += 4) {
        deja_filter *f = new_filter(OPTIONS(.capacity = 1000, .fp_rate = 0.01, .layers = layers));
        assert_int_equal(deja_filter_add_batch(f, url, MANY, NULL, NULL, NULL), DEJA_OK);
        for (size_t i = 0; i < MANY; i++) {
            deja_slice prefix[24];
            uint8_t found[24];
            size_t n = 0;
            const char *s = url[i].data;
            for (size_t len = sizeof "http://"; len <= url[i].len; len++)
                if (len == url[i].len || s[len] == '/' || s[len] == '?' || s[len - 1] == '/')
                    prefix[n++] = (deja_slice){s, len};
            assert_true(n < 24);
            assert_int_equal(deja_filter_prefix_batch(f, prefix, n, found, NULL), DEJA_OK);
            for (size_t k = 0; k < n; k++)
                if (!found[k])
                    fail_msg("%.*s was missed", (int)prefix[k].len, s);
        }
        deja_filter_free(f);
    }
}

static void other_kinds_and_modes_refuse_prefix_queries(void **state)
{
    (void)state;
    static const deja_options cannot[] = {
        {.kind = DEJA_BLOCKED},
        {.kind = DEJA_CLASSIC},
        {.kind = DEJA_LAYERED, .flags = DEJA_LAYERED_PAPER},
        {.kind = DEJA_LAYERED, .flags = DEJA_LAYERED_WORDS},
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(cannot); i++) {
        deja_options opt = cannot[i];
        opt.size = sizeof opt;
        opt.capacity = 10;
        deja_filter *f = new_filter(opt);
        const deja_slice key = key_of("a");
        uint8_t found = 7;
        assert_int_equal(deja_filter_prefix_batch(f, &key, 1, &found, NULL), DEJA_ENOTSUP);
        assert_int_equal(found, 7);
        deja_filter_free(f);
    }
}

/* --- Words ----------------------------------------------------------------- */

static void word_order_is_ignored_only_in_mode_paper(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags <= DEJA_LAYERED_PAPER; flags += DEJA_LAYERED_PAPER) {
        deja_filter *f =
            new_filter(OPTIONS(SMALL, .layers = 1, .flags = DEJA_LAYERED_WORDS | flags));
        assert_true(add(f, "the cat saw the dog"));
        assert_true(has(f, "the cat saw the dog"));
        assert_int_equal(has(f, "the dog saw the cat"), flags != 0);
        assert_int_equal(has(f, "cat saw dog"),
                         flags != 0); /* "the" occurs twice and cancels out */
        assert_false(has(f, "the cat saw a dog"));
        assert_false(has(f, "the cat"));
        assert_int_equal(layer_of(f, 1).segments, 4);
        deja_filter_free(f);
    }
}

static void words_are_dealt_to_layers_in_turn(void **state)
{
    (void)state;
    deja_filter *f =
        new_filter(OPTIONS(SMALL, .layers = 3, .delimiter = ',', .flags = DEJA_LAYERED_WORDS));
    add(f, "a,b,c,d,e");
    assert_int_equal(layer_of(f, 1).segments, 2);
    assert_int_equal(layer_of(f, 2).segments, 2);
    assert_int_equal(layer_of(f, 3).segments, 1);
    assert_int_equal(stats_of(f).delimiter, ',');
    assert_int_equal(stats_of(f).flags, DEJA_LAYERED_WORDS);
    deja_filter_free(f);
    f = new_filter(OPTIONS(.capacity = 100, .hashes = 2, .flags = DEJA_LAYERED_WORDS));
    add(f, "a b"); /* as many layers as words / hashes, rounded up */
    assert_int_equal(stats_of(f).layers, 1);
    add(f, "a b c d e");
    assert_int_equal(stats_of(f).layers, 3);
    assert_true(has(f, "a b"));
    assert_true(has(f, "a b c d e"));
    deja_filter_free(f);
}

/* --- Other operations ------------------------------------------------------- */

static void the_next_visit_sizes_its_layers_from_this_one(void **state)
{
    (void)state;
    static char text[MANY][SITES_URL];
    const struct sites sites = {.seed = 6, .words = 900, .least = 2, .most = 5};
    const deja_slice *url = make_urls(&sites, text);
    deja_filter *f = new_filter(OPTIONS(.capacity = MANY, .fp_rate = 0.01, .layers = 6));
    assert_int_equal(deja_filter_add_batch(f, url, MANY, NULL, NULL, NULL), DEJA_OK);
    const deja_layer hosts = layer_of(f, 1), deep = layer_of(f, 5);
    assert_true(hosts.parts > 1);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    assert_int_equal(f->plan.layering.layers, 6);
    assert_int_equal(f->plan.layering.first[0], (hosts.segments * 9 + 7) / 8);
    assert_int_equal(f->plan.layering.first[5], 0);
    assert_int_equal(stats_of(f).familiar + stats_of(f).layers, 0);
    assert_int_equal(f->lost, 0);
    assert_false(deja_filter_contains(f, url[0]));
    assert_int_equal(deja_filter_add_batch(f, url, MANY, NULL, NULL, NULL), DEJA_OK);
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(layer_of(f, i).parts, 1);
    assert_int_equal(layer_of(f, 5).capacity, (deep.segments * 9 + 7) / 8);
    deja_error err = {0, ""};
    const deja_options other = {.size = sizeof other, .layers = 3};
    assert_int_equal(deja_filter_rotate(f, &other, &err), DEJA_EINVAL);
    assert_non_null(strstr(err.text, "layers"));
    deja_filter_free(f);
}

static void unsupported_operations_are_refused_with_a_reason(void **state)
{
    (void)state;
    deja_filter *a = new_filter(OPTIONS(SMALL)), *b = new_filter(OPTIONS(SMALL));
    deja_error err = {0, ""};
    double common;
    assert_int_equal(deja_filter_overlap(a, b, &common, NULL, &err), DEJA_ENOTSUP);
    assert_non_null(strstr(err.text, "layered filters cannot be compared"));
    assert_int_equal(deja_filter_fold(a, 1, &err), DEJA_ENOTSUP);
    assert_int_equal(deja_filter_remove(a, key_of("a"), NULL, NULL), DEJA_ENOTSUP);
    uint64_t count;
    assert_int_equal(deja_filter_count(a, key_of("a"), &count, NULL), DEJA_ENOTSUP);
    deja_filter_free(a);
    deja_filter_free(b);
}

static void same_answers(const deja_filter *a, const deja_filter *b, const struct sites *sites)
{
    for (uint64_t i = 0; i < 3 * MANY; i++) {
        char text[SITES_URL];
        const deja_slice url = sites_url(sites, i, text);
        assert_int_equal(deja_filter_contains(a, url), deja_filter_contains(b, url));
    }
}

/* Grows while it has its name, is reopened, copied, and opened with options that it does not
 * match. */
static void a_file_behaves_like_a_filter_in_memory(void **state)
{
    (void)state;
    static char text[MANY][SITES_URL];
    const struct sites sites = {.seed = 8, .words = 500, .least = 1, .most = 7, .queries = true};
    const deja_slice *url = make_urls(&sites, text);
    for (size_t c = 0; c < DJ_ARRAY_LEN(shapes); c++) {
        deja_options opt = shapes[c];
        const char *path = scratch_path("layered"), *other = scratch_path("copy");
        deja_filter *f = NULL, *copy = NULL;
        opt.size = sizeof opt;
        opt.kind = DEJA_LAYERED;
        opt.seed = c + 1;
        deja_filter *memory = new_filter(opt);
        assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(f, url, MANY, NULL, NULL, NULL), DEJA_OK);
        assert_int_equal(deja_filter_add_batch(memory, url, MANY, NULL, NULL, NULL), DEJA_OK);
        same(memory, f);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        const deja_stats before = stats_of(f);
        deja_filter_free(f);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        assert_int_equal(deja_filter_open(path, 0, &opt, &f, NULL), DEJA_OK);
        same(memory, f);
        const deja_stats after = stats_of(f);
        assert_int_equal(after.layers, before.layers);
        assert_int_equal(after.familiar, before.familiar);
        assert_true(fabs(after.lost - before.lost) < 1e-6 &&
                    fabs(after.bits_expected - before.bits_expected) < 1e-6);
        same_answers(memory, f, &sites);
        assert_int_equal(deja_filter_copy(f, other, 0, &copy, NULL), DEJA_OK);
        same(memory, copy);
        same_answers(memory, copy, &sites);
        deja_filter_free(copy);
        deja_filter_free(f);
        deja_filter_free(memory);
        unlink(path);
    }
}

static void the_error_for_other_layers_names_the_option(void **state)
{
    (void)state;
    static const struct {
        deja_options want;
        const char *word;
    } rows[] = {
        {{.layers = 5}, "was made with options.layers 4, not 5"},
        {{.flags = DEJA_LAYERED_PAPER}, "was made without options.layered_paper"},
        {{.flags = DEJA_LAYERED_WORDS}, "was made without options.layered_words"},
        {{.delimiter = ','}, "was made without options.delimiter"},
        {{.kind = DEJA_CLASSIC}, "is of kind layered, not classic"},
    };
    const char *path = scratch_path("layered");
    const deja_options opt = OPTIONS(SMALL, .layers = 4);
    deja_filter *f = NULL;
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    for (size_t i = 0; i < DJ_ARRAY_LEN(rows); i++) {
        deja_error err = {0, ""};
        deja_options want = rows[i].want;
        want.size = sizeof want;
        assert_int_equal(deja_filter_open(path, 0, &want, &f, &err), DEJA_EMISMATCH);
        if (!strstr(err.text, rows[i].word))
            fail_msg("%s", err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_mode_paper_swapped_segments_collide),
        cmocka_unit_test(in_mode_salted_swapped_segments_do_not_collide),
        cmocka_unit_test(equal_segments_cancel_out_only_in_mode_paper),
        cmocka_unit_test(the_xor_layer_rejects_recombined_segments),
        cmocka_unit_test(in_mode_paper_positions_are_those_of_algorithm_3),
        cmocka_unit_test(the_plan_is_the_size_for_distinct_segments),
        cmocka_unit_test(queries_distinguish_pages_and_the_empty_key_is_a_key),
        cmocka_unit_test(a_layer_is_created_by_the_first_url_that_deep),
        cmocka_unit_test(a_layer_grows_with_its_contents),
        cmocka_unit_test(batches_leave_the_bytes_of_single_calls),
        cmocka_unit_test(arbitrary_rows_are_stored_and_found),
        cmocka_unit_test(a_layer_that_cannot_grow_leaves_everything_as_it_was),
        cmocka_unit_test(a_prefix_covers_the_urls_below_it),
        cmocka_unit_test(no_prefix_of_an_added_url_is_missed),
        cmocka_unit_test(other_kinds_and_modes_refuse_prefix_queries),
        cmocka_unit_test(word_order_is_ignored_only_in_mode_paper),
        cmocka_unit_test(words_are_dealt_to_layers_in_turn),
        cmocka_unit_test(the_next_visit_sizes_its_layers_from_this_one),
        cmocka_unit_test(unsupported_operations_are_refused_with_a_reason),
        cmocka_unit_test_teardown(a_file_behaves_like_a_filter_in_memory, scratch_clear),
        cmocka_unit_test_teardown(the_error_for_other_layers_names_the_option, scratch_clear),
    };
    return cmocka_run_group_tests_name("unit.layered", tests, scratch_open, scratch_close);
}
