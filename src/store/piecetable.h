/* piecetable.h - the table after the bodies of a large file: a checksum and a count for each piece.
 *
 * The sync record of a file with a table has the checksum of the table instead of the checksum of
 * the bodies.  So a sync reads only the pieces that have changed (kinds/pieces.h) and the table,
 * which is 4096 times smaller than the bodies. */
#ifndef DJ_PIECETABLE_H
#define DJ_PIECETABLE_H
#include "store/format.h"

/* The table of a file that is open for writing. */
struct dj_table {
    uint8_t *at;  /* in the mapping */
    uint64_t len; /* 0: the file has none */
    struct dj_pieces part[DJ_MAX_PARTS];
    _Atomic uint8_t *changed; /* the marks of all pieces; NULL: out of memory */
    uint64_t n;               /* how many */
    atomic_bool all;          /* no entry is known to be up to date */
};

/* Gives the parts of a filter their pieces in a new mapping; no entry counts as up to date. */
void dj_table_attach(struct dj_table *t, deja_filter *f, const struct dj_header *h, uint8_t *map);
void dj_table_free(struct dj_table *t, const deja_allocator *alloc);
/* Computes the entries that are out of date, and returns the checksum of the table. */
uint64_t dj_table_update(const struct dj_table *t, const deja_filter *f);
/* The table is as a sealed record says: all entries are up to date. */
void dj_table_is_current(struct dj_table *t, uint32_t n_parts);
/* The same after opening a sealed file with this checksum, if the table matches it. */
void dj_table_trust(struct dj_table *t, uint32_t n_parts, uint64_t checksum);

/* Compares bodies with their table, whose checksum is in a sealed record.  body[i] and `table`
 * point to the bytes of part i and of the table.  Writes a sentence about the damage. */
int dj_table_verify(const struct dj_header *h, const uint8_t *const body[DJ_MAX_PARTS],
                    const uint8_t *table, uint64_t checksum, deja_error *err);

#endif
