/* path.h - write a path segment by segment and resolve its dots. */
#ifndef DJ_PATH_H
#define DJ_PATH_H
#include "core/url/params.h"
#include "core/url/percent.h"

struct dj_path {
    struct dj_text *out;
    size_t start; /* where the path starts in out */
    dj_percent_writer *spell;
    bool special;                    /* `\` means `/` */
    const struct dj_params *session; /* segment parameters to drop; NULL: none */
};

/* Add the segments of a path, with or without a leading slash. */
void dj_path_add(const struct dj_path *p, deja_slice path);
/* Remove the last segment and the slash before it. */
void dj_path_pop(const struct dj_path *p);

#endif
