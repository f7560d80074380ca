/* sitemap.h - the URLs in a sitemap. */
#ifndef CRAWLER_HTTP_SITEMAP_H
#define CRAWLER_HTTP_SITEMAP_H
#include "crawler/http/links.h"

/* Gives each <loc> of pages or of further sitemaps to take, up to the first error in the XML.
 * DEJA_ENOMEM, or whatever take failed with. */
int sitemap_extract(deja_slice xml, links_take *take, void *ctx);

#endif
