/* test_store.c - opening a file restores the synced filter, and growing keeps the file's mode and
 * symbolic links. */
#include "storing.h"
#include <sys/stat.h>

static void open_after_sync_is_identity_for(const deja_options *opt)
{
    enum {
        N = 800
    };
    const char *path = scratch_path("identity");
    deja_filter *f = create_file(path, 0, opt);
    deja_stats before = DEJA_STATS_INIT, after = DEJA_STATS_INIT;
    add_keys(f, 0, N);
    add_keys(f, 0, N / 2);
    sync_file(f);
    assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &before, NULL), DEJA_OK);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (unsigned flags = 0; flags <= DEJA_OPEN_WRITE; flags++) {
        f = open_file(path, flags);
        assert_int_equal(missing(f, 0, N), 0);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &after, NULL), DEJA_OK);
        assert_memory_equal(&before, &after, sizeof before);
        deja_filter_free(f);
    }
    assert_int_equal(after.offered, N + N / 2);
    unlink(path);
}

static void open_after_sync_is_identity(void **state)
{
    deja_options opt = small();
    open_after_sync_is_identity_for(&opt);
    opt.kind = DEJA_CLASSIC;
    open_after_sync_is_identity_for(&opt);
    opt.filters = 3;
    opt.hash = DEJA_HASH_MURMUR3;
    open_after_sync_is_identity_for(&opt);
    opt = small();
    opt.kind = DEJA_EXACT;
    open_after_sync_is_identity_for(&opt);
    opt.kind = DEJA_SPECTRAL;
    opt.counter_bits = 16;
    open_after_sync_is_identity_for(&opt);
    opt.flags = DEJA_SPREAD;
    open_after_sync_is_identity_for(&opt);
    opt.flags = 0;
    opt.kind = DEJA_PAIRED;
    opt.counter_bits = 0;
    open_after_sync_is_identity_for(&opt);
    opt = small();
    opt.kind = DEJA_WINDOW;
    opt.generations = 5;
    open_after_sync_is_identity_for(&opt);
    opt = growing();
    open_after_sync_is_identity_for(&opt);
}

static void sync_without_adds_changes_nothing(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("idle", &opt, 10);
    const struct bytes before = read_file(path);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    sync_file(f);
    sync_file(f);
    deja_filter_free(f);
    const struct bytes after = read_file(path);
    assert_int_equal(before.len, after.len);
    assert_memory_equal(before.data, after.data, before.len);
    free(before.data);
    free(after.data);
    unlink(path);
}

static void a_sync_that_is_impossible_is_an_error(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("reader", &opt, 10);
    deja_filter *f = open_file(path, 0);
    deja_error err = {0};
    const uint64_t i = 1;
    refused(deja_filter_sync(f, &err), DEJA_EINVAL, &err, "reading only");
    assert_int_equal(deja_filter_add(f, key_of(&i), NULL, NULL), DEJA_EINVAL);
    deja_filter_free(f);
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    refused(deja_filter_sync(f, &err), DEJA_ENOTSUP, &err, "no file");
    deja_filter_free(f);
    unlink(path);
}

/* --- Growth keeps modes and links ------------------------------------------ */

static void growing_keeps_the_mode_of_the_file(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("private", &opt, 10);
    struct stat st;
    MUST(chmod(path, 0600) == 0); /* the file contains its key */
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    add_keys(f, 0, 1000);
    deja_filter_free(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    unlink(path);
}

static void growing_behind_a_symbolic_link_keeps_the_link(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("target", &opt, 10), *link = scratch_path("link");
    struct stat st;
    MUST(symlink("target", link) == 0);
    deja_filter *f = open_file(link, DEJA_OPEN_WRITE);
    add_keys(f, 0, 1000);
    sync_file(f);
    deja_filter_free(f);
    MUST(lstat(link, &st) == 0);
    assert_true(S_ISLNK(st.st_mode));
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    unlink(link);
    unlink(path);
}

static void a_key_that_is_stored_nowhere_is_refused(void **state)
{
    deja_options opt = small();
    deja_filter *f = NULL;
    opt.seed = 0;
    opt.flags = DEJA_KEY_APART; /* and no key: the file could never be opened again */
    const int rc = deja_filter_create(scratch_path("lost_key"), 0, &opt, &f, NULL);
    deja_filter_free(f);
    assert_int_equal(rc, DEJA_EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(open_after_sync_is_identity),
        TEST(sync_without_adds_changes_nothing),
        TEST(a_sync_that_is_impossible_is_an_error),
        TEST(growing_keeps_the_mode_of_the_file),
        TEST(growing_behind_a_symbolic_link_keeps_the_link),
        TEST(a_key_that_is_stored_nowhere_is_refused),
    };
    return cmocka_run_group_tests_name("fault.store", tests, scratch_open, scratch_close);
}
