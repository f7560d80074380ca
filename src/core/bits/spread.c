/* spread.c - increments, decrements and minimum of counters anywhere in an array; see spread.h.
 *
 * A writer reads all counters of a key before it writes any, and writes the value that it read plus
 * or minus one.  So a counter that a key selects twice changes once.
 *
 * A lookup reads counters in rounds, and keys with a counter of 0 drop out: in a half-full body,
 * three quarters of the remaining absent keys in each of the first rounds.  The keys that are left
 * are nearly all present, so later rounds read more counters. */
#include "core/bits/spread.h"

#define LOT    64 /* keys looked up together */
#define NARROW 2  /* counters per round in the first rounds, ... */
#define FIRST  4  /* ... which check this many, ... */
#define WIDE   8  /* ... and in later rounds */

struct array {
    uint64_t *word;
    uint64_t n;         /* m, the number of counters */
    uint32_t log, k;    /* a counter has 2^log bits */
    uint32_t top;       /* the largest value of a counter */
    uint32_t first_few; /* counters in the first round */
};

static inline struct array array_of(const struct dj_counters *c)
{
    const uint32_t log = (uint32_t)__builtin_ctz(c->bits);
    return (struct array){.word = (uint64_t *)(uintptr_t)c->body,
                          .n = c->n_lines * DJ_BLOCK_BYTES * 8 >> log,
                          .log = log,
                          .k = c->k,
                          .top = UINT32_MAX >> (32 - c->bits),
                          .first_few = c->k < NARROW ? c->k : NARROW};
}

static inline uint64_t place_of(const struct array *a, uint64_t hash, uint32_t i)
{
    return dj_mulhi(dj_nth64(hash, i), a->n);
}

static inline uint64_t *word_at(const struct array *a, uint64_t place)
{
    return a->word + (place << a->log) / 64;
}

static inline uint32_t value_at(const struct array *a, uint64_t place)
{
    const uint64_t word = DJ_LE64(__atomic_load_n(word_at(a, place), __ATOMIC_RELAXED));
    return (uint32_t)(word >> (place << a->log) % 64) & a->top;
}

static inline void put(const struct array *a, uint64_t place, uint32_t value)
{
    uint64_t *word = word_at(a, place);
    const uint64_t by = (place << a->log) % 64;
    const uint64_t others =
        DJ_LE64(__atomic_load_n(word, __ATOMIC_RELAXED)) & ~((uint64_t)a->top << by);
    __atomic_store_n(word, DJ_LE64(others | (uint64_t)value << by), __ATOMIC_RELAXED);
}

static inline void fetch(const struct array *a, uint64_t hash, uint32_t to)
{
    for (uint32_t i = 0; i < to; i++)
        DJ_PREFETCH(word_at(a, place_of(a, hash, i)));
}

void dj_spread_prefetch(const struct dj_counters *c, const uint64_t *hash, size_t n, bool for_add)
{
    const struct array a = array_of(c);
    for (size_t j = 0; j < n; j++)
        fetch(&a, hash[j], for_add ? a.k : a.first_few);
}

/* --- Counting ---------------------------------------------------------------- */

/* The counters of a key, as they were before any of them changes. */
struct key {
    uint64_t place[DJ_SPREAD_MOST];
    uint32_t value[DJ_SPREAD_MOST];
    uint32_t least;
};

static inline void read_key(const struct array *a, uint64_t hash, struct key *key)
{
    key->least = UINT32_MAX;
    for (uint32_t i = 0; i < a->k; i++) {
        key->place[i] = place_of(a, hash, i);
        const uint32_t value = key->value[i] = value_at(a, key->place[i]);
        key->least = value < key->least ? value : key->least;
    }
}

static inline bool up(const struct array *a, uint64_t hash, bool minimal)
{
    struct key key;
    read_key(a, hash, &key);
    for (uint32_t i = 0; i < a->k; i++)
        if (key.value[i] != a->top && (!minimal || key.value[i] == key.least))
            put(a, key.place[i], key.value[i] + 1);
    return key.least == 0;
}

void dj_spread_add(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                   size_t n, bool minimal, uint8_t *is_new)
{
    const struct array a = array_of(c);
    for (size_t j = 0; j < n; j++) {
        is_new[j] = up(&a, hash[j], minimal);
        if (ahead != hash)
            fetch(&a, ahead[j], a.k);
    }
}

bool dj_spread_down(const struct dj_counters *c, uint64_t hash, bool *gone)
{
    const struct array a = array_of(c);
    struct key key;
    read_key(&a, hash, &key);
    *gone = key.least == 1;
    if (key.least == 0 || key.least == a.top)
        return false;
    for (uint32_t i = 0; i < a.k; i++)
        if (key.value[i] != a.top)
            put(&a, key.place[i], key.value[i] - 1);
    return true;
}

uint32_t dj_spread_min(const struct dj_counters *c, uint64_t hash)
{
    const struct array a = array_of(c);
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < a.k; i++) {
        const uint32_t value = value_at(&a, place_of(&a, hash, i));
        least = value < least ? value : least;
    }
    return least;
}

/* --- Lookups ------------------------------------------------------------------- */

/* Keys without a 0 so far, and their counters of the next round. */
struct round {
    size_t n;
    uint32_t from, to;
    uint8_t key[LOT];
    uint64_t place[LOT * WIDE];
};

static inline void round_begin(struct round *r, const struct array *a, uint32_t from)
{
    const uint32_t to = from + (from < FIRST ? NARROW : WIDE);
    r->n = 0;
    r->from = from;
    r->to = to < a->k ? to : a->k;
}

static inline void round_push(struct round *r, const struct array *a, uint64_t hash, size_t key)
{
    uint64_t *place = r->place + r->n * (r->to - r->from);
    r->key[r->n++] = (uint8_t)key;
    for (uint32_t i = r->from; i < r->to; i++) {
        *place = place_of(a, hash, i);
        DJ_PREFETCH(word_at(a, *place++));
    }
}

static inline bool has_all(const struct array *a, const uint64_t *place, uint32_t n)
{
    unsigned all = 1;
    for (uint32_t i = 0; i < n; i++)
        all &= value_at(a, place[i]) != 0;
    return all;
}

/* The first round is over all keys; their counters are in the cache by now. */
static void sift_all(const struct array *a, const uint64_t *hash, const uint64_t *ahead, size_t n,
                     struct round *left)
{
    round_begin(left, a, a->first_few);
    for (size_t j = 0; j < n; j++) {
        unsigned all = 1;
        for (uint32_t i = 0; i < a->first_few; i++)
            all &= value_at(a, place_of(a, hash[j], i)) != 0;
        if (ahead != hash)
            fetch(a, ahead[j], a->first_few);
        if (all)
            round_push(left, a, hash[j], j);
    }
}

static void sift(const struct array *a, const uint64_t *hash, const struct round *now,
                 struct round *left)
{
    const uint32_t width = now->to - now->from;
    round_begin(left, a, now->to);
    for (size_t j = 0; j < now->n; j++)
        if (has_all(a, now->place + j * width, width))
            round_push(left, a, hash[now->key[j]], now->key[j]);
}

static void contains_lot(const struct array *a, const uint64_t *hash, const uint64_t *ahead,
                         size_t n, uint8_t *found)
{
    struct round round[2];
    unsigned turn = 0;
    sift_all(a, hash, ahead, n, &round[0]);
    for (; round[turn].n && round[turn].from < a->k; turn ^= 1)
        sift(a, hash, &round[turn], &round[turn ^ 1]);
    memset(found, 0, n);
    for (size_t j = 0; j < round[turn].n; j++)
        found[round[turn].key[j]] = 1;
}

void dj_spread_contains(const struct dj_counters *c, const uint64_t *hash, const uint64_t *ahead,
                        size_t n, uint8_t *found)
{
    const struct array a = array_of(c);
    for (size_t at = 0; at < n; at += LOT)
        contains_lot(&a, hash + at, ahead + at, n - at < LOT ? n - at : LOT, found + at);
}
