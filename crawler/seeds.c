/* seeds.c - where a crawl begins: URLs that the user gave, in this run or before, as lines of one
 * text in the queue; and the scope, which they span (scope.c). */
#include "ascii.h"
#include "crawler.h"
#include "fail.h"

static bool has_line(const struct buffer *all, deja_slice line)
{
    const char *at = all->len ? all->data : "", *end = at + all->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if ((size_t)(stop - at) == line.len && memcmp(at, line.data, line.len) == 0)
            return true;
        at = stop + 1;
    }
    return false;
}

typedef int seed_take(struct crawler *c, deja_slice seed, deja_error *err);

static int each_seed(struct crawler *c, seed_take *take, deja_error *err)
{
    struct buffer all = {0};
    int rc = frontier_get_blob(c->queue, "seeds", &all, err);
    const char *at = all.len ? all.data : "", *end = at + all.len;
    while (rc == DEJA_OK && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        rc = take(c, ascii_between(at, stop), err);
        at = stop + 1;
    }
    buffer_fini(&all);
    return rc;
}

/* --- What the user gives ------------------------------------------------------------ */

static int add_seed(struct crawler *c, const char *text, struct buffer *all, deja_error *err)
{
    const deja_slice seed = ascii_slice(text);
    deja_slice canon;
    const bool web = ascii_begins(seed, "http:") || ascii_begins(seed, "https:");
    const int rc = web ? offer_canon(c, seed, &canon) : DEJA_ENOTURL;
    if (rc == DEJA_ENOMEM)
        return fail(err, rc, "no memory for the seeds");
    if (rc < 0)
        return fail(err, DEJA_EINVAL, "'%.150s' is no URL of http or https", text);
    if (has_line(all, canon))
        return DEJA_OK;
    return buffer_add(all, canon.data, canon.len) && buffer_text(all, "\n")
               ? DEJA_OK
               : fail(err, DEJA_ENOMEM, "no memory for the seeds");
}

int seeds_store(struct crawler *c, deja_error *err)
{
    struct buffer all = {0};
    int rc = frontier_get_blob(c->queue, "seeds", &all, err);
    for (size_t i = 0; i < c->o->n_seeds && rc == DEJA_OK; i++)
        rc = add_seed(c, c->o->seed[i], &all, err);
    if (rc == DEJA_OK && all.len == 0)
        rc = fail(err, DEJA_EINVAL, "%s has no crawl yet: give it a URL to begin with",
                  fail_path(c->o->dir).text);
    if (rc == DEJA_OK)
        rc = frontier_set_blob(c->queue, "seeds", buffer_slice(&all), err);
    buffer_fini(&all);
    return rc;
}

/* --- What they are for --------------------------------------------------------------- */

static int mark_scope(struct crawler *c, deja_slice seed, deja_error *err)
{
    return scope_add(c->scope, seed) < 0 ? fail(err, DEJA_ENOMEM, "no memory for the scope")
                                         : DEJA_OK;
}

int seeds_open_scope(struct crawler *c, deja_error *err)
{
    const struct crawl_options *o = c->o;
    const bool excludes = o->exclude && o->exclude[0];
    if (o->scope == SCOPE_REGEX && !o->match)
        return fail(err, DEJA_EINVAL, "--scope regex needs --match ERE");
    const int rc = scope_new(o->scope, o->match, excludes ? o->exclude : NULL, &c->scope, err);
    return rc == DEJA_OK ? each_seed(c, mark_scope, err) : rc;
}

static int queue_seed(struct crawler *c, deja_slice seed, deja_error *err)
{
    offer_begin(c, 0, 0, false);
    const int rc = offer_url(c, seed, err);
    return rc == DEJA_OK ? offer_end(c, err) : rc;
}

int seeds_queue(struct crawler *c, deja_error *err)
{
    return each_seed(c, queue_seed, err);
}
