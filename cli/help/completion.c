/* completion.c - writes completion scripts for bash, zsh and fish from the command tables.
 *
 * Choices are completed with their names, strings with file names, numbers with nothing.  A choice
 * that can be omitted is offered after = and, along with file names, as the next word: --url crawl.
 * Operands are completed with the names that the command knows, or with file names. */
#include "cli/session/command.h"
#include <stdio.h>
#include <string.h>

/* The next option that a user can give; NULL at the end. */
static const struct opt *next_offered(struct opt_walk *w)
{
    const struct opt *opt;
    size_t base;
    while ((opt = opt_walk_next(w, &base)) != NULL)
        if (opt_is_shown(opt) && !opt->refuse)
            break;
    return opt;
}

/* The names, separated by spaces. */
static void print_choices(struct out *o, opt_names *names)
{
    for (uint32_t value = 0, n = 0; value < OPT_CHOICES; value++)
        if (names(value))
            out_printf(o, "%s%s", n++ == 0 ? "" : " ", names(value));
}

/* Prints text for use inside '...', with a backslash before the characters in `special`.  An
 * apostrophe becomes '\'': it closes the quotes, is escaped, and opens them again. */
static void print_quoted(struct out *o, const char *text, const char *special)
{
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            out_text(o, "'\\''");
        else
            out_printf(o, strchr(special, *text) ? "\\%c" : "%c", *text);
    }
}

/* --- bash ------------------------------------------------------------------ */

/* Prints the pattern of a case: deja's command and the word before the cursor. */
static void bash_pattern(struct out *o, const struct command *cmd, const struct opt *opt)
{
    out_printf(o, "    %s:--%s", cmd->name, opt->name);
    if (opt->letter != '\0')
        out_printf(o, " | %s:-%c", cmd->name, opt->letter);
    out_text(o, ")");
}

static void bash_choices(struct out *o, opt_names *names, bool or_file)
{
    out_text(o, " _deja_words \"");
    print_choices(o, names);
    out_text(o, or_file ? "\"; [[ $equals ]] || _deja_files; return ;;\n" : "\"; return ;;\n");
}

static void bash_values(struct out *o, const struct command *cmd)
{
    struct opt_walk w;
    const struct opt *opt;
    opt_walk_init(&w, cmd->options);
    while ((opt = next_offered(&w)) != NULL) {
        if (!opt_takes_value(opt) && opt->type != OPT_TYPE_CHOICE)
            continue;
        bash_pattern(o, cmd, opt);
        if (opt->type == OPT_TYPE_CHOICE)
            bash_choices(o, opt->names, opt_is_optional(opt));
        else if (opt->type == OPT_TYPE_STRING)
            out_text(o, " return ;;\n");
        else
            out_text(o, " compopt +o default +o bashdefault; return ;;\n");
    }
}

static void bash_operands(struct out *o, const struct command *cmd)
{
    if (!cmd->operand_names)
        return;
    out_printf(o, "    %s:*) _deja_words \"", cmd->name);
    print_choices(o, cmd->operand_names);
    out_text(o, "\" ;;\n");
}

static void bash_options(struct out *o, const struct command *cmd)
{
    struct opt_walk w;
    const struct opt *opt;
    out_printf(o, "    %s:-*) _deja_words \"", cmd->name);
    opt_walk_init(&w, cmd->options);
    for (const char *between = ""; (opt = next_offered(&w)) != NULL;) {
        out_printf(o, "%s--%s", between, opt->name);
        between = " ";
    }
    out_text(o, "\" ;;\n");
}

static void print_commands(struct out *o)
{
    for (const struct command *const *c = commands; *c != NULL; c++)
        out_printf(o, "%s%s", c == commands ? "" : " ", (*c)->name);
}

static void bash_script(struct out *o)
{
    out_text(o, "# bash completion for deja, written by: deja help --completion bash\n"
                "_deja_words()\n{\n"
                "    mapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n}\n\n"
                "_deja_files()\n{\n"
                "    compopt -o filenames 2>/dev/null\n"
                "    mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- \"$cur\")\n}\n\n"
                "_deja()\n{\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
                "    local i equals= command= commands=\"");
    print_commands(o);
    out_text(o, "\"\n    COMPREPLY=()\n"
                "    # bash splits --kind=bl into three words\n"
                "    [[ $cur == = || $prev == = ]] && equals=yes\n"
                "    [[ $cur == = ]] && cur=\n"
                "    [[ $prev == = ]] && prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                "        [[ ${COMP_WORDS[i]} == -* ]] && continue\n"
                "        command=${COMP_WORDS[i]}\n"
                "        break\n"
                "    done\n"
                "    if [[ -z $command ]]; then\n"
                "        _deja_words \"$commands --help --version\"\n"
                "        return\n"
                "    fi\n"
                "    case $command:$prev in\n");
    for (const struct command *const *c = commands; *c != NULL; c++)
        bash_values(o, *c);
    out_text(o, "    esac\n    case $command:$cur in\n");
    for (const struct command *const *c = commands; *c != NULL; c++) {
        bash_options(o, *c);
        bash_operands(o, *c);
    }
    out_text(o, "    esac\n}\ncomplete -o default -o bashdefault -F _deja deja\n");
}

/* --- zsh ------------------------------------------------------------------- */

/* Prints how _arguments completes the value: with choices, files or nothing. */
static void zsh_value(struct out *o, const struct opt *opt)
{
    if (opt->type == OPT_TYPE_FLAG)
        return;
    out_text(o, opt_is_optional(opt) ? "::" : ":");
    print_quoted(o, opt->value != NULL ? opt->value : "VALUE", "[]:\\");
    out_text(o, ":");
    if (opt->type == OPT_TYPE_CHOICE) {
        out_text(o, "(");
        print_choices(o, opt->names);
        out_text(o, ")");
    } else if (opt->type == OPT_TYPE_STRING) {
        out_text(o, "_files");
    }
}

/* Prints one spelling of an option, which excludes itself and the other spelling (-n,
 * --capacity). */
static void zsh_spelling(struct out *o, const struct opt *opt, bool letter)
{
    out_text(o, "            '(");
    if (opt->letter != '\0')
        out_printf(o, "-%c ", opt->letter);
    out_printf(o, "--%s)", opt->name);
    if (letter)
        out_printf(o, "-%c%s", opt->letter, opt_takes_value(opt) ? "+" : "");
    else
        out_printf(o, "--%s%s", opt->name,
                   opt_takes_value(opt) || opt->type == OPT_TYPE_CHOICE ? "="
                   : opt_is_optional(opt)                               ? "=-"
                                                                        : "");
    out_text(o, "[");
    print_quoted(o, opt->help, "[]:\\");
    out_text(o, "]");
    zsh_value(o, opt);
    out_text(o, "' \\\n");
}

static void zsh_command(struct out *o, const struct command *cmd)
{
    struct opt_walk w;
    const struct opt *opt;
    out_printf(o, "    %s)\n        _arguments -s \\\n", cmd->name);
    opt_walk_init(&w, cmd->options);
    while ((opt = next_offered(&w)) != NULL) {
        if (opt->letter != '\0')
            zsh_spelling(o, opt, true);
        zsh_spelling(o, opt, false);
    }
    if (cmd->operand_names) {
        out_text(o, "            '*:name:(");
        print_choices(o, cmd->operand_names);
        out_text(o, ")' ;;\n");
    } else {
        out_text(o, "            '*:file:_files' ;;\n");
    }
}

static void zsh_script(struct out *o)
{
    out_text(o, "#compdef deja\n"
                "# zsh completion for deja, written by: deja help --completion zsh\n"
                "_deja_commands()\n{\n    local -a commands=(\n");
    for (const struct command *const *c = commands; *c != NULL; c++) {
        out_printf(o, "        '%s:", (*c)->name);
        print_quoted(o, (*c)->summary, ":\\");
        out_text(o, "'\n");
    }
    out_text(o, "    )\n    _describe -t commands command commands\n}\n\n"
                "_deja()\n{\n"
                "    if ((CURRENT == 2)); then\n"
                "        _deja_commands\n"
                "        return\n"
                "    fi\n"
                "    shift words\n"
                "    ((CURRENT--))\n"
                "    case $words[1] in\n");
    for (const struct command *const *c = commands; *c != NULL; c++)
        zsh_command(o, *c);
    /* If zsh loads the script from fpath, it is the function itself; a sourced script must
     * register it. */
    out_text(o, "    esac\n}\n\n"
                "if [[ $funcstack[1] == _deja ]]; then\n"
                "    _deja \"$@\"\n"
                "else\n"
                "    compdef _deja deja\n"
                "fi\n");
}

/* --- fish ------------------------------------------------------------------ */

/* Words for this command: `more` is another condition, or "". */
static void fish_words(struct out *o, const struct command *cmd, const char *more,
                       opt_names *names)
{
    out_printf(o, "complete -c deja -n '__fish_seen_subcommand_from %s%s' -f -a '", cmd->name,
               more);
    print_choices(o, names);
    out_text(o, "'\n");
}

static void fish_option(struct out *o, const struct command *cmd, const struct opt *opt)
{
    out_printf(o, "complete -c deja -n '__fish_seen_subcommand_from %s'", cmd->name);
    if (opt->letter != '\0')
        out_printf(o, " -s %c", opt->letter);
    out_printf(o, " -l %s", opt->name);
    if (opt_takes_value(opt))
        out_text(o, opt->type == OPT_TYPE_STRING ? " -r" : " -x");
    if (opt->type == OPT_TYPE_CHOICE) {
        out_text(o, " -f -a '");
        print_choices(o, opt->names);
        out_text(o, "'");
    }
    out_text(o, " -d '");
    print_quoted(o, opt->help, "\\");
    out_text(o, "'\n");
    if (opt->type == OPT_TYPE_CHOICE && opt_is_optional(opt)) {
        char after[64];
        (void)snprintf(after, sizeof after, "; and __fish_prev_arg_in --%s", opt->name);
        fish_words(o, cmd, after, opt->names);
    }
}

static void fish_command(struct out *o, const struct command *cmd)
{
    struct opt_walk w;
    const struct opt *opt;
    out_printf(o, "complete -c deja -n __fish_use_subcommand -f -a %s -d '", cmd->name);
    print_quoted(o, cmd->summary, "\\");
    out_text(o, "'\n");
    opt_walk_init(&w, cmd->options);
    while ((opt = next_offered(&w)) != NULL)
        fish_option(o, cmd, opt);
    if (cmd->operand_names)
        fish_words(o, cmd, "", cmd->operand_names);
}

static void fish_script(struct out *o)
{
    out_text(o, "# fish completion for deja, written by: deja help --completion fish\n");
    for (const struct command *const *c = commands; *c != NULL; c++)
        fish_command(o, *c);
}

/* --- All of them ------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*print)(struct out *o);
} shells[] = {{"bash", bash_script}, {"zsh", zsh_script}, {"fish", fish_script}};

const char *completion_shell(uint32_t shell)
{
    return shell >= 1 && shell <= sizeof shells / sizeof shells[0] ? shells[shell - 1].name : NULL;
}

void completion_print(struct out *o, uint32_t shell)
{
    shells[shell - 1].print(o);
}
