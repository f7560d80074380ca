/* filter.h - the inside of a filter: resolved numbers, a key, and a list of parts. */
#ifndef DJ_FILTER_H
#define DJ_FILTER_H
#include "core/base/writer.h"
#include "core/hash/hash.h"
#include "kinds/layering.h"
#include "kinds/part.h"
#include "kinds/plan.h"
#include <pthread.h>

#define DJ_MAX_PARTS 32
/* Counts in files stop here, so that 32 of them can still be added up. */
#define DJ_MAX_COUNT (UINT64_C(1) << 58)

/* Two counts of any size together, in a count. */
static inline uint64_t dj_count_sum(uint64_t a, uint64_t b)
{
    return a < DJ_MAX_COUNT && b < DJ_MAX_COUNT - a ? a + b : DJ_MAX_COUNT;
}

/* What happened to the keys before the filter was last folded or united, when other bits than
 * today's judged them, or before a window's last turn; all zero when there was none. */
struct dj_carried {
    uint64_t unions; /* filters that were merged into this one */
    uint64_t keys;   /* told "new" by then */
    double lost;     /* taken for seen by then */
};

/* Where a window's generations are (window.c); a file's sync record has the same. */
struct dj_window {
    uint64_t turns;                        /* the newest generation is line turns mod P */
    bool clearing;                         /* which still has bits of the oldest one */
    uint64_t start[DJ_BLOCK_LINES];        /* when it began; 0: it has not */
    _Atomic uint64_t keys[DJ_BLOCK_LINES]; /* that were new to it */
};

/* The time that a window goes by: the caller's, or the system's and how far it is ahead of it.  It
 * never runs back: see window.c. */
struct dj_clock {
    _Atomic uint64_t given; /* 0: the system's */
    _Atomic uint64_t ahead;
    _Atomic uint64_t latest; /* that an add went by */
    _Atomic uint64_t behind; /* how far it was behind a file's newest generation, at most */
};

/* Where the bodies live: the heap (memory.c) or a mapped file (store). */
struct dj_owner_ops {
    int (*touch)(deja_filter *f);                  /* before the first add since the last sync */
    int (*grow)(deja_filter *f, uint32_t n_parts); /* give bodies to the parts up to n_parts */
    void (*free)(deja_filter *f);                  /* release the bodies */
    /* An empty filter of the same owner and key, to take the place of f ... */
    int (*next)(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                deja_error *err);
    /* ... when it is filled: f becomes next, for good, and next what f was; or f stays. */
    int (*replace)(deja_filter *f, deja_filter *next, deja_error *err);
    void (*walk)(const deja_filter *f, bool begin); /* NULL, or: the bodies are read in order */
    /* window; NULL where nothing outlives the process, and nobody else writes: */
    int (*checkpoint)(deja_filter *f); /* bodies, then counts and turns, are on disk */
    /* Has a reader's window turned in the writer's hands?  take: it is so from now on. */
    bool (*news)(deja_filter *f, bool take);
    /* NULL, or: are the bodies still what they were?  Asked behind every batch; and in words. */
    bool (*is_whole)(const deja_filter *f);
    int (*vouch)(const deja_filter *f, deja_error *err);
};

struct deja_filter {
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    struct dj_part *part[DJ_MAX_PARTS]; /* stay where they are; NULL: not needed yet */
    uint32_t n_parts;
    _Atomic uint64_t offered;
    struct dj_carried carried;
    struct dj_window window;
    struct dj_clock clock;
    _Atomic uint64_t removed, refused; /* spectral, paired */
    _Atomic uint64_t hidden;           /* paired: adds of keys that the deletions claim */
    _Atomic uint64_t familiar,
        lost;                /* layered: new keys with known segments; 2^32 for each lost */
    struct dj_layers layers; /* layered */
    atomic_bool touched;
    bool read_only;
    bool unclean; /* opened without a final sync: counts before this were estimated */
    uint64_t syncs;
    struct dj_writer writer;
    pthread_rwlock_t growing; /* scalable, layered, window: held for reading by add and contains;
                                 spectral with F > 1: for writing by remove */
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
    const struct dj_owner_ops *owner;
    void *store; /* the owner's own */
};

/* A filter with the parts of its plan and no bodies, key set, ready for an owner; NULL: out of
 * memory. */
deja_filter *dj_filter_make(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                            const deja_allocator *alloc);
/* A new filter with bodies of zeros on the heap. */
int dj_filter_in_memory(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                        const deja_allocator *alloc, deja_filter **out, deja_error *err);
/* Make the parts up to n_parts that are not there yet, all zero; false: out of memory. */
bool dj_filter_make_parts(deja_filter *f, uint32_t n_parts);
/* Declare a filter without bodies one of the heap: its parts get theirs from f->alloc. */
void dj_filter_to_memory(deja_filter *f);
/* Whether a filter with its first n_parts parts, bodies or not, could be loaded again (sound.c):
 * every operation asks before it puts a filter in place of another.  DEJA_EINVAL. */
int dj_filter_check(const deja_filter *f, uint32_t n_parts, deja_error *err);
/* How much a filter may take without being told a size: growing up to n_parts, and the body of
 * the next visit.  DJ_UNASKED_BYTES in all, or else this many times what it has; a scalable one:
 * times its newest part and its growth. */
#define DJ_UNASKED_BYTES ((uint64_t)16 << 20)
#define DJ_UNASKED_TIMES UINT64_C(32)
#define DJ_PART_TIMES    UINT64_C(8) /* for a tighter rate: enough for tightenings from 0.1 */
bool dj_growth_fits(const deja_filter *f, uint32_t n_parts);
bool dj_renewal_fits(const deja_filter *f, uint64_t bytes);
/* Exchange what two filters of one owner are, bodies included. */
void dj_filter_swap(deja_filter *a, deja_filter *b);
/* Tell the owner that the bodies will be read in order, or no longer. */
void dj_filter_walk(const deja_filter *f, bool begin);
/* Kinds that get more parts as they fill; of these, no part comes or goes between the two calls.
 */
bool dj_filter_grows(const deja_filter *f);
void dj_filter_hold(const deja_filter *f);
void dj_filter_release(const deja_filter *f);

/* Whether the bodies went away under what was just computed from them: it is worth nothing. */
static inline bool dj_filter_is_lost(const deja_filter *f)
{
    return f->owner->is_whole && !f->owner->is_whole(f);
}
/* deja_filter_stats, with words for a filter that is lost. */
int dj_filter_account(const deja_filter *f, deja_stats *stats, deja_error *err);
/* DEJA_EIO, and errno, for such a filter. */
int dj_filter_lost(void);
/* Everything but the bodies. */
void dj_filter_unmake(deja_filter *f);
/* What makes the hashes of spatial part i > 0 differ from the first part's; never 0. */
uint64_t dj_part_salt(const uint8_t key[DEJA_KEY_LEN], uint64_t visit, uint32_t i);
/* The key that options ask for: given, from a seed, or random. */
int dj_filter_key(const deja_options *opt, uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* All that a new filter needs before it has an owner: options as they are known here, plan and
 * key; static ones are refused. */
int dj_filter_begin(const deja_options *opt, deja_options *known, struct dj_plan *plan,
                    uint8_t key[DEJA_KEY_LEN], deja_error *err);

/* Parts combined (several.c): hash is n keys, answers 0 or 1. */
#define DJ_CHUNK 64 /* keys in flight at once, when a key is one number */
void dj_parts_prefetch(const deja_filter *f, const uint64_t *hash, size_t n, bool for_add);
size_t dj_parts_add(deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                    uint8_t *is_new, bool shared);
void dj_parts_contain(const deja_filter *f, const uint64_t *hash, const uint64_t *ahead, size_t n,
                      uint8_t *found);
/* What part i makes of n hashes: these, or others in buf. */
const uint64_t *dj_parts_view(const deja_filter *f, uint32_t i, const uint64_t *hash, size_t n,
                              uint64_t buf[DJ_CHUNK]);
/* Count the answers "new". */
void dj_parts_count_new(struct dj_part *p, const uint8_t *is_new, size_t n);
/* The rules of paired.c for a chunk. */
void dj_paired_add(deja_filter *f, const uint64_t *hash, size_t n, uint8_t *is_new, bool shared);
void dj_paired_contain(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *found);
bool dj_paired_remove(deja_filter *f, uint64_t hash, bool shared);
/* spectral: one add of a key taken back, and how often it was added; paired: the key removed. */
bool dj_parts_remove(deja_filter *f, uint64_t hash, bool shared);
uint32_t dj_parts_count(const deja_filter *f, uint64_t hash);
/* scalable: how many keys the newest part still takes, and the next part when `parts`, all that
 * the caller saw, are full (scalable.c). */
uint64_t dj_scalable_room(const deja_filter *f);
int dj_scalable_grow(deja_filter *f, uint32_t parts);
/* layered (layered.c): rows are those of segments.h.  Adding stops before a key that a layer has
 * no room for; grow makes that room, unless there are more than `parts` already. */
void dj_layered_contain(const deja_filter *f, const uint64_t *rows, size_t n, uint8_t *found);
size_t dj_layered_add(deja_filter *f, const uint64_t *rows, size_t n, uint8_t *is_new,
                      bool shared);
int dj_layered_grow(deja_filter *f, uint32_t parts, const uint64_t *row);

/* window: keys that the newest generation still takes, and the next one when it takes no more. */
uint64_t dj_window_room(deja_filter *f);
int dj_window_turn(deja_filter *f);
/* What the part says, a bit for each generation, as the window's answer: was it new, is it found;
 * the former also counts. */
void dj_window_judge(deja_filter *f, uint8_t *had, size_t n);
void dj_window_find(const deja_filter *f, uint8_t *have, size_t n);
/* Looks up n hashes: bit l of lines[i] is set if generation l has key i, expired or not. */
void dj_window_look(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *lines);
/* Its generations are these from now on. */
void dj_window_adopt(deja_filter *f, const struct dj_window *w);
/* The rules by which generations take turns, on a copy of them: the keys that the newest still
 * takes; the next one, which has `clearing` set if it holds keys of an older one; a bit for each
 * generation that has not expired. */
uint32_t dj_generations_newest(const struct dj_plan *plan, const struct dj_window *w);
uint64_t dj_generations_room(const struct dj_plan *plan, const struct dj_window *w, uint64_t now);
/* By how many seconds a window by time starts in the future, and the end of that: now. */
uint64_t dj_generations_behind(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);
void dj_generations_restart(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
void dj_generations_advance(const struct dj_plan *plan, struct dj_window *w, uint64_t now);
unsigned dj_generations_living(const struct dj_plan *plan, const struct dj_window *w,
                               uint64_t now);
uint64_t dj_window_now(const deja_filter *f);
/* By how many seconds its newest generation starts, or started, in the future. */
uint64_t dj_window_behind(const deja_filter *f);
/* Has this generation begun and not expired?  All that live, a bit each. */
bool dj_window_lives(const deja_filter *f, uint32_t line, uint64_t now);
unsigned dj_window_living(const deja_filter *f);
/* The account (window_stats.c): of all, of what is to be carried over a turn, and the counts of a
 * file that was not synced, raised to what its bits tell. */
void dj_window_stats(const deja_filter *f, deja_stats *s);
struct dj_carried dj_window_carry(const deja_filter *f);
void dj_window_recount(const deja_filter *f, struct dj_window *w, uint64_t *told);

#endif
