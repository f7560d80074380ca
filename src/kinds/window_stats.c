/* window_stats.c - what a window holds, and what its rate and losses are.
 *
 * Each generation is a blocked filter and is accounted for as one; the answers of all that live
 * are one answer:
 *
 *   rate       1 - prod (1 - rate of generation i): keys fall on the blocks of each independently
 *   distinct   keys that explain the OR of the generations' lines, since a key has the same bits
 *              in all of them: one that is in several counts once
 *   lost       a new key that comes while x others are in the newest generation is taken for seen
 *              with 1 - (1 - older) (1 - rate(x)), where older is the rate of the others
 *
 * What was lost before the last turn was judged by bits that are gone, and is carried along
 * (struct dj_carried), like that before a fold. */
#include "core/base/bytes.h"
#include "core/bits/popcount.h"
#include "kinds/deja_filter.h"
#include <math.h>

/* Different keys that came when `taken` of them found one of their bits missing. */
static double came_to(const struct dj_shape *s, double taken)
{
    double n = taken;
    for (int i = 0; i < 16; i++) {
        const double more = taken + dj_shape_lost(s, n);
        if (more - n < 0.01)
            return more;
        n = more;
    }
    return n;
}

/* What was counted: in each generation, and told "new" ever. */
struct counts {
    double keys[DJ_BLOCK_LINES], told;
};

static struct counts counts_of(const deja_filter *f, const struct dj_window *w, uint64_t told)
{
    struct counts c = {.told = (double)told};
    for (uint32_t l = 0; l < f->part[0]->lines; l++)
        c.keys[l] = (double)atomic_load_explicit(&w->keys[l], memory_order_relaxed);
    return c;
}

/* Chance that a new key which came since the last turn was taken for seen, on average. */
static double chance_to_lose(const deja_filter *f, const struct counts *c, uint64_t now)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape s = dj_plan_window_generation(&p->shape, p->lines);
    double passes = 1;
    for (uint32_t l = 0; l < p->lines; l++)
        if (l != p->newest && dj_window_lives(f, l, now))
            passes *= 1 - dj_shape_rate(&s, came_to(&s, c->keys[l]));
    const double n = came_to(&s, c->keys[p->newest]);
    return 1 - passes * (n > 0 ? 1 - dj_shape_lost(&s, n) / n : 1);
}

/* Lost so far: what was carried over the last turn, and what came since. */
static double lost_of(const deja_filter *f, const struct counts *c)
{
    const double since = fmax(c->told - (double)f->carried.keys, 0);
    const double chance = since > 0 ? chance_to_lose(f, c, dj_window_now(f)) : 0;
    return f->carried.lost + since * chance / fmax(1 - chance, 1e-3);
}

struct dj_carried dj_window_carry(const deja_filter *f)
{
    const uint64_t told = atomic_load_explicit(&f->part[0]->keys, memory_order_relaxed);
    const struct counts c = counts_of(f, &f->window, told);
    return (struct dj_carried){.unions = f->carried.unions, .keys = told, .lost = lost_of(f, &c)};
}

/* Bits of one line of every block, and of all living ones over each other. */
struct bits {
    uint64_t line[DJ_BLOCK_LINES], any;
};

static void count_block(const uint8_t *first, uint32_t lines, unsigned living, struct bits *sum)
{
    uint8_t any[DJ_BLOCK_BYTES] = {0};
    for (uint32_t l = 0; l < lines; l++, first += DJ_BLOCK_BYTES) {
        sum->line[l] += dj_popcount(first, DJ_BLOCK_BYTES);
        for (size_t i = 0; living >> l & 1 && i < DJ_BLOCK_BYTES; i += 8)
            dj_store64(any + i, dj_load64(any + i) | dj_load64(first + i));
    }
    sum->any += dj_popcount(any, sizeof any);
}

static struct bits count_bits(const struct dj_part *p, unsigned living)
{
    struct bits sum = {{0}, 0};
    const size_t row = (size_t)DJ_BLOCK_BYTES * p->lines;
    for (uint64_t b = 0; b < p->blocks.n_blocks; b++)
        count_block(p->body + row * b, p->lines, living, &sum);
    return sum;
}

/* A count that is certainly not too high: a window that turned early would forget early. */
static uint64_t least_keys(const struct dj_shape *s, uint64_t bits)
{
    const double likely = dj_shape_keys(s, (double)bits);
    if (!isfinite(likely))
        return 0;
    const double least = dj_shape_keys(s, (double)bits - 5 * dj_shape_bits_sigma(s, likely));
    return least > 0 ? (uint64_t)least : 0;
}

static void recount(const deja_filter *f, const struct bits *bits, struct dj_window *w,
                    uint64_t *told)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape s = dj_plan_window_generation(&p->shape, p->lines);
    for (uint32_t l = 0; l < p->lines; l++) {
        const uint64_t least = w->clearing && l == p->newest ? 0 : least_keys(&s, bits->line[l]);
        if (least > w->keys[l])
            w->keys[l] = least;
    }
    if (*told < w->keys[p->newest] + f->carried.keys)
        *told = w->keys[p->newest] + f->carried.keys;
}

void dj_window_recount(const deja_filter *f, struct dj_window *w, uint64_t *told)
{
    const struct bits bits = count_bits(f->part[0], 0);
    recount(f, &bits, w, told);
}

/* Generation l's share of the account. */
static void add_generation(deja_stats *s, const deja_filter *f, uint32_t l, uint64_t bits,
                           double keys, uint64_t now)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape shape = dj_plan_window_generation(&p->shape, p->lines);
    const double found = dj_shape_keys(&shape, (double)bits);
    const double came = came_to(&shape, keys);
    const double sigma = dj_shape_bits_sigma(&shape, came);
    const uint32_t age = (p->newest + p->lines - l) % p->lines; /* 0: the newest */
    const uint64_t start = f->window.start[l];
    const bool lives = dj_window_lives(f, l, now);
    s->bits_set += bits;
    s->bits_expected += dj_shape_bits_set(&shape, came);
    s->bits_sigma = hypot(s->bits_sigma, sigma);
    if (lives)
        s->fp_now = 1 - (1 - s->fp_now) * (1 - (isinf(found) ? 1 : dj_shape_rate(&shape, found)));
    s->generation_keys[age] = lives ? (uint64_t)keys : 0;
    s->generation_age[age] = start && now > start ? now - start : 0;
    s->window_keys += s->generation_keys[age];
    s->crowded += lives && keys > (double)dj_plan_window_quota(&f->plan);
}

void dj_window_stats(const deja_filter *f, deja_stats *s)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape shape = dj_plan_window_generation(&p->shape, p->lines);
    const struct bits bits = count_bits(p, dj_window_living(f));
    const uint64_t now = dj_window_now(f);
    s->keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    struct counts c = counts_of(f, &f->window, s->keys);
    if (f->unclean && f->read_only) { /* adds came after the last sync */
        struct dj_window w = f->window;
        recount(f, &bits, &w, &s->keys);
        c = counts_of(f, &w, s->keys);
    }
    s->generations = f->plan.generations;
    s->window_seconds = f->plan.window_seconds;
    s->turns = f->window.turns;
    s->clock_behind = dj_window_behind(f);
    s->capacity = f->plan.capacity;
    s->lost = lost_of(f, &c);
    s->distinct = dj_shape_keys(&shape, (double)bits.any);
    s->bits = p->shape.bits;
    s->bytes = p->body_len;
    for (uint32_t l = 0; l < p->lines; l++)
        add_generation(s, f, l, bits.line[l], c.keys[l], now);
}
