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

#endif
