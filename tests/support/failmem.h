/* failmem.h - an allocator that fails on request and remembers everything it handed out.
 *
 * Memory is filled with garbage, so that code that needs zeros must write them.  Every block is
 * on a list with its size and alignment: free must name a block on the list, with its original
 * size.  Mistakes are counted rather than asserted, since a test framework cannot leave a library
 * call halfway. */
#ifndef DJ_TEST_FAILMEM_H
#define DJ_TEST_FAILMEM_H
#include "deja.h"
#include <stdlib.h>
#include <string.h>

#define FAILMEM_BLOCKS 256

struct failmem {
    deja_allocator hook; /* pass this as deja_options.alloc */
    size_t fail_at;      /* the allocation that fails, counted from 1; 0: none does */
    size_t asked;        /* allocations so far */
    size_t live;         /* blocks not yet freed */
    size_t largest;      /* bytes allocated at the same time */
    size_t mistakes;     /* frees of unknown blocks or with a wrong size, bad alignments */
    struct {
        void *p;
        size_t size;
    } block[FAILMEM_BLOCKS];
};

static inline void *failmem_alloc(void *ctx, size_t size, size_t align)
{
    struct failmem *m = ctx;
    void *p = NULL;
    m->asked++;
    m->largest = size > m->largest ? size : m->largest;
    m->mistakes += align == 0 || (align & (align - 1)) != 0;
    if (m->asked == m->fail_at || m->live == FAILMEM_BLOCKS)
        return NULL;
    if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size ? size : 1))
        return NULL;
    memset(p, 0xa5, size);
    m->block[m->live].p = p;
    m->block[m->live++].size = size;
    return p;
}

static inline void failmem_free(void *ctx, void *p, size_t size)
{
    struct failmem *m = ctx;
    for (size_t i = 0; i < m->live; i++)
        if (m->block[i].p == p) {
            m->mistakes += m->block[i].size != size;
            memset(p, 0x5a, m->block[i].size);
            m->block[i] = m->block[--m->live];
            free(p);
            return;
        }
    m->mistakes++;
}

static inline void failmem_init(struct failmem *m, size_t fail_at)
{
    memset(m, 0, sizeof *m);
    m->hook = (deja_allocator){failmem_alloc, failmem_free, m};
    m->fail_at = fail_at;
}

#endif
