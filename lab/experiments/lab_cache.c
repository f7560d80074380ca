/* lab_cache.c - the report on compressed caches: the lecture's claims, one by one. */
#include "lab/experiments/lab_cache.h"
#include "lab/engine/lab_perfect.h"
#include "lab/experiments/lab_budget.h"
#include "lab/experiments/lab_near.h"
#include "lab/report/lab_claim.h"
#include <math.h>
#include <stdio.h>

#define LECTURE "lecture"

/* --- The table of rates -------------------------------------------------------------- */

struct row {
    const char *label, *column;
    uint32_t unit, index, k;
    double share;        /* fraction of n that is queried */
    double bits;         /* per URL in the filter; 0: no theory */
    const char *printed; /* table of the lecture, or NULL */
    const char *note;
};

static void add_row(const struct lab_results *r, struct lab_table *t, const struct row *row)
{
    const double trials = lab_n(r) * row->share;
    const struct lab_bloom b = {lab_n(r), row->k, 1,
                                (row->bits > 0 ? row->bits : CACHE_BITS) / row->k, false};
    const struct lab_count count =
        lab_counted(r, row->unit, row->index, trials, row->bits > 0 ? lab_bloom_rate(&b) : NAN,
                    lab_bloom_sigma(&b) * sqrt(b.n / trials));
    struct lab_cell *c = lab_cell(t, row->label, row->column);
    c->hashes = row->k;
    lab_note(c, "%s", row->note);
    lab_cell_rate(c, &count, NULL);
    if (!row->printed)
        return;
    const struct lab_printed p = lab_printed(&(struct lab_printed_query){
        .source = LECTURE, .table = row->printed, .quantity = "false_positive"});
    c->printed = p.value * 100;
    (void)snprintf(c->printed_text, sizeof c->printed_text, "%g", c->printed);
}

static const struct row rows[] = {
    {"universal hash and bitmap", "false positives", CACHE_NAIVE, CACHE_HITS, 1, 1, CACHE_BITS,
     "naive", "R = 10 n"},
    {"universal hash and bitmap", "missed", CACHE_NAIVE, CACHE_MISSED, 1, 1, 0, NULL, "must be 0"},
    {"Bloom filter, k = 7", "false positives", CACHE_BLOOM, CACHE_HITS, CACHE_K, 1, CACHE_BITS,
     "bloom", "the lecture gives an upper bound"},
    {"Bloom filter, k = 7", "missed", CACHE_BLOOM, CACHE_MISSED, CACHE_K, 1, 0, NULL, "must be 0"},
    {"two filters, half deleted", "missed", CACHE_PAIRED, CACHE_LOST, CACHE_K, 0.5, CACHE_BITS,
     NULL, "false negatives: false positives of the deletions"},
    {"two filters, half deleted", "false positives", CACHE_PAIRED, CACHE_FALSE, CACHE_K, 1, 0,
     NULL, "the second filter hides some"},
    {"the first filter alone", "false positives", CACHE_PAIRED, CACHE_ONE_FILTER, CACHE_K, 1,
     CACHE_BITS, NULL, ""},
    {"counters, half deleted", "missed", CACHE_COUNTERS, CACHE_LOST, CACHE_K, 0.5, 0, NULL,
     "must be 0"},
    {"counters, half deleted", "false positives", CACHE_COUNTERS, CACHE_FALSE, CACHE_K, 1, 0, NULL,
     "4 times the memory, in one cache line per URL"},
    {"union of two halves", "false positives", CACHE_UNION, CACHE_HITS, CACHE_K, 1, CACHE_BITS,
     NULL, ""},
    {"union of two halves", "missed", CACHE_UNION, CACHE_MISSED, CACHE_K, 1, 0, NULL, "must be 0"},
    {"union of two halves", "answers that differ", CACHE_UNION, CACHE_DIFFER, CACHE_K, 1, 0, NULL,
     "from the filter with all URLs: must be 0"},
    {"20 bits per URL", "false positives", CACHE_FOLD, CACHE_BEFORE, CACHE_K, 1, 2 * CACHE_BITS,
     NULL, "before halving"},
    {"halved to 10 bits", "false positives", CACHE_FOLD, CACHE_HITS, CACHE_K, 1, CACHE_BITS, NULL,
     ""},
    {"halved to 10 bits", "missed", CACHE_FOLD, CACHE_MISSED, CACHE_K, 1, 0, NULL, "must be 0"},
};

/* The filter's own figures are the theory: URLs are missed at the rate of the deletions, which are
 * n / 2, and false positives are those of the other filter that the deletions do not hide. */
static void add_kind(const struct lab_results *r, struct lab_table *t)
{
    for (uint32_t i = 0; i < 2; i++) {
        const double n = lab_n(r), gone = floor(n / 2), trials = i == 0 ? n - gone : n;
        const double rate = lab_mean(r, CACHE_KIND, CACHE_OWN_LOST + i);
        const double bits = lab_value(r, CACHE_KIND, 0, CACHE_BODY) / (n + gone);
        const uint32_t k = lab_value_count(lab_value(r, CACHE_KIND, 0, CACHE_FUNCTIONS));
        const struct lab_count count =
            lab_counted(r, CACHE_KIND, i, trials, rate,
                        lab_blocked_sigma(i == 0 ? gone : n, k, bits, trials, rate));
        lab_cell_rate(
            lab_cell(t, "kind paired at 1 %, half deleted", i == 0 ? "missed" : "false positives"),
            &count, NULL);
    }
}

/* --- Numbers for the tests ------------------------------------------------------------ */

/* All runs of one value, out of a share of n in each.  A filter with 10 bits per URL has random
 * bits as well. */
static struct lab_rate rate_of(const struct lab_results *r, uint32_t unit, uint32_t index,
                               uint32_t k, double share)
{
    const struct lab_bloom b = {lab_n(r), k, 1, CACHE_BITS / k, false};
    return (struct lab_rate){lab_sum(r, unit, index), lab_n(r) * share * r->runs,
                             lab_bloom_sigma(&b) / sqrt(share * r->runs)};
}

static double theory_of(const struct lab_results *r, uint32_t k)
{
    const struct lab_bloom b = {lab_n(r), k, 1, CACHE_BITS / k, false};
    return lab_bloom_rate(&b);
}

static struct lab_printed lecture(const char *table, const char *quantity)
{
    return lab_printed(
        &(struct lab_printed_query){.source = LECTURE, .table = table, .quantity = quantity});
}

/* The lecture's rates follow from a formula: only rounding is uncertain. */
static struct lab_test as_printed(struct lab_rate ours, const struct lab_printed *p)
{
    return lab_test_printed(ours, p->value, p->half, 1e15, 0, LAB_TOLERANCE);
}

/* --- Bitmap and Bloom filter ------------------------------------------------------------- */

static void judge_bitmap(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_rate ours = rate_of(r, CACHE_NAIVE, CACHE_HITS, 1, 1);
    const struct lab_printed p = lecture("naive", "false_positive");
    const struct lab_test printed = as_printed(ours, &p),
                          holds = lab_test_rate(ours, theory_of(r, 1), LAB_TOLERANCE);
    struct lab_claim *c =
        lab_claim(report, LECTURE_NAME,
                  "A bitmap of R = 10 n slots has \"at least 1 false positive\" with probability "
                  "1 - (1 - 1 / R)^n, 9.5 %%.");
    lab_answer(&c->printed, &printed, "%", "9.5 %% of the queries are false positives");
    lab_answer(&c->holds, &holds, "%", "1 - (1 - 1 / R)^n of the queries are false positives");
    lab_add_text(&c->holds,
                 "It is the rate of each single query, not the probability of at least one false "
                 "positive: there were %.0f in %.0f queries.",
                 ours.hits, ours.trials);
}

static void judge_bloom(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_rate naive = rate_of(r, CACHE_NAIVE, CACHE_HITS, 1, 1),
                          bloom = rate_of(r, CACHE_BLOOM, CACHE_HITS, CACHE_K, 1);
    const struct lab_printed p = lecture("bloom", "false_positive");
    const double times = naive.hits / naive.trials / (bloom.hits / bloom.trials);
    const double error =
        hypot(naive.sigma * naive.trials / naive.hits, bloom.sigma * bloom.trials / bloom.hits);
    const struct lab_test printed = as_printed(bloom, &p);
    const struct lab_test each[2] = {
        lab_test_at_most(bloom, p.value + p.half),
        lab_test_more((struct lab_estimate){times, times * error, 0}, 10)};
    const struct lab_test holds = lab_test_all(each, 2);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "A Bloom filter with K = 7 reduces this to at most 0.008, "
                                    "\"a whopping 10x reduction\".");
    lab_answer(&c->printed, &printed, "%", "0.8 %% of the queries are false positives, rounded");
    lab_answer(&c->holds, &holds, "",
               "the rate is at most 0.85 %%, which rounds to 0.8 %%, and at least 10 times less "
               "than that of the bitmap");
    lab_add_text(&c->holds, "%.3f %% instead of %.3f %%: %.1f times fewer.",
                 100 * bloom.hits / bloom.trials, 100 * naive.hits / naive.trials, times);
}

/* Every URL that was added is looked up again, in all filters without deletions. */
static void judge_missed(const struct lab_results *r, struct lab_report *report)
{
    static const uint32_t units[] = {CACHE_NAIVE, CACHE_BLOOM, CACHE_UNION, CACHE_FOLD};
    double missed = lab_value(r, CACHE_BUDGET, 0, BUDGET_MISSED), asked = lab_n(r);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        missed += lab_sum(r, units[i], CACHE_MISSED);
        asked += lab_n(r) * r->runs;
    }
    const struct lab_test holds = lab_test_never(missed, asked);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME, "\"No false negative guarantee\".");
    lab_answer(&c->holds, &holds, "%", "no URL that was added is missed");
    lab_add_text(
        &c->holds,
        "Of %.0f queries for URLs that were added to a bitmap, a Bloom filter, a union, a "
        "halved filter and one of 2 MB, %.0f were missed.",
        asked, missed);
}

static void judge_best(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_rate bloom = rate_of(r, CACHE_BLOOM, CACHE_HITS, CACHE_K, 1);
    const struct lab_printed p = lecture("bloom", "space");
    const double rate = bloom.hits / bloom.trials, bits = -log2(rate);
    const struct lab_estimate times = {
        CACHE_BITS / bits, CACHE_BITS / (bits * bits) * bloom.sigma / rate / log(2), 0};
    const struct lab_test test = lab_test_near(times, p.value, 0.01);
    struct lab_claim *c = lab_claim(
        report, LECTURE_NAME,
        "Bloom filters take \"1.44x as much space as the theoretically best solution\".");
    lab_answer(&c->printed, &test, "times", "1.44 times, to within 1 %%");
    lab_answer(&c->holds, &test, "times",
               "10 bits are 1.44 times the log2(1 / p) bits that the measured rate requires, to "
               "within 1 %%");
    lab_add_text(&c->holds, "10 bits at %.3f %%; %.2f would be enough.", 100 * rate, bits);
}

/* --- Perfect hashing ----------------------------------------------------------------------- */

static void make_perfect(const struct lab_results *r, struct lab_report *report)
{
    const double bits = lab_value(r, CACHE_PERFECT, 0, CACHE_FUNCTION_BITS);
    const double asked = lab_value(r, CACHE_PERFECT, 0, CACHE_STRANGERS_ASKED);
    struct lab_table *t = lab_table(report, LAB_LIST, "perfect", "bitmap and perfect hash",
                                    "Perfect hashing with a bitmap");
    const struct lab_count known = {.hits = lab_value(r, CACHE_PERFECT, 0, CACHE_WRONG),
                                    .trials = 2 * lab_n(r),
                                    .runs = 1,
                                    .rate = NAN};
    const struct lab_printed never = lecture("perfect", "false_positive");
    lab_cell_rate(lab_cell(t, "wrong answers", "URLs that it was built for"), &known, &never);
    const struct lab_count others = {
        lab_value(r, CACHE_PERFECT, 0, CACHE_STRANGERS), asked, 1, NULL, 0.5, 0.5 / sqrt(asked)};
    struct lab_cell *c = lab_cell(t, "wrong answers", "any other URL");
    lab_note(c, "it maps to the bit of another URL");
    lab_cell_rate(c, &others, NULL);
    c = lab_cell(t, "memory", "per URL in the cache");
    lab_cell_plain(c, "bit", (bits + 1) * 2, 0);
    lab_note(c, "%.2f bits for the function and 1 for the bitmap, for each of 2 n URLs", bits);
}

static void judge_perfect(const struct lab_results *r, struct lab_report *report)
{
    const double wrong = lab_value(r, CACHE_PERFECT, 0, CACHE_WRONG);
    const double strangers = lab_value(r, CACHE_PERFECT, 0, CACHE_STRANGERS),
                 asked = lab_value(r, CACHE_PERFECT, 0, CACHE_STRANGERS_ASKED);
    const struct lab_test each[2] = {lab_test_never(wrong, 2 * lab_n(r)),
                                     lab_test_never(strangers, asked)};
    const struct lab_test holds = lab_test_all(each, 2);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "\"Since perfect hashing means no collisions, our cache will "
                                    "always be completely accurate.\"");
    lab_answer(&c->printed, &each[0], "%", "no wrong answer for the URLs that it was built for");
    lab_answer(&c->holds, &holds, "%", "no wrong answer for these and for any other URLs");
    lab_add_text(&c->holds,
                 "For the %.0f URLs that the function was built for, %.0f answers were wrong; of "
                 "%.0f others, it mistakes %.0f for cached.",
                 2 * lab_n(r), wrong, asked, strangers);
}

/* --- Deletion ------------------------------------------------------------------------------- */

static void judge_two_filters(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_rate lost = rate_of(r, CACHE_PAIRED, CACHE_LOST, CACHE_K, 0.5);
    const double one = lab_sum(r, CACHE_PAIRED, CACHE_ONE_FILTER),
                 two = lab_sum(r, CACHE_PAIRED, CACHE_FALSE);
    const double theory = theory_of(r, CACHE_K);
    const struct lab_test each[2] = {
        lab_test_rate(lost, theory, LAB_TOLERANCE),
        lab_test_rate((struct lab_rate){one - two, one, 0}, theory, 0.5)};
    const struct lab_test holds = lab_test_all(each, 2);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "A second filter for deletions leads to false negatives, and "
                                    "reduces false positives.");
    lab_answer(&c->holds, &holds, "%",
               "both at the rate of the second filter: it misses that share of the URLs that were "
               "not deleted, and hides that share of the false positives of the first");
    lab_add_text(&c->holds, "Missed: %.3f %% of %.0f. Hidden: %.0f of %.0f false positives.",
                 100 * lost.hits / lost.trials, lost.trials, one - two, one);
}

static void judge_counters(const struct lab_results *r, struct lab_report *report)
{
    const double lost = lab_sum(r, CACHE_COUNTERS, CACHE_LOST);
    const double asked = (lab_n(r) - floor(lab_n(r) / 2)) * r->runs;
    const struct lab_test holds = lab_test_never(lost, asked);
    struct lab_claim *c =
        lab_claim(report, LECTURE_NAME, "Counters instead of bits also accomplish deletions.");
    lab_answer(&c->holds, &holds, "%",
               "URLs that were not deleted are never missed, if only URLs that were added are "
               "deleted");
    lab_add_text(
        &c->holds,
        "Half of the URLs were deleted; of %.0f queries for the others, %.0f were missed. "
        "The lecture warns of false negatives here as well.",
        asked, lost);
}

/* --- Union and halving ------------------------------------------------------------------------ */

static void judge_union(const struct lab_results *r, struct lab_report *report)
{
    const double differ = lab_sum(r, CACHE_UNION, CACHE_DIFFER), asked = lab_n(r) * r->runs;
    const struct lab_test holds = lab_test_never(differ, asked);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "The union of two filters with the same hash functions is the "
                                    "bitwise OR.");
    lab_answer(&c->holds, &holds, "%",
               "the union of two halves gives the answers of a filter with all URLs");
    lab_add_text(&c->holds, "%.0f of %.0f answers differ.", differ, asked);
}

static void judge_halving(const struct lab_results *r, struct lab_report *report)
{
    const struct lab_rate hits = rate_of(r, CACHE_FOLD, CACHE_HITS, CACHE_K, 1);
    const double missed = lab_sum(r, CACHE_FOLD, CACHE_MISSED);
    const struct lab_test each[2] = {lab_test_rate(hits, theory_of(r, CACHE_K), LAB_TOLERANCE),
                                     lab_test_never(missed, hits.trials)};
    const struct lab_test holds = lab_test_all(each, 2);
    struct lab_claim *c = lab_claim(report, LECTURE_NAME,
                                    "A filter is halved by an OR of its halves, with the same "
                                    "effect as a modulo of the new size.");
    lab_answer(&c->holds, &holds, "%",
               "a filter halved to 10 bits has the rate of one created with 10 bits, and misses "
               "no URL");
    lab_add_text(&c->holds, "%.3f %% false positives, %.0f missed.", 100 * hits.hits / hits.trials,
                 missed);
}

static void judge_sizes(const struct lab_results *r, struct lab_report *report)
{
    const double n = lab_n(r);
    const struct lab_budget budget = {
        CACHE_BUDGET, 8 * lab_value(r, CACHE_NAIVE, 0, CACHE_BYTES) / n,
        8 * lab_value(r, CACHE_BLOOM, 0, CACHE_BYTES) / n,
        lab_perfect_available() ? lab_value(r, CACHE_PERFECT, 0, CACHE_FUNCTION_BITS) : 0};
    lab_budget_report(r, report, &budget);
}

void lab_cache_report(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "cache", "structure",
                                    "A compressed cache of R = 10 n bits, %");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        add_row(r, t, &rows[i]);
    add_kind(r, t);
    lab_judge_rates(report, 0, 1);
    judge_bitmap(r, report);
    judge_bloom(r, report);
    judge_missed(r, report);
    judge_best(r, report);
    if (lab_perfect_available()) {
        make_perfect(r, report);
        judge_perfect(r, report);
    } else {
        lab_remark(report,
                   "The bitmap indexed by a perfect hash function was omitted: this deja was "
                   "built without libcmph (Debian: libcmph-dev).");
    }
    judge_sizes(r, report);
    judge_two_filters(r, report);
    judge_counters(r, report);
    judge_union(r, report);
    judge_halving(r, report);
}
