/* test_os.c - what the door to the system promises, with and without the calls of Linux. */
#include "core/base/os.h"
#include "scratch.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    LEN = 3 << 20
};

static int make(const char *name)
{
    const int fd = open(scratch_path(name), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    return fd;
}

static void reserved_space_is_on_the_disk(void **state)
{
    struct stat st;
    const int fd = make("reserved");
    assert_int_equal(ftruncate(fd, LEN), 0);
    if (dj_os_reserve(fd, LEN) == 0) {
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(st.st_size, LEN);
        assert_true(st.st_blocks * 512 >= LEN);
    } else {
        assert_int_equal(errno, EOPNOTSUPP);
    }
    close(fd);
}

static void reserving_reports_the_error_in_errno(void **state)
{
    const int fd = open(scratch_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    errno = 0;
    assert_int_equal(dj_os_reserve(fd, 4096), -1);
    assert_int_equal(errno, EBADF); /* not open for writing */
    close(fd);
}

static void a_file_without_a_name_gets_one(void **state)
{
    const int folder = open(scratch_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const int fd = dj_os_unnamed(folder, 0600);
    if (fd < 0) {
        assert_true(errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL);
    } else {
        assert_true(DJ_OS_LINUX);
        assert_int_equal(dj_os_link(fd, folder, "named"), 0);
        assert_int_equal(access(scratch_path("named"), F_OK), 0);
        assert_int_equal(dj_os_link(fd, folder, "named"), -1);
        assert_int_equal(errno, EEXIST);
        close(fd);
    }
    close(folder);
}

static void an_exchange_swaps_both_names_or_neither(void **state)
{
    struct stat a, b, now;
    const int one = make("one"), two = make("two");
    const int folder = open(scratch_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fstat(one, &a) == 0 && fstat(two, &b) == 0);
    const bool done = dj_os_exchange(folder, "one", folder, "two") == 0;
    if (!done)
        assert_true(errno == EINVAL || errno == ENOSYS || errno == ENOTSUP);
    assert_true(done == (DJ_OS_LINUX != 0));
    assert_int_equal(stat(scratch_path("one"), &now), 0);
    assert_int_equal(now.st_ino, done ? b.st_ino : a.st_ino);
    assert_int_equal(stat(scratch_path("two"), &now), 0);
    assert_int_equal(now.st_ino, done ? a.st_ino : b.st_ino);
    close(one);
    close(two);
    close(folder);
}

static void a_file_is_opened_to_recognize_it_but_not_through_a_link(void **state)
{
    struct stat a, b;
    const int made = make("file");
    const int fd = dj_os_open_to_recognize(scratch_path("file"));
    assert_true(fd >= 0 && fstat(made, &a) == 0 && fstat(fd, &b) == 0);
    assert_int_equal(a.st_ino, b.st_ino);
    close(made);
    close(fd);
    errno = 0;
    assert_int_equal(dj_os_open_to_recognize(scratch_path("missing")), -1);
    assert_int_equal(errno, ENOENT);
}

static void syncs_succeed_on_files_directories_and_mappings(void **state)
{
    const int fd = make("synced");
    const int folder = open(scratch_folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(ftruncate(fd, LEN), 0);
    char *map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    map[0] = 1;
    assert_int_equal(dj_os_sync_map(fd, map, LEN), 0);
    assert_int_equal(dj_os_sync_data(fd), 0);
    assert_int_equal(dj_os_sync(fd), 0);
    assert_int_equal(dj_os_sync(folder), 0);
    munmap(map, LEN);
    close(fd);
    close(folder);
    assert_int_equal(dj_os_sync(fd), -1);
    assert_int_equal(dj_os_sync_data(fd), -1);
}

/* Above all, no hint drops what was written through a mapping. */
static void hints_change_no_byte(void **state)
{
    const int fd = make("hinted");
    assert_int_equal(ftruncate(fd, LEN), 0);
    char *map = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    assert_true(map != MAP_FAILED);
    memset(map, 7, LEN);
    static const enum dj_os_use uses[] = {DJ_OS_IN_ORDER, DJ_OS_AT_RANDOM, DJ_OS_SOON,
                                          DJ_OS_NOT_AGAIN};
    for (size_t u = 0; u < sizeof uses / sizeof uses[0]; u++) {
        dj_os_advise_file(fd, uses[u]);
        if (uses[u] != DJ_OS_NOT_AGAIN)
            dj_os_advise_map(map, LEN, uses[u]);
        for (size_t i = 0; i < LEN; i += 4096)
            assert_int_equal(map[i], 7);
    }
    dj_os_use_huge_pages(map, LEN);
    munmap(map, LEN);
    close(fd);
}

static char *pages(size_t len)
{
    char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    return p;
}

static void moved_pages_keep_their_bytes(void **state)
{
    char *from = pages(LEN), *to = pages(2 * LEN);
    memset(from, 5, LEN);
    if (!dj_os_move_pages(from, LEN, to, 2 * LEN)) {
        assert_false(DJ_OS_LINUX);
        memcpy(to, from, LEN); /* still there */
        munmap(from, LEN);
    }
    assert_true(to[0] == 5 && to[LEN - 1] == 5 && to[LEN] == 0 && to[2 * LEN - 1] == 0);
    munmap(to, 2 * LEN);
}

static void zeros_replace_a_mapping(void **state)
{
    char *p = pages(LEN);
    memset(p, 9, LEN);
    assert_true(dj_os_map_zeros(p + LEN / 3, LEN / 3));
    assert_true(p[0] == 9 && p[LEN / 3] == 0 && p[2 * LEN / 3 - 1] == 0 && p[LEN - 1] == 9);
    munmap(p, LEN);
}

static void the_last_byte_is_found(void **state)
{
    const char text[] = "a@b@c";
    assert_ptr_equal(dj_os_find_last(text, '@', 5), text + 3);
    assert_ptr_equal(dj_os_find_last(text, '@', 3), text + 1);
    assert_ptr_equal(dj_os_find_last(text, 'a', 5), text);
    assert_null(dj_os_find_last(text, '@', 1));
    assert_null(dj_os_find_last(text, 'a', 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reserved_space_is_on_the_disk),
        cmocka_unit_test(reserving_reports_the_error_in_errno),
        cmocka_unit_test(a_file_without_a_name_gets_one),
        cmocka_unit_test(an_exchange_swaps_both_names_or_neither),
        cmocka_unit_test(a_file_is_opened_to_recognize_it_but_not_through_a_link),
        cmocka_unit_test(syncs_succeed_on_files_directories_and_mappings),
        cmocka_unit_test(hints_change_no_byte),
        cmocka_unit_test(moved_pages_keep_their_bytes),
        cmocka_unit_test(zeros_replace_a_mapping),
        cmocka_unit_test(the_last_byte_is_found),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
