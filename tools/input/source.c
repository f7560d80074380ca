/* source.c - reads the input files in sequence, decompressed; see source.h. */
#include "tools/input/source.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include "tools/base/sys.h"
#include "tools/input/spool.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIPE_SIZE    (1 << 20)
#define STOP_WAIT_MS 100

static const char stdin_name[] = "standard input";

bool source_is_stdin(const char *path)
{
    return path[0] == '-' && path[1] == 0;
}

const char *const *source_paths(const char *const *paths, size_t *n)
{
    static const char *const only_stdin[] = {"-"};
    if (*n)
        return paths;
    *n = 1;
    return only_stdin;
}

bool source_stopped(const struct source *s)
{
    return signals_stopped(s->stop) || signals_stopped(&s->quit);
}

bool source_begins_with_stdin(const struct source *s)
{
    return s->next == 0 && source_is_stdin(s->paths[0]);
}

bool source_wait(const struct source *s, int timeout_ms)
{
    struct pollfd p = {.fd = source_begins_with_stdin(s) ? STDIN_FILENO : s->fd, .events = POLLIN};
    return poll(&p, 1, timeout_ms) != 0; /* read reports errors */
}

static int cannot_open(const char *path, deja_error *err)
{
    struct fail_path shown = fail_path(path);
    switch (errno) {
    case ENOENT:
        if (strstr(path, "://"))
            return fail(
                err, DEJA_EIO,
                "%s is a URL, not a file; pass URLs on standard input: echo URL | deja ...",
                shown.text);
        return fail(err, DEJA_EIO, "%s does not exist; check its name", shown.text);
    case EACCES:
        return fail(err, DEJA_EIO,
                    "%s: permission denied; its owner can allow reading with chmod +r",
                    shown.text);
    case EBADF: /* standard input only */
        return fail(err, DEJA_EIO, "%s is closed; name files, or pipe something in", shown.text);
    default:
        return fail_errno(err, "%s cannot be opened", shown.text);
    }
}

static int is_directory(const char *path, deja_error *err)
{
    return fail(err, DEJA_EIO, "%s is a directory; name files, or use find ... | deja ...",
                fail_path(path).text);
}

/* Standard input may be at a position in the middle of a file. */
static uint64_t bytes_left(int fd, const struct stat *st)
{
    off_t at = fd >= 0 ? lseek(fd, 0, SEEK_CUR) : 0;
    return at >= 0 && at < st->st_size ? (uint64_t)(st->st_size - at) : 0;
}

/* Rejects a file in an unsupported format before the work starts. */
static int check_content(const char *path, deja_error *err)
{
    deja_error phrase;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    const int rc = fd < 0 ? DEJA_OK : decode_check(fd, path, &phrase); /* source_next reports it */
    if (fd >= 0)
        close(fd);
    return rc < 0 ? fail(err, rc, "%s %s", fail_path(path).text, phrase.text) : DEJA_OK;
}

/* Checks all paths before the work starts, and adds up the sizes. */
int source_init(struct source *s, const char *const *paths, size_t n_paths,
                const atomic_bool *stop, deja_error *err)
{
    bool all_regular = true;
    bool had_stdin = false;
    *s = (struct source){.n_paths = n_paths, .stop = stop, .fd = -1};
    s->paths = source_paths(paths, &s->n_paths);
    for (size_t i = 0; i < s->n_paths; i++) {
        const char *path = s->paths[i];
        bool from_stdin = source_is_stdin(path);
        const char *name = from_stdin ? stdin_name : path;
        struct stat st;
        if ((from_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 ||
            (!from_stdin && faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0))
            return cannot_open(name, err);
        if (S_ISDIR(st.st_mode))
            return is_directory(name, err);
        const int rc = S_ISREG(st.st_mode) && !from_stdin ? check_content(path, err) : DEJA_OK;
        if (rc < 0)
            return rc;
        all_regular = all_regular && S_ISREG(st.st_mode);
        if (!from_stdin || !had_stdin)
            s->total += bytes_left(from_stdin ? STDIN_FILENO : -1, &st);
        had_stdin = had_stdin || from_stdin;
    }
    if (!all_regular)
        s->total = 0;
    return DEJA_OK;
}

uint64_t source_raw_bytes(const struct source *s)
{
    return s->raw_base + (s->dec ? decode_raw_bytes(s->dec) : 0);
}

/* --- Reading twice ---------------------------------------------------------- */

struct source_kept {
    bool known;  /* the first reading has come to this path */
    int copy;    /* of a pipe; -1: none */
    off_t start; /* where the first reading of standard input started */
};

/* Is the current descriptor a copy, which stays open? */
static bool is_copy(const struct source *s)
{
    return s->kept && s->next > 0 && s->kept[s->next - 1].copy == s->fd;
}

/* Prepares the file that was just opened for a second reading, or for the first byte if this is
 * the second.  A file that the system can open again needs nothing. */
static int keep_for_later(struct source *s, const struct stat *st, deja_error *err)
{
    if (!s->kept)
        s->kept = calloc(s->n_paths, sizeof *s->kept);
    if (!s->kept)
        return fail(err, DEJA_ENOMEM, "out of memory");
    struct source_kept *k = &s->kept[s->next - 1];
    if (k->known)
        return s->fd == STDIN_FILENO && lseek(s->fd, k->start, SEEK_SET) < 0
                   ? fail_errno(err, "%s cannot be read again", s->path)
                   : DEJA_OK;
    k->known = true;
    k->copy = -1;
    k->start = lseek(s->fd, 0, SEEK_CUR);
    if (S_ISREG(st->st_mode))
        return DEJA_OK;
    int copy;
    const int rc = spool_copy(s->fd, s->path, s->stop, &s->quit, &copy, err);
    if (rc < 0)
        return rc;
    if (s->fd != STDIN_FILENO)
        close(s->fd);
    s->fd = k->copy = copy;
    return DEJA_OK;
}

/* In the second reading, returns the copy of the next path, or -1 if it is missing. */
static int open_copy(const struct source *s)
{
    const int copy = s->kept && s->kept[s->next].known ? s->kept[s->next].copy : -1;
    return copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? copy : -1;
}

void source_rewind(struct source *s)
{
    source_close(s);
    s->next = 0;
    s->raw_base = 0;
    atomic_store_explicit(&s->quit, false, memory_order_relaxed);
}

void source_close(struct source *s)
{
    s->raw_base = source_raw_bytes(s);
    decode_free(s->dec);
    s->dec = NULL;
    if (s->fd >= 0 && s->fd != STDIN_FILENO && !is_copy(s))
        close(s->fd);
    s->fd = -1;
}

void source_fini(struct source *s)
{
    source_close(s);
    for (size_t i = 0; s->kept && i < s->n_paths; i++)
        if (s->kept[i].known && s->kept[i].copy >= 0)
            close(s->kept[i].copy);
    free(s->kept);
    s->kept = NULL;
}

void source_quit(struct source *s)
{
    atomic_store_explicit(&s->quit, true, memory_order_relaxed);
}

/* A FIFO is opened without waiting for its writer, because a stop could not interrupt that wait.
 * Until it has a writer, it would seem empty, so this function waits for one.  Returns false if
 * stopped. */
static bool wait_for_writer(const struct source *s, const struct stat *st)
{
    while (S_ISFIFO(st->st_mode) && !source_stopped(s) && !source_wait(s, STOP_WAIT_MS))
        ;
    const int flags = fcntl(s->fd, F_GETFL);
    return !source_stopped(s) && fcntl(s->fd, F_SETFL, flags & ~O_NONBLOCK) == 0;
}

/* Opens a file, or standard input. */
static int open_path(struct source *s, const char *path, struct stat *st, deja_error *err)
{
    const bool from_stdin = source_is_stdin(path);
    do {
        s->fd =
            from_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    } while (s->fd < 0 && errno == EINTR && !source_stopped(s));
    if (s->fd < 0 || fstat(s->fd, st) != 0)
        return source_stopped(s) ? 0 : cannot_open(s->path, err);
    if (!from_stdin && !wait_for_writer(s, st))
        return 0;
    if (S_ISDIR(st->st_mode))
        return is_directory(s->path, err);
    if (S_ISREG(st->st_mode))
        sys_will_read_in_order(s->fd);
#ifdef F_SETPIPE_SZ
    if (S_ISFIFO(st->st_mode) && fcntl(s->fd, F_GETPIPE_SZ) < PIPE_SIZE)
        (void)fcntl(s->fd, F_SETPIPE_SZ, PIPE_SIZE); /* for speed; fails beyond a quota */
#endif
    return 1;
}

int source_next(struct source *s, deja_error *err)
{
    if (s->next == s->n_paths)
        return 0;
    const int copy = open_copy(s);
    const char *path = s->paths[s->next++];
    struct stat st;
    int rc = 1;
    s->path = source_is_stdin(path) ? stdin_name : path;
    s->fd = copy;
    if (copy < 0)
        rc = open_path(s, path, &st, err);
    if (rc == 1 && copy < 0 && s->twice) {
        rc = keep_for_later(s, &st, err);
        rc = rc < 0 ? rc : 1;
    }
    if (rc <= 0)
        return rc;
    deja_error phrase;
    rc = decode_new(s->fd, s->stop, &s->quit, &s->dec, &phrase);
    return rc < 0 ? fail(err, rc, "%s %s", fail_path(s->path).text, phrase.text) : 1;
}
