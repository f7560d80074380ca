/* lab_task.c - what a running task does; see lab_task.h. */
#include "lab/engine/lab_task.h"
#include "tools/base/clock.h"
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* --- Failures ------------------------------------------------------------------- */

bool lab_going(struct lab_task *t)
{
    const atomic_bool *stop = t->lab->stop;
    if (t->rc == DEJA_OK && stop && atomic_load_explicit(stop, memory_order_relaxed))
        t->rc = LAB_STOPPED;
    return t->rc == DEJA_OK;
}

void lab_failed(struct lab_task *t, int rc, const char *fmt, ...)
{
    va_list args;
    if (t->rc < 0)
        return;
    t->rc = t->err->status = rc;
    va_start(args, fmt);
    (void)vsnprintf(t->err->text, sizeof t->err->text, fmt, args);
    va_end(args);
}

void lab_checked(struct lab_task *t, int rc)
{
    t->rc = rc < 0 && t->rc == DEJA_OK ? rc : t->rc;
}

/* --- What it owns ---------------------------------------------------------------- */

struct lab_owned {
    struct lab_owned *next;
    deja_filter *filter; /* or NULL, and memory follows */
    _Alignas(max_align_t) char memory[];
};

static struct lab_owned *own(struct lab_task *t, uint64_t bytes)
{
    const bool fits = t->rc == DEJA_OK && bytes <= SIZE_MAX / 2;
    struct lab_owned *o = fits ? calloc(1, sizeof *o + (size_t)bytes) : NULL;
    if (!o) {
        lab_failed(t, DEJA_ENOMEM, "out of memory for experiment unit %u", t->unit);
        return NULL;
    }
    o->next = t->owned;
    t->owned = o;
    return o;
}

void lab_release(struct lab_task *t)
{
    while (t->owned) {
        struct lab_owned *next = t->owned->next;
        deja_filter_free(t->owned->filter);
        free(t->owned);
        t->owned = next;
    }
}

void *lab_alloc(struct lab_task *t, uint64_t bytes)
{
    struct lab_owned *o = own(t, bytes);
    return o ? o->memory : NULL;
}

/* --- Filters --------------------------------------------------------------------- */

deja_options lab_options(const struct lab_task *t, uint32_t kind)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = t->lab->keys.n;
    opt.seed = t->seed;
    return opt;
}

deja_filter *lab_filter(struct lab_task *t, const deja_options *opt)
{
    struct lab_owned *o = own(t, 0);
    if (!o)
        return NULL;
    lab_checked(t, deja_filter_new(opt, &o->filter, t->err));
    return o->filter;
}

static deja_filter *build(struct lab_task *t, const deja_options *opt)
{
    const struct lab_keys *k = &t->lab->keys;
    struct lab_owned *o = own(t, 0);
    deja_builder *b = NULL;
    if (!o)
        return NULL;
    lab_checked(t, deja_builder_new(opt, &b, t->err));
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_builder_add_batch(b, k->added, (size_t)k->n, t->err));
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_builder_finish(b, NULL, 0, &o->filter, t->err));
    deja_builder_free(b);
    return o->filter;
}

deja_filter *lab_full(struct lab_task *t, const deja_options *opt)
{
    if (deja_kind_can(opt->kind, DEJA_CAN_BUILD))
        return build(t, opt);
    deja_filter *f = lab_filter(t, opt);
    (void)lab_add(t, f, t->lab->keys.added, t->lab->keys.n, NULL);
    return f;
}

size_t lab_ones(const uint8_t *flag, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += flag[i];
    return sum;
}

#define PIECE 4096 /* keys between two checks for Ctrl-C */

double lab_add(struct lab_task *t, deja_filter *f, const deja_slice *keys, uint64_t n,
               uint8_t *seen)
{
    uint8_t flag[PIECE] = {0};
    double hits = 0;
    for (uint64_t at = 0; at < n && lab_going(t); at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        lab_checked(t, deja_filter_add_batch(f, keys + at, some, flag, NULL, t->err));
        hits += (double)(some - lab_ones(flag, some));
        for (size_t i = 0; seen && i < some; i++)
            seen[at + i] = !flag[i];
    }
    return hits;
}

double lab_ask(struct lab_task *t, const deja_filter *f, const deja_slice *keys, uint64_t n)
{
    uint8_t flag[PIECE] = {0};
    double hits = 0;
    for (uint64_t at = 0; at < n && lab_going(t); at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        deja_filter_contains_batch(f, keys + at, some, flag);
        hits += (double)lab_ones(flag, some);
    }
    return hits;
}

deja_stats lab_stats(struct lab_task *t, const deja_filter *f)
{
    deja_stats s = DEJA_STATS_INIT;
    if (t->rc == DEJA_OK)
        lab_checked(t, deja_filter_stats(f, DEJA_STATS_BODY, &s, t->err));
    return s;
}

/* --- Time ------------------------------------------------------------------------ */

double lab_fastest(struct lab_task *t, lab_step *step, void *ctx, const deja_slice *keys,
                   uint64_t n, double *sum)
{
    const uint64_t part = n / LAB_PARTS;
    double best = INFINITY;
    for (uint64_t i = 0; i < LAB_PARTS && lab_going(t); i++) {
        const double begin = clock_cpu_ns();
        const double result = step(t, ctx, keys + i * part, part);
        best = fmin(best, (clock_cpu_ns() - begin) / (double)part);
        if (sum)
            *sum += result;
    }
    return best;
}

double lab_add_step(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    return lab_add(t, ctx, keys, n, NULL);
}

double lab_ask_step(struct lab_task *t, void *ctx, const deja_slice *keys, uint64_t n)
{
    return lab_ask(t, ctx, keys, n);
}
