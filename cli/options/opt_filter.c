/* opt_filter.c - the options of a filter, from the library's table; see opt_filter.h.
 *
 * The library's table gives the names, types, ranges and help.  A row that is not listed here
 * becomes --name-of-the-field. */
#include "cli/options/opt_filter.h"
#include "tools/base/number.h"
#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct word {
    const char *field;
    char letter;
    const char *name;  /* NULL: the field's name */
    const char *forms; /* examples of values, or NULL */
    enum {
        OFFERED,
        APART, /* defined in another table */
        NONE   /* not an option of the command */
    } place;
    uint8_t used; /* OPT_USED */
} words[] = {
    {"capacity", 'n', NULL, "1.5M, 1e9", OFFERED, 3},
    {"fp_rate", 'p', NULL, NULL, OFFERED, 2},
    {"memory", 'm', NULL, "1.5G, 512M, 64KiB; k, M, G are powers of 1024", OFFERED, 3},
    {"kind", 'k', NULL, NULL, OFFERED, 3},
    {"window_seconds", 0, "window-time", "30s, 15m, 6h, 7d", OFFERED, 0},
    {"delimiter", 0, "words", NULL, OFFERED, 0}, /* also sets layered_words */
    {"layered_words", 0, "words", NULL, APART, 0},
    {"layered_paper", 0, "layered paper", NULL, APART, 0},
    {"seed", 0, NULL, NULL, APART, 0},
    {"key", 0, NULL, NULL, APART, 0},
    {"url", 0, NULL, NULL, APART, 0},
    {"part_kind", 0, NULL, NULL, NONE, 0},
    {"growth", 0, NULL, NULL, NONE, 0},
    {"tightening", 0, NULL, NULL, NONE, 0},
    {"format", 0, NULL, NULL, NONE, 0},
};

static const struct word *word_of(const deja_option *row)
{
    static const struct word plain;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].field, row->name) == 0)
            return &words[i];
    return &plain;
}

/* --- Options from rows --------------------------------------------------------- */

#define ROWS 64 /* at most */

static struct made {
    struct opt opt;
    char name[32], label[34], help[256];
} made[ROWS];
static size_t n_made;

static enum opt_type type_of(const deja_option *row)
{
    const char *unit = row->unit ? row->unit : "";
    switch (row->type) {
    case DEJA_OPTION_RATE:
        return OPT_TYPE_RATE;
    case DEJA_OPTION_REAL:
        return OPT_TYPE_REAL;
    case DEJA_OPTION_CHOICE:
        return OPT_TYPE_CHOICE;
    case DEJA_OPTION_CHAR:
        return OPT_TYPE_BYTE;
    case DEJA_OPTION_FLAG:
        return OPT_TYPE_FLAG;
    case DEJA_OPTION_SECRET:
    case DEJA_OPTION_RULES:
        return OPT_TYPE_STRING; /* defined in other tables */
    }
    return strcmp(unit, "bytes") == 0     ? OPT_TYPE_SIZE
           : strcmp(unit, "seconds") == 0 ? OPT_TYPE_DURATION
           : row->width == 4              ? OPT_TYPE_COUNT32
                                          : OPT_TYPE_COUNT;
}

/* The only kind that accepts the option, or NULL. */
static const char *only_kind(const deja_option *row)
{
    const char *name = NULL;
    for (uint32_t kind = 0; kind < OPT_CHOICES; kind++)
        if (deja_kind_name(kind) && deja_option_accepted(row, kind)) {
            if (name)
                return NULL;
            name = deja_kind_name(kind);
        }
    return name;
}

static bool is_number(const deja_option *row)
{
    return row->type == DEJA_OPTION_COUNT || row->type == DEJA_OPTION_BITS ||
           row->type == DEJA_OPTION_RATE || row->type == DEJA_OPTION_REAL;
}

/* "spectral: counters of 4, 8, 16 or 32 bits (default 4)" */
static void explain(const deja_option *row, char *help, size_t cap)
{
    char phrase[120], more[80] = "";
    const char *kind = only_kind(row), *forms = word_of(row)->forms;
    deja_option_translate(row->help, opt_filter_word, phrase, sizeof phrase);
    if (forms)
        (void)snprintf(more, sizeof more, " (%s)", forms);
    else if (is_number(row) && row->standard > 0)
        (void)snprintf(more, sizeof more, " (default %s)", num_typed(row->standard).s);
    (void)snprintf(help, cap, "%s%s%s%s", kind ? kind : "", kind ? ": " : "", phrase, more);
}

static void hyphenate(char *name)
{
    for (; *name; name++)
        *name = *name == '_' ? '-' : *name;
}

static void name_row(const deja_option *row, struct made *m)
{
    const struct word *w = word_of(row);
    const char *name = w->name ? w->name : row->name;
    (void)snprintf(m->name, sizeof m->name, "%s", name);
    hyphenate(m->name);
    if (w->place == NONE) {
        (void)snprintf(m->label, sizeof m->label, "%s", name);
    } else if (w->letter) {
        (void)snprintf(m->label, sizeof m->label, "-%c", w->letter);
    } else {
        (void)snprintf(m->label, sizeof m->label, "--%s", name);
        hyphenate(m->label);
    }
}

/* Makes the rows once, in the order of the library's table. */
static void make_rows(void)
{
    if (n_made)
        return;
    for (const deja_option *row; (row = deja_option_at(n_made)); n_made++) {
        assert(n_made < ROWS);
        name_row(row, &made[n_made]);
    }
    for (size_t i = 0; i < n_made; i++) {
        const deja_option *row = deja_option_at(i);
        struct made *m = &made[i];
        explain(row, m->help, sizeof m->help);
        m->opt = (struct opt){.type = type_of(row),
                              .letter = word_of(row)->letter,
                              .name = m->name,
                              .value = row->value,
                              .help = m->help,
                              .offset = row->offset,
                              .min = row->least,
                              .max = row->most,
                              .names = row->choice,
                              .used = word_of(row)->used,
                              .bit = row->flag};
    }
}

const char *opt_filter_word(const deja_option *row)
{
    make_rows();
    for (size_t i = 0; i < n_made; i++)
        if (deja_option_at(i) == row)
            return made[i].label;
    return row->name;
}

/* Calls and flags that the library's errors recommend, and the commands to type instead. */
static const struct {
    const char *call, *command;
} commands[] = {{"DEJA_OPEN_REPAIR", "deja verify --repair"},
                {"deja_filter_copy", "deja merge -o NEW.deja"},
                {"deja_builder_new", "deja build"}};

const char *opt_filter_translate(deja_error *err)
{
    char text[sizeof err->text];
    deja_option_translate(err->text, opt_filter_word, text, sizeof text);
    memcpy(err->text, text, sizeof text);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *at = strstr(err->text, commands[i].call);
        if (!at)
            continue;
        (void)snprintf(text, sizeof text, "%s%s", commands[i].command,
                       at + strlen(commands[i].call));
        (void)snprintf(at, (size_t)(err->text + sizeof err->text - at), "%s", text);
    }
    return err->text;
}

/* --- Tables -------------------------------------------------------------------- */

/* Copies the rows from `first` to `last` (NULL: the end) that are options here. */
static const struct opt *cut(struct opt *table, const char *first, const char *last)
{
    size_t n = 0;
    bool on = false;
    make_rows();
    for (size_t i = 0; i < n_made; i++) {
        const deja_option *row = deja_option_at(i);
        const bool is_last = last && strcmp(row->name, last) == 0;
        on |= strcmp(row->name, first) == 0;
        if (on && (is_last || word_of(row)->place == OFFERED))
            table[n++] = made[i].opt;
        if (is_last)
            break;
    }
    table[n] = (struct opt)OPT_END;
    return table;
}

const struct opt *opt_filter_amounts(void)
{
    static struct opt table[4];
    return cut(table, "capacity", "memory");
}

const struct opt *opt_filter_kind(void)
{
    static struct opt table[2];
    return cut(table, "kind", "kind");
}

const struct opt *opt_filter_seed(void)
{
    static struct opt table[2];
    return cut(table, "seed", "seed");
}

const struct opt *opt_filter_rest(void)
{
    static struct opt table[ROWS + 1];
    return cut(table, "kind", NULL);
}

const struct opt *opt_filter_next(void)
{
    static const struct {
        const char *field, *help;
    } rows[] = {
        {"capacity",
         "size the filter for N keys (default: as many as the last visit saw, plus an eighth)"},
        {"fp_rate", "aim for this false-positive rate when N keys are in it (default: as before)"},
        {"memory", NULL},
        {"deletions", "paired: expect this many removals (default: as in the last visit)"},
    };
    enum {
        N = sizeof rows / sizeof rows[0]
    };
    static struct opt table[N + 1];
    for (size_t i = 0; i < N; i++) {
        (void)cut(table + i, rows[i].field, rows[i].field);
        table[i].help = rows[i].help ? rows[i].help : table[i].help;
    }
    return table;
}

void opt_filter_clear(const deja_option *row, deja_options *opt)
{
    char *field = (char *)opt + row->offset;
    if (row->type == DEJA_OPTION_FLAG)
        opt->flags &= ~row->flag;
    else
        memset(field, 0, row->width);
}
