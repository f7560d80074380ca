/* warc.h - what was fetched, in WARC 1.1 files. */
#ifndef CRAWLER_ARCHIVE_WARC_H
#define CRAWLER_ARCHIVE_WARC_H
#include "crawler/archive/digest.h"
#include "tools/base/buffer.h"
#include <time.h>

struct warc_place { /* of a record */
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
    const char *ip; /* "": not known */
    time_t when;
    deja_slice request;    /* the request's header as it was sent      */
    deja_slice head;       /* the response's, as httphead_archive left it */
    deja_slice body;       /* empty for a revisit                      */
    struct digest payload; /* of the body; for a revisit of the original's */
    bool http2;
    const char *truncated; /* NULL, or why the body is not all: "length", "time", "disconnect" */
    /* Not NULL: a revisit.  The server said so (304), or the same bytes came again. */
    const struct warc_original *original;
    bool not_modified;
};

struct warc {
    int dir;
    int fd; /* -1: no file yet */
    uint32_t file;
    uint64_t end;           /* of the last whole record                     */
    uint64_t max_size;      /* a file that has reached it is the last but one */
    const char *user_agent; /* for the warcinfo record                      */
    bool fresh;             /* the folder is to be synced as well: the file may be new in it */
    void *deflater;         /* a z_stream */
    struct buffer plain, packed;
};

#define WARC_NAME_LEN 32
void warc_name(uint32_t file, char name[WARC_NAME_LEN]);

/* Go on behind `end` of file number `file` in the folder; 0 and 0: a new one.  What lies behind
 * `end` was written and never recorded: it is cut off, with the files behind it. */
int warc_open(struct warc *w, int dir, uint32_t file, uint64_t end, const char *user_agent,
              uint64_t max_size, deja_error *err);
/* Write a capture: request, and response or revisit.  The records are with the system when this
 * returns; *place is that of the second.  After a failure the file ends as before. */
int warc_write(struct warc *w, const struct warc_capture *c, struct warc_place *place,
               deja_error *err);
/* On DEJA_OK all records survive a power cut. */
int warc_sync(struct warc *w, deja_error *err);
void warc_close(struct warc *w);

/* Read the records between `from` and `to`, or up to the end of the file when that comes first.
 * *whole is behind the last answer, or warcinfo, in front of which all is whole; *damaged tells
 * that something follows, or that there are no bytes where records should be. */
int warc_check(int dir, uint32_t file, uint64_t from, uint64_t to, uint64_t *whole, bool *damaged,
               deja_error *err);

/* The block of a record, up to max bytes: the HTTP response.  DEJA_EFORMAT: no such record. */
int warc_read(int dir, const struct warc_place *place, size_t max, struct buffer *block,
              deja_error *err);

#endif
