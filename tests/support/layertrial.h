/* layertrial.h - a layered filter next to exact sets of its keys, of the segments in each layer,
 * and of the values in its XOR layer; and the theoretical probability for each queried key.
 *
 * A key that was not added is claimed with probability
 *
 *     w = x * (product over its segments of: known in its layer ? 1 : rate of the layer)
 *
 * where x = fill^k of the XOR layer, or 1 if another key gave it the same XOR (paper mode: the
 * same segments in a different order).  Known segments are counted, not assumed: their distribution
 * is the real one.  The claims of many keys are then a sum of independent events with mean sum(w)
 * and variance sum(w (1 - w)). */
#ifndef TEST_LAYERTRIAL_H
#define TEST_LAYERTRIAL_H
#include "core/base/bytes.h"
#include "core/url/layers.h"
#include "kinds/kind.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct layertrial {
    deja_filter *f;
    deja_filter *keys, *segments[DJ_MAX_LAYERS], *marks; /* exact: one wrong answer in 2^40 */
    uint64_t most_keys;                                  /* room in each of them */
    double rate[DJ_MAX_LAYERS], xor_rate;
    uint64_t added, told_new;

    /* of queried keys that were not added */
    uint64_t asked, hits, familiar, same_xor; /* familiar: all segments known */
    double expected, variance;
};

static inline deja_filter *layertrial_set(uint64_t n, uint64_t seed)
{
    deja_filter *f = NULL;
    const deja_options opt = {.size = sizeof opt, .kind = DEJA_EXACT, .capacity = n, .seed = seed};
    if (deja_filter_new(&opt, &f, NULL) != DEJA_OK)
        abort();
    return f;
}

static inline bool layertrial_put(deja_filter *set, deja_slice key)
{
    bool is_new = false;
    if (deja_filter_add(set, key, &is_new, NULL) != DEJA_OK)
        abort();
    return is_new;
}

static inline void layertrial_init(struct layertrial *t, deja_options opt, uint64_t most_keys)
{
    deja_error err;
    *t = (struct layertrial){0};
    opt.size = sizeof opt;
    opt.kind = DEJA_LAYERED;
    if (deja_filter_new(&opt, &t->f, &err) != DEJA_OK) {
        fprintf(stderr, "%s\n", err.text);
        abort();
    }
    t->most_keys = most_keys;
    t->keys = layertrial_set(most_keys, 101);
    t->marks = layertrial_set(most_keys, 102);
}

static inline void layertrial_fini(struct layertrial *t)
{
    deja_filter_free(t->f);
    deja_filter_free(t->keys);
    deja_filter_free(t->marks);
    for (uint32_t i = 0; i < DJ_MAX_LAYERS; i++)
        deja_filter_free(t->segments[i]);
}

/* Segments as the layers store them, and the value that the XOR layer computes from all of
 * them. */
static inline size_t layertrial_cut(const struct layertrial *t, deja_slice url,
                                    deja_slice segment[DJ_MAX_LAYERS], uint64_t *mark)
{
    const bool paper = t->f->plan.flags & DEJA_LAYERED_PAPER;
    const size_t n = deja_url_split(url, segment, t->f->plan.layering.layers);
    *mark = 0;
    for (size_t i = 0; paper && i < n; i++) { /* bare: without scheme and slashes */
        const size_t skip = i ? 1 : dj_layers_scheme(url);
        segment[i] = (deja_slice){(const char *)segment[i].data + skip, segment[i].len - skip};
    }
    for (size_t i = 0; i < n; i++) {
        uint64_t h;
        dj_hasher_hash(&t->f->hasher, &segment[i], 1, &h);
        *mark ^= paper ? dj_mix64(h) : dj_mix64(h + (i + 1) * DJ_GOLDEN);
    }
    deja_slice *last = &segment[n - 1];
    const char *s = last->data;
    for (size_t i = 0; !paper && i < last->len; i++)
        if (s[i] == '?' || s[i] == '#')
            last->len = i;
    return n;
}

/* Adds a key; if it is lost, told_new stays behind added. */
static inline void layertrial_add(struct layertrial *t, deja_slice url)
{
    deja_slice segment[DJ_MAX_LAYERS];
    uint64_t mark;
    bool is_new = false;
    if (url.len == 0 || !layertrial_put(t->keys, url))
        return;
    const size_t n = layertrial_cut(t, url, segment, &mark);
    if (deja_filter_add(t->f, url, &is_new, NULL) != DEJA_OK)
        abort();
    t->added++;
    t->told_new += is_new;
    layertrial_put(t->marks, (deja_slice){&mark, sizeof mark});
    for (size_t i = 0; i < n; i++) {
        if (!t->segments[i])
            t->segments[i] = layertrial_set(t->most_keys, 103 + i);
        layertrial_put(t->segments[i], segment[i]);
    }
}

/* Call this when all keys are in: records the current rates. */
static inline void layertrial_ready(struct layertrial *t)
{
    const struct dj_part *p = t->f->part[0];
    const double fill = (double)p->kind->body.bits_set(p) / (double)p->shape.bits;
    t->xor_rate = pow(fill, p->shape.k);
    for (uint32_t i = 0; i < DJ_MAX_LAYERS; i++) {
        deja_layer l = DEJA_LAYER_INIT;
        t->rate[i] = deja_filter_layer(t->f, i + 1, &l, NULL) == DEJA_OK ? l.fp_now : 0;
    }
}

static inline void layertrial_ask(struct layertrial *t, deja_slice url)
{
    deja_slice segment[DJ_MAX_LAYERS];
    uint64_t mark;
    if (url.len == 0 || deja_filter_contains(t->keys, url))
        return;
    const size_t n = layertrial_cut(t, url, segment, &mark);
    const bool same = deja_filter_contains(t->marks, (deja_slice){&mark, sizeof mark});
    double w = same ? 1 : t->xor_rate;
    bool familiar = true;
    for (size_t i = 0; i < n; i++)
        if (!t->segments[i] || !deja_filter_contains(t->segments[i], segment[i])) {
            w *= t->rate[i];
            familiar = false;
        }
    t->asked++;
    t->familiar += familiar;
    t->same_xor += same;
    t->hits += deja_filter_contains(t->f, url);
    t->expected += w;
    t->variance += w * (1 - w);
}

/* How far the hits are from the expectation, in standard deviations.  Rates of blocked layers are
 * averages over filters of that fill: add a hundredth of the expectation for the variation
 * between filters. */
static inline double layertrial_sigmas(const struct layertrial *t)
{
    const double scatter = 0.01 * t->expected;
    return ((double)t->hits - t->expected) / sqrt(t->variance + scatter * scatter / 25 + 1e-9);
}

#endif
