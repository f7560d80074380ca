/* httphead.h - the header of a response: its fields, and the form in which it is archived. */
#ifndef CRAWLER_HTTP_HTTPHEAD_H
#define CRAWLER_HTTP_HTTPHEAD_H
#include "tools/base/buffer.h"

/* The value of the first field of that name (in lower case), without blanks around it; {NULL, 0}
 * when there is none.  The head is lines with CR LF, the status line first. */
deja_slice httphead_field(deja_slice head, const char *name);
/* Is the media type HTML?  One that is missing is looked for in the body's first bytes. */
bool httphead_is_html(deja_slice content_type, deja_slice body);
/* Or XML, as sitemaps are? */
bool httphead_is_xml(deja_slice content_type, deja_slice body);

/* The head as it is archived, with the empty line at its end: the status line in HTTP/1.1's form,
 * and no claim of a transfer coding, since the body behind it has none any more. */
int httphead_archive(deja_slice head, struct buffer *out);
/* Where the body begins in a whole response, behind the empty line; len when there is none. */
size_t httphead_end(deja_slice response);

/* Undo gzip or deflate, up to max bytes of the result.  *body is the input itself when it has
 * neither; room is the caller's.  DEJA_EFORMAT: damaged, or another coding; *body is what could
 * be read. */
int httphead_decode(deja_slice coding, deja_slice raw, size_t max, struct buffer *room,
                    deja_slice *body);

#endif
