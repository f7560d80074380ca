/* lab_site.h - makes the graph of a site whose pages are known by their URLs.
 *
 *   first every page, in any order and also more than once; then every link */
#ifndef LAB_ENGINE_LAB_SITE_H
#define LAB_ENGINE_LAB_SITE_H
#include "lab/engine/lab_graph.h"
#include "tools/base/buffer.h"
#include <stdatomic.h>

struct lab_name {
    size_t at, len; /* in the text */
    bool seed;
};

struct lab_site { /* begin with {0} */
    struct buffer text;
    struct lab_name *name; /* sorted by its URL before the first link */
    size_t n, cap;
    bool sorted;
    struct lab_link *link;
    size_t n_links, cap_links;
    uint64_t unknown; /* links to URLs that are not pages */
};

int lab_site_page(struct lab_site *s, deja_slice url, bool seed, deja_error *err);
/* Links from or to URLs that are not pages are counted and skipped. */
int lab_site_link(struct lab_site *s, deja_slice from, deja_slice to, deja_error *err);
/* Make the graph; its URLs and source, too.  DEJA_EINVAL: there is no page, or no seed. */
int lab_site_finish(struct lab_site *s, const char *source, struct lab_graph *g, deja_error *err);
void lab_site_fini(struct lab_site *s);

/* Reads a file with one link per line: FROM, a tab, TO.  A line with an empty FROM names a seed;
 * without such a line, the first FROM is the seed.  *stop: return LAB_STOPPED soon. */
int lab_site_read(struct lab_graph *g, const char *path, const atomic_bool *stop, deja_error *err);

#endif
