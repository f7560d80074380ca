/* test_warc.c - writing records and reading them back, truncated files, full disks.
 * tests/crawler/warcfile.py is the independent reader. */
#include "crawler/archive/warc.h"
#include "scratch.h"
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define SLICE(text) ((deja_slice){text, sizeof text - 1})

static const struct warc_capture page = {
    .url = {"http://h/a", 10},
    .ip = "127.0.0.1",
    .when = 1767323045,
    .request = {"GET /a HTTP/1.1\r\n\r\n", 19},
    .head = {"HTTP/1.1 200 OK\r\n\r\n", 19},
    .body = {"a body\r\n\r\n", 10},
    .payload = {"sha1:X"},
};

static int make_folder(void **state)
{
    if (scratch_open(state) != 0)
        return -1;
    const int dir = open(scratch_folder, O_RDONLY | O_DIRECTORY);
    *state = (void *)(intptr_t)dir;
    return dir < 0 ? -1 : 0;
}

static int leave_folder(void **state)
{
    (void)close((int)(intptr_t)*state);
    return scratch_close(state);
}

static void begin(struct warc *w, void **state, uint32_t file, uint64_t end, uint64_t max)
{
    deja_error err;
    assert_int_equal(warc_open(w, (int)(intptr_t)*state, file, end, "ua", max, &err), DEJA_OK);
}

static struct warc_place write_page(struct warc *w)
{
    struct warc_place place;
    deja_error err;
    assert_int_equal(warc_write(w, &page, &place, &err), DEJA_OK);
    return place;
}

static void reads_as_written(int dir, const struct warc_place *place)
{
    struct buffer block = {0};
    deja_error err;
    assert_int_equal(warc_read(dir, place, 1 << 20, &block, &err), DEJA_OK);
    assert_int_equal(block.len, page.head.len + page.body.len);
    assert_memory_equal(block.data, page.head.data, page.head.len);
    assert_memory_equal(block.data + page.head.len, page.body.data, page.body.len);
    buffer_fini(&block);
}

static void a_record_is_read_back_unchanged(void **state)
{
    struct warc w;
    begin(&w, state, 0, 0, 1 << 20);
    assert_int_equal(w.file, 1);
    const struct warc_place first = write_page(&w), second = write_page(&w);
    assert_true(second.at > first.at + first.len); /* a request lies between */
    assert_int_equal(second.at + second.len, w.end);
    reads_as_written(w.dir, &first);
    reads_as_written(w.dir, &second);
    warc_close(&w);
}

static void bytes_beyond_the_recorded_end_are_cut_off(void **state)
{
    struct warc w;
    begin(&w, state, 0, 0, 1);
    const struct warc_place first = write_page(&w);
    const uint32_t file = w.file;
    const uint64_t end = w.end;
    (void)write_page(&w); /* in the next file, because the limit was reached */
    assert_int_equal(w.file, file + 1);
    warc_close(&w);
    begin(&w, state, file, end, 1 << 20);
    const struct warc_place again = write_page(&w);
    assert_int_equal(again.file, file);
    assert_true(again.at >= end);
    reads_as_written(w.dir, &first);
    reads_as_written(w.dir, &again);
    assert_int_not_equal(faccessat(w.dir, warc_name(file + 1).text, F_OK, 0), 0);
    warc_close(&w);
}

static void a_file_that_lost_its_end_is_refused(void **state)
{
    struct warc w;
    deja_error err;
    begin(&w, state, 0, 0, 1 << 20);
    const uint64_t end = w.end;
    warc_close(&w);
    assert_int_equal(warc_open(&w, (int)(intptr_t)*state, 1, end + 1, "ua", 1 << 20, &err),
                     DEJA_EFORMAT);
    begin(&w, state, 1, end, 1 << 20); /* the file is unchanged */
    warc_close(&w);
}

static void change_byte(int fd, uint64_t at)
{
    uint8_t byte;
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= 0x10;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

static void whole_is(int dir, uint32_t file, uint64_t from, uint64_t to, uint64_t want)
{
    uint64_t whole;
    bool damaged;
    deja_error err;
    assert_int_equal(warc_check(dir, file, from, to, &whole, &damaged, &err), DEJA_OK);
    assert_int_equal(whole, want);
    assert_int_equal(damaged, want < to);
}

static void verifying_finds_where_damage_begins(void **state)
{
    struct warc w;
    begin(&w, state, 0, 0, 1 << 20);
    const uint64_t empty = w.end;
    const struct warc_place first = write_page(&w);
    const uint64_t one = w.end;
    const struct warc_place second = write_page(&w);
    const uint64_t two = w.end;
    whole_is(w.dir, 1, 0, two, two);
    whole_is(w.dir, 1, one, two, two);
    whole_is(w.dir, 1, two, two, two);
    whole_is(w.dir, 1, 0, two + 1, two); /* a missing byte */
    change_byte(w.fd, second.at + second.len / 2);
    whole_is(w.dir, 1, 0, two, one);
    whole_is(w.dir, 1, 0, one, one);
    change_byte(w.fd, first.at - 1); /* in the request before it */
    whole_is(w.dir, 1, 0, two, empty);
    change_byte(w.fd, empty / 2);
    whole_is(w.dir, 1, 0, two, 0);
    whole_is(w.dir, 7, 0, 1, 0); /* no such file */
    warc_close(&w);
}

static void a_full_disk_leaves_whole_records(void **state)
{
    struct warc w;
    deja_error err;
    struct warc_place place;
    begin(&w, state, 0, 0, 1 << 20);
    const struct warc_place first = write_page(&w);
    const uint64_t end = w.end;
    struct rlimit old, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    tight = old;
    tight.rlim_cur = end + 100;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    assert_int_equal(warc_write(&w, &page, &place, &err), DEJA_EIO);
    assert_non_null(strstr(err.text, "crawl-00001.warc.gz"));
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    struct stat st;
    assert_int_equal(fstat(w.fd, &st), 0);
    assert_int_equal(st.st_size, end);
    const struct warc_place later = write_page(&w);
    reads_as_written(w.dir, &first);
    reads_as_written(w.dir, &later);
    warc_close(&w);
}

static void reading_where_no_record_starts_is_an_error(void **state)
{
    struct warc w;
    deja_error err;
    struct buffer block = {0};
    begin(&w, state, 0, 0, 1 << 20);
    struct warc_place place = write_page(&w);
    place.at++;
    assert_int_equal(warc_read(w.dir, &place, 1 << 20, &block, &err), DEJA_EFORMAT);
    place.file = 5;
    assert_int_equal(warc_read(w.dir, &place, 1 << 20, &block, &err), DEJA_EIO);
    buffer_fini(&block);
    warc_close(&w);
}

static void the_digest_matches_the_published_value(void **state)
{
    struct digest d;
    const deja_slice parts[2] = {SLICE("a"), SLICE("bc")};
    assert_int_equal(digest_make(parts, 2, &d), DEJA_OK);
    assert_string_equal(d.text, "sha1:VGMT4NSHA2AWVOR6EVYXQUGCNSONBWE5"); /* of "abc" */
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, leave_folder)
    const struct CMUnitTest tests[] = {
        TEST(a_record_is_read_back_unchanged),
        TEST(bytes_beyond_the_recorded_end_are_cut_off),
        TEST(verifying_finds_where_damage_begins),
        TEST(a_file_that_lost_its_end_is_refused),
        TEST(a_full_disk_leaves_whole_records),
        TEST(reading_where_no_record_starts_is_an_error),
        cmocka_unit_test(the_digest_matches_the_published_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
