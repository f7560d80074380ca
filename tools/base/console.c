/* console.c - messages and the progress line on standard error.
 *
 * Each message is one line in one write, so messages from several processes do not mix.  It first
 * erases the progress line.  Text that a message quotes is escaped (printable.h). */
#include "tools/base/io.h"
#include "tools/base/out.h"
#include "tools/base/printable.h"
#include <errno.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <unistd.h>

void console_init(struct console *c, int fd, const char *command)
{
    *c = (struct console){.fd = fd, .command = command};
    c->tty = isatty(fd) == 1;
    c->utf8 = c->tty && out_is_utf8();
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

static void console_say(struct console *c, bool prefix, const char *fmt, va_list args)
{
    char text[1023], line[sizeof text * 4];
    size_t at = 0;
    if (prefix) {
        int head = snprintf(text, sizeof text, "deja%s%.64s: ", c->command == NULL ? "" : " ",
                            c->command == NULL ? "" : c->command);
        at = head < 0 ? 0 : (size_t)head;
    }
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

void console_line(struct console *c, const char *text)
{
    char line[512], shown[sizeof line - 8];
    if (!c->tty || c->quiet)
        return;
    size_t len = harmless(c, shown, sizeof shown, text, strlen(text));
    size_t width = terminal_columns(c->fd) - 1; /* the last column would wrap */
    while (len > 0 && out_columns(shown, len) > width)
        len--;
    int n = snprintf(line, sizeof line, "\r%.*s\033[K", (int)printable_cut(shown, len), shown);
    console_write(c, line, n < 0 ? 0 : (size_t)n);
    c->line_shown = true;
}

void console_clear(struct console *c)
{
    static const char erase[] = "\r\033[K";
    if (c->line_shown)
        console_write(c, erase, sizeof erase - 1);
    c->line_shown = false;
}
