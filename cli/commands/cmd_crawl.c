/* cmd_crawl.c - deja crawl: the options, status line and visits of the crawler (crawler/). */
#include "cli/options/keyfile.h"
#include "cli/report/crawllog.h"
#include "cli/report/crawlreport.h"
#include "cli/session/command.h"
#include "cli/session/urlkeys.h"
#include "crawler/loop/scope.h"
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include "tools/base/progress.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <time.h>
#include <unistd.h>

#define SIMILAR_MAX 65535 /* the largest count of a shape */

struct crawl_command {
    struct shared_options shared;
    struct crawl_options engine;
    const char *out, *revisit, *log;
    struct opt_strings prefer;
    double every;
    uint64_t visits;
    bool harvest;
};

/* The crawler applies the defaults, because it remembers the options of earlier runs. */
static const struct crawl_command defaults = {
    .engine = {.max_depth = CRAWL_UNSET,
               .max_redirects = CRAWL_UNSET,
               .retries = CRAWL_UNSET,
               .delay = CRAWL_UNSET_TIME,
               .max_crawl_delay = CRAWL_UNSET_TIME,
               .retry_wait = CRAWL_UNSET_TIME,
               .timeout = CRAWL_UNSET_TIME,
               .sync_every = CRAWL_UNSET_TIME,
               .host_share = CRAWL_UNSET},
};

/* --- Options ---------------------------------------------------------------------- */

static int check_folder(const struct crawl_command *o, deja_error *err)
{
    if (o->out && o->revisit)
        return fail(err, OPT_USAGE,
                    "--output starts or resumes a crawl, --revisit starts its next visit; give "
                    "one of them");
    if (!o->out && !o->revisit)
        return fail(err, OPT_USAGE, "no output folder; give -o DIR");
    if (o->visits > 0 && o->every == 0)
        return fail(err, OPT_USAGE, "--visits needs --every");
    return DEJA_OK;
}

static int check_log(const struct crawl_command *o, deja_error *err)
{
    if (o->log && !o->log[0])
        return fail(err, OPT_USAGE, "--log needs a file name");
    if (o->log && strcmp(o->log, "-") == 0 && (o->shared.json || o->harvest))
        return fail(err, OPT_USAGE,
                    "--log - and %s both print to standard output; give --log a file",
                    o->shared.json ? "--json" : "--harvest");
    return DEJA_OK;
}

/* Lines separate the expressions where they are stored. */
static int check_prefer(const struct crawl_command *o, deja_error *err)
{
    for (size_t i = 0; i < o->prefer.n; i++) {
        if (strchr(o->prefer.at[i], '\n'))
            return fail(err, OPT_USAGE, "--prefer: an expression cannot contain a newline");
        if (!o->prefer.at[i][0] && o->prefer.n > 1)
            return fail(err, OPT_USAGE,
                        "--prefer '' forgets all expressions; it cannot be combined with others");
    }
    return DEJA_OK;
}

static int check_options(const void *target, deja_error *err)
{
    const struct crawl_command *o = target;
    int rc = check_folder(o, err);
    if (rc == DEJA_OK)
        rc = check_log(o, err);
    if (rc == DEJA_OK)
        rc = check_prefer(o, err);
    if (rc < 0)
        return rc;
    if ((o->engine.scope == SCOPE_REGEX) != (o->engine.match != NULL))
        return fail(err, OPT_USAGE, "--scope regex and --match ERE go together");
    if (o->harvest && o->shared.json)
        return fail(err, OPT_USAGE,
                    "--harvest and --json both print to standard output; give one of them");
    if (o->shared.url == DEJA_URL_GSB || o->shared.url == DEJA_URL_SHAPE)
        return fail(err, OPT_USAGE,
                    "--url: URLs in the form of profile %s cannot be fetched; use safe, crawl or "
                    "scrapy",
                    deja_profile_name(o->shared.url));
    if (o->engine.certain.on && o->shared.mode)
        return fail(err, OPT_USAGE,
                    "--certain and --mode cannot be combined: a sieve is readable only by its "
                    "owner; use chmod");
    if (o->shared.url != DEJA_URL_CRAWL && (o->shared.drop_params || o->shared.keep_params))
        return fail(err, OPT_USAGE, "--drop-params and --keep-params need --url=crawl");
    return DEJA_OK;
}

/* Defines --name and --no-name, which undoes it. */
#define ON_OFF(name, field, on_help, off_help)                                                    \
    OPT_EITHER(name, struct crawl_command, engine.field.on, engine.field.off, on_help),           \
        OPT_EITHER("no-" name, struct crawl_command, engine.field.off, engine.field.on, off_help)

static const struct opt options[] = {
    OPT_HEADING("Scope and output"),
    OPT_STRING('o', "output", "DIR", struct crawl_command, out,
               "write the crawl to DIR; if DIR holds a crawl, resume it", OPT_USED(1)),
    OPT_STRING(0, "out", "DIR", struct crawl_command, out, "same as --output",
               OPT_OLD("--output=DIR")),
    OPT_CHOICE(0, "scope", "SCOPE", struct crawl_command, engine.scope, scope_name,
               "follow these links (default host)", OPT_USED(1)),
    OPT_STRING(0, "match", "ERE", struct crawl_command, engine.match,
               "follow URLs that match this extended regular expression (--scope regex)"),
    OPT_STRING(0, "exclude", "ERE", struct crawl_command, engine.exclude,
               "never fetch URLs that match this expression"),
    ON_OFF("embeds", embeds, "also fetch images, scripts, style sheets and the like",
           "do not fetch them from the next visit on (default)"),
    ON_OFF("sitemaps", sitemaps, "also read the sitemaps that robots.txt names",
           "do not read them (default)"),
    ON_OFF("nofollow", nofollow, "also follow links with rel=nofollow",
           "do not follow them (default)"),
    OPT_FLAG(0, "harvest", struct crawl_command, harvest,
             "print each URL found, once, even if it is out of scope", OPT_USED(1)),
    OPT_EITHER("no-archive", struct crawl_command, engine.no_archive.on, engine.no_archive.off,
               "write no WARC files"),
    OPT_EITHER("archive", struct crawl_command, engine.no_archive.off, engine.no_archive.on,
               "write them again (default)"),
    OPT_STRING(0, "log", "FILE", struct crawl_command, log,
               "append a line of JSON to FILE for each URL in the queue: its page, or why it has "
               "none; - is standard output"),
    OPT_HEADING("Order"),
    OPT_CHOICE(0, "order", "ORDER", struct crawl_command, engine.order, crawl_order_name,
               "fetch URLs in this order (default breadth)"),
    OPT_STRINGS(
        0, "prefer", "ERE[:WEIGHT]", struct crawl_command, prefer,
        "fetch URLs that match this expression before others; WEIGHT is from -1000 to 1000 "
        "(default 1); may be repeated"),
    OPT_COUNT32(0, "host-share", "N", struct crawl_command, engine.host_share, 0, CRAWL_UNSET - 1,
                "after N pages of a host, let the other hosts that are ready go first (default 0: "
                "never)"),
    OPT_HEADING("Visits"),
    OPT_STRING(0, "revisit", "DIR", struct crawl_command, revisit,
               "start the next visit of the crawl in DIR; it uses different hash functions and "
               "conditional requests",
               OPT_USED(1)),
    OPT_SECONDS(0, "every", "TIME", struct crawl_command, every,
                "start a visit every TIME (30min, 6h, 1d) until Ctrl-C"),
    OPT_COUNT(0, "visits", "N", struct crawl_command, visits, 1, UINT64_MAX,
              "with --every, stop after N visits"),
    OPT_HEADING("Limits"),
    OPT_COUNT(0, "max-pages", "N", struct crawl_command, engine.max_pages, 1, UINT64_MAX,
              "stop a visit after N pages", OPT_USED(1)),
    OPT_SIZE(0, "max-bytes", "SIZE", struct crawl_command, engine.max_total,
             "stop a visit after SIZE bytes"),
    OPT_SECONDS(0, "max-time", "TIME", struct crawl_command, engine.max_time,
                "stop a run after TIME"),
    OPT_COUNT32(0, "max-depth", "N", struct crawl_command, engine.max_depth, 0, CRAWL_UNSET - 1,
                "follow at most N links in a row from a seed (default 50)", OPT_USED(1)),
    OPT_COUNT(0, "max-host-pages", "N", struct crawl_command, engine.max_host_pages, 1, UINT64_MAX,
              "fetch at most N pages per host"),
    OPT_SIZE(0, "max-page", "SIZE", struct crawl_command, engine.max_page,
             "fetch at most SIZE bytes per page and discard the rest (default 16M)"),
    OPT_COUNT(0, "max-url", "N", struct crawl_command, engine.max_url, 16, 65536,
              "skip URLs longer than N bytes (default 2048)"),
    OPT_COUNT(0, "max-similar", "N", struct crawl_command, engine.max_similar, 1, SIMILAR_MAX,
              "fetch at most N URLs that differ only in parameter values (default 10000)"),
    OPT_COUNT32(0, "max-redirects", "N", struct crawl_command, engine.max_redirects, 0, 1000,
                "follow at most N redirects in a row (default 10)"),
    OPT_SIZE(0, "max-file", "SIZE", struct crawl_command, engine.max_file,
             "start a new WARC file after SIZE bytes (default 1G)"),
    OPT_HEADING("Politeness"),
    OPT_SECONDS(0, "delay", "TIME", struct crawl_command, engine.delay,
                "wait TIME between requests to a host (default 1s), or longer if its robots.txt "
                "says so",
                OPT_USED(1)),
    OPT_SECONDS(0, "max-crawl-delay", "TIME", struct crawl_command, engine.max_crawl_delay,
                "wait at most TIME if robots.txt asks for more (default 60s)"),
    OPT_COUNT32(0, "per-host", "N", struct crawl_command, engine.per_host, 1, 64,
                "send up to N requests to a host at a time (default 1)"),
    OPT_COUNT32(0, "connections", "N", struct crawl_command, engine.connections, 1, 4096,
                "send up to N requests at a time (default 32)", OPT_USED(1)),
    OPT_COUNT32('c', "connections", "N", struct crawl_command, engine.connections, 1, 4096,
                "same as --connections", OPT_OLD("--connections N")),
    OPT_EITHER("allow-private", struct crawl_command, engine.allow_private.on,
               engine.allow_private.off,
               "let --scope any and regex reach private addresses, such as 127.0.0.1 or 10.0.0.1"),
    OPT_EITHER("no-allow-private", struct crawl_command, engine.allow_private.off,
               engine.allow_private.on,
               "refuse them, unless you give a URL that names them (default)"),
    OPT_STRING(0, "contact", "TEXT", struct crawl_command, engine.contact,
               "add TEXT to the User-Agent: a page or an address where you can be reached",
               OPT_USED(1)),
    OPT_STRING(0, "user-agent", "TEXT", struct crawl_command, engine.user_agent,
               "replace the User-Agent"),
    OPT_COUNT32(0, "retries", "N", struct crawl_command, engine.retries, 0, 100,
                "retry requests that fail temporarily up to N times (default 2)"),
    OPT_SECONDS(0, "retry-wait", "TIME", struct crawl_command, engine.retry_wait,
                "wait TIME before the first retry, twice as long before the next (default 5s)"),
    OPT_SECONDS(0, "timeout", "TIME", struct crawl_command, engine.timeout,
                "give up a request after TIME (default 60s)"),
    OPT_STRING(0, "ca-file", "FILE", struct crawl_command, engine.ca_file,
               "trust the certificates in FILE instead of the system's"),
    OPT_HEADING("URLs"),
    OPT_OPTIONAL_CHOICE(
        "url", "PROFILE", struct crawl_command, shared.url, deja_profile_name, "safe",
        "compare URLs by the rules of safe, crawl or scrapy (default safe)", OPT_USED(1)),
    OPT_STRING(0, "drop-params", "FILE", struct crawl_command, shared.drop_params,
               "also drop the parameters in FILE (profile crawl)"),
    OPT_OPTIONAL(
        "keep-params", "NAME,...", struct crawl_command, shared.keep_params, "",
        "keep these parameters; without names, drop none of the built-in list (profile crawl)"),
    OPT_FLAG(0, "certain", struct crawl_command, engine.certain.on,
             "lose no page: keep the URLs seen in a sieve on disk, in -m of memory (default 64M)",
             OPT_USED(2)),
    OPT_GROUP(struct crawl_command, shared, shared_sizing),
    OPT_SECONDS(
        0, "sync-every", "TIME", struct crawl_command, engine.sync_every,
        "sync the crawl every TIME (default 1s); a power cut loses up to this much work, a kill "
        "none"),
    OPT_GROUP(struct crawl_command, shared, shared_secret),
    OPT_GROUP(struct crawl_command, shared, shared_mode),
    OPT_HEADING("General"),
    OPT_GROUP(struct crawl_command, shared, shared_json),
    OPT_GROUP(struct crawl_command, shared, shared_quiet),
    OPT_CHECK(check_options),
    OPT_END,
};

#ifdef DEJA_HAVE_CRAWLER

/* --- Messages -------------------------------------------------------------------- */

struct talk {
    const struct call *call;
    bool sync_output;   /* a file: URLs found must be on disk before they count as seen */
    uint64_t max_pages; /* of a visit; 0: no limit */
    struct crawllog log;
};

static void show_status(void *ctx, const struct crawl_account *a)
{
    const struct talk *t = ctx;
    struct console *console = t->call->console;
    const uint64_t pages = a->count[CRAWL_FETCHED];
    const bool over_results = console->tty && t->call->out->tty && t->call->out->written > 0;
    char lead[100], line[400];
    if (over_results || !console_due(console))
        return;
    snprintf(lead, sizeof lead, "visit %llu: %s", (unsigned long long)a->visit,
             num_of(pages, "page").s);
    snprintf(line, sizeof line, "  %s",
             num_speed(a->seconds > 0 ? (double)pages / a->seconds : 0).s);
    if (t->max_pages > 0 && pages <= t->max_pages)
        progress_share(line, sizeof line, (double)pages / (double)t->max_pages, a->seconds);
    printable_append(line, sizeof line, "  %s waiting  %s at work  %s", num_count(a->waiting).s,
                     num_count(a->in_flight).s, num_bytes(a->count[CRAWL_BYTES]).s);
    if (a->certain)
        printable_append(line, sizeof line, "  %s pending  %s late", num_count(a->pending).s,
                         num_count(a->count[CRAWL_LATE]).s);
    else
        printable_append(line, sizeof line, "  %s seen", num_count(a->count[CRAWL_DUPLICATES]).s);
    console_line(console, lead, line);
}

static void note_remembered(void *ctx, const char *list)
{
    const struct talk *t = ctx;
    console_note(t->call->console, "as before:%s", list);
}

static void note_no_contact(void *ctx)
{
    const struct talk *t = ctx;
    console_note(t->call->console, "no --contact: the people whose sites you visit cannot "
                                   "reach you");
}

static void note_read_as(void *ctx, const char *given, deja_slice url)
{
    const struct talk *t = ctx;
    console_note(t->call->console, "'%.150s' is read as %.*s", given, (int)url.len,
                 (const char *)url.data);
}

static void warn_crowded(void *ctx, const deja_stats *s)
{
    const struct talk *t = ctx;
    console_warn(t->call->console,
                 "the cache was sized for %s and now holds %s: its rate is %s and rises with "
                 "every URL, so more pages are lost; use a larger -n for the next visit",
                 num_of(s->capacity, "URL").s, num_count(s->keys).s, num_rate(s->fp_now).s);
}

static int print_url(void *ctx, deja_slice url, deja_error *err)
{
    const struct talk *t = ctx;
    (void)err;
    out_write(t->call->out, url.data, url.len);
    out_write(t->call->out, "\n", 1);
    return t->call->out->error == 0 ? DEJA_OK : out_flush(t->call->out, err);
}

static int hand_over(void *ctx, deja_error *err)
{
    const struct talk *t = ctx;
    return call_hand_over(t->call->out, t->sync_output, err);
}

static int log_fate(void *ctx, const struct crawl_fate *fate, deja_error *err)
{
    struct talk *t = ctx;
    return crawllog_add(&t->log, fate, err);
}

static int hand_over_log(void *ctx, deja_error *err)
{
    struct talk *t = ctx;
    return crawllog_sync(&t->log, err);
}

/* --- The run ------------------------------------------------------------------------------ */

/* Waits for the next visit; false: Ctrl-C.  A terminal shows how long; elsewhere one message is
 * enough. */
static bool sleep_until(const struct call *call, time_t when)
{
    char line[80];
    if (!call->console->live && when > time(NULL))
        console_note(call->console, "next visit in %s",
                     num_duration(difftime(when, time(NULL))).s);
    while (!signals_stopped(call->stop)) {
        const double left = difftime(when, time(NULL));
        if (left <= 0) {
            console_clear(call->console);
            return true;
        }
        snprintf(line, sizeof line, " in %s", num_duration(left).s);
        if (call->console->live)
            console_line(call->console, "next visit", line);
        const struct timespec tick = {.tv_nsec = 200000000};
        (void)nanosleep(&tick, NULL);
    }
    return false;
}

static int run_visits(struct call *call, struct crawl_options *o, deja_error *err)
{
    const struct crawl_command *command = call->options;
    struct crawl_account account = {0};
    for (uint64_t visits = 1;; visits++) {
        const time_t began = time(NULL);
        const int rc = crawl_run(o, &account, err);
        console_clear(call->console);
        if (rc < 0)
            return rc;
        if (command->shared.json)
            crawlreport_json(call, &account);
        else
            crawlreport_text(call, &account);
        const bool more = command->every > 0 && (!command->visits || visits < command->visits);
        if (!more || out_flush(call->out, err) < 0 ||
            !sleep_until(call, began + (time_t)(command->every + 0.5)))
            break;
        o->next_visit = true;
    }
    return account.count[CRAWL_FETCHED] > 0 ? COMMAND_DONE : COMMAND_NO;
}

/* Adds the fields that the option table does not fill. */
static struct crawl_options engine_options(const struct call *call)
{
    const struct crawl_command *o = call->options;
    struct crawl_options e = o->engine;
    e.dir = o->revisit ? o->revisit : o->out;
    e.seed = call->operands;
    e.n_seeds = call->n_operands;
    e.next_visit = o->revisit != NULL;
    e.mode = o->shared.mode;
    e.fixed.on = o->shared.fixed;
    e.cache = shared_filter_options(&o->shared);
    e.stop = call->stop;
    return e;
}

/* The path of the crawl's cache; empty if it is too long. */
struct seen_path {
    char text[4096];
    bool is_sieve;
};

static struct seen_path seen_path(const struct crawl_options *engine)
{
    struct seen_path p;
    int len = snprintf(p.text, sizeof p.text, "%s/seen.sieve", engine->dir);
    p.is_sieve = len > 0 && (size_t)len < sizeof p.text && deja_sieve_exists(p.text);
    if (!p.is_sieve)
        len = snprintf(p.text, sizeof p.text, "%s/seen.deja", engine->dir);
    if (len < 0 || (size_t)len >= sizeof p.text)
        p.text[0] = '\0';
    return p;
}

static uint32_t profile_of_sieve(const char *path, const void *key)
{
    deja_sieve *sieve = NULL;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    deja_sieve_options opt = DEJA_SIEVE_OPTIONS_INIT;
    opt.key = key;
    if (deja_sieve_open(path, 0, &opt, &sieve, NULL) < 0)
        return 0;
    const int rc = deja_sieve_stats(sieve, &r, NULL);
    deja_sieve_free(sieve);
    return rc == DEJA_OK ? r.profile : 0;
}

/* The profile of the URLs in the crawl's cache, or 0 if there is no cache. */
static uint32_t profile_before(const struct crawl_options *engine)
{
    const struct seen_path path = seen_path(engine);
    deja_filter *cache = NULL;
    deja_stats s = DEJA_STATS_INIT;
    const deja_options expect = {.size = sizeof expect, .key = engine->cache.key};
    if (path.is_sieve)
        return profile_of_sieve(path.text, engine->cache.key);
    if (deja_filter_open(path.text, 0, &expect, &cache, NULL) < 0)
        return 0;
    const int rc = deja_filter_stats(cache, 0, &s, NULL);
    deja_filter_free(cache);
    return rc == DEJA_OK ? s.profile : 0;
}

static int run_with_rules(struct call *call, struct crawl_options *engine, deja_error *err)
{
    const struct crawl_command *o = call->options;
    struct shared_options shared = o->shared;
    struct urlkeys urls = {0};
    if (shared.url == 0)
        shared.url = profile_before(engine);
    if (shared.url == 0)
        shared.url = DEJA_URL_SAFE;
    int rc = urlkeys_init(&urls, &shared, URLKEYS_COMPARE, err);
    engine->cache.url = urls.rules;
    if (rc == DEJA_OK)
        rc = run_visits(call, engine, err);
    urlkeys_fini(&urls);
    return rc;
}

/* Joins the expressions, one per line; NULL: none given. */
static int join_prefer(const struct opt_strings *list, struct buffer *text, const char **joined,
                       deja_error *err)
{
    bool ok = true;
    for (size_t i = 0; i < list->n; i++)
        ok = ok && (i == 0 || buffer_text(text, "\n")) && buffer_text(text, list->at[i]);
    if (!ok || !buffer_add(text, "", 1))
        return fail(err, DEJA_ENOMEM, "out of memory for --prefer");
    *joined = list->n > 0 ? text->data : NULL;
    return DEJA_OK;
}

static int run_with_log(struct call *call, struct crawl_options *engine, struct talk *talk,
                        deja_error *err)
{
    const struct crawl_command *o = call->options;
    struct buffer prefer = {0};
    int rc = join_prefer(&o->prefer, &prefer, &engine->prefer, err);
    if (rc == DEJA_OK && o->log) {
        rc = crawllog_open(&talk->log, o->log, call->out, err);
        engine->talk.decided = log_fate;
        engine->talk.hand_over_log = hand_over_log;
    }
    const bool opened = rc == DEJA_OK && o->log;
    if (rc == DEJA_OK)
        rc = run_with_rules(call, engine, err);
    if (opened)
        rc = crawllog_close(&talk->log, rc, err);
    buffer_fini(&prefer);
    return rc;
}

static int run(struct call *call, deja_error *err)
{
    const struct crawl_command *o = call->options;
    struct crawl_options engine = engine_options(call);
    struct talk talk = {.call = call};
    uint8_t key[DEJA_KEY_LEN];
    int rc = DEJA_OK;
    if (o->shared.key_file) {
        rc = keyfile_read(&o->shared, key, err);
        engine.cache.key = key;
    }
    talk.sync_output = call_is_file(call->out);
    talk.max_pages = engine.max_pages;
    engine.talk = (struct crawl_talk){.ctx = &talk,
                                      .status = show_status,
                                      .no_contact = note_no_contact,
                                      .read_as = note_read_as,
                                      .crowded = warn_crowded};
    if (!o->shared.json)
        engine.talk.as_before = note_remembered;
    if (o->harvest) {
        engine.talk.found = print_url;
        engine.talk.hand_over = hand_over;
    }
    const struct seen_path path = seen_path(&engine);
    if (engine.mode && access(path.text, F_OK) == 0)
        console_note(call->console, "%s keeps its permissions; use chmod to change them",
                     fail_path(path.text).text);
    if (rc == DEJA_OK)
        rc = run_with_log(call, &engine, &talk, err);
    sys_wipe(key, sizeof key);
    return rc;
}

#else

static int run(struct call *call, deja_error *err)
{
    (void)call;
    return fail(err, DEJA_ENOTSUP,
                "this build of deja has no crawler; install its dependencies and rebuild (Debian: "
                "%s)",
                DEJA_CRAWLER_NEEDS);
}

#endif

const struct command cmd_crawl = {
    .name = "crawl",
    .often = true,
    .summary = "crawl a site politely and write WARC files",
    .operands = "[URL]...",
    .options = options,
    .options_size = sizeof(struct crawl_command),
    .defaults = &defaults,
    .description =
        "Fetches the pages at the URLs and the pages that they link to, each once, breadth first "
        "or in another --order. The pages are in DIR, as WARC 1.1 files that any replay tool opens, with an index. "
        "deja obeys robots.txt and sends a host one request at a time, with a pause after "
        "each.\n\n"
        "  --scope  links that are followed\n"
        "  host     to the hosts of the URLs; the default\n"
        "  domain   to their registrable domains: all hosts of example.co.uk\n"
        "  prefix   that start with a given URL, up to its last slash\n"
        "  regex    that match the expression of --match\n"
        "  any      all\n\n"
        "  --order    which of the waiting URLs is next\n"
        "  breadth    the one the fewest links away from a seed; the default\n"
        "  depth      the one the most links away\n"
        "  backlinks  the one with the most links to it, so far\n"
        "  opic       the one with the most cash: each page divides its own among its links\n\n"
        "--prefer comes before the order: the weights of all expressions that match a URL are "
        "added, and the URL with the largest sum is next. A colon at the end that only an integer "
        "follows separates the weight; for an expression that ends like that, append :1. Both "
        "decide between the URLs of hosts that deja may contact now.\n\n"
        "A filter decides whether a URL was seen before (-k, -n, -p, -m; by default scalable, "
        "with a rate of one in a million); it takes about 4 bytes per URL. A new URL that is "
        "mistaken for seen is a lost page; the summary estimates how many were lost.\n\n"
        "With --certain, no page is lost: links that could be new or seen wait until they have "
        "been looked up in a sieve on disk. Its memory (-m, 64M by default) is "
        "fixed, however many URLs there are. A crawl begins with --certain or stays without "
        "it.\n\n"
        "DIR holds the whole state. After Ctrl-C, which waits for pages in flight, a crash or a "
        "limit, the same -o resumes the crawl; pages in flight may be fetched again, and none "
        "is lost. Options are remembered, except --max-pages, --max-bytes, --max-time, --every, "
        "--visits, --harvest, --log, --ca-file, --key, --mode, --json and -q. Those that select links "
        "and what is stored apply from the next visit on, which can also undo a flag "
        "(--no-embeds).\n\n"
        "--revisit DIR starts the next visit from the seeds, with different hash functions, so "
        "that it finds pages lost in the last visit. Unchanged pages cost one conditional request "
        "each. --every starts visits until Ctrl-C.",
    .examples = {{"a site, into the folder crawl",
                  "deja crawl https://example.org/ -o crawl --contact "
                  "https://example.com/me"},
                 {"later: visit it again", "deja crawl --revisit crawl"},
                 {"only the documents, at most 10,000 pages",
                  "deja crawl https://example.org/docs/ --scope prefix --max-pages 10k -o docs"},
                 {"all hosts of a domain, every six hours",
                  "deja crawl https://www.example.org/ --scope domain --every 6h -o watch"},
                 {"URLs for a test set",
                  "deja crawl https://example.org/ --harvest --no-archive -o h"}},
    .exits = {{0, "pages were fetched"},
              {1, "no page was fetched"},
              {2, "usage error or failure"}},
    .run = run,
};
