/* lab_write.h - the output formats of a report: CSV, SVG, HTML. */
#ifndef LAB_REPORT_LAB_WRITE_H
#define LAB_REPORT_LAB_WRITE_H
#include "lab/report/lab_report.h"
#include "tools/base/out.h"

/* lab_csv.c: one line per cell, for all tables. */
void lab_csv_write(struct out *o, const struct lab_report *r);
/* One line per answer, with its hypothesis and test. */
void lab_csv_write_claims(struct out *o, const struct lab_report *r, uint32_t runs);

/* The conditions of a run, one per line; the seed of every task of an experiment. */
struct lab_page;
void lab_csv_write_conditions(struct out *o, const struct lab_page *p);
void lab_csv_write_seeds(struct out *o, const struct lab_page *p);

/* lab_svg.c: a figure.  A standalone figure includes its own colors, for light and dark; in a page
 * it uses the page's (which must include lab_svg_style). */
void lab_svg_write(struct out *o, const struct lab_figure *f, bool alone);
extern const char lab_svg_style[];

/* lab_html.c: everything in one self-contained page. */
struct lab_page {
    const struct lab *lab;
    const struct lab_report *report;
    size_t n;
    const char *command; /* the command that generated it */
    double seconds;
};
void lab_html_write(struct out *o, const struct lab_page *page);
/* lab_style.c: its style; lab_grid.c: a table with its title, notes and caption. */
extern const char lab_html_style[];
void lab_html_table(struct out *o, const struct lab_table *t);

/* Text between two pieces of HTML. */
void lab_element(struct out *o, const char *begin, const char *text, const char *end);
/* Escape text for HTML or SVG, also inside quotes. */
void lab_escape(struct out *o, const char *text);

#endif
