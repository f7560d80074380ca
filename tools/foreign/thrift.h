/* thrift.h - reads Thrift's compact protocol from memory, as far as Parquet needs it.
 *
 * Every call checks that the bytes are there.  After a failure, `failed` stays set and everything
 * reads as 0, so callers check once at the end. */
#ifndef TOOLS_FOREIGN_THRIFT_H
#define TOOLS_FOREIGN_THRIFT_H
#include "deja.h"

enum thrift_type {
    THRIFT_STOP = 0,
    THRIFT_I32 = 5,
    THRIFT_I64 = 6,
    THRIFT_BINARY = 8,
    THRIFT_LIST = 9,
    THRIFT_STRUCT = 12
};

struct thrift {
    const uint8_t *at, *end;
    bool failed;
};

/* The next field of a struct; *id starts as 0 in each struct.  THRIFT_STOP: the struct has ended. */
int thrift_field(struct thrift *t, int *id);
int64_t thrift_integer(struct thrift *t);
deja_slice thrift_binary(struct thrift *t);
/* The number of elements of a list, each of *type; at most the number of bytes that are left. */
uint64_t thrift_list(struct thrift *t, int *type);
void thrift_skip(struct thrift *t, int type);

#endif
