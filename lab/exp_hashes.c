/* exp_hashes.c - does the choice of hash function matter?  Tables 5.1 to 5.8.
 *
 * Four functions, each seeded (the salt makes k functions of one), and k different functions
 * together; k = 1, 2, 3 at M = 2.  A unit is one filter: while it fills it gives the incremental
 * rate (each URL queried, then inserted), and full, the other one. */
#include "lab_thesis.h"
#include <math.h>
#include <string.h>

static const struct setup {
    uint32_t k, hash;
    const char *label;
    const char *incremental, *full, *overview, *full_overview; /* tables; NULL: in none */
} setups[] = {
    {1, DEJA_HASH_JENKINS, "Jenkins", "5.1", "5.5", "5.4", NULL},
    {1, DEJA_HASH_MURMUR2, "MurmurHash", "5.1", "5.5", "5.4", NULL},
    {1, DEJA_HASH_MD5, "MD5", "5.1", "5.5", "5.4", NULL},
    {1, DEJA_HASH_SHA1, "SHA-1", "5.1", "5.5", "5.4", NULL},
    {2, DEJA_HASH_MIXED, "Jenkins and MurmurHash", "5.2", "5.6", NULL, NULL},
    {2, DEJA_HASH_JENKINS, "Jenkins", "5.2", "5.6", "5.4", "5.8"},
    {2, DEJA_HASH_MURMUR2, "MurmurHash", "5.2", "5.6", "5.4", "5.8"},
    {2, DEJA_HASH_MD5, "MD5", "5.2", "5.6", "5.4", "5.8"},
    {2, DEJA_HASH_SHA1, "SHA-1", "5.2", "5.6", "5.4", "5.8"},
    {3, DEJA_HASH_MIXED, "Jenkins, MurmurHash, SHA-1", "5.3", "5.7", NULL, NULL},
    {3, DEJA_HASH_JENKINS, "Jenkins", "5.3", "5.7", "5.4", "5.8"},
    {3, DEJA_HASH_MURMUR2, "MurmurHash", "5.3", "5.7", "5.4", "5.8"},
    {3, DEJA_HASH_MD5, "MD5", "5.3", "5.7", "5.4", "5.8"},
    {3, DEJA_HASH_SHA1, "SHA-1", "5.3", "5.7", "5.4", "5.8"},
};
#define SETUPS (sizeof setups / sizeof setups[0])

static const double multiplier[1] = {2.0};

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return (uint32_t)SETUPS;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return 2; /* hits while it fills, hits when it is full */
}

static double cost(const struct lab *lab, uint32_t unit)
{
    const uint32_t hash = setups[unit].hash;
    const double slow = hash == DEJA_HASH_SHA1 ? 8 : hash == DEJA_HASH_MD5 ? 5 : 1;
    return (double)lab->keys.n * setups[unit].k * slow;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    const struct setup *s = &setups[task->unit];
    const struct lab_bloom_spec spec = {s->hash, s->k, 1, multiplier, 1};
    struct lab_bank bank;
    double filling[LAB_BANK] = {0}, full[LAB_BANK] = {0};
    int rc = lab_bank_init(&bank, lab, &spec, task->seed, err);
    if (rc < 0)
        return rc;
    rc = lab_bank_add(&bank, lab->keys.added, lab->keys.n, lab_count_seen, filling, err);
    if (rc == DEJA_OK)
        rc = lab_bank_ask(&bank, lab->keys.asked, lab->keys.n, lab_count_seen, full, err);
    value[0] = filling[0];
    value[1] = full[0];
    lab_bank_fini(&bank);
    return rc;
}

/* All setups that stand in the table `id`, as rows by k. */
static struct lab_table *make_table(const struct lab *lab, const struct lab_results *r,
                                    struct lab_report *report, const char *id, bool filling,
                                    const char *title)
{
    struct lab_table *t = lab_table(report, LAB_GRID, id, "hash function", title);
    for (uint32_t u = 0; u < SETUPS; u++) {
        const struct setup *s = &setups[u];
        const char *in[2] = {filling ? s->incremental : s->full,
                             filling ? s->overview : s->full_overview};
        if ((in[0] == NULL || strcmp(in[0], id) != 0) && (in[1] == NULL || strcmp(in[1], id) != 0))
            continue;
        const struct lab_bloom b = {(double)lab->keys.n, s->k, 1, multiplier[0], filling};
        const struct lab_printed p = lab_printed(&(struct lab_printed_query){
            .source = "thesis", .table = id, .hashes = s->k, .subject = deja_hash_name(s->hash)});
        struct lab_cell *c = lab_cell(t, s->label, thesis_k(s->k).s);
        c->filters = 1;
        lab_cell_bloom(c, r, u, filling ? 0 : 1, &b, &p);
    }
    return t;
}

/* Do the functions differ from each other?  The sum of squared distances from theory, over all
 * units, follows chi-squared when they do not. */
static void judge_functions(const struct lab *lab, const struct lab_results *r,
                            struct lab_report *report)
{
    double sum = 0;
    for (uint32_t u = 0; u < SETUPS; u++) {
        const struct lab_bloom b = {(double)lab->keys.n, setups[u].k, 1, multiplier[0], false};
        const double trials = b.n * r->runs;
        const double off = lab_sum(r, u, 1) / trials - lab_bloom_rate(&b);
        sum += off * off * r->runs / (lab_bloom_sigma(&b) * lab_bloom_sigma(&b));
    }
    const double beyond = (sum - SETUPS) / sqrt(2.0 * SETUPS);
    lab_verdict(
        report, fabs(beyond) < LAB_FAR ? LAB_AGREES : LAB_DIFFERS,
        "No function is better than another, and one seeded function is as good as several "
        "different ones, as the thesis concludes: over all %zu filters the differences "
        "from one common rate add up to chi-squared %.1f, where chance alone gives "
        "%zu +- %.1f. The order in which the thesis ranks them is chance.",
        SETUPS, sum, SETUPS, sqrt(2.0 * SETUPS));
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    make_table(lab, r, report, "5.1", true, "Table 5.1: one function, incremental, %");
    make_table(lab, r, report, "5.2", true, "Table 5.2: two functions, incremental, %");
    make_table(lab, r, report, "5.3", true, "Table 5.3: three functions, incremental, %");
    make_table(lab, r, report, "5.4", true, "Table 5.4: seeded functions, incremental, %");
    make_table(lab, r, report, "5.5", false, "Table 5.5: one function, full filter, %");
    make_table(lab, r, report, "5.6", false, "Table 5.6: two functions, full filter, %");
    make_table(lab, r, report, "5.7", false, "Table 5.7: three functions, full filter, %");
    make_table(lab, r, report, "5.8", false, "Table 5.8: seeded functions, full filter, %");
    lab_judge_rates(report, 0, report->n_tables);
    judge_functions(lab, r, report);
    lab_verdict(
        report, LAB_NOTE,
        "Tables 5.4 and 5.8 repeat values of the others. With one function there is nothing "
        "to seed: a hundred runs of the same function on the same URLs would all be the "
        "same run. Here every run has a salt.");
    return DEJA_OK;
}

const struct lab_experiment exp_hashes = {
    .name = "hashes",
    .title = "Hash functions",
    .reproduces = "thesis, tables 5.1-5.8",
    .about =
        (const char *const[]){
            "Jenkins lookup2, MurmurHash2, MD5 and SHA-1; one function with k salts against k "
            "different functions. M = 2, so m is 2, 4 and 6 bits a URL for k = 1, 2, 3.",
            "Incremental means: each URL is asked and then inserted, as a crawler does, and the "
            "rate is that of the whole fill. Otherwise n URLs are inserted and n others asked.",
            NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
