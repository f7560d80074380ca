/* lab_axis.h - an axis of a figure: its range, its ticks, and where a value is on it. */
#ifndef LAB_REPORT_LAB_AXIS_H
#define LAB_REPORT_LAB_AXIS_H
#include "lab/report/lab_report.h"

/* `low` and `high` are logarithms on a logarithmic axis. */
struct lab_axis {
    bool log;
    double low, high;
    double from, size; /* pixels; size < 0: upward */
};

/* An axis without values yet. */
struct lab_axis lab_axis(bool log, double from, double size);
/* Make room for a value. */
void lab_axis_stretch(struct lab_axis *a, double value);
/* Afterward: round the range to numbers that are easy to read. */
void lab_axis_settle(struct lab_axis *a);
/* The pixel of a value. */
double lab_axis_at(const struct lab_axis *a, double value);

struct lab_tick {
    double value;
    bool major;           /* has a number and a line across the plot */
    struct lab_text text; /* "250k", "0.5", "1e-4"; "" for minor ticks */
};
#define LAB_TICKS 128u
/* The ticks of a settled axis, at most LAB_TICKS; returns how many. */
size_t lab_axis_ticks(const struct lab_axis *a, struct lab_tick *tick);

#endif
