/* lab_baseline.c - lists of the URLs themselves; see lab_baseline.h. */
#include "lab/engine/lab_baseline.h"
#include <stdlib.h>
#include <string.h>

bool lab_linear_has(const deja_slice *list, uint64_t n, deja_slice key)
{
    for (uint64_t i = 0; i < n; i++)
        if (list[i].len == key.len && memcmp(list[i].data, key.data, key.len) == 0)
            return true;
    return false;
}

static int compare(deja_slice a, deja_slice b)
{
    const int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);
    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

static int compare_items(const void *a, const void *b)
{
    return compare(*(const deja_slice *)a, *(const deja_slice *)b);
}

void lab_sort(deja_slice *list, uint64_t n)
{
    qsort(list, (size_t)n, sizeof *list, compare_items);
}

bool lab_binary_has(const deja_slice *sorted, uint64_t n, deja_slice key)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        const int order = compare(sorted[middle], key);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}
