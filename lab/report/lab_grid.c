/* lab_grid.c - a table of the page: a grid (rows by columns) or a list (one row per cell). */
#include "lab/report/lab_write.h"
#include <math.h>
#include <string.h>

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
    lab_element(o, "<table class=\"grid\"><thead><tr><th>", t->row_head, "</th>");
    for (size_t i = 0; i < t->n; i++)
        if (first_column(t, i))
            lab_element(o, "<th>", t->cell[i].column, "</th>");
    out_text(o, "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < t->n; i++) {
        if (!first_row(t, i))
            continue;
        lab_element(o, "<tr><th>", t->cell[i].row, "</th>");
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
    lab_element(o, "<tr><th>", c->row, "");
    lab_element(o, "<i>", c->column, "</i></th><td>");
    write_measured(o, c);
    lab_element(o, "</td><td>", c->unit, "</td>");
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
        lab_element(o, "<td>", c->printed_text, "</td>");
    if (in->note)
        lab_element(o, "<td class=\"text\">", c->note, "</td>");
    out_text(o, "</tr>\n");
}

static void write_list(struct out *o, const struct lab_table *t)
{
    const struct columns in = columns_of(t);
    lab_element(o, "<table><thead><tr><th>", t->row_head, "</th><th>measured</th><th>unit</th>");
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
                lab_element(o, j > i ? ", " : "", t->cell[j].row, " ");
                lab_element(o, "", t->cell[j].column, "");
            }
        lab_element(o, ": ", note, "</p>\n");
    }
}

void lab_html_table(struct out *o, const struct lab_table *t)
{
    lab_element(o, "<div class=\"table\"><h3>", t->title, "</h3>\n<div class=\"wide\">");
    if (t->layout == LAB_GRID)
        write_grid(o, t);
    else
        write_list(o, t);
    out_text(o, "</div>\n");
    if (t->layout == LAB_GRID)
        write_notes(o, t);
    if (t->caption[0] != '\0')
        lab_element(o, "<p class=\"small dim\">", t->caption, "</p>\n");
    out_text(o, "</div>\n");
}
