/* rest.c - small filters at rest: just their bytes, without the tables of a filter in use.
 *
 * A filter in use has tables for its hash functions, its parts and its statistics: 5 kB, however
 * small its body is.  That is much for a filter of 100 items, and there may be one for each host.
 * So a server has at most AWAKE small filters in use, those used last.  The others are at rest:
 * just the bytes of their .deja file, and the header page, which is nearly all zeros, only as its
 * runs of other bytes.  A filter of 100 items at 1 % then takes 0.5 kB.
 *
 * A command on a filter at rest first loads it from these bytes, in ten microseconds or more.  All that a
 * filter knows is in its file, except what the clock changes: windows and filters with dates are
 * never at rest.  Nor are filters that a load would refuse, and those whose key is not in the file.
 *
 * Only the main thread puts filters to rest or wakes them.  It lists the small filters in use.  The
 * background thread that frees values takes them off the list, so there is a lock.  A child that saves
 * the data takes no lock: it only reads. */
#include "rest.h"
#include "tools/base/fail.h"
#include <pthread.h>
#include <string.h>

#define AWAKE     16
#define MOST_BODY ((size_t)16 << 10)

static struct {
    pthread_mutex_t lock;
    struct value *newest, *oldest;
    unsigned n;
} list = {.lock = PTHREAD_MUTEX_INITIALIZER};

static uint8_t file[VALUE_PAGE + MOST_BODY]; /* of the filter that comes to rest or wakes */

/* --- The header page as runs ------------------------------------------------------
 *
 * A run is the number of zeros before it (2 bytes), its length (1 byte) and its bytes.  The last
 * run has the length 0. */

#define RUN_HEAD 3
#define RUN_MOST 255
#define RUN_GAP  3                /* shorter gaps are part of a run */
#define RUNS_MAX (2 * VALUE_PAGE) /* each run has at least RUN_GAP bytes with its gap */

static size_t zeros_at(const uint8_t *page, size_t at)
{
    size_t n = 0;
    while (at + n < VALUE_PAGE && !page[at + n])
        n++;
    return n;
}

/* Whether zeros begin at `at` that are worth a new run. */
static bool is_gap(const uint8_t *page, size_t at)
{
    const size_t n = zeros_at(page, at);
    return n >= RUN_GAP || at + n == VALUE_PAGE;
}

static size_t pack_page(const uint8_t *page, uint8_t *runs)
{
    uint8_t *to = runs;
    size_t zeros;
    for (size_t at = 0; at + (zeros = zeros_at(page, at)) < VALUE_PAGE;) {
        size_t n = 1;
        at += zeros;
        while (n < RUN_MOST && at + n < VALUE_PAGE && !is_gap(page, at + n))
            n++;
        to[0] = (uint8_t)zeros;
        to[1] = (uint8_t)(zeros >> 8);
        to[2] = (uint8_t)n;
        memcpy(to + RUN_HEAD, page + at, n);
        to += RUN_HEAD + n;
        at += n;
    }
    memset(to, 0, RUN_HEAD);
    return (size_t)(to - runs) + RUN_HEAD;
}

/* Fills the page and returns the length of its runs. */
static size_t unpack_page(const uint8_t *runs, uint8_t *page)
{
    const uint8_t *from = runs;
    size_t n;
    memset(page, 0, VALUE_PAGE);
    do {
        page += (size_t)from[0] | (size_t)from[1] << 8;
        n = from[2];
        memcpy(page, from + RUN_HEAD, n);
        page += n;
        from += RUN_HEAD + n;
    } while (n);
    return (size_t)(from - runs);
}

/* --- Coming to rest ------------------------------------------------------------------ */

/* Can it ever be at rest? */
static bool is_small(const struct value *v)
{
    if (!v->filter || deja_filter_export_len(v->filter) > sizeof file ||
        deja_kind_can(v->kind, DEJA_CAN_EXPIRE))
        return false;
    return !(value_stats(v).flags & (DEJA_KEY_APART | DEJA_DATES));
}

/* Replaces the filter with its bytes.  If a load would refuse them, or memory is short, it remains
 * a filter. */
static void rest(struct value *v)
{
    uint8_t runs[RUNS_MAX];
    const size_t len = value_read(v, 0, file, sizeof file), n = pack_page(file, runs);
    const size_t body = len - VALUE_PAGE;
    uint8_t *at = NULL;
    if (value_check(v, (char *)file, NULL) == DEJA_OK)
        at = value_take(v, n + body);
    if (!at)
        return;
    memcpy(at, runs, n);
    memcpy(at + n, file + VALUE_PAGE, body);
    v->rest = (struct rest){at, n + body};
    deja_filter_free(v->filter);
    v->filter = NULL;
}

int rest_wake(struct value *v, deja_error *err)
{
    deja_options expect = DEJA_OPTIONS_INIT;
    if (!v->rest.at)
        return DEJA_OK;
    expect.alloc = &v->alloc;
    const size_t len = rest_read(v, 0, file, sizeof file);
    const int rc = deja_filter_import(file, len, &expect, &v->filter, err);
    if (rc == DEJA_OK) {
        value_give(v, v->rest.at);
        v->rest = (struct rest){NULL, 0};
    }
    return rc;
}

/* --- The list of those in use ---------------------------------------------------------- */

static void unlist(struct value *v)
{
    if (!v->listed)
        return;
    *(v->newer ? &v->newer->older : &list.newest) = v->older;
    *(v->older ? &v->older->newer : &list.oldest) = v->newer;
    v->newer = v->older = NULL;
    v->listed = false;
    list.n--;
}

static void enlist(struct value *v)
{
    v->older = list.newest;
    *(list.newest ? &list.newest->newer : &list.oldest) = v;
    list.newest = v;
    v->listed = true;
    list.n++;
}

void rest_note(struct value *v)
{
    if (!v->listed && !is_small(v))
        return;
    pthread_mutex_lock(&list.lock);
    unlist(v);
    enlist(v);
    pthread_mutex_unlock(&list.lock);
}

void rest_trim(void)
{
    pthread_mutex_lock(&list.lock);
    while (list.n > AWAKE) {
        struct value *v = list.oldest;
        if (is_small(v)) /* it may have grown */
            rest(v);
        unlist(v); /* only now: a value that is not listed may be freed at any time */
    }
    pthread_mutex_unlock(&list.lock);
}

void rest_forget(struct value *v)
{
    if (!v->listed)
        return;
    pthread_mutex_lock(&list.lock);
    unlist(v);
    pthread_mutex_unlock(&list.lock);
}

/* --- The bytes of a value at rest -------------------------------------------------------- */

uint64_t rest_len(const struct value *v)
{
    uint8_t page[VALUE_PAGE];
    return VALUE_PAGE + v->rest.len - unpack_page(v->rest.at, page);
}

size_t rest_read(const struct value *v, uint64_t at, void *out, size_t len)
{
    uint8_t page[VALUE_PAGE], *to = out;
    const size_t runs = unpack_page(v->rest.at, page), body = v->rest.len - runs;
    size_t done = 0;
    if (at < VALUE_PAGE) {
        done = VALUE_PAGE - (size_t)at < len ? VALUE_PAGE - (size_t)at : len;
        memcpy(to, page + at, done);
        at += done;
    }
    if (at < VALUE_PAGE || at - VALUE_PAGE >= body)
        return done;
    const size_t from = (size_t)(at - VALUE_PAGE), left = body - from;
    const size_t more = left < len - done ? left : len - done;
    memcpy(to + done, v->rest.at + runs + from, more);
    return done + more;
}

/* As the server's allocator rounds it up: to four sizes for each power of two. */
static size_t rounded(size_t len)
{
    size_t step = 16;
    while (len > 8 * step)
        step *= 2;
    return (len + step - 1) & ~(step - 1);
}

size_t rest_size(const struct value *v)
{
    uint8_t page[VALUE_PAGE], runs[RUNS_MAX];
    if (v->rest.at)
        return rounded(v->rest.len);
    if (!is_small(v))
        return 0;
    (void)value_read(v, 0, page, sizeof page);
    return rounded(pack_page(page, runs) + (size_t)deja_filter_export_len(v->filter) - VALUE_PAGE);
}
