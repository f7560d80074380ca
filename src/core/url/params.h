/* params.h - query parameters: which names are dropped, and the query put in order. */
#ifndef DJ_PARAMS_H
#define DJ_PARAMS_H
#include "core/url/url.h"

/* A name, or with `prefix` all names that begin with it. */
struct dj_name {
    const char *text;
    size_t len;
    bool prefix;
};

/* Names in the order of their bytes, none of them covered by a prefix among them. */
struct dj_names {
    const struct dj_name *name;
    size_t n;
};

/* What is in `drop` and not in `keep`. */
struct dj_params {
    struct dj_names drop, keep;
};

/* The built-in list of profile crawl. */
extern const struct dj_params dj_params_tracking;

bool dj_params_has(const struct dj_params *set, deja_slice name);

/* Sort n names and leave out those that another one covers; how many are left. */
size_t dj_names_order(struct dj_name *name, size_t n);
/* The entry that covers a name, or NULL. */
const struct dj_name *dj_names_find(const struct dj_names *names, const char *name, size_t len);

/* Write ?query in order, canonical and without the names in `drop` (NULL: keep them all); nothing
 * when no parameter is left.  DEJA_OK or DEJA_ENOMEM. */
int dj_params_write_query(struct dj_text *out, deja_slice query, const struct dj_params *drop);

/* Take ;jsessionid=... out of a segment of a path, when `drop` has that name; the new length. */
size_t dj_params_trim(const struct dj_params *drop, char *segment, size_t len);

#endif
