/* fail.c - how a failure of the command gets its words. */
#include "fail.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int fail(deja_error *err, int status, const char *fmt, ...)
{
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = status;
        vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
    }
    return status;
}

/* strerror_r comes in two shapes: POSIX fills the buffer and returns a number, GNU returns the
 * text.  Whichever this libc has, _Generic picks the reader for it. */
static inline const char *words_posix(int rc, const char *buffer)
{
    return rc == 0 ? buffer : "failed";
}

static inline const char *words_gnu(const char *text, const char *buffer)
{
    (void)buffer;
    return text;
}

#define WORDS(result, buffer)                                                                     \
    _Generic((result), int : words_posix, char * : words_gnu)(result, buffer)

int fail_errno(deja_error *err, const char *fmt, ...)
{
    int saved = errno;
    int status = saved == ENOMEM ? DEJA_ENOMEM : DEJA_EIO;
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = status;
        int len = vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        if (len >= 0 && (size_t)len < sizeof err->text) {
            char buffer[128];
            snprintf(err->text + len, sizeof err->text - (size_t)len, ": %s",
                     WORDS(strerror_r(saved, buffer, sizeof buffer), buffer));
        }
    }
    errno = saved;
    return status;
}

struct fail_path fail_path(const char *path)
{
    static const char dots[] = "...";
    struct fail_path shown;
    size_t room = sizeof shown.text - 1;
    size_t len = strlen(path);
    size_t at = 0;
    if (len > room) {
        memcpy(shown.text, dots, sizeof dots - 1);
        at = sizeof dots - 1;
        path += len - (room - at);
    }
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        shown.text[at++] = c < 0x20 || c == 0x7f ? '?' : *path;
    }
    shown.text[at] = 0;
    return shown;
}
