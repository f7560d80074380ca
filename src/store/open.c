/* open.c - checks the header of a file and maps its bodies.
 *
 * Only the header is read, so opening takes the same time for any size.  The bodies are mapped:
 * several processes share one copy in memory, and readers see the keys that a writer adds.
 * deja_file_verify checks whether the bodies are as they were when synced. */
#include "store/open.h"
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filter/counts.h"
#include "filter/filter.h"
#include "filter/options.h"
#include "store/sync.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int read_page(int fd, uint8_t page[DJ_HEADER_LEN], const char *path, deja_error *err)
{
    const ssize_t have = dj_read_at(fd, page, DJ_HEADER_LEN, 0);
    if (have < 0)
        return dj_fail_errno(err, "%s: cannot read", path);
    if ((size_t)have < DJ_HEADER_LEN)
        return dj_fail(err, DEJA_EFORMAT,
                       have ? "%s: not a deja filter file, or truncated (shorter than a header)"
                            : "%s: not a deja filter file (empty)",
                       path);
    return DEJA_OK;
}

static int open_locked(const char *path, bool write, int *out, deja_error *err)
{
    for (;;) {
        /* Non-blocking: a named pipe is refused below instead of blocking. */
        const int fd = open(path, (write ? O_RDWR : O_RDONLY) | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
            return errno == EISDIR ? dj_fail(err, DEJA_EINVAL, "%s is a directory", path)
                                   : dj_fail_errno(err, "%s: cannot open", path);
        struct stat st;
        if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
            close(fd);
            return dj_fail(err, DEJA_EINVAL,
                           S_ISDIR(st.st_mode)
                               ? "%s is not a regular file, and not a sieve: it has no manifest"
                               : "%s is not a regular file",
                           path);
        }
        /* Between open and lock, another process may have renamed its own file to this path. */
        const int rc = write ? dj_file_lock(fd, path, err) : DEJA_OK;
        if (rc == DEJA_OK && (!write || dj_is_named(AT_FDCWD, path, 0, fd))) {
            *out = fd;
            return DEJA_OK;
        }
        close(fd);
        if (rc < 0)
            return rc;
    }
}

static int check_length(int fd, const struct dj_header *h, const char *path, deja_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return dj_fail_errno(err, "%s: cannot stat", path);
    const uint64_t have = (uint64_t)st.st_size;
    if (have < h->file_len)
        return dj_fail(err, DEJA_EFORMAT,
                       "%s is truncated: %llu bytes of %llu; restore it from a copy or rebuild it",
                       path, (ull)have, (ull)h->file_len);
    if (have > h->file_len)
        return dj_fail(
            err, DEJA_EFORMAT,
            "%s is longer than its header says: %llu bytes instead of %llu; restore it from a "
            "copy or rebuild it",
            path, (ull)have, (ull)h->file_len);
    return DEJA_OK;
}

int dj_open_records(const struct dj_header *h, bool repair, deja_error *err)
{
    for (int i = 0; i < 2; i++)
        if (!h->record_ok[i] && !repair)
            return dj_fail(
                err, DEJA_EFORMAT,
                "sync record %c is damaged, but the keys may be intact: repair the file "
                "(DEJA_OPEN_REPAIR) to trust the other record and recount the keys",
                'A' + i);
    return dj_header_latest(h)
               ? DEJA_OK
               : dj_fail(
                     err, DEJA_EFORMAT,
                     "both sync records are damaged: restore the file from a copy or rebuild it");
}

static int read_header_once(int fd, const char *path, bool repair, uint8_t page[DJ_HEADER_LEN],
                            struct dj_header *h, deja_error *err)
{
    deja_error why = {0};
    int rc = read_page(fd, page, path, err);
    if (rc < 0)
        return rc;
    rc = dj_header_decode(page, h, &why);
    if (rc == DEJA_OK)
        rc = dj_open_records(h, repair, &why);
    return rc < 0 ? dj_fail(err, rc, "%s: %s", path, why.text) : DEJA_OK;
}

/* Whether no process has the file open for writing. */
static bool is_at_rest(int fd)
{
    const bool alone = flock(fd, LOCK_SH | LOCK_NB) == 0;
    if (alone)
        flock(fd, LOCK_UN);
    return alone;
}

/* Reads and checks a header.  A writer may be in the middle of a sync record: a header counts as
 * damaged only if no process is writing, or if it looks damaged for a tenth of a second. */
static int read_header(int fd, const char *path, unsigned flags, uint8_t page[DJ_HEADER_LEN],
                       struct dj_header *h, deja_error *err)
{
    const bool repair = flags & DEJA_OPEN_REPAIR;
    int rc = read_header_once(fd, path, repair, page, h, err);
    for (int tries = 0; rc == DEJA_EFORMAT && !(flags & DEJA_OPEN_WRITE) && tries < 100; tries++) {
        const bool last = is_at_rest(fd);
        if (!last)
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        rc = read_header_once(fd, path, repair, page, h, err);
        if (last)
            break;
    }
    return rc < 0 ? rc : check_length(fd, h, path, err);
}

/* Every sync uses up a sequence number; after the last one, the file could not be opened. */
static int check_sequence(const struct dj_header *h, const char *path, deja_error *err)
{
    const uint64_t sequence = dj_header_latest(h)->sequence;
    if (sequence <= DJ_MAX_SEQUENCE - DJ_SEQUENCE_ROOM)
        return DEJA_OK;
    return dj_fail(err, DEJA_EFORMAT,
                   "%s: its sync sequence, %llu, leaves no room for writing: copy the filter to a "
                   "new file (deja_filter_copy) and write that",
                   path, (ull)sequence);
}

/* With different rules, a known URL could have a different canonical form and would not be
 * found. */
int dj_open_url_rules(uint32_t have, uint64_t have_rules, const deja_url_rules *want,
                      const char *path, deja_error *err)
{
    const uint32_t profile = deja_url_rules_profile(want);
    const char *name = deja_profile_name(have);
    if (have == 0)
        return dj_fail(err, DEJA_EMISMATCH,
                       "%s holds bytes as given, not URLs of profile %s: omit the profile, or "
                       "build the filter again with it",
                       path, deja_profile_name(profile));
    if (have != profile)
        return dj_fail(err, DEJA_EMISMATCH,
                       "%s holds URLs of profile %s, not %s: omit the profile to use its own",
                       path, name ? name : "unknown", deja_profile_name(profile));
    if (have_rules != deja_url_rules_id(want))
        return dj_fail(err, DEJA_EMISMATCH,
                       "%s holds URLs of profile %s with different rules: another list of "
                       "parameters, another version of the profile, or only one build has IDNA",
                       path, name);
    return DEJA_OK;
}

/* Reports that a file was made with a different value of this option. */
static int other_value(const deja_option *o, const deja_options *have, const deja_options *want,
                       const char *name, deja_error *err)
{
    char was[DEJA_OPTION_TEXT], asked[DEJA_OPTION_TEXT];
    if (!deja_option_given(o, have))
        return dj_fail(err, DEJA_EMISMATCH, "%s was made without options.%s", name, o->name);
    const int was_len = (int)deja_option_print(o, have, was);
    const int asked_len = (int)deja_option_print(o, want, asked);
    if (o->type == DEJA_OPTION_CHAR || !asked_len) /* not printable, or not a valid choice */
        return dj_fail(err, DEJA_EMISMATCH, "%s was made with another options.%s", name, o->name);
    return dj_fail(err, DEJA_EMISMATCH, "%s was made with options.%s %.*s, not %.*s", name,
                   o->name, was_len, was, asked_len, asked);
}

int dj_open_expected(const struct dj_header *h, const deja_options *want, const char *name,
                     deja_error *err)
{
    const struct dj_kind *kind = h->plan.kind, *parts = h->plan.part_kind;
    const bool grows = dj_kind_can(kind, DEJA_CAN_GROW);
    deja_options have = dj_plan_options(&h->plan);
    size_t i = 0;
    if (want->kind && want->kind != kind->number && !(grows && want->kind == parts->number))
        return dj_fail(err, DEJA_EMISMATCH, "%s is of kind %s%s%s, not %s", name, kind->name,
                       grows ? " with parts of kind " : "", grows ? parts->name : "",
                       deja_kind_name(want->kind) ? deja_kind_name(want->kind) : "that");
    have.kind = want->kind;
    have.key = want->key; /* dj_open_key compares it, and the seed */
    have.seed = want->seed;
    have.url = want->url;
    for (const deja_option *row = deja_option_at(0); row; row = deja_option_at(++i))
        if (row->compared && dj_option_differs(row, want, &have))
            return other_value(row, &have, want, name, err);
    return want->url ? dj_open_url_rules(h->plan.profile, h->plan.url_rules, want->url, name, err)
                     : DEJA_OK;
}

int dj_open_key(const struct dj_header *h, const deja_options *want, const char *name,
                uint8_t key[DEJA_KEY_LEN], deja_error *err)
{
    const bool apart = h->plan.flags & DEJA_KEY_APART;
    if (want->seed && !want->key) {
        dj_key_from_seed(want->seed, key);
        return dj_key_derive(key, DJ_STREAM_CHECK, 0) == h->key_check
                   ? DEJA_OK
                   : dj_fail(err, DEJA_EMISMATCH, "%s was not made with the seed %llu", name,
                             (ull)want->seed);
    }
    if (apart && !want->key)
        return dj_fail(err, DEJA_EMISMATCH,
                       "%s does not contain its secret key: give the key (options.key)", name);
    memcpy(key, want->key ? want->key : h->key, DEJA_KEY_LEN);
    if (dj_key_derive(key, DJ_STREAM_CHECK, 0) == h->key_check)
        return DEJA_OK;
    return want->key ? dj_fail(err, DEJA_EMISMATCH, "%s was made with another secret key", name)
                     : dj_fail(err, DEJA_EFORMAT, "%s: the key is damaged", name);
}

void dj_open_counts(deja_filter *f, const struct dj_header *h)
{
    struct dj_record r = *dj_header_latest(h);
    f->syncs = r.syncs;
    f->unclean = r.state != DJ_SEALED || !h->record_ok[0] || !h->record_ok[1];
    dj_counts_take(f, &r);
    /* A reader recounts on request (stats.c): opening must not read the bodies. */
    if (f->unclean && !f->read_only) {
        dj_counts_recount(f, &r);
        dj_counts_take(f, &r);
    }
}

void dj_open_part(deja_filter *f, const struct dj_header *h, uint32_t i)
{
    struct dj_part *p = f->part[i];
    p->kind = h->part[i].kind;
    p->shape = h->part[i].shape;
    p->capacity = h->part[i].capacity;
    p->fp_rate = h->part[i].fp_rate;
    p->layer = h->part[i].layer;
    p->origin = h->part[i].origin;
    p->step = h->part[i].step;
    p->marked = h->part[i].marked;
    p->stride = dj_plan_stride(&f->plan, i);
}

static int attach(deja_filter *f, struct dj_file *file, const struct dj_header *h, bool write,
                  deja_error *err)
{
    f->owner = &dj_file_ops;
    f->store = file;
    f->read_only = !write;
    if (!dj_filter_make_parts(f, h->n_parts))
        return dj_fail_memory(err);
    for (uint32_t i = 0; i < h->n_parts; i++)
        dj_open_part(f, h, i);
    uint8_t *map;
    const int rc = dj_map(file->fd, h->file_len, write, file->path, &map, err);
    if (rc < 0)
        return rc;
    dj_file_adopt(f, h, map);
    file->stamp = dj_load64(file->page + DJ_HEADER_SUM); /* of the header that was checked */
    file->sequence = dj_header_latest(h)->sequence;
    dj_open_counts(f, h);
    if (!f->unclean)
        dj_table_trust(&file->table, h->n_parts, dj_header_latest(h)->checksum);
    return dj_file_check(file, err);
}

int deja_filter_open(const char *path, unsigned flags, const deja_options *expect,
                     deja_filter **out, deja_error *err)
{
    const bool write = flags & DEJA_OPEN_WRITE;
    deja_options want;
    struct dj_header h;
    uint8_t key[DEJA_KEY_LEN];
    deja_filter *f = NULL;
    *out = NULL;
    if (flags & ~(DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR))
        return dj_fail_flags(err, flags & ~(DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR));
    int rc = dj_options_read(expect, &want, err);
    if (rc < 0)
        return rc;
    struct dj_file *file = dj_file_make(path, want.alloc);
    if (!file)
        return dj_fail_memory(err);
    rc = open_locked(path, write, &file->fd, err);
    if (rc == DEJA_OK)
        rc = read_header(file->fd, path, flags, file->page, &h, err);
    if (rc == DEJA_OK && write)
        rc = check_sequence(&h, path, err);
    if (rc == DEJA_OK)
        rc = dj_open_expected(&h, &want, path, err);
    if (rc == DEJA_OK)
        rc = dj_open_key(&h, &want, path, key, err);
    if (rc == DEJA_OK && !(f = dj_filter_make(&h.plan, key, want.alloc)))
        rc = dj_fail_memory(err);
    if (rc == DEJA_OK)
        rc = attach(f, file, &h, write, err);
    if (rc < 0) {
        if (f)
            dj_filter_unmake(f);
        dj_file_free(file, want.alloc);
        return rc;
    }
    *out = f;
    return DEJA_OK;
}

/* Only a reader of a time window needs newer records, to know which generations have expired.  In
 * a window by keys, it searches every generation anyway. */
bool dj_file_follow(deja_filter *f, bool take)
{
    struct dj_file *file = f->store;
    struct dj_header h;
    uint8_t page[DJ_HEADER_LEN];
    if (!f->read_only || !f->plan.window_seconds)
        return false;
    const uint64_t a = dj_load64(file->map + DJ_RECORD_A);
    const uint64_t b = dj_load64(file->map + DJ_RECORD_A + DJ_RECORD_LEN);
    if ((a > b ? a : b) == file->sequence)
        return false;
    if (!take)
        return true;
    memcpy(page, file->map, sizeof page); /* if a write is in progress, retry at the next call */
    const struct dj_record *r =
        dj_header_decode(page, &h, NULL) == DEJA_OK ? dj_header_latest(&h) : NULL;
    if (!r || r->sequence <= file->sequence)
        return false;
    file->sequence = r->sequence;
    f->plan.kind->follow(f, r);
    return true;
}

int dj_file_read(const char *path, struct dj_file **out, struct dj_header *h, deja_error *err)
{
    struct dj_file *file = dj_file_make(path, NULL);
    if (!file)
        return dj_fail_memory(err);
    int rc = open_locked(path, false, &file->fd, err);
    if (rc == DEJA_OK)
        rc = read_header(file->fd, path, 0, file->page, h, err);
    uint8_t *map;
    if (rc == DEJA_OK)
        rc = dj_map(file->fd, h->file_len, false, path, &map, err);
    if (rc < 0) {
        dj_file_free(file, NULL);
        return rc;
    }
    dj_file_take_map(file, map, h->file_len);
    file->stamp = dj_load64(file->page + DJ_HEADER_SUM);
    *out = file;
    return DEJA_OK;
}
