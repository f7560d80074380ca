/* windowunion.c - the union of two windows with the same size and hashes.
 *
 * Each generation of the union is the OR of generations that match.
 *
 *   by keys    those of the same age: newest with newest, and so on.  A key is found as long as at
 *              most N keys have been added after it, in its own window or in the union
 *   by time    those that began within the same d seconds.  Let s be the time at which the newest
 *              generation of both began.  A generation that began at t goes to generation number
 *              i = floor((s - t) / d) of the union, which counts as begun at s - i d >= t.  So no
 *              key expires early, and none lives more than d seconds longer.  Generations with
 *              i > G have expired
 *
 * Generations that began in the future, because a clock was wrong, count as begun now.
 *
 * The union is built in a new body, which then replaces the old one: moving generations clears
 * bits, which a file must not do in place (window.c). */
#include "core/base/bytes.h"
#include "kinds/generations.h"
#include "kinds/kind.h"
#include "kinds/window.h"

/* One generation of a window, and where it goes. */
struct source {
    const deja_filter *f;
    uint32_t line;
    uint32_t age; /* in the union; 0: the newest */
    uint64_t start, keys;
};

struct sources {
    struct source generation[2 * DJ_BLOCK_LINES];
    uint32_t n;
};

static uint32_t age_of(const deja_filter *f, uint32_t line)
{
    const uint32_t lines = f->part[0]->lines;
    return (dj_generations_newest(&f->plan, &f->window) + lines - line) % lines;
}

/* Whether this line holds keys that have not expired.  `now` is that of the union. */
static bool counts(const deja_filter *f, uint32_t line, uint64_t now)
{
    const bool is_cleared = f->window.clearing && age_of(f, line) == 0;
    return !is_cleared && dj_generations_lives(&f->plan, &f->window, line, now);
}

static void collect(const deja_filter *f, uint64_t now, struct sources *all)
{
    for (uint32_t line = 0; line < f->part[0]->lines; line++) {
        const uint64_t start = f->window.start[line];
        if (counts(f, line, now))
            all->generation[all->n++] = (struct source){
                .f = f,
                .line = line,
                .age = age_of(f, line),
                .start = start < now ? start : now,
                .keys = atomic_load_explicit(&f->window.keys[line], memory_order_relaxed)};
    }
}

/* Places the generations of a time window; drops those that have expired. */
static void place_by_time(const struct dj_plan *plan, struct sources *all)
{
    const uint64_t each = dj_generations_lifetime(plan);
    uint64_t newest = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < all->n; i++)
        newest = all->generation[i].start > newest ? all->generation[i].start : newest;
    for (uint32_t i = 0; i < all->n; i++) {
        struct source g = all->generation[i];
        const uint64_t age = (newest - g.start) / each;
        if (age > plan->generations)
            continue;
        g.age = (uint32_t)age;
        g.start = newest - age * each;
        all->generation[n++] = g;
    }
    all->n = n;
}

static uint8_t *block_line(const struct dj_part *p, uint64_t block, uint32_t line)
{
    return p->body + DJ_BLOCK_BYTES * (block * p->lines + line);
}

/* Adds the keys of a generation to a line of the union; returns how many bits the line has. */
static uint64_t unite_lines(const struct dj_part *into, uint32_t line, const struct source *g)
{
    uint64_t bits = 0;
    for (uint64_t b = 0; b < into->blocks.n_blocks; b++) {
        uint8_t *to = block_line(into, b, line);
        const uint8_t *from = block_line(g->f->part[0], b, g->line);
        for (size_t i = 0; i < DJ_BLOCK_BYTES; i += 8) {
            const uint64_t word = dj_load64(to + i) | dj_load64(from + i);
            dj_store64(to + i, word);
            bits += (uint64_t)__builtin_popcountll(word);
        }
    }
    return bits;
}

/* The number of keys in a line is at least that of each of its generations, and at least what its
 * bits prove; it is at most the sum over its generations. */
static uint64_t keys_of(const struct dj_part *p, uint64_t bits, uint64_t a, uint64_t b)
{
    const struct dj_shape s = dj_window_generation(&p->shape, p->lines);
    const uint64_t proved = dj_window_least_keys(&s, bits), least = a > b ? a : b;
    const uint64_t most = dj_count_sum(a, b);
    return proved < least ? least : proved < most ? proved : most;
}

/* Fills an empty window with all these generations. */
static void fill(deja_filter *f, const struct sources *all, uint64_t turns)
{
    struct dj_window w = {.turns = turns};
    const struct dj_part *p = f->part[0];
    for (uint32_t i = 0; i < all->n; i++) {
        const struct source *g = &all->generation[i];
        const uint32_t line = (uint32_t)((turns % p->lines + p->lines - g->age) % p->lines);
        const uint64_t bits = unite_lines(p, line, g);
        w.keys[line] = keys_of(p, bits, w.keys[line], g->keys);
        w.start[line] = g->start > w.start[line] ? g->start : w.start[line];
    }
    dj_window_adopt(f, &w);
}

static struct dj_earlier sum_of(struct dj_earlier a, struct dj_earlier b)
{
    return (struct dj_earlier){a.unions, dj_count_sum(a.keys, b.keys), a.lost + b.lost};
}

int dj_window_merge(deja_filter *into, const deja_filter *from, deja_error *err)
{
    struct sources all = {.n = 0};
    deja_filter *next = NULL;
    const uint64_t now = dj_window_now(into);
    collect(into, now, &all);
    collect(from, now, &all);
    if (into->plan.window_seconds)
        place_by_time(&into->plan, &all);
    int rc = into->owner->next(into, &into->plan, &next, err);
    if (rc < 0)
        return rc;
    fill(next, &all,
         into->window.turns > from->window.turns ? into->window.turns : from->window.turns);
    next->earlier = sum_of(dj_window_earlier(into), dj_window_earlier(from));
    next->part[0]->keys = next->earlier.keys;
    next->offered = into->offered;
    next->unclean = into->unclean;
    rc = deja_filter_check_file(from, err);
    if (rc == DEJA_OK)
        rc = into->owner->replace(into, next, err);
    deja_filter_free(next);
    return rc;
}
