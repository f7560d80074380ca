/* test_dcso_file.c - bloom files on disk: every length, hostile headers, gzip, atomic writes. */
#include "cli/dcso/dcso_file.h"
#include "scratch.h"
#include "tools/input/decode.h"
#include "unit.h"
#include <signal.h>
#include <sys/resource.h>

#define KEYS 300

static struct dcso made; /* with KEYS keys */

static int make(void **state)
{
    scratch_open(state);
    MUST(dcso_plan(&made, KEYS, 0.01, NULL) == DEJA_OK);
    made.body = calloc(1, (size_t)dcso_body_len(&made));
    MUST(made.body);
    for (uint64_t i = 0; i < KEYS; i++) {
        const deja_slice key = {&i, sizeof i};
        uint64_t hash;
        uint8_t is_new;
        dcso_hash(NULL, &key, 1, &hash);
        dcso_add(&made, &hash, 1, &is_new);
    }
    return 0;
}

static int drop(void **state)
{
    free(made.body);
    return scratch_close(state);
}

static void holds_what_was_made(const struct dcso_file *f, const char *path)
{
    struct dcso_file empty = {0};
    assert_int_equal(f->filter.capacity, made.capacity);
    assert_int_equal(f->filter.bits, made.bits);
    assert_int_equal(f->filter.hashes, made.hashes);
    assert_int_equal(f->filter.keys, made.keys);
    assert_memory_equal(f->filter.body, made.body, (size_t)dcso_body_len(&made));
    assert_true(dcso_file_is(path));
    dcso_file_free(&empty); /* nothing to free */
}

static void a_written_file_is_read_back(void **state)
{
    const char *const names[] = {"a.bloom", "a.bloom.gz"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = scratch_path(names[i]);
        struct dcso_file f;
        if (i == 1 && !decode_supported(DECODE_GZIP))
            skip();
        assert_int_equal(dcso_file_check_name(path, NULL), DEJA_OK);
        assert_int_equal(dcso_file_write(&made, path, true, NULL), DEJA_OK);
        assert_int_equal(dcso_file_write(&made, path, true, NULL),
                         DEJA_OK); /* replaces the older one */
        assert_int_equal(dcso_file_read(&f, path, NULL, NULL), DEJA_OK);
        assert_int_equal(f.gzip, i == 1);
        assert_int_equal(f.data_len, 0);
        holds_what_was_made(&f, path);
        dcso_file_free(&f);
        unlink(path);
    }
}

static void every_shorter_file_is_refused(void **state)
{
    const char *path = scratch_path("whole.bloom"), *cut = scratch_path("cut.bloom");
    assert_int_equal(dcso_file_write(&made, path, true, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    for (size_t len = 0; len < b.len; len++) {
        struct dcso_file f;
        deja_error err = {0, ""};
        write_file(cut, b.data, len);
        assert_int_equal(dcso_file_read(&f, cut, NULL, &err), DEJA_EFORMAT);
        if (!strstr(err.text, "cut.bloom") || !strstr(err.text, "truncated"))
            fail_msg("%zu bytes: %s", len, err.text);
        assert_null(f.filter.body);
    }
    free(b.data);
    unlink(path);
    unlink(cut);
}

/* Data after the bits belongs to the owner and can have any length. */
static void data_after_the_bits_is_counted(void **state)
{
    const char *path = scratch_path("data.bloom");
    static const size_t lengths[] = {1, 9, 16383, 16384, 16385, 100000};
    assert_int_equal(dcso_file_write(&made, path, true, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    uint8_t *longer = calloc(1, b.len + 100000);
    MUST(longer);
    memcpy(longer, b.data, b.len);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct dcso_file f;
        write_file(path, longer, b.len + lengths[i]);
        assert_int_equal(dcso_file_read(&f, path, NULL, NULL), DEJA_OK);
        assert_int_equal(f.data_len, lengths[i]);
        holds_what_was_made(&f, path);
        dcso_file_free(&f);
    }
    free(longer);
    free(b.data);
    unlink(path);
}

/* A header that claims a petabyte is compared with the file's size, plain or compressed, before any
 * memory is allocated. */
static void a_claimed_size_is_checked_against_the_file(void **state)
{
    const char *path = scratch_path("huge.bloom"), *gz = scratch_path("huge.bloom.gz");
    struct dcso_file f;
    deja_error err = {0, ""};
    struct dcso huge = made;
    uint8_t header[DCSO_HEADER_LEN];
    huge.bits = DCSO_MAX_BITS;
    dcso_encode(&huge, header);
    write_file(path, header, sizeof header);
    assert_int_equal(dcso_file_read(&f, path, NULL, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "its bits end after 0 bytes of 1125899906842624"));
    if (!decode_supported(DECODE_GZIP))
        return;
    assert_int_equal(dcso_file_write(&made, gz, true, NULL), DEJA_OK);
    char command[1024];
    snprintf(command, sizeof command, "gzip -c '%s' > '%s'", path, gz);
    if (system(command) != 0)
        skip();
    assert_int_equal(dcso_file_read(&f, gz, NULL, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "truncated"));
    unlink(path);
    unlink(gz);
}

static void the_error_for_a_crafted_header_names_file_and_field(void **state)
{
    const char *path = scratch_path("crafted.bloom");
    struct dcso_file f;
    deja_error err = {0, ""};
    assert_int_equal(dcso_file_write(&made, path, true, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    memset(b.data + 24, 0, 8);
    write_file(path, b.data, b.len);
    assert_int_equal(dcso_file_read(&f, path, NULL, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "crafted.bloom: its number of hash functions is 0"));
    assert_true(dcso_file_is(path)); /* only the first bytes are checked */
    free(b.data);
    unlink(path);
}

static void a_missing_file_and_a_folder_are_errors(void **state)
{
    struct dcso_file f;
    deja_error err = {0, ""};
    assert_int_equal(dcso_file_read(&f, scratch_path("nowhere"), NULL, &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "nowhere: cannot open: No such file"));
    assert_int_equal(dcso_file_read(&f, scratch_folder, NULL, &err), DEJA_EIO);
    assert_false(dcso_file_is(scratch_path("nowhere")));
    assert_false(dcso_file_is(scratch_folder));
    assert_false(dcso_file_is("/dev/null"));
    assert_int_equal(dcso_file_check_name(scratch_folder, &err), DEJA_EINVAL);
    assert_int_equal(dcso_file_check_name("", &err), DEJA_EINVAL);
    assert_int_equal(dcso_file_check_name("/dev/null", &err), DEJA_EINVAL);
    assert_int_equal(dcso_file_write(&made, scratch_path("no/where.bloom"), true, &err), DEJA_EIO);
}

/* A failed write keeps the old file and leaves no temporary file. */
static void a_failed_write_keeps_the_old_file(void **state)
{
    const char *path = scratch_path("kept.bloom");
    struct rlimit usual, small;
    deja_error err = {0, ""};
    write_file(path, (const uint8_t *)"old", 3);
    MUST(getrlimit(RLIMIT_FSIZE, &usual) == 0);
    small = usual;
    small.rlim_cur = DCSO_HEADER_LEN + 1; /* EFBIG in the middle of the bits */
    MUST(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    MUST(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const int rc = dcso_file_write(&made, path, true, &err);
    MUST(setrlimit(RLIMIT_FSIZE, &usual) == 0);
    assert_int_equal(rc, DEJA_EIO);
    assert_non_null(strstr(err.text, "kept.bloom: cannot write"));
    const struct bytes b = read_file(path);
    assert_int_equal(b.len, 3);
    free(b.data);
    unlink(path);
    assert_int_equal(rmdir(scratch_folder), 0); /* empty */
    MUST(mkdir(scratch_folder, 0700) == 0);
}

static void mode_and_symbolic_link_are_kept(void **state)
{
    const char *path = scratch_path("target.bloom"), *link = scratch_path("link.bloom");
    struct stat st;
    write_file(path, (const uint8_t *)"old", 3);
    MUST(chmod(path, 0640) == 0);
    MUST(symlink(path, link) == 0);
    assert_int_equal(dcso_file_write(&made, link, true, NULL), DEJA_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(st.st_size, DCSO_HEADER_LEN + dcso_body_len(&made));
    unlink(path);
    unlink(link);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_written_file_is_read_back),
        cmocka_unit_test(every_shorter_file_is_refused),
        cmocka_unit_test(data_after_the_bits_is_counted),
        cmocka_unit_test(a_claimed_size_is_checked_against_the_file),
        cmocka_unit_test(the_error_for_a_crafted_header_names_file_and_field),
        cmocka_unit_test(a_missing_file_and_a_folder_are_errors),
        cmocka_unit_test(a_failed_write_keeps_the_old_file),
        cmocka_unit_test(mode_and_symbolic_link_are_kept),
    };
    return cmocka_run_group_tests_name("unit.dcso_file", tests, make, drop);
}
