/* exp_single.c - one Bloom filter, k = 3 .. 10 hash functions and six sizes: table 5.9.
 *
 * The whole table is one unit: URLs are hashed once for all 48 filters. */
#include "lab/experiments/lab_thesis.h"

static void run(struct lab_task *t)
{
    lab_bank_count(t, &thesis_spec, NULL, t->value);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    static const struct thesis_grid grid = {
        "5.9", "Table 5.9: false positives of one filter, %", &thesis_spec, 1, 1, 0, 0};
    struct lab_table *t = thesis_grid(r, report, &grid);
    lab_caption(t, "Jenkins lookup2 with a salt for each function; m = n k M bits.");
    thesis_draw(r, report, &grid, "rate", "Table 5.9: false positives by size");
    lab_judge_rates(report, 0, 1);
    lab_verdict(
        report, LAB_NOTE,
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
