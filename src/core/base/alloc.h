/* alloc.h - memory through the caller's hook, zeroed, and in huge pages where that pays. */
#ifndef DJ_ALLOC_H
#define DJ_ALLOC_H
#include "deja.h"

/* Zeroed memory, or NULL.  hook NULL means the default: libc for small pieces, anonymous pages
 * with a request for huge ones for large pieces. */
void *dj_alloc(const deja_allocator *hook, size_t size, size_t align);
void dj_free(const deja_allocator *hook, void *p, size_t size); /* NULL is fine */

#endif
