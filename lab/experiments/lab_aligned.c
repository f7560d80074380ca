/* lab_aligned.c - the hash functions at every alignment; see lab_aligned.h. */
#include "lab/experiments/lab_aligned.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define K          3u
#define MULTIPLIER 2.0
#define KEYS_MOST  100000u /* of a run; each run takes the next part of the list */
#define KEYS_QUICK 10000u
#define RUNS_MOST  10u
#define CHUNK      256u /* keys that are copied at a time */

static const struct family {
    const char *name;
    uint32_t hash;
    uint64_t format;
} families[ALIGNED_FAMILIES] = {
    {"xxh3", DEJA_HASH_XXH3, 2},       {"siphash", DEJA_HASH_SIPHASH, 2},
    {"jenkins", DEJA_HASH_JENKINS, 2}, {"murmur2", DEJA_HASH_MURMUR2, 2},
    {"murmur3", DEJA_HASH_MURMUR3, 2}, {"md5", DEJA_HASH_MD5, 2},
    {"sha1", DEJA_HASH_SHA1, 2},       {"mixed", DEJA_HASH_MIXED, 2},
    {"lookup2", DEJA_HASH_JENKINS, 1}, /* without the library's last step */
};
#define PUBLISHED (ALIGNED_FAMILIES - 1)

/* --- Runs ------------------------------------------------------------------------- */

struct part {
    const deja_slice *url;
    uint64_t n;
    char *text; /* room for a chunk with prefixes */
};

uint64_t aligned_urls(const struct lab *lab)
{
    const uint64_t most = lab->quick ? KEYS_QUICK : KEYS_MOST, all = 2 * lab->keys.n;
    return all < most ? all : most;
}

/* The part of the list for this run.  Both halves count: none of these filters is queried. */
static struct part part_of(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t all = 2 * k->n;
    struct part p = {.n = aligned_urls(t->lab)};
    size_t room = 0;
    p.url = k->added + t->run * p.n % (all - p.n + 1);
    for (uint64_t at = 0; at < p.n; at += CHUNK) {
        size_t bytes = 0;
        for (uint64_t i = at; i < p.n && i < at + CHUNK; i++)
            bytes += p.url[i].len + ALIGNED_ALIGNMENTS;
        room = bytes > room ? bytes : room;
    }
    p.text = lab_alloc(t, room);
    return p;
}

/* Copies n URLs with a prefix. */
static void prefix(const struct part *p, uint64_t at, size_t n, uint32_t alignment,
                   deja_slice key[CHUNK])
{
    char *text = p->text;
    for (size_t i = 0; i < n; i++) {
        const deja_slice url = p->url[at + i];
        memset(text, 'x', alignment);
        memcpy(text + alignment, url.data, url.len);
        key[i] = (deja_slice){text, alignment + url.len};
        text += key[i].len;
    }
}

static double lost(struct lab_task *t, const struct part *p, const struct family *family,
                   uint32_t alignment)
{
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    deja_slice key[CHUNK];
    double sum = 0;
    opt.capacity = p->n;
    opt.hash = family->hash;
    opt.format = family->format;
    opt.hashes = K;
    opt.multiplier = MULTIPLIER;
    deja_filter *f = lab_filter(t, &opt);
    for (uint64_t at = 0; f && at < p->n && lab_going(t); at += CHUNK) {
        const size_t n = p->n - at < CHUNK ? (size_t)(p->n - at) : CHUNK;
        prefix(p, at, n, alignment, key);
        sum += lab_add(t, f, key, n, NULL);
    }
    return sum;
}

void aligned_run(struct lab_task *t, uint32_t family)
{
    if (t->run >= RUNS_MOST)
        return;
    const struct part p = part_of(t);
    t->value[ALIGNED_ALIGNMENTS] = (double)p.n;
    for (uint32_t i = 0; i < ALIGNED_ALIGNMENTS && lab_going(t); i++)
        t->value[i] = lost(t, &p, &families[family], i);
}

/* --- Report ----------------------------------------------------------------------- */

/* All runs of all families took the same number of URLs, so one theory fits all cells. */
struct theory {
    double n, rate, sigma; /* of a run */
    uint32_t runs;
};

static struct theory theory_of(const struct lab_results *r, uint32_t first)
{
    struct theory t = {.runs = r->runs < RUNS_MOST ? r->runs : RUNS_MOST};
    t.n = lab_sum(r, first, ALIGNED_ALIGNMENTS) / t.runs;
    const struct lab_bloom b = {t.n, K, 1, MULTIPLIER, true};
    t.rate = lab_bloom_rate(&b);
    t.sigma = lab_bloom_sigma(&b);
    return t;
}

static void make_table(const struct lab_results *r, struct lab_report *report, uint32_t first,
                       const struct theory *theory)
{
    struct lab_table *t = lab_table(report, LAB_GRID, "alignment", "hash function",
                                    "URLs lost at every alignment, %");
    lab_caption(t,
                "Each URL gets a prefix of 0 to 15 bytes, so its digits fall on other places in "
                "the blocks that a function reads. k = %u, M = %.0f, %.0f URLs in each run. "
                "lookup2: as published, and in files of deja 0.1; the library's jenkins scrambles "
                "its result.",
                K, MULTIPLIER, theory->n);
    for (uint32_t f = 0; f < ALIGNED_FAMILIES; f++)
        for (uint32_t i = 0; i < ALIGNED_ALIGNMENTS; i++) {
            char column[16];
            const struct lab_count count = {lab_sum(r, first + f, i),
                                            theory->n,
                                            theory->runs,
                                            NULL,
                                            theory->rate,
                                            theory->sigma};
            (void)snprintf(column, sizeof column, "+%u", i);
            lab_cell_rate(lab_cell(t, families[f].name, column), &count, NULL);
        }
}

/* All alignments of the families from .. to - 1 agree with theory. */
static void judge(const struct lab_results *r, uint32_t first, const struct theory *theory,
                  uint32_t from, uint32_t to, struct lab_claim *c)
{
    struct lab_test test[ALIGNED_FAMILIES * ALIGNED_ALIGNMENTS];
    size_t n = 0, worst = 0;
    for (uint32_t f = from; f < to; f++)
        for (uint32_t i = 0; i < ALIGNED_ALIGNMENTS; i++, n++) {
            const struct lab_rate rate = {lab_sum(r, first + f, i), theory->n * theory->runs,
                                          theory->sigma / sqrt(theory->runs)};
            test[n] = lab_test_rate(rate, theory->rate, LAB_TOLERANCE);
            worst = test[n].p < test[worst].p ? n : worst;
        }
    const struct lab_test all = lab_test_family(test, n);
    lab_answer(&c->holds, &all, "%", "the share of lost URLs follows from k, M and n alone");
    lab_add_text(&c->holds, "The furthest off: %s with a prefix of %u bytes.",
                 families[from + worst / ALIGNED_ALIGNMENTS].name,
                 (unsigned)(worst % ALIGNED_ALIGNMENTS));
}

void aligned_report(const struct lab_results *r, struct lab_report *report, uint32_t first)
{
    const struct theory theory = theory_of(r, first);
    make_table(r, report, first, &theory);
    struct lab_claim *c =
        lab_claim(report, "beyond the papers",
                  "On this list, every function loses as many URLs as theory says, at every "
                  "alignment.");
    judge(r, first, &theory, 0, PUBLISHED, c);
    c = lab_claim(report, "beyond the papers",
                  "So does lookup2 as published, without the library's last step.");
    judge(r, first, &theory, PUBLISHED, ALIGNED_FAMILIES, c);
    lab_say(&c->holds, LAB_NO,
            "Use a filter of format 2, the default: its jenkins scrambles the result.");
}
