/* lab_halves.c - how the multi-layer papers count false positives; see lab_halves.h. */
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_ideal.h"
#include "lab/engine/lab_task.h"
#include "tools/base/mix.h"
#include <math.h>

/* The lines, and those to query: half of all lines, drawn at random, grouped by the half of the
 * list that they are from.  Both filters get both groups: one must know all of the lines, the
 * other none. */
struct lines {
    const deja_slice *all;
    uint64_t n;
    deja_slice *asked[2];
    uint64_t n_asked[2];
};

/* The first half of a shuffled list of line numbers decides which lines are queried. */
static void draw(struct lab_task *t, struct lines *l)
{
    uint32_t *number = lab_alloc(t, l->n * sizeof *number);
    for (unsigned half = 0; half < 2; half++)
        l->asked[half] = lab_alloc(t, (l->n / 2 + 1) * sizeof *l->all);
    if (t->rc < 0)
        return;
    for (uint64_t i = 0; i < l->n; i++)
        number[i] = (uint32_t)i;
    for (uint64_t i = 0; i < l->n / 2; i++) {
        const uint64_t j = i + mix_below(mix_nth(t->seed + i), l->n - i);
        const uint32_t drawn = number[j];
        const unsigned half = drawn >= l->n / 2;
        number[j] = number[i];
        l->asked[half][l->n_asked[half]++] = l->all[drawn];
    }
}

/* --- One filter per half ---------------------------------------------------------- */

/* Fill a filter with each half and query both for all selected lines; sets capacity and seed in
 * opt.  Returns the lines that both report; value[HALVES_MISSED] counts those that their own
 * filter does not find. */
static double count_filters(struct lab_task *t, const struct lines *l, deja_options opt,
                            double *bytes)
{
    deja_filter *f[2] = {NULL, NULL};
    double both = 0;
    for (unsigned half = 0; half < 2; half++) {
        opt.capacity = half ? l->n - l->n / 2 : l->n / 2;
        f[half] = lab_filter(t, &opt);
        (void)lab_add(t, f[half], l->all + (half ? l->n / 2 : 0), opt.capacity, NULL);
        opt.seed++;
    }
    for (unsigned half = 0; half < 2; half++) {
        const double n = (double)l->n_asked[half];
        t->value[HALVES_MISSED] += n - lab_ask(t, f[half], l->asked[half], l->n_asked[half]);
        both += lab_ask(t, f[!half], l->asked[half], l->n_asked[half]);
    }
    *bytes = (double)lab_stats(t, f[0]).bytes;
    return both;
}

struct lab_bloom lab_halves_plain(double n, double arrays)
{
    const double bits = HALVES_BITS * arrays;
    const uint32_t k = arrays > 1 ? (uint32_t)fmin(round(bits * log(2)), 30) : HALVES_K;
    return (struct lab_bloom){n, k, 1, bits / k, false};
}

double lab_halves_sigma(const struct lab_bloom *b)
{
    return lab_bloom_sigma_of(b, b->n, 2);
}

static void count_equal(struct lab_task *t, const struct lines *l, double arrays)
{
    const struct lab_bloom b = lab_halves_plain((double)(l->n / 2), arrays);
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    double bytes;
    opt.hashes = b.k;
    opt.multiplier = b.multiplier;
    opt.seed = t->seed + 2;
    t->value[HALVES_EQUAL] = count_filters(t, l, opt, &bytes);
}

#define KIND_LAYERS 10u /* the most that deja's own kind can have */

/* deja's own layered kind: in its own mode for p = 0.05, or in paper mode with the paper's k and
 * m. */
static void count_kind(struct lab_task *t, const struct lab_halves *how, const struct lines *l,
                       bool paper)
{
    deja_options opt = lab_options(t, DEJA_LAYERED);
    double bytes;
    opt.flags = how->delimiter == '/' ? 0 : DEJA_LAYERED_WORDS;
    opt.layers = how->robin > 0 && how->robin < KIND_LAYERS ? how->robin : KIND_LAYERS;
    opt.seed = t->seed + (paper ? 6 : 4);
    if (paper) {
        opt.flags |= DEJA_LAYERED_PAPER;
        opt.hashes = HALVES_K;
        opt.multiplier = HALVES_BITS / HALVES_K;
    } else {
        opt.fp_rate = 0.05;
    }
    t->value[paper ? HALVES_PAPER : HALVES_KIND] = count_filters(t, l, opt, &bytes);
    t->value[paper ? HALVES_PAPER_BITS : HALVES_KIND_BITS] = 8 * bytes / (double)(l->n / 2);
}

/* --- The papers' filters ---------------------------------------------------------- */

static uint64_t bits_of(const struct lines *l)
{
    return (uint64_t)(HALVES_BITS * (double)(l->n / 2));
}

static void fill_pair(struct lab_task *t, const struct lab_mlbf_how *how, uint32_t k,
                      const struct lines *l, struct lab_mlbf *f)
{
    for (unsigned half = 0; half < 2 && t->rc == DEJA_OK; half++)
        lab_checked(t, lab_mlbf_init(&f[half], bits_of(l), k, t->seed + half * k, how, t->err));
    for (uint64_t i = 0; i < l->n && lab_going(t); i++)
        if (lab_mlbf_add(&f[i >= l->n / 2], l->all[i]) < 0)
            lab_failed(t, DEJA_ENOMEM, "out of memory for a layer");
}

/* Returns the lines that both filters of this rule report; counts those that one misses. */
static double count_pair(struct lab_task *t, const struct lab_mlbf_how *how, uint32_t k,
                         const struct lines *l)
{
    struct lab_mlbf f[2] = {{0}, {0}};
    double both = 0;
    fill_pair(t, how, k, l, f);
    for (unsigned half = 0; half < 2 && t->rc == DEJA_OK; half++)
        for (uint64_t i = 0; i < l->n_asked[half]; i++) {
            t->value[HALVES_MISSED] += !lab_mlbf_has(&f[half], l->asked[half][i]);
            both += lab_mlbf_has(&f[!half], l->asked[half][i]);
        }
    if (how->rule == LAB_MLBF_LAYERED)
        t->value[HALVES_ARRAYS] = fmax(lab_mlbf_arrays(&f[0]), lab_mlbf_arrays(&f[1]));
    lab_mlbf_fini(&f[0]);
    lab_mlbf_fini(&f[1]);
    return both;
}

/* Fill the model with one half of the lines and ask it for those of the other. */
static void ask_ideal(struct lab_task *t, const struct lab_mlbf_how *how, const struct lines *l,
                      unsigned half, struct lab_expected *sum)
{
    struct lab_ideal d;
    const uint64_t from = half ? l->n / 2 : 0, to = half ? l->n : l->n / 2;
    int rc = lab_ideal_init(&d, bits_of(l), HALVES_K, how);
    for (uint64_t i = from; i < to && rc == DEJA_OK && lab_going(t); i++)
        rc = lab_ideal_add(&d, l->all[i]);
    if (rc == DEJA_OK)
        rc = lab_ideal_ready(&d);
    for (uint64_t i = 0; i < l->n_asked[!half] && rc == DEJA_OK && lab_going(t); i++)
        rc = lab_ideal_ask(&d, l->asked[!half][i]);
    if (rc < 0)
        lab_failed(t, rc, "out of memory for a set of segments");
    if (t->rc == DEJA_OK) {
        const struct lab_expected e = lab_ideal_expected(&d);
        sum->sure += e.sure;
        sum->chance += e.chance;
        sum->variance += e.variance;
    }
    lab_ideal_fini(&d);
}

/* Measure one of Algorithms 1 and 2 or 3 and 4, and predict the result: value[model] and the two
 * after it. */
static double count_segments(struct lab_task *t, const struct lab_mlbf_how *how,
                             const struct lines *l, enum lab_halves_value model)
{
    struct lab_expected sum = {0};
    for (unsigned half = 0; half < 2; half++)
        ask_ideal(t, how, l, half, &sum);
    t->value[model] = sum.sure;
    t->value[model + 1] = sum.chance;
    t->value[model + 2] = sum.variance;
    return count_pair(t, how, HALVES_K, l);
}

void lab_halves(struct lab_task *t, const struct lab_halves *how, const deja_slice *line,
                uint64_t rows)
{
    struct lines l = {.all = line, .n = rows};
    double *value = t->value;
    const struct lab_mlbf_how whole = {LAB_MLBF_LINE, how->delimiter, 0},
                              one = {LAB_MLBF_ONE, how->delimiter, 0},
                              layers = {LAB_MLBF_LAYERED, how->delimiter, how->robin};
    draw(t, &l);
    value[HALVES_ASKED] = (double)(rows / 2);
    value[HALVES_PLAIN] = count_pair(t, &whole, HALVES_K, &l);
    value[HALVES_ONE] = count_segments(t, &one, &l, HALVES_ONE_SURE);
    value[HALVES_LAYERED] = count_segments(t, &layers, &l, HALVES_LAYERED_SURE);
    count_equal(t, &l, value[HALVES_ARRAYS]);
    count_kind(t, how, &l, false);
    count_kind(t, how, &l, true);
}

double lab_halves_both(struct lab_task *t, const struct lab_mlbf_how *how, uint32_t k,
                       const deja_slice *line, uint64_t rows)
{
    struct lines l = {.all = line, .n = rows};
    draw(t, &l);
    return count_pair(t, how, k, &l);
}
