/* percent.h - percent-encoding: which bytes must be %XX, and the canonical spelling. */
#ifndef DJ_PERCENT_H
#define DJ_PERCENT_H
#include "core/url/text.h"

/* The bytes that each part of a URL must encode: controls and everything from 0x7F up in all of
 * them, and in addition: */
enum dj_percent_set {
    DJ_SET_OPAQUE = 1,        /* space                           hosts, mailto:..., data:... */
    DJ_SET_FRAGMENT = 2,      /* space " < > ` */
    DJ_SET_QUERY = 4,         /* space " < > #                   for non-special schemes */
    DJ_SET_SPECIAL_QUERY = 8, /* and '                           for http, https, ... */
    DJ_SET_PATH = 16,         /* query and ? ^ ` { } */
    DJ_SET_USERINFO = 32,     /* path and / : ; = @ [ \ ] | */
};

/* Append bytes to `out`. dj_percent_encode writes the bytes of the set as %XX and changes nothing
 * else, like the WHATWG parser. dj_percent_normal also makes every existing %XX canonical: hex
 * digits in upper case, and letters, digits and - . _ ~ decoded. */
typedef void dj_percent_writer(struct dj_text *out, deja_slice bytes, unsigned set);
dj_percent_writer dj_percent_encode;
dj_percent_writer dj_percent_normal;

/* The value of the triplet %XX at s[at], or -1. */
int dj_percent_triplet(const char *s, size_t len, size_t at);

#endif
