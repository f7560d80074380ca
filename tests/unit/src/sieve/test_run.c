/* test_run.c - sorted fingerprints in a file: read back in order, found, small, and verified. */
#include "rng.h"
#include "scratch.h"
#include "sieve/run.h"
#include "unit.h"

enum {
    KEYS = 30000 /* several blocks */
};

static struct dj_folder folder;
static deja_fingerprint key[2 * KEYS];

static int begin(void **state)
{
    struct rng rng = rng_seeded(3);
    for (size_t i = 0; i < 2 * KEYS; i++)
        key[i] = (deja_fingerprint){rng_next(&rng), (uint32_t)rng_next(&rng), 0};
    key[0] = (deja_fingerprint){0, 0, 0};
    key[1] = (deja_fingerprint){UINT64_MAX, UINT32_MAX, 0};
    key[2] = (deja_fingerprint){0, 1, 0};
    dj_prints_sort(key, KEYS);
    return dj_folder_open(&folder, scratch_folder, false, NULL);
}

static int end(void **state)
{
    dj_folder_close(&folder);
    return scratch_clear(state);
}

static struct dj_run write_run(size_t n)
{
    struct dj_run_writer w;
    struct dj_run run;
    assert_int_equal(dj_run_begin(&w, &folder, 42, 5, 0, NULL, NULL), DEJA_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(dj_run_add(&w, &key[i], 1, NULL), DEJA_OK);
        if (i % 100 == 0) /* a repeated key is left out */
            assert_int_equal(dj_run_add(&w, &key[i], 1, NULL), DEJA_OK);
    }
    assert_int_equal(dj_run_finish(&w, &run, NULL), DEJA_OK);
    dj_run_end(&w);
    assert_int_equal(run.keys, n);
    return run;
}

static int read_all(const struct dj_run *run, size_t want, deja_error *err)
{
    deja_fingerprint some[77];
    struct dj_cursor c;
    size_t n, at = 0;
    assert_int_equal(dj_cursor_init(&c, run, &folder, 0, NULL, NULL), DEJA_OK);
    int rc;
    do {
        rc = dj_cursor_read(&c, some, 77, &n, err);
        for (size_t i = 0; rc == DEJA_OK && i < n; i++, at++)
            assert_true(at < want && dj_print_equal(&some[i], &key[at]));
    } while (rc == DEJA_OK && n);
    dj_cursor_fini(&c);
    if (rc == DEJA_OK)
        assert_int_equal(at, want);
    return rc;
}

static void keys_are_read_back_in_order(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 100, KEYS};
    for (size_t i = 0; i < 5; i++) {
        struct dj_run run = write_run(sizes[i]);
        assert_int_equal(read_all(&run, sizes[i], NULL), DEJA_OK);
        dj_run_close(&run, NULL);
        assert_int_equal(dj_run_open(&run, &folder, 42, NULL, NULL), DEJA_OK);
        assert_int_equal(read_all(&run, sizes[i], NULL), DEJA_OK);
        dj_run_close(&run, NULL);
    }
}

static void every_key_is_found_and_no_other(void **state)
{
    static deja_fingerprint some[2 * KEYS];
    struct dj_run run = write_run(KEYS);
    struct dj_cursor c;
    for (size_t step = 1; step < KEYS; step *= 7) { /* dense and sparse */
        size_t n = 0;
        for (size_t i = 0; i < KEYS; i += step) {
            some[n++] = key[i];
            some[n] = key[KEYS + i];
            some[n++].tag = 1;
        }
        dj_prints_sort(some, n);
        assert_int_equal(dj_cursor_init(&c, &run, &folder, 0, NULL, NULL), DEJA_OK);
        assert_int_equal(dj_cursor_find(&c, some, n, NULL), DEJA_OK);
        for (size_t i = 0; i < n; i++)
            assert_int_equal(some[i].tag, some[i].tag & 1 ? 1 : DJ_FOUND);
        dj_cursor_fini(&c);
    }
    dj_run_close(&run, NULL);
}

/* At most 10 bytes per key from 2^20 keys on; 30,000 have differences of 17 bits. */
static void a_key_takes_eleven_bytes_in_a_small_run(void **state)
{
    struct dj_run run = write_run(KEYS);
    assert_in_range(10 * run.bytes, 105 * KEYS, 111 * KEYS);
    dj_run_close(&run, NULL);
}

/* Every bit is covered by a checksum: a flipped one is found when the run is opened or read. */
static void any_flipped_bit_is_found(void **state)
{
    struct dj_run run = write_run(KEYS);
    struct rng rng = rng_seeded(9);
    deja_error err = {0};
    size_t in_blocks = 0;
    dj_run_close(&run, NULL);
    const struct bytes all = read_file(scratch_path("run-5"));
    for (int i = 0; i < 150; i++) {
        const size_t at = i < 128 ? (size_t)i : (size_t)rng_below(&rng, all.len);
        const uint8_t bit = (uint8_t)(1 << rng_below(&rng, 8));
        all.data[at] ^= bit;
        write_file(scratch_path("run-5"), all.data, all.len);
        int rc = dj_run_open(&run, &folder, 42, NULL, &err);
        if (rc == DEJA_OK) {
            rc = read_all(&run, KEYS, &err);
            dj_run_close(&run, NULL);
            in_blocks += strstr(err.text, "block ") != NULL;
        }
        assert_true(rc == DEJA_EFORMAT || rc == DEJA_EVERSION);
        assert_non_null(strstr(err.text, "run-5: "));
        all.data[at] ^= bit;
    }
    assert_true(in_blocks > 5);
    free(all.data);
}

static void a_run_that_the_manifest_does_not_list_is_refused(void **state)
{
    struct dj_run run = write_run(100), other;
    deja_error err = {0};
    dj_run_close(&run, NULL);
    other = run;
    assert_int_equal(dj_run_open(&other, &folder, 43, NULL, &err), DEJA_EFORMAT);
    other.keys++;
    assert_int_equal(dj_run_open(&other, &folder, 42, NULL, &err), DEJA_EFORMAT);
    other = run;
    other.bytes++;
    assert_int_equal(dj_run_open(&other, &folder, 42, NULL, &err), DEJA_EFORMAT);
    assert_int_equal(unlink(scratch_path("run-5")), 0);
    assert_int_equal(dj_run_open(&run, &folder, 42, NULL, &err), DEJA_EFORMAT);
    assert_non_null(strstr(err.text, "run-5: this run is missing"));
}

/* Nothing remains of a run that was not finished. */
static void an_unfinished_run_leaves_nothing(void **state)
{
    struct dj_run_writer w;
    assert_int_equal(dj_run_begin(&w, &folder, 42, 5, 0, NULL, NULL), DEJA_OK);
    assert_int_equal(dj_run_add(&w, key, KEYS, NULL), DEJA_OK);
    dj_run_end(&w);
    assert_int_equal(scratch_count(scratch_folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_are_read_back_in_order, begin, end),
        cmocka_unit_test_setup_teardown(every_key_is_found_and_no_other, begin, end),
        cmocka_unit_test_setup_teardown(a_key_takes_eleven_bytes_in_a_small_run, begin, end),
        cmocka_unit_test_setup_teardown(any_flipped_bit_is_found, begin, end),
        cmocka_unit_test_setup_teardown(a_run_that_the_manifest_does_not_list_is_refused, begin,
                                        end),
        cmocka_unit_test_setup_teardown(an_unfinished_run_leaves_nothing, begin, end),
    };
    return cmocka_run_group_tests_name("unit.run", tests, scratch_open, scratch_close);
}
