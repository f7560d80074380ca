/* idna2003.h - converts names to ASCII by IDNA 2003 (RFC 3490 ToASCII, AllowUnassigned). */
#ifndef DJ_IDNA2003_H
#define DJ_IDNA2003_H
#include "core/url/text.h"

/* Write the ASCII form of `name`, well-formed UTF-8 with some non-ASCII characters, label by
 * label; ASCII labels stay unchanged.  A trailing dot is allowed.  DEJA_ENOTURL: a label is empty,
 * too long or rejected, and `out` holds some of the others.  DEJA_ENOTSUP: built without
 * libidn2. */
int dj_idna2003_write(struct dj_text *out, deja_slice name);

#endif
