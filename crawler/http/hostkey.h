/* hostkey.h - gives a host one name, however its URLs spell it. */
#ifndef CRAWLER_HTTP_HOSTKEY_H
#define CRAWLER_HTTP_HOSTKEY_H
#include "tools/base/buffer.h"

/* Removes credentials and the final dot of the host name from a canonical URL:
 * http://u:p@example.org./ becomes http://example.org/.  *clean is url itself or bytes in room;
 * url may lie in room.  Fails with DEJA_ENOTURL if the URL has no host, or with DEJA_ENOMEM. */
int hostkey_clean(deja_slice url, struct buffer *room, deja_slice *clean);
/* The form of a link that a crawl uses: canonical, and cleaned as above.  The result is in room.
 * Fails as deja_url_canon does. */
int hostkey_canon(const deja_url_rules *rules, deja_slice url, struct buffer *room,
                  deja_slice *canon);
bool hostkey_has_credentials(deja_slice url);

/* Appends the name that delays and limits are counted by: the host in lower case, without its
 * port. Addresses have one spelling: 0x7f.1 and [::ffff:127.0.0.1] are 127.0.0.1.  Fails with
 * DEJA_ENOTURL or DEJA_ENOMEM. */
int hostkey_name(deja_slice url, struct buffer *out);
/* The same with the port, including a default port: example.org:80. */
int hostkey_name_and_port(deja_slice url, struct buffer *out);
/* Whether both URLs have the same host and port.  The default ports of http and https count as
 * one. */
bool hostkey_same(deja_slice a, deja_slice b);

#endif
