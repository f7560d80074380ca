/* pieces.h - which pieces of a body have changed since the last sync, and what a file knows about
 * the others.
 *
 * A file has a table with an entry for each piece of a body: its checksum and its number of set
 * bits (docs/format/sync.md).  A sync computes only the entries of pieces that have changed, and
 * statistics count only the bits of these, so both take the same time for any size of the file.
 *
 * Adds mark the pieces that they change.  Many keys reach all pieces anyway, so after a number of
 * keys all pieces count as changed and marking ends.  Every other operation marks all pieces
 * (dj_filter_begin_writing), and so does a kind without `mark`. */
#ifndef DJ_PIECES_H
#define DJ_PIECES_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dj_part;

#define DJ_PIECE_SHIFT 16 /* a piece has 64 KiB, the last piece of a body perhaps fewer */
#define DJ_PIECE_LEN   (UINT64_C(1) << DJ_PIECE_SHIFT)
#define DJ_ENTRY_LEN   16u

/* The pieces of one body. */
struct dj_pieces {
    uint8_t *entry;           /* the first entry of the body */
    uint64_t n;               /* number of pieces */
    _Atomic uint8_t *changed; /* for each piece: its entry is out of date */
    _Atomic uint64_t left;    /* about how many more keys to mark ... */
    atomic_bool many;         /* ... until all entries of the body are out of date */
    const atomic_bool *all;   /* the entries of all bodies are out of date */
};

static inline uint64_t dj_pieces_in(uint64_t body_len)
{
    return (body_len + DJ_PIECE_LEN - 1) >> DJ_PIECE_SHIFT;
}

/* Fills the entry of a piece. */
void dj_piece_describe(const uint8_t *piece, uint64_t len, uint8_t entry[DJ_ENTRY_LEN]);
/* The place of piece i in a body, and its length. */
const uint8_t *dj_piece_at(const uint8_t *body, uint64_t body_len, uint64_t i, uint64_t *len);
/* Whether all entries of a body are out of date, and whether the entry of piece i is. */
static inline bool dj_pieces_all_changed(const struct dj_pieces *s)
{
    return atomic_load_explicit(s->all, memory_order_relaxed) ||
           atomic_load_explicit(&s->many, memory_order_relaxed);
}
static inline bool dj_piece_changed(const struct dj_pieces *s, uint64_t i)
{
    return dj_pieces_all_changed(s) || atomic_load_explicit(&s->changed[i], memory_order_relaxed);
}

/* Declares all entries of a body up to date. */
void dj_pieces_reset(struct dj_pieces *s);
/* Marks the piece of the byte at this offset of the body. */
static inline void dj_pieces_mark(const struct dj_pieces *s, uint64_t at)
{
    atomic_store_explicit(&s->changed[at >> DJ_PIECE_SHIFT], 1, memory_order_relaxed);
}
/* The set bits of a body. */
uint64_t dj_pieces_bits(const struct dj_part *p);
/* Marks the pieces that n adds with these answers changed. */
void dj_pieces_added(const struct dj_part *p, const uint64_t *hash, const uint8_t *is_new,
                     size_t n);

#endif
