/* lab_folder.c - the site that `deja lab replay --graph` crawls again; see lab_folder.h. */
#include "cli/commands/lab_folder.h"
#include "crawler/loop/linkgraph.h"
#include "lab/engine/lab.h"
#include "lab/engine/lab_site.h"
#include "tools/base/fail.h"
#include <sys/stat.h>

#ifdef DEJA_HAVE_CRAWLER
struct reading {
    struct lab_site site;
    const atomic_bool *stop;
};

static int take_page(void *reading, deja_slice url, bool seed, deja_error *err)
{
    struct reading *r = reading;
    return lab_site_page(&r->site, url, seed, err);
}

static int take_link(void *reading, deja_slice from, deja_slice to, deja_error *err)
{
    struct reading *r = reading;
    if (r->stop && atomic_load_explicit(r->stop, memory_order_relaxed))
        return LAB_STOPPED;
    return lab_site_link(&r->site, from, to, err);
}

static int read_crawl(struct lab_graph *g, const char *path, const atomic_bool *stop,
                      deja_error *err)
{
    struct reading r = {.stop = stop};
    const struct linkgraph_take take = {take_page, take_link, &r};
    int rc = linkgraph_read(path, &take, err);
    if (rc == DEJA_OK)
        rc = lab_site_finish(&r.site, path, g, err);
    lab_site_fini(&r.site);
    return rc;
}
#else
static int read_crawl(struct lab_graph *g, const char *path, const atomic_bool *stop,
                      deja_error *err)
{
    (void)g, (void)stop;
    return fail(
        err, DEJA_ENOTSUP,
        "%s: this build cannot read crawls; it was built without these Debian packages: %s",
        fail_path(path).text, DEJA_CRAWLER_NEEDS);
}
#endif

int lab_folder_read(struct lab_graph *g, const char *path, const atomic_bool *stop,
                    deja_error *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return fail_errno(err, "--graph %s", fail_path(path).text);
    return S_ISDIR(st.st_mode) ? read_crawl(g, path, stop, err)
                               : lab_site_read(g, path, stop, err);
}
