/* layers.h - split a URL into layers: site, folder, folder, ..., page. */
#ifndef DJ_LAYERS_H
#define DJ_LAYERS_H
#include "deja.h"

/* Like deja_url_split, but cap must be at least 1, and the empty URL has one layer; *path is the
 * length of the last layer without its query or fragment. */
size_t dj_layers_split(deja_slice url, deja_slice *layer, size_t cap, size_t *path);

/* The length of the scheme and its ://, or 0. */
size_t dj_layers_scheme(deja_slice url);

#endif
