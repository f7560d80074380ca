/* test_kernels.c - each family of kernels has one for this CPU; the other tests compare their
 * answers. */
#include "unit.h"

#include "core/bits/block.h"
#include "core/bits/counters.h"
#include "core/bits/lines.h"
#include "core/bits/slots.h"
#include "core/url/plain.h"
#include "tools/input/csv_kernel.h"

/* The best that this build can have on this CPU, apart from AVX-512. */
static const char *expected(void)
{
#if defined __aarch64__
    return "neon";
#elif defined DJ_HAVE_AVX2
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") ? "avx2" : "portable";
#else
    return "portable";
#endif
}

static void every_family_has_a_kernel_for_this_cpu(void **state)
{
#ifdef DJ_TSAN
    skip();
#else
    const char *block = dj_block_best()->name;
    assert_string_equal(strcmp(block, "avx512") ? block : "avx2", expected());
    assert_string_equal(dj_slots_best()->name, expected());
    assert_string_equal(dj_counters_best(4)->name, expected());
    assert_string_equal(dj_counters_best(8)->name, "portable");
    assert_string_equal(dj_lines_best()->name, expected());
    assert_string_equal(dj_plain_best()->name, expected());
    assert_string_equal(csv_best()->name, expected());
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_has_a_kernel_for_this_cpu),
    };
    return cmocka_run_group_tests_name("unit.kernels", tests, NULL, NULL);
}
