/* pieces.c - marks, counts and describes the pieces of a body. */
#include "kinds/pieces.h"
#include "core/base/bytes.h"
#include "core/bits/popcount.h"
#include "core/hash/hash.h"
#include "kinds/kind.h"

#define KEYS_PER_PIECE 2 /* with one position per key, they reach 86 % of the pieces */

enum {
    ENTRY_CHECKSUM = 0,
    ENTRY_BITS = 8
};

const uint8_t *dj_piece_at(const uint8_t *body, uint64_t body_len, uint64_t i, uint64_t *len)
{
    const uint64_t at = i << DJ_PIECE_SHIFT, left = body_len - at;
    *len = left < DJ_PIECE_LEN ? left : DJ_PIECE_LEN;
    return body + at;
}

void dj_piece_describe(const uint8_t *piece, uint64_t len, uint8_t entry[DJ_ENTRY_LEN])
{
    dj_store64(entry + ENTRY_CHECKSUM, dj_checksum(piece, (size_t)len));
    dj_store64(entry + ENTRY_BITS, dj_popcount(piece, len));
}

void dj_pieces_reset(struct dj_pieces *s)
{
    for (uint64_t i = 0; i < s->n; i++)
        atomic_store_explicit(&s->changed[i], 0, memory_order_relaxed);
    atomic_store_explicit(&s->left, KEYS_PER_PIECE * s->n, memory_order_relaxed);
    atomic_store_explicit(&s->many, false, memory_order_relaxed);
}

uint64_t dj_pieces_bits(const struct dj_part *p)
{
    const struct dj_pieces *s = p->pieces;
    uint64_t bits = 0;
    if (!s || dj_pieces_all_changed(s))
        return dj_popcount(p->body, p->body_len);
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t len;
        const uint8_t *piece = dj_piece_at(p->body, p->body_len, i, &len);
        const uint64_t known = dj_load64(s->entry + i * DJ_ENTRY_LEN + ENTRY_BITS);
        /* A crafted entry may have any number. */
        bits += dj_piece_changed(s, i) || known > 8 * len ? dj_popcount(piece, len) : known;
    }
    return bits;
}

/* Threads that update `left` at the same time may lose an update, but none resets `many`. */
void dj_pieces_added(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new,
                     size_t n)
{
    struct dj_pieces *s = p->pieces;
    if (dj_pieces_all_changed(s))
        return;
    uint64_t some = 0;
    for (size_t i = 0; i < n; i++)
        some += is_new[i];
    const uint64_t left = atomic_load_explicit(&s->left, memory_order_relaxed);
    if (left < some) {
        atomic_store_explicit(&s->many, true, memory_order_relaxed);
        return;
    }
    atomic_store_explicit(&s->left, left - some, memory_order_relaxed);
    if (some)
        p->kind->body.mark(p, hash, is_new, n);
}
