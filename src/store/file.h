/* file.h - a filter's file: its descriptor, mapping, name and lock. */
#ifndef DJ_FILE_H
#define DJ_FILE_H
#include "core/base/bytes.h"
#include "store/format.h"
#include "store/guard.h"
#include "store/piecetable.h"
#include "store/replace.h"
#include <pthread.h>
#include <sys/types.h>

struct dj_file {
    int fd;
    char *path;        /* absolute */
    const char *shown; /* for messages: path, or its end if the caller gave only that */
    struct dj_tmp tmp; /* a new file until its first sync */
    bool replace;      /* the new file may replace another ... */
    int over;          /* ... which is open here; -1: there was none */
    uint8_t *map;      /* the whole file */
    size_t map_len;
    uint8_t page[DJ_HEADER_LEN]; /* header as written, without records */
    uint64_t sequence;           /* of the newest record */
    pthread_mutex_t beginning;   /* held while the first change is announced */
    struct dj_guard guard;       /* of the mapping */
    uint64_t stamp;              /* the header's checksum when the mapping was last known good */
    struct dj_table table;       /* of its pieces */
};

struct dj_file *dj_file_make(const char *path, const deja_allocator *alloc);
void dj_file_free(struct dj_file *file, const deja_allocator *alloc); /* unmaps, closes */

/* Takes the writer's lock of an open file; DEJA_EBUSY if another process has it. */
int dj_file_lock(int fd, const char *path, deja_error *err);
/* Maps len bytes of fd. */
int dj_map(int fd, uint64_t len, bool write, const char *path, uint8_t **map, deja_error *err);
/* Replaces the mapping of the file. */
void dj_file_take_map(struct dj_file *file, uint8_t *map, uint64_t len);
/* Replaces the mapping of the filter's file and gives the parts their bodies in it. */
void dj_file_adopt(deja_filter *f, const struct dj_header *h, uint8_t *map);
/* Writes the next sync record, with this state and the current counts. */
int dj_file_record(deja_filter *f, enum dj_state state, uint64_t checksum, deja_error *err);
/* Writes the header, with empty records, to fd. */
int dj_file_head(deja_filter *f, const struct dj_header *h, int fd, deja_error *err);

/* The header's checksum that is in the mapping now. */
static inline uint64_t dj_file_stamp(const struct dj_file *file)
{
    return dj_load64(file->map + DJ_HEADER_SUM);
}

/* Whether the mapping is still intact; cheap enough for every batch. */
bool dj_file_is_whole(const struct dj_file *file);
/* The same, but also checks the file's length; DEJA_EIO with a reason if it is not intact. */
int dj_file_check(const struct dj_file *file, deja_error *err);
/* The same for a writer, before it writes: the path must still name the file that it has locked;
 * DEJA_EIO and errno ESTALE if not. */
int dj_file_check_named(const struct dj_file *file, deja_error *err);

/* Reads up to len bytes at offset `at`, fewer at the end of the file; -1: see errno. */
ssize_t dj_read_at(int fd, void *data, size_t len, uint64_t at);
bool dj_write_at(int fd, const void *data, size_t len, uint64_t at);

#endif
