/* random.h - gets secret bytes from the kernel. */
#ifndef DJ_RANDOM_H
#define DJ_RANDOM_H
#include <stdbool.h>
#include <stddef.h>

bool dj_random(void *out, size_t len); /* false on failure; errno gives the reason */

#endif
