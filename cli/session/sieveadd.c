/* sieveadd.c - adds the keys of a session to a sieve; see sieveadd.h. */
#include "cli/session/sieveadd.h"
#include "cli/session/sieves.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"

#define SETTLED 1024 /* keys that are taken at once */

/* --- Settling ----------------------------------------------------------------- */

/* Lines that wait for output belong to the program that printed the others. */
static int check_records(const struct sieveadd *a, const deja_settled *key, size_t n,
                         deja_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (key[i].token != DEJA_SIEVE_NO_RECORD)
            return fail(err, DEJA_EBUSY,
                        "%s: %s for output, and adding would lose them; print them first: deja "
                        "dedup --sieve %.80s /dev/null",
                        fail_path(a->path).text,
                        a->before.pending == 1 ? "a line waits" : "lines of an earlier run wait",
                        fail_path(a->path).text);
    return DEJA_OK;
}

/* Takes the settled keys, and records those that are new. */
static int take_settled(struct sieveadd *a, deja_error *err)
{
    deja_settled key[SETTLED];
    size_t n = 1;
    int rc = DEJA_OK;
    while (n > 0 && rc == DEJA_OK) {
        rc = deja_sieve_settled(a->sieve, key, SETTLED, &n, err);
        if (rc == DEJA_OK)
            rc = check_records(a, key, n, err);
        for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
            const bool is_new = key[i].verdict == DEJA_SIEVE_NEW;
            a->added += is_new;
            a->known += !is_new;
        }
        if (rc == DEJA_OK)
            rc = deja_sieve_commit(a->sieve, err);
    }
    return rc;
}

static int settle(struct sieveadd *a, deja_error *err)
{
    int rc = deja_sieve_commit(a->sieve, err);
    if (rc == DEJA_OK)
        rc = deja_sieve_settle(a->sieve, err);
    return rc == DEJA_OK ? take_settled(a, err) : rc;
}

int sieveadd_begin(struct sieveadd *a, deja_sieve *sieve, const char *path, struct session *s,
                   deja_error *err)
{
    *a = (struct sieveadd){
        .sieve = sieve, .path = path, .session = s, .before = DEJA_SIEVE_REPORT_INIT};
    for (size_t i = 0; i < DEJA_SIEVE_BATCH; i++)
        a->token[i] = DEJA_SIEVE_NO_RECORD;
    int rc = deja_sieve_stats(sieve, &a->before, err);
    if (rc == DEJA_OK && a->before.pending)
        rc = settle(a, err);
    a->added = a->known = 0; /* these were keys of an earlier run */
    return sieves_name(rc, path, err);
}

/* --- The keys ----------------------------------------------------------------- */

/* Judges keys.  If there is no room, commits earlier keys, then settles the pending ones. */
static int judge(struct sieveadd *a, const deja_fingerprint *fp, size_t n, uint8_t *verdict,
                 deja_error *err)
{
    int rc = DEJA_EFULL;
    for (int attempt = 0; rc == DEJA_EFULL && attempt < 3; attempt++) {
        rc = attempt == 0   ? DEJA_OK
             : attempt == 1 ? deja_sieve_commit(a->sieve, err)
                            : settle(a, err);
        if (rc == DEJA_OK)
            rc = deja_sieve_judge(a->sieve, fp, n, a->token, NULL, verdict, err);
    }
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        a->added += verdict[i] == DEJA_SIEVE_NEW;
        a->known += verdict[i] == DEJA_SIEVE_SEEN;
    }
    return rc;
}

static int sync_if_due(struct sieveadd *a, deja_error *err)
{
    const double now = progress_seconds(&a->session->progress);
    if (!a->unsynced || now - a->synced <= SESSION_SYNC)
        return DEJA_OK;
    a->synced = now;
    a->unsynced = false;
    return deja_sieve_sync(a->sieve, err);
}

static int add_batch(void *sieveadd, struct batch *b, deja_error *err)
{
    struct sieveadd *a = sieveadd;
    const deja_fingerprint *fp = sieves_fingerprints(b);
    int rc = DEJA_OK;
    for (size_t at = 0, n; at < b->keyed && rc == DEJA_OK; at += n) {
        n = b->keyed - at < DEJA_SIEVE_BATCH ? b->keyed - at : DEJA_SIEVE_BATCH;
        rc = judge(a, fp + at, n, b->answer + at, err);
    }
    if (rc == DEJA_OK)
        rc = deja_sieve_commit(a->sieve, err);
    a->unsynced = true;
    if (rc == DEJA_OK)
        rc = sync_if_due(a, err);
    return sieves_name(rc, a->path, err);
}

static int on_pause(void *sieveadd, deja_error *err)
{
    struct sieveadd *a = sieveadd;
    const int rc = sync_if_due(a, err);
    return rc < 0 ? sieves_name(rc, a->path, err) : a->unsynced;
}

static void describe(void *sieveadd, char *text, size_t cap)
{
    const struct sieveadd *a = sieveadd;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    if (deja_sieve_stats(a->sieve, &r, NULL) == DEJA_OK)
        printable_append(text, cap, "  %s new  %s pending", num_short(a->added).s,
                         num_short(r.pending).s);
}

static uint64_t pending(const struct sieveadd *a)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    return deja_sieve_stats(a->sieve, &r, NULL) == DEJA_OK ? r.pending : 0;
}

static int end(struct sieveadd *a, deja_error *err)
{
    const uint64_t n = pending(a);
    int rc = DEJA_OK;
    if (n && a->session->stopped)
        console_note(a->session->call->console,
                     "settling %s; Ctrl-C again leaves them for the next run", num_of(n, "key").s);
    if (n)
        rc = settle(a, err);
    if (rc == DEJA_OK)
        rc = sieves_save(a->sieve, err);
    return sieves_name(rc, a->path, err);
}

int sieveadd_run(struct sieveadd *a, deja_error *err)
{
    deja_error late = {0};
    session_on_pause(a->session, on_pause, a);
    session_describe(a->session, describe, a);
    int rc = session_each(a->session, add_batch, a, err);
    session_on_pause(a->session, NULL, NULL);
    if (rc == DEJA_OK)
        return end(a, err);
    int saved = deja_sieve_commit(a->sieve, &late);
    if (saved == DEJA_OK)
        saved = deja_sieve_sync(a->sieve, &late);
    if (saved < 0 && strcmp(late.text, err->text) != 0)
        console_error(a->session->call->console, "%s", late.text);
    return rc;
}

/* --- The account ---------------------------------------------------------------- */

static void report_json(const struct sieveadd *a, const deja_sieve_report *s)
{
    struct session_report r;
    if (!session_report_begin(&r, a->session))
        return;
    json_string(&r.json, "file", a->path);
    json_string(&r.json, "format", "sieve");
    json_uint(&r.json, "read", a->session->records);
    json_uint(&r.json, "added", a->added);
    json_uint(&r.json, "known", a->known);
    json_uint(&r.json, "keys", s->keys);
    json_uint(&r.json, "runs", s->runs);
    json_uint(&r.json, "disk_bytes", s->disk);
    json_uint(&r.json, "memory_bytes", s->memory);
    json_uint(&r.json, "memory_used", s->memory_used);
    json_uint(&r.json, "passes", s->passes - a->before.passes);
    json_uint(&r.json, "merges", s->merges - a->before.merges);
    json_real(&r.json, "wrong", s->wrong);
    session_report_end(&r, a->session);
}

static void tell(const struct sieveadd *a, const deja_sieve_report *s)
{
    struct closing c = session_closing_new(a->session, a->added, a->known);
    session_print_closing(a->session, &c);
    if (a->session->shared->verbose)
        sieves_tell_costs(a->session->call->console, a->path, &a->before, s);
}

void sieveadd_report(const struct sieveadd *a, const deja_sieve_report *now)
{
    session_warn_missing(a->session);
    if (a->session->shared->json)
        report_json(a, now);
    else
        tell(a, now);
    sieves_warn_merges(a->session->call->console, a->path, now);
}
