/* test_alloc.c - all memory comes from the caller's hook and is freed; failed allocations are
 * handled. */
#include "unit.h"

#include "core/base/alloc.h"
#include "failmem.h"
#include "kinds/kind.h"
#include "options.h"
#include <string.h>

static const deja_options kinds[] = {
    FIELDS(.kind = DEJA_CLASSIC, .capacity = 3000, .seed = 1),
    FIELDS(.kind = DEJA_CLASSIC, .capacity = 3000, .seed = 1, .hash = DEJA_HASH_MD5),
    FIELDS(.kind = DEJA_CLASSIC, .capacity = 3000, .seed = 1, .filters = 5),
    FIELDS(.kind = DEJA_BLOCKED, .capacity = 3000, .seed = 1),
    FIELDS(.kind = DEJA_BLOCKED, .capacity = 3000, .seed = 1, .filters = 3),
    FIELDS(.kind = DEJA_EXACT, .capacity = 3000, .seed = 1),
    FIELDS(.kind = DEJA_SCALABLE, .capacity = 300, .seed = 1),
    FIELDS(.kind = DEJA_SCALABLE, .capacity = 300, .seed = 1, .part_kind = DEJA_EXACT),
};

static deja_options with_hook(deja_options opt, const struct failmem *m)
{
    opt.alloc = &m->hook;
    return opt;
}

static int add_number(deja_filter *f, uint64_t n)
{
    return deja_filter_add(f, (deja_slice){&n, sizeof n}, NULL, NULL);
}

static bool has_number(const deja_filter *f, uint64_t n)
{
    return deja_filter_contains(f, (deja_slice){&n, sizeof n});
}

static void assert_all_returned(const struct failmem *m)
{
    assert_int_equal(m->live, 0);
    assert_int_equal(m->mistakes, 0);
}

/* --- The hook ----------------------------------------------------------- */

static void bodies_come_from_the_hook_zeroed_and_go_back_with_their_size(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++) {
        struct failmem m;
        deja_filter *f;
        failmem_init(&m, 0);
        const deja_options opt = with_hook(kinds[k], &m);
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        for (uint32_t i = 0; i < f->n_parts; i++) {
            bool known = false;
            for (size_t b = 0; b < m.live; b++)
                known |=
                    m.block[b].p == f->part[i]->body && m.block[b].size >= f->part[i]->body_len;
            assert_true(known);
            assert_int_equal((uintptr_t)f->part[i]->body % 64, 0);
            for (uint64_t b = 0; b < f->part[i]->body_len; b++)
                assert_int_equal(f->part[i]->body[b], 0);
        }
        for (uint64_t n = 0; n < 3000; n++)
            assert_int_equal(add_number(f, n), DEJA_OK);
        deja_filter_free(f);
        assert_all_returned(&m);
    }
}

/* Only ctx and the functions must outlive the filter, not the struct itself. */
static void the_hook_is_copied(void **state)
{
    struct failmem m;
    deja_filter *f;
    failmem_init(&m, 0);
    deja_allocator passing = m.hook;
    deja_options opt = kinds[6];
    opt.alloc = &passing;
    assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
    memset(&passing, 0, sizeof passing);
    for (uint64_t n = 0; n < 3000; n++)
        assert_int_equal(add_number(f, n), DEJA_OK);
    deja_filter_free(f);
    assert_all_returned(&m);
}

static void the_first_allocation_comes_after_all_checks(void **state)
{
    struct failmem m;
    deja_filter *f;
    failmem_init(&m, 0);
    deja_options bad = with_hook(kinds[0], &m);
    bad.fp_rate = 2;
    assert_int_equal(deja_filter_new(&bad, &f, NULL), DEJA_EINVAL);
    assert_int_equal(m.asked, 0);
}

/* --- Failure ------------------------------------------------------------ */

static void each_allocation_of_new_may_fail_and_nothing_leaks(void **state)
{
    for (size_t k = 0; k < DJ_ARRAY_LEN(kinds); k++) {
        struct failmem m;
        deja_filter *f;
        failmem_init(&m, 0);
        deja_options opt = with_hook(kinds[k], &m);
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        const size_t needed = m.asked;
        deja_filter_free(f);
        const uint32_t bodies = kinds[k].filters ? kinds[k].filters : 1;
        const uint32_t salts = kinds[k].hash == DEJA_HASH_MD5;
        assert_int_equal(needed, 1 + salts + 2 * bodies); /* the filter, its parts and bodies */
        for (size_t n = 1; n <= needed; n++) {
            deja_error err = {0, ""};
            int nothing;
            f = (deja_filter *)(void *)&nothing;
            failmem_init(&m, n);
            opt = with_hook(kinds[k], &m);
            assert_int_equal(deja_filter_new(&opt, &f, &err), DEJA_ENOMEM);
            assert_int_equal(err.status, DEJA_ENOMEM);
            assert_true(strlen(err.text) > 0);
            assert_null(f);
            assert_int_equal(m.asked, n); /* the first failure ends the call */
            assert_all_returned(&m);
        }
    }
}

/* A filter without memory to grow reports it, keeps its keys, and tries again next time. */
static void growth_without_memory_loses_nothing(void **state)
{
    for (size_t k = 6; k < 8; k++) {
        struct failmem m;
        deja_filter *f;
        failmem_init(&m, 0);
        const deja_options opt = with_hook(kinds[k], &m);
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        uint64_t n = 0;
        for (int growth = 1; growth <= 3; growth++) {
            int rc = DEJA_OK;
            m.fail_at = m.asked + 1;
            for (; rc == DEJA_OK; n += rc == DEJA_OK)
                rc = add_number(f, n);
            assert_int_equal(rc, DEJA_ENOMEM);
            assert_int_equal(f->n_parts, growth);
            assert_false(has_number(f, n));
            for (uint64_t i = 0; i < n; i++)
                assert_true(has_number(f, i));
            m.fail_at = 0;
            assert_int_equal(add_number(f, n++), DEJA_OK);
            assert_int_equal(f->n_parts, growth + 1);
        }
        deja_filter_free(f);
        assert_all_returned(&m);
    }
}

static void a_batch_without_memory_to_grow_reports_how_far_it_got(void **state)
{
    enum {
        KEYS = 5000
    };
    static uint64_t hash[KEYS];
    for (uint64_t i = 0; i < KEYS; i++)
        hash[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t k = 6; k < 8; k++) {
        struct failmem m;
        deja_filter *f;
        size_t done = 999;
        uint8_t found[KEYS];
        failmem_init(&m, 0);
        const deja_options opt = with_hook(kinds[k], &m);
        assert_int_equal(deja_filter_new(&opt, &f, NULL), DEJA_OK);
        m.fail_at = m.asked + 1;
        assert_int_equal(deja_filter_add_hashed(f, hash, KEYS, NULL, &done, NULL), DEJA_ENOMEM);
        assert_in_range(done, 300, KEYS - 1);
        deja_filter_contains_hashed(f, hash, done, found);
        for (size_t i = 0; i < done; i++)
            assert_int_equal(found[i], 1);
        deja_filter_free(f);
        assert_all_returned(&m);
    }
}

/* --- Sizes -------------------------------------------------------------- */

static void more_memory_than_the_machine_has_is_refused_with_a_remedy(void **state)
{
    static const deja_options huge[] = {
        FIELDS(.kind = DEJA_BLOCKED, .capacity = UINT64_C(100000000000000), .fp_rate = 1e-4,
               .seed = 1),
        FIELDS(.kind = DEJA_CLASSIC, .memory = UINT64_C(1) << 50, .fp_rate = 0.1, .seed = 1),
        FIELDS(.kind = DEJA_EXACT, .memory = UINT64_C(1) << 49, .fp_rate = 0.1, .seed = 1),
        FIELDS(.kind = DEJA_SCALABLE, .capacity = UINT64_C(100000000000000), .fp_rate = 1e-4,
               .seed = 1),
    };
    for (size_t i = 0; i < DJ_ARRAY_LEN(huge); i++) {
        deja_filter *f;
        deja_error err = {0, ""};
        assert_int_equal(deja_filter_new(&huge[i], &f, &err), DEJA_ENOMEM);
        assert_null(f);
        assert_non_null(strstr(err.text, "lower options.capacity"));
    }
}

static void the_default_allocator_returns_aligned_zeros(void **state)
{
    static const size_t sizes[] = {0,       1,       63,      64,      4096,
                                   1 << 20, 2097151, 2097152, 2097153, 5 << 20};
    for (size_t i = 0; i < DJ_ARRAY_LEN(sizes); i++)
        for (int again = 0; again < 3; again++) { /* memory that was used before */
            uint8_t *p = dj_alloc(NULL, sizes[i], 64);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % 64, 0);
            for (size_t b = 0; b < sizes[i]; b++)
                assert_int_equal(p[b], 0);
            memset(p, 0xff, sizes[i]);
            dj_free(NULL, p, sizes[i]);
        }
    dj_free(NULL, NULL, 100);
    assert_null(dj_alloc(NULL, SIZE_MAX, 64));
    assert_null(dj_alloc(NULL, SIZE_MAX / 2, 64));
}

static void more_memory_keeps_the_bytes_and_adds_zeros(void **state)
{
    static const size_t sizes[] = {1, 64, 5000, 1 << 20, 3 << 20, (5 << 20) + 1, 40 << 20};
    uint8_t *p = NULL;
    size_t size = 0;
    for (size_t i = 0; i < DJ_ARRAY_LEN(sizes); i++) {
        p = dj_alloc_more(NULL, p, size, sizes[i], 64);
        assert_non_null(p);
        for (size_t b = 0; b < sizes[i]; b++)
            assert_int_equal(p[b], b < size ? 0xa5 : 0);
        memset(p, 0xa5, sizes[i]);
        size = sizes[i];
    }
    assert_null(dj_alloc_more(NULL, p, size, SIZE_MAX / 2, 64));
    assert_int_equal(p[size - 1], 0xa5);
    dj_free(NULL, p, size);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_memory_keeps_the_bytes_and_adds_zeros),
        cmocka_unit_test(bodies_come_from_the_hook_zeroed_and_go_back_with_their_size),
        cmocka_unit_test(the_hook_is_copied),
        cmocka_unit_test(the_first_allocation_comes_after_all_checks),
        cmocka_unit_test(each_allocation_of_new_may_fail_and_nothing_leaks),
        cmocka_unit_test(growth_without_memory_loses_nothing),
        cmocka_unit_test(a_batch_without_memory_to_grow_reports_how_far_it_got),
        cmocka_unit_test(more_memory_than_the_machine_has_is_refused_with_a_remedy),
        cmocka_unit_test(the_default_allocator_returns_aligned_zeros),
    };
    return cmocka_run_group_tests_name("unit.alloc", tests, NULL, NULL);
}
