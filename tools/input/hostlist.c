/* hostlist.c - the hosts in a line of a block list; see hostlist.h.
 *
 * A rule that means less than the whole host is not a host: a path, an exception (@@), a condition
 * ($third-party) or a part of a page (host##.banner).  Blocking the host would block too much. */
#include "tools/input/hostlist.h"
#include "tools/base/scan.h"
#include <string.h>

static bool equals(const char *at, const char *end, const char *text)
{
    return (size_t)(end - at) == strlen(text) && scan_begins(at, end, text);
}

/* ||host^: sets h to the host, or to nothing. */
static void enter_rule(struct blocklist *h, deja_slice word)
{
    const char *at = (const char *)word.data + 2;
    const char *end = (const char *)word.data + word.len;
    const char *caret = at < end ? memchr(at, '^', (size_t)(end - at)) : NULL;
    h->at = h->end = at;
    if (caret && (caret + 1 == end || equals(caret + 1, end, "$important") ||
                  equals(caret + 1, end, "$all")))
        h->end = caret;
}

bool hostlist_next(struct blocklist *h, deja_slice *host)
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
        if (blocklist_is_host(*host) && !blocklist_is_own_name(*host))
            return true;
    }
    return false;
}

/* Does the rest of the line contain a host, or at least one of the machine's own names? */
static enum blocklist_line look(struct blocklist *h)
{
    const char *at = h->at;
    deja_slice word;
    const bool found = hostlist_next(h, &word);
    h->at = at;
    if (found)
        return BLOCKLIST_KEYS;
    while (scan_word(&at, h->end, &word))
        if (blocklist_is_own_name(word))
            return BLOCKLIST_NOTHING;
    return BLOCKLIST_STRANGE;
}

enum blocklist_line hostlist_begin(struct blocklist *h, deja_slice line)
{
    deja_slice first, second;
    h->at = line.data;
    h->end = h->at + line.len;
    const char *at = h->at;
    if (!scan_word(&at, h->end, &first))
        return BLOCKLIST_NOTHING;
    const char *text = first.data;
    if (*text == '#' || *text == '!' || *text == '[')
        return BLOCKLIST_NOTHING;
    const char *behind = at;
    const bool alone = !scan_word(&at, h->end, &second) || *(const char *)second.data == '#';
    if (scan_begins(text, text + first.len, "||") && alone)
        enter_rule(h, first);
    else if (blocklist_is_address(first) && !alone)
        h->at = behind;
    else if (!alone)
        return BLOCKLIST_STRANGE;
    return look(h);
}
