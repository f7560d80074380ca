/* diskspeed.c - measures how fast a directory's disk reads and writes; see diskspeed.h.
 *
 * The bytes are random, because some disks and file systems compress.  The write counts until it is
 * synced.  Before the read, the system is asked to drop the file from its cache; mincore says whether
 * it did (a file system in memory cannot). */
#include "cli/report/diskspeed.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PIECE   ((size_t)1 << 20)
#define MOST    ((uint64_t)256 << 20)
#define LEAST   ((uint64_t)4 << 20)
#define SECONDS 1.0

static double now(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A file without a name, which is gone when it is closed. */
static int open_file(const char *dir, deja_error *err)
{
    const int fd = sys_unnamed(dir);
    if (fd < 0)
        (void)fail(err, DEJA_EIO, "%s: cannot measure the disk there: %s; give --disk-speed",
                   fail_path(dir).text, strerror(errno));
    return fd;
}

static void fill(uint64_t *piece, uint64_t *state)
{
    for (size_t i = 0; i < PIECE / sizeof *piece; i++) { /* xorshift64 */
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        piece[i] = *state;
    }
}

/* Writes for a second, or until the disk is full.  Returns the bytes. */
static uint64_t write_pieces(int fd, uint64_t *piece, const atomic_bool *stop)
{
    uint64_t bytes = 0, state = 88172645463325252u;
    double spent = 0;
    while (bytes < MOST && spent < SECONDS && !signals_stopped(stop)) {
        fill(piece, &state);
        const double begin = now();
        const ssize_t n = write(fd, piece, PIECE);
        if (n != (ssize_t)PIECE)
            break;
        bytes += PIECE;
        spent += now() - begin;
    }
    return bytes;
}

static uint64_t read_pieces(int fd, void *piece, const atomic_bool *stop)
{
    uint64_t bytes = 0;
    const double begin = now();
    ssize_t n = 1;
    while (n > 0 && now() - begin < SECONDS && !signals_stopped(stop)) {
        n = pread(fd, piece, PIECE, (off_t)bytes);
        bytes += n > 0 ? (uint64_t)n : 0;
    }
    return bytes;
}

/* Whether more than half of the file is in memory. */
static bool is_cached(int fd, uint64_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size_t)(bytes / page);
    unsigned char *in = malloc(pages + 1);
    void *map = mmap(NULL, (size_t)bytes, PROT_READ, MAP_SHARED, fd, 0);
    size_t n = 0;
    if (in && map != MAP_FAILED && mincore(map, (size_t)bytes, (void *)in) == 0)
        for (size_t i = 0; i < pages; i++)
            n += in[i] & 1;
    if (map != MAP_FAILED)
        (void)munmap(map, (size_t)bytes);
    free(in);
    return n > pages / 2;
}

static int measure(int fd, const char *dir, uint64_t *piece, const atomic_bool *stop,
                   struct diskspeed *out, deja_error *err)
{
    double begin = now();
    out->bytes = write_pieces(fd, piece, stop);
    if (sys_sync_data(fd) < 0)
        return fail(err, DEJA_EIO, "%s: cannot measure the disk there: %s; give --disk-speed",
                    fail_path(dir).text, strerror(errno));
    out->write = (double)out->bytes / (now() - begin);
    if (signals_stopped(stop))
        return fail(err, DEJA_EIO, "stopped while measuring the disk");
    if (out->bytes < LEAST)
        return fail(err, DEJA_EIO, "%s: no room to measure the disk; give --disk-speed",
                    fail_path(dir).text);
    sys_will_not_read_again(fd);
    out->cached = is_cached(fd, out->bytes);
    sys_will_read_in_order(fd);
    begin = now();
    out->read = (double)read_pieces(fd, piece, stop) / (now() - begin);
    return out->read > 0 ? DEJA_OK
                         : fail(err, DEJA_EIO, "%s: cannot read back a file; give --disk-speed",
                                fail_path(dir).text);
}

int diskspeed_measure(const char *dir, const atomic_bool *stop, struct diskspeed *out,
                      deja_error *err)
{
    *out = (struct diskspeed){0};
    uint64_t *piece = malloc(PIECE);
    if (!piece)
        return fail(err, DEJA_ENOMEM, "out of memory");
    const int fd = open_file(dir, err);
    const int rc = fd < 0 ? DEJA_EIO : measure(fd, dir, piece, stop, out, err);
    if (fd >= 0)
        (void)close(fd);
    free(piece);
    return rc;
}
