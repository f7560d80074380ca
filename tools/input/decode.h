/* decode.h - reads a file descriptor and decompresses: plain, gzip, zstd, xz or bzip2, detected by
 * content.  Archives, other compressed formats and databases are rejected with a message that
 * names a program that reads them, because they would be garbage as lines. */
#ifndef TOOLS_INPUT_DECODE_H
#define TOOLS_INPUT_DECODE_H
#include "deja.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decode_format {
    DECODE_PLAIN,
    DECODE_GZIP,
    DECODE_ZSTD,
    DECODE_XZ,
    DECODE_BZIP2,
    DECODE_OTHER /* rejected */
};

/* The format of a stream that starts with these bytes, or -1 if they are too few to decide.
 * DECODE_MAGIC bytes are always enough.  At the end of the stream, -1 means plain. */
#define DECODE_MAGIC 16
int decode_sniff(const unsigned char *head, size_t len);

/* Whether this program was built with the library that reads the format. */
bool decode_supported(enum decode_format format);

/* Checks the first bytes, without consuming them, for a format that cannot be read.  It returns
 * the same errors as decode_read, but the commands that they suggest contain the path.  DEJA_OK if
 * the bytes cannot be read in advance. */
int decode_check(int fd, const char *path, deja_error *err);

struct decode;
/* Reads from fd, which the caller closes.  `stop`, set by a signal, and `quit`, set by the owner in
 * another thread, may be NULL.  Once either is true, every call ends soon: while it waits for a
 * pipe, it checks them ten times a second. */
int decode_new(int fd, const atomic_bool *stop, const atomic_bool *quit, struct decode **out,
               deja_error *err);
void decode_free(struct decode *d); /* NULL is fine */

/* Like read(2): reads the bytes that are available straight into buf; if there are none and `wait`
 * is true, waits for at least one.  *len is 0 at the end of the stream (decode_ended), if `wait` is
 * false and nothing arrives for two milliseconds, and if `stop` or `quit` is true.
 *
 * An error is returned after the last good byte, and again by each further call.  Its text
 * completes "FILE ...": "cannot be read: Input/output error".
 *   DEJA_EIO      the system could not read
 *   DEJA_EFORMAT  compressed data that is damaged, truncated, needs too much memory, or needs a
 *                 library that this program was built without
 *   DEJA_ENOTSUP  neither lines nor anything that deja decompresses
 *   DEJA_ENOMEM   out of memory */
int decode_read(struct decode *d, void *buf, size_t cap, bool wait, size_t *len, deja_error *err);
bool decode_ended(const struct decode *d);

uint64_t decode_raw_bytes(const struct decode *d); /* read from fd so far */

#endif
