/* build.c - a static filter, from the keys that its builder has collected to memory or a file. */
#include "store/builder.h"
#include "store/file.h"

int deja_builder_finish(deja_builder *b, const char *path, unsigned flags, deja_filter **out,
                        deja_error *err)
{
    struct dj_solution s;
    *out = NULL;
    int rc = dj_builder_solve(b, &s, err);
    if (rc < 0)
        return rc;
    rc = path ? dj_file_create(path, flags, &s.plan, b->key, b->alloc, out, err)
              : dj_filter_in_memory(&s.plan, b->key, b->alloc, out, err);
    if (rc == DEJA_OK) {
        dj_builder_fill(b, &s, *out);
        rc = deja_filter_check_file(*out, err);
    }
    dj_solution_fini(b, &s);
    if (rc == DEJA_OK) {
        dj_builder_clear(b);
    } else {
        deja_filter_free(*out);
        *out = NULL;
    }
    return rc;
}
