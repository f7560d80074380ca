/* growth.h - more room for keys, within bounds. */
#ifndef DJ_GROWTH_H
#define DJ_GROWTH_H
#include "kinds/kind.h"

/* The next parts or generation, unless the filter has more than `parts` already.  row: the key
 * that did not fit, or NULL.  DEJA_EFULL: there can be no more. */
int dj_filter_make_room(deja_filter *f, uint32_t parts, const uint64_t *row);
/* Whether the next visit may take this many bytes without being told a size. */
bool dj_renewal_fits(const deja_filter *f, uint64_t bytes);

#endif
