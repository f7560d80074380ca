/* foreign_bytes.h - numbers in files, in either byte order. */
#ifndef TOOLS_FOREIGN_FOREIGN_BYTES_H
#define TOOLS_FOREIGN_FOREIGN_BYTES_H
#include <stdint.h>
#include <string.h>

static inline uint64_t load_le(const uint8_t *p, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | p[i];
    return x;
}

static inline void store_le(uint8_t *p, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++, x >>= 8)
        p[i] = (uint8_t)x;
}

static inline uint32_t load_be32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void store_be32(uint8_t *p, uint32_t x)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(x >> (24 - 8 * i));
}

static inline double load_double(const uint8_t *p)
{
    const uint64_t bits = load_le(p, 8);
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void store_double(uint8_t *p, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    store_le(p, bits, 8);
}

/* Bit i of an array of 64-bit big-endian words, as a bit of bytes. */
static inline uint64_t bit_of_java(uint64_t i)
{
    return i ^ 56;
}

#endif
