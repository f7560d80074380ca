/* lab_budget.c - the lecture's budget: a million URLs of 50 characters in 2 MB; see lab_budget.h.
 *
 * The lecture starts from 50 MB of strings, allows 2 MB, and compares the result with the strings:
 * 40 times smaller with one of ten bits per URL, 25 times in 2 MB.  Its URLs have 50 characters,
 * so the lab makes such URLs: the first characters of one of its own, and a number that makes it
 * unique.  Sizes are those of the structures that were made, not of formulas. */
#include "lab/experiments/lab_budget.h"
#include "lab/experiments/lab_near.h"
#include "lab/report/lab_claim.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define PIECE   4096u
#define HEAD    40 /* characters of the lab's own URL */
#define LECTURE "lecture"

/* --- Measurement ------------------------------------------------------------------- */

struct piece {
    deja_slice key[PIECE];
    char text[PIECE][BUDGET_LENGTH + 1];
};

/* Some of the lab's URLs, cut or padded to 50 characters; `first` numbers them. */
static void make_piece(struct piece *p, const deja_slice *from, uint64_t first, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const int len = from[i].len < HEAD ? (int)from[i].len : HEAD;
        char *text = p->text[i];
        memset(text, '-', BUDGET_LENGTH);
        memcpy(text, from[i].data, (size_t)len);
        (void)snprintf(text + HEAD, BUDGET_LENGTH + 1 - HEAD, "%010llu",
                       (unsigned long long)(first + i));
        p->key[i] = (deja_slice){text, BUDGET_LENGTH};
    }
}

/* Adds n of these URLs, or counts those that are found. */
static double each_piece(struct lab_task *t, deja_filter *f, const deja_slice *from,
                         uint64_t first, bool add)
{
    struct piece *p = lab_alloc(t, sizeof *p);
    const uint64_t n = t->lab->keys.n;
    double found = 0;
    for (uint64_t at = 0; at < n && lab_going(t); at += PIECE) {
        const size_t some = n - at < PIECE ? (size_t)(n - at) : PIECE;
        make_piece(p, from + at, first + at, some);
        found += add ? lab_add(t, f, p->key, some, NULL) : lab_ask(t, f, p->key, some);
    }
    return found;
}

void lab_budget_run(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    deja_options opt = lab_options(t, DEJA_CLASSIC);
    opt.memory = k->n * BUDGET_BYTES;
    deja_filter *f = lab_filter(t, &opt);
    (void)each_piece(t, f, k->added, 0, true);
    const deja_stats s = lab_stats(t, f);
    t->value[BUDGET_SIZE] = (double)s.bytes;
    t->value[BUDGET_FUNCTIONS] = s.hashes;
    t->value[BUDGET_MISSED] = (double)k->n - each_piece(t, f, k->added, 0, false);
    t->value[BUDGET_HITS] = each_piece(t, f, k->asked, k->n, false);
    t->value[BUDGET_STRINGS] = (double)(k->n * BUDGET_LENGTH);
}

/* --- Report --------------------------------------------------------------------------- */

#define BITS_OF_URL (8.0 * BUDGET_LENGTH)
#define SLOTS       10.0 /* of the bitmap, per URL */
#define LINE        64.0 /* bytes */

static double of(const struct lab_results *r, const struct lab_budget *b,
                 enum lab_budget_value which)
{
    return lab_value(r, b->unit, 0, which); /* it was made in the first run */
}

static struct num_text bytes_of(const struct lab_results *r, const struct lab_budget *b,
                                enum lab_budget_value which)
{
    const double bytes = of(r, b, which); /* may come from an edited journal */
    return num_bytes(bytes > 0 && bytes < 1e18 ? (uint64_t)bytes : 0);
}

static struct lab_printed lecture(const char *table, const char *quantity)
{
    return lab_printed(
        &(struct lab_printed_query){.source = LECTURE, .table = table, .quantity = quantity});
}

/* How many times smaller; sizes are rounded to pairs of cache lines. */
static struct lab_estimate smaller_by(const struct lab_results *r, double bits)
{
    const double times = BITS_OF_URL / bits, bytes = bits / 8 * lab_n(r);
    return (struct lab_estimate){times, times * LINE / bytes, 0};
}

static void size_row(struct lab_table *t, const char *label, double bits, const char *printed,
                     const char *note)
{
    struct lab_cell *c = lab_cell(t, label, "times smaller");
    lab_cell_plain(c, "times", BITS_OF_URL / bits, 0);
    if (printed) {
        const struct lab_printed p = lecture(printed, "compression");
        lab_cell_printed(c, &p);
    }
    lab_note(c, "%.2f bits per URL%s%s", bits, note[0] != '\0' ? "; " : "", note);
}

/* A perfect hash function must know every URL that is ever queried; it maps them to slots. */
static double with_function(const struct lab_budget *b, double slots)
{
    return slots * (1 + b->function_bits);
}

static void make_sizes(const struct lab_results *r, struct lab_report *report,
                       const struct lab_budget *b)
{
    struct lab_table *t =
        lab_table(report, LAB_LIST, "budget", "structure",
                  "URLs of 50 characters: how many times smaller than the URLs themselves");
    lab_caption(t,
                "%.0f URLs of exactly %u characters, %s; sizes are measured. The lecture "
                "needs 50 MB to become 2 MB.",
                lab_n(r), BUDGET_LENGTH, bytes_of(r, b, BUDGET_STRINGS).s);
    size_row(t, "bitmap, 10 slots per URL", b->bitmap, "perfect", "the lecture counts only these");
    if (b->function_bits > 0) {
        size_row(t, "and a perfect hash function", with_function(b, SLOTS), "perfect",
                 "a function for as many URLs as slots");
        size_row(t, "the same, 2 slots per URL", with_function(b, 2), NULL,
                 "for the 2 n URLs of this lab");
    }
    size_row(t, "Bloom filter, 10 bits", b->bloom, NULL, "");
    size_row(t, "Bloom filter in 2 MB", 8 * of(r, b, BUDGET_SIZE) / lab_n(r), "budget",
             "2 bytes per URL");
}

static struct lab_rate rate_of(const struct lab_results *r, const struct lab_budget *b,
                               enum lab_budget_value hits)
{
    return (struct lab_rate){of(r, b, hits), lab_n(r), 0};
}

static void make_rates(const struct lab_results *r, struct lab_report *report,
                       const struct lab_budget *b)
{
    const uint32_t k = lab_value_count(of(r, b, BUDGET_FUNCTIONS));
    const double bits = 8 * of(r, b, BUDGET_SIZE) / lab_n(r);
    const struct lab_bloom theory = {lab_n(r), k > 0 ? k : 1, 1, bits / (k > 0 ? k : 1), false};
    struct lab_table *t = lab_table(report, LAB_LIST, "budget rates", "structure",
                                    "A Bloom filter in 2 MB: wrong answers, %");
    for (uint32_t i = 0; i < 2; i++) {
        const struct lab_count count = {of(r, b, i == 0 ? BUDGET_HITS : BUDGET_MISSED),
                                        lab_n(r),
                                        1,
                                        NULL,
                                        i == 0 ? lab_bloom_rate(&theory) : NAN,
                                        lab_bloom_sigma(&theory)};
        struct lab_cell *c =
            lab_cell(t, "Bloom filter in 2 MB", i == 0 ? "false positives" : "missed");
        c->hashes = k;
        lab_cell_rate(c, &count, NULL);
    }
}

static void judge_forty(const struct lab_results *r, struct lab_report *report,
                        const struct lab_budget *b)
{
    const struct lab_printed p = lecture("perfect", "compression");
    const struct lab_test printed = lab_test_near(smaller_by(r, b->bitmap), p.value, 0.01);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "A bitmap indexed by a perfect hash function compresses URLs "
                                    "of 50 characters 40 times, with 10 slots per URL.");
    lab_answer(&c->printed, &printed, "times", "the bitmap is %s times smaller, to within 1 %%",
               p.text);
    if (!(b->function_bits > 0))
        return; /* nothing was measured */
    const struct lab_test holds =
        lab_test_more(smaller_by(r, with_function(b, SLOTS)), 0.99 * p.value);
    lab_answer(&c->holds, &holds, "times", "bitmap and function together are %s times smaller",
               p.text);
    lab_add_text(&c->holds,
                 "The function takes %.2f bits for each URL that it maps to a slot of its own, so "
                 "10 slots take %.0f bits. For the 2 n URLs of this lab, 2 slots per cached one, "
                 "it is %.0f times.",
                 b->function_bits, with_function(b, SLOTS), BITS_OF_URL / with_function(b, 2));
}

static void judge_budget(const struct lab_results *r, struct lab_report *report,
                         const struct lab_budget *b)
{
    const struct lab_printed p = lecture("budget", "compression");
    const struct lab_estimate smaller = smaller_by(r, 8 * of(r, b, BUDGET_SIZE) / lab_n(r));
    const struct lab_rate hits = rate_of(r, b, BUDGET_HITS);
    const struct lab_test printed = lab_test_near(smaller, p.value, 0.01);
    const struct lab_test each[3] = {
        lab_test_more(smaller, 0.99 * p.value), lab_test_never(of(r, b, BUDGET_MISSED), lab_n(r)),
        lab_test_at_most(hits, lecture("bloom", "false_positive").value)};
    const struct lab_test holds = lab_test_all(each, 3);
    struct lab_claim *c =
        lab_claim(report, LECTURE_NAME,
                  "A million URLs of 50 characters fit into 2 MB, 25 times smaller, \"while "
                  "sacrificing only a small amount of certainty\".");
    lab_answer(&c->printed, &printed, "times", "the filter is %s times smaller, to within 1 %%",
               p.text);
    lab_answer(&c->holds, &holds, "",
               "the filter is 25 times smaller, misses no URL, and has fewer false positives "
               "than the lecture's 0.8 %% for 10 bits");
    lab_add_text(&c->holds,
                 "%s became %s, %.1f times smaller: %.0f of %.0f URLs are missed, and "
                 "%.4f %% of the others are found (k = %.0f).",
                 bytes_of(r, b, BUDGET_STRINGS).s, bytes_of(r, b, BUDGET_SIZE).s, smaller.value,
                 of(r, b, BUDGET_MISSED), lab_n(r), 100 * hits.hits / hits.trials,
                 of(r, b, BUDGET_FUNCTIONS));
}

void lab_budget_report(const struct lab_results *r, struct lab_report *report,
                       const struct lab_budget *b)
{
    make_sizes(r, report, b);
    make_rates(r, report, b);
    judge_forty(r, report, b);
    judge_budget(r, report, b);
}
