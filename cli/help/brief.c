/* brief.c - writes -h: what fits on one screen of 24 lines and 80 columns.
 *
 * At most ten options with one line each, three examples, and where to read more.  The marks in
 * the tables (OPT_USED) say which options; a command with ten options or fewer shows all. */
#include "cli/help/helptext.h"
#include <stdio.h>
#include <string.h>

#define OPTIONS  10
#define EXAMPLES 3
#define RANKS    3  /* of OPT_USED */
#define ALL      96 /* more options than any command has */

/* The length of the longest beginning of a phrase that says something and fits: it ends before a
 * semicolon, a colon or a parenthesis.  0: no beginning fits. */
static size_t clause(const char *phrase, size_t room)
{
    size_t best = 0;
    int depth = 0;
    if (strlen(phrase) <= room)
        return strlen(phrase);
    for (size_t i = 0; phrase[i] && i <= room; i++) {
        const bool opens = strncmp(phrase + i, " (", 2) == 0;
        if (depth == 0 && (opens || (strchr(";:", phrase[i]) && phrase[i + 1] == ' ')))
            best = i;
        depth += phrase[i] == '(';
        depth -= phrase[i] == ')';
    }
    return best;
}

static void print_phrase(struct out *o, const char *phrase, size_t column)
{
    const size_t room = HELP_WIDTH - column, len = clause(phrase, room);
    if (len)
        out_printf(o, "%.*s\n", (int)len, phrase);
    else
        out_printf(o, "%.*s...\n", (int)room - 3, phrase);
}

/* --- Options ------------------------------------------------------------------- */

struct choice {
    const struct opt *all[ALL];
    bool taken[ALL];
    size_t n, n_taken;
};

static void take_rank(struct choice *c, unsigned rank)
{
    for (size_t i = 0; i < c->n && c->n_taken < OPTIONS; i++)
        if (c->all[i]->used == rank) {
            c->taken[i] = true;
            c->n_taken++;
        }
}

static void choose(struct choice *c, const struct opt *table)
{
    struct opt_walk w;
    const struct opt *o;
    size_t base;
    *c = (struct choice){0};
    opt_walk_init(&w, table);
    while ((o = opt_walk_next(&w, &base)) && c->n < ALL)
        if (opt_is_shown(o) && !o->refuse && strcmp(o->name, "help") != 0)
            c->all[c->n++] = o;
    for (unsigned rank = 1; rank <= RANKS; rank++)
        take_rank(c, rank);
    if (c->n <= OPTIONS)
        memset(c->taken, true, sizeof c->taken);
}

static void print_options(struct out *o, const struct opt *table)
{
    struct choice c;
    size_t column = 0;
    choose(&c, table);
    for (size_t i = 0; i < c.n; i++)
        if (c.taken[i] && strlen(help_label(c.all[i]).text) + 2 > column)
            column = strlen(help_label(c.all[i]).text) + 2;
    for (size_t i = 0; i < c.n; i++) {
        if (!c.taken[i])
            continue;
        out_printf(o, "%-*s", (int)column, help_label(c.all[i]).text);
        const struct help_phrase whole = help_phrase(c.all[i]);
        const bool fits = strlen(whole.text) <= HELP_WIDTH - column;
        print_phrase(o, fits ? whole.text : c.all[i]->help, column);
    }
}

/* --- Examples ------------------------------------------------------------------ */

/* The first ones of one line that fits. */
static void print_examples(struct out *o, const struct command_example *e)
{
    out_text(o, "\n");
    for (size_t n = 0; e->what && n < EXAMPLES; e++) {
        if (strchr(e->line, '\n') || strlen(e->line) + 2 > HELP_WIDTH)
            continue;
        out_printf(o, "  # %s\n  %s\n", e->what, e->line);
        n++;
    }
}

void brief_command(struct out *o, const struct command *cmd)
{
    help_begin(o, cmd);
    out_text(o, "\n");
    print_options(o, cmd->options);
    print_examples(o, cmd->examples);
    out_printf(o, "\nAll options and the description: deja %s --help, or man deja%s%s\n",
               cmd->name, cmd == &cmd_help ? "" : "-", cmd == &cmd_help ? "" : cmd->name);
}

/* --- All commands -------------------------------------------------------------- */

static void print_other_commands(struct out *o)
{
    char names[400] = "Also:";
    size_t len = strlen(names);
    for (const struct command *const *c = commands; *c && len < sizeof names; c++)
        if (!(*c)->often)
            len += (size_t)snprintf(names + len, sizeof names - len, " %s", (*c)->name);
    out_text(o, "  ");
    out_wrap(o, names, 2, 2, HELP_WIDTH);
}

void brief_overview(struct out *o)
{
    out_text(o, "Usage: deja COMMAND [OPTION]... [FILE]...\n\n");
    for (const struct command *const *c = commands; *c; c++)
        if ((*c)->often) {
            out_printf(o, "  %-8s ", (*c)->name);
            print_phrase(o, (*c)->summary, 11);
        }
    print_other_commands(o);
    print_examples(o, help_overview_examples);
    out_text(o, "\nMore: deja COMMAND -h, deja COMMAND --help, deja --help, or man deja\n");
}
