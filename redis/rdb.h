/* rdb.h - the data type of the module. */
#ifndef RDB_H
#define RDB_H
#include "value.h"

#define RDB_ENCVER 1

int rdb_create_type(RedisModuleCtx *ctx);

#endif
