/* window.h - the internals of a window, for stream/dedup.c. */
#ifndef DJ_WINDOW_H
#define DJ_WINDOW_H
#include "kinds/generations.h"

/* The current time of the window. */
uint64_t dj_window_now(const deja_filter *f);
/* Looks up n hashes: bit l of lines[i] is set if generation l has key i, expired or not. */
void dj_window_look(const deja_filter *f, const uint64_t *hash, size_t n, uint8_t *lines);
/* The shape of one generation of a body of this shape. */
struct dj_shape dj_window_generation(const struct dj_shape *s, uint32_t lines);

/* Gives a window these generations. */
void dj_window_adopt(deja_filter *f, const struct dj_window *w);
/* Keys answered "new" and lost until now. */
struct dj_earlier dj_window_earlier(const deja_filter *f);
/* Returns how many keys this many bits prove: almost certainly not too many, because a window that
 * turns early forgets early. */
uint64_t dj_window_least_keys(const struct dj_shape *s, uint64_t bits);
/* The union of two windows (windowunion.c). */
int dj_window_merge(deja_filter *into, const deja_filter *from, deja_error *err);

#endif
