/* sieve.c - new or seen, with certainty, in fixed memory.
 *
 *   judge    recent has the key                          seen
 *            there are no runs, or the filter lacks it   new: `fresh` until the commit
 *            otherwise                                   pending: spooled until it is settled
 *   commit   appends fresh keys to the log; late keys that were handed over as well (settle.c)
 *   flush    when `recent` is full: its keys become a run and enter the filter; the log restarts
 *
 * So the keys of a sieve are those in its runs and those in its log; `recent` is the log in memory,
 * and no key is in both.  The filter covers the runs.  It is derived data: deja_sieve_save keeps a
 * copy, and a writer that finds none, or an old one, reads the runs once.
 *
 * Memory: half or more for the filter, a quarter for pending keys (16 bytes each), an eighth, 96
 * MiB at most, for recent keys (34 bytes each), the rest for buffers; below 32 MiB, the buffers
 * take more than the rest.  Before there are runs, the filter's share belongs to `recent`: a sieve
 * that fits in memory never makes a line wait.
 *
 * The filter takes its share as soon as there are keys for it, and nobody knows how many will come.  k = 4 is the best number
 * of hashes at 6 bits per key.  With more memory per key it still makes few keys wait (1 in 4,000 at
 * 32 bits), and with less (3 bits), 1 in 3.
 *
 * Order of writes: output before state, as in dedup.c.  A key reaches the log only after its line was
 * handed over, and the spool loses a key only after its line, if it was new, was handed over and its
 * fingerprint is in the log.  A crash in between brings the key back as pending; if the log has it
 * by then, it is settled as seen. */
#include "sieve/sieve.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOST_RECENT  ((uint64_t)96 << 20)
#define LEAST_RECENT ((uint64_t)144 << 10) /* room for a batch */

enum {
    LOT = 256,      /* keys judged at once */
    AHEAD = 24,     /* keys whose buckets are fetched ahead */
    FRESH = 1 << 17 /* keys that may wait for a commit */
};

/* --- Memory ------------------------------------------------------------------------ */

struct dj_shares dj_shares_of(uint64_t memory)
{
    const uint64_t eighth = memory / 8;
    struct dj_shares share = {.recent = eighth < MOST_RECENT ? eighth : MOST_RECENT,
                              .pending = memory / 4};
    if (share.recent < LEAST_RECENT)
        share.recent = LEAST_RECENT;
    share.buffer = (size_t)(memory / 256);
    if (share.buffer < DJ_RUN_BUFFER)
        share.buffer = DJ_RUN_BUFFER;
    if (share.buffer > (1 << 20))
        share.buffer = 1 << 20;
    const uint64_t rest = 24 * (uint64_t)share.buffer; /* merges, passes, lists of keys */
    share.filter = memory - share.recent - share.pending - (rest < eighth ? rest : eighth);
    return share;
}

bool dj_sieve_grow(const deja_sieve *s, void **array, size_t *cap, size_t need, size_t size)
{
    size_t room = *cap ? *cap : 1024;
    if (need <= *cap)
        return true;
    while (room < need)
        room *= 2;
    void *other = dj_alloc(s->alloc, room * size, 64);
    if (!other)
        return false;
    if (*cap)
        memcpy(other, *array, *cap * size);
    dj_free(s->alloc, *array, *cap * size);
    *array = other;
    *cap = room;
    return true;
}

uint64_t dj_runs_keys(const struct dj_runs *runs)
{
    uint64_t keys = 0;
    for (size_t i = 0; i < runs->n; i++)
        keys += runs->run[i].keys;
    return keys;
}

/* --- Files -------------------------------------------------------------------------- */

int dj_sieve_publish(deja_sieve *s, struct dj_manifest *m, bool *taken, deja_error *err)
{
    m->sequence++;
    const int rc = dj_manifest_write(&s->folder, m, s->spare, &s->manifest_fd, taken, err);
    if (*taken) {
        struct dj_runs *runs = s->runs;
        s->runs = s->spare;
        s->spare = runs;
        s->manifest = *m;
    }
    return rc;
}

/* The manifest with the counts of this thread. */
struct dj_manifest dj_sieve_next(deja_sieve *s)
{
    struct dj_manifest m = s->manifest;
    m.waited = s->waited;
    m.settled = s->settled;
    m.late = s->late;
    m.passes = s->passes;
    *s->spare = *s->runs;
    return m;
}

int dj_sieve_log(deja_sieve *s, const deja_fingerprint *key, size_t n, deja_error *err)
{
    enum {
        MANY = 8192
    };
    const size_t room = DJ_BATCH_HEAD + (n < MANY ? n : MANY) * DJ_PRINT_LEN;
    uint8_t *batch = dj_alloc(s->alloc, room, 64);
    const uint64_t len = s->log.len, batches = s->log.batches;
    int rc = batch ? DEJA_OK : dj_fail_memory(err);
    for (size_t i = 0, some; i < n && rc == DEJA_OK; i += some) {
        some = n - i < MANY ? n - i : MANY;
        for (size_t k = 0; k < some; k++) {
            uint8_t *p = batch + DJ_BATCH_HEAD + k * DJ_PRINT_LEN;
            dj_store64(p, key[i + k].hash);
            dj_store32(p + 8, key[i + k].check);
        }
        rc = dj_journal_append(&s->log, batch, some * DJ_PRINT_LEN, (uint32_t)some, err);
    }
    if (rc < 0 && s->log.len > len)
        dj_journal_cut(&s->log, len, batches);
    dj_free(s->alloc, batch, room);
    return rc;
}

/* Writes sorted keys to a run, which is opened. */
static int write_run(deja_sieve *s, uint64_t number, const deja_fingerprint *key, size_t n,
                     struct dj_run *run, deja_error *err)
{
    struct dj_run_writer w;
    int rc = dj_run_begin(&w, &s->folder, s->manifest.id, number, s->share.buffer, s->alloc, err);
    if (rc == DEJA_OK)
        rc = dj_run_add(&w, key, n, err);
    if (rc == DEJA_OK)
        rc = dj_run_finish(&w, run, err);
    dj_run_end(&w);
    return rc;
}

/* Replaces the old log with a run of its keys and a new, empty log. */
static int exchange_log(deja_sieve *s, const deja_fingerprint *key, size_t n, deja_error *err)
{
    struct dj_manifest m = dj_sieve_next(s);
    struct dj_journal log = {.fd = -1};
    struct dj_run run = {.fd = -1};
    bool taken = false;
    if (s->runs->n >= 2 * DJ_SIEVE_MANY && s->compactor.failed)
        return dj_fail(err, DEJA_EIO, "%s has %zu runs, because merges fail; solve this first: %s",
                       s->folder.path, s->runs->n, s->compactor.why.text);
    if (s->runs->n == DJ_MAX_RUNS)
        return dj_fail(err, DEJA_EFULL, "%s has %d runs", s->folder.path, DJ_MAX_RUNS);
    s->manifest.next += 2; /* used, even if this fails */
    m.next += 2;
    m.log = m.next - 2;
    m.flushes++;
    m.filter_for = 0;
    int rc = dj_journal_create(&log, &s->folder, "log", m.log, m.id, err);
    if (rc == DEJA_OK) /* makes the name of the log durable, too */
        rc = write_run(s, m.next - 1, key, n, &run, err);
    if (rc == DEJA_OK) {
        s->spare->run[s->spare->n++] = run;
        rc = dj_sieve_publish(s, &m, &taken, err);
    }
    if (taken) {
        const struct dj_file_name old = dj_file_name_of("log", s->log.number);
        dj_journal_close(&s->log);
        if (rc == DEJA_OK)
            dj_folder_remove(&s->folder, old.text);
        s->log = log;
    } else {
        if (run.fd >= 0)
            dj_folder_remove(&s->folder, dj_file_name_of("run", run.number).text);
        dj_run_close(&run, s->alloc);
        if (log.fd >= 0)
            dj_folder_remove(&s->folder, dj_file_name_of("log", log.number).text);
        dj_journal_close(&log);
    }
    s->has_runs = s->has_runs || taken;
    return taken ? DEJA_OK : rc; /* a sync makes sure of the rest */
}

int dj_sieve_flush(deja_sieve *s, deja_error *err)
{
    const size_t n = s->recent.n;
    if (!n)
        return DEJA_OK;
    deja_fingerprint *key = dj_recent_sorted(&s->recent);
    if (!key)
        return dj_fail_memory(err);
    dj_compact_room(s);
    pthread_mutex_lock(&s->lock);
    int rc = exchange_log(s, key, n, err);
    pthread_mutex_unlock(&s->lock);
    if (rc == DEJA_OK)
        rc = dj_sieve_extend_filter(s, key, n);
    dj_free(s->alloc, key, n * sizeof *key);
    if (rc < 0)
        return rc;
    dj_recent_clear(&s->recent); /* before the filter takes its share */
    dj_recent_init(&s->recent, dj_recent_fit(s->share.recent), s->alloc);
    dj_compact(s);
    return dj_sieve_need_filter(s, err);
}

/* --- Keys --------------------------------------------------------------------------- */

void deja_sieve_hash_batch(const deja_sieve *s, const deja_slice *keys, size_t n,
                           deja_fingerprint *fp)
{
    dj_printer_hash(&s->printer, keys, n, fp);
}

static int refuse_reader(const deja_sieve *s, deja_error *err)
{
    return s->writes ? DEJA_OK
                     : dj_fail(err, DEJA_EINVAL, "%s is open for reading only", s->folder.path);
}

static int reserve(deja_sieve *s, size_t n, deja_error *err)
{
    if (n > DEJA_SIEVE_BATCH || n > dj_recent_most(&s->recent))
        return dj_fail(err, DEJA_EINVAL, "%zu keys at once: %d are the most", n, DEJA_SIEVE_BATCH);
    int rc = dj_sieve_need_filter(s, err);
    if (rc < 0)
        return rc;
    rc = s->n_fresh + n > FRESH ? DEJA_EFULL : dj_recent_reserve(&s->recent, n, false);
    if (rc == DEJA_EFULL && s->n_fresh == 0) {
        rc = dj_sieve_flush(s, err);
        if (rc < 0)
            return rc;
        rc = dj_recent_reserve(&s->recent, n, false);
    }
    if (rc == DEJA_EFULL)
        return dj_fail(err, DEJA_EFULL, "%zu new keys are not committed: commit them first",
                       s->n_fresh);
    if (rc < 0 ||
        !dj_sieve_grow(s, (void **)&s->fresh, &s->fresh_cap, s->n_fresh + n, sizeof *s->fresh))
        return dj_fail_memory(err);
    return DEJA_OK;
}

/* Judges up to LOT keys; the positions of pending ones go to `which`. */
static size_t judge_lot(deja_sieve *s, const deja_fingerprint *fp, size_t n, uint8_t *verdict,
                        uint32_t first, uint32_t *which)
{
    uint64_t hash[LOT];
    uint8_t maybe[LOT];
    size_t waiting = 0;
    for (size_t i = 0; i < n; i++)
        hash[i] = fp[i].hash;
    if (s->filter)
        deja_filter_contains_hashed(s->filter, hash, n, maybe);
    for (size_t i = 0; i < AHEAD && i < n; i++)
        dj_recent_prefetch(&s->recent, &fp[i]);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n)
            dj_recent_prefetch(&s->recent, &fp[i + AHEAD]);
        if (s->n_settled && dj_settle_has(s, &fp[i])) {
            verdict[i] = DEJA_SIEVE_SEEN;
        } else if (!s->filter || !maybe[i]) {
            const bool added = dj_recent_add(&s->recent, &fp[i]);
            verdict[i] = added ? DEJA_SIEVE_NEW : DEJA_SIEVE_SEEN;
            s->fresh[s->n_fresh] = fp[i];
            s->n_fresh += added;
        } else if (dj_recent_has(&s->recent, &fp[i])) {
            verdict[i] = DEJA_SIEVE_SEEN;
        } else {
            verdict[i] = DEJA_SIEVE_PENDING;
            which[waiting++] = first + (uint32_t)i;
        }
    }
    return waiting;
}

/* Makes room for n more pending keys.  There may be more than fit if the sieve had more memory
 * before; these are kept, but no more are accepted. */
static int reserve_pending(deja_sieve *s, size_t n, deja_error *err)
{
    const size_t most = (size_t)(s->share.pending / sizeof *s->pending), need = s->n_pending + n;
    if (need > most)
        return dj_fail(err, DEJA_EFULL, "%zu keys are pending: settle them first", s->n_pending);
    if (need <= s->pending_cap)
        return DEJA_OK;
    /* All at once: the system provides the pages as they are used. */
    deja_fingerprint *all = dj_alloc(s->alloc, most * sizeof *all, 64);
    if (!all)
        return dj_fail_memory(err);
    if (s->n_pending)
        memcpy(all, s->pending, s->n_pending * sizeof *all);
    dj_free(s->alloc, s->pending, s->pending_cap * sizeof *all);
    s->pending = all;
    s->pending_cap = most;
    return DEJA_OK;
}

int deja_sieve_judge(deja_sieve *s, const deja_fingerprint *fp, size_t n, const uint64_t *token,
                     const deja_slice *record, uint8_t *verdict, deja_error *err)
{
    size_t waiting = 0;
    int rc = refuse_reader(s, err);
    if (rc == DEJA_OK)
        rc = reserve(s, n, err);
    if (rc < 0)
        return rc;
    const size_t before = s->n_fresh;
    for (size_t i = 0; i < n; i += LOT)
        waiting += judge_lot(s, fp + i, n - i < LOT ? n - i : LOT, verdict + i, (uint32_t)i,
                             s->which + waiting);
    if (waiting) {
        rc = reserve_pending(s, waiting, err);
        if (rc == DEJA_OK)
            rc = dj_spool_add(&s->spool, fp, token, record, s->which, waiting, s->share.buffer,
                              s->alloc, err);
    }
    if (rc < 0) {
        while (s->n_fresh > before)
            dj_recent_undo(&s->recent, &s->fresh[--s->n_fresh]);
        return rc;
    }
    for (size_t i = 0; i < waiting; i++, s->n_pending++) {
        s->pending[s->n_pending] = fp[s->which[i]];
        s->pending[s->n_pending].tag = (uint32_t)s->n_pending;
    }
    s->waited += waiting;
    return DEJA_OK;
}

int deja_sieve_commit(deja_sieve *s, deja_error *err)
{
    int rc = refuse_reader(s, err);
    if (rc == DEJA_OK && s->n_fresh)
        rc = dj_sieve_log(s, s->fresh, s->n_fresh, err);
    if (rc < 0)
        return rc;
    s->n_fresh = 0;
    return dj_settle_commit(s, err);
}

int deja_sieve_sync(deja_sieve *s, deja_error *err)
{
    int rc = refuse_reader(s, err);
    if (rc == DEJA_OK)
        rc = dj_journal_sync(&s->log, err);
    if (rc == DEJA_OK)
        rc = dj_journal_sync(&s->spool, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_check_named(s, err);
    return rc == DEJA_OK ? dj_folder_sync(&s->folder, err) : rc;
}

int deja_sieve_like(const deja_sieve *s, deja_options *opt, deja_error *err)
{
    if (opt->size < offsetof(deja_options, alloc))
        return dj_fail(err, DEJA_EINVAL, "options.size is %zu: initialize with DEJA_OPTIONS_INIT",
                       opt->size);
    if (s->made_with & DJ_SIEVE_SEEDED)
        opt->seed = s->seed;
    else
        opt->key = s->key;
    return DEJA_OK;
}

/* --- Statistics --------------------------------------------------------------------- */

static uint64_t file_len(const deja_sieve *s, const char *name)
{
    struct stat st;
    return fstatat(s->folder.fd, name, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
}

static uint64_t memory_of(const deja_sieve *s)
{
    uint64_t sum = sizeof *s + 2 * sizeof *s->runs;
    sum += s->recent.buckets * sizeof *s->recent.bucket;
    sum += (s->fresh_cap + s->handed_cap + s->pending_cap) * sizeof *s->fresh;
    sum += s->which ? DEJA_SIEVE_BATCH * sizeof *s->which : 0;
    for (size_t i = 0; i < s->runs->n; i++)
        sum += s->runs->run[i].blocks * sizeof *s->runs->run[i].index;
    return sum + (s->compactor.merging ? (DJ_SIEVE_FAN + 1) * s->share.buffer : 0);
}

static void fill_report(deja_sieve *s, deja_sieve_report *r)
{
    const struct dj_manifest *m = &s->manifest;
    deja_stats f = DEJA_STATS_INIT;
    const uint64_t in_runs = dj_runs_keys(s->runs);
    r->recent = s->recent.n - s->n_fresh;
    r->keys = in_runs + r->recent;
    r->runs = s->runs->n;
    for (size_t i = 0; i < s->runs->n; i++)
        r->disk += s->runs->run[i].bytes;
    r->disk += s->log.len + s->spool.len + file_len(s, DJ_MANIFEST) + file_len(s, DJ_FILTER_FILE);
    r->memory = s->memory;
    r->memory_used = memory_of(s);
    if (s->filter && deja_filter_stats(s->filter, 0, &f, NULL) == DEJA_OK) {
        r->filter_bytes = f.bytes;
        r->filter_hashes = f.hashes;
        r->memory_used += f.bytes;
    }
    r->flags = m->flags & DEJA_KEY_APART;
    r->uncommitted = s->n_fresh + s->n_handed;
    r->pending = s->n_pending - s->n_returned;
    r->pending_most = s->share.pending / sizeof *s->pending;
    r->waited = s->waited;
    r->settled = s->settled;
    r->late = s->late;
    r->passes = s->passes;
    r->merges = m->merges;
    r->merges_failed = s->compactor.failed;
    r->merging = s->compactor.merging;
    r->profile = m->profile;
    r->url_rules = m->url_rules;
    const uint64_t room = s->filter ? s->filter_room : dj_sieve_filter_room(&s->share, in_runs);
    r->wait_rate = s->has_runs ? dj_forecast_rate(room, in_runs) : 0;
    r->wrong = dj_forecast_wrong((double)r->keys);
    snprintf(r->merge_error, sizeof r->merge_error, "%.127s", s->compactor.why.text);
}

int deja_sieve_stats(deja_sieve *s, deja_sieve_report *out, deja_error *err)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    if (out->size < offsetof(deja_sieve_report, keys))
        return dj_fail(err, DEJA_EINVAL, "size is %zu: initialize with DEJA_SIEVE_REPORT_INIT",
                       out->size);
    pthread_mutex_lock(&s->lock);
    fill_report(s, &r);
    pthread_mutex_unlock(&s->lock);
    r.size = out->size;
    memcpy(out, &r, out->size < sizeof r ? out->size : sizeof r);
    return DEJA_OK;
}
