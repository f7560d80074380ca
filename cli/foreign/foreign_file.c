/* foreign_file.c - filter files of other programs on disk; see foreign_file.h. */
#include "cli/foreign/foreign_file.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include "tools/input/decode.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef DEJA_HAVE_ZLIB
#include <zlib.h>
#endif

/* --- Reading ------------------------------------------------------------------ */

struct source {
    struct decode *dec;
    int fd;
};

/* Reads up to len bytes, or fewer at the end of the file. */
static int read_some(struct foreign_in *in, void *buf, size_t len, size_t *have, deja_error *err)
{
    const struct source *s = in->source;
    *have = 0;
    while (*have < len && !decode_ended(s->dec)) {
        size_t got = 0;
        const int rc = decode_read(s->dec, (char *)buf + *have, len - *have, true, &got, err);
        if (rc < 0)
            return rc;
        if (got == 0)
            break; /* the end, or Ctrl-C */
        *have += got;
        in->done += got;
    }
    return DEJA_OK;
}

static int read_at(struct foreign_in *in, uint64_t offset, void *buf, size_t len, deja_error *err)
{
    const struct source *s = in->source;
    const ssize_t got = offset <= INT64_MAX ? io_read_at(s->fd, buf, len, (off_t)offset) : 0;
    if (got < 0)
        return fail_errno(err, "cannot be read");
    return (size_t)got == len ? DEJA_OK : fail(err, DEJA_EFORMAT, "is truncated");
}

static bool is_gzip(int fd)
{
    unsigned char head[DECODE_MAGIC];
    const ssize_t got = io_read_at(fd, head, sizeof head, 0);
    return got > 0 && decode_sniff(head, (size_t)got) == DECODE_GZIP;
}

/* The length of a plain regular file is known, and it can be read at any place. */
static struct foreign_in input_of(const struct source *s, bool gzip)
{
    struct stat st;
    struct foreign_in in = {.read = read_some, .len = FOREIGN_UNKNOWN, .source = s};
    if (!gzip && fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode)) {
        in.at = read_at;
        in.len = (uint64_t)st.st_size;
    }
    return in;
}

static int open_source(struct source *s, const char *path, const atomic_bool *stop,
                       deja_error *err)
{
    s->dec = NULL;
    s->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return fail_errno(err, "cannot open");
    return decode_new(s->fd, stop, NULL, &s->dec, err);
}

static void close_source(struct source *s)
{
    decode_free(s->dec);
    if (s->fd >= 0)
        close(s->fd);
}

/* "PATH: its ...", "PATH: cannot open ...", "PATH is ..." */
static int name_file(int rc, const char *path, const deja_error *why, deja_error *err)
{
    const bool apart =
        strncmp(why->text, "its ", 4) == 0 || strncmp(why->text, "cannot open", 11) == 0;
    return fail(err, rc, "%s%s %s", fail_path(path).text, apart ? ":" : "", why->text);
}

int foreign_file_read(struct foreign_file *f, const char *path,
                      const struct foreign_format *format, const char *column,
                      const atomic_bool *stop, deja_error *err)
{
    struct source s;
    deja_error why = {0};
    *f = (struct foreign_file){.filter = {.format = format, .column = column}};
    if (!format)
        f->filter.format = foreign_file_is(path);
    int rc = open_source(&s, path, stop, &why);
    if (rc == DEJA_OK && !f->filter.format)
        rc = fail(&why, DEJA_EFORMAT, "is not a filter file of any known format");
    if (rc == DEJA_OK) {
        f->gzip = is_gzip(s.fd);
        struct foreign_in in = input_of(&s, f->gzip);
        rc = f->filter.format->read(&f->filter, &in, &why);
    }
    close_source(&s);
    if (rc == DEJA_OK)
        return rc;
    foreign_file_free(f);
    if (signals_stopped(stop))
        return fail(err, DEJA_EIO, "stopped while reading %s", fail_path(path).text);
    return name_file(rc, path, &why, err);
}

void foreign_file_free(struct foreign_file *f)
{
    if (f->filter.format)
        foreign_free(&f->filter);
}

const struct foreign_format *foreign_file_is(const char *path)
{
    uint8_t start[FOREIGN_HEAD];
    struct source s;
    struct stat st;
    struct foreign_head head = {.data = start, .file_len = FOREIGN_UNKNOWN};
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return NULL;
    bool read = open_source(&s, path, NULL, NULL) == DEJA_OK;
    if (read) {
        struct foreign_in in = input_of(&s, is_gzip(s.fd));
        head.file_len = in.len;
        head.len = in.len < sizeof start ? (size_t)in.len : sizeof start;
        read = in.at ? in.at(&in, 0, start, head.len, NULL) == DEJA_OK
                     : in.read(&in, start, sizeof start, &head.len, NULL) == DEJA_OK;
    }
    close_source(&s);
    return read ? foreign_detect(&head) : NULL;
}

/* --- Writing ------------------------------------------------------------------ */

static bool ends_with_gz(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

/* What is written, and to where. */
struct sink {
    int fd;
    void *gz; /* gzFile; NULL: plain */
    uint64_t bytes;
};

static bool put_plain(struct foreign_out *out, const void *data, uint64_t len)
{
    struct sink *s = out->target;
    s->bytes += len;
    return io_write(s->fd, data, len);
}

#ifdef DEJA_HAVE_ZLIB
static bool put_gzip(struct foreign_out *out, const void *data, uint64_t len)
{
    struct sink *s = out->target;
    const uint8_t *at = data;
    s->bytes += len;
    for (size_t piece; len; at += piece, len -= piece) {
        piece = len < IO_PIECE ? (size_t)len : IO_PIECE;
        if (gzwrite(s->gz, at, (unsigned)piece) != (int)piece)
            return false;
    }
    return true;
}

static bool write_gzip(struct sink *s, const struct foreign *f)
{
    struct foreign_out out = {put_gzip, s};
    const int own = dup(s->fd); /* gzclose closes it */
    gzFile gz = own >= 0 ? gzdopen(own, "wb") : NULL;
    if (!gz) {
        if (own >= 0)
            close(own);
        return false;
    }
    s->gz = gz;
    errno = 0;
    const bool put = f->format->write(f, &out);
    const int closed = gzclose(gz);
    if (put && closed == Z_OK)
        return true;
    errno = errno ? errno : EIO;
    return false;
}
#else
static bool write_gzip(struct sink *s, const struct foreign *f)
{
    (void)s, (void)f;
    errno = ENOTSUP;
    return false;
}
#endif

static bool write_content(int fd, bool gzip, const struct foreign *f, uint64_t *bytes)
{
    struct sink s = {.fd = fd};
    struct foreign_out out = {put_plain, &s};
    const bool done = gzip ? write_gzip(&s, f) : f->format->write(f, &out);
    *bytes = s.bytes;
    return done;
}

int foreign_file_check_name(const char *path, deja_error *err)
{
    struct stat st;
    const bool there = stat(path, &st) == 0;
    if (path[0] == '\0' || (there && S_ISDIR(st.st_mode)))
        return fail(err, DEJA_EINVAL, "'%s' is a directory or an empty name",
                    fail_path(path).text);
    if (there && !S_ISREG(st.st_mode))
        return fail(err, DEJA_EINVAL, "%s is not a regular file", fail_path(path).text);
    if (ends_with_gz(path) && !decode_supported(DECODE_GZIP))
        return fail(err, DEJA_ENOTSUP,
                    "%s: this build cannot write gzip; choose a name without .gz",
                    fail_path(path).text);
    return DEJA_OK;
}

/* mkstemp gives access only to the owner.  Sets the permissions of the old file, or the usual ones
 * of a new file. */
static int settle_mode(int fd, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0)
        return fchmod(fd, st.st_mode & 07777);
    const mode_t mask = umask(0);
    umask(mask);
    return fchmod(fd, 0666 & ~mask);
}

/* Without `replace`, fails if another process has made a file of that name. */
static int take_name(const char *temporary, const char *path, bool replace)
{
    if (replace)
        return rename(temporary, path);
    return link(temporary, path) < 0 ? -1 : unlink(temporary);
}

static int write_file(const struct foreign *f, const char *path, bool replace, uint64_t *bytes,
                      deja_error *err)
{
    char temporary[PATH_MAX + 8];
    const int len = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (len < 0 || (size_t)len >= sizeof temporary)
        return fail(err, DEJA_EINVAL, "%s: the name is too long", fail_path(path).text);
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return fail_errno(err, "%s: cannot create", fail_path(path).text);
    const bool written = settle_mode(fd, path) == 0 &&
                         write_content(fd, ends_with_gz(path), f, bytes) && sys_sync(fd) == 0;
    const int why = errno;
    const bool closed = close(fd) == 0;
    if (written && closed && take_name(temporary, path, replace) == 0)
        return DEJA_OK;
    errno = written ? errno : why;
    const int rc = written && errno == EEXIST
                       ? fail(err, DEJA_EINVAL, "%s already exists", fail_path(path).text)
                       : fail_errno(err, "%s: cannot write", fail_path(path).text);
    unlink(temporary);
    return rc;
}

/* If the name is a symbolic link, replaces the file that it points to. */
int foreign_file_write(const struct foreign *f, const char *path, bool replace, uint64_t *bytes,
                       deja_error *err)
{
    struct stat st;
    char *resolved = realpath(path, NULL);
    const bool empty = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    const int rc = write_file(f, resolved ? resolved : path, replace || empty, bytes, err);
    free(resolved);
    return rc;
}
