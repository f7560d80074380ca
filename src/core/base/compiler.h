/* compiler.h - the few things that the compiler knows and C11 cannot say. */
#ifndef DJ_COMPILER_H
#define DJ_COMPILER_H

#define DJ_LIKELY(x)          __builtin_expect(!!(x), 1)
#define DJ_UNLIKELY(x)        __builtin_expect(!!(x), 0)
#define DJ_PREFETCH(p)        __builtin_prefetch((p), 0, 3)
/* Ask for the line in a writable state, which spares a second trip to other cores. */
#define DJ_PREFETCH_WRITE(p)  __builtin_prefetch((p), 1, 3)
#define DJ_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define DJ_ARRAY_LEN(a)       (sizeof(a) / sizeof((a)[0]))
#define DJ_ALIGNED(p, n)      __builtin_assume_aligned((p), (n))

#endif
