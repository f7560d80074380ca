/* pick.c - picks the part of a line that is its key; see pick.h. */
#include "tools/input/pick.h"
#include "tools/base/ascii.h"
#include "tools/base/fail.h"
#include "tools/base/scan.h"
#include "tools/input/adblock.h"
#include "tools/input/csv.h"
#include "tools/input/hostlist.h"
#include "tools/input/logline.h"
#include "tools/input/namelist.h"
#include "tools/input/paragraphs.h"
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define SQUID_URL 7 /* words, from 1 */
#define CDX_URL   3

/* --- Fields ---------------------------------------------------------------- */

static bool cut_field(const struct pick *p, deja_slice line, deja_slice *key)
{
    const char *at = line.data;
    const char *end = at + line.len;
    for (unsigned field = p->column[0];;) {
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

static bool cut_word(const struct pick *p, deja_slice line, deja_slice *key)
{
    const char *at = line.data;
    const char *end = at + line.len;
    unsigned word = p->column[0];
    while (scan_word(&at, end, key))
        if (--word == 0)
            return true;
    return false;
}

static bool cut_column(const struct pick *p, deja_slice line, deja_slice *key)
{
    return csv_cut(line, p->opt.delimiter, p->column[0], key);
}

/* --- Several fields --------------------------------------------------------- */

#define JOINT  '\x1f' /* ASCII: unit separator */
#define ESCAPE '\x10' /* data link escape */

unsigned pick_last(const struct pick *p)
{
    unsigned last = 0;
    for (unsigned i = 0; i < p->columns; i++)
        last = p->column[i] > last ? p->column[i] : last;
    return last;
}

/* The next field of any syntax; the cursor is that of CSV. */
static bool next_field(const struct pick *p, struct csv_cursor *c, deja_slice *field)
{
    if (pick_is_csv(p))
        return csv_next(c, field);
    if (!p->opt.has_delimiter)
        return scan_word(&c->at, c->end, field);
    if (!c->at)
        return false;
    const size_t len = (size_t)(c->end - c->at);
    const char *stop = len ? memchr(c->at, c->delimiter, len) : NULL;
    *field = (deja_slice){c->at, stop ? (size_t)(stop - c->at) : len};
    c->at = stop ? stop + 1 : NULL;
    return true;
}

/* Finds the fields of the key; false if the line lacks one. */
static bool find_fields(const struct pick *p, deja_slice line, deja_slice found[PICK_COLUMNS])
{
    struct csv_cursor c = csv_cursor(line.data, line.len, p->opt.delimiter);
    const unsigned last = pick_last(p);
    for (unsigned i = 1; i <= last; i++) {
        deja_slice field;
        if (!next_field(p, &c, &field))
            return false;
        for (unsigned k = 0; k < p->columns; k++)
            if (p->column[k] == i)
                found[k] = field;
    }
    return true;
}

static bool cut_several(const struct pick *p, deja_slice line, deja_slice *key)
{
    deja_slice field[PICK_COLUMNS];
    size_t len = 0;
    if (!find_fields(p, line, field))
        return false;
    for (unsigned i = 0; i < p->columns; i++)
        len += field[i].len;
    *key = line;
    return len > 0;
}

static size_t put_escaped(deja_slice field, char *out)
{
    const char *from = field.data;
    size_t len = 0;
    for (size_t i = 0; i < field.len; i++) {
        if (from[i] == JOINT || from[i] == ESCAPE)
            out[len++] = ESCAPE;
        out[len++] = from[i];
    }
    return len;
}

static size_t join_fields(const struct pick *p, deja_slice line, char *out)
{
    deja_slice field[PICK_COLUMNS];
    size_t len = 0, most = p->columns, longest = 0;
    (void)find_fields(p, line, field);
    for (unsigned i = 0; i < p->columns; i++) {
        most += 2 * field[i].len;
        longest = field[i].len > longest ? field[i].len : longest;
    }
    if (!out)
        return most + longest;
    for (unsigned i = 0; i < p->columns; i++) {
        if (pick_is_csv(p) && csv_is_raw(field[i]))
            field[i] = (deja_slice){out + most, csv_unquote(field[i], out + most)};
        if (i)
            out[len++] = JOINT;
        len += put_escaped(field[i], out + len);
    }
    return len;
}

/* --- Formats --------------------------------------------------------------- */

static bool is_dash(deja_slice word)
{
    return word.len == 1 && *(const char *)word.data == '-';
}

static bool cut_log(const struct pick *p, deja_slice line, deja_slice *key)
{
    (void)p;
    return logline_target(line, key);
}

/* For a request that it could not parse, squid logs the reason instead of the URL. */
static bool cut_squid(const struct pick *p, deja_slice line, deja_slice *key)
{
    if (!cut_word(p, line, key) || is_dash(*key))
        return false;
    const char *at = key->data;
    return !scan_begins(at, at + key->len, "error:");
}

bool pick_is_legend(deja_slice line)
{
    const char *at = line.data;
    const char *end = at + line.len;
    deja_slice first;
    if (line.len == 0 || (*at != 'C' && !scan_is_blank(*at)))
        return false;
    return scan_word(&at, end, &first) && first.len == 3 && memcmp(first.data, "CDX", 3) == 0;
}

static bool cut_cdx(const struct pick *p, deja_slice line, deja_slice *key)
{
    return !pick_is_legend(line) && cut_word(p, line, key) && !is_dash(*key);
}

static bool cut_json(const struct pick *p, deja_slice line, deja_slice *key)
{
    return jsonpick_find(line, &p->json_key, key);
}

static bool cut_cdxj(const struct pick *p, deja_slice line, deja_slice *key)
{
    const char *at = line.data;
    const char *end = at + line.len;
    deja_slice surt, time;
    return scan_word(&at, end, &surt) && scan_word(&at, end, &time) &&
           jsonpick_find((deja_slice){at, (size_t)(end - at)}, &p->json_key, key);
}

static bool cut_paragraph(const struct pick *p, deja_slice record, deja_slice *key)
{
    (void)p;
    *key = paragraph_of(record);
    return true;
}

static const struct pick_ops lines_ops = {0};
static const struct pick_ops field_ops = {.cut = cut_field};
static const struct pick_ops word_ops = {.cut = cut_word};
static const struct pick_ops csv_ops = {
    .cut = cut_column, .is_raw = csv_is_raw, .decode = csv_unquote};
static const struct pick_ops several_ops = {.cut = cut_several, .join = join_fields};
static const struct pick_ops paragraph_ops = {
    .cut = cut_paragraph, .is_raw = paragraph_is_raw, .decode = paragraph_decode};

static const struct {
    const char *name;
    struct pick_ops ops;
} formats[] = {
    [PICK_LINES] = {"lines", {0}},
    [PICK_LOG] = {"log", {.cut = cut_log, .is_raw = logline_is_raw, .decode = logline_decode}},
    [PICK_SQUID] = {"squid", {.cut = cut_squid}},
    [PICK_CDX] = {"cdx", {.cut = cut_cdx}},
    [PICK_CDXJ] = {"cdxj",
                   {.cut = cut_cdxj, .is_raw = jsonpick_is_raw, .decode = jsonpick_decode}},
    [PICK_JSONL] = {"jsonl",
                    {.cut = cut_json, .is_raw = jsonpick_is_raw, .decode = jsonpick_decode}},
    [PICK_HOSTS] = {"hosts", {.begin = hostlist_begin, .next = hostlist_next}},
    [PICK_DNSMASQ] = {"dnsmasq", {.begin = dnsmasq_begin, .next = dnsmasq_next}},
    [PICK_UNBOUND] = {"unbound", {.begin = unbound_begin, .next = blocklist_next}},
    [PICK_RPZ] = {"rpz", {.begin = rpz_begin, .next = blocklist_next}},
    [PICK_ADBLOCK] = {"adblock", {.begin = adblock_begin, .next = adblock_next}},
};

const char *pick_format_name(uint32_t format)
{
    return format < sizeof formats / sizeof formats[0] ? formats[format].name : NULL;
}

bool pick_is_list(uint32_t format)
{
    return pick_format_name(format) && formats[format].ops.begin;
}

/* --- Words ----------------------------------------------------------------- */

static struct pick_text name_numbers(const struct pick *p, const char *what)
{
    struct pick_text t;
    int len = snprintf(t.text, sizeof t.text, "%s%s", what, p->columns > 1 ? "s" : "");
    for (unsigned i = 0; i < p->columns && len < (int)sizeof t.text; i++)
        len += snprintf(t.text + len, sizeof t.text - (size_t)len, "%c%u", i ? ',' : ' ',
                        p->column[i]);
    return t;
}

struct pick_text pick_wanted(const struct pick *p)
{
    static const char *const names[] = {
        [PICK_LINES] = "a key",           [PICK_LOG] = "a request target",
        [PICK_SQUID] = "a URL",           [PICK_CDX] = "a URL",
        [PICK_HOSTS] = "a host",          [PICK_DNSMASQ] = "a host",
        [PICK_UNBOUND] = "a host",        [PICK_RPZ] = "a host",
        [PICK_ADBLOCK] = "a host or URL",
    };
    const struct pick_options *o = &p->opt;
    struct pick_text t;
    char *text = t.text;
    const size_t cap = sizeof t.text;
    if (o->csv_column && p->header == PICK_NO_HEADER)
        return name_numbers(p, "column");
    if (o->field[0])
        return name_numbers(p, "field");
    if (o->csv_column)
        (void)snprintf(text, cap, "column%s \"%.40s\"", p->columns > 1 ? "s" : "",
                       fail_path(o->csv_column).text);
    else if (o->format == PICK_JSONL || o->format == PICK_CDXJ)
        (void)snprintf(text, cap, "a string \"%.40s\"",
                       fail_path(o->json_key ? o->json_key : "url").text);
    else
        (void)snprintf(text, cap, "%s", names[o->format ? o->format : PICK_LINES]);
    return t;
}

/* --- Options --------------------------------------------------------------- */

/* Adds a column to the key. */
static int add_column(struct pick *p, deja_slice name, deja_error *err)
{
    unsigned long number = 0;
    bool digits = name.len > 0;
    for (size_t i = 0; i < name.len && digits; i++) {
        const char c = ((const char *)name.data)[i];
        digits = ascii_is_digit(c);
        if (digits && number <= UINT_MAX)
            number = number * 10 + (unsigned)(c - '0');
    }
    if (name.len == 0)
        return fail(err, DEJA_EINVAL, "--csv needs the name or the number of a column");
    if (digits && (number == 0 || number > UINT_MAX))
        return fail(err, DEJA_EINVAL, "--csv %.40s: columns are counted from 1",
                    p->opt.csv_column);
    if (p->columns == PICK_COLUMNS)
        return fail(err, DEJA_EINVAL, "--csv takes at most %d columns", PICK_COLUMNS);
    if (!digits) {
        p->header = PICK_CSV_HEADER;
        p->name[p->columns] = name;
    }
    p->column[p->columns++] = (unsigned)number;
    return DEJA_OK;
}

static int init_csv(struct pick *p, char terminator, deja_error *err)
{
    struct pick_options *o = &p->opt;
    struct csv_cursor list = csv_cursor(o->csv_column, strlen(o->csv_column), ',');
    deja_slice name;
    int rc = DEJA_OK;
    if (!o->has_delimiter)
        o->delimiter = ',';
    if (o->delimiter == terminator || o->delimiter == '"' || o->delimiter == '\r' ||
        o->delimiter == '\n')
        return fail(err, DEJA_EINVAL,
                    "a CSV delimiter cannot be a quote or a line end; choose another");
    while (rc == DEJA_OK && csv_next(&list, &name))
        rc = add_column(p, name, err);
    p->ops = p->columns > 1 ? &several_ops : &csv_ops;
    return rc;
}

static int init_field(struct pick *p, char terminator, deja_error *err)
{
    while (p->columns < PICK_COLUMNS && p->opt.field[p->columns]) {
        p->column[p->columns] = p->opt.field[p->columns];
        p->columns++;
    }
    p->ops = p->columns > 1 ? &several_ops : p->opt.has_delimiter ? &field_ops : &word_ops;
    if (p->opt.has_delimiter && p->opt.delimiter == terminator)
        return fail(err, DEJA_EINVAL, "the delimiter of fields also ends records; choose another");
    return DEJA_OK;
}

static int init_format(struct pick *p, deja_error *err)
{
    const uint32_t format = p->opt.format;
    if (!pick_format_name(format))
        return fail(err, DEJA_EINVAL, "format number %u is unknown", (unsigned)format);
    p->ops = &formats[format].ops;
    p->columns = 1;
    if (format == PICK_SQUID)
        p->column[0] = SQUID_URL;
    if (format == PICK_CDX) {
        p->column[0] = CDX_URL;
        p->header = PICK_CDX_LEGEND;
    }
    return DEJA_OK;
}

static int check_paragraphs(const struct pick_options *o, char terminator, deja_error *err)
{
    const char *other = o->field[0]       ? "-f/--field"
                        : o->csv_column   ? "--csv"
                        : o->format       ? "--format"
                        : o->json_key     ? "--json-key"
                        : terminator == 0 ? "-z"
                                          : NULL;
    if (!o->paragraphs || !other)
        return DEJA_OK;
    return fail(err, DEJA_EINVAL, "--paragraphs and %s cannot be combined: %s", other,
                terminator == 0 ? "blank lines end paragraphs, not zero bytes"
                                : "paragraphs are compared as a whole");
}

static int check(const struct pick_options *o, deja_error *err)
{
    const char *format = pick_format_name(o->format);
    const bool json = o->format == PICK_JSONL || o->format == PICK_CDXJ;
    const char *other = o->field[0] ? "-f/--field" : o->format ? "--format" : "--json-key";
    if (o->csv_column && (o->field[0] || o->format || o->json_key))
        return fail(err, DEJA_EINVAL, "--csv and %s cannot be combined", other);
    if (o->field[0] && o->json_key)
        return fail(err, DEJA_EINVAL, "-f/--field and --json-key cannot be combined");
    if (o->field[0] && o->format > PICK_LINES)
        return fail(err, DEJA_EINVAL,
                    "-f/--field and --format %s cannot be combined: the format says where the key "
                    "is",
                    format ? format : "?");
    if (o->json_key && o->format && !json)
        return fail(err, DEJA_EINVAL, "--json-key needs --format jsonl or cdxj, not %s",
                    format ? format : "?");
    if (o->json_key && o->json_key[0] == 0)
        return fail(err, DEJA_EINVAL, "--json-key needs a name");
    struct jsonpick_path path;
    if (o->json_key && !jsonpick_parse(&path, o->json_key))
        return fail(err, DEJA_EINVAL,
                    "--json-key '%s' is not the name of a key; write url or a.b, and .\"a.b\" for "
                    "a key with a dot in its name",
                    fail_path(o->json_key).text);
    if (o->has_delimiter && !o->field[0] && !o->csv_column)
        return fail(err, DEJA_EINVAL, "-d/--delimiter needs -f/--field or --csv");
    return DEJA_OK;
}

int pick_init(struct pick *p, const struct pick_options *opt, char terminator, deja_error *err)
{
    *p = (struct pick){.ops = &lines_ops, .opt = *opt};
    int rc = check_paragraphs(opt, terminator, err);
    if (rc == DEJA_OK)
        rc = check(opt, err);
    if (rc < 0)
        return rc;
    if (opt->paragraphs)
        p->ops = &paragraph_ops;
    if (!jsonpick_parse(&p->json_key, opt->json_key ? opt->json_key : "url"))
        return DEJA_EINVAL; /* check has reported it */
    if (opt->json_key && !opt->format)
        p->opt.format = PICK_JSONL;
    if (opt->csv_column)
        return init_csv(p, terminator, err);
    if (opt->field[0])
        return init_field(p, terminator, err);
    return p->opt.format ? init_format(p, err) : DEJA_OK;
}
