/* path.h - a path written segment by segment, its dots resolved on the way. */
#ifndef DJ_PATH_H
#define DJ_PATH_H
#include "core/url/params.h"
#include "core/url/percent.h"

struct dj_path {
    struct dj_text *out;
    size_t start; /* where in out the path begins */
    dj_percent_writer *spell;
    bool special;                    /* `\` is `/` */
    const struct dj_params *session; /* parameters of segments to drop; NULL: none */
};

/* Add the segments of a path, with or without a slash in front. */
void dj_path_add(const struct dj_path *p, deja_slice path);
/* Take the last segment away, with the slash before it. */
void dj_path_pop(const struct dj_path *p);

#endif
