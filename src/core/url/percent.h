/* percent.h - bytes that a URL spells %XX: which ones have to be, and which spelling is the one.
 */
#ifndef DJ_PERCENT_H
#define DJ_PERCENT_H
#include "core/url/text.h"

/* The bytes that each part of a URL has to encode: controls and everything from 0x7F on in all of
 * them, and beside these: */
enum dj_percent_set {
    DJ_SET_OPAQUE = 1,        /* space                           hosts, mailto:..., data:... */
    DJ_SET_FRAGMENT = 2,      /* space " < > `                                               */
    DJ_SET_QUERY = 4,         /* space " < > #                   of schemes not special      */
    DJ_SET_SPECIAL_QUERY = 8, /* and '                           of http, https, ...         */
    DJ_SET_PATH = 16,         /* query and ? ^ ` { }                                         */
    DJ_SET_USERINFO = 32,     /* path and / : ; = @ [ \ ] |                                  */
};

/* Write bytes behind what `out` has.  encode spells the bytes of the set as %XX and touches
 * nothing else: what the WHATWG parser does.  normal makes every %XX that was there canonical as
 * well: hex digits in upper case, and letters, digits and - . _ ~ as themselves. */
typedef void dj_percent_writer(struct dj_text *out, deja_slice bytes, unsigned set);
dj_percent_writer dj_percent_encode;
dj_percent_writer dj_percent_normal;

/* The value of the triplet %XX that begins at s[at]; -1 when there is none. */
int dj_percent_triplet(const char *s, size_t len, size_t at);

#endif
