/* failnth.c - makes the n-th call of a function fail or fall short; for LD_PRELOAD, ahead of
 * libc.
 *
 *     DEJA_FAIL="pwrite 3 ENOSPC"   the third pwrite fails with ENOSPC
 *     DEJA_FAIL="read 2 short" the second read returns at most one byte; a write, half
 *     DEJA_FAIL_MARK=FILE is created at that call: without it, no call failed
 *
 * Calls are counted over all threads from the start of the process. "malloc" stands for every
 * function that allocates.  Calls inside libc are not intercepted. tests/support/faults.py
 * compiles this file; it is not part of the build.  Nothing is really synced, because disks are
 * slow; fault.powercut tests power failures. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static char call[32];
static long nth;
static int with; /* errno; 0: short */
static atomic_long count;
static const char *mark;

static const struct {
    const char *name;
    int number;
} errors[] = {{"ENOMEM", ENOMEM}, {"ENOSPC", ENOSPC}, {"EIO", EIO},      {"EACCES", EACCES},
              {"EMFILE", EMFILE}, {"EINTR", EINTR},   {"EDQUOT", EDQUOT}};

__attribute__((constructor)) static void begin(void)
{
    char name[32] = "";
    const char *wish = getenv("DEJA_FAIL");
    mark = getenv("DEJA_FAIL_MARK");
    if (!wish || sscanf(wish, "%31s %ld %31s", call, &nth, name) != 3)
        return;
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (!strcmp(errors[i].name, name))
            with = errors[i].number;
}

/* Whether this is the call that fails. */
static bool turn(const char *name)
{
    if (!nth || strcmp(name, call) || atomic_fetch_add(&count, 1) + 1 != nth)
        return false;
    if (mark)
        syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_WRONLY, 0600));
    return true;
}

static bool fails(const char *name)
{
    if (!turn(name))
        return false;
    errno = with;
    return true;
}

/* --- Memory: glibc's own names --------------------------------------------------- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
    return fails("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    return fails("malloc") ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    return fails("malloc") ? NULL : __libc_realloc(p, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
    if (fails("malloc"))
        return ENOMEM;
    *p = __libc_memalign(align, size);
    return *p ? 0 : ENOMEM;
}

void *aligned_alloc(size_t align, size_t size)
{
    return fails("malloc") ? NULL : __libc_memalign(align, size);
}

char *strdup(const char *s)
{
    const size_t len = strlen(s) + 1;
    char *copy = malloc(len);
    return copy ? memcpy(copy, s, len) : NULL;
}

char *strndup(const char *s, size_t n)
{
    const size_t len = strnlen(s, n);
    char *copy = malloc(len + 1);
    if (copy) {
        memcpy(copy, s, len);
        copy[len] = '\0';
    }
    return copy;
}

void *mmap(void *at, size_t len, int access, int flags, int fd, off_t from)
{
    if (fails("mmap"))
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, at, len, access, flags, fd, from);
}

/* --- Files ------------------------------------------------------------------------ */

static size_t less(size_t len, bool half)
{
    return half && len > 1 ? len / 2 : len ? 1 : 0;
}

#define MAYBE_SHORT(name, half)                                                                   \
    if (turn(name)) {                                                                             \
        errno = with;                                                                             \
        if (with)                                                                                 \
            return -1;                                                                            \
        len = less(len, half);                                                                    \
    }

ssize_t read(int fd, void *buf, size_t len)
{
    MAYBE_SHORT("read", false)
    return syscall(SYS_read, fd, buf, len);
}

ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
    MAYBE_SHORT("pread", false)
    return syscall(SYS_pread64, fd, buf, len, at);
}

/* Writes to standard error never fail, because the test reads them. */
ssize_t write(int fd, const void *buf, size_t len)
{
    if (fd != 2) {
        MAYBE_SHORT("write", true)
    }
    return syscall(SYS_write, fd, buf, len);
}

ssize_t pwrite(int fd, const void *buf, size_t len, off_t at)
{
    MAYBE_SHORT("pwrite", true)
    return syscall(SYS_pwrite64, fd, buf, len, at);
}

/* The names that SQLite uses. */
ssize_t pread64(int fd, void *buf, size_t len, off64_t at)
{
    return pread(fd, buf, len, at);
}

ssize_t pwrite64(int fd, const void *buf, size_t len, off64_t at)
{
    return pwrite(fd, buf, len, at);
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return open(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = mode_of(flags, ap);
    va_end(ap);
    return fails("open") ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}

int close(int fd)
{
    const int rc = (int)syscall(SYS_close, fd);
    return fails("close") ? -1 : rc; /* it is closed in any case */
}

int fsync(int fd)
{
    (void)fd;
    return fails("fsync") ? -1 : 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

int msync(void *at, size_t len, int flags)
{
    (void)at, (void)len, (void)flags;
    return fails("msync") ? -1 : 0;
}

int ftruncate(int fd, off_t len)
{
    return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int ftruncate64(int fd, off64_t len)
{
    return ftruncate(fd, len);
}

int fallocate(int fd, int mode, off_t from, off_t len)
{
    return fails("fallocate") ? -1 : (int)syscall(SYS_fallocate, fd, mode, from, len);
}

int renameat(int from_folder, const char *from, int folder, const char *name)
{
    return fails("rename") ? -1 : (int)syscall(SYS_renameat, from_folder, from, folder, name);
}

int renameat2(int from_folder, const char *from, int folder, const char *name, unsigned flags)
{
    return fails("rename") ? -1
                           : (int)syscall(SYS_renameat2, from_folder, from, folder, name, flags);
}

int linkat(int from_folder, const char *from, int folder, const char *name, int flags)
{
    return fails("link") ? -1 : (int)syscall(SYS_linkat, from_folder, from, folder, name, flags);
}

int flock(int fd, int how)
{
    return fails("flock") ? -1 : (int)syscall(SYS_flock, fd, how);
}

int fstat(int fd, struct stat *st)
{
    return fails("fstat") ? -1 : (int)syscall(SYS_newfstatat, fd, "", st, AT_EMPTY_PATH);
}
