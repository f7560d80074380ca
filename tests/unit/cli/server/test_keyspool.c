/* test_keyspool.c - keys for a missing server come back complete and in order, or are reported. */
#include "unit.h"

#include "cli/server/keyspool.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[64];
static const struct keyspool_id seen = {dir, "a/b c", 2, 99};

static int make_dir(void **state)
{
    (void)snprintf(dir, sizeof dir, "/tmp/keyspool-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static unsigned files(void)
{
    DIR *d = opendir(dir);
    unsigned n = 0;
    for (const struct dirent *e; d && (e = readdir(d));)
        n += e->d_name[0] != '.';
    if (d)
        closedir(d);
    return n;
}

static int remove_dir(void **state)
{
    DIR *d = opendir(dir);
    char path[400];
    for (const struct dirent *e; d && (e = readdir(d));) {
        (void)snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
        (void)unlink(path);
    }
    if (d)
        closedir(d);
    return rmdir(dir);
}

static void put_numbers(struct keyspool *s, int from, int to)
{
    char text[100][16];
    deja_slice key[100];
    deja_error err = {0, ""};
    for (int i = from; i < to; i++)
        key[i - from] =
            (deja_slice){text[i - from], (size_t)snprintf(text[i - from], 16, "key %d", i)};
    if (keyspool_put(s, key, (size_t)(to - from), NULL, &err) < 0)
        fail_msg("%s", err.text);
}

static void expect_numbers(struct keyspool *s, int from, int to)
{
    struct buffer piece = {0};
    deja_slice key[7];
    size_t n = 1;
    for (int at = from; n;) {
        assert_int_equal(keyspool_next(s, &piece, key, 7, &n, NULL), DEJA_OK);
        for (size_t i = 0; i < n; i++, at++) {
            char want[16];
            assert_int_equal(key[i].len, snprintf(want, sizeof want, "key %d", at));
            assert_memory_equal(key[i].data, want, key[i].len);
        }
        if (!n)
            assert_int_equal(at, to);
    }
    buffer_fini(&piece);
}

static void reopen(struct keyspool *s, uint64_t limit)
{
    deja_error err = {0, ""};
    if (s->fd >= 0)
        close(s->fd); /* as if the process had been killed */
    if (keyspool_open(s, &seen, limit, &err) < 0)
        fail_msg("%s", err.text);
}

static void keys_survive_the_process_in_order(void **state)
{
    struct keyspool s = {.fd = -1};
    reopen(&s, KEYSPOOL_DEFAULT);
    assert_int_equal(files(), 0);
    put_numbers(&s, 0, 100);
    put_numbers(&s, 100, 150);
    reopen(&s, KEYSPOOL_DEFAULT);
    assert_int_equal(s.keys, 150);
    expect_numbers(&s, 0, 150);
    keyspool_rewind(&s);
    expect_numbers(&s, 0, 150);
    put_numbers(&s, 150, 160); /* while they are delivered */
    expect_numbers(&s, 150, 160);
    assert_int_equal(keyspool_clear(&s, NULL), DEJA_OK);
    put_numbers(&s, 160, 170);
    expect_numbers(&s, 160, 170);
    assert_int_equal(keyspool_clear(&s, NULL), DEJA_OK);
    keyspool_close(&s);
    assert_int_equal(files(), 0);
}

static void only_the_owner_can_read_the_file(void **state)
{
    struct keyspool s = {.fd = -1};
    struct stat st;
    reopen(&s, KEYSPOOL_DEFAULT);
    put_numbers(&s, 0, 1);
    assert_int_equal(stat(s.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    keyspool_close(&s);
}

/* Every cut leaves the records before it. */
static void a_cut_at_any_byte_loses_only_the_records_after_it(void **state)
{
    for (off_t cut = 0; cut <= KEYSPOOL_HEADER + 3 * 17; cut++) {
        struct keyspool s = {.fd = -1};
        reopen(&s, KEYSPOOL_DEFAULT);
        put_numbers(&s, 0, 3);
        assert_int_equal(s.len, KEYSPOOL_HEADER + 3 * 17);
        assert_int_equal(ftruncate(s.fd, cut), 0);
        reopen(&s, KEYSPOOL_DEFAULT);
        const int left = cut < KEYSPOOL_HEADER ? 0 : (int)(cut - KEYSPOOL_HEADER) / 17;
        expect_numbers(&s, 0, left);
        assert_int_equal(s.damaged, cut < KEYSPOOL_HEADER ? 0 : (cut - KEYSPOOL_HEADER) % 17);
        keyspool_clear(&s, NULL);
        keyspool_close(&s);
    }
}

/* No flipped bit makes a key that nobody added. */
static void a_flipped_bit_is_noticed(void **state)
{
    for (off_t at = 0; at < KEYSPOOL_HEADER + 2 * 17; at++) {
        struct keyspool s = {.fd = -1};
        deja_error err = {0, ""};
        unsigned char byte;
        reopen(&s, KEYSPOOL_DEFAULT);
        put_numbers(&s, 0, 2);
        assert_int_equal(pread(s.fd, &byte, 1, at), 1);
        byte ^= (unsigned char)(1u << at % 8);
        assert_int_equal(pwrite(s.fd, &byte, 1, at), 1);
        close(s.fd);
        const int rc = keyspool_open(&s, &seen, KEYSPOOL_DEFAULT, &err);
        if (at < KEYSPOOL_HEADER) {
            assert_int_equal(rc, DEJA_EFORMAT);
            assert_non_null(strstr(err.text, "move it away"));
            remove_dir(state);
            mkdir(dir, 0700);
            continue;
        }
        assert_int_equal(rc, DEJA_OK);
        assert_true(s.damaged > 0);
        expect_numbers(&s, 0, at < KEYSPOOL_HEADER + 17 ? 0 : 1);
        keyspool_clear(&s, NULL);
        keyspool_close(&s);
    }
}

static void a_full_spool_takes_nothing(void **state)
{
    struct keyspool s = {.fd = -1};
    deja_error err = {0, ""};
    deja_slice key[2] = {{"a", 1}, {"b", 1}};
    reopen(&s, KEYSPOOL_HEADER + 2 * 13);
    assert_int_equal(keyspool_put(&s, key, 2, NULL, &err), DEJA_OK);
    assert_int_equal(keyspool_put(&s, key, 1, NULL, &err), DEJA_EFULL);
    assert_non_null(strstr(err.text, "--spool-size"));
    assert_int_equal(s.keys, 2);
    const uint8_t none[2] = {0, 0};
    assert_int_equal(keyspool_put(&s, key, 2, none, &err), DEJA_OK);
    keyspool_clear(&s, NULL);
    assert_int_equal(keyspool_put(&s, key, 1, NULL, &err), DEJA_OK);
    keyspool_clear(&s, NULL);
    keyspool_close(&s);
}

static void two_processes_have_two_files_and_a_third_takes_over_both(void **state)
{
    struct keyspool a = {.fd = -1}, b = {.fd = -1}, c = {.fd = -1};
    reopen(&a, KEYSPOOL_DEFAULT);
    put_numbers(&a, 0, 10);
    reopen(&b, KEYSPOOL_DEFAULT);
    assert_int_equal(b.keys, 0);
    put_numbers(&b, 10, 20);
    assert_int_equal(files(), 2);
    close(a.fd);
    close(b.fd);
    reopen(&c, 1); /* what exists is taken, whatever the limit */
    expect_numbers(&c, 0, 20);
    assert_int_equal(files(), 1);
    keyspool_clear(&c, NULL);
    keyspool_close(&c);
}

static void a_full_disk_leaves_the_file_as_it_was(void **state)
{
    struct keyspool s = {.fd = -1};
    deja_error err = {0, ""};
    deja_slice key = {"x", 1};
    reopen(&s, KEYSPOOL_DEFAULT);
    put_numbers(&s, 0, 5);
    const int real = s.fd, full = open("/dev/full", O_RDWR);
    if (full < 0)
        skip();
    s.fd = full;
    assert_int_equal(keyspool_put(&s, &key, 1, NULL, &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "free space"));
    s.fd = real;
    close(full);
    assert_int_equal(s.keys, 5);
    expect_numbers(&s, 0, 5);
    keyspool_clear(&s, NULL);
    keyspool_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_survive_the_process_in_order, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(only_the_owner_can_read_the_file, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_cut_at_any_byte_loses_only_the_records_after_it,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_flipped_bit_is_noticed, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_full_spool_takes_nothing, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(two_processes_have_two_files_and_a_third_takes_over_both,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_the_file_as_it_was, make_dir,
                                        remove_dir),
    };
    return cmocka_run_group_tests_name("unit.keyspool", tests, NULL, NULL);
}
