/* keyspool.c - keys for a server that is missing, in a file; see keyspool.h. */
#include "cli/server/keyspool.h"
#include "tools/base/fail.h"
#include "tools/base/io.h"
#include "tools/base/mix.h"
#include "tools/base/number.h"
#include "tools/base/sys.h"
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#define READ_PIECE ((size_t)1 << 20)
#define KEY_MOST   ((uint32_t)512 << 20) /* the longest string that a server takes */

/* --- Bytes ------------------------------------------------------------------------- */

static void store32(unsigned char *to, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(n >> 8 * i);
}

static void store64(unsigned char *to, uint64_t n)
{
    store32(to, (uint32_t)n);
    store32(to + 4, (uint32_t)(n >> 32));
}

static uint32_t load32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

static uint64_t load64(const unsigned char *from)
{
    return load32(from) | (uint64_t)load32(from + 4) << 32;
}

void keyspool_header(const struct keyspool_id *id, unsigned char bytes[KEYSPOOL_HEADER])
{
    static const char magic[] = "deja-spool\n";
    memset(bytes, 0, KEYSPOOL_HEADER);
    memcpy(bytes, magic, sizeof magic - 1);
    store32(bytes + 16, 1);
    store32(bytes + 20, id->machine);
    store64(bytes + 24, id->key_check);
    store64(bytes + 48, mix64(mix_fnv1a(MIX_FNV1A, id->cache, strlen(id->cache))));
    store64(bytes + 56, mix64(mix_fnv1a(MIX_FNV1A, bytes, 56)));
}

static uint64_t sum_of(uint64_t at, deja_slice key)
{
    unsigned char place[12];
    store64(place, at);
    store32(place + 8, (uint32_t)key.len);
    return mix64(mix_fnv1a(mix_fnv1a(MIX_FNV1A, place, sizeof place), key.data, key.len));
}

bool keyspool_record(const void *bytes, size_t len, uint64_t at, deja_slice *key)
{
    const unsigned char *from = bytes;
    if (len < KEYSPOOL_RECORD || load32(from) > len - KEYSPOOL_RECORD)
        return false;
    *key = (deja_slice){(const char *)from + KEYSPOOL_RECORD, load32(from)};
    return load64(from + 4) == sum_of(at, *key);
}

bool keyspool_append(struct buffer *b, uint64_t at, deja_slice key)
{
    unsigned char front[KEYSPOOL_RECORD];
    store32(front, (uint32_t)key.len);
    store64(front + 4, sum_of(at, key));
    return buffer_reserve(b, sizeof front + key.len) && buffer_add(b, front, sizeof front) &&
           buffer_add(b, key.data, key.len);
}

/* --- Reading ------------------------------------------------------------------------- */

/* Reads a piece of the file that begins with a whole record, if there is one. */
static int read_piece(struct keyspool *s, struct buffer *bytes, deja_error *err)
{
    size_t want = READ_PIECE;
    for (;;) {
        bytes->len = 0;
        if (!buffer_reserve(bytes, want))
            return fail(err, DEJA_ENOMEM, "%s: out of memory", fail_path(s->path).text);
        const ssize_t got = io_read_at(s->fd, bytes->data, want, (off_t)s->at);
        if (got < 0)
            return fail_errno(err, "%s: cannot read", fail_path(s->path).text);
        bytes->len = (size_t)got;
        const unsigned char *from = (const unsigned char *)bytes->data;
        const uint64_t need = got < 4 ? 0 : (uint64_t)load32(from) + KEYSPOOL_RECORD;
        if ((size_t)got < want || need <= want || need > (uint64_t)KEY_MOST + KEYSPOOL_RECORD)
            return DEJA_OK;
        want = (size_t)need;
    }
}

int keyspool_next(struct keyspool *s, struct buffer *bytes, deja_slice *key, size_t most,
                  size_t *n, deja_error *err)
{
    *n = 0;
    if (s->fd < 0 || s->at >= s->len)
        return DEJA_OK;
    const int rc = read_piece(s, bytes, err);
    size_t used = 0;
    while (rc == DEJA_OK && *n < most &&
           keyspool_record(bytes->data + used, bytes->len - used, s->at, &key[*n])) {
        used += KEYSPOOL_RECORD + key[*n].len;
        s->at += KEYSPOOL_RECORD + key[*n].len;
        s->given++;
        ++*n;
    }
    return rc == DEJA_OK && !*n ? fail(err, DEJA_EFORMAT,
                                       "%s was changed by another program; move it away: the "
                                       "server will miss the keys in it",
                                       fail_path(s->path).text)
                                : rc;
}

void keyspool_rewind(struct keyspool *s)
{
    s->at = KEYSPOOL_HEADER;
    s->given = 0;
}

/* Counts the records; what follows the last intact one is cut off. */
static int count_keys(struct keyspool *s, deja_error *err)
{
    struct buffer bytes = {0};
    deja_slice key;
    int rc = DEJA_OK;
    keyspool_rewind(s);
    for (size_t used = 0, n = 1; rc == DEJA_OK && n && s->at < s->len;) {
        rc = read_piece(s, &bytes, err);
        for (n = 0, used = 0;
             rc == DEJA_OK && keyspool_record(bytes.data + used, bytes.len - used, s->at, &key);
             n++, s->keys++) {
            used += KEYSPOOL_RECORD + key.len;
            s->at += KEYSPOOL_RECORD + key.len;
        }
    }
    buffer_fini(&bytes);
    if (rc == DEJA_OK && s->at < s->len) {
        s->damaged += s->len - s->at;
        s->len = s->at;
        if (ftruncate(s->fd, (off_t)s->len) < 0)
            rc = fail_errno(err, "%s: cannot cut off its damaged end", fail_path(s->path).text);
    }
    keyspool_rewind(s);
    return rc;
}

/* --- Files --------------------------------------------------------------------------- */

static int make_dir(const char *dir, deja_error *err)
{
    char path[400];
    const size_t len = strlen(dir);
    if (len >= sizeof path)
        return fail(err, DEJA_EINVAL, "--spool: the name is too long: %s", fail_path(dir).text);
    for (size_t i = 0; i <= len; i++) {
        path[i] = dir[i];
        if (i == 0 || (dir[i] != '/' && dir[i] != '\0'))
            continue;
        path[i] = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return fail_errno(err, "--spool: cannot make %s; choose another folder",
                              fail_path(path).text);
        path[i] = dir[i];
    }
    return DEJA_OK;
}

/* A name for files, from any name of a cache: other bytes become '_', and a hash follows. */
static void name_file(const struct keyspool_id *id, unsigned number, char *path, size_t cap)
{
    char name[41];
    size_t n = 0;
    for (const char *p = id->cache; *p && n + 1 < sizeof name; p++, n++)
        name[n] = ascii_is_alpha(*p) || ascii_is_digit(*p) || *p == '-' ? *p : '_';
    name[n] = '\0';
    (void)snprintf(path, cap, "%s/%s-%016llx-%u.%u.spool", id->dir, name,
                   (unsigned long long)id->key_check, id->machine, number);
}

enum got {
    GOT_NONE, /* no such file */
    GOT_BUSY, /* another process has it */
    GOT_IT,
    GOT_ERROR
};

/* Opens and locks a file.  One that another process removed in between counts as missing. */
static enum got open_file(const char *path, int flags, int *fd, deja_error *err)
{
    struct stat st;
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK | flags, 0600);
    if (*fd < 0 && errno == ENOENT && !flags)
        return GOT_NONE;
    if (*fd < 0 || fstat(*fd, &st) < 0) {
        (void)fail_errno(err, "%s cannot be opened", fail_path(path).text);
        return GOT_ERROR;
    }
    enum got got = GOT_IT;
    if (!S_ISREG(st.st_mode)) {
        (void)fail(err, DEJA_EINVAL, "%s is not a regular file; move it away",
                   fail_path(path).text);
        got = GOT_ERROR;
    } else if (flock(*fd, LOCK_EX | LOCK_NB) < 0) {
        got = GOT_BUSY;
    } else if (fstat(*fd, &st) < 0 || st.st_nlink == 0) {
        got = GOT_NONE;
    }
    if (got != GOT_IT)
        (void)close(*fd);
    return got;
}

/* Checks an existing file; an empty one gets its header. */
static int begin_file(struct keyspool *s, deja_error *err)
{
    struct stat st;
    unsigned char want[KEYSPOOL_HEADER], have[KEYSPOOL_HEADER];
    keyspool_header(&s->id, want);
    if (fstat(s->fd, &st) < 0)
        return fail_errno(err, "%s", fail_path(s->path).text);
    const ssize_t got = io_read_at(s->fd, have, sizeof have, 0);
    s->len = (uint64_t)st.st_size;
    if (got < 0)
        return fail_errno(err, "%s: cannot read", fail_path(s->path).text);
    if ((size_t)got == sizeof have && memcmp(have, want, sizeof have) != 0)
        return fail(err, DEJA_EFORMAT,
                    "%s is not the spool of this cache, or is damaged; move it away: the server "
                    "will miss the keys in it",
                    fail_path(s->path).text);
    if ((size_t)got < sizeof have) { /* a crash may leave a part of the header */
        if (ftruncate(s->fd, 0) < 0 || lseek(s->fd, 0, SEEK_SET) < 0 ||
            !io_write(s->fd, want, sizeof want))
            return fail_errno(err, "%s: cannot write; free space, or use another --spool",
                              fail_path(s->path).text);
        s->len = sizeof want;
    }
    return count_keys(s, err);
}

/* The first file that no other process has. */
static int create_file(struct keyspool *s, deja_error *err)
{
    int rc = make_dir(s->id.dir, err);
    for (unsigned i = 0; rc == DEJA_OK && i < KEYSPOOL_FILES; i++) {
        name_file(&s->id, i, s->path, sizeof s->path);
        const enum got got = open_file(s->path, O_CREAT, &s->fd, err);
        if (got == GOT_IT)
            return begin_file(s, err);
        s->fd = -1;
        if (got == GOT_ERROR)
            return DEJA_EIO;
    }
    return rc < 0 ? rc
                  : fail(err, DEJA_EBUSY,
                         "%s: %d processes spool here; use another --spool for this one",
                         fail_path(s->id.dir).text, KEYSPOOL_FILES);
}

/* Moves the keys of a file that nobody uses into `s`; the first such file becomes that of `s`. */
static int take_over(struct keyspool *s, unsigned number, deja_error *err)
{
    struct keyspool other = {.fd = -1, .id = s->id};
    struct buffer bytes = {0};
    name_file(&s->id, number, other.path, sizeof other.path);
    const enum got got = open_file(other.path, 0, &other.fd, err);
    if (got != GOT_IT)
        return got == GOT_ERROR ? DEJA_EIO : DEJA_OK;
    int rc = begin_file(&other, err);
    if (rc == DEJA_OK && s->fd < 0) {
        other.limit = s->limit;
        *s = other;
        return DEJA_OK;
    }
    for (size_t n = 1; rc == DEJA_OK && n;) {
        deja_slice key[256];
        rc = keyspool_next(&other, &bytes, key, 256, &n, err);
        if (rc == DEJA_OK && n)
            rc = keyspool_put(s, key, n, NULL, err);
    }
    s->damaged += other.damaged;
    if (rc == DEJA_OK)
        (void)unlink(other.path);
    (void)close(other.fd);
    buffer_fini(&bytes);
    return rc;
}

int keyspool_open(struct keyspool *s, const struct keyspool_id *id, uint64_t limit,
                  deja_error *err)
{
    int rc = DEJA_OK;
    *s = (struct keyspool){.fd = -1, .id = *id, .limit = UINT64_MAX};
    for (unsigned i = 0; rc == DEJA_OK && i < KEYSPOOL_FILES; i++)
        rc = take_over(s, i, err);
    s->limit = limit;
    return rc;
}

static uint64_t length_of(const deja_slice *key, size_t n, const uint8_t *want)
{
    uint64_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += !want || want[i] ? KEYSPOOL_RECORD + key[i].len : 0;
    return len;
}

int keyspool_check_room(const struct keyspool *s, const deja_slice *key, size_t n,
                        const uint8_t *want, deja_error *err)
{
    const uint64_t len = s->fd < 0 ? KEYSPOOL_HEADER : s->len, more = length_of(key, n, want);
    if (more <= s->limit && len <= s->limit - more)
        return DEJA_OK;
    return fail(
        err, DEJA_EFULL,
        "the spool for server %u is full (%s in %s of %s): start that server, or allow more "
        "with --spool-size, then run the command again",
        s->id.machine, num_of(s->keys, "key").s, num_bytes(len).s, num_bytes(s->limit).s);
}

int keyspool_put(struct keyspool *s, const deja_slice *key, size_t n, const uint8_t *want,
                 deja_error *err)
{
    struct buffer b = {0};
    uint64_t keys = 0;
    int rc = keyspool_check_room(s, key, n, want, err);
    if (rc == DEJA_OK && s->fd < 0)
        rc = create_file(s, err);
    for (size_t i = 0; i < n && rc == DEJA_OK; i++) {
        if (want && !want[i])
            continue;
        keys++;
        if (key[i].len > KEY_MOST || !keyspool_append(&b, s->len + b.len, key[i]))
            rc = fail(err, DEJA_ENOMEM, "%s: out of memory", fail_path(s->path).text);
    }
    if (rc == DEJA_OK && (lseek(s->fd, (off_t)s->len, SEEK_SET) < 0 ||
                          !io_write(s->fd, b.data, b.len) || sys_sync_data(s->fd) < 0)) {
        rc = fail_errno(err, "%s: cannot write; free space, or use another --spool",
                        fail_path(s->path).text);
        (void)!ftruncate(s->fd, (off_t)s->len);
    } else if (rc == DEJA_OK) {
        s->len += b.len;
        s->keys += keys;
    }
    buffer_fini(&b);
    return rc;
}

int keyspool_clear(struct keyspool *s, deja_error *err)
{
    if (s->fd >= 0 && s->len > KEYSPOOL_HEADER && ftruncate(s->fd, KEYSPOOL_HEADER) < 0)
        return fail_errno(err, "%s: cannot shorten it", fail_path(s->path).text);
    s->len = s->fd >= 0 ? KEYSPOOL_HEADER : 0;
    s->keys = 0;
    keyspool_rewind(s);
    return DEJA_OK;
}

void keyspool_close(struct keyspool *s)
{
    if (s->fd >= 0 && !s->keys)
        (void)unlink(s->path);
    if (s->fd >= 0)
        (void)close(s->fd);
    s->fd = -1;
}
