/* rpz.c - the name in a line of a response policy zone; see namelist.h.
 *
 * A zone file has state: the zone's name, parentheses that continue a record on the next line, and
 * the owner of the last record, which records that start with a blank share. */
#include "tools/base/ascii.h"
#include "tools/base/scan.h"
#include "tools/input/namelist.h"
#include <strings.h>

bool namelist_type(const char **at, const char *end, deja_slice *type)
{
    while (scan_word(at, end, type))
        if (!ascii_is_digit(*(const char *)type->data) && !ascii_is(*type, "in") &&
            !ascii_is(*type, "ch") && !ascii_is(*type, "hs"))
            return true;
    return false;
}

bool namelist_redirects(deja_slice type)
{
    return ascii_is(type, "a") || ascii_is(type, "aaaa") || ascii_is(type, "cname");
}

/* The line up to a comment.  Follows the parentheses. */
static deja_slice without_comment(struct blocklist_zone *z, deja_slice line)
{
    const char *at = line.data;
    bool quoted = false;
    for (size_t i = 0; i < line.len; i++) {
        quoted ^= at[i] == '"';
        if (quoted)
            continue;
        if (at[i] == ';')
            return (deja_slice){at, i};
        z->depth += at[i] == '(';
        z->depth -= at[i] == ')' && z->depth > 0;
    }
    return line;
}

static bool ends_with(deja_slice s, const char *tail, size_t len)
{
    return s.len >= len && strncasecmp((const char *)s.data + s.len - len, tail, len) == 0;
}

/* name ends with a dot. */
static void set_zone(struct blocklist_zone *z, deja_slice name)
{
    z->known = name.len <= sizeof z->name;
    z->len = z->known ? name.len - 1 : 0;
    memcpy(z->name, name.data, z->len);
}

static bool is_absolute(deja_slice name)
{
    return name.len > 0 && ((const char *)name.data)[name.len - 1] == '.';
}

static enum blocklist_line directive(struct blocklist *l, const char *at, const char *end)
{
    struct blocklist_zone *z = &l->zone;
    deja_slice word, name;
    (void)scan_word(&at, end, &word);
    if (ascii_is(word, "$ttl"))
        return BLOCKLIST_NOTHING;
    if (ascii_is(word, "$generate"))
        return blocklist_skip(l, BLOCKLIST_PATTERN);
    if (!ascii_is(word, "$origin") || !scan_word(&at, end, &name) || !is_absolute(name))
        return BLOCKLIST_STRANGE;
    if (!z->known)
        set_zone(z, name);
    z->elsewhere = name.len - 1 != z->len || strncasecmp(name.data, z->name, z->len) != 0;
    z->owner = BLOCKLIST_OWNER_NONE;
    return BLOCKLIST_NOTHING;
}

/* The owner's name without that of the zone; empty for the zone itself.  False: the name is not
 * known to belong to the zone. */
static bool in_zone(const struct blocklist_zone *z, deja_slice *owner)
{
    if (ascii_is(*owner, "@"))
        owner->len = 0;
    if (!is_absolute(*owner))
        return !z->elsewhere;
    owner->len--;
    if (!z->known || !ends_with(*owner, z->name, z->len))
        return false;
    owner->len -= z->len;
    if (owner->len == 0)
        return true;
    owner->len--;
    return ((const char *)owner->data)[owner->len] == '.';
}

static bool is_other_trigger(deja_slice owner)
{
    static const char *const triggers[] = {".rpz-ip", ".rpz-nsdname", ".rpz-nsip",
                                           ".rpz-client-ip"};
    for (size_t i = 0; i < sizeof triggers / sizeof *triggers; i++)
        if (ends_with(owner, triggers[i], strlen(triggers[i])))
            return true;
    return false;
}

/* Old zones write an exception as an alias of itself. */
static bool is_itself(deja_slice target, deja_slice owner)
{
    return owner.len > 0 && target.len == owner.len + 1 && is_absolute(target) &&
           strncasecmp(target.data, owner.data, owner.len) == 0;
}

static enum blocklist_line policy(struct blocklist *l, deja_slice owner, deja_slice type,
                                  deja_slice target)
{
    deja_slice host;
    if (ascii_is(type, "cname") && (ascii_is(target, "rpz-passthru.") || is_itself(target, owner)))
        return blocklist_skip(l, BLOCKLIST_EXCEPTION);
    if (is_other_trigger(owner) || ascii_is(target, "rpz-tcp-only.") || !namelist_redirects(type))
        return blocklist_skip(l, BLOCKLIST_OTHER);
    const enum blocklist_line is = blocklist_name(owner, &host);
    if (is == BLOCKLIST_SKIPPED)
        return blocklist_skip(l, BLOCKLIST_PATTERN);
    return is == BLOCKLIST_KEYS ? blocklist_one(l, host) : is;
}

/* A record with the same owner as the previous one adds nothing if that owner is already a key. */
static enum blocklist_line again(const struct blocklist_zone *z)
{
    return z->owner == BLOCKLIST_OWNER_NONE ? BLOCKLIST_STRANGE : BLOCKLIST_NOTHING;
}

enum blocklist_line rpz_begin(struct blocklist *l, deja_slice line)
{
    struct blocklist_zone *z = &l->zone;
    const bool continues = z->depth > 0;
    line = without_comment(z, line);
    deja_slice owner, type, target = {"", 0};
    const char *at = line.data, *const end = at + line.len;
    const bool same_owner = line.len > 0 && scan_is_blank(*at);
    if (continues || ascii_trim(line).len == 0)
        return BLOCKLIST_NOTHING;
    if (*at == '$')
        return directive(l, at, end);
    if (same_owner)
        return again(z);
    (void)scan_word(&at, end, &owner);
    z->owner = BLOCKLIST_OWNER_NONE;
    if (!namelist_type(&at, end, &type))
        return BLOCKLIST_STRANGE;
    (void)scan_word(&at, end, &target);
    if (ascii_is(type, "soa") && is_absolute(owner))
        set_zone(z, owner);
    if (!in_zone(z, &owner))
        return BLOCKLIST_STRANGE;
    if (owner.len == 0 || ascii_is(type, "soa")) {
        z->owner = BLOCKLIST_OWNER_APEX;
        return BLOCKLIST_NOTHING;
    }
    const enum blocklist_line is = policy(l, owner, type, target);
    if (is == BLOCKLIST_KEYS)
        z->owner = BLOCKLIST_OWNER_KEY;
    return is;
}
