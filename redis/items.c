/* items.c - the items of a command as keys of a filter, and room for the answers. */
#include "items.h"

/* Replaces URLs with their canonical form; other items stay unchanged.  False: out of memory. */
static bool canonicalize(struct items *items, const deja_url_rules *rules)
{
    size_t room = 0;
    for (size_t i = 0; i < items->n; i++)
        room += DEJA_URL_ROOM(items->key[i].len);
    items->forms = RedisModule_TryAlloc(room);
    if (!items->forms)
        return false;
    /* The statuses are not needed; they go into the space for the answers. */
    (void)deja_url_canon_batch(rules, items->key, items->n, items->forms, room, items->key,
                               (int8_t *)items->answer);
    return true;
}

/* Room for keys and answers, in the struct if they are few. */
static bool make_room(struct items *items)
{
    const bool many = items->n > ITEMS_FEW;
    items->forms = NULL;
    items->key = many ? RedisModule_TryAlloc(items->n * sizeof *items->key) : items->few_keys;
    items->answer = many ? RedisModule_TryAlloc(items->n) : items->few_answers;
    return items->key && items->answer;
}

bool items_init(const struct call *c, struct items *items, int first)
{
    items->n = (size_t)(c->argc - first);
    bool fine = make_room(items);
    for (size_t i = 0; fine && i < items->n; i++)
        items->key[i].data =
            RedisModule_StringPtrLen(c->argv[(size_t)first + i], &items->key[i].len);
    if (fine && c->v && value_rules(c->v))
        fine = canonicalize(items, value_rules(c->v));
    if (!fine) {
        items_fini(items);
        call_error(c, "ERR out of memory; send fewer or shorter items at once");
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

/* An unchanged command costs the server little to forward, and nothing if it has no replica and
 * no log.  Replicate looks up the command and copies its arguments every time. */
void items_publish(const struct call *c, const struct items *items, size_t done,
                   const char *command, const char *event, int first)
{
    if (!done)
        return;
    if (done == items->n && first == 2)
        RedisModule_ReplicateVerbatim(c->ctx);
    else
        RedisModule_Replicate(c->ctx, command, "sv", c->argv[1], c->argv + first, done);
    call_notify(c, event);
}
