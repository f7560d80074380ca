/* bench_files.c - the first adds to a file, and syncs.
 *
 * Adding to a file for the first time costs a page fault for each page of it; a filter in memory
 * that has been filled shows none of that.  Files are in the page cache, and times are elapsed
 * times, because a sync waits for the disk.
 *
 *   new.deja   created in every round
 *   old.deja   made before the first round with n/2 keys; a round adds SHARE of n
 *   plain      written and synced for the limits */
#include "bench/bench_case.h"
#include "bench/bench_job.h"
#include "tools/base/clock.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/mix.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SHARE 64 /* a job adds one key for this many keys of the capacity */
#define PAGE  4096

struct files {
    char dir[512], young[544], old[544], plain[544];
    deja_filter *filter; /* in new.deja, between its two jobs */
    uint64_t *number;
    uint8_t *is_new;
    uint64_t fresh; /* the next new key */
    char *room;     /* IO_PIECE zero bytes */
};

/* --- Filters ---------------------------------------------------------------- */

/* Adds keys as hashes until the filter is half full. */
static int fill_half(struct bench_work *w, deja_filter *f, deja_error *err)
{
    const struct files *s = w->self;
    const uint64_t half = w->opt.capacity / 2;
    int rc = DEJA_OK;
    for (uint64_t at = 0; at < half && rc == DEJA_OK && !signals_stopped(w->stop);) {
        const size_t lot = half - at < BENCH_LOT_MAX ? (size_t)(half - at) : BENCH_LOT_MAX;
        for (size_t i = 0; i < lot; i++)
            s->number[i] = mix_nth(++at);
        rc = deja_filter_add_hashed(f, s->number, lot, NULL, NULL, err);
    }
    return rc;
}

/* Adds new keys in lots and adds up the time and the limit per key. */
static int add_share(struct bench_work *w, deja_filter *f, double *ns, double *limit_ns,
                     deja_error *err)
{
    struct files *s = w->self;
    uint64_t left = w->opt.capacity / SHARE, mistaken = 0;
    const double keys = (double)left;
    int rc = DEJA_OK;
    *limit_ns = 0;
    while (left > 0 && rc == DEJA_OK) {
        const size_t lot = left < BENCH_LOT_MAX ? (size_t)left : BENCH_LOT_MAX;
        for (size_t i = 0; i < lot; i++)
            s->number[i] = s->fresh++;
        bench_keys_make(w->keys, s->number, lot);
        *limit_ns +=
            (double)lot * (bench_limit_hash(&w->limit, w->keys) + bench_limit_line(&w->limit));
        const double begin = clock_ns();
        rc = deja_filter_add_batch(f, w->keys->slice, lot, s->is_new, NULL, err);
        *ns += clock_ns() - begin;
        for (size_t i = 0; i < lot; i++)
            mistaken += !s->is_new[i];
        left -= lot;
    }
    *ns /= keys;
    *limit_ns /= keys;
    return rc < 0 ? rc : bench_work_check(w, (uint64_t)keys, mistaken, err);
}

static int create_and_add(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    struct files *s = w->self;
    const double begin = clock_ns();
    int rc = deja_filter_create(s->young, DEJA_CREATE_REPLACE, &w->opt, &s->filter, err);
    *ns = clock_ns() - begin;
    return rc < 0 ? rc : add_share(w, s->filter, ns, limit_ns, err);
}

static int open_and_add(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    const struct files *s = w->self;
    deja_filter *f = NULL;
    const double begin = clock_ns();
    int rc = deja_filter_open(s->old, DEJA_OPEN_WRITE, NULL, &f, err);
    *ns = clock_ns() - begin;
    if (rc == DEJA_OK)
        rc = add_share(w, f, ns, limit_ns, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    deja_filter_free(f);
    return rc;
}

/* --- Syncs ------------------------------------------------------------------ */

/* Writes bytes to a new or existing file and syncs it: the limit of a sync. */
static int write_plain(const struct files *s, uint64_t bytes, int flags, double *ns,
                       deja_error *err)
{
    const double begin = clock_ns();
    const int fd = open(s->plain, O_WRONLY | O_CLOEXEC | flags, 0600);
    bool written = fd >= 0;
    while (bytes > 0 && written) {
        const size_t len = bytes < IO_PIECE ? (size_t)bytes : IO_PIECE;
        written = io_write(fd, s->room, len);
        bytes -= len;
    }
    written = written && sys_sync_data(fd) == 0;
    if (fd >= 0)
        written = close(fd) == 0 && written;
    *ns = clock_ns() - begin;
    return written ? DEJA_OK : fail_errno(err, "%s", fail_path(s->plain).text);
}

static int sync_all(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    struct files *s = w->self;
    const double begin = clock_ns();
    int rc = deja_filter_sync(s->filter, err);
    *ns = clock_ns() - begin;
    deja_filter_free(s->filter);
    s->filter = NULL;
    return rc < 0 ? rc : write_plain(s, w->bytes, O_CREAT | O_TRUNC, limit_ns, err);
}

static int add_one(struct bench_work *w, double *ns, double *limit_ns, deja_error *err)
{
    struct files *s = w->self;
    deja_filter *f = NULL;
    bool is_new = false;
    bench_keys_make(w->keys, &s->fresh, 1);
    s->fresh++;
    const double begin = clock_ns();
    int rc = deja_filter_open(s->old, DEJA_OPEN_WRITE, NULL, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_add(f, w->keys->slice[0], &is_new, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    deja_filter_free(f);
    *ns = clock_ns() - begin;
    return rc < 0 ? rc : write_plain(s, PAGE, 0, limit_ns, err);
}

/* --- Setup ------------------------------------------------------------------ */

static int make_old(struct bench_work *w, deja_error *err)
{
    const struct files *s = w->self;
    deja_filter *f = NULL;
    deja_stats stats = DEJA_STATS_INIT;
    int rc = deja_filter_create(s->old, 0, &w->opt, &f, err);
    if (rc == DEJA_OK)
        rc = fill_half(w, f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, 0, &stats, err);
    w->bytes = stats.bytes;
    deja_filter_free(f);
    return rc;
}

static int files_begin(struct bench_work *w, deja_error *err)
{
    struct files *s = calloc(1, sizeof *s);
    w->self = s;
    if (!s || !(s->number = malloc(BENCH_LOT_MAX * sizeof *s->number)) ||
        !(s->is_new = malloc(BENCH_LOT_MAX)) || !(s->room = calloc(1, IO_PIECE)))
        return fail(err, DEJA_ENOMEM, "out of memory for the files");
    (void)deja_options_grow(&w->opt); /* as the command does */
    if ((size_t)snprintf(s->dir, sizeof s->dir, "%s/deja-bench-XXXXXX", w->dir) >= sizeof s->dir)
        return fail(err, DEJA_EINVAL, "--dir: the name is too long");
    if (!mkdtemp(s->dir)) {
        s->dir[0] = '\0';
        return fail_errno(err, "cannot create a directory in %s; use --dir",
                          fail_path(w->dir).text);
    }
    (void)snprintf(s->young, sizeof s->young, "%s/new.deja", s->dir);
    (void)snprintf(s->old, sizeof s->old, "%s/old.deja", s->dir);
    (void)snprintf(s->plain, sizeof s->plain, "%s/plain", s->dir);
    int rc = make_old(w, err);
    return rc < 0 ? rc : bench_limit_init(&w->limit, w->bytes, BENCH_LOT_MAX, err);
}

static void files_end(struct bench_work *w)
{
    struct files *s = w->self;
    bench_limit_fini(&w->limit);
    if (!s)
        return;
    deja_filter_free(s->filter);
    if (s->dir[0] != '\0') {
        (void)unlink(s->young);
        (void)unlink(s->old);
        (void)unlink(s->plain);
        (void)rmdir(s->dir);
    }
    free(s->number);
    free(s->is_new);
    free(s->room);
    free(s);
}

static const struct bench_job jobs[] = {
    {"create a file, add n/64 keys", "key", "hash and cache line", create_and_add},
    {"sync it", "run", "write as many bytes, sync", sync_all},
    {"open a file, add n/64 keys", "key", "hash and cache line", open_and_add},
    {"open, add one key, sync, close", "run", "open, write 4 KiB, sync, close", add_one},
    {0},
};
const struct bench_group bench_files = {files_begin, files_end, jobs};
