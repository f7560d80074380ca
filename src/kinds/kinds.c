/* kinds.c - lists the kinds.  To add a kind, add its file and a line here. */
#include "kinds/kind.h"
#include <string.h>

#ifdef DJ_EXTRA_KIND /* the tests add a kind of their own */
extern const struct dj_kind DJ_EXTRA_KIND;
#endif

/* In the order of their numbers. */
static const struct dj_kind *const kinds[] = {
    &dj_classic,    &dj_blocked, &dj_layered, &dj_spectral, &dj_paired,
    &dj_scalable,   &dj_window,  &dj_static,  &dj_exact,
#ifdef DJ_EXTRA_KIND
    &DJ_EXTRA_KIND,
#endif
};

const struct dj_kind *dj_kind_of(uint32_t number)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (kinds[i]->number == number)
            return kinds[i];
    return NULL;
}

bool dj_kind_takes(const struct dj_kind *kind, const char *option)
{
    for (const char *const *own = kind->options; own && *own; own++)
        if (strcmp(*own, option) == 0)
            return true;
    return false;
}

const char *dj_kind_with(const char *option)
{
    size_t i = 0;
    while (i + 1 < DJ_ARRAY_LEN(kinds) && !dj_kind_takes(kinds[i], option))
        i++;
    return kinds[i]->name;
}

const char *deja_kind_name(uint32_t kind)
{
    const struct dj_kind *k = dj_kind_of(kind);
    return k ? k->name : NULL;
}

const char *deja_kind_help(uint32_t kind)
{
    const struct dj_kind *k = dj_kind_of(kind);
    return k ? k->help : NULL;
}

uint32_t deja_kind_parse(const char *name)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            return kinds[i]->number;
    return 0;
}

uint32_t deja_kind_next(uint32_t kind)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (kinds[i]->number > kind)
            return kinds[i]->number;
    return 0;
}

bool deja_kind_can(uint32_t kind, uint32_t capability)
{
    const struct dj_kind *k = dj_kind_of(kind);
    return k && dj_kind_can(k, capability);
}

const char *deja_simd_name(void)
{
    return dj_block_best()->name;
}
