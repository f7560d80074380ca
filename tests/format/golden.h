/* golden.h - the contents of the golden files; never changed afterwards.
 *
 * make_golden.c wrote the files of each format once.  test_golden.c opens them in every build and
 * writes the same filters again.  A new golden file is a new row here; older formats have no file
 * for it. */
#ifndef GOLDEN_H
#define GOLDEN_H
#include "deja.h"
#include <stdio.h>

struct golden {
    const char *name; /* golden/vFORMAT/NAME.deja */
    unsigned since;   /* the first format that has it; 0: all do */
    unsigned resized; /* the format whose file has a size that is no longer chosen: only read */
    uint32_t kind, part_kind, hash, hashes, filters, growth, profile;
    uint64_t capacity, memory;
    double fp_rate;
    uint64_t seed;         /* 0: golden_key_apart */
    unsigned synced, late; /* keys added before and after the last sync */
    unsigned before, next; /* keys of a first visit, and how many the next one is sized for */
    unsigned folds;        /* how many times it was folded, after the sync */
    uint32_t counter_bits, flags;
    uint64_t deletions;
    unsigned removed; /* the last of the keys before the sync, removed before it */
    uint32_t generations;
    uint64_t window_seconds, clock; /* the time at which its keys are added and looked up */
    uint32_t layers, delimiter;
    double multiplier;
    uint64_t cache_lines;
    unsigned renewed;    /* the first of the keys, added again ten days later */
    unsigned exceptions; /* static: golden_exception(0), ... */
    unsigned merged; /* the last of the keys before the sync, in a second filter that was merged */
};

static const struct golden goldens[] = {
    {.name = "tiny", /* the worked example of docs/format.md */
     .kind = DEJA_BLOCKED,
     .hashes = 4,
     .memory = 128,
     .fp_rate = 0.01,
     .seed = 1,
     .synced = 1},
    {.name = "blocked", .capacity = 200, .fp_rate = 0.01, .seed = 11, .synced = 120},
    {.name = "classic",
     .kind = DEJA_CLASSIC,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 12,
     .synced = 120},
    {.name = "classic_3_jenkins",
     .kind = DEJA_CLASSIC,
     .hash = DEJA_HASH_JENKINS,
     .filters = 3,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 13,
     .synced = 120},
    {.name = "mixed", /* six positions: all six functions */
     .kind = DEJA_CLASSIC,
     .hash = DEJA_HASH_MIXED,
     .hashes = 6,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 14,
     .synced = 120},
    {.name = "exact",
     .kind = DEJA_EXACT,
     .capacity = 200,
     .profile = DEJA_URL_CRAWL,
     .seed = 15,
     .synced = 120},
    {.name = "scalable", /* 20 + 40 + 60 of 80 keys */
     .kind = DEJA_SCALABLE,
     .growth = 2,
     .capacity = 20,
     .fp_rate = 0.01,
     .seed = 16,
     .synced = 120},
    {.name = "key_apart", .capacity = 200, .fp_rate = 0.01, .synced = 120},
    {.name = "siphash",
     .hash = DEJA_HASH_SIPHASH,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 17,
     .synced = 120},
    {.name = "open", /* killed after adds that were not synced */
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 18,
     .synced = 80,
     .late = 40},
    {.name = "static", /* made by a builder; 16-bit fingerprints */
     .kind = DEJA_STATIC,
     .capacity = 120,
     .fp_rate = 1e-4,
     .seed = 19,
     .synced = 120},
    {.name = "folded",
     .memory = 1024,
     .capacity = 200,
     .cache_lines = 1,
     .seed = 19,
     .synced = 120,
     .folds = 2},
    {.name = "rotated",
     .kind = DEJA_CLASSIC,
     .filters = 2,
     .capacity = 30,
     .fp_rate = 0.1,
     .seed = 21,
     .before = 120,
     .next = 400,
     .synced = 120},
    {.name = "spectral",
     .kind = DEJA_SPECTRAL,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 19,
     .synced = 120},
    {.name = "spectral_2_of_8", /* two filters, counters of 8 bits, minimal increase */
     .kind = DEJA_SPECTRAL,
     .counter_bits = 8,
     .flags = DEJA_MINIMAL_INCREASE,
     .filters = 2,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 20,
     .synced = 120},
    {.name = "paired",
     .kind = DEJA_PAIRED,
     .capacity = 200,
     .deletions = 50,
     .fp_rate = 0.01,
     .seed = 22,
     .synced = 120,
     .removed = 30},
    {.name = "window", /* 120 keys in generations of 50: none is forgotten yet */
     .kind = DEJA_WINDOW,
     .generations = 3,
     .clock = 1700000000,
     .capacity = 150,
     .fp_rate = 0.01,
     .seed = 22,
     .synced = 120},
    {.name = "window_time", /* an hour, just started */
     .kind = DEJA_WINDOW,
     .window_seconds = 3600,
     .clock = 1700000000,
     .capacity = 150,
     .fp_rate = 0.01,
     .seed = 23,
     .synced = 120},
    {.name = "layered", /* three layers; the second and the third have two parts */
     .kind = DEJA_LAYERED,
     .layers = 3,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 22,
     .synced = 120},
    {.name = "layered_paper",
     .resized = 2,
     .kind = DEJA_LAYERED,
     .flags = DEJA_LAYERED_PAPER,
     .hash = DEJA_HASH_SIPHASH,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 23,
     .synced = 120},
    {.name = "layered_words", /* of a second visit, with the first capacities of its layers */
     .kind = DEJA_LAYERED,
     .flags = DEJA_LAYERED_WORDS,
     .delimiter = '/',
     .layers = 2,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 24,
     .before = 120,
     .next = 300,
     .synced = 120},
    {.name = "multiplier", /* records k and M, for the next visit */
     .since = 2,
     .kind = DEJA_CLASSIC,
     .hash = DEJA_HASH_MURMUR2,
     .hashes = 3,
     .multiplier = 3.5,
     .capacity = 200,
     .seed = 25,
     .synced = 120},
    {.name = "layered_literal", /* paper mode with the default hash */
     .since = 2,
     .resized = 2,
     .kind = DEJA_LAYERED,
     .flags = DEJA_LAYERED_PAPER,
     .layers = 4,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 26,
     .synced = 120},
    {.name = "layered_power_of_2", /* the same; in paper mode, sizes are powers of two */
     .since = 2,
     .kind = DEJA_LAYERED,
     .flags = DEJA_LAYERED_PAPER,
     .layers = 4,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 26,
     .synced = 120},
    {.name = "exact_dates", /* first seen on day 19675, 40 keys last seen on day 19685 */
     .since = 2,
     .kind = DEJA_EXACT,
     .flags = DEJA_DATES,
     .clock = 1700000000,
     .capacity = 200,
     .seed = 27,
     .synced = 120,
     .renewed = 40},
    {.name = "scalable_dates", /* 20 + 40 + 60 of 80 keys; the 40 are in the older parts */
     .since = 2,
     .kind = DEJA_SCALABLE,
     .part_kind = DEJA_EXACT,
     .flags = DEJA_DATES,
     .growth = 2,
     .clock = 1700000000,
     .capacity = 20,
     .seed = 28,
     .synced = 120,
     .renewed = 40},
    {.name = "static_except", /* 8-bit fingerprints, and exceptions that they find */
     .since = 2,
     .kind = DEJA_STATIC,
     .capacity = 120,
     .fp_rate = 0.01,
     .seed = 27,
     .synced = 120,
     .exceptions = 2000},
    {.name = "merged", /* two series with different keys */
     .since = 2,
     .resized = 2,
     .kind = DEJA_SCALABLE,
     .capacity = 40,
     .fp_rate = 1e-4,
     .seed = 27,
     .synced = 120,
     .merged = 50},
    {.name = "exact_marks", /* odd and even hashes have lines of their own */
     .since = 2,
     .kind = DEJA_EXACT,
     .capacity = 26300,
     .seed = 30,
     .synced = 120},
    {.name = "pieces", /* a piece table; the last piece of each body is shorter */
     .since = 2,
     .kind = DEJA_CLASSIC,
     .filters = 2,
     .capacity = 1000000,
     .fp_rate = 0.01,
     .seed = 29,
     .synced = 120},
    {.name = "two_lines", /* a key has blocks in two lines */
     .since = 2,
     .capacity = 200,
     .cache_lines = 2,
     .fp_rate = 1e-6,
     .seed = 30,
     .synced = 120},
    {.name = "three_lines",
     .since = 2,
     .capacity = 200,
     .cache_lines = 3,
     .fp_rate = 1e-9,
     .seed = 31,
     .synced = 120},
    {.name = "more_lines", /* one line in the first part, two in the second and the third */
     .since = 2,
     .kind = DEJA_SCALABLE,
     .growth = 2,
     .capacity = 20,
     .fp_rate = 6e-5,
     .seed = 32,
     .synced = 120},
    {.name = "spread", /* counters anywhere in the array */
     .since = 2,
     .kind = DEJA_SPECTRAL,
     .flags = DEJA_SPREAD,
     .capacity = 200,
     .fp_rate = 0.01,
     .seed = 33,
     .synced = 120},
    {.name = "spread_2_of_16",
     .since = 2,
     .kind = DEJA_SPECTRAL,
     .counter_bits = 16,
     .flags = DEJA_SPREAD | DEJA_MINIMAL_INCREASE,
     .filters = 2,
     .capacity = 200,
     .fp_rate = 0.001,
     .seed = 34,
     .synced = 120},
};
#define N_GOLDEN (sizeof goldens / sizeof goldens[0])

/* The secret key of the file that does not contain it. */
static const uint8_t golden_key_apart[DEJA_KEY_LEN] = {
    0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f,
    0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff,
};

/* The time at which keys are added again. */
static inline uint64_t golden_later(const struct golden *g)
{
    return g->clock + 10 * 86400;
}

/* A key that must not be found. */
static inline deja_slice golden_exception(unsigned i, char buf[64])
{
    const int len = snprintf(buf, 64, "https://allowed.example/%u", i);
    return (deja_slice){buf, (size_t)len};
}

static inline deja_options golden_next(const struct golden *g)
{
    deja_options next = DEJA_OPTIONS_INIT;
    next.capacity = g->next;
    return next;
}

static inline deja_options golden_options(const struct golden *g, unsigned format)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = g->kind;
    opt.part_kind = g->part_kind;
    opt.hash = g->hash;
    opt.hashes = g->hashes;
    opt.filters = g->filters;
    opt.growth = g->growth ? g->growth : 4;
    opt.url = deja_url_profile(g->profile);
    if (opt.url && deja_url_rules_older(opt.url)) /* deja 0.1 wrote these files */
        opt.url = deja_url_rules_older(opt.url);
    opt.capacity = g->capacity;
    opt.memory = g->memory;
    opt.fp_rate = g->fp_rate;
    opt.seed = g->seed;
    opt.counter_bits = g->counter_bits;
    opt.deletions = g->deletions;
    opt.flags = g->flags;
    opt.generations = g->generations;
    opt.window_seconds = g->window_seconds;
    opt.layers = g->layers;
    opt.delimiter = g->delimiter;
    opt.multiplier = g->multiplier;
    opt.cache_lines = g->cache_lines;
    opt.format = format;
    if (!g->seed) {
        opt.key = golden_key_apart;
        opt.flags |= DEJA_KEY_APART;
    }
    return opt;
}

/* The filter that was merged; it has another key. */
static inline deja_options golden_second(const struct golden *g, unsigned format)
{
    deja_options opt = golden_options(g, format);
    opt.seed = g->seed + 1;
    return opt;
}

#endif
