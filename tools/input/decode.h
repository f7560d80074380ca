/* decode.h - the bytes behind a file descriptor, decompressed: plain, gzip, zstd, xz or bzip2, as
 * their content says.  Archives, other compressed formats and databases are refused, with the name
 * of a tool that reads them: taken for lines, they would be garbage. */
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
    DECODE_OTHER /* to be refused */
};

/* The first bytes of a stream are enough to tell what it is: its format, or -1 when `len` bytes
 * are not yet enough.  DECODE_MAGIC bytes always are; so is anything at the end of the stream,
 * for which a -1 means plain. */
#define DECODE_MAGIC 16
int decode_sniff(const unsigned char *head, size_t len);

/* Whether this program was built with what reads it. */
bool decode_supported(enum decode_format format);

/* Can the file be read at all, as far as its first bytes tell?  Takes nothing from it.  Errors are
 * those of decode_read, with the path in the command that they suggest; a file that cannot be
 * looked at is fine until it is read. */
int decode_check(int fd, const char *path, deja_error *err);

struct decode;
/* Read from fd, which stays the caller's to close.  `stop`, set by a signal, and `quit`, set by the
 * owner in another thread, may be NULL; once one of them is true, every call ends soon: a wait for
 * a pipe looks at them at least ten times a second, whether or not a signal interrupts it. */
int decode_new(int fd, const atomic_bool *stop, const atomic_bool *quit, struct decode **out,
               deja_error *err);
void decode_free(struct decode *d); /* NULL is fine */

/* As read(2): takes what can be had at once, straight into buf, and if that is nothing and
 * `wait` is true, waits for at least one byte.  *len is 0 at the end of the stream (decode_ended),
 * when `wait` is false and nothing comes for two milliseconds, and when `stop` or `quit` became true.
 *
 * Errors come after the last good byte, and again on each further call.  The words in err are a
 * phrase for after a file's name: "cannot be read: Input/output error".
 *   DEJA_EIO      the system could not read
 *   DEJA_EFORMAT  compressed data that is damaged, cut short, needs too much memory, or needs a
 *                 library that this program was built without
 *   DEJA_ENOTSUP  neither lines nor anything that deja decompresses
 *   DEJA_ENOMEM   no memory for the decoder */
int decode_read(struct decode *d, void *buf, size_t cap, bool wait, size_t *len, deja_error *err);
bool decode_ended(const struct decode *d);

uint64_t decode_raw_bytes(const struct decode *d); /* taken from fd so far */

#endif
