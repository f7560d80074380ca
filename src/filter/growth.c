/* growth.c - makes room for more keys, within limits.
 *
 * A crafted file of 5 kB can claim any number of keys, or a growth of 1024.  So memory that the
 * caller did not ask for, for the next parts and for the next visit, is limited: to UNASKED_BYTES
 * in all, or to a multiple of the current bodies. */
#include "filter/growth.h"
#include "filter/sound.h"

#define UNASKED_BYTES ((uint64_t)16 << 20)
#define UNASKED_TIMES UINT64_C(32)

static uint64_t bytes_of(const deja_filter *f)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->n_parts; i++)
        bytes += f->part[i]->body_len;
    return bytes;
}

static bool fits(uint64_t have, uint64_t more, uint64_t most)
{
    return have + more <= UNASKED_BYTES || more <= most;
}

/* Whether the parts from f->n_parts up to n_parts are within the limit. */
static bool parts_fit(const deja_filter *f, uint32_t n_parts)
{
    const uint64_t have = bytes_of(f);
    uint64_t more = 0;
    for (uint32_t i = f->n_parts; i < n_parts; i++)
        more += dj_part_body_len(&f->part[i]->shape);
    const struct dj_kind *kind = f->plan.kind;
    return fits(have, more, kind->most_growth ? kind->most_growth(f) : UNASKED_TIMES * have);
}

/* Call with the lock held for writing. */
static int grow(deja_filter *f, const uint64_t *row)
{
    uint32_t n = f->n_parts;
    const int rc = f->plan.kind->make_room(f, row, &n);
    if (rc < 0 || n == f->n_parts)
        return rc;
    const bool sound = dj_filter_check(f, n, NULL) == DEJA_OK && parts_fit(f, n);
    return sound ? f->owner->grow(f, n) : DEJA_EFULL;
}

int dj_filter_make_room(deja_filter *f, uint32_t parts, const uint64_t *row)
{
    pthread_rwlock_wrlock(&f->growing);
    /* Otherwise another thread has made room. */
    const int rc = f->n_parts == parts ? grow(f, row) : DEJA_OK;
    pthread_rwlock_unlock(&f->growing);
    return rc;
}

int dj_filter_ensure_room(deja_filter *f)
{
    pthread_rwlock_wrlock(&f->growing);
    const int rc = f->plan.kind->room(f) ? DEJA_OK : grow(f, NULL);
    pthread_rwlock_unlock(&f->growing);
    return rc;
}

bool dj_renewal_fits(const deja_filter *f, uint64_t bytes)
{
    return fits(0, bytes, UNASKED_TIMES * bytes_of(f));
}
