/* items.h - the items of a command as keys of a filter, and room for the answers. */
#ifndef ITEMS_H
#define ITEMS_H
#include "call.h"

#define ITEMS_FEW 64

struct items {
    size_t n;
    deja_slice *key; /* in the form of the filter's URL profile, if it has one */
    uint8_t *answer;
    char *forms; /* canonical URLs */
    deja_slice few_keys[ITEMS_FEW];
    uint8_t few_answers[ITEMS_FEW];
};

/* The arguments from argv[first] on.  Returns true, or replies with an out-of-memory error.  Bytes
 * that need no rewriting are not copied, so argv must outlive the items. */
bool items_init(const struct call *c, struct items *items, int first);
void items_fini(struct items *items);

/* After the first `done` items were added or removed: inform replicas, the append-only file and
 * subscribers.  The command is replicated unchanged if it was just a key and items that were all
 * processed, and otherwise as `command` with the items that were. */
void items_publish(const struct call *c, const struct items *items, size_t done,
                   const char *command, const char *event, int first);

#endif
