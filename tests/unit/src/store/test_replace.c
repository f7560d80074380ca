/* test_replace.c - files that are moved into place while another file takes that name.
 *
 * The test replaces libc's renameat2, so that other files can arrive at the worst moments, and
 * openat, so that the file system seems to have no files without a name. */
#include "core/base/os.h"
#include "scratch.h"
#include "store/replace.h"
#include "unit.h"
#include <dirent.h>
#include <errno.h>
#include <sys/syscall.h>

static const char *arrivals[2]; /* files that get the name before the 1st and the 2nd exchange */
static int exchanges;
static bool unsupported;
static bool no_unnamed;

int openat(int folder, const char *name, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (no_unnamed && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, folder, name, flags, mode);
}

int renameat2(int from_folder, const char *from, int folder, const char *name, unsigned flags)
{
    if (unsupported) {
        errno = EINVAL;
        return -1;
    }
    const char *arrival = exchanges < 2 ? arrivals[exchanges] : NULL;
    exchanges++;
    if (arrival)
        MUST(rename(scratch_path(arrival), scratch_path(name)) == 0);
    return (int)syscall(SYS_renameat2, from_folder, from, folder, name, flags);
}

static void put(const char *name)
{
    write_file(scratch_path(name), name, strlen(name));
}

static bool holds(const char *name, const char *content)
{
    struct bytes b = read_file(scratch_path(name));
    const bool same = b.len == strlen(content) && memcmp(b.data, content, b.len) == 0;
    free(b.data);
    return same;
}

static int files_in_folder(void)
{
    int n = 0;
    DIR *folder = opendir(scratch_folder);
    MUST(folder);
    for (const struct dirent *e; (e = readdir(folder));)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(folder);
    return n;
}

/* Replaces "old" with a file that contains "new". */
static int replace(deja_error *err)
{
    struct dj_tmp t;
    exchanges = 0;
    const int over = open(scratch_path("old"), O_RDONLY | O_CLOEXEC);
    MUST(over >= 0);
    assert_int_equal(dj_tmp_open(&t, scratch_path("old"), 0600, err), DEJA_OK);
    const int fd = t.fd;
    MUST(write(fd, "new", 3) == 3);
    const int rc = dj_tmp_commit(&t, over, err);
    if (rc == DEJA_OK)
        close(fd);
    dj_tmp_discard(&t);
    close(over);
    return rc;
}

static int begin(void **state)
{
    arrivals[0] = arrivals[1] = NULL;
    unsupported = no_unnamed = false;
    put("old");
    (void)state;
    return 0;
}

static void a_file_is_replaced(void **state)
{
    deja_error err = {0};
    assert_int_equal(replace(&err), DEJA_OK);
    assert_int_equal(exchanges, DJ_OS_LINUX);
    assert_true(holds("old", "new"));
    assert_int_equal(files_in_folder(), 1);
}

static void without_exchanges_a_file_is_renamed(void **state)
{
    deja_error err = {0};
    unsupported = true;
    assert_int_equal(replace(&err), DEJA_OK);
    assert_true(holds("old", "new"));
    assert_int_equal(files_in_folder(), 1);
}

/* As when a filter is folded before its first sync.  A leftover of a killed process is in nobody's
 * way. */
static void two_files_for_one_name_have_different_temporary_names(void **state)
{
    struct dj_tmp a, b;
    char left[64];
    no_unnamed = true;
    snprintf(left, sizeof left, ".both.%ld.new", (long)getpid());
    put(left);
    assert_int_equal(dj_tmp_open(&a, scratch_path("both"), 0600, NULL), DEJA_OK);
    assert_int_equal(dj_tmp_open(&b, scratch_path("both"), 0600, NULL), DEJA_OK);
    assert_string_equal(a.temporary, left);
    assert_string_not_equal(a.temporary, b.temporary);
    assert_int_equal(files_in_folder(), 3);
    dj_tmp_discard(&a);
    const int fd = b.fd;
    assert_int_equal(dj_tmp_commit(&b, DJ_TMP_NEW, NULL), DEJA_OK);
    close(fd);
    dj_tmp_discard(&b);
    assert_int_equal(access(scratch_path("both"), F_OK), 0);
    assert_int_equal(files_in_folder(), 2);
}

#if DJ_OS_LINUX
static void a_file_that_arrives_between_check_and_rename_stays(void **state)
{
    deja_error err = {0};
    put("other");
    arrivals[0] = "other";
    assert_int_equal(replace(&err), DEJA_EIO);
    assert_non_null(strstr(err.text, "was replaced by another file"));
    assert_int_equal(exchanges, 2);
    assert_true(holds("old", "other"));
    assert_int_equal(files_in_folder(), 1);
}

static void two_files_that_arrive_both_stay(void **state)
{
    deja_error err = {0};
    put("other");
    put("third");
    arrivals[0] = "other";
    arrivals[1] = "third";
    assert_int_equal(replace(&err), DEJA_EIO);
    assert_true(holds("old", "other"));
    assert_int_equal(files_in_folder(), 2); /* the third one has the temporary name */
}
#endif

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, scratch_clear)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_replaced),
        TEST(without_exchanges_a_file_is_renamed),
        TEST(two_files_for_one_name_have_different_temporary_names),
#if DJ_OS_LINUX /* other systems have the gap */
        TEST(a_file_that_arrives_between_check_and_rename_stays),
        TEST(two_files_that_arrive_both_stay),
#endif
    };
    return cmocka_run_group_tests_name("unit.replace", tests, scratch_open, scratch_close);
}
