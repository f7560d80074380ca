/* parse.h - a URL taken apart, as the WHATWG URL standard takes it apart. */
#ifndef DJ_PARSE_H
#define DJ_PARSE_H
#include "deja.h"

#define DJ_NO_PORT (-1)

/* Slices of the text that was parsed, as they stand there; nothing is decoded or checked but the
 * port.  Special are http, https, ftp, ws, wss: they always have a host, and know `\` as `/`. */
struct dj_url {
    deja_slice scheme; /* without its colon */
    deja_slice username, password, host;
    deja_slice path; /* from its slash on; or what stands behind mailto: */
    deja_slice query, fragment;
    int port; /* DJ_NO_PORT when there is none, or it is the scheme's own */
    bool special, has_host, has_query, has_fragment;
    bool opaque; /* mailto:someone, data:,text: what follows the colon has no structure */
};

/* The bytes without the controls and spaces around them, and without tabs and line ends inside:
 * a slice of url, or when there are some inside a copy in `room`, which has url.len bytes. */
deja_slice dj_parse_clean(deja_slice url, char *room);

/* The length of the scheme that `clean` begins with, colon not included; 0 when it has none. */
size_t dj_parse_scheme(deja_slice clean);
bool dj_parse_is_special(deja_slice scheme);

/* Take a whole URL apart: DEJA_OK, or DEJA_ENOTURL when it has no scheme, or not the host that
 * its scheme asks for, or an impossible port.  The host is looked into by host.c only. */
int dj_parse_url(deja_slice clean, struct dj_url *u);
/* The same for what stands behind the slashes of an authority, and behind an authority;
 * u->scheme and u->special are set. */
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
