/* except.c - exceptions: keys that a static filter must not find, not even by mistake.
 *
 * First, keys that are exceptions are removed from the set, so the two lists are disjoint.  Then
 * the filter is built, and all exceptions are looked up in it.  Those that it finds, a share 2^-w,
 * get a second part (kinds/static.c).
 *
 * Nothing else could go wrong by construction: the second part compares whole 64-bit hashes, and
 * the sets of hashes are disjoint.  The finished filter is tested with all keys and exceptions all
 * the same, because an answer in the wrong direction would block or pass an address for good. */
#include "core/base/status.h"
#include "kinds/spatial.h"
#include "kinds/static.h"
#include "store/builder.h"

/* Removes the numbers that are also in `other`; both are sorted.  Returns how many. */
static size_t subtract(struct dj_hashes *from, const struct dj_hashes *other)
{
    size_t to = 0, j = 0;
    const size_t before = from->n;
    for (size_t i = 0; i < before; i++) {
        while (j < other->n && other->hash[j] < from->hash[i])
            j++;
        if (j == other->n || other->hash[j] != from->hash[i])
            from->hash[to++] = from->hash[i];
    }
    from->n = to;
    return before - to;
}

void dj_except_sort(deja_builder *b)
{
    struct dj_hashes *const lists[] = {&b->keys, &b->never, &b->unless_added};
    for (size_t i = 0; i < DJ_ARRAY_LEN(lists); i++)
        lists[i]->n = dj_fuse_sort(lists[i]->hash, lists[i]->n);
    b->so_far.left_out += subtract(&b->keys, &b->never);
    b->so_far.kept += subtract(&b->unless_added, &b->keys);
    (void)subtract(&b->unless_added, &b->never);
}

/* Collects the exceptions of one list that the part finds. */
static int collect(const deja_builder *b, const struct dj_part *p, const struct dj_hashes *list,
                   struct dj_hashes *mistaken, deja_error *err)
{
    uint8_t found[DJ_CHUNK];
    for (size_t at = 0; at < list->n; at += DJ_CHUNK) {
        const uint64_t *hash = list->hash + at;
        const size_t n = list->n - at < DJ_CHUNK ? list->n - at : DJ_CHUNK;
        const int rc = dj_hashes_reserve(mistaken, n, b->alloc, err);
        if (rc < 0)
            return rc;
        dj_static.body.contains(p, hash, hash, n, found);
        for (size_t i = 0; i < n; i++)
            if (found[i])
                mistaken->hash[mistaken->n++] = hash[i];
    }
    return DEJA_OK;
}

int dj_except_find(const deja_builder *b, const uint8_t *body, struct dj_plan *plan,
                   struct dj_hashes *mistaken, deja_error *err)
{
    const struct dj_part p = {.fuse = plan->fuse, .body = (uint8_t *)(uintptr_t)body};
    int rc = collect(b, &p, &b->never, mistaken, err);
    if (rc == DEJA_OK)
        rc = collect(b, &p, &b->unless_added, mistaken, err);
    return rc == DEJA_OK && mistaken->n ? dj_static_except(plan, mistaken->n, err) : rc;
}

static void fill(deja_filter *f, const struct dj_hashes *mistaken)
{
    struct dj_part *p = f->part[1];
    uint64_t buf[DJ_CHUNK];
    uint8_t is_new[DJ_CHUNK];
    for (size_t at = 0; at < mistaken->n; at += DJ_CHUNK) {
        const size_t n = mistaken->n - at < DJ_CHUNK ? mistaken->n - at : DJ_CHUNK;
        const uint64_t *seen = dj_spatial_view(f, 1, mistaken->hash + at, n, buf);
        dj_part_count_new(p, is_new, p->kind->body.add(p, seen, seen, n, is_new, false), false);
    }
}

static bool answers(const deja_filter *f, const struct dj_hashes *list, bool expected)
{
    uint8_t found[DJ_CHUNK];
    for (size_t at = 0; at < list->n; at += DJ_CHUNK) {
        const size_t n = list->n - at < DJ_CHUNK ? list->n - at : DJ_CHUNK;
        deja_filter_contains_hashed(f, list->hash + at, n, found);
        if (memchr(found, !expected, n))
            return false;
    }
    return true;
}

int dj_except_finish(deja_builder *b, const struct dj_hashes *mistaken, deja_filter *f,
                     deja_error *err)
{
    if (mistaken->n)
        fill(f, mistaken);
    b->so_far.overruled = mistaken->n;
    if (answers(f, &b->keys, true) && answers(f, &b->never, false) &&
        answers(f, &b->unless_added, false))
        return DEJA_OK;
    return dj_fail(err, DEJA_EFULL,
                   "the filter gives a wrong answer for a key or an exception: this machine has a "
                   "hardware fault, or two hashes collide; try another options.key");
}
