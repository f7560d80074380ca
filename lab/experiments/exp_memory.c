/* exp_memory.c - the memory that URLs take: tables 5.10 to 5.13.
 *
 * The sizes of Bloom filters follow from n, k, M and F alone and need no filter: they are planned
 * for the thesis' million.  The lab's own URLs are then inserted into the other structures. */
#include "bench/bench_subject.h"
#include "lab/engine/lab_filter.h"
#include "lab/experiments/lab_thesis.h"
#include "tools/base/fail.h"
#include <math.h>
#include <stdlib.h>

#define MILLION 1000000
#define KIB     1024.0

static const struct subject {
    const char *label;
    uint32_t kind;
    double rate;
    const char *note;
} subjects[] = {
    {"array of strings", 0, 0, "16 bytes of pointer and length, and the string"},
    {"hash table of strings", 0, 0, "open addressing, at most three quarters full"},
    {"exact", DEJA_EXACT, 1e-12, "64-bit fingerprints"},
    {"static, 8 bits", DEJA_STATIC, 0.0039, "never changes; rate 1 in 256"},
    {"static, 16 bits", DEJA_STATIC, 1.5e-5, "never changes; rate 1 in 65,536"},
    {"classic, 1 %", DEJA_CLASSIC, 0.01, ""},
    {"blocked, 1 %", DEJA_BLOCKED, 0.01, ""},
    {"classic, 1e-6", DEJA_CLASSIC, 1e-6, ""},
    {"blocked, 1e-6", DEJA_BLOCKED, 1e-6, ""},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return 1;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return (uint32_t)SUBJECTS;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 4.0 * (double)lab->keys.n;
}

static int table_bytes(const struct lab *lab, double *bytes, deja_error *err)
{
    uint8_t *is_new = malloc(lab->keys.n);
    void *table = bench_table.open(0, lab->keys.n, 0, err);
    int rc = DEJA_ENOMEM;
    if (is_new && table)
        rc = bench_table.add_one(table, lab->keys.added, lab->keys.n, is_new);
    *bytes = rc == DEJA_OK ? (double)bench_table.bytes(table) : NAN; /* a URL exceeds its limit */
    bench_table.close(table);
    free(is_new);
    return rc == DEJA_ENOMEM ? fail(err, rc, "no memory for a hash table") : DEJA_OK;
}

static int filter_bytes(const struct lab *lab, const struct subject *s, uint64_t seed,
                        double *bytes, deja_error *err)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_stats stats = DEJA_STATS_INIT;
    deja_filter *f = NULL;
    opt.kind = s->kind;
    opt.capacity = lab->keys.n;
    opt.fp_rate = s->kind == DEJA_EXACT ? 0 : s->rate;
    opt.seed = seed;
    int rc = lab_make_full(lab, &opt, &f, err);
    if (rc == DEJA_OK)
        rc = deja_filter_stats(f, DEJA_STATS_BODY, &stats, err);
    *bytes = (double)stats.bytes;
    deja_filter_free(f);
    return rc;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    value[0] = (double)lab->keys.n * (sizeof(deja_slice) + lab->keys.mean_len);
    int rc = table_bytes(lab, &value[1], err);
    for (size_t i = 2; i < SUBJECTS && rc == DEJA_OK; i++)
        rc = filter_bytes(lab, &subjects[i], task->seed, &value[i], err);
    return rc;
}

/* --- Report ---------------------------------------------------------------------- */

struct tally {
    unsigned cells, fit;
    double least, most; /* the excess of the thesis' figures over the bits, KiB */
};

static void make_sizes(struct lab_report *report, uint32_t filters, struct tally *tally)
{
    static const char *const id[] = {"5.10", "5.11", "5.12"};
    static const char *const title[] = {"Table 5.10: one filter, KiB",
                                        "Table 5.11: two filters, KiB",
                                        "Table 5.12: three filters, KiB"};
    struct lab_table *t =
        lab_table(report, LAB_GRID, id[filters - 1], "hash functions", title[filters - 1]);
    for (uint32_t k = THESIS_K_MIN; k <= THESIS_K_MAX; k++)
        for (uint32_t i = 0; i < THESIS_SIZES; i++) {
            const struct lab_printed p =
                thesis_printed(id[filters - 1], filters, k, thesis_multiplier[i]);
            struct lab_cell *c = lab_cell(t, thesis_k(k).s, thesis_m(thesis_multiplier[i]).s);
            deja_options opt = DEJA_OPTIONS_INIT;
            deja_plan plan = DEJA_PLAN_INIT;
            opt.kind = DEJA_CLASSIC;
            opt.capacity = MILLION;
            opt.filters = filters;
            opt.hashes = k;
            opt.multiplier = thesis_multiplier[i];
            if (deja_plan_make(&opt, &plan, NULL) < 0)
                continue;
            lab_cell_plain(c, "KiB", (double)plan.bytes / KIB, 0);
            c->filters = filters;
            c->hashes = k;
            c->multiplier = thesis_multiplier[i];
            c->theory = filters * (double)MILLION * k * thesis_multiplier[i] / 8 / KIB;
            lab_cell_printed(c, &p);
            const double more = p.value - c->theory;
            const bool fit = more > 30 && more < 50;
            tally->cells++;
            tally->fit += fit;
            tally->least = fit ? fmin(tally->least, more) : tally->least;
            tally->most = fit ? fmax(tally->most, more) : tally->most;
        }
}

static void make_subjects(const struct lab *lab, const struct lab_results *r,
                          struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "5.13", "structure",
                                    "Table 5.13 and what else there is: bytes a URL");
    const double n = (double)lab->keys.n;
    lab_caption(
        t,
        "The lab's %.0f URLs of %.1f bytes on average. Printed: the thesis' kilobytes for a "
        "million URLs in Java, where a string has two bytes a character and a header.",
        n, lab->keys.mean_len);
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct lab_cell *c = lab_cell(t, subjects[i].label, "bytes a URL");
        lab_cell_plain(c, "byte", lab_value(r, 0, 0, i) / n, 0);
        (void)snprintf(c->note, sizeof c->note, "%s", subjects[i].note);
        if (i < 2) {
            const struct lab_printed p = lab_printed(&(struct lab_printed_query){
                .table = "5.13", .subject = i == 0 ? "array" : "table"});
            c->printed = p.value * KIB / MILLION;
            (void)snprintf(c->printed_text, sizeof c->printed_text, "%.1f", c->printed);
        }
        if (subjects[i].kind == DEJA_CLASSIC)
            c->theory = -log(subjects[i].rate) / (8 * log(2) * log(2));
    }
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    struct tally tally = {.least = INFINITY, .most = -INFINITY};
    (void)err;
    for (uint32_t filters = 1; filters <= 3; filters++)
        make_sizes(report, filters, &tally);
    make_subjects(lab, r, report);
    lab_verdict(
        report, LAB_AGREES,
        "%u of %u printed sizes are F m / 8 bytes plus %.0f to %.0f KiB of Java objects: the "
        "tables are in KiB, and a filter costs its bits and nothing else.",
        tally.fit, tally.cells, tally.least, tally.most);
    if (tally.fit < tally.cells)
        lab_verdict(
            report, LAB_DIFFERS,
            "%u printed size is a misprint: 5.10, 8 HF 2.5 M prints 2048, where 4 HF 5.0 M, "
            "the same number of bits, prints 2479.",
            tally.cells - tally.fit);
    const double table = lab_value(r, 0, 0, 1), bloom = lab_value(r, 0, 0, 5);
    lab_verdict(
        report, LAB_AGREES,
        "A hash table of the strings takes %.0f times the memory of a Bloom filter at 1 %%; in "
        "the thesis 250,880 KiB against 1,259 (5 HF 2.0 M, 0.94 %%), 199 times. The fingerprints "
        "of exact lie between: %.1f bytes a URL, and practically no page is lost.",
        table / bloom, lab_value(r, 0, 0, 2) / (double)lab->keys.n);
    return DEJA_OK;
}

const struct lab_experiment exp_memory = {
    .name = "memory",
    .title = "Memory",
    .reproduces = "thesis, tables 5.10-5.13",
    .seconds = 2,
    .about = (const char *const[]){"What the thesis' filters take, and what the same URLs take in "
                                   "an array, in a hash table and in other kinds of filters.",
                                   NULL},
    .max_runs = 1,
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
