/* kinds.c - the list of kinds: the one place where a new kind is announced. */
#include "kinds/part.h"
#include <string.h>

static const struct {
    const char *name;
    uint32_t kind;
} kinds[] = {
    {"blocked", DEJA_BLOCKED},   {"classic", DEJA_CLASSIC}, {"exact", DEJA_EXACT},
    {"layered", DEJA_LAYERED},   {"paired", DEJA_PAIRED},   {"scalable", DEJA_SCALABLE},
    {"spectral", DEJA_SPECTRAL}, {"static", DEJA_STATIC},   {"window", DEJA_WINDOW},
};

const char *deja_kind_name(uint32_t kind)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (kinds[i].kind == kind)
            return kinds[i].name;
    return NULL;
}

uint32_t deja_kind_parse(const char *name)
{
    for (size_t i = 0; i < DJ_ARRAY_LEN(kinds); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return kinds[i].kind;
    return 0;
}

const char *deja_simd_name(void)
{
    return dj_block_best()->name;
}
