/* sys.h - the tools' only door to system calls that POSIX.1-2008 does not have; the library has
 * its own (src/core/base/os.h).
 *
 * DEJA_PORTABLE_OS selects the fallbacks on Linux as well, so that they are tested. */
#ifndef TOOLS_SYS_H
#define TOOLS_SYS_H
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#if defined __linux__ && !defined DEJA_PORTABLE_OS
#define SYS_LINUX 1
#else
#define SYS_LINUX 0
#endif

/* Gets at most 256 secret bytes from the kernel; false: see errno. */
bool sys_random(void *out, size_t len);
/* Overwrites a secret, even if nothing reads the memory afterwards. */
void sys_wipe(void *secret, size_t len);

/* fsync and fdatasync that also empty the disk's cache, which macOS does only on request. */
int sys_sync(int fd);
int sys_sync_data(int fd);
/* Hints to the system's cache. */
void sys_will_read_in_order(int fd);
void sys_will_not_read_again(int fd);
/* Creates a file without a name in a directory: it is gone when it is closed.  -1: see errno. */
int sys_unnamed(const char *dir);
/* When the content of a file last changed. */
struct timespec sys_modified(const struct stat *st);
/* A socket that child processes do not inherit. */
int sys_socket(int family, int type, int protocol);

/* Maps zeroed memory that is committed only when touched; MAP_FAILED on failure. */
void *sys_map_lazily(size_t len);
void sys_use_huge_pages(void *map, size_t len);
/* realloc of n * size bytes; NULL if that overflows. */
void *sys_array(void *p, size_t n, size_t size);

/* Whether the user's locale uses UTF-8. */
bool sys_is_utf8(void);
/* Makes a condition for timed waits, which use the clock that is returned: the monotonic one, where
 * conditions can. */
clockid_t sys_condition_init(pthread_cond_t *c);

/* The last byte c in n bytes, or NULL. */
static inline const char *sys_find_last(const char *p, char c, size_t n)
{
#if SYS_LINUX
    return memrchr(p, c, n);
#else
    while (n)
        if (p[--n] == c)
            return p + n;
    return NULL;
#endif
}

#endif
