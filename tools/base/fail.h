/* fail.h - error messages of the tools. */
#ifndef TOOLS_BASE_FAIL_H
#define TOOLS_BASE_FAIL_H
#include "deja.h"

/* Fills *err (unless NULL) with status and text and returns status: `return fail(...)`. */
int fail(deja_error *err, int status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The same for a failed system call: appends a colon and the message for errno, which is
 * preserved.  The status is DEJA_ENOMEM for ENOMEM, otherwise DEJA_EIO. */
int fail_errno(deja_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A path for a message: escaped (printable.h), and only the end of a long path, so that the rest
 * of the message fits into deja_error.  Use: fail(err, DEJA_EIO, "%s: ...", fail_path(p).text). */
struct fail_path {
    char text[112];
};
struct fail_path fail_path(const char *path);

#endif
