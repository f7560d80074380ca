/* sitemap.h - the URLs in a sitemap. */
#ifndef CRAWLER_HTTP_SITEMAP_H
#define CRAWLER_HTTP_SITEMAP_H
#include "crawler/http/links.h"

/* What stands between <loc> and </loc>, of pages or of further sitemaps. */
int sitemap_extract(deja_slice xml, links_take *take, void *ctx);

#endif
