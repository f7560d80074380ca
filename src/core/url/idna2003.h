/* idna2003.h - names in ASCII as IDNA 2003 has them (RFC 3490 ToASCII, AllowUnassigned). */
#ifndef DJ_IDNA2003_H
#define DJ_IDNA2003_H
#include "core/url/text.h"

/* Write the ASCII form of `name`, well-formed UTF-8 with some characters beyond ASCII, label by
 * label; labels in ASCII stay as they are.  A dot at the end is fine.  DEJA_ENOTURL: a label is
 * empty, too long or refused, and `out` has some of the others.  DEJA_ENOTSUP: this build lacks
 * libidn2. */
int dj_idna2003_write(struct dj_text *out, deja_slice name);

#endif
