/* scrapy.h - the parts of the scrapy profile that canon.c and plain.c need. */
#ifndef DJ_SCRAPY_H
#define DJ_SCRAPY_H
#include "core/url/url.h"

/* Does a path keep the escape of this byte? */
bool dj_scrapy_keeps_escape(unsigned char byte);

dj_url_query_writer dj_scrapy_write_query;

#endif
