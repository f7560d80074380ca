/* bench_case.c - fill, check, measure in rounds, check again.
 *
 * Keys by number:
 *
 *   0 .. members        present: added as strings before the first measurement
 *   members ..          new: added as strings while adding is measured
 *   BENCH_KEYS_ABSENT   absent: never added
 *
 * The rest of the n keys is inserted beforehand as bare hashes if the subject accepts these, which
 * is much faster than writing a hundred million strings.
 *
 * One measurement uses one lot of keys.  They are written into the same buffer each time; then the
 * limits (hashes of the same keys, lines, both fused) and the operation are timed.  So each
 * operation has its own limit, taken within the same millisecond, and noise affects both.  Every
 * operation uses keys that no other has touched recently, so their cache lines are as cold as
 * those of the limit.
 *
 * Adding uses up keys, so a small subject is emptied and refilled until all rounds are done. */
#include "bench/bench_case.h"
#include "bench/bench_limit.h"
#include "bench/bench_pair.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MEMBERS_MAX (UINT64_C(1) << 22)
#define HITS        100.0 /* hits to wait for when measuring the rate ... */
#define PROBES_MIN  (UINT64_C(1) << 20)
#define PROBES_MAX  (UINT64_C(1) << 26) /* ... as hashes */
#define FEW_PROBES  (UINT64_C(1) << 18) /* as strings */
#define SIGMAS      5.0                 /* a correct filter fails once in 1.7 million runs */
#define SCATTER     0.02                /* relative variation of the rate between filters ... */
#define SMALL       10.0 /* ... and this much over the root of n: small ones vary more */

const struct bench_op bench_ops[BENCH_OPS] = {
    {"contains absent", "contains absent", false, 100},
    {"contains present", "present", false, 0},
    {"contains half", NULL, false, 50},
    {"add new", "add new", true, 100},
    {"add 90% new", "90% new", true, 90},
    {"add 50% new", "50% new", true, 50},
    {"add 10% new", "10% new", true, 10},
    {"add present", "present", true, 0},
};
static const struct bench_op contains_absent = {.percent = 100};
static const struct bench_op contains_present = {.percent = 0};
static const struct bench_op add_known = {.adds = true};
static const struct bench_op add_new = {.adds = true, .percent = 100};
const char *const bench_call_names[BENCH_CALLS] = {[BENCH_BATCH] = "batch",
                                                   [BENCH_ONE] = "one",
                                                   [BENCH_TWO] = "2 threads",
                                                   [BENCH_AFTER] = "batch after"};

#define LIMITS (BENCH_ROUNDS * BENCH_CALLS * BENCH_OPS)

struct samples {
    double ns[BENCH_ROUNDS], ratio[BENCH_ROUNDS], fused[BENCH_ROUNDS];
    unsigned n;
};

struct run {
    struct bench_case *c;
    struct bench_keys *keys;
    const atomic_bool *stop;
    void *self; /* the subject's */
    struct bench_limit limit;
    uint64_t *number;
    uint8_t *known, *answer;     /* known: the key was added before this lot */
    uint64_t members, member_at; /* a power of two, and the position in the walk through them */
    uint64_t fresh;              /* the next new key, which is also the number of strings added */
    uint64_t hashed;             /* keys added as hashes */
    uint64_t stranger;           /* the next absent key */
    uint64_t dice;
    unsigned rounds_done;
    struct samples samples[BENCH_CALLS][BENCH_OPS];
    double hash_ns[LIMITS], line_ns[LIMITS], fused_ns[LIMITS], change_ns[BENCH_ROUNDS];
    size_t n_limits;
};

static uint64_t power_below(uint64_t x)
{
    uint64_t power = 1;
    while (power <= x / 2)
        power *= 2;
    return power;
}

size_t bench_case_lot(uint64_t n)
{
    const uint64_t lot = power_below(n / 16);
    return lot < BENCH_LOT_MAX ? (size_t)lot : BENCH_LOT_MAX;
}

static bool stopped(const struct run *r)
{
    return atomic_load_explicit(r->stop, memory_order_relaxed);
}

static int call_failed(const struct run *r, int rc, deja_error *err)
{
    return fail(err, rc, "%s: %s", bench_case_name(r->c), deja_strerror(rc));
}

/* --- Keys ------------------------------------------------------------------- */

/* Visits all members in a scattered order, so that none is repeated soon. */
static uint64_t next_member(struct run *r)
{
    return r->member_at++ * UINT64_C(0x9e3779b1) & (r->members - 1);
}

static size_t n_new(const struct bench_op *op, size_t n)
{
    return n * op->percent / 100;
}

/* Exactly the operation's share of the keys is new, in places that no branch predictor knows. */
static void choose_numbers(struct run *r, const struct bench_op *op, size_t n)
{
    uint64_t left = n_new(op, n);
    for (size_t i = 0; i < n; i++) {
        r->known[i] = mix_below(mix_next(&r->dice), n - i) >= left;
        left -= !r->known[i];
        r->number[i] = r->known[i] ? next_member(r) : op->adds ? r->fresh++ : r->stranger++;
    }
}

/* --- Filling ---------------------------------------------------------------- */

static int fill_strings(struct run *r, uint64_t n, deja_error *err)
{
    const struct bench_subject *s = r->c->subject;
    bench_call *add = s->collect ? s->collect : s->add_batch ? s->add_batch : s->add_one;
    while (n > 0 && !stopped(r)) {
        const size_t lot = n < r->c->lot ? (size_t)n : r->c->lot;
        choose_numbers(r, &add_new, lot);
        bench_keys_make(r->keys, r->number, lot);
        const int rc = add(r->self, r->keys->slice, lot, r->answer);
        if (rc < 0)
            return call_failed(r, rc, err);
        n -= lot;
    }
    return DEJA_OK;
}

static int fill_hashes(struct run *r, uint64_t n, deja_error *err)
{
    while (r->hashed < n && !stopped(r)) {
        const uint64_t left = n - r->hashed;
        const size_t lot = left < r->c->lot ? (size_t)left : r->c->lot;
        for (size_t i = 0; i < lot; i++)
            r->number[i] = mix_nth(++r->hashed);
        const int rc = r->c->subject->add_hashed(r->self, r->number, lot, r->answer);
        if (rc < 0)
            return call_failed(r, rc, err);
    }
    return DEJA_OK;
}

static bool is_called(const struct bench_case *c, unsigned call)
{
    return c->calls & BENCH_CALL(call);
}

/* New keys that one round adds, whether or not the subject has every call. */
static uint64_t new_keys_a_round(const struct bench_case *c)
{
    uint64_t n = 0;
    for (unsigned call = 0; call < BENCH_CALLS; call++)
        for (size_t op = 0; op < BENCH_OPS; op++)
            n += is_called(c, call) && bench_ops[op].adds ? n_new(&bench_ops[op], c->lot) : 0;
    return n;
}

/* The rounds for which one fill has keys: they use up at most half of the keys. */
static unsigned rounds_a_filling(const struct bench_case *c)
{
    if (c->subject->ready)
        return c->rounds; /* they use up no keys */
    const uint64_t rounds = c->n / 2 / new_keys_a_round(c);
    return rounds < c->rounds ? (unsigned)rounds : c->rounds;
}

static int fill(struct run *r, deja_error *err)
{
    const struct bench_case *c = r->c;
    const bool fixed = c->subject->ready;
    const uint64_t measured = fixed ? 0 : new_keys_a_round(c) * rounds_a_filling(c);
    const uint64_t rest = c->n - r->members - measured;
    c->subject->close(r->self);
    r->self = c->subject->open(c->kind, c->n, c->p, err);
    if (!r->self)
        return DEJA_ENOMEM;
    r->fresh = r->hashed = 0;
    int rc = fill_strings(r, r->members, err);
    if (rc == DEJA_OK && c->subject->add_hashed)
        rc = fill_hashes(r, rest, err);
    else if (rc == DEJA_OK)
        rc = fill_strings(r, rest, err);
    if (rc == DEJA_OK && fixed && !stopped(r))
        rc = c->subject->ready(r->self, err);
    return rc;
}

/* --- Checking --------------------------------------------------------------- */

static uint64_t count_ones(const uint8_t *answer, size_t n)
{
    uint64_t ones = 0;
    for (size_t i = 0; i < n; i++)
        ones += answer[i];
    return ones;
}

/* More hits than this are not chance if `mean` are expected. */
static double too_many(const struct bench_case *c, double mean)
{
    const double scatter = SCATTER + SMALL / sqrt((double)c->n);
    return mean + SIGMAS * sqrt(mean) + scatter * mean + SIGMAS;
}

/* In every measurement, each known key must be found, and must not be new.  New and absent keys may
 * be mistaken for known ones at the filter's rate. */
static int check_answers(const struct run *r, const struct bench_op *op, size_t n, deja_error *err)
{
    const struct bench_case *c = r->c;
    uint64_t mistaken = 0;
    for (size_t i = 0; i < n; i++) {
        const bool seen = op->adds ? !r->answer[i] : r->answer[i];
        if (r->known[i] && !seen)
            return fail(err, DEJA_EFORMAT,
                        "%s: false negative: key %" PRIu64 " was added but not found",
                        bench_case_name(c), r->number[i]);
        mistaken += !r->known[i] && seen;
    }
    const double rate = c->rate_expected > c->p ? c->rate_expected : c->p;
    if (c->rate_expected >= 0 && (double)mistaken > too_many(c, rate * (double)n_new(op, n)))
        return fail(err, DEJA_EFORMAT, "%s: %" PRIu64 " of %zu keys were mistaken for known ones",
                    bench_case_name(c), mistaken, n_new(op, n));
    return DEJA_OK;
}

static int check_members(struct run *r, deja_error *err)
{
    const struct bench_subject *s = r->c->subject;
    bench_call *contains = s->contains_batch ? s->contains_batch : s->contains_one;
    for (uint64_t at = 0; at < r->members && !stopped(r); at += r->c->lot) {
        choose_numbers(r, &contains_present, r->c->lot);
        bench_keys_make(r->keys, r->number, r->c->lot);
        int rc = contains(r->self, r->keys->slice, r->c->lot, r->answer);
        if (rc == DEJA_OK)
            rc = check_answers(r, &contains_present, r->c->lot, err);
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

/* Query one lot of keys that were never added; counts the false positives. */
static int probe_lot(struct run *r, uint64_t *hits, deja_error *err)
{
    const struct bench_subject *s = r->c->subject;
    const size_t lot = r->c->lot;
    int rc;
    choose_numbers(r, &contains_absent, lot);
    if (s->contains_hashed) {
        for (size_t i = 0; i < lot; i++)
            r->number[i] = mix_nth(r->number[i]);
        rc = s->contains_hashed(r->self, r->number, lot, r->answer);
    } else {
        bench_keys_make(r->keys, r->number, lot);
        rc = s->contains_one(r->self, r->keys->slice, lot, r->answer);
    }
    if (rc < 0)
        return call_failed(r, rc, err);
    *hits += count_ones(r->answer, lot);
    return DEJA_OK;
}

static uint64_t probes_wanted(const struct bench_case *c)
{
    if (!c->subject->contains_hashed)
        return FEW_PROBES;
    if (!(c->rate_expected > HITS / (double)PROBES_MAX))
        return c->rate_expected > 1 / (double)PROBES_MAX ? PROBES_MAX : PROBES_MIN;
    const double wanted = HITS / c->rate_expected;
    return wanted > (double)PROBES_MIN ? (uint64_t)wanted : PROBES_MIN;
}

static int check_rate(struct run *r, deja_error *err)
{
    struct bench_case *c = r->c;
    c->rate_expected = c->subject->rate(r->self);
    const uint64_t wanted = probes_wanted(c);
    uint64_t hits = 0;
    for (c->probes = 0; c->probes < wanted && !stopped(r); c->probes += c->lot) {
        const int rc = probe_lot(r, &hits, err);
        if (rc < 0)
            return rc;
    }
    c->rate = c->probes > 0 ? (double)hits / (double)c->probes : 0;
    const double mean = c->rate_expected * (double)c->probes;
    if (mean >= 0 && fabs((double)hits - mean) > too_many(c, mean) - mean)
        return fail(err, DEJA_EFORMAT,
                    "%s: %" PRIu64 " of %" PRIu64
                    " absent keys tested positive, %.1f were expected",
                    bench_case_name(c), hits, c->probes, mean);
    return DEJA_OK;
}

/* --- Measuring -------------------------------------------------------------- */

static bench_call *call_of(const struct bench_case *c, unsigned call, const struct bench_op *op)
{
    const struct bench_subject *s = c->subject;
    /* A window treats a repeat as a new key and would forget the first. */
    if (op->adds && op->percent < 100 && deja_kind_can(c->kind, DEJA_CAN_EXPIRE))
        return NULL;
    if (call == BENCH_ONE)
        return op->adds ? s->add_one : s->contains_one;
    return op->adds ? s->add_batch : s->contains_batch;
}

/* Stores the time per key. */
static int time_call(struct run *r, bench_call *function, bool two, double *ns)
{
    const size_t lot = r->c->lot;
    double took = 0;
    int rc;
    if (two) {
        rc = bench_pair_run(function, r->self, r->keys->slice, lot, r->answer, &took);
    } else {
        const double begin = clock_cpu_ns();
        rc = function(r->self, r->keys->slice, lot, r->answer);
        took = clock_cpu_ns() - begin;
    }
    *ns = took / (double)lot;
    return rc;
}

static int measure(struct run *r, unsigned call, size_t number, deja_error *err)
{
    const struct bench_op *op = &bench_ops[number];
    bench_call *function = call_of(r->c, call, op);
    struct samples *s = &r->samples[call][number];
    const size_t lot = r->c->lot;
    if (!function) {
        if (op->adds && !r->c->subject->ready) /* the keys are added anyway */
            return fill_strings(r, n_new(op, lot), err);
        return DEJA_OK;
    }
    choose_numbers(r, op, lot);
    bench_keys_make(r->keys, r->number, lot);
    bench_limit_warm(&r->limit, r->keys);
    const double hash_ns = bench_limit_hash(&r->limit, r->keys);
    const double line_ns = bench_limit_line(&r->limit);
    const double fused_ns = bench_limit_fused(&r->limit, r->keys);
    bench_limit_warm(&r->limit, r->keys);
    double ns;
    const int rc = time_call(r, function, call == BENCH_TWO, &ns);
    if (rc < 0)
        return call_failed(r, rc, err);
    s->ns[s->n] = ns;
    s->fused[s->n] = ns / fused_ns;
    s->ratio[s->n++] = ns / (hash_ns + line_ns);
    r->hash_ns[r->n_limits] = hash_ns;
    r->fused_ns[r->n_limits] = fused_ns;
    r->line_ns[r->n_limits++] = line_ns;
    return check_answers(r, op, lot, err);
}

/* After a second thread has added, a filter expects others until one thread has made many batches
 * in a row: let it do that with known keys. */
static int settle(struct run *r, deja_error *err)
{
    bench_call *add = call_of(r->c, BENCH_AFTER, &add_known);
    if (!add)
        return DEJA_OK;
    choose_numbers(r, &add_known, r->c->lot);
    bench_keys_make(r->keys, r->number, r->c->lot);
    const int rc = add(r->self, r->keys->slice, r->c->lot, r->answer);
    return rc < 0 ? call_failed(r, rc, err) : check_answers(r, &add_known, r->c->lot, err);
}

static int measure_ops(struct run *r, unsigned call, deja_error *err)
{
    int rc = call == BENCH_AFTER ? settle(r, err) : DEJA_OK;
    for (size_t op = 0; op < BENCH_OPS && rc == DEJA_OK && !stopped(r); op++)
        rc = measure(r, call, op, err);
    return rc;
}

static int run_rounds(struct run *r, deja_error *err)
{
    for (unsigned i = 0; i < rounds_a_filling(r->c) && r->rounds_done < r->c->rounds; i++) {
        for (unsigned call = 0; call < BENCH_CALLS; call++) {
            const int rc = is_called(r->c, call) ? measure_ops(r, call, err) : DEJA_OK;
            if (rc < 0)
                return rc;
        }
        r->change_ns[r->rounds_done] = bench_limit_change(&r->limit);
        r->rounds_done++;
    }
    return DEJA_OK;
}

static int run_fillings(struct run *r, deja_error *err)
{
    struct bench_case *c = r->c;
    int rc = DEJA_OK;
    while (rc == DEJA_OK && r->rounds_done < c->rounds && !stopped(r)) {
        rc = fill(r, err);
        if (rc == DEJA_OK && !r->limit.lines) {
            rc = check_members(r, err);
            if (rc == DEJA_OK)
                rc = check_rate(r, err);
            if (rc == DEJA_OK)
                rc = bench_limit_init(&r->limit, c->subject->bytes(r->self), c->lot, err);
        }
        if (rc == DEJA_OK)
            rc = run_rounds(r, err);
    }
    return rc;
}

static void summarize(struct run *r)
{
    struct bench_case *c = r->c;
    for (unsigned call = 0; call < BENCH_CALLS; call++)
        for (unsigned op = 0; op < BENCH_OPS; op++) {
            struct samples *s = &r->samples[call][op];
            if (s->n == 0)
                continue;
            c->figure[call][op] = (struct bench_figure){true, bench_spread_of(s->ns, s->n).median,
                                                        bench_spread_of(s->ratio, s->n),
                                                        bench_spread_of(s->fused, s->n).median};
        }
    c->hash_ns = bench_spread_of(r->hash_ns, r->n_limits).median;
    c->line_ns = bench_spread_of(r->line_ns, r->n_limits).median;
    c->change_ns = bench_spread_of(r->change_ns, r->rounds_done).median;
    c->fused_ns = bench_spread_of(r->fused_ns, r->n_limits).median;
    c->distance = r->limit.distance;
    c->fused_lot = r->limit.fused_lot;
    c->bytes = c->subject->bytes(r->self);
    c->key_len = bench_keys_mean_len(r->keys);
}

int bench_case_run(struct bench_case *c, struct bench_keys *keys, const atomic_bool *stop,
                   deja_error *err)
{
    c->lot = bench_case_lot(c->n);
    struct run *r = calloc(1, sizeof *r);
    if (!r)
        return fail(err, DEJA_ENOMEM, "out of memory for the measurements");
    *r = (struct run){.c = c, .keys = keys, .stop = stop, .stranger = BENCH_KEYS_ABSENT};
    r->members = power_below(c->n / 4);
    r->members = r->members < MEMBERS_MAX ? r->members : MEMBERS_MAX;
    r->number = malloc(c->lot * sizeof *r->number);
    r->known = malloc(c->lot);
    r->answer = malloc(c->lot);
    int rc = r->number && r->known && r->answer
                 ? run_fillings(r, err)
                 : fail(err, DEJA_ENOMEM, "out of memory for the measurements");
    if (rc == DEJA_OK)
        rc = fill_strings(r, c->n - r->fresh - r->hashed, err);
    if (rc == DEJA_OK)
        rc = check_rate(r, err); /* now with all n keys */
    if (rc == DEJA_OK && !stopped(r))
        summarize(r);
    c->subject->close(r->self);
    bench_limit_fini(&r->limit);
    free(r->number);
    free(r->known);
    free(r->answer);
    free(r);
    return rc;
}
