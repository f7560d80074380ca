/* test_corrupt.c - a damaged file is rejected with a message that names the damage: every bit of a
 * header, every length, every bit of a small body, and random bits of a larger file. */
#include "damaged.h"
#include "rng.h"

/* --- Single bits of the header ------------------------------------------- */

/* The field that the message about damage at this offset must name. */
static const char *field_at(size_t at)
{
    return at < 8            ? "magic"
           : at < 12         ? "version"
           : at < 16         ? "header length"
           : at < 2568       ? "header"
           : at < RECORD_A   ? "reserved"
           : at < RECORD_B   ? "sync record A"
           : at < HEADER_LEN ? "sync record B"
           : at < TABLE      ? "body"
                             : "table of checksums";
}

static void every_bit_is_refused(const struct bytes *file, bool b_is_written)
{
    const char *path = place("bits", file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    MUST(fd >= 0);
    for (size_t bit = 0; bit < 8 * (size_t)HEADER_LEN; bit++) {
        deja_error err;
        const size_t at = bit / 8;
        put_byte(fd, at, file->data[at] ^ (uint8_t)(1u << bit % 8));
        const int rc = open_status(path, 0, &err);
        const bool newer = at >= 8 && at < 12; /* a larger version means a newer file */
        if (rc != DEJA_EFORMAT && !(newer && rc == DEJA_EVERSION))
            fail_msg("bit %zu: %d \"%s\"", bit, rc, err.text);
        const bool keys = file == &merged && at >= 2568 && at < RECORD_A;
        const char *name = keys ? "merged keys" : field_at(at);
        if (!strstr(err.text, name))
            fail_msg("bit %zu: \"%s\" does not name \"%s\"", bit, err.text, name);
        /* The other record is trusted only on request. */
        const bool helps = at >= RECORD_B || (at >= RECORD_A && b_is_written);
        const int repaired = open_status(path, DEJA_OPEN_REPAIR, &err);
        if (helps != (repaired == DEJA_OK))
            fail_msg("bit %zu, repair: %d \"%s\"", bit, repaired, err.text);
        put_byte(fd, at, file->data[at]);
    }
    close(fd);
    opens(path);
    unlink(path);
}

static void every_flipped_header_bit_is_refused(void **state)
{
    every_bit_is_refused(&blocked, true);
}

static void every_flipped_header_bit_of_a_grown_file_is_refused(void **state)
{
    every_bit_is_refused(&grown, false);
}

static void every_flipped_header_bit_of_a_merged_file_is_refused(void **state)
{
    every_bit_is_refused(&merged, false);
}

static void every_flipped_header_bit_of_a_static_file_is_refused(void **state)
{
    every_bit_is_refused(&fixed, false);
}

/* --- Records -------------------------------------------------------------- */

static void a_repaired_file_is_valid_after_a_sync(void **state)
{
    for (size_t at = RECORD_A; at <= RECORD_B; at += RECORD_LEN) {
        struct bytes b = copy_of(&blocked);
        deja_stats s = DEJA_STATS_INIT;
        deja_filter *f = NULL;
        memset(b.data + at, 0xa5, RECORD_LEN);
        const char *path = place("repair", &b);
        refused(path, 0, DEJA_EFORMAT, at == RECORD_A ? "record A" : "record B");
        refused(path, DEJA_OPEN_WRITE, DEJA_EFORMAT, at == RECORD_A ? "record A" : "record B");
        assert_int_equal(
            deja_filter_open(path, DEJA_OPEN_WRITE | DEJA_OPEN_REPAIR, NULL, &f, NULL), DEJA_OK);
        assert_int_equal(deja_filter_stats(f, DEJA_STATS_BODY, &s, NULL), DEJA_OK);
        assert_int_equal(s.unclean, 1);
        assert_in_range(s.keys, N_KEYS * 3 / 4, N_KEYS * 5 / 4);
        assert_int_equal(deja_filter_sync(f, NULL), DEJA_OK);
        deja_filter_free(f);
        opens(path);
        assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
        unlink(path);
        free(b.data);
    }
}

static void two_damaged_records_cannot_be_repaired(void **state)
{
    struct bytes b = copy_of(&blocked);
    b.data[RECORD_A] ^= 1;
    b.data[RECORD_B] ^= 1;
    const char *path = place("both", &b);
    refused(path, 0, DEJA_EFORMAT, "record A");
    refused(path, DEJA_OPEN_REPAIR, DEJA_EFORMAT, "both sync records");
    unlink(path);
    free(b.data);
}

static void a_record_of_another_file_is_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    memcpy(b.data + RECORD_B, exact.data + RECORD_B, RECORD_LEN);
    const char *path = place("foreign", &b);
    refused(path, 0, DEJA_EFORMAT, "record B");
    unlink(path);
    free(b.data);
}

/* --- Lengths -------------------------------------------------------------- */

static void every_shorter_file_is_refused(void **state)
{
    const char *path = place("short", &blocked);
    for (size_t len = blocked.len; len-- > 0;) {
        MUST(truncate(path, (off_t)len) == 0);
        refused(path, 0, DEJA_EFORMAT,
                len == 0           ? "empty"
                : len < HEADER_LEN ? "shorter than a header"
                                   : "truncated");
    }
    unlink(path);
}

static void every_longer_file_is_refused(void **state)
{
    const char *path = place("long", &blocked);
    for (size_t more = 1; more <= 2 * HEADER_LEN; more = more < 64 ? more + 1 : 2 * more) {
        MUST(truncate(path, (off_t)(blocked.len + more)) == 0);
        refused(path, 0, DEJA_EFORMAT, "longer than its header says");
    }
    MUST(truncate(path, (off_t)blocked.len) == 0);
    opens(path);
    unlink(path);
}

static void other_files_are_refused(void **state)
{
    static const char text[] = "https://example.com/\nhttps://example.org/\n";
    const char *path = scratch_path("other");
    write_file(path, text, sizeof text - 1);
    refused(path, 0, DEJA_EFORMAT, "not a deja filter file");
    char page[2 * HEADER_LEN];
    memset(page, 'x', sizeof page);
    write_file(path, page, sizeof page);
    refused(path, 0, DEJA_EFORMAT, "not a deja filter file (bad magic)");
    unlink(path);
    refused(scratch_folder, 0, DEJA_EINVAL, "not a regular file");
    refused("/dev/null", 0, DEJA_EINVAL, "not a regular file");
    refused(scratch_path("missing"), 0, DEJA_EIO, "No such file");
}

/* Some transfers treat the file as text. */
static void rewritten_line_ends_are_refused(void **state)
{
    struct bytes b = copy_of(&blocked);
    memmove(b.data + 4, b.data + 5, b.len - 5); /* CR LF became LF */
    const char *path = scratch_path("text");
    write_file(path, b.data, b.len - 1);
    refused(path, 0, DEJA_EFORMAT, "not a deja filter file (bad magic)");
    unlink(path);
    free(b.data);
}

/* --- Bodies --------------------------------------------------------------- */

static void verify_refuses_every_flipped_bit_of(const struct bytes *file)
{
    const char *path = place("body", file);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    deja_error err;
    MUST(fd >= 0);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (size_t bit = 8 * (size_t)HEADER_LEN; bit < 8 * file->len; bit++) {
        put_byte(fd, bit / 8, file->data[bit / 8] ^ (uint8_t)(1u << bit % 8));
        assert_int_equal(deja_file_verify(path, &err), DEJA_EFORMAT);
        assert_non_null(strstr(err.text, "body"));
        put_byte(fd, bit / 8, file->data[bit / 8]);
    }
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    close(fd);
    unlink(path);
}

static void verify_refuses_every_flipped_bit_of_a_body(void **state)
{
    verify_refuses_every_flipped_bit_of(&blocked);
    verify_refuses_every_flipped_bit_of(&exact);
    verify_refuses_every_flipped_bit_of(&fixed);
}

static struct bytes make_megabyte(void) /* just large enough for a piece table */
{
    deja_options opt = DEJA_OPTIONS_INIT;
    opt.kind = DEJA_CLASSIC;
    opt.memory = 1 << 20;
    opt.hashes = 4;
    opt.seed = 5;
    return make_file(&opt);
}

static void verify_refuses_random_damage_to_a_megabyte(void **state)
{
    struct rng rng = rng_seeded(1);
    struct bytes b = make_megabyte();
    const char *path = place("megabyte", &b);
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    deja_error err;
    MUST(fd >= 0);
    for (int i = 0; i < 1000; i++) {
        const size_t bit = (size_t)rng_below(&rng, 8 * b.len);
        put_byte(fd, bit / 8, b.data[bit / 8] ^ (uint8_t)(1u << bit % 8));
        const int rc = deja_file_verify(path, &err);
        assert_true(rc == DEJA_EFORMAT || rc == DEJA_EVERSION);
        assert_non_null(strstr(err.text, field_at(bit / 8)));
        put_byte(fd, bit / 8, b.data[bit / 8]);
    }
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    for (int i = 0; i < 1000; i++) {
        const size_t len = (size_t)rng_below(&rng, b.len);
        MUST(ftruncate(fd, (off_t)len) == 0);
        assert_int_equal(deja_file_verify(path, &err), DEJA_EFORMAT);
        /* A sparse file is enough: only the length counts. */
        MUST(ftruncate(fd, (off_t)b.len) == 0);
        if (len < HEADER_LEN)
            MUST(pwrite(fd, b.data, HEADER_LEN, 0) == HEADER_LEN);
    }
    close(fd);
    unlink(path);
    free(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_flipped_header_bit_is_refused),
        cmocka_unit_test(every_flipped_header_bit_of_a_grown_file_is_refused),
        cmocka_unit_test(every_flipped_header_bit_of_a_merged_file_is_refused),
        cmocka_unit_test(every_flipped_header_bit_of_a_static_file_is_refused),
        cmocka_unit_test(a_repaired_file_is_valid_after_a_sync),
        cmocka_unit_test(two_damaged_records_cannot_be_repaired),
        cmocka_unit_test(a_record_of_another_file_is_refused),
        cmocka_unit_test(every_shorter_file_is_refused),
        cmocka_unit_test(every_longer_file_is_refused),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(rewritten_line_ends_are_refused),
        cmocka_unit_test(verify_refuses_every_flipped_bit_of_a_body),
        cmocka_unit_test(verify_refuses_random_damage_to_a_megabyte),
    };
    return cmocka_run_group_tests_name("format.corrupt", tests, make_files, drop_files);
}
