/* memory.c - filters whose bodies are on the heap. */
#include "filter/memory.h"
#include "core/base/alloc.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/sound.h"

/* Allocates bodies for the parts up to n_parts: for all of them or, if memory runs out, none. */
static int memory_grow(deja_filter *f, uint32_t n_parts)
{
    uint32_t n = f->n_parts;
    for (; n < n_parts; n++) {
        struct dj_part *p = f->part[n];
        uint8_t *body = dj_alloc(f->alloc, (size_t)dj_part_body_len(&p->shape), DJ_BLOCK_BYTES);
        if (!body)
            break;
        dj_part_attach(p, body);
    }
    if (n == n_parts) {
        dj_filter_attached(f, n);
        return DEJA_OK;
    }
    while (n-- > f->n_parts)
        dj_free(f->alloc, f->part[n]->body, (size_t)f->part[n]->body_len);
    return DEJA_ENOMEM;
}

static void memory_free(deja_filter *f)
{
    for (uint32_t i = 0; i < f->n_parts; i++)
        dj_free(f->alloc, f->part[i]->body, (size_t)f->part[i]->body_len);
}

static int memory_next(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                       deja_error *err);

static int memory_replace(deja_filter *f, deja_filter *next, deja_error *err)
{
    (void)err;
    dj_filter_swap(f, next);
    return DEJA_OK;
}

static const struct dj_owner_ops memory_ops = {
    .grow = memory_grow,
    .free = memory_free,
    .next = memory_next,
    .replace = memory_replace,
};

void dj_filter_to_memory(deja_filter *f)
{
    f->owner = &memory_ops;
    atomic_store(&f->writing, true); /* so that begin_writing is never called */
}

/* Allocates the bodies of a filter that has none. */
static int furnish(deja_filter *f, deja_error *err)
{
    const struct dj_plan *plan = &f->plan;
    const int rc = memory_grow(f, dj_plan_parts(plan));
    return rc < 0
               ? dj_fail(err, rc,
                         "out of memory: the filter needs %.0f MB; lower options.capacity, raise "
                         "options.fp_rate, or create it in a file",
                         (double)dj_plan_bytes(plan) / 1e6)
               : DEJA_OK;
}

int dj_filter_in_memory(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                        const deja_allocator *alloc, deja_filter **out, deja_error *err)
{
    deja_filter *f = dj_filter_make(plan, key, alloc);
    if (!f)
        return dj_fail_memory(err);
    int rc = dj_filter_check(f, dj_plan_parts(plan), err);
    dj_filter_to_memory(f);
    if (rc == DEJA_OK)
        rc = furnish(f, err);
    if (rc < 0)
        deja_filter_free(f);
    else
        *out = f;
    return rc;
}

static int memory_next(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                       deja_error *err)
{
    return dj_filter_in_memory(plan, f->key, f->alloc, out, err);
}

int deja_filter_new(const deja_options *opt, deja_filter **out, deja_error *err)
{
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    deja_options known;
    *out = NULL;
    const int rc = dj_filter_begin(opt, &known, &plan, key, err);
    return rc < 0 ? rc : dj_filter_in_memory(&plan, key, known.alloc, out, err);
}
