/* adblock.c - the host or URL in a network rule of an ad blocker; see adblock.h. */
#include "tools/input/adblock.h"
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include "tools/input/hostlist.h"

/* host##.banner, #@#, #?#, #$#, #%# and host$$script: a marker with a closing # or $. */
static bool is_cosmetic(const char *at, const char *end)
{
    for (const char *c = at; c + 1 < end; c++) {
        if (*c == '$' && (c[1] == '$' || (c[1] == '@' && c + 2 < end && c[2] == '$')))
            return true;
        if (*c != '#')
            continue;
        const char *mark = c + 1;
        while (mark < end && mark < c + 4 && strchr("@?$%", *mark) && *mark)
            mark++;
        if (mark < end && *mark == '#' && mark + 1 < end && !scan_is_blank(mark[1]) &&
            mark[1] != '#')
            return true;
    }
    return false;
}

/* The $ before the options, or `end`. */
static const char *find_options(const char *at, const char *end)
{
    for (const char *c = end - 1; c >= at; c--)
        if (*c == '$' && c + 1 < end && (ascii_is_alpha(c[1]) || c[1] == '~' || c[1] == '_'))
            return c;
    return end;
}

/* Returns why an option makes the rule unusable, -1 if it does not, or -2 if the option is
 * unknown. */
static int judge_option(deja_slice option)
{
    static const struct {
        const char *names; /* between blanks */
        int meaning;
    } table[] = {
        {" all document doc popup third-party 3p important match-case _ ", -1},
        {" script image stylesheet css object object-subrequest xmlhttprequest xhr subdocument "
         "frame ping beacon websocket webrtc media font other popunder inline-script inline-font "
         "genericblock first-party 1p strict1p strict3p domain from to denyallow method app "
         "client ctag dnstype ipaddress requestheader strict-first-party strict-third-party ",
         BLOCKLIST_LIMITED},
        {" badfilter ", BLOCKLIST_EXCEPTION},
        {" csp redirect redirect-rule rewrite removeparam queryprune removeheader replace cookie "
         "permissions header uritransform urltransform urlskip empty mp4 dnsrewrite hls jsonprune "
         "xmlprune stealth network elemhide ehide generichide ghide specifichide shide content "
         "extension jsinject urlblock ",
         BLOCKLIST_OTHER},
    };
    const char *name = option.data;
    const char *equals = option.len ? memchr(name, '=', option.len) : NULL;
    const bool negated = option.len > 0 && *name == '~';
    const size_t len = (equals ? (size_t)(equals - name) : option.len) - negated;
    char wanted[40] = " ";
    if (len == 0 || len + 3 > sizeof wanted)
        return -2;
    for (size_t i = 0; i < len; i++)
        wanted[i + 1] = ascii_lower(name[i + negated]);
    wanted[len + 1] = ' ';
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (memchr(wanted + 1, ' ', len + 2) == wanted + len + 1 && strstr(table[i].names, wanted))
            return negated && table[i].meaning < 0 ? BLOCKLIST_LIMITED : table[i].meaning;
    return -2;
}

/* Options are separated by commas.  The first option that makes the rule unusable gives the
 * reason, but an unknown option takes precedence. */
static int judge_options(const char *at, const char *end)
{
    int meaning = -1;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        const int is = judge_option(ascii_between(at, stop));
        if (is >= 0 && memchr(at, '=', (size_t)(stop - at)))
            return is; /* its value may contain commas */
        if (is == -2)
            return is;
        meaning = meaning < 0 ? is : meaning;
        at = stop + 1;
    }
    return meaning;
}

/* ||: a host, or a host and a path. */
static enum blocklist_line take_host(struct blocklist *l, deja_slice rule)
{
    const char *at = rule.data, *const end = at + rule.len;
    const char *slash = rule.len ? memchr(at, '/', rule.len) : NULL;
    const char *stop = slash ? slash : end;
    deja_slice host;
    const enum blocklist_line is = blocklist_name(ascii_between(at, stop), &host);
    if (is == BLOCKLIST_NOTHING)
        return is;
    const bool prefix = stop > at && stop[-1] == '.'; /* ||ads. is the start of many names */
    if (is != BLOCKLIST_KEYS || prefix || (slash && memchr(slash, '*', (size_t)(end - slash))) ||
        (slash && memchr(slash, '^', (size_t)(end - slash)))) {
        const bool port = stop > at && memchr(at, ':', (size_t)(stop - at));
        return blocklist_skip(l, port ? BLOCKLIST_LIMITED : BLOCKLIST_PATTERN);
    }
    return blocklist_one(l, ascii_between(host.data, end));
}

/* A URL from its scheme on. */
static enum blocklist_line take_url(struct blocklist *l, deja_slice rule)
{
    const char *at = rule.data, *const end = at + rule.len;
    const size_t scheme = scan_begins(at, end, "https://") ? 8 : 7;
    deja_slice host;
    const char *from = at + scheme;
    const char *slash = from < end ? memchr(from, '/', (size_t)(end - from)) : NULL;
    if (memchr(at, '*', rule.len) || memchr(at, '^', rule.len) ||
        blocklist_name(ascii_between(from, slash ? slash : end), &host) != BLOCKLIST_KEYS)
        return blocklist_skip(l, BLOCKLIST_PATTERN);
    return blocklist_one(l, rule);
}

static bool is_url(deja_slice s)
{
    const char *at = s.data, *const end = at + s.len;
    return scan_begins(at, end, "http://") || scan_begins(at, end, "https://");
}

/* A rule without options. */
static enum blocklist_line take_rule(struct blocklist *l, deja_slice rule)
{
    const char *at = rule.data, *end = at + rule.len;
    while (end > at && (end[-1] == '*' || end[-1] == '|')) /* anything may follow, or nothing */
        end--;
    if (end > at && end[-1] == '^')
        end--;
    const bool host = scan_begins(at, end, "||");
    const bool start = !host && at < end && *at == '|';
    const deja_slice text = ascii_between(at + (host ? 2 : start), end);
    if (host)
        return take_host(l, text);
    if (is_url(text))
        return take_url(l, text);
    const enum blocklist_line is = start ? BLOCKLIST_STRANGE : hostlist_begin(l, rule);
    return is == BLOCKLIST_STRANGE ? blocklist_skip(l, BLOCKLIST_PATTERN) : is;
}

/* A rule that starts like the line of a hosts file. */
static bool is_hosts_line(deja_slice line)
{
    const char *at = line.data, *const end = at + line.len;
    deja_slice address, host;
    return scan_word(&at, end, &address) && blocklist_is_address(address) &&
           scan_word(&at, end, &host);
}

bool adblock_next(struct blocklist *l, deja_slice *key)
{
    return l->alone ? blocklist_next(l, key) : hostlist_next(l, key);
}

enum blocklist_line adblock_begin(struct blocklist *l, deja_slice line)
{
    line = ascii_trim(line);
    l->alone = false;
    const char *at = line.data, *const end = at + line.len;
    if (scan_begins(at, end, "!#include"))
        return blocklist_skip(l, BLOCKLIST_OTHER);
    if (line.len == 0 || *at == '!' || (*at == '[' && !scan_begins(at, end, "[$")))
        return BLOCKLIST_NOTHING;
    if (scan_begins(at, end, "@@"))
        return blocklist_skip(l, BLOCKLIST_EXCEPTION);
    if (is_hosts_line(line))
        return hostlist_begin(l, line);
    if (is_cosmetic(at, end))
        return blocklist_skip(l, BLOCKLIST_COSMETIC);
    if (*at == '#')
        return BLOCKLIST_NOTHING;
    if (*at == '[')
        return blocklist_skip(l, BLOCKLIST_LIMITED);
    const char *dollar = find_options(at, end);
    const int meaning = judge_options(dollar + (dollar < end), end);
    if (meaning == -2)
        return BLOCKLIST_STRANGE;
    if (meaning >= 0)
        return blocklist_skip(l, (enum blocklist_reason)meaning);
    return take_rule(l, ascii_between(at, dollar));
}
