/* lab_html.c - the report as one self-contained page: no scripts, no fonts, no other files.
 *
 * Order: the findings, one line per experiment; then each experiment with its claims, remarks,
 * figures and tables (lab_grid.c); then the papers, and what the numbers depend on.  The page fits
 * a phone (lab_style.c). */
#include "lab/engine/lab_runner.h"
#include "lab/report/lab_conditions.h"
#include "lab/report/lab_sources.h"
#include "lab/report/lab_write.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdio.h>

void lab_escape(struct out *o, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            out_text(o, "&amp;");
            break;
        case '<':
            out_text(o, "&lt;");
            break;
        case '>':
            out_text(o, "&gt;");
            break;
        case '"':
            out_text(o, "&quot;");
            break;
        default:
            out_write(o, text, 1);
        }
    }
}

void lab_element(struct out *o, const char *begin, const char *text, const char *end)
{
    out_text(o, begin);
    lab_escape(o, text);
    out_text(o, end);
}

/* --- An experiment ------------------------------------------------------------ */

static void write_figure(struct out *o, const struct lab_figure *f)
{
    lab_element(o, "<figure><figcaption>", f->title, "");
    if (f->caption[0] != '\0')
        lab_element(o, "<span>", f->caption, "</span>");
    out_text(o, "</figcaption>\n");
    lab_svg_write(o, f, false);
    out_text(o, "</figure>\n");
}

static void write_remarks(struct out *o, const struct lab_report *r)
{
    if (r->n_remarks == 0)
        return;
    out_text(o, "<ul class=\"remarks\">\n");
    for (size_t i = 0; i < r->n_remarks; i++) {
        out_text(o, "<li><span class=\"tag\">note</span>");
        lab_element(o, "", r->remark[i].text, "</li>\n");
    }
    out_text(o, "</ul>\n");
}

/* --- Claims --------------------------------------------------------------------- */

static const char *outcome_class(const struct lab_answer *a)
{
    return a->test.outcome == LAB_YES ? "z0" : a->test.outcome == LAB_NO ? "z2" : "z1";
}

static void write_answer(struct out *o, const struct lab_answer *a, uint32_t runs)
{
    if (!a->given) {
        out_text(o, "<td class=\"text none\">&ndash;</td>");
        return;
    }
    out_printf(o, "<td class=\"text answer\"><span class=\"z %s\">%s</span> ", outcome_class(a),
               lab_outcome_name(a));
    lab_element(o, "", a->text, "");
    lab_element(o, "<i>Hypothesis: ", a->hypothesis, ".</i>");
    lab_element(o, "<i>", lab_evidence(a, runs).s, "</i></td>");
}

static void write_claims(struct out *o, const struct lab_report *r, uint32_t runs)
{
    if (r->n_claims == 0)
        return;
    out_text(o, "<div class=\"wide claims\"><table><thead><tr><th>claim</th>"
                "<th>reproduced?</th><th>holds?</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_claims; i++) {
        const struct lab_claim *c = r->claim[i];
        lab_element(o, "<tr><td class=\"text\"><b>", c->where, "</b>");
        lab_element(o, "<i>", c->claim, "</i></td>");
        write_answer(o, &c->printed, runs);
        write_answer(o, &c->holds, runs);
        out_text(o, "</tr>\n");
    }
    out_text(o, "</tbody></table></div>\n");
}

static void write_experiment(struct out *o, const struct lab_report *r, uint32_t runs)
{
    const struct lab_experiment *e = r->experiment;
    out_printf(o, "<section id=\"%s\">\n", e->name);
    lab_element(o, "<h2>", e->title, "</h2>\n");
    lab_element(o, "<p class=\"dim small\"><code>", e->name, "</code> &middot; ");
    lab_element(o, "", e->reproduces, "</p>\n");
    for (const char *const *p = e->about; *p != NULL; p++)
        lab_element(o, "<p>", *p, "</p>\n");
    write_claims(o, r, runs);
    write_remarks(o, r);
    if (r->n_figures > 0)
        out_text(o, "<div class=\"figs\">\n");
    for (size_t i = 0; i < r->n_figures; i++)
        write_figure(o, r->figure[i]);
    if (r->n_figures > 0)
        out_text(o, "</div>\n");
    if (r->n_tables > 0)
        out_text(o, "<div class=\"tables\">\n");
    for (size_t i = 0; i < r->n_tables; i++)
        lab_html_table(o, r->table[i]);
    if (r->n_tables > 0)
        out_text(o, "</div>\n");
    lab_element(o, "<p class=\"small\">As CSV: <a href=\"", e->name, ".csv\">these figures</a>, ");
    lab_element(o, "<a href=\"", e->name, "-claims.csv\">these answers</a>.</p>\n");
    out_text(o, "</section>\n");
}

/* --- The page ------------------------------------------------------------------ */

static void write_tally(struct out *o, struct lab_tally t)
{
    out_text(o, "<td class=\"text tally\">");
    if (t.yes > 0)
        out_printf(o, "<span class=\"z z0\">%zu yes</span>", t.yes);
    if (t.no > 0)
        out_printf(o, "<span class=\"z z2\">%zu no</span>", t.no);
    if (t.open > 0)
        out_printf(o, "<span class=\"z z1\">%zu undecided</span>", t.open);
    out_text(o, t.yes + t.no + t.open > 0 ? "</td>" : "&ndash;</td>");
}

static void write_overview(struct out *o, const struct lab_page *p)
{
    out_text(o, "<div class=\"wide overview\"><table><thead><tr><th>experiment</th>"
                "<th>reproduced?</th><th>claims hold?</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < p->n; i++) {
        const struct lab_report *r = &p->report[i];
        lab_element(o, "<tr><th><a href=\"#", r->experiment->name, "\">");
        lab_element(o, "", r->experiment->name, "</a>");
        lab_element(o, "<i>", r->experiment->reproduces, "</i></th>");
        write_tally(o, lab_tally_printed(r));
        write_tally(o, lab_tally_holds(r));
        out_text(o, "</tr>\n");
    }
    out_text(o, "</tbody></table></div>\n");
}

/* Links to the experiments of this page that reproduce a paper. */
static void write_uses(struct out *o, const struct lab_page *p, const struct lab_source *source)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct lab_experiment *e = p->report[i].experiment;
        if (!strstr(e->reproduces, source->name))
            continue;
        lab_element(o, "<a href=\"#", e->name, "\">");
        lab_element(o, "", e->name, "</a> ");
    }
}

static void write_sources(struct out *o, const struct lab_page *p)
{
    out_text(o, "<section id=\"sources\"><h2>Sources</h2>\n<dl class=\"sources\">\n");
    for (const struct lab_source *s = lab_sources; s->name != NULL; s++) {
        lab_element(o, "<dt>", s->name, "</dt>");
        lab_element(o, "<dd>", s->author, ", ");
        lab_element(o, "<cite>", s->title, "</cite>, ");
        lab_element(o, "", s->published, ". ");
        write_uses(o, p, s);
        out_text(o, "</dd>\n");
    }
    out_text(o, "</dl></section>\n");
}

static void write_condition(void *ctx, const char *name, const char *value)
{
    struct out *o = ctx;
    lab_element(o, "<dt>", name, "</dt>");
    lab_element(o, "<dd>", value, "</dd>\n");
}

static void write_conditions(struct out *o, const struct lab_page *p)
{
    out_text(o, "<section id=\"conditions\"><h2>Conditions of this run</h2>\n<dl>\n");
    lab_conditions(p, write_condition, o);
    out_text(o, "</dl><p class=\"small\">As CSV: <a href=\"conditions.csv\">these conditions</a>, "
                "<a href=\"seeds.csv\">the seeds of all tasks</a>.</p></section>\n");
}

static void write_smaller(struct out *o, const struct lab *lab)
{
    if (lab_smaller(lab).s[0] == '\0')
        return;
    lab_element(o, "<p>A small run: ", lab_smaller(lab).s, ". ");
    out_text(o, "Answers that need more are <span class=\"z z1\">undecided</span>.</p>\n");
}

static const char opening[] =
    "<p>Published experiments on Bloom filters as URL caches, repeated: measured values, compared "
    "with the theory and with the values that the <a href=\"#sources\">papers</a> print.</p>\n"
    "<p class=\"small dim\">In the tables, <b>bold</b> is measured, <i>t</i> is theory, <i>p</i> "
    "is printed in the paper (* marks an unusual value: see the note below the table). "
    "&sigma; is the distance of the measured value from theory in standard deviations: one cell in "
    "twenty is expected beyond 2, one in sixteen thousand beyond 4. &lt; is an upper bound (95 %): "
    "there were no hits.</p>\n";

/* LAB_LEVEL, LAB_TOLERANCE. */
static const char levels[] =
    "<p class=\"small dim\">Each claim of a paper gets two answers: did this run reproduce the "
    "printed values, and does the claim hold? Both are tests of a hypothesis at the 99.9 % level. "
    "<b>no</b>: if the hypothesis were true, numbers this far off would occur in less than one of "
    "a thousand runs. <b>yes</b>: they do not contradict it, and would have shown a difference of "
    "20 %. <b>undecided</b>: too few hits to tell. A claim about many cells is one test (the level is "
    "divided by their number), so of a thousand true claims one gets a false no.</p>\n";

void lab_html_write(struct out *o, const struct lab_page *p)
{
    out_text(o, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n"
                "<title>deja lab</title>\n<style>\n");
    out_text(o, lab_html_style);
    out_text(o, lab_svg_style);
    out_text(o, "</style></head>\n<body><main>\n<h1>deja lab</h1>\n");
    out_text(o, opening);
    out_text(o, levels);
    write_smaller(o, p->lab);
    lab_element(o, "<p class=\"small dim\"><code>", p->command, "</code></p>\n");
    write_overview(o, p);
    for (size_t i = 0; i < p->n; i++)
        write_experiment(o, &p->report[i], lab_runs(p->lab, p->report[i].experiment));
    write_sources(o, p);
    write_conditions(o, p);
    out_text(o, "</main></body></html>\n");
}
