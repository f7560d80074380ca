/* exp_split.c - Algorithm 5 on keywords: titles, one per line, split into words.
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

#define ROWS_MAX UINT64_C(200000)

enum {
    WORDS = HALVES_VALUES,
    N_VALUES
};

static uint64_t rows_of(const struct lab *lab)
{
    return 2 * lab->keys.n < ROWS_MAX ? 2 * lab->keys.n : ROWS_MAX;
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

static void run(struct lab_task *t)
{
    struct distinct d = {0};
    collect(t, &d);
    deja_slice *title = distinct_slices(&d, t->err);
    lab_checked(t, title ? DEJA_OK : DEJA_ENOMEM);
    for (size_t i = 0; t->rc == DEJA_OK && i < d.n; i++)
        t->value[WORDS] = fmax(t->value[WORDS], lab_mlbf_words(title[i], ' '));
    const struct lab_halves how = {' ', layers_for(t->value[WORDS])};
    lab_halves(t, &how, title, d.n);
    free(title);
    distinct_fini(&d);
}

/* --- Report ------------------------------------------------------------------------------ */

static void add_row(const struct lab_results *r, struct lab_table *t, const char *label,
                    uint32_t value, double arrays, const char *note)
{
    const struct lab_bloom b = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), arrays);
    const struct lab_count count =
        lab_counted(r, 0, value, b.n, value == HALVES_LAYERED ? NAN : lab_bloom_rate(&b),
                    lab_halves_sigma(&b));
    struct lab_cell *c = lab_cell(t, label, "false positives");
    lab_note(c, "%s", note);
    lab_cell_rate(c, &count, NULL);
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    char note[80];
    const double arrays = lab_value(r, 0, 0, HALVES_ARRAYS), words = lab_value(r, 0, 0, WORDS),
                 asked = lab_value(r, 0, 0, HALVES_ASKED) * r->runs,
                 plain = lab_sum(r, 0, HALVES_PLAIN), layered = lab_sum(r, 0, HALVES_LAYERED),
                 equal = lab_sum(r, 0, HALVES_EQUAL);
    const struct lab_bloom same = lab_halves_plain(lab_value(r, 0, 0, HALVES_ASKED), arrays);
    struct lab_table *t =
        lab_table(report, LAB_LIST, "split", "filter",
                  "Algorithm 5: titles that both halves report, % of those queried");
    lab_caption(t, "%.0f titles, up to %.0f words; %.0f layers and the array of the XOR.",
                (double)rows_of(r->lab), words, arrays - 1);
    add_row(r, t, "Bloom filter, p = 0.05", HALVES_PLAIN, 1,
            "6.2352 bits per title of its half, k = 4");
    (void)snprintf(note, sizeof note, "%.0f arrays of that size", arrays);
    add_row(r, t, "multi-layer, words in turn", HALVES_LAYERED, arrays, note);
    add_row(r, t, "Bloom filter, equal memory", HALVES_EQUAL, arrays,
            "the same memory in one filter");
    lab_judge_rates(report, 0, 1);
    if (layers_for(words) > LAB_MLBF_LAYERS)
        lab_verdict(report, LAB_NOTE,
                    "A title of %.0f words would need %u layers; the lab uses at most %u.", words,
                    layers_for(words), LAB_MLBF_LAYERS);
    lab_verdict(report, layered < plain ? LAB_AGREES : LAB_DIFFERS,
                "As the report expects, the layers reduce false positives: %.3f %% instead of "
                "%.2f %%, with %.0f times the memory.",
                100 * layered / asked, 100 * plain / asked, arrays);
    lab_verdict(
        report, equal <= layered ? LAB_DIFFERS : LAB_AGREES,
        "The reason is not \"far less memory\": one plain filter with the memory of all layers "
        "has %.0f false positives in %.0f queries (theory: %.1e), the layers %.0f.",
        equal, asked, lab_bloom_rate(&same), layered);
    lab_verdict(report, LAB_NOTE,
                "The report prints no rates to compare with; its precision \"by 15 to 30 %%\" is "
                "an expectation.");
}

const struct lab_experiment exp_split = {
    .name = "split",
    .title = "Keywords in layers",
    .reproduces = "keyword-search report, Algorithm 5",
    .seconds = 8.5,
    .about =
        (const char *const[]){
            "A list of titles is split into halves, each half goes into a filter, and both are "
            "queried for half of the titles. The words of a title go to the layers in turn. Titles "
            "are the lines of --urls FILE, or a column of it with --csv NAME; without a file they "
            "are words of generated URLs.",
            NULL},
    .units = 1,
    .values = N_VALUES,
    .run = run,
    .report = make_report,
};
