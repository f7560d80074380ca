/* compat.h - included ahead of the library where zig compiles it: what zig lacks. */
#ifndef DEJA_COMPAT_H
#define DEJA_COMPAT_H

/* zig's runtime lacks __cpu_model, which the builtin reads.  CPUID is slow in virtual machines, so
 * the answer is stored; threads that store it at the same time store the same. */
#if defined(DEJA_NO_CPU_MODEL) && defined(__x86_64__)
#include <cpuid.h>

enum {
    COMPAT_KNOWN = 1,
    COMPAT_POPCNT = 2,
    COMPAT_BMI = 4,
    COMPAT_BMI2 = 8,
    COMPAT_AVX2 = 16,
    COMPAT_AVX512F = 32,
    COMPAT_AVX512DQ = 64,
    COMPAT_AVX512BW = 128,
    COMPAT_AVX512VL = 256
};

/* Which registers the kernel saves: register XCR0, by its instruction. */
static inline unsigned compat_saved(void)
{
    unsigned low, high;
    __asm__(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static inline int compat_detect(void)
{
    unsigned a, b = 0, c = 0, d, b7 = 0;
    int found = COMPAT_KNOWN;
    if (!__get_cpuid(1, &a, &b, &c, &d))
        return found;
    const unsigned saved = c & bit_OSXSAVE ? compat_saved() : 0;
    const unsigned c1 = c;
    (void)__get_cpuid_count(7, 0, &a, &b7, &c, &d);
    found |= (c1 & bit_POPCNT ? COMPAT_POPCNT : 0) | (b7 & bit_BMI ? COMPAT_BMI : 0);
    found |= b7 & bit_BMI2 ? COMPAT_BMI2 : 0;
    if ((saved & 0x06) == 0x06) /* 256 bits */
        found |= b7 & bit_AVX2 ? COMPAT_AVX2 : 0;
    if ((saved & 0xe6) == 0xe6) /* 512 bits, and masks */
        found |=
            (b7 & bit_AVX512F ? COMPAT_AVX512F : 0) | (b7 & bit_AVX512DQ ? COMPAT_AVX512DQ : 0) |
            (b7 & bit_AVX512BW ? COMPAT_AVX512BW : 0) | (b7 & bit_AVX512VL ? COMPAT_AVX512VL : 0);
    return found;
}

static int compat_stored;

static inline int compat_supports(int feature)
{
    int found = __atomic_load_n(&compat_stored, __ATOMIC_RELAXED);
    if (!found) {
        found = compat_detect();
        __atomic_store_n(&compat_stored, found, __ATOMIC_RELAXED);
    }
    return (found & feature) != 0;
}

#define COMPAT_IS(name, text) (__builtin_strcmp(name, text) == 0)
#define __builtin_cpu_supports(name)                                                              \
    compat_supports(COMPAT_IS(name, "popcnt")     ? COMPAT_POPCNT                                 \
                    : COMPAT_IS(name, "bmi")      ? COMPAT_BMI                                    \
                    : COMPAT_IS(name, "bmi2")     ? COMPAT_BMI2                                   \
                    : COMPAT_IS(name, "avx2")     ? COMPAT_AVX2                                   \
                    : COMPAT_IS(name, "avx512f")  ? COMPAT_AVX512F                                \
                    : COMPAT_IS(name, "avx512dq") ? COMPAT_AVX512DQ                               \
                    : COMPAT_IS(name, "avx512bw") ? COMPAT_AVX512BW                               \
                    : COMPAT_IS(name, "avx512vl") ? COMPAT_AVX512VL                               \
                                                  : 0)
#endif

#endif
