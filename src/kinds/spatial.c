/* spatial.c - one part, or F parts that must agree.
 *
 * Plain kinds have one part.  The spatial strategy gives them F parts of the same size with
 * different salts: a key is seen if all parts have it, and add goes to all of them.  If the F filters
 * are on F machines, each has one of these parts, with the same salt and so with the same bits.
 *
 * Part i > 0 gets mix(h xor salt i) instead of the hash h.  That is a bijection of h, so nothing is
 * lost, and the positions in one part are independent of those in the others.  The papers'
 * families compute k numbers for each part instead. */
#include "kinds/spatial.h"
#include "core/base/bytes.h"

const uint64_t *dj_spatial_view(const deja_filter *f, uint32_t i, const uint64_t *hash, size_t n,
                                uint64_t buf[DJ_CHUNK])
{
    const struct dj_part *p = f->part[i];
    if (p->stride > 1)
        return hash + (size_t)(dj_plan_place(&f->plan) + i) * p->shape.k;
    if (!p->salt)
        return hash;
    for (size_t j = 0; j < n; j++)
        buf[j] = dj_mix64(hash[j] ^ p->salt);
    return buf;
}

/* One part that takes the hashes themselves. */
static bool is_plain(const deja_filter *f)
{
    return f->n_parts == 1 && !f->plan.machine;
}

void dj_spatial_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    const struct dj_part *p = f->part[0];
    uint64_t buf[DJ_CHUNK];
    if (is_plain(f)) {
        p->kind->body.prefetch(p, hash, n, for_add);
        return;
    }
    for (uint32_t i = 0; i < f->n_parts; i++) {
        p = f->part[i];
        p->kind->body.prefetch(p, dj_spatial_view(f, i, hash, n, buf), n, for_add);
    }
}

static size_t add_to_all(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                         uint8_t *is_new, bool shared)
{
    uint64_t buf[DJ_CHUNK];
    uint8_t part_new[DJ_CHUNK];
    dj_spatial_prefetch(f, ahead, n, true);
    memset(is_new, 0, n);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        struct dj_part *p = f->part[i];
        const uint64_t *seen = dj_spatial_view(f, i, hash, n, buf);
        p->kind->body.add(p, seen, seen, n, part_new, shared); /* a Bloom filter takes all */
        dj_part_mark(p, seen, part_new, n);
        for (size_t j = 0; j < n; j++)
            is_new[j] |= part_new[j];
    }
    for (uint32_t i = 0; i < f->n_parts; i++)
        dj_part_count_new(f->part[i], is_new, n, shared);
    return n;
}

size_t dj_spatial_add(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *is_new, bool shared)
{
    struct dj_part *p = f->part[0];
    if (!is_plain(f))
        return add_to_all(f, hash, ahead, n, is_new, shared);
    const size_t taken = p->kind->body.add(p, hash, ahead, n, is_new, shared);
    dj_part_count_new(p, is_new, taken, shared);
    dj_part_mark(p, hash, is_new, taken);
    return taken;
}

static void ask_all(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                    uint8_t *found)
{
    uint64_t buf[DJ_CHUNK];
    uint8_t one[DJ_CHUNK];
    dj_spatial_prefetch(f, ahead, n, false);
    memset(found, 1, n);
    for (uint32_t i = 0; i < f->n_parts; i++) {
        const struct dj_part *p = f->part[i];
        const uint64_t *seen = dj_spatial_view(f, i, hash, n, buf);
        p->kind->body.contains(p, seen, seen, n, one);
        for (size_t j = 0; j < n; j++)
            found[j] &= one[j];
    }
}

void dj_spatial_contains(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *found)
{
    const struct dj_part *p = f->part[0];
    if (is_plain(f))
        p->kind->body.contains(p, hash, ahead, n, found);
    else
        ask_all(f, hash, ahead, n, found);
}

/* --- Statistics ------------------------------------------------------------ */

void dj_spatial_account(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                        struct dj_account *a, uint32_t i)
{
    (void)f;
    s->keys = a->count;
    s->distinct += (a->distinct - s->distinct) / (i + 1);
    s->fp_now = i ? s->fp_now * a->rate : a->rate;
    if (i > 0 && i + 1 == s->filters && !p->shape.no_twins) /* all parts find a twin */
        s->fp_now = dj_with_twins(s->fp_now, s->distinct);
    s->lost = a->came - a->keys;
    s->capacity = p->capacity;
}

void dj_spatial_stats(const deja_filter *f, deja_stats *s)
{
    dj_account_for(f, s, dj_spatial_account);
}
