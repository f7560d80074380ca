/* rules.c - the built-in profiles, and custom rules with a different list of dropped parameters.
 *
 * The built-in profiles are constants.  Custom rules are one allocation: the rules, the set, its
 * names, and the bytes of the given names. */
#include "core/base/compiler.h"
#include "core/base/status.h"
#include "core/url/idna.h"
#include "core/url/params.h"
#include "core/url/percent.h"
#include <stdlib.h>

static const deja_url_rules safe_1 = {DEJA_URL_SAFE, DJ_URL_IDNA2008, NULL, NULL};
static const deja_url_rules crawl_1 = {DEJA_URL_CRAWL, DJ_URL_IDNA2008, &dj_params_tracking, NULL};

static const deja_url_rules builtin[] = {
    [DEJA_URL_SAFE] = {DEJA_URL_SAFE, DJ_URL_UTS46, NULL, &safe_1},
    [DEJA_URL_CRAWL] = {DEJA_URL_CRAWL, DJ_URL_UTS46, &dj_params_tracking, &crawl_1},
    [DEJA_URL_GSB] = {DEJA_URL_GSB, 1, NULL, NULL},
    [DEJA_URL_SCRAPY] = {DEJA_URL_SCRAPY, 1, NULL, NULL},
    [DEJA_URL_SHAPE] = {DEJA_URL_SHAPE, DJ_URL_UTS46, &dj_params_tracking, NULL},
};

const deja_url_rules *deja_url_profile(uint32_t profile)
{
    return profile && profile < DJ_ARRAY_LEN(builtin) ? &builtin[profile] : NULL;
}

const deja_url_rules *deja_url_rules_older(const deja_url_rules *rules)
{
    return rules->older;
}

/* --- Custom rules -------------------------------------------------------- */

struct own {
    deja_url_rules rules; /* must be first: the caller holds and frees a pointer to it */
    deja_url_rules older; /* the same parameters in the previous version */
    struct dj_params set;
    struct dj_name name[];
};

/* Names and their texts, written one after the other. */
struct writer {
    struct dj_name *name;
    size_t n;
    struct dj_text text;
};

static int check_names(const char *what, const deja_slice *names, size_t n, size_t *bytes,
                       deja_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (names[i].len == 0)
            return dj_fail(err, DEJA_EINVAL, "%s: parameter %zu has no name", what, i + 1);
        if (memchr(names[i].data, '=', names[i].len) || memchr(names[i].data, '&', names[i].len))
            return dj_fail(err, DEJA_EINVAL, "%s: parameter %zu is not a name: it contains = or &",
                           what, i + 1);
        *bytes += 3 * names[i].len; /* each byte may become %XX */
    }
    return DEJA_OK;
}

/* Add a name as it is spelled in a canonical query; `*` at the end matches any ending. */
static void add_name(struct writer *w, deja_slice name)
{
    const bool prefix = ((const char *)name.data)[name.len - 1] == '*';
    const size_t begin = w->text.len;
    name.len -= prefix;
    dj_percent_normal(&w->text, name, DJ_SET_SPECIAL_QUERY);
    w->name[w->n++] = (struct dj_name){w->text.at + begin, w->text.len - begin, prefix};
}

/* Remove names without effect, so that rules with the same effect have the same id: names to drop
 * that are all kept, and names to keep that no prefix would drop. */
static size_t without(struct dj_name *name, size_t n, const struct dj_names *other, bool inside)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const struct dj_name *by = dj_names_find(other, name[i].text, name[i].len);
        const bool covered = by && (by->prefix || !name[i].prefix);
        if (covered == inside)
            name[kept++] = name[i];
    }
    return kept;
}

static void settle(struct own *own, size_t n_drop, size_t n_keep)
{
    struct dj_name *drop = own->name, *keep = own->name + n_drop;
    own->set.keep = (struct dj_names){keep, dj_names_order(keep, n_keep)};
    n_drop = dj_names_order(drop, n_drop);
    own->set.drop = (struct dj_names){drop, without(drop, n_drop, &own->set.keep, false)};
    own->set.keep.n = without(keep, own->set.keep.n, &own->set.drop, true);
}

int deja_url_rules_new(uint32_t profile, unsigned flags, const deja_slice *drop, size_t n_drop,
                       const deja_slice *keep, size_t n_keep, deja_url_rules **out,
                       deja_error *err)
{
    const deja_url_rules *base = deja_url_profile(profile);
    size_t bytes = 0;
    if (!base)
        return dj_fail(err, DEJA_EINVAL, "there is no URL profile %u", profile);
    if (flags & ~DEJA_URL_NO_LIST)
        return dj_fail_flags(err, flags & ~DEJA_URL_NO_LIST);
    if (!base->drop && (flags || n_drop || n_keep))
        return dj_fail(err, DEJA_EINVAL, "profile %s keeps all parameters; crawl drops some",
                       deja_profile_name(profile));
    int rc = check_names("drop", drop, n_drop, &bytes, err);
    if (rc == DEJA_OK)
        rc = check_names("keep", keep, n_keep, &bytes, err);
    if (rc < 0)
        return rc;
    const size_t n_list = base->drop && !flags ? base->drop->drop.n : 0;
    const size_t n = n_list + n_drop + n_keep,
                 names_end = sizeof(struct own) + n * sizeof(struct dj_name);
    struct own *own = malloc(names_end + bytes);
    if (!own)
        return dj_fail(err, DEJA_ENOMEM, "out of memory for %zu parameter names", n);
    struct writer w = {own->name, 0, dj_text_in((char *)own + names_end, bytes)};
    for (; w.n < n_list; w.n++)
        w.name[w.n] = base->drop->drop.name[w.n];
    for (size_t i = 0; i < n_drop; i++)
        add_name(&w, drop[i]);
    for (size_t i = 0; i < n_keep; i++)
        add_name(&w, keep[i]);
    settle(own, n_list + n_drop, n_keep);
    own->rules = *base;
    own->rules.drop = base->drop ? &own->set : NULL;
    if (base->older) {
        own->older = *base->older;
        own->older.drop = own->rules.drop;
        own->rules.older = &own->older;
    }
    *out = &own->rules;
    return DEJA_OK;
}

uint32_t deja_url_rules_profile(const deja_url_rules *rules)
{
    return rules->profile;
}

void deja_url_rules_free(deja_url_rules *rules)
{
    free(rules);
}

/* --- The id of a set of rules -------------------------------------------- */

/* 64-bit FNV-1a. */
static uint64_t mix(uint64_t id, const void *bytes, size_t len)
{
    const uint8_t *b = bytes;
    for (size_t i = 0; i < len; i++)
        id = (id ^ b[i]) * UINT64_C(0x100000001b3);
    return id;
}

static uint64_t mix_byte(uint64_t id, uint32_t byte)
{
    const uint8_t b = (uint8_t)byte;
    return mix(id, &b, 1);
}

/* A name ends with a byte that it cannot contain: = for a full name, & for a prefix. */
static uint64_t mix_names(uint64_t id, const struct dj_names *names)
{
    for (size_t i = 0; i < names->n; i++) {
        id = mix(id, names->name[i].text, names->name[i].len);
        id = mix_byte(id, names->name[i].prefix ? '&' : '=');
    }
    return mix_byte(id, 0);
}

uint64_t deja_url_rules_id(const deja_url_rules *rules)
{
    uint64_t id = UINT64_C(0xcbf29ce484222325);
    id = mix_byte(id, rules->profile);
    id = mix_byte(id, rules->version);
    id = mix_byte(id, dj_idna_here());
    if (rules->drop) {
        id = mix_names(id, &rules->drop->drop);
        id = mix_names(id, &rules->drop->keep);
    }
    return id;
}
