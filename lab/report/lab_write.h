/* lab_write.h - the forms of a report: CSV, SVG, HTML. */
#ifndef LAB_REPORT_LAB_WRITE_H
#define LAB_REPORT_LAB_WRITE_H
#include "lab/report/lab_report.h"
#include "tools/base/out.h"

/* lab_csv.c: one line a cell, of all tables. */
void lab_csv_write(struct out *o, const struct lab_report *r);

/* lab_svg.c: a figure.  Alone it brings its own colours, for light and dark; in a page it takes
 * the page's (lab_svg_style has to be in it). */
void lab_svg_write(struct out *o, const struct lab_figure *f, bool alone);
extern const char lab_svg_style[];

/* lab_html.c: everything in one page that needs nothing else. */
struct lab_page {
    const struct lab *lab;
    const struct lab_report *report;
    size_t n;
    const char *command; /* that made it */
    double seconds;
};
void lab_html_write(struct out *o, const struct lab_page *page);
/* Text of HTML or SVG, also within quotes. */
void lab_escape(struct out *o, const char *text);

#endif
