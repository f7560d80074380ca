/* lab_baseline.c - lists of the URLs themselves; see lab_baseline.h. */
#include "lab/engine/lab_baseline.h"
#include "tools/base/mix.h"
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

/* The first entry that is not before the key. */
static uint64_t place_of(const deja_slice *sorted, uint64_t n, deja_slice key)
{
    uint64_t low = 0, high = n;
    while (low < high) {
        const uint64_t middle = low + (high - low) / 2;
        if (compare(sorted[middle], key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void lab_insert_sorted(deja_slice *sorted, uint64_t n, deja_slice key)
{
    const uint64_t at = place_of(sorted, n, key);
    memmove(sorted + at + 1, sorted + at, (size_t)(n - at) * sizeof *sorted);
    sorted[at] = key;
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

/* --- Strings in memory of their own ---------------------------------------------------- */

#define FIRST 16u /* items or buckets */

static char *copy_of(deja_slice key, size_t *asked)
{
    char *s = malloc(key.len + 1);
    if (!s)
        return NULL;
    memcpy(s, key.data, key.len);
    s[key.len] = '\0';
    *asked += key.len + 1;
    return s;
}

int lab_strings_add(struct lab_strings *l, deja_slice key)
{
    if (l->n == l->cap) {
        const size_t cap = l->cap > 0 ? 2 * l->cap : FIRST;
        char **item = realloc(l->item, cap * sizeof *item);
        if (!item)
            return DEJA_ENOMEM;
        l->asked += (cap - l->cap) * sizeof *item;
        l->item = item;
        l->cap = cap;
    }
    l->item[l->n] = copy_of(key, &l->asked);
    if (!l->item[l->n])
        return DEJA_ENOMEM;
    l->n++;
    return DEJA_OK;
}

void lab_strings_fini(struct lab_strings *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->item[i]);
    free(l->item);
    *l = (struct lab_strings){0};
}

struct lab_node {
    struct lab_node *next;
    char *string;
    size_t len;
    uint64_t hash;
};

static uint64_t hash_of(deja_slice key)
{
    return mix64(mix_fnv1a(0, key.data, key.len));
}

static struct lab_node *find(const struct lab_set *s, deja_slice key, uint64_t hash)
{
    struct lab_node *n = s->buckets > 0 ? s->bucket[hash & (s->buckets - 1)] : NULL;
    while (n &&
           (n->hash != hash || n->len != key.len || memcmp(n->string, key.data, key.len) != 0))
        n = n->next;
    return n;
}

static bool grow(struct lab_set *s)
{
    const size_t buckets = s->buckets > 0 ? 2 * s->buckets : FIRST;
    struct lab_node **bucket = calloc(buckets, sizeof(struct lab_node *));
    if (!bucket)
        return false;
    for (size_t i = 0; i < s->buckets; i++)
        for (struct lab_node *n = s->bucket[i], *next; n; n = next) {
            next = n->next;
            n->next = bucket[n->hash & (buckets - 1)];
            bucket[n->hash & (buckets - 1)] = n;
        }
    free(s->bucket);
    s->asked += (buckets - s->buckets) * sizeof(struct lab_node *);
    s->bucket = bucket;
    s->buckets = buckets;
    return true;
}

int lab_set_add(struct lab_set *s, deja_slice key)
{
    const uint64_t hash = hash_of(key);
    if (find(s, key, hash))
        return DEJA_OK;
    if (s->n >= s->buckets / 4 * 3 && !grow(s))
        return DEJA_ENOMEM;
    struct lab_node *n = malloc(sizeof *n), **at = &s->bucket[hash & (s->buckets - 1)];
    char *string = n ? copy_of(key, &s->asked) : NULL;
    if (!string) {
        free(n);
        return DEJA_ENOMEM;
    }
    *n = (struct lab_node){*at, string, key.len, hash};
    *at = n;
    s->asked += sizeof *n;
    s->n++;
    return DEJA_OK;
}

bool lab_set_has(const struct lab_set *s, deja_slice key)
{
    return find(s, key, hash_of(key)) != NULL;
}

void lab_set_fini(struct lab_set *s)
{
    for (size_t i = 0; i < s->buckets; i++)
        for (struct lab_node *n = s->bucket[i], *next; n; n = next) {
            next = n->next;
            free(n->string);
            free(n);
        }
    free(s->bucket);
    *s = (struct lab_set){0};
}
