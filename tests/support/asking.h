/* asking.h - one filter of each kind, and queries for keys that are text or numbers. */
#ifndef TEST_ASKING_H
#define TEST_ASKING_H
#include "bodies.h"
#include "calls.h"
#include "kinds/kind.h"
#include "options.h"
#include "unit.h"
#include <string.h>

/* One of each kind; the rate is so low that none of the few keys here is a false positive. */
static const struct {
    const char *name;
    deja_options opt;
} every[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1)},
    {"classic md5", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                           .hash = DEJA_HASH_MD5)},
    {"spatial",
     FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1, .filters = 3)},
    {"spatial murmur3", FIELDS(.kind = DEJA_CLASSIC, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                               .filters = 3, .hash = DEJA_HASH_MURMUR3)},
    {"blocked", FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1)},
    {"blocked siphash", FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1,
                               .hash = DEJA_HASH_SIPHASH)},
    {"blocked spatial",
     FIELDS(.kind = DEJA_BLOCKED, .capacity = 5000, .fp_rate = 1e-9, .seed = 1, .filters = 2)},
    {"exact", FIELDS(.kind = DEJA_EXACT, .capacity = 5000, .seed = 1)},
    {"exact with dates",
     FIELDS(.kind = DEJA_EXACT, .capacity = 5000, .seed = 1, .flags = DEJA_DATES)},
    {"scalable", FIELDS(.kind = DEJA_SCALABLE, .capacity = 1000, .fp_rate = 1e-9, .seed = 1)},
    {"scalable exact", FIELDS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 1000,
                              .fp_rate = 1e-9, .seed = 1)},
};

static inline deja_slice text(const char *s)
{
    return (deja_slice){s, strlen(s)};
}

static inline deja_slice number(const uint64_t *n)
{
    return (deja_slice){n, sizeof *n};
}

static inline bool add(deja_filter *f, deja_slice key)
{
    bool is_new = false;
    assert_int_equal(deja_filter_add(f, key, &is_new, NULL), DEJA_OK);
    return is_new;
}

static inline void assert_same_bodies(const deja_filter *a, const deja_filter *b)
{
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++) {
        assert_true(bodies_equal(a->part[i], b->part[i]));
        assert_int_equal(a->part[i]->keys, b->part[i]->keys);
    }
}

#endif
