/* append.c - a list of lines that grows; see append.h. */
#include "cli/session/append.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/out.h"
#include "tools/base/sys.h"
#include "tools/input/decode.h"
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

static int lock(const struct append *a, deja_error *err)
{
    while (flock(a->fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EINTR)
            continue;
        if (errno == EWOULDBLOCK)
            return fail(err, DEJA_EBUSY,
                        "another process appends to %s; wait until it ends, or use another file",
                        fail_path(a->path).text);
        return fail_errno(err, "%s: cannot lock", fail_path(a->path).text);
    }
    return DEJA_OK;
}

/* Looks at the ends of the file: its format, and whether its last line is complete. */
static int look(struct append *a, deja_error *err)
{
    unsigned char head[DECODE_MAGIC];
    char last = a->terminator;
    struct stat st;
    if (fstat(a->fd, &st) < 0)
        return fail_errno(err, "%s", fail_path(a->path).text);
    if (!S_ISREG(st.st_mode))
        return fail(err, DEJA_EINVAL, "--append needs a regular file, and %s is not one",
                    fail_path(a->path).text);
    const ssize_t len = io_read_at(a->fd, head, sizeof head, 0);
    if (len < 0 || (st.st_size > 0 && io_read_at(a->fd, &last, 1, st.st_size - 1) < 0))
        return fail_errno(err, "%s cannot be read", fail_path(a->path).text);
    if (decode_sniff(head, (size_t)len) > DECODE_PLAIN)
        return fail(err, DEJA_EINVAL,
                    "--append: %s is compressed; decompress it, or use another file",
                    fail_path(a->path).text);
    a->empty = st.st_size == 0;
    a->unterminated = last != a->terminator;
    return DEJA_OK;
}

int append_open(struct append *a, const char *path, char terminator, deja_error *err)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    *a = (struct append){.fd = -1, .path = path, .terminator = terminator};
    int rc = existing_check_output(path, err);
    if (rc < 0)
        return rc;
    a->fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    a->created = a->fd >= 0;
    if (a->fd < 0 && errno == EEXIST)
        a->fd = open(path, flags | O_CREAT, 0666);
    if (a->fd < 0)
        return fail_errno(err, "%s cannot be opened for appending", fail_path(path).text);
    rc = look(a, err);
    return rc < 0 ? rc : lock(a, err);
}

int append_refuse_inputs(const struct append *a, const char *const *paths, size_t n,
                         deja_error *err)
{
    struct out o = {.fd = a->fd};
    const int rc = out_refuse_inputs(&o, paths, n, err);
    return rc < 0 ? fail(err, rc, "--append: %s is also an input; use another file",
                         fail_path(a->path).text)
                  : rc;
}

void append_put(struct append *a, const void *data, size_t len)
{
    if (a->text.len == 0 && len > 0 && a->unterminated) {
        a->failed = a->failed || !buffer_add(&a->text, &a->terminator, 1);
        a->unterminated = false;
    }
    a->failed = a->failed || !buffer_add(&a->text, data, len);
}

int append_flush(struct append *a, bool durable, deja_error *err)
{
    struct stat st;
    if (a->failed)
        return fail(err, DEJA_ENOMEM, "out of memory for the lines to append to %s",
                    fail_path(a->path).text);
    if (a->text.len > 0) {
        bool ok = fstat(a->fd, &st) == 0;
        if (ok && !io_write(a->fd, a->text.data, a->text.len)) {
            const int saved = errno;
            (void)!ftruncate(a->fd, st.st_size);
            errno = saved;
            ok = false;
        }
        if (!ok)
            return fail_errno(err,
                              "%s: cannot append (the next run repeats the lines that are in the "
                              "output but not in this file)",
                              fail_path(a->path).text);
        a->text.len = 0;
    }
    if (durable && sys_sync_data(a->fd) < 0)
        return fail_errno(err, "%s: cannot sync", fail_path(a->path).text);
    return DEJA_OK;
}

void append_close(struct append *a, int rc)
{
    struct stat st;
    if (a->fd >= 0 && a->created && rc < 0 && fstat(a->fd, &st) == 0 && st.st_size == 0)
        (void)unlink(a->path);
    if (a->fd >= 0)
        (void)close(a->fd);
    buffer_fini(&a->text);
    *a = (struct append){.fd = -1};
}
