/* exp_spectral.c - counters instead of bits: counting and removal.  The lecture notes on the
 * spectral Bloom filter make three claims: lookup by minimum selection gives the count or more;
 * the error probability equals the Bloom filter's; deletion is possible.
 *
 * URL i is added 1 + (trailing zeros of i + 1) times: half of them once, a quarter twice, and so
 * on, 2 on average. */
#include "lab/engine/lab_task.h"
#include "lab/experiments/counter_memory.h"
#include "lab/report/lab_report.h"
#include <math.h>

#define COUNTERS_PER_KEY 10.0
#define HASHES           7u
#define PIECE            1024u

enum {
    PLAIN,
    MINIMAL,
    MEMORY, /* the first unit of counter_memory.c */
    N_UNITS = MEMORY + COUNTER_MEMORY_UNITS
};
enum {
    OVER,       /* of the added URLs, those with too high a count */
    UNDER,      /* and with too low a count: must be 0 */
    ABSENT,     /* of the other URLs, those with any count */
    GONE_SEEN,  /* of the removed URLs, those still counted */
    LEFT_UNDER, /* of the remaining URLs, those with too low a count */
    LEFT_OVER,  /* and with too high a count */
    BYTES,
    N_VALUES
};
_Static_assert((int)COUNTER_VALUES <= (int)N_VALUES, "units of both kinds have room");

static uint32_t times_of(uint64_t i)
{
    return 1 + (uint32_t)__builtin_ctzll(i + 1);
}

/* Whether URL i is removed again: every other URL of those added once, of those added twice, and
 * so on.  i + 1 is 2^z (2 q + 1) for a URL added z + 1 times; q numbers these URLs. */
static bool goes(uint64_t i)
{
    return (i + 1) >> times_of(i) & 1;
}

/* The number of URLs that are removed; (n / 2^z + 1) / 2 of the first n are added z + 1 times. */
static double removed(uint64_t n)
{
    uint64_t sum = 0;
    for (; n > 0; n /= 2)
        sum += (n + 1) / 2 / 2;
    return (double)sum;
}

static deja_options options(uint64_t n, double counters_per_key)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = n;
    opt.hashes = HASHES;
    opt.multiplier = counters_per_key / HASHES;
    opt.counter_bits = 8;
    return opt;
}

/* Add every URL, or remove half of them, as many times as it occurs. */
static void change(struct lab_task *t, deja_filter *f, bool add)
{
    for (uint64_t i = 0; i < t->lab->keys.n && lab_going(t); i++) {
        const deja_slice url = t->lab->keys.added[i];
        for (uint32_t times = add || goes(i) ? times_of(i) : 0; times > 0; times--)
            lab_checked(t, add ? deja_filter_add(f, url, NULL, t->err)
                               : deja_filter_remove(f, url, NULL, t->err));
    }
}

typedef void judge(double *value, uint64_t i, uint64_t count);

static void judge_added(double *value, uint64_t i, uint64_t count)
{
    value[OVER] += count > times_of(i);
    value[UNDER] += count < times_of(i);
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

static void count_all(struct lab_task *t, const deja_filter *f, const deja_slice *keys, judge *fn)
{
    uint64_t count[PIECE];
    for (uint64_t at = 0; at < t->lab->keys.n && lab_going(t); at += PIECE) {
        const uint64_t rest = t->lab->keys.n - at;
        const size_t n = rest < PIECE ? (size_t)rest : PIECE;
        lab_checked(t, deja_filter_count_batch(f, keys + at, n, count, t->err));
        for (size_t i = 0; i < n && t->rc == DEJA_OK; i++)
            fn(t->value, at + i, count[i]);
    }
}

static void run(struct lab_task *t)
{
    if (t->unit >= MEMORY) {
        counter_memory_run(t, t->unit - MEMORY);
        return;
    }
    deja_options opt = options(t->lab->keys.n, COUNTERS_PER_KEY);
    opt.flags = t->unit == MINIMAL ? DEJA_MINIMAL_INCREASE : 0;
    opt.seed = t->seed;
    deja_filter *f = lab_filter(t, &opt);
    change(t, f, true);
    count_all(t, f, t->lab->keys.added, judge_added);
    count_all(t, f, t->lab->keys.asked, judge_absent);
    if (t->unit == PLAIN) {
        change(t, f, false);
        count_all(t, f, t->lab->keys.added, judge_left);
    }
    t->value[BYTES] = (double)lab_stats(t, f).bytes;
}

/* --- Report ----------------------------------------------------------------------- */

enum share {
    ALL,
    REMOVED,
    REMAINING
};

struct row {
    const char *label;
    uint32_t unit, index;
    enum share asked; /* which of the n URLs are queried */
    double load;      /* keys in the filter, as a fraction of n, for the theory; 0: none */
    const char *note;
};

/* The rate that the library predicts for that many keys in these counters. */
static double expected(double n, double load)
{
    const deja_options opt = options((uint64_t)(n * load), COUNTERS_PER_KEY / load);
    deja_plan plan = DEJA_PLAN_INIT;
    return deja_plan_make(&opt, &plan, NULL) == DEJA_OK ? plan.fp_rate : NAN;
}

static void add_row(const struct lab_results *r, struct lab_table *t, const struct row *row)
{
    const double n = lab_n(r), gone = removed(r->lab->keys.n), load = row->load;
    const double trials = row->asked == ALL ? n : row->asked == REMOVED ? gone : n - gone;
    const double rate = load > 0 ? expected(n, load) : NAN;
    const struct lab_count count = lab_counted(
        r, row->unit, row->index, trials, rate,
        load > 0 ? lab_blocked_sigma(n * load, HASHES, COUNTERS_PER_KEY / load, trials, rate) : 0);
    struct lab_cell *c =
        lab_cell(t, row->label, row->unit == PLAIN ? "minimum selection" : "minimal increase");
    c->hashes = HASHES;
    lab_note(c, "%s", row->note);
    lab_cell_rate(c, &count, NULL);
}

static const struct row rows[] = {
    {"counts too high", PLAIN, OVER, ALL, 1, "as frequent as false positives"},
    {"counts too low", PLAIN, UNDER, ALL, 0, "must be 0"},
    {"absent URLs with a count", PLAIN, ABSENT, ALL, 1, "false positives"},
    {"counts too high", MINIMAL, OVER, ALL, 0, "add increments only the smallest counters"},
    {"counts too low", MINIMAL, UNDER, ALL, 0, "must be 0"},
    {"absent URLs with a count", MINIMAL, ABSENT, ALL, 1, "no better: the same counters are set"},
    {"half removed: removed URLs with a count", PLAIN, GONE_SEEN, REMOVED, 0.5,
     "as if only the other half had been added"},
    {"half removed: other counts too high", PLAIN, LEFT_OVER, REMAINING, 0.5, ""},
    {"half removed: other counts too low", PLAIN, LEFT_UNDER, REMAINING, 0, "must be 0"},
};

/* --- Claims ------------------------------------------------------------------------- */

static struct lab_rate rate_of(const struct lab_results *r, uint32_t unit, uint32_t index,
                               double trials)
{
    return (struct lab_rate){lab_sum(r, unit, index), trials * r->runs, 0};
}

/* The rate is that of a filter that holds `load` n keys. */
static struct lab_test test_load(const struct lab_results *r, uint32_t unit, uint32_t index,
                                 double trials, double load)
{
    const double n = lab_n(r), rate = expected(n, load);
    struct lab_rate measured = rate_of(r, unit, index, trials);
    measured.sigma =
        lab_blocked_sigma(n * load, HASHES, COUNTERS_PER_KEY / load, trials, rate) / sqrt(r->runs);
    return lab_test_rate(measured, rate, LAB_TOLERANCE);
}

static void judge_lookup(const struct lab_results *r, struct lab_report *report)
{
    const double low =
        lab_sum(r, PLAIN, UNDER) + lab_sum(r, MINIMAL, UNDER) + lab_sum(r, PLAIN, LEFT_UNDER);
    const double left = lab_n(r) - removed(r->lab->keys.n);
    const struct lab_test never = lab_test_never(low, (2 * lab_n(r) + left) * r->runs);
    struct lab_claim *c = lab_claim(report, "lecture notes",
                                    "Lookup returns the smallest of the k counters (minimum "
                                    "selection): never less than the number of insertions.");
    lab_answer(&c->holds, &never, "%",
               "no count is too low, with either way to insert, and after half of the URLs have "
               "been removed");
    lab_add_text(&c->holds, "%.0f of %.0f counts were too low.", low,
                 (2 * lab_n(r) + left) * r->runs);
}

static void judge_error(const struct lab_results *r, struct lab_report *report)
{
    const double n = lab_n(r);
    const struct lab_test test[] = {
        test_load(r, PLAIN, OVER, n, 1), test_load(r, PLAIN, ABSENT, n, 1),
        test_load(r, MINIMAL, ABSENT, n, 1),
        lab_test_ratio(rate_of(r, PLAIN, OVER, n), rate_of(r, PLAIN, ABSENT, n), 1,
                       LAB_TOLERANCE)};
    const struct lab_test all = lab_test_family(test, sizeof test / sizeof test[0]);
    const struct lab_bloom spread = {n, HASHES, 1, COUNTERS_PER_KEY / HASHES, false};
    struct lab_claim *c = lab_claim(report, "lecture notes",
                                    "The error probability is the same as that of the Bloom "
                                    "filter.");
    lab_answer(
        &c->holds, &all, "%",
        "absent URLs have a count, and counts are too high, as often as a Bloom filter with "
        "the same positions predicts (three rates), and equally often (their ratio)");
    lab_add_text(
        &c->holds,
        "Counts too high: %.3f %%; absent URLs with a count: %.3f %%; predicted: %.3f %%. "
        "With the counters of a URL anywhere in memory, instead of in one cache line, it "
        "would be %.3f %%.",
        100 * lab_mean(r, PLAIN, OVER) / n, 100 * lab_mean(r, PLAIN, ABSENT) / n,
        100 * expected(n, 1), 100 * lab_bloom_rate(&spread));
}

static void judge_deletion(const struct lab_results *r, struct lab_report *report)
{
    const double gone = removed(r->lab->keys.n), left = lab_n(r) - gone;
    const struct lab_test test[] = {test_load(r, PLAIN, GONE_SEEN, gone, 0.5),
                                    test_load(r, PLAIN, LEFT_OVER, left, 0.5),
                                    lab_test_never(lab_sum(r, PLAIN, LEFT_UNDER), left * r->runs)};
    const struct lab_test all = lab_test_family(test, sizeof test / sizeof test[0]);
    struct lab_claim *c = lab_claim(report, "lecture notes", "It permits deletion.");
    lab_answer(
        &c->holds, &all, "%",
        "after half of the URLs are removed, the filter counts as if only the other half had "
        "been added: removed URLs, other counts too high, other counts too low");
    lab_add_text(&c->holds, "%.4f %% of the removed URLs still have a count; predicted: %.4f %%.",
                 100 * lab_mean(r, PLAIN, GONE_SEEN) / gone, 100 * expected(lab_n(r), 0.5));
}

static void judge_space(const struct lab_results *r, struct lab_report *report)
{
    const double factor = lab_value(r, PLAIN, 0, BYTES) * 8 / (lab_n(r) * COUNTERS_PER_KEY);
    const struct lab_test larger = lab_test_more((struct lab_estimate){factor, 0, 0}, 1);
    struct lab_claim *c =
        lab_claim(report, "lecture notes", "The space occupancy is larger than a Bloom filter's.");
    lab_answer(&c->holds, &larger, "times",
               "8-bit counters take more memory than as many bits, 1 time");
}

static void judge_minimal(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_test fewer =
        lab_test_lower(rate_of(r, MINIMAL, OVER, lab_n(r)), rate_of(r, PLAIN, OVER, lab_n(r)));
    struct lab_claim *c =
        lab_claim(report, "beyond the notes",
                  "Incrementing only the smallest counters (minimal increase) makes fewer counts "
                  "too high.");
    lab_answer(&c->holds, &fewer, "%",
               "fewer counts are too high than with plain increments (the numbers are a "
               "difference)");
    lab_add_text(&c->holds, "Counts too high: %.3f %% with it, %.3f %% without.",
                 100 * lab_mean(r, MINIMAL, OVER) / lab_n(r),
                 100 * lab_mean(r, PLAIN, OVER) / lab_n(r));
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t =
        lab_table(report, LAB_LIST, "counts", "measured value", "Counts, errors and deletion, %");
    lab_caption(t, "10 counters of 8 bits per URL, k = 7.");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(r, t, &rows[i]);
    judge_lookup(r, report);
    judge_error(r, report);
    judge_deletion(r, report);
    judge_space(r, report);
    judge_minimal(r, report);
    lab_remark(
        report,
        "The notes decrement without checking. Removing a URL that was never added would then "
        "lower the counts of others, and these would be missed. deja rejects the removal of an "
        "absent URL, and leaves counters at their maximum unchanged.");
    counter_memory_report(r, report, MEMORY);
}

const struct lab_experiment exp_spectral = {
    .name = "spectral",
    .title = "Spectral Bloom filter: counts and deletion",
    .reproduces = "lecture notes on Bloom and spectral Bloom filters",
    .seconds = 3,
    .about =
        (const char *const[]){
            "Counters instead of bits: insertion increments k of them, deletion decrements them, "
            "lookup returns the smallest. URLs are added 1, 2, 3, ... times, 2 on average; then "
            "half of the URLs with each count are removed.",
            "How much memory counters take: anywhere in the array, as in the notes, and in one "
            "cache line per URL.",
            NULL},
    .units = N_UNITS,
    .values = N_VALUES,
    .run = run,
    .report = make_report,
};
