/* params.h - query parameters: drop some names, and sort the query. */
#ifndef DJ_PARAMS_H
#define DJ_PARAMS_H
#include "core/url/url.h"

/* A name or, with `prefix`, all names that start with it. */
struct dj_name {
    const char *text;
    size_t len;
    bool prefix;
};

/* Names sorted by bytes, none of them covered by a prefix in the set. */
struct dj_names {
    const struct dj_name *name;
    size_t n;
};

/* The names in `drop` that are not in `keep`. */
struct dj_params {
    struct dj_names drop, keep;
};

/* The built-in list of the crawl profile. */
extern const struct dj_params dj_params_tracking;

bool dj_params_has(const struct dj_params *set, deja_slice name);

/* Sort n names and remove those that another one covers; returns how many are left. */
size_t dj_names_order(struct dj_name *name, size_t n);
/* The entry that covers a name, or NULL. */
const struct dj_name *dj_names_find(const struct dj_names *names, const char *name, size_t len);

/* Write ?query, sorted, canonical and without the names in rules->drop (NULL: keep all); nothing if
 * no parameter is left.  DEJA_OK or DEJA_ENOMEM. */
dj_url_query_writer dj_params_write_query;
/* The same if every byte of the query already has its canonical spelling. */
dj_url_query_writer dj_params_sort_query;

/* Remove ;jsessionid=... from a path segment if `drop` has that name; returns the new length. */
size_t dj_params_trim(const struct dj_params *drop, char *segment, size_t len);

#endif
