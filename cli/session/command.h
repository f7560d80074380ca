/* command.h - a command is a table: main runs it, and --help, the man page and the completion are
 * generated from it.
 *
 *     static int run(struct call *call, deja_error *err)
 *     {
 *         const struct gen_options *o = call->options;
 *         ...
 *         return COMMAND_DONE;
 *     }
 *     const struct command cmd_gen = {
 *         .name = "gen",
 *         .summary = "print realistic unique URLs, reproducibly",
 *         .operands = "",
 *         .options = options,
 *         .options_size = sizeof(struct gen_options),
 *         .description = "First paragraph.\n\n"
 *                        "Second paragraph.",
 *         .examples = {{"a million URLs", "deja gen -n 1M"}},
 *         .run = run,
 *     };
 *
 * Texts are plain ASCII.  An empty line ends a paragraph; a single line break is a space.  A
 * paragraph that begins with a space is printed unchanged, with its line breaks. */
#ifndef CLI_SESSION_COMMAND_H
#define CLI_SESSION_COMMAND_H
#include "cli/options/shared_options.h"
#include "tools/base/out.h"

enum {
    COMMAND_DONE = 0,
    COMMAND_NO = 1,
    COMMAND_FAILED = 2
}; /* exit statuses */

struct command_example {
    const char *what; /* a phrase */
    const char *line; /* runs in a shell unchanged */
};

struct command_exit {
    int status;
    const char *when;
};

/* One run of a command, as prepared by main. */
struct call {
    const struct command *command;
    const void *options; /* the command's own struct, parsed and checked */
    const char *const *operands;
    size_t n_operands;
    struct out *out;         /* standard output; main flushes and closes it      */
    struct console *console; /* standard error; already quiet if -q was given    */
    const atomic_bool *stop; /* Ctrl-C: finish the current work, sync, return    */
};

struct command {
    const char *name;
    bool often;           /* used often: `deja -h` explains it, and only names the others */
    const char *summary;  /* one phrase, no capital, no period */
    const char *operands; /* "OUT.deja [FILE]...": words, in brackets if optional; dots allow any
                             number; "" for none */
    const char *no_sieve; /* why an operand cannot be a sieve, and what to use instead; or NULL */
    opt_names *operand_names;            /* what operands can be, for completion; NULL: files */
    const struct opt *options;           /* may be NULL */
    size_t options_size;                 /* of the struct that the options fill */
    const void *defaults;                /* initial values of that struct; NULL: all zero */
    const char *description;             /* paragraphs: see above */
    const char *notes[8];                /* more of them, which other commands share */
    struct command_example examples[16]; /* the entry of zeros after the last one ... */
    struct command_exit exits[5];        /* ... ends it; empty: 0 done, 2 usage error or failure */
    /* Returns an exit status, or a negative status with the reason in err, which main prints
     * before it exits with 2.  OPT_USAGE adds "try: ... --help"; OUT_GONE is not a failure. */
    int (*run)(struct call *call, deja_error *err);
};

/* Opens the output of -o path: *out becomes call->out for NULL and "-", otherwise the file, opened
 * into *own.  Refuses to overwrite a filter.  End with out_finish(own, ...) in either case. */
int call_output(const struct call *call, const char *path, struct out *own, struct out **out,
                deja_error *err);

/* Whether the output is a file, which is durable only after a sync; a pipe or terminal receives
 * data at once. */
bool call_is_file(const struct out *out);
/* Delivers the output to its reader: flushes it and, if `sync` is set, syncs it. */
int call_hand_over(struct out *out, bool sync, deja_error *err);
/* Prefixes a library error with the name of the file, except for file system errors, which already
 * name it.  Returns rc. */
int call_name_file(int rc, const char *path, deja_error *err);
/* Creates a filter file as a copy of another one. */
int call_copy_filter(const char *path, const deja_options *expect, const char *to, unsigned flags,
                     deja_filter **out, deja_error *err);
/* Calls fn for each file operand, with the key given by --key, or NULL, and with --json the array
 * to which it appends its object.  Returns the worst exit status. */
typedef int call_file_fn(struct call *call, const char *path, const uint8_t *key,
                         struct json *json);
int call_each_file(struct call *call, const struct shared_options *c, call_file_fn *fn,
                   deja_error *err);

extern const struct command cmd_dedup, cmd_build, cmd_check, cmd_add, cmd_remove, cmd_count,
    cmd_info, cmd_verify, cmd_merge, cmd_diff, cmd_fold, cmd_rotate, cmd_expire, cmd_plan, cmd_url,
    cmd_gen, cmd_bench, cmd_crawl, cmd_serve, cmd_lab, cmd_help;

/* main.c: every command, in the order of the help, NULL at the end. */
extern const struct command *const commands[];
/* The command of that name, or NULL and an error text that may suggest a name. */
const struct command *command_find(const char *name, deja_error *err);

/* manpage.c: the tables as text. */
void help_usage(struct out *o);    /* deja alone  */
void help_overview(struct out *o); /* deja --help */
void help_command(struct out *o, const struct command *cmd);
/* brief.c: the same on one screen. */
void brief_overview(struct out *o); /* deja -h */
void brief_command(struct out *o, const struct command *cmd);

/* completion.c: the tables as a script for shell 1, 2, ...; NULL if there is no such shell. */
const char *completion_shell(uint32_t shell);
void completion_print(struct out *o, uint32_t shell);

#endif
