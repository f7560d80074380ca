/* progress.c - the progress line. */
#include "tools/base/progress.h"
#include "tools/base/clock.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"

#define FIRST_AFTER 0.5 /* s: short work needs no progress line */
#define INTERVAL    0.1 /* s */

#define ADD(line, ...) printable_append(line, sizeof line, __VA_ARGS__)

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

void progress_show(struct progress *p, const struct progress_now *now)
{
    char line[256] = "";
    double elapsed = progress_seconds(p);
    if (!p->on)
        return;
    ADD(line, "%s %s", num_count(now->items).s, p->items);
    if (elapsed > 0.0)
        ADD(line, "  %s", num_speed((double)now->items / elapsed).s);
    if (now->total > 0 && now->done <= now->total) {
        double share = (double)now->done / (double)now->total;
        ADD(line, "  %s", num_share(share).s);
        if (share > 0.001)
            ADD(line, "  %s left", num_duration(elapsed * (1.0 - share) / share).s);
    }
    if (now->fill >= 0.0)
        ADD(line, "  fill %s", num_share(now->fill).s);
    if (now->lost >= 0.0)
        ADD(line, "  lost %s", num_estimate(now->lost).s);
    console_line(p->console, line);
    p->next = p->begin + elapsed + INTERVAL;
}

void progress_end(struct progress *p)
{
    console_clear(p->console);
    p->on = false;
}
