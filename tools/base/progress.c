/* progress.c - the progress line. */
#include "tools/base/progress.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"

#define ADD(line, ...) printable_append(line, sizeof line, __VA_ARGS__)

void progress_begin(struct progress *p, struct console *console, const struct out *results,
                    const char *items)
{
    *p = (struct progress){.console = console, .items = items, .begin = console_seconds(console)};
    p->on = !(console->tty && results && results->tty);
}

double progress_seconds(const struct progress *p)
{
    return console_seconds(p->console) - p->begin;
}

bool progress_due(const struct progress *p)
{
    return p->on && console_due(p->console);
}

void progress_share(char *line, size_t cap, double share, double elapsed)
{
    printable_append(line, cap, "  %s", num_share(share).s);
    if (share > 0.001)
        printable_append(line, cap, "  %s left", num_duration(elapsed * (1.0 - share) / share).s);
}

void progress_show(struct progress *p, const struct progress_now *now)
{
    char lead[128] = "", line[256] = "";
    double elapsed = progress_seconds(p);
    if (!p->on)
        return;
    ADD(lead, "%s %s", num_count(now->items).s, p->items);
    if (elapsed > 0.0)
        ADD(line, "  %s", num_speed((double)now->items / elapsed).s);
    if (now->total > 0 && now->done <= now->total)
        progress_share(line, sizeof line, (double)now->done / (double)now->total, elapsed);
    if (now->fill >= 0.0)
        ADD(line, "  fill %s", num_share(now->fill).s);
    if (now->lost >= 0.0)
        ADD(line, "  lost %s", num_estimate(now->lost).s);
    if (now->facts)
        ADD(line, "%s", now->facts);
    console_line(p->console, lead, line);
}

void progress_end(struct progress *p)
{
    console_clear(p->console);
    p->on = false;
}
