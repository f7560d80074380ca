/* lab_rounds.c - the same URLs again, with different salts; see lab_rounds.h.
 *
 * Each round keeps a mark for every URL that it and all earlier rounds report as seen.  A filter
 * without marks cannot get any in later rounds, whatever its salts, so it is skipped. */
#include "lab/experiments/lab_rounds.h"
#include "lab/engine/lab_task.h"
#include <string.h>

struct watch {
    struct lab_rounds *r;
    const struct lab_keys *keys;
    uint32_t round;
    uint64_t n;       /* number of them */
    uint8_t *asked;   /* n marks per filter */
    uint8_t *filling; /* n marks per watched filter */
};

/* Keep the marks that this round also has; the first round sets them. */
static void agree(const struct watch *w, uint8_t *mark, const uint8_t *seen, size_t n)
{
    if (w->round == 0)
        memcpy(mark, seen, n);
    else
        for (size_t i = 0; i < n; i++)
            mark[i] &= seen[i];
}

static void see_asked(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    uint8_t *mark = w->asked + member * w->n + first;
    lab_count_seen(w->r->alone[w->round], member, first, seen, n);
    agree(w, mark, seen, n);
    lab_count_seen(w->r->full[w->round], member, first, mark, n);
}

static void see_filling(void *ctx, size_t member, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    for (size_t i = 0; i < w->r->n_watched; i++) {
        if (w->r->watched[i] != member)
            continue;
        uint8_t *mark = w->filling + i * w->n + first;
        agree(w, mark, seen, n);
        lab_curve_count(w->r->filling[w->round][i], w->n, first, mark, n);
    }
}

/* The number of a filter's marks after this round, of either kind. */
static double marks_of(const struct watch *w, size_t member)
{
    double sum = w->r->full[w->round][member];
    for (size_t i = 0; i < w->r->n_watched; i++)
        if (w->r->watched[i] == member)
            sum += w->r->filling[w->round][i][LAB_CURVE - 1];
    return sum;
}

static void go_round(struct lab_bank *b, struct watch *w)
{
    if (w->round > 0)
        lab_bank_renew(b);
    lab_bank_add(b, w->keys->added, w->n, see_filling, w);
    lab_bank_ask(b, w->keys->asked, w->n, see_asked, w);
    for (size_t i = 0; i < w->r->n_watched; i++)
        lab_curve_sum(w->r->filling[w->round][i]);
    for (size_t i = 0; i < b->n; i++)
        b->idle[i] = b->idle[i] || marks_of(w, i) <= 0;
}

void lab_rounds(struct lab_task *t, const struct lab_bloom_spec *spec, struct lab_rounds *r)
{
    struct watch w = {.r = r, .keys = &t->lab->keys, .n = t->lab->keys.n};
    w.asked = lab_alloc(t, spec->n_k * spec->n_m * w.n);
    w.filling = lab_alloc(t, r->n_watched * w.n);
    struct lab_bank *b = lab_bank(t, spec);
    for (; b && w.round < r->rounds && lab_going(t); w.round++)
        go_round(b, &w);
}
