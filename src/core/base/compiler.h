/* compiler.h - the few things that the compiler knows and C11 cannot say. */
#ifndef DJ_COMPILER_H
#define DJ_COMPILER_H

#define DJ_LIKELY(x)   __builtin_expect(!!(x), 1)
#define DJ_UNLIKELY(x) __builtin_expect(!!(x), 0)
/* gcc takes a function that does nothing but prefetch for one without effect and drops calls to
 * it; the empty asm is an effect that costs no instruction. */
#define DJ_PREFETCH(p)                                                                            \
    do {                                                                                          \
        __builtin_prefetch((p), 0, 3);                                                            \
        __asm__ volatile("");                                                                     \
    } while (0)
/* ThreadSanitizer does not know that vector loads beside atomic stores are harmless on x86, so
 * its build has the portable kernels only; the others are compared with them bit for bit. */
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
