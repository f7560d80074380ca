/* lab_svg.c - a figure as SVG.
 *
 * Written here instead of using gnuplot: text stays text, the colors follow the reader's light or
 * dark theme, even inside the page, the output is the same on every machine, and there is nothing
 * to install.  The lab draws only lines, points and dashes on linear or logarithmic axes.
 *
 * The plot is PLOT_W x PLOT_H; the legend is below it, with as many rows as it needs. */
#include "lab/report/lab_write.h"
#include <math.h>

#define WIDTH   520.0
#define LEFT    66.0
#define RIGHT   16.0
#define TOP     14.0
#define PLOT_H  250.0
#define PLOT_W  (WIDTH - LEFT - RIGHT)
#define AXIS    54.0 /* below the plot: numbers and label */
#define ENTRY   18.0 /* a row of the legend */
#define COLUMN  150.0
#define PER_ROW 3u

const char lab_svg_style[] =
    ".fig{color-scheme:light dark;--ink:#1b1f24;--dim:#5b6570;--grid:#dfe3e8;"
    "--c0:#0b62c4;--c1:#c2410c;--c2:#15803d;--c3:#8b2fc9;--c4:#b8860b;--c5:#0e7490;--c6:#be185d;"
    "--c7:#4b5563}\n"
    "@media(prefers-color-scheme:dark){.fig{--ink:#e6e9ed;--dim:#9aa4af;--grid:#313842;"
    "--c0:#6cb2ff;--c1:#ff9a62;--c2:#62d28a;--c3:#d09bff;--c4:#e8c15a;--c5:#5fd0e6;--c6:#ff8fc0;"
    "--c7:#b6bec8}}\n"
    ".fig text{font:13px system-ui,sans-serif;fill:var(--dim)}.fig .label{fill:var(--ink)}.fig "
    ".grid{stroke:var(--grid);stroke-width:1;fill:none}.fig "
    ".frame{stroke:var(--dim);stroke-width:1;fill:none}.fig .line,.fig "
    ".dash{fill:none;stroke-width:2;stroke-linejoin:round}.fig .dash{stroke-dasharray:6 "
    "5;stroke-width:1.6}.fig .s0{stroke:var(--c0)}.fig .s1{stroke:var(--c1)}.fig "
    ".s2{stroke:var(--c2)}.fig .s3{stroke:var(--c3)}.fig .s4{stroke:var(--c4)}.fig "
    ".s5{stroke:var(--c5)}.fig .s6{stroke:var(--c6)}.fig .s7{stroke:var(--c7)}.fig "
    ".p0{fill:var(--c0)}.fig .p1{fill:var(--c1)}.fig .p2{fill:var(--c2)}.fig "
    ".p3{fill:var(--c3)}.fig .p4{fill:var(--c4)}.fig .p5{fill:var(--c5)}.fig "
    ".p6{fill:var(--c6)}.fig .p7{fill:var(--c7)}\n";

/* --- Axes ------------------------------------------------------------------- */

struct axis {
    bool log;
    double low, high;  /* in axis units: logarithms on a logarithmic axis */
    double from, size; /* pixels; size < 0: upward */
};

static double scale(const struct axis *a, double value)
{
    const double at = a->log ? log10(value) : value;
    return a->from + (at - a->low) / (a->high - a->low) * a->size;
}

static void stretch(struct axis *a, double value)
{
    const double at = a->log ? log10(value) : value;
    a->low = fmin(a->low, at);
    a->high = fmax(a->high, at);
}

/* 1, 2 or 5 times a power of ten, for about `parts` steps. */
static double step_of(const struct axis *a, double parts)
{
    const double rough = (a->high - a->low) / parts, power = pow(10, floor(log10(rough)));
    const double digits = rough / power;
    return power * (digits > 5 ? 10 : digits > 2 ? 5 : digits > 1 ? 2 : 1);
}

static void settle(struct axis *a)
{
    if (a->log) {
        a->low = floor(a->low + 1e-9);
        a->high = fmax(ceil(a->high - 1e-9), a->low + 1);
        return;
    }
    if (a->low > 0 && a->low < 0.5 * a->high)
        a->low = 0; /* an axis that starts at 0 does not exaggerate */
    if (!(a->high > a->low))
        a->high = a->low + 1;
    const double step = step_of(a, 6);
    a->low = floor(a->low / step + 1e-9) * step;
    a->high = ceil(a->high / step - 1e-9) * step;
}

static void set_axes(const struct lab_figure *f, struct axis *x, struct axis *y)
{
    *x = (struct axis){f->log_x, INFINITY, -INFINITY, LEFT, PLOT_W};
    *y = (struct axis){f->log_y, INFINITY, -INFINITY, TOP + PLOT_H, -PLOT_H};
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->series[i].n; j++) {
            stretch(x, f->series[i].x[j]);
            stretch(y, f->series[i].y[j]);
        }
    if (!(x->high >= x->low)) { /* nothing to draw */
        x->low = y->low = 0;
        x->high = y->high = 1;
    }
    settle(x);
    settle(y);
}

/* 250k, 0.5, 5e-4. */
static struct lab_text tick_text(double value)
{
    struct lab_text t;
    const double size = fabs(value);
    if (size >= 1e6)
        (void)snprintf(t.s, sizeof t.s, "%gM", value / 1e6);
    else if (size >= 1e4)
        (void)snprintf(t.s, sizeof t.s, "%gk", value / 1e3);
    else if (size > 1e-15 && size < 1e-3) {
        const double power = floor(log10(size) + 1e-9);
        (void)snprintf(t.s, sizeof t.s, "%.3ge%.0f", value / pow(10, power), power);
    } else
        (void)snprintf(t.s, sizeof t.s, "%.6g", size < 1e-15 ? 0 : value);
    return t;
}

static void tick(struct out *o, const struct axis *a, bool across, double value)
{
    const double at = scale(a, value);
    if (across) {
        out_printf(o, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, TOP, TOP + PLOT_H);
        out_printf(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", at,
                   TOP + PLOT_H + 18, tick_text(value).s);
    } else {
        out_printf(o, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, at, LEFT + PLOT_W);
        out_printf(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 7,
                   at + 4, tick_text(value).s);
    }
}

static void draw_axis(struct out *o, const struct axis *a, bool across)
{
    if (a->log) {
        const double every = a->high - a->low > 9 ? 2 : 1;
        for (double d = a->low; d <= a->high + 1e-9; d += every)
            tick(o, a, across, pow(10, d));
        return;
    }
    const double step = step_of(a, 6);
    for (int i = 0; a->low + i * step <= a->high + step * 1e-6; i++)
        tick(o, a, across, a->low + i * step);
}

static void draw_labels(struct out *o, const struct lab_figure *f)
{
    out_printf(o, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
               LEFT + PLOT_W / 2, TOP + PLOT_H + 42);
    lab_escape(o, f->x_label);
    out_printf(o,
               "</text>\n<text class=\"label\" transform=\"translate(15 %.1f) rotate(-90)\" "
               "text-anchor=\"middle\">",
               TOP + PLOT_H / 2);
    lab_escape(o, f->y_label);
    out_text(o, "</text>\n");
}

/* --- Series ------------------------------------------------------------------ */

#define COLORS 8u

static void draw_series(struct out *o, const struct lab_series *s, const struct axis *x,
                        const struct axis *y)
{
    const unsigned color = s->color % COLORS;
    if (s->style == LAB_POINTS) {
        for (size_t i = 0; i < s->n; i++)
            out_printf(o, "<circle class=\"p%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\"/>", color,
                       scale(x, s->x[i]), scale(y, s->y[i]));
        out_text(o, "\n");
        return;
    }
    if (s->n == 0)
        return;
    out_printf(o, "<path class=\"%s s%u\" d=\"", s->style == LAB_DASHES ? "dash" : "line", color);
    for (size_t i = 0; i < s->n; i++)
        out_printf(o, "%c%.1f %.1f", i == 0 ? 'M' : 'L', scale(x, s->x[i]), scale(y, s->y[i]));
    out_text(o, "\"/>\n");
}

/* The caption explains series without a name. */
static size_t legend_entries(const struct lab_figure *f)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n; i++)
        n += f->series[i].name[0] != '\0';
    return n;
}

static void draw_entry(struct out *o, const struct lab_series *s, double x, double y)
{
    const unsigned color = s->color % COLORS;
    if (s->style == LAB_POINTS)
        out_printf(o, "<circle class=\"p%u\" cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\"/>", color, x + 11,
                   y);
    else
        out_printf(o, "<path class=\"%s s%u\" d=\"M%.1f %.1fh22\"/>",
                   s->style == LAB_DASHES ? "dash" : "line", color, x, y);
    out_printf(o, "<text x=\"%.1f\" y=\"%.1f\">", x + 28, y + 4);
    lab_escape(o, s->name);
    out_text(o, "</text>\n");
}

static void draw_legend(struct out *o, const struct lab_figure *f)
{
    size_t at = 0;
    for (size_t i = 0; i < f->n; i++) {
        if (f->series[i].name[0] == '\0')
            continue;
        draw_entry(o, &f->series[i], LEFT + COLUMN * (double)(at % PER_ROW),
                   TOP + PLOT_H + AXIS + ENTRY * ((double)(at / PER_ROW) + 0.5));
        at++;
    }
}

void lab_svg_write(struct out *o, const struct lab_figure *f, bool alone)
{
    struct axis x, y;
    const double rows = (double)((legend_entries(f) + PER_ROW - 1) / PER_ROW);
    const double height = TOP + PLOT_H + AXIS + ENTRY * rows + 4;
    set_axes(f, &x, &y);
    out_printf(o, "<svg class=\"fig\" %sviewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"",
               alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", WIDTH, height);
    lab_escape(o, f->title);
    out_text(o, "\">\n");
    if (alone) {
        out_text(o, "<style>");
        out_text(o, lab_svg_style);
        out_text(o, ".back{fill:#fff}@media(prefers-color-scheme:dark){.back{fill:#14171b}}"
                    "</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n");
    }
    draw_axis(o, &x, true);
    draw_axis(o, &y, false);
    out_printf(o, "<rect class=\"frame\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n",
               LEFT, TOP, PLOT_W, PLOT_H);
    for (size_t i = 0; i < f->n; i++)
        draw_series(o, &f->series[i], &x, &y);
    draw_labels(o, f);
    draw_legend(o, f);
    out_text(o, "</svg>\n");
}
