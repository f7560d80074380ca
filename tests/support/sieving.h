/* sieving.h - a caller of a sieve that knows the right answers.
 *
 * It feeds numbered lines, keeps an exact account of which lines came out, and checks every verdict:
 * a new line has not come out before, a seen one has (or is among those that have been decided and
 * not returned yet), and a settled one is new exactly if it has not come out.  A line that was printed
 * and not committed when the sieve was freed may come out once more.
 *
 * Mistakes are recorded, not asserted, so that a child process can use it as well. */
#ifndef SIEVING_H
#define SIEVING_H
#include "rng.h"
#include "scratch.h"
#include "sieve/sieve.h"

enum {
    SIEVING_MOST = 64 /* lines judged at once */
};

struct sieving {
    deja_sieve *s;
    const char *path;
    struct dj_shares share;
    deja_sieve_options opt;
    uint64_t universe;    /* lines are 0 .. universe - 1 */
    uint8_t *out;         /* how many times each came out */
    uint8_t *fed, *waits; /* was fed; is pending */
    uint8_t *loose;       /* came out and is not committed */
    uint8_t *maybe;       /* the same when the sieve was freed, perhaps in a failed commit, which
                             may have recorded it */
    uint64_t late, seen_late, new_now, pending_now;
    char wrong[400];
};

/* A filter and a table so small that nearly everything waits. */
static const struct dj_shares tiny = {
    .filter = 1024, .recent = 32 * 80, .pending = 16 * 700, .buffer = DJ_RUN_BUFFER};

#define WRONG(w, ...)                                                                             \
    do {                                                                                          \
        if (!(w)->wrong[0])                                                                       \
            snprintf((w)->wrong, sizeof(w)->wrong, __VA_ARGS__);                                  \
    } while (0)

static SCRATCH_UNUSED void sieving_begin(struct sieving *w, const char *path, uint64_t universe,
                                         uint32_t flags)
{
    *w = (struct sieving){.path = path, .share = tiny, .universe = universe};
    w->opt = (deja_sieve_options)DEJA_SIEVE_OPTIONS_INIT;
    w->opt.flags = flags;
    w->opt.seed = 1;
    w->out = calloc(5, (size_t)universe);
    MUST(w->out);
    w->fed = w->out + universe;
    w->waits = w->fed + universe;
    w->loose = w->waits + universe;
    w->maybe = w->loose + universe;
}

static SCRATCH_UNUSED void sieving_open(struct sieving *w)
{
    deja_error err = {0};
    if (dj_sieve_open(w->path, DEJA_OPEN_CREATE, &w->opt, &w->share, &w->s, &err) < 0)
        WRONG(w, "open: %s", err.text);
}

/* The same, if it may fail: then there is no sieve. */
static SCRATCH_UNUSED void sieving_open_quietly(struct sieving *w)
{
    if (dj_sieve_open(w->path, DEJA_OPEN_CREATE, &w->opt, &w->share, &w->s, NULL) < 0)
        w->s = NULL;
}

/* Lines that came out and were not committed may come out again. */
static SCRATCH_UNUSED void sieving_forget(struct sieving *w)
{
    deja_sieve_free(w->s);
    w->s = NULL;
    for (uint64_t i = 0; i < w->universe; i++) {
        if (w->loose[i]) { /* it came out; unless it is pending, nobody knows */
            w->out[i] = 0;
            w->fed[i] = w->waits[i];
            w->maybe[i] = 1;
        }
        w->loose[i] = 0;
    }
}

static SCRATCH_UNUSED void sieving_end(struct sieving *w)
{
    deja_sieve_free(w->s);
    free(w->out);
}

/* The text of a line: 7 to 30 bytes. */
static SCRATCH_UNUSED deja_slice sieving_line(uint64_t i, char text[40])
{
    const int len =
        snprintf(text, 40, "line %llu%s", (unsigned long long)i, i % 3 ? ", and some more" : "");
    return (deja_slice){text, (size_t)len};
}

static SCRATCH_UNUSED void sieving_print(deja_sieve *s, uint64_t i, deja_fingerprint *fp)
{
    char text[40];
    const deja_slice line = sieving_line(i, text);
    deja_sieve_hash_batch(s, &line, 1, fp);
}

/* The sieve says that it has this line: if nobody knew, it has. */
static SCRATCH_UNUSED void sieving_resolve(struct sieving *w, uint64_t id)
{
    if (w->maybe[id] && !w->out[id])
        w->out[id] = w->fed[id] = 1;
}

/* Judges n <= SIEVING_MOST lines.  Returns the status; DEJA_EFULL is for the caller to handle. */
static SCRATCH_UNUSED int sieving_judge(struct sieving *w, const uint64_t *line, size_t n,
                                        deja_error *err)
{
    char text[SIEVING_MOST][40];
    deja_slice record[SIEVING_MOST] = {{0}};
    deja_fingerprint fp[SIEVING_MOST];
    uint8_t verdict[SIEVING_MOST];
    for (size_t i = 0; i < n; i++)
        record[i] = sieving_line(line[i], text[i]);
    deja_sieve_hash_batch(w->s, record, n, fp);
    const int rc = deja_sieve_judge(w->s, fp, n, line, record, verdict, err);
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        const uint64_t id = line[i];
        w->fed[id] = 1;
        if (verdict[i] == DEJA_SIEVE_NEW) {
            if (w->out[id]++)
                WRONG(w, "line %llu is new a second time", (unsigned long long)id);
            w->loose[id] = 1;
            w->new_now++;
        } else if (verdict[i] == DEJA_SIEVE_PENDING) {
            w->waits[id] = 1;
            w->pending_now++;
        } else if (!w->out[id] && !w->waits[id]) {
            sieving_resolve(w, id);
            if (!w->out[id])
                WRONG(w, "line %llu is seen, and never came out", (unsigned long long)id);
        }
    }
    return rc;
}

/* Returns some settled lines; the status, and how many. */
static SCRATCH_UNUSED int sieving_return(struct sieving *w, size_t cap, size_t *n, deja_error *err)
{
    deja_settled out[SIEVING_MOST];
    const int rc = deja_sieve_settled(w->s, out, cap < SIEVING_MOST ? cap : SIEVING_MOST, n, err);
    for (size_t i = 0; i < *n && rc == DEJA_OK; i++) {
        char text[40];
        const uint64_t id = out[i].token;
        if (id >= w->universe) {
            WRONG(w, "token %llu", (unsigned long long)id);
            return DEJA_EINVAL;
        }
        const deja_slice line = sieving_line(id, text);
        if (out[i].record.len != line.len || memcmp(out[i].record.data, text, line.len) != 0)
            WRONG(w, "line %llu has a different record", (unsigned long long)id);
        if (out[i].verdict == DEJA_SIEVE_NEW) {
            if (w->out[id]++)
                WRONG(w, "line %llu is late, but it came out before", (unsigned long long)id);
            w->loose[id] = 1;
            w->late++;
        } else if (sieving_resolve(w, id), !w->out[id]) {
            WRONG(w, "line %llu is settled as seen, and never came out", (unsigned long long)id);
        } else {
            w->seen_late++;
        }
    }
    return rc;
}

static SCRATCH_UNUSED int sieving_commit(struct sieving *w, deja_error *err)
{
    const int rc = deja_sieve_commit(w->s, err);
    if (rc == DEJA_OK)
        memset(w->loose, 0, (size_t)w->universe);
    return rc;
}

/* Settles, returns and commits everything. */
static SCRATCH_UNUSED int sieving_settle(struct sieving *w, deja_error *err)
{
    size_t n = 1;
    int rc = sieving_commit(w, err);
    /* Some may have been settled before. */
    for (int round = 0; round < 2 && rc == DEJA_OK; round++) {
        for (n = 1; n && rc == DEJA_OK;)
            rc = sieving_return(w, SIEVING_MOST, &n, err);
        if (rc == DEJA_OK)
            rc = sieving_commit(w, err);
        if (rc == DEJA_OK && round == 0)
            rc = deja_sieve_settle(w->s, err);
    }
    if (rc == DEJA_OK)
        memset(w->waits, 0, (size_t)w->universe);
    return rc;
}

/* Judges and commits lines from .. to - 1, and settles when there is no room; nothing may fail. */
static SCRATCH_UNUSED void sieving_feed(struct sieving *w, uint64_t from, uint64_t to)
{
    while (from < to && !w->wrong[0]) {
        uint64_t line[8];
        size_t n = 0;
        deja_error err = {0};
        for (; n < 8 && from + n < to; n++)
            line[n] = from + n;
        int rc = sieving_judge(w, line, n, &err);
        if (rc == DEJA_EFULL)
            rc = sieving_settle(w, &err);
        else if (rc == DEJA_OK)
            from += n;
        if (rc == DEJA_OK)
            rc = sieving_commit(w, &err);
        if (rc < 0)
            WRONG(w, "feed: %s", err.text);
    }
}

/* Begins, and leaves a closed sieve of n lines with runs, a log, pending keys and a saved filter. */
static SCRATCH_UNUSED void sieving_make(struct sieving *w, const char *path, uint64_t n)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    sieving_begin(w, path, n, DEJA_SIEVE_NO_THREAD);
    sieving_open(w);
    sieving_feed(w, 0, n);
    if (!w->wrong[0] && (deja_sieve_save(w->s, NULL) < 0 || deja_sieve_stats(w->s, &r, NULL) < 0))
        WRONG(w, "save fails");
    if (!r.runs || !r.pending || !r.recent)
        WRONG(w, "a part is empty: choose another number of lines");
    deja_sieve_free(w->s);
    w->s = NULL;
}

/* At the end, after sieving_settle: every line that was fed came out once, and is recorded. */
static SCRATCH_UNUSED void sieving_check(struct sieving *w)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    uint64_t fed = 0;
    for (uint64_t i = 0; i < w->universe; i++) {
        deja_fingerprint fp;
        uint8_t found = 2;
        deja_error err = {0};
        sieving_print(w->s, i, &fp);
        const int rc = deja_sieve_contains(w->s, &fp, 1, &found, &err);
        if (rc == DEJA_OK && found)
            sieving_resolve(w, i);
        fed += w->fed[i];
        if (w->out[i] != w->fed[i])
            WRONG(w, "line %llu came out %u times", (unsigned long long)i, w->out[i]);
        if (rc < 0 || found != w->fed[i])
            WRONG(w, "contains says %u for line %llu: %s", found, (unsigned long long)i, err.text);
    }
    if (deja_sieve_stats(w->s, &r, NULL) < 0 || r.keys != fed || r.pending || r.uncommitted)
        WRONG(w, "%llu keys of %llu, %llu pending", (unsigned long long)r.keys,
              (unsigned long long)fed, (unsigned long long)r.pending);
}

#ifdef SIEVING_NO_SYNC /* for tests that do not replace these themselves: disks are slow */
int fsync(int fd)
{
    (void)fd;
    return 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return 0;
}
#endif

#endif
