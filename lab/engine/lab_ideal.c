/* lab_ideal.c - the filters of the multi-layer papers with exact sets; see lab_ideal.h.
 *
 * A line that was never added has some strange segments: their layer does not know them.  A layer
 * of s segments reports a strange one with the probability f = (1 - (1 - 1/m)^(k s))^k, so the line
 * is reported with the product of the f of its strange segments, times the rate of the XOR array
 * if there is one and its XOR is strange, too.  Without a strange segment or XOR it is always
 * reported.
 *
 * Lines share strange segments: if an array mistakes a host for a known one, it does so for all
 * its lines, and the number of hits varies more than that of independent lines.  For independent
 * events X_s of probability f_s, a sum of products varies at least by its projection on each of
 * them, sum a_s^2 f_s (1 - f_s), where a_s is the sum of p / f_s over the lines with segment s.
 * What a line adds beyond its own share of that is counted as independent of other lines; this
 * ignores lines that share two strange segments and differ only in known ones.  The number of bits
 * set, which is random as well, adds its own variance.
 *
 * The XOR array is not independent of the layers.  If a new page's position j in its layer is set
 * by the same function j for another page of the same folder, then their positions in the XOR array
 * are equal as well: `of_new_page`.  In a list of one folder, this doubles the rate. */
#include "lab/engine/lab_ideal.h"
#include "tools/base/mix.h"
#include <math.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define SEED    UINT64_C(0x6c61622d69646561) /* unlike those of the filters */
#define STRANGE 64u /* strange segments of a line; more than that are never all mistaken */

/* --- Sets ---------------------------------------------------------------------- */

static bool set_make(struct lab_ideal_set *t, uint64_t slots)
{
    t->slot = slots <= SIZE_MAX ? calloc((size_t)slots, sizeof *t->slot) : NULL;
    t->mask = slots - 1;
    t->n = 0;
    return t->slot;
}

/* The slot with this key, or the free one where it belongs. */
static struct lab_ideal_slot *set_find(const struct lab_ideal_set *t, uint64_t key)
{
    uint64_t at = key & t->mask;
    while (t->slot[at].key != 0 && t->slot[at].key != key)
        at = (at + 1) & t->mask;
    return &t->slot[at];
}

static bool set_grow(struct lab_ideal_set *t)
{
    struct lab_ideal_set larger;
    if (!set_make(&larger, 2 * (t->mask + 1)))
        return false;
    for (uint64_t i = 0; i <= t->mask; i++)
        if (t->slot[i].key != 0)
            *set_find(&larger, t->slot[i].key) = t->slot[i];
    larger.n = t->n;
    free(t->slot);
    *t = larger;
    return true;
}

/* The slot of this key, which is added if it is missing; *added tells.  NULL: out of memory. */
static struct lab_ideal_slot *set_put(struct lab_ideal_set *t, uint64_t key, bool *added)
{
    struct lab_ideal_slot *s = set_find(t, key);
    *added = s->key == 0;
    if (!*added)
        return s;
    if (2 * t->n > t->mask) {
        if (!set_grow(t))
            return NULL;
        s = set_find(t, key);
    }
    s->key = key;
    t->n++;
    return s;
}

/* --- Lines ------------------------------------------------------------------------ */

int lab_ideal_init(struct lab_ideal *d, uint64_t m, uint32_t k, const struct lab_mlbf_how *how)
{
    *d = (struct lab_ideal){.how = *how, .m = m, .k = k};
    if (set_make(&d->known, 1024) && set_make(&d->strange, 1024))
        return DEJA_OK;
    lab_ideal_fini(d);
    return DEJA_ENOMEM;
}

void lab_ideal_fini(struct lab_ideal *d)
{
    free(d->known.slot);
    free(d->strange.slot);
    *d = (struct lab_ideal){0};
}

static uint64_t hash_of(deja_slice segment)
{
    return XXH3_64bits_withSeed(segment.data, segment.len, SEED);
}

static uint64_t key_of(uint64_t hash, uint32_t layer)
{
    return mix64(hash + layer * MIX_GOLDEN) | 1; /* 0 is a free slot */
}

static uint32_t depth_class(uint32_t segments)
{
    return segments < LAB_IDEAL_DEPTHS ? segments - 1 : LAB_IDEAL_DEPTHS - 1;
}

/* As the layer of a key: the XOR of a line, and that of its folder, all segments but the last, by
 * the layer of the last one. */
#define JOINT  LAB_MLBF_LAYERS
#define FOLDER (JOINT + 1)

static bool count_folder(struct lab_ideal *d, uint64_t folder, uint32_t layer)
{
    bool added;
    struct lab_ideal_slot *slot = set_put(&d->known, key_of(folder, FOLDER + layer), &added);
    if (slot)
        slot->sum++;
    return slot;
}

int lab_ideal_add(struct lab_ideal *d, deja_slice line)
{
    uint64_t joint = 0, hash = 0;
    uint32_t segment = 0, layer = 0;
    bool added;
    for (deja_slice rest = lab_mlbf_begin(&d->how, line); rest.data != NULL; segment++) {
        hash = hash_of(lab_mlbf_next(&d->how, &rest));
        layer = lab_mlbf_layer(&d->how, segment);
        if (!set_put(&d->known, key_of(hash, layer), &added))
            return DEJA_ENOMEM;
        d->in_layer[layer] += added;
        joint ^= hash;
    }
    if (d->how.rule != LAB_MLBF_LAYERED)
        return DEJA_OK;
    if (!set_put(&d->known, key_of(joint, JOINT), &added) || !count_folder(d, joint ^ hash, layer))
        return DEJA_ENOMEM;
    d->of_depth[depth_class(segment)] += added;
    return DEJA_OK;
}

/* --- The XOR array -------------------------------------------------------------------- */

#define BUCKETS 4096u /* of positions with the same highest bits */
#define SAMPLES 8192u /* positions below m */

/* The Walsh-Hadamard transform: a product of transforms is the distribution of an XOR. */
static void transform(double x[BUCKETS])
{
    for (uint32_t h = 1; h < BUCKETS; h *= 2)
        for (uint32_t i = 0; i < BUCKETS; i += 2 * h)
            for (uint32_t j = i; j < i + h; j++) {
                const double a = x[j], b = x[j + h];
                x[j] = a + b;
                x[j + h] = a - b;
            }
}

/* The share of the numbers below m in each bucket, and the width of a bucket. */
static double uniform(uint64_t m, double share[BUCKETS])
{
    double span = BUCKETS;
    while (span < (double)m)
        span *= 2;
    const double width = span / BUCKETS;
    for (uint32_t b = 0; b < BUCKETS; b++)
        share[b] = fmin(fmax((double)m - b * width, 0), width) / (double)m;
    return width;
}

/* The density of the XOR of `depth` positions, taken modulo m, at SAMPLES places; 1 is uniform. */
static void density_of(uint64_t m, uint32_t depth, double *share, double *density)
{
    const double width = uniform(m, share);
    transform(share);
    for (uint32_t b = 0; b < BUCKETS; b++)
        share[b] = pow(share[b], depth) / BUCKETS;
    transform(share);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        const double at = (i + 0.5) / SAMPLES * (double)m, folded = (at + (double)m) / width;
        density[i] = share[(uint32_t)(at / width)];
        if (folded < BUCKETS)
            density[i] += share[(uint32_t)folded];
        density[i] *= (double)m / width;
    }
}

int lab_ideal_joint(uint64_t m, uint32_t k, const double of_depth[LAB_IDEAL_DEPTHS],
                    double rate[LAB_IDEAL_DEPTHS])
{
    double *share = calloc(BUCKETS + (LAB_IDEAL_DEPTHS + 1) * SAMPLES, sizeof *share);
    if (!share)
        return DEJA_ENOMEM;
    double *density = share + BUCKETS, *thrown = density + LAB_IDEAL_DEPTHS * SAMPLES;
    for (uint32_t d = 0; d < LAB_IDEAL_DEPTHS; d++) {
        density_of(m, d + 1, share, density + d * SAMPLES);
        for (uint32_t i = 0; i < SAMPLES; i++)
            thrown[i] += of_depth[d] * k / (double)m * density[d * SAMPLES + i];
    }
    for (uint32_t d = 0; d < LAB_IDEAL_DEPTHS; d++) {
        double hit = 0;
        for (uint32_t i = 0; i < SAMPLES; i++)
            hit += density[d * SAMPLES + i] * -expm1(-thrown[i]) / SAMPLES;
        rate[d] = pow(hit, k);
    }
    free(share);
    return DEJA_OK;
}

/* --- Answers ------------------------------------------------------------------------- */

/* The share of bits that n keys of k bits set. */
static double fill_of(const struct lab_ideal *d, double n)
{
    return -expm1(n * d->k * log1p(-1.0 / (double)d->m));
}

int lab_ideal_ready(struct lab_ideal *d)
{
    for (uint32_t i = 0; i < LAB_MLBF_LAYERS; i++)
        d->layer_rate[i] = pow(fill_of(d, d->in_layer[i]), d->k);
    for (uint32_t i = 0; i < LAB_IDEAL_DEPTHS; i++)
        d->joint_rate[i] = 1;
    return d->how.rule == LAB_MLBF_LAYERED
               ? lab_ideal_joint(d->m, d->k, d->of_depth, d->joint_rate)
               : DEJA_OK;
}

/* What a line has that was never added. */
struct strange {
    uint64_t key[STRANGE];
    uint32_t layer[STRANGE];
    uint32_t n;
    bool joint;
    double rate; /* probability that the filter reports it */
};

static void note_segment(const struct lab_ideal *d, struct strange *s, uint64_t hash,
                         uint32_t layer)
{
    const uint64_t key = key_of(hash, layer);
    if (set_find(&d->known, key)->key != 0)
        return;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->key[i] == key)
            return;
    s->rate *= s->n < STRANGE ? d->layer_rate[layer] : 0;
    if (s->rate == 0)
        return; /* its layer is empty, or there are too many */
    s->key[s->n] = key;
    s->layer[s->n++] = layer;
}

/* The rate of a line whose last segment and XOR are strange: `others` lines have the same folder.
 * A position in the layer is set by one of these and the same function with probability `own`; then
 * the one in the XOR array is set, too.  Otherwise both are independent. */
static double of_new_page(const struct lab_ideal *d, double others, double layer_rate,
                          double joint_rate)
{
    const double k = d->k, own = -expm1(-others / (double)d->m),
                 layer = 1 - (1 - pow(layer_rate, 1 / k)) / (1 - own),
                 joint = 1 - (1 - pow(joint_rate, 1 / k)) / (1 - own);
    return pow(own + (1 - own) * fmax(layer, 0) * fmax(joint, 0), k);
}

/* Multiply the rate of a line by that of its XOR, unless that is known. */
static void note_joint(const struct lab_ideal *d, struct strange *s, uint64_t joint, uint64_t last,
                       uint32_t segments)
{
    const uint32_t layer = lab_mlbf_layer(&d->how, segments - 1);
    const double rate = d->joint_rate[depth_class(segments)];
    s->joint = set_find(&d->known, key_of(joint, JOINT))->key == 0;
    if (!s->joint)
        return;
    if (s->n == 1 && s->key[0] == key_of(last, layer)) {
        const struct lab_ideal_slot *folder =
            set_find(&d->known, key_of(joint ^ last, FOLDER + layer));
        s->rate = of_new_page(d, folder->sum, s->rate, rate);
    } else {
        s->rate *= rate;
    }
}

static struct strange examine(const struct lab_ideal *d, deja_slice line)
{
    struct strange s;
    uint64_t joint = 0, hash = 0;
    uint32_t segment = 0;
    s.n = 0;
    s.rate = 1;
    s.joint = false;
    for (deja_slice rest = lab_mlbf_begin(&d->how, line); rest.data != NULL && s.rate > 0;
         segment++) {
        hash = hash_of(lab_mlbf_next(&d->how, &rest));
        note_segment(d, &s, hash, lab_mlbf_layer(&d->how, segment));
        joint ^= hash;
    }
    if (d->how.rule == LAB_MLBF_LAYERED && s.rate > 0)
        note_joint(d, &s, joint, hash, segment);
    return s;
}

int lab_ideal_ask(struct lab_ideal *d, deja_slice line)
{
    const struct strange s = examine(d, line);
    double own = s.rate * (1 - s.rate);
    if (s.n == 0 && !s.joint) {
        d->sure += s.rate > 0;
        return DEJA_OK;
    }
    if (s.rate == 0)
        return DEJA_OK;
    for (uint32_t i = 0; i < s.n; i++) {
        bool added;
        const double f = d->layer_rate[s.layer[i]];
        struct lab_ideal_slot *slot = set_put(&d->strange, s.key[i], &added);
        if (!slot)
            return DEJA_ENOMEM;
        slot->layer = s.layer[i];
        slot->sum += (float)(s.rate / f);
        own -= s.rate / f * s.rate * (1 - f);
    }
    d->chance += s.rate;
    d->own_variance += own;
    d->joint_sum += s.joint ? s.rate : 0;
    return DEJA_OK;
}

/* The variance that the random number of set bits adds to a sum of rates fill^k with this
 * derivative by fill; n keys. */
static double fill_variance(const struct lab_ideal *d, double n, double slope)
{
    const double load = n * d->k / (double)d->m;
    return slope * slope * (exp(-load) - (1 + load) * exp(-2 * load)) / (double)d->m;
}

struct lab_expected lab_ideal_expected(const struct lab_ideal *d)
{
    struct lab_expected e = {d->sure, d->chance, d->own_variance};
    double sum[LAB_MLBF_LAYERS] = {0}, lines = 0;
    for (uint64_t i = 0; i <= d->strange.mask; i++) {
        const struct lab_ideal_slot *s = &d->strange.slot[i];
        const double f = s->key != 0 ? d->layer_rate[s->layer] : 0;
        e.variance += (double)s->sum * s->sum * f * (1 - f);
        sum[s->layer] += s->sum;
    }
    for (uint32_t i = 0; i < LAB_MLBF_LAYERS; i++)
        e.variance += fill_variance(d, d->in_layer[i],
                                    sum[i] * d->k * pow(fill_of(d, d->in_layer[i]), d->k - 1.0));
    for (uint32_t i = 0; i < LAB_IDEAL_DEPTHS; i++)
        lines += d->of_depth[i];
    if (lines > 0)
        e.variance += fill_variance(d, lines, d->joint_sum * d->k / fill_of(d, lines));
    return e;
}
