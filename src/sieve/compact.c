/* compact.c - merges runs in the background.
 *
 * A run from the log has level 0.  Eight runs of one level become one of the next, so a sieve has at
 * most seven runs per level, and a key is rewritten once per factor of eight.
 *
 * A thread of its own merges: it holds the lock only to choose its inputs and to publish the result,
 * which takes a few milliseconds, plus the syncs of the manifest.  Between small steps it waits while
 * a pass over the runs is under way (`pause`), so that the two do not compete for the disk, and
 * syncs its output as it goes, so that a sync of the log never waits for gigabytes of it.
 *
 * The inputs stay until the manifest lists the output instead of them.  A crash leaves one set or
 * the other; the merge starts again.  If a merge fails (a full disk), the sieve works on with more
 * runs, and the next flush tries again.  If merges are too slow, flushes wait for them
 * (dj_compact_room). */
#include "core/base/os.h"
#include "core/base/status.h"
#include "sieve/sieve.h"
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define LOT 512 /* keys of an input in memory */

/* A run that is merged. */
struct input {
    struct dj_cursor c;
    deja_fingerprint key[LOT];
    size_t at, n;
};

static int refill(struct input *in, deja_error *err)
{
    in->at = 0;
    return dj_cursor_read(&in->c, in->key, LOT, &in->n, err);
}

static bool is_before(const struct input *a, const struct input *b)
{
    return dj_print_less(&a->key[a->at], &b->key[b->at]);
}

/* Restores the order of a heap below place i. */
static void sift(struct input **heap, size_t n, size_t i)
{
    for (size_t child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && is_before(heap[child + 1], heap[child]))
            child++;
        if (!is_before(heap[child], heap[i]))
            return;
        struct input *one = heap[i];
        heap[i] = heap[child];
        heap[child] = one;
    }
}

/* Whether the merge may go on; waits while somebody else needs the disk. */
static bool may_go_on(const deja_sieve *s)
{
    static const struct timespec tick = {0, 2000000};
    while (atomic_load(&s->compactor.pause) && !atomic_load(&s->compactor.stop))
        nanosleep(&tick, NULL);
    return !atomic_load(&s->compactor.stop);
}

#define STOPPED 1 /* instead of a status */

/* Writes the keys of all inputs in order. */
static int merge_inputs(const deja_sieve *s, struct input **heap, size_t n,
                        struct dj_run_writer *w, deja_error *err)
{
    int rc = DEJA_OK;
    for (size_t i = n; i-- > 0;)
        sift(heap, n, i);
    while (n && rc == DEJA_OK) {
        struct input *first = heap[0];
        rc = dj_run_add(w, &first->key[first->at++], 1, err);
        if (rc == DEJA_OK && first->at == first->n) {
            rc = may_go_on(s) ? refill(first, err) : STOPPED;
            if (first->n == 0)
                heap[0] = heap[--n];
        }
        sift(heap, n, 0);
    }
    return rc;
}

/* Merges runs, perhaps of several sieves, into a new one. */
static int merge(const deja_sieve *s, const struct dj_run *run, const struct dj_folder *const *of,
                 size_t n, uint64_t number, struct dj_run *out, deja_error *err)
{
    struct dj_run_writer w;
    struct input *in = dj_alloc(s->alloc, n * sizeof *in, 64);
    struct input **heap = dj_alloc(s->alloc, n * sizeof(struct input *), 64);
    size_t begun = 0, live = 0;
    int rc = dj_run_begin(&w, &s->folder, s->id, number, s->share.buffer, s->alloc, err);
    w.steady = true;
    if (!in || !heap)
        rc = dj_fail_memory(err);
    for (; begun < n && rc == DEJA_OK; begun++) {
        dj_os_advise_file(run[begun].fd, DJ_OS_IN_ORDER);
        rc = dj_cursor_init(&in[begun].c, &run[begun], of[begun], s->share.buffer, s->alloc, err);
        if (rc == DEJA_OK)
            rc = refill(&in[begun], err);
        if (rc == DEJA_OK && in[begun].n)
            heap[live++] = &in[begun];
    }
    if (rc == DEJA_OK)
        rc = merge_inputs(s, heap, live, &w, err);
    if (rc == DEJA_OK)
        rc = dj_run_finish(&w, out, err);
    for (size_t i = 0; i < begun; i++)
        dj_cursor_fini(&in[i].c);
    dj_run_end(&w);
    dj_free(s->alloc, heap, n * sizeof(struct input *));
    dj_free(s->alloc, in, n * sizeof *in);
    return rc;
}

/* --- Choosing and publishing -------------------------------------------------------- */

/* Copies the oldest DJ_SIEVE_FAN runs of the lowest level that has as many; false if none has. */
static bool choose(const struct dj_runs *runs, struct dj_run chosen[DJ_SIEVE_FAN])
{
    for (uint32_t level = 0; level < 63; level++) { /* 63 is the highest */
        size_t n = 0;
        for (size_t i = 0; i < runs->n && n < DJ_SIEVE_FAN; i++)
            if (runs->run[i].level == level)
                chosen[n++] = runs->run[i];
        if (n == DJ_SIEVE_FAN)
            return true;
    }
    return false;
}

static bool is_among(const struct dj_run *run, const struct dj_run *some, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (some[i].number == run->number)
            return true;
    return false;
}

/* Lists `out` instead of the n runs `in`, and deletes those.  With the lock. */
static int replace_runs(deja_sieve *s, const struct dj_run *in, size_t n, const struct dj_run *out,
                        struct dj_manifest m, deja_error *err)
{
    bool taken;
    s->spare->n = 0;
    for (size_t i = 0; i < s->runs->n; i++)
        if (!is_among(&s->runs->run[i], in, n))
            s->spare->run[s->spare->n++] = s->runs->run[i];
    s->spare->run[s->spare->n++] = *out;
    m.merges++;
    const int rc = dj_sieve_publish(s, &m, &taken, err);
    if (!taken)
        return rc;
    for (size_t i = 0; i < n; i++) {
        struct dj_run old = in[i];
        dj_run_close(&old, s->alloc);
        if (rc == DEJA_OK)
            dj_folder_remove(&s->folder, dj_file_name_of("run", old.number).text);
    }
    return DEJA_OK;
}

/* One merge, if there is one to be done; true if it succeeded.  With the lock, which is released
 * during the merge. */
static bool merge_some(deja_sieve *s)
{
    struct dj_run in[DJ_SIEVE_FAN], out = {.fd = -1};
    const struct dj_folder *of[DJ_SIEVE_FAN];
    deja_error err = {0};
    if (!choose(s->runs, in))
        return false;
    for (size_t i = 0; i < DJ_SIEVE_FAN; i++)
        of[i] = &s->folder;
    const uint64_t number = s->manifest.next++;
    s->compactor.merging = true;
    pthread_mutex_unlock(&s->lock);
    int rc = merge(s, in, of, DJ_SIEVE_FAN, number, &out, &err);
    pthread_mutex_lock(&s->lock);
    s->compactor.merging = false;
    if (rc == DEJA_OK) {
        out.level = in[0].level + 1;
        rc = replace_runs(s, in, DJ_SIEVE_FAN, &out, s->manifest, &err);
        if (rc < 0) {
            dj_folder_remove(&s->folder, dj_file_name_of("run", number).text);
            dj_run_close(&out, s->alloc);
        }
    }
    if (rc < 0) {
        s->compactor.failed++;
        s->compactor.why = err;
    }
    pthread_cond_broadcast(&s->compactor.merged);
    return rc == DEJA_OK;
}

static void *work(void *sieve)
{
    deja_sieve *s = sieve;
    struct dj_compactor *c = &s->compactor;
    pthread_mutex_lock(&s->lock);
    while (!atomic_load(&c->stop)) {
        while (!c->asked && !atomic_load(&c->stop))
            pthread_cond_wait(&c->wake, &s->lock);
        c->asked = false;
        while (!atomic_load(&c->stop) && merge_some(s))
            ;
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int dj_compactor_init(deja_sieve *s)
{
    return pthread_cond_init(&s->compactor.wake, NULL) ||
           pthread_cond_init(&s->compactor.merged, NULL);
}

void dj_compactor_stop(deja_sieve *s)
{
    struct dj_compactor *c = &s->compactor;
    if (!c->started)
        return;
    pthread_mutex_lock(&s->lock);
    atomic_store(&c->stop, true);
    pthread_cond_signal(&c->wake);
    pthread_mutex_unlock(&s->lock);
    pthread_join(c->thread, NULL);
    c->started = false;
    atomic_store(&c->stop, false);
}

void dj_compactor_fini(deja_sieve *s)
{
    dj_compactor_stop(s);
    pthread_cond_destroy(&s->compactor.wake);
    pthread_cond_destroy(&s->compactor.merged);
}

void dj_compact(deja_sieve *s)
{
    struct dj_compactor *c = &s->compactor;
    struct dj_run unused[DJ_SIEVE_FAN];
    pthread_mutex_lock(&s->lock);
    if (s->flags & DEJA_SIEVE_NO_THREAD) {
        while (merge_some(s))
            ;
    } else if (choose(s->runs, unused)) {
        c->asked = true;
        /* If no thread can be made, there are more runs until the next flush tries again. */
        if (!c->started)
            c->started = pthread_create(&c->thread, NULL, work, s) == 0;
        else
            pthread_cond_signal(&c->wake);
    }
    pthread_mutex_unlock(&s->lock);
}

void dj_compact_room(deja_sieve *s)
{
    struct dj_compactor *c = &s->compactor;
    pthread_mutex_lock(&s->lock);
    const bool many = s->runs->n >= DJ_SIEVE_MANY;
    /* Wait for a merge that begins now: one that is under way may fail for a reason that is gone. */
    const uint64_t enough = c->failed + 1 + c->merging;
    pthread_mutex_unlock(&s->lock);
    if (!many)
        return;
    dj_compact(s);
    pthread_mutex_lock(&s->lock);
    while (s->runs->n >= DJ_SIEVE_MANY && c->started && (c->asked || c->merging) &&
           c->failed < enough)
        pthread_cond_wait(&c->merged, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

/* --- Merging two sieves --------------------------------------------------------------- */

static int check_merge(const deja_sieve *into, const deja_sieve *from, deja_error *err)
{
    const struct dj_manifest *a = &into->manifest, *b = &from->manifest;
    if (into == from || !into->writes)
        return dj_fail(err, DEJA_EINVAL, "%s is not open for writing, or is both sieves",
                       into->folder.path);
    if (a->id != b->id || a->key_check != b->key_check)
        return dj_fail(err, DEJA_EMISMATCH, "%s and %s have different secret keys",
                       into->folder.path, from->folder.path);
    if (a->profile != b->profile || a->url_rules != b->url_rules)
        return dj_fail(err, DEJA_EMISMATCH, "%s and %s have different URL rules",
                       into->folder.path, from->folder.path);
    if (into->n_fresh || into->n_handed || from->n_fresh || from->n_handed)
        return dj_fail(err, DEJA_EINVAL, "commit the new keys of both sieves before the merge");
    if (into->n_pending || from->n_pending)
        return dj_fail(err, DEJA_EINVAL, "settle the pending keys of %s before the merge",
                       into->n_pending ? into->folder.path : from->folder.path);
    return DEJA_OK;
}

/* Writes the recent keys of `from` to a run of `into`, which the manifest never lists. */
static int copy_recent(deja_sieve *into, deja_sieve *from, struct dj_run *run, deja_error *err)
{
    struct dj_run_writer w;
    deja_fingerprint *key = dj_recent_sorted(&from->recent);
    if (!key)
        return dj_fail_memory(err);
    int rc = dj_run_begin(&w, &into->folder, into->id, into->manifest.next++, into->share.buffer,
                          into->alloc, err);
    if (rc == DEJA_OK)
        rc = dj_run_add(&w, key, from->recent.n, err);
    if (rc == DEJA_OK)
        rc = dj_run_finish(&w, run, err);
    dj_run_end(&w);
    dj_free(from->alloc, key, from->recent.n * sizeof *key);
    return rc;
}

/* The runs of both sieves and the recent keys of `from` become one run of `into`. */
static int unite(deja_sieve *into, deja_sieve *from, deja_error *err)
{
    const size_t mine = into->runs->n, most = mine + from->runs->n + 1;
    struct dj_run *run = dj_alloc(into->alloc, most * sizeof *run, 64);
    const struct dj_folder **of = dj_alloc(into->alloc, most * sizeof(struct dj_folder *), 64);
    struct dj_run out = {.fd = -1}, recent = {.fd = -1};
    struct dj_manifest m = into->manifest;
    size_t n = 0;
    int rc = run && of ? DEJA_OK : dj_fail_memory(err);
    for (size_t i = 0; rc == DEJA_OK && i < mine; i++, n++) {
        run[n] = into->runs->run[i];
        of[n] = &into->folder;
    }
    for (size_t i = 0; rc == DEJA_OK && i < from->runs->n; i++, n++) {
        run[n] = from->runs->run[i];
        of[n] = &from->folder;
    }
    if (rc == DEJA_OK && from->recent.n) {
        rc = copy_recent(into, from, &recent, err);
        run[n] = recent;
        of[n++] = &into->folder;
    }
    for (size_t i = 0; rc == DEJA_OK && i < n; i++)
        out.level = run[i].level > out.level ? run[i].level : out.level;
    const uint32_t level = out.level + 1;
    const uint64_t number = into->manifest.next++;
    if (rc == DEJA_OK)
        rc = merge(into, run, of, n, number, &out, err);
    if (rc == DEJA_OK) {
        out.level = level < 63 ? level : 63;
        m.next = into->manifest.next;
        m.flushes++;
        m.filter_for = 0;
        rc = replace_runs(into, run, mine, &out, m, err);
        if (rc < 0) {
            dj_folder_remove(&into->folder, dj_file_name_of("run", number).text);
            dj_run_close(&out, into->alloc);
        }
    }
    if (recent.fd >= 0)
        dj_folder_remove(&into->folder, dj_file_name_of("run", recent.number).text);
    dj_run_close(&recent, into->alloc);
    dj_free(into->alloc, of, most * sizeof(struct dj_folder *));
    dj_free(into->alloc, run, most * sizeof *run);
    return rc;
}

int deja_sieve_merge(deja_sieve *into, deja_sieve *from, deja_error *err)
{
    int rc = check_merge(into, from, err);
    if (rc < 0)
        return rc;
    dj_compactor_stop(into);
    dj_compactor_stop(from);
    if (!from->has_runs && !from->recent.n)
        return DEJA_OK;
    rc = dj_sieve_flush(into, err);
    dj_compactor_stop(into);
    if (rc < 0)
        return rc;
    dj_recent_clear(&into->recent);
    if (into->filter) /* first: a filter with too many keys does no harm, one with too few does */
        rc = deja_sieve_each(from, dj_add_to_filter, into->filter, err);
    if (rc < 0)
        return rc;
    pthread_mutex_lock(&into->lock);
    rc = unite(into, from, err);
    into->has_runs = into->runs->n > 0;
    pthread_mutex_unlock(&into->lock);
    if (rc == DEJA_OK) /* it is empty, and there are runs now */
        dj_recent_init(&into->recent, dj_recent_fit(into->share.recent), into->alloc);
    return rc == DEJA_OK ? deja_sieve_sync(into, err) : rc;
}
