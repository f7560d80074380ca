/* os.h - the library's only door to system calls that POSIX.1-2008 does not have.
 *
 * Each call has a POSIX fallback, described here if it does less than Linux does.
 * DEJA_PORTABLE_OS selects all fallbacks on Linux as well (preset posix), so that they are tested. */
#ifndef DJ_OS_H
#define DJ_OS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>

#if defined __linux__ && !defined DEJA_PORTABLE_OS
#define DJ_OS_LINUX 1
#else
#define DJ_OS_LINUX 0
#endif

/* --- Files --------------------------------------------------------------------------- */

/* Calls that return int return -1 on failure; errno gives the reason. */

/* Reserves space for the first len bytes of a file of at least this length.  EOPNOTSUPP: the file
 * system or the system cannot. */
int dj_os_reserve(int fd, uint64_t len);
/* Creates a file without a name in a directory.  EOPNOTSUPP, EISDIR or EINVAL: the file system
 * cannot.  The fallback never can. */
int dj_os_unnamed(int folder, mode_t mode);
/* Gives a file without a name a name; EEXIST if it is taken. */
int dj_os_link(int fd, int folder, const char *name);
/* Exchanges two names.  EINVAL, ENOSYS or ENOTSUP: the file system or the system cannot.  The
 * fallback never can. */
int dj_os_exchange(int from_folder, const char *from, int folder, const char *name);
/* Opens a file only to recognize it later (dj_is_named).  The fallback needs the right to read or
 * to write it. */
int dj_os_open_to_recognize(const char *path);

/* Makes the file, or the names in a directory, durable.  macOS needs a call of its own, because its
 * fsync leaves data in the disk's cache. */
int dj_os_sync(int fd);
/* The same, but may omit times and other attributes that reading does not need. */
int dj_os_sync_data(int fd);
/* Makes a mapping of fd durable. */
int dj_os_sync_map(int fd, void *map, size_t len);

/* --- Hints --------------------------------------------------------------------------- */

/* Hints change no result, so the fallbacks do less or nothing. */
enum dj_os_use {
    DJ_OS_IN_ORDER,
    DJ_OS_AT_RANDOM,
    DJ_OS_SOON,
    DJ_OS_NOT_AGAIN
};
void dj_os_advise_file(int fd, enum dj_os_use use);
void dj_os_advise_map(const void *map, size_t len, enum dj_os_use use); /* not DJ_OS_NOT_AGAIN */
void dj_os_use_huge_pages(void *map, size_t len);

/* --- Memory -------------------------------------------------------------------------- */

/* Moves a mapping of `len` bytes over one of `more` bytes at `to`.  False: nothing changed, and the
 * caller has to copy.  The fallback is always false. */
bool dj_os_move_pages(void *from, size_t len, void *to, size_t more);
/* Replaces a mapping with zeros.  Safe in a signal handler. */
bool dj_os_map_zeros(void *at, size_t len);
/* The last byte c in n bytes, or NULL. */
static inline const char *dj_os_find_last(const char *p, char c, size_t n)
{
#if DJ_OS_LINUX
    return memrchr(p, c, n);
#else
    while (n)
        if (p[--n] == c)
            return p + n;
    return NULL;
#endif
}

#endif
