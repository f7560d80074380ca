/* unbound.c - the name in a line of unbound's configuration; see namelist.h. */
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include "tools/input/namelist.h"

/* The next word, or the text between quotes. */
static bool take(const char **at, const char *end, deja_slice *word)
{
    while (*at < end && scan_is_blank(**at))
        (*at)++;
    if (*at == end || (**at != '"' && **at != '\''))
        return scan_word(at, end, word);
    const char *from = *at + 1;
    const char *quote = from < end ? memchr(from, **at, (size_t)(end - from)) : NULL;
    if (!quote)
        return false;
    *word = ascii_between(from, quote);
    *at = quote + 1;
    return true;
}

static enum blocklist_line take_name(struct blocklist *l, deja_slice name)
{
    deja_slice host;
    const enum blocklist_line is = blocklist_name(name, &host);
    if (is == BLOCKLIST_SKIPPED)
        return blocklist_skip(l, BLOCKLIST_PATTERN);
    return is == BLOCKLIST_KEYS ? blocklist_one(l, host) : is;
}

static enum blocklist_line zone(struct blocklist *l, const char *at, const char *end)
{
    static const char *const blocking[] = {"deny",          "refuse",          "static",
                                           "redirect",      "always_nxdomain", "always_refuse",
                                           "always_nodata", "always_null",     "always_deny",
                                           "inform_deny",   "inform_redirect"};
    static const char *const letting[] = {"transparent", "typetransparent", "always_transparent",
                                          "inform", "nodefault"};
    deja_slice name, type;
    if (!take(&at, end, &name) || !take(&at, end, &type))
        return BLOCKLIST_STRANGE;
    for (size_t i = 0; i < sizeof blocking / sizeof *blocking; i++)
        if (ascii_is(type, blocking[i]))
            return take_name(l, name);
    for (size_t i = 0; i < sizeof letting / sizeof *letting; i++)
        if (ascii_is(type, letting[i]))
            return blocklist_skip(l, BLOCKLIST_EXCEPTION);
    return BLOCKLIST_STRANGE;
}

static enum blocklist_line data(struct blocklist *l, const char *at, const char *end)
{
    deja_slice record, name, type;
    if (!take(&at, end, &record))
        return BLOCKLIST_STRANGE;
    const char *from = record.data, *const stop = from + record.len;
    if (!scan_word(&from, stop, &name) || !namelist_type(&from, stop, &type))
        return BLOCKLIST_STRANGE;
    return namelist_redirects(type) ? take_name(l, name) : blocklist_skip(l, BLOCKLIST_OTHER);
}

enum blocklist_line unbound_begin(struct blocklist *l, deja_slice line)
{
    deja_slice first;
    const char *at = line.data, *const end = at + line.len;
    if (!scan_word(&at, end, &first) || *(const char *)first.data == '#' ||
        ascii_is(first, "server:"))
        return BLOCKLIST_NOTHING;
    if (ascii_is(first, "local-zone:"))
        return zone(l, at, end);
    if (ascii_is(first, "local-data:"))
        return data(l, at, end);
    return ascii_is(first, "local-data-ptr:") ? blocklist_skip(l, BLOCKLIST_OTHER)
                                              : BLOCKLIST_STRANGE;
}
