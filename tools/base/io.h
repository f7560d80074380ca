/* io.h - read(2) and write(2) until all is done. */
#ifndef TOOLS_BASE_IO_H
#define TOOLS_BASE_IO_H
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>

#define IO_PIECE ((size_t)1 << 20) /* at a time: a signal is noticed soon */

/* false: errno says why. */
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

/* Fills buf unless the file ends before; how many bytes that was, or -1 and errno. */
static inline ssize_t io_read(int fd, void *buf, size_t cap)
{
    size_t have = 0;
    while (have < cap) {
        const ssize_t n = read(fd, (char *)buf + have, cap - have);
        if (n < 0 && errno != EINTR)
            return -1;
        if (n == 0)
            break;
        have += n > 0 ? (size_t)n : 0;
    }
    return (ssize_t)have;
}

#endif
