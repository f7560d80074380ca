/* exp_hashes.c - does the choice of hash function matter?  Tables 5.1 to 5.8.
 *
 * Four functions, each seeded (the salt makes k functions out of one), and k different functions
 * together; k = 1, 2, 3 at M = 2.  A unit is one of these.  While its filters fill, they give the
 * incremental rate (each URL is queried, then inserted); when full, they give the other rate.
 *
 * The other units test each family at every alignment (lab_aligned.h). */
#include "lab/experiments/lab_aligned.h"
#include "lab/experiments/lab_thesis.h"
#include <math.h>
#include <stdio.h>

#define K_MAX 3u
static const uint32_t functions[K_MAX] = {1, 2, 3};
static const double multiplier = 2.0;

static const struct setup {
    uint32_t hash;
    const char *label[K_MAX]; /* for each k; NULL: the thesis has no such filter */
} setups[] = {
    {DEJA_HASH_JENKINS, {"Jenkins", "Jenkins", "Jenkins"}},
    {DEJA_HASH_MURMUR2, {"MurmurHash", "MurmurHash", "MurmurHash"}},
    {DEJA_HASH_MD5, {"MD5", "MD5", "MD5"}},
    {DEJA_HASH_SHA1, {"SHA-1", "SHA-1", "SHA-1"}},
    {DEJA_HASH_MIXED, {NULL, "Jenkins and MurmurHash", "Jenkins, MurmurHash, SHA-1"}},
};
#define SETUPS ((uint32_t)(sizeof setups / sizeof setups[0]))
enum {
    FILLING = 0,
    FULL = K_MAX,
    N_VALUES = 2 * K_MAX > ALIGNED_VALUES ? 2 * K_MAX : ALIGNED_VALUES
};

static double weight(const struct lab *lab, uint32_t unit)
{
    (void)lab;
    if (unit >= SETUPS)
        return 3;
    const uint32_t hash = setups[unit].hash;
    return hash == DEJA_HASH_SHA1 ? 24 : hash == DEJA_HASH_MD5 ? 15 : 4;
}

static void run(struct lab_task *t)
{
    if (t->unit >= SETUPS) {
        aligned_run(t, t->unit - SETUPS);
        return;
    }
    const struct lab_bloom_spec spec = {setups[t->unit].hash, 1, functions, K_MAX, &multiplier, 1};
    lab_bank_count(t, &spec, t->value + FILLING, t->value + FULL);
}

/* A table: k from .. to, filling or full, with or without the mixed functions. */
struct shape {
    const char *id, *title;
    uint32_t from, to;
    bool filling, mixed;
};

static void make_table(const struct lab_results *r, struct lab_report *report,
                       const struct shape *s)
{
    struct lab_table *t = lab_table(report, LAB_GRID, s->id, "hash function", s->title);
    for (uint32_t k = s->from; k <= s->to; k++)
        for (uint32_t u = 0; u < SETUPS; u++) {
            const char *label = setups[u].label[k - 1];
            char column[16];
            if (!label || (setups[u].hash == DEJA_HASH_MIXED && !s->mixed))
                continue;
            (void)snprintf(column, sizeof column, "%u HF", k);
            const struct lab_bloom b = thesis_bloom(r, k, 1, multiplier, s->filling);
            const struct lab_printed p = lab_printed(
                &(struct lab_printed_query){.source = "thesis",
                                            .table = s->id,
                                            .hashes = k,
                                            .subject = deja_hash_name(setups[u].hash)});
            struct lab_cell *c = lab_cell(t, label, column);
            c->filters = 1;
            lab_cell_bloom(c, r, u, (s->filling ? FILLING : FULL) + k - 1, &b, &p);
        }
}

static const struct shape shapes[] = {
    {"5.1", "Table 5.1: one function, incremental, %", 1, 1, true, true},
    {"5.2", "Table 5.2: two functions, incremental, %", 2, 2, true, true},
    {"5.3", "Table 5.3: three functions, incremental, %", 3, 3, true, true},
    {"5.4", "Table 5.4: seeded functions, incremental, %", 1, 3, true, false},
    {"5.5", "Table 5.5: one function, full filter, %", 1, 1, false, true},
    {"5.6", "Table 5.6: two functions, full filter, %", 2, 2, false, true},
    {"5.7", "Table 5.7: three functions, full filter, %", 3, 3, false, true},
    {"5.8", "Table 5.8: seeded functions, full filter, %", 2, 3, false, false},
};

/* Do the functions differ from each other?  If they do not, the sum of squared distances from
 * theory, over the filters with the same k, follows a chi-squared distribution. */
static void judge_functions(const struct lab_results *r, struct lab_report *report)
{
    double sum = 0, degrees = 0, beyond = -INFINITY;
    uint32_t worst = 0;
    for (uint32_t k = 1; k <= K_MAX; k++) {
        const struct lab_bloom b = thesis_bloom(r, k, 1, multiplier, false);
        double squares = 0, n = 0;
        for (uint32_t u = 0; u < SETUPS; u++) {
            if (!setups[u].label[k - 1])
                continue;
            const double off = lab_sum(r, u, FULL + k - 1) / (b.n * r->runs) - lab_bloom_rate(&b);
            squares += off * off * r->runs / (lab_bloom_sigma(&b) * lab_bloom_sigma(&b));
            n++;
        }
        if ((squares - n) / sqrt(2 * n) > beyond) {
            worst = k;
            sum = squares;
            degrees = n;
            beyond = (squares - n) / sqrt(2 * n);
        }
    }
    lab_verdict(
        report, beyond < LAB_FAR ? LAB_AGREES : LAB_DIFFERS,
        "No function is better than another, and one seeded function is as good as several "
        "different ones, as the thesis concludes: the differences from one common rate add up to "
        "chi-squared %.1f at k = %u, where they are largest; chance alone gives %.0f +- %.1f. The "
        "ranking in the thesis is due to chance.",
        sum, worst, degrees, sqrt(2 * degrees));
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        make_table(r, report, &shapes[i]);
    lab_judge_rates(report, 0, report->n_tables);
    judge_functions(r, report);
    aligned_report(r, report, SETUPS);
    lab_verdict(
        report, LAB_NOTE,
        "Tables 5.4 and 5.8 repeat values of the others. With one unseeded function, a hundred "
        "runs on the same URLs would all give the same result; here, every run has its own salt.");
}

const struct lab_experiment exp_hashes = {
    .name = "hashes",
    .title = "Hash functions",
    .reproduces = "thesis, tables 5.1-5.8",
    .seconds = 10,
    .about =
        (const char *const[]){
            "Jenkins lookup2, MurmurHash2, MD5 and SHA-1; one function with k salts compared with "
            "k different functions. M = 2, so m is 2, 4 and 6 bits per URL for k = 1, 2, 3.",
            "Incremental: each URL is queried and then inserted, as a crawler does, and the rate "
            "is that of the whole fill. Full: n URLs are inserted, and n others are queried.",
            "Alignment: every function of the library at 16 positions of the URL in its blocks. "
            "With --urls, this tests the functions on your own list.",
            NULL},
    .units = SETUPS + ALIGNED_FAMILIES,
    .values = N_VALUES,
    .weight = weight,
    .run = run,
    .report = make_report,
};
