/* exp_single.c - one Bloom filter, k = 3 .. 10 hash functions and six sizes: table 5.9.
 *
 * The whole table is one unit: URLs are hashed once for all 48 filters. */
#include "lab/experiments/lab_thesis.h"
#include <string.h>

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return 1;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return THESIS_CELLS;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 35.0 * (double)lab->keys.n;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct lab_bloom_spec spec = thesis_table();
    struct lab_bank bank;
    double hits[LAB_BANK] = {0};
    int rc = lab_bank_init(&bank, lab, &spec, task->seed, err);
    if (rc < 0)
        return rc;
    rc = lab_bank_add(&bank, lab->keys.added, lab->keys.n, NULL, NULL, err);
    if (rc == DEJA_OK)
        rc = lab_bank_ask(&bank, lab->keys.asked, lab->keys.n, lab_count_seen, hits, err);
    memcpy(value, hits, THESIS_CELLS * sizeof *value);
    lab_bank_fini(&bank);
    return rc;
}

static void draw(const struct lab *lab, const struct lab_table *t, struct lab_report *report)
{
    struct lab_figure *f = lab_figure(report, "rate", "False positives by size",
                                      "bits a URL (k M)", "false positives, %");
    f->log_y = true;
    (void)snprintf(f->caption, sizeof f->caption, "Dashes: theory");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++) {
        const unsigned colour = k - THESIS_K_MIN;
        const size_t theory = lab_series(f, LAB_DASHES, colour, "%s", "");
        const size_t measured = lab_series(f, LAB_POINTS, colour, "k = %u", k);
        for (double m = 1.7; m < 5.01; m += 0.1) {
            const struct lab_bloom b = {(double)lab->keys.n, k, 1, m, false};
            lab_point(f, theory, k * m, 100 * lab_bloom_rate(&b));
        }
        for (size_t i = 0; i < t->n; i++)
            if (t->cell[i].hashes == k)
                lab_point(f, measured, k * t->cell[i].multiplier, t->cell[i].mean);
    }
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    struct lab_table *t = lab_table(report, LAB_GRID, "5.9", "hash functions",
                                    "Table 5.9: false positives of one filter, %");
    lab_caption(t, "Jenkins lookup2 with a salt for each function; m = n k M bits.");
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++)
            thesis_rate(
                t, r, 0, thesis_cell(k, i), 1,
                &(struct lab_bloom){(double)lab->keys.n, k, 1, thesis_multiplier[i], false});
    draw(lab, t, report);
    lab_judge_rates(report, 0, 1);
    lab_verdict(
        report, LAB_NOTE,
        "With m = n k M the share of set bits, 1 - e^(-1/M), does not depend on k. The best "
        "M for given memory is 1.44 (half of the bits set); all sizes of the thesis are "
        "above, so it buys fewer hash computations with more memory.");
    return DEJA_OK;
}

const struct lab_experiment exp_single = {
    .name = "single",
    .title = "One Bloom filter",
    .reproduces = "thesis, table 5.9",
    .seconds = 5.5,
    .about =
        (const char *const[]){
            "n URLs are inserted, then n others are asked; each one that the filter claims to "
            "have seen is a false positive. k = 3 to 10 hash functions, and m = n k M bits for "
            "six multipliers M.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
