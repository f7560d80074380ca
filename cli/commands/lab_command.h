/* lab_command.h - the complete command line of a run of the lab, to be copied into a shell. */
#ifndef CLI_COMMANDS_LAB_COMMAND_H
#define CLI_COMMANDS_LAB_COMMAND_H
#include <stddef.h>

struct lab_command {
    char text[8192];
};
/* Append a word, after a blank unless it is the first; quoted if a shell would change it. */
void lab_command_word(struct lab_command *c, const char *word);
/* An option with a value; nothing if the value is NULL. */
void lab_command_option(struct lab_command *c, const char *name, const char *value);
void lab_command_number(struct lab_command *c, const char *name, unsigned long long value);

#endif
