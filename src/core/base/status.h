/* status.h - error messages. */
#ifndef DJ_STATUS_H
#define DJ_STATUS_H
#include "core/base/compiler.h"
#include "deja.h"

/* Fill *err (unless NULL) with status and text, and return status: `return dj_fail(...)`. */
int dj_fail(deja_error *err, int status, const char *fmt, ...) DJ_PRINTF(3, 4);
/* The same for flags with bits that this library does not know. */
int dj_fail_flags(deja_error *err, unsigned unknown);
/* The same for a failed system call: DEJA_EIO and the text for errno, which is preserved. */
int dj_fail_errno(deja_error *err, const char *fmt, ...) DJ_PRINTF(2, 3);
/* The same for a failed allocation (DEJA_ENOMEM), and for file contents that no version of deja
 * writes (DEJA_EFORMAT). */
int dj_fail_memory(deja_error *err);
int dj_fail_damaged(deja_error *err, const char *field);

typedef unsigned long long ull; /* for %llu */

#endif
