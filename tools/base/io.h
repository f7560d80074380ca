/* io.h - read(2) and write(2) repeated until all bytes are transferred. */
#ifndef TOOLS_BASE_IO_H
#define TOOLS_BASE_IO_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#define IO_PIECE ((size_t)1 << 20) /* bytes per call, so that a signal is noticed soon */

/* Returns false and sets errno on failure. */
static inline bool io_write(int fd, const void *data, uint64_t len)
{
    const char *at = data;
    while (len > 0) {
        const ssize_t n = write(fd, at, len < IO_PIECE ? (size_t)len : IO_PIECE);
        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            at += n;
            len -= (uint64_t)n;
        }
    }
    return true;
}

/* Fills buf from offset `at`, or from the current position if `at` is negative, unless the file
 * ends first.  Returns the number of bytes, or -1 with errno set. */
static inline ssize_t io_read_at(int fd, void *buf, size_t cap, off_t at)
{
    size_t have = 0;
    while (have < cap) {
        char *to = (char *)buf + have;
        const ssize_t n =
            at < 0 ? read(fd, to, cap - have) : pread(fd, to, cap - have, at + (off_t)have);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        have += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)have;
}

static inline ssize_t io_read(int fd, void *buf, size_t cap)
{
    return io_read_at(fd, buf, cap, -1);
}

#endif
