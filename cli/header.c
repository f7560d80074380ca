/* header.c - the line at the beginning of a file that says what its columns are; see header.h. */
#include "header.h"
#include "csv.h"
#include "fail.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void header_fini(struct header *h)
{
    free(h->text);
    *h = (struct header){0};
}

static int no_such_column(const struct pick *p, deja_slice line, char *scratch, const char *path,
                          deja_error *err)
{
    int rc = fail(err, DEJA_EINVAL, "%s has no column \"%.40s\"; it has: ", fail_path(path).text,
                  p->opt.csv_column);
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    deja_slice name;
    const char *comma = "";
    while (err && csv_next(&c, &name)) {
        if (csv_is_raw(name))
            name = (deja_slice){scratch, csv_unquote(name, scratch)};
        size_t used = strlen(err->text);
        size_t room = sizeof err->text - used;
        int shown = name.len > 60 ? 60 : (int)name.len;
        if ((size_t)shown + sizeof ", \"\", ..." > room) {
            snprintf(err->text + used, room, "%s...", comma);
            break;
        }
        snprintf(err->text + used, room, "%s\"%.*s\"", comma, shown, (const char *)name.data);
        comma = ", ";
    }
    for (char *s = err ? err->text : scratch; err && *s; s++)
        if ((unsigned char)*s < 0x20 || *s == 0x7f)
            *s = '?';
    return rc;
}

/* The number of the column that is asked for, or 0. */
static unsigned find_name(const struct pick *p, deja_slice line, char *scratch)
{
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    const size_t len = strlen(p->opt.csv_column);
    deja_slice name;
    for (unsigned i = 1; csv_next(&c, &name); i++) {
        if (csv_is_raw(name))
            name = (deja_slice){scratch, csv_unquote(name, scratch)};
        if (name.len == len && memcmp(name.data, p->opt.csv_column, len) == 0)
            return i;
    }
    return 0;
}

static deja_slice without_end(deja_slice record)
{
    static const char bom[3] = {'\xef', '\xbb', '\xbf'};
    const char *text = record.data;
    size_t len = record.len - 1;
    if (len && text[len] == '\n' && text[len - 1] == '\r')
        len--;
    if (text[record.len - 1] == '\n' && len >= sizeof bom && memcmp(text, bom, sizeof bom) == 0)
        return (deja_slice){text + sizeof bom, len - sizeof bom};
    return (deja_slice){text, len};
}

static int keep(struct header *h, deja_slice record, deja_error *err)
{
    if (h->text) {
        deja_slice a = without_end((deja_slice){h->text, h->len});
        deja_slice b = without_end(record);
        h->differ = h->differ || a.len != b.len || memcmp(a.data, b.data, a.len) != 0;
        return DEJA_OK;
    }
    h->text = malloc(record.len);
    if (!h->text)
        return fail(err, DEJA_ENOMEM, "out of memory for a header of %zu bytes", record.len);
    memcpy(h->text, record.data, record.len);
    h->len = record.len;
    return DEJA_OK;
}

int header_take(struct header *h, struct pick *p, deja_slice record, const char *path,
                deja_error *err)
{
    deja_slice line = without_end(record);
    char *scratch = malloc(line.len + 1);
    if (!scratch)
        return fail(err, DEJA_ENOMEM, "out of memory for a header of %zu bytes", line.len);
    p->column = find_name(p, line, scratch);
    int rc = p->column ? keep(h, record, err) : no_such_column(p, line, scratch, path, err);
    free(scratch);
    return rc;
}
