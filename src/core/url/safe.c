/* safe.c - the safe and crawl profiles: parse, and write every part in its canonical spelling.
 *
 * safe merges only URLs that are the same by RFC 3986 (6.2.2, 6.2.3) and the WHATWG URL standard;
 * it drops fragments, because they never reach a server. crawl also merges URLs that a server
 * could tell apart but hardly ever does: session ids in paths, tracking parameters, and the order
 * of parameters. docs/url.md lists every rule with an example. */
#include "core/url/params.h"
#include "core/url/write.h"

static int write_parsed(const struct deja_url_rules *rules, const struct dj_url *u,
                        struct dj_text *out)
{
    const bool crawl = rules->profile == DEJA_URL_CRAWL && u->special;
    struct dj_path path = {out, 0, dj_percent_normal, u->special, crawl ? rules->drop : NULL};
    const int rc = dj_write_origin(out, u, dj_percent_normal, rules->version);
    if (rc < 0)
        return rc;
    dj_write_path(&path, u, NULL);
    if (crawl)
        return dj_params_write_query(rules, u->query, out);
    dj_write_query(out, u, dj_percent_normal);
    return DEJA_OK;
}

int dj_url_safe(const struct deja_url_rules *rules, deja_slice url, struct dj_text *out)
{
    struct dj_url u;
    if (out->cap - out->len < url.len)
        return DEJA_ESPACE;
    /* The end of the buffer holds a copy without tabs and line ends. */
    out->cap -= url.len;
    int rc = dj_parse_url(dj_parse_clean(url, out->at + out->cap), &u);
    if (rc == DEJA_OK)
        rc = write_parsed(rules, &u, out);
    out->cap += url.len;
    return rc;
}
