/* names.c - the names of scopes, orders and counts.  This file needs no library, because the help of the
 * command shows these names even in a build without the crawler. */
#include "crawler/loop/crawl.h"
#include "crawler/loop/scope.h"
#include "crawler/queue/order.h"

const char *scope_name(uint32_t kind)
{
    static const char *const names[] = {[SCOPE_HOST] = "host",
                                        [SCOPE_DOMAIN] = "domain",
                                        [SCOPE_PREFIX] = "prefix",
                                        [SCOPE_REGEX] = "regex",
                                        [SCOPE_ANY] = "any"};
    return kind < sizeof names / sizeof names[0] ? names[kind] : NULL;
}

const char *crawl_order_name(uint32_t order)
{
    static const char *const names[] = {[ORDER_BREADTH] = "breadth",
                                        [ORDER_DEPTH] = "depth",
                                        [ORDER_BACKLINKS] = "backlinks",
                                        [ORDER_OPIC] = "opic"};
    return order < sizeof names / sizeof names[0] ? names[order] : NULL;
}

const char *crawl_count_name(unsigned count)
{
    static const char *const names[CRAWL_COUNTS] = {
        [CRAWL_FETCHED] = "fetched",
        [CRAWL_UNCHANGED] = "unchanged",
        [CRAWL_REDIRECTS] = "redirects",
        [CRAWL_BYTES] = "bytes",
        [CRAWL_NANOSECONDS] = "nanoseconds",
        [CRAWL_NANOLOST] = "nanolost",
        [CRAWL_OFFERED] = "offered",
        [CRAWL_DUPLICATES] = "duplicates",
        [CRAWL_QUEUED] = "queued",
        [CRAWL_RECOVERED] = "recovered",
        [CRAWL_APPEARED] = "appeared",
        [CRAWL_ROBOTS] = "robots",
        [CRAWL_SCOPE] = "scope",
        [CRAWL_SCHEME] = "scheme",
        [CRAWL_BAD] = "bad",
        [CRAWL_NOFOLLOW] = "nofollow",
        [CRAWL_DEPTH] = "depth",
        [CRAWL_TRAPS] = "traps",
        [CRAWL_HOST_LIMIT] = "host limit",
        [CRAWL_UNREAD] = "unread",
        [CRAWL_TRUNCATED] = "truncated",
        [CRAWL_RETRIES] = "retries",
        [CRAWL_NOT_FOUND] = "not found",
        [CRAWL_FORBIDDEN] = "forbidden",
        [CRAWL_CLIENT_ERROR] = "client error",
        [CRAWL_SERVER_ERROR] = "server error",
        [CRAWL_NO_ADDRESS] = "no address",
        [CRAWL_NO_ANSWER] = "no answer",
        [CRAWL_NO_TLS] = "no secure connection",
        [CRAWL_TIMEOUT] = "timeout",
        [CRAWL_CUT_OFF] = "cut off",
        [CRAWL_NO_HTTP] = "no HTTP",
        [CRAWL_ROBOTS_REDIRECTS] = "robots redirects",
        [CRAWL_OTHER] = "other",
        [CRAWL_REDIRECT_LIMIT] = "too many redirects",
        [CRAWL_NO_ROBOTS] = "no robots.txt",
        [CRAWL_PRIVATE] = "private address",
        [CRAWL_LATE] = "late",
    };
    return count < CRAWL_COUNTS ? names[count] : "unknown";
}
