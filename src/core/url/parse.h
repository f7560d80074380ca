/* parse.h - split a URL into parts as the WHATWG URL standard does. */
#ifndef DJ_PARSE_H
#define DJ_PARSE_H
#include "deja.h"

#define DJ_NO_PORT (-1)

/* Unmodified slices of the parsed text; nothing is decoded, and only the port is checked.  Special
 * schemes are http, https, ftp, ws, wss: they always have a host, and treat `\` as `/`. */
struct dj_url {
    deja_slice scheme; /* without its colon */
    deja_slice username, password, host;
    deja_slice path; /* starting with its slash; or the text after mailto: */
    deja_slice query, fragment;
    int port; /* DJ_NO_PORT if it is missing or the scheme's default */
    bool special, has_host, has_query, has_fragment;
    bool opaque; /* mailto:someone, data:,text: the part after the colon has no structure */
};

/* The URL without surrounding controls and spaces, and without tabs and line ends inside: a slice
 * of url or, if it has tabs or line ends inside, a copy in `room`, which has url.len bytes. */
deja_slice dj_parse_clean(deja_slice url, char *room);

/* The length of the scheme at the start of `clean`, without its colon; 0 if it has none. */
size_t dj_parse_scheme(deja_slice clean);
bool dj_parse_is_special(deja_slice scheme);

/* Parse a whole URL: DEJA_OK, or DEJA_ENOTURL if it has no scheme, lacks the host that its scheme
 * requires, or has an invalid port.  Only host.c looks inside the host. */
int dj_parse_url(deja_slice clean, struct dj_url *u);
/* The same for the text after the slashes of an authority, and for the text after an authority;
 * u->scheme and u->special must be set. */
int dj_parse_authority(deja_slice rest, struct dj_url *u);
void dj_parse_tail(deja_slice rest, struct dj_url *u);

/* A slice of a slice. */
static inline deja_slice dj_slice_from(deja_slice s, size_t from)
{
    return (deja_slice){from ? (const char *)s.data + from : s.data, s.len - from};
}

static inline deja_slice dj_slice_upto(deja_slice s, size_t upto)
{
    return (deja_slice){s.data, upto};
}

#endif
