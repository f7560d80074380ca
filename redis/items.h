/* items.h - the items of a command as keys of a filter, and room for its answers. */
#ifndef ITEMS_H
#define ITEMS_H
#include "value.h"

#define ITEMS_FEW 64

struct items {
    size_t n;
    deja_slice *key; /* in the form of the filter's URL profile, if it has one */
    uint8_t *answer;
    char *forms; /* canonical URLs */
    deja_slice few_keys[ITEMS_FEW];
    uint8_t few_answers[ITEMS_FEW];
};

/* True, or the client has been told that there is no memory.  Takes no copy of bytes that are in
 * form already: argv has to stay. */
int items_init(RedisModuleCtx *ctx, struct items *items, struct value *v, RedisModuleString **argv,
               int n);
void items_fini(struct items *items);

/* After `done` of them were taken (added, removed): tell replicas and the log, and those who watch
 * keys.  argv[first] was the first item of the command; where the command did not what it says,
 * another one that takes key and items is sent in its place. */
void items_publish(RedisModuleCtx *ctx, const struct items *items, size_t done,
                   const char *command, const char *event, RedisModuleString **argv, int first);

#endif
