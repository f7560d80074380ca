/* pick.c - which part of a line is its key; see pick.h. */
#include "pick.h"
#include "csv.h"
#include "fail.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static bool cut_field(const struct pick *p, deja_slice line, deja_slice *key)
{
    const char *at = line.data;
    const char *end = at + line.len;
    for (unsigned field = p->column;;) {
        const char *stop = at < end ? memchr(at, p->opt.delimiter, (size_t)(end - at)) : NULL;
        if (--field == 0) {
            *key = (deja_slice){at, (size_t)((stop ? stop : end) - at)};
            return true;
        }
        if (!stop)
            return false;
        at = stop + 1;
    }
}

static bool cut_column(const struct pick *p, deja_slice line, deja_slice *key)
{
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    unsigned column = p->column;
    while (csv_next(&c, key))
        if (--column == 0)
            return true;
    return false;
}

static const struct pick_ops lines_ops = {0};
static const struct pick_ops field_ops = {.cut = cut_field};
static const struct pick_ops csv_ops = {
    .cut = cut_column, .is_raw = csv_is_raw, .decode = csv_unquote};

static int find_column(struct pick *p, deja_error *err)
{
    const char *column = p->opt.csv_column;
    if (column[0] == 0)
        return fail(err, DEJA_EINVAL, "--csv needs the name or the number of a column");
    p->by_name = column[strspn(column, "0123456789")] != 0;
    if (p->by_name)
        return DEJA_OK;
    errno = 0;
    unsigned long number = strtoul(column, NULL, 10);
    if (number == 0 || number > UINT_MAX || errno)
        return fail(err, DEJA_EINVAL, "--csv %.40s: columns are counted from 1", column);
    p->column = (unsigned)number;
    return DEJA_OK;
}

int pick_init(struct pick *p, const struct pick_options *opt, char terminator, deja_error *err)
{
    *p = (struct pick){.ops = &lines_ops, .opt = *opt, .column = opt->field};
    struct pick_options *o = &p->opt;
    if (o->csv_column && o->field)
        return fail(err, DEJA_EINVAL, "--csv and --field exclude each other: choose one");
    if (!o->has_delimiter)
        o->delimiter = o->csv_column ? ',' : '\t';
    if ((o->field || o->csv_column) && o->delimiter == terminator)
        return fail(err, DEJA_EINVAL, "the delimiter of fields also ends records; choose another");
    if (o->csv_column && (o->delimiter == '"' || o->delimiter == '\r' || o->delimiter == '\n'))
        return fail(err, DEJA_EINVAL,
                    "a CSV delimiter cannot be a quote or a line end; choose another");
    if (o->field)
        p->ops = &field_ops;
    if (!o->csv_column)
        return DEJA_OK;
    p->ops = &csv_ops;
    return find_column(p, err);
}
