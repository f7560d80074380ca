/* filterpair.c - two filter files that are compared; see filterpair.h. */
#include "cli/session/filterpair.h"
#include "tools/base/fail.h"
#include <string.h>

/* The end of a path: two of them and the reason must fit into a message. */
static const char *short_path(const struct fail_path *path)
{
    enum {
        MOST = 50
    };
    const size_t len = strlen(path->text);
    return len > MOST ? path->text + len - MOST : path->text;
}

int filterpair_name(int rc, const char *a, const char *b, deja_error *err)
{
    const struct fail_path one = fail_path(a), other = fail_path(b);
    const deja_error why = *err;
    return fail(err, rc, "%s and %s: %s", short_path(&one), short_path(&other), why.text);
}

int filterpair_compare(const char *a, const char *b, const deja_options *expect,
                       struct filterpair *out, deja_error *err)
{
    deja_filter *one = NULL, *other = NULL;
    const deja_stats none = DEJA_STATS_INIT;
    out->a = out->b = none;
    int rc = deja_filter_open(a, 0, expect, &one, err);
    if (rc == DEJA_OK)
        rc = deja_filter_open(b, 0, expect, &other, err);
    if (rc == DEJA_OK) {
        rc = deja_filter_overlap(one, other, &out->common, &out->sigma, err);
        if (rc < 0)
            rc = filterpair_name(rc, a, b, err);
    }
    if (rc == DEJA_OK)
        rc = deja_filter_stats(one, 0, &out->a, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(other, 0, &out->b, err);
    deja_filter_free(one);
    deja_filter_free(other);
    return rc;
}
