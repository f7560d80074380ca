/* static.c - a set that never changes, in 9 bits per key for a false-positive rate of 1/256.
 *
 * core/bits/fuse.h explains how three slots give an answer.  The false-positive rate is 2^-w with
 * w-bit fingerprints, for any number of keys: the xor that an absent key reads is random (except
 * for a twin; core/math/rate.c).  Memory is 1.125 w bits per key (1.13 for a million keys, more
 * for small sets).  A classic Bloom filter of the same rate takes 1.44 w bits, and reads k cache
 * lines instead of three.
 *
 * w is 8, 16 or 32: given, or the smallest that reaches p, or the largest that fits into the memory
 * for n keys.  The number of slots depends only on n.  If memory and rate are given, n is the
 * largest number that fits.  A filter is sized twice: in the plan for the keys that the options
 * expect, and by its builder for the keys that were collected.
 *
 * The price: all keys must be known when the filter is built (store/builder.c), and none can be
 * added later.
 *
 * Exceptions are keys that must not be found, not even by mistake.  The builder looks them up, and
 * stores those that part 0 finds in part 1, a table of 64-bit fingerprints (exact.c):
 *
 *     in the filter  =  in part 0  and not  in part 1
 *
 * Part 1 holds a share 2^-w of the exceptions, usually a few hundred keys.  It compares whole
 * hashes, and no key of part 0 has the hash of an exception, so it hides no key of part 0.
 *
 * Limit: 3 billion keys, because slot numbers have 32 bits during the build. */
#include "kinds/static.h"
#include "core/base/status.h"
#include "kinds/spatial.h"
#include <math.h>
#include <string.h>

/* A key's slots and fingerprint. */
struct spot {
    uint32_t at[DJ_FUSE_POSITIONS]; /* there are at most DJ_FUSE_MAX_SLOTS */
    uint32_t print;
};

static inline struct spot spot_of(const struct dj_fuse *f, uint64_t hash)
{
    const uint64_t h = dj_fuse_remix(f, hash);
    uint64_t at[DJ_FUSE_POSITIONS];
    dj_fuse_at(f, h, at);
    return (struct spot){{(uint32_t)at[0], (uint32_t)at[1], (uint32_t)at[2]}, dj_fuse_print(f, h)};
}

static inline void fetch(const uint8_t *body, const struct spot *s, uint32_t width)
{
    for (unsigned j = 0; j < DJ_FUSE_POSITIONS; j++)
        DJ_PREFETCH(body + (uint64_t)s->at[j] * (width / 8));
}

static inline bool matches(const uint8_t *body, const struct spot *s, uint32_t width)
{
    return (dj_fuse_slot(body, s->at[0], width) ^ dj_fuse_slot(body, s->at[1], width) ^
            dj_fuse_slot(body, s->at[2], width)) == s->print;
}

static void fuse_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    for (size_t i = 0; i < n; i++) {
        const struct spot s = spot_of(&p->fuse, hash[i]);
        fetch(p->body, &s, p->fuse.width);
    }
}

/* How many keys ahead slots are fetched: three lines of each occupy all miss buffers of current
 * processors.  Only the first NEAR keys of a chunk are computed twice: to fetch them at the end of
 * the chunk before, and to answer them. */
#define NEAR 16

/* Inlined for each width, which is then a constant in the loops. */
static inline __attribute__((always_inline)) void look(const struct dj_part *p,
                                                       const uint64_t *hash, const uint64_t *ahead,
                                                       size_t n, uint8_t *found, uint32_t width)
{
    struct dj_fuse f = p->fuse;
    const uint8_t *body = p->body;
    struct spot spot[DJ_CHUNK];
    const size_t near = n < NEAR ? n : NEAR;
    f.width = width;
    for (size_t i = 0; i < near; i++)
        spot[i] = spot_of(&f, hash[i]);
    size_t i = 0;
    for (; i + near < n; i++) {
        spot[i + near] = spot_of(&f, hash[i + near]);
        fetch(body, &spot[i + near], width);
        found[i] = matches(body, &spot[i], width);
    }
    for (size_t j = 0; j < near; i++, j++) {
        const struct spot next = spot_of(&f, ahead[j]);
        fetch(body, &next, width);
        found[i] = matches(body, &spot[i], width);
    }
}

static void fuse_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                          size_t n, uint8_t *found)
{
    if (p->fuse.keys == 0) /* 0 is a valid fingerprint, so a body of zeros would match some keys */
        memset(found, 0, n);
    else if (p->fuse.width == 8)
        look(p, hash, ahead, n, found, 8);
    else if (p->fuse.width == 16)
        look(p, hash, ahead, n, found, 16);
    else
        look(p, hash, ahead, n, found, 32);
}

enum {
    KEYS,
    EXCEPTIONS
};

static void static_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    fuse_prefetch(f->part[KEYS], hash, n, for_add);
}

static void overrule(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *found)
{
    const struct dj_part *p = f->part[EXCEPTIONS];
    uint64_t buf[DJ_CHUNK];
    uint8_t excepted[DJ_CHUNK];
    const uint64_t *seen = dj_spatial_view(f, EXCEPTIONS, hash, n, buf);
    p->kind->body.contains(p, seen, seen, n, excepted);
    for (size_t i = 0; i < n; i++)
        found[i] &= !excepted[i];
}

static void static_contains(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *found)
{
    fuse_contains(f->part[KEYS], hash, ahead, n, found);
    if (f->n_parts > 1 && memchr(found, 1, n))
        overrule(f, hash, n, found);
}

/* Bits that hold the fingerprint of a key; the others are overhead that peeling needs. */
static uint64_t static_bits_used(const struct dj_part *p)
{
    return p->fuse.keys * p->fuse.width;
}

/* --- Plan ------------------------------------------------------------------ */

double dj_static_rate(uint32_t width)
{
    return ldexp(1, -(int)width);
}

/* Sets the bits of a fingerprint: given, or the fewest that reach p; 0: memory decides. */
static int choose_width(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    static const uint32_t widths[] = {8, 16, 32};
    const uint32_t given = opt->fingerprint_bits;
    const double n = (double)opt->capacity;
    if (given && opt->fp_rate != 0 && dj_static_rate(given) > opt->fp_rate)
        return dj_fail(err, DEJA_EINVAL,
                       "options.fingerprint_bits is %u: that gives the rate %g, not %g", given,
                       dj_static_rate(given), opt->fp_rate);
    plan->fuse.width = given;
    if (given || (opt->fp_rate == 0 && opt->memory && opt->capacity))
        return DEJA_OK;
    for (size_t i = 0; i < DJ_ARRAY_LEN(widths) && !plan->fuse.width; i++)
        if (dj_with_twins(dj_static_rate(widths[i]), n) <= plan->fp_rate)
            plan->fuse.width = widths[i];
    if (plan->fp_rate <= dj_twins(n))
        return dj_plan_too_large(plan, err);
    if (!plan->fuse.width)
        return dj_fail(
            err, DEJA_EINVAL,
            "options.fp_rate is %g: a static filter reaches %.2g at best; use kind exact",
            plan->fp_rate, dj_with_twins(dj_static_rate(32), n));
    return DEJA_OK;
}

/* Bytes of the body for n keys; 0: too many. */
static uint64_t fuse_bytes(struct dj_plan *plan, uint64_t n, uint32_t width)
{
    if (!dj_fuse_fit(&plan->fuse, n))
        return 0;
    plan->fuse.width = width;
    plan->shape.k = DJ_FUSE_POSITIONS;
    plan->shape.bits = dj_fuse_slots(&plan->fuse) * width;
    return dj_part_body_len(&plan->shape);
}

int dj_static_size(struct dj_plan *plan, uint64_t n, uint64_t memory, deja_error *err)
{
    const uint32_t least = plan->fuse.width ? plan->fuse.width : 8;
    uint32_t width = plan->fuse.width ? plan->fuse.width : 32;
    if (n > DJ_FUSE_MAX_KEYS)
        return dj_fail(err, DEJA_EINVAL,
                       "a static filter holds at most %llu keys, not %llu; use kind blocked",
                       (ull)DJ_FUSE_MAX_KEYS, (ull)n);
    while (memory && width > least && fuse_bytes(plan, n, width) > memory)
        width /= 2;
    const uint64_t bytes = fuse_bytes(plan, n, width);
    if (memory && bytes > memory)
        return dj_fail(
            err, DEJA_EINVAL,
            "options.memory is %llu: %llu keys with %u-bit fingerprints take %llu bytes",
            (ull)memory, (ull)n, width, (ull)bytes);
    plan->capacity = n ? n : 1;
    return DEJA_OK;
}

/* The most keys that fit into `memory` bytes. */
static uint64_t fuse_capacity(struct dj_plan *plan, uint64_t memory)
{
    const uint32_t width = plan->fuse.width;
    uint64_t fits = 0, many = DJ_FUSE_MAX_KEYS + 1;
    while (many - fits > 1) {
        const uint64_t mid = fits + (many - fits) / 2;
        if (fuse_bytes(plan, mid, width) <= memory)
            fits = mid;
        else
            many = mid;
    }
    return fits;
}

static int static_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->multiplier != 0)
        return dj_plan_check_multiplier(opt, plan, err);
    int rc = choose_width(opt, plan, err);
    if (rc < 0)
        return rc;
    const uint32_t width = plan->fuse.width;
    uint64_t n = opt->capacity;
    if (!n && opt->memory)
        n = fuse_capacity(plan, opt->memory);
    plan->fuse.width = width;
    if (!n)
        return opt->memory
                   ? dj_fail(err, DEJA_EINVAL, "options.memory is %llu: too small for one key",
                             (ull)opt->memory)
                   : dj_fail(err, DEJA_EINVAL,
                             "options.capacity is 0: give the number of keys to expect");
    rc = dj_static_size(plan, n, opt->memory, err);
    if (rc == DEJA_OK && opt->fp_rate == 0 && (!width || opt->fingerprint_bits))
        plan->fp_rate = dj_static_rate(plan->fuse.width);
    return rc;
}

static double static_part_rate(const struct dj_plan *plan)
{
    return dj_static_rate(plan->fuse.width);
}

static double static_rate_at(const struct dj_plan *plan, double n)
{
    return dj_with_twins(dj_static_rate(plan->fuse.width), n);
}

static double static_lost(const struct dj_plan *plan, double n)
{
    (void)plan, (void)n;
    return 0; /* a builder does not ask whether a key is new */
}

int dj_static_except(struct dj_plan *plan, uint64_t n, deja_error *err)
{
    struct dj_shape table = {.layout = dj_exact.layout};
    if (n > UINT32_MAX || !dj_shape_fit_body(&table, n, 0.5))
        return dj_fail(err, DEJA_EINVAL, "%llu exceptions are too many", (ull)n);
    plan->exceptions = (uint32_t)n;
    plan->removal = table;
    return DEJA_OK;
}

static const struct dj_kind *static_kind_of_part(const struct dj_plan *plan, uint32_t i)
{
    return i == EXCEPTIONS ? &dj_exact : plan->part_kind;
}

static bool static_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part)
{
    if (i == EXCEPTIONS) {
        part->kind = &dj_exact;
        part->shape = plan->removal;
        part->capacity = plan->exceptions;
        part->fp_rate = dj_twins((double)plan->exceptions);
    }
    return true;
}

/* --- Statistics and file ------------------------------------------------------- */

/* The builder has counted the keys exactly, and the number of bits is not random. */
static void static_stats(const deja_filter *f, deja_stats *s)
{
    const struct dj_part *p = f->part[0];
    s->keys = p->fuse.keys;
    s->distinct = (double)s->keys;
    s->fp_now = s->keys ? dj_with_twins(p->fp_rate, s->distinct) : 0;
    s->capacity = p->capacity;
    s->bits = p->shape.bits;
    for (uint32_t i = 0; i < f->n_parts; i++)
        s->bytes += f->part[i]->body_len;
    s->exceptions = f->plan.exceptions;
    s->bits_set = static_bits_used(p);
    s->bits_expected = (double)s->bits_set;
}

static void static_outline(const deja_filter *f, deja_stats *o)
{
    o->capacity = f->part[0]->capacity;
    o->keys = o->entries = dj_part_keys(f->part[0]);
    o->exceptions = f->plan.exceptions;
}

static void static_recount(const deja_filter *f, struct dj_record *r)
{
    r->keys[KEYS] = f->part[KEYS]->fuse.keys;
    if (f->n_parts > 1)
        r->keys[EXCEPTIONS] = f->plan.exceptions;
}

static int static_check(const struct dj_plan *plan, deja_error *err)
{
    if (plan->exceptions && plan->rules == DJ_RULES_0_1)
        return dj_fail_damaged(err, "number of exceptions"); /* deja 0.1 had none */
    return dj_fuse_is_sound(&plan->fuse) ? DEJA_OK
                                         : dj_fail_damaged(err, "segments or fingerprints");
}

static bool static_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    if (i == EXCEPTIONS)
        return p->capacity == plan->exceptions && dj_plan_reaches(&p->shape, p->capacity, 1);
    return p->capacity == plan->capacity &&
           p->shape.bits == dj_fuse_slots(&plan->fuse) * plan->fuse.width;
}

static void static_take_shapes(struct dj_plan *plan, const struct dj_part *part)
{
    if (plan->exceptions)
        plan->removal = part[EXCEPTIONS].shape;
}

static const char *const options[] = {"fingerprint_bits", NULL};
static const struct dj_field header[] = {
    DJ_FIELD(144, struct dj_plan, fuse.width),    DJ_FIELD(148, struct dj_plan, fuse.segment_log2),
    DJ_FIELD(152, struct dj_plan, fuse.segments), DJ_FIELD(156, struct dj_plan, exceptions),
    DJ_FIELD(160, struct dj_plan, fuse.seed),     DJ_FIELD(168, struct dj_plan, fuse.keys),
};
const struct dj_kind dj_static = {
    .name = "static",
    .number = DEJA_STATIC,
    .help = "a binary fuse filter: the fewest bits of all, for a set that never changes",
    .can = DEJA_CAN_BUILD,
    .options = options,
    .fixed_k = DJ_FUSE_POSITIONS,
    .plan = static_plan,
    .part_rate = static_part_rate,
    .rate = static_rate_at,
    .lost = static_lost,
    .part = static_part,
    .kind_of_part = static_kind_of_part,
    .prefetch = static_prefetch,
    .contains = static_contains,
    .stats = static_stats,
    .outline = static_outline,
    .header = DJ_FIELDS(header),
    .check = static_check,
    .part_is_sound = static_part_is_sound,
    .take_shapes = static_take_shapes,
    .reaches_rate = dj_plan_always, /* no key can be added, so the capacity does not matter */
    .recount = static_recount,
    .body = {.prefetch = fuse_prefetch, .contains = fuse_contains, .bits_set = static_bits_used},
};
