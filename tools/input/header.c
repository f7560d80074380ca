/* header.c - finds the line that names the columns of a file; see header.h. */
#include "tools/input/header.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/scan.h"
#include "tools/input/csv.h"
#include "tools/input/pickhint.h"
#include <stdlib.h>
#include <string.h>

void header_init(struct header *h, const struct pick *p)
{
    *h = (struct header){.column = p->column[0]};
}

static void drop_comment(struct header *h)
{
    free(h->comment);
    h->comment = NULL;
    h->comment_len = 0;
}

void header_fini(struct header *h)
{
    drop_comment(h);
    free(h->text);
    *h = (struct header){0};
}

void header_begin(struct header *h, struct pick *p)
{
    drop_comment(h);
    p->column[0] = h->column;
}

static int no_memory(size_t len, deja_error *err)
{
    return fail(err, DEJA_ENOMEM, "out of memory for a header of %zu bytes", len);
}

static deja_slice content_of(deja_slice field, char *scratch)
{
    return csv_is_raw(field) ? (deja_slice){scratch, csv_unquote(field, scratch)} : field;
}

/* The number of the column with this name, or 0.  scratch: for the name, then for a field. */
static unsigned number_of(const struct pick *p, deja_slice name, deja_slice line, char *scratch)
{
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    const deja_slice want = content_of(name, scratch);
    deja_slice field;
    for (unsigned i = 1; csv_next(&c, &field); i++)
        if (ascii_compare(content_of(field, scratch + name.len), want) == 0)
            return i;
    return 0;
}

/* Sets the columns that were given by name.  1: found; 0: at least *missing does not exist. */
static int find_columns(struct pick *p, deja_slice line, deja_slice *missing, deja_error *err)
{
    char *scratch = malloc(strlen(p->opt.csv_column) + line.len + 1);
    unsigned absent = 0;
    if (!scratch)
        return no_memory(line.len, err);
    for (unsigned i = 0; i < p->columns; i++) {
        if (!p->name[i].data)
            continue;
        p->column[i] = number_of(p, p->name[i], line, scratch);
        if (!p->column[i] && !absent++)
            *missing = p->name[i];
    }
    free(scratch);
    return !absent;
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

/* Returns a comment without its #. */
static deja_slice without_mark(deja_slice line)
{
    const char *at = line.data;
    const char *end = at + line.len;
    while (at < end && *at == '#')
        at++;
    while (at < end && scan_is_blank(*at))
        at++;
    return (deja_slice){at, (size_t)(end - at)};
}

static int keep(struct header *h, deja_slice record, deja_error *err)
{
    if (h->text) {
        deja_slice a = without_end((deja_slice){h->text, h->len});
        deja_slice b = without_end(record);
        h->differ = h->differ || ascii_compare(a, b) != 0;
        return DEJA_OK;
    }
    h->text = malloc(record.len);
    if (!h->text)
        return no_memory(record.len, err);
    memcpy(h->text, record.data, record.len);
    h->len = record.len;
    return DEJA_OK;
}

/* --- CSV ------------------------------------------------------------------- */

static int take_names(struct header *h, struct pick *p, deja_slice record, const char *path,
                      deja_error *err)
{
    deja_slice line = without_end(record), missing;
    int rc = find_columns(p, line, &missing, err);
    if (rc == 0) {
        rc = fail(err, DEJA_EINVAL, "%s has no column \"%.*s\"; it has: ", fail_path(path).text,
                  missing.len < 40 ? (int)missing.len : 40, (const char *)missing.data);
        pickhint_columns(line, p->opt.delimiter, err);
        return rc;
    }
    if (rc > 0)
        rc = keep(h, record, err);
    return rc < 0 ? rc : HEADER_TAKEN;
}

static int keep_comment(struct header *h, deja_slice record, deja_error *err)
{
    char *comment = realloc(h->comment, record.len);
    if (!comment)
        return no_memory(record.len, err);
    memcpy(comment, record.data, record.len);
    h->comment = comment;
    h->comment_len = record.len;
    return HEADER_COMMENT;
}

/* The # may be part of the name: #id,url has a column "#id" and a column "id". */
int header_in_comment(struct header *h, struct pick *p, deja_error *err)
{
    if (!h->comment)
        return 0;
    deja_slice record = {h->comment, h->comment_len};
    deja_slice line = without_end(record), missing;
    int rc = find_columns(p, line, &missing, err);
    if (rc == 0)
        rc = find_columns(p, without_mark(line), &missing, err);
    if (rc > 0)
        rc = keep(h, record, err) < 0 ? DEJA_ENOMEM : 1;
    return rc;
}

/* --- CDX ------------------------------------------------------------------- */

static int take_legend(struct header *h, struct pick *p, deja_slice record, const char *path,
                       deja_error *err)
{
    deja_slice line = without_end(record);
    if (!pick_is_legend(line))
        return HEADER_NOT;
    const char *at = line.data;
    const char *end = at + line.len;
    deja_slice letter;
    (void)scan_word(&at, end, &letter); /* CDX */
    p->column[0] = 0;
    for (unsigned i = 1; p->column[0] == 0 && scan_word(&at, end, &letter); i++)
        if (letter.len == 1 && *(const char *)letter.data == 'a')
            p->column[0] = i;
    if (!p->column[0])
        return fail(err, DEJA_EINVAL, "%s has no original URLs: its CDX legend has no column a",
                    fail_path(path).text);
    int rc = keep(h, record, err);
    return rc < 0 ? rc : HEADER_TAKEN;
}

/* --- Either ---------------------------------------------------------------- */

int header_look(struct header *h, struct pick *p, deja_slice record, const char *path,
                deja_error *err)
{
    if (p->header == PICK_CDX_LEGEND)
        return take_legend(h, p, record, path, err);
    deja_slice line = without_end(record);
    if (line.len && header_is_comment(p, *(const char *)line.data))
        return keep_comment(h, record, err);
    return take_names(h, p, record, path, err);
}

int header_end(struct header *h, struct pick *p, const char *path, deja_error *err)
{
    int rc = header_in_comment(h, p, err);
    if (rc == 0 && h->comment)
        rc = take_names(h, p, (deja_slice){h->comment, h->comment_len}, path, err);
    return rc < 0 ? rc : DEJA_OK;
}
