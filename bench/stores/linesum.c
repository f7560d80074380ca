/* linesum.c - prints the number of lines of standard input and a sum of their hashes.
 *
 * Two inputs with the same sum have the same lines, in any order, each as often: the sum of 128-bit
 * hashes modulo 2^128 differs otherwise, except with a probability of about 2^-128. */
#define XXH_INLINE_ALL
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#define BLOCK ((size_t)1 << 20)

struct sum {
    uint64_t lines, low, high;
};

static void add(struct sum *s, const char *line, size_t len)
{
    const XXH128_hash_t h = XXH3_128bits(line, len);
    s->lines++;
    s->low += h.low64;
    s->high += h.high64 + (s->low < h.low64);
}

int main(void)
{
    struct sum s = {0};
    char *buffer = malloc(2 * BLOCK);
    size_t len = 0;
    ssize_t got;
    if (!buffer)
        return 2;
    while ((got = read(STDIN_FILENO, buffer + len, BLOCK)) > 0) {
        char *at = buffer, *end;
        len += (size_t)got;
        while ((end = memchr(at, '\n', (size_t)(buffer + len - at)))) {
            add(&s, at, (size_t)(end - at));
            at = end + 1;
        }
        len -= (size_t)(at - buffer);
        memmove(buffer, at, len);
        if (len > BLOCK) {
            (void)fputs("linesum: a line has more than a million bytes\n", stderr);
            return 2;
        }
    }
    if (len)
        add(&s, buffer, len);
    free(buffer);
    (void)printf("%" PRIu64 " %016" PRIx64 "%016" PRIx64 "\n", s.lines, s.high, s.low);
    return got < 0 ? 2 : 0;
}
