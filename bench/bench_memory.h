/* bench_memory.h - one large piece of memory for the filter under test, known to the bench.
 *
 * Where a machine puts a piece of memory, and in what pages, makes differences of a half for
 * accesses at random places, above all in a virtual machine.  So the limit is measured in the very
 * memory that the filter lives in. */
#ifndef BENCH_BENCH_MEMORY_H
#define BENCH_BENCH_MEMORY_H
#include "deja.h"

/* Hands out the piece to the first who asks for a megabyte or more, in huge pages where the kernel
 * gives them; other memory comes from libc.  Freed, it is kept for the next filter. */
const deja_allocator *bench_memory_allocator(void);
/* The piece while it is handed out, and how much of it; NULL when it is not. */
uint8_t *bench_memory_piece(size_t *len);
void bench_memory_fini(void);

/* Zeros in huge pages where the kernel gives them; NULL.  *mapped is what munmap takes. */
uint8_t *bench_memory_map(size_t len, size_t *mapped);

#endif
