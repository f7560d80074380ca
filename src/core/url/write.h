/* write.h - assemble a URL from its parts. */
#ifndef DJ_WRITE_H
#define DJ_WRITE_H
#include "core/url/parse.h"
#include "core/url/path.h"

/* Scheme and authority: DEJA_OK, or a status from host.h. */
int dj_write_origin(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell,
                    uint32_t version);

/* Append the path of u; with `base`, its path without the last segment comes first. */
void dj_write_path(struct dj_path *p, const struct dj_url *u, const struct dj_url *base);

/* Append ?query, if there is one. */
void dj_write_query(struct dj_text *out, const struct dj_url *u, dj_percent_writer *spell);

#endif
