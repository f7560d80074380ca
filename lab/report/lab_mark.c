/* lab_mark.c - the series of a figure; see lab_mark.h.
 *
 * Each mark has a title with its values, which browsers show when the reader points at it.  Lines
 * end at the bottom of the plot: on a logarithmic axis, theory goes far below what anyone can
 * measure. */
#include "lab/report/lab_mark.h"
#include "lab/report/lab_write.h"
#include <math.h>

static const char cross[] = "m0-1.9l2.1-2.1l1.9 1.9l-2.1 2.1l2.1 2.1l-1.9 1.9l-2.1-2.1l-2.1 2.1"
                            "l-1.9-1.9l2.1-2.1l-2.1-2.1l1.9-1.9z";
static const char *const shape[LAB_COLORS] = {
    "m-3.6 0a3.6 3.6 0 1 0 7.2 0a3.6 3.6 0 1 0-7.2 0z",    /* circle */
    "m-3.2-3.2h6.4v6.4h-6.4z",                             /* square */
    "m0-4.4l4.2 7.4h-8.4z",                                /* triangle */
    "m0-4.6l4.6 4.6l-4.6 4.6l-4.6-4.6z",                   /* diamond */
    "m0 4.4l4.2-7.4h-8.4z",                                /* triangle, downward */
    "m-1.5-4.4h3v2.9h2.9v3h-2.9v2.9h-3v-2.9h-2.9v-3h2.9z", /* plus */
    "m-4.2-3.8v7.6l8.4-7.6v7.6z",                          /* bow tie */
    cross,
};
#define ARROW  16.0 /* pixels */
#define CAP    3.0
#define BESIDE 7.0 /* between arrows that would cover each other */

void lab_mark_class(struct out *o, unsigned color)
{
    out_printf(o, "class=\"k%u\"", color % LAB_COLORS);
}

/* Without the end of the element: a title may follow. */
static void begin_mark(struct out *o, unsigned color, bool open, double x, double y)
{
    const unsigned form = (color + color / LAB_COLORS) % LAB_COLORS;
    out_printf(o, "<path class=\"%s\" d=\"M%.1f %.1f%s\">", open ? "open" : "mark", x, y,
               shape[form]);
}

void lab_mark(struct out *o, unsigned color, bool open, double x, double y)
{
    begin_mark(o, color, open, x, y);
    out_text(o, "</path>");
}

static void begin_arrow(struct out *o, double x, double y)
{
    out_printf(o, "<path class=\"arrow\" d=\"M%.1f %.1fh%.0fm%.0f 0v%.0fl-3-4m3 4l3-4\">", x - 4,
               y, 8.0, -4.0, ARROW);
}

void lab_mark_arrow(struct out *o, double x, double y)
{
    begin_arrow(o, x, y);
    out_text(o, "</path>");
}

void lab_mark_bar(struct out *o, double x, double low, double high)
{
    out_printf(o, "<path class=\"bar\" d=\"M%.1f %.1fh%.0fm%.0f 0V%.1fm%.0f 0h%.0f\"/>", x - CAP,
               high, 2 * CAP, -CAP, low, -CAP, 2 * CAP);
}

/* --- Lines -------------------------------------------------------------------- */

/* The pixel where the line from a to b crosses height y. */
static double crossing(const double a[2], const double b[2], double y)
{
    return a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]);
}

static void draw_line(struct out *o, const struct lab_series *s, const struct lab_axis *x,
                      const struct lab_axis *y)
{
    const double bottom = y->from;
    double last[2] = {0, INFINITY}; /* below the plot */
    bool any = false;
    for (size_t i = 0; i < s->n; i++) {
        if (isnan(s->dot[i].y))
            continue;
        const double at[2] = {lab_axis_at(x, s->dot[i].x), lab_axis_at(y, s->dot[i].y)};
        const bool was_in = last[1] <= bottom + 0.05, is_in = at[1] <= bottom + 0.05;
        if (!any && (was_in || is_in))
            out_printf(o, "<path class=\"%s\" d=\"", s->style == LAB_DASHES ? "dash" : "line");
        any |= was_in || is_in;
        if (!was_in && is_in)
            out_printf(o, "M%.1f %.1f", isinf(last[1]) ? at[0] : crossing(last, at, bottom),
                       isinf(last[1]) ? at[1] : bottom);
        if (is_in)
            out_printf(o, "L%.1f %.1f", at[0], at[1]);
        else if (was_in)
            out_printf(o, "L%.1f %.1f", crossing(last, at, bottom), bottom);
        last[0] = at[0];
        last[1] = at[1];
    }
    if (any)
        out_text(o, "\"/>");
}

/* --- Marks --------------------------------------------------------------------- */

static void write_title(struct out *o, const struct lab_series *s, const struct lab_dot *d)
{
    out_text(o, "<title>");
    lab_escape(o, s->name);
    out_text(o, s->name[0] != '\0' ? ": " : "");
    if (isnan(d->y))
        out_printf(o, "below %s", lab_number(d->high).s);
    else
        out_text(o, lab_number(d->y).s);
    if (!isnan(d->low))
        out_printf(o, " (%s to %s)", lab_number(d->low).s, lab_number(d->high).s);
    out_printf(o, " at %s</title></path>", lab_number(d->x).s);
}

/* How many series before this one have an arrow in the same place. */
static unsigned arrows_here(const struct lab_figure *f, size_t series, const struct lab_dot *d)
{
    unsigned n = 0;
    for (size_t i = 0; i < series; i++)
        for (size_t j = 0; j < f->series[i].n; j++) {
            const struct lab_dot *e = &f->series[i].dot[j];
            n += isnan(e->y) && e->x == d->x && e->high == d->high;
        }
    return n;
}

static void draw_dot(struct out *o, const struct lab_figure *f, size_t series,
                     const struct lab_dot *d, const struct lab_axis *x, const struct lab_axis *y)
{
    const struct lab_series *s = &f->series[series];
    const double at = lab_axis_at(x, d->x);
    if (isnan(d->y)) {
        const double inward = at < x->from + x->size / 2 ? BESIDE : -BESIDE;
        begin_arrow(o, at + inward * arrows_here(f, series, d), lab_axis_at(y, d->high));
    } else {
        const bool low_shown = !y->log || d->low > 0;
        if (!isnan(d->low))
            lab_mark_bar(o, at, low_shown ? fmin(lab_axis_at(y, d->low), y->from) : y->from,
                         lab_axis_at(y, d->high));
        begin_mark(o, s->color, s->style == LAB_RINGS, at, lab_axis_at(y, d->y));
    }
    write_title(o, s, d);
}

void lab_mark_series(struct out *o, const struct lab_figure *f, size_t series,
                     const struct lab_axis *x, const struct lab_axis *y)
{
    const struct lab_series *s = &f->series[series];
    if (s->n == 0)
        return;
    out_text(o, "<g ");
    lab_mark_class(o, s->color);
    out_text(o, ">");
    if (s->style == LAB_LINE || s->style == LAB_DASHES)
        draw_line(o, s, x, y);
    for (size_t i = 0; i < s->n && s->style != LAB_DASHES; i++)
        draw_dot(o, f, series, &s->dot[i], x, y);
    out_text(o, "</g>\n");
}
