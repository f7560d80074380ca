/* dcso_file.c - DCSO bloom files on disk; see dcso_file.h. */
#include "cli/dcso/dcso_file.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/signals.h"
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

#define FIRST_PIECE ((size_t)1 << 20)

/* --- Reading ------------------------------------------------------------------ */

/* Reads up to len bytes, or fewer at the end of the file; *have becomes the number read. */
static int read_some(struct decode *dec, uint8_t *buf, size_t len, size_t *have, deja_error *err)
{
    *have = 0;
    while (*have < len && !decode_ended(dec)) {
        size_t got = 0;
        const int rc = decode_read(dec, buf + *have, len - *have, true, &got, err);
        if (rc < 0)
            return rc;
        if (got == 0)
            break; /* the end, or Ctrl-C */
        *have += got;
    }
    return DEJA_OK;
}

static int read_header(struct decode *dec, struct dcso *d, deja_error *err)
{
    uint8_t header[DCSO_HEADER_LEN];
    size_t have;
    const int rc = read_some(dec, header, sizeof header, &have, err);
    if (rc < 0)
        return rc;
    if (have < sizeof header)
        return fail(
            err, DEJA_EFORMAT,
            "is not a bloom file, or is truncated inside its header: it has %zu bytes of %d", have,
            DCSO_HEADER_LEN);
    return dcso_decode(header, d, err);
}

static int cut_short(uint64_t have, uint64_t need, deja_error *err)
{
    return fail(err, DEJA_EFORMAT, "is truncated: its bits end after %llu bytes of %llu",
                (unsigned long long)have, (unsigned long long)need);
}

/* Doubles the memory as bytes arrive, because the header may be wrong. */
static int read_body(struct decode *dec, struct dcso *d, deja_error *err)
{
    const uint64_t need = dcso_body_len(d);
    uint64_t have = 0, room = 0;
    while (have < need) {
        size_t got;
        room = room ? 2 * room : FIRST_PIECE;
        room = room < need ? room : need;
        uint8_t *body = room <= SIZE_MAX / 2 ? realloc(d->body, (size_t)room) : NULL;
        if (!body)
            return fail(err, DEJA_ENOMEM, "needs %llu bytes, and there is no memory for them",
                        (unsigned long long)need);
        d->body = body;
        const int rc = read_some(dec, body + have, (size_t)(room - have), &got, err);
        if (rc < 0)
            return rc;
        if (got < room - have)
            return cut_short(have + got, need, err);
        have = room;
    }
    return DEJA_OK;
}

static int count_data(struct decode *dec, uint64_t *len, deja_error *err)
{
    uint8_t rest[1 << 14];
    size_t got;
    int rc;
    do {
        rc = read_some(dec, rest, sizeof rest, &got, err);
        *len += got;
    } while (rc == DEJA_OK && got == sizeof rest);
    return rc;
}

/* Checks that the file is as long as its header says. */
static int check_length(int fd, const struct decode *dec, const struct dcso *d, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || decode_raw_bytes(dec) > (uint64_t)st.st_size)
        return DEJA_OK; /* a pipe: read_body finds its end */
    const uint64_t have = (uint64_t)st.st_size;
    const uint64_t need = dcso_body_len(d);
    return have < DCSO_HEADER_LEN + need
               ? cut_short(have > DCSO_HEADER_LEN ? have - DCSO_HEADER_LEN : 0, need, err)
               : DEJA_OK;
}

static bool is_gzip(int fd)
{
    unsigned char head[DECODE_MAGIC];
    const ssize_t got = io_read_at(fd, head, sizeof head, 0);
    return got > 0 && decode_sniff(head, (size_t)got) == DECODE_GZIP;
}

static int read_all(struct dcso_file *f, int fd, struct decode *dec, deja_error *err)
{
    f->gzip = is_gzip(fd);
    int rc = read_header(dec, &f->filter, err);
    if (rc == DEJA_OK && !f->gzip)
        rc = check_length(fd, dec, &f->filter, err);
    if (rc == DEJA_OK)
        rc = read_body(dec, &f->filter, err);
    return rc == DEJA_OK ? count_data(dec, &f->data_len, err) : rc;
}

int dcso_file_read(struct dcso_file *f, const char *path, const atomic_bool *stop, deja_error *err)
{
    struct decode *dec = NULL;
    deja_error why = {0};
    *f = (struct dcso_file){.gzip = false};
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_errno(err, "%s: cannot open", fail_path(path).text);
    int rc = decode_new(fd, stop, NULL, &dec, &why);
    if (rc == DEJA_OK)
        rc = read_all(f, fd, dec, &why);
    decode_free(dec);
    close(fd);
    if (rc == DEJA_OK)
        return rc;
    dcso_file_free(f);
    if (signals_stopped(stop))
        return fail(err, DEJA_EIO, "stopped while reading %s", fail_path(path).text);
    const bool of_it = strncmp(why.text, "its ", 4) == 0;
    return fail(err, rc, "%s%s %s", fail_path(path).text, of_it ? ":" : "", why.text);
}

void dcso_file_free(struct dcso_file *f)
{
    free(f->filter.body);
    f->filter.body = NULL;
}

/* Reads the first bytes of a regular file, decompressed. */
static bool read_start(const char *path, uint8_t *start, size_t len)
{
    struct decode *dec = NULL;
    struct stat st;
    size_t have = 0;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool read = decode_new(fd, NULL, NULL, &dec, NULL) == DEJA_OK &&
                      read_some(dec, start, len, &have, NULL) == DEJA_OK;
    decode_free(dec);
    close(fd);
    return read && have == len;
}

bool dcso_file_is(const char *path)
{
    uint8_t start[8];
    return read_start(path, start, sizeof start) && dcso_is_magic(start);
}

bool dcso_file_peek(const char *path, struct dcso *d)
{
    uint8_t header[DCSO_HEADER_LEN];
    return read_start(path, header, sizeof header) && dcso_decode(header, d, NULL) == DEJA_OK;
}

/* --- Writing ------------------------------------------------------------------ */

static bool ends_with_gz(const char *path)
{
    const size_t len = strlen(path);
    return len > 3 && strcmp(path + len - 3, ".gz") == 0;
}

#ifdef DEJA_HAVE_ZLIB
static bool gz_put(gzFile gz, const uint8_t *data, uint64_t len)
{
    for (size_t piece; len; data += piece, len -= piece) {
        piece = len < IO_PIECE ? (size_t)len : IO_PIECE;
        if (gzwrite(gz, data, (unsigned)piece) != (int)piece)
            return false;
    }
    return true;
}

static int write_gzip(int fd, const uint8_t *header, const struct dcso *d)
{
    const int own = dup(fd); /* gzclose closes it */
    gzFile gz = own >= 0 ? gzdopen(own, "wb") : NULL;
    if (!gz) {
        if (own >= 0)
            close(own);
        return -1;
    }
    errno = 0;
    const bool put = gz_put(gz, header, DCSO_HEADER_LEN) && gz_put(gz, d->body, dcso_body_len(d));
    const int closed = gzclose(gz);
    if (put && closed == Z_OK)
        return 0;
    errno = errno ? errno : EIO;
    return -1;
}
#else
static int write_gzip(int fd, const uint8_t *header, const struct dcso *d)
{
    (void)fd, (void)header, (void)d;
    errno = ENOTSUP;
    return -1;
}
#endif

static int write_content(int fd, bool gzip, const struct dcso *d)
{
    uint8_t header[DCSO_HEADER_LEN];
    dcso_encode(d, header);
    if (gzip)
        return write_gzip(fd, header, d);
    return io_write(fd, header, sizeof header) && io_write(fd, d->body, dcso_body_len(d)) ? 0 : -1;
}

int dcso_file_check_name(const char *path, deja_error *err)
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

static int write_file(const struct dcso *d, const char *path, bool replace, deja_error *err)
{
    char temporary[PATH_MAX + 8];
    const int len = snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    if (len < 0 || (size_t)len >= sizeof temporary)
        return fail(err, DEJA_EINVAL, "%s: the name is too long", fail_path(path).text);
    const int fd = mkstemp(temporary);
    if (fd < 0)
        return fail_errno(err, "%s: cannot create", fail_path(path).text);
    const bool written = settle_mode(fd, path) == 0 &&
                         write_content(fd, ends_with_gz(path), d) == 0 && fsync(fd) == 0;
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
int dcso_file_write(const struct dcso *d, const char *path, bool replace, deja_error *err)
{
    struct stat st;
    char *resolved = realpath(path, NULL);
    const bool empty = stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0;
    const int rc = write_file(d, resolved ? resolved : path, replace || empty, err);
    free(resolved);
    return rc;
}
