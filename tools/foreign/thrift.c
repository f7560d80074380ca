/* thrift.c - reads Thrift's compact protocol; see thrift.h. */
#include "tools/foreign/thrift.h"

#define DEPTH 32 /* of structs and lists in each other; Parquet needs 8 */

enum {
    TRUE = 1,
    FALSE = 2,
    I8 = 3,
    I16 = 4,
    DOUBLE = 7,
    SET = 10,
    MAP = 11,
    UUID = 13
};

static uint64_t left(const struct thrift *t)
{
    return (uint64_t)(t->end - t->at);
}

static uint8_t byte(struct thrift *t)
{
    t->failed |= t->at == t->end;
    return t->failed ? 0 : *t->at++;
}

static uint64_t varint(struct thrift *t)
{
    uint64_t x = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        const uint8_t b = byte(t);
        x |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80)
            return x;
    }
    t->failed = true;
    return 0;
}

int64_t thrift_integer(struct thrift *t)
{
    const uint64_t x = varint(t);
    return (int64_t)(x >> 1 ^ -(x & 1)); /* zigzag */
}

int thrift_field(struct thrift *t, int *id)
{
    const uint8_t head = byte(t);
    const int64_t next = head == 0 ? 0 : head >> 4 ? *id + (head >> 4) : thrift_integer(t);
    t->failed |= next < 0 || next > INT16_MAX;
    *id = (int)(next & INT16_MAX);
    return t->failed ? THRIFT_STOP : head & 15;
}

static void pass(struct thrift *t, uint64_t len)
{
    t->failed |= len > left(t);
    t->at += t->failed ? 0 : len;
}

deja_slice thrift_binary(struct thrift *t)
{
    const uint64_t len = varint(t);
    const uint8_t *start = t->at;
    pass(t, len);
    return t->failed ? (deja_slice){"", 0} : (deja_slice){start, (size_t)len};
}

uint64_t thrift_list(struct thrift *t, int *type)
{
    const uint8_t head = byte(t);
    const uint64_t n = head >> 4 == 15 ? varint(t) : head >> 4;
    *type = head & 15;
    t->failed |= n > left(t); /* every element has at least a byte */
    return t->failed ? 0 : n;
}

static void skip(struct thrift *t, int type, int depth);

static void skip_struct(struct thrift *t, int depth)
{
    int id = 0, type;
    while ((type = thrift_field(t, &id)) != THRIFT_STOP)
        if (type != TRUE && type != FALSE) /* of a field, the type is the value */
            skip(t, type, depth);
}

static void skip_list(struct thrift *t, int depth)
{
    int type;
    for (uint64_t n = thrift_list(t, &type); n > 0 && !t->failed; n--)
        skip(t, type, depth);
}

static void skip_map(struct thrift *t, int depth)
{
    const uint64_t n = varint(t);
    const uint8_t types = n ? byte(t) : 0;
    t->failed |= n > left(t);
    for (uint64_t i = 0; i < n && !t->failed; i++) {
        skip(t, types >> 4, depth);
        skip(t, types & 15, depth);
    }
}

static void skip(struct thrift *t, int type, int depth)
{
    t->failed |= depth == 0;
    if (t->failed)
        return;
    if (type == TRUE || type == FALSE || type == I8)
        pass(t, 1);
    else if (type == I16 || type == THRIFT_I32 || type == THRIFT_I64)
        (void)varint(t);
    else if (type == DOUBLE || type == UUID)
        pass(t, type == DOUBLE ? 8 : 16);
    else if (type == THRIFT_BINARY)
        (void)thrift_binary(t);
    else if (type == THRIFT_LIST || type == SET)
        skip_list(t, depth - 1);
    else if (type == MAP)
        skip_map(t, depth - 1);
    else if (type == THRIFT_STRUCT)
        skip_struct(t, depth - 1);
    else
        t->failed = true;
}

void thrift_skip(struct thrift *t, int type)
{
    if (type != TRUE && type != FALSE)
        skip(t, type, DEPTH);
}
