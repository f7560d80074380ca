/* redisapi.c - finds the server's calls by name. */
#include "redisapi.h"
#include <string.h>

#define DEFINE(result, name, arguments) result(*RedisModule_##name) arguments;
REDISAPI_CALLS(DEFINE, DEFINE)

/* The context passed to OnLoad starts with a pointer to the function that finds the others. */
typedef int (*get_api)(const char *name, void *pointer);

static int fetch(get_api get, const char *name, void *pointer)
{
    return get(name, pointer) == REDISMODULE_OK;
}

const char *redisapi_fetch(RedisModuleCtx *ctx)
{
    get_api get;
    memcpy(&get, ctx, sizeof get);
#define NEED(result, name, arguments)                                                             \
    if (!fetch(get, "RedisModule_" #name, (void *)&RedisModule_##name))                           \
        return #name;
#define MAY(result, name, arguments)                                                              \
    if (!fetch(get, "RedisModule_" #name, (void *)&RedisModule_##name))                           \
        RedisModule_##name = NULL;
    REDISAPI_CALLS(NEED, MAY)
    return NULL;
}
