/* closing.c - the line with which a command ends; see closing.h. */
#include "cli/session/closing.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include <assert.h>
#include <stdarg.h>

#define PATH_LEAST 16 /* columns; shorter names say too little */
#define TIME_LEAST 6  /* columns for the time, so that no time below a minute changes the layout */

/* What the line contains, and in which form. */
struct layout {
    size_t path_columns;
    bool remarks;
    bool short_counts;
};

struct line {
    char text[512];
};

void closing_begin(struct closing *c, struct console *console, bool stopped)
{
    *c = (struct closing){.console = console, .stopped = stopped};
}

static void count(struct closing *c, const char *front, uint64_t n, const char *word)
{
    assert(c->n < CLOSING_ITEMS && !c->path);
    c->item[c->n++] = (struct closing_item){front, n, word};
}

void closing_count(struct closing *c, uint64_t n, const char *word)
{
    count(c, "", n, word);
}

void closing_about(struct closing *c, uint64_t n, const char *word)
{
    count(c, "about ", n, word);
}

void closing_count_in(struct closing *c, uint64_t n, const char *word, const char *path)
{
    count(c, "", n, word);
    c->path = path;
}

void closing_remark(struct closing *c, const char *fmt, ...)
{
    const size_t used = strlen(c->remarks), room = sizeof c->remarks - used;
    char text[sizeof c->remarks];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    (void)snprintf(c->remarks + used, room, "%s%s", used ? ", " : "", text);
}

static const char *separator(const struct console *console)
{
    return console->tty && !console->utf8 ? ";" : " \u00b7";
}

static struct line compose(const struct closing *c, const struct layout *how, double seconds)
{
    struct line l = {""};
    const size_t cap = sizeof l.text;
    printable_append(l.text, cap, "%s", c->stopped ? "stopped: " : "");
    for (size_t i = 0; i < c->n; i++)
        printable_append(l.text, cap, "%s%s%s %s", i ? ", " : "", c->item[i].front,
                         how->short_counts ? num_short(c->item[i].n).s : num_count(c->item[i].n).s,
                         c->item[i].word);
    if (c->path) {
        struct fail_path name = fail_path(c->path);
        printable_middle(name.text, how->path_columns);
        printable_append(l.text, cap, " %s", name.text);
    }
    if (how->remarks && c->remarks[0])
        printable_append(l.text, cap, ", %s", c->remarks);
    if (seconds >= 0)
        printable_append(l.text, cap, "%s %s", separator(c->console), num_took(seconds).s);
    return l;
}

/* Columns by which the line is too long; negative if there is room. */
static long excess(const struct closing *c, const struct line *l, double seconds)
{
    const char *command = c->console->command;
    const size_t prefix = command ? strlen("deja : ") + strlen(command) : strlen("deja: ");
    const size_t time = seconds >= 0 ? strlen(num_took(seconds).s) : TIME_LEAST;
    const size_t unused = time < TIME_LEAST ? TIME_LEAST - time : 0;
    return (long)(prefix + out_columns(l->text, strlen(l->text)) + unused) - CLOSING_COLUMNS;
}

/* Shortens the name if that makes the line fit. */
static bool fits(const struct closing *c, struct layout *how, double seconds, struct line *l)
{
    how->path_columns = SIZE_MAX;
    *l = compose(c, how, seconds);
    const long over = excess(c, l, seconds);
    if (over <= 0 || !c->path)
        return over <= 0;
    const struct fail_path name = fail_path(c->path);
    const long columns = (long)out_columns(name.text, strlen(name.text)) - over;
    how->path_columns = columns > PATH_LEAST ? (size_t)columns : PATH_LEAST;
    *l = compose(c, how, seconds);
    return excess(c, l, seconds) <= 0;
}

void closing_print(const struct closing *c, double seconds)
{
    struct layout how = {.remarks = true};
    struct line l;
    bool done = fits(c, &how, seconds, &l);
    if (!done) {
        how.remarks = false;
        done = fits(c, &how, seconds, &l);
    }
    if (!done) {
        how.short_counts = true;
        (void)fits(c, &how, seconds, &l);
    }
    console_note(c->console, "%s", l.text);
    if (!how.remarks && c->remarks[0])
        console_note(c->console, "%s", c->remarks);
}
