/* lab_svg.c - a figure as SVG.
 *
 * Written here instead of using gnuplot: text stays text, the colors follow the reader's light or
 * dark theme, even inside the page, the output is the same on every machine, and there is nothing
 * to install.  The lab draws only lines and marks (lab_mark.h) on linear or logarithmic axes
 * (lab_axis.h).
 *
 * The plot is PLOT_W x PLOT_H; the legend is below it, with as many rows as it needs, so it never
 * covers data.  The picture is narrow, so that its text is still readable at the width of a phone.
 *
 * The eight colors were chosen by a search: in light and dark, each has a contrast of 3 or more
 * with the background, and any two differ for readers with any of the three color deficiencies. */
#include "lab/report/lab_mark.h"
#include "lab/report/lab_write.h"
#include <math.h>
#include <string.h>

#define WIDTH  440.0
#define LEFT   66.0
#define RIGHT  18.0
#define TOP    14.0
#define PLOT_H 250.0
#define PLOT_W (WIDTH - LEFT - RIGHT)
#define AXIS   52.0 /* below the plot: numbers and label */
#define ENTRY  19.0 /* a row of the legend */
#define SAMPLE 28.0 /* the width of its line or mark */
#define GAP    16.0
#define LETTER 7.3 /* the width of one, about */

const char lab_svg_style[] =
    ".fig{color-scheme:light dark;--ink:#1b1f24;--dim:#5b6570;--grid:#dfe3e8;"
    "--c0:#283883;--c1:#ee6700;--c2:#029158;--c3:#aa7cc2;--c4:#754200;--c5:#2390ff;--c6:#381435;"
    "--c7:#5b6570}\n"
    "@media(prefers-color-scheme:dark){.fig{--ink:#e6e9ed;--dim:#9aa4af;--grid:#313842;"
    "--c0:#3887ff;--c1:#dd7315;--c2:#58e37b;--c3:#a24a9f;--c4:#ffd400;--c5:#f3ffeb;--c6:#d1155f;"
    "--c7:#aab4be}}\n"
    ".fig text{font:13px system-ui,sans-serif;fill:var(--dim)}.fig .label{fill:var(--ink)}.fig "
    ".grid{stroke:var(--grid);stroke-width:1;fill:none}.fig "
    ".frame,.fig .tick{stroke:var(--dim);stroke-width:1;fill:none}.fig .line,.fig "
    ".dash{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round}.fig "
    ".dash{stroke-dasharray:6 4;stroke-width:1.6}.fig .mark{fill:currentColor}.fig "
    ".open{fill:none;stroke:currentColor;stroke-width:1.5}.fig .bar,.fig "
    ".arrow{fill:none;stroke:currentColor;stroke-width:1.4}.fig .k0{color:var(--c0)}.fig "
    ".k1{color:var(--c1)}.fig .k2{color:var(--c2)}.fig .k3{color:var(--c3)}.fig "
    ".k4{color:var(--c4)}.fig .k5{color:var(--c5)}.fig .k6{color:var(--c6)}.fig "
    ".k7{color:var(--c7)}\n";

/* --- Axes ------------------------------------------------------------------- */

static void stretch_dot(struct lab_axis *x, struct lab_axis *y, const struct lab_dot *d)
{
    lab_axis_stretch(x, d->x);
    lab_axis_stretch(y, d->y);
    lab_axis_stretch(y, d->high);
    if (isnan(d->y))
        lab_axis_stretch(y, d->high / 4); /* room for the arrow */
    else if (y->log && d->low >= 0) /* a bar may leave the plot: few hits may be almost none */
        lab_axis_stretch(y, fmax(d->low, d->y / 4));
    else
        lab_axis_stretch(y, d->low);
}

/* On a logarithmic axis, theory may vanish: measured and printed values decide how far down the
 * axis goes. */
static void set_axes(const struct lab_figure *f, struct lab_axis *x, struct lab_axis *y)
{
    *x = lab_axis(f->log_x, LEFT, PLOT_W);
    *y = lab_axis(f->log_y, TOP + PLOT_H, -PLOT_H);
    struct lab_axis seen = *y;
    for (size_t i = 0; i < f->n; i++)
        for (size_t j = 0; j < f->series[i].n; j++) {
            const struct lab_series *s = &f->series[i];
            stretch_dot(x, y, &s->dot[j]);
            if (s->style != LAB_DASHES)
                stretch_dot(x, &seen, &s->dot[j]);
        }
    if (f->log_y && isfinite(seen.low))
        y->low = fmin(fmax(y->low, seen.low), y->high);
    lab_axis_settle(x);
    lab_axis_settle(y);
}

static void draw_tick(struct out *o, const struct lab_axis *a, bool across,
                      const struct lab_tick *t)
{
    const double at = lab_axis_at(a, t->value), bottom = TOP + PLOT_H;
    if (!t->major && across)
        out_printf(o, "<path class=\"tick\" d=\"M%.1f %.1fv-4\"/>", at, bottom);
    else if (!t->major)
        out_printf(o, "<path class=\"tick\" d=\"M%.1f %.1fh4\"/>", LEFT, at);
    else if (across) {
        out_printf(o, "<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>", at, TOP, bottom);
        out_printf(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%s</text>\n", at,
                   bottom + 18, t->text.s);
    } else {
        out_printf(o, "<path class=\"grid\" d=\"M%.1f %.1fH%.1f\"/>", LEFT, at, LEFT + PLOT_W);
        out_printf(o, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", LEFT - 7,
                   at + 4, t->text.s);
    }
}

static void draw_axis(struct out *o, const struct lab_axis *a, bool across)
{
    struct lab_tick tick[LAB_TICKS];
    const size_t n = lab_axis_ticks(a, tick);
    for (size_t i = 0; i < n; i++)
        draw_tick(o, a, across, &tick[i]);
    out_text(o, "\n");
}

static void draw_labels(struct out *o, const struct lab_figure *f)
{
    out_printf(o, "<text class=\"label\" x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">",
               LEFT + PLOT_W / 2, TOP + PLOT_H + 40);
    lab_escape(o, f->x_label);
    out_printf(o,
               "</text>\n<text class=\"label\" transform=\"translate(12 %.1f) rotate(-90)\" "
               "text-anchor=\"middle\">",
               TOP + PLOT_H / 2);
    lab_escape(o, f->y_label);
    out_text(o, "</text>\n");
}

/* --- Legend ------------------------------------------------------------------- */

enum sample {
    SAMPLE_LINE,
    SAMPLE_POINTS,
    SAMPLE_DASHES,
    SAMPLE_OPEN,
    SAMPLE_BAR,
    SAMPLE_ARROW
};
_Static_assert((int)SAMPLE_OPEN == (int)LAB_RINGS, "a sample for each style, in this order");

static void draw_sample(struct out *o, enum sample sample, unsigned color, double x, double y)
{
    const double middle = x + 11;
    out_text(o, "<g ");
    lab_mark_class(o, color);
    out_text(o, ">");
    if (sample == SAMPLE_LINE || sample == SAMPLE_DASHES)
        out_printf(o, "<path class=\"%s\" d=\"M%.1f %.1fh22\"/>",
                   sample == SAMPLE_DASHES ? "dash" : "line", x, y);
    if (sample == SAMPLE_BAR)
        lab_mark_bar(o, middle, y + 7, y - 7);
    if (sample == SAMPLE_ARROW)
        lab_mark_arrow(o, middle, y - 8);
    else if (sample != SAMPLE_DASHES && sample != SAMPLE_BAR)
        lab_mark(o, color, sample == SAMPLE_OPEN, middle, y);
    out_text(o, "</g>");
}

#define GRAY_CIRCLE (2 * LAB_COLORS - 1) /* the first gray after the colors repeat */

/* Where the next entry goes; `o` is NULL while the rows are counted. */
struct legend {
    struct out *o;
    double x, y;
};

static void draw_entry(struct legend *l, enum sample sample, unsigned color, const char *text)
{
    const double width = SAMPLE + LETTER * (double)strlen(text);
    if (l->x > 8 && l->x + width > WIDTH - 4) {
        l->x = 8;
        l->y += ENTRY;
    }
    if (l->o) {
        draw_sample(l->o, sample, color, l->x, l->y);
        out_printf(l->o, "<text x=\"%.1f\" y=\"%.1f\">", l->x + SAMPLE, l->y + 4);
        lab_escape(l->o, text);
        out_text(l->o, "</text>\n");
    }
    l->x += width + GAP;
}

/* What needs an explanation: series without a name, intervals and arrows. */
struct signs {
    bool dashes, open, bars, arrows;
};

static struct signs signs_of(const struct lab_figure *f)
{
    struct signs in = {0};
    for (size_t i = 0; i < f->n; i++) {
        const struct lab_series *s = &f->series[i];
        in.dashes |= s->n > 0 && s->name[0] == '\0' && s->style == LAB_DASHES;
        in.open |= s->n > 0 && s->name[0] == '\0' && s->style == LAB_RINGS;
        for (size_t j = 0; j < s->n; j++) {
            in.bars |= !isnan(s->dot[j].low);
            in.arrows |= isnan(s->dot[j].y);
        }
    }
    return in;
}

/* Returns the height of the legend. */
static double draw_legend(struct out *o, const struct lab_figure *f)
{
    const struct signs in = signs_of(f);
    const double top = TOP + PLOT_H + AXIS + ENTRY / 2;
    struct legend l = {o, 8, top};
    for (size_t i = 0; i < f->n; i++)
        if (f->series[i].name[0] != '\0' && f->series[i].n > 0)
            draw_entry(&l, (enum sample)f->series[i].style, f->series[i].color, f->series[i].name);
    if (in.dashes)
        draw_entry(&l, SAMPLE_DASHES, LAB_COLOR_PLAIN, "theory");
    if (in.open)
        draw_entry(&l, SAMPLE_OPEN, GRAY_CIRCLE, "printed");
    if (in.bars)
        draw_entry(&l, SAMPLE_BAR, LAB_COLOR_PLAIN, "95 % interval");
    if (in.arrows)
        draw_entry(&l, SAMPLE_ARROW, LAB_COLOR_PLAIN, "no hits: below this");
    return l.y - top + ENTRY;
}

/* --- Figure --------------------------------------------------------------------- */

/* For readers who cannot see the figure. */
static void describe(struct out *o, const struct lab_figure *f)
{
    const char *separator = " Series: ";
    out_text(o, "<title>");
    lab_escape(o, f->title);
    out_text(o, "</title>\n<desc>");
    lab_escape(o, f->caption);
    out_text(o, f->caption[0] != '\0' ? " " : "");
    out_text(o, "Horizontal: ");
    lab_escape(o, f->x_label);
    out_text(o, f->log_x ? ", logarithmic. Vertical: " : ". Vertical: ");
    lab_escape(o, f->y_label);
    out_text(o, f->log_y ? ", logarithmic." : ".");
    for (size_t i = 0; i < f->n; i++)
        if (f->series[i].name[0] != '\0') {
            out_text(o, separator);
            lab_escape(o, f->series[i].name);
            separator = "; ";
        }
    out_text(o, "</desc>\n");
}

void lab_svg_write(struct out *o, const struct lab_figure *f, bool alone)
{
    struct lab_axis x, y;
    const double height = TOP + PLOT_H + AXIS + draw_legend(NULL, f) + 4;
    set_axes(f, &x, &y);
    out_printf(o, "<svg class=\"fig\" %sviewBox=\"0 0 %.0f %.0f\" role=\"img\">\n",
               alone ? "xmlns=\"http://www.w3.org/2000/svg\" " : "", WIDTH, height);
    describe(o, f);
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
        lab_mark_series(o, f, i, &x, &y);
    draw_labels(o, f);
    (void)draw_legend(o, f);
    out_text(o, "</svg>\n");
}
