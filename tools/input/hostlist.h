/* hostlist.h - the hosts in a line of a block list.
 *
 *     0.0.0.0 host [host]...     an address and names, as in /etc/hosts
 *     host                       one a line; *.host and .host count as host
 *     ||host^                    as ad blockers write it, also with $important or $all behind
 *
 * A word that begins with # ends the line; a line that begins with # or ! is a comment, one that
 * begins with [ the title of a list.  The names that every machine has for itself are no hosts to
 * block: localhost, broadcasthost, ip6-localnet and the like. */
#ifndef TOOLS_INPUT_HOSTLIST_H
#define TOOLS_INPUT_HOSTLIST_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>

enum hostlist_line {
    HOSTLIST_NOTHING, /* a comment, blank, or names of the machine itself */
    HOSTLIST_HOSTS,   /* at least one host */
    HOSTLIST_STRANGE  /* no host, but not nothing: another kind of rule, a URL, prose */
};

/* What a line is, and its hosts: each call of hostlist_next gives one, as it is spelled there. */
struct hostlist {
    const char *at, *end;
};
enum hostlist_line hostlist_begin(struct hostlist *h, deja_slice line);
bool hostlist_next(struct hostlist *h, deja_slice *host);

#endif
