/* combine.c - what unions, folds and overlaps share: bodies after folds, and tables. */
#include "filter/combine.h"
#include "core/base/bytes.h"
#include "core/bits/popcount.h"

bool dj_is_series(const struct dj_plan *p)
{
    return dj_kind_can(p->kind, DEJA_CAN_GROW);
}

const struct dj_kind *dj_kind_of_bodies(const struct dj_plan *p)
{
    return dj_is_series(p) ? p->part_kind : p->kind;
}

bool dj_has_grown(const deja_filter *f)
{
    return dj_is_series(&f->plan) && f->n_parts > 1;
}

bool dj_is_table(const deja_filter *f)
{
    return dj_kind_of_bodies(&f->plan)->body.stored;
}

int dj_check_whole(const deja_filter *a, const deja_filter *b, deja_error *err)
{
    const int rc = deja_filter_check_file(a, err);
    return rc < 0 ? rc : deja_filter_check_file(b, err);
}

/* --- Bits ------------------------------------------------------------------- */

int dj_folds_between(uint64_t large, uint64_t small)
{
    int folds = 0;
    for (; large > small && large % 2 == 0; large /= 2) /* the size of `small` is valid */
        folds++;
    return large == small ? folds : -1;
}

static uint64_t folded_word(const struct dj_part *p, int folds, uint64_t word)
{
    return p->kind->body.folded_word(p, folds, word);
}

static uint64_t folded_words(const struct dj_part *p, int folds)
{
    return (p->shape.bits >> folds) / 64;
}

struct dj_set_bits dj_count_bits(const struct dj_part *a, int folds_a, const struct dj_part *b,
                                 int folds_b)
{
    enum {
        LOT = 256
    };
    uint64_t in_a[LOT], in_b[LOT];
    struct dj_set_bits c = {0, 0, 0};
    const uint64_t words = folded_words(a, folds_a);
    for (uint64_t at = 0; at < words; at += LOT) {
        const uint64_t n = words - at < LOT ? words - at : LOT;
        for (uint64_t i = 0; i < n; i++) {
            in_a[i] = folded_word(a, folds_a, at + i);
            in_b[i] = folded_word(b, folds_b, at + i);
        }
        c.a += dj_popcount((const uint8_t *)in_a, 8 * n);
        c.b += dj_popcount((const uint8_t *)in_b, 8 * n);
        for (uint64_t i = 0; i < n; i++)
            in_a[i] |= in_b[i];
        c.both += dj_popcount((const uint8_t *)in_a, 8 * n);
    }
    return c;
}

/* --- Tables ----------------------------------------------------------------- */

size_t dj_table_next(const struct dj_part *p, uint64_t *slot, uint64_t hash[DJ_CHUNK])
{
    return p->kind->body.stored(p, slot, hash);
}

uint64_t dj_sum_of(const uint8_t *answer, size_t n)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += answer[i];
    return sum;
}

void dj_table_compare(const struct dj_part *in, const struct dj_part *of, uint64_t *found,
                      uint64_t *absent)
{
    uint64_t hash[DJ_CHUNK], slot = 0;
    uint8_t answer[DJ_CHUNK];
    *found = *absent = 0;
    for (size_t n; (n = dj_table_next(in, &slot, hash)) > 0; *absent += n) {
        of->kind->body.contains(of, hash, hash, n, answer);
        *found += dj_sum_of(answer, n);
    }
    *absent -= *found;
}
