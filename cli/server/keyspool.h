/* keyspool.h - keys for a server that is missing, in a file until it returns.
 *
 * A file starts with 64 bytes: the magic "deja-spool\n", zeros up to byte 16, then (little-endian)
 * the version 1 (u32), the number of the machine (u32), the check value of the cache's secret key
 * (u64), 16 bytes of zeros, a hash of the cache's name (u64) and the checksum of the 56 bytes before it
 * (u64).  Each record is the length of a key (u32), a checksum (u64) and the key.  The
 * checksum covers the offset of the record, its length and the key: mix(FNV-1a-64(...)), as in
 * docs/format.md.
 *
 * Records are only appended, so a crash can only damage the end of the file.  What cannot be read is
 * cut off and reported.  When the server has all keys, the file is cut back to its first 64 bytes;
 * until then it stays as it is, because to add a key twice is harmless.
 *
 * A process locks the files that it uses.  It takes over those of processes that have ended. */
#ifndef CLI_SERVER_KEYSPOOL_H
#define CLI_SERVER_KEYSPOOL_H
#include "tools/base/buffer.h"
#include <stdbool.h>

#define KEYSPOOL_HEADER  64
#define KEYSPOOL_RECORD  12 /* bytes of a record, besides its key */
#define KEYSPOOL_DEFAULT ((uint64_t)64 << 20)
#define KEYSPOOL_LEAST   ((uint64_t)1 << 16)
#define KEYSPOOL_FILES   64 /* for one machine of a cache: processes that spool at one time */

struct keyspool_id { /* whose keys they are */
    const char *dir, *cache;
    uint32_t machine;
    uint64_t key_check;
};

struct keyspool { /* begin with {.fd = -1} */
    int fd;       /* -1: there is no file yet */
    char path[512];
    struct keyspool_id id;
    uint64_t limit;       /* of the file's length */
    uint64_t len;         /* of the file */
    uint64_t at;          /* the first record that keyspool_next has not returned */
    uint64_t keys, given; /* in the file, and before `at` */
    uint64_t damaged;     /* bytes that were cut off when it was opened */
};

/* Takes over what earlier processes left; creates no file. */
int keyspool_open(struct keyspool *s, const struct keyspool_id *id, uint64_t limit,
                  deja_error *err);
/* Whether all these keys would fit. */
int keyspool_check_room(const struct keyspool *s, const deja_slice *key, size_t n,
                        const uint8_t *want, deja_error *err);
/* Appends the keys with want[i] != 0 (NULL: all) and syncs the file: all of them or none. */
int keyspool_put(struct keyspool *s, const deja_slice *key, size_t n, const uint8_t *want,
                 deja_error *err);
/* Reads up to `most` keys that were not yet given, in order; they point into `bytes`.  *n becomes 0
 * after the last one. */
int keyspool_next(struct keyspool *s, struct buffer *bytes, deja_slice *key, size_t most,
                  size_t *n, deja_error *err);
/* Starts again with the first key, for a server that was lost before it had them all. */
void keyspool_rewind(struct keyspool *s);
/* Forgets all keys: the server has them. */
int keyspool_clear(struct keyspool *s, deja_error *err);
/* Removes the file if it has no keys.  {.fd = -1} is fine. */
void keyspool_close(struct keyspool *s);

static inline uint64_t keyspool_waiting(const struct keyspool *s)
{
    return s->keys - s->given;
}

/* The parts that do not touch a file; for the fuzzer. */
void keyspool_header(const struct keyspool_id *id, unsigned char bytes[KEYSPOOL_HEADER]);
/* Whether the bytes at offset `at` of a file begin with an intact record; *key is then the key. */
bool keyspool_record(const void *bytes, size_t len, uint64_t at, deja_slice *key);
bool keyspool_append(struct buffer *b, uint64_t at, deja_slice key);

#endif
