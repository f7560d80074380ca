/* lab_judge.c - do rates agree?  Verdicts that follow from the figures alone.
 *
 * A measured rate agrees with the theory if it is less than LAB_FAR standard deviations off; so
 * does a printed one, whose standard deviation follows from the paper's own number of queries.  A
 * printed rate that does not agree is listed and tested again: would it agree if all runs of the
 * paper had used the same salts on the same URLs?  Then a hundred runs count as one, and the
 * apparent difference is the random variation of a single run. */
#include "lab/report/lab_report.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct tally {
    size_t cells, far;
    double largest; /* largest distance of a measured rate from theory */
    size_t printed, printed_far, as_one_run;
    size_t compared, apart; /* measured and printed, compared directly */
    size_t silent;          /* cells without any hits */
    char list[800];         /* printed values that are far from theory */
    char apart_list[400];   /* and those near theory but far from measured */
};

static void append(char *list, size_t cap, const char *fmt, ...) LAB_PRINTF(3, 4);

static void append(char *list, size_t cap, const char *fmt, ...)
{
    va_list args;
    const size_t len = strlen(list);
    va_start(args, fmt);
    const int n = vsnprintf(list + len, cap - len, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= cap - len)
        list[len] = '\0'; /* whole entries or nothing */
}

static void name_cell(struct tally *s, const struct lab_table *t, const struct lab_cell *c)
{
    append(s->list, sizeof s->list, "%s%s, %s %s: prints %s, theory %s, %.1f sigma",
           s->list[0] == '\0' ? "" : "; ", t->id, c->row, c->column, c->printed_text,
           lab_number(c->theory).s, c->printed_theory_sigma);
}

static void count_printed(struct tally *s, const struct lab_table *t, const struct lab_cell *c)
{
    if (isnan(c->printed_theory_sigma))
        return;
    s->printed++;
    if (fabs(c->printed_theory_sigma) > LAB_FAR) {
        s->printed_far++;
        s->as_one_run += fabs(c->printed_alone_sigma) <= LAB_FAR;
        name_cell(s, t, c);
    } else if (!isnan(c->printed_sigma)) {
        s->compared++;
        if (fabs(c->printed_sigma) > LAB_FAR) {
            s->apart++;
            append(s->apart_list, sizeof s->apart_list,
                   "%s%s, %s %s: prints %s, %.1f sigma off theory, measured %s",
                   s->apart_list[0] == '\0' ? "; the others: " : "; ", t->id, c->row, c->column,
                   c->printed_text, c->printed_theory_sigma, lab_number(c->mean).s);
        }
    }
}

static void count_table(struct tally *s, const struct lab_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct lab_cell *c = &t->cell[i];
        if (isnan(c->theory_sigma))
            continue;
        s->cells++;
        s->far += fabs(c->theory_sigma) > LAB_FAR;
        s->silent += c->count == 0;
        s->largest = fmax(s->largest, fabs(c->theory_sigma));
        count_printed(s, t, c);
    }
}

static void judge_theory(struct lab_report *r, const struct tally *s)
{
    if (s->far == 0)
        lab_verdict(
            r, LAB_AGREES,
            "Measured values agree with theory in all %zu cells; the largest difference is "
            "%.1f sigma.",
            s->cells, s->largest);
    else
        lab_verdict(
            r, LAB_DIFFERS,
            "Measured values differ from theory by more than %.0f sigma in %zu of %zu cells; the "
            "largest difference is %.1f sigma. Chance alone would give %.2g such cells: repeat "
            "with more --runs, or with another --seed, to find out.",
            LAB_FAR, s->far, s->cells, s->largest, (double)s->cells * erfc(LAB_FAR / sqrt(2)));
    if (s->silent > 0)
        lab_verdict(r, LAB_NOTE,
                    "%zu of %zu cells had no hit: these runs cannot distinguish such a rate from "
                    "zero. The tables show the upper bound (95 %%); more --runs lower it.",
                    s->silent, s->cells);
}

static void judge_printed(struct lab_report *r, const struct tally *s)
{
    if (s->printed == 0)
        return;
    lab_verdict(
        r, s->apart > 0 ? LAB_DIFFERS : LAB_AGREES,
        "Printed values agree with theory within %.0f sigma in %zu of %zu cells; of these, %zu "
        "have enough hits to be compared with ours directly, and %zu are within %.0f sigma%s.",
        LAB_FAR, s->printed - s->printed_far, s->printed, s->compared, s->compared - s->apart,
        LAB_FAR, s->apart > 0 ? s->apart_list : "");
    if (s->printed_far == 0)
        return;
    lab_verdict(
        r, LAB_DIFFERS, "%zu printed value%s from theory: %s. %s", s->printed_far,
        s->printed_far == 1 ? " differs" : "s differ", s->list,
        s->as_one_run == s->printed_far
            ? "All of them would fit the scatter of one run instead of a hundred: the paper's "
              "runs most likely shared their salts and URLs, so its averages are less certain "
              "than a hundred runs suggest."
            : "Some of them do not even fit the scatter of one run; no explanation was found.");
}

void lab_judge_rates(struct lab_report *r, size_t first_table, size_t n_tables)
{
    struct tally s = {0};
    for (size_t i = first_table; i < first_table + n_tables && i < r->n_tables; i++)
        count_table(&s, r->table[i]);
    if (s.cells == 0)
        return;
    judge_theory(r, &s);
    judge_printed(r, &s);
}
