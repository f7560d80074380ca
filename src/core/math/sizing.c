/* sizing.c - computes the smallest body for n keys at rate p, the best k, and the capacity.
 *
 * The rate (rate.c) falls with the bits and grows with the keys, so each question is a search for
 * the point where it crosses p: halve or double until the point is bracketed, then bisect.
 * Formulas such as m = n ln(1/p) / (ln 2)^2 are not used: k is an integer, bits are allocated in
 * granules, blocks are unevenly filled, and p is a guarantee.  So the answer is the first size at
 * which the predicted rate really is p or less.
 *
 * If k is free, it is tried from 1 upward, and a larger k must beat the best so far: it must need
 * at least one granule less, or hold at least one key more.  Rejecting a k that does not takes a
 * single evaluation.
 *
 * The rate of `exact` is negligible; its size follows from its load factor.  With 4 of 5 slots
 * used and full lines of 8 overflowing into the next, a query reads 1.15 lines on average for a
 * present key and 2.3 adjacent ones for an absent key (simulated with 10 million keys).  Small
 * tables need fewer reads, because they have few lines to overflow into.  The minimum is two
 * lines, so a handful of keys leaves free slots as well. */
#include "core/math/sizing.h"
#include <stddef.h>

#define MAX_KEYS       (UINT64_C(1) << 53) /* integers up to this are exact in a double */
#define EXACT_MIN_BITS (UINT64_C(2) * DJ_BLOCK_BITS)

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
    case DJ_DATED:
        return 1;
    }
    return 0;
}

/* The values of k to try: one if it is fixed, none if it is impossible. */
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
    const uint64_t least = dj_layout_is_table(s->layout) ? EXACT_MIN_BITS : g;
    const uint64_t up = (s->bits + g - 1) / g * g; /* at most DJ_MAX_BITS, a multiple of every g */
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

/* The fewest granules that reach p, given that `enough` do.  Halving first avoids sizes that are
 * far too small, whose crowded blocks take longest to evaluate. */
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
    const uint64_t slots = (5 * n + 3) / 4; /* no overflow: n is at most 2^53 */
    const uint64_t in_line = s->layout == DJ_DATED ? DJ_DATED_LINE : DJ_EXACT_LINE;
    const uint64_t lines = (slots + in_line - 1) / in_line;
    if ((!s->no_twins && p < dj_shape_twins(s, (double)n)) || lines > DJ_MAX_BITS / DJ_BLOCK_BITS)
        return false;
    s->k = 1;
    s->bits = lines * DJ_BLOCK_BITS;
    return dj_shape_round(s);
}

bool dj_shape_fit(struct dj_shape *s, uint64_t n, double p)
{
    const struct span ks = ks_of(s);
    if (n == 0 || n > MAX_KEYS || !is_rate(p) || ks.first > ks.last)
        return false;
    if (dj_layout_is_table(s->layout))
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
    double least = 2.0; /* higher than any rate */
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

/* The most keys at rate p, given that the shape holds `fine` >= 1. */
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
    const uint64_t room = dj_shape_slots(s) * 4 / 5;
    const double allowed = p / dj_shape_twins(s, 1.0);
    s->k = 1;
    return allowed < (double)room ? (uint64_t)allowed : room;
}

uint64_t dj_shape_capacity(struct dj_shape *s, double p)
{
    const struct span ks = ks_of(s);
    if (!is_rate(p) || ks.first > ks.last)
        return 0;
    if (dj_layout_is_table(s->layout))
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
