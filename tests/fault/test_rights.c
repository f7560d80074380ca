/* test_rights.c - the permissions and owners of filter files. */
#include "storing.h"
#include <sys/stat.h>

static mode_t mode_of(const char *path)
{
    struct stat st;
    MUST(stat(path, &st) == 0);
    return st.st_mode & 07777;
}

static deja_options keyed(void)
{
    deja_options opt = growing();
    opt.seed = 0; /* a random key */
    return opt;
}

/* Creates the file under this umask and returns its mode. */
static mode_t mode_under(mode_t mask, const deja_options *opt, unsigned flags)
{
    const char *path = scratch_path("made");
    const mode_t old = umask(mask);
    deja_filter *f = create_file(path, flags, opt);
    umask(old);
    add_keys(f, 0, 1000); /* and grows before it has a name */
    sync_file(f);
    deja_filter_free(f);
    const mode_t mode = mode_of(path);
    unlink(path);
    return mode;
}

static void only_the_owner_reads_a_file_that_contains_its_key(void **state)
{
    const deja_options opt = keyed();
    assert_int_equal(mode_under(022, &opt, 0), 0600);
    assert_int_equal(mode_under(0, &opt, 0), 0600);
    assert_int_equal(mode_under(0277, &opt, 0), 0400);
    assert_int_equal(mode_under(022, &opt, DEJA_CREATE_REPLACE), 0600);
}

static void the_umask_applies_if_there_is_no_secret(void **state)
{
    const deja_options seeded = growing();
    deja_options apart = keyed();
    uint8_t key[DEJA_KEY_LEN] = {1};
    apart.key = key;
    apart.flags = DEJA_KEY_APART;
    assert_int_equal(mode_under(022, &seeded, 0), 0644);
    assert_int_equal(mode_under(002, &apart, 0), 0664);
    apart.flags = 0; /* the given key goes into the file */
    assert_int_equal(mode_under(002, &apart, 0), 0600);
}

static void the_caller_can_choose_the_mode(void **state)
{
    const deja_options opt = keyed(), seeded = growing();
    assert_int_equal(mode_under(077, &opt, DEJA_CREATE_MODE(0640)), 0640);
    assert_int_equal(mode_under(0, &seeded, DEJA_CREATE_MODE(0600)), 0600);
    create_is_refused(scratch_path("made"), DEJA_CREATE_MODE(01777), DEJA_EINVAL, "permissions");
}

static void a_copy_and_a_static_filter_follow_the_same_rules(void **state)
{
    const deja_options opt = keyed();
    const char *path = make_file("from", &opt, 10), *to = scratch_path("to");
    const mode_t old = umask(022);
    deja_filter *from = open_file(path, 0), *f = NULL;
    deja_builder *b = NULL;
    deja_options set = DEJA_OPTIONS_INIT;
    MUST(chmod(path, 0644) == 0);
    assert_int_equal(deja_filter_copy(from, to, 0, &f, NULL), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(mode_of(to), 0600);
    assert_int_equal(
        deja_filter_copy(from, to, DEJA_CREATE_REPLACE | DEJA_CREATE_MODE(0604), &f, NULL),
        DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(mode_of(to), 0604);
    deja_filter_free(from);
    unlink(to);
    set.kind = DEJA_STATIC;
    assert_int_equal(deja_builder_new(&set, &b, NULL), DEJA_OK);
    assert_int_equal(deja_builder_finish(b, to, 0, &f, NULL), DEJA_OK);
    sync_file(f);
    deja_filter_free(f);
    deja_builder_free(b);
    umask(old);
    assert_int_equal(mode_of(to), 0600);
}

/* Changes that an administrator made with chmod and chown stay. */
static void growth_and_visits_keep_mode_and_owner(void **state)
{
    const deja_options opt = keyed();
    const char *path = make_file("seen", &opt, 10);
    const bool root = geteuid() == 0;
    struct stat st;
    MUST(chmod(path, 0664) == 0 && (!root || chown(path, 12345, 23456) == 0));
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    const mode_t old = umask(077);
    add_keys(f, 10, 3000);
    sync_file(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 07777, 0664);
    assert_true(!root || (st.st_uid == 12345 && st.st_gid == 23456));
    MUST(chmod(path, 0660) == 0); /* while it is open */
    assert_int_equal(deja_filter_rotate(f, NULL, NULL), DEJA_OK);
    umask(old);
    deja_filter_free(f);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_mode & 07777, 0660);
    assert_true(!root || (st.st_uid == 12345 && st.st_gid == 23456));
}

/* Checks that a user who is not in the file's group cannot keep that group. */
static int grow_as_nobody(const char *path, int in, int out)
{
    deja_filter *f = NULL;
    CHECK(setgid(65534) == 0 && setuid(65534) == 0);
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, NULL) == DEJA_OK);
    CHECK(take(f, 10, 3000) == DEJA_OK);
    CHECK(deja_filter_sync(f, NULL) == DEJA_OK);
    deja_filter_free(f);
    return 0;
}

static void growth_gives_no_access_to_another_group(void **state)
{
    const deja_options opt = keyed();
    if (geteuid() != 0)
        skip();
    const char *path = make_file("seen", &opt, 10);
    struct stat st;
    MUST(chmod(scratch_folder, 0777) == 0);
    MUST(chown(path, 65534, 23456) == 0 && chmod(path, 0670) == 0);
    in_child(grow_as_nobody, path);
    MUST(stat(path, &st) == 0);
    assert_int_equal(st.st_gid, 65534);
    assert_int_equal(st.st_mode & 07777, 0600);
    MUST(chmod(scratch_folder, 0700) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_the_owner_reads_a_file_that_contains_its_key),
        TEST(the_umask_applies_if_there_is_no_secret),
        TEST(the_caller_can_choose_the_mode),
        TEST(a_copy_and_a_static_filter_follow_the_same_rules),
        TEST(growth_and_visits_keep_mode_and_owner),
        TEST(growth_gives_no_access_to_another_group),
    };
    return cmocka_run_group_tests_name("fault.rights", tests, scratch_open, scratch_close);
}
