/* out.h - everything that the tools print: results, messages, JSON, tables, bars.
 *
 * struct out      results, to standard output or a file, through a large buffer.  Writes do not
 *                 return errors: the first failure is remembered, later output is dropped, and
 *                 out_flush or out_close returns the failure.
 * struct console  standard error: "deja dedup: text" lines and the progress line, which is
 *                 replaced on a terminal and printed once a minute elsewhere. */
#ifndef TOOLS_BASE_OUT_H
#define TOOLS_BASE_OUT_H
#include "deja.h"
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define OUT_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

/* --- Results (out.c) ------------------------------------------------------ */

/* The reader has closed the pipe (EPIPE), or was not reading when the user asked to stop.  This is
 * not an error to report: clean up and return it from run(). */
#define OUT_GONE (-1001)

struct out {
    int fd;
    const char *name;        /* for errors: a path or "standard output"                   */
    char *buf;               /* OUT_CAP bytes                                             */
    size_t len;              /* of these, not yet written                                 */
    uint64_t written;        /* bytes that write(2) has accepted                          */
    int error;               /* errno of the first failure; EPIPE: OUT_GONE               */
    bool opened;             /* fd is ours to close                                       */
    bool fresh;              /* nothing written; the old contents are not yet truncated   */
    bool tty;                /* a terminal                                                */
    bool utf8;               /* a terminal in a UTF-8 locale: blocks instead of ASCII     */
    const atomic_bool *stop; /* or NULL; once it is true, do not wait forever             */
};
#define OUT_CAP  ((size_t)256 * 1024)
#define OUT_NONE ((struct out){.fd = -1}) /* safe to close, discard, finish */

/* fd stays the caller's; name is borrowed. */
int out_init(struct out *o, int fd, const char *name, deja_error *err);
/* Opens path for writing; "-" is standard output.  Only the first flush truncates the file, so a
 * command that fails early destroys nothing. */
int out_open(struct out *o, const char *path, deja_error *err);
/* Fails if one of the inputs is the output file, which would be overwritten while it is being
 * read.  "-", or no path at all, is standard input.  After a failure nothing is written. */
int out_refuse_inputs(struct out *o, const char *const *paths, size_t n, deja_error *err);

void out_spill(struct out *o, const void *data, size_t len); /* out_write, if the buffer is full */
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
/* Wraps text at white space into lines of at most `width` columns.  The first line starts in
 * column `column`, the others after `indent` spaces.  Ends with a newline. */
void out_wrap(struct out *o, const char *text, unsigned column, unsigned indent, unsigned width);
/* out_columns counts code points; each is one column in the texts that deja prints. */
void out_spaces(struct out *o, size_t n);
size_t out_columns(const char *text, size_t len);
/* Prints a bar of `width` columns, of which `share` is filled: [####......], or blocks on a
 * terminal. */
void out_bar(struct out *o, double share, unsigned width);

/* DEJA_OK: write(2) has accepted everything.  OUT_GONE: the reader is gone.  DEJA_EIO: err names
 * the output.  After a failure, further calls return it again. */
int out_flush(struct out *o, deja_error *err);
/* Flushes, closes the file if out_open opened it, and frees the buffer.  May be repeated. */
int out_close(struct out *o, deja_error *err);
/* For the end of a function: closes after success, and drops the rest of the buffer after a
 * failure (rc < 0).  Returns rc, or the error from closing. */
int out_finish(struct out *o, int rc, deja_error *err);

/* --- Messages (console.c) ------------------------------------------------- */

struct console {
    int fd;
    const char *command; /* NULL: "deja: text" instead of "deja dedup: text" */
    bool quiet;          /* -q: no notes and no progress, only errors        */
    bool json;           /* --json: a report may follow; no progress lines outside a terminal */
    bool tty;
    bool utf8;
    bool live;             /* a terminal that can erase a line                    */
    bool color;            /* of the progress line                                */
    bool line_shown;       /* the terminal shows a progress line                  */
    double (*clock)(void); /* in seconds; NULL: the monotonic clock; set by tests */
    double next;           /* when the next progress line is due                  */
};
/* Reads NO_COLOR, CLICOLOR, CLICOLOR_FORCE and TERM. */
void console_init(struct console *c, int fd, const char *command);
double console_seconds(const struct console *c);
void console_error(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
/* The work continues, but the user must know, even with -q. */
void console_warn(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
void console_note(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3);
void console_hint(struct console *c, const char *fmt, ...) OUT_PRINTF(2, 3); /* no prefix */
/* The progress line, of which the lead is highlighted: `lead` and `rest`, joined.  On a terminal it
 * replaces the last one and is cut to the width.  Elsewhere it is a message, at most one per
 * minute, and other calls print nothing. */
void console_line(struct console *c, const char *lead, const char *rest);
/* Is it time for the next line?  Ask before you compute it, if you may have many of them.  The
 * first one is due after half a second, or a minute if there is no terminal. */
bool console_due(const struct console *c);
void console_clear(struct console *c);

/* --- JSON (out_json.c) ---------------------------------------------------- */

/* Prints one value, indented, followed by a newline.  Inside an object every call names its key;
 * inside an array, and for the outermost value, key is NULL. */
#define JSON_DEPTH 16
struct json {
    struct out *out;
    unsigned depth;
    char close[JSON_DEPTH]; /* the closing bracket of each open level */
    bool filled;            /* the current level has an element */
    bool one_line;
};
void json_begin(struct json *j, struct out *out);
void json_begin_line(struct json *j, struct out *out); /* all on one line */
void json_object(struct json *j, const char *key);
void json_array(struct json *j, const char *key);
void json_end(struct json *j); /* ends the innermost object or array */
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

/* Columns are as wide as their widest cell, with two spaces between them.  align has one letter
 * per column: 'l' or 'r'.  Add cells row by row; an incomplete last row is printed as it is. */
struct table {
    const char *align;
    char **cells;
    size_t n, cap;
    bool failed; /* out of memory: table_print returns the error */
};
void table_init(struct table *t, const char *align);
void table_cell(struct table *t, const char *fmt, ...) OUT_PRINTF(2, 3);
/* Adds strings as cells; NULL ends the list. */
void table_row(struct table *t, ...) __attribute__((sentinel));
/* Prints with `indent` spaces before each row and frees the cells. */
int table_print(struct table *t, struct out *o, unsigned indent, deja_error *err);

#endif
