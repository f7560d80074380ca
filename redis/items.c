/* items.c - the items of a command as keys of a filter, and room for its answers. */
#include "items.h"
#include <string.h>

/* Each URL in its canonical form; what is no URL stays as it is.  0: no memory for so much. */
static int canonicalise(struct items *items, const deja_url_rules *rules)
{
    size_t room = 0;
    for (size_t i = 0; i < items->n; i++)
        room += DEJA_URL_ROOM(items->key[i].len);
    items->forms = RedisModule_TryAlloc(room);
    if (!items->forms)
        return 0;
    /* The answers are not there yet: their room takes what became of each. */
    (void)deja_url_canon_batch(rules, items->key, items->n, items->forms, room, items->key,
                               (int8_t *)items->answer);
    return 1;
}

/* Room for keys and answers, in the struct if they are few. */
static int furnish(struct items *items)
{
    const int many = items->n > ITEMS_FEW;
    items->forms = NULL;
    items->key = many ? RedisModule_TryAlloc(items->n * sizeof *items->key) : items->few_keys;
    items->answer = many ? RedisModule_TryAlloc(items->n) : items->few_answers;
    return items->key && items->answer;
}

int items_init(RedisModuleCtx *ctx, struct items *items, struct value *v, RedisModuleString **argv,
               int n)
{
    items->n = (size_t)n;
    int fine = furnish(items);
    for (size_t i = 0; fine && i < items->n; i++)
        items->key[i].data = RedisModule_StringPtrLen(argv[i], &items->key[i].len);
    if (fine && value_rules(v))
        fine = canonicalise(items, value_rules(v));
    if (!fine) {
        items_fini(items);
        RedisModule_ReplyWithError(ctx, "ERR out of memory for so many or so long items");
    }
    return fine;
}

void items_fini(struct items *items)
{
    if (items->key != items->few_keys) {
        RedisModule_Free(items->key);
        RedisModule_Free(items->answer);
    }
    RedisModule_Free(items->forms);
}

/* A command as it came costs the server nothing to pass on, and nothing at all where nobody
 * listens; one of our own is looked up by its name and put together first, every time. */
void items_publish(RedisModuleCtx *ctx, const struct items *items, size_t done,
                   const char *command, const char *event, RedisModuleString **argv, int first)
{
    if (!done)
        return;
    if (done == items->n && first == 2)
        RedisModule_ReplicateVerbatim(ctx);
    else
        RedisModule_Replicate(ctx, command, "sv", argv[1], argv + first, done);
    RedisModule_NotifyKeyspaceEvent(ctx, REDISMODULE_NOTIFY_MODULE, event, argv[1]);
}
