/* popcount.h - how many bits of a body are set. */
#ifndef DJ_POPCOUNT_H
#define DJ_POPCOUNT_H
#include <stdint.h>

/* body is 8-aligned, len a multiple of 8.  Writers may be setting bits meanwhile. */
uint64_t dj_popcount(const uint8_t *body, uint64_t len);

#endif
