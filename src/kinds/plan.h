/* plan.h - what options come to: every number that a file records, before any memory is touched.
 *
 * options.c reads and checks them, plan.c finds the sizes; kinds with a rule of their own have it
 * in plan_KIND.c.  All of it is pure arithmetic. */
#ifndef DJ_PLAN_H
#define DJ_PLAN_H
#include "core/hash/hash.h"
#include "kinds/layering.h"
#include "kinds/part.h"

#define DJ_TIGHTENING      0.7 /* by default */
#define DJ_SPARE_SHARE     0.1 /* of the rate, kept back for growth if the size is known well */
#define DJ_MAX_FILTERS     16
#define DJ_MAX_CAPACITY    (UINT64_C(1) << 53)
#define DJ_MAX_SECONDS     (UINT64_C(1) << 40)
#define DJ_MAX_GENERATIONS (DJ_BLOCK_LINES - 1) /* full ones */
#define DJ_MAX_GROWTH      1024
#define DJ_MAX_VISIT       ((UINT64_C(1) << 47) - 1)
#define DJ_MAX_FOLDS       53 /* of the largest size */

/* What earlier visits came to (visit.c); all zero in the first one. */
struct dj_past {
    uint64_t visits;        /* finished before this one */
    double missed;          /* chance that a page was missed by every one of them */
    double last_lost;       /* keys lost in the last of them ... */
    uint64_t last_distinct; /* ... of so many different ones */
};

/* Options after defaults, checks and sizing; what a file records. */
struct dj_plan {
    uint32_t kind;      /* deja_kind */
    uint32_t part_kind; /* kind of the parts */
    uint32_t hash;      /* deja_hash */
    uint32_t filters;   /* F */
    uint64_t capacity;  /* of the first part */
    double fp_rate;     /* asked for, over all parts */
    uint32_t growth;
    uint32_t profile;   /* deja_profile, or 0 */
    uint64_t url_rules; /* deja_url_rules_id, or 0 */
    double tightening;
    uint32_t flags; /* of the options */
    uint32_t rules; /* enum dj_rules */
    bool seeded;
    bool own_k;        /* k was given, and the next visit keeps it */
    double multiplier; /* M, if m = n k M; otherwise 0 */
    uint64_t visit;
    uint32_t folds; /* how often it was halved (algebra.c) */
    struct dj_past past;
    struct dj_shape shape;   /* of the first part */
    uint64_t deletions;      /* paired: capacity of the second part ... */
    struct dj_shape removal; /* ... and its shape */
    struct dj_fuse fuse;     /* static */
    uint32_t generations;    /* window: G */
    uint64_t window_seconds;
    struct dj_layering layering; /* layered */
};

/* --- Options (options.c) ----------------------------------------------------- */

/* Options of any age as this library knows them; the rest zero, or refused. */
int dj_options_read(const deja_options *opt, deja_options *known, deja_error *err);
/* A plan with everything but the size. */
int dj_options_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err);

/* --- Plans (plan.c) ------------------------------------------------------------ */

/* A plan with sizes, of options that dj_options_read has passed. */
int dj_plan_resolve(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* The rate that a plan with a size of its own has at capacity. */
double dj_plan_rate(const struct dj_plan *plan);
/* Whether a filter of this kind has such parts. */
bool dj_plan_part_kind(uint32_t kind, uint32_t part_kind);
/* Parts that a new filter begins with, and the bytes of their bodies. */
uint32_t dj_plan_parts(const struct dj_plan *plan);
uint64_t dj_plan_bytes(const struct dj_plan *plan);
/* Numbers a key becomes, and how many of them part i is given. */
uint32_t dj_plan_words(const struct dj_plan *plan);
uint32_t dj_plan_stride(const struct dj_plan *plan, uint32_t i);
/* Capacity, rate and shape of part i; false when it would be too large. */
bool dj_plan_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part);
/* The rate that part i of a scalable filter is sized for. */
double dj_plan_series_rate(const struct dj_plan *plan, uint32_t i);
/* The refusal of so many keys at such a rate. */
int dj_plan_too_large(const struct dj_plan *plan, deja_error *err);

/* --- Rules for every filter (sound.c) ------------------------------------------- */

/* In this order, since each looks only at numbers that the ones before it have passed; the first
 * error names the field.  The plan's numbers, but for sizes; part i; and sizes against capacity
 * and rate, when plan->shape is known. */
int dj_plan_check(const struct dj_plan *plan, uint32_t n_parts, deja_error *err);
int dj_part_check(const struct dj_plan *plan, const struct dj_part *first,
                  const struct dj_part *part, uint32_t i, deja_error *err);
int dj_sizes_check(const struct dj_plan *plan, deja_error *err);

/* --- Kinds with a rule of their own ------------------------------------------- */

int dj_plan_size_paired(const deja_options *opt, struct dj_plan *plan, deja_error *err);

int dj_plan_size_static(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* Size a static filter for n keys: fuse.width is given, or 0 for the widest that fits memory bytes
 * (0: any number of them). */
int dj_plan_static(struct dj_plan *plan, uint64_t n, uint64_t memory, deja_error *err);
/* The rate of fingerprints of so many bits. */
double dj_plan_fuse_rate(uint32_t width);
/* A kind that is built, not added to, is refused. */
int dj_plan_refuse_static(const struct dj_plan *plan, deja_error *err);

int dj_plan_size_window(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* Generations that a body holds; 1 for other kinds. */
uint32_t dj_plan_lines(const struct dj_plan *plan);
/* Keys and rate that a generation is sized for, and its shape, of that of all. */
uint64_t dj_plan_window_quota(const struct dj_plan *plan);
double dj_plan_window_part_rate(const struct dj_plan *plan);
struct dj_shape dj_plan_window_generation(const struct dj_shape *s, uint32_t lines);
/* The rate when all generations hold their share of n keys, and what is lost on the way there. */
double dj_plan_window_rate(const struct dj_plan *plan, double n);
double dj_plan_window_lost(const struct dj_plan *plan, double n);

#endif
