/* test_create.c - new files appear complete, at their first sync, and replace only files that they
 * may replace. */
#include "core/base/os.h"
#include "peer.h"
#include "storing.h"
#include <sys/stat.h>

static void creating_twice_is_refused(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("twice", &opt, 10);
    create_is_refused(path, 0, DEJA_EINVAL, "exists");
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 10), 0);
    deja_filter_free(f);
    unlink(path);
}

static void of_two_creators_the_first_to_sync_wins(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("race");
    deja_filter *first = create_file(path, 0, &opt), *second = create_file(path, 0, &opt);
    deja_error err = {0};
    add_keys(first, 0, 10);
    add_keys(second, 10, 20);
    sync_file(first);
    refused(deja_filter_sync(second, &err), DEJA_EINVAL, &err, "exists");
    deja_filter_free(second);
    deja_filter_free(first);
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 10), 0);
    assert_true(missing(f, 10, 20) > 8);
    deja_filter_free(f);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void replacing_puts_the_new_file_in_place_at_its_first_sync(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("replaced", &opt, 10);
    deja_filter *old = open_file(path, 0), *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    add_keys(f, 100, 110);
    deja_filter *before = open_file(path, 0);
    assert_int_equal(missing(before, 0, 10), 0);
    deja_filter_free(before);
    sync_file(f);
    deja_filter_free(f);
    deja_filter *now = open_file(path, 0);
    assert_int_equal(missing(now, 100, 110), 0);
    assert_true(missing(now, 0, 10) > 8);
    deja_filter_free(now);
    assert_int_equal(missing(old, 0, 10), 0); /* a process that has it open keeps it */
    deja_filter_free(old);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void replacing_creates_a_missing_file(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("fresh");
    deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
}

static void replacing_a_file_that_is_open_for_writing_is_refused(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("locked", &opt, 10);
    const struct peer p = peer_start(hold_open, path);
    assert_true(hear(p.from));
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EBUSY, "in use");
    kill(p.pid, SIGKILL);
    peer_end(p);
    unlink(path);
}

static void only_filters_and_empty_files_are_replaced(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("notes.txt");
    struct stat st;
    write_file(path, "https://example.com/\n", 21);
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EINVAL, "not a deja filter file");
    const struct bytes b = read_file(path);
    assert_int_equal(b.len, 21);
    free(b.data);
    write_file(path, "", 0);
    MUST(chmod(path, 0640) == 0);
    deja_filter *f = create_file(path, DEJA_CREATE_REPLACE, &opt);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 0777, 0640); /* with the mode that its creator chose */
}

static void an_empty_file_is_replaced_without_the_flag(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("mktemp");
    write_file(path, "", 0);
    deja_filter *f = create_file(path, 0, &opt), *late = create_file(path, 0, &opt);
    deja_error err = {0};
    sync_file(f);
    refused(deja_filter_sync(late, &err), DEJA_EINVAL, &err, "exists");
    deja_filter_free(late);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static void a_file_that_is_no_longer_empty_stays(void **state)
{
    const deja_options opt = small();
    const char *path = scratch_path("mktemp");
    deja_error err = {0};
    write_file(path, "", 0);
    deja_filter *f = create_file(path, 0, &opt);
    write_file(path, "x", 1);
    refused(deja_filter_sync(f, &err), DEJA_EINVAL, &err, "exists");
    deja_filter_free(f);
    const struct bytes b = read_file(path);
    assert_int_equal(b.len, 1);
    free(b.data);
}

static void a_dangling_link_is_refused_at_once(void **state)
{
    const char *path = scratch_path("link");
    MUST(symlink("nowhere", path) == 0);
    create_is_refused(path, 0, DEJA_EINVAL, "symbolic link to a missing file");
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EINVAL, "symbolic link to a missing file");
}

/* Without files that have no name, a new file has a temporary one, which a kill leaves behind. */
enum {
    TEMPORARY = !DJ_OS_LINUX
};

static void a_new_file_that_is_not_synced_leaves_nothing(void **state)
{
    const deja_options opt = growing();
    deja_filter *f = create_file(scratch_path("never"), 0, &opt);
    assert_int_equal(scratch_count(scratch_folder), TEMPORARY);
    add_keys(f, 0, 1000);
    deja_filter_free(f);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

static int create_and_wait(const char *path, int in, int out)
{
    const deja_options opt = growing();
    deja_filter *f = NULL;
    CHECK(deja_filter_create(path, 0, &opt, &f, NULL) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK);
    CHECK(tell(out) && hear(in));
    return 1;
}

static void a_kill_before_the_first_sync_leaves_nothing(void **state)
{
    const struct peer p = peer_start(create_and_wait, scratch_path("never"));
    assert_true(hear(p.from));
    kill(p.pid, SIGKILL);
    assert_int_equal(peer_end(p), CHILD_KILLED + SIGKILL);
    assert_int_equal(scratch_count(scratch_folder), TEMPORARY);
}

static void growth_before_the_first_sync_is_kept(void **state)
{
    const deja_options opt = growing();
    const char *path = make_file("grown_early", &opt, 1000);
    deja_filter *f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1000), 0);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(creating_twice_is_refused),
        TEST(of_two_creators_the_first_to_sync_wins),
        TEST(replacing_puts_the_new_file_in_place_at_its_first_sync),
        TEST(replacing_creates_a_missing_file),
        TEST(replacing_a_file_that_is_open_for_writing_is_refused),
        TEST(only_filters_and_empty_files_are_replaced),
        TEST(an_empty_file_is_replaced_without_the_flag),
        TEST(a_file_that_is_no_longer_empty_stays),
        TEST(a_dangling_link_is_refused_at_once),
        TEST(a_new_file_that_is_not_synced_leaves_nothing),
        TEST(a_kill_before_the_first_sync_leaves_nothing),
        TEST(growth_before_the_first_sync_is_kept),
    };
    return cmocka_run_group_tests_name("fault.create", tests, scratch_open, scratch_close);
}
