/* idna.h - non-ASCII host names (a rare path). */
#ifndef DJ_IDNA_H
#define DJ_IDNA_H
#include "core/url/text.h"

/* True if this build supports IDNA; part of the identity of a set of rules. */
bool dj_idna_here(void);

/* Replace the text of `out` from `start`, a host in UTF-8 without NUL, with its ASCII form.
 * DEJA_ENOTURL: it has none.  DEJA_ENOTSUP: built without libidn2.  DEJA_ENOMEM. */
int dj_idna_to_ascii(struct dj_text *out, size_t start);

#endif
