/* existing.c - protects existing filter files; see existing.h. */
#include "cli/session/existing.h"
#include "cli/foreign/foreign_file.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/number.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* The start of every filter file; docs/format.md. */
#define MAGIC     "DEJA\r\n\x1a\n"
#define MAGIC_LEN 8u
#define AT_KIND   16u /* u32, little-endian */
#define HEAD_LEN  20u

enum what {
    NOTHING, /* no file, not a regular file, or an empty one */
    OTHER,
    DEJA,
    FOREIGN, /* of another program */
    SIEVE
};

/* Reads the first bytes of a file and returns their number, or -1 with errno set. */
static ssize_t read_head(const char *path, uint8_t head[HEAD_LEN])
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    const ssize_t got = io_read(fd, head, HEAD_LEN);
    const int saved = errno;
    close(fd);
    errno = saved;
    return got;
}

/* A file that cannot be read is an error, since it may be a filter. */
static int look(const char *path, enum what *what, deja_error *err)
{
    uint8_t head[HEAD_LEN];
    struct stat st;
    *what = deja_sieve_exists(path) ? SIEVE : NOTHING;
    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return DEJA_OK;
    const ssize_t len = read_head(path, head);
    if (len < 0)
        return fail_errno(err, "%s exists and cannot be read", fail_path(path).text);
    if (len >= (ssize_t)MAGIC_LEN && memcmp(head, MAGIC, MAGIC_LEN) == 0)
        *what = DEJA;
    else
        *what = foreign_file_is(path) ? FOREIGN : OTHER;
    return DEJA_OK;
}

bool existing_is_filter(const char *path)
{
    enum what what;
    return look(path, &what, NULL) == DEJA_OK && (what == DEJA || what == FOREIGN);
}

bool existing_is_state(const char *path)
{
    return existing_is_filter(path) || deja_sieve_exists(path);
}

bool existing_same(const char *path, const char *other)
{
    struct stat a, b;
    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

/* --- Descriptions --------------------------------------------------------------- */

struct text {
    char s[160];
};

/* For a filter that cannot be opened because it is damaged, newer, or needs its key. */
static struct text from_header(const char *path)
{
    struct text t;
    uint8_t head[HEAD_LEN] = {0};
    const ssize_t len = read_head(path, head);
    const uint32_t kind = (uint32_t)head[AT_KIND] | (uint32_t)head[AT_KIND + 1] << 8 |
                          (uint32_t)head[AT_KIND + 2] << 16 | (uint32_t)head[AT_KIND + 3] << 24;
    const char *name = len == HEAD_LEN ? deja_kind_name(kind) : NULL;
    (void)snprintf(t.s, sizeof t.s, "a filter file%s%s", name ? " of kind " : "",
                   name ? name : "");
    return t;
}

static struct text of_deja(const char *path)
{
    struct text t;
    deja_filter *f = NULL;
    deja_stats o = DEJA_STATS_INIT;
    if (deja_filter_open(path, 0, NULL, &f, NULL) < 0)
        return from_header(path);
    if (deja_filter_stats(f, 0, &o, NULL) == DEJA_OK) {
        const char *kind = deja_kind_name(o.kind);
        (void)snprintf(t.s, sizeof t.s, "%s %s filter with %s",
                       strchr("aeiou", kind[0]) ? "an" : "a", kind, num_of(o.keys, "key").s);
    } else {
        t = from_header(path);
    }
    deja_filter_free(f);
    return t;
}

static struct text of_foreign(const char *path)
{
    struct text t;
    struct foreign_file f;
    const struct foreign_format *format = foreign_file_is(path);
    (void)snprintf(t.s, sizeof t.s, "%s", format ? format->title : "a filter file");
    if (!format || !format->counts || foreign_file_read(&f, path, NULL, NULL, NULL, NULL) < 0)
        return t;
    (void)snprintf(t.s, sizeof t.s, "%s with %s", format->title, num_of(f.filter.keys, "key").s);
    foreign_file_free(&f);
    return t;
}

static struct text of_sieve(const char *path)
{
    struct text t = {"a sieve"};
    deja_sieve *s = NULL;
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    if (deja_sieve_open(path, 0, NULL, &s, NULL) == DEJA_OK &&
        deja_sieve_stats(s, &r, NULL) == DEJA_OK)
        (void)snprintf(t.s, sizeof t.s, "a sieve with %s", num_of(r.keys, "key").s);
    deja_sieve_free(s);
    return t;
}

static struct text written(const char *path, enum what what)
{
    struct text t = {""};
    struct stat st;
    struct tm tm;
    if (what != SIEVE && stat(path, &st) == 0 && localtime_r(&st.st_mtime, &tm))
        (void)strftime(t.s, sizeof t.s, ", last written %Y-%m-%d %H:%M", &tm);
    return t;
}

/* "PATH: a scalable filter with 1,000,000 keys, last written ...; what_to_do" */
static int refuse(const char *path, enum what what, const char *what_to_do, deja_error *err)
{
    const struct text words = what == DEJA      ? of_deja(path)
                              : what == FOREIGN ? of_foreign(path)
                                                : of_sieve(path);
    return fail(err, DEJA_EINVAL, "%s: %s%s; %s", fail_path(path).text, words.s,
                written(path, what).s, what_to_do);
}

/* --- Checks ------------------------------------------------------------------------ */

/* A filter replaces only filters of the same format, whatever their variant. */
static bool may_replace(const char *path, enum what what, const struct foreign_format *format)
{
    const struct foreign_format *old = what == FOREIGN ? foreign_file_is(path) : NULL;
    return what == FOREIGN ? format && old && old->read == format->read : !format;
}

int existing_check(const char *path, const struct foreign_format *format, bool force,
                   deja_error *err)
{
    enum what what;
    const int rc = look(path, &what, err);
    if (rc < 0 || what == NOTHING)
        return rc; /* the code that creates the file reports a bad name */
    if (what == OTHER)
        return fail(err, DEJA_EINVAL,
                    "%s exists and is not a filter file; remove it first, or choose another name",
                    fail_path(path).text);
    if (what == SIEVE)
        return refuse(path, what, "choose another name, or add to it with `deja add`", err);
    if (!may_replace(path, what, format))
        return refuse(path, what, "remove it first, or choose another name", err);
    return force ? DEJA_OK : refuse(path, what, "use --force to replace it", err);
}

/* A new sieve takes the place of an empty directory, but not of the root of a file system. */
static int check_empty(const char *path, dev_t device, deja_error *err)
{
    char above[4096];
    struct stat st;
    DIR *dir = opendir(path);
    size_t names = 0;
    if (!dir)
        return fail_errno(err, "%s exists and cannot be read", fail_path(path).text);
    while (readdir(dir))
        names++;
    closedir(dir);
    if (names > 2)
        return fail(err, DEJA_EINVAL,
                    "%s is not a sieve and not empty; choose another name for the sieve",
                    fail_path(path).text);
    if (snprintf(above, sizeof above, "%s/..", path) < (int)sizeof above &&
        stat(above, &st) == 0 && st.st_dev != device)
        return fail(err, DEJA_EINVAL,
                    "%s is the root of a file system; give the name of a directory in it",
                    fail_path(path).text);
    return DEJA_OK;
}

int existing_check_sieve(const char *path, bool force, deja_error *err)
{
    enum what what;
    struct stat st;
    const int rc = look(path, &what, err);
    if (rc < 0 || stat(path, &st) < 0)
        return rc;
    if (what == SIEVE)
        return force ? DEJA_OK
                     : refuse(path, what,
                              "add to it with `deja add`, or use --force to replace it", err);
    if (what == DEJA || what == FOREIGN)
        return refuse(path, what, "choose another name for the sieve", err);
    if (!S_ISDIR(st.st_mode))
        return fail(err, DEJA_EINVAL,
                    "%s exists and is not a directory; choose another name for the sieve",
                    fail_path(path).text);
    return check_empty(path, st.st_dev, err);
}

int existing_check_output(const char *path, deja_error *err)
{
    enum what what;
    if (access(path, R_OK) < 0 && errno == EACCES)
        return DEJA_OK; /* it may still be writable; a filter would be readable */
    const int rc = look(path, &what, err);
    if (rc < 0 || what == NOTHING || what == OTHER)
        return rc;
    return refuse(path, what, "write to another file, or remove it first", err);
}

void existing_explain_foreign(deja_error *err)
{
    char path[sizeof err->text];
    const char *end = strstr(err->text, ": not a deja filter file");
    (void)snprintf(path, sizeof path, "%.*s", end ? (int)(end - err->text) : 0, err->text);
    const struct foreign_format *format = end ? foreign_file_is(path) : NULL;
    if (format)
        (void)fail(err, err->status,
                   "%.100s: %s, which only check and info read. It does not contain its keys: to "
                   "convert it, build a filter from them",
                   path, format->title);
}

int existing_explain(int rc, const char *path, const struct foreign_format *format, bool force,
                     deja_error *err)
{
    deja_error now;
    if (rc == DEJA_EINVAL && !force && existing_check(path, format, false, &now) < 0 && err)
        *err = now;
    return rc;
}
