/* spatial.h - one part, or F parts that must agree: the operations of plain kinds. */
#ifndef DJ_SPATIAL_H
#define DJ_SPATIAL_H
#include "kinds/account.h"

/* The hashes of a chunk for part i: the hashes themselves, a slice of each key's numbers, or
 * mixed with the part's salt in buf. */
const uint64_t *dj_spatial_view(const deja_filter *f, uint32_t i, const uint64_t *hash, size_t n,
                                uint64_t buf[DJ_CHUNK]);
void dj_spatial_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add);
size_t dj_spatial_add(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *is_new, bool shared);
void dj_spatial_contains(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *found);
void dj_spatial_account(const deja_filter *f, deja_stats *s, const struct dj_part *p,
                        struct dj_account *a, uint32_t i);
void dj_spatial_stats(const deja_filter *f, deja_stats *s);

#endif
