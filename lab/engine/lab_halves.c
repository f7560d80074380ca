/* lab_halves.c - how the multi-layer papers count false positives; see lab_halves.h. */
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_mlbf.h"
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

static double count_plain(struct lab_task *t, const struct lines *l, double arrays, uint64_t seed)
{
    const struct lab_bloom b = lab_halves_plain((double)(l->n / 2), arrays);
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    double bytes;
    opt.hashes = b.k;
    opt.multiplier = b.multiplier;
    opt.seed = seed;
    return count_filters(t, l, opt, &bytes);
}

static void count_kind(struct lab_task *t, const struct lines *l, uint64_t seed)
{
    deja_options opt = lab_options(t, DEJA_LAYERED);
    double bytes;
    opt.fp_rate = 0.05;
    opt.seed = seed;
    t->value[HALVES_KIND] = count_filters(t, l, opt, &bytes);
    t->value[HALVES_KIND_BITS] = 8 * bytes / (double)(l->n / 2);
}

/* --- The multi-layer filter ---------------------------------------------------------- */

static void fill_layered(struct lab_task *t, const struct lab_halves *how, const struct lines *l,
                         struct lab_mlbf *f)
{
    for (unsigned half = 0; half < 2 && t->rc == DEJA_OK; half++)
        lab_checked(t,
                    lab_mlbf_init(&f[half], (uint64_t)(HALVES_BITS * (double)(l->n / 2)), HALVES_K,
                                  t->seed + half * HALVES_K, how->delimiter, how->robin, t->err));
    for (uint64_t i = 0; i < l->n && lab_going(t); i++)
        if (lab_mlbf_add(&f[i >= l->n / 2], l->all[i]) < 0)
            lab_failed(t, DEJA_ENOMEM, "out of memory for a layer");
}

static void count_layered(struct lab_task *t, const struct lab_halves *how, const struct lines *l)
{
    struct lab_mlbf f[2] = {{0}, {0}};
    fill_layered(t, how, l, f);
    for (unsigned half = 0; half < 2 && t->rc == DEJA_OK; half++)
        for (uint64_t i = 0; i < l->n_asked[half]; i++) {
            t->value[HALVES_MISSED] += !lab_mlbf_has(&f[half], l->asked[half][i]);
            t->value[HALVES_LAYERED] += lab_mlbf_has(&f[!half], l->asked[half][i]);
        }
    t->value[HALVES_ARRAYS] = (f[0].layers > f[1].layers ? f[0].layers : f[1].layers) + 1.0;
    lab_mlbf_fini(&f[0]);
    lab_mlbf_fini(&f[1]);
}

void lab_halves(struct lab_task *t, const struct lab_halves *how, const deja_slice *line,
                uint64_t rows)
{
    struct lines l = {.all = line, .n = rows};
    double *value = t->value;
    draw(t, &l);
    value[HALVES_ASKED] = (double)(rows / 2);
    value[HALVES_PLAIN] = count_plain(t, &l, 1, t->seed);
    count_layered(t, how, &l);
    value[HALVES_EQUAL] = count_plain(t, &l, value[HALVES_ARRAYS], t->seed + 2);
    if (how->delimiter == '/')
        count_kind(t, &l, t->seed + 4);
}
