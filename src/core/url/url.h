/* url.h - declarations that the files in this folder share.
 *
 * canon.c is the entry point: it asks plain.c whether the URL is already canonical (nearly all
 * are) and leaves the others to the profile's own file, which writes the canonical form.  They
 * build on parse.c (the WHATWG parser) and write.c, path.c, host.c with idna.c, params.c with
 * tracking.c; all of these use percent.c. */
#ifndef DJ_URL_H
#define DJ_URL_H
#include "core/url/text.h"

struct dj_params; /* names of query parameters; params.h */

struct deja_url_rules {
    uint32_t profile;
    uint32_t version;                   /* increased when the form of any URL changes */
    const struct dj_params *drop;       /* NULL: keep all */
    const struct deja_url_rules *older; /* the previous version; NULL: this is the first */
};

/* Versions of safe and crawl; the other profiles have only one. */
enum dj_url_version {
    DJ_URL_IDNA2008 = 1, /* deja 0.1: hosts by IDNA2008, with its limits */
    DJ_URL_UTS46         /* hosts as browsers handle them */
};

/* Append the canonical form of url to `out`.  DEJA_OK, DEJA_ENOTURL, DEJA_ENOTSUP or DEJA_ENOMEM;
 * sets out->short_of_room if it does not fit. out has DEJA_URL_ROOM(url.len) bytes, and the form
 * is never longer than 3 url.len + 256: the bytes after that can be used as scratch. */
typedef int dj_url_writer(const struct deja_url_rules *rules, deja_slice url, struct dj_text *out);
/* The same for a query, which follows its `?`: append it with the `?`, or nothing.  out has room for
 * four times its length. */
typedef int dj_url_query_writer(const struct deja_url_rules *rules, deja_slice query,
                                struct dj_text *out);
dj_url_writer dj_url_safe; /* safe and crawl: they differ in rules->drop and in sorting */
dj_url_writer dj_url_gsb;
dj_url_writer dj_url_scrapy;
dj_url_writer dj_url_shape;
/* Returns status and, if it is not DEJA_OK, explains it in *err (unless NULL) with a sentence
 * about this URL (noturl.c). */
int dj_url_explain(int status, deja_slice url, deja_error *err);

#endif
