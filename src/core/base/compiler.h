/* compiler.h - compiler features that C11 does not have. */
#ifndef DJ_COMPILER_H
#define DJ_COMPILER_H

#define DJ_LIKELY(x)   __builtin_expect(!!(x), 1)
#define DJ_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* Fetches a line that is read some hundred instructions later, into the second-level cache: the
 * first level can wait for only about ten lines at a time, the second for several times as many.
 * gcc treats a function that only prefetches as free of side effects and drops calls to it.  The
 * empty asm is a side effect that costs no instruction. */
#define DJ_PREFETCH(p)                                                                            \
    do {                                                                                          \
        __builtin_prefetch((p), 0, 2);                                                            \
        __asm__ volatile("");                                                                     \
    } while (0)
/* ThreadSanitizer does not know that vector loads concurrent with atomic stores are harmless on
 * x86, so its build uses only the portable kernels.  Tests compare the other kernels with these
 * bit for bit. */
#ifdef __SANITIZE_THREAD__
#define DJ_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DJ_TSAN 1
#endif
#endif
#define DJ_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define DJ_ARRAY_LEN(a)       (sizeof(a) / sizeof((a)[0]))
#define DJ_ALIGNED(p, n)      __builtin_assume_aligned((p), (n))

#endif
