/* cdxj.h - writes the index of an archive, which says where each page is. */
#ifndef CRAWLER_ARCHIVE_CDXJ_H
#define CRAWLER_ARCHIVE_CDXJ_H
#include "crawler/archive/warc.h"
#include "tools/base/buffer.h"

/* Append the key by which lines are sorted to out: org,example)/path?query. */
int cdxj_key(deja_slice url, struct buffer *out);

struct cdxj_entry {
    deja_slice url;
    time_t when;
    int status;         /* HTTP status */
    deja_slice mime;    /* empty: unknown; "warc/revisit" for a revisit record */
    const char *digest; /* including its "sha1:" */
    struct warc_place place;
};
/* Append one line and its line end. */
int cdxj_line(const struct cdxj_entry *e, struct buffer *out);

#endif
