/* waiting.c - how a URL that waits in a sieve is stored.
 *
 * An entry of a spool has a token of 64 bits and a record.  The record is the canonical URL; the
 * token has the other fields, so there is nothing to parse:
 *
 *     bits 0 to 31    depth
 *     bits 32 to 47   hops
 *     bit 63          hidden
 *
 * The other bits are 0. */
#include "crawler/loop/waiting.h"
#include "crawler/loop/scope.h"
#include <string.h>

#define HOPS_MAX 1000u /* of --max-redirects */
#define URL_MAX  65536 /* of --max-url */
#define HIDDEN   (UINT64_C(1) << 63)

uint64_t waiting_token(const struct link *link)
{
    const uint64_t hops = link->hops < HOPS_MAX ? link->hops : HOPS_MAX;
    return link->depth | hops << 32 | (link->hidden ? HIDDEN : 0);
}

bool waiting_read(uint64_t token, deja_slice record, struct link *link)
{
    const uint64_t hops = (token & ~HIDDEN) >> 32;
    if (hops > HOPS_MAX || record.len == 0 || record.len > URL_MAX ||
        memchr(record.data, '\0', record.len) || !scope_is_web(record))
        return false;
    *link = (struct link){
        .url = record, .depth = (uint32_t)token, .hops = (uint32_t)hops, .hidden = token & HIDDEN};
    return true;
}
