/* window.c - a filter that forgets: the keys of the last N, or of the last T seconds.
 *
 * The body holds P = G + 1 blocked filters of one size, the generations: up to G full ones and
 * the one that is filling.  When that is full, the oldest is emptied and becomes the newest.  The
 * blocks of a key in all of them lie in a row (lines, core/bits/block.h), so a question costs P
 * neighbouring cache lines and one set of bits, not P times a lookup.
 *
 *   add        sets the key in the newest generation, also when an older one has it: a key that is
 *              seen again is new again to the window.  It answers "new" when no generation had it
 *   contains   asks all generations
 *   turn       by keys: when the newest has taken q = ceil(N / G) keys that were new to it
 *              by time: when it is d = ceil(T / G) seconds old
 *
 * What is remembered.  A key lies in the generation g that was the newest when it was last added,
 * and g is emptied by the (G + 1)-th turn from then on.
 *
 *   By keys, G generations begin and fill up in between.  Each took q adds that were new to it, so
 *   the key is found as long as at most G q >= N keys were added after it, and one that was not
 *   added for more than P q such adds is gone.  Repeats inside a generation do not count, a key
 *   that comes in every generation counts in each.
 *
 *   By time, the key came before g was d seconds old.  The turns are d apart or more, so the last
 *   one comes at least G d >= T seconds after the key: it is found for T seconds.  A generation is
 *   no longer asked d + T seconds after it began, so what nobody adds to forgets as well: a key is
 *   gone after P d seconds at most.
 *
 * Time is in whole seconds since 1970, of the system's clock or the caller's
 * (deja_filter_set_clock).  While a filter is open, time never runs back: if the clock is set
 * back, the window's time continues from where it was, so no key is forgotten early.  A clock that
 * is set forward is time that has passed.
 *
 * A file can have generations that start in the future: the clock was set back since, or the file
 * was crafted.  They would live until the clock has caught up, and take keys until then.  So the
 * next add restarts them from now: their keys then live as long as keys that were added now, and
 * no longer.  Stats report by how much the clock was behind.
 *
 * The rate.  Generations are sized for q keys at p / P, so that all P together stay below p when
 * all of them are full.  By time more keys than that may come; the rate then grows, and stats say
 * so.
 *
 * In a file, what a sync acknowledged has to outlive a crash until it has really expired.  So a
 * turn makes the bodies durable, then a record of the turn, and only then empties the generation;
 * another record tells when that is done.  A crash in between leaves a file that says "clearing",
 * and the next add finishes it.
 *
 * Limit: a turn stops everybody for the time that it takes to go over the body once.
 * Source: with G = 1 it is the double buffering of Chang, Feng, Li, "Approximate Caches for Packet
 * Classification", 2004. */
#include "kinds/deja_filter.h"
#include <string.h>
#include <time.h>

#define MOST_TURNS (UINT64_C(1) << 62) /* that a record has room for, with some to spare */

/* --- One body, P lines a block ------------------------------------------------ */

static void window_init(struct dj_part *p)
{
    p->kernel = dj_block_best();
    p->blocks.body = p->body;
    p->blocks.lines = p->lines;
    p->blocks.n_blocks = p->shape.bits / DJ_BLOCK_BITS / p->lines;
    p->blocks.lane_sets = dj_block_lane_sets(p->shape.k);
}

static void window_prefetch(const struct dj_part *p, const uint64_t *hash, size_t n, bool for_add)
{
    (void)for_add;
    for (size_t i = 0; i < n; i++)
        dj_block_prefetch_lines(&p->blocks, hash[i]);
}

static size_t window_add(struct dj_part *p, const uint64_t *hash, const uint64_t *ahead, size_t n,
                         uint8_t *had, bool shared)
{
    if (shared)
        dj_block_add_line_shared(&p->blocks, p->newest, hash, ahead, n, had);
    else
        p->kernel->add_line(&p->blocks, p->newest, hash, ahead, n, had);
    return n;
}

static void window_contains(const struct dj_part *p, const uint64_t *hash, const uint64_t *ahead,
                            size_t n, uint8_t *have)
{
    p->kernel->find_lines(&p->blocks, hash, ahead, n, have);
}

const struct dj_part_ops dj_window_ops = {
    "window",           DEJA_WINDOW, window_init, window_prefetch, window_add, window_contains,
    dj_part_count_bits, NULL,        NULL,
};

/* Lines of zeros are left alone: they need not go back to memory, or to disk. */
static void clear_line(const struct dj_part *p, uint32_t line)
{
    static const uint8_t zeros[DJ_BLOCK_BYTES];
    uint8_t *at = p->body + (size_t)DJ_BLOCK_BYTES * line;
    for (uint64_t b = 0; b < p->blocks.n_blocks; b++, at += (size_t)DJ_BLOCK_BYTES * p->lines)
        if (memcmp(at, zeros, sizeof zeros) != 0)
            memset(at, 0, sizeof zeros);
}

/* --- Generations ---------------------------------------------------------------- */

static uint64_t lifetime(const struct dj_plan *plan)
{
    return plan->window_seconds / plan->generations +
           (plan->window_seconds % plan->generations != 0);
}

uint32_t dj_generations_newest(const struct dj_plan *plan, const struct dj_window *w)
{
    return (uint32_t)(w->turns % dj_plan_lines(plan));
}

void dj_window_adopt(deja_filter *f, const struct dj_window *w)
{
    f->window = *w;
    f->part[0]->newest = dj_generations_newest(&f->plan, w);
}

static uint64_t load(const _Atomic uint64_t *number)
{
    return atomic_load_explicit(number, memory_order_relaxed);
}

static uint64_t system_seconds(void)
{
    const time_t seconds = time(NULL);
    return seconds > 0 ? (uint64_t)seconds : 0;
}

uint64_t dj_window_now(const deja_filter *f)
{
    const uint64_t given = load(&f->clock.given), latest = load(&f->clock.latest);
    const uint64_t now = given ? given : system_seconds() + load(&f->clock.ahead);
    const uint64_t least = latest ? latest : 1;
    return now > least ? now : least;
}

static void raise_to(_Atomic uint64_t *number, uint64_t to)
{
    uint64_t now = load(number);
    while (now < to && !atomic_compare_exchange_weak_explicit(
                           number, &now, to, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* As above, for an add; a system clock that was set back runs on from the latest time. */
static uint64_t read_clock(deja_filter *f)
{
    const uint64_t now = dj_window_now(f), system = system_seconds();
    if (!load(&f->clock.given) && system + load(&f->clock.ahead) < now)
        atomic_store_explicit(&f->clock.ahead, now - system, memory_order_relaxed);
    raise_to(&f->clock.latest, now);
    return now;
}

uint64_t dj_generations_behind(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint64_t start = w->start[dj_generations_newest(plan, w)];
    return plan->window_seconds && start > now ? start - now : 0;
}

void dj_generations_restart(const struct dj_plan *plan, struct dj_window *w, uint64_t now)
{
    if (!dj_generations_behind(plan, w, now))
        return;
    for (uint32_t l = 0; l < dj_plan_lines(plan); l++)
        if (w->start[l] > now)
            w->start[l] = now;
}

uint64_t dj_window_behind(const deja_filter *f)
{
    const uint64_t is = dj_generations_behind(&f->plan, &f->window, dj_window_now(f));
    const uint64_t was = load(&f->clock.behind);
    return is > was ? is : was;
}

int deja_filter_set_clock(deja_filter *f, uint64_t seconds)
{
    if (f->plan.kind != DEJA_WINDOW)
        return DEJA_ENOTSUP;
    if (seconds > DJ_MAX_SECONDS)
        return DEJA_EINVAL;
    atomic_store_explicit(&f->clock.given, seconds, memory_order_relaxed);
    return DEJA_OK;
}

static bool lives(const struct dj_plan *plan, const struct dj_window *w, uint32_t line,
                  uint64_t now)
{
    const uint64_t start = w->start[line], seconds = plan->window_seconds;
    if (!start)
        return false;
    return !seconds || now < start || now - start < lifetime(plan) + seconds;
}

unsigned dj_generations_living(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint32_t lines = dj_plan_lines(plan);
    if (!plan->window_seconds)
        return (1u << lines) - 1; /* those that have not begun are empty */
    unsigned living = 0;
    for (uint32_t l = 0; l < lines; l++)
        living |= (unsigned)lives(plan, w, l, now) << l;
    return living;
}

uint64_t dj_generations_room(const struct dj_plan *plan, const struct dj_window *w, uint64_t now)
{
    const uint32_t newest = dj_generations_newest(plan, w);
    if (w->clearing || !w->start[newest] || dj_generations_behind(plan, w, now))
        return 0;
    if (plan->window_seconds)
        return now - w->start[newest] < lifetime(plan) ? UINT64_MAX : 0;
    const uint64_t keys = atomic_load_explicit(&w->keys[newest], memory_order_relaxed);
    const uint64_t quota = dj_plan_window_quota(plan);
    return keys < quota ? quota - keys : 0;
}

void dj_generations_advance(const struct dj_plan *plan, struct dj_window *w, uint64_t now)
{
    const uint32_t lines = dj_plan_lines(plan);
    if (w->start[w->turns % lines]) { /* the first generation begins in place */
        /* Which line is next depends on turns mod lines; only a crafted count gets this far. */
        w->turns = (w->turns < MOST_TURNS ? w->turns : w->turns % lines) + 1;
        w->clearing = w->start[w->turns % lines] != 0;
    }
    w->start[w->turns % lines] = now;
    w->keys[w->turns % lines] = 0;
}

bool dj_window_lives(const deja_filter *f, uint32_t line, uint64_t now)
{
    return lives(&f->plan, &f->window, line, now);
}

unsigned dj_window_living(const deja_filter *f)
{
    return dj_generations_living(&f->plan, &f->window,
                                 f->plan.window_seconds ? dj_window_now(f) : 0);
}

static uint64_t room_at(const deja_filter *f, uint64_t now)
{
    return dj_generations_room(&f->plan, &f->window, now);
}

uint64_t dj_window_room(deja_filter *f)
{
    return room_at(f, read_clock(f));
}

static int checkpoint(deja_filter *f)
{
    return f->owner->checkpoint ? f->owner->checkpoint(f) : DEJA_OK;
}

/* Moves on to the next generation, which is not emptied yet. */
static void advance(deja_filter *f, uint64_t now)
{
    struct dj_window next = f->window;
    if (next.start[f->part[0]->newest])
        f->carried = dj_window_carry(f);
    dj_generations_advance(&f->plan, &next, now);
    dj_window_adopt(f, &next);
}

/* A failure before anything is emptied leaves the window as it was; one after that leaves it
 * "clearing", for the next add to try again. */
static int turn(deja_filter *f, uint64_t now)
{
    struct dj_window *w = &f->window;
    const struct dj_window before = *w;
    const struct dj_carried carried = f->carried;
    if (!w->clearing) {
        advance(f, now);
        const int rc = checkpoint(f);
        if (rc < 0) {
            f->carried = carried;
            dj_window_adopt(f, &before);
            return rc;
        }
    }
    if (!w->clearing)
        return DEJA_OK; /* a generation that was never used */
    clear_line(f->part[0], f->part[0]->newest);
    w->clearing = false;
    const int rc = checkpoint(f);
    w->clearing = rc < 0;
    return rc;
}

int dj_window_turn(deja_filter *f)
{
    int rc = DEJA_OK;
    pthread_rwlock_wrlock(&f->growing);
    const uint64_t now = read_clock(f);
    raise_to(&f->clock.behind, dj_generations_behind(&f->plan, &f->window, now));
    dj_generations_restart(&f->plan, &f->window, now);
    if (!room_at(f, now)) /* or another thread was here first */
        rc = turn(f, now);
    pthread_rwlock_unlock(&f->growing);
    return rc;
}

void dj_window_judge(deja_filter *f, uint8_t *had, size_t n)
{
    const uint32_t newest = f->part[0]->newest;
    const unsigned living = dj_window_living(f);
    uint64_t taken = 0;
    for (size_t i = 0; i < n; i++) {
        taken += !(had[i] >> newest & 1);
        had[i] = !(had[i] & living);
    }
    atomic_fetch_add_explicit(&f->window.keys[newest], taken, memory_order_relaxed);
}

void dj_window_find(const deja_filter *f, uint8_t *have, size_t n)
{
    const unsigned living = dj_window_living(f);
    for (size_t i = 0; i < n; i++)
        have[i] = (have[i] & living) != 0;
}

void dj_window_look(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *lines)
{
    const struct dj_part *p = f->part[0];
    dj_filter_hold(f);
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < DJ_CHUNK ? n - at : DJ_CHUNK;
        const bool more = n - at >= 2 * DJ_CHUNK;
        if (at == 0)
            window_prefetch(p, hash, some, false);
        window_contains(p, hash + at, hash + at + (more ? some : 0), some, lines + at);
    }
    dj_filter_release(f);
}
