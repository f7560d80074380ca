/* write.h - the parts of a URL put together again. */
#ifndef DJ_WRITE_H
#define DJ_WRITE_H
#include "core/url/parse.h"
#include "core/url/path.h"

/* Scheme and authority: DEJA_OK, or what host.h says. */
int dj_write_origin(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell,
                    uint32_t version);

/* The path of u behind it; with `base` the path of that without its last segment comes first. */
void dj_write_path(struct dj_path *p, const struct dj_url *u, const struct dj_url *base);

/* ?query, when there is one. */
void dj_write_query(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell);

#endif
