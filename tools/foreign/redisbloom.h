/* redisbloom.h - RedisBloom's filters in pieces, for the module that holds them. */
#ifndef TOOLS_FOREIGN_REDISBLOOM_H
#define TOOLS_FOREIGN_REDISBLOOM_H
#include "tools/foreign/foreign.h"
#include "tools/foreign/formats.h"

/* Whether a dump can start with this header, the first chunk of BF.SCANDUMP. */
bool redisbloom_is_header(const uint8_t *data, size_t len);
uint64_t redisbloom_header_len(const struct foreign *f);
void redisbloom_header(const struct foreign *f, uint8_t *header);
/* Makes the parts without bodies.  f has its format and, if needed, its allocator. */
int redisbloom_begin(struct foreign *f, const uint8_t *header, size_t len, deja_error *err);
/* Takes the next bytes of the bodies; `at` is the number of bytes before them.  Memory grows with
 * the bytes that arrive.  A piece may not extend past the end of a part. */
int redisbloom_write(struct foreign *f, uint64_t at, const uint8_t *data, size_t len,
                     deja_error *err);
/* Copies bytes of the bodies, at most up to the end of a part, and returns their number. */
size_t redisbloom_read(const struct foreign *f, uint64_t at, void *out, size_t len);
bool redisbloom_is_fixed(const struct foreign *f);

#endif
