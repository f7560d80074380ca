/* out_table.c - prints tables.  All cells are stored first, because the widest one sets the width
 * of its column. */
#include "tools/base/buffer.h"
#include "tools/base/fail.h"
#include "tools/base/out.h"
#include "tools/base/printable.h"
#include <stdarg.h>
#include <stdlib.h>

void table_init(struct table *t, const char *align)
{
    *t = (struct table){.align = align};
}

static bool table_grow(struct table *t)
{
    void *cells = array_grow(t->cells, &t->cap, t->n + 1, sizeof *t->cells);
    t->cells = cells ? cells : t->cells;
    return cells;
}

void table_cell(struct table *t, const char *fmt, ...)
{
    char *text = NULL, *cell = NULL;
    va_list args;
    va_start(args, fmt);
    const int len = t->failed || !table_grow(t) ? -1 : vasprintf(&text, fmt, args);
    va_end(args);
    const size_t cap = len < 0 ? 0 : 4 * (size_t)len + 1; /* escapes */
    if (len >= 0)
        cell = malloc(cap);
    if (cell) {
        (void)printable(cell, cap, text, (size_t)len, false);
        t->cells[t->n++] = cell;
    } else {
        t->failed = true;
    }
    if (len >= 0)
        free(text);
}

void table_row(struct table *t, ...)
{
    va_list cells;
    va_start(cells, t);
    for (const char *cell; (cell = va_arg(cells, const char *));)
        table_cell(t, "%s", cell);
    va_end(cells);
}

static size_t column_width(const struct table *t, size_t column, size_t n_columns)
{
    size_t width = 0;
    for (size_t i = column; i < t->n; i += n_columns) {
        size_t wide = out_columns(t->cells[i], strlen(t->cells[i]));
        width = wide > width ? wide : width;
    }
    return width;
}

static void print_row(const struct table *t, struct out *o, size_t begin, const size_t *width)
{
    size_t n_columns = strlen(t->align), owed = 0; /* `owed`: no line may end with spaces */
    for (size_t i = 0; i < n_columns && begin + i < t->n; i++) {
        const char *cell = t->cells[begin + i];
        size_t len = strlen(cell), pad = width[i] - out_columns(cell, len);
        bool right = t->align[i] == 'r';
        owed += (i > 0 ? 2 : 0) + (right ? pad : 0);
        if (len > 0) {
            out_spaces(o, owed);
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
    if (!width || t->failed) {
        rc = fail(err, DEJA_ENOMEM, "out of memory for a table");
        goto out;
    }
    for (size_t i = 0; i < n_columns; i++)
        width[i] = column_width(t, i, n_columns);
    for (size_t at = 0; at < t->n; at += n_columns) {
        out_spaces(o, indent);
        print_row(t, o, at, width);
    }
out:
    free(width);
    table_free(t);
    return rc;
}
