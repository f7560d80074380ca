/* test_sieve_faults.c - failing calls, two writers, readers, a read-only directory: a sieve reports
 * what happened and loses no line. */
#include "child.h"
#include "core/base/os.h"
#include "sieving.h"
#include "unit.h"
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum {
    LINES = 1500
};

/* --- The n-th call fails -------------------------------------------------------------- */

static struct {
    const char *call; /* NULL: none fails */
    int at, error;    /* counts down; below 0: every call from then on fails */
} fault;

static bool fails(const char *call)
{
    if (!fault.call || strcmp(fault.call, call) != 0 || (fault.at > 0 && --fault.at > 0))
        return false;
    if (fault.at == 0 && fault.error > 0)
        fault.call = NULL; /* only this one */
    errno = abs(fault.error);
    return true;
}

ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    if (!fails("pwrite"))
        return syscall(SYS_pwrite64, fd, data, len, at);
    if (len > 1) /* half of it arrives */
        (void)!syscall(SYS_pwrite64, fd, data, len / 2, at);
    return -1;
}

static void write_in_between(void);

ssize_t pread(int fd, void *data, size_t len, off_t at)
{
    if (len == DJ_BATCH_HEAD)
        write_in_between();
    return fails("pread") ? -1 : syscall(SYS_pread64, fd, data, len, at);
}

int fsync(int fd)
{
    (void)fd; /* disks are slow */
    return fails("fsync") ? -1 : 0;
}

int fdatasync(int fd)
{
    (void)fd;
    return fails("fsync") ? -1 : 0;
}

int ftruncate(int fd, off_t len)
{
    return fails("ftruncate") ? -1 : (int)syscall(SYS_ftruncate, fd, len);
}

int linkat(int from_folder, const char *from, int to_folder, const char *name, int flags)
{
    return fails("rename") ? -1
                           : (int)syscall(SYS_linkat, from_folder, from, to_folder, name, flags);
}

int renameat2(int from_folder, const char *from, int to_folder, const char *name, unsigned flags)
{
    return fails("rename")
               ? -1
               : (int)syscall(SYS_renameat2, from_folder, from, to_folder, name, flags);
}

int openat(int folder, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = va_arg(ap, mode_t);
    va_end(ap);
    return fails("open") ? -1 : (int)syscall(SYS_openat, folder, name, flags, mode);
}

/* An allocator that fails when the others do. */
static void *fallible_alloc(void *ctx, size_t size, size_t align)
{
    void *p = NULL;
    (void)ctx;
    return fails("malloc") || posix_memalign(&p, align < 8 ? 8 : align, size ? size : 1) ? NULL
                                                                                         : p;
}

static void fallible_free(void *ctx, void *p, size_t size)
{
    (void)ctx, (void)size;
    free(p);
}

static const deja_allocator fallible = {fallible_alloc, fallible_free, NULL};

/* --- Lines ------------------------------------------------------------------------------ */

/* Judges lines from .. to - 1, settles when there is no room, and commits.  On an error, tries
 * again from the failed line on, with a new sieve if the old one says so. */
static void feed(struct sieving *w, uint64_t from, uint64_t to, int *errors)
{
    while (from < to && !w->wrong[0]) {
        uint64_t line[8];
        size_t n = 0;
        deja_error err = {0};
        for (; n < 8 && from + n < to; n++)
            line[n] = (from + n) % w->universe;
        int rc = w->s ? sieving_judge(w, line, n, &err) : DEJA_EIO;
        if (rc == DEJA_EFULL)
            rc = sieving_settle(w, &err);
        else if (rc == DEJA_OK)
            from += n;
        if (rc == DEJA_OK)
            rc = sieving_commit(w, &err);
        if (rc == DEJA_OK)
            continue;
        ++*errors;
        if (w->s && !err.text[0])
            WRONG(w, "status %d without a message", rc);
        if (*errors % 2 || !w->s) { /* every other time, keep using the same sieve */
            sieving_forget(w);
            sieving_open_quietly(w);
        }
        if (*errors > 60)
            WRONG(w, "it never recovers: %s", err.text);
    }
}

/* Ends a test: everything is settled, every line came out, and the files are sound. */
static void finish(struct sieving *w)
{
    deja_error err = {0};
    fault.call = NULL;
    if (!w->s)
        sieving_open(w);
    if (!w->wrong[0] && sieving_settle(w, &err) < 0) {
        sieving_forget(w); /* after a failed sync, it must be opened again */
        sieving_open(w);
        if (!w->wrong[0] && sieving_settle(w, &err) < 0)
            WRONG(w, "settle: %s", err.text);
    }
    if (!w->wrong[0])
        sieving_check(w);
    assert_string_equal(w->wrong, "");
    sieving_end(w);
    if (deja_sieve_verify(w->path, &err) < 0)
        fail_msg("%s", err.text);
}

static void with_fault(const char *call, int at, int error)
{
    struct sieving w;
    int errors = 0;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    w.opt.alloc = &fallible;
    fault.call = call;
    fault.at = at;
    fault.error = error;
    sieving_open_quietly(&w);
    feed(&w, 0, LINES, &errors);
    feed(&w, LINES / 2, LINES, &errors); /* repeats */
    finish(&w);
    scratch_clear(NULL);
}

static void one_failing_call_loses_no_line(void **state)
{
    static const struct {
        const char *call;
        int error, most, step;
    } faults[] = {{"pwrite", ENOSPC, 400, 7}, {"pread", EIO, 300, 9},
                  {"fsync", EIO, 120, 3},     {"rename", EIO, 60, 1},
                  {"open", EMFILE, 120, 3},   {"malloc", ENOMEM, 900, 17}};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        for (int at = 1; at < faults[i].most; at += faults[i].step)
            with_fault(faults[i].call, at, faults[i].error);
}

/* The disk fills up, at any moment, and later there is room. */
static void a_full_disk_loses_no_line(void **state)
{
    for (int at = 1; at < 300; at += 11) {
        struct sieving w;
        deja_error err = {0};
        int errors = 0;
        sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
        sieving_open(&w);
        fault.call = "pwrite";
        fault.at = at;
        fault.error = -ENOSPC;
        uint64_t from = 0;
        for (int full = 0; full < 3 && from < LINES;) { /* three refusals in a row */
            uint64_t line = from;
            int rc = sieving_judge(&w, &line, 1, &err);
            from += rc == DEJA_OK;
            if (rc == DEJA_EFULL)
                rc = sieving_settle(&w, &err);
            else if (rc == DEJA_OK)
                rc = sieving_commit(&w, &err);
            full = rc < 0 ? full + 1 : 0;
            if (rc < 0)
                assert_non_null(strstr(err.text, "No space left"));
        }
        fault.call = NULL; /* there is room again: the same sieve continues */
        feed(&w, from, LINES, &errors);
        assert_int_equal(errors, 0);
        finish(&w);
        scratch_clear(NULL);
    }
}

/* --- Merges that fail or are slow ---------------------------------------------------------- */

/* Adds n runs of one key each. */
static int flush_runs(struct sieving *w, uint64_t *line, int n, deja_error *err)
{
    int rc = DEJA_OK;
    for (int i = 0; i < n && rc == DEJA_OK && !w->wrong[0]; i++, ++*line) {
        sieving_feed(w, *line, *line + 1);
        rc = dj_sieve_flush(w->s, err);
    }
    return rc;
}

static uint64_t runs_of(const struct sieving *w)
{
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    assert_int_equal(deja_sieve_stats(w->s, &r, NULL), DEJA_OK);
    return r.runs;
}

/* Merges read runs, which nothing else does here. */
static void failing_merges_stop_a_sieve_until_they_work_again(void **state)
{
    for (uint32_t flags = 0; flags <= DEJA_SIEVE_NO_THREAD; flags += DEJA_SIEVE_NO_THREAD) {
        struct sieving w;
        deja_error err = {0};
        uint64_t line = 0;
        sieving_begin(&w, scratch_path("sieve"), LINES, flags);
        w.share.filter = 1 << 20;
        sieving_open(&w);
        assert_int_equal(flush_runs(&w, &line, 1, &err), DEJA_OK);
        fault.at = 1;
        fault.error = -EIO;
        fault.call = "pread";
        assert_int_equal(flush_runs(&w, &line, LINES, &err), DEJA_EIO);
        assert_int_equal(runs_of(&w), 2 * DJ_SIEVE_MANY);
        assert_non_null(strstr(err.text, "because merges fail; solve this first:"));
        assert_non_null(strstr(err.text, "Input/output error"));
        fault.call = NULL; /* the same sieve continues */
        assert_int_equal(flush_runs(&w, &line, 50, &err), DEJA_OK);
        assert_true(runs_of(&w) < DJ_SIEVE_MANY);
        finish(&w);
        scratch_clear(NULL);
    }
}

static struct {
    atomic_bool on;
    struct sieving *w;
} slow;

/* Merges call this before they read; the first one begins when there are many runs, and takes longer
 * than many flushes. */
int posix_fadvise(int fd, off_t from, off_t len, int advice)
{
    (void)fd, (void)from, (void)len, (void)advice;
    if (!atomic_exchange(&slow.on, false))
        return 0;
    for (bool many = false; !many; usleep(1000)) {
        pthread_mutex_lock(&slow.w->s->lock);
        many = slow.w->s->runs->n >= DJ_SIEVE_MANY;
        pthread_mutex_unlock(&slow.w->s->lock);
    }
    usleep(50000);
    return 0;
}

#if DJ_OS_LINUX
static void flushes_wait_for_slow_merges(void **state)
{
    struct sieving w;
    deja_error err = {0};
    uint64_t line = 0, most = 0;
    sieving_begin(&w, scratch_path("sieve"), LINES, 0);
    w.share.filter = 1 << 20;
    sieving_open(&w);
    assert_int_equal(flush_runs(&w, &line, 1, &err), DEJA_OK); /* reads its run */
    slow.w = &w;
    atomic_store(&slow.on, true);
    while (line < DJ_SIEVE_MANY + 200 && !w.wrong[0]) {
        assert_int_equal(flush_runs(&w, &line, 1, &err), DEJA_OK);
        most = runs_of(&w) > most ? runs_of(&w) : most;
    }
    assert_int_equal(most, DJ_SIEVE_MANY);
    finish(&w);
}
#endif

/* --- Several processes ---------------------------------------------------------------------- */

static void a_second_writer_is_refused_and_readers_are_not(void **state)
{
    struct sieving w;
    deja_sieve *other = NULL, *reader = NULL;
    deja_error err = {0};
    int errors = 0;
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    for (uint64_t to = 300; to <= LINES; to += 300) {
        feed(&w, to - 300, to, &errors);
        assert_int_equal(sieving_settle(&w, &err), DEJA_OK);
        assert_int_equal(deja_sieve_open(w.path, DEJA_OPEN_WRITE, NULL, &other, &err), DEJA_EBUSY);
        assert_int_equal(deja_sieve_open(w.path, 0, NULL, &reader, &err), DEJA_OK);
        for (uint64_t i = 0; i < LINES; i += 11) {
            deja_fingerprint fp;
            uint8_t found;
            sieving_print(reader, i, &fp);
            assert_int_equal(deja_sieve_contains(reader, &fp, 1, &found, &err), DEJA_OK);
            assert_int_equal(found, i < to);
        }
        assert_int_equal(deja_sieve_commit(reader, &err), DEJA_EINVAL);
        deja_sieve_free(reader);
    }
    assert_int_equal(errors, 0);
    finish(&w);
}

/* What a writer and its readers know about each other. */
static struct shared {
    atomic_ulong recorded;        /* lines 0 .. recorded - 1 are out and committed */
    atomic_ulong opens, verifies; /* by readers */
    atomic_bool done;
} * shared;

/* A line that was recorded before the sieve was opened is found; none is found that was never fed. */
static int open_and_look(const char *path)
{
    deja_sieve *s = NULL;
    deja_error err = {0};
    deja_sieve_report r = DEJA_SIEVE_REPORT_INIT;
    const unsigned long recorded = atomic_load(&shared->recorded);
    if (deja_sieve_open(path, 0, NULL, &s, &err) < 0 || deja_sieve_stats(s, &r, &err) < 0) {
        fprintf(stderr, "reader: %s\n", err.text);
        return 1;
    }
    CHECK(r.keys >= recorded);
    for (unsigned long i = recorded % 101; i < recorded; i += 101) {
        deja_fingerprint fp;
        uint8_t found = 0;
        sieving_print(s, i, &fp);
        CHECK(deja_sieve_contains(s, &fp, 1, &found, NULL) == DEJA_OK && found);
    }
    deja_fingerprint never;
    uint8_t found = 1;
    sieving_print(s, 1000000, &never);
    CHECK(deja_sieve_contains(s, &never, 1, &found, NULL) == DEJA_OK && !found);
    deja_sieve_free(s);
    atomic_fetch_add(&shared->opens, 1);
    return CHILD_FINE;
}

static int look_again_and_again(const char *path, int in, int out)
{
    (void)in, (void)out;
    int rc = CHILD_FINE;
    while (rc == CHILD_FINE && !atomic_load(&shared->done))
        rc = open_and_look(path);
    return rc;
}

static int verify_again_and_again(const char *path, int in, int out)
{
    (void)in, (void)out;
    while (!atomic_load(&shared->done)) {
        deja_error err = {0};
        if (deja_sieve_verify(path, &err) < 0) {
            fprintf(stderr, "verify: %s\n", err.text);
            return 1;
        }
        atomic_fetch_add(&shared->verifies, 1);
    }
    return CHILD_FINE;
}

/* Feeds, settles, saves and repeats until the readers have seen enough. */
static void write_while_others_read(struct sieving *w)
{
    deja_error err = {0};
    for (uint64_t to = 0; !w->wrong[0] && (to < LINES || atomic_load(&shared->opens) < 50 ||
                                           atomic_load(&shared->verifies) < 20);) {
        const uint64_t from = to < LINES ? to : 0; /* repeats: they wait, and spools come and go */
        sieving_feed(w, from, from + 50);
        if (sieving_settle(w, &err) < 0 || (to % 200 == 0 && deja_sieve_save(w->s, &err) < 0))
            WRONG(w, "settle: %s", err.text);
        to += to < LINES ? 50 : 0;
        atomic_store(&shared->recorded, to);
    }
    atomic_store(&shared->done, true);
}

static void readers_always_find_a_consistent_set(void **state)
{
    struct sieving w;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    MUST(shared != MAP_FAILED);
    sieving_begin(&w, scratch_path("sieve"), LINES, 0);
    sieving_open(&w);
    const pid_t reader = start(look_again_and_again, w.path);
    const pid_t verifier = start(verify_again_and_again, w.path);
    write_while_others_read(&w);
    assert_int_equal(end_of(reader), CHILD_FINE);
    assert_int_equal(end_of(verifier), CHILD_FINE);
    finish(&w);
    MUST(munmap(shared, sizeof *shared) == 0);
}

/* A busy writer replaces the manifest faster than a slow reader reads: what the reader has opened
 * is a consistent set, so it must not start again. */
static struct {
    struct sieving *w;
    uint64_t line;
    bool busy;
} writer;

static void write_in_between(void)
{
    if (!writer.w || writer.busy || writer.line >= LINES)
        return;
    writer.busy = true;
    deja_error err = {0};
    sieving_feed(writer.w, writer.line, writer.line + 2);
    writer.line += 2;
    if (sieving_settle(writer.w, &err) < 0 || dj_sieve_flush(writer.w->s, &err) < 0)
        WRONG(writer.w, "flush: %s", err.text);
    writer.busy = false;
}

static void a_reader_does_not_wait_for_a_quiet_moment(void **state)
{
    struct sieving w;
    deja_sieve *reader = NULL;
    deja_error err = {0};
    sieving_begin(&w, scratch_path("sieve"), LINES, DEJA_SIEVE_NO_THREAD);
    sieving_open(&w);
    sieving_feed(&w, 0, 20);
    writer.line = 20;
    writer.w = &w; /* reading a journal to its end now takes as long as two changes */
    const int rc = deja_sieve_open(w.path, 0, NULL, &reader, &err);
    writer.w = NULL;
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_true(writer.line > 20);
    deja_sieve_free(reader);
    finish(&w);
}

static int open_unprivileged(const char *path, int in, int out)
{
    deja_sieve *s = NULL;
    deja_error err = {0};
    (void)in, (void)out;
    if (getuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
        return CHILD_SKIPS;
    CHECK(deja_sieve_open(path, DEJA_OPEN_WRITE, NULL, &s, &err) == DEJA_EIO);
    CHECK(strstr(err.text, "lock: cannot open it for writing"));
    CHECK(deja_sieve_open(path, 0, NULL, &s, &err) == DEJA_OK);
    deja_sieve_free(s);
    return CHILD_FINE;
}

static int open_to_all(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st, (void)ftw;
    return type == FTW_F ? chmod(path, 0444) : 0;
}

static void a_read_only_directory_can_be_read(void **state)
{
    struct sieving w;
    sieving_make(&w, scratch_path("sieve"), LINES);
    assert_string_equal(w.wrong, "");
    assert_int_equal(nftw(w.path, open_to_all, 16, FTW_PHYS), 0);
    assert_int_equal(chmod(scratch_folder, 0755), 0);
    assert_int_equal(chmod(w.path, 0555), 0);
    in_child(open_unprivileged, w.path);
    assert_int_equal(chmod(w.path, 0755), 0);
    sieving_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(one_failing_call_loses_no_line, scratch_clear),
        cmocka_unit_test_teardown(a_full_disk_loses_no_line, scratch_clear),
        cmocka_unit_test_teardown(failing_merges_stop_a_sieve_until_they_work_again,
                                  scratch_clear),
#if DJ_OS_LINUX /* only there, merges announce that they read */
        cmocka_unit_test_teardown(flushes_wait_for_slow_merges, scratch_clear),
#endif
        cmocka_unit_test_teardown(a_second_writer_is_refused_and_readers_are_not, scratch_clear),
        cmocka_unit_test_teardown(readers_always_find_a_consistent_set, scratch_clear),
        cmocka_unit_test_teardown(a_reader_does_not_wait_for_a_quiet_moment, scratch_clear),
        cmocka_unit_test_teardown(a_read_only_directory_can_be_read, scratch_clear),
    };
    return cmocka_run_group_tests_name("fault.sieve_faults", tests, scratch_open, scratch_close);
}
