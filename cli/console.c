/* console.c - messages: lines on standard error, and the progress line in their way.
 *
 * A message is one write of one line, so that those of several processes do not mix, and it
 * removes the progress line before it: who reads along sees whole lines only. */
#include "out.h"
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

/* There is nobody to tell when standard error fails. */
static void console_write(struct console *c, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t n = write(c->fd, text, len);
        if (n < 0 && errno != EINTR)
            return;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
}

/* One write for the whole line: lines of several processes do not mix. */
static void console_say(struct console *c, bool prefix, const char *fmt, va_list args)
{
    char line[1024];
    size_t at = 0;
    if (prefix) {
        int head = snprintf(line, sizeof line, "deja%s%.64s: ", c->command == NULL ? "" : " ",
                            c->command == NULL ? "" : c->command);
        at = head < 0 ? 0 : (size_t)head;
    }
    size_t room = sizeof line - at - 1; /* one for the newline */
    int body = vsnprintf(line + at, room, fmt, args);
    at += body < 0 ? 0 : (size_t)body < room ? (size_t)body : room - 1;
    line[at++] = '\n';
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
    char line[512];
    size_t len = strlen(text);
    size_t width = terminal_columns(c->fd) - 1; /* the last column would wrap */
    while (len > 0 && out_columns(text, len) > width)
        len--;
    if (!c->tty || c->quiet || len + 8 > sizeof line)
        return;
    int n = snprintf(line, sizeof line, "\r%.*s\033[K", (int)len, text);
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
