/* test_fold.c - a folded filter equals the smaller filter with the same keys. */
#include "unit.h"

#define EVERY .seed = 7,
#include "combining.h"
#include "core/base/bytes.h"
#include "failmem.h"
#include <math.h>

static void a_folded_filter_equals_the_smaller_one(void **state)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(bloom); i++) {
        const uint64_t n = bloom[i].opt.capacity;
        for (unsigned folds = 1; folds <= 3; folds++) {
            deja_filter *f = filled(bloom[i].opt, 0, n);
            if (f->plan.shape.bits % (dj_shape_granule(&f->plan.shape) << folds)) {
                deja_filter_free(f);
                continue;
            }
            deja_filter *small = filled(smaller(f, bloom[i].opt, folds), 0, n);
            const deja_stats before = stats_of(f);
            fold(f, folds);
            assert_same_bodies(f, small, bloom[i].name);
            const deja_stats s = stats_of(f), t = stats_of(small);
            assert_int_equal(s.folds, folds);
            assert_int_equal(s.bits, t.bits);
            assert_int_equal(s.capacity, t.capacity);
            assert_true(s.fp_rate >= t.fp_rate && s.fp_rate <= t.fp_rate);
            assert_true(s.fp_now >= t.fp_now && s.fp_now <= t.fp_now);
            assert_int_equal(s.keys, before.keys);
            assert_int_equal(s.offered, before.offered);
            assert_true(fabs(s.lost - before.lost) < 1e-6 * (1 + before.lost));
            /* It accepts keys as the smaller one does. */
            add_keys(f, n, n + 100);
            add_keys(small, n, n + 100);
            assert_same_bodies(f, small, bloom[i].name);
            deja_filter_free(f);
            deja_filter_free(small);
        }
    }
}

static void folding_twice_equals_folding_by_two(void **state)
{
    deja_filter *a = filled(bloom[0].opt, 0, 500), *b = filled(bloom[0].opt, 0, 500);
    fold(a, 1);
    fold(a, 1);
    fold(b, 2);
    fold(b, 0);
    assert_same_bodies(a, b, "twice");
    assert_int_equal(stats_of(a).folds, 2);
    deja_filter_free(a);
    deja_filter_free(b);
}

static void no_fold(deja_options opt, uint32_t times, int status, const char *words)
{
    deja_error err = {0, ""};
    deja_filter *f = filled(opt, 0, 20), *same = filled(opt, 0, 20);
    const int rc = deja_filter_fold(f, times, &err);
    if (rc != status || !strstr(err.text, words))
        fail_msg("got %d \"%s\" instead of %d with \"%s\"", rc, err.text, status, words);
    assert_same_bodies(f, same, words);
    deja_filter_free(f);
    deja_filter_free(same);
}

static void an_odd_size_cannot_be_folded(void **state)
{
    no_fold(OPTIONS(.memory = 512 * 5, .capacity = 100, .cache_lines = 1), 4, DEJA_EINVAL,
            "its 20480 bits can be halved 3 times, not 4");
    no_fold(OPTIONS(.memory = 512 * 5, .capacity = 100, .cache_lines = 2), 3, DEJA_EINVAL,
            "its 20480 bits can be halved 2 times, not 3: a filter that folds t times has a "
            "multiple of 1024 * 2^t bits, such as one made with options.memory = 64 MiB");
    no_fold(OPTIONS(.memory = 192, .capacity = 20, .cache_lines = 3), 1, DEJA_EINVAL,
            "multiple of 1536 * 2^t bits, such as one made with options.memory = 96 MiB");
    no_fold(OPTIONS(.memory = 64, .capacity = 20), 1, DEJA_EINVAL, "halved 0 times, not 1");
    no_fold(OPTIONS(.kind = DEJA_CLASSIC, .memory = 24, .capacity = 20), 1, DEJA_EINVAL,
            "its 192 bits can be halved 0 times");
    no_fold(OPTIONS(.memory = 4096, .capacity = 100, .cache_lines = 1), UINT32_MAX, DEJA_EINVAL,
            "6 times, not");
    no_fold(OPTIONS(.kind = DEJA_EXACT, .capacity = 100), 1, DEJA_ENOTSUP,
            "exact filters cannot be folded; classic and blocked filters can");
    no_fold(OPTIONS(.kind = DEJA_SCALABLE, .part_kind = DEJA_EXACT, .capacity = 100), 1,
            DEJA_ENOTSUP, "exact filters cannot be folded");
}

static void a_fold_without_memory_keeps_the_filter(void **state)
{
    struct failmem mem;
    for (size_t i = 1; i < 4; i++) {
        failmem_init(&mem, 0);
        deja_options opt = bloom[12].opt;
        opt.alloc = &mem.hook;
        deja_filter *f = filled(opt, 0, 500), *same = filled(bloom[12].opt, 0, 500);
        deja_error err = {0, ""};
        mem.fail_at = mem.asked + i;
        assert_int_equal(deja_filter_fold(f, 1, &err), DEJA_ENOMEM);
        assert_same_bodies(f, same, "no memory");
        mem.fail_at = 0;
        fold(f, 1);
        deja_filter_free(f);
        deja_filter_free(same);
        assert_int_equal(mem.live, 0);
        assert_int_equal(mem.mistakes, 0);
    }
}

static void a_folded_file_equals_the_smaller_file(void **state)
{
    const deja_options opt =
        OPTIONS(.memory = 8192, .capacity = 1000, .hashes = 12, .cache_lines = 2);
    const char *path = make_file("large", opt, 0, 1000);
    deja_filter *f = open_file(path, DEJA_OPEN_WRITE);
    const char *small = make_file("small", smaller(f, opt, 2), 0, 1000);
    fold(f, 2);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK); /* immediately, without a sync */
    add_keys(f, 1000, 1100); /* the file is still open for writing */
    deja_filter_free(f);
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 1100), 0);
    assert_int_equal(stats_of(f).folds, 2);
    assert_int_equal(stats_of(f).syncs, 2);
    deja_filter_free(f);
    struct bytes a = read_file(path), b = read_file(small);
    assert_int_equal(a.len, b.len);
    assert_int_equal(dj_load32(a.data + 208), 2);
    memset(a.data + 208, 0, 4); /* up to the checksum, only the number of folds differs */
    assert_memory_equal(a.data, b.data, 2560);
    free(a.data);
    free(b.data);
    unlink(path);
    unlink(small);
}

static void a_new_file_can_be_folded_before_it_has_its_name(void **state)
{
    const deja_options opt = OPTIONS(.memory = 8192, .capacity = 1000, .cache_lines = 2);
    const char *path = scratch_path("new");
    deja_filter *f = create_file(path, 0, &opt);
    add_keys(f, 0, 500);
    fold(f, 1);
    assert_int_equal(access(path, F_OK), -1);
    add_keys(f, 500, 600);
    sync_file(f);
    deja_filter_free(f);
    assert_int_equal(deja_file_verify(path, NULL), DEJA_OK);
    f = open_file(path, 0);
    assert_int_equal(missing(f, 0, 600), 0);
    assert_int_equal(stats_of(f).bytes, 4096);
    deja_error err = {0, ""};
    assert_int_equal(deja_filter_fold(f, 1, &err), DEJA_EINVAL); /* read-only */
    assert_int_equal(deja_filter_merge(f, f, &err), DEJA_EINVAL);
    deja_filter_free(f);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folded_filter_equals_the_smaller_one),
        cmocka_unit_test(folding_twice_equals_folding_by_two),
        cmocka_unit_test(an_odd_size_cannot_be_folded),
        cmocka_unit_test(a_fold_without_memory_keeps_the_filter),
        cmocka_unit_test(a_folded_file_equals_the_smaller_file),
        cmocka_unit_test(a_new_file_can_be_folded_before_it_has_its_name),
    };
    return cmocka_run_group_tests_name("unit.fold", tests, scratch_open, scratch_close);
}
