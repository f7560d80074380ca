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
#define DJ_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define DJ_ARRAY_LEN(a)       (sizeof(a) / sizeof((a)[0]))
#define DJ_ALIGNED(p, n)      __builtin_assume_aligned((p), (n))

#endif
