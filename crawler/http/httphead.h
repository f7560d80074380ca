/* httphead.h - reads the fields of a response's header, and rewrites the header for the
 * archive. */
#ifndef CRAWLER_HTTP_HTTPHEAD_H
#define CRAWLER_HTTP_HTTPHEAD_H
#include "tools/base/buffer.h"

/* The value of the first field of that name (in lower case), without surrounding blanks; {NULL, 0}
 * if it is missing.  The head consists of lines with CR LF, the status line first. */
deja_slice httphead_field(deja_slice head, const char *name);
/* True if the media type is HTML.  If it is missing, the body's first bytes decide. */
bool httphead_is_html(deja_slice content_type, deja_slice body);
/* The same for XML, as in sitemaps. */
bool httphead_is_xml(deja_slice content_type, deja_slice body);

/* Write the head as it is archived, including the empty line at its end: the status line in the
 * form of HTTP/1.1, and no transfer coding, because the body after it no longer has one. */
int httphead_archive(deja_slice head, struct buffer *out);
/* The start of the body in a whole response, after the empty line; len if it is missing. */
size_t httphead_end(deja_slice response);

/* Undo gzip or deflate, up to max bytes of output. *body is the input itself if it has neither;
 * room is the caller's.  DEJA_EFORMAT: the body is damaged or has a different coding; *body is
 * then the decoded part. */
int httphead_decode(deja_slice coding, deja_slice raw, size_t max, struct buffer *room,
                    deja_slice *body);

#endif
