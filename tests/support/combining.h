/* combining.h - filters of numbered keys to unite, fold and compare. */
#ifndef TEST_COMBINING_H
#define TEST_COMBINING_H
#include "bodies.h"
#include "calls.h"
#include "kinds/kind.h"
#include "numbered.h"
#include "options.h"
#include "scratch.h"

/* Sizes that can be folded three times. */
static const struct {
    const char *name;
    deja_options opt;
} bloom[] = {
    {"classic", FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000)},
    {"classic k 1", FIELDS(.kind = DEJA_CLASSIC, .memory = 512, .capacity = 400, .hashes = 1)},
    {"classic, odd in the end", FIELDS(.kind = DEJA_CLASSIC, .memory = 64 * 3, .capacity = 50)},
    {"classic sha1",
     FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000, .hash = DEJA_HASH_SHA1)},
    {"classic jenkins",
     FIELDS(.kind = DEJA_CLASSIC, .memory = 8192, .capacity = 4000, .hash = DEJA_HASH_JENKINS)},
    {"spatial", FIELDS(.kind = DEJA_CLASSIC, .memory = 24576, .capacity = 4000, .filters = 3)},
    {"spatial md5", FIELDS(.kind = DEJA_CLASSIC, .memory = 16384, .capacity = 4000, .filters = 2,
                           .hash = DEJA_HASH_MD5)},
    {"blocked", FIELDS(.memory = 8192, .capacity = 4000)},
    {"blocked siphash", FIELDS(.memory = 8192, .capacity = 4000, .hash = DEJA_HASH_SIPHASH)},
    {"blocked, odd in the end", FIELDS(.memory = 512 * 5, .capacity = 800)},
    {"blocked with two lines", FIELDS(.memory = 16384, .capacity = 4000, .cache_lines = 2)},
    {"blocked with three lines", FIELDS(.memory = 24576, .capacity = 4000, .cache_lines = 3)},
    {"blocked spatial", FIELDS(.memory = 16384, .capacity = 4000, .filters = 2)},
};

static inline deja_filter *filled(deja_options opt, uint64_t from, uint64_t to)
{
    deja_filter *f = new_filter(opt);
    add_keys(f, from, to);
    return f;
}

static inline void works(int rc, const deja_error *err)
{
    if (rc != DEJA_OK)
        fail_msg("%d: %s", rc, err->text);
}

static inline void merge(deja_filter *into, const deja_filter *from)
{
    deja_error err = {0, ""};
    works(deja_filter_merge(into, from, &err), &err);
}

static inline void fold(deja_filter *f, uint32_t times)
{
    deja_error err = {0, ""};
    works(deja_filter_fold(f, times, &err), &err);
}

static inline void assert_same_bodies(const deja_filter *a, const deja_filter *b, const char *name)
{
    assert_int_equal(a->n_parts, b->n_parts);
    for (uint32_t i = 0; i < a->n_parts; i++)
        if (!bodies_equal(a->part[i], b->part[i]))
            fail_msg("%s: part %u differs", name, i);
}

/* The same filter with a smaller body, made from options. */
static inline deja_options smaller(const deja_filter *f, deja_options opt, unsigned folds)
{
    opt.memory = (f->plan.shape.bits >> folds) / 8 * f->plan.filters;
    opt.hashes = f->plan.shape.k;
    if (f->plan.part_kind->most_key_lines && opt.format != 1)
        opt.cache_lines = dj_shape_key_lines(&f->plan.shape);
    return opt;
}

static inline const char *make_file(const char *name, deja_options opt, uint64_t from, uint64_t to)
{
    const char *path = scratch_path(name);
    deja_filter *f = create_file(path, 0, &opt);
    add_keys(f, from, to);
    sync_file(f);
    deja_filter_free(f);
    return path;
}

#endif
