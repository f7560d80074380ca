/* sys.c - calls that POSIX.1-2008 does not have, and what replaces them; see sys.h. */
#include "tools/base/sys.h"
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

/* --- Secrets -------------------------------------------------------------------------- */

bool sys_random(void *out, size_t len)
{
    return getentropy(out, len) == 0;
}

void sys_wipe(void *secret, size_t len)
{
#if SYS_LINUX
    explicit_bzero(secret, len);
#else
    for (volatile unsigned char *p = secret; len > 0; len--)
        *p++ = 0;
#endif
}

/* --- Files ---------------------------------------------------------------------------- */

int sys_sync(int fd)
{
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) != -1) /* network file systems do not have it */
        return 0;
#endif
    return fsync(fd);
}

int sys_sync_data(int fd)
{
#if SYS_LINUX
    return fdatasync(fd);
#else
    return sys_sync(fd);
#endif
}

void sys_will_read_in_order(int fd)
{
#if SYS_LINUX
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
#else
    (void)fd;
#endif
}

void sys_will_not_read_again(int fd)
{
#if SYS_LINUX
    (void)posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
#else
    (void)fd;
#endif
}

int sys_unnamed(const char *dir)
{
    char path[PATH_MAX];
#if SYS_LINUX
    int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
        return fd;
#endif
    if (snprintf(path, sizeof path, "%s/.deja-XXXXXX", dir) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    const int named = mkstemp(path);
    if (named >= 0)
        (void)unlink(path);
    return named;
}

struct timespec sys_modified(const struct stat *st)
{
#ifdef __APPLE__
    return st->st_mtimespec;
#else
    return st->st_mtim;
#endif
}

int sys_socket(int family, int type, int protocol)
{
#if SYS_LINUX
    return socket(family, type | SOCK_CLOEXEC, protocol);
#else
    const int fd = socket(family, type, protocol);
    if (fd >= 0)
        (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
    return fd;
#endif
}

/* --- Memory --------------------------------------------------------------------------- */

void *sys_map_lazily(size_t len)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
    return mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);
}

void sys_use_huge_pages(void *map, size_t len)
{
#if SYS_LINUX
    (void)madvise(map, len, MADV_HUGEPAGE);
#else
    (void)map;
    (void)len;
#endif
}

void *sys_array(void *p, size_t n, size_t size)
{
    if (size > 0 && n > SIZE_MAX / size) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(p, n * size);
}

/* --- The rest ------------------------------------------------------------------------- */

/* The program itself stays in the C locale. */
bool sys_is_utf8(void)
{
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (user == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    freelocale(user);
    return utf8;
}

clockid_t sys_condition_init(pthread_cond_t *c)
{
    clockid_t clock = CLOCK_REALTIME;
    pthread_condattr_t attr;
    (void)pthread_condattr_init(&attr);
#ifndef __APPLE__
    if (pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) == 0)
        clock = CLOCK_MONOTONIC;
#endif
    (void)pthread_cond_init(c, &attr);
    (void)pthread_condattr_destroy(&attr);
    return clock;
}
