/* out.c - writes results (text, wrapped words and bars) to standard output or a file.
 *
 * Results are buffered and written with write(2), which may write only part of them, be
 * interrupted, or find that another process made the pipe non-blocking.  If the reader has closed
 * the pipe (EPIPE), that is not an error: `deja dedup | head` ends without a message.
 *
 * After Ctrl-C, a write must not wait forever for a reader that has stopped reading, such as a
 * pager: once o->stop is set, each write is at most PIPE_BUF bytes and waits at most a second. */
#include "tools/base/out.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_WAIT_MS 1000
#define STOP_LOOK_MS 200 /* another thread may have received the signal */

int out_init(struct out *o, int fd, const char *name, deja_error *err)
{
    *o = (struct out){.fd = fd, .name = name};
    o->buf = malloc(OUT_CAP);
    if (!o->buf)
        return fail(err, DEJA_ENOMEM, "%s: out of memory for the output buffer", name);
    o->tty = isatty(fd) == 1;
    o->utf8 = o->tty && sys_is_utf8();
    return DEJA_OK;
}

int out_open(struct out *o, const char *path, deja_error *err)
{
    *o = OUT_NONE;
    if (strcmp(path, "-") == 0)
        return out_init(o, STDOUT_FILENO, "standard output", err);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0)
        return fail_errno(err, "%s", fail_path(path).text);
    const int rc = out_init(o, fd, path, err);
    if (rc < 0) {
        (void)close(fd);
        o->fd = -1;
        return rc;
    }
    o->opened = true;
    o->fresh = true;
    return DEJA_OK;
}

static bool is_output(const struct out *o, const char *path)
{
    struct stat mine, its;
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &its) : stat(path, &its);
    return rc == 0 && fstat(o->fd, &mine) == 0 && S_ISREG(mine.st_mode) &&
           mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
}

int out_refuse_inputs(struct out *o, const char *const *paths, size_t n, deja_error *err)
{
    static const char *const none[] = {"-"};
    if (n == 0) {
        paths = none;
        n = 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_output(o, paths[i]))
            continue;
        o->error = EPIPE; /* one error is enough: do not report a second one */
        return fail(err, DEJA_EINVAL, "%s is also the output; write to another file",
                    strcmp(paths[i], "-") == 0 ? "standard input" : fail_path(paths[i]).text);
    }
    return DEJA_OK;
}

/* Waits until a write can succeed; returns false if that is still impossible a second after
 * Ctrl-C. */
static bool wait_writable(const struct out *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    for (;;) {
        bool last = signals_stopped(o->stop);
        int n = poll(&p, 1, last ? STOP_WAIT_MS : STOP_LOOK_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return true; /* write reports the error */
        if (last)
            return false;
    }
}

static bool truncate_old(struct out *o)
{
    struct stat st;
    o->fresh = false;
    if (fstat(o->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return true;
    if (ftruncate(o->fd, 0) == 0)
        return true;
    o->error = errno;
    return false;
}

static void write_all(struct out *o, const char *data, size_t len)
{
    if (o->error != 0 || (o->fresh && !truncate_old(o)))
        return;
    while (len > 0) {
        size_t piece = len;
        if (signals_stopped(o->stop)) {
            if (!wait_writable(o)) {
                o->error = EPIPE;
                return;
            }
            piece = len < PIPE_BUF ? len : PIPE_BUF;
        }
        ssize_t n = write(o->fd, data, piece);
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
            o->written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_writable(o)) {
                o->error = EPIPE;
                return;
            }
        } else if (errno != EINTR) {
            o->error = errno;
            return;
        }
    }
}

static void write_waiting(struct out *o)
{
    write_all(o, o->buf, o->len);
    o->len = 0;
}

void out_spill(struct out *o, const void *data, size_t len)
{
    write_waiting(o);
    if (len >= OUT_CAP) {
        write_all(o, data, len);
    } else {
        memcpy(o->buf, data, len);
        o->len = len;
    }
}

void out_text(struct out *o, const char *text)
{
    out_write(o, text, strlen(text));
}

void out_printf(struct out *o, const char *fmt, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, fmt, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        out_write(o, small, (size_t)len);
    } else if (len >= 0) {
        char *large = malloc((size_t)len + 1);
        if (large) {
            (void)vsnprintf(large, (size_t)len + 1, fmt, again);
            out_write(o, large, (size_t)len);
        } else if (o->error == 0) {
            o->error = ENOMEM;
        }
        free(large);
    }
    va_end(again);
    va_end(args);
}

/* Returns the status for the first failure. */
static int verdict(const struct out *o, deja_error *err)
{
    if (o->error == 0)
        return DEJA_OK;
    if (o->error == EPIPE)
        return OUT_GONE;
    errno = o->error;
    return fail_errno(err, "%s", fail_path(o->name).text);
}

int out_flush(struct out *o, deja_error *err)
{
    write_waiting(o);
    return verdict(o, err);
}

int out_close(struct out *o, deja_error *err)
{
    if (!o->buf)
        return DEJA_OK;
    write_waiting(o); /* truncates, even if there is nothing to write */
    if (o->opened && close(o->fd) != 0 && errno != EINTR && o->error == 0)
        o->error = errno;
    int rc = verdict(o, err);
    free(o->buf);
    *o = OUT_NONE;
    return rc;
}

int out_finish(struct out *o, int rc, deja_error *err)
{
    if (rc >= 0) {
        const int closed = out_close(o, err);
        return closed < 0 ? closed : rc;
    }
    if (o->opened)
        (void)close(o->fd);
    free(o->buf);
    *o = OUT_NONE;
    return rc;
}

void out_spaces(struct out *o, size_t n)
{
    for (; n > 0; n--)
        out_write(o, " ", 1);
}

size_t out_columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void out_wrap(struct out *o, const char *text, unsigned column, unsigned indent, unsigned width)
{
    size_t at = column;
    bool first = true;
    while (text += strspn(text, " \n"), *text != '\0') {
        size_t len = strcspn(text, " \n"), wide = out_columns(text, len);
        if (!first && at + 1 + wide > width) {
            out_text(o, "\n");
            out_spaces(o, indent);
            at = indent;
        } else if (!first) {
            out_text(o, " ");
            at++;
        }
        out_write(o, text, len);
        at += wide;
        text += len;
        first = false;
    }
    out_text(o, "\n");
}

static void bar_of_blocks(struct out *o, double share, unsigned width)
{
    static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned filled = (unsigned)lround(share * width * 8.0);
    for (unsigned i = 0; i < width; i++) {
        unsigned part = filled > i * 8 ? filled - i * 8 : 0;
        out_text(o, part >= 8 ? "█" : eighth[part]);
    }
}

void out_bar(struct out *o, double share, unsigned width)
{
    share = share >= 0.0 ? fmin(share, 1.0) : 0.0; /* nan counts as 0 */
    out_text(o, o->utf8 ? "▕" : "[");
    if (o->utf8) {
        bar_of_blocks(o, share, width);
    } else {
        unsigned filled = (unsigned)lround(share * width);
        for (unsigned i = 0; i < width; i++)
            out_text(o, i < filled ? "#" : ".");
    }
    out_text(o, o->utf8 ? "▏" : "]");
}
