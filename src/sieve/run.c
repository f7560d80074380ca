/* run.c - an immutable file of sorted fingerprints.
 *
 *   head     128 bytes: magic, version, id, number, keys, blocks, place and checksum of the index,
 *            checksum of the head
 *   blocks   u64 checksum, u32 keys, u32 bytes of entries; then the entries, 64 KiB at most
 *   index    32 bytes per block: its first key, place, length and number of keys
 *
 * An entry is the difference between the high 32 bits of this key and the one before it (for the
 * first of a block, these bits themselves), as a number of 7 bits per byte, low bits first; then the
 * other 64 bits of the fingerprint, which are random and cannot be compressed.  In a run of n keys
 * the difference is 2^32 / n on average: two bytes from 2^20 keys on, one byte from 2^27 on, so a key
 * takes 10 to 9 bytes.  Finer codes would save up to a byte more, but take longer to decode.
 *
 * Every block is verified before its first key is used, and every length before it is believed.
 * A run never changes, and its name is never used again.
 *
 * Reading: passes are sequential, in large reads with read-ahead (posix_fadvise).  io_uring would
 * overlap reading and decoding, but read-ahead does that already, and many containers forbid it.
 * O_DIRECT would bypass the page cache, which keeps small sieves in memory between passes. */
#include "sieve/run.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "store/file.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    HEAD_LEN = 128,
    HEAD_SUM = 120, /* offset of the checksum of the head */
    BLOCK_HEAD = 16,
    INDEX_LEN = 32, /* bytes per block */
    ENTRY_LEAST = 9,
    ENTRY_MOST = 13,
    STEP = 32 << 20, /* bytes between two syncs of a steady writer */
    VERSION = 1
};
#define MAGIC "dejarun\n"

static int failed(const struct dj_folder *folder, uint64_t number, const char *what,
                  deja_error *err)
{
    return dj_folder_failed(folder, dj_file_name_of("run", number).text, what, err);
}

static int damaged(const struct dj_folder *folder, uint64_t number, const char *what,
                   deja_error *err)
{
    return dj_folder_damaged(folder, dj_file_name_of("run", number).text, what, err);
}

/* --- Writing ------------------------------------------------------------------- */

int dj_run_begin(struct dj_run_writer *w, const struct dj_folder *folder, uint64_t id,
                 uint64_t number, size_t buffer, const deja_allocator *alloc, deja_error *err)
{
    *w = (struct dj_run_writer){.folder = folder,
                                .alloc = alloc,
                                .tmp = DJ_TMP_NONE,
                                .id = id,
                                .number = number,
                                .at = HEAD_LEN,
                                .synced = HEAD_LEN,
                                .cap = buffer < DJ_RUN_BUFFER ? DJ_RUN_BUFFER : buffer};
    w->buffer = dj_alloc(alloc, w->cap, 64);
    if (!w->buffer)
        return dj_fail_memory(err);
    return dj_folder_begin(folder, dj_file_name_of("run", number).text, &w->tmp, err);
}

void dj_run_end(struct dj_run_writer *w)
{
    dj_tmp_discard(&w->tmp);
    dj_free(w->alloc, w->buffer, w->cap);
    dj_free(w->alloc, w->index, w->room * sizeof *w->index);
    w->buffer = NULL;
    w->index = NULL;
}

static int write_out(struct dj_run_writer *w, size_t len, deja_error *err)
{
    if (!dj_write_at(w->tmp.fd, w->buffer, len, w->at))
        return failed(w->folder, w->number, "cannot write it", err);
    w->at += len;
    w->len -= len;
    w->begun -= len;
    memmove(w->buffer, w->buffer + len, w->len);
    if (w->steady && w->at - w->synced >= STEP) {
        if (dj_os_sync_data(w->tmp.fd) < 0)
            return failed(w->folder, w->number, "cannot sync it", err);
        dj_os_advise_file(w->tmp.fd, DJ_OS_NOT_AGAIN);
        w->synced = w->at;
    }
    return DEJA_OK;
}

static int extend_index(struct dj_run_writer *w, deja_error *err)
{
    if (w->blocks < w->room)
        return DEJA_OK;
    const size_t room = w->room ? 2 * w->room : 16;
    struct dj_block *index = dj_alloc(w->alloc, room * sizeof *index, 64);
    if (!index)
        return dj_fail_memory(err);
    if (w->blocks)
        memcpy(index, w->index, w->blocks * sizeof *index);
    dj_free(w->alloc, w->index, w->room * sizeof *index);
    w->index = index;
    w->room = room;
    return DEJA_OK;
}

/* Completes the block that was begun. */
static void end_block(struct dj_run_writer *w)
{
    uint8_t *head = w->buffer + w->begun;
    const size_t len = w->len - w->begun - BLOCK_HEAD;
    if (!w->in_block)
        return;
    struct dj_block *block = &w->index[w->blocks++];
    block->at = w->at + w->begun;
    block->len = (uint32_t)(len + BLOCK_HEAD);
    block->keys = w->in_block;
    dj_store32(head + 8, w->in_block);
    dj_store32(head + 12, (uint32_t)len);
    dj_store64(head, dj_checksum(head + 8, len + 8));
    w->begun = w->len;
    w->in_block = 0;
}

/* Begins a block if none is begun. */
static int begin_block(struct dj_run_writer *w, const deja_fingerprint *first, deja_error *err)
{
    int rc = extend_index(w, err);
    if (rc == DEJA_OK && w->cap - w->len < DJ_RUN_BLOCK + BLOCK_HEAD)
        rc = write_out(w, w->len, err);
    if (rc < 0)
        return rc;
    w->index[w->blocks].first = (deja_fingerprint){first->hash, first->check, 0};
    w->len += BLOCK_HEAD;
    return DEJA_OK;
}

static inline uint8_t *put_entry(uint8_t *p, uint32_t delta, uint64_t low)
{
    for (; delta >= 128; delta >>= 7)
        *p++ = (uint8_t)(delta | 128);
    *p++ = (uint8_t)delta;
    dj_store64(p, low);
    return p + 8;
}

static inline uint32_t high_of(const deja_fingerprint *key)
{
    return (uint32_t)(key->hash >> 32);
}

static inline uint64_t low_of(const deja_fingerprint *key)
{
    return key->hash << 32 | key->check;
}

int dj_run_add(struct dj_run_writer *w, const deja_fingerprint *key, size_t n, deja_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (w->keys && dj_print_equal(&key[i], &w->last))
            continue;
        if (w->len - w->begun + ENTRY_MOST > DJ_RUN_BLOCK + BLOCK_HEAD)
            end_block(w);
        if (!w->in_block) {
            const int rc = begin_block(w, &key[i], err);
            if (rc < 0)
                return rc;
        }
        const uint32_t before = w->in_block ? high_of(&w->last) : 0;
        uint8_t *p = w->buffer + w->len;
        w->len = (size_t)(put_entry(p, high_of(&key[i]) - before, low_of(&key[i])) - w->buffer);
        w->last = key[i];
        w->in_block++;
        w->keys++;
    }
    return DEJA_OK;
}

static void encode_index(const struct dj_block *block, uint8_t out[INDEX_LEN])
{
    dj_store64(out, block->first.hash);
    dj_store32(out + 8, block->first.check);
    dj_store32(out + 12, block->keys);
    dj_store64(out + 16, block->at);
    dj_store32(out + 24, block->len);
    dj_store32(out + 28, 0);
}

static int write_index(struct dj_run_writer *w, uint64_t *sum, deja_error *err)
{
    const size_t len = w->blocks * INDEX_LEN;
    uint8_t *bytes = dj_alloc(w->alloc, len, 64);
    if (!bytes)
        return dj_fail_memory(err);
    for (size_t i = 0; i < w->blocks; i++)
        encode_index(&w->index[i], bytes + i * INDEX_LEN);
    *sum = dj_checksum(bytes, len);
    const bool written = dj_write_at(w->tmp.fd, bytes, len, w->at);
    const int rc = written ? DEJA_OK : failed(w->folder, w->number, "cannot write its index", err);
    dj_free(w->alloc, bytes, len);
    return rc;
}

static void encode_head(const struct dj_run_writer *w, uint64_t index_sum, uint8_t head[HEAD_LEN])
{
    memset(head, 0, HEAD_LEN);
    memcpy(head, MAGIC, 8);
    dj_store32(head + 8, VERSION);
    dj_store64(head + 16, w->id);
    dj_store64(head + 24, w->number);
    dj_store64(head + 32, w->keys);
    dj_store64(head + 40, w->blocks);
    dj_store64(head + 48, w->at);
    dj_store64(head + 56, index_sum);
    dj_store64(head + HEAD_SUM, dj_checksum(head, HEAD_SUM));
}

int dj_run_finish(struct dj_run_writer *w, struct dj_run *run, deja_error *err)
{
    uint8_t head[HEAD_LEN];
    uint64_t sum = 0;
    end_block(w);
    int rc = write_out(w, w->len, err);
    if (rc == DEJA_OK)
        rc = write_index(w, &sum, err);
    if (rc < 0)
        return rc;
    encode_head(w, sum, head);
    if (!dj_write_at(w->tmp.fd, head, sizeof head, 0))
        return failed(w->folder, w->number, "cannot write its head", err);
    *run = (struct dj_run){.number = w->number,
                           .keys = w->keys,
                           .bytes = w->at + w->blocks * INDEX_LEN,
                           .sum = dj_load64(head + HEAD_SUM),
                           .fd = w->tmp.fd,
                           .blocks = w->blocks};
    const size_t index_len = w->blocks * sizeof *w->index;
    run->index = dj_alloc(w->alloc, index_len, 64);
    if (!run->index)
        return dj_fail_memory(err);
    memcpy(run->index, w->index, index_len);
    dj_folder_remove(w->folder, dj_file_name_of("run", w->number).text); /* of a failed attempt */
    rc = dj_folder_commit(w->folder, &w->tmp, DJ_TMP_NEW, err);
    if (rc < 0) {
        if (w->tmp.fd < 0) { /* it has its name, but perhaps not durably */
            dj_folder_remove(w->folder, dj_file_name_of("run", w->number).text);
            close(run->fd);
        }
        dj_free(w->alloc, run->index, index_len);
        *run = (struct dj_run){.fd = -1};
    }
    return rc;
}

/* --- Opening -------------------------------------------------------------------- */

static int check_head(const struct dj_run *run, const uint8_t head[HEAD_LEN], uint64_t id,
                      const struct dj_folder *folder, deja_error *err)
{
    const uint64_t blocks = dj_load64(head + 40), index_at = dj_load64(head + 48);
    if (memcmp(head, MAGIC, 8) != 0)
        return damaged(folder, run->number, "not a run (bad magic)", err);
    if (dj_load32(head + 8) > VERSION)
        return dj_fail(err, DEJA_EVERSION, "%s/%s: version %u; this deja reads version %u",
                       folder->path, dj_file_name_of("run", run->number).text, dj_load32(head + 8),
                       VERSION);
    if (dj_load64(head + HEAD_SUM) != dj_checksum(head, HEAD_SUM))
        return damaged(folder, run->number, "its head is damaged", err);
    if (dj_load64(head + 16) != id || dj_load64(head + 24) != run->number ||
        dj_load64(head + 32) != run->keys || dj_load64(head + HEAD_SUM) != run->sum)
        return damaged(folder, run->number, "not the run that the manifest lists", err);
    if (index_at < HEAD_LEN || index_at > run->bytes || blocks == 0 ||
        blocks > run->bytes / INDEX_LEN || run->bytes - index_at != blocks * INDEX_LEN)
        return damaged(folder, run->number, "its index is damaged", err);
    return DEJA_OK;
}

/* Whether the blocks follow each other without gaps, in order, and have all keys. */
static bool is_index_sound(const struct dj_run *run, uint64_t index_at)
{
    uint64_t at = HEAD_LEN, keys = 0;
    for (size_t i = 0; i < run->blocks; i++) {
        const struct dj_block *b = &run->index[i];
        if (b->at != at || b->len < BLOCK_HEAD + ENTRY_LEAST ||
            b->len > BLOCK_HEAD + DJ_RUN_BLOCK || b->keys == 0 ||
            b->keys > (b->len - BLOCK_HEAD) / ENTRY_LEAST ||
            (i && !dj_print_less(&run->index[i - 1].first, &b->first)))
            return false;
        at += b->len;
        keys += b->keys;
    }
    return at == index_at && keys == run->keys;
}

static int read_index(struct dj_run *run, const struct dj_folder *folder,
                      const uint8_t head[HEAD_LEN], const deja_allocator *alloc, deja_error *err)
{
    const uint64_t index_at = dj_load64(head + 48);
    const size_t blocks = (size_t)dj_load64(head + 40), len = blocks * INDEX_LEN;
    uint8_t *bytes = dj_alloc(alloc, len, 64);
    run->index = bytes ? dj_alloc(alloc, blocks * sizeof *run->index, 64) : NULL;
    run->blocks = run->index ? blocks : 0;
    int rc = run->index ? DEJA_OK : dj_fail_memory(err);
    const ssize_t got = rc == DEJA_OK ? dj_read_at(run->fd, bytes, len, index_at) : 0;
    if (rc == DEJA_OK && got < 0)
        rc = failed(folder, run->number, "cannot read its index", err);
    if (rc == DEJA_OK && ((size_t)got != len || dj_checksum(bytes, len) != dj_load64(head + 56)))
        rc = damaged(folder, run->number, "its index is damaged", err);
    for (size_t i = 0; rc == DEJA_OK && i < blocks; i++) {
        const uint8_t *p = bytes + i * INDEX_LEN;
        run->index[i] = (struct dj_block){.first = {dj_load64(p), dj_load32(p + 8), 0},
                                          .at = dj_load64(p + 16),
                                          .len = dj_load32(p + 24),
                                          .keys = dj_load32(p + 12)};
    }
    if (rc == DEJA_OK && !is_index_sound(run, index_at))
        rc = damaged(folder, run->number, "its index is damaged", err);
    dj_free(alloc, bytes, len);
    return rc;
}

int dj_run_open(struct dj_run *run, const struct dj_folder *folder, uint64_t id,
                const deja_allocator *alloc, deja_error *err)
{
    const struct dj_file_name name = dj_file_name_of("run", run->number);
    uint8_t head[HEAD_LEN];
    struct stat st;
    run->index = NULL;
    run->blocks = 0;
    run->fd = openat(folder->fd, name.text, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0);
    if (run->fd < 0)
        return errno == ENOENT ? damaged(folder, run->number, "this run is missing", err)
                               : failed(folder, run->number, "cannot open it", err);
    const ssize_t got = dj_read_at(run->fd, head, sizeof head, 0);
    int rc;
    if (got < 0 || fstat(run->fd, &st) < 0)
        rc = failed(folder, run->number, "cannot read it", err);
    else if (got < HEAD_LEN || (uint64_t)st.st_size != run->bytes)
        rc =
            damaged(folder, run->number, "its length is not the one that the manifest lists", err);
    else
        rc = check_head(run, head, id, folder, err);
    if (rc == DEJA_OK)
        rc = read_index(run, folder, head, alloc, err);
    if (rc < 0)
        dj_run_close(run, alloc);
    return rc;
}

void dj_run_close(struct dj_run *run, const deja_allocator *alloc)
{
    if (run->fd >= 0)
        close(run->fd);
    dj_free(alloc, run->index, run->blocks * sizeof *run->index);
    run->fd = -1;
    run->index = NULL;
    run->blocks = 0;
}

/* --- Reading -------------------------------------------------------------------- */

enum {
    PADDING = 16 /* bytes after the buffer that decoding may read */
};

int dj_cursor_init(struct dj_cursor *c, const struct dj_run *run, const struct dj_folder *folder,
                   size_t buffer, const deja_allocator *alloc, deja_error *err)
{
    *c = (struct dj_cursor){.run = run,
                            .folder = folder,
                            .alloc = alloc,
                            .cap = buffer < DJ_RUN_BUFFER ? DJ_RUN_BUFFER : buffer};
    c->buffer = dj_alloc(alloc, c->cap + PADDING, 64);
    return c->buffer ? DEJA_OK : dj_fail_memory(err);
}

void dj_cursor_turn(struct dj_cursor *c, const struct dj_run *run)
{
    *c = (struct dj_cursor){
        .run = run, .folder = c->folder, .alloc = c->alloc, .buffer = c->buffer, .cap = c->cap};
}

void dj_cursor_fini(struct dj_cursor *c)
{
    dj_free(c->alloc, c->buffer, c->cap + PADDING);
    c->buffer = NULL;
}

static int damaged_block(const struct dj_cursor *c, size_t block, deja_error *err)
{
    return dj_fail(err, DEJA_EFORMAT, "%s/%s: block %zu, at byte %llu, is damaged" DJ_RESTORE,
                   c->folder->path, dj_file_name_of("run", c->run->number).text, block,
                   (ull)c->run->index[block].at);
}

/* Reads blocks from `block` on: as many as fit, up to block `limit`. */
static int load(struct dj_cursor *c, size_t block, size_t limit, deja_error *err)
{
    const struct dj_block *index = c->run->index;
    size_t to = block + 1, len = index[block].len;
    while (to < limit && len + index[to].len <= c->cap)
        len += index[to++].len;
    const ssize_t got = dj_read_at(c->run->fd, c->buffer, len, index[block].at);
    if (got < 0)
        return failed(c->folder, c->run->number, "cannot read it", err);
    if ((size_t)got < len)
        return damaged_block(c, block, err);
    c->from = block;
    c->to = to;
    return DEJA_OK;
}

/* Verifies a block and points to its first entry. */
static int enter(struct dj_cursor *c, size_t block, size_t limit, deja_error *err)
{
    const struct dj_block *b = &c->run->index[block];
    if (block < c->from || block >= c->to) {
        const int rc = load(c, block, limit, err);
        if (rc < 0)
            return rc;
    }
    const uint8_t *head = c->buffer + (b->at - c->run->index[c->from].at);
    if (dj_load32(head + 8) != b->keys || dj_load32(head + 12) != b->len - BLOCK_HEAD ||
        dj_load64(head) != dj_checksum(head + 8, b->len - 8))
        return damaged_block(c, block, err);
    c->p = head + BLOCK_HEAD;
    c->end = head + b->len;
    c->left = b->keys;
    c->high = c->low = 0;
    c->block = block + 1;
    return DEJA_OK;
}

/* Decodes one entry; false if it is damaged.  Reads at most 13 bytes, which the buffer has. */
static inline bool decode(struct dj_cursor *c, deja_fingerprint *out, bool first)
{
    const uint8_t *p = c->p;
    uint64_t delta = *p++;
    if (DJ_UNLIKELY(delta >= 128)) {
        delta &= 127;
        for (unsigned shift = 7;; shift += 7) {
            const uint64_t byte = *p++;
            delta |= (byte & 127) << shift;
            if (byte < 128)
                break;
            if (shift == 28)
                return false;
        }
    }
    const uint64_t high = c->high + delta, low = dj_load64(p);
    if (DJ_UNLIKELY(high > UINT32_MAX || (delta == 0 && low <= c->low && !first)))
        return false;
    *out = (deja_fingerprint){high << 32 | low >> 32, (uint32_t)low, 0};
    c->p = p + 8;
    c->high = high;
    c->low = low;
    return c->p <= c->end;
}

int dj_cursor_read(struct dj_cursor *c, deja_fingerprint *out, size_t cap, size_t *n,
                   deja_error *err)
{
    *n = 0;
    while (*n < cap) {
        bool first = false;
        if (c->left == 0) {
            if (c->block == c->run->blocks)
                break;
            const int rc = enter(c, c->block, c->run->blocks, err);
            if (rc < 0)
                return rc;
            first = true;
        }
        const struct dj_block *b = &c->run->index[c->block - 1];
        if (!decode(c, &out[*n], first) || (first && !dj_print_equal(&out[*n], &b->first)) ||
            (--c->left == 0 && (c->p != c->end || (c->block < c->run->blocks &&
                                                   !dj_print_less(&out[*n], &b[1].first)))))
            return damaged_block(c, c->block - 1, err);
        ++*n;
    }
    return DEJA_OK;
}

/* Looks for sorted keys in one block. */
static int find_in_block(struct dj_cursor *c, deja_fingerprint *key, size_t n, deja_error *err)
{
    deja_fingerprint one;
    bool first = true;
    for (size_t i = 0; i < n && c->left; first = false, c->left--) {
        if (!decode(c, &one, first))
            return damaged_block(c, c->block - 1, err);
        if (DJ_LIKELY(one.hash < key[i].hash))
            continue;
        while (i < n && dj_print_less(&key[i], &one))
            i++;
        while (i < n && dj_print_equal(&key[i], &one))
            key[i++].tag |= DJ_FOUND;
    }
    c->left = 0;
    return DEJA_OK;
}

int dj_cursor_find(struct dj_cursor *c, deja_fingerprint *key, size_t n, deja_error *err)
{
    const struct dj_run *run = c->run;
    const size_t limit = n / 2 >= run->blocks ? run->blocks : 0; /* nearly every block is needed */
    dj_os_advise_file(run->fd, limit ? DJ_OS_IN_ORDER : DJ_OS_AT_RANDOM);
    size_t i = 0;
    while (i < n && dj_print_less(&key[i], &run->index[0].first))
        i++;
    for (size_t b = 0; b < run->blocks && i < n; b++) {
        const bool is_last = b + 1 == run->blocks;
        size_t to = n;
        if (!is_last) {
            const deja_fingerprint *next = &run->index[b + 1].first;
            for (to = i; to < n && dj_print_less(&key[to], next);)
                to++;
        }
        if (to == i)
            continue;
        int rc = enter(c, b, limit, err);
        if (rc == DEJA_OK)
            rc = find_in_block(c, key + i, to - i, err);
        if (rc < 0)
            return rc;
        i = to;
    }
    return DEJA_OK;
}
