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
    char *path;        /* as given, for messages */
    struct dj_tmp tmp; /* a new file until its first sync */
    bool replace;      /* that file may take the place of another ... */
    int over;          /* ... namely of this one; -1: there was none */
    uint8_t *map;      /* the whole file */
    size_t map_len;
    uint8_t page[DJ_HEADER_LEN]; /* header as written, without records */
    uint64_t sequence;           /* of the newest record */
    pthread_mutex_t touching;
    struct dj_guard guard; /* of the mapping */
    uint64_t stamp;        /* the header's checksum in the mapping, when it was last right */
};

struct dj_file *dj_file_make(const char *path, const deja_allocator *alloc);
void dj_file_free(struct dj_file *file, const deja_allocator *alloc); /* unmaps, closes */

/* The writer's lock of an open file; DEJA_EBUSY when another process has it. */
int dj_file_lock(int fd, const char *path, deja_error *err);
/* Map len bytes of fd; NULL and an error otherwise. */
uint8_t *dj_map(int fd, uint64_t len, bool write, const char *path, deja_error *err);
/* This mapping, and no other, is the file's from now on. */
void dj_file_take_map(struct dj_file *file, uint8_t *map, uint64_t len);
/* Give the filter's parts the bodies in this mapping of its file, in place of an earlier one. */
void dj_file_adopt(deja_filter *f, const struct dj_header *h, uint8_t *map);
/* A file without a name for the first n_parts parts of a filter, whose shapes are set; it has its
 * name with the first sync (create.c).  `like` is a file whose permissions, owner and group it
 * gets, or -1: those of the file that has its name, or of a new one. */
int dj_file_begin(deja_filter *f, unsigned flags, uint32_t n_parts, int like, deja_error *err);
/* May a new file have this name? */
int dj_file_check_name(const char *path, unsigned flags, deja_error *err);
/* The file at path, if any, may be replaced by a filter (create.c). */
int dj_file_check_replaced(const char *path, deja_error *err);
/* Write the next record: state and counts as they are now. */
int dj_file_record(deja_filter *f, enum dj_state state, uint64_t checksum, deja_error *err);
/* Write the header, and no records yet, to fd. */
int dj_file_head(deja_filter *f, const struct dj_header *h, int fd, deja_error *err);

/* A new file with a filter of this plan, its bodies zeros (create.c). */
int dj_file_create(const char *path, unsigned flags, const struct dj_plan *plan,
                   const uint8_t key[DEJA_KEY_LEN], const deja_allocator *alloc, deja_filter **out,
                   deja_error *err);
/* Open, check and map a file for reading, without making a filter of it. */
int dj_file_read(const char *path, struct dj_file **out, struct dj_header *h, deja_error *err);
/* What a header has to pass before it becomes a filter, whether its bytes come from a file or not
 * (open.c); `name` is for messages. */
int dj_open_records(const struct dj_header *h, bool repair, deja_error *err);
int dj_open_expected(const struct dj_header *h, const deja_options *want, const char *name,
                     deja_error *err);
int dj_open_key(const struct dj_header *h, const deja_options *want, const char *name,
                uint8_t key[DEJA_KEY_LEN], deja_error *err);
/* Part i as the header has it, without a body; and the counts, when all have theirs. */
void dj_open_part(deja_filter *f, const struct dj_header *h, uint32_t i);
void dj_open_counts(deja_filter *f, const struct dj_header *h);
/* Counts (counts.c): from a record, all but the syncs; keys, from the bits that are set; and a
 * record for a copy, whose keys are known in any case. */
void dj_counts_take(deja_filter *f, const struct dj_record *r);
void dj_counts_recount(const deja_filter *f, struct dj_record *r);
void dj_counts_pass_on(const deja_filter *f, struct dj_record *r);
/* Without a file (export.c): XXH3 of all bodies; bytes of them, at offsets of the file; how many
 * of the len bytes at `at` lie in begin .. end, 0 when the first one does not. */
uint64_t dj_export_checksum(const deja_filter *f);
size_t dj_export_bodies(const deja_filter *f, uint64_t at, uint8_t *out, size_t len);
size_t dj_export_overlap(uint64_t at, size_t len, uint64_t begin, uint64_t end);
/* The owner's grow (create.c), next and replace (renew.c). */
int dj_file_grow(deja_filter *f, uint32_t n_parts);
int dj_file_next(const deja_filter *f, const struct dj_plan *plan, deja_filter **out,
                 deja_error *err);
int dj_file_replace(deja_filter *f, deja_filter *next, deja_error *err);
/* The owner's checkpoint (sync.c) and news (open.c), for windows. */
int dj_file_checkpoint(deja_filter *f);
bool dj_file_news(deja_filter *f, bool take);
/* XXH3 of all bodies (sync.c). */
uint64_t dj_file_checksum(const struct dj_file *file);

/* Is the mapping still that of the file which was opened (guard.c)?  For every batch: cheap. */
bool dj_file_is_whole(const struct dj_file *file);
/* The same, with a look at the file's length, and in words.  DEJA_EIO. */
int dj_file_vouch(const struct dj_file *file, deja_error *err);
/* The same for a writer, before it writes: its name must still be that of the file that it has
 * locked.  DEJA_EIO, errno ESTALE. */
int dj_file_check_named(const struct dj_file *file, deja_error *err);
/* The header's checksum as the mapping has it now. */
static inline uint64_t dj_file_stamp(const struct dj_file *file)
{
    return dj_load64(file->map + DJ_HEADER_SUM);
}

/* As much of len bytes as the file has from `at` on; -1: errno tells why. */
ssize_t dj_read_at(int fd, void *data, size_t len, uint64_t at);
bool dj_write_at(int fd, const void *data, size_t len, uint64_t at);

extern const struct dj_owner_ops dj_file_ops;

#endif
