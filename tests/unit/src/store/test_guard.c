/* test_guard.c - files that are truncated or overwritten while filters map them.
 *
 * Everything runs in child processes: cmocka catches SIGBUS itself, and the guard cannot be
 * removed. */
#include "child.h"
#include "deja.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>

enum {
    KEYS = 20000
};

static deja_slice key_of(const uint32_t *i)
{
    return (deja_slice){i, sizeof *i};
}

static deja_options options_of(uint32_t kind)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = kind;
    opt.capacity = KEYS;
    opt.seed = 1;
    return opt;
}

/* Makes a file with all keys of the test. */
static bool make_file(const char *path, uint32_t kind, uint64_t seed)
{
    deja_options opt = options_of(kind);
    deja_builder *b = NULL;
    deja_filter *f = NULL;
    int rc;
    opt.seed = seed;
    if (kind == DEJA_STATIC)
        rc = deja_builder_new(&opt, &b, NULL);
    else
        rc = deja_filter_create(path, DEJA_CREATE_REPLACE, &opt, &f, NULL);
    for (uint32_t i = 0; i < KEYS && rc == DEJA_OK; i++) {
        const deja_slice key = key_of(&i);
        rc = b ? deja_builder_add_batch(b, &key, 1, NULL) : deja_filter_add(f, key, NULL, NULL);
    }
    if (rc == DEJA_OK && b)
        rc = deja_builder_finish(b, path, DEJA_CREATE_REPLACE, &f, NULL);
    if (rc == DEJA_OK)
        rc = deja_filter_sync(f, NULL);
    deja_filter_free(f);
    deja_builder_free(b);
    return rc == DEJA_OK;
}

static deja_filter *open_file(const char *path, unsigned flags)
{
    deja_filter *f = NULL;
    deja_error err = {0};
    if (deja_filter_open(path, flags, NULL, &f, &err) < 0)
        fprintf(stderr, "%s\n", err.text);
    return f;
}

static uint32_t missing(const deja_filter *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < KEYS; i++)
        n += !deja_filter_contains(f, key_of(&i));
    return n;
}

static bool in_words(int rc, const deja_error *err, const char *path)
{
    return rc == DEJA_EIO && err->status == DEJA_EIO && strstr(err->text, path) &&
           strstr(err->text, "truncated or overwritten") && strstr(err->text, "restore it");
}

/* --- Every call reports it ---------------------------------------------------- */

static int is_lost(deja_filter *f, const char *path)
{
    deja_stats s = DEJA_STATS_INIT;
    deja_error err = {0};
    CHECK(missing(f) == 0); /* whatever it returns, no key is reported as new */
    CHECK(in_words(deja_filter_check_file(f, &err), &err, path));
    CHECK(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL) == DEJA_EIO && errno == EIO);
    return CHILD_FINE;
}

static int reader_of(const char *path, uint32_t kind, off_t len)
{
    uint64_t count;
    const uint32_t one = 1;
    double common;
    deja_error err = {0};
    CHECK(make_file(path, kind, 1));
    deja_filter *f = open_file(path, 0);
    CHECK(f && missing(f) == 0 && deja_filter_check_file(f, NULL) == DEJA_OK);
    CHECK(truncate(path, len) == 0);
    CHECK(is_lost(f, path) == CHILD_FINE);
    if (kind == DEJA_SPECTRAL)
        CHECK(deja_filter_count(f, key_of(&one), &count, NULL) == DEJA_EIO);
    if (kind != DEJA_SPECTRAL && kind != DEJA_SCALABLE && kind != DEJA_STATIC)
        CHECK(in_words(deja_filter_overlap(f, f, &common, NULL, &err), &err, path));
    deja_filter_free(f);
    return CHILD_FINE;
}

static int writer_of(const char *path, uint32_t kind, off_t len)
{
    const uint32_t more = KEYS;
    deja_error err = {0};
    deja_dedup *d = NULL;
    uint64_t hash[16];
    uint8_t answer;
    struct stat st;
    CHECK(make_file(path, kind, 1));
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    CHECK(f && deja_filter_add(f, key_of(&more), NULL, NULL) == DEJA_OK);
    CHECK(deja_dedup_new(f, &d, NULL) == DEJA_OK);
    CHECK(truncate(path, len) == 0);
    const deja_slice key = key_of(&more);
    size_t done = 7;
    CHECK(deja_filter_add_batch(f, &key, 1, NULL, &done, NULL) == DEJA_EIO && done == 0);
    CHECK(is_lost(f, path) == CHILD_FINE);
    if (kind == DEJA_SPECTRAL)
        CHECK(deja_filter_remove(f, key, NULL, NULL) == DEJA_EIO);
    deja_filter_hash_batch(f, &key, 1, hash);
    CHECK(deja_dedup_judge(d, hash, 1, &answer, NULL) == DEJA_EIO && deja_dedup_pending(d) == 0);
    CHECK(in_words(deja_filter_sync(f, &err), &err, path));
    if (kind == DEJA_BLOCKED || kind == DEJA_CLASSIC)
        CHECK(in_words(deja_filter_fold(f, 1, &err), &err, path) || strstr(err.text, "halved"));
    if (kind != DEJA_SPECTRAL)
        CHECK(in_words(deja_filter_rotate(f, NULL, &err), &err, path));
    CHECK(stat(path, &st) == 0 && st.st_size == len); /* nothing was written to the file */
    deja_dedup_free(d);
    deja_filter_free(f);
    return CHILD_FINE;
}

static int every_kind_and_length(const char *path, int in, int out)
{
    static const uint32_t kinds[] = {DEJA_BLOCKED,  DEJA_CLASSIC,  DEJA_EXACT,
                                     DEJA_SPECTRAL, DEJA_SCALABLE, DEJA_STATIC};
    static const off_t lengths[] = {0, 4096, 8192};
    (void)in, (void)out;
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    CHECK(deja_files_guard(NULL) == DEJA_OK); /* calling it twice is harmless */
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof lengths[0]; j++) {
            CHECK(reader_of(path, kinds[i], lengths[j]) == CHILD_FINE);
            if (kinds[i] != DEJA_STATIC)
                CHECK(writer_of(path, kinds[i], lengths[j]) == CHILD_FINE);
        }
    return CHILD_FINE;
}

static void every_call_reports_a_truncated_file(void **state)
{
    in_child(every_kind_and_length, scratch_path("cut"));
}

/* --- Two filters --------------------------------------------------------------- */

static int merge_from_lost(const char *path, int in, int out)
{
    deja_options opt = options_of(DEJA_BLOCKED);
    deja_filter *into = NULL, *copy = NULL;
    deja_error err = {0};
    char other[600];
    (void)in, (void)out;
    CHECK(deja_files_guard(NULL) == DEJA_OK && make_file(path, DEJA_BLOCKED, 1));
    CHECK(deja_filter_new(&opt, &into, NULL) == DEJA_OK);
    deja_filter *from = open_file(path, 0);
    CHECK(from && truncate(path, 5000) == 0);
    CHECK(in_words(deja_filter_merge(into, from, &err), &err, path));
    snprintf(other, sizeof other, "%s.copy", path);
    CHECK(in_words(deja_filter_copy(from, other, 0, &copy, &err), &err, path));
    CHECK(!copy && access(other, F_OK) < 0);
    CHECK(deja_filter_check_file(into, NULL) == DEJA_OK); /* `into` is in memory */
    deja_filter_free(from);
    deja_filter_free(into);
    return CHILD_FINE;
}

static void a_union_with_a_lost_filter_is_refused(void **state)
{
    in_child(merge_from_lost, scratch_path("union"));
}

static int one_of_two(const char *path, int in, int out)
{
    char other[600];
    (void)in, (void)out;
    snprintf(other, sizeof other, "%s.other", path);
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    CHECK(make_file(path, DEJA_BLOCKED, 1) && make_file(other, DEJA_CLASSIC, 2));
    deja_filter *a = open_file(path, 0), *b = open_file(other, 0), *c = open_file(path, 0);
    CHECK(a && b && c && truncate(path, 4096) == 0);
    CHECK(is_lost(a, path) == CHILD_FINE);
    CHECK(is_lost(c, path) == CHILD_FINE);
    CHECK(missing(b) == 0 && deja_filter_check_file(b, NULL) == DEJA_OK);
    deja_filter_free(a); /* entries in the middle, at the start and at the end of the list */
    CHECK(missing(b) == 0 && deja_filter_check_file(b, NULL) == DEJA_OK);
    CHECK(truncate(other, 4096) == 0 && is_lost(b, other) == CHILD_FINE);
    deja_filter_free(b);
    CHECK(is_lost(c, path) == CHILD_FINE);
    deja_filter_free(c);
    return CHILD_FINE;
}

static void other_files_are_not_affected(void **state)
{
    in_child(one_of_two, scratch_path("two"));
}

/* --- No signal: the file's bytes are replaced ----------------------------------- */

static int overwrite(const char *path, int in, int out)
{
    struct stat st;
    char other[600];
    (void)in, (void)out;
    snprintf(other, sizeof other, "%s.other", path);
    CHECK(make_file(path, DEJA_BLOCKED, 1) && make_file(other, DEJA_BLOCKED, 2));
    const struct bytes mine = read_file(path), theirs = read_file(other);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    CHECK(f && stat(path, &st) == 0);
    CHECK(truncate(path, 0) == 0 && truncate(path, st.st_size) == 0);
    CHECK(is_lost(f, path) == CHILD_FINE); /* the bytes are zeros */
    deja_error err = {0};
    const uint32_t more = KEYS;
    CHECK(deja_filter_add(f, key_of(&more), NULL, NULL) == DEJA_EIO);
    CHECK(in_words(deja_filter_sync(f, &err), &err, path));
    write_file(path, theirs.data, theirs.len);
    CHECK(is_lost(f, path) == CHILD_FINE); /* the bytes of another filter */
    write_file(path, mine.data, mine.len);
    CHECK(deja_filter_check_file(f, NULL) == DEJA_OK); /* restored */
    CHECK(truncate(path, st.st_size + 64) == 0);
    CHECK(in_words(deja_filter_check_file(f, &err), &err, path)); /* open would refuse it */
    deja_filter_free(f);
    free(mine.data);
    free(theirs.data);
    return CHILD_FINE;
}

static void an_overwritten_file_is_an_error_without_the_guard(void **state)
{
    in_child(overwrite, scratch_path("over"));
}

/* --- Opening and verifying ------------------------------------------------------ */

static atomic_bool stop_cutting;

/* Truncates and restores the file repeatedly. */
static void *cut_and_mend(void *path)
{
    const struct bytes whole = read_file(path);
    while (!atomic_load(&stop_cutting)) {
        if (truncate(path, 4096) < 0)
            break;
        write_file(path, whole.data, whole.len);
    }
    free(whole.data);
    return NULL;
}

/* Whatever happens during open and read, they return a status and the process survives. */
static int race(const char *path, int in, int out)
{
    pthread_t cutter;
    int opened = 0;
    char name[600];
    (void)in, (void)out;
    snprintf(name, sizeof name, "%s", path);
    CHECK(deja_files_guard(NULL) == DEJA_OK && make_file(path, DEJA_BLOCKED, 1));
    CHECK(pthread_create(&cutter, NULL, cut_and_mend, name) == 0);
    for (int i = 0; i < 3000; i++) {
        deja_filter *f = NULL;
        const int rc = deja_file_verify(path, NULL);
        CHECK(rc == DEJA_OK || rc == DEJA_EIO || rc == DEJA_EFORMAT);
        if (deja_filter_open(path, 0, NULL, &f, NULL) < 0)
            continue;
        opened++;
        CHECK(missing(f) == 0 || deja_filter_check_file(f, NULL) == DEJA_EIO);
        deja_filter_free(f);
    }
    atomic_store(&stop_cutting, true);
    CHECK(pthread_join(cutter, NULL) == 0);
    fprintf(stderr, "opened %d of 3000 times\n", opened);
    return CHILD_FINE;
}

static void truncation_during_open_and_read_is_survived(void **state)
{
    in_child(race, scratch_path("race"));
}

/* --- Other handlers of SIGBUS ----------------------------------------------------- */

/* A mapping of the test itself, with a missing page. */
static volatile const uint8_t *lost_page(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    MUST(fd >= 0 && ftruncate(fd, 4096) == 0);
    volatile const uint8_t *p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    MUST(p != MAP_FAILED && ftruncate(fd, 0) == 0);
    close(fd);
    return p;
}

static sigjmp_buf back;
static volatile sig_atomic_t caught, with_address;

static void on_theirs(int sig)
{
    caught = sig;
    siglongjmp(back, 1);
}

static void on_theirs_with_address(int sig, siginfo_t *info, void *context)
{
    (void)context;
    caught = sig;
    with_address = info->si_addr != NULL;
    siglongjmp(back, 1);
}

static int earlier_handler(const char *path, int in, int out)
{
    volatile const uint8_t *p = lost_page(path);
    struct sigaction theirs = {.sa_sigaction = on_theirs_with_address, .sa_flags = SA_SIGINFO};
    (void)in, (void)out;
    sigemptyset(&theirs.sa_mask);
    CHECK(sigaction(SIGBUS, &theirs, NULL) == 0);
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    if (sigsetjmp(back, 1) == 0)
        return *p ? 1 : 2; /* not reached */
    CHECK(caught == SIGBUS && with_address);
    return CHILD_FINE;
}

static int earlier_plain_handler(const char *path, int in, int out)
{
    volatile const uint8_t *p = lost_page(path);
    (void)in, (void)out;
    CHECK(signal(SIGBUS, on_theirs) != SIG_ERR);
    CHECK(deja_files_guard(NULL) == DEJA_OK);
    if (sigsetjmp(back, 1) == 0)
        return *p ? 1 : 2;
    CHECK(caught == SIGBUS);
    return CHILD_FINE;
}

static void other_signals_go_to_the_earlier_handler(void **state)
{
    in_child(earlier_handler, scratch_path("theirs"));
    in_child(earlier_plain_handler, scratch_path("theirs"));
}

static int die_of_own_page(const char *path, int in, int out)
{
    volatile const uint8_t *p = lost_page(path);
    (void)in, (void)out;
    CHECK(signal(SIGBUS, SIG_DFL) != SIG_ERR && deja_files_guard(NULL) == DEJA_OK);
    return *p ? 1 : 2;
}

static int die_of_kill(const char *path, int in, int out)
{
    (void)path, (void)in, (void)out;
    CHECK(signal(SIGBUS, SIG_DFL) != SIG_ERR && deja_files_guard(NULL) == DEJA_OK);
    raise(SIGBUS);
    return 1;
}

static int ignore_kill(const char *path, int in, int out)
{
    (void)path, (void)in, (void)out;
    CHECK(signal(SIGBUS, SIG_IGN) != SIG_ERR && deja_files_guard(NULL) == DEJA_OK);
    raise(SIGBUS);
    raise(SIGBUS);
    return CHILD_FINE;
}

/* The process dies as it would without the guard. */
static int die_unguarded(const char *path, int in, int out)
{
    (void)in, (void)out;
    CHECK(signal(SIGBUS, SIG_DFL) != SIG_ERR && make_file(path, DEJA_BLOCKED, 1));
    deja_filter *f = open_file(path, 0);
    CHECK(f && truncate(path, 4096) == 0);
    return (int)missing(f);
}

static void without_an_earlier_handler_the_process_dies(void **state)
{
    assert_int_equal(end_of(start(die_of_own_page, scratch_path("own"))), CHILD_KILLED + SIGBUS);
    assert_int_equal(end_of(start(die_of_kill, "")), CHILD_KILLED + SIGBUS);
    assert_int_equal(end_of(start(die_unguarded, scratch_path("un"))), CHILD_KILLED + SIGBUS);
    in_child(ignore_kill, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_reports_a_truncated_file),
        cmocka_unit_test(a_union_with_a_lost_filter_is_refused),
        cmocka_unit_test(other_files_are_not_affected),
        cmocka_unit_test(an_overwritten_file_is_an_error_without_the_guard),
        cmocka_unit_test(truncation_during_open_and_read_is_survived),
        cmocka_unit_test(other_signals_go_to_the_earlier_handler),
        cmocka_unit_test(without_an_earlier_handler_the_process_dies),
    };
    return cmocka_run_group_tests_name("unit.guard", tests, scratch_open, scratch_close);
}
