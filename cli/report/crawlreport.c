/* crawlreport.c - the summary of a crawl: lines for people, or JSON. */
#include "cli/report/crawlreport.h"
#include "cli/session/sieves.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include <ctype.h>
#include <stdio.h>

/* A list of the nonzero counts: "3 not found, 2 timeout". */
struct list {
    char text[400];
};

static void list_add(struct list *l, uint64_t n, const char *what)
{
    if (n)
        printable_append(l->text, sizeof l->text, "%s%s %s", l->text[0] ? ", " : "",
                         num_count(n).s, what);
}

static const struct {
    unsigned count;
    const char *what;
} left_out[] = {
    {CRAWL_ROBOTS, "by robots.txt"},      {CRAWL_SCOPE, "out of scope"},
    {CRAWL_NOFOLLOW, "by nofollow"},      {CRAWL_DEPTH, "too deep"},
    {CRAWL_TRAPS, "that look endless"},   {CRAWL_HOST_LIMIT, "over a host's limit"},
    {CRAWL_SCHEME, "with other schemes"}, {CRAWL_BAD, "that are not URLs"},
};

static double pages_per_second(const struct crawl_account *a)
{
    return a->seconds > 0 ? (double)a->count[CRAWL_FETCHED] / a->seconds : 0;
}

/* "probably lost: 3", or "lost: none, certain to 1 in 10^11". */
static void note_urls(struct console *console, const struct crawl_account *a)
{
    const uint64_t *n = a->count;
    char lost[100];
    if (a->certain)
        snprintf(lost, sizeof lost, "lost: none, %s", sieves_certainty(a->sieve.wrong).s);
    else
        snprintf(lost, sizeof lost, "probably lost: %s",
                 a->lost < 0.05 ? "none" : num_estimate(a->lost).s);
    console_note(console, "URLs: %s offered, %s seen before, %s queued; %s",
                 num_count(n[CRAWL_OFFERED]).s, num_count(n[CRAWL_DUPLICATES]).s,
                 num_count(n[CRAWL_QUEUED]).s, lost);
}

static void note_cache(struct console *console, const struct crawl_account *a)
{
    const uint64_t late = a->count[CRAWL_LATE];
    note_urls(console, a);
    if (late > 0)
        console_note(console, "%s came late (a filter alone would have lost %s)",
                     num_of(late, "URL").s, late == 1 ? "it" : "them");
    if (a->rebuilt > 0)
        console_note(console, "added to the cache again after a crash: %s",
                     num_of(a->rebuilt, "URL").s);
    if (a->undone > 0)
        console_note(console, "damaged in the archive and queued again: %s",
                     num_of(a->undone, "page").s);
}

static void note_visits(struct console *console, const struct crawl_account *a)
{
    const uint64_t *n = a->count;
    if (a->visit < 2)
        return;
    if (a->left_behind > 0)
        console_note(console, "not fetched in the last visit and dropped: %s",
                     num_of(a->left_behind, "URL").s);
    console_note(console, "%s unchanged; %s lost before and recovered, %s appeared since",
                 num_of(n[CRAWL_UNCHANGED], "page").s, num_count(n[CRAWL_RECOVERED]).s,
                 num_count(n[CRAWL_APPEARED]).s);
}

/* Reports sites that were not crawled or asked for longer pauses, and how to change that. */
static void note_manners(struct console *console, const struct crawl_account *a)
{
    if (a->count[CRAWL_PRIVATE] > 0)
        console_note(console, "to crawl private addresses, too, give --allow-private");
    if (a->robots_from[0])
        console_note(
            console,
            "%s: not crawled, because its robots.txt redirects out of the scope, to %s; start "
            "from there, or choose a wider --scope",
            a->robots_from, a->robots_to);
    if (a->capped > 0)
        console_note(console, "%s for a longer pause than --max-crawl-delay allows",
                     a->capped == 1 ? "1 robots.txt asks" : "some robots.txt files ask");
}

void crawlreport_text(const struct call *call, const struct crawl_account *a)
{
    struct console *console = call->console;
    struct list failed = {""}, left = {""};
    for (unsigned i = CRAWL_FIRST_FAILURE; i < CRAWL_AFTER_FAILURES; i++)
        list_add(&failed, a->count[i], crawl_count_name(i));
    for (size_t i = 0; i < sizeof left_out / sizeof left_out[0]; i++)
        list_add(&left, a->count[left_out[i].count], left_out[i].what);
    console_note(console, "visit %llu, %s: %s, %s in %s, %s pages/s", (unsigned long long)a->visit,
                 a->ended, num_of(a->count[CRAWL_FETCHED], "page").s,
                 num_bytes(a->count[CRAWL_BYTES]).s, num_duration(a->seconds).s,
                 num_fixed(pages_per_second(a), 1).s);
    note_cache(console, a);
    note_visits(console, a);
    if (failed.text[0])
        console_note(console, "failed: %s", failed.text);
    if (left.text[0])
        console_note(console, "left out: %s", left.text);
    note_manners(console, a);
    if (a->asked == 0 && a->waiting == 0 && a->pending == 0)
        console_note(console,
                     "this visit was already complete, and nothing was fetched; --revisit "
                     "starts the next");
    if (a->waiting > 0)
        console_note(console, "%s waiting; run with the same -o to resume",
                     num_of(a->waiting, "URL").s);
    if (a->pending > 0)
        console_note(console, "%s pending, perhaps new; the next run decides about them",
                     num_of(a->pending, "link").s);
}

/* Prints counts under their names: "not found" becomes not_found. */
static void json_counts(struct json *j, const struct crawl_account *a, unsigned first,
                        unsigned end)
{
    for (unsigned i = first; i < end; i++) {
        char key[40];
        size_t len = 0;
        for (const char *p = crawl_count_name(i); *p && len + 1 < sizeof key; p++)
            key[len++] = *p == ' ' || *p == '.' ? '_' : (char)tolower((unsigned char)*p);
        key[len] = '\0';
        json_uint(j, key, a->count[i]);
    }
}

static void json_certain(struct json *j, const struct crawl_account *a)
{
    json_uint(j, "lost", 0);
    json_real(j, "wrong", a->sieve.wrong);
    json_counts(j, a, CRAWL_LATE, CRAWL_COUNTS);
    json_uint(j, "pending", a->pending);
}

static void json_cache(struct json *j, const struct crawl_account *a)
{
    json_object(j, "cache");
    json_string(j, "kind", a->certain ? "sieve" : deja_kind_name(a->cache_kind));
    json_uint(j, "bytes", a->cache_bytes);
    if (a->certain) {
        json_uint(j, "keys", a->sieve.keys);
        json_uint(j, "disk_bytes", a->sieve.disk);
        json_uint(j, "settled", a->sieve.settled);
        json_uint(j, "passes", a->sieve.passes);
        json_real(j, "wait_rate", a->sieve.wait_rate);
    } else {
        json_real(j, "fp_now", a->fp_rate);
    }
    json_end(j);
}

void crawlreport_json(const struct call *call, const struct crawl_account *a)
{
    struct json j;
    json_begin(&j, call->out);
    json_object(&j, NULL);
    json_uint(&j, "visit", a->visit);
    json_string(&j, "ended", a->ended);
    json_real(&j, "seconds", a->seconds);
    json_real(&j, "pages_per_second", pages_per_second(a));
    json_counts(&j, a, CRAWL_FETCHED, CRAWL_NANOSECONDS);
    json_counts(&j, a, CRAWL_OFFERED, CRAWL_ROBOTS);
    json_real(&j, "expected_lost", a->lost);
    if (a->certain)
        json_certain(&j, a);
    json_uint(&j, "requests", a->asked);
    json_uint(&j, "waiting", a->waiting);
    json_uint(&j, "left_behind", a->left_behind);
    json_uint(&j, "rebuilt", a->rebuilt);
    json_uint(&j, "undone", a->undone);
    json_uint(&j, "hosts", a->hosts);
    json_uint(&j, "capped_delays", a->capped);
    json_counts(&j, a, CRAWL_UNREAD, CRAWL_FIRST_FAILURE);
    json_object(&j, "left_out");
    json_counts(&j, a, CRAWL_ROBOTS, CRAWL_UNREAD);
    json_end(&j);
    json_object(&j, "failed");
    json_counts(&j, a, CRAWL_FIRST_FAILURE, CRAWL_AFTER_FAILURES);
    json_end(&j);
    json_cache(&j, a);
    json_end(&j);
}
