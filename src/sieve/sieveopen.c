/* sieveopen.c - opens, creates, closes and verifies sieves.
 *
 * A writer locks the file `lock`, because the manifest is replaced again and again, and the
 * directory, because people delete files called lock.  It deletes files that the manifest does not
 * list: a crash has left them.
 *
 * A reader takes no lock.  Once it has opened all files that a manifest lists, they are a consistent
 * set, and stay so even if they are deleted.  If one of them is missing and the manifest has been
 * replaced in the meantime, the reader starts again. */
#include "core/base/bytes.h"
#include "core/base/status.h"
#include "filter/filter.h"
#include "sieve/sieve.h"
#include "store/open.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define LEAST_MEMORY   ((uint64_t)1 << 20)
#define DEFAULT_MEMORY ((uint64_t)256 << 20)

enum {
    ATTEMPTS = 100, /* of a reader that a writer gets in the way of */
    FIRST_LOG = 1,  /* numbers of the files of a new sieve */
    FIRST_SPOOL,
    FIRST_FREE
};

static void close_files(deja_sieve *s)
{
    for (size_t i = 0; s->runs && i < s->runs->n; i++)
        dj_run_close(&s->runs->run[i], s->alloc);
    if (s->runs)
        s->runs->n = 0;
    dj_journal_close(&s->log);
    dj_journal_close(&s->spool);
    if (s->manifest_fd >= 0)
        close(s->manifest_fd);
    s->manifest_fd = -1;
    dj_recent_clear(&s->recent);
    s->n_pending = 0;
}

void deja_sieve_free(deja_sieve *s)
{
    if (!s)
        return;
    dj_compactor_fini(s);
    close_files(s);
    dj_settle_reset(s);
    dj_recent_fini(&s->recent);
    deja_filter_free(s->filter);
    dj_free(s->alloc, s->fresh, s->fresh_cap * sizeof *s->fresh);
    dj_free(s->alloc, s->handed, s->handed_cap * sizeof *s->handed);
    dj_free(s->alloc, s->pending, s->pending_cap * sizeof *s->pending);
    dj_free(s->alloc, s->which, s->which ? DEJA_SIEVE_BATCH * sizeof *s->which : 0);
    dj_free(s->alloc, s->runs, sizeof *s->runs);
    dj_free(s->alloc, s->spare, sizeof *s->spare);
    if (s->lock_fd >= 0)
        close(s->lock_fd); /* releases the lock */
    dj_folder_close(&s->folder);
    pthread_mutex_destroy(&s->lock);
    dj_free(s->alloc, s, sizeof *s);
}

int dj_sieve_options_read(const deja_sieve_options *opt, deja_sieve_options *known,
                          deja_error *err)
{
    *known = (deja_sieve_options)DEJA_SIEVE_OPTIONS_INIT;
    if (opt && opt->size < offsetof(deja_sieve_options, memory))
        return dj_fail(err, DEJA_EINVAL,
                       "options.size is %zu: initialize with DEJA_SIEVE_OPTIONS_INIT", opt->size);
    if (opt)
        memcpy(known, opt, opt->size < sizeof *known ? opt->size : sizeof *known);
    known->size = sizeof *known;
    for (size_t i = sizeof *known; opt && i < opt->size; i++)
        if (((const uint8_t *)opt)[i])
            return dj_fail(err, DEJA_EVERSION,
                           "options has a field that this version does not "
                           "know");
    const unsigned unknown = known->flags & ~(DEJA_KEY_APART | DEJA_SIEVE_NO_THREAD);
    if (unknown || known->reserved)
        return dj_fail_flags(err, unknown);
    if (!known->memory)
        known->memory = DEFAULT_MEMORY;
    if (known->memory < LEAST_MEMORY)
        return dj_fail(err, DEJA_EINVAL, "options.memory is %llu: a sieve needs at least %llu MiB",
                       (ull)known->memory, (ull)(LEAST_MEMORY >> 20));
    return DEJA_OK;
}

static int make(const deja_sieve_options *opt, const struct dj_shares *share, bool writes,
                deja_sieve **out, deja_error *err)
{
    deja_sieve *s = dj_alloc(opt->alloc, sizeof *s, 64);
    if (!s)
        return dj_fail_memory(err);
    s->alloc = dj_alloc_keep(opt->alloc, &s->alloc_copy);
    s->folder = (struct dj_folder){-1, NULL};
    s->lock_fd = s->manifest_fd = s->log.fd = s->spool.fd = -1;
    s->writes = writes;
    s->flags = opt->flags;
    s->memory = opt->memory;
    s->share = share ? *share : dj_shares_of(opt->memory);
    if (s->share.pending / sizeof *s->pending > DJ_MOST_PENDING)
        s->share.pending = DJ_MOST_PENDING * sizeof *s->pending;
    dj_recent_init(&s->recent, dj_recent_fit(s->share.recent + s->share.filter), s->alloc);
    if (pthread_mutex_init(&s->lock, NULL)) {
        dj_free(opt->alloc, s, sizeof *s);
        return dj_fail_memory(err);
    }
    s->runs = dj_alloc(s->alloc, sizeof *s->runs, 64);
    s->spare = dj_alloc(s->alloc, sizeof *s->spare, 64);
    if (writes)
        s->which = dj_alloc(s->alloc, DEJA_SIEVE_BATCH * sizeof *s->which, 64);
    *out = s;
    return s->runs && s->spare && (!writes || s->which) && dj_compactor_init(s) == 0
               ? DEJA_OK
               : dj_fail_memory(err);
}

/* Whether the options match the sieve; finds its key.  keyless: nobody will hash keys. */
static int check_manifest(deja_sieve *s, const deja_sieve_options *opt, bool keyless,
                          deja_error *err)
{
    const struct dj_manifest *m = &s->manifest;
    const char *path = s->folder.path;
    if (opt->seed && !opt->key)
        dj_key_from_seed(opt->seed, s->key);
    else if (opt->key)
        memcpy(s->key, opt->key, DEJA_KEY_LEN);
    else if (m->flags & DJ_SIEVE_SEEDED)
        dj_key_from_seed(m->seed, s->key);
    else if (m->flags & DEJA_KEY_APART && !keyless)
        return dj_fail(err, DEJA_EMISMATCH,
                       "%s does not contain its secret key: give the key (options.key)", path);
    else
        memcpy(s->key, m->key, DEJA_KEY_LEN);
    const bool given = opt->key || opt->seed;
    if (m->flags & DEJA_KEY_APART && keyless && !given)
        return DEJA_OK;
    if (dj_key_derive(s->key, DJ_STREAM_CHECK, 0) != m->key_check ||
        dj_printer_id(s->key) != m->id)
        return given ? dj_fail(err, DEJA_EMISMATCH, "%s was made with another secret key", path)
                     : dj_folder_damaged(&s->folder, DJ_MANIFEST, "its key is damaged", err);
    dj_printer_init(&s->printer, s->key);
    return opt->url ? dj_open_url_rules(m->profile, m->url_rules, opt->url, path, err) : DEJA_OK;
}

/* Reads the log into `recent`. */
static int load_log(deja_sieve *s, deja_error *err)
{
    struct dj_batches b;
    int rc;
    dj_batches_init(&b, &s->log, s->alloc);
    while ((rc = dj_batches_next(&b, err)) > 0) {
        if (b.len != (size_t)b.count * DJ_PRINT_LEN) {
            rc = dj_folder_damaged(&s->folder, dj_file_name_of("log", s->log.number).text,
                                   "a batch is damaged", err);
            break;
        }
        if (dj_recent_reserve(&s->recent, b.count, true) < 0) {
            rc = dj_fail_memory(err);
            break;
        }
        for (size_t i = 0; i < b.count; i++) {
            const uint8_t *p = b.data + i * DJ_PRINT_LEN;
            dj_recent_add(&s->recent, &(deja_fingerprint){dj_load64(p), dj_load32(p + 8), 0});
        }
    }
    if (rc == 0)
        rc = dj_journal_trim(&s->log, &b, s->writes, err);
    dj_batches_fini(&b);
    return rc;
}

/* Reads the fingerprints of the pending keys; a reader only counts them. */
static int load_spool(deja_sieve *s, deja_error *err)
{
    struct dj_batches b;
    int rc;
    dj_batches_init(&b, &s->spool, s->alloc);
    while ((rc = dj_batches_next(&b, err)) > 0) {
        deja_slice batch = {b.data, b.len};
        struct dj_spooled e;
        uint32_t n = 0;
        const bool possible = b.count <= b.len / DJ_SPOOLED_LEAST;
        if (possible && s->writes &&
            !dj_sieve_grow(s, (void **)&s->pending, &s->pending_cap, s->n_pending + b.count,
                           sizeof *s->pending)) {
            rc = dj_fail_memory(err);
            break;
        }
        for (; possible && n < b.count && dj_spool_take(&batch, &e); n++) {
            e.print.tag = (uint32_t)s->n_pending;
            if (s->writes)
                s->pending[s->n_pending] = e.print;
            s->n_pending++;
        }
        if (n != b.count || batch.len || s->n_pending >= DJ_MOST_PENDING) {
            rc = dj_folder_damaged(&s->folder, dj_file_name_of("spool", s->spool.number).text,
                                   "a batch is damaged", err);
            break;
        }
    }
    if (rc == 0)
        rc = dj_journal_trim(&s->spool, &b, s->writes, err);
    dj_batches_fini(&b);
    return rc;
}

/* Fields that never change need no lock. */
static void keep_identity(deja_sieve *s)
{
    s->id = s->manifest.id;
    s->seed = s->manifest.seed;
    s->made_with = s->manifest.flags;
}

/* Opens everything before anything long is read, so that a reader rarely finds a file gone. */
static int open_files(deja_sieve *s, deja_error *err)
{
    const struct dj_manifest *m = &s->manifest;
    int rc = dj_journal_open(&s->log, &s->folder, "log", m->log, m->id, s->writes, err);
    if (rc == DEJA_OK)
        rc = dj_journal_open(&s->spool, &s->folder, "spool", m->spool, m->id, s->writes, err);
    for (size_t i = 0; i < s->runs->n && rc == DEJA_OK; i++)
        rc = dj_run_open(&s->runs->run[i], &s->folder, m->id, s->alloc, err);
    return rc;
}

static int load_files(deja_sieve *s, const deja_sieve_options *opt, bool keyless, deja_error *err)
{
    int rc = check_manifest(s, opt, keyless, err);
    keep_identity(s);
    if (rc == DEJA_OK)
        rc = open_files(s, err);
    s->waited = s->manifest.waited;
    s->settled = s->manifest.settled;
    s->late = s->manifest.late;
    s->passes = s->manifest.passes;
    s->has_runs = s->runs->n > 0;
    if (rc == DEJA_OK && s->has_runs)
        dj_recent_init(&s->recent, dj_recent_fit(s->share.recent), s->alloc);
    if (rc == DEJA_OK)
        rc = load_log(s, err);
    if (rc == DEJA_OK)
        rc = load_spool(s, err);
    return rc;
}

/* Whether the manifest is still the one that was read. */
static bool is_current(const deja_sieve *s)
{
    return dj_is_named(s->folder.fd, DJ_MANIFEST, 0, s->manifest_fd);
}

int dj_sieve_check_named(deja_sieve *s, deja_error *err)
{
    char path[4096];
    pthread_mutex_lock(&s->lock); /* the compactor replaces the manifest, too */
    const bool current = is_current(s);
    const int saved = errno;
    pthread_mutex_unlock(&s->lock);
    if (current)
        return DEJA_OK;
    (void)snprintf(path, sizeof path, "%s/%s", s->folder.path, DJ_MANIFEST);
    errno = saved;
    return dj_fail_moved(path, err);
}

/* A writer may delete files that the manifest listed when this reader read it: start again. */
static int open_reader(deja_sieve *s, const deja_sieve_options *opt, bool keyless, deja_error *err)
{
    for (int i = 0; i < ATTEMPTS; i++) {
        deja_error why = {0};
        int rc = dj_manifest_read(&s->folder, &s->manifest, s->runs, &s->manifest_fd, &why);
        const bool read = rc == DEJA_OK;
        if (read)
            rc = load_files(s, opt, keyless, &why);
        if (rc == DEJA_OK || !read || is_current(s)) {
            if (rc < 0 && err)
                *err = why;
            return rc;
        }
        close_files(s);
    }
    return dj_fail(err, DEJA_EBUSY, "%s changes too fast to be read", s->folder.path);
}

/* Whether this is a name of a run or journal. */
static bool is_numbered(const char *name)
{
    static const char *const types[] = {"run-", "log-", "spool-"};
    for (size_t i = 0; i < DJ_ARRAY_LEN(types); i++) {
        const size_t len = strlen(types[i]);
        if (strncmp(name, types[i], len) == 0)
            return name[len] && strspn(name + len, "0123456789") == strlen(name + len);
    }
    return false;
}

/* Whether this is `.NAME.PID.new`, the temporary name of a file of a sieve (replace.c). */
static bool is_temporary(const char *name)
{
    static const char end[] = ".new";
    const size_t len = strlen(name), end_len = sizeof end - 1;
    char of[256];
    if (name[0] != '.' || len <= end_len || len > sizeof of ||
        strcmp(name + len - end_len, end) != 0)
        return false;
    memcpy(of, name + 1, len - 1 - end_len);
    of[len - 1 - end_len] = '\0';
    char *pid = strrchr(of, '.');
    if (!pid || !pid[1] || strspn(pid + 1, "0123456789") != strlen(pid + 1))
        return false;
    *pid = '\0';
    return is_numbered(of) || strcmp(of, DJ_MANIFEST) == 0 || strcmp(of, DJ_FILTER_FILE) == 0;
}

static bool is_live(const deja_sieve *s, const char *name)
{
    if (strcmp(name, dj_file_name_of("log", s->manifest.log).text) == 0 ||
        strcmp(name, dj_file_name_of("spool", s->manifest.spool).text) == 0)
        return true;
    for (size_t i = 0; i < s->runs->n; i++)
        if (strcmp(name, dj_file_name_of("run", s->runs->run[i].number).text) == 0)
            return true;
    return false;
}

static bool remove_leftover(void *sieve, const char *name)
{
    const deja_sieve *s = sieve;
    if (is_temporary(name) || (is_numbered(name) && !is_live(s, name)))
        dj_folder_remove(&s->folder, name);
    return true;
}

/* A file in a directory without a manifest. */
struct stranger {
    const deja_sieve *s;
    char name[256]; /* empty: none */
};

/* Finds a file that a creation that was interrupted cannot have left: it makes the first log and
 * spool, without any batch. */
static bool is_no_stranger(void *found, const char *name)
{
    struct stranger *f = found;
    struct stat st;
    if (strcmp(name, DJ_LOCK_FILE) == 0 || is_temporary(name) ||
        ((strcmp(name, dj_file_name_of("log", FIRST_LOG).text) == 0 ||
          strcmp(name, dj_file_name_of("spool", FIRST_SPOOL).text) == 0) &&
         fstatat(f->s->folder.fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode) &&
         st.st_size <= DJ_JOURNAL_HEAD))
        return true;
    (void)snprintf(f->name, sizeof f->name, "%s", name);
    return false;
}

bool dj_sieve_owns(const char *name)
{
    return is_numbered(name) || is_temporary(name) || strcmp(name, DJ_LOCK_FILE) == 0 ||
           strcmp(name, DJ_MANIFEST) == 0 || strcmp(name, DJ_FILTER_FILE) == 0;
}

/* Nothing that is in the directory may be lost: neither a sieve nor anything else. */
static int check_empty(const deja_sieve *s, deja_error *err)
{
    struct stranger found = {s, ""};
    const int rc = dj_folder_list(&s->folder, is_no_stranger, &found, err);
    if (rc < 0 || !found.name[0])
        return rc;
    if (is_numbered(found.name) || strcmp(found.name, DJ_MANIFEST) == 0 ||
        strcmp(found.name, DJ_FILTER_FILE) == 0)
        return dj_fail(err, DEJA_EFORMAT,
                       "%s/%s is missing, but %s is there; restore the sieve from a "
                       "backup, or choose another directory",
                       s->folder.path, DJ_MANIFEST, found.name);
    return dj_fail(err, DEJA_EINVAL, "%s is not a sieve and not empty: choose another directory",
                   s->folder.path);
}

static int create(deja_sieve *s, const deja_sieve_options *opt, deja_error *err)
{
    struct dj_manifest *m = &s->manifest;
    deja_options key = DEJA_OPTIONS_INIT;
    bool taken;
    key.key = opt->key;
    key.seed = opt->seed;
    int rc = check_empty(s, err);
    if (rc == DEJA_OK)
        rc = dj_filter_key(&key, s->key, err);
    if (rc < 0)
        return rc;
    dj_printer_init(&s->printer, s->key);
    *m = (struct dj_manifest){.flags = opt->flags & DEJA_KEY_APART,
                              .seed = opt->key ? 0 : opt->seed,
                              .key_check = dj_key_derive(s->key, DJ_STREAM_CHECK, 0),
                              .id = dj_printer_id(s->key),
                              .profile = opt->url ? deja_url_rules_profile(opt->url) : 0,
                              .url_rules = opt->url ? deja_url_rules_id(opt->url) : 0,
                              .next = FIRST_FREE,
                              .log = FIRST_LOG,
                              .spool = FIRST_SPOOL};
    if (m->seed)
        m->flags |= DJ_SIEVE_SEEDED;
    if (!m->flags)
        memcpy(m->key, s->key, DEJA_KEY_LEN);
    keep_identity(s);
    rc = dj_journal_create(&s->log, &s->folder, "log", m->log, m->id, err);
    if (rc == DEJA_OK)
        rc = dj_journal_create(&s->spool, &s->folder, "spool", m->spool, m->id, err);
    if (rc == DEJA_OK)
        rc = dj_folder_sync(&s->folder, err);
    s->spare->n = 0;
    return rc == DEJA_OK ? dj_sieve_publish(s, m, &taken, err) : rc;
}

/* Whether nobody else has locked this file; some file systems cannot lock directories. */
static int take_lock(const struct dj_folder *folder, int fd, bool can_fail, deja_error *err)
{
    while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
        if (errno == EWOULDBLOCK)
            return dj_fail(err, DEJA_EBUSY,
                           "%s is in use by another process that writes it: wait for it, or use "
                           "another sieve",
                           folder->path);
        if (errno != EINTR)
            return can_fail ? DEJA_OK
                            : dj_folder_failed(folder, DJ_LOCK_FILE, "cannot lock it", err);
    }
    return DEJA_OK;
}

int dj_sieve_lock(const struct dj_folder *folder, int *fd, deja_error *err)
{
    *fd = openat(folder->fd, DJ_LOCK_FILE, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (*fd < 0)
        return dj_folder_failed(folder, DJ_LOCK_FILE, "cannot open it for writing", err);
    const int rc = take_lock(folder, *fd, false, err);
    return rc == DEJA_OK ? take_lock(folder, folder->fd, true, err) : rc;
}

static int open_writer(deja_sieve *s, bool may_create, const deja_sieve_options *opt,
                       deja_error *err)
{
    deja_error why = {0};
    int rc = dj_sieve_lock(&s->folder, &s->lock_fd, err);
    if (rc < 0)
        return rc;
    rc = dj_manifest_read(&s->folder, &s->manifest, s->runs, &s->manifest_fd, &why);
    if (rc == DEJA_EIO && errno == ENOENT && may_create)
        return create(s, opt, err);
    if (rc < 0) {
        if (err)
            *err = why;
        return rc;
    }
    rc = load_files(s, opt, false, err);
    if (rc == DEJA_OK)
        rc = dj_folder_list(&s->folder, remove_leftover, s, err);
    if (rc == DEJA_OK && s->recent.n > dj_recent_most(&s->recent))
        rc = dj_sieve_flush(s, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_need_filter(s, err);
    if (rc == DEJA_OK)
        dj_compact(s);
    return rc;
}

bool deja_sieve_exists(const char *path)
{
    char name[4096];
    struct stat st;
    return snprintf(name, sizeof name, "%s/%s", path, DJ_MANIFEST) < (int)sizeof name &&
           stat(name, &st) == 0 && S_ISREG(st.st_mode);
}

static int open_any(const char *path, unsigned flags, const deja_sieve_options *opt,
                    const struct dj_shares *share, bool keyless, deja_sieve **out, deja_error *err)
{
    const unsigned unknown = flags & ~(DEJA_OPEN_WRITE | DEJA_OPEN_CREATE);
    const bool writes = flags & (DEJA_OPEN_WRITE | DEJA_OPEN_CREATE);
    const bool may_create = flags & DEJA_OPEN_CREATE;
    deja_sieve_options known;
    deja_sieve *s = NULL;
    *out = NULL;
    int rc = unknown ? dj_fail_flags(err, unknown) : dj_sieve_options_read(opt, &known, err);
    if (rc == DEJA_OK)
        rc = make(&known, share, writes, &s, err);
    if (rc == DEJA_OK)
        rc = dj_folder_open(&s->folder, path, may_create, err);
    if (rc == DEJA_OK && !may_create && !deja_sieve_exists(path))
        rc = dj_fail(err, DEJA_EFORMAT, "%s is not a sieve: it has no manifest", path);
    if (rc == DEJA_OK)
        rc = writes ? open_writer(s, may_create, &known, err)
                    : open_reader(s, &known, keyless, err);
    if (rc < 0)
        deja_sieve_free(s);
    else
        *out = s;
    return rc;
}

int dj_sieve_open(const char *path, unsigned flags, const deja_sieve_options *opt,
                  const struct dj_shares *share, deja_sieve **out, deja_error *err)
{
    return open_any(path, flags, opt, share, false, out, err);
}

int deja_sieve_open(const char *path, unsigned flags, const deja_sieve_options *opt,
                    deja_sieve **out, deja_error *err)
{
    return open_any(path, flags, opt, NULL, false, out, err);
}

/* The copy of the filter: only if it is in use, and a crash may have left none. */
static int verify_filter(const deja_sieve *s, deja_error *err)
{
    deja_error why = {0};
    char name[4096];
    if (!s->manifest.filter_for || !is_current(s) ||
        snprintf(name, sizeof name, "%s/%s", s->folder.path, DJ_FILTER_FILE) >= (int)sizeof name)
        return DEJA_OK;
    const int rc = deja_file_verify(name, &why);
    if (rc == DEJA_OK || (rc == DEJA_EIO && errno == ENOENT))
        return DEJA_OK;
    if (rc == DEJA_EIO || rc == DEJA_ENOMEM)
        return dj_fail(err, rc, "%s", why.text);
    return dj_fail(err, DEJA_EFORMAT, "%.200s; delete it: it can be rebuilt", why.text);
}

int deja_sieve_verify(const char *path, deja_error *err)
{
    deja_sieve *s = NULL;
    int rc = open_any(path, 0, NULL, NULL, true, &s, err); /* reads the log and the spool */
    if (rc == DEJA_OK)
        rc = dj_journal_verify_head(&s->log, err);
    if (rc == DEJA_OK)
        rc = dj_journal_verify_head(&s->spool, err);
    if (rc == DEJA_OK)
        rc = dj_sieve_each(s, NULL, NULL, err);
    if (rc == DEJA_OK)
        rc = verify_filter(s, err);
    deja_sieve_free(s);
    return rc;
}
