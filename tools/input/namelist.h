/* namelist.h - the names in a line of a DNS server's block list.
 *
 * dnsmasq   address=/a/b/0.0.0.0, with any address or none; server=/a/ and local=/a/.  With a
 *           server to forward to, the names are not blocked ("other"); # is an exception.
 * unbound   local-zone: "a." TYPE and local-data: "a. A 0.0.0.0" (also AAAA and CNAME)
 * rpz       a response policy zone: a CNAME . (also *., rpz-drop. and other targets), A, AAAA.
 *           rpz-passthru. is an exception.  Owner names lose the name of the zone, which is that of
 *           the SOA record or the first $ORIGIN.
 *
 * *.a and .a count as a; a final dot is not part of the key. */
#ifndef TOOLS_INPUT_NAMELIST_H
#define TOOLS_INPUT_NAMELIST_H
#include "tools/input/blocklist.h"

enum blocklist_line dnsmasq_begin(struct blocklist *l, deja_slice line);
bool dnsmasq_next(struct blocklist *l, deja_slice *host);
enum blocklist_line unbound_begin(struct blocklist *l, deja_slice line);
enum blocklist_line rpz_begin(struct blocklist *l, deja_slice line);

/* The type in the rest of a DNS record, after an optional TTL and class; *at moves past it. */
bool namelist_type(const char **at, const char *end, deja_slice *type);
/* A, AAAA or CNAME: the record gives a name another address. */
bool namelist_redirects(deja_slice type);

#endif
