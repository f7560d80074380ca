/* rate.c - the effect of n distinct keys on a body: false positives, lost keys, set bits.
 *
 * classic  m bits, k positions anywhere.  n keys set a fraction f = 1 - (1 - 1/m)^(kn) of the
 *          bits.  An absent key is found if all its k positions are set: f^k.  That assumes that
 *          the k answers are independent.  They are not quite (Bose et al. 2008 give the exact
 *          law): the true rate is larger, by a factor of about 1 + 0.15 k^2 / m when half of the
 *          bits are set, which is negligible above a few thousand bits.
 *
 * blocked  B blocks of 16 lanes of 32 bits.  A key picks a block, k different lanes in it, and
 *          a bit in each.  An absent key is found if the i keys of its block cover its k bits.
 *          Keys arrive one at a time: each uses some of the lanes whose bit is still missing
 *          (hypergeometric), and in each of these it sets the right bit once in 32 times.  So the
 *          number of missing bits is a Markov chain, and stepping it gives the probability f(i)
 *          that none is missing after i keys.  A block holds i = Binomial(n, 1/B) keys, so
 *              rate = E f(i)           lost = B E (f(0) + ... + f(i - 1)),
 *          because a block's j-th key finds j - 1 keys there.  Putze et al. 2007 do the same
 *          with Poisson weights and independent bits.
 *          Inclusion-exclusion gives f(i) in closed form, but as a difference of large numbers,
 *          which is pure rounding error near 1e-12.  The chain only multiplies and adds positive
 *          numbers, so it is as accurate for nearly empty filters as for full ones.
 *
 *          A key can have L = 2 or 3 lines.  Its line j is in the j-th part of the body, which has
 *          B / L blocks, and gets k / L of its positions, so the body is L independent filters
 *          that each hold all keys and must all agree:
 *              rate = (the rate of one of them)^L.
 *
 * spectral the same with counters: a lane of 32 bits holds 8, 4, 2 or 1 of them, and a key uses
 *          one in each of k lanes.  A nonzero counter counts as a set bit.  Counters anywhere in
 *          the body are the same as classic, with m counters instead of bits.
 *
 * exact    the body holds 64-bit fingerprints, so the only false positives are twins.
 *
 * dated    the same with 53 bits of the hash: twins share these bits, at a rate of n / 2^53.
 *
 * twins    Keys are first hashed to 64 bits.  An absent key has the same hash as one of n keys
 *          with probability n / 2^64.  Every body then finds it, in all F filters, for any k.
 *          This is the lowest possible rate and is added to the others.  Only the papers'
 *          families, which compute k numbers per key, do not have it.
 *
 * Cost: k^2/2 multiplications for each key that a crowded block may hold, microseconds in all.
 *
 * Sources: B. H. Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970.
 * Bose, Guo, Kranakis, Maheshwari, Morin, Morrison, Smid, Tang, "On the false-positive rate of
 * Bloom filters", Information Processing Letters 108, 2008.
 * Putze, Sanders, Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", WEA 2007. */
#include "core/math/sizing.h"
#include <assert.h>
#include <float.h>
#include <math.h>

#define LANES      DJ_BLOCK_LANES
#define LANE_BITS  (DJ_BLOCK_BITS / DJ_BLOCK_LANES)
#define TWO_TO_64  18446744073709551616.0
#define TWO_TO_53  9007199254740992.0
#define NEGLIGIBLE 1e-17 /* a relative change too small for a double */
#define UNTOLD     1e-9  /* a relative change too small to report or to store in a file */

static void check(const struct dj_shape *s)
{
    const bool is_blocked = s->layout == DJ_BLOCKS;
    assert(s->layout == DJ_SPREAD || is_blocked || dj_layout_is_table(s->layout));
    assert(is_blocked || s->layout == DJ_SPREAD || s->counter_bits == 0);
    assert(s->key_lines == 0 || (is_blocked && s->key_lines >= 2 && s->key_lines <= DJ_KEY_LINES));
    assert(s->k >= 1 && dj_shape_splits(s));
    assert(s->bits >= dj_shape_granule(s) && s->bits <= DJ_MAX_BITS);
    (void)is_blocked;
}

/* The filter that one line of each key is in. */
static struct dj_shape line_of(const struct dj_shape *s)
{
    struct dj_shape line = *s;
    line.bits /= dj_shape_key_lines(s);
    line.k /= dj_shape_key_lines(s);
    line.key_lines = 0;
    return line;
}

/* Places in a lane; a key uses one in each of its k lanes. */
static double lane_places(const struct dj_shape *s)
{
    return LANE_BITS / dj_shape_unit(s);
}

/* Total number of places: m. */
static double places(const struct dj_shape *s)
{
    return (double)(s->bits / dj_shape_unit(s));
}

/* --- One block ---------------------------------------------------------- */

/* The number of an absent key's k bits that are still missing while its block receives keys. */
struct cover {
    unsigned k;
    double step[LANES + 1][LANES + 1]; /* [v][u]: probability that one key leaves v of u missing */
    double missing[LANES + 1];         /* [u]: probability that u bits are missing now */
    double open;                       /* probability that any bit is missing */
    double keys;                       /* received so far */
    double lost; /* expected number of these that were already covered on arrival */
};

/* Pascal's triangle with weights: 1 and 1 give the binomial coefficients, 1 - q and q the
 * distribution of the number of successes in n trials. */
static void pascal(double t[LANES + 1][LANES + 1], double fail, double succeed)
{
    for (unsigned n = 0; n <= LANES; n++)
        for (unsigned r = 0; r <= LANES; r++)
            t[n][r] = n == 0 ? (r == 0 ? 1.0 : 0.0)
                             : fail * t[n - 1][r] + (r > 0 ? succeed * t[n - 1][r - 1] : 0.0);
}

static void cover_init(struct cover *c, unsigned k, double lane_places)
{
    double choose[LANES + 1][LANES + 1], right[LANES + 1][LANES + 1];
    pascal(choose, 1.0, 1.0);
    pascal(right, 1.0 - 1.0 / lane_places, 1.0 / lane_places);
    *c = (struct cover){.k = k, .open = 1.0};
    c->missing[k] = 1.0;
    for (unsigned u = 0; u <= k; u++)
        for (unsigned met = 0; met <= u; met++) {
            /* The key's k of 16 lanes include `met` of the u lanes ... */
            const double meets = choose[u][met] * choose[LANES - u][k - met] / choose[LANES][k];
            for (unsigned hit = 0; hit <= met; hit++) /* ... and sets `hit` of their bits. */
                c->step[u - hit][u] += meets * right[met][hit];
        }
}

static void cover_add_key(struct cover *c)
{
    c->keys += 1.0;
    c->lost += c->missing[0];
    if (c->open < NEGLIGIBLE)
        return;
    c->open = 0.0;
    for (unsigned v = 0; v <= c->k; v++) { /* upward: a new v needs the old values of u >= v */
        double sum = 0.0;
        for (unsigned u = v; u <= c->k; u++)
            sum += c->missing[u] * c->step[v][u];
        c->missing[v] = sum;
        c->open += v > 0 ? sum : 0.0;
    }
}

/* --- The keys of a block: Binomial(n, 1/B) ------------------------------ */

/* Poisson weights would suit a large B but overstate the rate of a small one (with B = 1, the only
 * block holds exactly n keys).  Binomial weights cost the same. */
struct crowd {
    double n, blocks;
    double mode;   /* the most likely number of keys */
    double keys;   /* the current number */
    double weight; /* its probability relative to that of the mode */
};

/* Start at the smallest number that matters.  Weights are relative because those of small numbers
 * underflow in a crowded filter. */
static struct crowd crowd_first(double n, double blocks)
{
    const double mode = fmin(floor((n + 1.0) / blocks), n);
    struct crowd w = {n, blocks, mode, mode, 1.0};
    while (w.keys > 0.0) {
        const double less = w.weight * w.keys * (blocks - 1.0) / (n - w.keys + 1.0);
        if (less < 1e-3 * NEGLIGIBLE)
            break;
        w.weight = less;
        w.keys -= 1.0;
    }
    return w;
}

static void crowd_next(struct crowd *w)
{
    w->weight *= (w->n - w->keys) / ((w->keys + 1.0) * (w->blocks - 1.0));
    w->keys += 1.0;
}

/* True if the remaining weights cannot change `total`, given that a block of i keys adds at most
 * i: a bound that holds for both the rate and the losses. */
static bool crowd_done(const struct crowd *w, double total)
{
    return w->keys >= w->n ||
           (w->keys >= w->mode && w->weight * (w->keys + 1.0) < NEGLIGIBLE * total);
}

/* --- Blocked ------------------------------------------------------------ */

/* At this mean number of keys, every lookup is positive: the probability that any of k bits is
 * missing is at most k (1 - k/512)^i < k e^-64.  The counts in a crafted file can be this high, and
 * statistics must not take seconds then. */
static double crowd_max(uint32_t k)
{
    return 64.0 * DJ_BLOCK_BITS / (double)k;
}

enum wanted {
    RATE,
    LOST_A_BLOCK
};

/* The mean of the wanted quantity over all blocks, for an integer number of keys. */
static double block_mean(const struct dj_shape *s, double n, enum wanted wanted)
{
    const double blocks = (double)(s->bits / DJ_BLOCK_BITS);
    const bool crowded = n > crowd_max(s->k) * blocks;
    struct cover c;
    if (crowded && wanted == RATE)
        return 1.0;
    cover_init(&c, s->k, lane_places(s));
    if (crowded) {
        while (c.open >= NEGLIGIBLE)
            cover_add_key(&c);
        return n / blocks - (c.keys - c.lost);
    }
    struct crowd w = crowd_first(n, blocks);
    while (c.keys < w.keys)
        cover_add_key(&c);
    for (double total = 0.0, weights = 0.0;; crowd_next(&w), cover_add_key(&c)) {
        total += w.weight * (wanted == RATE ? c.missing[0] : c.lost);
        weights += w.weight;
        if (crowd_done(&w, total))
            return total / weights;
    }
}

/* Interpolates linearly between integer numbers of keys. */
static double block_mean_at(const struct dj_shape *s, double n, enum wanted wanted)
{
    const double whole = floor(n);
    const double below = block_mean(s, whole, wanted);
    if (!(n > whole)) /* also true for INFINITY */
        return below;
    return below + (n - whole) * (block_mean(s, whole + 1.0, wanted) - below);
}

/* --- Fill --------------------------------------------------------------- */

/* For a single bit: each key has `a_key` independent chances, each of which sets the bit with
 * probability `hit`.  The k lanes of a blocked key differ, so they count as one chance of k/m. */
struct throws {
    double a_key, hit;
};

static struct throws throws_of(const struct dj_shape *s)
{
    const double m = places(s);
    return s->layout == DJ_SPREAD ? (struct throws){(double)s->k, 1.0 / m}
                                  : (struct throws){1.0, (double)s->k / m};
}

/* -log of the probability that a key leaves a bit clear: about k/m. */
static double wear(const struct dj_shape *s)
{
    const struct throws t = throws_of(s);
    return -t.a_key * log1p(-t.hit);
}

static double fill(const struct dj_shape *s, double n)
{
    return -expm1(-n * wear(s));
}

double dj_shape_bits_set(const struct dj_shape *s, double n)
{
    check(s);
    if (!(n > 0.0))
        return 0.0;
    return dj_layout_is_table(s->layout) ? n : places(s) * fill(s, n);
}

/* The inverse, after Swamidass and Baldi, "Mathematical correction for fingerprint similarity
 * measures to improve chemical retrieval", Journal of Chemical Information and Modeling 47,
 * 2007. */
double dj_shape_keys(const struct dj_shape *s, double bits_set)
{
    check(s);
    if (!(bits_set > 0.0))
        return 0.0;
    if (dj_layout_is_table(s->layout))
        return bits_set;
    const double m = places(s);
    return bits_set >= m ? INFINITY : -log1p(-bits_set / m) / wear(s);
}

/* The number of set bits has the same variance as the number of clear ones: the sum over all pairs
 * of bits of P(both clear) - P(clear)^2.  A throw that sets a bit with probability q leaves both
 * of two bits clear with probability 1 - 2q + b, where b is the probability of setting both: 0,
 * except in blocked filters, where it is k(k-1)/(480 m) for the 480 bits in other lanes of the
 * same block (spectral: 15 lanes of counters).  With c = P(clear), the variance is m c (1 - c) + m
 * c^2 ((m - 1 - near) (far - 1) + near (nigh - 1)), where far and nigh are P(both clear) / c^2
 * without and with b.  For large m, the classic case becomes the occupancy law m e^-x (1 - (1 + x)
 * e^-x), x = kn/m (Kolchin, Sevastyanov, Chistyakov, "Random Allocations", 1978).  The code uses
 * expm1, so that terms of size m^2 are never formed and cannot cancel. */
static double bits_variance(const struct dj_shape *s, double n)
{
    const double m = places(s), k = (double)s->k;
    const double clear = exp(-n * wear(s));
    if (clear < DBL_MIN)
        return 0.0;
    const struct throws t = throws_of(s);
    const double near = s->layout == DJ_SPREAD ? 0.0 : (LANES - 1) * lane_places(s);
    const double both = near > 0.0 ? k * (k - 1.0) / (near * m) : 0.0;
    const double square = (1.0 - t.hit) * (1.0 - t.hit);
    const double far_less = expm1(n * t.a_key * log1p(-t.hit * t.hit / square));
    const double near_more = expm1(n * t.a_key * log1p((both - t.hit * t.hit) / square));
    const double pairs = (m - 1.0 - near) * far_less + near * near_more;
    return fmax(0.0, m * clear * (fill(s, n) + clear * pairs));
}

double dj_shape_bits_sigma(const struct dj_shape *s, double n)
{
    check(s);
    if (!(n > 0.0) || dj_layout_is_table(s->layout))
        return 0.0; /* used slots are counted exactly */
    const struct dj_shape line = line_of(s);
    return sqrt(dj_shape_key_lines(s) * bits_variance(&line, n));
}

/* --- Twins -------------------------------------------------------------- */

double dj_twins(double n)
{
    return fmin(fmax(n, 0.0) / TWO_TO_64, 1.0);
}

static double combine(double bodies, double twins)
{
    return twins < UNTOLD * bodies ? bodies : dj_either(bodies, twins);
}

double dj_with_twins(double bodies, double n)
{
    return combine(bodies, dj_twins(n));
}

/* How many different hashes a body of this shape tells apart. */
static double hashes_of(const struct dj_shape *s)
{
    return s->layout == DJ_DATED ? TWO_TO_53 : TWO_TO_64;
}

double dj_shape_twins(const struct dj_shape *s, double n)
{
    return fmin(fmax(n, 0.0) / hashes_of(s), 1.0);
}

/* Expected number of n keys that have a twin among the earlier ones. */
static double twins_lost(const struct dj_shape *s, double n)
{
    return fmax(0.0, n * (n - 1.0) / 2.0) / hashes_of(s);
}

double dj_shape_rate_left(const struct dj_shape *s, double n, double p)
{
    const double twins = s->no_twins ? 0.0 : dj_shape_twins(s, n);
    return twins < UNTOLD * p ? p : fmax(0.0, (p - twins) / (1.0 - twins));
}

double dj_either(double a, double b)
{
    return a + b - a * b; /* 1 - (1 - a)(1 - b) would round small rates away */
}

/* --- Rate --------------------------------------------------------------- */

static double classic_rate(const struct dj_shape *s, double n)
{
    return pow(fill(s, n), (double)s->k);
}

/* The rate without twins of F bodies. */
static double bodies_rate(const struct dj_shape *s, uint32_t filters, double n)
{
    const struct dj_shape line = line_of(s);
    const double one = s->layout == DJ_SPREAD          ? classic_rate(s, n)
                       : dj_layout_is_table(s->layout) ? 0.0
                                                       : fmin(block_mean_at(&line, n, RATE), 1.0);
    return pow(one, filters * dj_shape_key_lines(s));
}

double dj_shape_rate_of(const struct dj_shape *s, uint32_t filters, double n)
{
    check(s);
    if (!(n > 0.0))
        return 0.0;
    const double bodies = bodies_rate(s, filters, n);
    return s->no_twins ? bodies : combine(bodies, dj_shape_twins(s, n));
}

double dj_shape_rate(const struct dj_shape *s, double n)
{
    return dj_shape_rate_of(s, 1, n);
}

/* --- Losses ------------------------------------------------------------- */

/* The rate f^k integrated over the keys: with f = 1 - e^(-wn) as the variable, dn is df / (w (1 -
 * f)), and expanding 1/(1 - f) as a geometric series gives
 *     (f^(k+1)/(k+1) + f^(k+2)/(k+2) + ...) / w.
 * This is -log(1 - f) = wn minus the terms 1 to k, which is shorter to compute if f is near 1. */
static double classic_integral(const struct dj_shape *s, double n)
{
    const double f = fill(s, n), w = wear(s);
    double sum = 0.0, power = 1.0;
    if (f > 0.9) {
        sum = w * n;
        for (uint32_t j = 1; j <= s->k; j++)
            sum -= (power *= f) / (double)j;
        return sum / w;
    }
    power = pow(f, (double)s->k + 1.0);
    for (double j = (double)s->k + 1.0; power > NEGLIGIBLE * j * sum; j += 1.0, power *= f)
        sum += power / j;
    return sum / w;
}

/* For up to this many keys, the sum is computed term by term. */
#define FEW_KEYS 1024.0

/* The slope of the rate at n keys minus that at 0 keys, where only k = 1 has a slope. */
static double classic_slope(const struct dj_shape *s, double n)
{
    const double f = fill(s, n), k = (double)s->k;
    return wear(s) * (k * (1.0 - f) * pow(f, k - 1.0) - (s->k == 1 ? 1.0 : 0.0));
}

/* The sum over integers from the integral: Euler-Maclaurin (DLMF 2.10.1) with the terms of the
 * rate and its slope; the remainder is about k^4 / (720 n^4) of the sum. */
static double classic_lost(const struct dj_shape *s, double n)
{
    if (n > FEW_KEYS)
        return classic_integral(s, n) - classic_rate(s, n) / 2.0 + classic_slope(s, n) / 12.0;
    double sum = 0.0;
    for (double before = 0.0; before < n; before += 1.0)
        sum += fmin(n - before, 1.0) * classic_rate(s, before);
    return sum;
}

static double body_lost(const struct dj_shape *s, double n)
{
    if (s->layout == DJ_SPREAD)
        return classic_lost(s, n);
    if (dj_layout_is_table(s->layout))
        return 0.0;
    return (double)(s->bits / DJ_BLOCK_BITS) * block_mean_at(s, n, LOST_A_BLOCK);
}

/* Integrates by Simpson's rule; the rate is smooth and grows like n^(k F). */
static double bodies_lost(const struct dj_shape *s, uint32_t filters, double n)
{
    enum {
        STEPS = 128
    };
    double sum = 0.0;
    for (int i = 1; i <= STEPS; i++) {
        const double weight = i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * bodies_rate(s, filters, n * i / STEPS);
    }
    return sum * n / STEPS / 3.0;
}

double dj_shape_lost_of(const struct dj_shape *s, uint32_t filters, double n)
{
    check(s);
    if (!(n > 0.0))
        return 0.0;
    const bool one = filters == 1 && !s->key_lines;
    const double bodies = one ? body_lost(s, n) : bodies_lost(s, filters, n);
    if (s->no_twins || !(bodies < n)) /* the second condition also covers INFINITY */
        return bodies;
    return bodies + (1.0 - bodies / n) * twins_lost(s, n); /* of the keys not otherwise lost */
}

double dj_shape_lost(const struct dj_shape *s, double n)
{
    return dj_shape_lost_of(s, 1, n);
}
