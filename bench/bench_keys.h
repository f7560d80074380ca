/* bench_keys.h - distinct URLs by number, many at a time, in one buffer as a crawler has them.
 *
 * Key i is always the same string, so a key that was added once can be written again later.
 * Without a list they are made up: about 60 bytes, of different lengths.  With a list, key i is
 * its i-th different line; when the lines run out they begin again with "#1", "#2", ... behind
 * them. */
#ifndef BENCH_BENCH_KEYS_H
#define BENCH_BENCH_KEYS_H
#include "deja.h"

struct bench_keys {
    deja_slice *slice; /* the keys made last */
    size_t n, cap;
    char *bytes; /* behind each other */
    size_t key_max;
    char *list; /* the different lines of the list; NULL: made up */
    deja_slice *line;
    size_t n_lines;
};

/* Room for cap keys; path may be NULL. */
int bench_keys_init(struct bench_keys *k, size_t cap, const char *path, deja_error *err);
void bench_keys_fini(struct bench_keys *k);
/* Make the keys of these numbers; n is at most cap. */
void bench_keys_make(struct bench_keys *k, const uint64_t *number, size_t n);
/* Mean length of the keys made last. */
double bench_keys_mean_len(const struct bench_keys *k);

#endif
