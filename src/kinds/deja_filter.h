/* deja_filter.h - the internals of a filter: a plan, a key, and a list of parts. */
#ifndef DJ_DEJA_FILTER_H
#define DJ_DEJA_FILTER_H
#include "core/base/writer.h"
#include "core/hash/hash.h"
#include "kinds/layering.h"
#include "kinds/part.h"
#include "kinds/plan.h"
#include <pthread.h>

#define DJ_MAX_PARTS 32 /* as many as fit into a header */
/* The largest count in a file; the sum of 32 of them still fits into 64 bits. */
#define DJ_MAX_COUNT (UINT64_C(1) << 58)

/* The sum of two counts, at most DJ_MAX_COUNT. */
static inline uint64_t dj_count_sum(uint64_t a, uint64_t b)
{
    return a < DJ_MAX_COUNT && b < DJ_MAX_COUNT - a ? a + b : DJ_MAX_COUNT;
}

/* Counts from before the last fold, union or turn of a window, when different bits decided whether
 * a key was new; all zero if there was none. */
struct dj_earlier {
    uint64_t unions; /* filters that were merged into this one */
    uint64_t keys;   /* answered "new" until then */
    double lost;     /* mistaken for seen until then */
};

/* The generations of a window (window.c); a file's sync record has the same numbers. */
struct dj_window {
    uint64_t turns;                        /* the newest generation is line turns mod P */
    bool clearing;                         /* that line still has bits of an expired generation */
    uint64_t start[DJ_BLOCK_LINES];        /* when each began; 0: not yet */
    _Atomic uint64_t keys[DJ_BLOCK_LINES]; /* keys that were new to each */
};

/* The time of a window: the caller's, or the system's plus `ahead`.  It never runs backward (see
 * window.c). */
struct dj_clock {
    _Atomic uint64_t given; /* 0: the system's */
    _Atomic uint64_t ahead;
    _Atomic uint64_t latest; /* the latest time that an add used */
    _Atomic uint64_t behind; /* its largest lag behind a file's newest generation */
};

/* Where the bodies live: the heap (memory.c) or a mapped file (store). */
struct dj_owner_ops {
    int (*begin_writing)(deja_filter *f);          /* called before the first add after a sync */
    int (*grow)(deja_filter *f, uint32_t n_parts); /* give bodies to the parts up to n_parts */
    void (*free)(deja_filter *f);                  /* release the bodies */
    /* Makes an empty filter with the same owner and key that will replace f ... */
    int (*next)(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                deja_error *err);
    /* ... once it is filled: f and next are exchanged, durably.  On failure, f is unchanged. */
    int (*replace)(deja_filter *f, deja_filter *next, deja_error *err);
    /* The following may be NULL; the heap has none of them. */
    void (*change_all)(deja_filter *f); /* all pieces of the bodies may change (pieces.h) */
    void (*walk)(const deja_filter *f, bool begin); /* the bodies will be read in order, or not */
    int (*checkpoint)(deja_filter *f); /* window: makes bodies, then counts and turns, durable */
    /* window: whether the writer has turned since this reader last checked; if `take` is set,
     * follows it. */
    bool (*follow)(deja_filter *f, bool take);
    /* Whether the file is still intact: a quick check for every batch, and a full check. */
    bool (*is_whole)(const deja_filter *f);
    int (*check)(const deja_filter *f, deja_error *err);
    const char *(*path)(const deja_filter *f); /* for messages */
};

struct deja_filter {
    struct dj_plan plan;
    uint8_t key[DEJA_KEY_LEN];
    struct dj_hasher hasher;
    struct dj_hasher *other;            /* of plan.others; NULL: there are none */
    struct dj_part *part[DJ_MAX_PARTS]; /* never move; NULL: not needed yet */
    uint32_t n_parts;
    uint64_t bytes; /* of all bodies */
    _Atomic uint64_t offered;
    struct dj_earlier earlier;
    struct dj_window window;
    _Atomic uint64_t removed, refused; /* spectral, paired */
    _Atomic uint64_t hidden;           /* paired: adds of keys that are in the deletions */
    _Atomic uint64_t familiar;         /* layered: new keys with known segments */
    _Atomic uint64_t lost;             /* layered: 2^32 for each lost key */
    struct dj_layers layers;           /* layered */
    atomic_bool writing;               /* begin_writing was called since the last sync */
    bool unclean; /* not synced after its last add: the counts are estimates */
    uint64_t syncs;
    void *store; /* the owner's data */

    /* dj_filter_swap exchanges everything above and leaves everything from here on. */
    struct dj_clock clock;
    bool read_only;
    struct dj_writer writer;
    _Atomic uint64_t claimed; /* room in the newest part for pieces that are being added */
    pthread_rwlock_t growing; /* scalable, layered, window: held for reading by add and contains;
                                 spectral with F > 1: for writing by remove */
    const deja_allocator *alloc;
    deja_allocator alloc_copy;
    const struct dj_owner_ops *owner;
};

/* Allocates the missing parts up to n_parts, all zero; false: out of memory. */
bool dj_filter_make_parts(deja_filter *f, uint32_t n_parts);
/* The salt of spatial part i > 0, which makes its hashes differ from the first part's; never 0. */
uint64_t dj_part_salt(const uint8_t key[DEJA_KEY_LEN], uint64_t visit, uint32_t i);

#endif
