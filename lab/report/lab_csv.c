/* lab_csv.c - a report as tidy CSV: one line per measured value, the same columns for all; and in
 * a second file, one line per answer. */
#include "lab/engine/lab_runner.h"
#include "lab/report/lab_claim.h"
#include "lab/report/lab_conditions.h"
#include "lab/report/lab_write.h"
#include "tools/base/number.h"
#include <math.h>

static const char head[] =
    "experiment,table,row,column,filters,hashes,multiplier,unit,runs,trials,hits,mean,"
    "standard_error,low,high,theory,sigma_theory,published,sigma_published,"
    "published_sigma_theory,note\n";

static void text(struct out *o, const char *s)
{
    if (!strpbrk(s, ",\"\n")) {
        out_text(o, s);
        return;
    }
    out_text(o, "\"");
    for (; *s != '\0'; s++)
        out_printf(o, *s == '"' ? "\"%c" : "%c", *s);
    out_text(o, "\"");
}

static void real(struct out *o, double x)
{
    if (!isnan(x))
        out_text(o, num_exact(x).s);
    out_text(o, ",");
}

static void sigma(struct out *o, double x)
{
    if (!isnan(x))
        out_printf(o, "%.3f", x);
    out_text(o, ",");
}

static void whole(struct out *o, uint32_t n)
{
    if (n > 0)
        out_printf(o, "%u", n);
    out_text(o, ",");
}

static void write_cell(struct out *o, const char *name, const struct lab_table *t,
                       const struct lab_cell *c)
{
    out_printf(o, "%s,%s,", name, t->id);
    text(o, c->row);
    out_text(o, ",");
    text(o, c->column);
    out_text(o, ",");
    whole(o, c->filters);
    whole(o, c->hashes);
    real(o, c->multiplier);
    out_printf(o, "%s,", c->unit);
    whole(o, c->runs);
    real(o, c->trials > 0 ? c->trials : NAN);
    real(o, c->trials > 0 ? c->count : NAN);
    real(o, c->mean);
    real(o, c->error);
    real(o, c->low);
    real(o, c->high);
    real(o, c->theory);
    sigma(o, c->theory_sigma);
    out_printf(o, "%s,", c->printed_text);
    sigma(o, c->printed_sigma);
    sigma(o, c->printed_theory_sigma);
    text(o, c->note);
    out_text(o, "\n");
}

void lab_csv_write(struct out *o, const struct lab_report *r)
{
    out_text(o, head);
    for (size_t i = 0; i < r->n_tables; i++)
        for (size_t j = 0; j < r->table[i]->n; j++)
            write_cell(o, r->experiment->name, r->table[i], &r->table[i]->cell[j]);
}

/* --- Claims --------------------------------------------------------------------- */

static const char claims_head[] =
    "experiment,where,claim,question,hypothesis,answer,unit,estimate,low,high,expected,p,level,"
    "cells,against,runs,runs_needed,text\n";

static void write_answer(struct out *o, const struct lab_report *r, const struct lab_claim *c,
                         const char *question, const struct lab_answer *a, uint32_t runs)
{
    const double scale = strcmp(a->unit, "%") == 0 ? 100 : 1;
    const struct lab_test *t = &a->test;
    if (!a->given)
        return;
    out_printf(o, "%s,", r->experiment->name);
    text(o, c->where);
    out_text(o, ",");
    text(o, c->claim);
    out_printf(o, ",%s,", question);
    text(o, a->hypothesis);
    out_printf(o, ",%s,%s,", lab_outcome_name(a), a->unit);
    real(o, t->estimate * scale);
    real(o, t->low * scale);
    real(o, t->high * scale);
    real(o, t->expected * scale);
    real(o, t->p);
    real(o, LAB_LEVEL);
    whole(o, (uint32_t)t->cells);
    out_printf(o, t->cells > 0 ? "%zu," : ",", t->against);
    whole(o, runs);
    real(o, t->needed > 0 ? ceil(t->needed * runs) : NAN);
    text(o, a->text);
    out_text(o, "\n");
}

void lab_csv_write_claims(struct out *o, const struct lab_report *r, uint32_t runs)
{
    out_text(o, claims_head);
    for (size_t i = 0; i < r->n_claims; i++) {
        write_answer(o, r, r->claim[i], "reproduced", &r->claim[i]->printed, runs);
        write_answer(o, r, r->claim[i], "holds", &r->claim[i]->holds, runs);
    }
}

/* --- Conditions ------------------------------------------------------------------ */

static void write_condition(void *ctx, const char *name, const char *value)
{
    struct out *o = ctx;
    text(o, name);
    out_text(o, ",");
    text(o, value);
    out_text(o, "\n");
}

void lab_csv_write_conditions(struct out *o, const struct lab_page *p)
{
    out_text(o, "condition,value\n");
    lab_conditions(p, write_condition, o);
}

void lab_csv_write_seeds(struct out *o, const struct lab_page *p)
{
    out_text(o, "experiment,unit,run,seed\n");
    for (size_t i = 0; i < p->n; i++) {
        const struct lab_experiment *e = p->report[i].experiment;
        for (uint32_t run = 0; run < lab_runs(p->lab, e); run++)
            for (uint32_t unit = 0; unit < lab_units(p->lab, e); unit++)
                out_printf(o, "%s,%u,%u,%llu\n", e->name, unit, run,
                           (unsigned long long)lab_seed(p->lab, e->name, unit, run));
    }
}
