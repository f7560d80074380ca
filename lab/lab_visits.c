/* lab_visits.c - two visits with different salts; see lab_visits.h.
 *
 * The first visit leaves a mark for each URL that it takes for seen, for each filter; the second
 * counts those of its own that have one. */
#include "lab_visits.h"
#include "fail.h"
#include "lab_curve.h"
#include <stdlib.h>
#include <string.h>

struct watch {
    struct lab_visits *v;
    uint64_t n;
    uint8_t *asked;   /* n marks for each filter                    */
    uint8_t *filling; /* n marks of the filter whose filling counts */
};

static void mark_asked(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    memcpy(w->asked + filter * w->n + first, seen, n);
}

static void count_asked(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    const uint8_t *before = w->asked + filter * w->n + first;
    for (size_t i = 0; i < n; i++)
        w->v->full[filter] += seen[i] & before[i];
}

static void mark_filling(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    if (filter == w->v->watched)
        memcpy(w->filling + first, seen, n);
}

static void count_filling(void *ctx, size_t filter, uint64_t first, const uint8_t *seen, size_t n)
{
    const struct watch *w = ctx;
    uint8_t both[LAB_CHUNK];
    if (filter != w->v->watched)
        return;
    for (size_t i = 0; i < n; i++) {
        both[i] = seen[i] & w->filling[first + i];
        w->v->filling += both[i];
    }
    if (w->v->curve != NULL)
        lab_curve_count(w->v->curve, w->n, first, both, n);
}

static int visit_twice(struct lab_bank *b, struct watch *w, deja_error *err)
{
    const struct lab_keys *k = &b->lab->keys;
    int rc = lab_bank_add(b, k->added, k->n, mark_filling, w, err);
    if (rc == DEJA_OK)
        rc = lab_bank_ask(b, k->asked, k->n, mark_asked, w, err);
    if (rc == DEJA_OK)
        rc = lab_bank_next_visit(b, err);
    if (rc == DEJA_OK)
        rc = lab_bank_add(b, k->added, k->n, count_filling, w, err);
    if (rc == DEJA_OK)
        rc = lab_bank_ask(b, k->asked, k->n, count_asked, w, err);
    return rc;
}

int lab_two_visits(const struct lab *lab, const struct lab_bloom_spec *spec, uint64_t seed,
                   struct lab_visits *v, deja_error *err)
{
    struct watch w = {.v = v, .n = lab->keys.n};
    struct lab_bank bank = {0};
    w.asked = malloc(spec->n * w.n);
    w.filling = malloc(w.n);
    int rc = w.asked != NULL && w.filling != NULL
                 ? lab_bank_init(&bank, lab, spec, seed, err)
                 : fail(err, DEJA_ENOMEM, "no memory for the marks of a visit");
    if (rc == DEJA_OK)
        rc = visit_twice(&bank, &w, err);
    if (rc == DEJA_OK && v->curve != NULL)
        lab_curve_sum(v->curve);
    lab_bank_fini(&bank);
    free(w.asked);
    free(w.filling);
    return rc;
}
