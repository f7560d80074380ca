/* cmd_crawl.c - the door to the crawler (crawler/): options, status line, visits. */
#include "cli/options/keyfile.h"
#include "cli/report/crawlreport.h"
#include "cli/session/command.h"
#include "cli/session/urlkeys.h"
#include "crawler/loop/scope.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/signals.h"
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SIMILAR_MAX 65535 /* what the counters of shapes can tell apart */

struct crawl_command {
    struct shared_options shared;
    const char *out, *revisit;
    double every;
    uint64_t visits;
    uint32_t scope;
    const char *match, *exclude;
    struct crawl_flag embeds, nofollow, sitemaps, no_archive;
    bool harvest;
    uint64_t max_pages, max_bytes, max_host_pages, max_similar, max_page, max_url, max_file;
    uint32_t max_depth, max_redirects, retries;
    double max_time, delay, max_crawl_delay, retry_wait, timeout, sync_every;
    uint32_t connections, per_host;
    struct crawl_flag allow_private;
    const char *user_agent, *contact, *ca_file;
};

/* Defaults are the crawler's: it knows which options an earlier run was given. */
static const struct crawl_command defaults = {
    .max_depth = CRAWL_UNSET,
    .max_redirects = CRAWL_UNSET,
    .retries = CRAWL_UNSET,
    .delay = CRAWL_UNSET_TIME,
    .max_crawl_delay = CRAWL_UNSET_TIME,
    .retry_wait = CRAWL_UNSET_TIME,
    .timeout = CRAWL_UNSET_TIME,
    .sync_every = CRAWL_UNSET_TIME,
};

/* --- Options ---------------------------------------------------------------------- */

static int check_folder(const struct crawl_command *o, deja_error *err)
{
    if (o->out && o->revisit)
        return fail(err, OPT_USAGE,
                    "--out begins a crawl or goes on with it, --revisit begins "
                    "its next visit: give one of them");
    if (!o->out && !o->revisit)
        return fail(err, OPT_USAGE, "where to? give --out DIR");
    if (o->visits > 0 && o->every == 0)
        return fail(err, OPT_USAGE, "--visits needs --every beside it");
    return DEJA_OK;
}

static int check_options(const void *target, deja_error *err)
{
    const struct crawl_command *o = target;
    const int rc = check_folder(o, err);
    if (rc < 0)
        return rc;
    if ((o->scope == SCOPE_REGEX) != (o->match != NULL))
        return fail(err, OPT_USAGE, "--scope regex and --match ERE go together");
    if (o->harvest && o->shared.json)
        return fail(err, OPT_USAGE,
                    "--harvest and --json both print to standard output: give one of them");
    if (o->shared.url == DEJA_URL_GSB)
        return fail(err, OPT_USAGE,
                    "--url: forms of profile gsb cannot be fetched; use safe, crawl or scrapy");
    if (o->shared.url != DEJA_URL_CRAWL && (o->shared.drop_params || o->shared.keep_params))
        return fail(err, OPT_USAGE, "--drop-params and --keep-params are for --url=crawl");
    return DEJA_OK;
}

static const struct opt options[] = {
    OPT_HEADING("What"),
    OPT_STRING('o', "out", "DIR", struct crawl_command, out,
               "the folder of the crawl; one that is there is gone on with"),
    OPT_CHOICE(0, "scope", "SCOPE", struct crawl_command, scope, scope_name,
               "which links are followed (default host)"),
    OPT_STRING(0, "match", "ERE", struct crawl_command, match,
               "for --scope regex: URLs that this extended regular expression matches"),
    OPT_STRING(0, "exclude", "ERE", struct crawl_command, exclude,
               "never URLs that this expression matches"),
    OPT_EITHER("embeds", struct crawl_command, embeds.on, embeds.off,
               "also images, scripts, style sheets and the like"),
    OPT_EITHER("no-embeds", struct crawl_command, embeds.off, embeds.on,
               "not any more, from the next visit on; the default"),
    OPT_EITHER("sitemaps", struct crawl_command, sitemaps.on, sitemaps.off,
               "also the sitemaps that robots.txt names"),
    OPT_EITHER("no-sitemaps", struct crawl_command, sitemaps.off, sitemaps.on,
               "not any more; the default"),
    OPT_EITHER("nofollow", struct crawl_command, nofollow.on, nofollow.off,
               "follow links with rel=nofollow as well"),
    OPT_EITHER("no-nofollow", struct crawl_command, nofollow.off, nofollow.on,
               "not any more; the default"),
    OPT_FLAG(0, "harvest", struct crawl_command, harvest,
             "print each URL that is found, once, also those out of scope"),
    OPT_EITHER("no-archive", struct crawl_command, no_archive.on, no_archive.off,
               "write no WARC files"),
    OPT_EITHER("archive", struct crawl_command, no_archive.off, no_archive.on,
               "write them again; the default"),
    OPT_HEADING("Visits"),
    OPT_STRING(0, "revisit", "DIR", struct crawl_command, revisit,
               "the next visit of the crawl in DIR, with other hashes and conditional requests"),
    OPT_SECONDS(0, "every", "TIME", struct crawl_command, every,
                "go on with a visit each TIME (30min, 6h, 1d) until Ctrl-C"),
    OPT_COUNT(0, "visits", "N", struct crawl_command, visits, 1, UINT64_MAX,
              "with --every: end after N visits"),
    OPT_HEADING("Limits"),
    OPT_COUNT(0, "max-pages", "N", struct crawl_command, max_pages, 1, UINT64_MAX,
              "pages of a visit"),
    OPT_SIZE(0, "max-bytes", "SIZE", struct crawl_command, max_bytes, "bytes of a visit"),
    OPT_SECONDS(0, "max-time", "TIME", struct crawl_command, max_time, "time of a run"),
    OPT_COUNT32(0, "max-depth", "N", struct crawl_command, max_depth, 0, CRAWL_UNSET - 1,
                "links from a seed (default 50)"),
    OPT_COUNT(0, "max-host-pages", "N", struct crawl_command, max_host_pages, 1, UINT64_MAX,
              "pages of a host"),
    OPT_SIZE(0, "max-page", "SIZE", struct crawl_command, max_page,
             "bytes of a page; the rest is left there (default 16M)"),
    OPT_COUNT(0, "max-url", "N", struct crawl_command, max_url, 16, 65536,
              "bytes of a URL (default 2048)"),
    OPT_COUNT(0, "max-similar", "N", struct crawl_command, max_similar, 1, SIMILAR_MAX,
              "URLs that differ only in the values of their parameters (default 10000)"),
    OPT_COUNT32(0, "max-redirects", "N", struct crawl_command, max_redirects, 0, 1000,
                "redirects in a row (default 10)"),
    OPT_SIZE(0, "max-file", "SIZE", struct crawl_command, max_file,
             "of a WARC file before the next is begun (default 1G)"),
    OPT_HEADING("Manners"),
    OPT_SECONDS(0, "delay", "TIME", struct crawl_command, delay,
                "pause between two requests to a host, or longer if its robots.txt says so "
                "(default 1s)"),
    OPT_SECONDS(0, "max-crawl-delay", "TIME", struct crawl_command, max_crawl_delay,
                "longest pause that a robots.txt can ask for (default 60s)"),
    OPT_COUNT32(0, "per-host", "N", struct crawl_command, per_host, 1, 64,
                "requests to a host at a time (default 1)"),
    OPT_COUNT32('c', "connections", "N", struct crawl_command, connections, 1, 4096,
                "requests at a time (default 32)"),
    OPT_EITHER("allow-private", struct crawl_command, allow_private.on, allow_private.off,
               "let --scope any and regex reach private addresses, such as 127.0.0.1 or 10.0.0.1"),
    OPT_EITHER("no-allow-private", struct crawl_command, allow_private.off, allow_private.on,
               "refuse them, unless a URL that you give names them; the default"),
    OPT_STRING(0, "contact", "TEXT", struct crawl_command, contact,
               "a page or address where you can be reached, for the User-Agent"),
    OPT_STRING(0, "user-agent", "TEXT", struct crawl_command, user_agent,
               "another User-Agent altogether"),
    OPT_COUNT32(0, "retries", "N", struct crawl_command, retries, 0, 100,
                "of requests that fail for reasons that may pass (default 2)"),
    OPT_SECONDS(0, "retry-wait", "TIME", struct crawl_command, retry_wait,
                "pause before the first of them; twice as long before the next (default 5s)"),
    OPT_SECONDS(0, "timeout", "TIME", struct crawl_command, timeout, "of a request (default 60s)"),
    OPT_STRING(0, "ca-file", "FILE", struct crawl_command, ca_file,
               "certificates to trust instead of the system's"),
    OPT_HEADING("URLs"),
    OPT_CHOICE(0, "url", "PROFILE", struct crawl_command, shared.url, deja_profile_name,
               "which spellings are one URL: safe, crawl or scrapy (default safe)"),
    OPT_STRING(0, "drop-params", "FILE", struct crawl_command, shared.drop_params,
               "for crawl: drop these parameters, too"),
    OPT_OPTIONAL("keep-params", "NAME,...", struct crawl_command, shared.keep_params, "",
                 "for crawl: keep these parameters; without names, keep all"),
    OPT_GROUP(struct crawl_command, shared, shared_sizing),
    OPT_SECONDS(0, "sync-every", "TIME", struct crawl_command, sync_every,
                "how much work a power cut may undo (default 1s); kill undoes none"),
    OPT_GROUP(struct crawl_command, shared, shared_secret),
    OPT_GROUP(struct crawl_command, shared, shared_mode),
    OPT_HEADING("General"),
    OPT_GROUP(struct crawl_command, shared, shared_json),
    OPT_GROUP(struct crawl_command, shared, shared_quiet),
    OPT_CHECK(check_options),
    OPT_END,
};

#ifdef DEJA_HAVE_CRAWLER

/* --- What is said -------------------------------------------------------------------- */

struct talk {
    const struct call *call;
    bool sync_output; /* a file: found URLs have to be on disk before they count as seen */
};

static void show_status(void *ctx, const struct crawl_account *a)
{
    const struct talk *t = ctx;
    struct console *console = t->call->console;
    const bool over_results = t->call->out->tty && t->call->out->written > 0;
    char line[400];
    if (!console->tty || console->quiet || over_results)
        return;
    const double rate = a->seconds > 0 ? (double)a->count[CRAWL_FETCHED] / a->seconds : 0;
    snprintf(line, sizeof line, "visit %llu: %s  %s  %s waiting  %s at work  %s  %s seen",
             (unsigned long long)a->visit, num_of(a->count[CRAWL_FETCHED], "page").s,
             num_speed(rate).s, num_count(a->waiting).s, num_count(a->in_flight).s,
             num_bytes(a->count[CRAWL_BYTES]).s, num_count(a->count[CRAWL_DUPLICATES]).s);
    console_line(console, line);
}

static void note_remembered(void *ctx, const char *list)
{
    const struct talk *t = ctx;
    console_note(t->call->console, "as before:%s", list);
}

static void note_no_contact(void *ctx)
{
    const struct talk *t = ctx;
    console_note(t->call->console, "no --contact: the people whose sites you visit cannot reach "
                                   "you");
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
                 "every URL, and more pages are lost; use a larger -n for the next visit",
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
    const int rc = out_flush(t->call->out, err);
    if (rc == DEJA_OK && t->sync_output && fdatasync(t->call->out->fd) != 0)
        return fail_errno(err, "%s: cannot sync", t->call->out->name);
    return rc;
}

/* --- The run ------------------------------------------------------------------------------ */

/* Wait for the next visit; false: the user does not want to. */
static bool sleep_until(const struct call *call, time_t when)
{
    char line[80];
    while (!signals_stopped(call->stop)) {
        const double left = difftime(when, time(NULL));
        if (left <= 0) {
            console_clear(call->console);
            return true;
        }
        snprintf(line, sizeof line, "next visit in %s", num_duration(left).s);
        if (call->console->tty && !call->console->quiet)
            console_line(call->console, line);
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

static struct crawl_options engine_options(const struct call *call)
{
    const struct crawl_command *o = call->options;
    return (struct crawl_options){
        .dir = o->revisit ? o->revisit : o->out,
        .seed = call->operands,
        .n_seeds = call->n_operands,
        .next_visit = o->revisit != NULL,
        .scope = o->scope,
        .match = o->match,
        .exclude = o->exclude,
        .contact = o->contact,
        .user_agent = o->user_agent,
        .ca_file = o->ca_file,
        .mode = o->shared.mode,
        .embeds = o->embeds,
        .nofollow = o->nofollow,
        .sitemaps = o->sitemaps,
        .no_archive = o->no_archive,
        .fixed = {.on = o->shared.fixed},
        .max_pages = o->max_pages,
        .max_total = o->max_bytes,
        .max_host_pages = o->max_host_pages,
        .max_similar = o->max_similar,
        .max_page = o->max_page,
        .max_url = o->max_url,
        .max_file = o->max_file,
        .max_depth = o->max_depth,
        .max_redirects = o->max_redirects,
        .retries = o->retries,
        .max_time = o->max_time,
        .delay = o->delay,
        .max_crawl_delay = o->max_crawl_delay,
        .allow_private = o->allow_private,
        .retry_wait = o->retry_wait,
        .timeout = o->timeout,
        .sync_every = o->sync_every,
        .connections = o->connections,
        .per_host = o->per_host,
        .stop = call->stop,
    };
}

/* The name of the crawl's cache; empty: it is too long for one. */
struct cache_path {
    char text[4096];
};

static struct cache_path cache_path(const struct crawl_options *engine)
{
    struct cache_path p;
    const int len = snprintf(p.text, sizeof p.text, "%s/seen.deja", engine->dir);
    if (len < 0 || (size_t)len >= sizeof p.text)
        p.text[0] = '\0';
    return p;
}

/* The profile of the URLs that the crawl's cache holds; 0: there is none. */
static uint32_t profile_before(const struct crawl_options *engine)
{
    const struct cache_path path = cache_path(engine);
    deja_filter *cache = NULL;
    deja_stats s = DEJA_STATS_INIT;
    const deja_options expect = {.size = sizeof expect, .key = engine->cache.key};
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

static int run(struct call *call, deja_error *err)
{
    const struct crawl_command *o = call->options;
    struct crawl_options engine = engine_options(call);
    struct talk talk = {.call = call};
    struct stat st;
    uint8_t key[DEJA_KEY_LEN];
    int rc = DEJA_OK;
    engine.cache = shared_filter_options(&o->shared);
    if (o->shared.key_file) {
        rc = keyfile_read(&o->shared, key, err);
        engine.cache.key = key;
    }
    talk.sync_output = fstat(call->out->fd, &st) == 0 && S_ISREG(st.st_mode);
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
    const struct cache_path path = cache_path(&engine);
    if (engine.mode && access(path.text, F_OK) == 0)
        console_note(call->console, "%s keeps its permissions; chmod changes them",
                     fail_path(path.text).text);
    if (rc == DEJA_OK)
        rc = run_with_rules(call, &engine, err);
    explicit_bzero(key, sizeof key);
    return rc;
}

#else

static int run(struct call *call, deja_error *err)
{
    (void)call;
    return fail(err, DEJA_ENOTSUP,
                "this build of deja has no crawler; install what it needs and build again "
                "(Debian: %s)",
                DEJA_CRAWLER_NEEDS);
}

#endif

const struct command cmd_crawl = {
    .name = "crawl",
    .summary = "fetch a site politely, into WARC files",
    .operands = "[URL]...",
    .options = options,
    .options_size = sizeof(struct crawl_command),
    .defaults = &defaults,
    .description =
        "Fetches the pages at the URLs and, breadth first, those that they link to, each "
        "once. What came is in DIR, as WARC 1.1 files that any replay tool opens, with their "
        "index. robots.txt is obeyed; a host gets one request at a time, and a pause behind "
        "it.\n\n"
        "  --scope  links that are followed\n"
        "  host     to the hosts of the URLs; the default\n"
        "  domain   to their registrable domains: all hosts of example.co.uk\n"
        "  prefix   that begin as a URL does, up to its last slash\n"
        "  regex    that the expression of --match matches\n"
        "  any      all\n\n"
        "Whether a URL was seen before is asked of a filter (-k, -n, -p, -m; by default a "
        "scalable one at one in a million), which takes about 4 bytes for each. A new URL "
        "that it takes for seen is a lost page; the summary tells how many that probably "
        "were.\n\n"
        "DIR holds all there is to know. After Ctrl-C, which finishes what is in flight, a "
        "crash or a limit, the same --out goes on; pages in flight may be fetched again, and "
        "none is lost. Options are remembered but for --max-pages, --max-bytes, --max-time, "
        "--every, --visits, --harvest, --ca-file, --key, --mode, --json and -q. Those that "
        "say which links are followed, and what is kept, stay as they are until the next "
        "visit; that can also take a flag back (--no-embeds).\n\n"
        "--revisit DIR begins the next visit: from the seeds again, with other hashes in the "
        "filter, so that pages that one visit lost are found by the next. Pages that did not "
        "change cost a question each. --every makes visits without end.",
    .examples =
        {{"a site, into the folder crawl",
          "deja crawl https://example.org/ --out crawl --contact https://example.com/about"},
         {"later: go on, or visit it again", "deja crawl --revisit crawl"},
         {"the documents alone, at most 10,000 pages",
          "deja crawl https://example.org/docs/ --scope prefix --max-pages 10k --out docs"},
         {"all hosts of a domain, each six hours",
          "deja crawl https://www.example.org/ --scope domain --every 6h --out watch"},
         {"URLs for a test set",
          "deja crawl https://example.org/ --harvest --no-archive --out h"}},
    .exits = {{0, "pages were fetched"},
              {1, "no page was fetched"},
              {2, "usage error or failure"}},
    .run = run,
};
