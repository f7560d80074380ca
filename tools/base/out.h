/* out.h - the only printer: results, messages, JSON, tables, bars.
 *
 * struct out      results, to standard output or a file, through a large buffer.  Writing
 *                 never fails on the spot: the first failure is kept, the rest is dropped,
 *                 and out_flush or out_close tells.
 * struct console  standard error: "deja dedup: text" lines and the progress line, which know
 *                 of each other. */
#ifndef TOOLS_BASE_OUT_H
#define TOOLS_BASE_OUT_H
#include "deja.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OUT_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* --- Results (out.c) ------------------------------------------------------ */

/* Nobody reads any more (EPIPE), or the user asked to stop while the reader was not reading.
 * Not an error to report: return it from run(), after cleaning up. */
#define OUT_GONE (-1001)

struct out {
    int fd;
    const char *name;        /* for errors: a path or "standard output"                   */
    char *buf;               /* OUT_CAP bytes                                             */
    size_t len;              /* of these, waiting                                         */
    uint64_t written;        /* bytes handed to the kernel so far                         */
    int error;               /* errno of the first failure; EPIPE: gone                   */
    bool opened;             /* fd is ours to close                                       */
    bool fresh;              /* nothing written: old contents still to be truncated       */
    bool tty;                /* a terminal                                                */
    bool utf8;               /* a terminal in a UTF-8 locale: blocks instead of ASCII     */
    const atomic_bool *stop; /* NULL, or: do not wait for ever once this is true          */
};
#define OUT_CAP  ((size_t)256 * 1024)
#define OUT_NONE ((struct out){.fd = -1}) /* safe to close, discard, finish */

/* fd stays the caller's; name is borrowed. */
int out_init(struct out *o, int fd, const char *name, deja_error *err);
/* Open path for writing; "-" is standard output.  The first flush truncates the file, and nothing
 * does before: a command that fails early destroys nothing. */
int out_open(struct out *o, const char *path, deja_error *err);
/* Refuse inputs of which one is this very output: reading it while writing it would lose it.
 * "-", and no path at all, is standard input.  After a refusal nothing is written any more. */
int out_refuse_inputs(struct out *o, const char *const *paths, size_t n, deja_error *err);

void out_spill(struct out *o, const void *data, size_t len); /* out_write's slow half */
static inline void out_write(struct out *o, const void *data, size_t len)
{
    if (len > OUT_CAP - o->len) {
        out_spill(o, data, len);
    } else if (len > 0) {
        memcpy(o->buf + o->len, data, len);
        o->len += len;
    }
}
void out_text(struct out *o, const char *text);
void out_printf(struct out *o, const char *fmt, ...) OUT_PRINTF(2, 3);
/* Words of text, broken at white space into lines of at most `width` columns; each line but
 * the first begins with `indent` spaces, and `column` is where the first begins.  A newline
 * follows the last. */
void out_wrap(struct out *o, const char *text, unsigned column, unsigned indent, unsigned width);
/* Spaces; and the columns of UTF-8 text: code points, which is right for what deja prints. */
void out_spaces(struct out *o, size_t n);
size_t out_columns(const char *text, size_t len);
/* Is the user's locale in UTF-8? */
bool out_is_utf8(void);
/* A bar of `width` columns, filled by `share` of it: [####......], or blocks on a terminal. */
void out_bar(struct out *o, double share, unsigned width);

/* Everything written so far is with the kernel when this returns DEJA_OK; OUT_GONE when there
 * is no reader; DEJA_EIO with the name of the output otherwise.  A failure stays. */
int out_flush(struct out *o, deja_error *err);
/* Flush, close what out_open opened, and let the buffer go.  Harmless when done twice. */
int out_close(struct out *o, deja_error *err);
/* For the end of a function: close after success, discard after a failure (rc < 0).  Returns
 * rc, or what closing failed with. */
int out_finish(struct out *o, int rc, deja_error *err);

/* --- Messages (console.c) ------------------------------------------------- */

struct console {
    int fd;
    const char *command; /* NULL: "deja: text" instead of "deja dedup: text" */
    bool quiet;          /* -q: no notes and no progress; errors still come  */
    bool tty;
    bool utf8;
    bool line_shown; /* a progress line stands on the terminal */
};
void console_init(struct console *c, int fd, const char *command);
void console_error(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
/* The work goes on, but its owner must know, even with -q. */
void console_warn(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
void console_note(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
void console_hint(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3); /* no prefix */
/* The progress line: shown in place of the one before, cut to the terminal's width. */
void console_line(struct console *c, const char *text);
void console_clear(struct console *c);

/* --- JSON (out_json.c) ---------------------------------------------------- */

/* One value, indented, with a newline behind it.  Inside an object every call names its key;
 * inside an array, and for the outermost value, key is NULL. */
#define JSON_DEPTH 16
struct json {
    struct out *out;
    unsigned depth;
    char close[JSON_DEPTH]; /* what ends each open level */
    bool filled;            /* the present level has an element */
    bool one_line;
};
void json_begin(struct json *j, struct out *out);
void json_begin_line(struct json *j, struct out *out); /* all in one line */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j); /* of the innermost object or array */
void json_string(struct json *j, const char *key, const char *text);         /* NULL: null */
void json_bytes(struct json *j, const char *key, const void *s, size_t len); /* bad UTF-8:
                                                                                U+FFFD */
void json_uint(struct json *j, const char *key, uint64_t n);
void json_real(struct json *j, const char *key, double x); /* nan and inf: null */
void json_bool(struct json *j, const char *key, bool b);
void json_null(struct json *j, const char *key);

/* A character below U+10000 as an escape, with its backslash; returns its length. */
#define JSON_ESCAPE 8
size_t json_escape(char out[JSON_ESCAPE], uint32_t c);

/* --- Tables (out_table.c) ------------------------------------------------- */

/* Columns as wide as their widest cell, two spaces between them.  align has one letter a
 * column: 'l' or 'r'.  Cells come row by row; an unfinished row is printed as it is. */
struct table {
    const char *align;
    char **cells;
    size_t n, cap;
    bool failed; /* out of memory: told by table_print */
};
void table_init(struct table *t, const char *align);
void table_cell(struct table *t, const char *fmt, ...) OUT_PRINTF(2, 3);
/* A row, or a part of one, of cells that are strings; NULL ends it. */
void table_row(struct table *t, ...) __attribute__((sentinel));
/* Print with `indent` spaces before each row, and free the cells. */
int table_print(struct table *t, struct out *o, unsigned indent, deja_error *err);

#endif
