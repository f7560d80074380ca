/* leftout.c - names the lines that a command could not use; see leftout.h. */
#include "cli/session/leftout.h"
#include "tools/base/fail.h"
#include "tools/base/printable.h"
#include <inttypes.h>
#include <stdlib.h>

#define PATH_COLUMNS 30 /* in a note that names several lines */

size_t leftout_most(const struct shared_options *c)
{
    if (c->json)
        return LEFTOUT_NAMED;
    return c->quiet ? 0 : c->verbose ? SIZE_MAX : LEFTOUT_NAMED;
}

void leftout_init(struct leftout *l, const struct shared_options *c, struct console *console,
                  const struct input *in)
{
    *l = (struct leftout){.console = console, .in = in, .print = c->verbose && !c->json};
}

static struct leftout_line line_of(const struct block *b, const struct block_odd *odd)
{
    struct leftout_line line = {.number = odd->line};
    const size_t len = odd->text.len;
    const size_t fits = printable(line.text, LEFTOUT_TEXT + 1, odd->text.data, len, false);
    printable_append(line.text, sizeof line.text, "%s", fits < len ? "..." : "");
    (void)snprintf(line.path, sizeof line.path, "%s", fail_path(b->path).text);
    return line;
}

static void print(const struct leftout *l, const struct leftout_line *line, enum block_oddity why)
{
    const char *path = line->path, *text = line->text;
    if (why == BLOCK_NO_URL)
        console_note(l->console, "%s:%" PRIu64 " is not a URL: \"%s\"", path, line->number, text);
    else if (why == BLOCK_NO_IDNA)
        console_note(l->console, "%s:%" PRIu64 " needs IDNA: \"%s\"", path, line->number, text);
    else if (why == BLOCK_RULE)
        console_note(l->console, "%s:%" PRIu64 " is a rule without a key: \"%s\"", path,
                     line->number, text);
    else
        console_note(l->console, "%s:%" PRIu64 " without %s: \"%s\"", path, line->number,
                     l->in ? input_wanted(l->in).text : "a URL", text);
}

static int by_line(const void *a, const void *b)
{
    const struct block_odd *x = a, *y = b;
    return (x->line > y->line) - (x->line < y->line);
}

void leftout_take(struct leftout *l, const struct block *b)
{
    if (b->n_odd > 1) /* input and canonicalization report in two passes */
        qsort(b->odd, b->n_odd, sizeof *b->odd, by_line);
    for (size_t i = 0; i < b->n_odd; i++) {
        const enum block_oddity why = b->odd[i].why;
        if (!l->print && l->n[why] == LEFTOUT_NAMED)
            continue;
        const struct leftout_line line = line_of(b, &b->odd[i]);
        if (l->print)
            print(l, &line, why);
        else
            l->line[why][l->n[why]++] = line;
    }
}

struct leftout_text leftout_names(const struct leftout *l, enum block_oddity why, uint64_t total)
{
    struct leftout_text names = {""};
    for (size_t i = 0; i < l->n[why]; i++) {
        struct leftout_line line = l->line[why][i];
        printable_middle(line.path, PATH_COLUMNS);
        printable_append(names.text, sizeof names.text, "%s %s:%" PRIu64 " \"%s\"", i ? "," : ":",
                         line.path, line.number, line.text);
    }
    if (l->n[why] && l->n[why] < total)
        printable_append(names.text, sizeof names.text, ", ...");
    return names;
}

void leftout_json(const struct leftout *l, struct json *j)
{
    static const char *const reasons[] = {
        [BLOCK_NO_KEY] = "no key",
        [BLOCK_NO_URL] = "not a URL",
        [BLOCK_NO_IDNA] = "needs IDNA",
        [BLOCK_RULE] = "skipped rule",
    };
    json_array(j, "left_out");
    for (size_t why = 0; why < BLOCK_ODDITIES; why++)
        for (size_t i = 0; i < l->n[why]; i++) {
            const struct leftout_line *line = &l->line[why][i];
            json_object(j, NULL);
            json_string(j, "file", line->path);
            json_uint(j, "line", line->number);
            json_string(j, "why", reasons[why]);
            json_string(j, "text", line->text);
            json_end(j);
        }
    json_end(j);
}
