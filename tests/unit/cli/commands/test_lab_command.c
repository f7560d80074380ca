/* test_lab_command.c - the command line on the lab's page can be copied into a shell. */
#include "cli/commands/lab_command.h"
#include "unit.h"
#include <string.h>

static void words_are_separated_by_blanks(void **state)
{
    struct lab_command c = {""};
    lab_command_word(&c, "deja");
    lab_command_word(&c, "lab");
    lab_command_number(&c, "--runs", 100);
    lab_command_option(&c, "--urls", NULL);
    lab_command_option(&c, "--urls", "/data/urls.txt");
    assert_string_equal(c.text, "deja lab --runs 100 --urls /data/urls.txt");
}

static void what_a_shell_would_change_is_quoted(void **state)
{
    struct lab_command c = {""};
    lab_command_word(&c, "my file");
    lab_command_word(&c, "");
    lab_command_word(&c, "it's");
    lab_command_word(&c, "$HOME;*");
    lab_command_word(&c, "'");
    assert_string_equal(c.text, "'my file' '' 'it'\\''s' '$HOME;*' ''\\'''");
}

static void control_characters_do_not_reach_the_terminal(void **state)
{
    struct lab_command c = {""};
    lab_command_word(&c, "a\x1b[31m\nb");
    assert_null(strchr(c.text, '\x1b'));
    assert_null(strchr(c.text, '\n'));
}

static void a_very_long_line_is_cut(void **state)
{
    static struct lab_command c;
    char name[4096];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 4; i++)
        lab_command_word(&c, name);
    assert_true(strlen(c.text) < sizeof c.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_separated_by_blanks),
        cmocka_unit_test(what_a_shell_would_change_is_quoted),
        cmocka_unit_test(control_characters_do_not_reach_the_terminal),
        cmocka_unit_test(a_very_long_line_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
