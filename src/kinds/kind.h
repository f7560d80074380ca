/* kind.h - the interface of a kind.
 *
 * src/filter has checked the arguments, hashed the keys and taken the locks.  Each kind has one
 * file, which ends with its struct dj_kind; kinds.c lists them, and all other code calls through
 * them.  The comment of each function says what NULL means; most kinds need few of them. */
#ifndef DJ_KIND_H
#define DJ_KIND_H
#include "kinds/fields.h"
#include "kinds/record.h"

#define DJ_CHUNK 64 /* keys that are processed together */

enum dj_removal {
    DJ_REFUSED,
    DJ_FEWER,
    DJ_GONE /* the key is no longer found */
};

/* The operations of one part.  Hash i of a batch starts at hash[i * part->stride]. */
struct dj_body {
    void (*init)(struct dj_part *p); /* NULL: nothing to prepare */
    /* Prefetch the memory that add or contains reads first. */
    void (*prefetch)(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add);
    /* Adds keys in order and returns how many: fewer than n if the part is full.  shared: other
     * threads may be adding to this part at the same time.  ahead: the next n hashes, or hash
     * itself.  Their memory is prefetched along the way, one key at a time, which keeps the
     * processor's few miss buffers busy without overloading them.  (window: add and contains
     * answer with a bit for each generation that had the key.) */
    size_t (*add)(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                  uint8_t *is_new, bool shared);
    void (*contains)(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                     size_t n, uint8_t *found);
    /* Marks the pieces of the body (pieces.h) that these adds changed.  Only adds that answered
     * "new" may change a body.  NULL: any part of it may have changed. */
    void (*mark)(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new, size_t n);
    /* Used bits, counters or slots; static: bits that hold a key's fingerprint. */
    uint64_t (*bits_set)(const struct dj_part *p);
    /* Undo one add of this key; return how many times it was added.  NULL: not supported. */
    enum dj_removal (*remove)(struct dj_part *p, uint64_t hash, bool shared);
    uint32_t (*count)(const struct dj_part *p, uint64_t hash);
    /* Set operations.  For bodies of bits: word number `word` of the body after some folds.  For
     * others: adds the keys of a part of the same size and hashes. */
    uint64_t (*folded_word)(const struct dj_part *p, int folds, uint64_t word);
    void (*unite)(struct dj_part *into, const struct dj_part *from);
    /* For tables: how many more keys fit; and the hashes of the stored fingerprints, starting at
     * slot *at, which is advanced.  `stored` returns how many hashes, 0 at the end. */
    uint64_t (*room)(const struct dj_part *p);
    size_t (*stored)(const struct dj_part *p, uint64_t *at, uint64_t hash[DJ_CHUNK]);
    /* For tables with dates; otherwise NULL.  touch: like contains, but the keys that it finds were
     * seen today (p->today).  days: fills the days of keys that this part has and leaves the
     * others.  set_days: extends or replaces the days of a key; false: it is absent.  dated: like
     * stored, with the days. */
    void (*touch)(struct dj_part *p, const uint64_t *hash, size_t n, uint8_t *found);
    void (*days)(const struct dj_part *p, const uint64_t *hash, size_t n, deja_days *days);
    bool (*set_days)(struct dj_part *p, uint64_t hash, deja_days days, bool replace);
    size_t (*dated)(const struct dj_part *p, uint64_t *at, uint64_t hash[DJ_CHUNK],
                    deja_days days[DJ_CHUNK]);
};

/* Fields of a file that only one kind has (docs/format.md). */
struct dj_fields {
    const struct dj_field *field;
    size_t n;
};
#define DJ_FIELDS(table)                                                                          \
    {                                                                                             \
        (table), DJ_ARRAY_LEN(table)                                                              \
    }

struct dj_kind {
    const char *name;              /* as typed on the command line */
    uint32_t number;               /* a deja_kind, as stored in files */
    const char *help;              /* one line for help and `deja plan` */
    uint32_t can;                  /* DEJA_CAN_ADD | DEJA_CAN_REMOVE | ... */
    const char *const *options;    /* names of options that only some kinds accept, then NULL */
    uint32_t flags;                /* DEJA_MINIMAL_INCREASE .. that only this kind accepts */
    const struct dj_kind *variant; /* this kind with another body, which the flag ... */
    uint32_t variant_flag;         /* ... DEJA_DATES or DEJA_SPREAD chooses; NULL: none */
    const char *no_merge;          /* messages: why its filters cannot be merged or folded; */
    const char *no_fold;           /* NULL: they can, or a general message is enough */

    /* --- Options to sizes: pure arithmetic with overflow checks, no memory --- */

    uint32_t layout;                 /* of a body, for core/math */
    uint32_t fixed_k;                /* positions per key; 0: k can be chosen */
    uint32_t most_key_lines;         /* blocks of a key that a body can have; 0: one */
    uint32_t parts;                  /* parts at the start; 0: F */
    bool any_hash;                   /* accepts hashes with k numbers per key */
    bool adds_parts;                 /* gets more parts as it fills */
    uint64_t most_capacity;          /* 0: DJ_MAX_CAPACITY */
    const struct dj_kind *part_kind; /* of its parts, unless options choose; NULL: itself */
    /* Checks its own options and copies them into the plan; NULL: it has none. */
    int (*read)(const deja_options *opt, struct dj_plan *plan, deja_error *err);
    /* Sets shape and capacity. */
    int (*plan)(const deja_options *opt, struct dj_plan *plan, deja_error *err);
    bool (*by_multiplier)(const struct dj_plan *plan); /* m = n k M can size it; NULL: no */
    bool (*powers_of_2)(const struct dj_plan *plan);   /* its sizes are powers of 2; NULL: no */
    /* The rate that a part is sized for, the rate of the filter with n keys, and the keys lost
     * until then.  NULL: the same as for F equal parts. */
    double (*part_rate)(const struct dj_plan *plan);
    double (*rate)(const struct dj_plan *plan, double n);
    double (*lost)(const struct dj_plan *plan, double n);
    /* The most bodies of size plan->shape that it can have (NULL: F), and the most memory that it
     * needs besides them (NULL: none).  Returns false if that is too much. */
    uint32_t (*bodies)(const struct dj_plan *plan);
    bool (*besides)(const struct dj_plan *plan, uint64_t *bits, uint64_t *bytes);
    /* Adjusts part i, which starts with the plan's numbers; returns false if it would be too
     * large.  NULL: no adjustment. */
    bool (*part)(const struct dj_plan *plan, uint32_t i, struct dj_part *part);
    const struct dj_kind *(*kind_of_part)(const struct dj_plan *plan, uint32_t i); /* or NULL */

    /* --- Keys to rows of numbers; NULL: one hash per key, or the k hashes of the papers' families
     * --- */

    void (*rows)(const deja_filter *f, const deja_slice *keys, size_t n, uint64_t *row);
    uint32_t (*words)(const struct dj_plan *plan);              /* numbers in a row */
    uint32_t (*stride)(const struct dj_plan *plan, uint32_t i); /* of these, for part i */

    /* --- Answers --- */

    void (*prefetch)(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add);
    /* ahead, shared and the result are as in struct dj_body.  If add takes fewer than n keys,
     * make_room is called, if the kind has it. */
    size_t (*add)(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                  uint8_t *is_new, bool shared);
    void (*contains)(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                     uint8_t *found);
    bool marks; /* add calls dj_part_mark for every part that it changes */
    bool (*remove)(deja_filter *f, uint64_t hash, bool shared); /* NULL: cannot */
    uint32_t (*count)(const deja_filter *f, uint64_t hash);     /* NULL: cannot */
    void (*prefix)(const deja_filter *f, const deja_slice *prefix, size_t n, uint8_t *found);
    /* The number of keys that fit before it needs more room.  NULL: it never gets more room, and
     * its parts need no lock. */
    uint64_t (*room)(deja_filter *f);
    /* Called with the filter locked: begins the next generation, or describes the parts from
     * f->n_parts up to *n_parts, which then get bodies.  row: the key that did not fit. */
    int (*make_room)(deja_filter *f, const uint64_t *row, uint32_t *n_parts);
    /* The most bytes that the next parts may take; NULL: a multiple of the current size. */
    uint64_t (*most_growth)(const deja_filter *f);

    /* --- A filter's life --- */

    void (*made)(deja_filter *f);     /* plan and key are set; NULL: nothing to do */
    void (*attached)(deja_filter *f); /* its parts have bodies; NULL: nothing to do */
    /* Statistics from the body; and capacity, keys, entries and excess, which are known without
     * reading it (NULL: those of part 0). */
    void (*stats)(const deja_filter *f, deja_stats *s);
    void (*outline)(const deja_filter *f, deja_stats *o);
    /* Adds every key of a filter whose keys have the same positions in parts of the same sizes
     * (alike.c).  NULL: bits are OR-ed, fingerprints are added. */
    int (*merge)(deja_filter *into, const deja_filter *from, deja_error *err);
    /* For the next visit: the share of the rate for one of its parts (NULL: half), and other
     * values that it inherits (NULL: nothing). */
    double (*share)(const deja_options *next);
    void (*next_visit)(const deja_filter *f, struct dj_plan *next);

    /* --- Files --- */

    struct dj_fields header; /* its own fields of struct dj_plan ... */
    struct dj_fields record; /* ... and of struct dj_record */
    /* Checks the limits of these fields; NULL: they have none. */
    int (*check)(const struct dj_plan *plan, deja_error *err);
    /* Whether these parts can belong to this plan: each part (NULL: all are equal), and all of
     * them together (NULL: no further check).  Whether the plan reaches its rate at capacity
     * (NULL: compare `rate`). */
    bool (*part_is_sound)(const struct dj_plan *plan, const struct dj_part *part, uint32_t i);
    int (*check_parts)(const struct dj_plan *plan, const struct dj_part *part, uint32_t n,
                       deja_error *err);
    bool (*reaches_rate)(const struct dj_plan *plan);
    /* Copies the shapes of these parts into the plan; NULL: that of the first is enough. */
    void (*take_shapes)(struct dj_plan *plan, const struct dj_part *part);
    /* Copy counts to and from a record, besides those that every filter has; and estimate the keys
     * from the bodies, for a file that was not synced.  NULL: the keys of each part. */
    void (*to_record)(const deja_filter *f, struct dj_record *r);
    void (*from_record)(deja_filter *f, const struct dj_record *r);
    void (*recount)(const deja_filter *f, struct dj_record *r);
    /* Updates a reader's filter after changes by the writer; NULL: there is nothing to update. */
    void (*follow)(deja_filter *f, const struct dj_record *r);

    struct dj_body body; /* the operations of a part; empty: no part is of this kind */
};

extern const struct dj_kind dj_blocked, dj_classic, dj_exact, dj_layered, dj_paired, dj_scalable,
    dj_spectral, dj_static, dj_window;
/* exact with DEJA_DATES, spectral with DEJA_SPREAD; not in the list of kinds */
extern const struct dj_kind dj_exact_dates, dj_spectral_spread;

/* The kind with this number, or NULL. */
const struct dj_kind *dj_kind_of(uint32_t number);
/* The variant of a kind that these flags choose. */
static inline const struct dj_kind *dj_kind_variant(const struct dj_kind *kind, uint32_t flags)
{
    return kind && kind->variant_flag & flags ? kind->variant : kind;
}
/* Whether a kind has all these capabilities, whether it accepts this option, and the first kind
 * that does. */
static inline bool dj_kind_can(const struct dj_kind *kind, uint32_t capability)
{
    return (kind->can & capability) == capability;
}
bool dj_kind_takes(const struct dj_kind *kind, const char *option);
const char *dj_kind_with(const char *option);

#endif
