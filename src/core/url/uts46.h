/* uts46.h - non-ASCII hosts as browsers handle them (UTS 46, a rare path). */
#ifndef DJ_UTS46_H
#define DJ_UTS46_H
#include "core/url/text.h"

/* Replace the text of `out` from `start`, a host in UTF-8 without NUL, with its ASCII form, which
 * may be the same text.  DEJA_ENOTURL: it has none.  DEJA_ENOTSUP: built without libidn2 and
 * libunistring.  DEJA_ENOMEM. */
int dj_uts46_to_ascii(struct dj_text *out, size_t start);

#endif
