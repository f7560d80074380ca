/* noturl.c - explains in one sentence why a URL has no canonical form. */
#include "core/base/status.h"
#include "core/url/url.h"
#include <string.h>

#define SHOWN 120 /* bytes of a URL in a message */

/* Copies the start of a URL, without bytes that a terminal would obey. */
static const char *shown(deja_slice url, char text[SHOWN + 4])
{
    const char *from = url.data;
    const size_t len = url.len < SHOWN ? url.len : SHOWN;
    for (size_t i = 0; i < len; i++)
        text[i] = (unsigned char)from[i] < ' ' || from[i] == 0x7f ? '?' : from[i];
    memcpy(text + len, len < url.len ? "..." : "", len < url.len ? 4 : 1);
    return text;
}

int dj_url_explain(int status, deja_slice url, deja_error *err)
{
    char text[SHOWN + 4];
    if (status == DEJA_OK || !err)
        return status;
    if (status == DEJA_ENOTURL)
        return dj_fail(err, status, "'%s' is not a URL", shown(url, text));
    if (status == DEJA_ENOTSUP)
        return dj_fail(err, status,
                       "the host of '%s' needs IDNA, which this build lacks (libidn2)",
                       shown(url, text));
    if (status == DEJA_ENOMEM)
        return dj_fail(err, status, "out of memory");
    return dj_fail(err, status, "out has too little room: give it DEJA_URL_ROOM bytes");
}
