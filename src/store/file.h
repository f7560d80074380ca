/* file.h - a filter's file: its descriptor, mapping, name and lock. */
#ifndef DJ_FILE_H
#define DJ_FILE_H
#include "core/base/bytes.h"
#include "store/format.h"
#include "store/guard.h"
#include "store/replace.h"
#include <pthread.h>
#include <sys/types.h>

struct dj_file {
    int fd;
    char *path;        /* absolute */
    const char *shown; /* its end, if that is how it was given: for messages */
    struct dj_tmp tmp; /* a new file until its first sync */
    bool replace;      /* that file may take the place of another ... */
    int over;          /* ... namely of this one; -1: there was none */
    uint8_t *map;      /* the whole file */
    size_t map_len;
    uint8_t page[DJ_HEADER_LEN]; /* header as written, without records */
    uint64_t sequence;           /* of the newest record */
    pthread_mutex_t beginning;   /* held while the first change is announced */
    struct dj_guard guard;       /* of the mapping */
    uint64_t stamp;              /* the header's checksum in the mapping, when it was last right */
};

struct dj_file *dj_file_make(const char *path, const deja_allocator *alloc);
void dj_file_free(struct dj_file *file, const deja_allocator *alloc); /* unmaps, closes */

/* The writer's lock of an open file; DEJA_EBUSY when another process has it. */
int dj_file_lock(int fd, const char *path, deja_error *err);
/* Maps len bytes of fd. */
int dj_map(int fd, uint64_t len, bool write, const char *path, uint8_t **map, deja_error *err);
/* This mapping, and no other, is the file's from now on. */
void dj_file_take_map(struct dj_file *file, uint8_t *map, uint64_t len);
/* Give the filter's parts the bodies in this mapping of its file, in place of an earlier one. */
void dj_file_adopt(deja_filter *f, const struct dj_header *h, uint8_t *map);
/* Write the next record: state and counts as they are now. */
int dj_file_record(deja_filter *f, enum dj_state state, uint64_t checksum, deja_error *err);
/* Write the header, and no records yet, to fd. */
int dj_file_head(deja_filter *f, const struct dj_header *h, int fd, deja_error *err);

/* The header's checksum as the mapping has it now. */
static inline uint64_t dj_file_stamp(const struct dj_file *file)
{
    return dj_load64(file->map + DJ_HEADER_SUM);
}

/* Is the mapping still that of the file which was opened?  For every batch: cheap. */
bool dj_file_is_whole(const struct dj_file *file);
/* The same, with a look at the file's length, and with the reason.  DEJA_EIO. */
int dj_file_check(const struct dj_file *file, deja_error *err);
/* The same for a writer, before it writes: its name must still be that of the file that it has
 * locked.  DEJA_EIO, errno ESTALE. */
int dj_file_check_named(const struct dj_file *file, deja_error *err);

/* As much of len bytes as the file has from `at` on; -1: errno tells why. */
ssize_t dj_read_at(int fd, void *data, size_t len, uint64_t at);
bool dj_write_at(int fd, const void *data, size_t len, uint64_t at);

#endif
