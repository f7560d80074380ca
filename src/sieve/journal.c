/* journal.c - an append-only file of batches with checksums: the log of recent keys, and the spool.
 *
 * Written with pwrite before a call returns, a batch survives a kill.  A power failure can leave
 * the batches since the last sync in any state: some sectors written, others not.  The journal then
 * ends before its first incomplete batch, and later batches, which no sync has promised either, are
 * dropped with it.
 *
 * A batch that was synced and is damaged nevertheless must not look like such an end, or pages
 * would be lost silently.  So each sync leaves a mark in the head: the file is durable up to this
 * length.  The two marks alternate, each in its own sector, so an interrupted write leaves one
 * intact.  A mark is written after the sync that it reports and may be lost in a power failure; the
 * journal is then checked less strictly, but what is there is still read.
 *
 *   head     4096 bytes: magic, version, id, number, checksum; the marks at 512 and 1024
 *   batch    u32 magic, u32 entries, u64 payload bytes, u64 batch number, u64 checksum, payload
 *
 * The checksum of a batch covers the identity of the file, so bytes of another journal that a file
 * system leaves in a block are not mistaken for a batch. */
#include "sieve/journal.h"
#include "core/base/bytes.h"
#include "core/base/compiler.h"
#include "core/base/os.h"
#include "core/base/status.h"
#include "core/hash/hash.h"
#include "store/file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SECTOR = 512,
    IDENTITY_SUM = 40, /* offset of the checksum of the identity */
    MARK_A = SECTOR,
    MARK_B = 2 * SECTOR,
    MARK_LEN = 24,
    SUM_LEN = 8,
    ATTEMPTS = 5, /* to read a mark that a writer is writing */
    VERSION = 1
};
#define BATCH_MAGIC UINT32_C(0x68637462)
#define MAGIC       "dejajrnl"

static struct dj_file_name name_of(const struct dj_journal *j)
{
    return dj_file_name_of(j->type, j->number);
}

static int failed(const struct dj_journal *j, const char *what, deja_error *err)
{
    return dj_folder_failed(j->folder, name_of(j).text, what, err);
}

static int damaged_at(const struct dj_journal *j, uint64_t at, deja_error *err)
{
    return dj_fail(err, DEJA_EFORMAT, "%s/%s: damaged at byte %llu" DJ_RESTORE, j->folder->path,
                   name_of(j).text, (ull)at);
}

/* --- The head ---------------------------------------------------------------- */

static uint64_t type_number(const char *type)
{
    return (uint64_t)(uint8_t)type[0];
}

static void encode_head(const struct dj_journal *j, uint8_t head[DJ_JOURNAL_HEAD])
{
    memset(head, 0, DJ_JOURNAL_HEAD);
    memcpy(head, MAGIC, 8);
    dj_store32(head + 8, VERSION);
    dj_store32(head + 12, (uint32_t)type_number(j->type));
    dj_store64(head + 16, j->id);
    dj_store64(head + 24, j->number);
    dj_store64(head + IDENTITY_SUM, dj_checksum(head, IDENTITY_SUM));
}

static int check_head(const struct dj_journal *j, const uint8_t head[DJ_JOURNAL_HEAD],
                      deja_error *err)
{
    uint8_t right[DJ_JOURNAL_HEAD];
    struct dj_file_name shown = name_of(j);
    encode_head(j, right);
    if (memcmp(head, MAGIC, 8) != 0)
        return dj_folder_damaged(j->folder, shown.text, "not a journal (bad magic)", err);
    if (dj_load32(head + 8) > VERSION)
        return dj_fail(err, DEJA_EVERSION, "%s/%s: version %u; this deja reads version %u",
                       j->folder->path, shown.text, dj_load32(head + 8), VERSION);
    if (memcmp(head, right, IDENTITY_SUM + SUM_LEN) != 0)
        return dj_folder_damaged(j->folder, shown.text,
                                 "its head is damaged, or it belongs to another sieve", err);
    return DEJA_OK;
}

static void encode_mark(const struct dj_journal *j, uint64_t mark, uint64_t durable,
                        uint8_t out[MARK_LEN])
{
    uint8_t identity[16];
    dj_store64(identity, j->id);
    dj_store64(identity + 8, j->number);
    dj_store64(out, mark);
    dj_store64(out + 8, durable);
    const deja_slice covered[] = {{out, 16}, {identity, sizeof identity}};
    dj_store64(out + 16, dj_checksum_pieces(covered, 2));
}

static bool is_valid_mark(const struct dj_journal *j, const uint8_t mark[MARK_LEN])
{
    uint8_t right[MARK_LEN];
    encode_mark(j, dj_load64(mark), dj_load64(mark + 8), right);
    return memcmp(mark, right, MARK_LEN) == 0;
}

/* Takes the newer of the two marks. A mark of zeros is not valid. */
static void read_marks(struct dj_journal *j, const uint8_t head[DJ_JOURNAL_HEAD])
{
    for (int i = 0; i < 2; i++) {
        const uint8_t *p = head + (i ? MARK_B : MARK_A);
        if (is_valid_mark(j, p) && dj_load64(p) > j->marks) {
            j->marks = dj_load64(p);
            j->durable = dj_load64(p + 8);
        }
    }
}

/* Where the head has a byte that it must not have; DJ_JOURNAL_HEAD: nowhere. */
static size_t find_damage(const struct dj_journal *j, uint8_t head[DJ_JOURNAL_HEAD])
{
    static const uint8_t never_written[MARK_LEN];
    static const size_t marks[] = {MARK_A, MARK_B};
    size_t at = IDENTITY_SUM + SUM_LEN; /* dj_journal_open has checked the identity */
    for (size_t i = 0; i < DJ_ARRAY_LEN(marks); i++) {
        uint8_t *mark = head + marks[i];
        if (memcmp(mark, never_written, MARK_LEN) != 0 && !is_valid_mark(j, mark))
            return marks[i];
        memset(mark, 0, MARK_LEN);
    }
    while (at < DJ_JOURNAL_HEAD && !head[at])
        at++;
    return at;
}

int dj_journal_verify_head(const struct dj_journal *j, deja_error *err)
{
    static const struct timespec tick = {0, 1000000};
    uint8_t head[DJ_JOURNAL_HEAD];
    size_t at = 0;
    for (int i = 0; i < ATTEMPTS; i++) {
        const ssize_t got = dj_read_at(j->fd, head, sizeof head, 0);
        if (got < (ssize_t)sizeof head)
            return failed(j, "cannot read it", err);
        at = find_damage(j, head);
        if (at != MARK_A && at != MARK_B)
            break;
        nanosleep(&tick, NULL); /* a writer may be writing this mark now */
    }
    return at == DJ_JOURNAL_HEAD ? DEJA_OK : damaged_at(j, at, err);
}

int dj_journal_create(struct dj_journal *j, const struct dj_folder *folder, const char *type,
                      uint64_t number, uint64_t id, deja_error *err)
{
    uint8_t head[DJ_JOURNAL_HEAD];
    *j = (struct dj_journal){.folder = folder,
                             .type = type,
                             .number = number,
                             .id = id,
                             .fd = -1,
                             .len = DJ_JOURNAL_HEAD,
                             .durable = DJ_JOURNAL_HEAD};
    const struct dj_file_name name = name_of(j);
    encode_head(j, head);
    dj_folder_remove(folder, name.text); /* left by an attempt that failed */
    j->fd = openat(folder->fd, name.text, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (j->fd < 0)
        return failed(j, "cannot create it", err);
    if (!dj_write_at(j->fd, head, sizeof head, 0) || dj_os_sync_data(j->fd) < 0) {
        const int rc = failed(j, "cannot write it", err);
        dj_folder_remove(folder, name.text);
        dj_journal_close(j);
        return rc;
    }
    return DEJA_OK;
}

int dj_journal_open(struct dj_journal *j, const struct dj_folder *folder, const char *type,
                    uint64_t number, uint64_t id, bool write, deja_error *err)
{
    uint8_t head[DJ_JOURNAL_HEAD];
    *j = (struct dj_journal){.folder = folder,
                             .type = type,
                             .number = number,
                             .id = id,
                             .fd = -1,
                             .len = DJ_JOURNAL_HEAD,
                             .durable = DJ_JOURNAL_HEAD};
    const struct dj_file_name name = name_of(j);
    j->fd = openat(folder->fd, name.text, (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC, 0);
    if (j->fd < 0)
        return errno == ENOENT ? dj_folder_damaged(folder, name.text, "this file is missing", err)
                               : failed(j, "cannot open it", err);
    const ssize_t got = dj_read_at(j->fd, head, sizeof head, 0);
    int rc = got < 0                      ? failed(j, "cannot read it", err)
             : got < (ssize_t)sizeof head ? dj_folder_damaged(folder, name.text, "truncated", err)
                                          : check_head(j, head, err);
    if (rc == DEJA_OK)
        read_marks(j, head);
    else
        dj_journal_close(j);
    return rc;
}

void dj_journal_close(struct dj_journal *j)
{
    if (j->fd >= 0)
        close(j->fd);
    j->fd = -1;
}

/* --- Writing ------------------------------------------------------------------- */

static uint64_t batch_sum(const struct dj_journal *j, const uint8_t *head, const void *payload,
                          size_t len)
{
    uint8_t identity[16];
    dj_store64(identity, j->id);
    dj_store64(identity + 8, j->number);
    const deja_slice covered[] = {
        {head, DJ_BATCH_HEAD - 8}, {identity, sizeof identity}, {payload, len}};
    return dj_checksum_pieces(covered, 3);
}

static int refuse_failed(const struct dj_journal *j, deja_error *err)
{
    errno = EIO;
    return dj_fail(err, DEJA_EIO,
                   "%s/%s: an earlier write failed, and what the disk has is unknown: open the "
                   "sieve again",
                   j->folder->path, name_of(j).text);
}

void dj_journal_cut(struct dj_journal *j, uint64_t len, uint64_t batches)
{
    /* If a later batch stayed in the file, it could follow a new one seamlessly. */
    if (ftruncate(j->fd, (off_t)len) < 0)
        j->failed = true;
    j->len = len;
    j->batches = batches;
}

int dj_journal_append(struct dj_journal *j, uint8_t *batch, size_t len, uint32_t count,
                      deja_error *err)
{
    if (j->failed)
        return refuse_failed(j, err);
    dj_store32(batch, BATCH_MAGIC);
    dj_store32(batch + 4, count);
    dj_store64(batch + 8, len);
    dj_store64(batch + 16, j->batches);
    dj_store64(batch + 24, batch_sum(j, batch, batch + DJ_BATCH_HEAD, len));
    if (!dj_write_at(j->fd, batch, DJ_BATCH_HEAD + len, j->len)) {
        const int rc = failed(j, "cannot write it", err);
        const int saved = errno;
        dj_journal_cut(j, j->len, j->batches);
        errno = saved;
        return rc;
    }
    j->len += DJ_BATCH_HEAD + len;
    j->batches++;
    return DEJA_OK;
}

int dj_journal_sync(struct dj_journal *j, deja_error *err)
{
    if (j->failed)
        return refuse_failed(j, err);
    if (j->durable == j->len)
        return DEJA_OK;
    /* After a failed sync, the system may drop the pages, and the next sync succeeds without them. */
    if (dj_os_sync_data(j->fd) < 0) {
        j->failed = true;
        return failed(j, "cannot sync it", err);
    }
    uint8_t mark[MARK_LEN];
    encode_mark(j, j->marks + 1, j->len, mark);
    j->durable = j->len;
    /* If this fails, the older mark promises less. */
    if (dj_write_at(j->fd, mark, sizeof mark, (j->marks + 1) % 2 ? MARK_A : MARK_B))
        j->marks++;
    return DEJA_OK;
}

/* --- Reading ------------------------------------------------------------------- */

void dj_batches_init(struct dj_batches *b, const struct dj_journal *j, const deja_allocator *alloc)
{
    *b = (struct dj_batches){.journal = j, .at = DJ_JOURNAL_HEAD, .alloc = alloc};
}

void dj_batches_fini(struct dj_batches *b)
{
    dj_free(b->alloc, b->data, b->cap);
    b->data = NULL;
    b->cap = 0;
}

static int make_room(struct dj_batches *b, size_t len, deja_error *err)
{
    if (len <= b->cap)
        return DEJA_OK;
    dj_batches_fini(b);
    b->data = dj_alloc(b->alloc, len, 64);
    if (!b->data)
        return dj_fail_memory(err);
    b->cap = len;
    return DEJA_OK;
}

/* There is no complete batch here. */
static int end(const struct dj_batches *b, deja_error *err)
{
    return b->at < b->journal->durable ? damaged_at(b->journal, b->at, err) : 0;
}

int dj_batches_next(struct dj_batches *b, deja_error *err)
{
    const struct dj_journal *j = b->journal;
    uint8_t head[DJ_BATCH_HEAD];
    struct stat st;
    ssize_t got = dj_read_at(j->fd, head, sizeof head, b->at);
    if (got < 0 || fstat(j->fd, &st) < 0)
        return failed(j, "cannot read it", err);
    const uint64_t len = dj_load64(head + 8), rest = (uint64_t)st.st_size - b->at;
    if (got < DJ_BATCH_HEAD || dj_load32(head) != BATCH_MAGIC ||
        dj_load64(head + 16) != b->number || (uint64_t)st.st_size < b->at + DJ_BATCH_HEAD ||
        len > rest - DJ_BATCH_HEAD || len > SIZE_MAX / 2)
        return end(b, err);
    const int rc = make_room(b, (size_t)len, err);
    if (rc < 0)
        return rc;
    got = dj_read_at(j->fd, b->data, (size_t)len, b->at + DJ_BATCH_HEAD);
    if (got < 0)
        return failed(j, "cannot read it", err);
    if ((uint64_t)got != len || dj_load64(head + 24) != batch_sum(j, head, b->data, (size_t)len))
        return end(b, err);
    b->len = (size_t)len;
    b->count = dj_load32(head + 4);
    b->at += DJ_BATCH_HEAD + len;
    b->number++;
    return 1;
}

int dj_journal_trim(struct dj_journal *j, const struct dj_batches *b, bool write, deja_error *err)
{
    struct stat st;
    if (fstat(j->fd, &st) < 0)
        return failed(j, "cannot read it", err);
    j->len = b->at;
    j->batches = b->number;
    if (write && (uint64_t)st.st_size > j->len && ftruncate(j->fd, (off_t)j->len) < 0)
        return failed(j, "cannot cut off an incomplete batch", err);
    return DEJA_OK;
}
