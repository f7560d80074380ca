/* exp_layered.c - the filters of the multi-layer paper: figure 3, and the counts published with it.
 *
 * A unit is one list, as long as a published one: its lines are the first ones of the lab's URLs.
 * Longer lists than the number of URLs are skipped.  One more unit queries recombined lines, the
 * site of one with the path of another: the paper's own example of what goes wrong without an XOR
 * array. */
#include "lab/engine/lab_task.h"
#include "lab/experiments/lab_layers.h"
#include "tools/base/number.h"
#include "tools/input/distinct.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECOMBINED UINT64_C(50000) /* lines of each half */

static uint32_t units(const struct lab *lab)
{
    return layers_lists(lab) + 1;
}

static uint64_t half_of(const struct lab *lab)
{
    return lab->keys.n / 4 < RECOMBINED ? lab->keys.n / 4 : RECOMBINED;
}

static void sizes_text(const struct lab *lab, char *text, size_t cap)
{
    size_t len = (size_t)snprintf(text, cap, "lists of");
    for (uint32_t u = 0; u < layers_lists(lab) && len < cap; u++)
        len += (size_t)snprintf(text + len, cap - len, "%s %s", u > 0 ? "," : "",
                                num_count(layers_rows(lab, u)).s);
    if (len < cap)
        (void)snprintf(text + len, cap - len, " lines (of the %u published ones)", LAYERS_LISTS);
}

static double weight(const struct lab *lab, uint32_t unit)
{
    return (double)(unit < layers_lists(lab) ? layers_rows(lab, unit) : 2 * half_of(lab));
}

/* --- Recombined lines ------------------------------------------------------------------ */

/* Where the path of a URL begins, or its length. */
static size_t path_of(deja_slice url)
{
    const char *text = url.data;
    const char *mark = url.len > 3 ? memchr(text, ':', url.len - 3) : NULL;
    const size_t site = mark && memcmp(mark, "://", 3) == 0 ? (size_t)(mark - text) + 3 : 0;
    const char *slash = memchr(text + site, '/', url.len - site);
    return slash ? (size_t)(slash - text) : url.len;
}

#define LONGEST 65536 /* of a recombined line; more than that is left out */
#define ROUNDS  8u    /* each combines every line with another one */

/* The first half of the list, then as many new lines made of its parts. */
static void recombine(struct lab_task *t, struct distinct *d, uint64_t half)
{
    const deja_slice *line = t->lab->keys.added;
    char *text = lab_alloc(t, LONGEST);
    for (uint64_t i = 0; i < half && t->rc == DEJA_OK; i++)
        lab_checked(t, distinct_offer(d, line[i], (size_t)(2 * half), t->err));
    for (uint64_t i = 0; i < ROUNDS * half && d->n < 2 * half && lab_going(t); i++) {
        const deja_slice a = line[i % half], b = line[(i + 7 * (i / half) + 1) % half];
        const size_t site = path_of(a), path = path_of(b);
        if (path == b.len || site + b.len - path > LONGEST)
            continue;
        memcpy(text, a.data, site);
        memcpy(text + site, (const char *)b.data + path, b.len - path);
        lab_checked(t, distinct_offer(d, (deja_slice){text, site + b.len - path},
                                      (size_t)(2 * half), t->err));
    }
}

/* All lines on one site cannot be recombined: no results then. */
static void run_recombined(struct lab_task *t)
{
    struct distinct d = {0};
    const uint64_t half = half_of(t->lab);
    recombine(t, &d, half);
    deja_slice *line = t->rc == DEJA_OK ? distinct_slices(&d, t->err) : NULL;
    if (line && d.n == 2 * half)
        lab_halves(t, &(struct lab_halves){.delimiter = '/'}, line, d.n);
    else
        lab_checked(t, line ? DEJA_OK : DEJA_ENOMEM);
    free(line);
    distinct_fini(&d);
}

static void run(struct lab_task *t)
{
    if (t->unit == layers_lists(t->lab))
        run_recombined(t);
    else
        lab_halves(t, &(struct lab_halves){.delimiter = '/'}, t->lab->keys.added,
                   layers_rows(t->lab, t->unit));
}

/* --- The paper's claims ------------------------------------------------------------------ */

/* Our rates are the printed ones, for the lists of the same length. */
static struct lab_test same_as_printed(const struct lab_results *r, uint32_t value,
                                       const char *subject)
{
    struct lab_test test[LAYERS_PUBLISHED];
    size_t n = 0;
    for (size_t i = 0; i < LAYERS_PUBLISHED; i++) {
        const struct layers_published *p = &layers_published[i];
        if (p->list >= layers_lists(r->lab) || layers_rows(r->lab, p->list) != p->rows)
            continue;
        const struct lab_printed printed = layers_printed(p, subject, "false_positive");
        struct lab_rate ours = layers_rate(r, p->list, value);
        ours.trials = (double)p->rows * r->runs;
        ours.sigma /= 2;
        test[n++] = lab_test_printed(ours, printed.value / 100, printed.half / 100,
                                     (double)p->rows * printed.runs, 0, LAB_TOLERANCE);
    }
    return lab_test_family(test, n);
}

static void judge_formula(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[LAYERS_LISTS], segments[LAYERS_LISTS];
    const uint32_t n = layers_lists(r->lab), last = n - 1;
    for (uint32_t u = 0; u < n; u++) {
        const double rate = layers_theory(r, u, HALVES_PLAIN).rate;
        test[u] = lab_test_rate(layers_rate(r, u, HALVES_PLAIN), rate, LAB_TOLERANCE);
        segments[u] = lab_test_rate(layers_rate(r, u, HALVES_ONE), rate, LAB_TOLERANCE);
    }
    const struct lab_test whole = lab_test_family(test, n), one = lab_test_family(segments, n),
                          printed = same_as_printed(r, HALVES_PLAIN, "classic");
    struct lab_claim *c = lab_claim(report, "multi-layer, analysis",
                                    "A Bloom filter of n elements reports an absent one with the "
                                    "probability (1 - e^(-k n / m))^k.");
    lab_answer(&c->printed, &printed, "%",
               "our rates, as a share of all lines, are the printed ones of lists of this length");
    lab_say(
        &c->printed, LAB_NO,
        "The printed lists are not the lab's: see the lines that occur in both halves, below.");
    lab_answer(&c->holds, &whole, "%",
               "filters of whole lines, as in the published program, have this rate");
    c = lab_claim(report, "multi-layer, Algorithms 1 and 2",
                  "The same holds for the filter of Algorithms 1 and 2, which insert the segments "
                  "of n URLs into one array.");
    lab_answer(&c->holds, &one, "%", "filters of segments have this rate, too");
    const double asked = lab_sum(r, last, HALVES_ASKED);
    lab_add_text(&c->holds,
                 "Longest list: %.3f %% of the lines are reported, %.3f %% by structure (their "
                 "segments all occur in other lines), whatever the memory. The array holds "
                 "segments instead of lines, and a line with one new segment has the rate of that "
                 "one. The published program does not use these algorithms.",
                 100 * lab_sum(r, last, HALVES_ONE) / asked,
                 100 * lab_sum(r, last, HALVES_ONE_SURE) / asked);
}

static void judge_model(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[2 * (LAYERS_LISTS + 1)];
    size_t n = 0;
    for (uint32_t u = 0; u < r->units && n + 2 <= 2 * (LAYERS_LISTS + 1); u++)
        for (uint32_t i = 0; i < 2 && lab_value(r, u, 0, HALVES_ASKED) > 0; i++) {
            const uint32_t value = i == 0 ? HALVES_ONE : HALVES_LAYERED;
            test[n++] = lab_test_rate(layers_rate(r, u, value), layers_theory(r, u, value).rate,
                                      LAB_TOLERANCE);
        }
    const struct lab_test all = lab_test_family(test, n);
    struct lab_claim *c =
        lab_claim(report, "lab, Algorithms 1 to 4",
                  "The rates follow from the number of segments in each array: structural false "
                  "positives, and a factor for each segment that is new in its array.");
    lab_answer(&c->holds, &all, "%",
               "every measured rate of Algorithms 1 to 4 is the predicted one");
}

/* "The number of false positive counts for the multi-layer filter is far less." */
static void judge_layers(const struct lab_results *r, struct lab_report *report)
{
    struct lab_test test[LAYERS_LISTS];
    const uint32_t n = layers_lists(r->lab), last = n - 1;
    const double arrays = lab_value(r, last, 0, HALVES_ARRAYS);
    for (uint32_t u = 0; u < n; u++)
        test[u] = lab_test_at_most(layers_rate(r, u, HALVES_LAYERED),
                                   0.5 * layers_theory(r, u, HALVES_PLAIN).rate);
    const struct lab_test less = lab_test_family(test, n),
                          printed = same_as_printed(r, HALVES_LAYERED, "layered"),
                          power = lab_test_rate(layers_rate(r, last, HALVES_LAYERED),
                                                pow(HALVES_RATE, arrays - 1), LAB_TOLERANCE);
    struct lab_claim *c = lab_claim(report, "multi-layer, figure 3",
                                    "The multi-layer filter has far fewer false positives than "
                                    "the Bloom filter, with bit arrays of the same size.");
    lab_answer(&c->printed, &printed, "%",
               "our rates, as a share of all lines, are the printed ones of lists of this length");
    lab_answer(&c->holds, &less, "%", "at most half as many");
    lab_add_text(&c->holds, "Longest list: %.0f of %.0f queried lines, Bloom filter %.0f.",
                 lab_sum(r, last, HALVES_LAYERED), lab_sum(r, last, HALVES_ASKED),
                 lab_sum(r, last, HALVES_PLAIN));
    c = lab_claim(report, "multi-layer, analysis",
                  "L layers have the rate (1 - e^(-k n / m))^(k L): that of one filter, to the "
                  "power of L.");
    lab_answer(&c->holds, &power, "%", "the rate of the longest list is %.2g %% (L = %.0f)",
               100 * pow(HALVES_RATE, arrays - 1), arrays - 1);
    lab_say(&c->holds, LAB_NO,
            "Layers are not independent: most sites and folders of a new line are known, so their "
            "layers say yes, and only the new segments and the XOR decide.");
}

/* "The most effective algorithm overall", although it takes more space. */
static void judge_memory(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t last = layers_lists(r->lab) - 1;
    const double arrays = lab_value(r, last, 0, HALVES_ARRAYS),
                 equal = layers_theory(r, last, HALVES_EQUAL).rate;
    const struct lab_test test = lab_test_at_most(layers_rate(r, last, HALVES_LAYERED), equal);
    struct lab_claim *c = lab_claim(report, "multi-layer, conclusion",
                                    "It takes more space, but is the most effective algorithm, "
                                    "because it has the fewest false positives.");
    lab_answer(&c->holds, &test, "%",
               "it has no more of them than a Bloom filter with the memory of its %.0f arrays",
               arrays);
    lab_add_text(
        &c->holds,
        "With %.0f bits per line, the Bloom filter had %.0f false positives in %.0f queries, "
        "the layers %.0f. deja's kind layered: %.0f, with %.1f bits per line.",
        HALVES_BITS * arrays, lab_sum(r, last, HALVES_EQUAL), lab_sum(r, last, HALVES_ASKED),
        lab_sum(r, last, HALVES_LAYERED), lab_sum(r, last, HALVES_KIND),
        lab_value(r, last, 0, HALVES_KIND_BITS));
}

/* The XOR array exists for recombined lines. */
static void judge_recombined(const struct lab_results *r, struct lab_report *report)
{
    const uint32_t u = layers_lists(r->lab);
    const struct lab_rate layered = layers_rate(r, u, HALVES_LAYERED),
                          paper = layers_rate(r, u, HALVES_PAPER);
    const struct lab_test few = lab_test_at_most(layered, 0.1),
                          fewer =
                              lab_test_at_most(layered, layers_theory(r, u, HALVES_PLAIN).rate),
                          same = lab_test_ratio(paper, layered, 1, LAB_TOLERANCE);
    const double asked = lab_sum(r, u, HALVES_ASKED);
    struct lab_claim *c =
        lab_claim(report, "multi-layer, 3",
                  "Segments of different URLs combine into a false positive, a1/b2/a3; the array "
                  "of the XOR solves this problem.");
    lab_answer(&c->holds, &few, "%", "at most a tenth of the recombined lines are reported");
    if (asked > 0)
        lab_add_text(&c->holds, "Without it, all are: %.1f %% by Algorithms 1 and 2.",
                     100 * lab_sum(r, u, HALVES_ONE) / asked);
    c = lab_claim(report, "multi-layer, figure 3",
                  "The multi-layer filter has fewer false positives than the Bloom filter, also "
                  "for recombined lines.");
    lab_answer(&c->holds, &fewer, "%", "it reports no more of them than the Bloom filter");
    lab_say(&c->holds, LAB_NO,
            "All layers say yes, so it is one array against one, and its positions are not "
            "uniform: the XOR of numbers below m is not below m, unless m is a power of two.");
    c = lab_claim(report, "deja, kind layered",
                  "deja's paper mode is the filter of Algorithms 3 and 4.");
    lab_answer(&c->holds, &same, "", "it reports recombined lines as often as the lab's model");
}

/* "Since all the elements are unique, a value in both is a false positive": then no plain filter
 * can print more than its formula. */
static void judge_repeats(struct lab_report *report)
{
    struct lab_test test[LAYERS_PUBLISHED];
    for (size_t i = 0; i < LAYERS_PUBLISHED; i++) {
        const struct layers_published *p = &layers_published[i];
        const struct lab_printed count = layers_printed(p, "classic", "false_positive_count");
        test[i] = lab_test_at_most(
            (struct lab_rate){count.value * count.runs, (double)(p->rows / 2) * count.runs, 0},
            HALVES_RATE);
    }
    const struct lab_test all = lab_test_family(test, LAYERS_PUBLISHED);
    const struct layers_published *dmoz = &layers_published[2], *films = &layers_published[7];
    const double share =
        layers_printed(dmoz, "classic", "false_positive").value - 50 * HALVES_RATE;
    struct lab_claim *c = lab_claim(report, "multi-layer, published counts",
                                    "A line that both halves report is a false positive.");
    lab_answer(&c->holds, &all, "%",
               "no printed rate of a Bloom filter, per queried line, exceeds that of its formula");
    lab_say(&c->holds, LAB_NO,
            "The excess is most likely lines that are in both halves, which every filter must "
            "report: %.2f %% of the DMOZ list, which leaves %.2f %% for the multi-layer filter, "
            "and %.2f %% of times2.",
            share, layers_printed(dmoz, "layered", "false_positive").value - share,
            layers_printed(films, "classic", "false_positive").value - 50 * HALVES_RATE);
}

static void judge_missed(const struct lab_results *r, struct lab_report *report)
{
    double missed = 0, asked = 0;
    for (uint32_t u = 0; u < r->units; u++) {
        missed += lab_sum(r, u, HALVES_MISSED);
        asked += lab_sum(r, u, HALVES_ASKED);
    }
    /* Each line is looked up in six filters that have it. */
    const struct lab_test test = lab_test_never(missed, 6 * asked);
    struct lab_claim *c =
        lab_claim(report, "multi-layer, 3", "A line that was inserted is always found.");
    lab_answer(&c->holds, &test, "%", "no filter misses a line of its own half");
}

static void make_report(const struct lab_results *r, struct lab_report *report)
{
    layers_tables(r, report);
    layers_figure(r, report);
    judge_formula(r, report);
    judge_layers(r, report);
    judge_recombined(r, report);
    judge_memory(r, report);
    judge_missed(r, report);
    judge_repeats(report);
    judge_model(r, report);
    if (layers_lists(r->lab) < LAYERS_LISTS)
        lab_remark(report,
                   "%u of the published lengths were omitted: they need up to 1,562,978 URLs "
                   "(2 n).",
                   LAYERS_LISTS - layers_lists(r->lab));
}

const struct lab_experiment exp_layered = {
    .name = "layered",
    .title = "Multi-layer Bloom filter",
    .reproduces = "multi-layer paper, Algorithms 1 to 4, figure 3 and its published results",
    .seconds = 7,
    .about =
        (const char *const[]){
            "One Bloom filter for each segment of a URL, and one more whose positions are the XOR "
            "of the segments' positions (Algorithms 3 and 4). The paper compares it with a Bloom "
            "filter. As printed (Algorithms 1 and 2), that one gets the segments as well, all in "
            "one array; in the published program, it gets whole lines. The lab runs both.",
            "A list is split into two halves, each is put into a filter, and both filters are "
            "queried for half of the lines, drawn at random: a hit in both is a false positive.",
            NULL},
    .max_runs = 20,
    .units_of = units,
    .values = HALVES_VALUES,
    .weight = weight,
    .sizes = sizes_text,
    .run = run,
    .report = make_report,
};
