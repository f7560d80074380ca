/* bench_subject.h - something that remembers keys, to be measured: a kind of deja, or what else
 * there is.
 *
 * The calls work on many keys in order; answer[i] is 1 when key i was found, or (add) when it was
 * new.  "Batch" is one call of the library for all of them, "one" a call for each. */
#ifndef BENCH_BENCH_SUBJECT_H
#define BENCH_BENCH_SUBJECT_H
#include "deja.h"

typedef int bench_call(void *self, const deja_slice *keys, size_t n, uint8_t *answer);

struct bench_subject {
    const char *name;
    uint32_t kind; /* a deja_kind; 0: not ours */
    /* Room for n keys at rate p; NULL and a reason in err when there is none. */
    void *(*open)(uint32_t kind, uint64_t n, double p, deja_error *err);
    void (*close)(void *self); /* NULL is fine */
    /* Bytes that n keys will take at most, of that length on average; 0: cannot be told. */
    uint64_t (*estimate)(uint32_t kind, uint64_t n, double p, double key_len);
    uint64_t (*bytes)(void *self); /* now */
    double (*rate)(void *self);    /* of false positives to expect now; negative: not known */
    bench_call *contains_batch, *add_batch; /* NULL: has none */
    bench_call *contains_one, *add_one;
    /* For a subject that is made of all its keys: take them, and then be ready.  It has no add
     * that could be measured; add_hashed may fill it, too. */
    bench_call *collect;
    int (*ready)(void *self, deja_error *err);
    /* The same for keys that are numbers already, to fill and to probe quickly; or NULL. */
    int (*add_hashed)(void *self, const uint64_t *hash, size_t n, uint8_t *is_new);
    int (*contains_hashed)(void *self, const uint64_t *hash, size_t n, uint8_t *found);
};

/* bench_filter.c, bench_segments.c, bench_static.c, bench_table.c */
extern const struct bench_subject bench_filter, bench_layered, bench_segments, bench_static,
    bench_table;
/* bench_libbloom.c: NULL when libbloom is not installed. */
const struct bench_subject *bench_libbloom(void);

#endif
