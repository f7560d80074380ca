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
 * A key of a blocked filter can have up to three lines.  Every number of lines is tried in the same
 * way, with a k that is a multiple of it, and a sixteenth of the memory decides between two.
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

uint64_t dj_shape_granule(const struct dj_shape *s)
{
    if (s->layout == DJ_SPREAD && !s->counter_bits)
        return 64;
    return (uint64_t)DJ_BLOCK_BITS * dj_shape_key_lines(s);
}

bool dj_shape_has_counters(uint32_t counter_bits)
{
    return counter_bits == 4 || counter_bits == 8 || counter_bits == 16 || counter_bits == 32;
}

uint32_t dj_shape_most_k(const struct dj_shape *s)
{
    switch (s->layout) {
    case DJ_SPREAD:
        return DJ_MAX_HASHES;
    case DJ_BLOCKS:
        return DJ_BLOCK_LANES * dj_shape_key_lines(s);
    case DJ_TABLE:
    case DJ_DATED:
        return 1;
    }
    return 0;
}

bool dj_shape_splits(const struct dj_shape *s)
{
    return s->k <= dj_shape_most_k(s) && s->k % dj_shape_key_lines(s) == 0;
}

static struct dj_shape with_lines(const struct dj_shape *s, uint32_t lines)
{
    struct dj_shape t = *s;
    t.key_lines = lines > 1 ? lines : 0;
    return t;
}

bool dj_shape_fewest_lines(struct dj_shape *s, struct dj_key_lines from)
{
    for (uint32_t lines = from.least; lines <= from.most; lines++) {
        const struct dj_shape t = with_lines(s, lines);
        if (dj_shape_splits(&t)) {
            *s = t;
            return true;
        }
    }
    return false;
}

/* The values of k to try: one if it is fixed, none if it is impossible. */
struct span {
    uint32_t first, last, step;
};

static struct span ks_of(const struct dj_shape *s)
{
    const uint32_t step = dj_shape_key_lines(s);
    if (!dj_shape_splits(s))
        return (struct span){1, 0, 1};
    return s->k > 0 ? (struct span){s->k, s->k, step}
                    : (struct span){step, dj_shape_most_k(s), step};
}

static bool is_rate(double p)
{
    return p > 0.0 && p < 1.0; /* false for NaN */
}

bool dj_shape_round(struct dj_shape *s)
{
    if (dj_shape_most_k(s) == 0 || s->bits > DJ_MAX_BITS)
        return false;
    const uint64_t g = dj_shape_granule(s);
    const uint64_t least = dj_layout_is_table(s->layout) ? EXACT_MIN_BITS : g;
    const uint64_t up = (s->bits + g - 1) / g * g;
    if (up > DJ_MAX_BITS) /* not a multiple of three lines */
        return false;
    s->bits = up < least ? least : up;
    return true;
}

/* --- Fit ---------------------------------------------------------------- */

static bool reaches(const struct dj_shape *s, uint64_t granules, uint64_t n, double p)
{
    struct dj_shape t = *s;
    t.bits = granules * dj_shape_granule(s);
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
    const uint64_t most = DJ_MAX_BITS / dj_shape_granule(s);
    uint64_t best = most + 1;
    struct dj_shape t = *s;
    for (t.k = ks.first; t.k <= ks.last && best > 1; t.k += ks.step)
        if (reaches(&t, best - 1, n, p)) {
            best = fewest_granules(&t, best - 1, n, p);
            s->k = t.k;
        }
    if (best > most)
        return false;
    s->bits = best * dj_shape_granule(s);
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
    for (t.k = ks.first; t.k <= ks.last; t.k += ks.step) {
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
    for (t.k = ks.first; t.k <= ks.last; t.k += ks.step)
        if (holds(&t, best + 1, p)) {
            best = most_keys(&t, best + 1, p);
            s->k = t.k;
        }
    return best;
}

/* --- Lines of a key ------------------------------------------------------- */

/* Memory that another line must save: 1 of 16. */
#define SAVES_ONE_OF UINT64_C(16)

static bool is_worth_a_line(uint64_t bits, uint64_t with_one_more)
{
    return with_one_more <= bits - bits / SAVES_ONE_OF;
}

bool dj_shape_fit_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n, double p)
{
    struct dj_shape best = {.bits = 0};
    for (uint32_t lines = from.least; lines <= from.most; lines++) {
        struct dj_shape t = with_lines(s, lines);
        const bool fits = dj_shape_fit(&t, n, p);
        if (best.bits && !(fits && is_worth_a_line(best.bits, t.bits)))
            break;
        if (fits)
            best = t;
    }
    if (best.bits)
        *s = best;
    return best.bits;
}

bool dj_shape_fit_body_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n, double p)
{
    const bool no_twins = s->no_twins;
    s->no_twins = true;
    const bool fits = dj_shape_fit_lines(s, from, n, p);
    s->no_twins = no_twins;
    return fits;
}

/* The largest size in this memory.  Three lines do not divide a power of two; at most 1/64 of the
 * memory is left so that the filter can be folded about as many times as one that has it all. */
static uint64_t round_down(const struct dj_shape *s, uint64_t bits)
{
    const uint64_t granule = dj_shape_granule(s), rows = bits / granule;
    uint64_t unit = 1;
    while (2 * unit <= rows && bits % granule && bits / DJ_BLOCK_BITS % (2 * unit) == 0 &&
           rows % (2 * unit) * 64 <= rows)
        unit *= 2;
    return rows / unit * unit * granule;
}

/* Sets bits, rounded down, and the best k; returns the rate, or 2 if there is no such shape. */
static double best_rate(struct dj_shape *s, uint64_t bits, uint64_t n)
{
    s->bits = round_down(s, bits);
    if (!s->bits || !dj_shape_splits(s))
        return 2.0;
    dj_shape_best_k(s, n);
    return dj_shape_rate(s, n > 0 ? (double)n : 1.0);
}

void dj_shape_best_lines(struct dj_shape *s, struct dj_key_lines from, uint64_t n)
{
    const struct dj_shape given = *s;
    double rate = 2.0;
    for (uint32_t lines = from.least; lines <= from.most; lines++) {
        struct dj_shape t = with_lines(&given, lines), less = t;
        /* The first possible number of lines is kept; another must do with less memory. */
        if (rate <= 1.0 && !(best_rate(&less, given.bits - given.bits / SAVES_ONE_OF, n) <= rate))
            break;
        const double one = best_rate(&t, given.bits, n);
        if (one <= 1.0) {
            *s = t;
            rate = one;
        }
    }
}

uint64_t dj_shape_capacity_lines(struct dj_shape *s, struct dj_key_lines from, double p)
{
    const struct dj_shape given = *s;
    uint64_t best = 0;
    for (uint32_t lines = from.least; lines <= from.most; lines++) {
        struct dj_shape t = with_lines(&given, lines);
        t.bits = round_down(&t, given.bits);
        const uint64_t keys = t.bits ? dj_shape_capacity(&t, p) : 0;
        if (best && !is_worth_a_line(keys, best)) /* memory per key is 1 / keys */
            break;
        if (keys || lines == from.least) {
            *s = t;
            best = keys;
        }
    }
    return best;
}
