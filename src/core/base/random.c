/* random.c - gets secret bytes from the kernel. */
#include "core/base/random.h"
#include <sys/random.h>
#include <unistd.h>

#define AT_ONCE 256 /* the most that getentropy returns */

bool dj_random(void *out, size_t len)
{
    unsigned char *p = out;
    for (size_t n; len > 0; p += n, len -= n) {
        n = len < AT_ONCE ? len : AT_ONCE;
        if (getentropy(p, n) < 0)
            return false;
    }
    return true;
}
