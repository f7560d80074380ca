/* bench_subject.h - a benchmark subject: a kind of deja, or another structure that stores keys.
 *
 * The calls process many keys in order; answer[i] is 1 if key i was found or, for add, if it was
 * new.  "Batch" is a library call for many keys, "one" a call per key. */
#ifndef BENCH_BENCH_SUBJECT_H
#define BENCH_BENCH_SUBJECT_H
#include "deja.h"

typedef int bench_call(void *self, const deja_slice *keys, size_t n, uint8_t *answer);

struct bench_subject {
    const char *name; /* NULL: named after its kind */
    /* Create a subject for n keys at rate p; NULL, with a reason in err, on failure. */
    void *(*open)(uint32_t kind, uint64_t n, double p, deja_error *err);
    void (*close)(void *self); /* self may be NULL */
    /* Upper bound of the bytes for n keys with this mean length; 0: unknown. */
    uint64_t (*estimate)(uint32_t kind, uint64_t n, double p, double key_len);
    uint64_t (*bytes)(void *self); /* current memory */
    double (*rate)(void *self);    /* expected false positive rate now; negative: unknown */
    bench_call *contains_batch, *add_batch; /* NULL: not supported */
    bench_call *contains_one, *add_one;
    /* For a subject that is built from all its keys: collect them, then call ready.  It has no add
     * to measure; add_hashed may fill it, too. */
    bench_call *collect;
    int (*ready)(void *self, deja_error *err);
    /* The same for keys that are already hashes, to fill and to probe quickly; or NULL. */
    int (*add_hashed)(void *self, const uint64_t *hash, size_t n, uint8_t *is_new);
    int (*contains_hashed)(void *self, const uint64_t *hash, size_t n, uint8_t *found);
};

/* bench_filter.c: deja's kinds; those with layers, those made by a deja_builder, filters that
 * have grown, and counters that are spread. */
extern const struct bench_subject bench_filter, bench_layered, bench_static, bench_grown,
    bench_scattered;
/* bench_segments.c, bench_table.c */
extern const struct bench_subject bench_segments, bench_table;
double bench_rate_unknown(void *self); /* -1 */
/* bench_libbloom.c: NULL if libbloom is not installed. */
const struct bench_subject *bench_libbloom(void);

#endif
