/* lab_report.h - the results of an experiment: tables, figures, claims, remarks.
 *
 * This is only the content; lab_csv.c, lab_svg.c and lab_html.c format it.  If memory runs out,
 * further content is dropped and `failed` is set, so experiments need not check every call. */
#ifndef LAB_REPORT_LAB_REPORT_H
#define LAB_REPORT_LAB_REPORT_H
#include "lab/engine/lab.h"
#include "lab/engine/lab_math.h"
#include "lab/report/lab_claim.h"
#include "lab/report/lab_published.h"

/* One value of a table.  NAN: there is none. */
struct lab_cell {
    char row[56], column[56]; /* labels for people */
    uint32_t filters, hashes; /* 0: does not apply */
    double multiplier;
    char unit[16];
    uint32_t runs;
    double trials;               /* total of all runs; 0: not a rate */
    double count;                /* hits among these */
    double mean, error;          /* measured; standard error */
    double low, high;            /* 95% interval */
    double theory, theory_sigma; /* expected; distance of the measured value */
    char printed_text[24];
    double printed, printed_sigma; /* the paper's value; distance of the measured value */
    double printed_theory_sigma;   /* distance of the paper's value from the theory */
    double printed_alone_sigma;    /* the same if its runs were all identical */
    /* Tests of a rate (p is NAN if it was not tested): measured equals theory, and the printed value;
     * and the latter if all runs of the paper were identical. */
    struct lab_test theory_test, printed_test, alone_test;
    char note[160];
};

enum lab_layout {
    LAB_GRID, /* rows by columns, each cell with its theory and printed value */
    LAB_LIST  /* one row per cell: measured, theory, printed, sigma, note */
};

struct lab_table {
    char id[32]; /* "5.9", or a short name of our own */
    char title[160];
    char caption[600];
    const char *row_head; /* what the rows are */
    enum lab_layout layout;
    struct lab_cell *cell;
    size_t n, cap;
    struct lab_report *report;
};

enum lab_style {
    LAB_LINE,   /* measured, and joined by a line */
    LAB_POINTS, /* measured */
    LAB_DASHES, /* theory: a line without marks */
    LAB_RINGS   /* printed in a paper: open marks */
};

/* What a series is about.  The same thing has the same color and mark in every figure. */
enum lab_color {
    LAB_COLOR_BLOOM = 0, /* one plain Bloom filter */
    LAB_COLOR_LAYERED,   /* the multi-layer filter */
    LAB_COLOR_EQUAL,     /* a plain filter with the memory of another structure */
    LAB_COLOR_KIND,      /* deja's own kind */
    LAB_COLOR_TABLE,     /* a hash table */
    LAB_COLOR_LINEAR,    /* a linear search */
    LAB_COLOR_BINARY,    /* a binary search */
    LAB_COLOR_PLAIN,     /* gray: a bound, a rule, chance */
    LAB_COLOR_QUERY = 0,
    LAB_COLOR_ADD,
    LAB_COLORS = 8 /* beyond these, colors repeat with other marks */
};
/* k hash functions, and F filters. */
#define LAB_COLOR_HASHES(k)  (((unsigned)(k) + LAB_COLORS - 3) % LAB_COLORS)
#define LAB_COLOR_FILTERS(f) (((unsigned)(f) + LAB_COLORS - 1) % LAB_COLORS)

/* A mark.  `low` and `high` are its 95% interval; NAN: none.  If nothing was hit (`y` is NAN),
 * `high` is an upper bound, drawn with an arrow. */
struct lab_dot {
    double x, y, low, high;
};

/* A series without a name has no entry in the legend; it belongs to the one of its color. */
struct lab_series {
    char name[56];
    enum lab_style style;
    unsigned color;
    struct lab_dot *dot;
    size_t n, cap;
};

struct lab_figure {
    char id[32];
    char title[160];
    char caption[600];             /* what to notice */
    const char *x_label, *y_label; /* with units */
    bool log_x, log_y;
    struct lab_series *series;
    size_t n, cap;
    struct lab_report *report;
};

/* What a reader should know about the figures.  Answers to claims are in lab_claim.h. */
struct lab_remark {
    char text[1400];
};

struct lab_report {
    const struct lab_experiment *experiment;
    struct lab_table **table;
    size_t n_tables;
    struct lab_figure **figure;
    size_t n_figures;
    struct lab_remark *remark;
    size_t n_remarks;
    struct lab_claim **claim; /* lab_claim.h */
    size_t n_claims;
    bool failed; /* out of memory */
    /* Targets for writes after memory ran out; never read. */
    struct lab_table spare_table;
    struct lab_figure spare_figure;
    struct lab_cell spare_cell;
    struct lab_claim spare_claim;
};

void lab_report_init(struct lab_report *r, const struct lab_experiment *e);
void lab_report_fini(struct lab_report *r);

struct lab_table *lab_table(struct lab_report *r, enum lab_layout layout, const char *id,
                            const char *row_head, const char *title);
void lab_caption(struct lab_table *t, const char *fmt, ...) LAB_PRINTF(2, 3);
/* A new cell, all NAN; copies the labels. */
struct lab_cell *lab_cell(struct lab_table *t, const char *row, const char *column);
void lab_note(struct lab_cell *c, const char *fmt, ...) LAB_PRINTF(2, 3);

/* The caption may be NULL or follow later; lab_figure_caption replaces it. */
struct lab_figure *lab_figure(struct lab_report *r, const char *id, const char *title,
                              const char *x_label, const char *y_label, const char *caption);
void lab_figure_caption(struct lab_figure *f, const char *fmt, ...) LAB_PRINTF(2, 3);
/* A new series of a figure; returns its number, for lab_point. */
size_t lab_series(struct lab_figure *f, enum lab_style style, unsigned color, const char *fmt, ...)
    LAB_PRINTF(4, 5);
/* Set log_x and log_y before: what an axis cannot show (NaN, or 0 on a logarithmic one) is omitted.
 */
void lab_point(struct lab_figure *f, size_t series, double x, double y);
void lab_point_between(struct lab_figure *f, size_t series, double x, double y, double low,
                       double high);
/* A rate in percent with its interval.  Without hits, it is an arrow on a logarithmic axis. */
void lab_point_rate(struct lab_figure *f, size_t series, double x, double hits, double trials);
/* The same for the mean number of hits per run. */
void lab_point_hits(struct lab_figure *f, size_t series, double x, double hits, double runs);
/* The measured value of a cell: a rate as above, or a mean with the interval of its error. */
void lab_point_cell(struct lab_figure *f, size_t series, double x, const struct lab_cell *c);

void lab_remark(struct lab_report *r, const char *fmt, ...) LAB_PRINTF(2, 3);

/* "8.794", "0.00014", "2.3e-7": as many digits as are significant. */
struct lab_text {
    char s[32];
};
struct lab_text lab_number(double x);

/* --- Rates ------------------------------------------------------------------- */

/* Counted hits: in `runs` runs of `trials` each, where theory expects `rate` with the standard
 * deviation `sigma` for one run. */
struct lab_count {
    double hits;
    double trials; /* of a run */
    uint32_t runs;
    const double *run_hits; /* hits of each run, for the standard error; may be NULL */
    double rate, sigma;
};
/* One value of a unit, in all runs of `trials` each. */
struct lab_count lab_counted(const struct lab_results *r, uint32_t unit, uint32_t index,
                             double trials, double rate, double sigma);
/* Fill a cell with a rate in percent, the theory and the printed value, which may be NULL or not
 * found. */
void lab_cell_rate(struct lab_cell *c, const struct lab_count *count,
                   const struct lab_printed *printed);
/* The same for one value of a unit, with the theory of these filters. */
void lab_cell_bloom(struct lab_cell *c, const struct lab_results *r, uint32_t unit, uint32_t index,
                    const struct lab_bloom *b, const struct lab_printed *printed);

/* A plain number: no trials, and no theory unless given. */
void lab_cell_plain(struct lab_cell *c, const char *unit, double mean, double error);
void lab_cell_printed(struct lab_cell *c, const struct lab_printed *printed);

/* Judge all cells of a table that are rates, as one claim: measured equals printed, measured equals
 * theory.  Each is one test of all cells (lab_test_family).  `fmt` is the claim. */
struct lab_claim *lab_judge(struct lab_report *r, const struct lab_table *t, const char *where,
                            const char *fmt, ...) LAB_PRINTF(4, 5);
/* The same for several tables, without the words of a paper. */
void lab_judge_rates(struct lab_report *r, size_t first_table, size_t n_tables);
#define LAB_FAR 4.0 /* standard deviations: a cell that is further off is marked */

#endif
