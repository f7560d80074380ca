/* test_foreign_file.c - filter files of other programs on disk: every length, hostile headers, gzip, atomic writes. */
#include "cli/foreign/foreign_file.h"
#include "scratch.h"
#include "tools/foreign/formats.h"
#include "tools/input/decode.h"
#include "unit.h"
#include <signal.h>
#include <sys/resource.h>

#define KEYS 300

#define HEADER_LEN 48

static struct foreign made = {.format = &foreign_dcso}; /* with KEYS keys */

static int make(void **state)
{
    scratch_open(state);
    MUST(foreign_new(&made, KEYS, 0.01, NULL) == DEJA_OK);
    for (uint64_t i = 0; i < KEYS; i++) {
        const deja_slice key = {&i, sizeof i};
        uint64_t hash;
        uint8_t is_new;
        size_t done;
        foreign_dcso.hash(NULL, &key, 1, &hash);
        MUST(foreign_add(&made, &hash, 1, &is_new, &done, NULL) == DEJA_OK);
    }
    return 0;
}

static int drop(void **state)
{
    foreign_free(&made);
    return scratch_close(state);
}

static int read_it(struct foreign_file *f, const char *path, deja_error *err)
{
    return foreign_file_read(f, path, &foreign_dcso, NULL, NULL, err);
}

static int write_it(const char *path, deja_error *err)
{
    uint64_t bytes;
    return foreign_file_write(&made, path, true, &bytes, err);
}

static void holds_what_was_made(const struct foreign_file *f, const char *path)
{
    const struct foreign_part *part = &f->filter.part[0], *expected = &made.part[0];
    struct foreign_file empty = {0};
    assert_int_equal(part->capacity, expected->capacity);
    assert_int_equal(part->bits, expected->bits);
    assert_int_equal(part->hashes, expected->hashes);
    assert_int_equal(f->filter.keys, made.keys);
    assert_int_equal(part->len, expected->len);
    assert_memory_equal(part->body, expected->body, (size_t)part->len);
    assert_ptr_equal(foreign_file_is(path), &foreign_dcso);
    foreign_file_free(&empty); /* nothing to free */
}

static void a_written_file_is_read_back(void **state)
{
    const char *const names[] = {"a.bloom", "a.bloom.gz"};
    for (size_t i = 0; i < 2; i++) {
        const char *path = scratch_path(names[i]);
        struct foreign_file f;
        if (i == 1 && !decode_supported(DECODE_GZIP))
            skip();
        assert_int_equal(foreign_file_check_name(path, NULL), DEJA_OK);
        assert_int_equal(write_it(path, NULL), DEJA_OK);
        assert_int_equal(write_it(path, NULL), DEJA_OK); /* replaces the older one */
        assert_int_equal(read_it(&f, path, NULL), DEJA_OK);
        assert_int_equal(f.gzip, i == 1);
        assert_int_equal(f.filter.rest, 0);
        holds_what_was_made(&f, path);
        foreign_file_free(&f);
        unlink(path);
    }
}

static void every_shorter_file_is_refused(void **state)
{
    const char *path = scratch_path("whole.bloom"), *cut = scratch_path("cut.bloom");
    assert_int_equal(write_it(path, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    for (size_t len = 0; len < b.len; len++) {
        struct foreign_file f;
        deja_error err = {0, ""};
        write_file(cut, b.data, len);
        assert_int_equal(read_it(&f, cut, &err), DEJA_EFORMAT);
        if (!strstr(err.text, "cut.bloom") || !strstr(err.text, "truncated"))
            fail_msg("%zu bytes: %s", len, err.text);
        assert_null(f.filter.part);
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
    assert_int_equal(write_it(path, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    uint8_t *longer = calloc(1, b.len + 100000);
    MUST(longer);
    memcpy(longer, b.data, b.len);
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct foreign_file f;
        write_file(path, longer, b.len + lengths[i]);
        assert_int_equal(read_it(&f, path, NULL), DEJA_OK);
        assert_int_equal(f.filter.rest, lengths[i]);
        holds_what_was_made(&f, path);
        foreign_file_free(&f);
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
    struct foreign_file f;
    deja_error err = {0, ""};
    assert_int_equal(write_it(path, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    memset(b.data + 32, 0, 8);
    b.data[38] = 0x20; /* 2^53 bits */
    write_file(path, b.data, HEADER_LEN);
    free(b.data);
    assert_int_equal(read_it(&f, path, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "its bits end after 0 bytes of 1125899906842624"));
    char command[1024];
    snprintf(command, sizeof command, "gzip -c '%s' > '%s'", path, gz);
    const bool packed = decode_supported(DECODE_GZIP) && system(command) == 0;
    unlink(path);
    if (!packed)
        skip();
    assert_int_equal(read_it(&f, gz, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "truncated"));
    unlink(gz);
}

static void the_error_for_a_crafted_header_names_file_and_field(void **state)
{
    const char *path = scratch_path("crafted.bloom");
    struct foreign_file f;
    deja_error err = {0, ""};
    assert_int_equal(write_it(path, NULL), DEJA_OK);
    const struct bytes b = read_file(path);
    memset(b.data + 24, 0, 8);
    write_file(path, b.data, b.len);
    assert_int_equal(read_it(&f, path, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "crafted.bloom: its number of hash functions is 0"));
    assert_non_null(foreign_file_is(path)); /* only the first bytes are checked */
    free(b.data);
    unlink(path);
}

static void a_missing_file_and_a_folder_are_errors(void **state)
{
    struct foreign_file f;
    deja_error err = {0, ""};
    assert_int_equal(read_it(&f, scratch_path("nowhere"), &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "nowhere: cannot open: No such file"));
    assert_int_equal(read_it(&f, scratch_folder, &err), DEJA_EIO);
    assert_null(foreign_file_is(scratch_path("nowhere")));
    assert_null(foreign_file_is(scratch_folder));
    assert_null(foreign_file_is("/dev/null"));
    assert_int_equal(foreign_file_check_name(scratch_folder, &err), DEJA_EINVAL);
    assert_int_equal(foreign_file_check_name("", &err), DEJA_EINVAL);
    assert_int_equal(foreign_file_check_name("/dev/null", &err), DEJA_EINVAL);
    assert_int_equal(write_it(scratch_path("no/where.bloom"), &err), DEJA_EIO);
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
    small.rlim_cur = HEADER_LEN + 1; /* EFBIG in the middle of the bits */
    MUST(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
    MUST(setrlimit(RLIMIT_FSIZE, &small) == 0);
    const int rc = write_it(path, &err);
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
    assert_int_equal(write_it(link, NULL), DEJA_OK);
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(st.st_size, HEADER_LEN + made.part[0].len);
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
    return cmocka_run_group_tests_name("unit.foreign_file", tests, make, drop);
}
