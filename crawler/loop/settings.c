/* settings.c - the options of a crawl that its folder remembers.
 *
 * `deja crawl --out DIR` goes on as the crawl was begun.  An option that is given is a text in the
 * queue, by its name; one that is not given is what it was before, or its default.
 *
 *     of the visit   which links are followed, what is archived, how large the cache is.  Links
 *                    that were passed by stay so, and a cache does not change its size: another
 *                    value is refused until the next visit begins
 *     of the crawl   manners and limits: from now on as given, and remembered so
 *     of the cache   in its file as well, which refuses others; needed when it is gone
 *     of a run       not here: limits that end it, files of this machine (key, certificates) and
 *                    what is printed
 *
 * The forms of URLs (profile and parameters) are the crawl's from its first day: the cache and the
 * queue hold them. */
#include "crawler/loop/settings.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

enum type {
    COUNT32,
    COUNT64,
    REAL,
    FLAG,
    TEXT
};
enum owner {
    OF_VISIT,
    OF_CRAWL,
    OF_CACHE,
    OF_SIZE /* of the visit, and all together */
};

struct setting {
    const char *option;
    enum type type;
    enum owner owner;
    size_t at;               /* in struct crawl_options */
    double unset, otherwise; /* what stands for "not given"; the default */
    double least, most;      /* of numbers: a folder with others is damaged */
};

#define COUNT_MAX ((double)UINT64_MAX)
#define TIME_MAX  2e13 /* seconds: more than the command line takes */

#define AT(field) offsetof(struct crawl_options, field)
/* The options of the cache are rows of the library's table, but for its flags, which are one
 * number. */
static const struct setting own[] = {
    {"scope", COUNT32, OF_VISIT, AT(scope), 0, SCOPE_HOST, SCOPE_HOST, SCOPE_ANY},
    {"match", TEXT, OF_VISIT, AT(match), 0, 0, 0, 0},
    {"exclude", TEXT, OF_VISIT, AT(exclude), 0, 0, 0, 0},
    {"embeds", FLAG, OF_VISIT, AT(embeds), 0, 0, 0, 0},
    {"nofollow", FLAG, OF_VISIT, AT(nofollow), 0, 0, 0, 0},
    {"sitemaps", FLAG, OF_VISIT, AT(sitemaps), 0, 0, 0, 0},
    {"no-archive", FLAG, OF_VISIT, AT(no_archive), 0, 0, 0, 0},
    {"max-depth", COUNT32, OF_CRAWL, AT(max_depth), CRAWL_UNSET, 50, 0, CRAWL_UNSET - 1},
    {"max-redirects", COUNT32, OF_CRAWL, AT(max_redirects), CRAWL_UNSET, 10, 0, 1000},
    {"max-host-pages", COUNT64, OF_CRAWL, AT(max_host_pages), 0, 0, 0, COUNT_MAX},
    {"max-similar", COUNT64, OF_CRAWL, AT(max_similar), 0, 10000, 1, 65535},
    {"max-page", COUNT64, OF_CRAWL, AT(max_page), 0, 16 << 20, 1, COUNT_MAX},
    {"max-url", COUNT64, OF_CRAWL, AT(max_url), 0, 2048, 16, 65536},
    {"max-file", COUNT64, OF_CRAWL, AT(max_file), 0, 1 << 30, 1, COUNT_MAX},
    {"delay", REAL, OF_CRAWL, AT(delay), CRAWL_UNSET_TIME, 1, 0, TIME_MAX},
    {"max-crawl-delay", REAL, OF_CRAWL, AT(max_crawl_delay), CRAWL_UNSET_TIME, 60, 0, TIME_MAX},
    {"allow-private", FLAG, OF_CRAWL, AT(allow_private), 0, 0, 0, 0},
    {"per-host", COUNT32, OF_CRAWL, AT(per_host), 0, 1, 1, 64},
    {"connections", COUNT32, OF_CRAWL, AT(connections), 0, 32, 1, 4096},
    {"contact", TEXT, OF_CRAWL, AT(contact), 0, 0, 0, 0},
    {"user-agent", TEXT, OF_CRAWL, AT(user_agent), 0, 0, 0, 0},
    {"retries", COUNT32, OF_CRAWL, AT(retries), CRAWL_UNSET, 2, 0, 100},
    {"retry-wait", REAL, OF_CRAWL, AT(retry_wait), CRAWL_UNSET_TIME, 5, 0, TIME_MAX},
    {"timeout", REAL, OF_CRAWL, AT(timeout), CRAWL_UNSET_TIME, 60, 0, TIME_MAX},
    {"sync-every", REAL, OF_CRAWL, AT(sync_every), CRAWL_UNSET_TIME, 1, 0, TIME_MAX},
    {"flags", COUNT32, OF_CACHE, AT(cache.flags), 0, 0, 0, UINT32_MAX},
    {"fixed", FLAG, OF_SIZE, AT(fixed), 0, 0, 0, 0},
};
#define OWN (sizeof own / sizeof own[0])

struct walk {
    size_t next; /* number of the next setting */
    struct setting s;
    char name[32];
};

static void set_cache_row(struct walk *w, const deja_option *row)
{
    const bool rate = row->type == DEJA_OPTION_RATE, real = rate || row->type == DEJA_OPTION_REAL;
    /* Folders of deja 0.1 have this one under another name. */
    const bool window = row->offset == offsetof(deja_options, window_seconds);
    w->s = (struct setting){.option = w->name,
                            .type = real              ? REAL
                                    : row->width == 4 ? COUNT32
                                                      : COUNT64,
                            .owner = row->compared ? OF_CACHE : OF_SIZE,
                            .at = AT(cache) + row->offset,
                            .most = rate        ? 1
                                    : row->most ? (double)row->most
                                                : UINT32_MAX};
    snprintf(w->name, sizeof w->name, "%s", window ? "window" : row->name);
    for (char *c = w->name; *c; c++)
        *c = *c == '_' ? '-' : *c;
}

/* Not stored: the secret, which is a file of this machine; the forms of URLs, see below. */
static bool is_stored(const deja_option *row)
{
    return row->type != DEJA_OPTION_FLAG && row->type != DEJA_OPTION_SECRET &&
           row->type != DEJA_OPTION_RULES;
}

/* The next setting of a walk that begins as all zero; false: there are no more. */
static bool walk_next(struct walk *w)
{
    const deja_option *row;
    if (w->next < OWN) {
        w->s = own[w->next++];
        return true;
    }
    while ((row = deja_option_at(w->next - OWN)) && !is_stored(row))
        w->next++;
    if (!row || w->next + 1 >= CRAWLER_SETTINGS)
        return false;
    set_cache_row(w, row);
    w->next++;
    return true;
}

struct word {
    char text[48];
};

/* As it is called in messages: --option, or as the library calls it. */
static struct word word_of(const struct setting *s)
{
    struct word w;
    const deja_option *row = NULL;
    for (size_t i = 0; (row = deja_option_at(i)); i++)
        if (is_stored(row) && AT(cache) + row->offset == s->at)
            break;
    snprintf(w.text, sizeof w.text, "%s%s", row ? "options." : "--", row ? row->name : s->option);
    return w;
}

/* --- Values and their texts ------------------------------------------------------ */

struct value {
    char text[40];
};

static const struct crawl_flag *flag_at(const struct setting *s, const struct crawl_options *o)
{
    return (const void *)((const char *)o + s->at);
}

static bool is_given(const struct setting *s, const struct crawl_options *o)
{
    const char *at = (const char *)o + s->at;
    switch (s->type) {
    case COUNT32:
        return *(const uint32_t *)(const void *)at != (uint32_t)s->unset;
    case COUNT64:
        return *(const uint64_t *)(const void *)at != (uint64_t)s->unset;
    case REAL:
        return *(const double *)(const void *)at > s->unset;
    case FLAG:
        return flag_at(s, o)->on || flag_at(s, o)->off;
    default:
        return *(const char *const *)(const void *)at != NULL;
    }
}

/* Of all but texts. */
static struct value value_of(const struct setting *s, const struct crawl_options *o)
{
    const char *at = (const char *)o + s->at;
    struct value v = {""}; /* a flag that is off leaves nothing behind */
    if (s->type == FLAG && flag_at(s, o)->on)
        v.text[0] = '1';
    else if (s->type == COUNT32)
        snprintf(v.text, sizeof v.text, "%" PRIu32, *(const uint32_t *)(const void *)at);
    else if (s->type == COUNT64)
        snprintf(v.text, sizeof v.text, "%" PRIu64, *(const uint64_t *)(const void *)at);
    else if (s->type == REAL)
        snprintf(v.text, sizeof v.text, "%.12g", *(const double *)(const void *)at);
    return v;
}

static const char *text_of(const struct setting *s, const struct crawl_options *o, struct value *v)
{
    if (s->type == TEXT)
        return *(const char *const *)(const void *)((const char *)o + s->at);
    *v = value_of(s, o);
    return v->text;
}

/* Take a value over from its text, which outlives the options. */
static void put_text(const struct setting *s, struct crawl_options *o, const char *text)
{
    void *at = (char *)o + s->at;
    switch (s->type) {
    case COUNT32:
        *(uint32_t *)at = (uint32_t)strtoul(text, NULL, 10);
        break;
    case COUNT64:
        *(uint64_t *)at = strtoull(text, NULL, 10);
        break;
    case REAL:
        *(double *)at = strtod(text, NULL);
        break;
    case FLAG:
        ((struct crawl_flag *)at)->on = text[0] == '1';
        break;
    default:
        *(const char **)at = text[0] ? text : NULL;
    }
}

static bool is_count(const struct setting *s, const char *text)
{
    char *end;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    return ascii_is_digit(text[0]) && !*end && errno == 0 && (double)n >= s->least &&
           (double)n <= s->most;
}

static bool is_real(const struct setting *s, const char *text)
{
    char *end;
    const double x = strtod(text, &end);
    return ascii_is_digit(text[0]) && !*end && x >= s->least && x <= s->most;
}

/* Could an earlier run have stored this?  Empty: it stored nothing. */
static bool is_sound(const struct setting *s, const struct buffer *stored)
{
    const char *text = stored->data;
    const size_t len = stored->len - 1; /* it ends with a zero */
    if (len == 0)
        return true;
    if (strlen(text) != len)
        return false;
    switch (s->type) {
    case COUNT32:
    case COUNT64:
        return is_count(s, text) &&
               (s->at != AT(cache.kind) || deja_kind_name((uint32_t)strtoul(text, NULL, 10)));
    case REAL:
        return is_real(s, text);
    case FLAG:
        return strcmp(text, "1") == 0;
    default:
        return true;
    }
}

static void put_default(const struct setting *s, struct crawl_options *o)
{
    void *at = (char *)o + s->at;
    if (s->type == COUNT32)
        *(uint32_t *)at = (uint32_t)s->otherwise;
    else if (s->type == COUNT64)
        *(uint64_t *)at = (uint64_t)s->otherwise;
    else if (s->type == REAL)
        *(double *)at = s->otherwise;
}

/* As people read it: names for numbers. */
static const char *shown(const struct setting *s, const char *text)
{
    const char *name = s->at == AT(scope) ? scope_name((uint32_t)strtoul(text, NULL, 10)) : NULL;
    return name ? name : text;
}

/* --- One setting ------------------------------------------------------------------ */

struct settling {
    struct crawler *c;
    size_t number; /* of the setting in hand */
    bool begun;    /* what is of the visit is decided */
};

#define NEXT_CAN "; the next one (--revisit) can begin so"

/* A flag that is taken back has another name: --no-embeds, --archive. */
static int flag_contradiction(const struct setting *s, bool on, deja_error *err)
{
    const bool negative = strncmp(s->option, "no-", 3) == 0;
    if (on)
        return fail(err, DEJA_EMISMATCH, "%s: this visit has begun without it" NEXT_CAN,
                    word_of(s).text);
    return fail(err, DEJA_EMISMATCH, "--%s%s: this visit has begun with --%s" NEXT_CAN,
                negative ? "" : "no-", s->option + (negative ? 3 : 0), s->option);
}

static int contradiction(const struct setting *s, const char *given, const char *was,
                         deja_error *err)
{
    const bool without = was[0] == '\0' || (s->otherwise == 0 && strcmp(was, "0") == 0);
    if (s->type == FLAG)
        return flag_contradiction(s, given[0] != '\0', err);
    return fail(err, DEJA_EMISMATCH, "%s %.60s: this visit has begun %s%.60s" NEXT_CAN,
                word_of(s).text, shown(s, given), without ? "without it" : "with ",
                without ? "" : shown(s, was));
}

static int remember(struct settling *in, const struct setting *s, const char *was, deja_error *err)
{
    struct value v, usual;
    struct crawl_options plain = {0};
    const char *given = text_of(s, &in->c->settled, &v);
    if (was[0] == '\0' && s->type != TEXT) {
        put_default(s, &plain);
        usual = value_of(s, &plain);
        was = usual.text;
    }
    if (strcmp(given, was) == 0)
        return DEJA_OK;
    if (in->begun && (s->owner == OF_VISIT || s->owner == OF_SIZE))
        return contradiction(s, given, was, err);
    return frontier_set_blob(in->c->queue, s->option, ascii_slice(given), err);
}

/* What an earlier run was given. */
static int take_over(struct settling *in, const struct setting *s, const char *was,
                     deja_error *err)
{
    char **copy = &in->c->text[in->number];
    *copy = ascii_copy(ascii_slice(was));
    bool ok = *copy;
    if (ok)
        put_text(s, &in->c->settled, *copy);
    struct buffer *list = &in->c->as_before;
    if (ok && (s->owner == OF_VISIT || s->owner == OF_CRAWL))
        ok = buffer_text(list, " --") && buffer_text(list, s->option) &&
             (s->type == FLAG || (buffer_text(list, " ") && buffer_text(list, shown(s, was))));
    return ok ? DEJA_OK : fail(err, DEJA_ENOMEM, "no memory for %s", word_of(s).text);
}

static int damaged(const struct crawler *c, const struct setting *s, deja_error *err)
{
    const bool negative = strncmp(s->option, "no-", 3) == 0;
    char other[60] = "";
    if (s->type == FLAG)
        snprintf(other, sizeof other, " or --%s%s", negative ? "" : "no-",
                 s->option + (negative ? 3 : 0));
    return fail(err, DEJA_EFORMAT,
                "%s/queue.db: its setting '%s' is damaged; give %s%s to set it again",
                fail_path(c->o->dir).text, s->option, word_of(s).text, other);
}

static int settle_one(struct settling *in, const struct setting *s, deja_error *err)
{
    struct value v;
    struct buffer was = {0};
    bool wrong_type = false;
    int rc = frontier_get_blob(in->c->queue, s->option, &was, &wrong_type, err);
    if (rc == DEJA_OK && !buffer_add(&was, "", 1))
        rc = fail(err, DEJA_ENOMEM, "no memory for %s", word_of(s).text);
    const bool given = is_given(s, &in->c->settled);
    if (rc == DEJA_OK && (wrong_type || !is_sound(s, &was)))
        rc = given ? frontier_set_blob(in->c->queue, s->option,
                                       ascii_slice(text_of(s, &in->c->settled, &v)), err)
                   : damaged(in->c, s, err);
    else if (rc == DEJA_OK && given)
        rc = remember(in, s, was.data, err);
    else if (rc == DEJA_OK && was.data[0])
        rc = take_over(in, s, was.data, err);
    else if (rc == DEJA_OK)
        put_default(s, &in->c->settled);
    buffer_fini(&was);
    return rc;
}

/* --- Settings that hang together ---------------------------------------------------- */

static int forget(struct crawler *c, const char *option, deja_error *err)
{
    return frontier_set_blob(c->queue, option, (deja_slice){NULL, 0}, err);
}

/* A visit whose cache gets another size forgets all of the old one: -n in the place of -m. */
static int forget_sizes(struct crawler *c, deja_error *err)
{
    bool any = false;
    int rc = DEJA_OK;
    for (struct walk w = {.next = 0}; walk_next(&w);)
        any |= w.s.owner == OF_SIZE && is_given(&w.s, &c->settled);
    for (struct walk w = {.next = 0}; any && rc == DEJA_OK && walk_next(&w);)
        if (w.s.owner == OF_SIZE)
            rc = forget(c, w.s.option, err);
    return rc;
}

/* --contact and --user-agent say the same thing in two ways: the last one holds. */
static int forget_agent(struct crawler *c, deja_error *err)
{
    const struct crawl_options *o = &c->settled;
    if (o->user_agent || o->contact)
        return forget(c, o->user_agent ? "contact" : "user-agent", err);
    return DEJA_OK;
}

static void make_agent(struct crawler *c)
{
    const struct crawl_options *o = &c->settled;
    if (o->user_agent)
        snprintf(c->agent, sizeof c->agent, "%s", o->user_agent);
    else
        snprintf(c->agent, sizeof c->agent, "deja/%s (%s%s)", deja_version(),
                 o->contact ? "+" : "no contact given", o->contact ? o->contact : "");
}

struct forms {
    char text[60];
};

static struct forms name_forms(const deja_url_rules *rules)
{
    struct forms f;
    snprintf(f.text, sizeof f.text, "%s %016" PRIx64,
             deja_profile_name(deja_url_rules_profile(rules)), deja_url_rules_id(rules));
    return f;
}

/* The crawl goes on in the forms that it began with, also if they are of an older version. */
static int check_forms(struct crawler *c, deja_error *err)
{
    const deja_url_rules *rules = c->settled.cache.url;
    struct buffer was = {0};
    int rc = frontier_get_blob(c->queue, "url", &was, NULL, err);
    const char *blank = was.len > 0 ? memchr(was.data, ' ', was.len) : NULL;
    if (rc == DEJA_OK && was.len > 0 && (!blank || was.len >= sizeof(struct forms)))
        rc = frontier_damaged(c->queue, "its setting 'url'", err);
    else if (rc == DEJA_OK && !blank)
        rc = frontier_set_blob(c->queue, "url", ascii_slice(name_forms(rules).text), err);
    else if (rc == DEJA_OK)
        while (rules &&
               ascii_compare(buffer_slice(&was), ascii_slice(name_forms(rules).text)) != 0)
            rules = deja_url_rules_older(rules);
    if (rc == DEJA_OK && !rules)
        rc = fail(err, DEJA_EMISMATCH,
                  "--url: this crawl has URLs in the forms of %.*s, with its own parameters to "
                  "drop and keep: give --url, --drop-params and --keep-params as it was begun",
                  (int)(blank - was.data), was.data);
    else if (rc == DEJA_OK)
        c->settled.cache.url = rules;
    buffer_fini(&was);
    return rc;
}

int settings_settle(struct crawler *c, deja_error *err)
{
    struct settling in = {.c = c};
    int64_t visit;
    int rc = frontier_get(c->queue, "visit", CRAWLER_VISITS, &visit, err);
    in.begun = visit > 0 && !c->settled.next_visit;
    if (rc == DEJA_OK)
        rc = check_forms(c, err);
    if (rc == DEJA_OK && !in.begun)
        rc = forget_sizes(c, err);
    if (rc == DEJA_OK)
        rc = forget_agent(c, err);
    for (struct walk w = {.next = 0}; rc == DEJA_OK && walk_next(&w);) {
        in.number = w.next;
        rc = settle_one(&in, &w.s, err);
    }
    if (rc == DEJA_OK)
        make_agent(c);
    return rc;
}

void settings_say(struct crawler *c)
{
    const struct crawl_talk *talk = &c->settled.talk;
    if (talk->as_before && c->as_before.len > 0 && buffer_add(&c->as_before, "", 1))
        talk->as_before(talk->ctx, c->as_before.data);
    if (talk->no_contact && !c->settled.contact && !c->settled.user_agent)
        talk->no_contact(talk->ctx);
}

void settings_fini(struct crawler *c)
{
    buffer_fini(&c->as_before);
    for (size_t i = 0; i < CRAWLER_SETTINGS; i++)
        free(c->text[i]);
}
