/* recorddisk.c - records the changes that a program makes to the files of one folder, as a device
 * would see them; for LD_PRELOAD, ahead of libc.
 *
 *     DEJA_RECORD=FOLDER      the folder to watch, which must exist
 *     DEJA_RECORD_LOG=FILE    gets the events; further processes append theirs
 *
 * Before and after every call that changes a file, the folder and its files are compared with
 * their state at the last scan, by sectors of 512 bytes, so that writes into a mapping are noticed
 * too.  Nothing is really synced.  tests/crawler/cutfolder.py turns the events into the states
 * that a power cut could leave.  An event is a struct, followed by its bytes:
 *
 *     c  a file appears          w  a sector of it, 512 bytes     l  its length
 *     s  the file is synced      d  the folder is synced
 *     n  a name now refers to the file, or with file 0 to none; bytes: the name, then a zero byte
 *        and the name that the same rename removed
 *
 * The test compiles this file; it is not part of the build.  It supports one thread at a time, and
 * no nested folders. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    SECTOR = 512,
    FILES = 256,
    NAMES = 64
};

struct event {
    char type;
    uint8_t unused[3];
    uint32_t len; /* of the bytes that follow */
    uint64_t file, at;
};

static struct file {
    uint64_t ino; /* 0: free */
    int fd;
    bool named;
    size_t len;
    uint8_t *image;
} files[FILES];

static struct name {
    char text[200];
    uint64_t ino;
} names[NAMES];
static size_t n_names;

static const char *folder;
static int log_fd = -1;
static bool busy;
static dev_t device;

/* --- The log ----------------------------------------------------------------- */

static void put(const void *data, size_t len)
{
    const char *p = data;
    while (len > 0) {
        const long n = syscall(SYS_write, log_fd, p, len);
        if (n <= 0)
            abort();
        p += n;
        len -= (size_t)n;
    }
}

static void note(char type, uint64_t file, uint64_t at, const void *data, size_t len)
{
    const struct event e = {.type = type, .len = (uint32_t)len, .file = file, .at = at};
    put(&e, sizeof e);
    put(data, len);
}

/* --- Files -------------------------------------------------------------------- */

static struct file *find(uint64_t ino)
{
    for (size_t i = 0; i < FILES; i++)
        if (files[i].ino == ino)
            return &files[i];
    return NULL;
}

static void compare_sector(struct file *f, const uint8_t *now, size_t at, size_t len, bool quiet)
{
    uint8_t sector[SECTOR] = {0};
    if (memcmp(f->image + at, now, len) == 0)
        return;
    memcpy(f->image + at, now, len);
    memcpy(sector, now, len);
    if (!quiet)
        note('w', f->ino, at / SECTOR, sector, SECTOR);
}

static void look_at(struct file *f, bool quiet)
{
    struct stat st;
    if (fstat(f->fd, &st) != 0)
        abort();
    const size_t len = (size_t)st.st_size;
    if (len != f->len) {
        f->image = realloc(f->image, len + 1);
        if (!f->image)
            abort();
        if (len > f->len)
            memset(f->image + f->len, 0, len - f->len);
        f->len = len;
        if (!quiet)
            note('l', f->ino, len, NULL, 0);
    }
    static uint8_t piece[1 << 16];
    for (size_t at = 0; at < len;) {
        const ssize_t n = pread(f->fd, piece, sizeof piece, (off_t)at);
        if (n <= 0)
            return;
        if (memcmp(f->image + at, piece, (size_t)n) != 0)
            for (size_t i = 0; i < (size_t)n; i += SECTOR)
                compare_sector(f, piece + i, at + i,
                               (size_t)n - i < SECTOR ? (size_t)n - i : SECTOR, quiet);
        at += (size_t)n;
    }
}

/* Keeps our own descriptor open, because closing one would drop the program's record locks. */
static struct file *track(uint64_t ino, int fd, bool quiet)
{
    struct file *f = find(0);
    if (!f || fd < 0)
        abort();
    *f = (struct file){.ino = ino, .fd = fd};
    if (!quiet)
        note('c', ino, 0, NULL, 0);
    look_at(f, quiet);
    return f;
}

/* The file of a descriptor, if it may be in the folder. */
static struct file *file_of(int fd)
{
    struct stat st;
    char self[64];
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_dev != device)
        return NULL;
    struct file *f = find(st.st_ino);
    if (f || st.st_nlink > 0) /* a file with a name is found by its name */
        return f;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    const int own = (int)syscall(SYS_openat, AT_FDCWD, self, O_RDONLY | O_CLOEXEC);
    return track(st.st_ino, own, false);
}

/* --- The folder --------------------------------------------------------------- */

static void note_name(const char *name, uint64_t ino, const char *gone)
{
    char text[2 * sizeof names[0].text];
    const size_t len = strlen(name) + 1, more = strlen(gone);
    memcpy(text, name, len);
    memcpy(text + len, gone, more);
    note('n', ino, 0, text, len + more);
}

static struct name *name_of(const char *text)
{
    for (size_t i = 0; i < n_names; i++)
        if (strcmp(names[i].text, text) == 0)
            return &names[i];
    return NULL;
}

static int open_in_folder(const char *name)
{
    char path[PATH_MAX];
    const int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    return len > 0 && (size_t)len < sizeof path
               ? (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC)
               : -1;
}

static size_t list(struct name *out)
{
    DIR *dir = opendir(folder);
    size_t n = 0;
    for (struct dirent *e; dir && (e = readdir(dir));) {
        const size_t len = strlen(e->d_name) + 1;
        if (e->d_type != DT_REG)
            continue;
        if (n == NAMES || len > sizeof out[n].text)
            abort();
        memcpy(out[n].text, e->d_name, len);
        out[n++].ino = e->d_ino;
    }
    if (dir)
        closedir(dir);
    return n;
}

static void forget_nameless(void)
{
    for (size_t i = 0; i < FILES; i++) {
        struct stat st;
        if (files[i].ino && files[i].named && fstat(files[i].fd, &st) == 0 && st.st_nlink == 0) {
            (void)syscall(SYS_close, files[i].fd);
            free(files[i].image);
            files[i] = (struct file){0};
        }
    }
}

/* `from` was renamed to `to`, or both are NULL. */
static void look_at_names(bool quiet, const char *from, const char *to)
{
    static struct name now[NAMES];
    const size_t n = list(now);
    forget_nameless();
    for (size_t i = 0; i < n; i++) {
        struct file *f = find(now[i].ino);
        if (!f)
            f = track(now[i].ino, open_in_folder(now[i].text), quiet);
        f->named = true;
        const struct name *was = name_of(now[i].text);
        if (!quiet && (!was || was->ino != now[i].ino))
            note_name(now[i].text, now[i].ino, to && strcmp(to, now[i].text) == 0 ? from : "");
    }
    for (size_t i = 0; i < n_names && !quiet; i++) {
        bool gone = !from || strcmp(from, names[i].text) != 0;
        for (size_t k = 0; k < n && gone; k++)
            gone = strcmp(now[k].text, names[i].text) != 0;
        if (gone)
            note_name(names[i].text, 0, "");
    }
    memcpy(names, now, sizeof now);
    n_names = n;
}

static void look(bool quiet, const char *from, const char *to)
{
    look_at_names(quiet, from, to);
    for (size_t i = 0; i < FILES; i++)
        if (files[i].ino)
            look_at(&files[i], quiet);
}

__attribute__((constructor)) static void begin(void)
{
    struct stat st;
    const char *name = getenv("DEJA_RECORD_LOG");
    folder = getenv("DEJA_RECORD");
    if (!folder || !name || stat(folder, &st) != 0)
        return;
    device = st.st_dev;
    log_fd =
        (int)syscall(SYS_openat, AT_FDCWD, name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log_fd >= 0)
        look(true, NULL, NULL);
}

static bool enter(void)
{
    if (log_fd < 0 || busy)
        return false;
    busy = true;
    look(false, NULL, NULL);
    return true;
}

static void leave(bool entered)
{
    const int saved = errno;
    if (entered) {
        look(false, NULL, NULL);
        busy = false;
    }
    errno = saved;
}

static const char *base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* --- Replacements for libc ------------------------------------------------------- */

#define RECORDED(type, expression)                                                                \
    do {                                                                                          \
        const bool entered = enter();                                                             \
        const type result = (type)(expression);                                                   \
        leave(entered);                                                                           \
        return result;                                                                            \
    } while (0)

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    RECORDED(ssize_t, syscall(SYS_pwrite64, fd, data, len, at));
}
ssize_t pwrite64(int fd, const void *data, size_t len, off64_t at)
{
    RECORDED(ssize_t, syscall(SYS_pwrite64, fd, data, len, at));
}
int ftruncate(int fd, off_t len)
{
    RECORDED(int, syscall(SYS_ftruncate, fd, len));
}
int ftruncate64(int fd, off64_t len)
{
    RECORDED(int, syscall(SYS_ftruncate, fd, len));
}
int unlink(const char *path)
{
    RECORDED(int, syscall(SYS_unlink, path));
}
int unlinkat(int dir, const char *path, int flags)
{
    RECORDED(int, syscall(SYS_unlinkat, dir, path, flags));
}
int linkat(int from, const char *old, int to, const char *new, int flags)
{
    RECORDED(int, syscall(SYS_linkat, from, old, to, new, flags));
}
int renameat(int from, const char *old, int to, const char *new)
{
    const bool entered = enter();
    const int rc = (int)syscall(SYS_renameat2, from, old, to, new, 0);
    const int saved = errno;
    if (entered && rc == 0)
        look_at_names(false, base(old), base(new));
    errno = saved;
    leave(entered);
    return rc;
}
int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    if (!flags)
        return renameat(from, old, to, new);
    RECORDED(int, syscall(SYS_renameat2, from, old, to, new, flags));
}
int rename(const char *old, const char *new)
{
    return renameat(AT_FDCWD, old, AT_FDCWD, new);
}

static int synced(int fd)
{
    struct stat st, own;
    if (!enter())
        return 0;
    const struct file *f = file_of(fd);
    if (f)
        note('s', f->ino, 0, NULL, 0);
    else if (fstat(fd, &st) == 0 && stat(folder, &own) == 0 && st.st_ino == own.st_ino)
        note('d', 0, 0, NULL, 0);
    leave(true);
    return 0;
}
int fsync(int fd)
{
    return synced(fd);
}
int fdatasync(int fd)
{
    return synced(fd);
}

/* The file that is mapped at this address; 0: none. */
static uint64_t mapped(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    unsigned long from, to, ino, found = 0;
    while (maps && !found && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &from, &to, &ino) == 3 && address >= from &&
            address < to)
            found = ino;
    if (maps)
        (void)fclose(maps);
    return found;
}

/* Syncs the whole file, as the store does. */
int msync(void *address, size_t len, int flags)
{
    (void)len, (void)flags;
    if (!enter())
        return 0;
    const uint64_t ino = mapped((uintptr_t)address);
    if (ino && find(ino))
        note('s', ino, 0, NULL, 0);
    leave(true);
    return 0;
}
