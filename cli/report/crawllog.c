/* crawllog.c - the log of a crawl (--log): one JSON line per URL. */
#include "cli/report/crawllog.h"
#include "tools/base/fail.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* --- Opening ------------------------------------------------------------------ */

/* Stores where the last complete line ends. */
static int find_end(int fd, off_t size, off_t *end, const char *path, deja_error *err)
{
    char block[4096];
    for (*end = size; *end > 0;) {
        const off_t from = *end > (off_t)sizeof block ? *end - (off_t)sizeof block : 0;
        const size_t len = (size_t)(*end - from);
        if (pread(fd, block, len, from) != (ssize_t)len)
            return fail_errno(err, "--log %s: cannot read", fail_path(path).text);
        const char *newline = sys_find_last(block, '\n', len);
        *end = newline ? from + (newline - block) + 1 : from;
        if (newline)
            break;
    }
    return DEJA_OK;
}

/* Appending to some other file, such as the queue of a crawl, would damage it. */
static int mend(int fd, off_t size, const char *path, deja_error *err)
{
    char first = '\0';
    off_t end;
    if (size == 0)
        return DEJA_OK;
    if (pread(fd, &first, 1, 0) != 1)
        return fail_errno(err, "--log %s: cannot read", fail_path(path).text);
    if (first != '{')
        return fail(err, DEJA_EINVAL,
                    "--log %s: not a log of deja crawl (its first line is not JSON); give another "
                    "file",
                    fail_path(path).text);
    const int rc = find_end(fd, size, &end, path, err);
    if (rc < 0 || end == size)
        return rc;
    return ftruncate(fd, end) == 0
               ? DEJA_OK
               : fail_errno(err, "--log %s: cannot remove its incomplete last line",
                            fail_path(path).text);
}

/* A new file survives a power failure only if its folder is synced. */
static int sync_folder(const char *path, deja_error *err)
{
    char copy[4096];
    if (snprintf(copy, sizeof copy, "%s", path) >= (int)sizeof copy)
        return DEJA_OK; /* cannot happen: the file was opened */
    const int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return DEJA_OK; /* an unreadable folder cannot be synced */
    const int rc = sys_sync(fd) == 0
                       ? DEJA_OK
                       : fail_errno(err, "--log %s: cannot sync its folder", fail_path(path).text);
    (void)close(fd);
    return rc;
}

static int prepare(struct crawllog *l, int fd, const char *path, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return fail_errno(err, "--log %s: cannot open", fail_path(path).text);
    l->sync = S_ISREG(st.st_mode);
    if (!l->sync)
        return DEJA_OK;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(err, DEJA_EBUSY, "--log %s: another process writes to this log",
                    fail_path(path).text);
    const int rc = mend(fd, st.st_size, path, err);
    return rc == DEJA_OK && st.st_size == 0 ? sync_folder(path, err) : rc;
}

/* A pipe is opened for writing only: this waits for its reader. */
static int open_path(const char *path)
{
    struct stat st;
    const bool regular = stat(path, &st) != 0 || S_ISREG(st.st_mode);
    return open(path, (regular ? O_RDWR | O_CREAT : O_WRONLY) | O_APPEND | O_CLOEXEC, 0666);
}

int crawllog_open(struct crawllog *l, const char *path, struct out *standard, deja_error *err)
{
    *l = (struct crawllog){.out = standard, .file = OUT_NONE};
    if (strcmp(path, "-") == 0) {
        l->sync = call_is_file(standard);
        return DEJA_OK;
    }
    const int fd = open_path(path);
    if (fd < 0)
        return fail_errno(err, "--log %s: cannot open", fail_path(path).text);
    int rc = prepare(l, fd, path, err);
    if (rc == DEJA_OK)
        rc = out_init(&l->file, fd, path, err);
    if (rc < 0) {
        (void)close(fd);
        return rc;
    }
    l->file.opened = true;
    l->out = &l->file;
    return DEJA_OK;
}

int crawllog_close(struct crawllog *l, int rc, deja_error *err)
{
    return l->out == &l->file ? out_finish(&l->file, rc, err) : rc;
}

/* --- Lines --------------------------------------------------------------------- */

static void add_text(struct json *j, const char *key, deja_slice text)
{
    if (text.len > 0)
        json_bytes(j, key, text.data, text.len);
    else
        json_null(j, key);
}

int crawllog_add(struct crawllog *l, const struct crawl_fate *fate, deja_error *err)
{
    struct json j;
    struct tm utc;
    char when[40] = "";
    const time_t now = time(NULL);
    if (gmtime_r(&now, &utc))
        (void)strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    json_begin_line(&j, l->out);
    json_object(&j, NULL);
    json_string(&j, "time", when);
    add_text(&j, "url", fate->url);
    if (fate->status > 0)
        json_uint(&j, "status", (uint64_t)fate->status);
    else
        json_null(&j, "status");
    json_uint(&j, "bytes", fate->bytes);
    add_text(&j, "parent", fate->parent);
    json_uint(&j, "depth", fate->depth);
    json_string(&j, "outcome", fate->outcome);
    json_string(&j, "why", fate->why);
    json_uint(&j, "visit", fate->visit);
    json_end(&j);
    l->pending = true;
    return l->out->error == 0 ? DEJA_OK : out_flush(l->out, err);
}

int crawllog_sync(struct crawllog *l, deja_error *err)
{
    const int rc = l->pending ? call_hand_over(l->out, l->sync, err) : DEJA_OK;
    l->pending = l->pending && rc < 0;
    return rc;
}
