/* random.c - gets secret bytes from the kernel. */
#include "core/base/random.h"
#include <errno.h>
#include <sys/random.h>

bool dj_random(void *out, size_t len)
{
    unsigned char *p = out;
    while (len) {
        ssize_t got = getrandom(p, len, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        len -= (size_t)got;
    }
    return true;
}
