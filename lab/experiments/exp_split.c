/* exp_split.c - Algorithm 5 on keywords: titles, one per line, split into words.
 *
 * Words go to the layers in turn.  The number of layers is the number of words in the longest
 * title divided by the number of hash functions, but at most LAB_MLBF_LAYERS.  Titles come from
 * --urls FILE (with --csv COLUMN, from a table).  Lines without a space, such as URLs, are split
 * into words at every character that is neither a letter nor a digit. */
#include "lab/engine/lab_halves.h"
#include "lab/engine/lab_keys.h"
#include "lab/engine/lab_mlbf.h"
#include "lab/report/lab_report.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX UINT64_C(200000)

enum {
    WORDS = HALVES_VALUES,
    N_VALUES
};

static uint64_t rows_of(const struct lab *lab)
{
    return 2 * lab->keys.n < ROWS_MAX ? 2 * lab->keys.n : ROWS_MAX;
}

static uint32_t units(const struct lab *lab)
{
    (void)lab;
    return 1;
}

static uint32_t values(const struct lab *lab, uint32_t unit)
{
    (void)lab, (void)unit;
    return N_VALUES;
}

static double cost(const struct lab *lab, uint32_t unit)
{
    (void)unit;
    return 40.0 * (double)rows_of(lab);
}

/* --- Titles -------------------------------------------------------------------------- */

struct titles {
    deja_slice *line;
    char *bytes;
    uint64_t n;
    uint32_t longest; /* words */
};

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
static int make_titles(const struct lab *lab, struct titles *t, deja_error *err)
{
    const uint64_t rows = rows_of(lab), most = 2 * lab->keys.n;
    deja_options opt = DEJA_OPTIONS_INIT;
    deja_filter *known = NULL;
    size_t room = 1, used = 0;
    *t = (struct titles){0};
    for (uint64_t i = 0; i < most; i++)
        room += lab->keys.added[i].len;
    t->line = malloc((rows + 1) * sizeof *t->line);
    t->bytes = malloc(room);
    if (!t->line || !t->bytes)
        return fail(err, DEJA_ENOMEM, "no memory for the titles");
    opt.kind = DEJA_EXACT;
    opt.capacity = rows + 1;
    opt.seed = 1;
    int rc = deja_filter_new(&opt, &known, err);
    for (uint64_t i = 0; rc == DEJA_OK && i < most && t->n < rows; i++) {
        const deja_slice title = {t->bytes + used,
                                  make_title(lab->keys.added[i], t->bytes + used)};
        bool is_new = false;
        rc = deja_filter_add(known, title, &is_new, err);
        if (!is_new)
            continue;
        t->line[t->n++] = title;
        used += title.len;
        const uint32_t words = lab_mlbf_words(title, ' ');
        t->longest = words > t->longest ? words : t->longest;
    }
    deja_filter_free(known);
    if (rc == DEJA_OK && t->n < LAB_KEYS_MIN) /* for example, lines of punctuation only */
        rc = fail(err, DEJA_EINVAL,
                  "%s has %s different titles; split needs %d lines with different words",
                  lab->keys.source, num_count(t->n).s, LAB_KEYS_MIN);
    return rc;
}

/* Algorithm 5: the words of the longest title divided by the number of hash functions. */
static uint32_t layers_for(double words)
{
    return words > HALVES_K ? (uint32_t)((fmin(words, UINT32_MAX) + HALVES_K - 1) / HALVES_K) : 1;
}

static int run(const struct lab *lab, const struct lab_task *task, double *value, deja_error *err)
{
    struct titles t;
    int rc = make_titles(lab, &t, err);
    const struct lab_halves how = {' ', layers_for(t.longest)};
    if (rc == DEJA_OK)
        rc = lab_halves(lab, &how, t.line, t.n, task->seed, value, err);
    value[WORDS] = t.longest;
    free(t.line);
    free(t.bytes);
    return rc;
}

/* --- Report ------------------------------------------------------------------------------ */

static void add_row(const struct lab_results *r, struct lab_table *t, const char *label,
                    uint32_t value, double arrays, const char *note)
{
    const double asked = lab_value(r, 0, 0, HALVES_ASKED);
    const struct lab_bloom b = lab_halves_plain(asked, arrays);
    const struct lab_count count = {.hits = lab_sum(r, 0, value),
                                    .trials = asked,
                                    .runs = r->runs,
                                    .rate = value == HALVES_LAYERED ? NAN : lab_bloom_rate(&b),
                                    .sigma = lab_halves_sigma(&b)};
    struct lab_cell *c = lab_cell(t, label, "false positives");
    (void)snprintf(c->note, sizeof c->note, "%s", note);
    lab_cell_rate(c, &count, &(struct lab_printed){0});
}

static int make_report(const struct lab *lab, const struct lab_results *r,
                       struct lab_report *report, deja_error *err)
{
    (void)err;
    char note[80];
    const double arrays = lab_value(r, 0, 0, HALVES_ARRAYS),
                 asked = lab_value(r, 0, 0, HALVES_ASKED) * r->runs;
    struct lab_table *t =
        lab_table(report, LAB_LIST, "split", "filter",
                  "Algorithm 5: titles that both halves claim, % of those asked");
    lab_caption(t, "%.0f titles, up to %.0f words; %.0f layers and the one of the XOR.",
                (double)rows_of(lab), lab_value(r, 0, 0, WORDS), arrays - 1);
    add_row(r, t, "Bloom filter, p = 0.05", HALVES_PLAIN, 1,
            "6.2352 bits a title of its half, k = 4");
    (void)snprintf(note, sizeof note, "%.0f arrays of that size", arrays);
    add_row(r, t, "multi-layer, words in turn", HALVES_LAYERED, arrays, note);
    add_row(r, t, "Bloom filter, equal memory", HALVES_EQUAL, arrays,
            "the same memory in one filter");
    lab_judge_rates(report, 0, 1);
    if (layers_for(lab_value(r, 0, 0, WORDS)) > LAB_MLBF_LAYERS)
        lab_verdict(report, LAB_NOTE,
                    "A title of %.0f words would need %u layers; the lab uses at most %u.",
                    lab_value(r, 0, 0, WORDS), layers_for(lab_value(r, 0, 0, WORDS)),
                    LAB_MLBF_LAYERS);
    const double layered = lab_sum(r, 0, HALVES_LAYERED), equal = lab_sum(r, 0, HALVES_EQUAL);
    const struct lab_bloom same = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), arrays);
    lab_verdict(report, layered < lab_sum(r, 0, HALVES_PLAIN) ? LAB_AGREES : LAB_DIFFERS,
                "As the report expects, the layers lower the false positives: %.3f %% instead of "
                "%.2f %%, with %.0f times the memory.",
                100 * layered / asked, 100 * lab_sum(r, 0, HALVES_PLAIN) / asked, arrays);
    lab_verdict(
        report, equal <= layered ? LAB_DIFFERS : LAB_AGREES,
        "\"Far less memory\" is not what does it: one plain filter with the memory of all "
        "layers has %.0f false positives in %.0f questions (theory: %.1e), the layers %.0f.",
        equal, asked, lab_bloom_rate(&same), layered);
    lab_verdict(
        report, LAB_NOTE,
        "The report prints no rates to compare with; its precision \"by 15 to 30 %%\" is an "
        "expectation.");
    return DEJA_OK;
}

const struct lab_experiment exp_split = {
    .name = "split",
    .title = "Keywords in layers",
    .reproduces = "keyword-search report, Algorithm 5",
    .seconds = 8.5,
    .about = (const char *const[]){"A list of titles is cut into halves, each goes into a filter, "
                                   "and half of the titles is asked of both. The words of a title "
                                   "go to the layers in turn. Titles are the lines of --urls "
                                   "FILE, or with --csv NAME a column of it; without a file they "
                                   "are words of made-up URLs.",
                                   NULL},
    .units = units,
    .values = values,
    .cost = cost,
    .run = run,
    .report = make_report,
};
