/* layers.h - a URL cut into layers: site, folder, folder, ..., page. */
#ifndef DJ_LAYERS_H
#define DJ_LAYERS_H
#include "deja.h"

/* As deja_url_split with room for at least one layer, which the empty URL has, too; *path gets the
 * bytes of the last layer before its query or fragment. */
size_t dj_layers_split(deja_slice url, deja_slice *layer, size_t cap, size_t *path);

/* Bytes of the scheme and the :// after it, or 0. */
size_t dj_layers_scheme(deja_slice url);

#endif
