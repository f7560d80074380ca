/* part.c - what the plain kinds share. */
#include "kinds/part.h"
#include "core/bits/popcount.h"

const struct dj_part_ops *dj_part_ops_of(uint32_t kind)
{
    static const struct dj_part_ops *const plain[] = {&dj_classic_ops,  &dj_blocked_ops,
                                                      &dj_exact_ops,    &dj_static_ops,
                                                      &dj_spectral_ops, &dj_window_ops};
    for (size_t i = 0; i < DJ_ARRAY_LEN(plain); i++)
        if (plain[i]->kind == kind)
            return plain[i];
    return NULL;
}

uint64_t dj_part_body_len(const struct dj_shape *s)
{
    /* Whole cache lines, so that the next body in a file begins on one. */
    return (s->bits / 8 + 63) & ~UINT64_C(63);
}

void dj_part_attach(struct dj_part *p, uint8_t *body)
{
    p->body = body;
    p->body_len = dj_part_body_len(&p->shape);
    if (p->ops->init)
        p->ops->init(p);
}

uint64_t dj_part_count_bits(const struct dj_part *p)
{
    return dj_popcount(p->body, p->body_len);
}
