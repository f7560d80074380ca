/* out.c - the only printer: results, messages, JSON, tables, bars.
 *
 * Results collect in a buffer and go out with write(2), which may take less than it was
 * given, be interrupted, or find a pipe that somebody else made non-blocking.  A reader that
 * has gone (EPIPE) is no error: `deja dedup | head` ends quietly.
 *
 * After Ctrl-C a write must not wait for a reader that does not read (a pager): with o->stop
 * set, each piece is at most what a pipe takes at once, and waits a second for its turn. */
#include "out.h"
#include "fail.h"
#include "number.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <langinfo.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STOP_WAIT_MS 1000
#define STOP_LOOK_MS 200 /* the signal may have gone to another thread */

/* --- Results -------------------------------------------------------------- */

/* The user's locale, asked without making it the program's. */
static bool locale_is_utf8(void)
{
    locale_t user = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (user == (locale_t)0)
        return false;
    bool utf8 = strcmp(nl_langinfo_l(CODESET, user), "UTF-8") == 0;
    freelocale(user);
    return utf8;
}

int out_init(struct out *o, int fd, const char *name, deja_error *err)
{
    *o = (struct out){.fd = fd, .name = name};
    o->buf = malloc(OUT_CAP);
    if (o->buf == NULL)
        return fail(err, DEJA_ENOMEM, "%s: no memory for the output buffer", name);
    o->tty = isatty(fd) == 1;
    o->utf8 = o->tty && locale_is_utf8();
    return DEJA_OK;
}

int out_open(struct out *o, const char *path, deja_error *err)
{
    *o = OUT_NONE;
    if (strcmp(path, "-") == 0)
        return out_init(o, STDOUT_FILENO, "standard output", err);
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (fd < 0)
        return fail_errno(err, "%s", fail_path(path).text);
    int rc = out_init(o, fd, path, err);
    if (rc < 0) {
        (void)close(fd);
        o->fd = -1;
        return rc;
    }
    o->opened = true;
    o->fresh = true;
    return DEJA_OK;
}

static bool is_output(const struct out *o, const char *path)
{
    struct stat mine, its;
    int rc = strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &its) : stat(path, &its);
    return rc == 0 && fstat(o->fd, &mine) == 0 && S_ISREG(mine.st_mode) &&
           mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
}

int out_refuse_inputs(struct out *o, const char *const *paths, size_t n, deja_error *err)
{
    static const char *const none[] = {"-"};
    if (n == 0) {
        paths = none;
        n = 1;
    }
    for (size_t i = 0; i < n; i++) {
        if (!is_output(o, paths[i]))
            continue;
        o->error = EINVAL;
        return fail(err, DEJA_EINVAL, "%s is the output as well; write to another file",
                    strcmp(paths[i], "-") == 0 ? "standard input" : fail_path(paths[i]).text);
    }
    return DEJA_OK;
}

static bool stopping(const struct out *o)
{
    return o->stop != NULL && atomic_load_explicit(o->stop, memory_order_relaxed);
}

/* Whether there is a point in trying to write: waits, but not for ever when stopping. */
static bool wait_writable(const struct out *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    for (;;) {
        bool last = stopping(o);
        int n = poll(&p, 1, last ? STOP_WAIT_MS : STOP_LOOK_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return true; /* write will say what is wrong */
        if (last)
            return false;
    }
}

static bool truncate_old(struct out *o)
{
    struct stat st;
    o->fresh = false;
    if (fstat(o->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return true;
    if (ftruncate(o->fd, 0) == 0)
        return true;
    o->error = errno;
    return false;
}

static void write_all(struct out *o, const char *data, size_t len)
{
    if (o->error != 0 || (o->fresh && !truncate_old(o)))
        return;
    while (len > 0) {
        size_t piece = len;
        if (stopping(o)) {
            if (!wait_writable(o)) {
                o->error = EPIPE;
                return;
            }
            piece = len < PIPE_BUF ? len : PIPE_BUF;
        }
        ssize_t n = write(o->fd, data, piece);
        if (n >= 0) {
            data += n;
            len -= (size_t)n;
            o->written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (!wait_writable(o)) {
                o->error = EPIPE;
                return;
            }
        } else if (errno != EINTR) {
            o->error = errno;
            return;
        }
    }
}

static void write_waiting(struct out *o)
{
    write_all(o, o->buf, o->len);
    o->len = 0;
}

void out_spill(struct out *o, const void *data, size_t len)
{
    write_waiting(o);
    if (len >= OUT_CAP) {
        write_all(o, data, len);
    } else {
        memcpy(o->buf, data, len);
        o->len = len;
    }
}

void out_text(struct out *o, const char *text)
{
    out_write(o, text, strlen(text));
}

void out_printf(struct out *o, const char *fmt, ...)
{
    char small[512];
    va_list args, again;
    va_start(args, fmt);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, fmt, args);
    if (len >= 0 && (size_t)len < sizeof small) {
        out_write(o, small, (size_t)len);
    } else if (len >= 0) {
        char *large = malloc((size_t)len + 1);
        if (large != NULL) {
            (void)vsnprintf(large, (size_t)len + 1, fmt, again);
            out_write(o, large, (size_t)len);
        } else if (o->error == 0) {
            o->error = ENOMEM;
        }
        free(large);
    }
    va_end(again);
    va_end(args);
}

/* What the first failure comes to. */
static int verdict(const struct out *o, deja_error *err)
{
    if (o->error == 0)
        return DEJA_OK;
    if (o->error == EPIPE)
        return OUT_GONE;
    errno = o->error;
    return fail_errno(err, "%s", fail_path(o->name).text);
}

int out_flush(struct out *o, deja_error *err)
{
    write_waiting(o);
    return verdict(o, err);
}

int out_close(struct out *o, deja_error *err)
{
    if (o->buf == NULL)
        return DEJA_OK;
    write_waiting(o); /* truncates, even when there is nothing to write */
    if (o->opened && close(o->fd) != 0 && errno != EINTR && o->error == 0)
        o->error = errno;
    int rc = verdict(o, err);
    free(o->buf);
    *o = OUT_NONE;
    return rc;
}

void out_discard(struct out *o)
{
    if (o->opened)
        (void)close(o->fd);
    free(o->buf);
    *o = OUT_NONE;
}

int out_finish(struct out *o, int rc, deja_error *err)
{
    if (rc < 0) {
        out_discard(o);
        return rc;
    }
    int closed = out_close(o, err);
    return closed < 0 ? closed : rc;
}

static void spaces(struct out *o, size_t n)
{
    for (; n > 0; n--)
        out_write(o, " ", 1);
}

/* Columns of UTF-8 text: code points, which is right for what deja prints. */
static size_t columns(const char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

void out_wrap(struct out *o, const char *text, unsigned column, unsigned indent, unsigned width)
{
    size_t at = column;
    bool first = true;
    while (text += strspn(text, " \n"), *text != '\0') {
        size_t len = strcspn(text, " \n"), wide = columns(text, len);
        if (!first && at + 1 + wide > width) {
            out_text(o, "\n");
            spaces(o, indent);
            at = indent;
        } else if (!first) {
            out_text(o, " ");
            at++;
        }
        out_write(o, text, len);
        at += wide;
        text += len;
        first = false;
    }
    out_text(o, "\n");
}

static void bar_of_blocks(struct out *o, double share, unsigned width)
{
    static const char *const eighth[] = {" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    unsigned filled = (unsigned)lround(share * width * 8.0);
    for (unsigned i = 0; i < width; i++) {
        unsigned part = filled > i * 8 ? filled - i * 8 : 0;
        out_text(o, part >= 8 ? "█" : eighth[part]);
    }
}

void out_bar(struct out *o, double share, unsigned width)
{
    share = share >= 0.0 ? fmin(share, 1.0) : 0.0; /* nan is 0 as well */
    out_text(o, o->utf8 ? "▕" : "[");
    if (o->utf8) {
        bar_of_blocks(o, share, width);
    } else {
        unsigned filled = (unsigned)lround(share * width);
        for (unsigned i = 0; i < width; i++)
            out_text(o, i < filled ? "#" : ".");
    }
    out_text(o, o->utf8 ? "▏" : "]");
}

/* --- Messages ------------------------------------------------------------- */

void console_init(struct console *c, int fd, const char *command)
{
    *c = (struct console){.fd = fd, .command = command};
    c->tty = isatty(fd) == 1;
    c->utf8 = c->tty && locale_is_utf8();
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
    while (len > 0 && columns(text, len) > width)
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

/* --- JSON ----------------------------------------------------------------- */

/* Which second bytes go with a first byte: no overlong forms, no surrogates, nothing beyond
 * U+10FFFF.  Returns the length that the first byte announces, 0 when it cannot be first. */
static size_t utf8_begin(unsigned char first, unsigned char *low, unsigned char *high)
{
    *low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    *high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first <= 0xdf)
        return 2;
    if (first >= 0xe0 && first <= 0xef)
        return 3;
    return first >= 0xf0 && first <= 0xf4 ? 4 : 0;
}

/* The bytes of the character at s, or with *bad of what U+FFFD stands for: as much as could
 * have become a character, as the Unicode standard advises. */
static size_t utf8_next(const unsigned char *s, size_t len, bool *bad)
{
    unsigned char low, high;
    size_t want = utf8_begin(s[0], &low, &high), n = 1;
    for (; n < want && n < len && s[n] >= low && s[n] <= high; n++) {
        low = 0x80;
        high = 0xbf;
    }
    *bad = n != want;
    return n;
}

static void json_escape(struct out *o, unsigned char c)
{
    static const char letters[] = "\"\\\b\f\n\r\t", escapes[] = "\"\\bfnrt";
    const char *letter = c == '\0' ? NULL : strchr(letters, c);
    if (letter != NULL)
        out_printf(o, "\\%c", escapes[letter - letters]);
    else
        out_printf(o, "\\u%04x", c);
}

static void json_quote(struct out *o, const void *data, size_t len)
{
    const unsigned char *s = data;
    out_text(o, "\"");
    while (len > 0) {
        bool bad;
        size_t n = utf8_next(s, len, &bad);
        if (bad)
            out_text(o, "\\ufffd");
        else if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f)
            json_escape(o, *s);
        else
            out_write(o, s, n);
        s += n;
        len -= n;
    }
    out_text(o, "\"");
}

static void json_newline(struct json *j)
{
    if (j->one_line)
        return;
    out_text(j->out, "\n");
    spaces(j->out, (size_t)j->depth * 2);
}

/* What stands before a value: comma, new line, key. */
static void json_lead(struct json *j, const char *key)
{
    assert((key != NULL) == (j->depth > 0 && j->close[j->depth - 1] == '}'));
    if (j->filled)
        out_text(j->out, j->one_line ? ", " : ",");
    if (j->depth > 0)
        json_newline(j);
    if (key != NULL) {
        json_quote(j->out, key, strlen(key));
        out_text(j->out, ": ");
    }
    j->filled = true;
}

static void json_tail(struct json *j)
{
    if (j->depth == 0)
        out_text(j->out, "\n");
}

static void json_open(struct json *j, const char *key, const char *open, char close)
{
    json_lead(j, key);
    assert(j->depth < JSON_DEPTH);
    out_text(j->out, open);
    j->close[j->depth++] = close;
    j->filled = false;
}

void json_begin(struct json *j, struct out *out)
{
    *j = (struct json){.out = out};
}

void json_begin_line(struct json *j, struct out *out)
{
    *j = (struct json){.out = out, .one_line = true};
}

void json_object(struct json *j, const char *key)
{
    json_open(j, key, "{", '}');
}

void json_array(struct json *j, const char *key)
{
    json_open(j, key, "[", ']');
}

void json_end(struct json *j)
{
    assert(j->depth > 0);
    char close = j->close[--j->depth];
    if (j->filled)
        json_newline(j);
    out_write(j->out, &close, 1);
    j->filled = true;
    json_tail(j);
}

void json_bytes(struct json *j, const char *key, const void *s, size_t len)
{
    json_lead(j, key);
    json_quote(j->out, s, len);
    json_tail(j);
}

void json_string(struct json *j, const char *key, const char *text)
{
    if (text == NULL)
        json_null(j, key);
    else
        json_bytes(j, key, text, strlen(text));
}

static void json_plain(struct json *j, const char *key, const char *text)
{
    json_lead(j, key);
    out_text(j->out, text);
    json_tail(j);
}

void json_uint(struct json *j, const char *key, uint64_t n)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%" PRIu64, n);
    json_plain(j, key, text);
}

void json_real(struct json *j, const char *key, double x)
{
    json_plain(j, key, isfinite(x) ? num_exact(x).s : "null");
}

void json_bool(struct json *j, const char *key, bool b)
{
    json_plain(j, key, b ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
    json_plain(j, key, "null");
}

/* --- Tables --------------------------------------------------------------- */

void table_init(struct table *t, const char *align)
{
    *t = (struct table){.align = align};
}

static bool table_grow(struct table *t)
{
    if (t->n < t->cap)
        return true;
    size_t cap = t->cap == 0 ? 64 : t->cap * 2;
    char **cells = realloc(t->cells, cap * sizeof *cells);
    if (cells == NULL)
        return false;
    t->cells = cells;
    t->cap = cap;
    return true;
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char *cell = NULL;
    va_list args;
    va_start(args, fmt);
    if (t->failed || !table_grow(t) || vasprintf(&cell, fmt, args) < 0)
        t->failed = true;
    else
        t->cells[t->n++] = cell;
    va_end(args);
}

static size_t column_width(const struct table *t, size_t column, size_t n_columns)
{
    size_t width = 0;
    for (size_t i = column; i < t->n; i += n_columns) {
        size_t wide = columns(t->cells[i], strlen(t->cells[i]));
        width = wide > width ? wide : width;
    }
    return width;
}

static void print_row(const struct table *t, struct out *o, size_t begin, const size_t *width)
{
    size_t n_columns = strlen(t->align), owed = 0; /* no spaces at the end of a line */
    for (size_t i = 0; i < n_columns && begin + i < t->n; i++) {
        const char *cell = t->cells[begin + i];
        size_t len = strlen(cell), pad = width[i] - columns(cell, len);
        bool right = t->align[i] == 'r';
        owed += (i > 0 ? 2 : 0) + (right ? pad : 0);
        if (len > 0) {
            spaces(o, owed);
            out_write(o, cell, len);
            owed = 0;
        }
        owed += right ? 0 : pad;
    }
    out_text(o, "\n");
}

static void table_free(struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->cells[i]);
    free(t->cells);
    table_init(t, t->align);
}

int table_print(struct table *t, struct out *o, unsigned indent, deja_error *err)
{
    size_t n_columns = strlen(t->align);
    size_t *width = calloc(n_columns + 1, sizeof *width);
    int rc = DEJA_OK;
    if (width == NULL || t->failed) {
        rc = fail(err, DEJA_ENOMEM, "no memory for a table");
        goto out;
    }
    for (size_t i = 0; i < n_columns; i++)
        width[i] = column_width(t, i, n_columns);
    for (size_t at = 0; at < t->n; at += n_columns) {
        spaces(o, indent);
        print_row(t, o, at, width);
    }
out:
    free(width);
    table_free(t);
    return rc;
}
