/* memory.h - filters whose bodies are on the heap. */
#ifndef DJ_MEMORY_H
#define DJ_MEMORY_H
#include "kinds/deja_filter.h"

/* A new filter with zeroed bodies on the heap. */
int dj_filter_in_memory(const struct dj_plan *plan, const uint8_t key[DEJA_KEY_LEN],
                        const deja_allocator *alloc, deja_filter **out, deja_error *err);
/* Makes the heap the owner of a filter without bodies; its parts get theirs from f->alloc. */
void dj_filter_to_memory(deja_filter *f);

#endif
