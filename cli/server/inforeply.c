/* inforeply.c - the fields of a reply to DEJA.INFO. */
#include "cli/server/inforeply.h"
#include "tools/base/number.h"
#include <math.h>
#include <string.h>

#ifdef DEJA_HAVE_HIREDIS
#include <hiredis/hiredis.h>

static const redisReply *value_of(const redisReply *map, const char *name)
{
    if (map->type != REDIS_REPLY_ARRAY)
        return NULL;
    for (size_t i = 0; i + 1 < map->elements; i += 2)
        if (map->element[i]->str && strcmp(map->element[i]->str, name) == 0)
            return map->element[i + 1];
    return NULL;
}

const char *inforeply_text(const redisReply *map, const char *name)
{
    const redisReply *value = value_of(map, name);
    return value && value->str ? value->str : "";
}

uint64_t inforeply_count(const redisReply *map, const char *name)
{
    const redisReply *value = value_of(map, name);
    return value && value->type == REDIS_REPLY_INTEGER ? (uint64_t)value->integer : 0;
}

double inforeply_real(const redisReply *map, const char *name)
{
    const char *text = inforeply_text(map, name);
    double x = 0;
    return strcmp(text, "0") == 0 || num_parse_real(text, &x, NULL) == DEJA_OK ? x : NAN;
}

#endif
