/* plan.h - turns options into sizes: computes every number that a file records, without allocating
 * memory.
 *
 * Each kind computes its own sizes; plan.c has the steps that they share.  All of it is pure
 * arithmetic. */
#ifndef DJ_PLAN_H
#define DJ_PLAN_H
#include "core/hash/hash.h"
#include "kinds/layering.h"
#include "kinds/part.h"

#define DJ_DEFAULT_RATE         1e-6
#define DJ_DEFAULT_GROWTH       2
#define DJ_DEFAULT_GENERATIONS  1
#define DJ_DEFAULT_COUNTER_BITS 4
#define DJ_DEFAULT_LAYERS       8
#define DJ_TIGHTENING           0.7 /* by default */
#define DJ_SPARE_SHARE          0.1 /* of the rate, reserved for growth if capacity is given */
#define DJ_MAX_FILTERS          16
#define DJ_MAX_CAPACITY         (UINT64_C(1) << 53)
#define DJ_MAX_SECONDS          (UINT64_C(1) << 40)
#define DJ_MAX_GENERATIONS      (DJ_BLOCK_LINES - 1) /* full ones */
#define DJ_MAX_GROWTH           1024
#define DJ_MAX_MULTIPLIER       1000000000
#define DJ_MAX_VISIT            ((UINT64_C(1) << 47) - 1)
#define DJ_MAX_FOLDS            53 /* log2 of the largest size */

/* The results of earlier visits (visit.c); all zero in the first one. */
struct dj_past {
    uint64_t visits;        /* visits finished before this one */
    double missed;          /* probability that all of them missed a page */
    double last_lost;       /* keys lost in the last of them ... */
    uint64_t last_distinct; /* ... and how many distinct keys it had */
};

/* What turns keys into hashes, besides the hash function: parts of merged filters keep theirs
 * (sources.h). */
struct dj_source {
    uint8_t key[DEJA_KEY_LEN];
    uint64_t visit;
    uint32_t rules;  /* enum dj_rules */
    uint32_t seeded; /* 1: the key was made from a seed and is not secret */
};

#define DJ_MAX_OTHERS 7
/* The sources of a scalable filter's parts, besides its own. */
struct dj_others {
    uint32_t n;
    struct dj_source source[DJ_MAX_OTHERS];
};

/* Options after defaults, checks and sizing: what a file records. */
struct dj_plan {
    const struct dj_kind *kind;
    const struct dj_kind *part_kind; /* of the parts */
    uint32_t hash;                   /* deja_hash */
    uint32_t filters;                /* F */
    uint32_t machine;                /* 1 .. F: only this one is here; 0: all */
    uint64_t capacity;               /* of the first part */
    double fp_rate;                  /* as requested, over all parts */
    uint32_t growth;
    uint32_t profile;   /* deja_profile, or 0 */
    uint64_t url_rules; /* deja_url_rules_id, or 0 */
    double tightening;
    uint32_t flags; /* of the options */
    uint32_t rules; /* enum dj_rules */
    bool seeded;
    bool own_k;           /* k was given, and the next visit keeps it */
    uint32_t cache_lines; /* blocks of a key as given; 0: chosen */
    double multiplier;    /* M, if m = n k M; otherwise 0 */
    uint64_t visit;
    uint32_t folds; /* how many times the filter was halved */
    struct dj_past past;
    struct dj_shape shape;   /* of the first part */
    uint64_t deletions;      /* paired: capacity of the second part ... */
    struct dj_shape removal; /* ... and its shape; static: that of the exceptions */
    struct dj_fuse fuse;     /* static */
    uint32_t exceptions;     /* static: keys in the second part; 0: it has none */
    uint32_t generations;    /* window: G */
    uint64_t window_seconds;
    struct dj_layering layering; /* layered */
    struct dj_others others;     /* scalable */
    uint32_t reserved;           /* space in a header between fields of a kind; must be 0 */
};

/* --- Results of a plan --------------------------------------------------------- */

/* The rate at capacity, within the range of a file; the rate that its parts are sized for; the
 * rate with n keys; and the keys lost until then. */
double dj_plan_rate(const struct dj_plan *plan);
double dj_plan_part_rate(const struct dj_plan *plan);
double dj_plan_rate_at(const struct dj_plan *plan, double n);
double dj_plan_lost(const struct dj_plan *plan, double n);
/* How many of the F filters are here, and the number of the first one, from 0. */
static inline uint32_t dj_plan_held(const struct dj_plan *plan)
{
    return plan->machine ? 1 : plan->filters;
}
static inline uint32_t dj_plan_place(const struct dj_plan *plan)
{
    return plan->machine ? plan->machine - 1 : 0;
}
/* The bodies of all F filters, also of those that are not here: they share the memory. */
uint32_t dj_plan_shares(const struct dj_plan *plan);
/* The number of parts of a new filter, the most bodies of size plan->shape that it can have, and
 * the bytes of all bodies of known size. */
uint32_t dj_plan_parts(const struct dj_plan *plan);
uint32_t dj_plan_bodies(const struct dj_plan *plan);
uint64_t dj_plan_bytes(const struct dj_plan *plan);
/* Cache lines that a lookup reads: k in each classic body, one to three in a blocked one, three in a
 * static one, otherwise one. */
uint64_t dj_plan_reads(const struct dj_plan *plan);
/* Generations in a body: 1 except in a window. */
uint32_t dj_plan_lines(const struct dj_plan *plan);
/* The numbers of blocks that a key can have in a part; the parts of deja 0.1 have one. */
struct dj_key_lines dj_plan_key_lines(const struct dj_plan *plan);
/* The numbers that a key becomes, and how many of these part i gets. */
uint32_t dj_plan_words(const struct dj_plan *plan);
uint32_t dj_plan_stride(const struct dj_plan *plan, uint32_t i);
/* The kind of part i. */
const struct dj_kind *dj_plan_part_kind(const struct dj_plan *plan, uint32_t i);
/* Sets the kind, capacity, rate, shape and marks of part i; false if it would be too large. */
bool dj_plan_part(const struct dj_plan *plan, uint32_t i, struct dj_part *part);
/* Whether a filter of this kind can have parts of that kind. */
bool dj_plan_fits_parts(const struct dj_kind *kind, const struct dj_kind *part_kind);
/* Whether a body of this shape has at most twice the rate p when it holds n keys. */
bool dj_plan_reaches(const struct dj_shape *s, uint64_t n, double p);

/* --- Sizes ----------------------------------------------------------------------- */

/* Plans a kind with F equal bodies, from two of capacity, rate and memory, or from the multiplier.
 * The functions after it are steps of that, for kinds with rules of their own. */
int dj_plan_plain(const deja_options *opt, struct dj_plan *plan, deja_error *err);
int dj_plan_check_two(const deja_options *opt, deja_error *err);
int dj_plan_by_two(const deja_options *opt, struct dj_plan *plan, deja_error *err);
int dj_plan_check_multiplier(const deja_options *opt, const struct dj_plan *plan, deja_error *err);
int dj_plan_by_multiplier(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* Refuses memory too small for a key, and sets the rate if it depends on the size. */
int dj_plan_settle(const deja_options *opt, struct dj_plan *plan, deja_error *err);
/* Returns the error for this number of keys at this rate. */
int dj_plan_too_large(const struct dj_plan *plan, deja_error *err);
/* Always true: for kinds whose every plan has the property. */
bool dj_plan_always(const struct dj_plan *plan);

#endif
