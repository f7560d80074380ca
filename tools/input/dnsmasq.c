/* dnsmasq.c - the names in a line of dnsmasq's configuration; see namelist.h. */
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include "tools/input/namelist.h"

bool dnsmasq_next(struct blocklist *l, deja_slice *host)
{
    while (l->at < l->end) {
        const char *slash = memchr(l->at, '/', (size_t)(l->end - l->at));
        const char *stop = slash ? slash : l->end;
        const deja_slice name = ascii_between(l->at, stop);
        l->at = slash ? slash + 1 : l->end;
        if (blocklist_name(name, host) == BLOCKLIST_KEYS)
            return true;
    }
    return false;
}

/* Classifies the names between slashes, which start at `at` and end before `end`. */
static enum blocklist_line look(struct blocklist *l, const char *at, const char *end)
{
    bool keys = false, skipped = false;
    l->at = at;
    l->end = end;
    for (const char *stop; at <= end; at = stop + 1) {
        stop = at < end ? memchr(at, '/', (size_t)(end - at)) : NULL;
        stop = stop ? stop : end;
        deja_slice host;
        const deja_slice name = ascii_between(at, stop);
        const enum blocklist_line is = blocklist_name(name, &host);
        const bool any = name.len == 0 || (name.len == 1 && *at == '#');
        if (is == BLOCKLIST_SKIPPED || any) /* "#" is any name, "" is any name without a dot */
            blocklist_skip(l, BLOCKLIST_PATTERN);
        else if (is == BLOCKLIST_STRANGE)
            blocklist_skip(l, BLOCKLIST_OTHER);
        keys = keys || is == BLOCKLIST_KEYS;
        skipped = skipped || is == BLOCKLIST_SKIPPED || is == BLOCKLIST_STRANGE;
    }
    return keys ? BLOCKLIST_KEYS : skipped ? BLOCKLIST_SKIPPED : BLOCKLIST_NOTHING;
}

/* The value of a setting, without blanks around it and without a comment. */
static deja_slice value_of(const char *at, const char *end)
{
    for (const char *c = at; c < end; c++)
        if (*c == '#' && c > at && scan_is_blank(c[-1]))
            end = c;
    return ascii_trim(ascii_between(at, end));
}

enum blocklist_line dnsmasq_begin(struct blocklist *l, deja_slice line)
{
    line = ascii_trim(line);
    const char *at = line.data, *const end = at + line.len;
    if (line.len == 0 || *at == '#')
        return BLOCKLIST_NOTHING;
    const char *equals = memchr(at, '=', line.len);
    if (!equals)
        return BLOCKLIST_STRANGE;
    const deja_slice name = ascii_trim(ascii_between(at, equals));
    const bool address = ascii_is(name, "address");
    if (!address && !ascii_is(name, "server") && !ascii_is(name, "local"))
        return BLOCKLIST_STRANGE;
    const deja_slice value = value_of(equals + 1, end);
    const char *from = value.data, *stop = from + value.len;
    if (value.len < 2 || *from != '/')
        return blocklist_skip(l, BLOCKLIST_OTHER);
    const char *target = stop;
    while (target[-1] != '/')
        target--;
    if (target == from + 1)
        return BLOCKLIST_STRANGE; /* only one slash */
    if (!address && target < stop)
        return blocklist_skip(l, stop - target == 1 && *target == '#' ? BLOCKLIST_EXCEPTION
                                                                      : BLOCKLIST_OTHER);
    return look(l, from + 1, target - 1);
}
