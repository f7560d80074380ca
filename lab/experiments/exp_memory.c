/* exp_memory.c - the memory that URLs take: tables 5.10 to 5.13.
 *
 * The sizes of Bloom filters follow from n, k, M and F alone and need no filter: they are planned
 * for the thesis' million URLs.  The lab's own URLs are then inserted into the other
 * structures. */
#include "bench/bench_subject.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <stdio.h>

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
    {"exact", DEJA_EXACT, 0, "64-bit fingerprints"},
    {"static, 8 bits", DEJA_STATIC, 0.0039, "never changes; rate 1 in 256"},
    {"static, 16 bits", DEJA_STATIC, 1.5e-5, "never changes; rate 1 in 65,536"},
    {"classic, 1 %", DEJA_CLASSIC, 0.01, ""},
    {"blocked, 1 %", DEJA_BLOCKED, 0.01, ""},
    {"classic, 1e-6", DEJA_CLASSIC, 1e-6, ""},
    {"blocked, 1e-6", DEJA_BLOCKED, 1e-6, ""},
};
#define SUBJECTS (sizeof subjects / sizeof subjects[0])

static double table_bytes(struct lab_task *t)
{
    const struct lab_keys *k = &t->lab->keys;
    uint8_t *is_new = lab_alloc(t, k->n);
    void *table = bench_table.open(0, k->n, 0, t->err);
    double bytes = NAN; /* if a URL exceeds the table's limit */
    if (!table)
        lab_failed(t, DEJA_ENOMEM, "out of memory for a hash table");
    if (t->rc == DEJA_OK && bench_table.add_one(table, k->added, k->n, is_new) == DEJA_OK)
        bytes = (double)bench_table.bytes(table);
    bench_table.close(table);
    return bytes;
}

static void run(struct lab_task *t)
{
    t->value[0] = (double)t->lab->keys.n * (sizeof(deja_slice) + t->lab->keys.mean_len);
    t->value[1] = table_bytes(t);
    for (size_t i = 2; i < SUBJECTS; i++) {
        deja_options opt = lab_options(t, subjects[i].kind);
        opt.fp_rate = subjects[i].rate;
        t->value[i] = (double)lab_stats(t, lab_full(t, &opt)).bytes;
        lab_release(t);
    }
}

/* --- Report ---------------------------------------------------------------------- */

struct tally {
    unsigned cells, fit;
    double least, most; /* the excess of the thesis' figures over the bits, KiB */
};

static double planned_bytes(uint32_t filters, uint32_t k, double multiplier)
{
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_plan plan = DEJA_PLAN_INIT;
    opt.kind = DEJA_CLASSIC;
    opt.capacity = MILLION;
    opt.filters = filters;
    opt.hashes = k;
    opt.multiplier = multiplier;
    return deja_plan_make(&opt, &plan, NULL) < 0 ? NAN : (double)plan.bytes;
}

static void make_sizes(struct lab_report *report, uint32_t filters, struct tally *tally)
{
    static const char *const id[] = {"5.10", "5.11", "5.12"};
    static const char *const title[] = {"Table 5.10: one filter, KiB",
                                        "Table 5.11: two filters, KiB",
                                        "Table 5.12: three filters, KiB"};
    struct lab_table *t =
        lab_table(report, LAB_GRID, id[filters - 1], "hash functions", title[filters - 1]);
    for (uint32_t i = 0; i < THESIS_CELLS; i++) {
        const uint32_t k = THESIS_K_MIN + i / THESIS_SIZES;
        const double m = thesis_multiplier[i % THESIS_SIZES];
        struct lab_cell *c =
            thesis_number(t, filters, k, m, "KiB", planned_bytes(filters, k, m) / KIB);
        c->error = 0;
        c->theory = filters * (double)MILLION * k * m / 8 / KIB;
        const double more = c->printed - c->theory;
        const bool fit = more > 30 && more < 50;
        tally->cells++;
        tally->fit += fit;
        tally->least = fit ? fmin(tally->least, more) : tally->least;
        tally->most = fit ? fmax(tally->most, more) : tally->most;
    }
}

static void make_subjects(const struct lab_results *r, struct lab_report *report)
{
    struct lab_table *t = lab_table(report, LAB_LIST, "5.13", "structure",
                                    "Table 5.13 and other structures: bytes per URL");
    lab_caption(
        t,
        "The lab's %.0f URLs of %.1f bytes on average. Printed: the thesis' kilobytes for a "
        "million URLs in Java, where a string has two bytes per character and a header.",
        lab_n(r), r->lab->keys.mean_len);
    for (uint32_t i = 0; i < SUBJECTS; i++) {
        struct lab_cell *c = lab_cell(t, subjects[i].label, "bytes per URL");
        lab_cell_plain(c, "byte", lab_value(r, 0, 0, i) / lab_n(r), 0);
        lab_note(c, "%s", subjects[i].note);
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

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    struct tally tally = {.least = INFINITY, .most = -INFINITY};
    for (uint32_t filters = 1; filters <= 3; filters++)
        make_sizes(report, filters, &tally);
    make_subjects(r, report);
    lab_verdict(
        report, LAB_AGREES,
        "%u of %u printed sizes are F m / 8 bytes plus %.0f to %.0f KiB of Java objects: the "
        "tables are in KiB, and a filter needs its bits and nothing else.",
        tally.fit, tally.cells, tally.least, tally.most);
    if (tally.fit < tally.cells)
        lab_verdict(
            report, LAB_DIFFERS,
            "%u printed size is a misprint: in 5.10, 8 HF 2.5 M prints 2048, but 4 HF 5.0 M, the "
            "same number of bits, prints 2479.",
            tally.cells - tally.fit);
    lab_verdict(
        report, LAB_AGREES,
        "A hash table of strings takes %.0f times the memory of a Bloom filter at 1 %%; in the "
        "thesis, 250,880 KiB against 1,259 (5 HF 2.0 M, 0.94 %%), 199 times. The fingerprints of "
        "exact are in between: %.1f bytes per URL, and practically no page is lost.",
        lab_value(r, 0, 0, 1) / lab_value(r, 0, 0, 5), lab_value(r, 0, 0, 2) / lab_n(r));
}

const struct lab_experiment exp_memory = {
    .name = "memory",
    .title = "Memory",
    .reproduces = "thesis, tables 5.10-5.13",
    .seconds = 2,
    .about = (const char *const[]){"The memory of the thesis' filters, and of the same URLs in an "
                                   "array, in a hash table and in other kinds of filters.",
                                   NULL},
    .max_runs = 1,
    .units = 1,
    .values = SUBJECTS,
    .run = run,
    .report = make_report,
};
