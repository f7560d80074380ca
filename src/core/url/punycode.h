/* punycode.h - encodes non-ASCII labels in ASCII (RFC 3492), without the prefix xn--. */
#ifndef DJ_PUNYCODE_H
#define DJ_PUNYCODE_H
#include "core/url/text.h"

/* The most code points encoded or decoded at once; the time grows with the square of their
 * number. */
#define DJ_PUNYCODE_MAX 1024u

/* Write the encoded form of up to DJ_PUNYCODE_MAX code points; sets out->short_of_room if it does
 * not fit. */
void dj_punycode_write(struct dj_text *out, const uint32_t *c, size_t n);

/* Decode such a form in lower case into c, which has room for cap; returns the number of code
 * points, or SIZE_MAX if the form is malformed or does not fit. */
size_t dj_punycode_read(deja_slice ascii, uint32_t *c, size_t cap);

#endif
