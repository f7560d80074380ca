/* hostkey.h - the host of a URL, under one name for all its spellings. */
#ifndef CRAWLER_HOSTKEY_H
#define CRAWLER_HOSTKEY_H
#include "buffer.h"

/* A canonical URL without credentials and without the root's dot: http://u:p@example.org./ becomes
 * http://example.org/.  *clean is url itself, or bytes in room, which may hold url already.
 * DEJA_ENOTURL: there is no host.  DEJA_ENOMEM. */
int hostkey_clean(deja_slice url, struct buffer *room, deja_slice *clean);
bool hostkey_has_credentials(deja_slice url);

/* Adds the name under which pauses and limits are kept: the host in lower case, without port, and
 * addresses in one spelling, so that 0x7f.1 and [::ffff:127.0.0.1] are 127.0.0.1.
 * DEJA_ENOTURL, DEJA_ENOMEM. */
int hostkey_name(deja_slice url, struct buffer *out);
/* The same with the port, also one that goes without saying: example.org:80. */
int hostkey_name_and_port(deja_slice url, struct buffer *out);
/* One host and port; the usual ports of http and https count as one. */
bool hostkey_same(deja_slice a, deja_slice b);

#endif
