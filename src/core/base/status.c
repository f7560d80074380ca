/* status.c - the texts of the status codes, and error messages. */
#include "core/base/status.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *deja_strerror(int status)
{
    switch (status) {
    case DEJA_OK:
        return "done";
    case DEJA_EINVAL:
        return "invalid argument";
    case DEJA_ENOMEM:
        return "out of memory";
    case DEJA_EIO:
        return "file operation failed";
    case DEJA_EFORMAT:
        return "not a deja file, or a damaged one";
    case DEJA_EVERSION:
        return "made by a newer version of deja";
    case DEJA_EFULL:
        return "no room for another key";
    case DEJA_ESPACE:
        return "buffer too small";
    case DEJA_ENOTSUP:
        return "this kind of filter cannot do that";
    case DEJA_EMISMATCH:
        return "filters do not match";
    case DEJA_EBUSY:
        return "in use by another process";
    case DEJA_ENOTURL:
        return "not a URL";
    }
    return "unknown status";
}

#define STR(x)  #x
#define XSTR(x) STR(x)
const char *deja_version(void)
{
    return XSTR(DEJA_VERSION_MAJOR) "." XSTR(DEJA_VERSION_MINOR) "." XSTR(DEJA_VERSION_PATCH);
}

uint32_t deja_version_number(void)
{
    return DEJA_VERSION_MAJOR * 10000 + DEJA_VERSION_MINOR * 100 + DEJA_VERSION_PATCH;
}

int dj_fail(deja_error *err, int status, const char *fmt, ...)
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

int dj_fail_flags(deja_error *err, unsigned unknown)
{
    return dj_fail(err, DEJA_EVERSION, "flags has bits that this version does not know: 0x%x",
                   unknown);
}

int dj_fail_memory(deja_error *err)
{
    return dj_fail(err, DEJA_ENOMEM, "out of memory");
}

int dj_fail_damaged(deja_error *err, const char *field)
{
    return dj_fail(err, DEJA_EFORMAT, "%s is damaged", field);
}

/* strerror_r has two versions: POSIX's fills the buffer and returns a number; GNU's returns the
 * text, which may not be in the buffer.  These two functions accept either result. */
static const char *words_of(int rc, const char *buffer)
{
    return rc == 0 ? buffer : "failed";
}

static const char *words_at(const char *text, const char *buffer)
{
    (void)buffer;
    return text;
}
#define WORDS(result, buffer)                                                                     \
    _Generic((result), int : words_of, char * : words_at)((result), (buffer))

int dj_fail_errno(deja_error *err, const char *fmt, ...)
{
    int saved = errno;
    if (err) {
        va_list ap;
        va_start(ap, fmt);
        err->status = DEJA_EIO;
        int len = vsnprintf(err->text, sizeof err->text, fmt, ap);
        va_end(ap);
        if (len >= 0 && (size_t)len < sizeof err->text) {
            char words[128];
            snprintf(err->text + len, sizeof err->text - (size_t)len, ": %s",
                     WORDS(strerror_r(saved, words, sizeof words), words));
        }
    }
    errno = saved;
    return DEJA_EIO;
}
