/* urlkeys.c - URLs as keys; see urlkeys.h.
 *
 * The library needs room for the longest possible form of a URL, and usually uses none of it.  So
 * the step reserves a large piece of the block's room once, offers all of it for each lot of keys,
 * and keeps only the used part. */
#include "cli/session/urlkeys.h"
#include "cli/options/paramfile.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/printable.h"
#include "tools/base/scan.h"
#include <inttypes.h>
#include <stdio.h>

#define ROOM_STEP ((size_t)64 << 10)
#define LOT       256 /* keys that are canonicalized together */
#define SHOWN     60  /* bytes of a key in an error */

/* --- Rules ----------------------------------------------------------------- */

static int make_rules(struct urlkeys *u, const struct shared_options *c, deja_error *err)
{
    struct paramnames drop = {0}, keep = {0};
    const unsigned flags = c->keep_params && !c->keep_params[0] ? DEJA_URL_NO_LIST : 0;
    int rc = DEJA_OK;
    if (c->drop_params)
        rc = paramnames_read(&drop, c->drop_params, err);
    if (rc == DEJA_OK && c->keep_params)
        rc = paramnames_split(&keep, c->keep_params, err);
    if (rc == DEJA_OK)
        rc = deja_url_rules_new(c->url, flags, drop.name, drop.n, keep.name, keep.n, &u->own, err);
    paramnames_fini(&drop);
    paramnames_fini(&keep);
    u->rules = u->own;
    return rc;
}

/* A base is valid if a path can be resolved against it. */
static int check_base(deja_slice base, deja_error *err)
{
    static const char link[] = "/";
    char out[DEJA_URL_ROOM(2048)];
    deja_slice url;
    const deja_slice path = {link, sizeof link - 1};
    const int rc =
        base.len > 2000 ? DEJA_EINVAL : deja_url_resolve(base, path, out, sizeof out, &url, err);
    if (rc == DEJA_OK)
        return DEJA_OK;
    return fail(err, OPT_USAGE,
                rc == DEJA_ENOTSUP ? "--base: the host of '%.*s' needs IDNA, which this build of "
                                     "deja lacks; write it as xn--..."
                                   : "--base takes an absolute URL such as https://example.org, "
                                     "not '%.*s'",
                base.len < SHOWN ? (int)base.len : SHOWN, (const char *)base.data);
}

int urlkeys_init(struct urlkeys *u, const struct shared_options *c, enum urlkeys_use use,
                 deja_error *err)
{
    *u = (struct urlkeys){.use = use, .strict = c->strict, .forms = c->canonical};
    u->own_key = c->url == DEJA_URL_GSB && use != URLKEYS_LOOK_UP;
    if (!c->url)
        return DEJA_OK;
    int rc = DEJA_OK;
    if (c->base) {
        u->base = (deja_slice){c->base, strlen(c->base)};
        rc = check_base(u->base, err);
    }
    if (rc == DEJA_OK && (c->drop_params || c->keep_params))
        return make_rules(u, c, err);
    u->rules = deja_url_profile(c->url);
    return rc;
}

int urlkeys_use_version(struct urlkeys *u, const char *filter, uint64_t id, deja_error *err)
{
    for (const deja_url_rules *r = u->rules; r; r = deja_url_rules_older(r))
        if (deja_url_rules_id(r) == id) {
            u->rules = r;
            return DEJA_OK;
        }
    const uint32_t profile = deja_url_rules_profile(u->rules);
    return fail(err, DEJA_EMISMATCH, "%s holds URLs of profile %s with different rules: %s",
                fail_path(filter).text, deja_profile_name(profile),
                profile == DEJA_URL_CRAWL
                    ? "give the --drop-params and --keep-params with which it was made, or "
                      "update deja"
                    : "it was made by a newer version; update deja");
}

void urlkeys_fini(struct urlkeys *u)
{
    deja_url_rules_free(u->own);
    u->own = NULL;
    u->rules = NULL;
}

/* --- One key --------------------------------------------------------------- */

static inline bool make_room(struct block *b, struct urlkeys_room *r, size_t len)
{
    if (r->cap >= len)
        return true;
    const size_t want = len > ROOM_STEP ? len : ROOM_STEP;
    r->at = block_room(b, want);
    r->cap = r->at ? want : 0;
    return r->at;
}

/* Keeps the slice if it is in the room; other slices point elsewhere. */
static inline void keep(struct block *b, struct urlkeys_room *r, deja_slice s)
{
    const size_t offset = (size_t)((uintptr_t)s.data - (uintptr_t)r->at);
    if (offset >= r->cap)
        return;
    block_take(b, offset + s.len);
    r->at += offset + s.len;
    r->cap -= offset + s.len;
}

/* Whether the key is empty, or the - that logs write instead. */
static bool is_nothing(deja_slice key)
{
    return key.len == 0 || (key.len == 1 && *(const char *)key.data == '-');
}

/* The length of the scheme before a colon, or 0. */
static size_t scheme_len(const char *at, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (at[i] == ':')
            return i;
        const bool other = ascii_is_digit(at[i]) || at[i] == '+' || at[i] == '-' || at[i] == '.';
        if (!ascii_is_alpha(at[i]) && (i == 0 || !other))
            return 0;
    }
    return 0;
}

/* Like browsers, treats http:path as relative if the base is also http. */
static bool is_link(deja_slice base, deja_slice key)
{
    const char *at = key.data, *const end = at + key.len;
    while (at < end && (unsigned char)*at <= ' ')
        at++;
    const size_t len = scheme_len(at, (size_t)(end - at));
    if (len == 0)
        return true;
    return !scan_begins(at + len + 1, end, "//") && len == scheme_len(base.data, base.len) &&
           strncasecmp(at, base.data, len) == 0;
}

/* Resolves a link. */
static int resolve(const struct urlkeys *u, struct block *b, struct urlkeys_room *r,
                   deja_slice *key)
{
    deja_slice url;
    if (!make_room(b, r, DEJA_URL_ROOM(u->base.len + key->len)))
        return DEJA_ENOMEM;
    const int rc = deja_url_resolve(u->base, *key, r->at, r->cap, &url, NULL);
    if (rc < 0)
        return rc;
    keep(b, r, url);
    *key = url;
    return DEJA_OK;
}

int urlkeys_form(const struct urlkeys *u, struct block *b, struct urlkeys_room *r, deja_slice key,
                 deja_slice *form)
{
    *form = key;
    if (is_nothing(key))
        return DEJA_ENOTURL; /* some profiles would accept it */
    int rc = DEJA_OK;
    if (u->base.len && is_link(u->base, key))
        rc = resolve(u, b, r, &key);
    if (rc < 0)
        return rc;
    if (!make_room(b, r, DEJA_URL_ROOM(key.len)))
        return DEJA_ENOMEM;
    deja_slice canon;
    rc = deja_url_canon(u->rules, key, r->at, r->cap, &canon, NULL);
    if (rc < 0)
        return rc;
    keep(b, r, canon);
    *form = canon;
    return DEJA_OK;
}

/* --- Not a URL -------------------------------------------------------- */

struct shown {
    char text[SHOWN + 4];
};

static struct shown show(deja_slice key)
{
    struct shown s;
    char text[SHOWN + 1];
    const bool cut = printable(text, sizeof text, key.data, key.len, false) < key.len;
    snprintf(s.text, sizeof s.text, "%s%s", text, cut ? "..." : "");
    return s;
}

int urlkeys_refuse(struct block *b, size_t i, deja_slice key, int status, deja_error *err)
{
    const struct fail_path path = fail_path(b->path);
    const uint64_t line = block_line(b, i);
    if (status == DEJA_ENOTSUP)
        return fail(err, status,
                    "%s: line %" PRIu64 ": the host of '%s' needs IDNA, which this build of deja "
                    "lacks; build it with libidn2",
                    path.text, line, show(key).text);
    if (key.len == 0)
        return fail(err, DEJA_ENOTURL,
                    "%s: line %" PRIu64 " lacks a URL; without --strict such lines pass",
                    path.text, line);
    return fail(err, DEJA_ENOTURL,
                "%s: line %" PRIu64 ": '%s' is not a URL; without --strict such lines pass",
                path.text, line, show(key).text);
}

static void count(_Atomic uint64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* input.c has reported records that came without a key. */
static void report(struct block *b, size_t i, int status)
{
    const deja_slice key = b->keys[i];
    const enum block_oddity why = is_nothing(key)          ? BLOCK_NO_KEY
                                  : status == DEJA_ENOTSUP ? BLOCK_NO_IDNA
                                                           : BLOCK_NO_URL;
    if (key.data && block_wants(b, why))
        block_report(b, why, block_line(b, i), why == BLOCK_NO_KEY ? block_text(b, i) : key);
}

/* Record i has no canonical form: keeps its key or makes it keyless. */
static int pass(struct urlkeys *u, struct block *b, size_t i, int status, deja_error *err)
{
    const deja_slice key = b->keys[i];
    if (status == DEJA_ENOMEM)
        return fail(err, status, "%s: out of memory for a URL of %zu bytes",
                    fail_path(b->path).text, key.len);
    if (u->strict)
        return urlkeys_refuse(b, i, key, status, err);
    const bool nothing = is_nothing(key);
    report(b, i, status);
    const bool useless =
        deja_url_rules_profile(u->rules) == DEJA_URL_GSB && u->use != URLKEYS_COMPARE;
    if (nothing || useless) {
        b->keys[i] = (deja_slice){NULL, 0};
        b->keyless = true;
    }
    if (!nothing) {
        count(status == DEJA_ENOTSUP ? &u->no_idna : &u->no_url);
        if (useless)
            count(&u->left_out);
    }
    return DEJA_OK;
}

/* --- A block --------------------------------------------------------------- */

/* The expression of the URL itself: everything except its scheme. */
static deja_slice own_expression(deja_slice canon)
{
    const char *colon = memchr(canon.data, ':', canon.len);
    const size_t skip = (size_t)(colon + 3 - (const char *)canon.data);
    return (deja_slice){colon + 3, canon.len - skip};
}

/* Stores the form of record i; a negative rc says why there is none.  After a failure, the block
 * has only the records before i. */
static int take_form(struct urlkeys *u, struct block *b, size_t i, int rc, deja_slice form,
                     deja_error *err)
{
    if (u->forms)
        b->forms[i] = form;
    if (rc >= 0) {
        b->keys[i] = u->own_key ? own_expression(form) : form;
        return DEJA_OK;
    }
    rc = pass(u, b, i, rc, err);
    b->n = rc < 0 ? i : b->n;
    return rc;
}

/* Replaces n keys with their forms.  The status is DEJA_ENOMEM if out of memory. */
static void make_forms(const struct urlkeys *u, struct block *b, deja_slice *key, size_t n,
                       struct urlkeys_room *room, int8_t *status)
{
    while (n > 0) {
        const size_t done =
            deja_url_canon_batch(u->rules, key, n, room->at, room->cap, key, status);
        for (size_t last = done; last > 0; last--) /* the room is filled in order */
            if ((uintptr_t)key[last - 1].data - (uintptr_t)room->at < room->cap) {
                keep(b, room, key[last - 1]);
                break;
            }
        key += done;
        status += done;
        n -= done;
        if (n > 0 && !make_room(b, room, DEJA_URL_ROOM(key->len))) {
            memset(status, DEJA_ENOMEM, n);
            return;
        }
    }
}

/* Canonicalizes n keys from `at` on, for which is_nothing is false. */
static int make_lot(struct urlkeys *u, struct block *b, size_t at, size_t n,
                    struct urlkeys_room *room, deja_error *err)
{
    int8_t status[LOT];
    int failed = 0;
    make_forms(u, b, b->keys + at, n, room, status);
    for (size_t i = 0; i < n; i++)
        failed |= status[i];
    if (!failed && !u->forms && !u->own_key)
        return DEJA_OK;
    int rc = DEJA_OK;
    for (size_t i = at; i < at + n && rc == DEJA_OK; i++)
        rc = take_form(u, b, i, status[i - at], b->keys[i], err);
    return rc;
}

/* Resolves and canonicalizes the keys one by one. */
static int make_from_base(struct urlkeys *u, struct block *b, deja_error *err)
{
    struct urlkeys_room room = {0};
    int rc = DEJA_OK;
    for (size_t i = 0; i < b->n && rc == DEJA_OK; i++) {
        deja_slice form;
        rc = urlkeys_form(u, b, &room, b->keys[i], &form);
        rc = take_form(u, b, i, rc, form, err);
    }
    return rc;
}

/* Canonicalizes the keys of a block. */
static int make_canonical(struct urlkeys *u, struct block *b, deja_error *err)
{
    struct urlkeys_room room = {0};
    int rc = DEJA_OK;
    if (u->base.len)
        return make_from_base(u, b, err);
    for (size_t at = 0, n; at < b->n && rc == DEJA_OK; at += n) {
        const size_t most = b->n - at < LOT ? b->n - at : LOT;
        for (n = 0; n < most && !is_nothing(b->keys[at + n]);)
            n++;
        if (n > 0)
            rc = make_lot(u, b, at, n, &room, err);
        else /* some profiles would accept it */
            rc = take_form(u, b, at + n++, DEJA_ENOTURL, b->keys[at], err);
    }
    return rc;
}

/* Makes a record for each expression; a key without expressions keeps its record. */
static bool spread_expressions(struct block *b)
{
    block_rekey(b);
    for (size_t i = 0; i < b->n; i++) {
        deja_slice all[DEJA_URL_EXPRESSIONS];
        size_t n = b->keys[i].data ? deja_url_expressions(b->keys[i], all) : 0;
        if (n == 0)
            all[n++] = (deja_slice){NULL, 0};
        for (size_t j = 0; j < n; j++)
            if (!block_rekey_add(b, all[j], b->ends[i]))
                return false;
    }
    block_rekey_end(b);
    return true;
}

int urlkeys_run(void *urlkeys, struct block *b, deja_error *err)
{
    struct urlkeys *u = urlkeys;
    bool ok = !u->forms || block_forms(b);
    const int rc = ok ? make_canonical(u, b, err) : DEJA_OK;
    if (ok && u->use == URLKEYS_LOOK_UP && deja_url_rules_profile(u->rules) == DEJA_URL_GSB)
        ok = spread_expressions(b);
    if (ok)
        return rc;
    b->n = 0;
    return fail(err, DEJA_ENOMEM, "%s: out of memory for a block of URLs",
                fail_path(b->path).text);
}
