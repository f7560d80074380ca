/* killnth.c - ends the process at a chosen change to a file; for LD_PRELOAD, ahead of libc.
 *
 *     DEJA_KILL="write-spool 3"   SIGKILL at the third write to a spool; half of it arrives
 *     DEJA_KILL_COUNTS=FILE       at its exit, a process writes how many changes of each class it made
 *
 * The class of a change is the call and the type of the file: the name up to a digit or hyphen, or
 * "unnamed" before it has a name.  Output that goes to a pipe has the type "output".  All other
 * changes happen before the call is made.  Nothing is really synced, because disks are slow.
 *
 * tests/support/killed_sieve.py compiles this file; it is not part of the build. */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    CLASSES = 64,
    NAME = 48
};

static struct {
    char name[NAME];
    long count;
} classes[CLASSES];
static int n_classes;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char chosen[NAME];
static long nth;

__attribute__((constructor)) static void begin(void)
{
    const char *wish = getenv("DEJA_KILL");
    if (wish && sscanf(wish, "%47s %ld", chosen, &nth) != 2)
        nth = 0;
}

__attribute__((destructor)) static void end(void)
{
    const char *path = getenv("DEJA_KILL_COUNTS");
    FILE *out = path ? fopen(path, "w") : NULL;
    for (int i = 0; out && i < n_classes; i++)
        fprintf(out, "%s %ld\n", classes[i].name, classes[i].count);
    if (out)
        fclose(out);
}

/* Counts a change; whether the process must die at it. */
static bool is_last(const char *call, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    char name[NAME];
    int i = 0;
    file += *file == '.';
    if (strstr(path, "(deleted)") || strncmp(file, "#", 1) == 0)
        file = "unnamed";
    snprintf(name, sizeof name, "%s-%.*s", call, (int)strcspn(file, "-.0123456789"), file);
    pthread_mutex_lock(&lock);
    while (i < n_classes && strcmp(classes[i].name, name) != 0)
        i++;
    if (i == n_classes && n_classes < CLASSES)
        memcpy(classes[n_classes++].name, name, sizeof name);
    const bool last = i < CLASSES && ++classes[i].count == nth && strcmp(name, chosen) == 0;
    pthread_mutex_unlock(&lock);
    return last;
}

static bool is_last_of(const char *call, int fd)
{
    char self[64], path[4096] = "";
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const ssize_t len = readlink(self, path, sizeof path - 1);
    if (len <= 0 || path[0] != '/') /* a pipe */
        return is_last(call, "output");
    return is_last(call, path);
}

static void die(void)
{
    syscall(SYS_kill, getpid(), SIGKILL);
    for (;;)
        pause();
}

/* A kill tears a write apart only between pages; marks are shorter than a sector. */
static size_t arrives(size_t len)
{
    return len < 512 ? 0 : len / 2;
}

ssize_t write(int fd, const void *data, size_t len)
{
    if (fd != 2 && is_last_of("write", fd)) {
        (void)!syscall(SYS_write, fd, data, arrives(len));
        die();
    }
    return syscall(SYS_write, fd, data, len);
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    if (is_last_of("write", fd)) {
        (void)!syscall(SYS_pwrite64, fd, data, arrives(len), at);
        die();
    }
    return syscall(SYS_pwrite64, fd, data, len, at);
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (flags & O_CREAT && is_last("create", name))
        die();
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int fsync(int fd)
{
    if (is_last_of("sync", fd))
        die();
    return 0;
}

int fdatasync(int fd)
{
    return fsync(fd);
}

int ftruncate(int fd, off_t len)
{
    if (is_last_of("cut", fd))
        die();
    return (int)syscall(SYS_ftruncate, fd, len);
}

int linkat(int from_folder, const char *from, int folder, const char *name, int flags)
{
    if (is_last("link", name))
        die();
    return (int)syscall(SYS_linkat, from_folder, from, folder, name, flags);
}

int renameat2(int from_folder, const char *from, int folder, const char *name, unsigned flags)
{
    if (is_last("rename", name))
        die();
    return (int)syscall(SYS_renameat2, from_folder, from, folder, name, flags);
}

int unlinkat(int folder, const char *name, int flags)
{
    if (is_last("delete", name))
        die();
    return (int)syscall(SYS_unlinkat, folder, name, flags);
}
