/* test_places.c - files that cannot be created where they are requested, and full disks.
 *
 * Work in another process reports its result by its exit status: cmocka's assertions work only in
 * this one. */
#include "storing.h"
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#define MB ((uint64_t)1 << 20)

/* --- Places where a file cannot be created --------------------------------- */

static void folders_are_not_files(void **state)
{
    open_is_refused(scratch_folder, 0, DEJA_EINVAL, "not a regular file");
    open_is_refused(scratch_folder, DEJA_OPEN_WRITE, DEJA_EINVAL, "is a directory");
    create_is_refused(scratch_folder, 0, DEJA_EINVAL, "is a directory");
    create_is_refused(scratch_folder, DEJA_CREATE_REPLACE, DEJA_EINVAL, "is a directory");
}

static void a_named_pipe_is_refused_without_waiting(void **state)
{
    const char *path = scratch_path("pipe");
    MUST(mkfifo(path, 0666) == 0);
    open_is_refused(path, 0, DEJA_EINVAL, "not a regular file");
    open_is_refused(path, DEJA_OPEN_WRITE, DEJA_EINVAL, "not a regular file");
    create_is_refused(path, 0, DEJA_EINVAL, "not a regular file");
    create_is_refused(path, DEJA_CREATE_REPLACE, DEJA_EINVAL, "not a regular file");
}

static void the_error_names_a_missing_folder(void **state)
{
    const char *path = scratch_path("nowhere/x.deja");
    open_is_refused(path, 0, DEJA_EIO, path);
    create_is_refused(path, 0, DEJA_EIO, path);
}

/* Root may write anywhere, so continue as user nobody. */
static bool be_nobody(void)
{
    return geteuid() != 0 ||
           (setresgid(65534, 65534, 65534) == 0 && setresuid(65534, 65534, 65534) == 0);
}

static int use_read_only_folder(const char *path, int in, int out)
{
    (void)in, (void)out;
    const deja_options opt = small();
    char other[600];
    deja_filter *f = NULL;
    deja_error err = {0};
    if (!be_nobody() || access(path, R_OK) != 0)
        return CHILD_SKIPS;
    snprintf(other, sizeof other, "%s.new", path);
    CHECK(deja_filter_create(other, 0, &opt, &f, &err) == DEJA_EIO);
    CHECK(strstr(err.text, other) && strstr(err.text, "Permission denied"));
    /* Files in the folder can be read, and written if the file itself allows it. */
    CHECK(deja_filter_open(path, 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, 10) == 0);
    deja_filter_free(f);
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err) == DEJA_OK);
    CHECK(take(f, 10, 20) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    return CHILD_FINE;
}

static int use_read_only_file(const char *path, int in, int out)
{
    (void)in, (void)out;
    deja_filter *f = NULL;
    deja_error err = {0};
    if (!be_nobody() || access(path, R_OK) != 0)
        return CHILD_SKIPS;
    CHECK(deja_filter_open(path, DEJA_OPEN_WRITE, NULL, &f, &err) == DEJA_EIO);
    CHECK(strstr(err.text, path) && strstr(err.text, "Permission denied"));
    CHECK(deja_filter_open(path, 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, 10) == 0);
    deja_filter_free(f);
    CHECK(deja_file_verify(path, &err) == DEJA_OK);
    return CHILD_FINE;
}

static void a_read_only_folder_accepts_no_new_files(void **state)
{
    const deja_options opt = small();
    const char *folder = scratch_path("sealed_folder");
    MUST(mkdir(folder, 0755) == 0 && chmod(scratch_folder, 0755) == 0);
    const char *path = make_file("sealed_folder/x.deja", &opt, 10);
    MUST(chmod(path, 0666) == 0 && chmod(folder, 0555) == 0);
    in_child(use_read_only_folder, path);
    MUST(chmod(folder, 0755) == 0);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    unlink(path);
    rmdir(folder);
}

static void a_read_only_file_can_be_read_but_not_written(void **state)
{
    const deja_options opt = small();
    const char *path = make_file("sealed", &opt, 10);
    MUST(chmod(scratch_folder, 0755) == 0 && chmod(path, 0444) == 0);
    in_child(use_read_only_file, path);
    unlink(path);
}

/* --- No room --------------------------------------------------------------- */

/* Mounts a file system of that size on the folder, in its own namespace, so that it ends with the
 * process.  In a chroot, / cannot be made private; the mount may then be visible to the parent,
 * which unmounts it. */
static bool mount_small(const char *folder, const char *size)
{
    const int own = geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWNS | CLONE_NEWUSER;
    if (unshare(own) != 0)
        return false;
    (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return mount("tmpfs", folder, "tmpfs", 0, size) == 0 && chdir(folder) == 0;
}

static int create_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    if (!mount_small(path, "size=1m"))
        return CHILD_SKIPS;
    deja_options opt = small();
    deja_filter *f = NULL;
    deja_error err = {0};
    opt.memory = 4 * MB;
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_EIO);
    CHECK(!f && strstr(err.text, "x.deja") && strstr(err.text, "No space left"));
    CHECK(scratch_count(".") == 0);
    opt.memory = MB / 2; /* and the reserved space was released */
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_OK);
    CHECK(take(f, 0, 1000) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    return CHILD_FINE;
}

/* 40,000 keys of 39 bits are 200 kB; the next part is 1 MB. */
static deja_options growing_large(void)
{
    deja_options opt = growing();
    opt.capacity = 40000;
    return opt;
}

/* Adds until there is no room to grow; returns how many keys were accepted. */
static uint64_t fill_up(deja_filter *f)
{
    uint64_t n = 0;
    while (n < 1000000 && take(f, n, n + 1) == DEJA_OK)
        n++;
    return n;
}

static int grow_without_room(bool named)
{
    const deja_options opt = growing_large();
    deja_filter *f = NULL;
    deja_error err = {0};
    CHECK(deja_filter_create("x.deja", 0, &opt, &f, &err) == DEJA_OK);
    if (named)
        CHECK(deja_filter_sync(f, &err) == DEJA_OK);
    const uint64_t n = fill_up(f);
    CHECK(n >= 40000 && n < 1000000);
    CHECK(take(f, n, n + 1) == DEJA_EIO && errno == ENOSPC);
    CHECK(missing(f, 0, n) == 0);
    CHECK(deja_filter_sync(f, &err) == DEJA_OK);
    CHECK(scratch_count(".") == 1);
    /* Other processes find the accepted keys ... */
    deja_filter *reader = NULL;
    CHECK(deja_filter_open("x.deja", 0, NULL, &reader, &err) == DEJA_OK);
    CHECK(missing(reader, 0, n) == 0);
    deja_filter_free(reader);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    /* ... and adding continues when there is room again. */
    CHECK(mount(NULL, ".", NULL, MS_REMOUNT, "size=64m") == 0);
    CHECK(take(f, n, n + 1000) == DEJA_OK && deja_filter_sync(f, &err) == DEJA_OK);
    deja_filter_free(f);
    CHECK(deja_filter_open("x.deja", 0, NULL, &f, &err) == DEJA_OK);
    CHECK(missing(f, 0, n + 1000) == 0);
    deja_filter_free(f);
    CHECK(deja_file_verify("x.deja", &err) == DEJA_OK);
    return CHILD_FINE;
}

static int grow_named_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    return mount_small(path, "size=1m") ? grow_without_room(true) : CHILD_SKIPS;
}

static int grow_unnamed_without_room(const char *path, int in, int out)
{
    (void)in, (void)out;
    return mount_small(path, "size=1m") ? grow_without_room(false) : CHILD_SKIPS;
}

static void in_small_folder(child_work *work)
{
    const char *folder = scratch_path("small");
    MUST(mkdir(folder, 0777) == 0);
    const int status = end_of(start(work, folder));
    (void)umount2(folder, MNT_DETACH);
    rmdir(folder);
    if (status == CHILD_SKIPS)
        skip();
    assert_int_equal(status, CHILD_FINE);
}

static void a_full_disk_at_create_is_an_error_that_leaves_nothing(void **state)
{
    in_small_folder(create_without_room);
}

static void a_full_disk_at_growth_loses_no_key(void **state)
{
    in_small_folder(grow_named_without_room);
}

static void a_full_disk_at_growth_of_a_new_file_loses_no_key(void **state)
{
    in_small_folder(grow_unnamed_without_room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(folders_are_not_files),
        TEST(a_named_pipe_is_refused_without_waiting),
        TEST(the_error_names_a_missing_folder),
        TEST(a_read_only_folder_accepts_no_new_files),
        TEST(a_read_only_file_can_be_read_but_not_written),
        TEST(a_full_disk_at_create_is_an_error_that_leaves_nothing),
        TEST(a_full_disk_at_growth_loses_no_key),
        TEST(a_full_disk_at_growth_of_a_new_file_loses_no_key),
    };
    return cmocka_run_group_tests_name("fault.places", tests, scratch_open, scratch_close);
}
