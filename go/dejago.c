/* dejago.c - see dejago.h. */
#include "dejago.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    PORTION = 256, /* keys per call of the library */
    ROOM = 16384   /* bytes for canonical forms, before malloc */
};

/* What a portion of keys needs. */
struct work {
    dejago_verb verb;
    deja_filter *f;
    deja_builder *b; /* or collect keys for this one .. */
    bool except;     /* .. as exceptions */
    const deja_url_rules *rules;
    bool is_list; /* profile gsb: a key is an expression, a lookup tries several */
    uint64_t not_urls;
    deja_error err;
    char *more; /* for a form that is too long for `room` */
    char room[ROOM];
};

static void begin(struct work *w, dejago_verb verb, deja_filter *f, const deja_url_rules *rules)
{
    w->verb = verb;
    w->f = f;
    w->b = NULL;
    w->except = false;
    w->rules = rules;
    w->is_list = rules && deja_url_rules_profile(rules) == DEJA_URL_GSB;
    w->not_urls = 0;
    w->err.status = DEJA_OK;
    w->err.text[0] = 0;
    w->more = NULL;
}

static dejago_answer answer(struct work *w, int status, uint64_t value)
{
    dejago_answer a = {.status = status, .value = value, .not_urls = w->not_urls};
    if (status != DEJA_OK) {
        a.number = status == DEJA_EIO ? errno : 0;
        a.text = strdup(w->err.text);
    }
    free(w->more);
    return a;
}

static bool is_wide(dejago_verb verb)
{
    return verb == DEJAGO_COUNT || verb == DEJAGO_DAYS;
}

static int days_of(struct work *w, const deja_slice *key, size_t n, uint64_t *out)
{
    deja_days days[PORTION];
    const int rc = deja_filter_days_batch(w->f, key, n, days, &w->err);
    for (size_t i = 0; rc == DEJA_OK && i < n; i++)
        out[i] = (uint64_t)days[i].last << 16 | days[i].first;
    return rc;
}

/* Up to PORTION keys, as they are stored. */
static int call(struct work *w, const deja_slice *key, size_t n, void *out, size_t *done)
{
    int rc = DEJA_OK;
    *done = 0;
    if (w->b) {
        rc = w->except ? deja_builder_except_batch(w->b, key, n, 0, &w->err)
                       : deja_builder_add_batch(w->b, key, n, &w->err);
    } else {
        switch (w->verb) {
        case DEJAGO_ADD:
            return deja_filter_add_batch(w->f, key, n, out, done, &w->err);
        case DEJAGO_REMOVE:
            return deja_filter_remove_batch(w->f, key, n, out, done, &w->err);
        case DEJAGO_CONTAINS:
            deja_filter_contains_batch(w->f, key, n, out);
            break;
        case DEJAGO_PREFIX:
            rc = deja_filter_prefix_batch(w->f, key, n, out, &w->err);
            break;
        case DEJAGO_COUNT:
            rc = deja_filter_count_batch(w->f, key, n, out, &w->err);
            break;
        case DEJAGO_DAYS:
            rc = days_of(w, key, n, out);
            break;
        }
    }
    if (rc == DEJA_OK)
        *done = n;
    return rc;
}

/* Brings the first of n URLs to their canonical form; returns how many, or 0 without memory. */
static size_t forms(struct work *w, const deja_slice *url, size_t n, deja_slice *form,
                    int8_t *status)
{
    size_t done = deja_url_canon_batch(w->rules, url, n, w->room, sizeof w->room, form, status);
    if (done == 0) {
        const size_t cap = DEJA_URL_ROOM(url[0].len);
        char *more = realloc(w->more, cap);
        if (!more)
            return 0;
        w->more = more;
        done = deja_url_canon_batch(w->rules, url, 1, more, cap, form, status);
    }
    for (size_t i = 0; i < done; i++)
        w->not_urls += status[i] != DEJA_OK;
    return done;
}

/* One URL of a block list: adds its first expression, or looks up all of them. */
static int call_listed(struct work *w, deja_slice form, bool is_url, void *out)
{
    deja_slice expression[DEJA_URL_EXPRESSIONS];
    uint8_t found[DEJA_URL_EXPRESSIONS];
    size_t done, n = is_url ? deja_url_expressions(form, expression) : 0;
    if (n == 0) { /* never added, never found */
        if (out)
            memset(out, 0, is_wide(w->verb) ? sizeof(uint64_t) : 1);
        return DEJA_OK;
    }
    if (w->b || w->verb != DEJAGO_CONTAINS)
        return call(w, expression, 1, out, &done);
    deja_filter_contains_batch(w->f, expression, n, found);
    *(uint8_t *)out = memchr(found, 1, n) != NULL;
    return DEJA_OK;
}

static int call_urls(struct work *w, const deja_slice *url, size_t n, char *out, size_t *done)
{
    const size_t width = is_wide(w->verb) ? sizeof(uint64_t) : 1;
    deja_slice form[PORTION];
    int8_t status[PORTION];
    int rc = DEJA_OK;
    *done = 0;
    while (*done < n && rc == DEJA_OK) {
        const size_t some = forms(w, url + *done, n - *done, form, status);
        size_t now = 0;
        if (some == 0)
            return DEJA_ENOMEM;
        if (!w->is_list)
            rc = call(w, form, some, out ? out + *done * width : NULL, &now);
        for (; w->is_list && now < some && rc == DEJA_OK; now += rc == DEJA_OK)
            rc = call_listed(w, form[now], status[now] == DEJA_OK,
                             out ? out + (*done + now) * width : NULL);
        *done += now;
    }
    return rc;
}

static int call_keys(struct work *w, const deja_slice *key, size_t n, char *out, size_t *done)
{
    return w->rules ? call_urls(w, key, n, out, done) : call(w, key, n, out, done);
}

static dejago_answer each(struct work *w, const char *text, const size_t *end, size_t n, char *out)
{
    const size_t width = is_wide(w->verb) ? sizeof(uint64_t) : 1;
    deja_slice key[PORTION];
    size_t at = 0, start = 0;
    int rc = DEJA_OK;
    while (at < n && rc == DEJA_OK) {
        size_t done, some = n - at < PORTION ? n - at : PORTION;
        for (size_t i = 0; i < some; i++) {
            key[i] = (deja_slice){text ? text + start : NULL, end[at + i] - start};
            start = end[at + i];
        }
        rc = call_keys(w, key, some, out ? out + at * width : NULL, &done);
        at += done;
    }
    return answer(w, rc, at);
}

/* The frequent call, without what only batches and URLs need. */
static dejago_answer add_one(deja_filter *f, deja_slice key)
{
    deja_error err;
    bool is_new;
    const int rc = deja_filter_add(f, key, &is_new, &err);
    if (rc == DEJA_OK)
        return (dejago_answer){.value = is_new};
    return (dejago_answer){
        .status = rc, .number = rc == DEJA_EIO ? errno : 0, .text = strdup(err.text)};
}

dejago_answer dejago_one(dejago_verb verb, deja_filter *f, const deja_url_rules *rules,
                         const char *key, size_t len)
{
    const deja_slice one = {key, len};
    if (!rules && verb == DEJAGO_CONTAINS)
        return (dejago_answer){.value = deja_filter_contains(f, one)};
    if (!rules && verb == DEJAGO_ADD)
        return add_one(f, one);
    uint8_t yes = 0;
    uint64_t value = 0;
    size_t done;
    struct work w;
    begin(&w, verb, f, rules);
    const int rc = is_wide(verb) ? call_keys(&w, &one, 1, (char *)&value, &done)
                                 : call_keys(&w, &one, 1, (char *)&yes, &done);
    return answer(&w, rc, is_wide(verb) ? value : yes);
}

dejago_answer dejago_all(dejago_verb verb, deja_filter *f, const deja_url_rules *rules,
                         const char *text, const size_t *end, size_t n, char *out)
{
    struct work w;
    begin(&w, verb, f, rules);
    return each(&w, text, end, n, out);
}

dejago_answer dejago_build(deja_builder *b, const deja_url_rules *rules, bool except,
                           const char *text, const size_t *end, size_t n)
{
    struct work w;
    begin(&w, DEJAGO_ADD, NULL, rules);
    w.b = b;
    w.except = except;
    return each(&w, text, end, n, NULL);
}

/* --- Options with a key from Go ------------------------------------------ */

static deja_options with_key(const deja_options *opt, const char *key)
{
    deja_options o = *opt;
    o.key = key;
    return o;
}

int dejago_new(const deja_options *opt, const char *key, deja_filter **out, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_filter_new(&o, out, err);
}

int dejago_open(const char *path, unsigned flags, const deja_options *opt, const char *key,
                deja_filter **out, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_filter_open(path, flags, &o, out, err);
}

int dejago_create(const char *path, unsigned flags, const deja_options *opt, const char *key,
                  deja_filter **out, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_filter_create(path, flags, &o, out, err);
}

int dejago_import(const char *data, size_t len, const deja_options *opt, const char *key,
                  deja_filter **out, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_filter_import(data, len, &o, out, err);
}

int dejago_builder(const deja_options *opt, const char *key, deja_builder **out, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_builder_new(&o, out, err);
}

int dejago_plan(const deja_options *opt, const char *key, deja_plan *plan, deja_error *err)
{
    const deja_options o = with_key(opt, key);
    return deja_plan_make(&o, plan, err);
}

/* --- URLs and the rest ---------------------------------------------------- */

dejago_answer dejago_canon(const deja_url_rules *rules, const char *url, size_t len)
{
    dejago_answer a = {.status = DEJA_ENOMEM};
    deja_slice form = {NULL, 0};
    deja_error err = {.status = DEJA_OK};
    if (len > (SIZE_MAX - 512) / 4)
        return a;
    char *room = malloc(DEJA_URL_ROOM(len));
    if (!room)
        return a;
    a.status =
        deja_url_canon(rules, (deja_slice){url, len}, room, DEJA_URL_ROOM(len), &form, &err);
    if (a.status != DEJA_OK) {
        free(room);
        a.text = strdup(err.text);
        return a;
    }
    memmove(room, form.data, form.len); /* it may be the URL itself, or start later in room */
    a.value = form.len;
    a.text = room;
    return a;
}

/* The slices of n names; NULL without memory. */
static deja_slice *slices(const char *text, const size_t *end, size_t n)
{
    deja_slice *s = calloc(n + 1, sizeof *s);
    for (size_t i = 0, start = 0; s && i < n; start = end[i++])
        s[i] = (deja_slice){text + start, end[i] - start};
    return s;
}

int dejago_rules(uint32_t profile, unsigned flags, const char *drop, const size_t *drop_end,
                 size_t n_drop, const char *keep, const size_t *keep_end, size_t n_keep,
                 deja_url_rules **out, deja_error *err)
{
    deja_slice *dropped = slices(drop, drop_end, n_drop), *kept = slices(keep, keep_end, n_keep);
    int rc = DEJA_ENOMEM;
    if (dropped && kept)
        rc = deja_url_rules_new(profile, flags, dropped, n_drop, kept, n_keep, out, err);
    free(dropped);
    free(kept);
    return rc;
}

const char *dejago_choice(const deja_option *o, uint32_t value)
{
    return o->choice ? o->choice(value) : NULL;
}

size_t dejago_export(const deja_filter *f, uint64_t at, char *out, size_t len)
{
    return deja_filter_export(f, at, out, len);
}
