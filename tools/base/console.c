/* console.c - messages and the progress line on standard error.
 *
 * Each message is one line in one write, so messages from several processes do not mix.  It first
 * erases the progress line.  Text that a message quotes is escaped (printable.h). */
#include "tools/base/clock.h"
#include "tools/base/io.h"
#include "tools/base/out.h"
#include "tools/base/printable.h"
#include "tools/base/sys.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LIVE_AFTER 0.5  /* s: short work needs no progress line */
#define LIVE_EVERY 0.1  /* s, on a terminal */
#define LOG_EVERY  60.0 /* s, elsewhere */
#define LOG_WIDTH  400  /* columns */

#define LEAD  "\033[1;32m" /* bold green */
#define REST  "\033[2m"    /* dim */
#define PLAIN "\033[0m"

static bool is_set(const char *name, const char *value)
{
    const char *text = getenv(name);
    return text && strcmp(text, value) == 0;
}

static bool is_given(const char *name)
{
    const char *text = getenv(name);
    return text && text[0];
}

/* See no-color.org; with CLICOLOR_FORCE, even if there is no terminal. */
static bool wants_color(bool live)
{
    if (is_given("NO_COLOR") || is_set("CLICOLOR", "0"))
        return false;
    return live || (is_given("CLICOLOR_FORCE") && !is_set("CLICOLOR_FORCE", "0"));
}

void console_init(struct console *c, int fd, const char *command)
{
    *c = (struct console){.fd = fd, .command = command};
    c->tty = isatty(fd) == 1;
    c->utf8 = c->tty && sys_is_utf8();
    c->live = c->tty && !is_set("TERM", "dumb");
    c->color = wants_color(c->live);
    c->next = console_seconds(c) + (c->live ? LIVE_AFTER : LOG_EVERY);
}

double console_seconds(const struct console *c)
{
    return c->clock ? c->clock() : clock_seconds();
}

static void console_write(struct console *c, const char *text, size_t len)
{
    (void)io_write(c->fd, text, len); /* if standard error fails, there is nowhere to report it */
}

/* A terminal with another encoding may interpret UTF-8 bytes as control characters. */
static size_t harmless(const struct console *c, char *line, size_t cap, const char *text,
                       size_t len)
{
    (void)printable(line, cap, text, len, c->tty && !c->utf8);
    return strlen(line);
}

/* "deja dedup: "; returns its length. */
static size_t prefix(const struct console *c, char *text, size_t cap)
{
    const int n =
        snprintf(text, cap, "deja%s%.64s: ", c->command ? " " : "", c->command ? c->command : "");
    return n < 0 ? 0 : (size_t)n;
}

static void console_say(struct console *c, bool prefixed, const char *fmt, va_list args)
{
    char text[1023], line[sizeof text * 4];
    size_t at = prefixed ? prefix(c, text, sizeof text) : 0;
    size_t room = sizeof text - at;
    int body = vsnprintf(text + at, room, fmt, args);
    if (body >= 0 && (size_t)body < room)
        at += (size_t)body;
    else if (body >= 0)
        at = printable_cut(text, sizeof text - 1);
    at = harmless(c, line, sizeof line, text, at);
    line[at++] = '\n'; /* replaces the terminating zero */
    console_clear(c);
    console_write(c, line, at);
}

void console_error(struct console *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    console_say(c, true, fmt, args);
    va_end(args);
}

void console_warn(struct console *c, const char *fmt, ...)
{
    char text[900];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    console_error(c, "warning: %s", text);
}

void console_note(struct console *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (!c->quiet)
        console_say(c, true, fmt, args);
    va_end(args);
}

void console_hint(struct console *c, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    console_say(c, false, fmt, args);
    va_end(args);
}

static size_t terminal_columns(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

/* A part of the progress line: harmless, and at most *width columns of it. */
struct part {
    char text[480];
    int len;
};

static struct part part_of(const struct console *c, const char *text, size_t *width)
{
    struct part p;
    size_t len = harmless(c, p.text, sizeof p.text, text, strlen(text));
    while (len > 0 && out_columns(p.text, len) > *width)
        len--;
    len = printable_cut(p.text, len);
    *width -= out_columns(p.text, len);
    p.len = (int)len;
    return p;
}

bool console_due(const struct console *c)
{
    return !c->quiet && (c->live || !c->json) && console_seconds(c) >= c->next;
}

void console_line(struct console *c, const char *lead, const char *rest)
{
    char front[80], line[1200];
    if (c->quiet || (!c->live && !console_due(c)))
        return;
    size_t width = c->live ? terminal_columns(c->fd) - 1 : LOG_WIDTH; /* the last would wrap */
    const struct part first = part_of(c, lead, &width), second = part_of(c, rest, &width);
    prefix(c, front, sizeof front);
    const int n =
        snprintf(line, sizeof line,
                 c->color ? "%s" LEAD "%.*s" PLAIN REST "%.*s" PLAIN "%s" : "%s%.*s%.*s%s",
                 c->live ? "\r" : front, first.len, first.text, second.len, second.text,
                 c->live ? "\033[K" : "\n");
    console_write(c, line, n < 0 ? 0 : (size_t)n);
    c->line_shown = c->live;
    c->next = console_seconds(c) + (c->live ? LIVE_EVERY : LOG_EVERY);
}

void console_clear(struct console *c)
{
    static const char erase[] = "\r\033[K";
    if (c->line_shown)
        console_write(c, erase, sizeof erase - 1);
    c->line_shown = false;
}
