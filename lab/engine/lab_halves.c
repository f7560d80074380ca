/* lab_halves.c - how the multi-layer papers count false positives; see lab_halves.h. */
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_filter.h"
#include "lab/engine/lab_mlbf.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <math.h>
#include <stdlib.h>

/* The lines to query: half of all lines, drawn at random, grouped by the half of the list that
 * they are from.  Both filters get both groups: one must know all of the lines, the other none. */
struct asked {
    deja_slice *line[2];
    uint64_t n[2];
};

static void asked_fini(struct asked *a)
{
    free(a->line[0]);
    free(a->line[1]);
}

/* The first half of a shuffled list of line numbers. */
static uint32_t *shuffle(uint64_t rows, uint64_t seed)
{
    uint32_t *number = malloc(rows * sizeof *number);
    for (uint64_t i = 0; number != NULL && i < rows; i++)
        number[i] = (uint32_t)i;
    for (uint64_t i = 0; number != NULL && i < rows / 2; i++) {
        const uint64_t j = i + mix_below(mix_nth(seed + i), rows - i);
        const uint32_t swapped = number[i];
        number[i] = number[j];
        number[j] = swapped;
    }
    return number;
}

static int draw(struct asked *a, const deja_slice *line, uint64_t rows, uint64_t seed,
                deja_error *err)
{
    uint32_t *number = shuffle(rows, seed);
    *a = (struct asked){0};
    for (unsigned half = 0; half < 2; half++)
        a->line[half] = malloc((rows / 2 + 1) * sizeof *line);
    const bool room = number && a->line[0] && a->line[1];
    for (uint64_t i = 0; room && i < rows / 2; i++) {
        const unsigned half = number[i] >= rows / 2;
        a->line[half][a->n[half]++] = line[number[i]];
    }
    free(number);
    return room ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for the order of the lines");
}

/* --- One Bloom filter per half ---------------------------------------------------- */

/* Fill a filter with each half; sets capacity and seed in opt. */
static int fill_filters(const struct lab *lab, const deja_slice *line, uint64_t rows,
                        deja_options opt, uint64_t seed, deja_filter **f, deja_error *err)
{
    int rc = DEJA_OK;
    for (unsigned half = 0; half < 2 && rc == DEJA_OK; half++) {
        const uint64_t from = half ? rows / 2 : 0;
        opt.capacity = half ? rows - rows / 2 : rows / 2;
        opt.seed = seed + half;
        rc = deja_filter_new(&opt, &f[half], err);
        if (rc == DEJA_OK)
            rc = lab_fill(lab, f[half], line + from, opt.capacity, NULL, err);
    }
    return rc;
}

struct count {
    double both, missed, bytes;
};

/* Query both filters for all selected lines. */
static int ask_filters(const struct lab *lab, const struct asked *asked, deja_filter *const *f,
                       struct count *count, deja_error *err)
{
    int rc = DEJA_OK;
    for (unsigned half = 0; half < 2 && rc == DEJA_OK; half++) {
        double own = 0, other = 0;
        rc = lab_ask(lab, f[half], asked->line[half], asked->n[half], &own, err);
        if (rc == DEJA_OK)
            rc = lab_ask(lab, f[!half], asked->line[half], asked->n[half], &other, err);
        count->missed += (double)asked->n[half] - own;
        count->both += other;
    }
    return rc;
}

static int count_filters(const struct lab *lab, const deja_slice *line, uint64_t rows,
                         const struct asked *asked, const deja_options *opt, uint64_t seed,
                         struct count *count, deja_error *err)
{
    deja_filter *f[2] = {NULL, NULL};
    deja_stats stats = DEJA_STATS_INIT;
    int rc = fill_filters(lab, line, rows, *opt, seed, f, err);
    *count = (struct count){0};
    if (rc == DEJA_OK)
        rc = ask_filters(lab, asked, f, count, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f[0], DEJA_STATS_BODY, &stats, err);
    count->bytes = (double)stats.bytes;
    deja_filter_free(f[0]);
    deja_filter_free(f[1]);
    return rc;
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

static int count_plain(const struct lab *lab, const deja_slice *line, uint64_t rows,
                       const struct asked *asked, double arrays, uint64_t seed, double *both,
                       double *missed, deja_error *err)
{
    const struct lab_bloom b = lab_halves_plain((double)(rows / 2), arrays);
    deja_options opt = DEJA_OPTIONS_INIT;
    struct count count;
    opt.kind = DEJA_CLASSIC;
    opt.hashes = b.k;
    opt.multiplier = b.multiplier;
    const int rc = count_filters(lab, line, rows, asked, &opt, seed, &count, err);
    *both = count.both;
    *missed += count.missed;
    return rc;
}

static int count_kind(const struct lab *lab, const deja_slice *line, uint64_t rows,
                      const struct asked *asked, uint64_t seed, double *value, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    struct count count;
    opt.kind = DEJA_LAYERED;
    opt.fp_rate = 0.05;
    const int rc = count_filters(lab, line, rows, asked, &opt, seed, &count, err);
    value[HALVES_KIND] = count.both;
    value[HALVES_KIND_BITS] = 8 * count.bytes / (double)(rows / 2);
    value[HALVES_MISSED] += count.missed;
    return rc;
}

/* --- The multi-layer filter ---------------------------------------------------------- */

static int fill_layered(const struct lab *lab, const struct lab_halves *how,
                        const deja_slice *line, uint64_t rows, uint64_t seed, struct lab_mlbf *f,
                        deja_error *err)
{
    int rc = DEJA_OK;
    for (unsigned half = 0; half < 2 && rc == DEJA_OK; half++)
        rc = lab_mlbf_init(&f[half], (uint64_t)(HALVES_BITS * (double)(rows / 2)), HALVES_K,
                           seed + half * HALVES_K, how->delimiter, how->robin, err);
    for (uint64_t i = 0; rc == DEJA_OK && i < rows; i++) {
        if (i % 4096 == 0 && lab_stopped(lab))
            return LAB_STOPPED;
        if (lab_mlbf_add(&f[i >= rows / 2], line[i]) < 0)
            rc = fail(err, DEJA_ENOMEM, "no memory for a layer");
    }
    return rc;
}

static int count_layered(const struct lab *lab, const struct lab_halves *how,
                         const deja_slice *line, uint64_t rows, const struct asked *asked,
                         uint64_t seed, double *value, deja_error *err)
{
    struct lab_mlbf f[2] = {{0}, {0}};
    const int rc = fill_layered(lab, how, line, rows, seed, f, err);
    for (unsigned half = 0; half < 2 && rc == DEJA_OK; half++)
        for (uint64_t i = 0; i < asked->n[half]; i++) {
            value[HALVES_MISSED] += !lab_mlbf_has(&f[half], asked->line[half][i]);
            value[HALVES_LAYERED] += lab_mlbf_has(&f[!half], asked->line[half][i]);
        }
    value[HALVES_ARRAYS] = (f[0].layers > f[1].layers ? f[0].layers : f[1].layers) + 1.0;
    lab_mlbf_fini(&f[0]);
    lab_mlbf_fini(&f[1]);
    return rc;
}

int lab_halves(const struct lab *lab, const struct lab_halves *how, const deja_slice *line,
               uint64_t rows, uint64_t seed, double *value, deja_error *err)
{
    struct asked asked;
    for (size_t i = 0; i < HALVES_VALUES; i++)
        value[i] = 0;
    value[HALVES_ASKED] = (double)(rows / 2);
    int rc = draw(&asked, line, rows, seed, err);
    if (rc == DEJA_OK)
        rc = count_plain(lab, line, rows, &asked, 1, seed, &value[HALVES_PLAIN],
                         &value[HALVES_MISSED], err);
    if (rc == DEJA_OK)
        rc = count_layered(lab, how, line, rows, &asked, seed, value, err);
    if (rc == DEJA_OK)
        rc = count_plain(lab, line, rows, &asked, value[HALVES_ARRAYS], seed + 2,
                         &value[HALVES_EQUAL], &value[HALVES_MISSED], err);
    if (rc == DEJA_OK && how->delimiter == '/')
        rc = count_kind(lab, line, rows, &asked, seed + 4, value, err);
    asked_fini(&asked);
    return rc;
}
