/* fail.c - error messages of the tools. */
#include "tools/base/fail.h"
#include "tools/base/printable.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Cuts off a text that is too long, between two characters. */
static void print(deja_error *err, int status, const char *fmt, va_list args)
{
    err->status = status;
    const int len = vsnprintf(err->text, sizeof err->text, fmt, args);
    if (len >= 0 && (size_t)len >= sizeof err->text)
        err->text[printable_cut(err->text, sizeof err->text - 1)] = '\0';
}

int fail(deja_error *err, int status, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (err)
        print(err, status, fmt, args);
    va_end(args);
    return status;
}

/* POSIX's strerror_r fills the buffer and returns a number; GNU's returns the text.  _Generic
 * selects the function for this libc. */
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
    const int saved = errno;
    const int status = saved == ENOMEM ? DEJA_ENOMEM : DEJA_EIO;
    char buffer[128];
    va_list args;
    va_start(args, fmt);
    if (err) {
        print(err, status, fmt, args);
        printable_append(err->text, sizeof err->text, ": %s",
                         WORDS(strerror_r(saved, buffer, sizeof buffer), buffer));
    }
    va_end(args);
    errno = saved;
    return status;
}

struct fail_path fail_path(const char *path)
{
    static const char dots[] = "...";
    struct fail_path shown;
    char text[sizeof shown.text * 4]; /* an escape is up to four times as long as its byte */
    const size_t room = sizeof shown.text, len = strlen(path), least = len < room ? 0 : len - room;
    size_t from = least;
    for (;;) {
        (void)printable(text, sizeof text, path + from, len - from, false);
        if (strlen(text) + (from > 0 ? sizeof dots : 1) <= room)
            break;
        do
            from++; /* do not start in the middle of a character */
        while (((unsigned char)path[from] & 0xc0) == 0x80);
    }
    const size_t before = from > 0 ? sizeof dots - 1 : 0;
    memcpy(shown.text, dots, before);
    memcpy(shown.text + before, text, strlen(text) + 1);
    return shown;
}
