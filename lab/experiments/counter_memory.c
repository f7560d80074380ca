/* counter_memory.c - what counters cost: bits per key and the rate, against Bloom's formula.
 *
 * In the lecture notes, the counters of a key lie anywhere in the array, and n keys at rate p take
 * -n ln p / (ln 2)^2 of them.  deja can do that (DEJA_SPREAD); by default it keeps the counters of
 * a key in one cache line.  Every filter is made for the lab's n keys and the rate p, filled, and
 * queried for n absent keys. */
#include "lab/experiments/counter_memory.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include <math.h>
#include <stdio.h>

#define RUNS 10u  /* enough for 10,000 false positives at 1e-3 and a million keys */
#define BYTE 1e-6 /* the error of the memory, which is known exactly, as a share */
#define MOST 1.01 /* times the formula: k is an integer, and sizes are whole cache lines */

static const double rates[] = {1e-2, 1e-3};
static const uint32_t widths[] = {4, 8, 16, 32};
enum {
    N_RATES = sizeof rates / sizeof rates[0],
    N_WIDTHS = sizeof widths / sizeof widths[0],
    N_CELLS = N_RATES * N_WIDTHS
};
_Static_assert(2 * N_CELLS == COUNTER_MEMORY_UNITS, "a unit for every filter");

struct subject {
    bool spread;
    uint32_t bits;
    double p;
};

static struct subject subject_of(uint32_t i)
{
    return (struct subject){i < N_CELLS, widths[i % N_WIDTHS], rates[i % N_CELLS / N_WIDTHS]};
}

static deja_options options(const struct subject *s, uint64_t n)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_SPECTRAL;
    opt.capacity = n;
    opt.fp_rate = s->p;
    opt.counter_bits = s->bits;
    opt.flags = s->spread ? DEJA_SPREAD : 0;
    return opt;
}

void counter_memory_run(struct lab_task *t, uint32_t i)
{
    const struct subject s = subject_of(i);
    const uint64_t n = t->lab->keys.n;
    if (t->run >= RUNS)
        return;
    deja_options opt = options(&s, n);
    opt.seed = t->seed;
    deja_filter *f = lab_filter(t, &opt);
    lab_add(t, f, t->lab->keys.added, n, NULL);
    t->value[COUNTER_FOUND] = lab_ask(t, f, t->lab->keys.asked, n);
    t->value[COUNTER_BYTES] = (double)lab_stats(t, f).bytes;
}

/* --- Report ---------------------------------------------------------------------------- */

static double formula(const struct subject *s)
{
    return -log(s->p) / (log(2) * log(2)) * s->bits;
}

static double bits_per_key(const struct lab_results *r, uint32_t unit)
{
    return 8 * lab_value(r, unit, 0, COUNTER_BYTES) / lab_n(r);
}

/* The predicted rate of a body of this size, and the deviation of what one run measures. */
static struct lab_count counted(const struct lab_results *r, uint32_t unit,
                                const struct subject *s)
{
    const deja_options opt = options(s, r->lab->keys.n);
    const uint32_t runs = r->runs < RUNS ? r->runs : RUNS;
    const double n = lab_n(r);
    deja_plan plan = DEJA_PLAN_INIT;
    struct lab_count c = {lab_sum(r, unit, COUNTER_FOUND), n, runs, NULL, NAN, 0};
    if (deja_plan_make(&opt, &plan, NULL) != DEJA_OK)
        return c;
    const struct lab_bloom b = {n, plan.hashes, 1, (double)plan.bits / s->bits / n / plan.hashes,
                                false};
    c.rate = plan.fp_rate;
    c.sigma = s->spread ? lab_bloom_sigma(&b) : sqrt(c.rate * (1 - c.rate) / n);
    return c;
}

static void add_cells(const struct lab_results *r, struct lab_table *t, uint32_t first, uint32_t i)
{
    const struct subject s = subject_of(i);
    const struct lab_count count = counted(r, first + i, &s);
    char row[40];
    (void)snprintf(row, sizeof row, "p = %g, %u-bit counters", s.p, s.bits);
    struct lab_cell *memory =
        lab_cell(t, row, s.spread ? "anywhere, bits per key" : "one line, bits per key");
    lab_cell_plain(memory, "bits", bits_per_key(r, first + i), 0);
    memory->theory = formula(&s);
    struct lab_cell *rate = lab_cell(t, row, s.spread ? "anywhere, rate" : "one line, rate");
    lab_cell_rate(rate, &count, NULL);
}

/* Each rate is p, and the memory is that of the formula. */
static struct lab_test test(const struct lab_results *r, uint32_t first)
{
    struct lab_test all[N_CELLS + 1];
    double most = 0;
    for (uint32_t i = 0; i < N_CELLS; i++) {
        const struct subject s = subject_of(i);
        const struct lab_count c = counted(r, first + i, &s);
        const struct lab_rate rate = {c.hits, c.trials * c.runs, c.sigma / sqrt(c.runs)};
        all[i] = lab_test_rate(rate, s.p, LAB_TOLERANCE);
        most = fmax(most, bits_per_key(r, first + i) / formula(&s));
    }
    all[N_CELLS] = lab_test_less((struct lab_estimate){most, BYTE, 0}, MOST);
    return lab_test_family(all, N_CELLS + 1);
}

static void judge(const struct lab_results *r, struct lab_report *report, uint32_t first)
{
    const uint32_t last = N_CELLS - 1; /* the widest counters at the lowest rate */
    const struct lab_test t = test(r, first);
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < N_CELLS; i++) {
        const double times = bits_per_key(r, first + N_CELLS + i) / bits_per_key(r, first + i);
        least = fmin(least, times);
        most = fmax(most, times);
    }
    struct lab_claim *c =
        lab_claim(report, "lecture notes, spectral Bloom filter",
                  "Counters anywhere in the array take the place of a Bloom filter's bits: n keys "
                  "at rate p need -n ln p / (ln 2)^2 of them.");
    lab_answer(&c->holds, &t, "%",
               "with counters of 4, 8, 16 and 32 bits, made for p = 1e-2 and 1e-3, the rate is p, "
               "in at most %g times the memory of the formula",
               MOST);
    lab_add_text(&c->holds,
                 "32-bit counters at 1e-3 take %.1f bits per key (formula: %.1f). With the "
                 "counters of a key in one cache line, deja's default, they take %.1f, and all "
                 "filters of the table %.2f to %.2f times as much as with counters anywhere.",
                 bits_per_key(r, first + last), formula(&(struct subject){true, 32, 1e-3}),
                 bits_per_key(r, first + N_CELLS + last), least, most);
}

void counter_memory_report(const struct lab_results *r, struct lab_report *report, uint32_t first)
{
    struct lab_table *t =
        lab_table(report, LAB_GRID, "memory", "filter", "Memory of counters, and the rate, %");
    lab_caption(t,
                "Filters made for n URLs at rate p. Anywhere: the counters of a URL are anywhere "
                "in the array, as in the notes. One line: they are in one cache line, deja's "
                "default. Theory of the memory: -ln p / (ln 2)^2 counters per URL.");
    for (uint32_t i = 0; i < COUNTER_MEMORY_UNITS; i++)
        add_cells(r, t, first, i);
    judge(r, report, first);
}
