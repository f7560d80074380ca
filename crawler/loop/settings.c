/* settings.c - the options of a crawl that its folder remembers.
 *
 * `deja crawl -o DIR` resumes a crawl with its options.  A given option is stored in the queue
 * as text, by its name; an option that is not given keeps its stored value, or has its default.
 *
 *     of the start   --certain: the cache of a crawl is always a sieve, or never
 *     of the visit   which links are followed, what is archived, the size of the cache.  They
 *                    cannot change during a visit: links that were skipped stay skipped, and a
 *                    cache keeps its size
 *     of the crawl   manners and limits: a new value applies from now on
 *     of the cache   its file also has them and rejects others; needed if the file is missing
 *     of a run       not stored: limits that end it, files of this machine (key, certificates),
 *                    and what is printed
 *
 * The URL rules (profile and parameters) never change, because the cache and the queue contain
 * canonical URLs. */
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
    OF_START,
    OF_VISIT,
    OF_CRAWL,
    OF_CACHE,
    OF_SIZE /* of the visit; a new size replaces all of them */
};

struct setting {
    const char *option;
    enum type type;
    enum owner owner;
    size_t at;               /* in struct crawl_options */
    double unset, otherwise; /* the value that means "not given"; the default */
    double least, most;      /* of numbers; others mean that the folder is damaged */
};

#define COUNT_MAX ((double)UINT64_MAX)
#define TIME_MAX  2e13 /* seconds; the command line accepts less */

#define AT(field) offsetof(struct crawl_options, field)
/* The options of the cache are rows of the library's table, except its flags, which are one
 * number. */
static const struct setting own[] = {
    {"certain", FLAG, OF_START, AT(certain), 0, 0, 0, 0}, /* before those of filters */
    {"scope", COUNT32, OF_VISIT, AT(scope), 0, SCOPE_HOST, SCOPE_HOST, SCOPE_ANY},
    {"match", TEXT, OF_VISIT, AT(match), 0, 0, 0, 0},
    {"exclude", TEXT, OF_VISIT, AT(exclude), 0, 0, 0, 0},
    {"embeds", FLAG, OF_VISIT, AT(embeds), 0, 0, 0, 0},
    {"nofollow", FLAG, OF_VISIT, AT(nofollow), 0, 0, 0, 0},
    {"sitemaps", FLAG, OF_VISIT, AT(sitemaps), 0, 0, 0, 0},
    {"no-archive", FLAG, OF_VISIT, AT(no_archive), 0, 0, 0, 0},
    {"order", COUNT32, OF_CRAWL, AT(order), 0, ORDER_BREADTH, ORDER_BREADTH, ORDER_OPIC},
    {"prefer", TEXT, OF_CRAWL, AT(prefer), 0, 0, 0, 0},
    {"host-share", COUNT32, OF_CRAWL, AT(host_share), CRAWL_UNSET, 0, 0, CRAWL_UNSET - 1},
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
    /* deja 0.1 stored this one under a different name. */
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

/* The secret is not stored, because it is a file of this machine.  check_rules stores the URL
 * rules. */
static bool is_stored(const deja_option *row)
{
    return row->type != DEJA_OPTION_FLAG && row->type != DEJA_OPTION_SECRET &&
           row->type != DEJA_OPTION_RULES;
}

/* The next setting; false after the last.  Initialize the walk with {0}. */
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

/* The name of a setting in messages: --option, or options.NAME, which the command translates. */
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

/* --- Values and texts ------------------------------------------------------------ */

struct value {
    char text[40];
};

static const void *field(const struct setting *s, const struct crawl_options *o)
{
    return (const char *)o + s->at;
}

static uint64_t count_at(const struct setting *s, const struct crawl_options *o)
{
    return s->type == COUNT32 ? *(const uint32_t *)field(s, o) : *(const uint64_t *)field(s, o);
}

static void set_count(const struct setting *s, struct crawl_options *o, uint64_t n)
{
    void *at = (char *)o + s->at;
    if (s->type == COUNT32)
        *(uint32_t *)at = (uint32_t)n;
    else
        *(uint64_t *)at = n;
}

static bool is_given(const struct setting *s, const struct crawl_options *o)
{
    const struct crawl_flag *flag = field(s, o);
    switch (s->type) {
    case COUNT32:
    case COUNT64:
        return count_at(s, o) != (uint64_t)s->unset;
    case REAL:
        return *(const double *)field(s, o) > s->unset;
    case FLAG:
        return flag->on || flag->off;
    default:
        return *(const char *const *)field(s, o);
    }
}

/* Returns the value of a setting of any type except TEXT. */
static struct value value_of(const struct setting *s, const struct crawl_options *o)
{
    struct value v = {""}; /* a flag that is off stores nothing */
    if (s->type == REAL)
        snprintf(v.text, sizeof v.text, "%.12g", *(const double *)field(s, o));
    else if (s->type != FLAG)
        snprintf(v.text, sizeof v.text, "%" PRIu64, count_at(s, o));
    else if (((const struct crawl_flag *)field(s, o))->on)
        v.text[0] = '1';
    return v;
}

static const char *text_of(const struct setting *s, const struct crawl_options *o, struct value *v)
{
    if (s->type == TEXT)
        return *(const char *const *)field(s, o);
    *v = value_of(s, o);
    return v->text;
}

/* Set an option from a text that outlives the options. */
static void put_text(const struct setting *s, struct crawl_options *o, const char *text)
{
    void *at = (char *)o + s->at;
    switch (s->type) {
    case COUNT32:
    case COUNT64:
        set_count(s, o, strtoull(text, NULL, 10));
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

/* Whether an earlier run could have stored this.  Empty means that nothing is stored. */
static bool is_sound(const struct setting *s, const struct buffer *stored)
{
    const char *text = stored->data;
    const size_t len = stored->len - 1; /* without its NUL */
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
    if (s->type == REAL)
        *(double *)((char *)o + s->at) = s->otherwise;
    else if (s->type == COUNT32 || s->type == COUNT64)
        set_count(s, o, (uint64_t)s->otherwise);
}

/* As shown to users: a scope and an order have names. */
static const char *shown(const struct setting *s, const char *text)
{
    const uint32_t n = (uint32_t)strtoul(text, NULL, 10);
    const char *name = s->at == AT(scope)   ? scope_name(n)
                       : s->at == AT(order) ? crawl_order_name(n)
                                            : NULL;
    return name ? name : text;
}

/* Appends the options that have this value; --prefer has one per line. */
static bool list_option(struct buffer *list, const struct setting *s, const char *text)
{
    for (size_t len;; text += len + 1) {
        len = s->at == AT(prefer) ? strcspn(text, "\n") : strlen(text);
        const bool ok =
            buffer_text(list, " --") && buffer_text(list, s->option) &&
            (s->type == FLAG || (buffer_text(list, " ") && buffer_add(list, text, len)));
        if (!ok || !text[len])
            return ok;
    }
}

/* --- One setting ------------------------------------------------------------------ */

struct settling {
    struct crawler *c;
    size_t number; /* of the current setting */
    bool started;  /* settings of the start are fixed */
    bool begun;    /* settings of the visit are fixed */
};

#define NEXT_CAN "; the next one (--revisit) can change it"

/* The opposite of a flag: --no-embeds, --archive. */
static struct word opposite(const struct setting *s)
{
    struct word w;
    const bool negative = strncmp(s->option, "no-", 3) == 0;
    snprintf(w.text, sizeof w.text, "--%s%s", negative ? "" : "no-",
             s->option + (negative ? 3 : 0));
    return w;
}

static int flag_contradiction(const struct setting *s, bool on, deja_error *err)
{
    if (on)
        return fail(err, DEJA_EMISMATCH, "%s: this visit started without it" NEXT_CAN,
                    word_of(s).text);
    return fail(err, DEJA_EMISMATCH, "%s: this visit started with %s" NEXT_CAN, opposite(s).text,
                word_of(s).text);
}

static int not_certain(const struct crawler *c, const struct setting *s, deja_error *err)
{
    return fail(err, DEJA_EMISMATCH, "%s: the crawl in %s began without it; start another crawl",
                word_of(s).text, fail_path(c->o->dir).text);
}

/* Whether the setting belongs to a filter and the cache is a sieve. */
static bool is_of_filter(const struct crawler *c, const struct setting *s)
{
    return c->settled.certain.on && (s->owner == OF_CACHE || s->owner == OF_SIZE) &&
           s->at != AT(cache.memory) && s->at != AT(cache.seed);
}

static int no_filter(const struct setting *s, deja_error *err)
{
    return fail(err, DEJA_EINVAL,
                "%s: with --certain, the cache is a sieve, which has its own filter; its size is "
                "its memory (options.memory)",
                word_of(s).text);
}

/* Whether the setting stays as it is until the next visit.  A sieve can have more or less memory
 * whenever it is opened. */
static bool is_fixed(const struct settling *in, const struct setting *s)
{
    return in->begun && (s->owner == OF_VISIT || s->owner == OF_SIZE) &&
           !(in->c->settled.certain.on && s->at == AT(cache.memory));
}

static int contradiction(const struct setting *s, const char *given, const char *was,
                         deja_error *err)
{
    const bool without = was[0] == '\0' || (s->otherwise == 0 && strcmp(was, "0") == 0);
    if (s->type == FLAG)
        return flag_contradiction(s, given[0] != '\0', err);
    return fail(err, DEJA_EMISMATCH, "%s %.60s: this visit started %s%.60s" NEXT_CAN,
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
    if (in->started && s->owner == OF_START)
        return not_certain(in->c, s, err);
    if (is_fixed(in, s))
        return contradiction(s, given, was, err);
    return frontier_set_blob(in->c->queue, s->option, ascii_slice(given), err);
}

/* Use the value that an earlier run was given. */
static int take_over(struct settling *in, const struct setting *s, const char *was,
                     deja_error *err)
{
    char **copy = &in->c->text[in->number];
    *copy = ascii_copy(ascii_slice(was));
    bool ok = *copy;
    if (ok)
        put_text(s, &in->c->settled, *copy);
    struct buffer *list = &in->c->as_before;
    if (ok && s->owner != OF_CACHE && s->owner != OF_SIZE)
        ok = list_option(list, s, shown(s, was));
    return ok ? DEJA_OK : fail(err, DEJA_ENOMEM, "out of memory for %s", word_of(s).text);
}

static int damaged(const struct crawler *c, const struct setting *s, deja_error *err)
{
    const bool flag = s->type == FLAG && s->owner != OF_START;
    return fail(err, DEJA_EFORMAT,
                "%s/queue.db: its setting '%s' is damaged; give %s%s%s to set it again",
                fail_path(c->o->dir).text, s->option, word_of(s).text, flag ? " or " : "",
                flag ? opposite(s).text : "");
}

static int settle_one(struct settling *in, const struct setting *s, deja_error *err)
{
    struct value v;
    struct buffer was = {0};
    bool wrong_type = false;
    int rc = frontier_get_blob(in->c->queue, s->option, &was, &wrong_type, err);
    if (rc == DEJA_OK && !buffer_add(&was, "", 1))
        rc = fail(err, DEJA_ENOMEM, "out of memory for %s", word_of(s).text);
    const bool given = is_given(s, &in->c->settled);
    if (rc == DEJA_OK && given && is_of_filter(in->c, s))
        rc = no_filter(s, err);
    else if (rc == DEJA_OK && (wrong_type || !is_sound(s, &was)))
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

/* --- Related settings --------------------------------------------------------------- */

static int forget(struct crawler *c, const char *option, deja_error *err)
{
    return frontier_set_blob(c->queue, option, (deja_slice){NULL, 0}, err);
}

/* If a visit starts with a new size of the cache, forget the old one: -n replaces -m. */
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

/* --contact and --user-agent replace each other. */
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

struct rules {
    char text[60];
};

static struct rules name_rules(const deja_url_rules *rules)
{
    struct rules f;
    snprintf(f.text, sizeof f.text, "%s %016" PRIx64,
             deja_profile_name(deja_url_rules_profile(rules)), deja_url_rules_id(rules));
    return f;
}

const deja_url_rules *settings_rules(deja_slice stored, const deja_url_rules *newest)
{
    while (newest && ascii_compare(stored, ascii_slice(name_rules(newest).text)) != 0)
        newest = deja_url_rules_older(newest);
    return newest;
}

/* The crawl keeps its URL rules, even those of an older version. */
static int check_rules(struct crawler *c, deja_error *err)
{
    const deja_url_rules *rules = c->settled.cache.url;
    struct buffer was = {0};
    int rc = frontier_get_blob(c->queue, "url", &was, NULL, err);
    const char *blank = was.len > 0 ? memchr(was.data, ' ', was.len) : NULL;
    if (rc == DEJA_OK && was.len > 0 && (!blank || was.len >= sizeof(struct rules)))
        rc = frontier_damaged(c->queue, "its setting 'url'", err);
    else if (rc == DEJA_OK && !blank)
        rc = frontier_set_blob(c->queue, "url", ascii_slice(name_rules(rules).text), err);
    else if (rc == DEJA_OK)
        rules = settings_rules(buffer_slice(&was), rules);
    if (rc == DEJA_OK && !rules)
        rc = fail(err, DEJA_EMISMATCH,
                  "--url: this crawl uses profile %.*s with its own parameters to drop and keep; "
                  "give --url, --drop-params and --keep-params as at its start",
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
    in.started = visit > 0;
    in.begun = in.started && !c->settled.next_visit;
    if (rc == DEJA_OK)
        rc = check_rules(c, err);
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
