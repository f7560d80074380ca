/* sizing.c - the smallest body for n keys at rate p, the best k, the keys that fit.
 *
 * The rate (rate.c) falls with the bits and grows with the keys, so that each question is a
 * search for the place where it crosses p: halving or doubling until the place is bracketed,
 * then bisection.  Formulas such as m = n ln(1/p) / (ln 2)^2 are not used: k is a whole number,
 * bits come in granules, blocks are crowded, and p is a promise, so the answer is the first
 * size at which the predicted rate really is p or less.
 *
 * A free k is tried from 1 upwards, and a larger k must beat the best so far: do with at least
 * one granule less, or hold one key more.  That is a single evaluation where it does not.
 *
 * exact has no rate to speak of; its size comes from its load.  With 4 slots in 5 taken and full
 * lines of 8 overflowing into the next, a key that is there is found in 1.15 lines on average and
 * a stranger is told apart in 2.3, neighbours in memory (simulated, 10 million keys); shorter in
 * small tables, where there are few lines to overflow into.  Two lines are the least: a handful
 * of keys leaves free slots as well. */
#include "core/math/sizing.h"
#include <stddef.h>

#define MAX_KEYS       (UINT64_C(1) << 53) /* as doubles still count one by one */
#define EXACT_MIN_BITS (UINT64_C(2) * DJ_BLOCK_BITS)
#define SLOT_BITS      (DJ_BLOCK_BITS / DJ_EXACT_LINE)

uint64_t dj_shape_granule(uint32_t layout)
{
    return layout == DJ_SPREAD ? 64 : DJ_BLOCK_BITS;
}

bool dj_shape_has_counters(uint32_t counter_bits)
{
    return counter_bits == 4 || counter_bits == 8 || counter_bits == 16 || counter_bits == 32;
}

uint32_t dj_shape_most_k(uint32_t layout)
{
    switch (layout) {
    case DJ_SPREAD:
        return DJ_MAX_HASHES;
    case DJ_BLOCKS:
        return DJ_BLOCK_LANES;
    case DJ_TABLE:
        return 1;
    }
    return 0;
}

/* The k to try: one when it is fixed, none when it is impossible. */
struct span {
    uint32_t first, last;
};

static struct span ks_of(const struct dj_shape *s)
{
    const uint32_t most = dj_shape_most_k(s->layout);
    if (s->k > most)
        return (struct span){1, 0};
    return s->k > 0 ? (struct span){s->k, s->k} : (struct span){1, most};
}

static bool is_rate(double p)
{
    return p > 0.0 && p < 1.0; /* false for NaN */
}

bool dj_shape_round(struct dj_shape *s)
{
    if (dj_shape_most_k(s->layout) == 0 || s->bits > DJ_MAX_BITS)
        return false;
    const uint64_t g = dj_shape_granule(s->layout);
    const uint64_t least = s->layout == DJ_TABLE ? EXACT_MIN_BITS : g;
    const uint64_t up = (s->bits + g - 1) / g * g; /* at most DJ_MAX_BITS, a multiple of all g */
    s->bits = up < least ? least : up;
    return true;
}

/* --- Fit ---------------------------------------------------------------- */

static bool reaches(const struct dj_shape *s, uint64_t granules, uint64_t n, double p)
{
    struct dj_shape t = *s;
    t.bits = granules * dj_shape_granule(s->layout);
    return dj_shape_rate(&t, (double)n) <= p;
}

/* The fewest granules that reach p, when `enough` do.  Halving first keeps away from sizes far
 * too small, whose crowded blocks take longest to evaluate. */
static uint64_t fewest_granules(const struct dj_shape *s, uint64_t enough, uint64_t n, double p)
{
    uint64_t few = enough / 2;
    while (few > 0 && reaches(s, few, n, p)) {
        enough = few;
        few /= 2;
    }
    while (enough - few > 1) {
        const uint64_t mid = few + (enough - few) / 2;
        if (reaches(s, mid, n, p))
            enough = mid;
        else
            few = mid;
    }
    return enough;
}

static bool fit_exact(struct dj_shape *s, uint64_t n, double p)
{
    const uint64_t slots = (5 * n + 3) / 4; /* n is at most 2^53 */
    if ((!s->no_twins && p < dj_twins((double)n)) || slots > DJ_MAX_BITS / SLOT_BITS)
        return false;
    s->k = 1;
    s->bits = slots * SLOT_BITS;
    return dj_shape_round(s);
}

bool dj_shape_fit(struct dj_shape *s, uint64_t n, double p)
{
    const struct span ks = ks_of(s);
    if (n == 0 || n > MAX_KEYS || !is_rate(p) || ks.first > ks.last)
        return false;
    if (s->layout == DJ_TABLE)
        return fit_exact(s, n, p);
    const uint64_t most = DJ_MAX_BITS / dj_shape_granule(s->layout);
    uint64_t best = most + 1;
    struct dj_shape t = *s;
    for (t.k = ks.first; t.k <= ks.last && best > 1; t.k++)
        if (reaches(&t, best - 1, n, p)) {
            best = fewest_granules(&t, best - 1, n, p);
            s->k = t.k;
        }
    if (best > most)
        return false;
    s->bits = best * dj_shape_granule(s->layout);
    return true;
}

bool dj_shape_fit_body(struct dj_shape *s, uint64_t n, double p)
{
    const bool no_twins = s->no_twins;
    s->no_twins = true;
    const bool fits = dj_shape_fit(s, n, p);
    s->no_twins = no_twins;
    return fits;
}

/* --- Best k, capacity --------------------------------------------------- */

void dj_shape_best_k(struct dj_shape *s, uint64_t n)
{
    if (s->k != 0)
        return;
    const struct span ks = ks_of(s);
    double least = 2.0; /* more than any rate */
    struct dj_shape t = *s;
    for (t.k = ks.first; t.k <= ks.last; t.k++) {
        const double rate = dj_shape_rate(&t, n > 0 ? (double)n : 1.0);
        if (rate < least) {
            least = rate;
            s->k = t.k;
        }
    }
}

static bool holds(const struct dj_shape *s, uint64_t n, double p)
{
    return n <= MAX_KEYS && dj_shape_rate(s, (double)n) <= p;
}

/* The most keys at rate p, when it holds `fine`, at least 1. */
static uint64_t most_keys(const struct dj_shape *s, uint64_t fine, double p)
{
    uint64_t many = 2 * fine;
    while (holds(s, many, p)) {
        fine = many;
        many *= 2;
    }
    while (many - fine > 1) {
        const uint64_t mid = fine + (many - fine) / 2;
        if (holds(s, mid, p))
            fine = mid;
        else
            many = mid;
    }
    return fine;
}

static uint64_t capacity_exact(struct dj_shape *s, double p)
{
    const uint64_t room = s->bits / SLOT_BITS * 4 / 5;
    const double allowed = p / dj_twins(1.0);
    s->k = 1;
    return allowed < (double)room ? (uint64_t)allowed : room;
}

uint64_t dj_shape_capacity(struct dj_shape *s, double p)
{
    const struct span ks = ks_of(s);
    if (!is_rate(p) || ks.first > ks.last)
        return 0;
    if (s->layout == DJ_TABLE)
        return capacity_exact(s, p);
    uint64_t best = 0;
    struct dj_shape t = *s;
    s->k = ks.first;
    for (t.k = ks.first; t.k <= ks.last; t.k++)
        if (holds(&t, best + 1, p)) {
            best = most_keys(&t, best + 1, p);
            s->k = t.k;
        }
    return best;
}
