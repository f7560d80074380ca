/* trial.h - fills a filter with a known number of distinct keys and counts false positives.
 *
 * Keys are ready-made hashes from a seeded sequence that never repeats, so members are distinct
 * and queried non-members were never added.  The expected rate comes with its deviation: two
 * filters with the same number of keys do not have the same bits, so their rates differ slightly.
 * For one body,
 *
 *   classic   the rate is fill^k: all variation comes from the fill (bits_sigma);
 *   blocked   in addition, blocks are unevenly full.  The probability of a false positive in block
 *             b is known exactly from its lanes: e_k(fills of the 16 lanes) / C(16, k), where e_k
 *             is the elementary symmetric polynomial.  The part of its variance over the blocks
 *             that the number of set bits does not explain is divided by the number of blocks;
 *   exact     no variation, and a negligible rate. */
#ifndef DJ_TEST_TRIAL_H
#define DJ_TEST_TRIAL_H
#include "binom.h"
#include "kinds/kind.h"
#include "rng.h"
#include "unit.h"
#include <stdio.h>
#include <string.h>

struct trial {
    deja_filter *f;
    struct rng members, strangers;
    uint64_t keys;     /* distinct keys offered */
    uint64_t told_new; /* of these, reported as new */
};

/* A rate and the deviation with which it varies from filter to filter. */
struct forecast {
    double rate, sigma;
};

#define TRIAL_CHUNK 4096

/* False if the options are rejected. */
static inline bool trial_begin(struct trial *t, deja_options opt, uint64_t seed)
{
    *t = (struct trial){.members = rng_seeded(seed), .strangers = rng_beyond(rng_seeded(seed))};
    opt.size = sizeof opt;
    opt.seed = seed;
    return deja_filter_new(&opt, &t->f, NULL) == DEJA_OK;
}

static inline void trial_end(struct trial *t)
{
    deja_filter_free(t->f);
}

/* Adds distinct keys until there are `keys` of them; false if the filter refuses. */
static inline bool trial_fill(struct trial *t, uint64_t keys)
{
    uint64_t hash[TRIAL_CHUNK];
    uint8_t is_new[TRIAL_CHUNK];
    while (t->keys < keys) {
        const size_t n = keys - t->keys < TRIAL_CHUNK ? (size_t)(keys - t->keys) : TRIAL_CHUNK;
        rng_fill(&t->members, hash, n);
        if (deja_filter_add_hashed(t->f, hash, n, is_new, NULL, NULL) != DEJA_OK)
            return false;
        for (size_t i = 0; i < n; i++)
            t->told_new += is_new[i];
        t->keys += n;
    }
    return true;
}

/* How many of this many keys that were never added test positive. */
static inline uint64_t trial_probe(struct trial *t, uint64_t probes)
{
    uint64_t hash[TRIAL_CHUNK], hits = 0;
    uint8_t found[TRIAL_CHUNK];
    while (probes) {
        const size_t n = probes < TRIAL_CHUNK ? (size_t)probes : TRIAL_CHUNK;
        rng_fill(&t->strangers, hash, n);
        deja_filter_contains_hashed(t->f, hash, n, found);
        for (size_t i = 0; i < n; i++)
            hits += found[i];
        probes -= n;
    }
    return hits;
}

/* URLs like those of a crawl: they differ only in a number. */
static inline deja_slice trial_url(char *room, size_t len, uint64_t number)
{
    const int n = snprintf(room, len, "http://www.example.org/archive/%llu/index.html",
                           (unsigned long long)number);
    return (deja_slice){room, (size_t)n};
}

/* Adds the numbers from .. to - 1, or looks them up; returns how many were new, or found. */
static inline uint64_t trial_urls(deja_filter *f, bool add, uint64_t from, uint64_t to)
{
    enum {
        CHUNK = 100,
        ROOM = 64
    };
    uint64_t hits = 0;
    while (from < to) {
        char room[CHUNK][ROOM];
        deja_slice keys[CHUNK];
        uint8_t found[CHUNK];
        const size_t n = to - from < CHUNK ? (size_t)(to - from) : CHUNK;
        for (size_t i = 0; i < n; i++)
            keys[i] = trial_url(room[i], ROOM, from + i);
        if (add)
            assert_int_equal(deja_filter_add_batch(f, keys, n, found, NULL, NULL), DEJA_OK);
        else
            deja_filter_contains_batch(f, keys, n, found);
        for (size_t i = 0; i < n; i++)
            hits += found[i];
        from += n;
    }
    return hits;
}

/* --- What theory expects ------------------------------------------------ */

/* Set bits of a lane, or its nonzero counters. */
static inline double lane_used(const struct dj_shape *s, uint32_t lane)
{
    const uint32_t unit = dj_shape_unit(s);
    double used = 0.0;
    if (unit == 1)
        return __builtin_popcount(lane);
    for (uint32_t at = 0; at < 32; at += unit)
        used += (lane >> at & UINT32_MAX >> (32 - unit)) != 0;
    return used;
}

static inline double block_chance(const struct dj_shape *s, const uint8_t *block, double *bits)
{
    const uint32_t k = s->k / dj_shape_key_lines(s);
    double e[DJ_BLOCK_LANES + 1] = {1.0}, choose = 1.0;
    *bits = 0.0;
    for (unsigned lane = 0; lane < DJ_BLOCK_LANES; lane++) {
        const double set = lane_used(s, dj_load32(block + 4 * (size_t)lane));
        *bits += set;
        for (uint32_t j = k; j > 0; j--)
            e[j] += e[j - 1] * set * dj_shape_unit(s) / 32.0;
    }
    for (uint32_t j = 0; j < k; j++)
        choose *= (double)(DJ_BLOCK_LANES - j) / (double)(j + 1);
    return e[k] / choose;
}

/* Deviation of the rate of one line of the keys from the rate that its fill explains; *rate: the
 * rate itself. */
static inline double line_sigma(const struct dj_part *p, uint32_t line, double *rate)
{
    const uint64_t blocks = p->shape.bits / DJ_BLOCK_BITS / dj_shape_key_lines(&p->shape);
    const uint8_t *body = p->body + DJ_BLOCK_BYTES * blocks * line;
    const double n = (double)blocks;
    double x = 0, y = 0, xx = 0, xy = 0, yy = 0; /* x: bits of a block, y: its false-positive
                                                  * probability */
    for (uint64_t b = 0; b < blocks; b++) {
        double bits;
        const double chance = block_chance(&p->shape, body + DJ_BLOCK_BYTES * b, &bits);
        x += bits / n;
        y += chance / n;
        xx += bits * bits / n;
        xy += bits * chance / n;
        yy += chance * chance / n;
    }
    const double var_x = xx - x * x, cov = xy - x * y;
    const double rest = yy - y * y - (var_x > 0 ? cov * cov / var_x : 0.0);
    *rate = y;
    return sqrt(fmax(rest, 0.0) / n);
}

/* Deviation of a blocked or spectral body's rate from the rate that its fill explains.  The rates of
 * several lines multiply, and relative variances add. */
static inline double crowd_sigma(const struct dj_part *p)
{
    double variance = 0, rate = 1;
    for (uint32_t line = 0; line < dj_shape_key_lines(&p->shape); line++) {
        double y;
        const double sigma = line_sigma(p, line, &y);
        variance += y > 0 ? sigma * sigma / (y * y) : 0;
        rate *= y;
    }
    return sqrt(variance) * rate;
}

/* One body with n distinct keys. */
static inline struct forecast forecast_part(const struct dj_part *p, double n)
{
    const struct dj_shape *s = &p->shape;
    struct forecast c = {dj_shape_rate(s, n), 0.0};
    if (s->layout == DJ_TABLE || !(n > 0.0))
        return c;
    const double step = fmax(n / 100.0, 1.0), less = fmax(n - step, 0.0);
    const double slope = (dj_shape_rate(s, n + step) - dj_shape_rate(s, less)) /
                         (dj_shape_bits_set(s, n + step) - dj_shape_bits_set(s, less));
    const double crowd = s->layout != DJ_SPREAD ? crowd_sigma(p) : 0.0;
    c.sigma = hypot(slope * dj_shape_bits_sigma(s, n), crowd);
    return c;
}

/* Distinct keys that reached a part, if it reported this many as new. */
static inline double keys_that_came(const struct dj_part *p)
{
    const double keys = (double)p->keys;
    double came = keys;
    for (double before = -1.0; came - before > 1e-9 * came;) {
        before = came;
        came = keys + dj_shape_lost(&p->shape, before);
    }
    return came;
}

/* All F parts must agree: rates multiply, and relative variances add.  In a series one part is
 * enough: the probabilities of being missed multiply. */
static inline struct forecast forecast_all(const struct trial *t)
{
    const bool series = t->f->plan.kind->number == DEJA_SCALABLE;
    struct forecast c = {1.0, 0.0};
    double variance = 0.0;
    for (uint32_t i = 0; i < t->f->n_parts; i++) {
        const struct dj_part *p = t->f->part[i];
        const struct forecast one = forecast_part(p, series ? keys_that_came(p) : (double)t->keys);
        c.rate *= series ? 1.0 - one.rate : one.rate;
        variance += series         ? one.sigma * one.sigma
                    : one.rate > 0 ? one.sigma * one.sigma / (one.rate * one.rate)
                                   : 0.0;
    }
    if (series)
        c.rate = 1.0 - c.rate;
    c.sigma = sqrt(variance) * (series ? 1.0 : c.rate);
    return c;
}

/* The same from the bits that are really set: fp_now of the statistics, and its deviation. */
static inline struct forecast forecast_now(const struct trial *t, double fp_now)
{
    const bool series = t->f->plan.kind->number == DEJA_SCALABLE;
    double variance = 0.0;
    for (uint32_t i = 0; i < t->f->n_parts; i++) {
        const struct dj_part *p = t->f->part[i];
        if (p->shape.layout != DJ_BLOCKS)
            continue;
        const double rate =
            dj_shape_rate(&p->shape, dj_shape_keys(&p->shape, (double)p->kind->body.bits_set(p)));
        const double sigma = crowd_sigma(p) / (series ? 1.0 : rate > 0 ? rate : 1.0);
        variance += sigma * sigma;
    }
    return (struct forecast){fp_now, sqrt(variance) * (series ? 1.0 : fp_now)};
}

#endif
