/* lab_command.c - the complete command line of a run; see lab_command.h. */
#include "cli/commands/lab_command.h"
#include "tools/base/printable.h"
#include <stdio.h>
#include <string.h>

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                            "_-./:,=+@%";

static void add(struct lab_command *c, const char *text, size_t len)
{
    const size_t used = strlen(c->text);
    (void)printable(c->text + used, sizeof c->text - used, text, len, false);
}

/* In single quotes, a shell changes nothing; a single quote itself is '\''. */
static void add_quoted(struct lab_command *c, const char *word)
{
    add(c, "'", 1);
    while (*word != '\0') {
        const size_t n = strcspn(word, "'");
        add(c, word, n);
        word += n;
        if (*word == '\'') {
            add(c, "'\\''", 4);
            word++;
        }
    }
    add(c, "'", 1);
}

void lab_command_word(struct lab_command *c, const char *word)
{
    if (c->text[0] != '\0')
        add(c, " ", 1);
    if (word[0] != '\0' && word[strspn(word, plain)] == '\0')
        add(c, word, strlen(word));
    else
        add_quoted(c, word);
}

void lab_command_option(struct lab_command *c, const char *name, const char *value)
{
    if (!value)
        return;
    lab_command_word(c, name);
    lab_command_word(c, value);
}

void lab_command_number(struct lab_command *c, const char *name, unsigned long long value)
{
    char text[24];
    (void)snprintf(text, sizeof text, "%llu", value);
    lab_command_option(c, name, text);
}
