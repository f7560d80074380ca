/* punycode.h - labels of other scripts in ASCII (RFC 3492), without the prefix xn--. */
#ifndef DJ_PUNYCODE_H
#define DJ_PUNYCODE_H
#include "core/url/text.h"

/* Code points that are encoded or decoded at once; the time grows with the square. */
#define DJ_PUNYCODE_MAX 1024u

/* Writes the form of up to DJ_PUNYCODE_MAX code points; too little room is out->short_of_room. */
void dj_punycode_write(struct dj_text *out, const uint32_t *c, size_t n);

/* Reads such a form in lower case into c, which has room for cap; how many code points there are,
 * or SIZE_MAX if it is not well formed or does not fit. */
size_t dj_punycode_read(deja_slice ascii, uint32_t *c, size_t cap);

#endif
