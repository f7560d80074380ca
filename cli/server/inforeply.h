/* inforeply.h - the fields of a reply to DEJA.INFO. */
#ifndef CLI_SERVER_INFOREPLY_H
#define CLI_SERVER_INFOREPLY_H
#include <stdint.h>

struct redisReply;

/* "", 0 or NaN if there is no such field. */
const char *inforeply_text(const struct redisReply *map, const char *name);
uint64_t inforeply_count(const struct redisReply *map, const char *name);
double inforeply_real(const struct redisReply *map, const char *name);

#endif
