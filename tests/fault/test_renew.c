/* test_renew.c - folding and rotating replace a file atomically.
 *
 * Work in another process reports its result by its exit status. */
#include "calls.h"
#include "deja.h"
#include "numbered.h"
#include "rng.h"
#include "scratch.h"
#include "unit.h"
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#define KEYS   2000u
#define MEMORY (UINT64_C(1) << 20)

static deja_options large(void)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.memory = MEMORY;
    opt.capacity = KEYS;
    opt.seed = 1;
    return opt;
}

static const char *make_file(const char *name)
{
    const char *path = scratch_path(name);
    const deja_options opt = large();
    deja_filter *f = NULL;
    unlink(path);
    assert_int_equal(deja_filter_create(path, 0, &opt, &f, NULL), DEJA_OK);
    add_keys(f, 0, KEYS);
    assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
    deja_filter_free(f);
    return path;
}

/* --- Killed ------------------------------------------------------------------ */

static void fold_and_go(const char *path)
{
    deja_filter *f = NULL;
    if (deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) < 0)
        _exit(1);
    while (deja_filter_fold(f, 1, NULL) == DEJA_OK)
        ;
    _exit(0);
}

static void rotate_and_go(const char *path)
{
    deja_filter *f = NULL;
    deja_options next = DEJA_OPTIONS_INIT;
    next.memory = MEMORY;
    next.capacity = KEYS;
    if (deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) < 0)
        _exit(1);
    for (;;)
        if (deja_filter_rotate(f, &next, NULL) < 0)
            _exit(2);
}

static void kill_after(void (*work)(const char *), const char *path, uint64_t us)
{
    const pid_t child = fork();
    MUST(child >= 0);
    if (child == 0)
        work(path);
    nanosleep(&(struct timespec){.tv_nsec = (long)us * 1000}, NULL);
    kill(child, SIGKILL);
    MUST(waitpid(child, NULL, 0) == child);
}

static void a_killed_fold_keeps_every_key(void **state)
{
    struct rng r = rng_seeded(1);
    for (int i = 0; i < 25; i++) {
        const char *path = make_file("fold");
        kill_after(fold_and_go, path, rng_below(&r, 20000));
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        deja_filter *f = open_file(path, 0);
        const deja_stats s = stats_of(f);
        assert_int_equal(missing(f, 0, KEYS), 0);
        assert_int_equal(s.bytes, MEMORY >> s.folds);
        assert_int_equal(s.keys, KEYS);
        deja_filter_free(f);
    }
}

static void a_killed_rotation_leaves_one_visit_or_the_other(void **state)
{
    struct rng r = rng_seeded(2);
    for (int i = 0; i < 25; i++) {
        const char *path = make_file("rotate");
        kill_after(rotate_and_go, path, rng_below(&r, 20000));
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        deja_filter *f = open_file(path, 0);
        const deja_stats s = stats_of(f);
        assert_int_equal(s.visits_before, s.visit - 1);
        assert_int_equal(s.keys, s.visit == 1 ? KEYS : 0);
        assert_int_equal(missing(f, 0, KEYS), s.visit == 1 ? 0 : KEYS);
        deja_filter_free(f);
    }
}

/* --- No room, no permission ---------------------------------------------------- */

/* Files of this process are limited to 64 KiB: writing a large one fails in the middle. */
static int fail_to_renew(const char *path)
{
    const struct rlimit limit = {65536, 65536};
    deja_options next = DEJA_OPTIONS_INIT;
    deja_error err = {0};
    deja_filter *f = NULL;
    signal(SIGXFSZ, SIG_IGN);
    if (deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) < 0 ||
        setrlimit(RLIMIT_FSIZE, &limit) < 0)
        return 1;
    next.memory = MEMORY;
    if (deja_filter_fold(f, 1, &err) != DEJA_EIO || !strstr(err.text, path))
        return 2;
    if (deja_filter_rotate(f, &next, &err) != DEJA_EIO || !strstr(err.text, path))
        return 3;
    if (missing(f, 0, KEYS) || stats_of(f).visit != 1 || stats_of(f).folds != 0)
        return 4;
    const uint64_t more = KEYS;
    return deja_filter_add(f, key_of(&more), NULL, NULL) == DEJA_OK && /* it works as before */
                   deja_filter_sync(f, NULL) == DEJA_OK
               ? 0
               : 5;
}

static void without_room_the_old_file_stays_usable(void **state)
{
    const char *path = make_file("full");
    const pid_t child = fork();
    int how = 0;
    MUST(child >= 0);
    if (child == 0)
        _exit(fail_to_renew(path));
    MUST(waitpid(child, &how, 0) == child);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, KEYS), 0);
    assert_int_equal(stats_of(f).keys, KEYS + 1);
    deja_filter_free(f);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0); /* nothing is left behind */
}

/* --- Readers, locks, links ------------------------------------------------------- */

static void readers_keep_the_file_that_they_opened(void **state)
{
    const char *path = make_file("read");
    deja_filter *reader = open_file(path, 0), *writer = open_file(path, DEJA_OPEN_WRITE), *f;
    assert_int_equal(deja_filter_rotate(writer, NULL, NULL), DEJA_OK);
    assert_int_equal(missing(reader, 0, KEYS), 0);
    assert_int_equal(missing(writer, 0, KEYS), KEYS);
    /* The new file is locked like the old one. */
    assert_int_equal(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL), DEJA_EBUSY);
    deja_filter_free(writer);
    f = open_file(path, DEJA_OPEN_WRITE);
    deja_filter_free(f);
    deja_filter_free(reader);
    unlink(path);
}

static void mode_and_symbolic_link_are_kept(void **state)
{
    const char *path = make_file("rights"), *link = scratch_path("link");
    struct stat st;
    MUST(chmod(path, 0640) == 0 && symlink(path, link) == 0);
    deja_filter *f = open_file(link, DEJA_OPEN_WRITE);
    assert_int_equal(deja_filter_fold(f, 1, NULL), DEJA_OK);
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    deja_filter_free(f);
    MUST(lstat(link, &st) == 0);
    assert_true(S_ISLNK(st.st_mode));
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 07777, 0640);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(link);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_killed_fold_keeps_every_key, scratch_clear),
        cmocka_unit_test_teardown(a_killed_rotation_leaves_one_visit_or_the_other, scratch_clear),
        cmocka_unit_test_teardown(without_room_the_old_file_stays_usable, scratch_clear),
        cmocka_unit_test_teardown(readers_keep_the_file_that_they_opened, scratch_clear),
        cmocka_unit_test_teardown(mode_and_symbolic_link_are_kept, scratch_clear),
    };
    return cmocka_run_group_tests_name("fault.renew", tests, scratch_open, scratch_close);
}
