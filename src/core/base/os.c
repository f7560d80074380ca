/* os.c - calls that POSIX.1-2008 does not have, and what replaces them; see os.h.
 *
 * The code for macOS is compiled by a test (install.other_systems_long) but has never run. */
#include "core/base/os.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if DJ_OS_LINUX
#include <sys/syscall.h>
#endif

/* --- Files --------------------------------------------------------------------------- */

int dj_os_reserve(int fd, uint64_t len)
{
#if DJ_OS_LINUX
    return fallocate(fd, 0, 0, (off_t)len);
#elif defined __APPLE__
    struct stat st;
    if (fstat(fd, &st) < 0)
        return -1;
    /* Counted from the end of the space that the file has already, not from its length. */
    fstore_t wanted = {.fst_flags = F_ALLOCATEALL, .fst_posmode = F_PEOFPOSMODE};
    wanted.fst_length = (off_t)len - (off_t)st.st_blocks * 512;
    if (wanted.fst_length <= 0 || fcntl(fd, F_PREALLOCATE, &wanted) != -1)
        return 0;
    if (errno == ENOTSUP)
        errno = EOPNOTSUPP;
    return -1;
#else
    const int error = posix_fallocate(fd, 0, (off_t)len);
    errno = error == EINVAL ? EOPNOTSUPP : error; /* POSIX does not say which of the two */
    return error ? -1 : 0;
#endif
}

int dj_os_unnamed(int folder, mode_t mode)
{
#if DJ_OS_LINUX
    return openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
#else
    (void)folder;
    (void)mode;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

int dj_os_link(int fd, int folder, const char *name)
{
#if DJ_OS_LINUX
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const int rc = linkat(AT_FDCWD, self, folder, name, AT_SYMLINK_FOLLOW);
    if (rc == 0 || errno != ENOENT)
        return rc;
    /* Without /proc, as in a chroot.  Older kernels than 6.10 allow this only to root. */
    return linkat(fd, "", folder, name, AT_EMPTY_PATH);
#else
    (void)fd;
    (void)folder;
    (void)name;
    errno = EOPNOTSUPP;
    return -1;
#endif
}

int dj_os_exchange(int from_folder, const char *from, int folder, const char *name)
{
#if DJ_OS_LINUX && defined __GLIBC__
    return renameat2(from_folder, from, folder, name, RENAME_EXCHANGE);
#elif DJ_OS_LINUX /* musl 1.2.3 has no function for this call */
    static const unsigned exchange = 1 << 1;
    return (int)syscall(SYS_renameat2, from_folder, from, folder, name, exchange);
#elif defined __APPLE__
    return renameatx_np(from_folder, from, folder, name, RENAME_SWAP);
#else
    (void)from_folder;
    (void)from;
    (void)folder;
    (void)name;
    errno = ENOSYS;
    return -1;
#endif
}

int dj_os_open_to_recognize(const char *path)
{
#if DJ_OS_LINUX
    return open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
#else
    static const int flags = O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
    const int fd = open(path, O_RDONLY | flags);
    return fd < 0 && errno == EACCES ? open(path, O_WRONLY | flags) : fd;
#endif
}

#ifdef __APPLE__
/* Network file systems do not have the call. */
static int sync_disk(int fd)
{
    return fcntl(fd, F_FULLFSYNC) != -1 ? 0 : fsync(fd);
}
#endif

int dj_os_sync(int fd)
{
#ifdef __APPLE__
    return sync_disk(fd);
#else
    return fsync(fd);
#endif
}

int dj_os_sync_data(int fd)
{
#if DJ_OS_LINUX
    return fdatasync(fd);
#else
    return dj_os_sync(fd);
#endif
}

int dj_os_sync_map(int fd, void *map, size_t len)
{
#ifdef __APPLE__
    return msync(map, len, MS_SYNC) < 0 ? -1 : sync_disk(fd);
#else
    (void)fd;
    return msync(map, len, MS_SYNC);
#endif
}

/* --- Hints --------------------------------------------------------------------------- */

void dj_os_advise_file(int fd, enum dj_os_use use)
{
#if DJ_OS_LINUX
    static const int advice[] = {[DJ_OS_IN_ORDER] = POSIX_FADV_SEQUENTIAL,
                                 [DJ_OS_AT_RANDOM] = POSIX_FADV_RANDOM,
                                 [DJ_OS_SOON] = POSIX_FADV_WILLNEED,
                                 [DJ_OS_NOT_AGAIN] = POSIX_FADV_DONTNEED};
    (void)posix_fadvise(fd, 0, 0, advice[use]);
#else /* an option of POSIX that macOS does not have */
    (void)fd;
    (void)use;
#endif
}

void dj_os_advise_map(const void *map, size_t len, enum dj_os_use use)
{
    /* Never "not again": for a mapping, some systems take that as permission to drop changes. */
    void *at = (void *)(uintptr_t)map;
#if DJ_OS_LINUX
    static const int advice[] = {[DJ_OS_IN_ORDER] = MADV_SEQUENTIAL,
                                 [DJ_OS_AT_RANDOM] = MADV_RANDOM,
                                 [DJ_OS_SOON] = MADV_WILLNEED};
    (void)madvise(at, len, advice[use]);
#else
    static const int advice[] = {[DJ_OS_IN_ORDER] = POSIX_MADV_SEQUENTIAL,
                                 [DJ_OS_AT_RANDOM] = POSIX_MADV_RANDOM,
                                 [DJ_OS_SOON] = POSIX_MADV_WILLNEED};
    (void)posix_madvise(at, len, advice[use]);
#endif
}

void dj_os_use_huge_pages(void *map, size_t len)
{
#if DJ_OS_LINUX
    (void)madvise(map, len, MADV_HUGEPAGE);
#else
    (void)map;
    (void)len;
#endif
}

/* --- Memory -------------------------------------------------------------------------- */

bool dj_os_move_pages(void *from, size_t len, void *to, size_t more)
{
#if DJ_OS_LINUX
    return mremap(from, len, more, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
#else
    (void)from;
    (void)len;
    (void)to;
    (void)more;
    return false;
#endif
}

bool dj_os_map_zeros(void *at, size_t len)
{
    static const int access = PROT_READ | PROT_WRITE;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#ifdef MAP_NORESERVE
    flags |= MAP_NORESERVE;
#endif
#if DJ_OS_LINUX && defined __LP64__ /* a sanitizer's mmap is not safe in a handler */
    return syscall(SYS_mmap, at, len, access, flags, -1, 0) != -1;
#else
    return mmap(at, len, access, flags, -1, 0) != MAP_FAILED;
#endif
}
