/* test_million.c - a million URLs in every kind, and queries for a million others.
 *
 * Hypothesis: a URL that was not added tests positive with the probability that theory gives for
 * the number of keys, and with the one that the statistics derive from the bits (fp_now); five
 * standard deviations of the count, including the variation of the rate from filter to filter.
 * No URL that was added is missed.  The papers assume random keys.  The URLs here come from the
 * generator of `deja gen`, which share sites and folders as real ones do, and, if DEJA_REAL_DATA
 * names a folder with urls-real.txt.zst, from there. */
#include "gen/urlgen.h"
#include "tools/input/input.h"
#include "trial.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>

#define MEMBERS   1000000
#define STRANGERS 1000000
#define TOTAL     (MEMBERS + STRANGERS)
#define Z         5.0

/* --- Two million distinct URLs ------------------------------------------- */

struct urls {
    char *text;
    size_t len, cap;
    size_t *end; /* of each URL in text */
    deja_slice *url;
    size_t n;
};

static void urls_init(struct urls *u)
{
    *u = (struct urls){.end = malloc(TOTAL * sizeof *u->end),
                       .url = malloc(TOTAL * sizeof *u->url)};
    assert_true(u->end && u->url);
}

static void urls_free(struct urls *u)
{
    free(u->text);
    free(u->end);
    free(u->url);
}

static void urls_put(struct urls *u, const void *data, size_t len)
{
    if (u->cap - u->len < len || !u->text) {
        u->cap = 2 * (u->cap + len) + 4096;
        u->text = realloc(u->text, u->cap);
        assert_non_null(u->text);
    }
    memcpy(u->text + u->len, data, len);
    u->len += len;
    u->end[u->n++] = u->len;
}

/* Members are at even places and the others at odd ones, so that a list ordered by its sources
 * gives both the same mix. */
static void urls_deal(struct urls *u)
{
    for (size_t i = 0; i < u->n; i++) {
        const size_t begin = i ? u->end[i - 1] : 0;
        u->url[i % 2 * MEMBERS + i / 2] = (deja_slice){u->text + begin, u->end[i] - begin};
    }
}

static void generate(struct urls *u)
{
    static struct urlgen g;
    char url[URLGEN_MAX];
    urls_init(u);
    urlgen_init(&g, 4);
    for (uint64_t i = 0; i < TOTAL; i++)
        urls_put(u, url, urlgen_url(&g, i, url));
    urls_deal(u);
}

/* The list has no repeats. */
static void load(struct urls *u, const char *folder)
{
    char path[4096];
    const char *paths[] = {path};
    struct input_options o = INPUT_OPTIONS_INIT;
    struct input *in;
    struct block b;
    deja_error err = {0};
    snprintf(path, sizeof path, "%s/urls-real.txt.zst", folder);
    o.paths = paths;
    o.n_paths = 1;
    urls_init(u);
    block_init(&b);
    if (input_open(&o, &in, &err) < 0)
        fail_msg("%s", err.text);
    while (u->n < TOTAL && input_next(in, &b, &err) > 0)
        for (size_t i = 0; i < b.n && u->n < TOTAL; i++)
            urls_put(u, b.keys[i].data, b.keys[i].len);
    input_close(in);
    block_fini(&b);
    assert_int_equal(u->n, TOTAL);
    urls_deal(u);
}

/* --- Every kind ---------------------------------------------------------- */

static const struct kind {
    const char *name;
    deja_options opt;
    uint64_t first; /* a growing filter starts with 1/n of the keys */
} kinds[] = {
    {"classic", {.kind = DEJA_CLASSIC}, 1},
    {"classic F 3", {.kind = DEJA_CLASSIC, .filters = 3}, 1},
    {"classic jenkins", {.kind = DEJA_CLASSIC, .hash = DEJA_HASH_JENKINS}, 1},
    {"blocked", {.kind = DEJA_BLOCKED}, 1},
    {"blocked siphash", {.kind = DEJA_BLOCKED, .hash = DEJA_HASH_SIPHASH}, 1},
    {"spectral 4", {.kind = DEJA_SPECTRAL, .counter_bits = 4}, 1},
    {"spectral 8", {.kind = DEJA_SPECTRAL, .counter_bits = 8}, 1},
    {"spectral 16 spread", {.kind = DEJA_SPECTRAL, .counter_bits = 16, .flags = DEJA_SPREAD}, 1},
    {"scalable", {.kind = DEJA_SCALABLE}, 20},
    {"exact", {.kind = DEJA_EXACT}, 1},
    {"static", {.kind = DEJA_STATIC}, 1},
};
static const double some_p[] = {1e-2, 1e-3};

static deja_filter *built(const deja_options *opt, const struct urls *u)
{
    deja_builder *b;
    deja_filter *f;
    assert_int_equal(deja_builder_new(opt, &b, NULL), DEJA_OK);
    assert_int_equal(deja_builder_add_batch(b, u->url, MEMBERS, NULL), DEJA_OK);
    assert_int_equal(deja_builder_finish(b, NULL, 0, &f, NULL), DEJA_OK);
    deja_builder_free(b);
    return f;
}

static deja_filter *filled(const deja_options *opt, const struct urls *u)
{
    deja_filter *f;
    assert_int_equal(deja_filter_new(opt, &f, NULL), DEJA_OK);
    assert_int_equal(deja_filter_add_batch(f, u->url, MEMBERS, NULL, NULL, NULL), DEJA_OK);
    return f;
}

static uint64_t count_found(const deja_filter *f, const deja_slice *url, size_t n)
{
    uint8_t found[1000];
    uint64_t hits = 0;
    for (size_t at = 0; at < n; at += sizeof found) {
        deja_filter_contains_batch(f, url + at, sizeof found, found);
        for (size_t i = 0; i < sizeof found; i++)
            hits += found[i];
    }
    return hits;
}

static void check_kind(const struct kind *kind, double p, const struct urls *u)
{
    deja_options opt = kind->opt;
    deja_stats s = DEJA_STATS_INIT;
    opt.size = sizeof opt;
    opt.seed = 11;
    opt.fp_rate = p;
    opt.capacity = MEMBERS / kind->first;
    const bool is_static = opt.kind == DEJA_STATIC;
    struct trial t = {.f = is_static ? built(&opt, u) : filled(&opt, u), .keys = MEMBERS};
    assert_int_equal(deja_filter_stats(t.f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
    const struct forecast theory = is_static ? (struct forecast){s.fp_now, 0} : forecast_all(&t);
    const struct forecast now = is_static ? theory : forecast_now(&t, s.fp_now);
    assert_int_equal(count_found(t.f, u->url, MEMBERS), MEMBERS);
    const uint64_t hits = count_found(t.f, u->url + MEMBERS, STRANGERS);
    print_message("    %-16s p %-5g %7zu hits, theory %9.2f, from the bits %9.2f\n", kind->name, p,
                  (size_t)hits, theory.rate * STRANGERS, now.rate * STRANGERS);
    assert_true(binom_within_spread(hits, STRANGERS, theory.rate, theory.sigma, Z));
    assert_true(binom_within_spread(hits, STRANGERS, now.rate, now.sigma, Z));
    deja_filter_free(t.f);
}

static void check_kinds(const struct urls *u)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < DJ_ARRAY_LEN(some_p); i++)
            check_kind(&kinds[k], some_p[i], u);
}

static void a_million_generated_urls_have_the_rates_of_theory(void **state)
{
    struct urls u;
    generate(&u);
    check_kinds(&u);
    urls_free(&u);
}

static void a_million_real_urls_have_the_rates_of_theory(void **state)
{
    const char *folder = getenv("DEJA_REAL_DATA");
    if (!folder)
        skip();
    struct urls u;
    load(&u, folder);
    check_kinds(&u);
    urls_free(&u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_million_generated_urls_have_the_rates_of_theory),
        cmocka_unit_test(a_million_real_urls_have_the_rates_of_theory),
    };
    return cmocka_run_group_tests_name("stat.million", tests, NULL, NULL);
}
