/* dates.c - when was a key seen: lookups, expiry, merging and statistics.
 *
 * The parts store the days (core/bits/dated.h).  A day is a number of days since 1970-01-01, in
 * UTC, by the filter's clock: the system's, or the time that deja_filter_set_clock has set.  The
 * clock is read once for each piece of a batch.
 *
 * Nothing is ever deleted from a table, because a probe ends at the first free slot.  So expiry
 * copies the keys that stay into a new filter and puts that in place of the old one, as folding
 * does (store/renew.c). */
#include "filter/dates.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "filter/options.h"
#include "kinds/window.h"
#include <string.h>

#define DAY      86400
#define LAST_DAY UINT16_MAX

uint32_t deja_filter_today(const deja_filter *f)
{
    const uint64_t day = dj_window_now(f) / DAY;
    return day < 1 ? 1 : day > LAST_DAY ? LAST_DAY : (uint32_t)day;
}

void dj_dates_begin(deja_filter *f)
{
    if (!dj_dates_has(f))
        return;
    const uint32_t today = deja_filter_today(f);
    for (uint32_t i = 0; i < f->n_parts; i++)
        atomic_store_explicit(&f->part[i]->today, today, memory_order_relaxed);
}

/* --- Lookups -------------------------------------------------------------- */

static size_t chunk_at(size_t at, size_t n)
{
    return at >= n ? 0 : n - at < DJ_CHUNK ? n - at : DJ_CHUNK;
}

/* The lines of the next chunk are fetched while this one is answered. */
void dj_dates_look(const deja_filter *f, const uint64_t *hash, size_t n, deja_days *days)
{
    memset(days, 0, n * sizeof *days);
    dj_filter_hold(f);
    f->plan.kind->prefetch(f, hash, chunk_at(0, n), false);
    for (size_t at = 0; at < n; at += DJ_CHUNK) {
        const size_t next = at + DJ_CHUNK;
        f->plan.kind->prefetch(f, hash + at + chunk_at(at, n), chunk_at(next, n), false);
        for (uint32_t i = 0; i < f->n_parts; i++)
            f->part[i]->kind->body.days(f->part[i], hash + at, chunk_at(at, n), days + at);
    }
    dj_filter_release(f);
}

int deja_filter_days_hashed(const deja_filter *f, const uint64_t *hash, size_t n, deja_days *days,
                            deja_error *err)
{
    const int rc = deja_filter_require(f, DEJA_CAN_DATE, err);
    if (rc < 0)
        return rc;
    dj_dates_look(f, hash, n, days);
    return dj_filter_is_lost(f) ? dj_filter_explain(f, dj_filter_lost(), 0, err) : DEJA_OK;
}

int deja_filter_days_batch(const deja_filter *f, const deja_slice *keys, size_t n, deja_days *days,
                           deja_error *err)
{
    uint64_t hash[DJ_CHUNK];
    int rc = deja_filter_require(f, DEJA_CAN_DATE, err); /* such a filter has one hash per key */
    for (size_t at = 0; at < n && rc == DEJA_OK; at += DJ_CHUNK) {
        const size_t some = chunk_at(at, n);
        deja_filter_hash_batch(f, keys + at, some, hash);
        rc = deja_filter_days_hashed(f, hash, some, days + at, err);
    }
    return rc;
}

int deja_filter_days(const deja_filter *f, deja_slice key, deja_days *days, deja_error *err)
{
    return deja_filter_days_batch(f, &key, 1, days, err);
}

/* --- All keys ---------------------------------------------------------------- */

/* Some keys of a filter, with their days. */
struct lot {
    uint64_t hash[DJ_CHUNK];
    deja_days days[DJ_CHUNK];
    size_t n;
    uint32_t part; /* where the next ones are */
    uint64_t slot;
};

/* Reads the next keys; false at the end. */
static bool next_lot(const deja_filter *f, struct lot *l)
{
    for (; l->part < f->n_parts; l->part++, l->slot = 0) {
        const struct dj_part *p = f->part[l->part];
        l->n = p->kind->body.dated(p, &l->slot, l->hash, l->days);
        if (l->n)
            return true;
    }
    return false;
}

/* Keeps the keys of a lot for which keep[i] is not 0. */
static void thin(struct lot *l, const uint8_t *keep)
{
    size_t n = 0;
    for (size_t i = 0; i < l->n; i++) {
        l->hash[n] = l->hash[i];
        l->days[n] = l->days[i];
        n += keep[i] != 0;
    }
    l->n = n;
}

/* Sets the days of key i in the part that has it; false: the key is absent. */
static bool set_days(deja_filter *f, const struct lot *l, size_t i, bool replace)
{
    for (uint32_t j = 0; j < f->n_parts; j++)
        if (f->part[j]->kind->body.set_days(f->part[j], l->hash[i], l->days[i], replace))
            return true;
    return false;
}

/* Extends the days of the keys that the filter has, and keeps the others in the lot. */
static void extend_known(deja_filter *f, struct lot *l)
{
    uint8_t absent[DJ_CHUNK];
    for (size_t i = 0; i < l->n; i++)
        absent[i] = !set_days(f, l, i, false);
    thin(l, absent);
}

/* Adds keys with their days.  The add itself sets the current day, so a crash in between leaves
 * keys that were seen today. */
static int take_in(deja_filter *f, struct lot *l, deja_error *err)
{
    extend_known(f, l);
    const uint64_t offered = f->offered;
    const int rc = deja_filter_add_hashed(f, l->hash, l->n, NULL, NULL, err);
    f->offered = offered;
    for (size_t i = 0; i < l->n; i++)
        set_days(f, l, i, true);
    return rc;
}

/* --- Expiry -------------------------------------------------------------------- */

/* Keeps the keys of a lot that were last seen on this day or later; returns how many were not. */
static uint64_t drop_older(struct lot *l, uint32_t before)
{
    uint8_t keep[DJ_CHUNK];
    const size_t n = l->n;
    for (size_t i = 0; i < n; i++)
        keep[i] = l->days[i].last >= before;
    thin(l, keep);
    return n - l->n;
}

static void count_ages(const deja_filter *f, uint32_t before, uint64_t *old, uint64_t *left)
{
    struct lot l = {.n = 0};
    *old = *left = 0;
    dj_filter_walk(f, true);
    while (next_lot(f, &l)) {
        *old += drop_older(&l, before);
        *left += l.n;
    }
    dj_filter_walk(f, false);
}

int deja_filter_older(const deja_filter *f, uint32_t before, uint64_t *keys, deja_error *err)
{
    uint64_t left;
    const int rc = deja_filter_require(f, DEJA_CAN_DATE, err);
    if (rc < 0)
        return rc;
    count_ages(f, before, keys, &left);
    return deja_filter_check_file(f, err);
}

/* The plan of the filter without the old keys: the same, except that a series that has grown gets
 * a first part with room for all of them.  Its rate is raised if that many keys need it. */
static int plan_after(const deja_filter *f, uint64_t left, struct dj_plan *plan, deja_error *err)
{
    const struct dj_plan *old = &f->plan;
    *plan = *old;
    if (f->n_parts == 1)
        return DEJA_OK;
    const uint64_t room = left + left / 8;
    deja_options opt = dj_plan_options(old);
    opt.capacity = room > old->capacity ? room : old->capacity;
    opt.fp_rate = dj_plan_rate_for(old, &opt);
    opt.format = old->rules + 1; /* the same hash functions */
    opt.key = f->key;
    const int rc = dj_plan_resolve(&opt, plan, err);
    plan->profile = old->profile;
    plan->url_rules = old->url_rules;
    plan->seeded = old->seeded;
    plan->visit = old->visit;
    plan->past = old->past;
    return rc;
}

static int copy_newer(deja_filter *to, const deja_filter *from, uint32_t before, deja_error *err)
{
    struct lot l = {.n = 0};
    int rc = DEJA_OK;
    dj_filter_walk(from, true);
    while (rc == DEJA_OK && next_lot(from, &l)) {
        drop_older(&l, before);
        rc = take_in(to, &l, err);
    }
    dj_filter_walk(from, false);
    return rc < 0 ? rc : deja_filter_check_file(from, err);
}

static int replace_without(deja_filter *f, uint32_t before, uint64_t left, deja_error *err)
{
    struct dj_plan plan;
    deja_filter *next = NULL;
    int rc = plan_after(f, left, &plan, err);
    if (rc == DEJA_OK)
        rc = f->owner->next(f, &plan, &next, err);
    if (rc < 0)
        return rc;
    rc = copy_newer(next, f, before, err);
    next->offered = f->offered;
    next->earlier.unions = f->earlier.unions;
    next->unclean = f->unclean;
    if (rc == DEJA_OK)
        rc = f->owner->replace(f, next, err);
    deja_filter_free(next);
    return rc;
}

int deja_filter_expire(deja_filter *f, uint32_t before, uint64_t *removed, deja_error *err)
{
    uint64_t old, left;
    int rc = deja_filter_require(f, DEJA_CAN_DATE, err);
    if (rc == DEJA_OK && f->read_only)
        rc = dj_filter_explain(f, DEJA_EINVAL, 0, err);
    if (rc < 0)
        return rc;
    count_ages(f, before, &old, &left);
    rc = deja_filter_check_file(f, err);
    if (rc == DEJA_OK && old)
        rc = replace_without(f, before, left, err);
    if (rc == DEJA_OK && removed)
        *removed = old;
    return rc;
}

/* --- Union -------------------------------------------------------------------- */

/* A table that does not grow must have room for all keys before anything changes. */
static int check_room(const deja_filter *into, const deja_filter *from, deja_error *err)
{
    uint64_t more = 0;
    struct lot l = {.n = 0};
    const struct dj_part *p = into->part[0];
    if (dj_kind_can(into->plan.kind, DEJA_CAN_GROW))
        return DEJA_OK;
    while (next_lot(from, &l)) {
        uint8_t found[DJ_CHUNK];
        p->kind->body.contains(p, l.hash, l.hash, l.n, found);
        for (size_t i = 0; i < l.n; i++)
            more += !found[i];
    }
    const uint64_t room = p->kind->body.room(p);
    return more <= room
               ? DEJA_OK
               : dj_fail(err, DEJA_EFULL,
                         "the union has %llu more keys, but there is room for %llu: build a "
                         "filter with a larger options.capacity and merge both into it",
                         (ull)more, (ull)room);
}

int dj_dates_merge(deja_filter *into, const deja_filter *from, deja_error *err)
{
    struct lot l = {.n = 0};
    int rc = check_room(into, from, err);
    if (rc == DEJA_OK)
        rc = dj_filter_explain(into, dj_filter_begin_writing(into), 0, err);
    while (rc == DEJA_OK && next_lot(from, &l)) {
        rc = take_in(into, &l, err);
    }
    if (rc == DEJA_OK)
        rc = deja_filter_check_file(into, err);
    return rc == DEJA_OK ? deja_filter_check_file(from, err) : rc;
}

/* --- Statistics ----------------------------------------------------------------- */

void dj_dates_stats(const deja_filter *f, deja_stats *s)
{
    struct lot l = {.n = 0};
    if (!dj_dates_has(f))
        return;
    while (next_lot(f, &l))
        for (size_t i = 0; i < l.n; i++) {
            const uint32_t last = l.days[i].last;
            if (last > s->newest_day)
                s->newest_day = last;
            if (!s->oldest_day || last < s->oldest_day)
                s->oldest_day = last;
        }
}
