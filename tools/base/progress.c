/* progress.c - one line on the terminal that tells how far the work is. */
#include "tools/base/progress.h"
#include "tools/base/clock.h"
#include "tools/base/number.h"
#include <stdarg.h>

#define FIRST_AFTER 0.5 /* s: short work needs no progress line */
#define INTERVAL    0.1 /* s */

void progress_begin(struct progress *p, struct console *console, const struct out *results,
                    const char *items)
{
    bool over_results = results && results->tty;
    *p = (struct progress){.console = console, .items = items, .begin = clock_seconds()};
    p->on = console->tty && !console->quiet && !over_results;
    p->next = p->begin + FIRST_AFTER;
}

double progress_seconds(const struct progress *p)
{
    return clock_seconds() - p->begin;
}

bool progress_due(const struct progress *p)
{
    return p->on && clock_seconds() >= p->next;
}

/* Text so far, and how much of it is filled; what does not fit is left out. */
struct line {
    char text[256];
    size_t len;
};

static void add(struct line *l, const char *fmt, ...) OUT_PRINTF(2, 3);

static void add(struct line *l, const char *fmt, ...)
{
    va_list args;
    size_t room = sizeof l->text - l->len;
    va_start(args, fmt);
    int n = vsnprintf(l->text + l->len, room, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n < room)
        l->len += (size_t)n;
    l->text[l->len] = '\0';
}

void progress_show(struct progress *p, const struct progress_now *now)
{
    struct line l = {.len = 0};
    double elapsed = progress_seconds(p);
    if (!p->on)
        return;
    add(&l, "%s %s", num_count(now->items).s, p->items);
    if (elapsed > 0.0)
        add(&l, "  %s", num_speed((double)now->items / elapsed).s);
    if (now->total > 0 && now->done <= now->total) {
        double share = (double)now->done / (double)now->total;
        add(&l, "  %s", num_share(share).s);
        if (share > 0.001)
            add(&l, "  %s left", num_duration(elapsed * (1.0 - share) / share).s);
    }
    if (now->fill >= 0.0)
        add(&l, "  fill %s", num_share(now->fill).s);
    if (now->lost >= 0.0)
        add(&l, "  lost %s", num_estimate(now->lost).s);
    console_line(p->console, l.text);
    p->next = p->begin + elapsed + INTERVAL;
}

void progress_end(struct progress *p)
{
    console_clear(p->console);
    p->on = false;
}
