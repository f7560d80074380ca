/* layering.c - the layers of a layered filter: their number, sizes and parts.
 *
 * Part 0 is the XOR layer.  It holds keys and is sized for n of them at rate p, like a classic
 * filter.  A key is seen only if the XOR layer has it, so the rate of the filter is at most the
 * rate of this layer.
 *
 * Paper mode: every layer has the same m and k as part 0, whatever it holds.  A layer is created
 * when the first key with that many segments arrives.  Under rules 1, keys are split as in the
 * papers, and the XOR layer gets the XOR of positions modulo m.  Unless m is a power of two, low
 * positions are then more likely, and the rate is higher than the fill suggests: five times as
 * high for a half-full layer with k = 20 and m = 3/4 of a power of two.  So sizes computed from p
 * or memory are powers of two; m = n k M is not rounded.
 *
 * Salted mode: a layer holds segments.  The first layers (hosts and directories) have far fewer
 * distinct segments than there are keys; the layers of pages have nearly as many.  The number is
 * not known in advance, so a layer is a short series of parts for n/16, then n/4, then n segments;
 * the last part takes the rest.  All parts of a layer together have a rate of at most 0.01, or p
 * if that is higher: the XOR layer ensures p, and layers only reject absent keys early and answer
 * prefix queries.  The parts get 1/4, 1/4 and 1/2 of the rate, because the largest one needs the
 * most memory.  They are blocked: a segment then takes one cache line instead of k, for about as
 * many bits.  After a rotation, a layer's first part holds 9/8 of the segments that the last visit
 * had in that layer, so one part is enough.
 *
 * Lost keys.  A new key is mistaken for seen if all its segments are known and the XOR layer has a
 * false positive.  So only keys with known segments can be lost: for each such key answered "new"
 * as the t-th key, rate(t) / (1 - rate(t)) similar ones were lost on average.  The weights hold
 * this number for t in steps of n/64.  They are integers, so their sum does not depend on the order
 * of adds. */
#include "kinds/layering.h"
#include "core/base/status.h"
#include "kinds/kind.h"
#include <math.h>

#define LAYER_RATE     0.01
#define LEAST_SEGMENTS 64
#define MOST_SEGMENTS  (UINT64_C(1) << 53)
#define WEIGHT_ONE     0x1p32
#define WEIGHT_MOST    1024.0 /* a limit for filters that are nearly full */
#define PLACE_SALTS    32     /* docs/format.md: stream 6 */

bool dj_layering_is_paper(const struct dj_plan *plan)
{
    return plan->flags & DEJA_LAYERED_PAPER;
}

static bool has_words(const struct dj_plan *plan)
{
    return plan->flags & DEJA_LAYERED_WORDS;
}

/* --- Options --------------------------------------------------------------- */

int dj_layering_read(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    const bool words = opt->flags & DEJA_LAYERED_WORDS;
    if (opt->delimiter && !words)
        return dj_fail(err, DEJA_EINVAL, "options.delimiter goes with options.layered_words");
    if (opt->layers == 1 && !words)
        return dj_fail(err, DEJA_EINVAL, "options.layers is 1: it must be from 2 to %d",
                       DJ_MAX_LAYERS);
    plan->layering.layers = opt->layers || words ? opt->layers : DJ_DEFAULT_LAYERS;
    plan->layering.delimiter = opt->delimiter || !words ? opt->delimiter : ' ';
    return DEJA_OK;
}

uint32_t dj_layering_most(const struct dj_plan *plan)
{
    return plan->layering.layers ? plan->layering.layers : DJ_DEFAULT_LAYERS;
}

uint32_t dj_layering_bodies(const struct dj_plan *plan)
{
    return dj_layering_is_paper(plan) ? dj_layering_most(plan) + 1 : 1;
}

bool dj_layering_wants_power_of_2(const struct dj_plan *plan)
{
    return dj_layering_is_paper(plan) && plan->rules != DJ_RULES_0_1;
}

struct dj_cut dj_layering_cut(const struct dj_plan *plan)
{
    const bool words = has_words(plan);
    return (struct dj_cut){
        .slots = words ? DJ_MAX_SLOTS : plan->layering.layers,
        .words = words,
        .delimiter = (char)plan->layering.delimiter,
        .layers = plan->layering.layers,
        .share = plan->shape.k,
        .most = dj_layering_most(plan),
        .query_apart = !words && !dj_layering_is_paper(plan),
        .bare = !words && dj_layering_is_paper(plan) && plan->rules != DJ_RULES_0_1,
    };
}

/* --- Parts ----------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A key has at most DJ_MAX_SLOTS segments, so no layer gets more than this. */
static uint64_t most_segments(const struct dj_plan *plan)
{
    return smaller(DJ_MAX_SLOTS * plan->capacity, MOST_SEGMENTS);
}

static uint64_t capacity_of(const struct dj_plan *plan, uint32_t layer, uint32_t nth)
{
    static const uint64_t share[DJ_LAYER_PARTS] = {16, 4, 1};
    const uint64_t given = smaller(plan->layering.first[layer - 1], most_segments(plan));
    const uint64_t first = larger(given ? given : plan->capacity / share[0], LEAST_SEGMENTS);
    return nth == 0 ? first : larger(plan->capacity / share[nth], first);
}

/* Sizing a blocked part takes a million steps, so copies the shape of an equal part if there is
 * one. */
static bool find_shape(struct dj_part *const *like, uint32_t n, struct dj_part *part)
{
    for (uint32_t i = 0; i < n; i++)
        if (like[i]->layer && like[i]->capacity == part->capacity &&
            fabs(like[i]->fp_rate - part->fp_rate) <= 0) {
            part->shape = like[i]->shape;
            return true;
        }
    part->shape = (struct dj_shape){.layout = DJ_BLOCKS};
    return dj_shape_fit_body(&part->shape, part->capacity, part->fp_rate);
}

bool dj_layering_part(const struct dj_plan *plan, uint32_t layer, uint32_t nth,
                      struct dj_part *const *like, uint32_t n, struct dj_part *part)
{
    static const double share[DJ_LAYER_PARTS] = {0.25, 0.25, 0.5};
    if (!dj_plan_part(plan, 0, part)) /* paper mode: equal to part 0 */
        return false;
    part->layer = layer;
    part->stride = dj_plan_stride(plan, layer);
    if (dj_layering_is_paper(plan))
        return nth == 0;
    if (nth >= DJ_LAYER_PARTS)
        return false;
    part->capacity = capacity_of(plan, layer, nth);
    part->fp_rate = fmax(plan->fp_rate, LAYER_RATE) * share[nth];
    part->kind = &dj_blocked;
    return find_shape(like, n, part);
}

bool dj_layering_besides(const struct dj_plan *plan, uint64_t *bits, uint64_t *bytes)
{
    const uint64_t layers = dj_layering_most(plan);
    *bits = *bytes = 0;
    if (dj_layering_is_paper(plan))
        return true;
    for (uint32_t nth = 0; nth < DJ_LAYER_PARTS; nth++) {
        struct dj_part part = {0};
        if (!dj_layering_part(plan, 1, nth, NULL, 0, &part))
            return false;
        *bits += layers * part.shape.bits;
        *bytes += layers * dj_part_body_len(&part.shape);
    }
    return true;
}

const struct dj_kind *dj_layering_part_kind(const struct dj_plan *plan, uint32_t i)
{
    return i > 0 && !dj_layering_is_paper(plan) ? &dj_blocked : plan->part_kind;
}

int dj_layering_check(const struct dj_plan *plan, deja_error *err)
{
    const struct dj_layering *l = &plan->layering;
    const bool words = has_words(plan);
    if (l->layers > DJ_MAX_LAYERS || (!words && l->layers < 2))
        return dj_fail_damaged(err, "number of layers");
    if (words ? !l->delimiter || l->delimiter > 255 : l->delimiter != 0)
        return dj_fail_damaged(err, "delimiter");
    for (uint32_t i = 0; i < DJ_MAX_LAYERS; i++)
        if (l->first[i] > DJ_MAX_BITS)
            return dj_fail_damaged(err, "first capacity of a layer");
    return plan->reserved ? dj_fail_damaged(err, "reserved space of the layers") : DEJA_OK;
}

bool dj_layering_is_sound(const struct dj_plan *plan, const struct dj_part *part, uint32_t n)
{
    uint32_t parts[DJ_MAX_LAYERS + 1] = {0};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t layer = part[i].layer;
        const bool alike = dj_shape_same(&part[i].shape, &part[0].shape);
        if (layer > dj_layering_most(plan) || (layer == 0) != (i == 0) ||
            ++parts[layer] > (dj_layering_is_paper(plan) ? 1 : DJ_LAYER_PARTS) ||
            (dj_layering_is_paper(plan) && !alike))
            return false;
    }
    return true;
}

void dj_layering_index(deja_filter *f)
{
    struct dj_layers *layers = &f->layers;
    memset(layers->n, 0, sizeof layers->n);
    for (uint32_t i = 1; i < f->n_parts; i++) {
        const uint32_t layer = f->part[i]->layer - 1;
        layers->part[layer][layers->n[layer]++] = (uint8_t)i;
    }
}

/* How many parts before part i belong to its layer. */
static uint32_t place_in_layer(const deja_filter *f, uint32_t i)
{
    uint32_t place = 0;
    for (uint32_t j = 0; j < i; j++)
        place += f->part[j]->layer == f->part[i]->layer;
    return place;
}

uint32_t dj_layering_twin(const deja_filter *f, const deja_filter *other, uint32_t i)
{
    const uint32_t place = place_in_layer(other, i);
    uint32_t at = 0;
    while (at < f->n_parts &&
           (f->part[at]->layer != other->part[i]->layer || place_in_layer(f, at) != place))
        at++;
    return at;
}

/* --- Salts and weights ----------------------------------------------------- */

static uint64_t salt_of(const deja_filter *f, uint64_t index)
{
    return dj_key_derive(f->key, DJ_STREAM_LAYER, (f->plan.visit << 16) + index);
}

static void make_salts(deja_filter *f)
{
    struct dj_layers *layers = &f->layers;
    for (uint32_t i = 0; i < DJ_MAX_LAYERS; i++)
        layers->salt[i] = salt_of(f, i + 1);
    for (uint32_t i = 0; i < DJ_MAX_SLOTS; i++)
        layers->place[i] = has_words(&f->plan) ? salt_of(f, PLACE_SALTS + i)
                           : i < DJ_MAX_LAYERS ? layers->salt[i]
                                               : 0;
}

static void make_weights(deja_filter *f)
{
    const double step = (double)f->plan.capacity / 64;
    for (uint32_t i = 0; i < DJ_WEIGHTS; i++) {
        const double rate = dj_shape_rate(&f->plan.shape, (i + 0.5) * step);
        f->layers.weight[i] = (uint64_t)(fmin(rate / (1 - rate), WEIGHT_MOST) * WEIGHT_ONE);
    }
}

void dj_layering_init(deja_filter *f)
{
    if (!dj_layering_is_paper(&f->plan))
        make_salts(f);
    make_weights(f);
}

double dj_layering_lost(const deja_filter *f)
{
    return (double)atomic_load_explicit(&f->lost, memory_order_relaxed) / WEIGHT_ONE;
}

void dj_layering_set_lost(deja_filter *f, double lost)
{
    atomic_store(&f->lost, (uint64_t)fmin(lost * WEIGHT_ONE, 0x1p63));
}

/* --- The next visit -------------------------------------------------------- */

void dj_layering_next(const deja_filter *f, struct dj_plan *plan)
{
    double seen[DJ_MAX_LAYERS] = {0};
    if (dj_layering_is_paper(plan))
        return;
    for (uint32_t i = 1; i < f->n_parts; i++)
        seen[f->part[i]->layer - 1] +=
            (double)atomic_load_explicit(&f->part[i]->keys, memory_order_relaxed);
    for (uint32_t i = 0; i < DJ_MAX_LAYERS; i++)
        plan->layering.first[i] = (uint64_t)fmin(ceil(seen[i] * 9 / 8), (double)MOST_SEGMENTS);
}
