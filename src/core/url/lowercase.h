/* lowercase.h - lower case beyond ASCII. */
#ifndef DJ_LOWERCASE_H
#define DJ_LOWERCASE_H
#include <stddef.h>
#include <stdint.h>

/* The simple lower case of a code point, or the code point itself if it has none. */
uint32_t dj_lowercase(uint32_t c);

#endif
