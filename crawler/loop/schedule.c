/* schedule.c - decides which host gets the next request.
 *
 * A host may get a request if one of its URLs waits, if fewer than per_host requests to it are in
 * progress, and if its pause is over, whatever schemes, ports and spellings of its name the URLs
 * have (hostkey.h).  While one of its robots.txt files is being fetched, only robots.txt files are
 * requested.  Hosts are in one of two heaps, or in none:
 *
 *     paused   ready at ready_at; the earliest is on top
 *     ready    ready now; the host with the best URL is on top, and among equals the one
 *              that has waited longest
 *
 * With a share (--host-share), a host that has had this many pages in a turn comes after all others
 * that are ready.  If only such hosts are ready, the next turn begins.  That changes no order among
 * them, so the heap stays as it is.
 *
 * A step costs O(log n) for n hosts.  All hosts of the run stay in memory, with their robots.txt,
 * but not their URLs. */
#include "crawler/loop/schedule.h"
#include "tools/base/ascii.h"
#include "tools/base/buffer.h"
#include "tools/base/sys.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* --- Names ------------------------------------------------------------------- */

/* The hash is seeded, because names are untrusted: the owner of *.example.org could create
 * thousands of names that fall into one slot of a table with a known hash. */
static size_t slot_of(const struct schedule *s, deja_slice name)
{
    return (size_t)XXH3_64bits_withSeed(name.data, name.len, s->seed) & (s->n_slots - 1);
}

static uint64_t draw_seed(const struct schedule *s)
{
    uint64_t seed;
    if (sys_random(&seed, sizeof seed))
        return seed;
    return (uint64_t)(uintptr_t)s; /* better than a constant */
}

struct host *schedule_find(const struct schedule *s, deja_slice name)
{
    if (s->n_slots == 0)
        return NULL;
    for (struct host *h = s->slot[slot_of(s, name)]; h; h = h->same_slot)
        if (ascii_compare(ascii_slice(h->name), name) == 0)
            return h;
    return NULL;
}

static size_t slot_of_id(const struct schedule *s, int64_t id)
{
    return (size_t)id & (s->n_slots - 1); /* numbers of rows are consecutive */
}

struct host *schedule_find_id(const struct schedule *s, int64_t id)
{
    struct host *h = s->n_slots ? s->id_slot[slot_of_id(s, id)] : NULL;
    while (h && h->id != id)
        h = h->same_id;
    return h;
}

static void enter_tables(struct schedule *s, struct host *h)
{
    struct host **slot = &s->slot[slot_of(s, ascii_slice(h->name))];
    struct host **id_slot = &s->id_slot[slot_of_id(s, h->id)];
    h->same_slot = *slot;
    h->same_id = *id_slot;
    *slot = *id_slot = h;
}

static bool grow_table(struct schedule *s)
{
    struct schedule wider = {.n_slots = s->n_slots ? 2 * s->n_slots : 64,
                             .seed = s->n_slots ? s->seed : draw_seed(s)};
    wider.slot = calloc(wider.n_slots, sizeof(struct host *));
    wider.id_slot = calloc(wider.n_slots, sizeof(struct host *));
    if (!wider.slot || !wider.id_slot) {
        free(wider.slot);
        free(wider.id_slot);
        return false;
    }
    for (size_t i = 0; i < s->n_slots; i++) {
        for (struct host *h = s->slot[i], *next; h; h = next) {
            next = h->same_slot;
            enter_tables(&wider, h);
        }
    }
    free(s->slot);
    free(s->id_slot);
    s->slot = wider.slot;
    s->id_slot = wider.id_slot;
    s->n_slots = wider.n_slots;
    s->seed = wider.seed;
    return true;
}

static void free_origin(struct origin *o)
{
    robots_fini(&o->robots);
    free(o->elsewhere);
    free(o->name);
    free(o);
}

static void free_host(struct host *h)
{
    for (size_t i = h->ahead_at; i < h->ahead_n; i++)
        frontier_url_free(&h->ahead[i]);
    for (struct origin *o = h->origins, *next; o; o = next) {
        next = o->next;
        free_origin(o);
    }
    free(h->ahead);
    free(h->name);
    free(h);
}

struct host *schedule_add(struct schedule *s, deja_slice name, int64_t id)
{
    if (s->n_hosts >= s->n_slots && !grow_table(s))
        return NULL;
    struct host *h = calloc(1, sizeof *h);
    if (!h || !(h->name = ascii_copy(name))) {
        free(h);
        return NULL;
    }
    h->id = id;
    h->best = h->after = ORDER_LOWEST;
    enter_tables(s, h);
    s->n_hosts++;
    return h;
}

void schedule_fini(struct schedule *s)
{
    for (size_t i = 0; i < s->n_slots; i++) {
        for (struct host *h = s->slot[i], *next; h; h = next) {
            next = h->same_slot;
            free_host(h);
        }
    }
    free(s->slot);
    free(s->id_slot);
    for (size_t i = 0; i < SCHEDULE_HEAPS; i++)
        free(s->heap[i].host);
    *s = (struct schedule){.per_host = s->per_host};
}

/* --- Origins ------------------------------------------------------------------ */

/* Nearly every host has only one or two origins.  The one used last comes first. */
struct origin *host_origin(struct host *h, deja_slice name)
{
    struct origin **at = &h->origins, *o;
    for (; (o = *at); at = &o->next)
        if (ascii_compare(ascii_slice(o->name), name) == 0)
            break;
    if (o) {
        *at = o->next;
    } else {
        o = calloc(1, sizeof *o);
        if (!o || !(o->name = ascii_copy(name))) {
            free(o);
            return NULL;
        }
        o->host = h;
    }
    o->next = h->origins;
    h->origins = o;
    return o;
}

void host_add_errand(struct host *h, struct origin *o)
{
    struct origin **last = &h->errands;
    while (*last)
        last = &(*last)->in_line;
    o->in_line = NULL;
    *last = o;
}

struct origin *host_take_errand(struct host *h)
{
    struct origin *o = h->errands;
    if (o)
        h->errands = o->in_line;
    return o;
}

/* --- Heaps -------------------------------------------------------------------- */

/* Whether the host has had its share of this turn. */
static bool is_spent(const struct schedule *s, const struct host *h)
{
    return s->share > 0 && h->turn == s->turn && h->served >= s->share;
}

void schedule_count(const struct schedule *s, struct host *h)
{
    h->served = h->turn == s->turn ? h->served + 1 : 1;
    h->turn = s->turn;
}

static bool before(const struct schedule *s, int heap, const struct host *a, const struct host *b)
{
    if (heap == SCHEDULE_READY && is_spent(s, a) != is_spent(s, b))
        return is_spent(s, b);
    if (heap == SCHEDULE_READY && a->best != b->best)
        return a->best > b->best;
    return a->ready_at < b->ready_at;
}

static void put_at(struct schedule_heap *heap, size_t at, struct host *h)
{
    heap->host[at] = h;
    h->place = at;
}

/* Move the host at this place up or down to where it belongs. */
static void settle(struct schedule *s, int which, size_t at)
{
    struct schedule_heap *heap = &s->heap[which];
    struct host *h = heap->host[at];
    while (at > 0 && before(s, which, h, heap->host[(at - 1) / 2])) {
        put_at(heap, at, heap->host[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    for (size_t child; (child = 2 * at + 1) < heap->n; at = child) {
        if (child + 1 < heap->n && before(s, which, heap->host[child + 1], heap->host[child]))
            child++;
        if (!before(s, which, heap->host[child], h))
            break;
        put_at(heap, at, heap->host[child]);
    }
    put_at(heap, at, h);
}

static void leave(struct schedule *s, struct host *h)
{
    struct schedule_heap *heap = &s->heap[h->heap];
    if (h->heap == SCHEDULE_NONE)
        return;
    struct host *last = heap->host[--heap->n];
    if (last != h) {
        put_at(heap, h->place, last);
        settle(s, h->heap, h->place);
    }
    h->heap = SCHEDULE_NONE;
}

static int enter(struct schedule *s, struct host *h, int which)
{
    struct schedule_heap *heap = &s->heap[which];
    void *host = array_grow(heap->host, &heap->cap, heap->n + 1, sizeof(struct host *));
    if (!host)
        return DEJA_ENOMEM;
    heap->host = host;
    h->heap = which;
    put_at(heap, heap->n++, h);
    settle(s, which, h->place);
    return DEJA_OK;
}

int schedule_update(struct schedule *s, struct host *h)
{
    leave(s, h);
    const bool wants = h->errands || (host_waits(h) && h->asking == 0);
    if (!wants || h->in_flight >= s->per_host)
        return DEJA_OK;
    return enter(s, h, SCHEDULE_PAUSED); /* schedule_next checks whether the pause is over */
}

struct host *schedule_next(struct schedule *s, double now, double *pause)
{
    struct schedule_heap *paused = &s->heap[SCHEDULE_PAUSED];
    struct schedule_heap *ready = &s->heap[SCHEDULE_READY];
    while (paused->n > 0 && paused->host[0]->ready_at <= now) {
        struct host *h = paused->host[0];
        leave(s, h);
        if (enter(s, h, SCHEDULE_READY) < 0)
            return h; /* out of memory for the heap: take the host now */
    }
    *pause = paused->n > 0 ? paused->host[0]->ready_at - now : -1;
    if (ready->n == 0)
        return NULL;
    s->turn += is_spent(s, ready->host[0]); /* and so are all others */
    return ready->host[0];
}
