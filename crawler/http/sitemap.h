/* sitemap.h - finds the URLs in a sitemap. */
#ifndef CRAWLER_HTTP_SITEMAP_H
#define CRAWLER_HTTP_SITEMAP_H
#include "crawler/http/links.h"

/* Pass each <loc> of pages or of further sitemaps to take, up to the first error in the XML.
 * Returns DEJA_OK, DEJA_ENOMEM, or the error that take returned. */
int sitemap_extract(deja_slice xml, links_take *take, void *ctx);

#endif
