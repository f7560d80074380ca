/* lab_mark.h - the series of a figure as SVG: lines, marks, intervals, arrows. */
#ifndef LAB_REPORT_LAB_MARK_H
#define LAB_REPORT_LAB_MARK_H
#include "lab/report/lab_axis.h"
#include "tools/base/out.h"

/* Marks differ in color and in shape, so a figure can be read without colors. */
void lab_mark(struct out *o, unsigned color, bool open, double x, double y);
void lab_mark_arrow(struct out *o, double x, double y);
void lab_mark_bar(struct out *o, double x, double low, double high);
/* The class that sets a series' color. */
void lab_mark_class(struct out *o, unsigned color);

/* A whole series, inside its axes. */
void lab_mark_series(struct out *o, const struct lab_figure *f, size_t series,
                     const struct lab_axis *x, const struct lab_axis *y);

#endif
