/* lab_html.c - the report as one self-contained page: no scripts, no fonts, no other files.
 *
 * Order: the findings, one line per experiment; then each experiment with its verdicts, figures
 * and tables; then what the figures depend on.  Light and dark follow the reader's system; wide
 * tables scroll inside their frame, so the page itself fits a phone. */
#include "bench/bench_host.h"
#include "lab/report/lab_sources.h"
#include "lab/report/lab_write.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static const char style[] =
    ":root{color-scheme:light dark;--paper:#fbfbf9;--card:#fff;--ink:#1b1f24;--dim:#5b6570;"
    "--rule:#e2e5e9;--link:#0b62c4;--good:#15803d;--bad:#b42318;--mid:#9a6700;--goodbg:#e7f6ec;"
    "--badbg:#fdeceb;--midbg:#fdf4dc;--notebg:#eef2f7}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1b1f25;--ink:#e6e9ed;"
    "--dim:#9aa4af;--rule:#313842;--link:#6cb2ff;--good:#62d28a;--bad:#ff8a80;--mid:#e8c15a;"
    "--goodbg:#173223;--badbg:#3b1d1b;--midbg:#362c12;--notebg:#232a33}}\n"
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}"
    "body{margin:0;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,-apple-system,'Segoe UI',sans-serif}"
    "main{max-width:62rem;margin:0 auto;padding:1.5rem 1rem 4rem}"
    "h1{font-size:1.9rem;line-height:1.2;margin:.5rem 0}"
    "h2{font-size:1.4rem;margin:3rem 0 .25rem;padding-top:1rem;border-top:2px solid var(--rule)}"
    "h3{font-size:1.02rem;margin:1.6rem 0 .4rem}p{margin:.5rem 0;max-width:46rem}"
    "a{color:var(--link)}code{font:.88em ui-monospace,monospace;overflow-wrap:anywhere}"
    ".dim{color:var(--dim)}.small{font-size:.86rem}"
    "ul.found{list-style:none;margin:.8rem 0;padding:0;max-width:50rem}"
    "ul.found li{margin:.45rem 0;padding:.5rem .75rem;border-left:4px solid;border-radius:4px}"
    ".agrees{background:var(--goodbg);border-color:var(--good)!important}"
    ".differs{background:var(--badbg);border-color:var(--bad)!important}"
    ".note{background:var(--notebg);border-color:var(--dim)!important}"
    ".tag{font-weight:650;margin-right:.35rem}"
    ".agrees .tag{color:var(--good)}.differs .tag{color:var(--bad)}.note .tag{color:var(--dim)}"
    ".wide{overflow-x:auto;width:fit-content;max-width:100%;border:1px solid var(--rule);"
    "border-radius:6px;background:var(--card)}"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.88rem}"
    "th,td{padding:.35rem .6rem;text-align:right;vertical-align:top;border-top:1px solid "
    "var(--rule);white-space:nowrap}"
    "thead th{border-top:0;color:var(--dim);font-weight:600}"
    "th:first-child{text-align:left;position:sticky;left:0;background:var(--card)}"
    "td.text{text-align:left;white-space:normal;min-width:12rem;color:var(--dim)}"
    "td b{font-weight:650}td i{display:block;font-style:normal;color:var(--dim);font-size:.92em}"
    ".z{display:inline-block;margin-left:.35rem;padding:0 .3rem;border-radius:3px;font-size:.85em}"
    ".z0{background:var(--goodbg);color:var(--good)}.z1{background:var(--midbg);color:var(--mid)}"
    ".z2{background:var(--badbg);color:var(--bad)}"
    ".tables{display:flex;flex-wrap:wrap;gap:0 2rem}.table{max-width:100%;min-width:0}"
    ".table>p{width:0;min-width:100%}"
    ".overview th{white-space:normal}.overview td,.overview thead th{text-align:left}"
    ".figs{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,26rem),1fr));"
    "gap:1rem;margin:1rem 0}"
    "figure{margin:0;padding:.6rem .6rem .2rem;border:1px solid var(--rule);border-radius:6px;"
    "background:var(--card)}"
    "figcaption{font-weight:600;font-size:.95rem;margin:0 .2rem .3rem}"
    "figcaption span{display:block;font-weight:400;font-size:.84rem;color:var(--dim)}"
    "svg.fig{width:100%;height:auto;display:block}"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1rem;font-size:.9rem}"
    "dt{color:var(--dim)}dd{margin:0;overflow-wrap:anywhere}"
    "th i{display:block;font-style:normal;font-weight:400;color:var(--dim)}"
    "table.grid{font-size:.82rem}table.grid td{padding:.3rem .5rem}"
    "@media(max-width:40rem){td.text{min-width:8rem}th,td{padding:.3rem .45rem}"
    "table{font-size:.82rem}h1{font-size:1.6rem}dl{grid-template-columns:1fr}"
    "dd{margin-bottom:.4rem}}\n"
    ".claims td{min-width:13rem;border-right:1px solid var(--rule);color:var(--ink)}"
    ".claims td i,.claims .z{margin:.15rem .35rem 0 0}td.tally{min-width:6rem}\n"
    "@media(max-width:40rem){.claims thead{display:none}.claims table,.claims tbody,.claims tr,"
    ".claims td{display:block;border-right:0}.claims tr+tr{border-top:3px solid var(--rule)}"
    ".claims td:nth-child(2)::before{content:'reproduced? '}"
    ".claims td:nth-child(3)::before{content:'holds? '}}\n";

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

static void element(struct out *o, const char *begin, const char *text, const char *end)
{
    out_text(o, begin);
    lab_escape(o, text);
    out_text(o, end);
}

/* --- Cells ------------------------------------------------------------------- */

static void write_sigma(struct out *o, double sigma)
{
    if (isnan(sigma))
        return;
    out_printf(o, "<span class=\"z z%d\">%+.1f&sigma;</span>",
               fabs(sigma) > LAB_FAR ? 2
               : fabs(sigma) > 2     ? 1
                                     : 0,
               sigma);
}

/* Without hits, shows an upper bound, not 0. */
static void write_measured(struct out *o, const struct lab_cell *c)
{
    if (c->trials > 0 && c->count == 0)
        out_printf(o, "<b>&lt; %.2g</b>", c->high);
    else
        out_printf(o, "<b>%s</b>", lab_number(c->mean).s);
}

static void write_grid_cell(struct out *o, const struct lab_cell *c)
{
    out_text(o, "<td>");
    write_measured(o, c);
    write_sigma(o, c->theory_sigma);
    if (!isnan(c->theory))
        out_printf(o, "<i>%s t</i>", lab_number(c->theory).s);
    if (c->printed_text[0] != '\0') {
        const bool odd = fabs(c->printed_theory_sigma) > LAB_FAR || c->note[0] != '\0';
        out_printf(o, "<i>%s p%s</i>", c->printed_text, odd ? "&thinsp;*" : "");
    }
    out_text(o, "</td>");
}

static const struct lab_cell *find_cell(const struct lab_table *t, const char *row,
                                        const char *column)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->cell[i].row, row) == 0 && strcmp(t->cell[i].column, column) == 0)
            return &t->cell[i];
    return NULL;
}

/* True if this is the first cell in its row, or in its column. */
static bool first_row(const struct lab_table *t, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(t->cell[i].row, t->cell[j].row) == 0)
            return false;
    return true;
}

static bool first_column(const struct lab_table *t, size_t i)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(t->cell[i].column, t->cell[j].column) == 0)
            return false;
    return true;
}

static void write_grid(struct out *o, const struct lab_table *t)
{
    element(o, "<table class=\"grid\"><thead><tr><th>", t->row_head, "</th>");
    for (size_t i = 0; i < t->n; i++)
        if (first_column(t, i))
            element(o, "<th>", t->cell[i].column, "</th>");
    out_text(o, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n; i++) {
        if (!first_row(t, i))
            continue;
        element(o, "<tr><th>", t->cell[i].row, "</th>");
        for (size_t j = 0; j < t->n; j++) {
            if (!first_column(t, j))
                continue;
            const struct lab_cell *c = find_cell(t, t->cell[i].row, t->cell[j].column);
            if (c)
                write_grid_cell(o, c);
            else
                out_text(o, "<td></td>");
        }
        out_text(o, "</tr>\n");
    }
    out_text(o, "</tbody></table>");
}

/* The columns of a list that are not empty. */
struct columns {
    bool error, theory, sigma, printed, note;
};

static struct columns columns_of(const struct lab_table *t)
{
    struct columns in = {0};
    for (size_t i = 0; i < t->n; i++) {
        const struct lab_cell *c = &t->cell[i];
        in.error |= c->error > 0;
        in.theory |= !isnan(c->theory);
        in.sigma |= !isnan(c->theory_sigma);
        in.printed |= c->printed_text[0] != '\0';
        in.note |= c->note[0] != '\0';
    }
    return in;
}

static void write_list_row(struct out *o, const struct lab_cell *c, const struct columns *in)
{
    element(o, "<tr><th>", c->row, "");
    element(o, "<i>", c->column, "</i></th><td>");
    write_measured(o, c);
    element(o, "</td><td>", c->unit, "</td>");
    if (in->error)
        out_printf(o, "<td>%s</td>", c->error > 0 ? lab_number(c->error).s : "");
    if (in->theory)
        out_printf(o, "<td>%s</td>", isnan(c->theory) ? "" : lab_number(c->theory).s);
    if (in->sigma) {
        out_text(o, "<td>");
        write_sigma(o, c->theory_sigma);
        out_text(o, "</td>");
    }
    if (in->printed)
        element(o, "<td>", c->printed_text, "</td>");
    if (in->note)
        element(o, "<td class=\"text\">", c->note, "</td>");
    out_text(o, "</tr>\n");
}

static void write_list(struct out *o, const struct lab_table *t)
{
    const struct columns in = columns_of(t);
    element(o, "<table><thead><tr><th>", t->row_head, "</th><th>measured</th><th>unit</th>");
    out_text(o, in.error ? "<th>&plusmn;</th>" : "");
    out_text(o, in.theory ? "<th>theory</th>" : "");
    out_text(o, in.sigma ? "<th>&sigma;</th>" : "");
    out_text(o, in.printed ? "<th>printed</th>" : "");
    out_text(o, in.note ? "<th style=\"text-align:left\">note</th>" : "");
    out_text(o, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n; i++)
        write_list_row(o, &t->cell[i], &in);
    out_text(o, "</tbody></table>");
}

/* The notes of a grid, which has no room for them; cells with the same note share a line. */
static void write_notes(struct out *o, const struct lab_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *note = t->cell[i].note;
        size_t first = 0;
        while (strcmp(t->cell[first].note, note) != 0)
            first++;
        if (note[0] == '\0' || first < i)
            continue;
        out_text(o, "<p class=\"small dim\">* ");
        for (size_t j = i; j < t->n; j++)
            if (strcmp(t->cell[j].note, note) == 0) {
                element(o, j > i ? ", " : "", t->cell[j].row, " ");
                element(o, "", t->cell[j].column, "");
            }
        element(o, ": ", note, "</p>\n");
    }
}

/* --- An experiment ------------------------------------------------------------ */

static void write_table(struct out *o, const struct lab_table *t)
{
    element(o, "<div class=\"table\"><h3>", t->title, "</h3>\n<div class=\"wide\">");
    if (t->layout == LAB_GRID)
        write_grid(o, t);
    else
        write_list(o, t);
    out_text(o, "</div>\n");
    if (t->layout == LAB_GRID)
        write_notes(o, t);
    if (t->caption[0] != '\0')
        element(o, "<p class=\"small dim\">", t->caption, "</p>\n");
    out_text(o, "</div>\n");
}

static void write_figure(struct out *o, const struct lab_figure *f)
{
    element(o, "<figure><figcaption>", f->title, "");
    if (f->caption[0] != '\0')
        element(o, "<span>", f->caption, "</span>");
    out_text(o, "</figcaption>\n");
    lab_svg_write(o, f, false);
    out_text(o, "</figure>\n");
}

static const struct {
    const char *class, *tag;
} finding[] = {
    [LAB_AGREES] = {"agrees", "agrees"},
    [LAB_DIFFERS] = {"differs", "differs"},
    [LAB_NOTE] = {"note", "note"},
};

static void write_verdicts(struct out *o, const struct lab_report *r)
{
    if (r->n_verdicts == 0)
        return;
    out_text(o, "<ul class=\"found\">\n");
    for (size_t i = 0; i < r->n_verdicts; i++) {
        const struct lab_verdict *v = &r->verdict[i];
        out_printf(o, "<li class=\"%s\"><span class=\"tag\">%s</span>", finding[v->finding].class,
                   finding[v->finding].tag);
        element(o, "", v->text, "</li>\n");
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
        out_text(o, "<td class=\"text\">&ndash;</td>");
        return;
    }
    out_printf(o, "<td class=\"text answer\"><span class=\"z %s\">%s</span> ", outcome_class(a),
               lab_outcome_name(a));
    element(o, "", a->text, "");
    element(o, "<i>Hypothesis: ", a->hypothesis, ".</i>");
    element(o, "<i>", lab_evidence(a, runs).s, "</i></td>");
}

static void write_claims(struct out *o, const struct lab_report *r, uint32_t runs)
{
    if (r->n_claims == 0)
        return;
    out_text(o, "<div class=\"wide claims\"><table><thead><tr><th>claim</th>"
                "<th>reproduced?</th><th>holds?</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < r->n_claims; i++) {
        const struct lab_claim *c = r->claim[i];
        element(o, "<tr><td class=\"text\"><b>", c->where, "</b>");
        element(o, "<i>", c->claim, "</i></td>");
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
    element(o, "<h2>", e->title, "</h2>\n");
    element(o, "<p class=\"dim small\"><code>", e->name, "</code> &middot; ");
    element(o, "", e->reproduces, "</p>\n");
    for (const char *const *p = e->about; *p != NULL; p++)
        element(o, "<p>", *p, "</p>\n");
    write_claims(o, r, e->max_runs > 0 && e->max_runs < runs ? e->max_runs : runs);
    write_verdicts(o, r);
    if (r->n_figures > 0)
        out_text(o, "<div class=\"figs\">\n");
    for (size_t i = 0; i < r->n_figures; i++)
        write_figure(o, r->figure[i]);
    if (r->n_figures > 0)
        out_text(o, "</div>\n");
    if (r->n_tables > 0)
        out_text(o, "<div class=\"tables\">\n");
    for (size_t i = 0; i < r->n_tables; i++)
        write_table(o, r->table[i]);
    if (r->n_tables > 0)
        out_text(o, "</div>\n");
    element(o, "<p class=\"small\">As CSV: <a href=\"", e->name, ".csv\">these figures</a>, ");
    element(o, "<a href=\"", e->name, "-claims.csv\">these answers</a>.</p>\n");
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
        element(o, "<tr><th><a href=\"#", r->experiment->name, "\">");
        element(o, "", r->experiment->name, "</a>");
        element(o, "<i>", r->experiment->reproduces, "</i></th>");
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
        element(o, "<a href=\"#", e->name, "\">");
        element(o, "", e->name, "</a> ");
    }
}

static void write_sources(struct out *o, const struct lab_page *p)
{
    out_text(o, "<section id=\"sources\"><h2>Sources</h2>\n<dl class=\"sources\">\n");
    for (const struct lab_source *s = lab_sources; s->name != NULL; s++) {
        element(o, "<dt>", s->name, "</dt>");
        element(o, "<dd>", s->author, ", ");
        element(o, "<cite>", s->title, "</cite>, ");
        element(o, "", s->published, ". ");
        write_uses(o, p, s);
        out_text(o, "</dd>\n");
    }
    out_text(o, "</dl></section>\n");
}

static void entry(struct out *o, const char *name, const char *fmt, ...) LAB_PRINTF(3, 4);

static void entry(struct out *o, const char *name, const char *fmt, ...)
{
    char text[768];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    element(o, "<dt>", name, "</dt>");
    element(o, "<dd>", text, "</dd>\n");
}

static void write_conditions(struct out *o, const struct lab_page *p)
{
    const struct lab *lab = p->lab;
    struct bench_host host;
    char date[32] = "";
    const time_t now = time(NULL);
    struct tm when;
    bench_host_look(&host);
    if (gmtime_r(&now, &when))
        (void)strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", &when);
    out_text(o, "<section id=\"conditions\"><h2>Conditions of this run</h2>\n<dl>\n");
    entry(o, "command", "%s", p->command);
    entry(o, "date", "%s", date);
    entry(o, "time taken", "%s, with %u thread%s", num_duration(p->seconds).s, lab->threads,
          num_plural(lab->threads));
    entry(o, "version", "deja %s, %s, %s", deja_version(), host.compiler, host.flags);
    entry(o, "machine", "%s, %s", host.cpu, host.simd);
    entry(o, "URLs", "%s inserted, %s others queried; %.1f bytes on average",
          num_count(lab->keys.n).s, num_count(lab->keys.n).s, lab->keys.mean_len);
    entry(o, "source", "%s; %s duplicate lines omitted", lab->keys.source,
          num_count(lab->keys.duplicates).s);
    entry(o, "seed", "%llu; every unit of every run derives its own salts from it",
          (unsigned long long)lab->seed);
    entry(o, "runs", "%u", lab->runs);
    out_text(o, "</dl></section>\n");
}

static const char opening[] =
    "<p>Published experiments on Bloom filters as URL caches, repeated: measured values, compared "
    "with the theory and with the values that the <a href=\"#sources\">papers</a> print.</p>\n"
    "<p class=\"small dim\">In the tables, <b>bold</b> is measured, <i>t</i> is theory, <i>p</i> "
    "is printed in the paper (* marks an unusual value: see the verdict, or the note below the table). "
    "&sigma; is the distance of the measured value from theory in standard deviations: one cell in "
    "twenty is expected beyond 2, one in sixteen thousand beyond 4. &lt; is an upper bound (95 %): "
    "there were no hits.</p>\n";

void lab_html_write(struct out *o, const struct lab_page *p)
{
    out_text(o, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                "<meta name=\"color-scheme\" content=\"light dark\">\n"
                "<link rel=\"icon\" href=\"data:,\">\n"
                "<title>deja lab</title>\n<style>\n");
    out_text(o, style);
    out_text(o, lab_svg_style);
    out_text(o, "</style></head>\n<body><main>\n<h1>deja lab</h1>\n");
    out_text(o, opening);
    write_overview(o, p);
    for (size_t i = 0; i < p->n; i++)
        write_experiment(o, &p->report[i], p->lab->runs);
    write_sources(o, p);
    write_conditions(o, p);
    out_text(o, "</main></body></html>\n");
}
