/* bench_case.h - times each operation on one subject, filled with n keys at rate p. */
#ifndef BENCH_BENCH_CASE_H
#define BENCH_BENCH_CASE_H
#include "bench/bench_keys.h"
#include "bench/bench_spread.h"
#include "bench/bench_subject.h"
#include <stdatomic.h>

/* The operations that are measured, in each way of calling: bench_ops lists them. */
struct bench_op {
    const char *name;
    const char *title; /* in the table, after the operations before it; NULL: not shown */
    bool adds;         /* test and add; otherwise contains */
    unsigned percent;  /* share of the keys that are new or absent */
};
#define BENCH_OPS 8
extern const struct bench_op bench_ops[BENCH_OPS];
/* The ways of calling.  AFTER is a batch again, after two threads have shared the subject. */
enum {
    BENCH_BATCH,
    BENCH_ONE,
    BENCH_TWO,
    BENCH_AFTER,
    BENCH_CALLS
};
#define BENCH_CALL(call) (1u << (call))
extern const char *const bench_call_names[BENCH_CALLS];

#define BENCH_LOT_MAX ((size_t)1 << 16) /* maximum number of keys per measurement */
#define BENCH_ROUNDS  64                /* at most */
#define BENCH_N_MIN   1024

struct bench_figure { /* over the rounds */
    bool measured;
    double ns;                 /* per key: the median */
    struct bench_spread ratio; /* to the limit measured just before it in the same round */
    double fused;              /* median of the ratios to the fused limit */
};

struct bench_case {
    /* inputs */
    const char *section; /* as named on the command line */
    const struct bench_subject *subject;
    uint32_t kind;
    unsigned calls; /* those to measure: BENCH_CALL(BENCH_BATCH) | ... */
    uint64_t n;
    double p;
    unsigned rounds;
    /* results */
    size_t lot;              /* keys per measurement */
    uint64_t bytes;          /* of the subject, with n keys */
    double rate;             /* false positive rate, measured with n keys */
    double rate_expected;    /* negative: unknown */
    uint64_t probes;         /* keys used to measure the rate */
    double hash_ns, line_ns; /* their sum is the limit */
    double fused_ns;         /* the limit if both overlap */
    double change_ns;        /* like line_ns, but the line is also written */
    double key_len;
    unsigned distance;  /* prefetch distance that touches lines fastest */
    unsigned fused_lot; /* keys that the fused limit hashes at a time */
    struct bench_figure figure[BENCH_CALLS][BENCH_OPS];
};

static inline const char *bench_case_name(const struct bench_case *c)
{
    return c->subject->name ? c->subject->name : deja_kind_name(c->kind);
}

/* The number of keys per measurement for a subject of n keys. */
size_t bench_case_lot(uint64_t n);
/* Fill, check the answers, measure, check again.  DEJA_EFORMAT: a wrong answer; err says which.
 * keys must have room for one lot.  Stops early, without results, when *stop becomes true. */
int bench_case_run(struct bench_case *c, struct bench_keys *keys, const atomic_bool *stop,
                   deja_error *err);

#endif
