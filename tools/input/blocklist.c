/* blocklist.c - what the formats of block lists share; see blocklist.h. */
#include "tools/input/blocklist.h"
#include "tools/base/ascii.h"
#include <string.h>
#include <strings.h>

const char *blocklist_reason_name(enum blocklist_reason reason)
{
    static const char *const names[] = {
        [BLOCKLIST_COSMETIC] = "cosmetic",
        [BLOCKLIST_EXCEPTION] = "exception",
        [BLOCKLIST_LIMITED] = "limited by options",
        [BLOCKLIST_PATTERN] = "pattern",
        [BLOCKLIST_OTHER] = "other",
    };
    return names[reason];
}

enum blocklist_line blocklist_one(struct blocklist *l, deja_slice key)
{
    l->at = key.data;
    l->end = l->at + key.len;
    l->alone = true;
    return BLOCKLIST_KEYS;
}

enum blocklist_line blocklist_skip(struct blocklist *l, enum blocklist_reason reason)
{
    l->skipped[reason]++;
    return BLOCKLIST_SKIPPED;
}

bool blocklist_next(struct blocklist *l, deja_slice *key)
{
    if (l->at == l->end)
        return false;
    *key = (deja_slice){l->at, (size_t)(l->end - l->at)};
    l->at = l->end;
    return true;
}

bool blocklist_is_address(deja_slice word)
{
    const char *at = word.data;
    const char *end = at + word.len;
    size_t dots = 0, colons = 0;
    bool decimal = true;
    for (; at < end && *at != '%'; at++) {
        dots += *at == '.';
        colons += *at == ':';
        decimal = decimal && (*at == '.' || ascii_is_digit(*at));
        if (*at != '.' && *at != ':' && ascii_hex(*at) < 0)
            return false;
    }
    return colons >= 2 || (decimal && dots == 3 && at == end);
}

static bool in_host(char c)
{
    return ascii_is_alpha(c) || ascii_is_digit(c) || c == '-' || c == '.' || c == '_' ||
           (unsigned char)c >= 0x80;
}

bool blocklist_is_host(deja_slice word)
{
    const char *at = word.data;
    bool more_than_dots = false;
    for (size_t i = 0; i < word.len; i++) {
        if (!in_host(at[i]))
            return blocklist_is_address(word);
        more_than_dots = more_than_dots || at[i] != '.';
    }
    return more_than_dots;
}

bool blocklist_is_own_name(deja_slice word)
{
    static const char *const names[] = {"localhost",
                                        "localhost.localdomain",
                                        "localhost4",
                                        "localhost6",
                                        "local",
                                        "loopback",
                                        "broadcasthost",
                                        "0.0.0.0",
                                        "127.0.0.1",
                                        "255.255.255.255",
                                        "::",
                                        "::1"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (ascii_is(word, names[i]))
            return true;
    return word.len > 4 && strncasecmp(word.data, "ip6-", 4) == 0;
}

enum blocklist_line blocklist_name(deja_slice name, deja_slice *host)
{
    const char *at = name.data;
    size_t len = name.len;
    if (len > 0 && at[len - 1] == '.')
        len--;
    const size_t front = len > 2 && at[0] == '*' && at[1] == '.' ? 2 : len > 1 && at[0] == '.';
    *host = (deja_slice){at + front, len - front};
    if (blocklist_is_own_name(*host))
        return BLOCKLIST_NOTHING;
    if (blocklist_is_host(*host))
        return BLOCKLIST_KEYS;
    return len > 0 && memchr(at, '*', len) ? BLOCKLIST_SKIPPED : BLOCKLIST_STRANGE;
}
