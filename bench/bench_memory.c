/* bench_memory.c - memory shared by the filter under test and the limit; see bench_memory.h. */
#include "bench/bench_memory.h"
#include "tools/base/sys.h"
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE     ((size_t)1 << 20)

static struct {
    uint8_t *at;
    size_t mapped;
    size_t lent; /* 0: it is free */
} piece;

/* Whole huge pages, so that page tables do not affect the measurement. */
uint8_t *bench_memory_map(size_t len, size_t *mapped)
{
    if (len > SIZE_MAX / 4)
        return NULL;
    len = (len + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    uint8_t *p =
        mmap(NULL, len + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    const size_t head = (size_t)(-(uintptr_t)p & (HUGE_PAGE - 1));
    if (head > 0)
        munmap(p, head);
    munmap(p + head + len, HUGE_PAGE - head);
    sys_use_huge_pages(p + head, len);
    *mapped = len;
    return p + head;
}

static bool make_piece(size_t size)
{
    if (piece.mapped >= size)
        return true;
    bench_memory_fini();
    piece.at = bench_memory_map(size, &piece.mapped);
    return piece.at;
}

static void *lend(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (size >= LARGE && piece.lent == 0 && make_piece(size)) {
        piece.lent = size;
        return piece.at;
    }
    void *p = NULL;
    return posix_memalign(&p, align < sizeof p ? sizeof p : align, size > 0 ? size : 1) ? NULL : p;
}

static void take_back(void *ctx, void *p, size_t size)
{
    (void)ctx, (void)size;
    if (p == piece.at && piece.lent > 0)
        piece.lent = 0;
    else
        free(p);
}

const deja_allocator *bench_memory_allocator(void)
{
    static const deja_allocator allocator = {lend, take_back, NULL};
    return &allocator;
}

uint8_t *bench_memory_piece(size_t *len)
{
    *len = piece.lent;
    return piece.lent > 0 ? piece.at : NULL;
}

void bench_memory_fini(void)
{
    if (piece.at)
        munmap(piece.at, piece.mapped);
    piece.at = NULL;
    piece.mapped = piece.lent = 0;
}
