/* test_paper_model.c - paper mode is Algorithms 3 and 4, bit for bit.
 *
 * The model below is written from the algorithms alone: m bits for each layer and for the XOR
 * layer, LAddr[j] the XOR of the addresses H_j[a_i].  It borrows H_j from the filter, so that
 * both have the same false positives, of which half-full arrays have many. */
#include "unit.h"

#define EVERY .seed = 7, .kind = DEJA_LAYERED, .flags = DEJA_LAYERED_PAPER,
#include "calls.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"
#include "options.h"
#include "rng.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define L 6 /* layers: more than any key here has segments */

/* --- The model ---------------------------------------------------------------- */

struct mlbf {
    const deja_filter *f; /* the filter that provides H_j */
    uint64_t m;
    uint32_t k;
    bool *bf[L + 1]; /* BF_1 .. BF_L, BF_(L+1) */
};

static uint64_t address(const struct mlbf *s, uint32_t j, const char *a)
{
    const deja_slice segment = {a, strlen(a)};
    uint64_t hash;
    dj_hasher_hash(&s->f->hasher, &segment, 1, &hash);
    return dj_mulhi(dj_nth64(hash, j), s->m);
}

/* S = http[s]://a_1/a_2/../a_l, cut at the slashes; l. */
static size_t split(char *s, char *a[])
{
    size_t l = 0;
    char *at = strstr(s, "://");
    for (at = at ? at + 3 : s; at; l++) {
        a[l] = at;
        at = strchr(at, '/');
        if (at)
            *at++ = '\0';
    }
    return l;
}

/* Algorithm 3 if `insert`; otherwise Algorithm 4, which returns whether S is in the set. */
static bool run(struct mlbf *s, const char *url, bool insert)
{
    char text[64], *a[L];
    uint64_t laddr[64] = {0};
    snprintf(text, sizeof text, "%s", url);
    const size_t l = split(text, a);
    for (size_t i = 0; i < l; i++)
        for (uint32_t j = 0; j < s->k; j++) {
            const uint64_t addr = address(s, j, a[i]);
            if (insert)
                s->bf[i][addr] = true;
            if (!s->bf[i][addr])
                return false;
            laddr[j] ^= addr;
        }
    for (uint32_t j = 0; j < s->k; j++) {
        if (insert)
            s->bf[L][laddr[j] % s->m] = true;
        if (!s->bf[L][laddr[j] % s->m])
            return false;
    }
    return true;
}

/* --- Both side by side ---------------------------------------------------------- */

static void begin(struct mlbf *s, deja_options opt)
{
    opt.layers = L;
    deja_filter *f = new_filter(opt);
    *s = (struct mlbf){.f = f, .m = f->plan.shape.bits, .k = f->plan.shape.k};
    for (size_t i = 0; i <= L; i++)
        assert_non_null(s->bf[i] = calloc(s->m, sizeof(bool)));
}

static void end(struct mlbf *s)
{
    for (size_t i = 0; i <= L; i++)
        free(s->bf[i]);
    deja_filter_free((deja_filter *)(uintptr_t)s->f);
}

static bool add(struct mlbf *s, const char *url)
{
    bool is_new = false;
    deja_filter *f = (deja_filter *)(uintptr_t)s->f;
    assert_int_equal(deja_filter_add(f, (deja_slice){url, strlen(url)}, &is_new, NULL), DEJA_OK);
    (void)run(s, url, true);
    return is_new;
}

static bool has(const struct mlbf *s, const char *url)
{
    return deja_filter_contains(s->f, (deja_slice){url, strlen(url)});
}

/* Up to five segments from few names, some of them empty, some longer than 16 bytes. */
static void make_url(struct rng *r, unsigned names, char url[64])
{
    static const char *const schemes[] = {"", "http://", "https://"};
    size_t n = 1 + rng_below(r, 5);
    int len = snprintf(url, 64, "%s", schemes[rng_below(r, 3)]);
    for (; n > 0; n--) {
        const unsigned name = (unsigned)rng_below(r, names);
        if (name > 0 && len < 36)
            len += snprintf(url + len, 64 - (size_t)len,
                            name % 7 == 0 ? "segment-number-%06u" : "%u", name);
        if (n > 1)
            len += snprintf(url + len, 64 - (size_t)len, "/");
    }
}

static void agree(deja_options opt, unsigned names, unsigned keys, uint64_t seed)
{
    struct mlbf s;
    struct rng r = rng_seeded(seed);
    char url[64];
    unsigned found = 0;
    begin(&s, opt);
    for (unsigned i = 0; i < keys; i++) {
        make_url(&r, names, url);
        const bool seen = run(&s, url, false);
        if (has(&s, url) != seen || add(&s, url) == seen)
            fail_msg("'%s' as key %u: the model says %s", url, i, seen ? "seen" : "new");
    }
    for (unsigned i = 0; i < 20 * keys; i++) {
        make_url(&r, names, url);
        const bool seen = run(&s, url, false);
        found += seen;
        if (has(&s, url) != seen)
            fail_msg("'%s': the model says %s", url, seen ? "seen" : "new");
    }
    assert_in_range(found, 1, 20 * keys - 1);
    end(&s);
}

static void answers_agree_with_the_algorithms(void **state)
{
    const deja_options every[] = {
        OPTIONS(.capacity = 200, .fp_rate = 0.1),
        OPTIONS(.capacity = 200, .fp_rate = 0.001),
        OPTIONS(.capacity = 300, .hashes = 1, .multiplier = 2),
        OPTIONS(.capacity = 200, .hashes = 3, .multiplier = 1.5),
        OPTIONS(.capacity = 100, .memory = 1024 * (L + 1)), /* m is a power of two */
        OPTIONS(.capacity = 200, .fp_rate = 0.05, .hash = DEJA_HASH_SIPHASH),
    };
    for (size_t i = 0; i < sizeof every / sizeof every[0]; i++) {
        agree(every[i], 5, 100, 1 + i);
        agree(every[i], 40, 300, 20 + i);
    }
}

/* Keys that the papers' XOR cannot distinguish, at any size. */
static void the_published_collision_occurs(void **state)
{
    struct mlbf s;
    begin(&s, OPTIONS(.capacity = 1000, .fp_rate = 1e-9));
    (void)add(&s, "a/b");
    (void)add(&s, "b/x");
    (void)add(&s, "x/a");
    assert_true(has(&s, "b/a"));
    assert_true(has(&s, "http://b/a") && has(&s, "https://b/a"));
    assert_false(has(&s, "a/a") || has(&s, "a") || has(&s, "a/c"));
    end(&s);
}

/* Files of deja 0.1 include the slash in their segments: they distinguish b from /b. */
static void with_rules_0_it_does_not_occur(void **state)
{
    struct mlbf s;
    begin(&s, OPTIONS(.capacity = 1000, .fp_rate = 1e-9, .format = 1));
    (void)add(&s, "a/b");
    (void)add(&s, "b/x");
    (void)add(&s, "x/a");
    assert_true(has(&s, "a/b") && has(&s, "b/x") && has(&s, "x/a"));
    assert_false(has(&s, "b/a"));
    assert_false(has(&s, "http://a/b"));
    end(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_agree_with_the_algorithms),
        cmocka_unit_test(the_published_collision_occurs),
        cmocka_unit_test(with_rules_0_it_does_not_occur),
    };
    return cmocka_run_group_tests_name("property.paper_model", tests, NULL, NULL);
}
