/* bench_limit.c - hash and touch as fast as this machine can; see bench_limit.h. */
#include "bench/bench_limit.h"
#include "bench/bench_memory.h"
#include "bench/bench_spread.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/mix.h"
#include <math.h>
#include <sys/mman.h>

#define XXH_INLINE_ALL /* as in the library */
#include <xxhash.h>

#define LINE  64
#define TRIES 7 /* per distance */

static const unsigned distances[] = {0, 8, 16, 32, 64, 128};
#define N_DISTANCES (sizeof distances / sizeof distances[0])

static uint64_t load_line(const struct bench_limit *l, uint32_t index)
{
    uint64_t word;
    memcpy(&word, l->lines + (size_t)index * LINE, sizeof word);
    return word;
}

static uint64_t touch_plain(const struct bench_limit *l)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < l->n; i++)
        sum += load_line(l, l->index[i]);
    return sum;
}

static uint64_t touch_ahead(const struct bench_limit *l, size_t distance)
{
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + distance < l->n; i++) {
        __builtin_prefetch(l->lines + (size_t)l->index[i + distance] * LINE);
        sum += load_line(l, l->index[i]);
    }
    for (; i < l->n; i++)
        sum += load_line(l, l->index[i]);
    return sum;
}

static void change_ahead(struct bench_limit *l, size_t distance)
{
    for (size_t i = 0; i < l->n; i++) {
        if (i + distance < l->n)
            __builtin_prefetch(l->lines + (size_t)l->index[i + distance] * LINE);
        volatile uint8_t *byte = l->lines + (size_t)l->index[i] * LINE;
        /* cppcheck-suppress selfAssignment ; a write to the line is what is measured */
        *byte = *byte; /* the byte may belong to a filter */
    }
}

static void draw_places(struct bench_limit *l)
{
    for (size_t i = 0; i < l->n; i++)
        l->index[i] = (uint32_t)mix_below(mix_nth(++l->draws), l->n_lines);
}

static double time_lines(struct bench_limit *l, unsigned distance)
{
    draw_places(l);
    const double begin = clock_cpu_ns();
    l->sink += distance > 0 ? touch_ahead(l, distance) : touch_plain(l);
    return (clock_cpu_ns() - begin) / (double)l->n;
}

static uint64_t hash_key(const struct bench_limit *l, const deja_slice *key)
{
    return XXH3_64bits_withSecret(key->data, key->len, l->secret, sizeof l->secret);
}

static void fetch(const struct bench_limit *l, const struct bench_keys *keys, size_t i)
{
    l->index[i] = (uint32_t)mix_below(hash_key(l, &keys->slice[i]) ^ l->twist, l->n_lines);
    __builtin_prefetch(l->lines + (size_t)l->index[i] * LINE);
}

/* Hashes one lot of keys, then touches the lines of the lot before it, and so on. */
static uint64_t fuse(const struct bench_limit *l, const struct bench_keys *keys, size_t lot)
{
    uint64_t sum = 0;
    size_t touched = 0;
    for (size_t at = 0; at < keys->n; at += lot) {
        const size_t end = keys->n - at < lot ? keys->n : at + lot;
        for (size_t i = at; i < end; i++)
            fetch(l, keys, i);
        for (; touched < at; touched++)
            sum += load_line(l, l->index[touched]);
    }
    for (; touched < keys->n; touched++)
        sum += load_line(l, l->index[touched]);
    return sum;
}

static double time_fused(struct bench_limit *l, const struct bench_keys *keys, unsigned lot)
{
    l->twist = mix_nth(++l->draws);
    bench_limit_warm(l, keys);
    const double begin = clock_cpu_ns();
    l->sink += fuse(l, keys, lot);
    return (clock_cpu_ns() - begin) / (double)keys->n;
}

/* The fastest distance for lines alone or, with keys, the fastest lot of the fused loop. */
static unsigned choose_distance(struct bench_limit *l, const struct bench_keys *keys)
{
    double took[N_DISTANCES][TRIES], best = INFINITY;
    unsigned chosen = 0;
    for (size_t t = 0; t < TRIES; t++)
        for (size_t d = 0; d < N_DISTANCES; d++)
            took[d][t] = !keys               ? time_lines(l, distances[d])
                         : distances[d] == 0 ? INFINITY
                                             : time_fused(l, keys, distances[d]);
    for (size_t d = 0; d < N_DISTANCES; d++) {
        const double median = bench_spread_of(took[d], TRIES).median;
        if (median < best) {
            best = median;
            chosen = distances[d];
        }
    }
    return chosen;
}

int bench_limit_init(struct bench_limit *l, uint64_t bytes, size_t n, deja_error *err)
{
    *l = (struct bench_limit){.n = n, .n_lines = (bytes + LINE - 1) / LINE};
    if (l->n_lines > UINT32_MAX)
        l->n_lines = UINT32_MAX; /* 256 GiB: no cache is larger */
    for (uint64_t i = 0; i < sizeof l->secret / 8; i++) {
        const uint64_t word = mix_nth(i + 1);
        memcpy(l->secret + 8 * i, &word, 8);
    }
    l->index = malloc(n * sizeof *l->index);
    if (!l->index)
        return fail(err, DEJA_ENOMEM, "not enough memory to measure the limit");
    size_t lent;
    l->lines = bench_memory_piece(&lent);
    if (!l->lines || lent < bytes) {
        l->lines = bench_memory_map((size_t)(l->n_lines * LINE), &l->mapped);
        if (!l->lines)
            return fail(err, DEJA_ENOMEM, "not enough memory to measure the limit");
        memset(l->lines, 1, l->mapped);
    }
    l->distance = choose_distance(l, NULL);
    return DEJA_OK;
}

void bench_limit_fini(struct bench_limit *l)
{
    if (l->mapped > 0)
        munmap(l->lines, l->mapped);
    free(l->index);
    *l = (struct bench_limit){0};
}

double bench_limit_hash(struct bench_limit *l, const struct bench_keys *keys)
{
    uint64_t sum = 0;
    const double begin = clock_cpu_ns();
    for (size_t i = 0; i < keys->n; i++)
        sum += hash_key(l, &keys->slice[i]);
    const double took = clock_cpu_ns() - begin;
    l->sink += sum;
    return took / (double)keys->n;
}

double bench_limit_line(struct bench_limit *l)
{
    return time_lines(l, l->distance);
}

double bench_limit_fused(struct bench_limit *l, const struct bench_keys *keys)
{
    if (l->fused_lot == 0)
        l->fused_lot = choose_distance(l, keys);
    return time_fused(l, keys, l->fused_lot);
}

double bench_limit_change(struct bench_limit *l)
{
    draw_places(l);
    const double begin = clock_cpu_ns();
    change_ahead(l, l->distance);
    return (clock_cpu_ns() - begin) / (double)l->n;
}

void bench_limit_warm(struct bench_limit *l, const struct bench_keys *keys)
{
    l->sink += bench_keys_read(keys->slice, keys->n);
}
