/* lab_halves.c - how the multi-layer papers count false positives; see lab_halves.h. */
#include "lab_halves.h"
#include "bench_random.h"
#include "fail.h"
#include "lab_bank.h"
#include "lab_mlbf.h"
#include <math.h>
#include <stdlib.h>

/* Half of the lines, drawn at random: the first half of a shuffled list of their numbers. */
static uint32_t *draw(uint64_t rows, uint64_t seed)
{
    uint32_t *number = malloc(rows * sizeof *number);
    for (uint64_t i = 0; number != NULL && i < rows; i++)
        number[i] = (uint32_t)i;
    for (uint64_t i = 0; number != NULL && i < rows / 2; i++) {
        const uint64_t j = i + bench_below(bench_mix(seed + i), rows - i);
        const uint32_t swapped = number[i];
        number[i] = number[j];
        number[j] = swapped;
    }
    return number;
}

/* Which half a line is in. */
static unsigned half_of(uint64_t line, uint64_t rows)
{
    return line >= rows / 2;
}

/* --- One Bloom filter a half ------------------------------------------------------ */

/* Each half into a filter made so; capacity and seed are set here. */
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

static int count_filters(const struct lab *lab, const deja_slice *line, uint64_t rows,
                         const uint32_t *number, const deja_options *opt, uint64_t seed,
                         struct count *count, deja_error *err)
{
    deja_filter *f[2] = {NULL, NULL};
    deja_stats stats = DEJA_STATS_INIT;
    int rc = fill_filters(lab, line, rows, *opt, seed, f, err);
    *count = (struct count){0};
    for (uint64_t i = 0; rc == DEJA_OK && i < rows / 2; i++) {
        const unsigned own = half_of(number[i], rows);
        count->missed += !deja_filter_contains(f[own], line[number[i]]);
        count->both += deja_filter_contains(f[!own], line[number[i]]);
    }
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f[0], &stats);
    count->bytes = (double)stats.bytes;
    deja_filter_free(f[0]);
    deja_filter_free(f[1]);
    return rc;
}

static int count_plain(const struct lab *lab, const deja_slice *line, uint64_t rows,
                       const uint32_t *number, uint32_t k, double bits, uint64_t seed,
                       double *both, double *missed, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    struct count count;
    opt.kind = DEJA_CLASSIC;
    opt.hashes = k;
    opt.multiplier = bits / k;
    const int rc = count_filters(lab, line, rows, number, &opt, seed, &count, err);
    *both = count.both;
    *missed += count.missed;
    return rc;
}

static int count_kind(const struct lab *lab, const deja_slice *line, uint64_t rows,
                      const uint32_t *number, uint64_t seed, struct lab_halves_found *found,
                      deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    struct count count;
    opt.kind = DEJA_LAYERED;
    opt.fp_rate = 0.05;
    const int rc = count_filters(lab, line, rows, number, &opt, seed, &count, err);
    found->kind = count.both;
    found->kind_bits = 8 * count.bytes / (double)(rows / 2);
    found->missed += count.missed;
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
        if (lab_mlbf_add(&f[half_of(i, rows)], line[i]) < 0)
            rc = fail(err, DEJA_ENOMEM, "no memory for a layer");
    }
    return rc;
}

static int count_layered(const struct lab *lab, const struct lab_halves *how,
                         const deja_slice *line, uint64_t rows, const uint32_t *number,
                         uint64_t seed, struct lab_halves_found *found, deja_error *err)
{
    struct lab_mlbf f[2] = {{0}, {0}};
    const int rc = fill_layered(lab, how, line, rows, seed, f, err);
    for (uint64_t i = 0; rc == DEJA_OK && i < rows / 2; i++) {
        const unsigned own = half_of(number[i], rows);
        found->missed += !lab_mlbf_has(&f[own], line[number[i]]);
        found->layered += lab_mlbf_has(&f[!own], line[number[i]]);
    }
    found->arrays = (f[0].layers > f[1].layers ? f[0].layers : f[1].layers) + 1.0;
    lab_mlbf_fini(&f[0]);
    lab_mlbf_fini(&f[1]);
    return rc;
}

int lab_halves(const struct lab *lab, const struct lab_halves *how, const deja_slice *line,
               uint64_t rows, uint64_t seed, struct lab_halves_found *found, deja_error *err)
{
    uint32_t *number = draw(rows, seed);
    *found = (struct lab_halves_found){.asked = (double)(rows / 2)};
    if (number == NULL)
        return fail(err, DEJA_ENOMEM, "no memory for the order of the lines");
    int rc = count_plain(lab, line, rows, number, HALVES_K, HALVES_BITS, seed, &found->plain,
                         &found->missed, err);
    if (rc == DEJA_OK)
        rc = count_layered(lab, how, line, rows, number, seed, found, err);
    /* The best that a plain filter makes of the same memory. */
    const double bits = HALVES_BITS * found->arrays;
    found->equal_k = fmin(round(bits * log(2)), 30);
    found->equal_rate = pow(-expm1(-found->equal_k / bits), found->equal_k);
    if (rc == DEJA_OK)
        rc = count_plain(lab, line, rows, number, (uint32_t)found->equal_k, bits, seed + 2,
                         &found->equal, &found->missed, err);
    if (rc == DEJA_OK && how->delimiter == '/')
        rc = count_kind(lab, line, rows, number, seed + 4, found, err);
    free(number);
    return rc;
}
