/* attacker.h - URLs chosen by an attacker who can inspect a similar filter.
 *
 * The attacker keeps a twin of the victim's filter, with the same size and the key that the victim
 * is believed to have, and sends only URLs whose bits in the twin are as follows:
 *
 *   polluting    all bits clear while such URLs exist, then as many clear bits as possible
 *   saturating   the same with more tries, until every bit is set
 *   forging      never added, and all bits set
 *
 * If the twin has the victim's key, the victim behaves exactly like the twin.  Twins are classic,
 * blocked, or scalable with one part.  Source: Gerbet, Kumar, Lauradoux, "The Power of Evil
 * Choices in Bloom Filters", 2015. */
#ifndef DJ_TEST_ATTACKER_H
#define DJ_TEST_ATTACKER_H
#include "kinds/kind.h"
#include <string.h>

struct attacker {
    deja_filter *twin;
    uint64_t tried; /* URLs tried so far */
    uint32_t least; /* clear bits that saturating asks for; 0: not started */
};

struct url {
    char text[64];
    size_t len;
};

static inline deja_slice url_slice(const struct url *u)
{
    return (deja_slice){u->text, u->len};
}

/* Appends the number in decimal to the prefix; must be fast, because millions are tried. */
static inline struct url url_with(const char *prefix, uint64_t number)
{
    struct url u;
    char digits[20];
    size_t n = 0;
    do
        digits[n++] = (char)('0' + number % 10);
    while (number /= 10);
    u.len = strlen(prefix);
    memcpy(u.text, prefix, u.len);
    while (n)
        u.text[u.len++] = digits[--n];
    return u;
}

static inline struct url url_number(uint64_t i)
{
    return url_with("http://evil.example/", i);
}

/* The bit positions of a key, k of them. */
static inline uint32_t attacker_bits(const deja_filter *f, const struct url *u,
                                     uint64_t position[16])
{
    const struct dj_part *p = f->part[0];
    const deja_slice key = url_slice(u);
    uint64_t h;
    uint32_t n = 0;
    deja_filter_hash_batch(f, &key, 1, &h);
    if (p->shape.layout == DJ_SPREAD) {
        for (; n < p->shape.k; n++)
            position[n] = dj_mulhi(dj_mix64(h + (n + 1) * DJ_GOLDEN), p->shape.bits);
        return n;
    }
    const uint64_t g = h * DJ_BLOCK_MULTIPLIER;
    const uint32_t lanes = p->blocks.lane_sets[g >> 24 & 255];
    for (uint32_t lane = 0; lane < DJ_BLOCK_LANES; lane++)
        if (lanes >> lane & 1)
            position[n++] = 512 * dj_mulhi(h, p->blocks.n_blocks) + 32 * lane +
                            ((uint32_t)(g >> 32) * dj_block_odd[lane] >> 27);
    return n;
}

static inline bool attacker_sees(const deja_filter *f, uint64_t position)
{
    return f->part[0]->body[position / 8] >> position % 8 & 1;
}

/* How many of a URL's bits are still clear in the twin. */
static inline uint32_t attacker_clear_bits(const struct attacker *a, const struct url *u)
{
    uint64_t position[16];
    const uint32_t k = attacker_bits(a->twin, u, position);
    uint32_t clear = 0;
    for (uint32_t i = 0; i < k; i++)
        clear += !attacker_sees(a->twin, position[i]);
    return clear;
}

/* Adds a URL to the twin, so that it matches the victim; false if the twin refuses it. */
static inline bool attacker_sends(struct attacker *a, const struct url *u)
{
    return deja_filter_add(a->twin, url_slice(u), NULL, NULL) == DEJA_OK;
}

/* Returns the best of 400 URLs. */
static inline struct url attacker_pollutes(struct attacker *a)
{
    const uint32_t least = a->twin->part[0]->shape.k;
    struct url best = {.len = 0};
    uint32_t most = 0;
    for (int i = 0; i < 400 && most < least; i++) {
        const struct url u = url_number(a->tried++);
        const uint32_t clear = attacker_clear_bits(a, &u);
        if (clear > most || !best.len) {
            best = u;
            most = clear;
        }
    }
    return best;
}

/* A URL that sets as many bits as the previous ones did; after 2,000 failed tries, one bit
 * fewer. */
static inline struct url attacker_saturates(struct attacker *a)
{
    if (!a->least)
        a->least = a->twin->part[0]->shape.k;
    for (uint64_t in_vain = 0;;) {
        const struct url u = url_number(a->tried++);
        if (attacker_clear_bits(a, &u) >= a->least)
            return u;
        if (++in_vain < 2000)
            continue;
        if (a->least == 1)
            return u; /* almost no clear bits are left */
        a->least--;
        in_vain = 0;
    }
}

/* Adds n of them, in batches. */
#define ATTACKER_BATCH 64
static inline void attacker_forges(struct attacker *a, struct url *out, size_t n)
{
    struct url u[ATTACKER_BATCH];
    deja_slice key[ATTACKER_BATCH];
    uint8_t found[ATTACKER_BATCH];
    for (size_t done = 0; done < n;) {
        for (size_t i = 0; i < ATTACKER_BATCH; i++) {
            u[i] = url_number(a->tried++);
            key[i] = url_slice(&u[i]);
        }
        deja_filter_contains_batch(a->twin, key, ATTACKER_BATCH, found);
        for (size_t i = 0; i < ATTACKER_BATCH && done < n; i++)
            if (found[i])
                out[done++] = u[i];
    }
}

#endif
