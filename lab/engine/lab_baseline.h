/* lab_baseline.h - what crawlers would use without a filter: lists and sets of the URLs themselves.
 *
 * They are not available as kinds.  The fast hash table of strings comes from `deja bench`; the set
 * below is built like the usual ones of standard libraries. */
#ifndef LAB_ENGINE_LAB_BASELINE_H
#define LAB_ENGINE_LAB_BASELINE_H
#include "deja.h"

/* An unsorted array: adding appends, a query compares with all entries. */
bool lab_linear_has(const deja_slice *list, uint64_t n, deja_slice key);
/* A sorted array: sort once, then binary search. */
void lab_sort(deja_slice *list, uint64_t n);
/* Insert a key at its place: half of the entries move, on average.  There is room for n + 1. */
void lab_insert_sorted(deja_slice *sorted, uint64_t n, deja_slice key);
bool lab_binary_has(const deja_slice *sorted, uint64_t n, deja_slice key);

/* --- Strings in memory of their own ---------------------------------------------------- */

/* An array of pointers that doubles when it is full; each string is a copy with a zero at the end,
 * from malloc.  Like java.util.ArrayList<String>, without Java's headers. */
struct lab_strings {
    char **item;
    size_t n, cap;
    size_t asked; /* bytes requested from malloc and not freed */
};
int lab_strings_add(struct lab_strings *l, deja_slice key); /* or DEJA_ENOMEM */
void lab_strings_fini(struct lab_strings *l);

/* A hash set with a list of nodes in each bucket, which doubles when it is three quarters full;
 * like java.util.HashSet<String> and std::unordered_set<std::string>. */
struct lab_set {
    struct lab_node **bucket;
    size_t n, buckets;
    size_t asked;
};
int lab_set_add(struct lab_set *s, deja_slice key); /* or DEJA_ENOMEM */
bool lab_set_has(const struct lab_set *s, deja_slice key);
void lab_set_fini(struct lab_set *s);

#endif
