/* manpage.c - writes --help and man pages from the command tables; the command `help`.
 *
 * Nothing here knows an option by name: all texts come from the tables. */
#include "cli/help/helptext.h"
#include "tools/base/fail.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define WIDTH       HELP_WIDTH
#define HELP_COLUMN 26u /* where the explanations begin */

static const struct command_exit usual_exits[] = {
    {COMMAND_DONE, "done"},
    {COMMAND_FAILED, "usage error, or a failure; standard error has the reason"},
    {0, NULL},
};

static const struct command_exit *exits_of(const struct command *cmd)
{
    return cmd->exits[0].when ? cmd->exits : usual_exits;
}

/* For `deja --help` and deja(1). */
static const char overview[] =
    "deja remembers which lines, keys or URLs it has seen, in about 10 to 40 bits each instead of "
    "the hundred bytes of a URL. A key that was seen is always recognized. A new key is mistaken "
    "for seen at a small rate that you choose; deja reports how many were probably lost.";

struct convention {
    const char *title;
    const char *text;
};

static const struct convention conventions[] = {
    {"Options",
     "Long options take their value as --name=VALUE or --name VALUE, short ones as -n VALUE or "
     "-nVALUE; flags may be bundled, as in -qz. Options and operands may be mixed; -- ends the "
     "options. Names cannot be abbreviated. If an option is repeated, the last one wins."},
    {"Counts", "Counts are whole numbers such as 250000, 1.5M or 1e6; k, M, G, T and P are powers "
               "of 1000."},
    {"Sizes",
     "Sizes are in bytes, such as 1.5G, 512M or 64KiB; k, M, G, T, P and KiB, MiB, ... are powers "
     "of 1024, while kB, MB, GB, ... are powers of 1000. deja prints sizes in powers of 1000: "
     "1 MB is 1,000,000 bytes."},
    {"Input",
     "If no FILE is given, or if FILE is -, deja reads standard input. If that is a terminal, "
     "end the lines with Ctrl-D; after a second without one, a message says so. Input may be plain "
     "or compressed with gzip, zstd, xz or bzip2; deja detects this from the content, not from the "
     "name. It rejects archives, other compressed formats and databases, and names a tool that "
     "reads them. The key of a line is the whole line, or the part that -f, --csv, --format or "
     "--json-key selects; with --url, it is the canonical form of that URL."},
    {"Output",
     "Only results go to standard output. Messages, a summary and the progress go to standard "
     "error; with -q, only errors do. If the reader of a pipe exits, deja exits quietly with "
     "status 0."},
    {"Progress",
     "On a terminal, a line shows the progress of long work: how much was done, the rate and, if "
     "the size of the input is known, the percentage and the time left. If standard error is not "
     "a terminal, such a line is printed once a minute, except with --json. The line on a terminal "
     "has colors, unless NO_COLOR is set and not empty, CLICOLOR is 0, or TERM is dumb. "
     "CLICOLOR_FORCE=1 also colors the lines in a log."},
    {"Interruption",
     "Ctrl-C (SIGINT), SIGTERM and SIGHUP stop deja cleanly: it finishes the batch, syncs the "
     "files, and then dies of that signal. A second signal kills it at once."},
    {NULL, NULL},
};

static const struct command_exit overview_exits[] = {
    {COMMAND_DONE, "done; check found a line, verify found no damage"},
    {COMMAND_NO, "check found nothing, verify found damage, crawl fetched nothing"},
    {COMMAND_FAILED, "usage error, or a failure; standard error has the reason"},
    {0, NULL},
};

const struct command_example help_overview_examples[] = {
    {"each line the first time it is seen", "deja dedup urls.txt > unique.txt"},
    {"only lines that no earlier run has seen", "deja dedup --state seen.deja today.txt"},
    {"how much memory a billion URLs need", "deja plan -n 1e9"},
    {NULL, NULL},
};

/* Returns the next paragraph and advances the text past it; empty at the end. */
struct paragraph {
    char text[4096];
};

static struct paragraph next_paragraph(const char **text)
{
    struct paragraph p;
    const char *end = strstr(*text, "\n\n");
    const size_t len = end ? (size_t)(end - *text) : strlen(*text);
    (void)snprintf(p.text, sizeof p.text, "%.*s", (int)len, *text);
    *text += end ? len + 2 : len;
    return p;
}

struct help_phrase help_phrase(const struct opt *o)
{
    struct help_phrase e;
    char choices[256];
    if (o->type == OPT_TYPE_CHOICE) {
        opt_list_choices(o->names, choices, sizeof choices);
        (void)snprintf(e.text, sizeof e.text, "%s: %s", o->help, choices);
    } else {
        (void)snprintf(e.text, sizeof e.text, "%s", o->help);
    }
    return e;
}

/* The text around the value of an option: " VALUE" or "[=VALUE]". */
static const char *value_open(const struct opt *o)
{
    return opt_is_optional(o) ? "[=" : " ";
}

static const char *value_close(const struct opt *o)
{
    return opt_is_optional(o) ? "]" : "";
}

/* Walks a table for printing: *heading is the title to print before the option, or NULL. */
struct sections {
    struct opt_walk walk;
    const char *current;
};

static void sections_begin(struct sections *s, const struct opt *table)
{
    opt_walk_init(&s->walk, table);
    s->current = NULL;
}

static const struct opt *sections_next(struct sections *s, const char **heading)
{
    const char *before = s->current, *now = !before ? "Options" : before;
    const struct opt *o;
    size_t base;
    while ((o = opt_walk_next(&s->walk, &base)) != NULL) {
        if (o->type == OPT_TYPE_HEADING)
            now = o->name;
        if (opt_is_shown(o))
            break;
    }
    s->current = now;
    *heading = !before || strcmp(before, now) != 0 ? now : NULL;
    return o;
}

/* --- Help on the terminal ---------------------------------------------------- */

struct help_label help_label(const struct opt *opt)
{
    struct help_label left;
    char letter[8] = "    ";
    if (opt->letter != '\0')
        (void)snprintf(letter, sizeof letter, "-%c, ", opt->letter);
    const bool value = opt->value;
    (void)snprintf(left.text, sizeof left.text, "  %s--%s%s%s%s", letter, opt->name,
                   value ? value_open(opt) : "", value ? opt->value : "",
                   value ? value_close(opt) : "");
    return left;
}

static void help_option(struct out *o, const struct opt *opt)
{
    const struct help_label left = help_label(opt);
    if (strlen(left.text) + 2 > HELP_COLUMN)
        out_printf(o, "%s\n%*s", left.text, (int)HELP_COLUMN, "");
    else
        out_printf(o, "%-*s", (int)HELP_COLUMN, left.text);
    out_wrap(o, help_phrase(opt).text, HELP_COLUMN, HELP_COLUMN, WIDTH);
}

static void help_options(struct out *o, const struct opt *table)
{
    struct sections s;
    const struct opt *opt;
    const char *heading;
    sections_begin(&s, table);
    while ((opt = sections_next(&s, &heading)) != NULL) {
        if (heading)
            out_printf(o, "\n%s:\n", heading);
        help_option(o, opt);
    }
}

static void help_paragraphs(struct out *o, const char *text)
{
    while (*text) {
        const struct paragraph p = next_paragraph(&text);
        out_text(o, "\n");
        if (p.text[0] == ' ')
            out_printf(o, "%s\n", p.text);
        else
            out_wrap(o, p.text, 0, 0, WIDTH);
    }
}

static void help_examples(struct out *o, const struct command_example *example)
{
    out_text(o, "\nExamples:\n");
    for (; example->what != NULL; example++)
        out_printf(o, "  # %s\n  %s\n", example->what, example->line);
}

static void help_exits(struct out *o, const struct command_exit *e)
{
    out_text(o, "\nExit status:\n");
    for (; e->when != NULL; e++) {
        out_printf(o, "  %d  ", e->status);
        out_wrap(o, e->when, 5, 5, WIDTH);
    }
}

static void capitalised(struct out *o, const char *text)
{
    out_printf(o, "%c%s.\n", toupper((unsigned char)text[0]), text + 1);
}

void help_begin(struct out *o, const struct command *cmd)
{
    out_printf(o, "Usage: deja %s [OPTION]...%s%s\n", cmd->name, *cmd->operands ? " " : "",
               cmd->operands);
    capitalised(o, cmd->summary);
}

void help_command(struct out *o, const struct command *cmd)
{
    help_begin(o, cmd);
    help_options(o, cmd->options);
    help_paragraphs(o, cmd->description);
    for (const char *const *note = cmd->notes; *note; note++)
        help_paragraphs(o, *note);
    help_examples(o, cmd->examples);
    help_exits(o, exits_of(cmd));
}

static void help_commands(struct out *o)
{
    for (const struct command *const *c = commands; *c != NULL; c++) {
        out_printf(o, "  %-8s ", (*c)->name);
        out_wrap(o, (*c)->summary, 11, 11, WIDTH);
    }
}

void help_usage(struct out *o)
{
    out_text(o, "usage: deja COMMAND [OPTION]... [FILE]...\n\n");
    help_commands(o);
    out_text(o, "\ntry: deja -h, or deja COMMAND -h\n");
}

void help_overview(struct out *o)
{
    out_text(o, "Usage: deja COMMAND [OPTION]... [FILE]...\n");
    help_paragraphs(o, overview);
    out_text(o, "\nCommands:\n");
    help_commands(o);
    help_examples(o, help_overview_examples);
    out_text(
        o,
        "\n`deja COMMAND -h` shows the most used options, `deja COMMAND --help` explains all of\n"
        "them; `deja --version` prints the version, `deja version --features` what this build can\n"
        "do, and `deja version --licenses` the licenses of its parts.\n");
}

/* --- Man pages ------------------------------------------------------------------ */

/* Prints a character; escapes it if troff would read it as a request or an escape, or print a
 * different one. */
static void troff_char(struct out *o, char c, bool line_begins)
{
    static const struct {
        char c;
        const char *escape;
    } special[] = {{'-', "\\-"},   {'\\', "\\e"},  {'\'', "\\(aq"}, {'"', "\\(dq"},
                   {'^', "\\(ha"}, {'~', "\\(ti"}, {'`', "\\(ga"}};
    if (line_begins && c == '.')
        out_text(o, "\\&");
    for (size_t i = 0; i < sizeof special / sizeof special[0]; i++) {
        if (special[i].c == c) {
            out_text(o, special[i].escape);
            return;
        }
    }
    out_write(o, &c, 1);
}

static void troff(struct out *o, const char *text)
{
    char before = '\n';
    for (; *text != '\0'; text++) {
        troff_char(o, *text, before == '\n');
        before = *text;
    }
}

static bool in_placeholder(char c)
{
    return (c >= 'A' && c <= 'Z') || c == '_';
}

/* Whether a sentence ends before the space at `text`.  Each sentence starts on a new line, because
 * troff then spaces sentences well. */
static bool sentence_ends(const char *text, char before)
{
    return before == '.' && text[1] >= 'A' && text[1] <= 'Z';
}

static void troff_prose(struct out *o, const char *text)
{
    char before = '\n';
    for (; *text != '\0'; text++) {
        char c = *text == '\n' ? ' ' : *text;
        if (c == ' ' && sentence_ends(text, before))
            c = '\n';
        troff_char(o, c, before == '\n');
        before = c;
    }
    out_text(o, "\n");
}

/* Prints the operands; words in capitals are placeholders, in italics. */
static void troff_operands(struct out *o, const char *text)
{
    bool italic = false;
    for (; *text != '\0'; text++) {
        if (in_placeholder(*text) != italic)
            out_text(o, italic ? "\\fR" : "\\fI");
        italic = in_placeholder(*text);
        troff_char(o, *text, false);
    }
    out_text(o, italic ? "\\fR\n" : "\n");
}

static void man_title(struct out *o, const char *page, const char *summary)
{
    out_text(o, ".\\\" Written by `deja help --man` from the command's table.\n.TH ");
    for (const char *c = page; *c != '\0'; c++)
        troff_char(o, (char)toupper((unsigned char)*c), false);
    out_printf(o, " 1 \"\" \"deja %s\" \"User Commands\"\n.if n .ad l\n.nh\n.SH NAME\n",
               deja_version());
    troff(o, page);
    out_text(o, " \\- ");
    troff(o, summary);
    out_text(o, "\n");
}

static void man_option(struct out *o, const struct opt *opt)
{
    out_text(o, ".TP\n");
    if (opt->letter != '\0')
        out_printf(o, "\\fB\\-%c\\fR, ", opt->letter);
    out_text(o, "\\fB\\-\\-");
    troff(o, opt->name);
    out_text(o, "\\fR");
    if (opt->value) {
        out_printf(o, "%s\\fI", value_open(opt));
        troff(o, opt->value);
        out_printf(o, "\\fR%s", value_close(opt));
    }
    out_text(o, "\n");
    troff_prose(o, help_phrase(opt).text);
}

static void man_options(struct out *o, const struct opt *table)
{
    struct sections s;
    const struct opt *opt;
    const char *heading;
    out_text(o, ".SH OPTIONS\n");
    sections_begin(&s, table);
    while ((opt = sections_next(&s, &heading)) != NULL) {
        if (heading && strcmp(heading, "Options") != 0)
            out_printf(o, ".SS %s\n", heading);
        man_option(o, opt);
    }
}

static void man_paragraphs(struct out *o, const char *text)
{
    for (const char *begin = text; *text;) {
        out_text(o, text == begin ? "" : ".PP\n");
        const struct paragraph p = next_paragraph(&text);
        if (p.text[0] == ' ') {
            out_text(o, ".nf\n");
            troff(o, p.text);
            out_text(o, "\n.fi\n");
        } else {
            troff_prose(o, p.text);
        }
    }
}

static void man_examples(struct out *o, const struct command_example *example)
{
    out_text(o, ".SH EXAMPLES\n");
    for (; example->what != NULL; example++) {
        out_text(o, ".PP\n");
        troff_prose(o, example->what);
        out_text(o, ".PP\n.RS 4\n.nf\n\\fB");
        troff(o, example->line);
        out_text(o, "\\fR\n.fi\n.RE\n");
    }
}

static void man_exits(struct out *o, const struct command_exit *e)
{
    out_text(o, ".SH EXIT STATUS\n");
    for (; e->when != NULL; e++) {
        out_printf(o, ".TP\n\\fB%d\\fR\n", e->status);
        troff_prose(o, e->when);
    }
}

static void man_see_also(struct out *o, const struct command *self)
{
    const char *between = "";
    out_text(o, ".SH SEE ALSO\n");
    if (self) {
        out_text(o, "\\fBdeja\\fR(1)");
        between = ",\n";
    }
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (*c == self || *c == &cmd_help)
            continue;
        out_printf(o, "%s\\fBdeja\\-%s\\fR(1)", between, (*c)->name);
        between = ",\n";
    }
    out_text(o, "\n");
}

static void man_command(struct out *o, const struct command *cmd)
{
    char page[64];
    (void)snprintf(page, sizeof page, "deja-%s", cmd->name);
    man_title(o, page, cmd->summary);
    out_printf(o, ".SH SYNOPSIS\n\\fBdeja %s\\fR [\\fIOPTION\\fR]...%s", cmd->name,
               *cmd->operands ? " " : "");
    troff_operands(o, cmd->operands);
    out_text(o, ".SH DESCRIPTION\n");
    man_paragraphs(o, cmd->description);
    for (const char *const *note = cmd->notes; *note; note++) {
        out_text(o, ".PP\n");
        man_paragraphs(o, *note);
    }
    man_options(o, cmd->options);
    man_examples(o, cmd->examples);
    man_exits(o, exits_of(cmd));
    man_see_also(o, cmd);
}

static void man_list_commands(struct out *o)
{
    out_text(o, ".SH COMMANDS\n");
    for (const struct command *const *c = commands; *c != NULL; c++) {
        out_printf(o, ".TP\n\\fBdeja %s\\fR", (*c)->name);
        out_text(o, *(*c)->operands ? " " : "");
        troff_operands(o, (*c)->operands);
        troff_prose(o, (*c)->summary);
    }
}

static void man_overview(struct out *o)
{
    man_title(o, "deja", "have I seen this URL before?");
    out_text(o,
             ".SH SYNOPSIS\n\\fBdeja\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
             ".br\n\\fBdeja\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n"
             ".br\n\\fBdeja \\-\\-version\\fR\n"
             ".br\n\\fBdeja version\\fR [\\fB\\-\\-features\\fR|\\fB\\-\\-licenses\\fR]\n"
             ".SH DESCRIPTION\n");
    man_paragraphs(o, overview);
    man_list_commands(o);
    out_text(o, ".SH CONVENTIONS\n");
    for (const struct convention *c = conventions; c->title != NULL; c++) {
        out_printf(o, ".SS %s\n", c->title);
        troff_prose(o, c->text);
    }
    man_examples(o, help_overview_examples);
    man_exits(o, overview_exits);
    man_see_also(o, NULL);
}

/* --- The command `help` ---------------------------------------------------------- */

struct help_options {
    bool man;
    uint32_t completion;
};

static const struct opt options[] = {
    OPT_FLAG(0, "man", struct help_options, man, "print the man page as troff source"),
    OPT_CHOICE(0, "completion", "SHELL", struct help_options, completion, completion_shell,
               "print a completion script for SHELL"),
    OPT_END,
};

static const char *command_name(uint32_t number)
{
    for (uint32_t i = 0; commands[i]; i++)
        if (i == number)
            return commands[i]->name;
    return NULL;
}

static int run_help(struct call *call, deja_error *err)
{
    const struct help_options *o = call->options;
    const struct command *cmd = NULL;
    bool whole = call->n_operands == 0 || strcmp(call->operands[0], "deja") == 0;
    if (!whole) {
        cmd = command_find(call->operands[0], err);
        if (!cmd)
            return OPT_USAGE;
    }
    if (o->completion != 0)
        completion_print(call->out, o->completion);
    else if (o->man && whole)
        man_overview(call->out);
    else if (o->man)
        man_command(call->out, cmd);
    else if (whole)
        help_overview(call->out);
    else
        help_command(call->out, cmd);
    return COMMAND_DONE;
}

const struct command cmd_help = {
    .name = "help",
    .summary = "explain a command",
    .operands = "[COMMAND]",
    .operand_names = command_name,
    .options = options,
    .options_size = sizeof(struct help_options),
    .description = "Explains COMMAND, or lists the commands if none is given.",
    .examples = {{"explain dedup", "deja help dedup"},
                 {"its man page", "deja help --man dedup | man -l -"},
                 {"completion in this shell", ". <(deja help --completion bash)"}},
    .run = run_help,
};
