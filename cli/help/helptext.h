/* helptext.h - what --help and -h share. */
#ifndef CLI_HELP_HELPTEXT_H
#define CLI_HELP_HELPTEXT_H
#include "cli/session/command.h"

#define HELP_WIDTH 80u

/* The left column of an option: "  -n, --capacity N". */
struct help_label {
    char text[80];
};
struct help_label help_label(const struct opt *o);

/* The explanation of an option; choices are added from their own table. */
struct help_phrase {
    char text[512];
};
struct help_phrase help_phrase(const struct opt *o);

/* "Usage: deja dedup [OPTION]... [FILE]...", and the summary as a sentence. */
void help_begin(struct out *o, const struct command *cmd);

/* The examples of deja itself. */
extern const struct command_example help_overview_examples[];

#endif
