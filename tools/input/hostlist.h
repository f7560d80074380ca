/* hostlist.h - the hosts in a line of a block list.
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
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

enum hostlist_line {
    HOSTLIST_NOTHING, /* a comment, blank, or the machine's own names */
    HOSTLIST_HOSTS,   /* at least one host */
    HOSTLIST_STRANGE  /* no host, but other content: another kind of rule, a URL, prose */
};

/* hostlist_begin says what a line is; each hostlist_next then returns one host as spelled. */
struct hostlist {
    const char *at, *end;
};
enum hostlist_line hostlist_begin(struct hostlist *h, deja_slice line);
bool hostlist_next(struct hostlist *h, deja_slice *host);

#endif
