/* fail.h - how a failure of the command gets its words. */
#ifndef TOOLS_BASE_FAIL_H
#define TOOLS_BASE_FAIL_H
#include "deja.h"

/* Fill *err (unless NULL) with status and text, and return status: `return fail(...)`. */
int fail(deja_error *err, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a failed system call: the text, a colon and the words for errno, which is kept.
 * The status is DEJA_ENOMEM for ENOMEM and DEJA_EIO for everything else. */
int fail_errno(deja_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A path as it may be shown: harmless (printable.h), and of a long one only the end is left, so
 * that the rest of the message fits into deja_error.  Use as an argument: fail(err, DEJA_EIO, "%s:
 * ...", fail_path(path).text). */
struct fail_path {
    char text[112];
};
struct fail_path fail_path(const char *path);

#endif
