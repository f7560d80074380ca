/* params.h - query parameters: which names are dropped, and the query put in order. */
#ifndef DJ_PARAMS_H
#define DJ_PARAMS_H
#include "core/url/url.h"

struct dj_params; /* a set of names; one that ends in `*` stands for all with that beginning */

bool dj_params_has(const struct dj_params *set, deja_slice name);

#endif
