/* part.c - code that the parts of all kinds share. */
#include "kinds/part.h"
#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "kinds/kind.h"

uint64_t dj_part_body_len(const struct dj_shape *s)
{
    /* Whole cache lines, so that the next body in a file starts on one. */
    return (s->bits / 8 + 63) & ~UINT64_C(63);
}

void dj_part_attach(struct dj_part *p, uint8_t *body)
{
    p->body = body;
    p->body_len = dj_part_body_len(&p->shape);
    p->pieces = NULL;
    if (p->kind->body.init)
        p->kind->body.init(p);
}

uint64_t dj_part_count_bits(const struct dj_part *p)
{
    return dj_pieces_bits(p);
}

uint64_t dj_part_word(const struct dj_part *p, uint64_t i)
{
    return dj_load64(p->body + 8 * i);
}

static void or_bits(struct dj_part *into, const struct dj_part *from, int folds)
{
    const uint64_t words = (from->shape.bits >> folds) / 64;
    for (uint64_t i = 0; i < words; i++)
        dj_store64(into->body + 8 * i,
                   dj_part_word(into, i) | from->kind->body.folded_word(from, folds, i));
}

void dj_part_unite(struct dj_part *into, const struct dj_part *from, int folds)
{
    if (from->kind->body.unite)
        from->kind->body.unite(into, from);
    else
        or_bits(into, from, folds);
}

void dj_part_count_new(struct dj_part *p, const uint8_t *is_new, size_t n, bool shared)
{
    uint64_t sum = 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) /* the highest byte of the product is the sum of eight bytes */
        sum += dj_load64(is_new + i) * UINT64_C(0x0101010101010101) >> 56;
    for (; i < n; i++)
        sum += is_new[i];
    if (sum)
        dj_writer_count(&p->keys, sum, shared);
}

uint64_t dj_part_keys(const struct dj_part *p)
{
    return atomic_load_explicit(&p->keys, memory_order_relaxed);
}

bool dj_filter_make_parts(deja_filter *f, uint32_t n_parts)
{
    for (uint32_t i = 0; i < n_parts; i++)
        if (!f->part[i] && !(f->part[i] = dj_alloc(f->alloc, sizeof *f->part[i], 8)))
            return false;
    return true;
}

uint64_t dj_part_salt(const uint8_t key[DEJA_KEY_LEN], uint64_t visit, uint32_t i)
{
    return dj_key_derive(key, DJ_STREAM_PART, (visit << 16) + i) | 1;
}
