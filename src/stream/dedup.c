/* dedup.c - finds the new lines of a stream, and adds their keys only after the lines have been
 * written.
 *
 * A bit set in a mapped file survives kill -9, but a line in the process's output buffer does not.
 * So a key is not added when it is judged.  It waits in a pending set until the caller has written
 * its line and commits:
 *
 *   judge     A key that the filter or the pending set has is seen.  Any other key is new, and
 *             pending from now on.
 *   (caller)  writes the lines of the new keys, and syncs the output if it is a file
 *   commit    The pending keys go into the filter.
 *
 * A crash before the commit repeats lines in the next run; it never loses one.  A caller that decides
 * about several keys together asks `contains` first, and judges them only if it keeps their line.
 *
 * The pending set is a hash table of 64-bit identities (open addressing, at most half full) over a
 * list of the hashes in order of arrival.
 *
 * A window forgets, so a pending key may expire before the commit.  The pending set keeps a copy of
 * the window's generations (the turns, when each began, how many keys it took) and applies the
 * rules of window.c to it, as if each key had been added when it was judged: the copy turns when
 * the window would have turned, the table records the generation of each pending key, and the bits
 * of generations that the copy has emptied no longer count.  A key that the newest generation lacks
 * waits for the commit even if an older one has it, because the add renews it.  In a time window,
 * keys keep the time at which they were judged, and the commit adds them with that time.  So the
 * answers are the same as if every key were added immediately.
 *
 * With dates, a known key whose last day is not today waits for the commit too, because the add
 * sets its last day; with `again`, only keys that are new or due wait.  The day is that of the
 * commit. */
#include "core/base/alloc.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filter/dates.h"
#include "filter/filter.h"
#include "filter/options.h"
#include "kinds/window.h"

/* Keys of a time window that were judged in the same second. */
struct run {
    uint64_t now;
    size_t n;
};

struct deja_dedup {
    deja_filter *f;
    size_t words;   /* per key */
    uint64_t *hash; /* of the pending keys */
    size_t n, cap;
    uint64_t passed;  /* keys judged since the last commit that need not be added */
    uint64_t *table;  /* identities; 0: free */
    size_t table_len; /* a power of two, at least twice cap */

    /* window: */
    uint64_t *turn;         /* the turn at which each identity in the table was added last */
    struct dj_window ahead; /* the generations as they will be after the commit */
    unsigned emptied;       /* a bit for each generation whose bits no longer count */
    struct run *run;        /* by time: the pending keys, in order */
    size_t n_runs, run_cap;

    uint32_t again; /* dates: a key is due again after this many days; 0: never */

    const deja_allocator *alloc; /* the filter's */
    deja_allocator alloc_copy;
};

/* Works like realloc; on failure, returns NULL and keeps the array. */
static void *resize(deja_dedup *d, void *array, size_t size, size_t to)
{
    void *other = dj_alloc(d->alloc, to, 64);
    if (!other)
        return NULL;
    if (array)
        memcpy(other, array, size);
    dj_free(d->alloc, array, size);
    return other;
}

static bool is_window(const deja_dedup *d)
{
    return dj_kind_can(d->f->plan.kind, DEJA_CAN_EXPIRE);
}

int deja_dedup_new(deja_filter *f, deja_dedup **out, deja_error *err)
{
    *out = NULL;
    const int rc = dj_plan_refuse_built(&f->plan, err);
    if (rc < 0)
        return rc;
    deja_dedup *d = dj_alloc(f->alloc, sizeof *d, 64);
    if (!d)
        return dj_fail_memory(err);
    d->f = f;
    d->words = deja_filter_hash_words(f);
    d->alloc = dj_alloc_keep(f->alloc, &d->alloc_copy); /* d may outlive f */
    *out = d;
    return DEJA_OK;
}

void deja_dedup_free(deja_dedup *d)
{
    if (!d)
        return;
    dj_free(d->alloc, d->hash, d->cap * d->words * sizeof *d->hash);
    dj_free(d->alloc, d->table, d->table_len * sizeof *d->table);
    dj_free(d->alloc, d->turn, d->table_len * sizeof *d->turn);
    dj_free(d->alloc, d->run, d->run_cap * sizeof *d->run);
    dj_free(d->alloc, d, sizeof *d);
}

size_t deja_dedup_pending(const deja_dedup *d)
{
    return d->n;
}

/* Keys with the same identity are the same key to the filter. */
static uint64_t identity(const deja_dedup *d, const uint64_t *hash)
{
    uint64_t id = dj_dates_identity(d->f, hash[0]);
    for (size_t i = 1; i < d->words; i++)
        id = dj_mix64(id + hash[i]);
    return id ? id : 1;
}

/* The place of id in the table, or a free one. */
static size_t place_of(const deja_dedup *d, uint64_t id)
{
    size_t at = (size_t)(id * DJ_GOLDEN >> 32) & (d->table_len - 1);
    while (d->table[at] && d->table[at] != id)
        at = (at + 1) & (d->table_len - 1);
    return at;
}

static void clear_table(deja_dedup *d)
{
    memset(d->table, 0, d->table_len * sizeof *d->table);
}

/* --- Windows ---------------------------------------------------------------- */

/* Copies the filter's generations, restarted as the next add would. */
static void look_ahead(deja_dedup *d)
{
    d->ahead = d->f->window;
    dj_generations_restart(&d->f->plan, &d->ahead, dj_window_now(d->f));
    d->emptied = 0;
}

static void make_room(deja_dedup *d, uint64_t now)
{
    const struct dj_plan *plan = &d->f->plan;
    while (!dj_generations_room(plan, &d->ahead, now)) {
        if (!d->ahead.clearing)
            dj_generations_advance(plan, &d->ahead, now);
        if (d->ahead.clearing)
            d->emptied |= 1u << dj_generations_newest(plan, &d->ahead);
        d->ahead.clearing = false;
    }
}

/* Returns a bit for the generation of a pending key, or 0 if the key is not pending or has
 * expired. */
static unsigned pending_in(const deja_dedup *d, size_t at)
{
    const uint32_t lines = dj_plan_lines(&d->f->plan);
    const bool kept = d->table[at] && d->ahead.turns - d->turn[at] < lines;
    return kept ? 1u << d->turn[at] % lines : 0;
}

/* Adds a key to the copy.  Returns whether it was new to the window; *waits becomes true if it is
 * pending now.  lines: a bit for each generation of the filter that has the key. */
static bool add_ahead(deja_dedup *d, uint64_t id, unsigned lines, uint64_t now, bool *waits)
{
    const struct dj_plan *plan = &d->f->plan;
    make_room(d, now);
    const size_t at = place_of(d, id);
    const uint32_t newest = dj_generations_newest(plan, &d->ahead);
    const unsigned in = (lines & ~d->emptied) | pending_in(d, at);
    *waits = !(in >> newest & 1);
    if (*waits) {
        d->table[at] = id;
        d->turn[at] = d->ahead.turns;
        d->ahead.keys[newest]++;
    }
    return !(in & dj_generations_living(plan, &d->ahead, now));
}

/* The current time, but not before the newest generation began. */
static uint64_t time_of_judging(const deja_dedup *d)
{
    const uint64_t now = dj_window_now(d->f);
    const uint64_t begun = d->ahead.start[dj_generations_newest(&d->f->plan, &d->ahead)];
    return now > begun ? now : begun;
}

/* Makes room for the time of one more run. */
static int reserve_run(deja_dedup *d)
{
    if (d->n_runs < d->run_cap)
        return DEJA_OK;
    const size_t cap = d->run_cap ? 2 * d->run_cap : 16;
    struct run *run = resize(d, d->run, d->run_cap * sizeof *run, cap * sizeof *run);
    if (!run)
        return DEJA_ENOMEM;
    d->run = run;
    d->run_cap = cap;
    return DEJA_OK;
}

static void note_time(deja_dedup *d, uint64_t now)
{
    if (!d->n_runs || d->run[d->n_runs - 1].now != now)
        d->run[d->n_runs++] = (struct run){now, 0};
    d->run[d->n_runs - 1].n++;
}

/* Removes the first `done` keys from the runs. */
static void drop_runs(deja_dedup *d, size_t done)
{
    size_t gone = 0;
    while (gone < d->n_runs && done >= d->run[gone].n)
        done -= d->run[gone++].n;
    d->n_runs -= gone;
    if (gone)
        memmove(d->run, d->run + gone, d->n_runs * sizeof *d->run);
    if (d->n_runs)
        d->run[0].n -= done;
}

/* After a failed commit, adds the remaining keys to a fresh copy.  It does not matter which of the
 * filter's generations have them: only keys that the newest generation lacked are pending, and each
 * counts as one add. */
static void replay(deja_dedup *d)
{
    size_t in_run = 0, run = 0;
    look_ahead(d);
    for (size_t i = 0; i < d->n; i++, in_run++) {
        bool waits;
        if (run < d->n_runs && in_run == d->run[run].n) {
            run++;
            in_run = 0;
        }
        const uint64_t now = run < d->n_runs ? d->run[run].now : time_of_judging(d);
        add_ahead(d, identity(d, d->hash + i * d->words), 0, now, &waits);
    }
}

/* --- Judging ------------------------------------------------------------------ */

/* Fills the table from the list of pending keys. */
static void fill_table(deja_dedup *d)
{
    clear_table(d);
    if (is_window(d)) {
        replay(d);
        return;
    }
    for (size_t i = 0; i < d->n; i++) {
        const uint64_t id = identity(d, d->hash + i * d->words);
        d->table[place_of(d, id)] = id;
    }
}

/* Moves the identities to a larger table. */
static int grow_table(deja_dedup *d, size_t len)
{
    uint64_t *const old = d->table, *const old_turn = d->turn;
    const size_t old_len = d->table_len;
    const size_t size = len * sizeof *old, old_size = old_len * sizeof *old;
    uint64_t *table = dj_alloc(d->alloc, size, 64);
    uint64_t *turn = is_window(d) ? dj_alloc(d->alloc, size, 64) : NULL;
    if (!table || (is_window(d) && !turn)) {
        dj_free(d->alloc, table, size);
        dj_free(d->alloc, turn, size);
        return DEJA_ENOMEM;
    }
    d->table = table;
    d->turn = turn;
    d->table_len = len;
    for (size_t i = 0; i < old_len; i++) {
        if (!old[i])
            continue;
        const size_t at = place_of(d, old[i]);
        table[at] = old[i];
        if (turn)
            turn[at] = old_turn[i];
    }
    dj_free(d->alloc, old, old_size);
    dj_free(d->alloc, old_turn, old_size);
    return DEJA_OK;
}

/* Makes room for n more keys, before any of them is judged. */
static int reserve(deja_dedup *d, size_t n)
{
    const int rc = is_window(d) ? reserve_run(d) : DEJA_OK;
    if (rc < 0 || d->n + n <= d->cap)
        return rc;
    size_t cap = d->cap ? d->cap : 4096;
    while (cap < d->n + n)
        cap *= 2;
    const size_t row = d->words * sizeof *d->hash;
    if (d->table_len < 2 * cap && grow_table(d, 2 * cap) < 0) /* harmless if the rest fails */
        return DEJA_ENOMEM;
    uint64_t *hash = resize(d, d->hash, d->cap * row, cap * row);
    if (!hash)
        return DEJA_ENOMEM;
    d->hash = hash;
    d->cap = cap;
    return DEJA_OK;
}

static void wait(deja_dedup *d, const uint64_t *hash)
{
    memcpy(d->hash + d->n * d->words, hash, d->words * sizeof *hash);
    d->n++;
}

/* Judges keys.  is_new[i] holds, on entry, the generations of the filter that have key i; on
 * return, 1 if the key is new. */
static void judge_window(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    if (!d->n) /* nothing is pending */
        look_ahead(d);
    const uint64_t now = time_of_judging(d);
    for (size_t i = 0; i < n; i++, hash += d->words) {
        bool waits;
        is_new[i] = add_ahead(d, identity(d, hash), is_new[i], now, &waits);
        if (waits && d->f->plan.window_seconds)
            note_time(d, now);
        if (waits)
            wait(d, hash);
        else
            d->passed++;
    }
}

static void judge_all(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++, hash += d->words) {
        const uint64_t id = identity(d, hash);
        const size_t at = place_of(d, id);
        is_new[i] = !is_new[i] && !d->table[at];
        if (is_new[i]) {
            d->table[at] = id;
            wait(d, hash);
        } else {
            d->passed++;
        }
    }
}

enum {
    DUE = 1,  /* new, or last seen long enough ago */
    RENEW = 2 /* its last day must become today */
};

/* Looks up the days of keys; answer[i]: DUE and RENEW. */
static void look_dates(const deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *answer)
{
    enum {
        LOT = 512
    };
    deja_days days[LOT];
    const uint32_t today = deja_filter_today(d->f);
    for (size_t i = 0; i < n; i++) {
        if (i % LOT == 0)
            dj_dates_look(d->f, hash + i, n - i < LOT ? n - i : LOT, days);
        const deja_days seen = days[i % LOT];
        const bool renew = !d->again && seen.last < today;
        answer[i] = (dj_dates_due(seen, d->again, today) ? DUE : 0) | (renew ? RENEW : 0);
    }
}

/* is_new[i]: on entry the answer of look_dates; on return 1 if the line comes out. */
static void judge_dates(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t id = identity(d, hash + i);
        const size_t at = place_of(d, id);
        const uint8_t answer = d->table[at] ? 0 : is_new[i];
        is_new[i] = answer & DUE;
        if (answer) {
            d->table[at] = id;
            wait(d, hash + i);
        } else {
            d->passed++;
        }
    }
}

int deja_dedup_again_after(deja_dedup *d, uint32_t days, deja_error *err)
{
    const int rc = deja_filter_require(d->f, DEJA_CAN_DATE, err);
    if (rc < 0)
        return rc;
    if (d->n)
        return dj_fail(err, DEJA_EINVAL, "%zu keys are pending: commit them first", d->n);
    d->again = days;
    return DEJA_OK;
}

/* Makes room for n keys and looks them up in the filter alone.  in[i]: 1 if it has key i; in a
 * window, a bit for each generation that has it; with dates, the answer of look_dates. */
static int look_up(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *in, deja_error *err)
{
    if (reserve(d, n) < 0)
        return dj_fail(err, DEJA_ENOMEM, "out of memory for %zu pending keys", d->n + n);
    if (is_window(d)) {
        dj_filter_hold(d->f);
        dj_window_look(d->f, hash, n, in);
        dj_filter_release(d->f);
    } else if (dj_dates_has(d->f)) {
        look_dates(d, hash, n, in);
    } else {
        deja_filter_contains_hashed(d->f, hash, n, in);
    }
    if (dj_filter_is_lost(d->f)) /* its answers are not valid */
        return dj_filter_explain(d->f, dj_filter_lost(), 0, err);
    return DEJA_OK;
}

int deja_dedup_contains(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *found,
                        deja_error *err)
{
    const int rc = look_up(d, hash, n, found, err);
    if (rc < 0)
        return rc;
    if (is_window(d) && !d->n)
        look_ahead(d);
    const unsigned living =
        is_window(d) ? dj_generations_living(&d->f->plan, &d->ahead, time_of_judging(d)) : 0;
    for (size_t i = 0; i < n; i++, hash += d->words) {
        const size_t at = place_of(d, identity(d, hash));
        if (is_window(d))
            found[i] = (((found[i] & ~d->emptied) | pending_in(d, at)) & living) != 0;
        else if (dj_dates_has(d->f))
            found[i] = !(found[i] & DUE) || d->table[at];
        else
            found[i] = found[i] || d->table[at];
    }
    return DEJA_OK;
}

int deja_dedup_judge(deja_dedup *d, const uint64_t *hash, size_t n, uint8_t *is_new,
                     deja_error *err)
{
    const int rc = look_up(d, hash, n, is_new, err);
    if (rc < 0)
        return rc;
    if (is_window(d))
        judge_window(d, hash, n, is_new);
    else if (dj_dates_has(d->f))
        judge_dates(d, hash, n, is_new);
    else
        judge_all(d, hash, n, is_new);
    return DEJA_OK;
}

/* --- Committing ------------------------------------------------------------------ */

/* Adds the keys of a time window, each with the time at which it was judged. */
static int add_runs(deja_dedup *d, size_t *done, deja_error *err)
{
    _Atomic uint64_t *clock = &d->f->clock.given;
    const uint64_t given = atomic_load_explicit(clock, memory_order_relaxed);
    int rc = DEJA_OK;
    *done = 0;
    for (size_t i = 0; i < d->n_runs && rc == DEJA_OK; i++) {
        size_t some = 0;
        atomic_store_explicit(clock, d->run[i].now, memory_order_relaxed);
        rc = deja_filter_add_hashed(d->f, d->hash + *done * d->words, d->run[i].n, NULL, &some,
                                    err);
        *done += some;
    }
    atomic_store_explicit(clock, given, memory_order_relaxed);
    return rc;
}

int deja_dedup_commit(deja_dedup *d, deja_error *err)
{
    size_t done = 0;
    /* The estimate of lost keys depends on how many were offered (stats.c). */
    const bool sole = dj_writer_enter(&d->f->writer);
    dj_writer_count(&d->f->offered, d->passed, !sole);
    dj_writer_leave(&d->f->writer, sole);
    d->passed = 0;
    if (!d->n)
        return DEJA_OK;
    const int rc = d->n_runs ? add_runs(d, &done, err)
                             : deja_filter_add_hashed(d->f, d->hash, d->n, NULL, &done, err);
    d->n -= done;
    memmove(d->hash, d->hash + done * d->words, d->n * d->words * sizeof *d->hash);
    drop_runs(d, done);
    fill_table(d);
    return rc;
}
