/* append.h - a list of lines that grows (--append FILE).
 *
 * Lines are collected in memory and written by append_flush, which the caller calls only after it
 * has handed the same lines over to its output.  A flush writes all collected lines or none of
 * them: after a failure, the file is cut back to its old length.  Only one process at a time can
 * open a list (flock); programs that do not take the lock can still append to it. */
#ifndef CLI_SESSION_APPEND_H
#define CLI_SESSION_APPEND_H
#include "tools/base/buffer.h"

struct append { /* start with {.fd = -1} */
    int fd;
    const char *path; /* borrowed */
    bool empty;       /* when it was opened */

    /* private */
    bool created;      /* by append_open */
    bool unterminated; /* its last line lacks the terminator */
    char terminator;
    bool failed; /* out of memory for `text` */
    struct buffer text;
};

/* Opens the file, or creates it.  Fails if it is not a regular file, is compressed, or is a
 * filter. */
int append_open(struct append *a, const char *path, char terminator, deja_error *err);
/* Is the file one of these inputs?  "-", or no path at all, is standard input. */
int append_refuse_inputs(const struct append *a, const char *const *paths, size_t n,
                         deja_error *err);
/* Collects a piece of the output: whole lines. */
void append_put(struct append *a, const void *data, size_t len);
/* Writes what was collected.  durable: also waits until it is on the disk. */
int append_flush(struct append *a, bool durable, deja_error *err);
/* Drops what was not flushed.  rc: the status of the command; after a failure, a file that
 * append_open created and that is still empty is removed.  {.fd = -1} is fine. */
void append_close(struct append *a, int rc);

#endif
