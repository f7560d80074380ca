/* lab_published.c - the values that the papers print; see lab_published.h.
 *
 * The file has no quotes and a few hundred lines: lines are split at commas, and each search
 * starts at the top. */
#include "lab/report/lab_published.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SOURCE,
    TABLE,
    SUBJECT,
    APPROACH,
    FILTERS,
    HASHES,
    MULTIPLIER,
    ROWS,
    QUANTITY,
    UNIT,
    VALUE,
    RUNS,
    REMARK,
    N_FIELDS
};

struct field {
    char text[80];
};

/* Split the line that starts at `at` into fields; returns where the next one starts. */
static size_t read_line(deja_slice csv, size_t at, struct field *field)
{
    const char *text = csv.data;
    size_t column = 0, len = 0;
    memset(field, 0, N_FIELDS * sizeof *field);
    for (; at < csv.len && text[at] != '\n'; at++) {
        const char c = text[at];
        if (c == ',' && column + 1 < N_FIELDS) {
            column++;
            len = 0;
        } else if (len + 1 < sizeof field->text) {
            field[column].text[len++] = c;
        }
    }
    return at + 1;
}

static bool is(const struct field *f, const char *wanted)
{
    return !wanted || strcmp(f->text, wanted) == 0;
}

static bool is_number(const struct field *f, double wanted)
{
    return wanted == 0 || fabs(strtod(f->text, NULL) - wanted) < 1e-9;
}

static bool fits(const struct field *f, const struct lab_printed_query *q)
{
    return is(&f[SOURCE], q->source) && is(&f[TABLE], q->table) && is(&f[SUBJECT], q->subject) &&
           is(&f[QUANTITY], q->quantity) && is(&f[APPROACH], q->approach) &&
           is_number(&f[FILTERS], q->filters) && is_number(&f[HASHES], q->hashes) &&
           is_number(&f[MULTIPLIER], q->multiplier) && is_number(&f[ROWS], (double)q->rows);
}

static double half_digit(const char *text)
{
    const char *dot = strchr(text, '.');
    return 0.5 * pow(10, dot != NULL ? -(double)strlen(dot + 1) : 0);
}

struct lab_printed lab_printed_in(deja_slice csv, const struct lab_printed_query *q)
{
    struct lab_printed p = {.value = NAN};
    struct field f[N_FIELDS];
    size_t line = 1;
    for (size_t at = read_line(csv, 0, f); at < csv.len && !p.found; line++) {
        at = read_line(csv, at, f);
        p.found = fits(f, q);
    }
    if (!p.found)
        return p;
    p.line = line;
    p.value = strtod(f[VALUE].text, NULL);
    p.half = half_digit(f[VALUE].text);
    p.runs = strtod(f[RUNS].text, NULL);
    p.rows = strtoull(f[ROWS].text, NULL, 10);
    memcpy(p.text, f[VALUE].text, sizeof p.text - 1);
    memcpy(p.remark, f[REMARK].text, sizeof p.remark - 1);
    return p;
}

#define LINES 4096u /* more than there are */
static bool used[LINES];

struct lab_printed lab_printed(const struct lab_printed_query *q)
{
    const struct lab_printed p =
        lab_printed_in((deja_slice){lab_published_csv, lab_published_csv_len}, q);
    if (p.found && p.line < LINES)
        used[p.line] = true;
    return p;
}

bool lab_published_used(size_t line)
{
    return line < LINES && used[line];
}
