/* test_sys.c - what the tools' door to the system promises, with and without the calls of Linux. */
#include "scratch.h"
#include "tools/base/sys.h"
#include "unit.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void random_bytes_differ_and_too_many_are_refused(void **state)
{
    unsigned char a[32] = {0}, b[32] = {0}, many[257];
    assert_true(sys_random(a, sizeof a) && sys_random(b, sizeof b));
    assert_memory_not_equal(a, b, sizeof a);
    assert_false(sys_random(many, sizeof many));
}

static void a_secret_is_wiped_to_its_length(void **state)
{
    char secret[8] = "1234567";
    sys_wipe(secret, 4);
    assert_memory_equal(secret,
                        "\0\0\0\0"
                        "567",
                        8);
}

static void files_without_a_name_are_gone_when_closed(void **state)
{
    struct stat st;
    const int fd = sys_unnamed(scratch_folder);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "x", 1), 1);
    assert_int_equal(sys_sync(fd), 0);
    assert_int_equal(sys_sync_data(fd), 0);
    sys_will_not_read_again(fd);
    sys_will_read_in_order(fd);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_nlink, 0);
    assert_int_equal(st.st_size, 1);
    assert_true(sys_modified(&st).tv_sec > 1600000000);
    close(fd);
    assert_int_equal(sys_sync_data(fd), -1);
    errno = 0;
    assert_int_equal(sys_unnamed(scratch_path("missing")), -1);
    assert_int_equal(errno, ENOENT);
}

static void sockets_are_not_inherited(void **state)
{
    const int fd = sys_socket(AF_UNIX, SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
}

static void arrays_grow_but_do_not_overflow(void **state)
{
    int *p = sys_array(NULL, 4, sizeof *p);
    assert_non_null(p);
    p[3] = 7;
    p = sys_array(p, 4000, sizeof *p);
    assert_true(p && p[3] == 7);
    assert_null(sys_array(p, SIZE_MAX / 2, sizeof *p));
    assert_int_equal(p[3], 7);
    free(p);
}

static void lazy_memory_is_zero(void **state)
{
    const size_t len = (size_t)64 << 20;
    char *p = sys_map_lazily(len);
    assert_true(p != MAP_FAILED);
    sys_use_huge_pages(p, len);
    assert_true(p[0] == 0 && p[len - 1] == 0);
    munmap(p, len);
}

static void a_timed_wait_ends_by_the_clock_of_the_condition(void **state)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c;
    struct timespec now;
    const clockid_t clock = sys_condition_init(&c);
    assert_int_equal(clock_gettime(clock, &now), 0);
    pthread_mutex_lock(&lock);
    int rc = pthread_cond_timedwait(&c, &lock, &now); /* of the other clock, this is far away */
    while (rc == 0)
        rc = pthread_cond_timedwait(&c, &lock, &now);
    pthread_mutex_unlock(&lock);
    assert_int_equal(rc, ETIMEDOUT);
    pthread_cond_destroy(&c);
}

static void the_last_byte_is_found(void **state)
{
    const char text[] = "a.b.c";
    assert_ptr_equal(sys_find_last(text, '.', 5), text + 3);
    assert_ptr_equal(sys_find_last(text, '.', 3), text + 1);
    assert_null(sys_find_last(text, '.', 1));
    assert_null(sys_find_last(text, 'a', 0));
}

static void the_locale_decides_about_utf8(void **state)
{
    setenv("LC_ALL", "C.UTF-8", 1);
    assert_true(sys_is_utf8());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_bytes_differ_and_too_many_are_refused),
        cmocka_unit_test(a_secret_is_wiped_to_its_length),
        cmocka_unit_test(files_without_a_name_are_gone_when_closed),
        cmocka_unit_test(sockets_are_not_inherited),
        cmocka_unit_test(arrays_grow_but_do_not_overflow),
        cmocka_unit_test(lazy_memory_is_zero),
        cmocka_unit_test(a_timed_wait_ends_by_the_clock_of_the_condition),
        cmocka_unit_test(the_last_byte_is_found),
        cmocka_unit_test(the_locale_decides_about_utf8),
    };
    return cmocka_run_group_tests(tests, scratch_open, scratch_close);
}
