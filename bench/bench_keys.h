/* bench_keys.h - distinct URLs by number, many at a time, in one buffer as in a crawler.
 *
 * Key i is always the same string, so an added key can be written again later.  Without a list,
 * keys are URLs from `deja gen`, whose lengths vary like those of real ones: equal lengths would
 * make the hash function look faster than it is.  With a list, keys are its distinct lines; when
 * the lines run out, they start over with "#1", "#2", ... appended. */
#ifndef BENCH_BENCH_KEYS_H
#define BENCH_BENCH_KEYS_H
#include "deja.h"
#include "gen/urlgen.h"

/* Numbers with this bit are reserved for keys that are never added.  They alternate with the other
 * keys in the list, so both are equally long on average. */
#define BENCH_KEYS_ABSENT (UINT64_C(1) << 63)

struct bench_keys {
    deja_slice *slice; /* the keys written last */
    size_t n, cap;
    char *bytes; /* the keys, back to back */
    size_t key_max;
    char *list; /* the distinct lines of the list; NULL: generated */
    deja_slice *line;
    size_t n_lines;
    struct urlgen gen;
};

/* Room for cap keys; path may be NULL. */
int bench_keys_init(struct bench_keys *k, size_t cap, const char *path, deja_error *err);
void bench_keys_fini(struct bench_keys *k);
/* Write the keys with these numbers; n is at most cap. */
void bench_keys_make(struct bench_keys *k, const uint64_t *number, size_t n);
/* Read keys once, so that they are in the cache.  Returns a number for the caller to keep, so that
 * the compiler does not drop the reads. */
uint64_t bench_keys_read(const deja_slice *keys, size_t n);
/* Mean length of the keys written last. */
double bench_keys_mean_len(const struct bench_keys *k);

#endif
