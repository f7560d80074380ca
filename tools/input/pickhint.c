/* pickhint.c - reports what the input has instead of the requested key; see pickhint.h. */
#include "tools/input/pickhint.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include "tools/base/printable.h"
#include "tools/base/scan.h"
#include "tools/input/csv.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 60 /* bytes of a name or a line */
#define PATH_MOST  200
#define NAMES_MOST 40 /* many more than fit into a message */
#define DEPTH_MOST 4

void pickhint_keep(struct pickhint *h, deja_slice line, const char *path)
{
    if (h->n == PICKHINT_LINES || line.len == 0)
        return;
    const size_t len = line.len < PICKHINT_BYTES ? line.len : PICKHINT_BYTES;
    char *copy = malloc(len);
    if (!copy)
        return;
    memcpy(copy, line.data, len);
    if (h->n == 0)
        h->path = path;
    h->line[h->n] = copy;
    h->len[h->n++] = len;
}

void pickhint_fini(struct pickhint *h)
{
    for (unsigned i = 0; i < h->n; i++)
        free(h->line[i]);
    *h = (struct pickhint){0};
}

/* --- Names, as many as fit ---------------------------------------------------- */

#define APPEND(err, ...) printable_append((err)->text, sizeof(err)->text, __VA_ARGS__)

struct list {
    deja_error *err;
    const char *comma; /* "" before the first name */
    bool full;
};

static void list_add(struct list *l, deja_slice name, const char *remark)
{
    if (!l->err || l->full)
        return;
    char shown[NAME_SHOWN + 1];
    const size_t room = sizeof l->err->text - strlen(l->err->text);
    (void)printable(shown, sizeof shown, name.data, name.len, false);
    l->full = strlen(shown) + strlen(remark) + sizeof ", \"\", ..." > room;
    if (l->full)
        APPEND(l->err, "%s...", l->comma);
    else
        APPEND(l->err, "%s\"%s\"%s", l->comma, shown, remark);
    l->comma = ", ";
}

void pickhint_columns(deja_slice record, char delimiter, deja_error *err)
{
    char *scratch = malloc(record.len + 1);
    struct csv_cursor c = csv_cursor(record.data, record.len, delimiter);
    struct list l = {err, "", false};
    deja_slice name;
    while (scratch && !l.full && csv_next(&c, &name)) {
        if (csv_is_raw(name))
            name = (deja_slice){scratch, csv_unquote(name, scratch)};
        list_add(&l, name, "");
    }
    free(scratch);
}

/* --- JSON ----------------------------------------------------------------------- */

/* The paths of the members in the first lines. */
struct names {
    struct list list;
    char seen[NAMES_MOST][PATH_MOST];
    unsigned n;
};

/* Returns a remark about a value that is not a string. */
static const char *other_type(deja_slice value)
{
    const char c = value.len ? *(const char *)value.data : 0;
    return c == '"'               ? ""
           : c == '['             ? " (an array)"
           : c == 't' || c == 'f' ? " (true or false)"
           : c == 'n'             ? " (null)"
                                  : " (a number)";
}

static void name_member(struct names *names, const char *path, const char *remark)
{
    for (unsigned i = 0; i < names->n; i++)
        if (strcmp(names->seen[i], path) == 0)
            return;
    if (names->n == NAMES_MOST)
        return;
    memcpy(names->seen[names->n++], path, strlen(path) + 1);
    list_add(&names->list, (deja_slice){path, strlen(path)}, remark);
}

static void name_members(struct names *names, deja_slice object, const char *prefix, int depth)
{
    struct jsonpick_walk walk;
    deja_slice name, value;
    if (!jsonpick_walk(&walk, object))
        return;
    while (!names->list.full && jsonpick_next(&walk, &name, &value)) {
        char path[PATH_MOST];
        char plain[PATH_MOST];
        if (jsonpick_is_raw(name) && name.len <= sizeof plain)
            name = (deja_slice){plain, jsonpick_decode(name, plain)};
        (void)snprintf(path, sizeof path, "%s%s%.*s", prefix, *prefix ? "." : "",
                       name.len < NAME_SHOWN ? (int)name.len : NAME_SHOWN,
                       (const char *)name.data);
        if (value.len && *(const char *)value.data == '{' && depth < DEPTH_MOST)
            name_members(names, value, path, depth + 1);
        else
            name_member(names, path, other_type(value));
    }
}

/* The JSON of a line. */
static deja_slice json_of(const struct pick *p, deja_slice line)
{
    const char *at = line.data, *const end = at + line.len;
    deja_slice word;
    if (p->opt.format == PICK_CDXJ && scan_word(&at, end, &word))
        (void)scan_word(&at, end, &word);
    return (deja_slice){at, (size_t)(end - at)};
}

static void describe_json(const struct pickhint *h, const struct pick *p, deja_error *err)
{
    struct names names = {.list = {err, "", false}};
    struct jsonpick_walk walk;
    const deja_slice first = json_of(p, (deja_slice){h->line[0], h->len[0]});
    if (!jsonpick_walk(&walk, first)) {
        APPEND(err, "the first line of %s is not %s", fail_path(h->path).text,
               p->opt.format == PICK_CDXJ ? "two words and a JSON object" : "a JSON object");
        return;
    }
    APPEND(err, "the first lines of %s have: ", fail_path(h->path).text);
    for (unsigned i = 0; i < h->n; i++)
        name_members(&names, json_of(p, (deja_slice){h->line[i], h->len[i]}), "", 1);
    if (names.n == 0)
        APPEND(err, "no keys");
}

/* --- Fields and columns ----------------------------------------------------------- */

static size_t count_fields(const struct pick *p, deja_slice line)
{
    const char *at = line.data, *const end = at + line.len;
    deja_slice word;
    size_t n = 0;
    if (p->opt.field[0] && p->opt.has_delimiter) {
        for (n = 1; (at = memchr(at, p->opt.delimiter, (size_t)(end - at))) != NULL; n++)
            at++;
        return n;
    }
    while (scan_word(&at, end, &word))
        n++;
    return n;
}

static size_t count_columns(const struct pick *p, deja_slice line)
{
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    deja_slice field;
    size_t n = 0;
    while (csv_next(&c, &field))
        n++;
    return n;
}

static void describe_columns(const struct pickhint *h, const struct pick *p, deja_error *err)
{
    const deja_slice line = {h->line[0], h->len[0]};
    const size_t n = count_columns(p, line);
    APPEND(err, "the first line of %s has %s: ", fail_path(h->path).text, num_of(n, "column").s);
    pickhint_columns(line, p->opt.delimiter, err);
}

static void describe_fields(const struct pickhint *h, const struct pick *p, deja_error *err)
{
    const size_t n = count_fields(p, (deja_slice){h->line[0], h->len[0]});
    APPEND(err, "the first line of %s has %s", fail_path(h->path).text, num_of(n, "field").s);
    if (p->opt.format == PICK_SQUID || p->opt.format == PICK_CDX)
        APPEND(err, ", and the URL of a %s line is field %u", pick_format_name(p->opt.format),
               p->column[0]);
    else if (!p->opt.has_delimiter)
        APPEND(err, " between blanks; -d sets another delimiter");
}

static void describe_line(const struct pickhint *h, const struct pick *p, deja_error *err)
{
    const int shown = h->len[0] < NAME_SHOWN ? (int)h->len[0] : NAME_SHOWN;
    APPEND(err, "is %s %s? Its first line is '%.*s'", fail_path(h->path).text,
           p->opt.format == PICK_LOG     ? "a Common or Combined log"
           : p->opt.format == PICK_HOSTS ? "a list of hosts"
                                         : "in that format",
           shown, h->line[0]);
}

/* Whether the first line has that column or field, but it is empty. */
static bool is_only_empty(const struct pickhint *h, const struct pick *p)
{
    const deja_slice line = {h->line[0], h->len[0]};
    if (pick_is_csv(p))
        return count_columns(p, line) >= pick_last(p);
    return p->opt.field[0] && count_fields(p, line) >= pick_last(p);
}

int pickhint_fail(const struct pickhint *h, const struct pick *p, deja_error *err)
{
    const bool empty = h->n > 0 && is_only_empty(h, p);
    const int rc = fail(err, DEJA_EINVAL, "no line has %s%s", empty ? "anything in " : "",
                        pick_wanted(p).text);
    if (!err || h->n == 0)
        return rc;
    APPEND(err, "; ");
    if (p->opt.format == PICK_JSONL || p->opt.format == PICK_CDXJ)
        describe_json(h, p, err);
    else if (pick_is_csv(p))
        describe_columns(h, p, err);
    else if (p->opt.format == PICK_LOG || pick_is_list(p->opt.format))
        describe_line(h, p, err);
    else
        describe_fields(h, p, err);
    return rc;
}
