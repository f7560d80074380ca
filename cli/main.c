/* main.c - lists the commands, parses the options of one, runs it and reports errors.
 *
 * Commands always return; only main ends the process. */
#include "cli/help/about.h"
#include "cli/session/command.h"
#include "cli/session/existing.h"
#include "tools/base/fail.h"
#include "tools/base/signals.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct command *const commands[] = {
    &cmd_dedup,  &cmd_build,  &cmd_check, &cmd_add,  &cmd_remove, &cmd_count,
    &cmd_info,   &cmd_verify, &cmd_merge, &cmd_diff, &cmd_fold,   &cmd_rotate,
    &cmd_expire, &cmd_plan,   &cmd_url,   &cmd_gen,  &cmd_crawl,  &cmd_bench,
    &cmd_lab,    &cmd_serve,  &cmd_help,  NULL,
};

const struct command *command_find(const char *name, deja_error *err)
{
    struct opt_near near = {.word = name};
    for (const struct command *const *c = commands; *c != NULL; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
        opt_near_offer(&near, (*c)->name);
    }
    (void)fail(err, OPT_USAGE, "unknown command '%.40s'%s", name, opt_near_hint(&near, "").text);
    return NULL;
}

/* Replaces a closed standard stream with one that fails when used, so that no file opened later
 * becomes standard output by accident. */
static bool fill_standard_files(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        int wrong_way = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", wrong_way) != fd)
            return false;
    }
    return true;
}

/* Prints the error of a command, if any; returns the exit status. */
static int report(struct console *console, int rc, deja_error *err)
{
    if (rc >= 0)
        return rc;
    if (rc == OUT_GONE)
        return COMMAND_DONE;
    console_error(console, "%s",
                  err->text[0] != '\0' ? opt_filter_translate(err) : deja_strerror(rc));
    if (rc == OPT_USAGE)
        console_hint(console, "try: deja%s%s --help", console->command == NULL ? "" : " ",
                     console->command == NULL ? "" : console->command);
    return COMMAND_FAILED;
}

/* The number of operands that "F.deja [FILE]..." allows. */
struct operands {
    size_t least, most;
};

static struct operands operands_of(const struct command *cmd)
{
    struct operands n = {0, 0};
    const char *text = cmd->operands;
    for (size_t i = 0; text[i]; i++)
        n.most += i == 0 || text[i - 1] == ' ';
    n.least = strchr(text, '[') ? (size_t)(text[0] != '[') : n.most;
    if (strstr(text, "..."))
        n.most = SIZE_MAX;
    return n;
}

static int check_operands(const struct command *cmd, const struct opt_rest *rest, deja_error *err)
{
    const struct operands n = operands_of(cmd);
    if (rest->n < n.least)
        return fail(err, OPT_USAGE, "missing operand; usage: deja %s [OPTION]... %s", cmd->name,
                    cmd->operands);
    if (rest->n > n.most)
        return fail(err, OPT_USAGE, "unexpected operand '%s'",
                    fail_path(rest->operands[n.most]).text);
    return DEJA_OK;
}

/* Commands that sieves cannot do say what to use instead. */
static int check_sieves(const struct call *call, deja_error *err)
{
    for (size_t i = 0; call->command->no_sieve && i < call->n_operands; i++)
        if (deja_sieve_exists(call->operands[i]))
            return fail(err, OPT_USAGE, "%.120s is a sieve: %s", fail_path(call->operands[i]).text,
                        call->command->no_sieve);
    return DEJA_OK;
}

/* Does the command take a filter, then files? */
static bool filter_first(const struct command *cmd)
{
    return strncmp(cmd->operands, "F.deja", 6) == 0 && strstr(cmd->operands, "[FILE]");
}

/* Explains swapped operands, as in deja check urls.txt seen.deja. */
static void explain_order(const struct call *call, deja_error *err)
{
    if (!filter_first(call->command) || call->n_operands < 2 ||
        access(call->operands[0], F_OK) < 0 || existing_is_state(call->operands[0]) ||
        !existing_is_state(call->operands[1]))
        return;
    (void)fail(err, OPT_USAGE,
               "%.80s is not a filter file; the filter comes first: deja %s %.50s %.50s",
               fail_path(call->operands[0]).text, call->command->name,
               fail_path(call->operands[1]).text, fail_path(call->operands[0]).text);
}

/* Explains --json url, which names a missing file, if --json-key url was probably meant. */
static void explain_value(const struct opt_rest *rest, deja_error *err)
{
    static const char missing[] = " does not exist; check its name";
    const size_t len = rest->value ? strlen(rest->value) : 0;
    if (!len || strncmp(err->text, rest->value, len) != 0 || strcmp(err->text + len, missing) != 0)
        return;
    (void)fail(err, OPT_USAGE, "%.80s does not exist; did you mean --%s=%.80s?", rest->value,
               rest->flag, rest->value);
}

static int parse_and_run(struct call *call, int argc, char **argv, void *options, deja_error *err)
{
    const struct command *cmd = call->command;
    struct opt_rest rest = {0};
    int rc = opt_parse(cmd->options, argc, argv, options, &rest, err);
    if (rc < 0)
        return rc;
    if (rest.help) {
        (rest.brief ? brief_command : help_command)(call->out, cmd);
        return COMMAND_DONE;
    }
    if (rest.n <= operands_of(cmd).least && operands_of(cmd).most == SIZE_MAX)
        rc = opt_check_names(cmd->options, options, isatty(STDIN_FILENO), err);
    if (rc == DEJA_OK)
        rc = check_operands(cmd, &rest, err);
    if (rc < 0)
        return rc;
    call->console->quiet = opt_flag_is_set(cmd->options, options, "quiet");
    call->console->json = opt_flag_is_set(cmd->options, options, "json");
    for (size_t i = 0; i < rest.n_notes; i++)
        console_note(call->console, "%s", rest.note[i]);
    call->options = options;
    call->operands = rest.operands;
    call->n_operands = rest.n;
    rc = check_sieves(call, err);
    if (rc < 0)
        return rc;
    rc = cmd->run(call, err);
    if (rc < 0 && rc != OUT_GONE) {
        explain_order(call, err);
        explain_value(&rest, err);
        existing_explain_foreign(err);
    }
    return rc;
}

static int run_command(struct call *call, int argc, char **argv, deja_error *err)
{
    const struct command *cmd = call->command;
    void *options = calloc(1, cmd->options_size + 1);
    if (!options)
        return fail(err, DEJA_ENOMEM, "out of memory for the options");
    if (cmd->defaults)
        memcpy(options, cmd->defaults, cmd->options_size);
    call->console->command = cmd->name;
    int rc = parse_and_run(call, argc, argv, options, err);
    free(options);
    return rc;
}

static int run_global_option(struct call *call, const char *arg, deja_error *err)
{
    if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
        (arg[1] == 'h' ? brief_overview : help_overview)(call->out);
        return COMMAND_DONE;
    }
    if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
        return about_version(call->out, NULL, err);
    }
    return fail(err, OPT_USAGE, "unknown option %.40s; the options of a command follow its name",
                arg);
}

static int dispatch(struct call *call, int argc, char **argv, deja_error *err)
{
    const char *option = argc == 3 && argv[2][0] == '-' ? argv[2] : NULL;
    if (strcmp(argv[1], "version") == 0 && (argc == 2 || option))
        return about_version(call->out, option, err);
    if (argv[1][0] == '-')
        return run_global_option(call, argv[1], err);
    call->command = command_find(argv[1], err);
    if (!call->command)
        return OPT_USAGE;
    return run_command(call, argc - 2, argv + 2, err);
}

/* deja without arguments prints the usage on standard error. */
static int show_usage(void)
{
    struct out usage;
    if (out_init(&usage, STDERR_FILENO, "standard error", NULL) == DEJA_OK) {
        help_usage(&usage);
        (void)out_close(&usage, NULL);
    }
    return COMMAND_FAILED;
}

static int run_and_close(int argc, char **argv, struct console *console, const atomic_bool *stop)
{
    struct out out = OUT_NONE;
    struct call call = {.out = &out, .console = console, .stop = stop};
    deja_error err = {0}, late = {0};
    int rc = out_init(&out, STDOUT_FILENO, "standard output", &err);
    if (rc == DEJA_OK) {
        out.stop = stop;
        rc = dispatch(&call, argc, argv, &err);
    }
    int status = report(console, rc, &err);
    rc = out_close(&out, &late);
    if (rc < 0 && rc != OUT_GONE && strcmp(err.text, late.text) != 0)
        status = report(console, rc, &late);
    return status;
}

int main(int argc, char **argv)
{
    struct console console;
    if (!fill_standard_files())
        return COMMAND_FAILED;
    const atomic_bool *stop = signals_install();
    deja_error unguarded;
    console_init(&console, STDERR_FILENO, NULL);
    if (deja_files_guard(&unguarded) < 0) /* a truncated file will kill the process */
        console_error(&console, "%s", unguarded.text);
    int status = argc < 2 ? show_usage() : run_and_close(argc, argv, &console, stop);
    console_clear(&console);
    signals_finish();
    return status;
}
