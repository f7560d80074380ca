/* opt.c - walks option tables and parses the command line with them. */
#include "cli/options/opt.h"
#include "tools/base/fail.h"
#include "tools/base/number.h"
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- Walking a table ------------------------------------------------------- */

static const struct opt opt_help[] = {
    OPT_HEADING("General"),
    {.type = OPT_TYPE_FLAG,
     .letter = 'h',
     .name = "help",
     .help = "print this help; -h: only the most used options"},
    OPT_END,
};

static void enter(struct opt_walk *w, const struct opt *table, size_t base)
{
    assert(w->depth < OPT_DEPTH);
    w->level[w->depth].at = table;
    w->level[w->depth].base = base;
    w->depth++;
}

void opt_walk_init(struct opt_walk *w, const struct opt *table)
{
    w->depth = 0;
    enter(w, opt_help, 0);
    if (table)
        enter(w, table, 0);
}

const struct opt *opt_walk_next(struct opt_walk *w, size_t *base)
{
    while (w->depth > 0) {
        const struct opt *o = w->level[w->depth - 1].at;
        *base = w->level[w->depth - 1].base;
        if (o->type == OPT_TYPE_END) {
            w->depth--;
            continue;
        }
        w->level[w->depth - 1].at++;
        if (o->type != OPT_TYPE_GROUP)
            return o;
        enter(w, o->make ? o->make() : o->group, *base + o->offset);
    }
    return NULL;
}

/* Finds an option by its letter or, if that is 0, by the first len bytes of name. */
static const struct opt *find(const struct opt *table, char letter, const char *name, size_t len,
                              size_t *base)
{
    struct opt_walk w;
    const struct opt *o;
    opt_walk_init(&w, table);
    while ((o = opt_walk_next(&w, base)) != NULL) {
        if (!opt_is_option(o))
            continue;
        if (letter != '\0' ? o->letter == letter
                           : strncmp(o->name, name, len) == 0 && o->name[len] == '\0')
            return o;
    }
    return NULL;
}

static bool is_given(const struct opt *o, const char *field)
{
    static const char zeros[sizeof(uint64_t)];
    switch (o->type) {
    case OPT_TYPE_FLAG:
        return o->bit ? *(const uint32_t *)(const void *)field & o->bit
                      : *(const bool *)(const void *)field;
    case OPT_TYPE_CHAR:
        return ((const struct opt_char *)(const void *)field)->given;
    case OPT_TYPE_COUNT32:
    case OPT_TYPE_INDEXES:
    case OPT_TYPE_CHOICE:
    case OPT_TYPE_BYTE:
        return memcmp(field, zeros, sizeof(uint32_t)) != 0;
    default: /* 64-bit numbers and pointers */
        return memcmp(field, zeros, sizeof(uint64_t)) != 0;
    }
}

bool opt_flag_is_set(const struct opt *table, const void *target, const char *name)
{
    size_t base;
    const struct opt *o = find(table, '\0', name, strlen(name), &base);
    if (!o || o->type != OPT_TYPE_FLAG || !target)
        return false;
    return is_given(o, (const char *)target + base + o->offset);
}

static bool is_file(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

int opt_check_names(const struct opt *table, const void *target, bool from_terminal,
                    deja_error *err)
{
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    opt_walk_init(&w, table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        if (!o->noun)
            continue;
        const char *text = *(const char *const *)((const char *)target + base + o->offset);
        if (!text || !(from_terminal || strpbrk(text, "./")) || !is_file(text))
            continue;
        const struct fail_path path = fail_path(text);
        return fail(err, OPT_USAGE,
                    "--%s takes %s, but %.60s is a file: write --%s %s %.60s, or add - to read "
                    "standard input",
                    o->name, o->noun, path.text, o->name, o->value, path.text);
    }
    return DEJA_OK;
}

/* --- Values ---------------------------------------------------------------- */

/* The option as the user typed it, for messages. */
struct label {
    char text[48];
};

static struct label label(const struct opt *o, bool by_letter)
{
    struct label l;
    if (by_letter)
        (void)snprintf(l.text, sizeof l.text, "-%c/--%s", o->letter, o->name);
    else
        (void)snprintf(l.text, sizeof l.text, "--%s", o->name);
    return l;
}

static int check_range(const struct opt *o, uint64_t n, deja_error *err)
{
    if (n >= o->min && n <= o->max)
        return DEJA_OK;
    if (o->max == UINT64_MAX)
        return fail(err, DEJA_EINVAL, "takes a number from %" PRIu64 " up, not %" PRIu64, o->min,
                    n);
    return fail(err, DEJA_EINVAL, "takes a number from %" PRIu64 " to %" PRIu64 ", not %" PRIu64,
                o->min, o->max, n);
}

static int set_count(const struct opt *o, const char *text, void *field, deja_error *err)
{
    uint64_t n;
    int rc = o->type == OPT_TYPE_SIZE       ? num_parse_size(text, &n, err)
             : o->type == OPT_TYPE_DURATION ? num_parse_duration(text, &n, err)
             : o->type == OPT_TYPE_DAYS     ? num_parse_days(text, &n, err)
                                            : num_parse_count(text, &n, err);
    if (rc == DEJA_OK)
        rc = check_range(o, n, err);
    if (rc < 0)
        return rc;
    if (o->type == OPT_TYPE_COUNT32 || o->type == OPT_TYPE_DAYS)
        *(uint32_t *)field = (uint32_t)n;
    else
        *(uint64_t *)field = n;
    return DEJA_OK;
}

/* Numbers with commas in between. */
static int set_indexes(const struct opt *o, const char *text, void *field, deja_error *err)
{
    struct opt_indexes list = {{0}};
    int rc = DEJA_OK;
    for (unsigned i = 0; rc == DEJA_OK; i++) {
        char number[32];
        uint64_t n = 0;
        const size_t len = strcspn(text, ",");
        if (text[0] == '-')
            return fail(err, DEJA_EINVAL, "counts from %" PRIu64 ", not '%.10s'; %s", o->min, text,
                        o->hint);
        if (i == OPT_INDEXES_MOST)
            return fail(err, DEJA_EINVAL, "takes at most %d numbers", OPT_INDEXES_MOST);
        (void)snprintf(number, sizeof number, "%.*s", len < 31 ? (int)len : 31, text);
        rc = num_parse_count(number, &n, err);
        if (rc == DEJA_OK)
            rc = check_range(o, n, err);
        list.at[i] = (uint32_t)n;
        if (text[len] == 0)
            break;
        text += len + 1;
    }
    if (rc == DEJA_OK)
        *(struct opt_indexes *)field = list;
    return rc;
}

static int add_string(const char *text, struct opt_strings *list, deja_error *err)
{
    if (list->n == OPT_STRINGS_MOST)
        return fail(err, DEJA_EINVAL, "may be given at most %d times", OPT_STRINGS_MOST);
    list->at[list->n++] = text;
    return DEJA_OK;
}

void opt_list_choices(opt_names *names, char *text, size_t cap)
{
    const char *pending = NULL;
    size_t len = 0;
    text[0] = '\0';
    for (uint32_t value = 0; value <= OPT_CHOICES; value++) {
        const char *name = value < OPT_CHOICES ? names(value) : NULL;
        if (!name && value < OPT_CHOICES)
            continue;
        if (pending && len < cap) {
            const char *between = len == 0 ? "" : !name ? " or " : ", ";
            int n = snprintf(text + len, cap - len, "%s%s", between, pending);
            len += n < 0 ? 0 : (size_t)n;
        }
        pending = name;
    }
}

static void choose(const struct opt *o, uint32_t value, uint32_t *field)
{
    const bool other = o->aside != 0 && value >= o->aside;
    *(other ? (uint32_t *)(void *)((char *)field - o->offset + o->aside_offset) : field) = value;
}

static int set_choice(const struct opt *o, const char *text, uint32_t *field, deja_error *err)
{
    struct opt_near near = {.word = text};
    char choices[176];
    for (uint32_t value = 0; value < OPT_CHOICES; value++) {
        const char *name = o->names(value);
        if (!name)
            continue;
        if (strcmp(name, text) == 0) {
            choose(o, value, field);
            return DEJA_OK;
        }
        opt_near_offer(&near, name);
    }
    opt_list_choices(o->names, choices, sizeof choices);
    return fail(err, DEJA_EINVAL, "takes %s, not '%.30s'%s", choices, text,
                opt_near_hint(&near, "").text);
}

static int set_char(const char *text, struct opt_char *field, deja_error *err)
{
    int rc = num_parse_char(text, &field->byte, err);
    field->given = rc == DEJA_OK;
    return rc;
}

static int set_byte(const char *text, uint32_t *field, deja_error *err)
{
    char byte = '\0';
    const int rc = num_parse_char(text, &byte, err);
    *field = (unsigned char)byte;
    return rc == DEJA_OK && !byte ? fail(err, DEJA_EINVAL, "takes a byte other than zero") : rc;
}

static int set_value(const struct opt *o, const char *text, void *field, deja_error *err)
{
    switch (o->type) {
    case OPT_TYPE_STRING:
    case OPT_TYPE_OPTIONAL:
        *(const char **)field = text;
        return DEJA_OK;
    case OPT_TYPE_COUNT:
    case OPT_TYPE_COUNT32:
    case OPT_TYPE_SIZE:
    case OPT_TYPE_DURATION:
    case OPT_TYPE_DAYS:
        return set_count(o, text, field, err);
    case OPT_TYPE_STRINGS:
        return add_string(text, field, err);
    case OPT_TYPE_INDEXES:
        return set_indexes(o, text, field, err);
    case OPT_TYPE_RATE:
        return num_parse_rate(text, field, err);
    case OPT_TYPE_REAL:
        return num_parse_real(text, field, err);
    case OPT_TYPE_SECONDS:
        return num_parse_seconds(text, field, err);
    case OPT_TYPE_CHOICE:
        return set_choice(o, text, field, err);
    case OPT_TYPE_MODE:
        return num_parse_mode(text, field, err);
    case OPT_TYPE_CHAR:
        return set_char(text, field, err);
    case OPT_TYPE_BYTE:
        return set_byte(text, field, err);
    case OPT_TYPE_FLAG:
    case OPT_TYPE_END:
    case OPT_TYPE_HEADING:
    case OPT_TYPE_GROUP:
    case OPT_TYPE_CHECK:
        break;
    }
    assert(false && "an option of this type takes no value");
    return DEJA_EINVAL;
}

/* --- The parser ------------------------------------------------------------ */

struct parser {
    const struct opt *table;
    int argc, at; /* at: the next argument */
    char **argv;
    char *target;
    struct opt_rest *rest;
    deja_error *err;
};

/* Adds a note for the user, unless there are too many. */
__attribute__((format(printf, 2, 3))) static void note(struct parser *p, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (p->rest->n_notes < OPT_NOTES)
        (void)vsnprintf(p->rest->note[p->rest->n_notes++], sizeof p->rest->note[0], fmt, args);
    va_end(args);
}

/* The next argument if it is an operand, or NULL. */
static const char *following_operand(const struct parser *p)
{
    const char *word = p->at < p->argc ? p->argv[p->at] : NULL;
    return word && word[0] != '-' ? word : NULL;
}

/* The next word, if it is a choice of an option with an optional value: --url crawl. */
static const char *following_choice(struct parser *p, const struct opt *o)
{
    const char *word = following_operand(p);
    struct opt_near near = {.word = word};
    bool known = false;
    for (uint32_t value = 0; word && o->names && value < OPT_CHOICES; value++) {
        const char *name = o->names(value);
        known |= name && strcmp(name, word) == 0;
        if (name)
            opt_near_offer(&near, name);
    }
    if (known && is_file(word))
        note(p, "%s is the value of --%s; to read the file of that name, write ./%s", word,
             o->name, word);
    else if (!known && near.best && access(word, F_OK) < 0)
        note(p, "%.60s is not a value of --%s%s", word, o->name, opt_near_hint(&near, "").text);
    p->at += known;
    return known ? word : o->fallback;
}

/* --json url: a flag, and an operand that may be meant as the value of --json-key. */
static void remember_value(struct parser *p, const struct opt *o)
{
    const char *word = following_operand(p);
    size_t base;
    if (!word || !find(p->table, '\0', o->instead, strlen(o->instead), &base))
        return;
    p->rest->value = word;
    p->rest->flag = o->instead;
}

static int refuse_value(const struct parser *p, const struct opt *o, const char *value)
{
    size_t base;
    if (o->instead && find(p->table, '\0', o->instead, strlen(o->instead), &base))
        return fail(p->err, OPT_USAGE, "--%s takes no value; did you mean --%s=%.60s?", o->name,
                    o->instead, value);
    return fail(p->err, OPT_USAGE, "--%s takes no value", o->name);
}

static int take_flag(struct parser *p, const struct opt *o, size_t base, const char *attached)
{
    char *field = p->target + base + o->offset;
    if (attached)
        return refuse_value(p, o, attached);
    if (o->bit)
        *(uint32_t *)(void *)field |= o->bit;
    else
        *(bool *)(void *)field = true;
    if (o->aside != 0)
        *(bool *)(p->target + base + o->aside_offset) = false;
    if (o->instead)
        remember_value(p, o);
    return DEJA_OK;
}

/* attached: the value in the same argument, or NULL. */
static int take(struct parser *p, const struct opt *o, size_t base, const char *attached,
                bool by_letter)
{
    struct label l = label(o, by_letter);
    if (o->refuse)
        return fail(p->err, OPT_USAGE, "%s", o->refuse);
    if (o == &opt_help[1]) {
        p->rest->help = true;
        p->rest->brief = by_letter;
        return DEJA_OK;
    }
    if (o->old && by_letter)
        note(p, "-%c is an old spelling; write %s", o->letter, o->old);
    else if (o->old)
        note(p, "--%s is an old spelling; write %s", o->name, o->old);
    if (o->type == OPT_TYPE_FLAG)
        return take_flag(p, o, base, attached);
    void *field = p->target + base + o->offset;
    const char *text = attached;
    if (!text && opt_is_optional(o))
        text = following_choice(p, o);
    else if (!text && p->at < p->argc)
        text = p->argv[p->at++];
    if (!text && by_letter)
        return fail(p->err, OPT_USAGE, "%s needs a value: -%c %s", l.text, o->letter, o->value);
    if (!text)
        return fail(p->err, OPT_USAGE, "%s needs a value: %s=%s", l.text, l.text, o->value);
    deja_error why;
    if (set_value(o, text, field, &why) < 0)
        return fail(p->err, OPT_USAGE, "%s %s", l.text, why.text);
    return DEJA_OK;
}

static int unknown_long(struct parser *p, const char *name, size_t len)
{
    char word[OPT_NEAR_LEN + 1];
    struct opt_near near = {.word = word};
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    (void)snprintf(word, sizeof word, "%.*s", (int)(len < OPT_NEAR_LEN ? len : OPT_NEAR_LEN),
                   name);
    opt_walk_init(&w, p->table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        if (opt_is_shown(o))
            opt_near_offer(&near, o->name);
    }
    return fail(p->err, OPT_USAGE, "unknown option --%s%s", word, opt_near_hint(&near, "--").text);
}

static int parse_long(struct parser *p, const char *name)
{
    size_t base, len = strcspn(name, "=");
    const struct opt *o = find(p->table, '\0', name, len, &base);
    if (!o)
        return unknown_long(p, name, len);
    return take(p, o, base, name[len] == '=' ? name + len + 1 : NULL, false);
}

static int unknown_letter(struct parser *p, const char *letters, char letter)
{
    size_t base, len = strcspn(letters, "=");
    if (len > 1 && find(p->table, '\0', letters, len, &base))
        return fail(p->err, OPT_USAGE, "unknown option -%.*s; did you mean --%.*s?", (int)len,
                    letters, (int)len, letters);
    return fail(p->err, OPT_USAGE, "unknown option -%c", letter);
}

/* Parses -qzn5: flags, then at most one option whose value is the rest. */
static int parse_letters(struct parser *p, const char *letters)
{
    for (const char *c = letters; *c != '\0' && !p->rest->help; c++) {
        size_t base;
        const struct opt *o = find(p->table, *c, NULL, 0, &base);
        if (!o)
            return unknown_letter(p, letters, *c);
        bool takes = opt_takes_value(o);
        int rc = take(p, o, base, takes && c[1] != '\0' ? c + 1 : NULL, true);
        if (rc < 0 || takes)
            return rc;
    }
    return DEJA_OK;
}

static int run_checks(const struct parser *p)
{
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    opt_walk_init(&w, p->table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        int rc = o->type == OPT_TYPE_CHECK ? o->check(p->target + base, p->err) : DEJA_OK;
        if (rc < 0)
            return rc;
    }
    return DEJA_OK;
}

void opt_list_given(const struct opt *table, const void *target, char *text, size_t cap)
{
    struct opt_walk w;
    const struct opt *o;
    size_t base, len = 0;
    text[0] = '\0';
    opt_walk_init(&w, table);
    while ((o = opt_walk_next(&w, &base)) != NULL) {
        if (!opt_is_shown(o) || strcmp(o->name, "help") == 0 ||
            !is_given(o, (const char *)target + base + o->offset))
            continue;
        const int n = o->letter
                          ? snprintf(text + len, cap - len, "%s-%c", len ? ", " : "", o->letter)
                          : snprintf(text + len, cap - len, "%s--%s", len ? ", " : "", o->name);
        if (n < 0 || (size_t)n >= cap - len) {
            text[len] = '\0';
            return;
        }
        len += (size_t)n;
    }
}

int opt_parse(const struct opt *table, int argc, char **argv, void *target, struct opt_rest *rest,
              deja_error *err)
{
    struct parser p = {table, argc, 0, argv, target, rest, err};
    bool ended = false;
    int rc = DEJA_OK;
    *rest = (struct opt_rest){.operands = (const char *const *)argv};
    while (rc == DEJA_OK && p.at < argc && !rest->help) {
        char *arg = argv[p.at++];
        if (ended || arg[0] != '-' || arg[1] == '\0')
            argv[rest->n++] = arg; /* rest->n never passes p.at */
        else if (strcmp(arg, "--") == 0)
            ended = true;
        else if (arg[1] == '-')
            rc = parse_long(&p, arg + 2);
        else
            rc = parse_letters(&p, arg + 1);
    }
    if (rc == DEJA_OK && !rest->help)
        rc = run_checks(&p);
    return rc;
}
