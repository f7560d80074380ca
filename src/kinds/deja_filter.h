/* deja_filter.h - the inside of a filter: resolved numbers, a key, and a list of parts. */
#ifndef DJ_DEJA_FILTER_H
#define DJ_DEJA_FILTER_H
#include "core/base/writer.h"
#include "core/hash/hash.h"
#include "kinds/layering.h"
#include "kinds/part.h"
#include "kinds/plan.h"
#include <pthread.h>

#define DJ_MAX_PARTS 32 /* as a header has room for */
/* Counts in files stop here, so that 32 of them can still be added up. */
#define DJ_MAX_COUNT (UINT64_C(1) << 58)

/* Two counts of any size together, in a count. */
static inline uint64_t dj_count_sum(uint64_t a, uint64_t b)
{
    return a < DJ_MAX_COUNT && b < DJ_MAX_COUNT - a ? a + b : DJ_MAX_COUNT;
}

/* What happened to the keys before the filter was last folded or united, when other bits than
 * today's judged them, or before a window's last turn; all zero when there was none. */
struct dj_earlier {
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
    int (*begin_writing)(deja_filter *f);          /* before the first add since the last sync */
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
    /* Has the writer's window turned since this reader looked?  take: follow it. */
    bool (*follow)(deja_filter *f, bool take);
    /* NULL, or: are the bodies still what they were?  Asked after every batch; and with the
     * reason. */
    bool (*is_whole)(const deja_filter *f);
    int (*check)(const deja_filter *f, deja_error *err);
    const char *(*path)(const deja_filter *f); /* NULL, or: its file, for messages */
};

struct deja_filter {
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    struct dj_part *part[DJ_MAX_PARTS]; /* stay where they are; NULL: not needed yet */
    uint32_t n_parts;
    _Atomic uint64_t offered;
    struct dj_earlier earlier;
    struct dj_window window;
    struct dj_clock clock;
    _Atomic uint64_t removed, refused; /* spectral, paired */
    _Atomic uint64_t hidden;           /* paired: adds of keys that the deletions claim */
    _Atomic uint64_t familiar,
        lost;                /* layered: new keys with known segments; 2^32 for each lost */
    struct dj_layers layers; /* layered */
    atomic_bool writing;     /* begin_writing was called since the last sync */
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

/* Make the parts up to n_parts that are not there yet, all zero; false: out of memory. */
bool dj_filter_make_parts(deja_filter *f, uint32_t n_parts);
/* What makes the hashes of spatial part i > 0 differ from the first part's; never 0. */
uint64_t dj_part_salt(const uint8_t key[DEJA_KEY_LEN], uint64_t visit, uint32_t i);

#endif
