/* lab_claim.c - claims and their answers; see lab_claim.h. */
#include "lab/report/lab_claim.h"
#include "lab/report/lab_report.h"
#include "tools/base/buffer.h"
#include "tools/base/number.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Append to text of `cap` bytes: the whole addition, or as much as fits. */
static void append(char *text, size_t cap, const char *fmt, va_list args)
{
    const size_t len = strlen(text);
    (void)vsnprintf(text + len, cap - len, fmt, args);
}

static void append_text(char *text, size_t cap, const char *fmt, ...) LAB_PRINTF(3, 4);

static void append_text(char *text, size_t cap, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    append(text, cap, fmt, args);
    va_end(args);
}

static struct lab_claim *new_claim(struct lab_report *r)
{
    size_t cap = r->n_claims;
    struct lab_claim *c = calloc(1, sizeof *c);
    struct lab_claim **room = c ? array_grow(r->claim, &cap, r->n_claims + 1, sizeof *room) : NULL;
    if (!room) {
        r->failed = true;
        free(c);
        return &r->spare_claim;
    }
    r->claim = room;
    r->claim[r->n_claims++] = c;
    return c;
}

struct lab_claim *lab_claim(struct lab_report *r, const char *where, const char *fmt, ...)
{
    va_list args;
    struct lab_claim *c = new_claim(r);
    *c = (struct lab_claim){.where = ""};
    append_text(c->where, sizeof c->where, "%s", where);
    va_start(args, fmt);
    append(c->claim, sizeof c->claim, fmt, args);
    va_end(args);
    return c;
}

void lab_answer(struct lab_answer *a, const struct lab_test *test, const char *unit,
                const char *fmt, ...)
{
    va_list args;
    *a = (struct lab_answer){.given = true, .test = *test};
    append_text(a->unit, sizeof a->unit, "%s", unit);
    va_start(args, fmt);
    append(a->hypothesis, sizeof a->hypothesis, fmt, args);
    va_end(args);
}

static void say(struct lab_answer *a, const char *fmt, va_list args)
{
    if (a->text[0] != '\0')
        append_text(a->text, sizeof a->text, " ");
    append(a->text, sizeof a->text, fmt, args);
}

void lab_say(struct lab_answer *a, enum lab_outcome if_outcome, const char *fmt, ...)
{
    va_list args;
    if (!a->given || a->test.outcome != if_outcome)
        return;
    va_start(args, fmt);
    say(a, fmt, args);
    va_end(args);
}

void lab_add_text(struct lab_answer *a, const char *fmt, ...)
{
    va_list args;
    if (!a->given)
        return;
    va_start(args, fmt);
    say(a, fmt, args);
    va_end(args);
}

/* --- For people -------------------------------------------------------------------- */

const char *lab_outcome_name(const struct lab_answer *a)
{
    if (!a->given)
        return "-";
    return a->test.outcome == LAB_YES ? "yes" : a->test.outcome == LAB_NO ? "no" : "undecided";
}

/* The numbers of the test, and of a family those of its most distant cell. */
static void add_numbers(struct lab_evidence *e, const struct lab_answer *a)
{
    const struct lab_test *t = &a->test;
    const double scale = strcmp(a->unit, "%") == 0 ? 100 : 1;
    const char *space = a->unit[0] != '\0' ? " " : "";
    if (t->cells > 1)
        append_text(e->s, sizeof e->s, "%zu of %zu tests agree; the one that is furthest off: ",
                    t->cells - t->against, t->cells);
    if (isnan(t->estimate))
        return;
    append_text(e->s, sizeof e->s, "measured %s%s%s", lab_number(t->estimate * scale).s, space,
                a->unit);
    if (!isnan(t->low))
        append_text(e->s, sizeof e->s, " (99.9 %%: %s to %s)", lab_number(t->low * scale).s,
                    lab_number(t->high * scale).s);
    if (!isnan(t->expected))
        append_text(e->s, sizeof e->s, ", expected %s%s%s", lab_number(t->expected * scale).s,
                    space, a->unit);
}

static void add_p(struct lab_evidence *e, const struct lab_test *t)
{
    if (isnan(t->p))
        append_text(e->s, sizeof e->s, "%snot enough values for a test",
                    e->s[0] != '\0' ? "; " : "");
    else
        append_text(e->s, sizeof e->s, t->p < 1e-99 ? "%sp < 1e-99" : "%sp = %.2g",
                    e->s[0] != '\0' ? "; " : "", t->p);
}

struct lab_evidence lab_evidence(const struct lab_answer *a, uint32_t runs)
{
    struct lab_evidence e = {""};
    if (!a->given)
        return e;
    add_numbers(&e, a);
    add_p(&e, &a->test);
    if (a->test.outcome == LAB_OPEN && a->test.needed > 0) {
        const double needed = ceil(a->test.needed * runs);
        append_text(e.s, sizeof e.s, "; too few runs (%u): about %s would decide", runs,
                    needed < 1e6 ? num_count((uint64_t)needed).s : "a million or more");
    }
    return e;
}

static void tally(struct lab_tally *t, const struct lab_answer *a)
{
    if (!a->given)
        return;
    t->yes += a->test.outcome == LAB_YES;
    t->no += a->test.outcome == LAB_NO;
    t->open += a->test.outcome == LAB_OPEN;
}

struct lab_tally lab_tally_printed(const struct lab_report *r)
{
    struct lab_tally t = {0};
    for (size_t i = 0; i < r->n_claims; i++)
        tally(&t, &r->claim[i]->printed);
    return t;
}

struct lab_tally lab_tally_holds(const struct lab_report *r)
{
    struct lab_tally t = {0};
    for (size_t i = 0; i < r->n_claims; i++)
        tally(&t, &r->claim[i]->holds);
    return t;
}
