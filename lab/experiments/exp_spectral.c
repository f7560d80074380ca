/* exp_spectral.c - counters instead of bits: counting and removal.  The lecture notes on the
 * spectral Bloom filter make three claims: lookup by minimum selection gives the count or more;
 * the error probability is that of the Bloom filter; deletion is possible.
 *
 * URL i is added 1 + (trailing zeros of i + 1) times: half of them once, a quarter twice, and so
 * on, 2 on average. */
#include "lab/report/lab_report.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define COUNTERS_A_KEY 10.0
#define HASHES         7u
#define PIECE          1024u

enum {
    PLAIN,
    MINIMAL,
    N_UNITS
};
enum {
    OVER,       /* of the added URLs, those with too high a count */
    UNDER,      /* and with too low a count: must be 0 */
    EXCESS,     /* the sum of all excess counts */
    ABSENT,     /* of the other URLs, those with any count */
    GONE_SEEN,  /* of the removed URLs, those still counted */
    LEFT_UNDER, /* of the remaining URLs, those with too low a count */
    LEFT_OVER,  /* and with too high a count */
    BYTES,
    N_VALUES
};

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return N_UNITS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return N_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 4.0 * (double)lab->keys.n;
}

static uint32_t times_of(uint64_t i)
{
    return 1 + (uint32_t)__builtin_ctzll(i + 1);
}

static bool goes(uint64_t i)
{
    return i / 2 % 2 == 0; /* half: of those added once, half; twice, all; more, none */
}

static int add_all(const struct lab *lab, deja_filter *f, deja_error *err)
{
    for (uint64_t i = 0; i < lab->keys.n; i++) {
        if (i % PIECE == 0 && lab_stopped(lab))
            return LAB_STOPPED;
        for (uint32_t t = times_of(i); t > 0; t--) {
            const int rc = deja_filter_add(f, lab->keys.added[i], NULL, err);
            if (rc < 0)
                return rc;
        }
    }
    return DEJA_OK;
}

static int remove_half(const struct lab *lab, deja_filter *f, deja_error *err)
{
    for (uint64_t i = 0; i < lab->keys.n; i++) {
        if (i % PIECE == 0 && lab_stopped(lab))
            return LAB_STOPPED;
        for (uint32_t t = goes(i) ? times_of(i) : 0; t > 0; t--) {
            const int rc = deja_filter_remove(f, lab->keys.added[i], NULL, err);
            if (rc < 0)
                return rc;
        }
    }
    return DEJA_OK;
}

typedef void judge(double *value, uint64_t i, uint64_t count);

static void judge_added(double *value, uint64_t i, uint64_t count)
{
    value[OVER] += count > times_of(i);
    value[UNDER] += count < times_of(i);
    value[EXCESS] += count > times_of(i) ? (double)(count - times_of(i)) : 0;
}

static void judge_absent(double *value, uint64_t i, uint64_t count)
{
    (void)i;
    value[ABSENT] += count > 0;
}

static void judge_left(double *value, uint64_t i, uint64_t count)
{
    if (goes(i)) {
        value[GONE_SEEN] += count > 0;
    } else {
        value[LEFT_UNDER] += count < times_of(i);
        value[LEFT_OVER] += count > times_of(i);
    }
}

static int count_all(const struct lab *lab, const deja_filter *f, const deja_slice *keys,
                     judge *fn, double *value, deja_error *err)
{
    uint64_t count[PIECE];
    for (uint64_t at = 0; at < lab->keys.n; at += PIECE) {
        const size_t n = lab->keys.n - at < PIECE ? (size_t)(lab->keys.n - at) : PIECE;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        const int rc = deja_filter_count_batch(f, keys + at, n, count, err);
        if (rc < 0)
            return rc;
        for (size_t i = 0; i < n; i++)
            fn(value, at + i, count[i]);
    }
    return DEJA_OK;
}

static int measure(const struct lab *lab, deja_filter *f, bool minimal, double *value,
                   deja_error *err)
{
    deja_stats stats = DEJA_STATS_INIT;
    int rc = add_all(lab, f, err);
    if (rc == DEJA_OK)
        rc = count_all(lab, f, lab->keys.added, judge_added, value, err);
    if (rc == DEJA_OK)
        rc = count_all(lab, f, lab->keys.asked, judge_absent, value, err);
    if (rc == DEJA_OK && !minimal)
        rc = remove_half(lab, f, err);
    if (rc == DEJA_OK && !minimal)
        rc = count_all(lab, f, lab->keys.added, judge_left, value, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &stats, err);
    value[BYTES] = (double)stats.bytes;
    return rc;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *f = NULL;
    for (size_t i = 0; i < N_VALUES; i++)
        value[i] = 0;
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = lab->keys.n;
    opt.hashes = HASHES;
    opt.multiplier = COUNTERS_A_KEY / HASHES;
    opt.counter_bits = 8;
    opt.flags = task->unit == MINIMAL ? DEJA_MINIMAL_INCREASE : 0;
    opt.seed = task->seed;
    int rc = deja_filter_new(&opt, &f, err);
    if (rc == DEJA_OK)
        rc = measure(lab, f, task->unit == MINIMAL, value, err);
    deja_filter_free(f);
    return rc;
}

/* --- Report ----------------------------------------------------------------------- */

struct row {
    const char *label, *column;
    uint32_t unit, index;
    double share; /* fraction of the n URLs that is queried */
    double load;  /* keys in the filter, as a fraction of n, for the theory; 0: none */
    const char *note;
};

/* The rate that the library predicts for that many keys in these counters. */
static double expected(const struct lab *lab, double load)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_plan plan = DEJA_PLAN_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = (uint64_t)((double)lab->keys.n * load);
    opt.hashes = HASHES;
    opt.multiplier = COUNTERS_A_KEY / HASHES / load;
    opt.counter_bits = 8;
    return deja_plan_make(&opt, &plan, NULL) == DEJA_OK ? plan.fp_rate : NAN;
}

static void add_row(const struct lab *lab, const struct lab_results *r, struct lab_table *t,
                    const struct row *row)
{
    const double trials = (double)lab->keys.n * row->share, n = (double)lab->keys.n;
    struct lab_count count = {
        .hits = lab_sum(r, row->unit, row->index), .trials = trials, .runs = r->runs, .rate = NAN};
    if (row->load > 0) {
        count.rate = expected(lab, row->load);
        count.sigma = lab_blocked_sigma(n * row->load, HASHES, COUNTERS_A_KEY / row->load, trials,
                                        count.rate);
    }
    struct lab_cell *c = lab_cell(t, row->label, row->column);
    c->hashes = HASHES;
    (void)snprintf(c->note, sizeof c->note, "%s", row->note);
    lab_cell_rate(c, &count, &(struct lab_printed){0});
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    static const struct row rows[] = {
        {"URLs counted too often", "minimum selection", PLAIN, OVER, 1, 1,
         "as often as false positives"},
        {"URLs counted too seldom", "minimum selection", PLAIN, UNDER, 1, 0, "must be none"},
        {"other URLs counted at all", "minimum selection", PLAIN, ABSENT, 1, 1, "false positives"},
        {"URLs counted too often", "minimal increase", MINIMAL, OVER, 1, 0,
         "add raises only the smallest counters"},
        {"URLs counted too seldom", "minimal increase", MINIMAL, UNDER, 1, 0, "must be none"},
        {"other URLs counted at all", "minimal increase", MINIMAL, ABSENT, 1, 1,
         "no better: the same counters are not 0"},
        {"half taken back: still counted", "minimum selection", PLAIN, GONE_SEEN, 0.5, 0.5,
         "as if only the other half had come"},
        {"half taken back: others too often", "minimum selection", PLAIN, LEFT_OVER, 0.5, 0.5, ""},
        {"half taken back: others too seldom", "minimum selection", PLAIN, LEFT_UNDER, 0.5, 0,
         "must be none"},
    };
    (void)err;
    struct lab_table *t =
        lab_table(report, LAB_LIST, "counts", "what", "Counts, errors and deletion, %");
    lab_caption(t, "10 counters of 8 bits a URL, k = 7.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(lab, r, t, &rows[i]);
    lab_judge_rates(report, 0, 1);
    const double lost =
        lab_sum(r, PLAIN, UNDER) + lab_sum(r, MINIMAL, UNDER) + lab_sum(r, PLAIN, LEFT_UNDER);
    lab_verdict(
        report, lost == 0 ? LAB_AGREES : LAB_DIFFERS,
        "No URL was ever counted too seldom (%.0f cases), also after half of them had been "
        "taken back.",
        lost);
    lab_verdict(
        report, LAB_AGREES,
        "Counting costs no accuracy, as the notes say: URLs are counted too often exactly as "
        "often as others are taken for seen. The space is larger, %.0f times here (8 bits a "
        "counter).",
        lab_value(r, PLAIN, 0, BYTES) * 8 / ((double)lab->keys.n * COUNTERS_A_KEY));
    lab_verdict(
        report, LAB_NOTE,
        "A filter with counters all over its memory would have a rate of %.2f %%; deja keeps the "
        "counters of a URL in one cache line, which is faster and costs accuracy: %.2f %%.",
        100 * lab_bloom_rate(&(struct lab_bloom){(double)lab->keys.n, HASHES, 1,
                                                 COUNTERS_A_KEY / HASHES, false}),
        100 * expected(lab, 1));
    lab_verdict(
        report, LAB_NOTE,
        "The notes decrement blindly. Removing a URL that was never added would then take "
        "counts from others, and they would be missed; deja refuses what is not there, and "
        "counters at their maximum stay.");
    return DEJA_OK;
}

const struct lab_experiment exp_spectral = {
    .name = "spectral",
    .title = "Spectral Bloom filter: counts and deletion",
    .reproduces = "lecture notes on Bloom and spectral Bloom filters",
    .seconds = 2,
    .about =
        (const char *const[]){"Counters in the place of bits: insertion raises k of them, "
                              "deletion lowers them, lookup "
                              "takes the smallest. URLs come 1, 2, 3, ... times, 2 on average.",
                              NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
