/* reserving.c - the command that creates a filter on a server; see reserving.h. */
#include "cli/server/reserving.h"
#include <math.h>
#include <string.h>

/* Keys are spread at random: the capacity is the mean plus five standard deviations. */
static uint64_t capacity_of_shard(uint64_t capacity, uint32_t n)
{
    const double mean = (double)capacity / n;
    if (n == 1)
        return capacity;
    return (uint64_t)ceil(mean + 5 * sqrt(mean)) + 1;
}

static void put(struct reserving *r, const char *word, size_t len)
{
    r->word[r->n] = word;
    r->len[r->n++] = len;
}

#define FIRST_PART 1000000 /* initial capacity of a shard that grows */

deja_options reserving_of_shard(const deja_options *all, uint32_t n)
{
    deja_options o = *all;
    if (!o.kind)
        o.kind = o.flags & DEJA_DATES ? DEJA_EXACT : DEJA_BLOCKED;
    o.url = NULL; /* keys are sent in canonical form */
    for (size_t i = 0; deja_option_at(i); i++) {
        const deja_option *row = deja_option_at(i);
        void *field = (char *)&o + row->offset;
        if (row->unit && strcmp(row->unit, "keys") == 0 && deja_option_given(row, &o))
            *(uint64_t *)field = capacity_of_shard(*(uint64_t *)field, n);
    }
    if (!o.capacity && !o.memory)
        o.capacity = FIRST_PART;
    return o;
}

void reserving_spell(struct reserving *r, const deja_options *o)
{
    const deja_option *row;
    r->n = 0;
    put(r, "DEJA.RESERVE", strlen("DEJA.RESERVE"));
    put(r, "", 0); /* the name */
    for (size_t i = 0; i < RESERVING_OPTIONS && (row = deja_option_at(i)); i++) {
        if (!row->keyword || !deja_option_given(row, o))
            continue;
        put(r, row->keyword, strlen(row->keyword));
        if (row->type != DEJA_OPTION_FLAG)
            put(r, r->text[i], deja_option_print(row, o, r->text[i]));
    }
}
