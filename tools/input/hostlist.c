/* hostlist.c - the hosts in a line of a block list; see hostlist.h.
 *
 * A rule that means less than the whole host is not a host: a path, an exception (@@), a condition
 * ($third-party) or a part of a page (host##.banner).  Blocking the host would block too much. */
#include "tools/input/hostlist.h"
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include <string.h>
#include <strings.h>

/* 1.2.3.4, or hexadecimal digits with colons and an optional %interface. */
static bool is_address(deja_slice word)
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

static bool is_host(deja_slice word)
{
    const char *at = word.data;
    bool more_than_dots = false;
    for (size_t i = 0; i < word.len; i++) {
        if (!in_host(at[i]))
            return is_address(word);
        more_than_dots = more_than_dots || at[i] != '.';
    }
    return more_than_dots;
}

static bool is_own_name(deja_slice word)
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
    const char *at = word.data;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == word.len && strncasecmp(at, names[i], word.len) == 0)
            return true;
    return word.len > 4 && strncasecmp(at, "ip6-", 4) == 0;
}

static bool equals(const char *at, const char *end, const char *text)
{
    return (size_t)(end - at) == strlen(text) && scan_begins(at, end, text);
}

/* ||host^: sets h to the host, or to nothing. */
static void enter_rule(struct hostlist *h, deja_slice word)
{
    const char *at = (const char *)word.data + 2;
    const char *end = (const char *)word.data + word.len;
    const char *caret = at < end ? memchr(at, '^', (size_t)(end - at)) : NULL;
    h->at = h->end = at;
    if (caret && (caret + 1 == end || equals(caret + 1, end, "$important") ||
                  equals(caret + 1, end, "$all")))
        h->end = caret;
}

bool hostlist_next(struct hostlist *h, deja_slice *host)
{
    deja_slice word;
    while (scan_word(&h->at, h->end, &word)) {
        const char *at = word.data;
        if (*at == '#') {
            h->at = h->end;
            break;
        }
        const size_t skip = word.len > 2 && at[0] == '*' && at[1] == '.' ? 2 : at[0] == '.';
        *host = (deja_slice){at + skip, word.len - skip};
        if (is_host(*host) && !is_own_name(*host))
            return true;
    }
    return false;
}

/* Does the rest of the line contain a host, or at least one of the machine's own names? */
static enum hostlist_line look(struct hostlist h)
{
    deja_slice word;
    struct hostlist all = h;
    if (hostlist_next(&h, &word))
        return HOSTLIST_HOSTS;
    while (scan_word(&all.at, all.end, &word))
        if (is_own_name(word))
            return HOSTLIST_NOTHING;
    return HOSTLIST_STRANGE;
}

enum hostlist_line hostlist_begin(struct hostlist *h, deja_slice line)
{
    deja_slice first, second;
    *h = (struct hostlist){line.data, (const char *)line.data + line.len};
    const char *at = h->at;
    if (!scan_word(&at, h->end, &first))
        return HOSTLIST_NOTHING;
    const char *text = first.data;
    if (*text == '#' || *text == '!' || *text == '[')
        return HOSTLIST_NOTHING;
    const char *behind = at;
    const bool alone = !scan_word(&at, h->end, &second) || *(const char *)second.data == '#';
    if (scan_begins(text, text + first.len, "||") && alone)
        enter_rule(h, first);
    else if (is_address(first) && !alone)
        h->at = behind;
    else if (!alone)
        return HOSTLIST_STRANGE;
    return look(*h);
}
