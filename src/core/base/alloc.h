/* alloc.h - allocates zeroed memory through the caller's hook, in huge pages if large. */
#ifndef DJ_ALLOC_H
#define DJ_ALLOC_H
#include "deja.h"

/* Returns zeroed memory, or NULL.  If hook is NULL, small allocations use libc and large ones use
 * anonymous pages with a request for huge pages. */
void *dj_alloc(const deja_allocator *hook, size_t size, size_t align);
/* Replaces p, of `size` bytes, by a larger allocation with the same bytes and then zeros.  Returns
 * NULL and keeps p if out of memory.  p may be NULL. */
void *dj_alloc_more(const deja_allocator *hook, void *p, size_t size, size_t more, size_t align);
/* p may be NULL; the hook may be stored inside p. */
void dj_free(const deja_allocator *hook, void *p, size_t size);
/* Keeps a copy of the hook for an object that may outlive it; NULL if hook is NULL. */
const deja_allocator *dj_alloc_keep(const deja_allocator *hook, deja_allocator *copy);

#endif
