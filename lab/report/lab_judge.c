/* lab_judge.c - the claim that a table of rates makes: are its values ours, and the theory's?
 *
 * "Reproduced?" compares each measured rate with the printed one, given the paper's own number of
 * queries and its rounding; "holds?" compares it with the theory.  Each is one test of all cells
 * (lab_test_family).  A printed value that is too far off is tested again: would it fit if all
 * runs of the paper had used the same salts on the same URLs?  Then a hundred runs count as one,
 * and the apparent difference is the random variation of a single run. */
#include "lab/report/lab_report.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The cells of a table that were tested against one of the two. */
struct family {
    const struct lab_cell **cell;
    struct lab_test *test;
    size_t n;
    struct lab_test all;
};

static const struct lab_test *test_of(const struct lab_cell *c, bool printed)
{
    return printed ? &c->printed_test : &c->theory_test;
}

/* False: no memory. */
static bool gather(struct family *f, const struct lab_table *t, bool printed)
{
    *f = (struct family){calloc(t->n + 1, sizeof(struct lab_cell *)),
                         calloc(t->n + 1, sizeof(struct lab_test)),
                         0,
                         {0}};
    if (!f->cell || !f->test)
        return false;
    for (size_t i = 0; i < t->n; i++) {
        if (isnan(test_of(&t->cell[i], printed)->p))
            continue;
        f->cell[f->n] = &t->cell[i];
        f->test[f->n++] = *test_of(&t->cell[i], printed);
    }
    f->all = lab_test_family(f->test, f->n);
    return true;
}

static void drop(struct family *f)
{
    free(f->cell);
    free(f->test);
}

static bool is_against(const struct family *f, size_t i)
{
    return f->test[i].p * (double)f->n < LAB_LEVEL;
}

/* "3 HF 1.7 M: measured 0.7732, printed 0.7687; ...". */
#define LISTED 6
static void list_against(struct lab_answer *a, const struct family *f, bool printed)
{
    char text[640] = "";
    size_t len = 0, listed = 0;
    for (size_t i = 0; i < f->n && listed < LISTED; i++) {
        const struct lab_cell *c = f->cell[i];
        if (!is_against(f, i))
            continue;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s%s %s: measured %s, %s %s",
                                listed++ > 0 ? "; " : "", c->row, c->column, lab_number(c->mean).s,
                                printed ? "printed" : "theory",
                                printed ? c->printed_text : lab_number(c->theory).s);
        if (len >= sizeof text)
            break;
    }
    lab_say(a, LAB_NO, "%zu of %zu cells differ. %s%s.", f->all.against, f->n, text,
            f->all.against > listed ? "; and others" : "");
}

/* Would the printed values that differ fit a single run?  Those that follow the theory better than
 * ours point at us. */
static void explain_printed(struct lab_answer *a, const struct family *f)
{
    size_t alone = 0;
    for (size_t i = 0; i < f->n; i++)
        if (is_against(f, i) && f->cell[i]->alone_test.p * (double)f->n >= LAB_LEVEL)
            alone++;
    if (alone == f->all.against)
        lab_say(a, LAB_NO,
                "All of them would fit the scatter of one run: the paper's runs probably shared "
                "their salts and URLs, and its averages are less certain than they seem.");
    else
        lab_say(a, LAB_NO, "%zu of them would fit the scatter of one run; the others do not.",
                alone);
}

/* What an answer that is not "no" is worth. */
static void add_power(struct lab_answer *a, const struct family *f)
{
    size_t silent = 0;
    for (size_t i = 0; i < f->n; i++)
        if (f->cell[i]->count == 0)
            silent++;
    lab_add_text(a, "%zu of %zu cells have enough hits to show a difference of %.0f %%.",
                 f->all.decided, f->n, 100 * LAB_TOLERANCE);
    if (silent > 0)
        lab_add_text(a, "%zu had no hit at all.", silent);
}

static void judge(struct lab_answer *a, const struct lab_table *t, bool printed)
{
    struct family f;
    if (!gather(&f, t, printed)) {
        t->report->failed = true;
    } else if (f.n > 0) {
        lab_answer(a, &f.all, "%", "in %s, the measured rate is the %s", num_of(f.n, "cell").s,
                   printed ? "printed one, given its runs and rounding" : "theoretical one");
        list_against(a, &f, printed);
        if (printed)
            explain_printed(a, &f);
        add_power(a, &f);
    }
    drop(&f);
}

struct lab_claim *lab_judge(struct lab_report *r, const struct lab_table *t, const char *where,
                            const char *fmt, ...)
{
    char text[sizeof((struct lab_claim){0}).claim];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    struct lab_claim *c = lab_claim(r, where, "%s", text);
    judge(&c->printed, t, true);
    judge(&c->holds, t, false);
    return c;
}

static bool has_rates(const struct lab_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (!isnan(t->cell[i].theory_test.p) || !isnan(t->cell[i].printed_test.p))
            return true;
    return false;
}

void lab_judge_rates(struct lab_report *r, size_t first_table, size_t n_tables)
{
    for (size_t i = first_table; i < first_table + n_tables && i < r->n_tables; i++)
        if (has_rates(r->table[i]))
            (void)lab_judge(r, r->table[i], "theory", "%s: rates are those that theory expects.",
                            r->table[i]->title);
}
