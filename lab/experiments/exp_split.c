/* exp_split.c - Algorithm 5 on keywords: titles, one per line, split into words; and what was
 * published about headlines.
 *
 * Words go to the layers in turn.  The number of layers is the number of words in the longest
 * title divided by the number of hash functions, but at most LAB_MLBF_LAYERS.  Titles come from
 * --urls FILE (with --csv COLUMN, from a table).  Lines without a space, such as URLs, are split
 * into words at every character that is neither a letter nor a digit. */
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/engine/lab_task.h"
#include "lab/report/lab_report.h"
#include "tools/base/number.h"
#include "tools/input/distinct.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX   UINT64_C(200000)
#define ROWS_QUICK UINT64_C(50000) /* with --quick, and for each k */

#define K_MIN 2u /* the conference report compares k = 2 to 7 */
#define K_MAX 7u
#define KS    (K_MAX - K_MIN + 1)

/* The values: unit 0 is Algorithm 5, unit 1 the Bloom and the multi-layer filter for each k. */
enum {
    WORDS = HALVES_VALUES,
    N_VALUES,
    K_PLAIN = 0,
    K_LAYERED = K_PLAIN + KS,
    K_ASKED = K_LAYERED + KS
};

static uint64_t rows_of(const struct lab *lab)
{
    const uint64_t most = lab->quick ? ROWS_QUICK : ROWS_MAX;
    return 2 * lab->keys.n < most ? 2 * lab->keys.n : most;
}

static void sizes(const struct lab *lab, char *text, size_t cap)
{
    (void)snprintf(text, cap, "%s titles", num_count(rows_of(lab)).s);
}

/* --- Titles -------------------------------------------------------------------------- */

/* A line as words with one space between them. */
static size_t make_title(deja_slice line, char *out)
{
    const char *text = line.data;
    const bool words = memchr(text, ' ', line.len);
    size_t len = 0;
    for (size_t i = 0; i < line.len; i++) {
        const unsigned char c = (unsigned char)text[i];
        const bool blank = words ? c == ' ' : !isalnum(c) && c < 128;
        if (!blank)
            out[len++] = text[i];
        else if (len > 0 && out[len - 1] != ' ')
            out[len++] = ' ';
    }
    return len > 0 && out[len - 1] == ' ' ? len - 1 : len;
}

/* Distinct titles: different URLs may have the same words. */
static void collect(struct lab_task *t, struct distinct *d)
{
    const struct lab_keys *k = &t->lab->keys;
    const uint64_t rows = rows_of(t->lab);
    size_t longest = 0;
    for (uint64_t i = 0; i < 2 * k->n; i++)
        longest = k->added[i].len > longest ? k->added[i].len : longest;
    char *title = lab_alloc(t, longest + 1);
    for (uint64_t i = 0; t->rc == DEJA_OK && i < 2 * k->n && d->n < rows; i++)
        lab_checked(t, distinct_offer(d, (deja_slice){title, make_title(k->added[i], title)},
                                      (size_t)rows, t->err));
    if (d->n < LAB_KEYS_MIN) /* for example, lines of punctuation only */
        lab_failed(t, DEJA_EINVAL,
                   "%s has %s different titles; split needs %d lines with different words",
                   k->source, num_count(d->n).s, LAB_KEYS_MIN);
}

/* Algorithm 5: the words of the longest title divided by the number of hash functions. */
static uint32_t layers_for(double words)
{
    return words > HALVES_K ? (uint32_t)((fmin(words, UINT32_MAX) + HALVES_K - 1) / HALVES_K) : 1;
}

static void run_each_k(struct lab_task *t, uint32_t layers, const deja_slice *title, uint64_t rows)
{
    const struct lab_mlbf_how line = {LAB_MLBF_LINE, ' ', 0},
                              layered = {LAB_MLBF_LAYERED, ' ', layers};
    t->value[K_ASKED] = (double)(rows / 2);
    for (uint32_t k = K_MIN; k <= K_MAX && lab_going(t); k++) {
        t->value[K_PLAIN + k - K_MIN] = lab_halves_both(t, &line, k, title, rows);
        t->value[K_LAYERED + k - K_MIN] = lab_halves_both(t, &layered, k, title, rows);
    }
}

static void run(struct lab_task *t)
{
    struct distinct d = {0};
    double words = 0;
    collect(t, &d);
    deja_slice *title = distinct_slices(&d, t->err);
    lab_checked(t, title ? DEJA_OK : DEJA_ENOMEM);
    for (size_t i = 0; t->rc == DEJA_OK && i < d.n; i++)
        words = fmax(words, lab_mlbf_words(title[i], ' '));
    if (t->rc == DEJA_OK && t->unit == 0)
        lab_halves(t, &(struct lab_halves){' ', layers_for(words)}, title, d.n);
    else if (t->rc == DEJA_OK)
        run_each_k(t, layers_for(words), title, d.n < ROWS_QUICK ? d.n : ROWS_QUICK);
    if (t->unit == 0)
        t->value[WORDS] = words;
    free(title);
    distinct_fini(&d);
}

/* --- Report: Algorithm 5 ------------------------------------------------------------- */

static struct lab_rate rate_of(const struct lab_results *r, uint32_t value)
{
    return (struct lab_rate){lab_sum(r, 0, value), lab_sum(r, 0, HALVES_ASKED), 0};
}

static void add_row(const struct lab_results *r, struct lab_table *t, const char *label,
                    uint32_t value, double rate, double sigma, const char *note)
{
    const struct lab_count count =
        lab_counted(r, 0, value, lab_value(r, 0, 0, HALVES_ASKED), rate, sigma);
    struct lab_cell *c = lab_cell(t, label, "false positives");
    lab_note(c, "%s", note);
    lab_cell_rate(c, &count, NULL);
}

/* A filter of whole titles. */
static void add_plain(const struct lab_results *r, struct lab_table *t, const char *label,
                      uint32_t value, double arrays, const char *note)
{
    const struct lab_bloom b = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), arrays);
    add_row(r, t, label, value, lab_bloom_rate(&b), lab_halves_sigma(&b), note);
}

/* A filter of words, as the model predicts. */
static void add_words(const struct lab_results *r, struct lab_table *t, const char *label,
                      uint32_t value, uint32_t model)
{
    char note[120];
    const double asked = lab_value(r, 0, 0, HALVES_ASKED);
    (void)snprintf(note, sizeof note, "structural, whatever the memory: %s %%",
                   lab_number(100 * lab_mean(r, 0, model) / asked).s);
    add_row(r, t, label, value, (lab_mean(r, 0, model) + lab_mean(r, 0, model + 1)) / asked,
            sqrt(lab_mean(r, 0, model + 2)) / asked, note);
}

static void make_algorithm(const struct lab_results *r, struct lab_report *report)
{
    char note[80];
    const double arrays = lab_value(r, 0, 0, HALVES_ARRAYS);
    struct lab_table *t =
        lab_table(report, LAB_LIST, "split", "filter",
                  "Algorithm 5: titles that both halves report, % of those queried");
    lab_caption(t, "%.0f titles, up to %.0f words; %.0f layers and the array of the XOR.",
                2 * lab_value(r, 0, 0, HALVES_ASKED), lab_value(r, 0, 0, WORDS), arrays - 1);
    add_plain(r, t, "Bloom, whole titles (program)", HALVES_PLAIN, 1,
              "6.2352 bits per title of its half, k = 4");
    add_words(r, t, "Bloom, words (Alg. 1, 2)", HALVES_ONE, HALVES_ONE_SURE);
    add_words(r, t, "multi-layer, words in turn", HALVES_LAYERED, HALVES_LAYERED_SURE);
    (void)snprintf(note, sizeof note, "the memory of all %.0f arrays in one filter", arrays);
    add_plain(r, t, "Bloom, equal memory", HALVES_EQUAL, arrays, note);
    (void)snprintf(note, sizeof note, "p = 0.05; %.1f bits per title",
                   lab_value(r, 0, 0, HALVES_KIND_BITS));
    add_row(r, t, "kind layered, --words", HALVES_KIND, NAN, NAN, note);
    (void)snprintf(note, sizeof note, "the report's k and m; %.1f bits per title",
                   lab_value(r, 0, 0, HALVES_PAPER_BITS));
    add_row(r, t, "kind layered, paper mode, --words", HALVES_PAPER, NAN, NAN, note);
}

/* --- Report: what was published about headlines ------------------------------------------ */

static struct lab_printed printed_of(const char *table, const char *subject, const char *quantity,
                                     uint32_t k)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = table,
                                                   .subject = subject,
                                                   .quantity = quantity,
                                                   .hashes = k});
}

static void make_headlines(struct lab_report *report)
{
    static const char *const table[] = {"RPCLOUD1", "RPCLOUD2"},
                             *const subject[] = {"classic", "layered", "cuckoo"},
                             *const name[] = {"Bloom filter", "multi-layer", "cuckoo filter"};
    char row[56];
    struct lab_table *t = lab_table(report, LAB_LIST, "headlines", "file and filter",
                                    "Published: headlines in both filters");
    lab_caption(t, "%% of all lines, of which half were queried. The lists are not public, so the "
                   "lab cannot repeat the measurement.");
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t count = 0; count < 2; count++) {
                const struct lab_printed p = printed_of(
                    table[i], subject[j], count ? "false_positive_count" : "false_positive", 0);
                if (!p.found)
                    continue;
                (void)snprintf(row, sizeof row, "%s, %s", table[i], name[j]);
                struct lab_cell *c = lab_cell(t, row, count ? "lines" : "share of all lines");
                lab_cell_plain(c, count ? "lines" : "%", NAN, NAN);
                c->runs = 0;
                lab_cell_printed(c, &p);
                lab_note(c, "%.0f lines, %.0f queried", (double)p.rows, (double)(p.rows / 2));
            }
}

/* The rate of a filter of the report with k functions. */
static struct lab_bloom bloom_of(const struct lab_results *r, uint32_t k)
{
    return (struct lab_bloom){lab_value(r, 1, 0, K_ASKED), k, 1, HALVES_BITS / k, false};
}

static struct lab_rate rate_by_k(const struct lab_results *r, uint32_t first, uint32_t k)
{
    const struct lab_bloom b = bloom_of(r, k);
    return (struct lab_rate){lab_sum(r, 1, first + k - K_MIN), lab_sum(r, 1, K_ASKED),
                             first == K_PLAIN ? lab_halves_sigma(&b) / sqrt(r->runs) : 0};
}

static void make_probability(const struct lab_results *r, struct lab_report *report)
{
    char row[16];
    struct lab_table *t = lab_table(report, LAB_GRID, "report table 1", "functions",
                                    "Conference report, table 1: false positives by k, %");
    lab_caption(t, "6.2352 bits per title of its half. The report prints probabilities, not "
                   "percentages; it gives no rates of the multi-layer filter.");
    for (uint32_t k = K_MIN; k <= K_MAX; k++) {
        const struct lab_bloom b = bloom_of(r, k);
        const struct lab_printed p =
            printed_of("report table 1", "classic", "false_positive_probability", k);
        struct lab_count count =
            lab_counted(r, 1, K_PLAIN + k - K_MIN, b.n, lab_bloom_rate(&b), lab_halves_sigma(&b));
        (void)snprintf(row, sizeof row, "k = %u", k);
        struct lab_cell *c = lab_cell(t, row, "Bloom filter");
        c->hashes = k;
        lab_cell_rate(c, &count, NULL);
        struct lab_printed percent = p;
        percent.value *= 100;
        (void)snprintf(percent.text, sizeof percent.text, "%.6f", percent.value);
        lab_cell_printed(c, &percent);
        count = lab_counted(r, 1, K_LAYERED + k - K_MIN, b.n, NAN, NAN);
        lab_cell_rate(lab_cell(t, row, "multi-layer"), &count, NULL);
    }
}

/* The share of wrong answers among all positive ones, if half of the queried titles are known. */
static double precision(const struct lab_results *r, uint32_t first, uint32_t k)
{
    const double rate = rate_by_k(r, first, k).hits / lab_sum(r, 1, K_ASKED);
    return 1 / (1 + rate);
}

static void make_precision(const struct lab_results *r, struct lab_report *report)
{
    char row[16];
    struct lab_table *t = lab_table(report, LAB_LIST, "report table 2", "functions",
                                    "Conference report, table 2: precision, %");
    lab_caption(t, "Correct answers among the positive ones. The report does not say of which "
                   "queries; ours: each queried title is in one of the two filters.");
    for (uint32_t k = K_MIN; k <= K_MAX; k++)
        for (uint32_t layered = 0; layered < 2; layered++) {
            const char *subject = layered ? "layered" : "classic";
            const struct lab_printed p = printed_of("report table 2", subject, "precision", k),
                                     four = printed_of("report table 2", subject, "precision", 4);
            (void)snprintf(row, sizeof row, "k = %u", k);
            struct lab_cell *c = lab_cell(t, row, layered ? "multi-layer" : "Bloom filter");
            c->hashes = k;
            lab_cell_plain(c, "%", 100 * precision(r, layered ? K_LAYERED : K_PLAIN, k), NAN);
            c->runs = r->runs;
            lab_cell_printed(c, &p);
            lab_note(c, "printed wrong answers: %.3f times those of k = 4",
                     (100 - p.value) / (100 - four.value));
        }
}

/* --- Claims ------------------------------------------------------------------------------------ */

static void judge_probability(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test rate[KS];
    double wrong = 0;
    for (uint32_t k = K_MIN; k <= K_MAX; k++) {
        const struct lab_bloom b = bloom_of(r, k);
        const struct lab_printed p =
            printed_of("report table 1", "classic", "false_positive_probability", k);
        rate[k - K_MIN] = lab_test_rate(rate_by_k(r, K_PLAIN, k), p.value, LAB_TOLERANCE);
        wrong += !(fabs(lab_bloom_rate(&b) / p.value - 1) < 1e-4);
    }
    const struct lab_test all = lab_test_family(rate, KS), formula = lab_test_never(wrong, KS);
    struct lab_claim *c = lab_claim(report, "conference report, table 1",
                                    "A filter with k = 2 to 7 functions has the rate "
                                    "(1 - e^(-k / 6.2352))^k.");
    lab_answer(&c->printed, &formula, "", "each printed value is that of the formula");
    lab_answer(&c->holds, &all, "%", "the measured rates are the printed ones");
}

/* "Improve the precision by 15 to 30 %": a ratio of precisions. */
static void judge_precision(const struct lab_results *r, struct lab_report *report)
{
    double gain[KS], cut[KS], printed_gain = 0;
    for (uint32_t k = K_MIN; k <= K_MAX; k++) {
        const double plain = printed_of("report table 2", "classic", "precision", k).value,
                     layered = printed_of("report table 2", "layered", "precision", k).value;
        gain[k - K_MIN] = 100 * (precision(r, K_LAYERED, k) / precision(r, K_PLAIN, k) - 1);
        cut[k - K_MIN] = 100 * (1 - (100 - layered) / (100 - plain));
        printed_gain = fmax(printed_gain, 100 * (layered / plain - 1));
    }
    const struct lab_estimate measured = lab_sample(gain, KS);
    const struct lab_test test = lab_test_more(measured, 15);
    struct lab_claim *c = lab_claim(report, "keyword-search report, 8",
                                    "The layers improve the precision by 15 to 30 %%.");
    lab_answer(&c->holds, &test, "", "the precision is at least 15 %% better, mean of k = 2 to 7");
    lab_add_text(&c->holds,
                 "In table 2 of the conference report, precision improves by %.3f %% at most; the "
                 "number of wrong answers falls by %.0f %% on average.",
                 printed_gain, lab_sample(cut, KS).value);
}

static void judge_layers(const struct lab_results *r, struct lab_report *report)
{
    const double arrays = lab_value(r, 0, 0, HALVES_ARRAYS);
    const struct lab_bloom plain = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), 1),
                           equal = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), arrays);
    const struct lab_rate layered = rate_of(r, HALVES_LAYERED);
    const struct lab_test fewer = lab_test_at_most(layered, lab_bloom_rate(&plain)),
                          memory = lab_test_at_most(layered, lab_bloom_rate(&equal));
    struct lab_claim *c = lab_claim(report, "keyword-search report, 8",
                                    "The layers reduce false positives to a greater extent than "
                                    "any traditional approach.");
    lab_answer(&c->holds, &fewer, "%",
               "fewer than in a Bloom filter with arrays of the same size");
    lab_add_text(&c->holds, "With %.0f times the memory: %.0f of %.0f titles, Bloom filter %.0f.",
                 arrays, layered.hits, layered.trials, lab_sum(r, 0, HALVES_PLAIN));
    c = lab_claim(report, "keyword-search report, 8",
                  "The memory of this approach is far less than that of any traditional one.");
    lab_answer(&c->holds, &memory, "%",
               "it has no more false positives than a Bloom filter of the same memory");
    lab_add_text(&c->holds, "That one had %.0f.", lab_sum(r, 0, HALVES_EQUAL));
}

static void judge_words(const struct lab_results *r, struct lab_report *report)
{
    const double asked = lab_mean(r, 0, HALVES_ASKED);
    const struct {
        uint32_t value, model;
    } rule[] = {{HALVES_ONE, HALVES_ONE_SURE}, {HALVES_LAYERED, HALVES_LAYERED_SURE}};
    struct lab_test test[2];
    for (size_t i = 0; i < 2; i++) {
        struct lab_rate rate = rate_of(r, rule[i].value);
        rate.sigma = sqrt(lab_mean(r, 0, rule[i].model + 2) / r->runs) / asked;
        test[i] = lab_test_rate(
            rate, (lab_mean(r, 0, rule[i].model) + lab_mean(r, 0, rule[i].model + 1)) / asked,
            LAB_TOLERANCE);
    }
    const struct lab_test both = lab_test_family(test, 2);
    struct lab_claim *c =
        lab_claim(report, "lab, Algorithms 1 to 4",
                  "The rates follow from the number of words in each array, and from the titles "
                  "whose words all occur in others.");
    lab_answer(&c->holds, &both, "%", "both measured rates are the predicted ones");
    /* Each title is looked up in six filters that have it. */
    const struct lab_test never =
        lab_test_never(lab_sum(r, 0, HALVES_MISSED), 6 * lab_sum(r, 0, HALVES_ASKED));
    c = lab_claim(report, "keyword-search report, 3",
                  "A title that was inserted is always found.");
    lab_answer(&c->holds, &never, "%", "no filter misses a title of its own half");
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    const double words = lab_value(r, 0, 0, WORDS);
    make_algorithm(r, report);
    make_headlines(report);
    make_probability(r, report);
    make_precision(r, report);
    judge_layers(r, report);
    judge_words(r, report);
    judge_probability(r, report);
    judge_precision(r, report);
    if (layers_for(words) > LAB_MLBF_LAYERS)
        lab_remark(report, "A title of %.0f words would need %u layers; the lab uses at most %u.",
                   words, layers_for(words), LAB_MLBF_LAYERS);
}

const struct lab_experiment exp_split = {
    .name = "split",
    .title = "Keywords in layers",
    .reproduces = "keyword-search report, Algorithm 5; conference report, tables 1 and 2",
    .seconds = 3,
    .about =
        (const char *const[]){
            "A list of titles is split into halves, each half goes into a filter, and both are "
            "queried for half of the titles. The words of a title go to the layers in turn. Titles "
            "are the lines of --urls FILE, or a column of it with --csv NAME; without a file they "
            "are words of generated URLs.",
            "The conference report was published with the multi-layer paper's program, which it "
            "applies to headlines.",
            NULL},
    .max_runs = 20,
    .units = 2,
    .values = N_VALUES,
    .sizes = sizes,
    .run = run,
    .report = make_report,
};
