/* status.h - how a failure gets its words. */
#ifndef DJ_STATUS_H
#define DJ_STATUS_H
#include "core/base/compiler.h"
#include "deja.h"

/* Fill *err (unless NULL) with status and text, and return status: `return dj_fail(...)`. */
int dj_fail(deja_error *err, int status, const char *fmt, ...) DJ_PRINTF(3, 4);
/* The same for a failed system call: DEJA_EIO and the words for errno, which is kept. */
int dj_fail_errno(deja_error *err, const char *fmt, ...) DJ_PRINTF(2, 3);

#endif
