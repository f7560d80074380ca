/* kinds.c - the list of kinds: the one place where a new kind is announced. */
#include "kinds/part.h"
#include <string.h>

#define BLOOM (DEJA_CAN_MERGE | DEJA_CAN_FOLD | DEJA_CAN_OVERLAP)

/* In the order of their numbers. */
static const struct {
    const char *name;
    uint32_t kind;
    uint32_t can;
    const char *help;
} kinds[] = {
    {"classic", DEJA_CLASSIC, DEJA_CAN_ADD | DEJA_CAN_REPEAT | BLOOM,
     "k positions over the whole array: the fewest bits of the Bloom filters"},
    {"blocked", DEJA_BLOCKED, DEJA_CAN_ADD | DEJA_CAN_REPEAT | BLOOM,
     "one cache line per key: the fastest, and the default"},
    {"layered", DEJA_LAYERED, DEJA_CAN_ADD | DEJA_CAN_PREFIX | DEJA_CAN_LAYER,
     "a filter for each segment of a URL: answers questions about prefixes"},
    {"spectral", DEJA_SPECTRAL, DEJA_CAN_ADD | DEJA_CAN_REMOVE | DEJA_CAN_COUNT | DEJA_CAN_REPEAT,
     "counters instead of bits: remove keys, count how many times each was added"},
    {"paired", DEJA_PAIRED, DEJA_CAN_ADD | DEJA_CAN_REMOVE | DEJA_CAN_FORGET,
     "entries and deletions: remove keys for good; it FORGETS some others"},
    {"scalable", DEJA_SCALABLE, DEJA_CAN_ADD | DEJA_CAN_GROW | BLOOM,
     "parts that are added as keys arrive: it grows, and its rate stays"},
    {"window", DEJA_WINDOW, DEJA_CAN_ADD | DEJA_CAN_EXPIRE | DEJA_CAN_FORGET,
     "generations that expire: the last N keys, or those of the last T seconds"},
    {"static", DEJA_STATIC, DEJA_CAN_BUILD,
     "a binary fuse filter: the fewest bits of all, for a set that never changes"},
    {"exact", DEJA_EXACT, DEJA_CAN_ADD | DEJA_CAN_FILL | DEJA_CAN_MERGE | DEJA_CAN_OVERLAP,
     "64-bit fingerprints in a table: practically no false positives"},
};

/* Where this kind is in the list; its length for an unknown one. */
static size_t find(uint32_t kind)
{
    size_t i = 0;
    while (i < DJ_ARRAY_LEN(kinds) && kinds[i].kind != kind)
        i++;
    return i;
}

const char *deja_kind_name(uint32_t kind)
{
    const size_t i = find(kind);
    return i < DJ_ARRAY_LEN(kinds) ? kinds[i].name : NULL;
}

const char *deja_kind_help(uint32_t kind)
{
    const size_t i = find(kind);
    return i < DJ_ARRAY_LEN(kinds) ? kinds[i].help : NULL;
}

uint32_t deja_kind_parse(const char *name)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return 0;
}

uint32_t deja_kind_next(uint32_t kind)
{
    const size_t next = kind ? find(kind) + 1 : 0;
    return next < DJ_ARRAY_LEN(kinds) ? kinds[next].kind : 0;
}

bool deja_kind_can(uint32_t kind, uint32_t capability)
{
    const size_t i = find(kind);
    return i < DJ_ARRAY_LEN(kinds) && (kinds[i].can & capability) == capability;
}

const char *deja_simd_name(void)
{
    return dj_block_best()->name;
}
