/* window.c - remembers the last N keys, or the keys of the last T seconds.
 *
 * The body holds P = G + 1 blocked filters of equal size, the generations: up to G full ones and
 * the one that is filling.  When that one is full, the oldest is emptied and becomes the newest.
 * A key has the same block and the same bits in every generation, and its P blocks are adjacent
 * (lines, core/bits/block.h).  So a query reads P neighboring cache lines with one pattern, which
 * costs far less than P lookups.
 *
 *   add        sets the key in the newest generation even if an older one has it, which renews the
 *              key.  It answers "new" if no generation had it
 *   contains   looks in all generations
 *   turn       by keys: when the newest has taken q = ceil(N / G) keys that were new to it
 *              by time: when it is d = ceil(T / G) seconds old
 *
 * How long a key is found.  A key is in the generation g that was the newest when the key was last
 * added; the (G + 1)-th turn after that empties g.
 *
 *   By keys, G generations begin and fill up in between.  Each of them took q adds that were new
 *   to it, so the key is found as long as at most G q >= N keys have been added after it, and is
 *   gone after more than P q such adds.  Repeats within a generation do not count; a key that
 *   occurs in every generation counts in each.
 *
 *   By time, the key was added before g was d seconds old.  Turns are at least d apart, so the last
 *   one comes at least G d >= T seconds after the key, which is found until then.  A generation
 *   expires d + T seconds after it began, so a window without adds also forgets: a key is gone
 *   after at most P d seconds.
 *
 * generations.c has these rules.
 *
 * Time is in whole seconds since 1970, from the system's clock or from the caller
 * (deja_filter_set_clock).  While a filter is open, time never runs backward: if the clock is set
 * back, the window's time continues from where it was, so no key is forgotten early.  If the clock
 * is set forward, that time counts as passed.
 *
 * A file can have generations that start in the future, because the clock has been set back since
 * then or the file was crafted.  They would stay alive, and take keys, until the clock catches up.
 * So the next add restarts them from now: their keys then live as long as keys that are added now.
 * Stats report by how much the clock was behind.
 *
 * The rate.  Generations are sized for q keys at p / P, so the rate of all P together stays below p
 * when all are full.  A time window may get more keys; its rate is then higher, and stats report
 * that.
 *
 * In a file, synced keys must survive crashes until they expire.  So a turn first makes the bodies
 * durable, then writes a record of the turn, then empties the generation, and writes another
 * record when that is done.  A crash in between leaves a file in the state "clearing", and the
 * next add finishes the turn.
 *
 * Statistics.  Each generation is a blocked filter; over all that have not expired:
 *
 *   rate       1 - prod (1 - rate of generation i): the generations hold independent keys
 *   distinct   the number of keys that explains the OR of the generations' lines; a key has the
 *              same bits in all of them, so one that is in several counts once
 *   lost       a new key that arrives while the newest generation holds x others is mistaken for
 *              seen with probability 1 - (1 - older) (1 - rate(x)), where older is the rate of the
 *              other generations
 *
 * Keys lost before the last turn were judged by bits that no longer exist; struct dj_earlier keeps
 * their number, as for keys lost before a fold.
 *
 * Limit: a turn blocks all other calls while it clears one generation.
 * Source: with G = 1, this is the double buffering of Chang, Feng, Li, "Approximate Caches for
 * Packet Classification", 2004. */
#include "kinds/window.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "core/bits/popcount.h"
#include "kinds/kind.h"
#include <math.h>
#include <string.h>
#include <time.h>

/* --- One body with P lines per block ------------------------------------------- */

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

/* Does not write lines that are already zero: they stay clean in the cache and on disk. */
static void clear_line(const struct dj_part *p, uint32_t line)
{
    static const uint8_t zeros[DJ_BLOCK_BYTES];
    uint8_t *at = p->body + (size_t)DJ_BLOCK_BYTES * line;
    for (uint64_t b = 0; b < p->blocks.n_blocks; b++, at += (size_t)DJ_BLOCK_BYTES * p->lines)
        if (memcmp(at, zeros, sizeof zeros) != 0)
            memset(at, 0, sizeof zeros);
}

/* --- Plan ------------------------------------------------------------------ */

static int window_read(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    plan->generations = opt->generations ? opt->generations : DJ_DEFAULT_GENERATIONS;
    plan->window_seconds = opt->window_seconds;
    (void)err; /* the option table checks the ranges */
    return DEJA_OK;
}

struct dj_shape dj_window_generation(const struct dj_shape *s, uint32_t lines)
{
    return (struct dj_shape){.layout = DJ_BLOCKS, .k = s->k, .bits = s->bits / lines};
}

/* The rate if all P generations hold their share of n keys. */
static double window_rate(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_window_generation(&plan->shape, dj_plan_lines(plan));
    return 1 - pow(1 - dj_shape_rate(&s, n / plan->generations), dj_plan_lines(plan));
}

/* The number of the first n keys that are lost: a key of generation j may be found in the j older
 * ones. */
static double window_lost(const struct dj_plan *plan, double n)
{
    const struct dj_shape s = dj_window_generation(&plan->shape, dj_plan_lines(plan));
    const double share = n / plan->generations, full = dj_shape_rate(&s, share);
    const double own = dj_shape_lost(&s, share) / share;
    double lost = 0;
    for (uint32_t j = 0; j < plan->generations; j++)
        lost += share * (1 - pow(1 - full, j) * (1 - own));
    return lost;
}

static double window_part_rate(const struct dj_plan *plan)
{
    return plan->fp_rate / dj_plan_lines(plan);
}

/* Sets the size of all generations from that of one. */
static bool multiply_lines(struct dj_plan *plan, const struct dj_shape *s)
{
    if (s->bits > DJ_MAX_BITS / dj_plan_lines(plan))
        return false;
    plan->shape.k = s->k;
    plan->shape.bits = s->bits * dj_plan_lines(plan);
    return true;
}

static int size(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    struct dj_shape s = {.layout = DJ_BLOCKS, .k = plan->shape.k};
    const uint64_t row = (uint64_t)DJ_BLOCK_BITS / 8 * dj_plan_lines(plan);
    if (!opt->capacity && !opt->memory)
        return dj_fail(err, DEJA_EINVAL,
                       "options.capacity is 0: give the number of keys that the window holds");
    if (!opt->memory)
        return dj_shape_fit(&s, dj_generations_quota(plan), window_part_rate(plan)) &&
                       multiply_lines(plan, &s)
                   ? DEJA_OK
                   : dj_plan_too_large(plan, err);
    if (opt->memory < row)
        return dj_fail(err, DEJA_EINVAL, "options.memory is %llu: it must be at least %llu bytes",
                       (ull)opt->memory, (ull)row);
    s.bits = opt->memory / row * DJ_BLOCK_BITS;
    if (opt->capacity)
        dj_shape_best_k(&s, dj_generations_quota(plan));
    else
        plan->capacity = dj_shape_capacity(&s, window_part_rate(plan)) * plan->generations;
    return multiply_lines(plan, &s) ? DEJA_OK : dj_plan_too_large(plan, err);
}

static int window_plan(const deja_options *opt, struct dj_plan *plan, deja_error *err)
{
    if (opt->multiplier != 0)
        return dj_plan_check_multiplier(opt, plan, err);
    int rc = dj_plan_check_two(opt, err);
    if (rc == DEJA_OK)
        rc = size(opt, plan, err);
    return rc == DEJA_OK ? dj_plan_settle(opt, plan, err) : rc;
}

/* --- Generations and time ------------------------------------------------------ */

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

/* Reads the clock for an add.  If the system clock was set back, time continues from the
 * latest. */
static uint64_t read_clock(deja_filter *f)
{
    const uint64_t now = dj_window_now(f), system = system_seconds();
    if (!load(&f->clock.given) && system + load(&f->clock.ahead) < now)
        atomic_store_explicit(&f->clock.ahead, now - system, memory_order_relaxed);
    raise_to(&f->clock.latest, now);
    return now;
}

static uint64_t behind(const deja_filter *f)
{
    const uint64_t is = dj_generations_behind(&f->plan, &f->window, dj_window_now(f));
    const uint64_t was = load(&f->clock.behind);
    return is > was ? is : was;
}

static bool lives(const deja_filter *f, uint32_t line, uint64_t now)
{
    return dj_generations_lives(&f->plan, &f->window, line, now);
}

static unsigned living(const deja_filter *f)
{
    return dj_generations_living(&f->plan, &f->window,
                                 f->plan.window_seconds ? dj_window_now(f) : 0);
}

/* --- Statistics ------------------------------------------------------------------ */

/* How many distinct keys arrived if `taken` of them found a bit missing. */
static double came_to(const struct dj_shape *s, double taken)
{
    double n = taken;
    for (int i = 0; i < 16; i++) {
        const double more = taken + dj_shape_lost(s, n);
        if (more - n < 0.01)
            return more;
        n = more;
    }
    return n;
}

/* Keys counted in each generation, and all keys ever answered "new". */
struct counts {
    double keys[DJ_BLOCK_LINES], told;
};

static struct counts counts_of(const deja_filter *f, const struct dj_window *w, uint64_t told)
{
    struct counts c = {.told = (double)told};
    for (uint32_t l = 0; l < f->part[0]->lines; l++)
        c.keys[l] = (double)atomic_load_explicit(&w->keys[l], memory_order_relaxed);
    return c;
}

/* The average probability that a new key since the last turn was mistaken for seen. */
static double chance_to_lose(const deja_filter *f, const struct counts *c, uint64_t now)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape s = dj_window_generation(&p->shape, p->lines);
    double passes = 1;
    for (uint32_t l = 0; l < p->lines; l++)
        if (l != p->newest && lives(f, l, now))
            passes *= 1 - dj_shape_rate(&s, came_to(&s, c->keys[l]));
    const double n = came_to(&s, c->keys[p->newest]);
    return 1 - passes * (n > 0 ? 1 - dj_shape_lost(&s, n) / n : 1);
}

/* Keys lost before the last turn and since. */
static double lost_of(const deja_filter *f, const struct counts *c)
{
    const double since = fmax(c->told - (double)f->earlier.keys, 0);
    const double chance = since > 0 ? chance_to_lose(f, c, dj_window_now(f)) : 0;
    return f->earlier.lost + since * chance / fmax(1 - chance, 1e-3);
}

struct dj_earlier dj_window_earlier(const deja_filter *f)
{
    const uint64_t told = atomic_load_explicit(&f->part[0]->keys, memory_order_relaxed);
    const struct counts c = counts_of(f, &f->window, told);
    return (struct dj_earlier){.unions = f->earlier.unions, .keys = told, .lost = lost_of(f, &c)};
}

/* Set bits in line l of all blocks, and in the OR of the living lines. */
struct bits {
    uint64_t line[DJ_BLOCK_LINES], any;
};

static void count_block(const uint8_t *first, uint32_t lines, unsigned living, struct bits *sum)
{
    uint8_t any[DJ_BLOCK_BYTES] = {0};
    for (uint32_t l = 0; l < lines; l++, first += DJ_BLOCK_BYTES) {
        sum->line[l] += dj_popcount(first, DJ_BLOCK_BYTES);
        for (size_t i = 0; living >> l & 1 && i < DJ_BLOCK_BYTES; i += 8)
            dj_store64(any + i, dj_load64(any + i) | dj_load64(first + i));
    }
    sum->any += dj_popcount(any, sizeof any);
}

static struct bits count_bits(const struct dj_part *p, unsigned living)
{
    struct bits sum = {{0}, 0};
    const size_t row = (size_t)DJ_BLOCK_BYTES * p->lines;
    for (uint64_t b = 0; b < p->blocks.n_blocks; b++)
        count_block(p->body + row * b, p->lines, living, &sum);
    return sum;
}

uint64_t dj_window_least_keys(const struct dj_shape *s, uint64_t bits)
{
    const double likely = dj_shape_keys(s, (double)bits);
    if (!isfinite(likely))
        return 0;
    const double least = dj_shape_keys(s, (double)bits - 5 * dj_shape_bits_sigma(s, likely));
    return least > 0 ? (uint64_t)least : 0;
}

static void recount(const deja_filter *f, const struct bits *bits, struct dj_window *w,
                    uint64_t *told)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape s = dj_window_generation(&p->shape, p->lines);
    for (uint32_t l = 0; l < p->lines; l++) {
        const uint64_t least =
            w->clearing && l == p->newest ? 0 : dj_window_least_keys(&s, bits->line[l]);
        if (least > w->keys[l])
            w->keys[l] = least;
    }
    if (*told < w->keys[p->newest] + f->earlier.keys)
        *told = w->keys[p->newest] + f->earlier.keys;
}

/* Adds generation l to the statistics. */
static void add_generation(deja_stats *s, const deja_filter *f, uint32_t l, uint64_t bits,
                           double keys, uint64_t now)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape shape = dj_window_generation(&p->shape, p->lines);
    const double found = dj_shape_keys(&shape, (double)bits);
    const double came = came_to(&shape, keys);
    const double sigma = dj_shape_bits_sigma(&shape, came);
    const uint32_t age = (p->newest + p->lines - l) % p->lines; /* 0: the newest */
    const uint64_t start = f->window.start[l];
    const bool is_alive = lives(f, l, now);
    s->bits_set += bits;
    s->bits_expected += dj_shape_bits_set(&shape, came);
    s->bits_sigma = hypot(s->bits_sigma, sigma);
    if (is_alive)
        s->fp_now = 1 - (1 - s->fp_now) * (1 - (isinf(found) ? 1 : dj_shape_rate(&shape, found)));
    s->generation_keys[age] = is_alive ? (uint64_t)keys : 0;
    s->generation_age[age] = start && now > start ? now - start : 0;
    s->window_keys += s->generation_keys[age];
    s->crowded += is_alive && keys > (double)dj_generations_quota(&f->plan);
}

static void window_stats(const deja_filter *f, deja_stats *s)
{
    const struct dj_part *p = f->part[0];
    const struct dj_shape shape = dj_window_generation(&p->shape, p->lines);
    const struct bits bits = count_bits(p, living(f));
    const uint64_t now = dj_window_now(f);
    s->keys = atomic_load_explicit(&p->keys, memory_order_relaxed);
    struct counts c = counts_of(f, &f->window, s->keys);
    if (f->unclean && f->read_only) { /* keys were added after the last sync */
        struct dj_window w = f->window;
        recount(f, &bits, &w, &s->keys);
        c = counts_of(f, &w, s->keys);
    }
    s->turns = f->window.turns;
    s->clock_behind = behind(f);
    s->capacity = f->plan.capacity;
    s->lost = lost_of(f, &c);
    s->distinct = dj_shape_keys(&shape, (double)bits.any);
    s->bits = p->shape.bits;
    s->bytes = p->body_len;
    for (uint32_t l = 0; l < p->lines; l++)
        add_generation(s, f, l, bits.line[l], c.keys[l], now);
}

/* Keys beyond the quota, which generations of a time window can have. */
static uint64_t excess(const deja_filter *f)
{
    const uint64_t quota = dj_generations_quota(&f->plan);
    const unsigned alive = living(f);
    uint64_t sum = 0;
    for (uint32_t l = 0; l < f->part[0]->lines; l++) {
        const uint64_t keys = load(&f->window.keys[l]);
        if (alive >> l & 1 && keys > quota)
            sum += keys - quota;
    }
    return sum;
}

static void window_outline(const deja_filter *f, deja_stats *o)
{
    o->capacity = f->part[0]->capacity;
    o->keys = o->entries = dj_part_keys(f->part[0]);
    o->excess = excess(f);
    o->clock_behind = behind(f);
}

/* --- Turns ----------------------------------------------------------------------- */

static uint64_t room_at(const deja_filter *f, uint64_t now)
{
    return dj_generations_room(&f->plan, &f->window, now);
}

static uint64_t window_room(deja_filter *f)
{
    return room_at(f, read_clock(f));
}

static int checkpoint(deja_filter *f)
{
    return f->owner->checkpoint ? f->owner->checkpoint(f) : DEJA_OK;
}

/* Begins the next generation, which is not emptied yet. */
static void advance(deja_filter *f, uint64_t now)
{
    struct dj_window next = f->window;
    if (next.start[f->part[0]->newest])
        f->earlier = dj_window_earlier(f);
    dj_generations_advance(&f->plan, &next, now);
    dj_window_adopt(f, &next);
}

/* A failure before the generation is emptied leaves the window unchanged; a later one leaves it
 * "clearing", and the next add tries again. */
static int turn(deja_filter *f, uint64_t now)
{
    struct dj_window *w = &f->window;
    const struct dj_window before = *w;
    const struct dj_earlier earlier = f->earlier;
    if (!w->clearing) {
        advance(f, now);
        const int rc = checkpoint(f);
        if (rc < 0) {
            f->earlier = earlier;
            dj_window_adopt(f, &before);
            return rc;
        }
    }
    if (!w->clearing)
        return DEJA_OK; /* this line was never used */
    clear_line(f->part[0], f->part[0]->newest);
    w->clearing = false;
    const int rc = checkpoint(f);
    w->clearing = rc < 0;
    return rc;
}

static int window_make_room(deja_filter *f, const uint64_t *row, uint32_t *n_parts)
{
    const uint64_t now = read_clock(f);
    (void)row, (void)n_parts;
    raise_to(&f->clock.behind, dj_generations_behind(&f->plan, &f->window, now));
    dj_generations_restart(&f->plan, &f->window, now);
    return room_at(f, now) ? DEJA_OK : turn(f, now); /* another thread may have been first */
}

/* --- Answers ---------------------------------------------------------------------- */

static void prefetch_keys(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add)
{
    window_prefetch(f->part[0], hash, n, for_add);
}

static size_t add_keys(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                       uint8_t *is_new, bool shared)
{
    struct dj_part *p = f->part[0];
    const uint32_t newest = p->newest;
    const unsigned alive = living(f);
    uint64_t taken = 0;
    window_add(p, hash, ahead, n, is_new, shared); /* a bit for each generation that had the key */
    for (size_t i = 0; i < n; i++) {
        taken += !(is_new[i] >> newest & 1);
        is_new[i] = !(is_new[i] & alive);
    }
    dj_writer_count(&f->window.keys[newest], taken, shared);
    dj_part_count_new(p, is_new, n, shared);
    return n;
}

static void find_keys(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *found)
{
    window_contains(f->part[0], hash, ahead, n, found);
    const unsigned alive = living(f);
    for (size_t i = 0; i < n; i++)
        found[i] = (found[i] & alive) != 0;
}

void dj_window_look(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *lines)
{
    const struct dj_part *p = f->part[0];
    for (size_t at = 0, some; at < n; at += some) {
        some = n - at < DJ_CHUNK ? n - at : DJ_CHUNK;
        const bool more = n - at >= 2 * DJ_CHUNK;
        if (at == 0)
            window_prefetch(p, hash, some, false);
        window_contains(p, hash + at, hash + at + (more ? some : 0), some, lines + at);
    }
}

/* --- Files ------------------------------------------------------------------------- */

#define CLEARING (UINT64_C(1) << 63) /* a flag in the turns of a record */

static void window_to_record(const deja_filter *f, struct dj_record *r)
{
    const struct dj_window *w = &f->window;
    r->turns = w->turns | (w->clearing ? CLEARING : 0);
    memcpy(r->start, w->start, sizeof r->start);
    for (uint32_t i = 0; i < f->part[0]->lines; i++)
        r->keys[i] = load(&w->keys[i]);
    r->keys[DJ_TOLD_NEW] = dj_part_keys(f->part[0]);
}

static void window_follow(deja_filter *f, const struct dj_record *r)
{
    struct dj_window w = {.turns = r->turns & ~CLEARING, .clearing = r->turns & CLEARING};
    memcpy(w.start, r->start, sizeof w.start);
    for (uint32_t i = 0; i < DJ_BLOCK_LINES; i++)
        w.keys[i] = r->keys[i];
    dj_window_adopt(f, &w);
}

static void window_from_record(deja_filter *f, const struct dj_record *r)
{
    window_follow(f, r);
    f->part[0]->keys = r->keys[DJ_TOLD_NEW];
}

static void window_recount(const deja_filter *f, struct dj_record *r)
{
    const struct bits bits = count_bits(f->part[0], 0);
    struct dj_window w = f->window;
    recount(f, &bits, &w, &r->keys[DJ_TOLD_NEW]);
    for (uint32_t i = 0; i < f->part[0]->lines; i++)
        r->keys[i] = w.keys[i];
}

static int window_check(const struct dj_plan *plan, deja_error *err)
{
    return plan->generations && plan->generations <= DJ_MAX_GENERATIONS && !plan->reserved &&
                   plan->window_seconds <= DJ_MAX_SECONDS
               ? DEJA_OK
               : dj_fail_damaged(err, "generations or seconds of the window");
}

static bool window_part_is_sound(const struct dj_plan *plan, const struct dj_part *p, uint32_t i)
{
    (void)i;
    return p->capacity == plan->capacity &&
           p->shape.bits % ((uint64_t)DJ_BLOCK_BITS * dj_plan_lines(plan)) == 0;
}

static double window_share(const deja_options *next)
{
    return 1.0 / (next->generations + 1);
}

static const char *const options[] = {"generations", "window_seconds", NULL};
static const struct dj_field header[] = {
    DJ_FIELD(304, struct dj_plan, generations),
    DJ_FIELD(308, struct dj_plan, reserved),
    DJ_FIELD(312, struct dj_plan, window_seconds),
};
static const struct dj_field record[] = {
    DJ_FIELD(360, struct dj_record, turns),    DJ_FIELD(368, struct dj_record, start[0]),
    DJ_FIELD(376, struct dj_record, start[1]), DJ_FIELD(384, struct dj_record, start[2]),
    DJ_FIELD(392, struct dj_record, start[3]), DJ_FIELD(400, struct dj_record, start[4]),
    DJ_FIELD(408, struct dj_record, start[5]), DJ_FIELD(416, struct dj_record, start[6]),
    DJ_FIELD(424, struct dj_record, start[7]),
};
const struct dj_kind dj_window = {
    .name = "window",
    .number = DEJA_WINDOW,
    .help = "generations that expire: the last N keys, or those of the last T seconds",
    .can = DEJA_CAN_ADD | DEJA_CAN_EXPIRE | DEJA_CAN_FORGET | DEJA_CAN_MERGE,
    .options = options,
    .layout = DJ_BLOCKS,
    .most_capacity = DJ_MAX_CAPACITY * DJ_MAX_GENERATIONS, /* given enough memory */
    .read = window_read,
    .plan = window_plan,
    .part_rate = window_part_rate,
    .rate = window_rate,
    .lost = window_lost,
    .prefetch = prefetch_keys,
    .add = add_keys,
    .contains = find_keys,
    .room = window_room,
    .make_room = window_make_room,
    .stats = window_stats,
    .outline = window_outline,
    .merge = dj_window_merge,
    .share = window_share,
    .header = DJ_FIELDS(header),
    .record = DJ_FIELDS(record),
    .check = window_check,
    .part_is_sound = window_part_is_sound,
    .to_record = window_to_record,
    .from_record = window_from_record,
    .recount = window_recount,
    .follow = window_follow,
    .body = {.init = window_init,
             .prefetch = window_prefetch,
             .add = window_add,
             .contains = window_contains,
             .bits_set = dj_part_count_bits},
};
