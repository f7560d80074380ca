/* warc.h - stores the fetched pages in WARC 1.1 files. */
#ifndef CRAWLER_ARCHIVE_WARC_H
#define CRAWLER_ARCHIVE_WARC_H
#include "crawler/archive/digest.h"
#include "tools/base/buffer.h"
#include <time.h>

struct warc_place { /* the location of a record */
    uint32_t file;  /* crawl-00001.warc.gz is 1 */
    uint64_t at, len;
};

/* An earlier capture of the same URL. */
struct warc_original {
    time_t when;
    struct digest payload;
};

struct warc_capture {
    deja_slice url;
    const char *ip; /* "": unknown */
    time_t when;
    deja_slice request;    /* the request's header as sent */
    deja_slice head;       /* the response's header, as rewritten by httphead_archive */
    deja_slice body;       /* empty for a revisit */
    struct digest payload; /* of the body; for a revisit, of the original's body */
    bool http2;
    const char *truncated; /* NULL, or why the body was cut: "length", "time", "disconnect" */
    /* Not NULL for a revisit: the server said so (304), or the same bytes arrived again. */
    const struct warc_original *original;
    bool not_modified;
};

struct warc {
    int dir;
    int fd; /* -1: no file yet */
    uint32_t file;
    uint64_t end;           /* end of the last complete record */
    uint64_t max_size;      /* start a new file at this size */
    const char *user_agent; /* for the warcinfo record */
    bool fresh;             /* the folder must be synced as well: the file may be new */
    void *deflater;         /* a z_stream */
    struct buffer plain, packed;
};

struct warc_name {
    char text[32];
};
struct warc_name warc_name(uint32_t file);

/* Append after `end` of file number `file` in the folder; 0 and 0: start a new one.  Everything
 * after `end` was written but never recorded: it is cut off, and later files are removed. */
int warc_open(struct warc *w, int dir, uint32_t file, uint64_t end, const char *user_agent,
              uint64_t max_size, deja_error *err);
/* Write a capture: request, and response or revisit.  When this returns, the system has the
 * records; *place is the location of the second.  After a failure the file ends where it did
 * before. */
int warc_write(struct warc *w, const struct warc_capture *c, struct warc_place *place,
               deja_error *err);
/* After DEJA_OK, all records survive a power failure. */
int warc_sync(struct warc *w, deja_error *err);
void warc_close(struct warc *w);

/* Read the records between `from` and `to`, or up to the end of the file if that comes first.
 * *whole becomes the end of the last response or warcinfo up to which everything is complete.
 * *damaged becomes true if anything follows it, or if there are no bytes where records should
 * be. */
int warc_check(int dir, uint32_t file, uint64_t from, uint64_t to, uint64_t *whole, bool *damaged,
               deja_error *err);

/* Read the block of a record, up to max bytes: the HTTP response.  DEJA_EFORMAT: no such
 * record. */
int warc_read(int dir, const struct warc_place *place, size_t max, struct buffer *block,
              deja_error *err);

#endif
