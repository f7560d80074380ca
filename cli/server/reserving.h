/* reserving.h - the command that creates a filter on a server: DEJA.RESERVE with the options that
 * were given, from the library's table. */
#ifndef CLI_SERVER_RESERVING_H
#define CLI_SERVER_RESERVING_H
#include "deja.h"

/* The words of the command; word 1 is the name of the filter, which the caller sets. */
#define RESERVING_OPTIONS 64
struct reserving {
    const char *word[2 + 2 * RESERVING_OPTIONS];
    size_t len[2 + 2 * RESERVING_OPTIONS];
    size_t n;
    char text[RESERVING_OPTIONS][DEJA_OPTION_TEXT]; /* values */
};

/* The options of one of n shards: numbers of keys are divided by n. */
deja_options reserving_of_shard(const deja_options *all, uint32_t n);
void reserving_spell(struct reserving *r, const deja_options *o);

#endif
