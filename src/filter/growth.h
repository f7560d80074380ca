/* growth.h - makes room for more keys, within limits. */
#ifndef DJ_GROWTH_H
#define DJ_GROWTH_H
#include "kinds/kind.h"

/* Adds the next parts or begins the next generation, unless the filter already has more than
 * `parts` parts.  row: the key that did not fit, or NULL.  Returns DEJA_EFULL if the filter cannot
 * grow. */
int dj_filter_make_room(deja_filter *f, uint32_t parts, const uint64_t *row);
/* Waits for the adds of other threads.  If there is no room then, makes some as above. */
int dj_filter_ensure_room(deja_filter *f);
/* Whether the next visit's filter may take this many bytes if the caller gives no size. */
bool dj_renewal_fits(const deja_filter *f, uint64_t bytes);

#endif
