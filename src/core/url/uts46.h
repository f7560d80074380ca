/* uts46.h - hosts in other scripts as browsers read them (UTS 46, the rare path). */
#ifndef DJ_UTS46_H
#define DJ_UTS46_H
#include "core/url/text.h"

/* Replaces what `out` has from `start` on, a host in UTF-8 without NUL, by its ASCII form, which
 * is the same if that is what it is already.
 * DEJA_ENOTURL: it has none.  DEJA_ENOTSUP: built without libidn2 and libunistring.  DEJA_ENOMEM.
 */
int dj_uts46_to_ascii(struct dj_text *out, size_t start);

#endif
