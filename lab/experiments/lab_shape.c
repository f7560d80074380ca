/* lab_shape.c - time against k and F; see lab_shape.h.
 *
 * The filters of all k and F exist at the same time and are full.  A round times each of them in
 * both ways, and the other structures, in random order: if the machine becomes slower or faster,
 * all subjects are affected alike.  Of the parts of a round the fastest counts (lab_fastest).
 *
 * One by one: a filter with a single function computes a single hash.  For k functions, k F such
 * filters hash each key, one after the other, and the filter that is timed gets these numbers. */
#include "lab/experiments/lab_shape.h"
#include "bench/bench_subject.h"
#include "tools/base/mix.h"

#define SINGLES (SHAPE_FILTERS * THESIS_K_MAX)
#define PIECE   256u /* keys that are hashed before the filter gets them */

struct row {
    deja_filter *filter; /* all its functions at once; for `one by one`, the bits */
    deja_filter *const *single;
    uint32_t n; /* functions in all, k F */
    uint64_t *hash, *one;
};

struct other {
    const struct bench_subject *calls;
    void *self;
    uint8_t *answer;
};

struct shape {
    deja_filter *filter[SHAPE_FILTERS][THESIS_K];
    deja_filter *single[SINGLES];
    struct other other[SHAPE_OTHERS];
    uint64_t hash[PIECE * SINGLES], one[PIECE];
};

/* --- Steps that are timed -------------------------------------------------------------- */

/* The hashes of some keys: k F computations for each. */
static void hash_piece(const struct row *r, const deja_slice *keys, size_t n)
{
    for (uint32_t i = 0; i < r->n; i++) {
        deja_filter_hash_batch(r->single[i], keys, n, r->one);
        for (size_t j = 0; j < n; j++)
            r->hash[j * r->n + i] = r->one[j];
    }
}

static double add_row(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct row *r = ctx;
    uint8_t is_new[PIECE];
    for (uint64_t at = 0; at < n && lab_going(t); at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        hash_piece(r, keys + at, some);
        lab_checked(t, deja_filter_add_hashed(r->filter, r->hash, some, is_new, NULL, t->err));
    }
    return 0;
}

static double ask_row(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct row *r = ctx;
    uint8_t found[PIECE];
    double hits = 0;
    for (uint64_t at = 0; at < n && lab_going(t); at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        hash_piece(r, keys + at, some);
        deja_filter_contains_hashed(r->filter, r->hash, some, found);
        hits += (double)lab_ones(found, some);
    }
    return hits;
}

static double other_call(struct lab_task *t, bench_call *call, const struct other *o,
                         const deja_slice *keys, uint64_t n)
{
    const int rc = call(o->self, keys, (size_t)n, o->answer);
    if (rc < 0)
        lab_failed(t, rc, "a structure that is compared: %s", deja_strerror(rc));
    return 0;
}

static double add_other(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct other *o = ctx;
    return other_call(t, o->calls->add_batch ? o->calls->add_batch : o->calls->add_one, o, keys,
                      n);
}

static double ask_other(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    const struct other *o = ctx;
    return other_call(t,
                      o->calls->contains_batch ? o->calls->contains_batch : o->calls->contains_one,
                      o, keys, n);
}

/* --- Preparation -------------------------------------------------------------------------- */

static void make_filters(struct lab_task *t, struct shape *s, uint64_t before)
{
    static const double multiplier = SHAPE_M;
    for (uint32_t f = 0; f < SHAPE_FILTERS; f++) {
        const struct lab_bloom_spec spec = {DEJA_HASH_JENKINS, f + 1,       thesis_spec.k,
                                            THESIS_K,          &multiplier, 1};
        struct lab_bank *bank = lab_bank(t, &spec);
        lab_bank_add(bank, t->lab->keys.added, before, NULL, NULL);
        for (uint32_t i = 0; bank && i < THESIS_K; i++)
            s->filter[f][i] = bank->filter[i];
    }
    for (uint32_t i = 0; i < SINGLES; i++) {
        deja_options opt = lab_options(t, DEJA_CLASSIC);
        opt.hash = DEJA_HASH_JENKINS;
        opt.hashes = 1;
        opt.memory = 64; /* only its function is used */
        opt.seed = mix64(t->seed + i) | 1;
        s->single[i] = lab_filter(t, &opt);
    }
}

static void make_others(struct lab_task *t, struct shape *s, uint64_t before)
{
    static const struct {
        const struct bench_subject *calls;
        uint32_t kind;
    } others[SHAPE_OTHERS] = {
        {&bench_table, 0}, {&bench_filter, DEJA_CLASSIC}, {&bench_filter, DEJA_BLOCKED}};
    const struct lab_keys *keys = &t->lab->keys;
    for (uint32_t i = 0; i < SHAPE_OTHERS && t->rc == DEJA_OK; i++) {
        struct other *o = &s->other[i];
        o->calls = others[i].calls;
        o->answer = lab_alloc(t, keys->n);
        if (t->rc == DEJA_OK && !(o->self = o->calls->open(others[i].kind, keys->n, 0.01, t->err)))
            lab_checked(t, DEJA_ENOMEM);
        if (t->rc == DEJA_OK)
            (void)add_other(t, o, keys->added, before);
    }
}

/* --- Rounds -------------------------------------------------------------------------------- */

static double time_subject(struct lab_task *t, struct shape *s, uint32_t subject, bool add,
                           const deja_slice *keys, uint64_t n)
{
    const uint32_t cell = subject % (SHAPE_FILTERS * THESIS_K);
    const uint32_t f = cell / THESIS_K, k = THESIS_K_MIN + cell % THESIS_K;
    struct row row = {s->filter[f][k - THESIS_K_MIN], s->single, (f + 1) * k, s->hash, s->one};
    if (subject >= shape_other(0))
        return lab_fastest(t, add ? add_other : ask_other, &s->other[subject - shape_other(0)],
                           keys, n, NULL);
    if (subject < shape_subject(SHAPE_DEJA, 1, THESIS_K_MIN))
        return lab_fastest(t, add ? add_row : ask_row, &row, keys, n, NULL);
    return lab_fastest(t, add ? lab_add_step : lab_ask_step, row.filter, keys, n, NULL);
}

static void shuffle(uint32_t *order, uint32_t n, uint64_t *random)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint64_t j = mix_below(mix_next(random), i);
        const uint32_t kept = order[i - 1];
        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static void time_rounds(struct lab_task *t, struct shape *s, uint64_t before)
{
    const struct lab_keys *keys = &t->lab->keys;
    const uint64_t n = keys->n / 100 > LAB_PARTS ? keys->n / 100 : LAB_PARTS;
    uint32_t order[SHAPE_SUBJECTS];
    uint64_t random = t->seed;
    for (uint32_t i = 0; i < SHAPE_SUBJECTS; i++)
        order[i] = i;
    for (uint32_t round = 0; round < SHAPE_ROUNDS; round++) {
        shuffle(order, SHAPE_SUBJECTS, &random);
        for (uint32_t i = 0; i < SHAPE_SUBJECTS && lab_going(t); i++) {
            double *time = t->value + shape_value(0, order[i], round);
            const uint32_t step = SHAPE_SUBJECTS * SHAPE_ROUNDS;
            time[SHAPE_ADD * step] = time_subject(t, s, order[i], true, keys->added + before, n);
            time[SHAPE_QUERY * step] = time_subject(t, s, order[i], false, keys->asked, n);
        }
    }
}

void lab_shape_run(struct lab_task *t)
{
    struct shape *s = lab_alloc(t, sizeof *s);
    const uint64_t before = t->lab->keys.n - t->lab->keys.n / 10;
    if (!s)
        return;
    make_filters(t, s, before);
    make_others(t, s, before);
    if (t->rc == DEJA_OK)
        time_rounds(t, s, before);
    for (uint32_t i = 0; i < SHAPE_OTHERS; i++)
        if (s->other[i].calls)
            s->other[i].calls->close(s->other[i].self);
}
