/* alloc.c - allocates zeroed memory through the caller's hook, in huge pages if large.
 *
 * Filter probes are random accesses.  With 4 KiB pages, nearly every probe of a large filter
 * misses the TLB as well as the cache; with 2 MiB pages it misses only the cache.  Large
 * allocations therefore use mmap, aligned to 2 MiB, with a request for huge pages, which the
 * kernel may ignore. mmap also returns zeroed memory without touching it. */
#include "core/base/alloc.h"
#include "core/base/os.h"
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define HUGE_FROM (HUGE_PAGE / 2) /* rounding up at most doubles the size */

static size_t round_up(size_t size)
{
    return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static void *alloc_pages(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t len = round_up(size);
    /* Map one extra huge page so that an aligned range fits inside, and unmap the rest. */
    char *p =
        mmap(NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t head = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    if (head)
        munmap(p, head);
    if (HUGE_PAGE - head)
        munmap(p + head + len, HUGE_PAGE - head);
    dj_os_use_huge_pages(p + head, len);
    return p + head;
}

void *dj_alloc(const deja_allocator *hook, size_t size, size_t align)
{
    if (!hook && size >= HUGE_FROM)
        return alloc_pages(size);
    void *p = NULL;
    if (hook)
        p = hook->alloc(hook->ctx, size, align);
    else if (posix_memalign(&p, align < sizeof(void *) ? sizeof(void *) : align, size ? size : 1))
        p = NULL;
    if (p)
        memset(p, 0, size);
    return p;
}

void *dj_alloc_more(const deja_allocator *hook, void *p, size_t size, size_t more, size_t align)
{
    void *q = dj_alloc(hook, more, align);
    if (!q || !p)
        return q;
    const bool pages = !hook && size >= HUGE_FROM;
    /* Both places are aligned to huge pages, so this moves entries of the page table, not bytes. */
    if (!pages || !dj_os_move_pages(p, round_up(size), q, round_up(more))) {
        memcpy(q, p, size);
        dj_free(hook, p, size);
    }
    return q;
}

void dj_free(const deja_allocator *hook, void *p, size_t size)
{
    if (!p)
        return;
    if (hook)
        hook->free(hook->ctx, p, size);
    else if (size >= HUGE_FROM)
        munmap(p, round_up(size));
    else
        free(p);
}

const deja_allocator *dj_alloc_keep(const deja_allocator *hook, deja_allocator *copy)
{
    if (hook)
        *copy = *hook;
    return hook ? copy : NULL;
}
