/* lab_keys.h - the URLs of the lab: generated, or the distinct lines of a file. */
#ifndef LAB_ENGINE_LAB_KEYS_H
#define LAB_ENGINE_LAB_KEYS_H
#include "lab/engine/lab.h"
#include "tools/input/pick.h"

/* 2 n URLs of `deja gen --seed S`: the first n are inserted, the rest are queried. */
int lab_keys_make(struct lab_keys *k, uint64_t n, uint64_t seed, deja_error *err);
/* The first 2 n distinct lines of a file, or the part of them that `pick` selects; if there are
 * fewer, n becomes half of their number. */
int lab_keys_read(struct lab_keys *k, uint64_t n, const char *path,
                  const struct pick_options *pick, const atomic_bool *stop, deja_error *err);
void lab_keys_fini(struct lab_keys *k);

#define LAB_KEYS_MIN 100 /* minimum number of distinct lines in a file */

#endif
