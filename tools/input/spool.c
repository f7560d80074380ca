/* spool.c - a copy of a pipe in an unnamed temporary file; see spool.h. */
#include "tools/input/spool.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/signals.h"
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define STOP_WAIT_MS 100
#define PIECE        ((size_t)256 << 10)

static const char *folder(void)
{
    const char *set = getenv("TMPDIR");
    return set && set[0] ? set : "/tmp";
}

static int no_room(const char *name, deja_error *err)
{
    return fail_errno(err,
                      "%s is read twice, but the copy in %.60s failed; set TMPDIR to a directory "
                      "with more room, or name a file",
                      fail_path(name).text, fail_path(folder()).text);
}

/* The file has a name only for a moment. */
static int make_file(const char *name, int *copy, deja_error *err)
{
    char path[4096];
    const int len = snprintf(path, sizeof path, "%s/deja-XXXXXX", folder());
    *copy = -1;
    if (len > 0 && (size_t)len < sizeof path)
        *copy = mkostemp(path, O_CLOEXEC);
    else
        errno = ENAMETOOLONG;
    if (*copy < 0)
        return no_room(name, err);
    (void)unlink(path);
    return DEJA_OK;
}

static bool is_stopped(const atomic_bool *stop, const atomic_bool *quit)
{
    return signals_stopped(stop) || signals_stopped(quit);
}

static int copy_all(int fd, const char *name, const atomic_bool *stop, const atomic_bool *quit,
                    int copy, char *piece, deja_error *err)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    while (!is_stopped(stop, quit)) {
        const int ready = poll(&p, 1, STOP_WAIT_MS);
        if (ready == 0 || (ready < 0 && errno == EINTR))
            continue;
        const ssize_t got = read(fd, piece, PIECE);
        if (got == 0)
            break;
        if (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
            return fail_errno(err, "%s cannot be read", fail_path(name).text);
        if (got > 0 && !io_write(copy, piece, (uint64_t)got))
            return no_room(name, err);
    }
    return lseek(copy, 0, SEEK_SET) < 0 ? no_room(name, err) : DEJA_OK;
}

int spool_copy(int fd, const char *name, const atomic_bool *stop, const atomic_bool *quit,
               int *copy, deja_error *err)
{
    char *piece = malloc(PIECE);
    int rc = piece
                 ? make_file(name, copy, err)
                 : fail(err, DEJA_ENOMEM, "out of memory for a copy of %s", fail_path(name).text);
    if (rc == DEJA_OK) {
        rc = copy_all(fd, name, stop, quit, *copy, piece, err);
        if (rc < 0)
            close(*copy);
    }
    free(piece);
    return rc;
}
