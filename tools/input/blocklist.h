/* blocklist.h - what the formats of block lists share: the result of reading a line, and names.
 *
 * A line of a block list has any number of keys: hosts or, in adblock rules, URLs.  The formats are
 * hosts (hostlist.h) and those of namelist.h and adblock.h.
 *
 * A rule that a filter cannot express is skipped on purpose, and counted by reason:
 *
 *   cosmetic    hides a part of a page (##.banner)
 *   exception   allows instead of blocking (@@, rpz-passthru, transparent)
 *   limited     blocks only in some contexts ($domain=, $script)
 *   pattern     a wildcard inside a name, a regular expression, a piece of a URL
 *   other       does something else ($csp, rpz-ip, a server to forward to)
 *
 * A line that the format does not define is strange: it is keyless, like such a line elsewhere. */
#ifndef TOOLS_INPUT_BLOCKLIST_H
#define TOOLS_INPUT_BLOCKLIST_H
#include "deja.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum blocklist_line {
    BLOCKLIST_NOTHING, /* a comment, blank, or the machine's own names */
    BLOCKLIST_KEYS,    /* at least one key */
    BLOCKLIST_SKIPPED, /* no key, but a rule that is skipped on purpose */
    BLOCKLIST_STRANGE  /* no key, but other content: a URL, prose */
};

enum blocklist_reason {
    BLOCKLIST_COSMETIC,
    BLOCKLIST_EXCEPTION,
    BLOCKLIST_LIMITED,
    BLOCKLIST_PATTERN,
    BLOCKLIST_OTHER,
    BLOCKLIST_REASONS
};
/* For reports: "cosmetic", "exception", "limited by options", "pattern", "other". */
const char *blocklist_reason_name(enum blocklist_reason reason);

/* The name of an RPZ zone; its owner names end with it. */
struct blocklist_zone {
    bool known;
    bool elsewhere; /* $ORIGIN has changed, so relative names do not belong to the zone itself */
    enum {
        BLOCKLIST_OWNER_NONE,
        BLOCKLIST_OWNER_APEX,
        BLOCKLIST_OWNER_KEY
    } owner;        /* of the last record; a record that starts with a blank has the same owner */
    unsigned depth; /* of parentheses */
    size_t len;
    char name[256]; /* without the final dot */
};

/* Reads the lines of one file; start with {0}.  The `begin` of a format says what a line is and
 * adds to `skipped`; each `next` then returns one key as spelled. */
struct blocklist {
    const char *at, *end;
    bool alone; /* the text is one key */
    uint64_t skipped[BLOCKLIST_REASONS];
    struct blocklist_zone zone;
};

/* For `begin`: report that the line has this one key, or that it is skipped. */
enum blocklist_line blocklist_one(struct blocklist *l, deja_slice key);
enum blocklist_line blocklist_skip(struct blocklist *l, enum blocklist_reason reason);
/* The `next` of formats with one key per line. */
bool blocklist_next(struct blocklist *l, deja_slice *key);

/* 1.2.3.4, or hexadecimal digits with colons and an optional %interface. */
bool blocklist_is_address(deja_slice word);
/* Letters, digits, '-', '.', '_' and bytes above 0x7f, but not only dots; or an address. */
bool blocklist_is_host(deja_slice word);
/* localhost, broadcasthost, ip6-localnet, 127.0.0.1 and others: not hosts to block. */
bool blocklist_is_own_name(deja_slice word);
/* Is a DNS name, with or without a leading "*." or "." and a final dot, a host?  Then *host is the
 * rest.  BLOCKLIST_SKIPPED: it has a wildcard elsewhere.  Counts nothing. */
enum blocklist_line blocklist_name(deja_slice name, deja_slice *host);

#endif
