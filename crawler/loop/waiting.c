/* waiting.c - how a URL that waits in a sieve is stored.
 *
 * An entry of a spool has a token of 64 bits and a record.  The record is the canonical URL; if a
 * page links to it, a NUL and the number of the page's row follow (64 bits, little-endian).  The
 * token has the other fields:
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
#define TAIL     9     /* a NUL and a number */
#define HIDDEN   (UINT64_C(1) << 63)

uint64_t waiting_token(const struct link *link)
{
    const uint64_t hops = link->hops < HOPS_MAX ? link->hops : HOPS_MAX;
    return link->depth | hops << 32 | (link->hidden ? HIDDEN : 0);
}

bool waiting_record(const struct link *link, struct buffer *record)
{
    char tail[TAIL] = "";
    const uint64_t parent = (uint64_t)link->parent;
    for (size_t i = 0; i < 8; i++)
        tail[1 + i] = (char)(parent >> 8 * i & 255);
    return buffer_add(record, link->url.data, link->url.len) &&
           (parent == 0 || buffer_add(record, tail, sizeof tail));
}

/* Cuts the tail off the record; false if no crawler could have stored it. */
static bool cut_tail(deja_slice *record, int64_t *parent)
{
    const unsigned char *nul = record->len ? memchr(record->data, '\0', record->len) : NULL;
    uint64_t number = 0;
    *parent = 0;
    if (!nul)
        return true;
    const size_t at = (size_t)(nul - (const unsigned char *)record->data);
    if (record->len - at != TAIL)
        return false;
    for (size_t i = 8; i > 0; i--)
        number = number << 8 | nul[i];
    record->len = at;
    *parent = (int64_t)number;
    return *parent > 0;
}

bool waiting_read(uint64_t token, deja_slice record, struct link *link)
{
    const uint64_t hops = (token & ~HIDDEN) >> 32;
    int64_t parent;
    if (hops > HOPS_MAX || !cut_tail(&record, &parent) || record.len == 0 ||
        record.len > URL_MAX || !scope_is_web(record))
        return false;
    *link = (struct link){.url = record,
                          .depth = (uint32_t)token,
                          .hops = (uint32_t)hops,
                          .hidden = token & HIDDEN,
                          .parent = parent};
    return true;
}
