/* lab_report.c - build the tables, figures and remarks; see lab_report.h. */
#include "lab/report/lab_report.h"
#include "tools/base/buffer.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PERCENT   100.0
#define NORMAL_95 1.959963984540054 /* 95% of a normal variable, in standard deviations */

void lab_report_init(struct lab_report *r, const struct lab_experiment *e)
{
    *r = (struct lab_report){.experiment = e};
    r->spare_table.report = r;
    r->spare_figure.report = r;
}

static void figure_free(struct lab_figure *f)
{
    for (size_t i = 0; i < f->n; i++)
        free(f->series[i].dot);
    free(f->series);
    free(f);
}

void lab_report_fini(struct lab_report *r)
{
    for (size_t i = 0; i < r->n_tables; i++) {
        free(r->table[i]->cell);
        free(r->table[i]);
    }
    for (size_t i = 0; i < r->n_figures; i++)
        figure_free(r->figure[i]);
    for (size_t i = 0; i < r->n_claims; i++)
        free(r->claim[i]);
    free(r->table);
    free(r->figure);
    free(r->remark);
    free(r->claim);
    *r = (struct lab_report){0};
}

/* Make room for one more item in an array of n; on failure, returns false and sets `failed`. */
static bool one_more(struct lab_report *r, void *array, size_t n, size_t *cap, size_t item)
{
    void *room;
    memcpy(&room, array, sizeof room);
    room = array_grow(room, cap, n + 1, item);
    if (!room) {
        r->failed = true;
        return false;
    }
    memcpy(array, &room, sizeof room);
    return true; /* cppcheck-suppress memleak ; it is in the array */
}

static void copy_text(char *to, size_t cap, const char *from)
{
    (void)snprintf(to, cap, "%s", from);
}

/* --- Tables ------------------------------------------------------------------ */

struct lab_table *lab_table(struct lab_report *r, enum lab_layout layout, const char *id,
                            const char *row_head, const char *title)
{
    size_t cap = r->n_tables;
    struct lab_table *t = calloc(1, sizeof *t);
    if (!t || !one_more(r, &r->table, r->n_tables, &cap, sizeof(struct lab_table *))) {
        r->failed = true;
        free(t);
        return &r->spare_table;
    }
    r->table[r->n_tables++] = t;
    t->report = r;
    t->layout = layout;
    t->row_head = row_head;
    copy_text(t->id, sizeof t->id, id);
    copy_text(t->title, sizeof t->title, title);
    return t;
}

void lab_caption(struct lab_table *t, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(t->caption, sizeof t->caption, fmt, args);
    va_end(args);
}

struct lab_cell *lab_cell(struct lab_table *t, const char *row, const char *column)
{
    struct lab_cell *c = &t->report->spare_cell;
    if (one_more(t->report, &t->cell, t->n, &t->cap, sizeof *t->cell))
        c = &t->cell[t->n++];
    *c = (struct lab_cell){.multiplier = NAN,
                           .mean = NAN,
                           .error = NAN,
                           .low = NAN,
                           .high = NAN,
                           .theory = NAN,
                           .theory_sigma = NAN,
                           .printed = NAN,
                           .printed_sigma = NAN,
                           .printed_theory_sigma = NAN,
                           .printed_alone_sigma = NAN,
                           .theory_test.p = NAN,
                           .printed_test.p = NAN,
                           .alone_test.p = NAN};
    copy_text(c->row, sizeof c->row, row);
    copy_text(c->column, sizeof c->column, column);
    return c;
}

void lab_note(struct lab_cell *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(c->note, sizeof c->note, fmt, args);
    va_end(args);
}

/* --- Figures ----------------------------------------------------------------- */

struct lab_figure *lab_figure(struct lab_report *r, const char *id, const char *title,
                              const char *x_label, const char *y_label, const char *caption)
{
    size_t cap = r->n_figures;
    struct lab_figure *f = calloc(1, sizeof *f);
    if (!f || !one_more(r, &r->figure, r->n_figures, &cap, sizeof(struct lab_figure *))) {
        r->failed = true;
        free(f);
        return &r->spare_figure;
    }
    r->figure[r->n_figures++] = f;
    f->report = r;
    f->x_label = x_label;
    f->y_label = y_label;
    copy_text(f->caption, sizeof f->caption, caption ? caption : "");
    copy_text(f->id, sizeof f->id, id);
    copy_text(f->title, sizeof f->title, title);
    return f;
}

void lab_figure_caption(struct lab_figure *f, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(f->caption, sizeof f->caption, fmt, args);
    va_end(args);
}

size_t lab_series(struct lab_figure *f, enum lab_style style, unsigned color, const char *fmt, ...)
{
    va_list args;
    if (!one_more(f->report, &f->series, f->n, &f->cap, sizeof *f->series))
        return f->n; /* lab_point ignores it */
    struct lab_series *s = &f->series[f->n];
    *s = (struct lab_series){.style = style, .color = color};
    va_start(args, fmt);
    (void)vsnprintf(s->name, sizeof s->name, fmt, args);
    va_end(args);
    return f->n++;
}

static bool can_show(bool log, double value)
{
    return isfinite(value) && (!log || value > 0);
}

static void add_dot(struct lab_figure *f, size_t series, struct lab_dot dot)
{
    if (series >= f->n || !can_show(f->log_x, dot.x) ||
        !can_show(f->log_y, isnan(dot.y) ? dot.high : dot.y))
        return;
    struct lab_series *s = &f->series[series];
    if (one_more(f->report, &s->dot, s->n, &s->cap, sizeof *s->dot))
        s->dot[s->n++] = dot;
}

void lab_point(struct lab_figure *f, size_t series, double x, double y)
{
    if (!isnan(y))
        add_dot(f, series, (struct lab_dot){x, y, NAN, NAN});
}

void lab_point_between(struct lab_figure *f, size_t series, double x, double y, double low,
                       double high)
{
    const bool known = isfinite(low) && isfinite(high) && low <= y && y <= high;
    if (!isnan(y))
        add_dot(f, series, (struct lab_dot){x, y, known ? low : NAN, known ? high : NAN});
}

/* A Poisson variable, times `each`. */
static void point_counted(struct lab_figure *f, size_t series, double x, double hits, double each,
                          double most)
{
    const double high = fmin(lab_poisson_high(hits) * each, most);
    if (hits == 0 && f->log_y)
        add_dot(f, series, (struct lab_dot){x, NAN, NAN, high});
    else
        lab_point_between(f, series, x, hits * each, lab_poisson_low(hits) * each, high);
}

void lab_point_rate(struct lab_figure *f, size_t series, double x, double hits, double trials)
{
    if (trials > 0 && hits >= 0)
        point_counted(f, series, x, hits, PERCENT / trials, PERCENT);
}

void lab_point_hits(struct lab_figure *f, size_t series, double x, double hits, double runs)
{
    if (runs > 0 && hits >= 0)
        point_counted(f, series, x, hits, 1 / runs, INFINITY);
}

void lab_point_cell(struct lab_figure *f, size_t series, double x, const struct lab_cell *c)
{
    if (c->trials > 0)
        lab_point_rate(f, series, x, c->count, c->trials);
    else
        lab_point_between(f, series, x, c->mean, c->mean - NORMAL_95 * c->error,
                          c->mean + NORMAL_95 * c->error);
}

/* --- Remarks ----------------------------------------------------------------- */

void lab_remark(struct lab_report *r, const char *fmt, ...)
{
    va_list args;
    size_t cap = r->n_remarks;
    if (!one_more(r, &r->remark, r->n_remarks, &cap, sizeof *r->remark))
        return;
    struct lab_remark *new = &r->remark[r->n_remarks++];
    va_start(args, fmt);
    (void)vsnprintf(new->text, sizeof new->text, fmt, args);
    va_end(args);
}

struct lab_text lab_number(double x)
{
    struct lab_text t;
    const double size = fabs(x);
    if (isnan(x))
        (void)snprintf(t.s, sizeof t.s, "-");
    else if (size >= 1000)
        (void)snprintf(t.s, sizeof t.s, "%.0f", x);
    else if (size != 0 && size < 1e-4)
        (void)snprintf(t.s, sizeof t.s, "%.2e", x);
    else
        (void)snprintf(t.s, sizeof t.s, "%.4g", x);
    return t;
}

/* --- Rates ------------------------------------------------------------------- */

#define FEW 100.0 /* expected hits: below this, use Poisson instead of normal */

/* The distance of `hits` in `runs` runs from the theory, in standard deviations. */
static double distance(double hits, double runs, const struct lab_count *c)
{
    const double expected = c->rate * c->trials * runs;
    if (expected < FEW)
        return lab_poisson_sigma(hits, expected);
    return (hits - expected) / (c->sigma * c->trials * sqrt(runs));
}

/* The value closest to the theory that rounds to the printed one: rounding is not a difference. */
static double nearest(const struct lab_printed *p, double theory)
{
    return fmin(fmax(theory, p->value - p->half), p->value + p->half);
}

/* What the paper counted, with its own number of URLs and runs. */
static struct lab_count printed_count(const struct lab_count *c, const struct lab_printed *p)
{
    const double trials = p->rows > 0 ? (double)p->rows : c->trials;
    return (struct lab_count){.hits = nearest(p, c->rate * PERCENT) / PERCENT * trials,
                              .trials = trials,
                              .runs = p->runs > 1 ? (uint32_t)p->runs : 1,
                              .rate = c->rate,
                              .sigma = c->sigma * sqrt(c->trials / trials)};
}

/* The distance between two measurements; NAN if there are too few hits to compare. */
static double between(const struct lab_count *c, const struct lab_printed *p)
{
    const struct lab_count o = printed_count(c, p);
    const double measured = c->hits / (c->trials * c->runs);
    const double printed = nearest(p, measured * PERCENT) / PERCENT;
    const double variance = c->sigma * c->sigma / c->runs + o.sigma * o.sigma / o.runs;
    const double fewest = c->rate * fmin(c->trials * c->runs, o.trials * o.runs);
    return fewest >= 10 ? (measured - printed) / sqrt(variance) : NAN;
}

void lab_cell_printed(struct lab_cell *c, const struct lab_printed *p)
{
    if (!p || !p->found)
        return;
    c->printed = p->value;
    memcpy(c->printed_text, p->text, sizeof c->printed_text);
    if (c->note[0] == '\0')
        copy_text(c->note, sizeof c->note, p->remark);
}

/* Our rate is the printed one, the average of this many runs. */
static struct lab_test test_printed(const struct lab_count *c, const struct lab_printed *p,
                                    double runs)
{
    const struct lab_count o = printed_count(c, p);
    const struct lab_rate ours = {c->hits, c->trials * c->runs, c->sigma / sqrt(c->runs)};
    return lab_test_printed(ours, p->value / PERCENT, p->half / PERCENT, o.trials * runs,
                            o.sigma / sqrt(runs), LAB_TOLERANCE);
}

static void test_rate(struct lab_cell *c, const struct lab_count *count,
                      const struct lab_printed *p)
{
    const struct lab_rate ours = {count->hits, c->trials, count->sigma / sqrt(count->runs)};
    if (!isnan(count->rate))
        c->theory_test = lab_test_rate(ours, count->rate, LAB_TOLERANCE);
    if (!p || !p->found)
        return;
    c->printed_test = test_printed(count, p, p->runs > 1 ? p->runs : 1);
    c->alone_test = test_printed(count, p, 1);
}

void lab_cell_rate(struct lab_cell *c, const struct lab_count *count, const struct lab_printed *p)
{
    const double all = count->trials * count->runs, measured = count->hits / all;
    copy_text(c->unit, sizeof c->unit, "%");
    c->runs = count->runs;
    c->trials = all;
    c->count = count->hits;
    c->mean = measured * PERCENT;
    c->low = lab_poisson_low(count->hits) / all * PERCENT;
    c->high = fmin(lab_poisson_high(count->hits) / all, 1) * PERCENT;
    c->error = sqrt(count->hits) / all * PERCENT;
    if (count->run_hits && count->runs > 1)
        c->error = lab_spread(count->run_hits, count->runs).error / count->trials * PERCENT;
    lab_cell_printed(c, p);
    test_rate(c, count, p);
    if (isnan(count->rate))
        return;
    c->theory = count->rate * PERCENT;
    c->theory_sigma = distance(count->hits, count->runs, count);
    if (!p || !p->found)
        return;
    const struct lab_count o = printed_count(count, p);
    c->printed_sigma = between(count, p);
    c->printed_theory_sigma = distance(o.hits * o.runs, o.runs, &o);
    c->printed_alone_sigma = distance(o.hits, 1, &o);
}

struct lab_count lab_counted(const struct lab_results *r, uint32_t unit, uint32_t index,
                             double trials, double rate, double sigma)
{
    return (struct lab_count){lab_sum(r, unit, index), trials, r->runs, NULL, rate, sigma};
}

void lab_cell_bloom(struct lab_cell *c, const struct lab_results *r, uint32_t unit, uint32_t index,
                    const struct lab_bloom *b, const struct lab_printed *printed)
{
    struct lab_count count =
        lab_counted(r, unit, index, b->n, lab_bloom_rate(b), lab_bloom_sigma(b));
    double *hits = malloc(r->runs * sizeof *hits);
    for (uint32_t run = 0; hits != NULL && run < r->runs; run++)
        hits[run] = lab_value(r, unit, run, index);
    count.run_hits = hits;
    c->hashes = b->k;
    c->multiplier = b->multiplier;
    lab_cell_rate(c, &count, printed);
    free(hits);
}

void lab_cell_plain(struct lab_cell *c, const char *unit, double mean, double error)
{
    copy_text(c->unit, sizeof c->unit, unit);
    c->mean = mean;
    c->error = error;
    c->runs = 1;
}
