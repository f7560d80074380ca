/* rate.c - what n different keys do to a body: false positives, lost keys, set bits.
 *
 * classic  m bits, k positions anywhere.  n keys leave a share f = 1 - (1 - 1/m)^(kn) of the
 *          bits set, and a stranger is found when its k positions all are: f^k.  That takes the
 *          k answers for independent.  They are not quite (Bose et al. 2008 give the exact law):
 *          the true rate is larger, by about 0.15 k^2 / m of itself when half of the bits are
 *          set.  That is nothing from some thousand bits on.
 *
 * blocked  B blocks of 16 lanes of 32 bits.  A key picks a block, k different lanes in it, and
 *          a bit in each.  A stranger is found when the i keys of its block cover its k bits.
 *          Keys come one at a time: of the lanes whose bit is still missing a key meets some
 *          (hypergeometric), and in a lane met it sets the right bit once in 32 times.  So the
 *          number of missing bits is a Markov chain, and the chance f(i) that it is 0 after i
 *          keys follows by stepping.  The block itself holds i = Binomial(n, 1/B) keys, hence
 *              rate = E f(i)           lost = B E (f(0) + ... + f(i - 1)),
 *          the latter because a block's j-th key met the j - 1 before it.  Putze et al. 2007 do
 *          the same with Poisson weights and independent bits.
 *          Inclusion-exclusion gives f(i) in closed form, but as a difference of large numbers,
 *          which is pure rounding error near 1e-12.  The chain only multiplies and adds positive
 *          numbers, so nearly empty filters come out as accurate as full ones.
 *
 * spectral the same with counters: a lane of 32 bits holds 8, 4, 2 or 1 of them, and a key takes
 *          one in each of k lanes.  A counter that is not 0 is a bit that is set.
 *
 * exact    fingerprints of 64 bits, and nothing else: only twins are mistaken.
 *
 * twins    Before it is anything else, a key is a number of 64 bits.  A stranger has that of
 *          one of n keys with probability n / 2^64, and is then found in whatever body, in all
 *          of F filters, and whatever k.  This is the least rate there is, and goes on top of
 *          the others; only the papers' families, which make k numbers of a key, are free of it.
 *
 * Cost: k^2/2 multiplications for each key that a crowded block may hold: microseconds.
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
#define NEGLIGIBLE 1e-17 /* a share that no longer changes a double */
#define UNTOLD     1e-9  /* of a rate: nobody reads it, and files would record it as a last bit */

static void check(const struct dj_shape *s)
{
    const bool is_classic = s->layout == DJ_SPREAD;
    const bool is_blocked = s->layout == DJ_BLOCKS;
    assert(is_classic || is_blocked || s->layout == DJ_TABLE);
    assert(is_blocked || s->counter_bits == 0);
    assert(s->k >= 1 && s->k <= (is_classic ? DJ_MAX_HASHES : is_blocked ? LANES : 1));
    assert(s->bits >= (is_classic ? 64 : DJ_BLOCK_BITS) && s->bits <= DJ_MAX_BITS);
    (void)is_classic, (void)is_blocked;
}

/* Places of which a key takes one, in each of its k lanes. */
static double lane_places(const struct dj_shape *s)
{
    return LANE_BITS / dj_shape_unit(s);
}

/* Places in all: m. */
static double places(const struct dj_shape *s)
{
    return (double)(s->bits / dj_shape_unit(s));
}

/* --- One block ---------------------------------------------------------- */

/* A stranger's k bits in a block that receives keys: how many of them are still missing. */
struct cover {
    unsigned k;
    double step[LANES + 1][LANES + 1]; /* [v][u]: chance that one key leaves v of u missing */
    double missing[LANES + 1];         /* [u]: chance that u bits are missing now */
    double open;                       /* chance that any is */
    double keys;                       /* received so far */
    double lost;                       /* of these, expected to be covered on arrival */
};

/* Pascal's triangle with weights: 1 and 1 give the binomial numbers, q and 1 - q the law of
 * the number of successes in n trials. */
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
            /* The key's k lanes of 16 hold `met` of the u lanes, the rest lie elsewhere ... */
            const double meets = choose[u][met] * choose[LANES - u][k - met] / choose[LANES][k];
            for (unsigned hit = 0; hit <= met; hit++) /* ... and `hit` of them get their bit. */
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
    for (unsigned v = 0; v <= c->k; v++) { /* upwards: a new v needs the old u from v on */
        double sum = 0.0;
        for (unsigned u = v; u <= c->k; u++)
            sum += c->missing[u] * c->step[v][u];
        c->missing[v] = sum;
        c->open += v > 0 ? sum : 0.0;
    }
}

/* --- The keys of a block: Binomial(n, 1/B) ------------------------------ */

/* Poisson weights would do for a large B and overstate the rate of a small one (a block is all
 * there is when B = 1, and holds exactly n).  The binomial ones cost the same. */
struct crowd {
    double n, blocks;
    double mode;   /* the likeliest number of keys */
    double keys;   /* the number at hand */
    double weight; /* its probability, in units of that of the mode */
};

/* Begin at the smallest number that matters.  Weights are relative because those of small
 * numbers underflow in a crowded filter. */
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

/* What the weights yet to come can add is negligible beside `total`, when a block of i keys
 * counts for i at most: a limit that both the rate and the losses respect. */
static bool crowd_done(const struct crowd *w, double total)
{
    return w->keys >= w->n ||
           (w->keys >= w->mode && w->weight * (w->keys + 1.0) < NEGLIGIBLE * total);
}

/* --- Blocked ------------------------------------------------------------ */

/* At this mean every k finds everything: k bits stay open with at most k (1 - k/512)^i. */
#define CROWD_MAX (64.0 * DJ_BLOCK_BITS)

enum wanted {
    RATE,
    LOST_A_BLOCK
};

/* The mean of the wanted over all blocks, for a whole number of keys. */
static double block_mean(const struct dj_shape *s, double n, enum wanted wanted)
{
    const double blocks = (double)(s->bits / DJ_BLOCK_BITS);
    struct cover c;
    cover_init(&c, s->k, lane_places(s));
    if (n > CROWD_MAX * blocks) {
        while (c.open >= NEGLIGIBLE)
            cover_add_key(&c);
        return wanted == RATE ? 1.0 : n / blocks - (c.keys - c.lost);
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

/* Between two whole numbers of keys the truth is on the line. */
static double block_mean_at(const struct dj_shape *s, double n, enum wanted wanted)
{
    const double whole = floor(n);
    const double below = block_mean(s, whole, wanted);
    if (!(n > whole)) /* also the way out for INFINITY */
        return below;
    return below + (n - whole) * (block_mean(s, whole + 1.0, wanted) - below);
}

/* --- Fill --------------------------------------------------------------- */

/* What happens to a single bit: `throws` independent chances a key, each to set it with
 * probability `hit`.  The k lanes of a blocked key differ, so it is one throw of chance k/m. */
struct throws {
    double a_key, hit;
};

static struct throws throws_of(const struct dj_shape *s)
{
    const double m = places(s);
    return s->layout == DJ_SPREAD ? (struct throws){(double)s->k, 1.0 / m}
                                  : (struct throws){1.0, (double)s->k / m};
}

/* -log of the chance that a bit survives a key: about k/m. */
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
    return s->layout == DJ_TABLE ? n : places(s) * fill(s, n);
}

/* The same read backwards, as Swamidass and Baldi do ("Mathematical correction for fingerprint
 * similarity measures to improve chemical retrieval", J. Chem. Inf. Model. 47, 2007). */
double dj_shape_keys(const struct dj_shape *s, double bits_set)
{
    check(s);
    if (!(bits_set > 0.0))
        return 0.0;
    if (s->layout == DJ_TABLE)
        return bits_set;
    const double m = places(s);
    return bits_set >= m ? INFINITY : -log1p(-bits_set / m) / wear(s);
}

/* The variance of the number of set bits is that of clear ones: over all pairs of bits,
 * P(both clear) - P(clear)^2.  A throw that sets a bit with chance q leaves both of two clear
 * with 1 - 2q + b, where b is the chance to set both: 0, but in blocked filters k(k-1)/(480 m)
 * for the 480 bits in other lanes of the same block (spectral: 15 lanes of counters).  With c =
 * P(clear) that makes m c (1 - c) + m c^2 ((m - 1 - near) (far - 1) + near (nigh - 1)) where far
 * and nigh are P(both clear) / c^2 without and with b; for large m the classic case becomes the
 * occupancy law m e^-x (1 - (1 + x) e^-x), x = kn/m (Kolchin, Sevastyanov, Chistyakov, "Random
 * Allocations", 1978).  Written with expm1, so that the terms of size m^2 are never formed and
 * cannot cancel. */
double dj_shape_bits_sigma(const struct dj_shape *s, double n)
{
    check(s);
    if (!(n > 0.0) || s->layout == DJ_TABLE)
        return 0.0; /* slots in use are counted, not left to chance */
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
    return sqrt(fmax(0.0, m * clear * (fill(s, n) + clear * pairs)));
}

/* --- Twins -------------------------------------------------------------- */

double dj_twins(double n)
{
    return fmin(fmax(n, 0.0) / TWO_TO_64, 1.0);
}

double dj_with_twins(double bodies, double n)
{
    const double twins = dj_twins(n);
    return twins < UNTOLD * bodies ? bodies : dj_either(bodies, twins);
}

/* Keys of n that met a twin of theirs. */
static double twins_lost(double n)
{
    return fmax(0.0, n * (n - 1.0) / 2.0) / TWO_TO_64;
}

double dj_shape_rate_left(const struct dj_shape *s, double n, double p)
{
    const double twins = s->no_twins ? 0.0 : dj_twins(n);
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

/* Without twins. */
static double body_rate(const struct dj_shape *s, double n)
{
    if (s->layout == DJ_SPREAD)
        return classic_rate(s, n);
    return s->layout == DJ_TABLE ? 0.0 : fmin(block_mean_at(s, n, RATE), 1.0);
}

double dj_shape_rate_of(const struct dj_shape *s, uint32_t filters, double n)
{
    check(s);
    if (!(n > 0.0))
        return 0.0;
    const double bodies = pow(body_rate(s, n), filters);
    return s->no_twins ? bodies : dj_with_twins(bodies, n);
}

double dj_shape_rate(const struct dj_shape *s, double n)
{
    return dj_shape_rate_of(s, 1, n);
}

/* --- Losses ------------------------------------------------------------- */

/* The rate f^k integrated over the keys: with f = 1 - e^(-wn) as the variable, dn is
 * df / (w (1 - f)), and the geometric series for 1/(1 - f) makes it
 *     (f^(k+1)/(k+1) + f^(k+2)/(k+2) + ...) / w.
 * The terms from 1 to k are what -log(1 - f) = wn has more: shorter when f is near 1. */
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

/* Up to here the keys are added one by one. */
#define FEW_KEYS 1024.0

/* How much steeper the rate is at n keys than at none, where only k = 1 has a slope. */
static double classic_slope(const struct dj_shape *s, double n)
{
    const double f = fill(s, n), k = (double)s->k;
    return wear(s) * (k * (1.0 - f) * pow(f, k - 1.0) - (s->k == 1 ? 1.0 : 0.0));
}

/* The sum over whole numbers from the integral: Euler-Maclaurin (DLMF 2.10.1) with the terms
 * of the rate and its slope; what follows is about k^4 / (720 n^4) of the sum. */
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
    if (s->layout == DJ_TABLE)
        return 0.0;
    return (double)(s->bits / DJ_BLOCK_BITS) * block_mean_at(s, n, LOST_A_BLOCK);
}

/* By Simpson's rule; the rate is smooth and rises like n^(k F). */
static double bodies_lost(const struct dj_shape *s, uint32_t filters, double n)
{
    enum {
        STEPS = 128
    };
    double sum = 0.0;
    for (int i = 1; i <= STEPS; i++) {
        const double weight = i == STEPS ? 1.0 : i % 2 ? 4.0 : 2.0;
        sum += weight * pow(body_rate(s, n * i / STEPS), filters);
    }
    return sum * n / STEPS / 3.0;
}

double dj_shape_lost_of(const struct dj_shape *s, uint32_t filters, double n)
{
    check(s);
    if (!(n > 0.0))
        return 0.0;
    const double bodies = filters == 1 ? body_lost(s, n) : bodies_lost(s, filters, n);
    if (s->no_twins || !(bodies < n)) /* the latter also for INFINITY */
        return bodies;
    return bodies + (1.0 - bodies / n) * twins_lost(n); /* of those that were not lost anyhow */
}

double dj_shape_lost(const struct dj_shape *s, double n)
{
    return dj_shape_lost_of(s, 1, n);
}
