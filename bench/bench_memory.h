/* bench_memory.h - one large block of memory for the filter under test, known to the bench.
 *
 * The location of memory and its page size change the speed of random accesses by up to half,
 * especially in a virtual machine.  So the limit is measured in the same memory that the filter
 * uses. */
#ifndef BENCH_BENCH_MEMORY_H
#define BENCH_BENCH_MEMORY_H
#include "deja.h"

/* Gives the block to the first request for a megabyte or more, in huge pages if the kernel
 * provides them; other requests use libc.  After free, the block is kept for the next filter. */
const deja_allocator *bench_memory_allocator(void);
/* The block while it is in use, and its length; NULL if it is not in use. */
uint8_t *bench_memory_piece(size_t *len);
void bench_memory_fini(void);

/* Zeroed memory, in huge pages if the kernel provides them, or NULL. *mapped is the length to pass
 * to munmap. */
uint8_t *bench_memory_map(size_t len, size_t *mapped);

#endif
