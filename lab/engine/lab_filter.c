/* lab_filter.c - one filter of any kind; see lab_filter.h. */
#include "lab/engine/lab_filter.h"
#include "tools/base/fail.h"

size_t lab_ones(const uint8_t *flag, size_t n)
{
    size_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += flag[i];
    return sum;
}

#define PIECE 4096 /* keys between two checks for Ctrl-C */

int lab_fill(const struct lab *lab, deja_filter *f, const deja_slice *keys, uint64_t n,
             double *hits, deja_error *err)
{
    uint8_t flag[PIECE];
    double seen = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        size_t done = 0;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        const int rc = deja_filter_add_batch(f, keys + at, some, flag, &done, err);
        if (rc < 0)
            return rc;
        seen += (double)some - (double)lab_ones(flag, some);
    }
    if (hits)
        *hits = seen;
    return DEJA_OK;
}

int lab_ask(const struct lab *lab, const deja_filter *f, const deja_slice *keys, uint64_t n,
            double *hits, deja_error *err)
{
    uint8_t flag[PIECE];
    (void)err;
    *hits = 0;
    for (uint64_t at = 0; at < n; at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        if (lab_stopped(lab))
            return LAB_STOPPED;
        deja_filter_contains_batch(f, keys + at, some, flag);
        *hits += (double)lab_ones(flag, some);
    }
    return DEJA_OK;
}

int lab_make_full(const struct lab *lab, const deja_options *opt, deja_filter **f, deja_error *err)
{
    deja_builder *b = NULL;
    if (opt->kind != DEJA_STATIC) {
        const int rc = deja_filter_new(opt, f, err);
        return rc == DEJA_OK ? lab_fill(lab, *f, lab->keys.added, lab->keys.n, NULL, err) : rc;
    }
    int rc = deja_builder_new(opt, &b, err);
    if (rc == DEJA_OK)
        rc = deja_builder_add_batch(b, lab->keys.added, lab->keys.n, err);
    if (rc == DEJA_OK)
        rc = deja_builder_finish(b, NULL, 0, f, err);
    deja_builder_free(b);
    return rc;
}
