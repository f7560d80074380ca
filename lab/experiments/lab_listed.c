/* lab_listed.c - tables and figures of `lists`, with every time that was published; see
 * lab_listed.h.
 *
 * What the published files time: inserting all lines; then querying, after results1 to results3,
 * 800,000 lines at most, drawn without repetition, and after times1 to times3 half of the lines.
 * All times include reading the lines from a CSV file.  hash-results and array-results do not
 * name their list; both programs read the one that has 1,562,978 lines. */
#include "lab/experiments/lab_listed.h"
#include <math.h>
#include <stdio.h>

#define DMOZ        UINT64_C(1562978)
#define HASH_ASKED  800000.0
#define ARRAY_ASKED 100.0

static const struct size {
    uint64_t rows;
    const char *times, *slots; /* tables of the published values; NULL: none */
} size_of[LISTED_SIZES] = {
    {11037, NULL, NULL},                  /* Netflix and TMDB */
    {34887, "times3", "table results3"},  /* Wikipedia film pages */
    {99001, NULL, NULL},                  /* as many as RPCLOUD2 has headlines */
    {293120, "times2", "table results2"}, /* unnamed */
    {DMOZ, "times1", "table results1"},
};

uint32_t listed_sizes(const struct lab *lab)
{
    uint32_t n = 0;
    while (n < LISTED_SIZES && size_of[n].rows <= 2 * lab->keys.n)
        n++;
    return n > 0 ? n : 1;
}

uint64_t listed_rows(const struct lab *lab, uint32_t size)
{
    const uint64_t most = 2 * lab->keys.n;
    return size_of[size].rows <= most ? size_of[size].rows : most;
}

double listed_time(const struct lab_results *r, uint32_t size, enum lab_timed_kind which,
                   enum lab_listed value)
{
    return lab_least(r, size * TIMED_KINDS + which, value);
}

/* --- Published values -------------------------------------------------------------------- */

static const char *quantity_of(enum lab_listed value)
{
    return value == LISTED_ADD ? "insertion_time" : "query_time";
}

static struct lab_printed find(const char *table, const char *subject, const char *quantity,
                               uint64_t rows)
{
    return lab_printed(&(struct lab_printed_query){.source = "multilayer",
                                                   .table = table,
                                                   .subject = subject,
                                                   .quantity = quantity,
                                                   .rows = rows});
}

struct lab_printed listed_printed(uint32_t size, enum lab_timed_kind which, enum lab_listed value)
{
    const struct size *s = &size_of[size];
    const bool slots = which == TIMED_SLOTS;
    if (!s->times || (!slots && which != TIMED_LINE && which != TIMED_LAYERED))
        return (struct lab_printed){.value = NAN};
    return find(slots ? s->slots : s->times,
                slots                 ? "table"
                : which == TIMED_LINE ? "classic"
                                      : "layered",
                quantity_of(value), s->rows);
}

double listed_lines(uint32_t size, enum lab_timed_kind which, enum lab_listed value)
{
    const double rows = (double)size_of[size].rows;
    if (value == LISTED_ADD)
        return rows;
    return which == TIMED_SLOTS ? fmin(rows, HASH_ASKED) : floor(rows / 2);
}

struct lab_printed listed_slots(uint32_t size)
{
    const struct size *s = &size_of[size];
    return s->slots ? find(s->slots, "table", "table_slots", s->rows)
                    : (struct lab_printed){.value = NAN};
}

/* --- Tables ---------------------------------------------------------------------------------- */

/* Our seconds for these lines.  A sorted array is filled line by line: half of its last line's time
 * is the mean. */
static double seconds(const struct lab_results *r, uint32_t size, enum lab_timed_kind which,
                      enum lab_listed value, double lines)
{
    const double share = which == TIMED_BINARY && value == LISTED_ADD ? 0.5 : 1;
    return share * listed_time(r, size, which, value) * lines / 1e9;
}

static void name_lines(char *label, size_t cap, uint64_t rows)
{
    (void)snprintf(label, cap, "%llu lines", (unsigned long long)rows);
}

static void make_grid(const struct lab_results *r, struct lab_report *report,
                      enum lab_listed value)
{
    char column[40];
    struct lab_table *t = value == LISTED_ADD
                              ? lab_table(report, LAB_GRID, "figure 5", "structure",
                                          "Figure 5: time to insert the list, seconds")
                              : lab_table(report, LAB_GRID, "figure 4", "structure",
                                          "Figure 4: time to query half of the list, seconds");
    lab_caption(t, value == LISTED_ADD
                       ? "The sorted array gets line after line at its place: extrapolated from "
                         "the last ones. The printed times are of another machine, in Python."
                       : "Lines of the list in random order, as in the paper; the program's "
                         "flags were asked for up to 800,000 lines, here for half of them. The "
                         "printed times are of another machine, in Python.");
    for (uint32_t which = 0; which < TIMED_KINDS; which++)
        for (uint32_t i = 0; i < listed_sizes(r->lab); i++) {
            const uint64_t rows = listed_rows(r->lab, i);
            const double lines = value == LISTED_ADD ? (double)rows : (double)(rows / 2);
            name_lines(column, sizeof column, rows);
            struct lab_cell *c = lab_cell(t, lab_timed_label[which], column);
            lab_cell_plain(c, "s", seconds(r, i, which, value, lines), NAN);
            c->runs = r->runs;
            if (rows != size_of[i].rows)
                continue;
            struct lab_printed p = listed_printed(i, which, value);
            if (p.found && (value == LISTED_ADD || which != TIMED_SLOTS))
                lab_cell_printed(c, &p);
        }
}

/* A published time: of which list, and for how many lines; `size` is its place in size_of or
 * LISTED_SIZES if the lab does not have such a list. */
struct published {
    const char *table, *subject, *quantity;
    uint64_t rows; /* 0: not in the file */
    enum lab_timed_kind which;
    enum lab_listed value;
    uint32_t size;
    double lines;
};

static void add_published(const struct lab_results *r, struct lab_table *t,
                          const struct published *p)
{
    char row[56], column[56];
    const struct lab_printed printed = find(p->table, p->subject, p->quantity, p->rows);
    const bool ours =
        p->size < listed_sizes(r->lab) && listed_rows(r->lab, p->size) == size_of[p->size].rows;
    (void)snprintf(row, sizeof row, "%s, %s", p->table, lab_timed_label[p->which]);
    (void)snprintf(column, sizeof column, "%s %.0f line%s",
                   p->value == LISTED_ADD ? "insert" : "query", p->lines,
                   p->lines == 1 ? "" : "s");
    struct lab_cell *c = lab_cell(t, row, column);
    lab_cell_plain(c, "s", ours ? seconds(r, p->size, p->which, p->value, p->lines) : NAN, NAN);
    c->runs = ours ? r->runs : 0;
    lab_cell_printed(c, &printed);
    lab_note(c, "printed: %s us a line", lab_number(1e6 * printed.value / p->lines).s);
}

/* times1 to times3, and the same program with headlines, split at blanks. */
static void add_filters(const struct lab_results *r, struct lab_table *t)
{
    static const struct {
        const char *table;
        uint64_t rows;
        uint32_t size;
    } list[] = {{"times1", DMOZ, 4},
                {"times2", 293120, 3},
                {"times3", 34887, 1},
                {"RPCLOUD1", 1048576, LISTED_SIZES},
                {"RPCLOUD2", 99001, LISTED_SIZES}};
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++)
        for (uint32_t j = 0; j < 4; j++) {
            const enum lab_listed value = j % 2 == 0 ? LISTED_ADD : LISTED_QUERY;
            const enum lab_timed_kind which = j < 2 ? TIMED_LINE : TIMED_LAYERED;
            add_published(r, t,
                          &(struct published){list[i].table, j < 2 ? "classic" : "layered",
                                              quantity_of(value), list[i].rows, which, value,
                                              list[i].size,
                                              value == LISTED_ADD ? (double)list[i].rows
                                                                  : (double)(list[i].rows / 2)});
        }
}

static void add_searches(const struct lab_results *r, struct lab_table *t)
{
    static const struct published search[] = {
        {"hash results", "table", "query_time", 0, TIMED_SLOTS, LISTED_QUERY, 4, HASH_ASKED},
        {"array results", "array", "query_time_100_queries", 0, TIMED_LINEAR, LISTED_QUERY, 4,
         ARRAY_ASKED},
        {"time comparison", "array", "query_time_1_title", 11037, TIMED_LINEAR, LISTED_QUERY, 0,
         1},
        {"time comparison", "table", "query_time_1_title", 11037, TIMED_TABLE, LISTED_QUERY, 0,
         1}};
    for (uint32_t i = LISTED_SIZES; i-- > 0;)
        for (uint32_t j = 0; size_of[i].slots && j < 2; j++) {
            const enum lab_listed value = j == 0 ? LISTED_ADD : LISTED_QUERY;
            add_published(r, t,
                          &(struct published){size_of[i].slots, "table", quantity_of(value),
                                              size_of[i].rows, TIMED_SLOTS, value, i,
                                              listed_lines(i, TIMED_SLOTS, value)});
        }
    for (size_t i = 0; i < sizeof search / sizeof search[0]; i++)
        add_published(r, t, &search[i]);
}

/* The size of the program's hash table: what our flags take for the same list. */
static void add_slots(const struct lab_results *r, struct lab_report *report)
{
    char row[40];
    struct lab_table *t = lab_table(report, LAB_LIST, "slots", "list",
                                    "results1 to results3: flags of the program's hash table");
    lab_caption(t, "m = -n ln p / (ln 2)^2, p = 0.05, rounded down; each list entry of Python "
                   "takes 8 bytes, a flag of the lab's 1.");
    (void)r;
    for (uint32_t i = LISTED_SIZES; i-- > 0;) {
        const struct lab_printed p = listed_slots(i);
        if (!p.found)
            continue;
        name_lines(row, sizeof row, size_of[i].rows);
        struct lab_cell *c = lab_cell(t, row, "flags");
        lab_cell_plain(c, "", floor((double)p.rows * -log(0.05) / (log(2) * log(2))), NAN);
        lab_cell_printed(c, &p);
    }
}

/* Absent lines that the program's flags report.  There are none if the list has all the lab's
 * URLs. */
static void add_rates(const struct lab_results *r, struct lab_report *report)
{
    char row[40];
    struct lab_table *t = NULL;
    for (uint32_t i = 0; i < listed_sizes(r->lab); i++) {
        const double asked = lab_value(r, i * TIMED_KINDS + TIMED_SLOTS, 0, LISTED_ABSENT),
                     rate = lab_timed_slots_rate();
        if (!(asked > 0))
            continue;
        if (!t) {
            t = lab_table(report, LAB_LIST, "flags", "list",
                          "Lines that the program's hash table reports though they are absent, %");
            lab_caption(t,
                        "It stores no lines: with m flags for n lines, 1 - e^(-n/m) of them are "
                        "set.");
        }
        const struct lab_count count = {
            lab_value(r, i * TIMED_KINDS + TIMED_SLOTS, 0, LISTED_HITS),
            asked,
            1,
            NULL,
            rate,
            sqrt(rate * (1 - rate) * (1 / asked + 1 / (double)listed_rows(r->lab, i)))};
        name_lines(row, sizeof row, listed_rows(r->lab, i));
        lab_cell_rate(lab_cell(t, row, "absent lines reported"), &count, NULL);
    }
}

void listed_tables(const struct lab_results *r, struct lab_report *report)
{
    make_grid(r, report, LISTED_QUERY);
    make_grid(r, report, LISTED_ADD);
    struct lab_table *t = lab_table(report, LAB_LIST, "published", "file and structure",
                                    "Every published time, beside ours for the same work");
    lab_caption(t,
                "RPCLOUD1 and RPCLOUD2 are headlines, split at blanks; the insertion of RPCLOUD2 "
                "takes as long as that of ten times as many lines in RPCLOUD1, so its times are "
                "of different lists. Ours are for URLs.");
    add_filters(r, t);
    add_searches(r, t);
    add_slots(r, report);
    add_rates(r, report);
}

/* --- Figures ---------------------------------------------------------------------------------- */

/* Variants have the color of what they vary, with other marks. */
static const unsigned color_of[TIMED_KINDS] = {
    [TIMED_LINEAR] = LAB_COLOR_LINEAR,
    [TIMED_BINARY] = LAB_COLOR_BINARY,
    [TIMED_TABLE] = LAB_COLOR_TABLE,
    [TIMED_SLOTS] = LAB_COLORS + LAB_COLOR_TABLE,
    [TIMED_LINE] = LAB_COLOR_BLOOM,
    [TIMED_ONE] = LAB_COLORS + LAB_COLOR_BLOOM,
    [TIMED_LAYERED] = LAB_COLOR_LAYERED,
    [TIMED_KIND] = LAB_COLOR_KIND,
    [TIMED_PAPER] = LAB_COLORS + LAB_COLOR_KIND,
};

static void draw(const struct lab_results *r, struct lab_report *report, enum lab_listed value)
{
    struct lab_figure *f =
        value == LISTED_ADD
            ? lab_figure(report, "5", "Figure 5: insertion time by length of the list", "lines",
                         "seconds to insert all lines", NULL)
            : lab_figure(report, "4", "Figure 4: query time by length of the list", "lines",
                         "seconds to query half of the lines", NULL);
    f->log_x = f->log_y = true;
    for (uint32_t which = 0; which < TIMED_KINDS; which++) {
        const size_t ours = lab_series(f, LAB_LINE, color_of[which], "%s", lab_timed_label[which]);
        for (uint32_t i = 0; i < listed_sizes(r->lab); i++) {
            const uint64_t rows = listed_rows(r->lab, i);
            lab_point(f, ours, (double)rows,
                      seconds(r, i, which, value,
                              value == LISTED_ADD ? (double)rows : (double)(rows / 2)));
        }
        if (!listed_printed(LISTED_SIZES - 1, which, value).found)
            continue;
        const size_t printed =
            lab_series(f, LAB_RINGS, color_of[which], "printed, %s", lab_timed_label[which]);
        for (uint32_t i = 0; i < LISTED_SIZES; i++) {
            const struct lab_printed p = listed_printed(i, which, value);
            if (p.found)
                lab_point(f, printed, (double)p.rows, p.value);
        }
    }
    lab_figure_caption(f,
                       "Both axes are logarithmic: if the time of one line is constant, the slope "
                       "is 1; if it grows in proportion to the list, the slope is 2. Compare "
                       "slopes and distances: the printed seconds (open marks) are of Python in "
                       "2021.");
}

void listed_figures(const struct lab_results *r, struct lab_report *report)
{
    draw(r, report, LISTED_QUERY);
    draw(r, report, LISTED_ADD);
}
