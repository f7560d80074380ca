/* hostlist.h - finds the hosts in a line of a block list.
 *
 *     0.0.0.0 host [host]...     an address and names, as in /etc/hosts
 *     host                       one per line; *.host and .host count as host
 *     ||host^                    as in ad blockers; $important or $all may follow
 *
 * A word that starts with # ends the line.  A line that starts with # or ! is a comment; one that
 * starts with [ is the title of a list.  A machine's own names are not hosts to block: localhost,
 * broadcasthost, ip6-localnet and others. */
#ifndef TOOLS_INPUT_HOSTLIST_H
#define TOOLS_INPUT_HOSTLIST_H
#include "tools/input/blocklist.h"

enum blocklist_line hostlist_begin(struct blocklist *h, deja_slice line);
bool hostlist_next(struct blocklist *h, deja_slice *host);

#endif
