/* test_journal.c - batches survive; an incomplete end is cut off, and other damage is reported. */
#include "scratch.h"
#include "sieve/journal.h"
#include "unit.h"
#include <errno.h>

static struct dj_folder folder;

static void begin(struct dj_journal *j)
{
    assert_int_equal(dj_folder_open(&folder, scratch_folder, false, NULL), DEJA_OK);
    assert_int_equal(dj_journal_create(j, &folder, "log", 1, 42, NULL), DEJA_OK);
}

static int end(void **state)
{
    dj_folder_close(&folder);
    return scratch_clear(state);
}

static void append(struct dj_journal *j, size_t len, uint8_t value)
{
    uint8_t batch[DJ_BATCH_HEAD + 5000];
    memset(batch, value, sizeof batch);
    assert_int_equal(dj_journal_append(j, batch, len, value, NULL), DEJA_OK);
}

/* Reads batches of 100 * i bytes with the value i = 1, 2, ..; returns how many, or a status. */
static int count(struct dj_journal *j, bool write, deja_error *err)
{
    struct dj_batches b;
    int n = 0;
    int rc = dj_journal_open(j, &folder, "log", 1, 42, write, err);
    if (rc < 0)
        return rc;
    dj_batches_init(&b, j, NULL);
    while ((rc = dj_batches_next(&b, err)) > 0) {
        n++;
        assert_int_equal(b.count, n);
        assert_int_equal(b.len, 100 * n);
        assert_int_equal(b.data[b.len - 1], n);
    }
    if (rc == 0)
        rc = dj_journal_trim(j, &b, write, err);
    dj_batches_fini(&b);
    dj_journal_close(j);
    return rc < 0 ? rc : n;
}

static void fill(struct dj_journal *j, uint8_t n, uint8_t sync_after)
{
    begin(j);
    for (uint8_t i = 1; i <= n; i++) {
        append(j, 100u * i, i);
        if (i == sync_after)
            assert_int_equal(dj_journal_sync(j, NULL), DEJA_OK);
    }
    dj_journal_close(j);
}

static void batches_are_read_back(void **state)
{
    struct dj_journal j;
    fill(&j, 9, 5);
    assert_int_equal(count(&j, false, NULL), 9);
    assert_int_equal(count(&j, true, NULL), 9);
    assert_int_equal(j.durable, DJ_JOURNAL_HEAD + 5 * DJ_BATCH_HEAD + 1500);
}

/* Every length that a torn file can have: complete batches are read, and a writer continues. */
static void an_incomplete_batch_is_cut_off(void **state)
{
    struct dj_journal j;
    fill(&j, 4, 2);
    const struct bytes all = read_file(scratch_path("log-1"));
    const size_t synced = DJ_JOURNAL_HEAD + 2 * DJ_BATCH_HEAD + 300;
    for (size_t len = synced; len <= all.len; len += 7) {
        write_file(scratch_path("log-1"), all.data, len);
        const int n = len < synced + DJ_BATCH_HEAD + 300 ? 2 : len < all.len ? 3 : 4;
        assert_int_equal(count(&j, true, NULL), n);
        struct stat st;
        assert_int_equal(stat(scratch_path("log-1"), &st), 0);
        assert_int_equal(st.st_size, j.len);
    }
    free(all.data);
}

static void damage_before_the_mark_is_reported(void **state)
{
    struct dj_journal j;
    deja_error err = {0};
    fill(&j, 4, 3);
    const struct bytes all = read_file(scratch_path("log-1"));
    const size_t synced = DJ_JOURNAL_HEAD + 3 * DJ_BATCH_HEAD + 600;
    for (size_t at = DJ_JOURNAL_HEAD; at < all.len; at += 13) {
        all.data[at] ^= 4;
        write_file(scratch_path("log-1"), all.data, all.len);
        const int rc = count(&j, false, &err);
        assert_int_equal(rc, at < synced ? DEJA_EFORMAT : 3);
        if (rc < 0)
            assert_non_null(strstr(err.text, "log-1: damaged at byte"));
        all.data[at] ^= 4;
    }
    write_file(scratch_path("log-1"), all.data, synced - 1);
    assert_int_equal(count(&j, false, &err), DEJA_EFORMAT);
    for (size_t at = 0; at < 48; at++) { /* the identity */
        all.data[at] ^= 1;
        write_file(scratch_path("log-1"), all.data, all.len);
        assert_true(count(&j, false, &err) < 0);
        all.data[at] ^= 1;
    }
    free(all.data);
}

static void a_missing_journal_is_reported(void **state)
{
    struct dj_journal j;
    deja_error err = {0};
    fill(&j, 1, 1);
    assert_int_equal(unlink(scratch_path("log-1")), 0);
    assert_int_equal(dj_journal_open(&j, &folder, "log", 1, 42, true, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "missing"));
}

static void another_journal_is_refused(void **state)
{
    struct dj_journal j;
    fill(&j, 1, 1);
    assert_int_equal(dj_journal_open(&j, &folder, "log", 1, 43, true, NULL), DEJA_EFORMAT);
    assert_int_equal(rename(scratch_path("log-1"), scratch_path("log-2")), 0);
    assert_int_equal(dj_journal_open(&j, &folder, "log", 2, 42, true, NULL), DEJA_EFORMAT);
}

/* Taking back batches leaves no trace. */
static void a_cut_journal_continues(void **state)
{
    struct dj_journal j;
    begin(&j);
    append(&j, 100, 1);
    const uint64_t len = j.len;
    append(&j, 77, 9);
    append(&j, 78, 9);
    dj_journal_cut(&j, len, 1);
    append(&j, 200, 2);
    dj_journal_close(&j);
    assert_int_equal(count(&j, true, NULL), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(batches_are_read_back, end),
        cmocka_unit_test_teardown(an_incomplete_batch_is_cut_off, end),
        cmocka_unit_test_teardown(damage_before_the_mark_is_reported, end),
        cmocka_unit_test_teardown(a_missing_journal_is_reported, end),
        cmocka_unit_test_teardown(another_journal_is_refused, end),
        cmocka_unit_test_teardown(a_cut_journal_continues, end),
    };
    return cmocka_run_group_tests_name("unit.journal", tests, scratch_open, scratch_close);
}
