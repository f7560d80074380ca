/* exp_hashes.c - does the choice of hash function matter?  Tables 5.1 to 5.8.
 *
 * Four functions, each seeded (the salt makes k functions out of one), and k different functions
 * together; k = 1, 2, 3 at M = 2.  A unit is one of these.  While its filters fill, they give the
 * incremental rate (each URL is queried, then inserted); when full, they give the other rate.
 *
 * The other units test each family at every alignment (lab_aligned.h). */
#include "lab/experiments/lab_aligned.h"
#include "lab/experiments/lab_thesis.h"
#include "tools/base/number.h"
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

/* The rates of a table: ours and the printed ones compared with theory. */
static void judge_table(struct lab_report *report, const struct lab_table *t,
                        const struct shape *s)
{
    char where[32], k[32];
    (void)snprintf(where, sizeof where, "thesis, table %s", s->id);
    if (s->from < s->to)
        (void)snprintf(k, sizeof k, "k = %u to %u", s->from, s->to);
    else
        (void)snprintf(k, sizeof k, "k = %u", s->from);
    (void)lab_judge(report, t, where,
                    "%s, %s: every hash function has the rate that theory expects.", k,
                    s->filling ? "incremental" : "full");
}

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
    judge_table(report, t, s);
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

/* --- Claims ----------------------------------------------------------------------- */

#define TOLERANCE 0.05 /* "yes" means: a difference of 5 % between two functions would be found */
#define MIXED     (SETUPS - 1)

/* The standard deviation of each value: computed once, because it is an integral. */
struct sigmas {
    double of[N_VALUES];
};

static struct sigmas sigmas(const struct lab_results *r)
{
    struct sigmas s = {{0}};
    for (uint32_t k = 1; k <= K_MAX; k++)
        for (uint32_t filling = 0; filling < 2; filling++) {
            const struct lab_bloom b = thesis_bloom(r, k, 1, multiplier, filling);
            s.of[(filling ? FILLING : FULL) + k - 1] = lab_bloom_sigma(&b);
        }
    return s;
}

/* The rate of the units from .. to - 1, but not of `without`. */
static struct lab_rate pool(const struct lab_results *r, const struct sigmas *s, uint32_t value,
                            uint32_t from, uint32_t to, uint32_t without)
{
    struct lab_rate rate = {0};
    uint32_t units = 0;
    for (uint32_t u = from; u < to; u++)
        if (u != without) {
            rate.hits += lab_sum(r, u, value);
            units++;
        }
    rate.trials = lab_n(r) * r->runs * units;
    rate.sigma = s->of[value] / sqrt((double)r->runs * units);
    return rate;
}

/* Each function compared with the three others, for each k, filling and full. */
static void judge_functions(const struct lab_results *r, const struct sigmas *s,
                            struct lab_report *report)
{
    struct lab_test test[2 * K_MAX * MIXED];
    size_t worst = 0;
    for (uint32_t i = 0; i < 2 * K_MAX * MIXED; i++) {
        const uint32_t value = i / MIXED, u = i % MIXED;
        test[i] = lab_test_ratio(pool(r, s, value, u, u + 1, SETUPS),
                                 pool(r, s, value, 0, MIXED, u), 1, TOLERANCE);
        worst = test[i].p < test[worst].p ? i : worst;
    }
    const struct lab_test all = lab_test_family(test, sizeof test / sizeof test[0]);
    struct lab_claim *c = lab_claim(report, "thesis, tables 5.1-5.8",
                                    "Jenkins, MurmurHash, MD5 and SHA-1 are equally good.");
    lab_answer(&c->holds, &all, "", "the rate of each, divided by that of the three others, is 1");
    lab_add_text(&c->holds, "The furthest off: %s, k = %u, %s.", setups[worst % MIXED].label[0],
                 (unsigned)(worst / MIXED % K_MAX + 1),
                 worst / MIXED < FULL ? "incremental" : "full");
}

/* The four seeded functions compared with the mixed ones. */
static void judge_seeds(const struct lab_results *r, const struct sigmas *s,
                        struct lab_report *report)
{
    struct lab_test test[2 * K_MAX];
    size_t n = 0;
    for (uint32_t value = 0; value < 2 * K_MAX; value++)
        if (value % K_MAX != 0) /* one function is not a mixture */
            test[n++] = lab_test_ratio(pool(r, s, value, 0, MIXED, SETUPS),
                                       pool(r, s, value, MIXED, SETUPS, SETUPS), 1, TOLERANCE);
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c = lab_claim(report, "thesis, tables 5.2-5.3 and 5.6-5.7",
                                    "One function with k salts is as good as k different "
                                    "functions.");
    lab_answer(&c->holds, &all, "", "the rate with salts, divided by that of the mixed, is 1");
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        make_table(r, report, &shapes[i]);
    const struct sigmas s = sigmas(r);
    judge_functions(r, &s, report);
    judge_seeds(r, &s, report);
    aligned_report(r, report, SETUPS);
    lab_remark(
        report,
        "Tables 5.4 and 5.8 repeat values of the others. With one unseeded function, a hundred "
        "runs on the same URLs would all give the same result; here, every run has its own salt.");
}

static void sizes(const struct lab *lab, char *text, size_t cap)
{
    (void)snprintf(text, cap, "n = %s; alignment: %s per run", num_count(lab->keys.n).s,
                   num_of(aligned_urls(lab), "URL").s);
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
    .sizes = sizes,
    .run = run,
    .report = make_report,
};
