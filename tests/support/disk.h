/* disk.h - a device that can lose power at any moment.
 *
 * The store's few calls that change files go through the functions at the end of this file, which
 * replace libc's.  They work as usual, except that nothing is really synced, and record what a
 * device would have to remember:
 *
 *   file     an image that is safe, and for each 512-byte sector all its versions since then;
 *            fsync, fdatasync and msync make the current version safe.  The same for its length.
 *   folder   names that are safe, and the links, renames and removals since then; fsync of the
 *            folder makes them safe.  An fsync of the file does not.
 *
 * Writes into a mapping are detected by comparing the file with its content at the last scan.
 * Every call scans, and so does disk_look.  A version that is overwritten between two scans is
 * missed; scans are cheap, and tests scan often.
 *
 * disk_cut creates the files of one state that a power cut could leave: every sector in any of
 * its versions, independent of all others, and every change of the folder made or not.  The state
 * is drawn at random, with a fixed seed, by one of several methods; some tear a sector in two,
 * which devices promise not to do. */
#ifndef DISK_H
#define DISK_H
#include "rng.h"
#include "scratch.h"
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    SECTOR = 512,
    DISK_FILES = 512,
    DISK_CHANGES = 64
};

struct disk_version {
    size_t sector;
    uint8_t bytes[SECTOR];
};

struct disk_file {
    dev_t dev;
    ino_t ino;
    int fd;            /* a duplicate, so that the number stays in use */
    struct bytes safe; /* bytes that every power cut preserves */
    struct bytes now;  /* as of the last scan */
    struct disk_version *pending;
    size_t n_pending, cap_pending;
    size_t length[256]; /* lengths since the last sync */
    size_t n_lengths;
};

/* name now refers to file (-1: removed), and `gone`, unless empty, is removed in the same
 * step. */
struct disk_change {
    char name[64], gone[64];
    int file;
};

static struct disk {
    bool on;         /* calls are recorded */
    bool no_tmpfile; /* a file system without unnamed files (O_TMPFILE) */
    struct rng rng;
    struct disk_file file[DISK_FILES];
    int n_files;
    struct disk_change safe[DISK_CHANGES]; /* the folder: existing names */
    int n_safe;
    struct disk_change pending[DISK_CHANGES];
    int n_pending;
    void (*after)(void); /* called after every recorded call */
} disk;

/* --- Files ------------------------------------------------------------------- */

static uint8_t *disk_room(struct bytes *b, size_t len)
{
    if (len > b->len) {
        b->data = realloc(b->data, len + SECTOR);
        MUST(b->data);
        memset(b->data + b->len, 0, len + SECTOR - b->len);
    } else if (b->data) {
        memset(b->data + len, 0, b->len - len);
    }
    b->len = len;
    return b->data;
}

static struct bytes disk_read(int fd)
{
    struct stat st;
    struct bytes b = {0};
    MUST(fstat(fd, &st) == 0);
    disk_room(&b, (size_t)st.st_size);
    for (size_t at = 0; at < b.len;) {
        const ssize_t got = pread(fd, b.data + at, b.len - at, (off_t)at);
        MUST(got > 0);
        at += (size_t)got;
    }
    return b;
}

/* The file of fd; NULL if fd is not a file. */
static struct disk_file *disk_file_of(int fd)
{
    struct stat st;
    char self[64];
    MUST(fstat(fd, &st) == 0);
    if (!S_ISREG(st.st_mode))
        return NULL;
    for (int i = 0; i < disk.n_files; i++)
        if (disk.file[i].ino == st.st_ino && disk.file[i].dev == st.st_dev)
            return &disk.file[i];
    MUST(disk.n_files < DISK_FILES);
    struct disk_file *f = &disk.file[disk.n_files++];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    *f = (struct disk_file){
        st.st_dev, st.st_ino, open(self, O_RDONLY | O_CLOEXEC), {0}, {0}, NULL, 0, 0, {0}, 0};
    MUST(f->fd >= 0);
    return f;
}

static void disk_note_sector(struct disk_file *f, size_t sector, const uint8_t *bytes)
{
    if (f->n_pending == f->cap_pending) {
        f->cap_pending = f->cap_pending ? 2 * f->cap_pending : 64;
        f->pending = realloc(f->pending, f->cap_pending * sizeof *f->pending);
        MUST(f->pending);
    }
    f->pending[f->n_pending].sector = sector;
    memcpy(f->pending[f->n_pending++].bytes, bytes, SECTOR);
}

static void disk_look_at(struct disk_file *f)
{
    const struct bytes is = disk_read(f->fd);
    if (is.len != f->now.len) {
        MUST(f->n_lengths < sizeof f->length / sizeof f->length[0]);
        f->length[f->n_lengths++] = is.len;
        disk_room(&f->now, is.len);
    }
    for (size_t at = 0; at < is.len; at += SECTOR)
        if (memcmp(is.data + at, f->now.data + at, SECTOR) != 0) {
            memcpy(f->now.data + at, is.data + at, SECTOR);
            disk_note_sector(f, at / SECTOR, is.data + at);
        }
    free(is.data);
}

static SCRATCH_UNUSED void disk_look(void)
{
    for (int i = 0; i < disk.n_files; i++)
        disk_look_at(&disk.file[i]);
}

static void disk_sync_file(struct disk_file *f)
{
    disk_look_at(f);
    if (f->now.len)
        memcpy(disk_room(&f->safe, f->now.len), f->now.data, f->now.len);
    f->n_pending = 0;
    f->n_lengths = 0;
}

/* --- The folder -------------------------------------------------------------- */

static void disk_apply(struct disk_change *names, int *n, const struct disk_change *c)
{
    for (int i = 0; i < *n; i++)
        if (!strcmp(names[i].name, c->name) || !strcmp(names[i].name, c->gone))
            names[i--] = names[--*n];
    MUST(*n < DISK_CHANGES);
    if (c->file >= 0)
        names[(*n)++] = *c;
}

static void disk_note_name(const char *name, const char *gone, int file)
{
    struct disk_change c = {.file = file};
    MUST(disk.n_pending < DISK_CHANGES);
    snprintf(c.name, sizeof c.name, "%s", name);
    snprintf(c.gone, sizeof c.gone, "%s", gone);
    disk.pending[disk.n_pending++] = c;
}

static void disk_sync_folder(void)
{
    for (int i = 0; i < disk.n_pending; i++)
        disk_apply(disk.safe, &disk.n_safe, &disk.pending[i]);
    disk.n_pending = 0;
}

/* The file that a name refers to now, synced or not. */
static int disk_lookup(const char *name)
{
    int file = -1;
    for (int i = 0; i < disk.n_safe; i++)
        if (!strcmp(disk.safe[i].name, name))
            file = disk.safe[i].file;
    for (int i = 0; i < disk.n_pending; i++) {
        if (!strcmp(disk.pending[i].gone, name))
            file = -1;
        if (!strcmp(disk.pending[i].name, name))
            file = disk.pending[i].file;
    }
    return file;
}

/* --- Beginning and end ------------------------------------------------------- */

static SCRATCH_UNUSED void disk_begin(uint64_t seed, void (*after)(void))
{
    disk.rng = rng_seeded(seed);
    disk.after = after;
    disk.on = true;
}

static SCRATCH_UNUSED void disk_end(void)
{
    for (int i = 0; i < disk.n_files; i++) {
        close(disk.file[i].fd);
        free(disk.file[i].safe.data);
        free(disk.file[i].now.data);
        free(disk.file[i].pending);
    }
    memset(&disk, 0, sizeof disk);
}

/* --- The cut ------------------------------------------------------------------ */

enum disk_draw {
    DRAW_ANY,
    DRAW_HALF,
    DRAW_NONE,
    DRAW_ALL,
    DRAW_ALL_BUT_ONE,
    DRAW_ONE,
    DRAWS
};

static bool disk_coin(unsigned one_in)
{
    return rng_below(&disk.rng, one_in) == 0;
}

static void disk_put(struct bytes *b, const struct disk_version *v, size_t from, size_t to)
{
    const size_t at = v->sector * SECTOR;
    if (at + from < b->len)
        memcpy(b->data + at + from, v->bytes + from, to - from);
}

/* From oldest to newest, so that the last version chosen is the one that stays. */
static void disk_draw_sectors(const struct disk_file *f, enum disk_draw how, struct bytes *b)
{
    const size_t chosen = f->n_pending ? rng_below(&disk.rng, f->n_pending) : 0;
    for (size_t i = 0; i < f->n_pending; i++) {
        const bool same = f->pending[i].sector == f->pending[chosen].sector;
        const bool take = how == DRAW_ANY           ? disk_coin(3)
                          : how == DRAW_HALF        ? disk_coin(2)
                          : how == DRAW_ALL         ? true
                          : how == DRAW_ALL_BUT_ONE ? !same
                          : how == DRAW_ONE         ? same
                                                    : false;
        if (take)
            disk_put(b, &f->pending[i], 0, SECTOR);
    }
}

static struct bytes disk_draw_file(const struct disk_file *f, enum disk_draw how, bool tear)
{
    struct bytes b = {0};
    size_t len = f->safe.len;
    if (f->n_lengths && how != DRAW_NONE)
        len = how == DRAW_ALL ? f->now.len : f->length[rng_below(&disk.rng, f->n_lengths)];
    disk_room(&b, f->safe.len);
    if (f->safe.len)
        memcpy(b.data, f->safe.data, f->safe.len);
    disk_room(&b, len);
    disk_draw_sectors(f, how, &b);
    if (tear && f->n_pending) {
        const struct disk_version *v = &f->pending[rng_below(&disk.rng, f->n_pending)];
        const size_t at = 1 + rng_below(&disk.rng, SECTOR - 1);
        if (disk_coin(2))
            disk_put(&b, v, 0, at);
        else
            disk_put(&b, v, at, SECTOR);
    }
    return b;
}

/* Creates the files of one possible state in this empty folder; true if a sector was torn, which
 * no device does. */
static SCRATCH_UNUSED bool disk_cut(const char *folder)
{
    struct disk_change names[DISK_CHANGES];
    int n = disk.n_safe;
    const enum disk_draw how = (enum disk_draw)rng_below(&disk.rng, DRAWS);
    const enum disk_draw how_names = (enum disk_draw)rng_below(&disk.rng, DRAW_ALL + 1);
    const bool tear = disk_coin(8);
    memcpy(names, disk.safe, sizeof names);
    for (int i = 0; i < disk.n_pending; i++)
        if (how_names == DRAW_ALL || (how_names != DRAW_NONE && disk_coin(2)))
            disk_apply(names, &n, &disk.pending[i]);
    for (int i = 0; i < n; i++) {
        char path[600];
        const struct bytes b = disk_draw_file(&disk.file[names[i].file], how, tear);
        snprintf(path, sizeof path, "%s/%.63s", folder, names[i].name);
        write_file(path, b.data, b.len);
        free(b.data);
    }
    return tear;
}

/* --- Replacements for libc ----------------------------------------------------- */

static bool disk_enter(void)
{
    if (!disk.on)
        return false;
    disk.on = false; /* calls made in here are not recorded */
    disk_look();
    return true;
}

static void disk_leave(void)
{
    const int saved = errno;
    disk_look();
    if (disk.after)
        disk.after();
    disk.on = true;
    errno = saved;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    const bool record = disk_enter();
    if (record)
        disk_file_of(fd);
    const ssize_t put = syscall(SYS_pwrite64, fd, data, len, at);
    if (record)
        disk_leave();
    return put;
}

int ftruncate(int fd, off_t len)
{
    const bool record = disk_enter();
    if (record)
        disk_file_of(fd);
    const int rc = (int)syscall(SYS_ftruncate, fd, len);
    if (record)
        disk_leave();
    return rc;
}

static int disk_fsync(int fd)
{
    if (!disk_enter())
        return 0;
    if (disk.after)
        disk.after(); /* just before */
    struct disk_file *f = disk_file_of(fd);
    if (f)
        disk_sync_file(f);
    else
        disk_sync_folder();
    disk_leave();
    return 0;
}

int fsync(int fd)
{
    return disk_fsync(fd);
}

int fdatasync(int fd)
{
    return disk_fsync(fd);
}

/* The file that is mapped at this address. */
static struct disk_file *disk_mapped(const void *address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[1024];
    struct disk_file *found = NULL;
    MUST(maps);
    while (!found && fgets(line, sizeof line, maps)) {
        unsigned long begin, end, ino;
        if (sscanf(line, "%lx-%lx %*s %*s %*s %lu", &begin, &end, &ino) == 3 &&
            (uintptr_t)address >= begin && (uintptr_t)address < end)
            for (int i = 0; i < disk.n_files; i++)
                if (disk.file[i].ino == ino)
                    found = &disk.file[i];
    }
    fclose(maps);
    return found;
}

int msync(void *address, size_t len, int flags)
{
    (void)len, (void)flags; /* the whole file in one call, as the store does */
    if (!disk_enter())
        return 0;
    if (disk.after)
        disk.after();
    struct disk_file *f = disk_mapped(address);
    MUST(f);
    disk_sync_file(f);
    disk_leave();
    return 0;
}

static int disk_number(int fd)
{
    return (int)(disk_file_of(fd) - disk.file);
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    if ((flags & O_TMPFILE) == O_TMPFILE && disk.no_tmpfile) {
        errno = EOPNOTSUPP;
        return -1;
    }
    const bool record = disk_enter();
    const int fd = (int)syscall(SYS_openat, folder, name, flags, mode);
    if (record && fd >= 0 && flags & O_CREAT)
        disk_note_name(name, "", disk_number(fd));
    if (record)
        disk_leave();
    return fd;
}

int linkat(int from_folder, const char *from, int folder, const char *name, int flags)
{
    const bool record = disk_enter();
    int fd = -1;
    const int rc = (int)syscall(SYS_linkat, from_folder, from, folder, name, flags);
    if (record && rc == 0)
        disk_note_name(name, "",
                       sscanf(from, "/proc/self/fd/%d", &fd) == 1 ? disk_number(fd)
                                                                  : disk_lookup(from));
    if (record)
        disk_leave();
    return rc;
}

int renameat(int from_folder, const char *from, int folder, const char *name)
{
    const bool record = disk_enter();
    const int file = record ? disk_lookup(from) : -1;
    const int rc = (int)syscall(SYS_renameat, from_folder, from, folder, name);
    if (record && rc == 0)
        disk_note_name(name, from, file);
    if (record)
        disk_leave();
    return rc;
}

/* Only exchanges.  A power cut may preserve one of the two changes: a real one preserves both or
 * none, so this is stricter. */
int renameat2(int from_folder, const char *from, int folder, const char *name, unsigned flags)
{
    const bool record = disk_enter();
    const int one = record ? disk_lookup(from) : -1, other = record ? disk_lookup(name) : -1;
    const int rc = (int)syscall(SYS_renameat2, from_folder, from, folder, name, flags);
    if (record && rc == 0) {
        disk_note_name(name, "", one);
        disk_note_name(from, "", other);
    }
    if (record)
        disk_leave();
    return rc;
}

int unlinkat(int folder, const char *name, int flags)
{
    const bool record = disk_enter();
    const int rc = (int)syscall(SYS_unlinkat, folder, name, flags);
    if (record && rc == 0)
        disk_note_name(name, "", -1);
    if (record)
        disk_leave();
    return rc;
}

#endif
