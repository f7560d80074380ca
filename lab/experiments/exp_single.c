/* exp_single.c - one Bloom filter, k = 3 .. 10 hash functions and six sizes: table 5.9.
 *
 * The whole table is one unit: URLs are hashed once for all 48 filters. */
#include "lab/experiments/lab_thesis.h"

static void run(struct lab_task *t)
{
    lab_bank_count(t, &thesis_spec, NULL, t->value);
}

/* Each cell compared with its neighbor, which has one more function, or a larger multiplier. */
static void judge_order(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[2 * THESIS_CELLS];
    size_t n = 0;
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t size = 0; size < THESIS_SIZES; size++) {
            if (k < THESIS_K_MAX)
                test[n++] = thesis_test_fewer(r, k + 1, size, k, size);
            if (size + 1 < THESIS_SIZES)
                test[n++] = thesis_test_fewer(r, k, size + 1, k, size);
        }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c =
        lab_claim(report, "thesis, 5.7.2",
                  "The probability decreases with more hash functions and with a larger "
                  "multiplier (m = n k M).");
    lab_answer(&c->holds, &all, "%",
               "of %zu pairs of neighbors in table 5.9, the one with more functions or the larger "
               "multiplier has the lower rate (the numbers are a difference)",
               n);
    lab_add_text(&c->holds, "%s %% with k = 3 and M = 1.7; %s %% with k = 5; %s %% with M = 5.",
                 thesis_percent(r, 0, thesis_cell(3, 0)).s,
                 thesis_percent(r, 0, thesis_cell(5, 0)).s,
                 thesis_percent(r, 0, thesis_cell(3, THESIS_SIZES - 1)).s);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const struct thesis_grid grid = {
        "5.9", "Table 5.9: false positives of one filter, %", &thesis_spec, 1, 1, 0, 0};
    struct lab_table *t = thesis_grid(r, report, &grid);
    lab_caption(t, "Jenkins lookup2 with a salt for each function; m = n k M bits.");
    thesis_draw(r, report, &grid, "rate", "Table 5.9: false positives by size");
    (void)lab_judge(report, t, "thesis, table 5.9 and 3.5",
                    "A filter with k seeded hash functions and m = n k M bits mistakes "
                    "(1 - e^(-1/M))^k of the absent URLs for seen.");
    judge_order(r, report);
    lab_remark(
        report,
        "With m = n k M, the fraction of set bits, 1 - e^(-1/M), does not depend on k. The best M "
        "for a given memory is 1.44 (half of the bits set). All sizes of the thesis are above it: "
        "they trade memory for fewer hash computations.");
}

const struct lab_experiment exp_single = {
    .name = "single",
    .title = "One Bloom filter",
    .reproduces = "thesis, table 5.9",
    .seconds = 5.5,
    .about =
        (const char *const[]){
            "The lab inserts n URLs and queries n others; each one that the filter reports as seen "
            "is a false positive. k = 3 to 10 hash functions, and m = n k M bits for six "
            "multipliers M.",
            NULL},
    .units = 1,
    .values = THESIS_CELLS,
    .run = run,
    .report = make_report,
};
